"""Judge: whether the rigid forces of a step are determined, unique for every load, and stable [S00].

By the compliance A of the step's own problem, for what presses or stays closed. Of any law, what is at its
limit is a share f of the normal force or a constant, and what sticks is an equation (`modes`). As in
`mcpframe.diagnosis`, which is for single states,

    A = R A_all C*,    rows R: n of all, t of what sticks;    columns C: n + f t, t,

with closures and moments that stick eliminated, which no layer makes soft. Rows that depend on others leave
forces undetermined; with the tangents eliminated, there is one answer for every load where A is a P-matrix;
it is stable where no motion of the layer over A grows. Limits press, but have no layer.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.contact.contact import NORMAL
from mcpframe.contact.law import FORCE_N
from mcpframe.diagnosis.p_matrix import MINORS, least_margin, p_matrix_decision
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel, matrix_window, window
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_DOFS
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.law_groups import BOUNDED
from mcpframe.simulation.memory.slots import key_of, record_of
from mcpframe.simulation.step.contact_model.growth import growth_of
from mcpframe.simulation.step.contact_model.modes import (
    Case,
    component,
    components_of,
    group_of,
    is_asked,
    n_groups,
    normal_form,
    pressing_of,
    see_modes,
    sticks,
)
from mcpframe.simulation.step.moving.motion import three
from mcpframe.solving.stages import A_AT, N_COMPONENTS, SEPARATING, SLIDING, SOFTNESS, STICKING
from mcpframe.spatial.algebra import dot

REPEATED = 1e-10
"""Pivot, as a share of the largest diagonal entry, below which a row repeats others."""
UNTOLD, UNDETERMINED = 0, -(MINORS + 1)
"""In UNIQUE, beside what `p_matrix_decision` returns: nothing was decided, or rows repeat each other."""
COLUMN = 8
"""Where in a row of TOLD_WEIGHTS the weights of its column begin."""


@inline
def compliance(case, f, g, soft):
    """Return A of two components without what contacts yield; soft: where the yielding of f stands, or -1."""
    value = get(case.XR, case.IP[A_AT] + f * case.IP[N_COMPONENTS] + g)
    return value - get(case.XS, soft) if f == g and soft >= 0 else value


@inline
def softness(case, i, form):
    """Return where the yielding of a component of what touches stands."""
    return case.IS[at.SOFTNESS] + SOFTNESS * i + component(case, i, form)


@callee
def begin_row(case, m, form, i):
    """Have row m be about what touches, whose components begin at a form; i is -1 for a closure."""
    IS, o = case.IS, case.IS[at.TOLD_WEIGHTS] + 2 * COLUMN * m
    put(IS, IS[at.TOLD_ROWS] + 2 * m, form)
    put(IS, IS[at.TOLD_ROWS] + 2 * m + 1, i)
    for k in range(2 * COLUMN):
        put(case.XS, o + k, 0.0)


@inline
def put_weight(case, m, form, value):
    """Write a component's weight in row m and in its column."""
    o = case.IS[at.TOLD_WEIGHTS] + 2 * COLUMN * m + form
    put(case.XS, o, value)
    put(case.XS, o + COLUMN, value)


@callee
def put_normal(case, m, form, i):
    """Write the row of a normal; its column has the shares of it that friction takes."""
    IS, XS, o = case.IS, case.XS, case.IS[at.TOLD_WEIGHTS] + 2 * COLUMN * m + COLUMN
    begin_row(case, m, form, i)
    put_weight(case, m, normal_form(case, i), 1.0)
    wrench, pressing = IS[at.WRENCHES] + 8 * i, pressing_of(case, i)
    for g in range(n_groups(case, i)):
        group = group_of(case, i, g)
        if group.kind < BOUNDED and not sticks(case, i, g):
            put(XS, o + group.form_1, get(XS, wrench + group.c_1) / pressing)
            if group.form_2 >= 0:
                put(XS, o + group.form_2, get(XS, wrench + group.c_2) / pressing)


@callee
def put_stuck(case, m, form, i, group, size):
    """Write rows along which the bodies of a group that sticks can move; return how many there are.

    Along the axes of the compliance of its components, so that one that cannot move is a row of its own.
    """
    f, g = group.form_1, group.form_2
    a = compliance(case, form + f, form + f, softness(case, i, f))
    if g < 0:
        if a > REPEATED * size:
            begin_row(case, m, form, i)
            put_weight(case, m, f, 1.0)
        return 1 if a > REPEATED * size else 0
    b, d = (
        compliance(case, form + f, form + g, -1),
        compliance(case, form + g, form + g, softness(case, i, g)),
    )
    turn = 0.5 * math.atan2(2.0 * b, a - d)
    c, s, n = math.cos(turn), math.sin(turn), 0
    for x, y in ((c, s), (-s, c)):
        if a * x * x + 2.0 * b * x * y + d * y * y > REPEATED * size:
            begin_row(case, m + n, form, i)
            put_weight(case, m + n, f, x)
            put_weight(case, m + n, g, y)
            n += 1
    return n


