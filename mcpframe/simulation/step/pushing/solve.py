"""Solve the problem that the formulation has written, from the basis that its contacts had; certify.

Where cones are exact, from the impulses that they had, which grow with the length of the step.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import by_address, callee, cycles, inline, matrix_window, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.problem.cone import DISC_DOUBLES, DISC_INTEGERS, JUDGING, certify_cones
from mcpframe.problem.residual import LAST_BITS, certify_dense
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step import host
from mcpframe.simulation.step.parting.islands import own_key, row_of, rows_of
from mcpframe.simulation.step.pushing.without_loops import solve_cones, solve_without_loops
from mcpframe.simulation.step.touching import place_of
from mcpframe.solving.solution import AT_LOWER, BASIC
from mcpframe.solving.stages import (
    CONTACT_ROWS,
    DISCS_AT,
    LOWER_AT,
    M_AT,
    N_DISCS,
    N_ROWS,
    PROBLEM_HEAD,
    Q_AT,
    SIZES_AT,
    UPPER_AT,
    Z_BETA,
    Z_BETAS,
    Z_NORMAL,
    Z_SIGMA,
    Z_SIGMAS,
    call_solve,
)

STEP, COMPRESSION, DECOMPRESSION = range(3)
"""What a problem is of; it decides where the solver starts."""

call_certify = by_address(certify_dense)
call_certify_cones = by_address(certify_cones)


@inline
def normal_row(IP, i):
    """Return which row of z is the normal impulse of what touches."""
    return get(IP, PROBLEM_HEAD + i * CONTACT_ROWS + Z_NORMAL)


@inline
def opens(run, i):
    """Return whether what touches would open without any impulses."""
    return get(run.XR, run.IP[Q_AT] + normal_row(run.IP, i)) > 0.0


@inline
def guess_free(run, i):
    """Guess the codes of what opens: no impulses, the slack as large as the slip."""
    IP, XR = run.IP, run.XR
    row = PROBLEM_HEAD + i * CONTACT_ROWS
    first, m, normal = get(IP, row + Z_BETA), get(IP, row + Z_BETAS), get(IP, row + Z_NORMAL)
    slip, fastest = -1, 0.0
    for k in range(first, first + m):
        run.codes[k] = AT_LOWER
        if k != normal and get(XR, IP[Q_AT] + k) < fastest:
            slip, fastest = k, get(XR, IP[Q_AT] + k)
    for k in range(get(IP, row + Z_SIGMAS)):
        run.codes[get(IP, row + Z_SIGMA) + k] = BASIC if slip >= 0 else AT_LOWER
    if slip >= 0:
        run.codes[slip] = BASIC


@inline
def recall(run, i):
    """Write the codes that what touches had in its last problem; return whether it was in it."""
    IS, IP = run.IS, run.IP
    known = place_of(IS, IS[at.KNOWN_KEYS], 1, IS[at.N_KNOWN], own_key(run, i))
    if known < 0:
        return False
    for k in range(rows_of(IP, i)):
        run.codes[row_of(IP, i, k)] = get(IS, IS[at.KNOWN_CODES] + known * IS[at.ROWS_EACH] + k)
    return True


@callee
def recall_basis(run):
    """Write codes to start a step from: as they were in the last, of new ones a guess.

    A new one opens where it would without any impulses, and slides where it would not; after an impact all
    open that would.
    """
    moved = run.IS[at.MOVED] != 0
    for i in range(run.IS[at.N_OWN]):
        known = recall(run, i)
        if known and not (moved and opens(run, i)):
            continue
        guess_free(run, i)
        if not known and not opens(run, i):
            run.codes[normal_row(run.IP, i)] = BASIC


@callee
def press_new(run):
    """Write codes to start compression from: those that strike press and slide, all others open."""
    for i in range(run.IS[at.N_OWN]):
        guess_free(run, i)
        if get(run.XR, run.IP[Q_AT] + normal_row(run.IP, i)) < -run.XS[at.REST_SPEED]:
            run.codes[normal_row(run.IP, i)] = BASIC


@callee
def release_opening(run):
    """Write codes to start decompression from: guess anew what would open, keep those of the others."""
    for i in range(run.IS[at.N_OWN]):
        if opens(run, i):
            guess_free(run, i)


@callee
def recall_point(run, kind):
    """Write the impulses that what touches had in the last step, none for others; return whether it had any.

    Impacts start from nothing.
    """
    IS, XS, IP = run.IS, run.XS, run.IP
    for i in range(IP[N_ROWS]):
        put(XS, IS[at.OWN_Z] + i, 0.0)
    if kind != STEP:
        return False
    any_known = False
    for i in range(IS[at.N_OWN]):
        known = place_of(IS, IS[at.KNOWN_KEYS], 1, IS[at.N_KNOWN], own_key(run, i))
        if known >= 0:
            any_known = True
            for k in range(rows_of(IP, i)):
                force = get(XS, IS[at.KNOWN_POINT] + known * IS[at.POINT_ROWS] + k)
                put(XS, IS[at.OWN_Z] + row_of(IP, i, k), XS[at.TRIAL] * force)
    return any_known


@callee
def start_basis(run, kind):
    """Write codes to start from, those of closures are always in the basis; return whether to start there."""
    if run.IS[at.CONE_ROWS] > 0:
        return recall_point(run, kind)
    for i in range(run.IE[loops.N_ROWS]):
        run.codes[i] = BASIC
    if kind == STEP:
        recall_basis(run)
    elif kind == COMPRESSION:
        press_new(run)
    else:
        release_opening(run)
    return True


@callee
def judge(run, rows, z):
    """Return the judged residual of z, moved to where it may be."""
    IS, IP, n = run.IS, run.IP, run.IP[N_ROWS]
    w = window(run.XS, IS[at.W_ROWS], n)
    if IS[at.CONE_ROWS] == 0:
        return call_certify(run.A[at.CERTIFY], (*rows, z, w))
    discs = window(run.IR, IP[DISCS_AT], IP[N_DISCS] * DISC_INTEGERS)
    sizes = window(run.XR, IP[SIZES_AT], IP[N_DISCS] * DISC_DOUBLES)
    work = window(run.XS, IS[at.JUDGED], JUDGING * n)
    return call_certify_cones(run.A[at.CERTIFY_CONES], (*rows, discs, sizes, z, w, work))


@callee
def solve_natively(run, warm):
    """Solve the problem by the solver's kernel; return whether its residual is within the tolerance."""
    IS, XS, IP, XR = run.IS, run.XS, run.IP, run.XR
    n = IP[N_ROWS]
    M, q = matrix_window(XR, IP[M_AT], n, n), window(XR, IP[Q_AT], n)
    lower, upper, z = window(XR, IP[LOWER_AT], n), window(XR, IP[UPPER_AT], n), window(XS, IS[at.OWN_Z], n)
    scale = 1.0
    for i in range(n):
        scale = max(scale, 1.0 + abs(q[i]))
    tol = XS[at.TOL] * scale
    iterations, residual, rows = 0, math.inf, (M, q, lower, upper)
    if run.IE[loops.N_ROWS] > 0 and IS[at.FACTORED] == at.MIDDLE:
        iterations = solve_without_loops(run, warm, tol)
        residual = judge(run, rows, z)
    if not residual <= tol:
        if IS[at.CONE_ROWS] == 0:
            problem = *rows, run.codes, True, tol, z, run.W, run.IW
            iterations += call_solve(run.A[at.SOLVE], problem)
        else:
            iterations += solve_cones(run, rows, warm, tol, z)
        residual = judge(run, rows, z)
    put(IS, at.ITERATIONS, IS[at.ITERATIONS] + iterations)
    if residual <= tol:
        put(IS, at.N_SOLVES, IS[at.N_SOLVES] + 1)
        put(XS, at.RESIDUAL, max(XS[at.RESIDUAL], residual))
        return True
    return False


