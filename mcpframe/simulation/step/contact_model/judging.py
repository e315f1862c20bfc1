"""Judge: whether the rigid forces of a step are determined, unique for every load, and stable [S00].

By the compliance A of the step's own problem, for what presses. A contact that slides where the step begins,
or whose friction is at its limit, slides: its tangential forces are a share f of its normal force. All others
stick, and their tangents are equations. As in `mcpframe.diagnosis`, which is for single states,

    A = R A_all C*,    rows R: n of all, t of what sticks; closures;    columns C: n + f t, t; closures,

closures eliminated; rows that depend on others leave forces undetermined; with the tangents eliminated, one
answer for every load where A is a P-matrix; stable where no motion of the layer over A grows.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import types

from mcpframe.contact.contact import NORMAL
from mcpframe.diagnosis.p_matrix import MINORS, has_positive_pivots, least_margin, p_matrix_decision
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel, matrix_window, window
from mcpframe.jit.lapack import EIGENVALUE_WORK, INFO, SCRATCH, SIZE, lapack_eigenvalues
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_DOFS
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import normal_impulse_of, record_of
from mcpframe.simulation.step.moving.edges import (
    edge,
    edges_of,
    forms_of,
    friction_used,
    mu_of,
    nearest_edge,
    rubs,
)
from mcpframe.simulation.step.moving.motion import three
from mcpframe.solving.stages import A_AT, N_COMPONENTS, SEPARATING, SLIDING, SOFTNESS, STICKING
from mcpframe.spatial.algebra import dot
from mcpframe.spatial.lanes import get, load, put

AT_LIMIT = 1e-6
"""Share of mu F_n up to which friction is at its limit."""
REPEATED = 1e-10
"""Pivot, as a share of the largest diagonal entry, below which a row repeats others."""
FEW = 6
"""Rows whose eigenvalues take a few microseconds."""
EIGENVALUE_ROOM = 8
"""Doubles for every row that its eigenvalues take: two parts, and scratch."""
UNTOLD, UNDETERMINED = 0, -(MINORS + 1)
"""In UNIQUE, beside what `p_matrix_decision` returns: nothing was decided, or rows repeat each other."""


class Case(NamedTuple):
    """The arrays of a run that a judge reads, by their names there."""

    I: Any
    IE: Any
    IP: Any
    XR: Any
    IS: Any
    XS: Any


@callee
def friction_of(case, i):
    """Write impulse i along n, t_1 and t_2 to SLIP; return where that is."""
    o, impulse = case.IS[at.SLIP] + 4 * i, three(case.XS, case.IS[at.IMPULSES] + 4 * i)
    for k in range(3):
        put(case.XS, o + k, dot(impulse, load(case.XS, record_of(case, i) + NORMAL.start + 4 * k)))
    return o


@callee
def slides_from_start(case, i):
    """Return whether a rigid contact slides where the step begins; friction against that goes to SLIP."""
    IS, XS = case.IS, case.XS
    if IS[at.YIELDING] != 0:
        return False  # bodies move while the surface of the layer sticks
    o, u, slip = IS[at.SLIP] + 4 * i, three(XS, IS[at.START_VELOCITIES] + 4 * i), 0.0
    for k in range(1, forms_of(case, i)):
        along = dot(u, load(XS, record_of(case, i) + NORMAL.start + 4 * k))
        put(XS, o + k, along)
        slip += along * along
    slip = math.sqrt(slip)
    if slip <= XS[at.SLIP_SPEED]:
        return False
    best = nearest_edge(case, i, o, 1.0)[0] if edges_of(case, i) > 0 else -1
    full = mu_of(case, i) * normal_impulse_of(case, i)
    if best >= 0:
        d_1, d_2 = edge(case, i, best)
        put(XS, o + 1, full * d_1)
        put(XS, o + 2, full * d_2)
    else:
        put(XS, o + 1, -full * get(XS, o + 1) / slip)
        put(XS, o + 2, -full * get(XS, o + 2) / slip)
    return True


@callee
def mode_of_friction(case, i):
    """Return in which mode what touches presses.

    A rigid contact that slides where the step begins does so, and what is at the limit of its friction, also
    where it has not begun to.
    """
    if normal_impulse_of(case, i) <= 0.0:
        return SEPARATING
    if not rubs(case, i) or slides_from_start(case, i):
        return SLIDING
    used = friction_used(case, i, friction_of(case, i))
    return SLIDING if used >= (1.0 - AT_LIMIT) * mu_of(case, i) * normal_impulse_of(case, i) else STICKING


@inline
def compliance(case, f, g, soft):
    """Return A of two components without what contacts yield; soft: where the yielding of f stands, or -1."""
    value = get(case.XR, case.IP[A_AT] + f * case.IP[N_COMPONENTS] + g)
    return value - get(case.XS, soft) if f == g and soft >= 0 else value


@inline
def put_row(case, m, form, i, row, column):
    """Write row m: where its components begin, whose they are, weights of the row and of its column."""
    IS, XS, o = case.IS, case.XS, case.IS[at.TOLD_WEIGHTS] + 8 * m
    put(IS, IS[at.TOLD_ROWS] + 2 * m, form)
    put(IS, IS[at.TOLD_ROWS] + 2 * m + 1, i)
    for k in range(3):
        put(XS, o + k, row[k])
        put(XS, o + 4 + k, column[k])


@callee
def put_tangents(case, m, form, i, size):
    """Write rows along the tangents of contact i along which its bodies can move; return how many there are.

    Along the axes of the compliance of both tangents, so that one that cannot move is a row of its own.
    """
    soft = case.IS[at.SOFTNESS] + SOFTNESS * i + 3
    a = compliance(case, form + 1, form + 1, soft + 1)
    if forms_of(case, i) == 2:
        put_row(case, m, form, i, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0))
        return 1 if a > REPEATED * size else 0
    b, d = compliance(case, form + 1, form + 2, -1), compliance(case, form + 2, form + 2, soft + 2)
    turn = 0.5 * math.atan2(2.0 * b, a - d)
    c, s, n = math.cos(turn), math.sin(turn), 0
    for axis in ((0.0, c, s), (0.0, -s, c)):
        own = a * axis[1] * axis[1] + 2.0 * b * axis[1] * axis[2] + d * axis[2] * axis[2]
        if own > REPEATED * size:
            put_row(case, m + n, form, i, axis, axis)
            n += 1
    return n


@callee
def list_rows(case):
    """Write the modes of what touches and the rows of what presses.

    Returns how many normals, tangents and closures there are; -1 where a law is not Coulomb's, or there are
    more than there is room for.
    """
    IS, XS, most = case.IS, case.XS, case.IS[at.MOST_TOLD]
    n_b, n, size = case.IE[loops.N_ROWS], 0, 0.0
    form = n_b
    for i in range(IS[at.N_TOUCHING]):
        forms, mode = forms_of(case, i), mode_of_friction(case, i)
        if forms == 0 or n == most:
            return -1, 0, n_b
        put(IS, IS[at.LASTING] + i, mode)
        if mode != SEPARATING:
            f_1 = f_2 = 0.0
            if mode == SLIDING and rubs(case, i):
                o, p = IS[at.SLIP] + 4 * i, normal_impulse_of(case, i)
                f_1 = get(XS, o + 1) / p
                f_2 = get(XS, o + 2) / p if forms > 2 else 0.0
            put_row(case, n, form, i, (1.0, 0.0, 0.0), (1.0, f_1, f_2))
            size = max(size, compliance(case, form, form, IS[at.SOFTNESS] + SOFTNESS * i + 3))
            n += 1
        form += forms
    m, form = n, n_b
    for i in range(IS[at.N_TOUCHING]):
        if get(IS, IS[at.LASTING] + i) == STICKING:
            if m + 2 > most:
                return -1, 0, n_b
            m += put_tangents(case, m, form, i, size)
        form += forms_of(case, i)
    for b in range(n_b):
        put_row(case, m + b, b, -1, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    return n, m - n, n_b


@callee
def entry(case, r, c, columns):
    """Return A of two rows, with friction in the columns or as if there were none."""
    IS, XS, total = case.IS, case.XS, 0.0
    f, i = get(IS, IS[at.TOLD_ROWS] + 2 * r), get(IS, IS[at.TOLD_ROWS] + 2 * r + 1)
    g, j = get(IS, IS[at.TOLD_ROWS] + 2 * c), get(IS, IS[at.TOLD_ROWS] + 2 * c + 1)
    left, right = IS[at.TOLD_WEIGHTS] + 8 * r, IS[at.TOLD_WEIGHTS] + 8 * c + (4 if columns else 0)
    for k in range(3):
        for o in range(3):
            share = get(XS, left + k) * get(XS, right + o)
            if share != 0.0:
                soft = IS[at.SOFTNESS] + SOFTNESS * i + 3 + k if i >= 0 and i == j else -1
                total += share * compliance(case, f + k, g + o, soft)
    return total


@callee
def eliminate_last(XS, M, n, width, size):
    """Eliminate row and column n of a matrix in place, unless they are none."""
    pivot = get(XS, M + n * width + n)
    if abs(pivot) <= REPEATED * size:
        return
    for i in range(n):
        share = get(XS, M + i * width + n) / pivot
        if share != 0.0:
            for j in range(n):
                put(XS, M + i * width + j, get(XS, M + i * width + j) - share * get(XS, M + n * width + j))


@callee
def write_told(case, place, m, n_b, columns):
    """Write A of m rows, closures eliminated, row by row to XS[place]; return its largest diagonal entry."""
    XS, width, size = case.XS, m + n_b, 0.0
    for r in range(width):
        for c in range(width):
            put(XS, place + r * width + c, entry(case, r, c, columns))
        size = max(size, get(XS, place + r * width + r))
    for k in range(width - 1, m - 1, -1):
        eliminate_last(XS, place, k, width, size)
    largest = 0.0
    for r in range(m):
        for c in range(m):
            put(XS, place + r * m + c, get(XS, place + r * width + c))
        largest = max(largest, get(XS, place + r * m + r))
    return largest


@callee
def is_determined(case, m, n_b):
    """Return whether all rows are independent: the compliance without friction has positive pivots."""
    XS, S = case.XS, case.IS[at.TOLD_S]
    size = write_told(case, S, m, n_b, False)
    for k in range(m):
        pivot = get(XS, S + k * m + k)
        if not pivot > REPEATED * size:
            return False
        for i in range(k + 1, m):
            share = get(XS, S + i * m + k) / pivot
            if share != 0.0:
                for j in range(k + 1, m):
                    put(XS, S + i * m + j, get(XS, S + i * m + j) - share * get(XS, S + k * m + j))
    return True


@callee
def settles_for_sure(case, m):
    """Return whether a bound tells that all motions of the layer over A die out.

    Eigenvalues x + i y of A have x >= least of (A + A*)/2 and |y| <= b = |A - A*|/2; motions die out where
    K y² < C² x (x² + y²): for sure where (A + A*)/2 - min(K/C², (K b²/C²)^(1/3)) is definite.
    """
    XS, A, S = case.XS, case.IS[at.TOLD_A], case.IS[at.TOLD_S]
    K, C, square = XS[at.TOLD_K], XS[at.TOLD_C], 0.0
    for r in range(m):
        for c in range(m):
            one, other = get(XS, A + r * m + c), get(XS, A + c * m + r)
            put(XS, S + r * m + c, 0.5 * (one + other))
            square += 0.25 * (one - other) * (one - other)
    least = min(K / (C * C), (K * square / (C * C)) ** (1.0 / 3.0)) if C > 0.0 else math.inf
    for r in range(m):
        put(XS, S + r * m + r, get(XS, S + r * m + r) - least)
    return has_positive_pivots(XS, S, m)


@callee
def growth_of(case, m, eigenvalues):
    """Return the largest growth rate of a motion of the layer over A; see `diagnosis.layer`.

    Of r² + r a C + a K = 0 for every eigenvalue a = x + i y; of many rows -inf where a bound decides.
    """
    IS, XS = case.IS, case.XS
    if m > FEW and settles_for_sure(case, m):
        return -math.inf
    for k in range(m * m):
        put(XS, IS[at.TOLD_S] + k, get(XS, IS[at.TOLD_A] + k))
    A, work = matrix_window(XS, IS[at.TOLD_S], m, m), window(IS, IS[at.TOLD_LAPACK], EIGENVALUE_WORK)
    scratch = window(XS, IS[at.TOLD_WORK], EIGENVALUE_ROOM * m)
    put(work, SIZE, m)
    put(work, SCRATCH, (EIGENVALUE_ROOM - 2) * m)
    lapack_eigenvalues(eigenvalues, A, scratch, work)
    if work[INFO] != 0:
        return math.nan
    K, C, fastest = XS[at.TOLD_K], XS[at.TOLD_C], -math.inf
    for k in range(m):
        x, y = scratch[k], scratch[m + k]
        real = 0.25 * C * C * (x * x - y * y) - K * x
        imaginary = 0.5 * C * C * x * y - K * y
        root = math.sqrt(0.5 * max(math.hypot(real, imaginary) + real, 0.0))
        fastest = max(fastest, root - 0.5 * C * x)
    return fastest


@kernel(Indices, Indices, Indices, Vector, IndicesOut, VectorOut, types.int64)
def judge(I, IE, IP, XR, IS, XS, eigenvalues):
    """Write UNIQUE, MARGIN and GROWTH of the last push, and modes of what touches to LASTING.

    Args:
        I, IE, IP, XR, IS, XS: arrays of the run.
        eigenvalues: address of LAPACK's dgeev.
    """
    case = Case(I, IE, IP, XR, IS, XS)
    put(IS, at.UNIQUE, UNTOLD)
    put(XS, at.MARGIN, math.nan)
    put(XS, at.GROWTH, math.nan)
    n, tangents, n_b = list_rows(case)
    m = n + tangents
    if n <= 0:
        return
    if m > I[N_DOFS] or not is_determined(case, m, n_b):
        put(IS, at.UNIQUE, UNDETERMINED)
        return
    M = IS[at.TOLD_A]
    size = write_told(case, M, m, n_b, True)
    put(XS, at.GROWTH, growth_of(case, m, eigenvalues))
    for k in range(m - 1, n - 1, -1):
        eliminate_last(XS, M, k, m, size)
    for r in range(n):
        for c in range(n):
            put(XS, M + r * n + c, get(XS, M + r * m + c))
    A, work = matrix_window(XS, M, n, n), window(XS, IS[at.TOLD_WORK], IS[at.TOLD_ROOM])
    put(IS, at.UNIQUE, p_matrix_decision(A, work))
    put(XS, at.MARGIN, least_margin(A, work, XS[at.RIGID_MARGIN]))