@callee
def list_normals(case, most):
    """Write the modes of what touches and the rows of normals.

    Return how many are of limits, how many there are, -1 without room, and the largest compliance.
    """
    IS, n, limits, size, form = case.IS, 0, 0, 0.0, case.IE[loops.N_ROWS]
    for i in range(IS[at.N_TOUCHING]):
        put(IS, IS[at.LASTING] + i, SEPARATING)
        if is_asked(case, i):
            if n == most:
                return 0, -1, 0.0
            put(IS, IS[at.LASTING] + i, SLIDING if see_modes(case, i) else STICKING)
            put_normal(case, n, form, i)
            f = form + normal_form(case, i)
            size = max(size, compliance(case, f, f, softness(case, i, normal_form(case, i))))
            limits += 1 if key_of(case, i) < 0 else 0
            n += 1
        form += components_of(case, i)
    return limits, n, size


@callee
def n_asked(case):
    """Return how many normals there are, with room for them or without."""
    n = 0
    for i in range(case.IS[at.N_TOUCHING]):
        n += 1 if is_asked(case, i) else 0
    return n


@callee
def list_stuck(case, m, size, moments, most):
    """Write rows of forces, or of moments, that stick, from row m on; return the next, -1 without room."""
    IS, form = case.IS, case.IE[loops.N_ROWS]
    for i in range(IS[at.N_TOUCHING]):
        for g in range(n_groups(case, i) if is_asked(case, i) else 0):
            group = group_of(case, i, g)
            if sticks(case, i, g) and (group.c_1 < FORCE_N) == moments:
                if m + 2 > most:
                    return -1
                m += put_stuck(case, m, form, i, group, size)
        form += components_of(case, i)
    return m


@callee
def list_rows(case):
    """Write the modes of what touches and the rows of what presses; return whether there is room for them.

    N_TOLD: limits; with normals; with tangents that stick; with what is eliminated, moments and closures.
    """
    IS, most, n_b = case.IS, case.IS[at.MOST_TOLD], case.IE[loops.N_ROWS]
    limits, n, size = list_normals(case, most)
    m = list_stuck(case, n, size, False, most) if n >= 0 else -1
    end = list_stuck(case, m, size, True, 2 * most) if m >= 0 else -1
    if end < 0:
        return False
    for b in range(n_b):
        begin_row(case, end + b, b, -1)
        put_weight(case, end + b, 0, 1.0)
    put(IS, at.N_TOLD_LIMITS, limits)
    put(IS, at.N_TOLD_NORMALS, n)
    put(IS, at.N_TOLD, m)
    put(IS, at.N_TOLD_ALL, end + n_b)
    return True


@callee
def entry(case, r, c, columns):
    """Return A of two rows, with friction in the columns or as if there were none."""
    IS, XS, total = case.IS, case.XS, 0.0
    f, i = get(IS, IS[at.TOLD_ROWS] + 2 * r), get(IS, IS[at.TOLD_ROWS] + 2 * r + 1)
    g, j = get(IS, IS[at.TOLD_ROWS] + 2 * c), get(IS, IS[at.TOLD_ROWS] + 2 * c + 1)
    left = IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r
    right = IS[at.TOLD_WEIGHTS] + 2 * COLUMN * c + (COLUMN if columns else 0)
    for k in range(components_of(case, i) if i >= 0 else 1):
        weight = get(XS, left + k)
        if weight == 0.0:
            continue
        for o in range(components_of(case, j) if j >= 0 else 1):
            share = weight * get(XS, right + o)
            if share != 0.0:
                soft = softness(case, i, k) if i >= 0 and i == j else -1
                total += share * compliance(case, f + k, g + o, soft)
    return total


@callee
def eliminate(XS, M, width, k, first, end):
    """Eliminate row and column k from rows and columns of a matrix, the first up to the end, in place."""
    pivot = get(XS, M + k * width + k)
    for i in range(first, end):
        share = get(XS, M + i * width + k) / pivot
        if share != 0.0:
            for j in range(first, end):
                put(XS, M + i * width + j, get(XS, M + i * width + j) - share * get(XS, M + k * width + j))


@callee
def eliminate_last(XS, M, n, width, least):
    """Eliminate row and column n of a matrix in place, unless their pivot is no more than that."""
    if abs(get(XS, M + n * width + n)) > least:
        eliminate(XS, M, width, n, 0, n)


@callee
def copy_part(XS, M, width, first, n, target):
    """Copy n rows and columns from the first on of a matrix to XS[target], which may be where it begins."""
    for r in range(n):
        for c in range(n):
            put(XS, target + r * n + c, get(XS, M + (first + r) * width + first + c))