@callee
def is_drowned(run):
    """Return whether impulses are so large that rounding alone breaks the tolerance of a row.

    So large are those of a problem without a solution, on their way to infinity, see `problem.residual`.
    """
    IP, XR, n = run.IP, run.XR, run.IP[N_ROWS]
    z, largest = run.IS[at.OWN_Z], 0.0
    for i in range(n):
        largest = max(largest, abs(get(run.XS, z + i)))
    for i in range(n if largest > 1.0 else 0):
        terms = 0.0
        for j in range(n):
            terms += abs(get(XR, IP[M_AT] + i * n + j)) * abs(get(run.XS, z + j))
        if LAST_BITS * terms > run.XS[at.TOL] * (1.0 + abs(get(XR, IP[Q_AT] + i))):
            return True
    return False


@callee
def solve_problem(run, X, kind, rise):
    """Solve the problem of the formulation; return DONE, NO_SOLUTION or RAISED.

    What the kernel does not solve, Python tries: other starts, other solvers, as the scene says. Where
    something is to rise that cannot, at the speed `rise`, that is no failure but an answer: NO_SOLUTION.
    Contacts of one cluster depend on each other and often cannot: there the kernel's word is enough.
    """
    IS = run.IS
    warm = start_basis(run, kind)
    clock = cycles()
    by_kernel = IS[at.HOST_SOLVE] == 0
    if by_kernel and solve_natively(run, warm):
        code = at.NO_SOLUTION if rise > 0.0 and is_drowned(run) else at.DONE
    elif by_kernel and rise > 0.0 and IS[at.ADAPTIVE] != 0:
        code = at.NO_SOLUTION
    else:
        code = host.call_host(run.A[at.HOST], host.SOLVE, X, rise)
    put(IS, at.SOLVING, IS[at.SOLVING] + cycles() - clock)
    return code
