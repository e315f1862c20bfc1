"""The motion nearest to one that keeps closures, in compiled code.

With Λ_b = G_b Mass⁻¹ G_b* from the operational-space compliance of the rows' halves,

    δ = Mass⁻¹ G_b* p,   Λ_b p = r

is the motion of least kinetic energy with G_b δ = r: what impulses of the closures do. Rows that repeat
others, see `mcpframe.multibody.kernels.independence`, take no impulse.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.compliance import block_between, compliance_of_rows
from mcpframe.multibody.kernels.independence import (
    factor_all,
    factor_independent,
    row_scales,
    scale_matrix,
    solve_factor,
)
from mcpframe.multibody.kernels.loops import largest_error
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.memory import loop_records as at
from mcpframe.multibody.memory.loop_records import (
    CERTAIN,
    LOOP_LAMBDA,
    N_PIVOTS,
    ORDER,
    PAST,
    RIGHT,
    SCALE,
)
from mcpframe.multibody.memory.records import PAIR, PUSH
from mcpframe.multibody.memory.row_records import WRENCHES
from mcpframe.spatial.algebra import copy, load_pair, plus_scaled, store_pair


@inline
def loop_block(IE, k):
    """Return of closure k its first row, that one's first half, how many rows and halves of each."""
    loop = IE[at.LOOPS] + k * at.LOOP_ROW
    row = get(IE, loop + at.L_ROW)
    half = get(IE, IE[at.HALF_AT] + row)
    return row, half, get(IE, loop + at.L_ROWS), get(IE, IE[at.HALF_AT] + row + 1) - half


@callee
def keep_wrenches(IE, XE, IR, XR):
    """Keep the wrenches of the rows as they are now, for Λ_b and what its impulses do."""
    copy(XE, IE[at.HALF_WRENCH], XR, IR[WRENCHES], IE[at.N_HALVES] * PAIR)


@callee
def loop_compliance(I, X, IE, XE, IR, XR):
    """Write Λ_b of the rows; needs the sweep's gains."""
    stride, L = IE[at.N_ROWS] + PAST, IR[LOOP_LAMBDA]
    keep_wrenches(IE, XE, IR, XR)
    compliance_of_rows(I, X, IR, XR)
    for k in range(IE[at.N_LOOPS]):
        f, h, m, s = loop_block(IE, k)
        for j in range(k + 1):
            g, i, l, t = loop_block(IE, j)
            block_between(IR, XR, h, m, s, i, l, t, L + f * stride + g, stride)
    for f in range(IE[at.N_ROWS]):
        for g in range(f):
            put(XR, L + g * stride + f, get(XR, L + f * stride + g))


@callee
def factor_loops(IE, XE, IR, XR, again):
    """Write the factor of Λ_b over it, scaled; keep which rows are independent, see `independence`.

    `again`: rows that repeat others are those of the last time.
    """
    n, L, stride, scale = IE[at.N_ROWS], IR[LOOP_LAMBDA], IE[at.N_ROWS] + PAST, IR[SCALE]
    rank = n
    for i in range(n):
        put(XR, IR[RIGHT] + n + i, get(XR, L + i * stride + i))
    row_scales(n, XR, L, stride, scale, XE, IE[at.WEIGHT], IE, IE[at.ROW_FIRST])
    if IR[CERTAIN] == n and factor_all(n, XR, L, stride, scale, IR, IR[ORDER]):
        for i in range(n):
            put(XR, scale + i, 1.0)
    else:
        for i in range(n):
            put(XR, L + i * stride + i, get(XR, IR[RIGHT] + n + i))
        scale_matrix(n, XR, L, stride, scale)
        same = IR[N_PIVOTS] if again and IR[N_PIVOTS] < n else 0
        error = largest_error(IE, XE)
        rank = factor_independent(n, XR, L, stride, IR, IR[ORDER], IR[CERTAIN], error, same)
    put(IR, N_PIVOTS, rank)


@callee
def solve_loops(IE, IR, XR, rank):
    """Turn the right side r into impulses p with Λ_b p = r on the independent rows, zero on the others."""
    n, right, scale, order = IE[at.N_ROWS], IR[RIGHT], IR[SCALE], IR[ORDER]
    y = right + n  # a second vector behind the first
    for k in range(rank):
        row = get(IR, order + k)
        put(XR, y + k, get(XR, right + row) * get(XR, scale + row))
    solve_factor(XR, y, IR[LOOP_LAMBDA], n + PAST, rank)
    for i in range(n):
        put(XR, right + i, 0.0)
    for k in range(rank):
        row = get(IR, order + k)
        put(XR, right + row, get(XR, scale + row) * get(XR, y + k))


@callee
def loop_response(I, X, IE, IR, XR, out):
    """Write Mass⁻¹ G_b* p for the impulses p in RIGHT; needs the sweep's gains and the wrenches kept."""
    clear_push(I, X)
    for f in range(IE[at.N_ROWS]):
        impulse = get(XR, IR[RIGHT] + f)
        for h in range(get(IE, IE[at.HALF_AT] + f), get(IE, IE[at.HALF_AT] + f + 1)):
            i = I[PUSH] + get(IE, IE[at.HALF_BODY] + h) * PAIR
            wrench = load_pair(XR, IR[WRENCHES] + h * PAIR)
            store_pair(X, i, plus_scaled(load_pair(X, i), impulse, wrench))
    for d in range(out.shape[0]):
        put(out, d, 0.0)
    solve_mass_into(I, X, out, out)


@callee
def nearest_motion(I, X, IE, XE, IR, XR, out, again):
    """Write δ of least kinetic energy with G_b δ = r, r in RIGHT; rows and the sweep's gains are there.

    `again`: by the rows that were independent the last time.
    """
    loop_compliance(I, X, IE, XE, IR, XR)
    factor_loops(IE, XE, IR, XR, again)
    motion_of_factor(I, X, IE, IR, XR, out)


@callee
def motion_of_factor(I, X, IE, IR, XR, out):
    """As `nearest_motion`, with the factor that is there, of a state X near by: a step of a chord method."""
    solve_loops(IE, IR, XR, IR[N_PIVOTS])
    loop_response(I, X, IE, IR, XR, out)