@callee
def write_told(case, place, columns):
    """Write A of normals and tangents, all else eliminated, row by row to XS[place].

    Return the largest diagonal entry of contacts, limits left out.
    """
    IS, XS, m, width = case.IS, case.XS, case.IS[at.N_TOLD], case.IS[at.N_TOLD_ALL]
    own = IS[at.TOLD_WORK]
    for r in range(width):
        for c in range(width if columns else r + 1):
            value = entry(case, r, c, columns)
            put(XS, place + r * width + c, value)
            if not columns:  # symmetric
                put(XS, place + c * width + r, value)
        put(XS, own + r, REPEATED * get(XS, place + r * width + r))
    for k in range(width - 1, m - 1, -1):
        eliminate_last(XS, place, k, width, get(XS, own + k))
    copy_part(XS, place, width, 0, m, place)
    largest = 0.0
    for r in range(IS[at.N_TOLD_LIMITS], m):
        largest = max(largest, get(XS, place + r * m + r))
    return largest


@callee
def leans(case):
    """Return whether friction takes a share of some normal force, so that A is not symmetric."""
    XS = case.XS
    for r in range(case.IS[at.N_TOLD_NORMALS]):
        o = case.IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r
        for k in range(COLUMN):
            if get(XS, o + k) != get(XS, o + COLUMN + k):
                return True
    return False


@callee
def write_both(case):
    """Write A to TOLD_A and, without friction, S to TOLD_S; return the largest diagonal entry of S."""
    IS, A, S = case.IS, case.IS[at.TOLD_A], case.IS[at.TOLD_S]
    size = write_told(case, S, False)
    if leans(case):
        write_told(case, A, True)
    else:
        copy_part(case.XS, S, IS[at.N_TOLD], 0, IS[at.N_TOLD], A)
    return size


@callee
def speed_along(case, r):
    """Return the speed at which bodies move along row r where the step begins; 0 along a limit."""
    IS, XS, speed = case.IS, case.XS, 0.0
    i, weights = get(IS, IS[at.TOLD_ROWS] + 2 * r + 1), IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r
    if key_of(case, i) < 0:
        return 0.0
    u, axes = three(XS, IS[at.START_VELOCITIES] + 4 * i), record_of(case, i) + NORMAL.start - 4 * FORCE_N
    for k in range(components_of(case, i)):
        if component(case, i, k) >= FORCE_N:
            speed += get(XS, weights + k) * dot(u, load(XS, axes + 4 * component(case, i, k)))
    return speed


@callee
def is_determined(case, size):
    """Return whether all rows are independent: S, without friction and of that size, has positive pivots.

    KINETIC is the energy 1/2 v* S^-1 v of the motions v along them, by the same elimination.
    """
    IS, XS, S, m = case.IS, case.XS, case.IS[at.TOLD_S], case.IS[at.N_TOLD]
    v, energy = IS[at.TOLD_WORK], 0.0
    for k in range(m):
        put(XS, v + k, speed_along(case, k))
    for k in range(m):
        pivot, own = get(XS, S + k * m + k), get(XS, v + k)
        if not pivot > (REPEATED * size if k >= IS[at.N_TOLD_LIMITS] else 0.0):
            return False
        energy += 0.5 * own * own / pivot
        for i in range(k + 1, m):
            put(XS, v + i, get(XS, v + i) - get(XS, S + i * m + k) / pivot * own)
        eliminate(XS, S, m, k, k + 1, m)
    put(XS, at.KINETIC, energy)
    return True


@callee
def write_soft(case):
    """Write A of what has a layer, limits eliminated, to TOLD_S; return how many rows it has."""
    IS, XS, S = case.IS, case.XS, case.IS[at.TOLD_S]
    m, limits = IS[at.N_TOLD], IS[at.N_TOLD_LIMITS]
    copy_part(XS, IS[at.TOLD_A], m, 0, m, S)
    for k in range(limits):
        eliminate(XS, S, m, k, k + 1, m)
    copy_part(XS, S, m, limits, m - limits, S)
    return m - limits


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
    put(XS, at.KINETIC, math.inf)
    put(IS, at.RESTS, 0)
    if not list_rows(case):
        put(IS, at.UNIQUE, UNDETERMINED if n_asked(case) > I[N_DOFS] else UNTOLD)
        return
    put(IS, at.RESTED, IS[at.RESTED] + 1 if IS[at.RESTS] != 0 else 0)
    n, m, M = IS[at.N_TOLD_NORMALS], IS[at.N_TOLD], IS[at.TOLD_A]
    if n == 0:
        return
    if m > I[N_DOFS]:
        put(IS, at.UNIQUE, UNDETERMINED)
        return
    size = write_both(case)
    if not is_determined(case, size):
        put(IS, at.UNIQUE, UNDETERMINED)
        return
    put(XS, at.GROWTH, growth_of(case, write_soft(case), eigenvalues))
    for k in range(m - 1, n - 1, -1):
        eliminate_last(XS, M, k, m, REPEATED * size)
    copy_part(XS, M, m, 0, n, M)
    A, work = matrix_window(XS, M, n, n), window(XS, IS[at.TOLD_WORK], IS[at.TOLD_ROOM])
    put(IS, at.UNIQUE, p_matrix_decision(A, work))
    put(XS, at.MARGIN, least_margin(A, work, XS[at.RIGID_MARGIN]))
