"""The dense method as a whole: sweeps and Newton's method, then the interior point, then what else may help.

1. From the last answer, where there is one: Newton's method on modes alone.
2. Sweeps from zero, Newton; where that fails three times as many sweeps, twice (not for many contacts,
   whose sweeps cost more than an interior point).
3. Interior point, with Newton tried whenever the gap has closed by another hundredth.
4. Proximal steps from the best point so far: heaps, whose redundant contacts bear self-stress.
5. Other treatments of the slip in the interior point, other smoothings and starts.
6. A fixed point on the slips, each step one convex program; at last very many sweeps.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import IndicesOut, callee, kernel, window
from mcpframe.jit.entries import get, put
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.interior import HELD, LAGGED, LINEAR, begin, central_path
from mcpframe.solvers.cone.modes import HALVINGS, PATIENCE, PROXIMAL, newton
from mcpframe.solvers.cone.proximal import proximal
from mcpframe.solvers.cone.relaxation import sweep
from mcpframe.solvers.cone.units import (
    choose_units,
    errors,
    find_simple,
    move_inside,
    read_discs,
    scale_problem,
    second,
    velocities,
    weigh_errors,
)
from mcpframe.solving.proximal import MOST_EPS
from mcpframe.solving.stages import SOLVE_CONES

SWEEPS, MORE_SWEEPS, ROUNDS = 2, 3, 3
"""Sweeps of the first round, by how many times more the next ones have, and how many rounds there are. Two
find most modes, Newton the others: up to 16 contacts a third faster than ten, and as many are solved. Where
they do not, 18 in the last round help as well as 72, which cost as much as all before."""
MANY = 72
"""Rows from which on one round has to do: an interior point takes less than the next one."""
SETTLED = 1e-15
"""Change of a point by which sweeps have come to rest."""
FIRST_STEPS, LATER_STEPS = 12, 20
"""Steps of Newton's method after sweeps, and after an interior point."""
MORE_STEPS, MORE_PATIENCE, LITTLE = 30, 10, 1e-10
"""Of later rounds; and what is added to the diagonal in every other one."""
GAPS, GAP, CLOSER = 5, 1e-4, 1e-2
"""How often Newton's method is tried on a path, first at which gap, and how much closer each time."""
CENTRAL_STEPS = 60
SMOOTHING = 0.01
PATHS, PATHS_BEFORE = 5, 1
"""Kinds of paths, and how many are tried before proximal steps: in a stack the first one ends it sooner, in a
heap it costs a fifth of what they do."""
PROXIMAL_STEPS = 200
"""Linear systems of proximal steps."""
LAST_EPS, LAST_STEPS = 1e-4, 20
"""Of those that finish an answer which is within the tolerance but not well so."""
SLIPS, SLIP_STEPS, SLIP_GAP = 12, 40, 1e-8
"""Convex programs of the fixed point on slips, their steps, and the gap that ends them."""
LAST_SWEEPS = 2000
ALMOST, RELATIVE = 0.2, 1e-12
"""Share of the tolerance to aim at; and share of max |q|, so that a loose tolerance does not end a step short
of what one more would give."""

BY_START, BY_SWEEPS, BY_PROXIMAL, BY_PATH, BY_SLIPS, BY_MANY_SWEEPS, BY_NOTHING = range(7)
"""Which stage has answered."""
METHODS = (
    "warm start", "sweeps", "proximal steps", "interior point", "convex programs", "many sweeps", "nothing"
)  # fmt: skip


@callee
def from_sweeps(I, X, r, tol, goal, stop):
    """Sweep and try Newton's method; return the error."""
    n, kept = I[at.N], window(X, I[at.KEPT], I[at.N])
    for i in range(n):
        r[i] = min(max(0.0, get(X, I[at.LOWER] + i)), get(X, I[at.UPPER] + i))
    sweeps, error, last = SWEEPS, 0.0, 1e300
    for k in range(1 if n >= MANY else ROUNDS):
        sweep(I, X, r, sweeps, SETTLED, stop)
        for i in range(n):
            kept[i] = r[i]
        steps, patience = (FIRST_STEPS, PATIENCE) if k == 0 else (MORE_STEPS, MORE_PATIENCE)
        error = newton(I, X, r, goal, steps, patience, HALVINGS, LITTLE if k % 2 else PROXIMAL, stop)
        if error <= tol or stop[0] != 0:
            return error
        if k + 1 < ROUNDS and error > 0.1 * last:
            for i in range(n):
                r[i] = kept[i]
        last = error
        sweeps *= MORE_SWEEPS
    return error


@callee
def along_path(I, X, r, k, tol, goal, stop):
    """Follow the k-th kind of path and try Newton's method on the way; return the error."""
    z = window(X, I[at.KEPT], I[at.N])
    smoothing = SMOOTHING * (10.0 if k == 2 else 0.1 if k == 3 else 1.0)
    begin(I, X, z, 10.0 if k == 3 else 0.1 if k == 4 else 1.0)
    left, gap, error = CENTRAL_STEPS, GAP, 1e300
    for _ in range(GAPS):
        steps = central_path(I, X, z, left, gap, LAGGED if k == 1 else LINEAR, smoothing, stop)
        put(I, at.N_CENTRAL, I[at.N_CENTRAL] + abs(steps))
        if steps < 0:
            break
        left -= steps
        for i in range(I[at.N]):
            r[i] = z[i]
        move_inside(I, X, r)
        error = newton(
            I, X, r, goal, LATER_STEPS, PATIENCE + (2 if k > 1 else 0), (HALVINGS + k) % 3, PROXIMAL, stop
        )
        if error <= tol or left <= 0 or stop[0] != 0:
            break
        gap *= CLOSER
    return error


@callee
def hold_slips(I, X, r):
    """Hold the slips at what they are at r."""
    u = window(X, I[at.U], I[at.N])
    velocities(I, X, r, u)
    for d in range(I[at.N_D]):
        u_1, u_2 = u[get(I, I[at.FIRST] + d)], second(I, u, d)
        put(X, I[at.FROZEN] + d, math.sqrt(u_1 * u_1 + u_2 * u_2))


@callee
def by_slips(I, X, r, tol, goal, stop):
    """Solve convex programs until the slips agree, and try Newton's method after each; return the error."""
    z, error = window(X, I[at.KEPT], I[at.N]), 1e300
    for d in range(I[at.N_D]):
        put(X, I[at.FROZEN] + d, 0.0)
    for _ in range(SLIPS):
        begin(I, X, z, 1.0)
        steps = central_path(I, X, z, SLIP_STEPS, SLIP_GAP, HELD, 0.0, stop)
        put(I, at.N_CENTRAL, I[at.N_CENTRAL] + abs(steps))
        for i in range(I[at.N]):
            r[i] = z[i]
        move_inside(I, X, r)
        hold_slips(I, X, r)
        error = newton(I, X, r, goal, LATER_STEPS, PATIENCE, HALVINGS, PROXIMAL, stop)
        if error <= tol or stop[0] != 0:
            break
    return error


@callee
def from_found(I, X, r, tol, eps, steps, stop):
    """Take proximal steps from the best point so far; return the error."""
    for i in range(I[at.N]):
        r[i] = get(X, I[at.FOUND] + i)
    return proximal(I, X, r, ALMOST * tol, eps, steps, stop)


@callee
def keep_better(I, X, r, least):
    """Move r inside, and keep it where it is the best so far; return its error or the least one."""
    best, u = window(X, I[at.FOUND], I[at.N]), window(X, I[at.U], I[at.N])
    move_inside(I, X, r)
    velocities(I, X, r, u)
    error, _ = errors(I, X, r, u)
    if error < least:
        for i in range(I[at.N]):
            best[i] = r[i]
    return min(error, least)


@callee
def search(I, X, r, warm, tol, goal, stop):
    """Try one thing after the other until the error is within tol.

    The best point is in FOUND, return its error.
    """
    least = 1e300
    if warm:
        put(I, at.STAGE, BY_START)
        newton(I, X, r, goal, FIRST_STEPS, PATIENCE, HALVINGS, PROXIMAL, stop)
        least = keep_better(I, X, r, least)
    if least > tol:
        put(I, at.STAGE, BY_SWEEPS)
        from_sweeps(I, X, r, tol, goal, stop)
        least = keep_better(I, X, r, least)
    for k in range(PATHS):
        if k == PATHS_BEFORE and least > tol and stop[0] == 0:
            put(I, at.STAGE, BY_PROXIMAL)
            from_found(I, X, r, tol, MOST_EPS, PROXIMAL_STEPS, stop)
            least = keep_better(I, X, r, least)
        if least > tol and stop[0] == 0:
            put(I, at.STAGE, BY_PATH)
            along_path(I, X, r, k, tol, goal, stop)
            least = keep_better(I, X, r, least)
    if least > tol and stop[0] == 0:
        put(I, at.STAGE, BY_SLIPS)
        by_slips(I, X, r, tol, goal, stop)
        least = keep_better(I, X, r, least)
    if least > tol and stop[0] == 0:
        put(I, at.STAGE, BY_MANY_SWEEPS)
        sweep(I, X, r, LAST_SWEEPS, SETTLED, stop)
        newton(I, X, r, goal, LATER_STEPS, PATIENCE, HALVINGS, PROXIMAL, stop)
        least = keep_better(I, X, r, least)
    if ALMOST * tol < least <= tol and stop[0] == 0:
        from_found(I, X, r, tol, LAST_EPS, LAST_STEPS, stop)
        least = keep_better(I, X, r, least)
    if least > tol:
        put(I, at.STAGE, BY_NOTHING)
    return least


@kernel(*SOLVE_CONES, IndicesOut)
def solve_cones(M, q, lower, upper, table, sizes, warm, tol, z, X, I, stop):
    """Solve a mixed LCP with discs from z where warm; write z and return its error, the judged residual.

    Args:
        M, q, lower, upper, table, sizes: the problem, discs in the order of their normals.
        warm: whether z is a start.
        tol: error that counts as solved.
        X, I: memory of `memory.MEMORY`; I[STAGE], I[N_STEPS] and the others there tell how it went.
        stop: what ends it, when not zero.
    """
    n = q.shape[0]
    put(I, at.N, n)
    put(I, at.N_D, sizes.shape[0] // 2)
    for counter in (at.N_STEPS, at.N_SWEEPS, at.N_CENTRAL):
        put(I, counter, 0)
    read_discs(I, X, table, sizes)
    choose_units(I, X, M)
    scale_problem(I, X, M, q, lower, upper, sizes)
    weigh_errors(I, X, q, table)
    find_simple(I, X)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(q[i]))
    r, unit = window(X, I[at.POINT], n), window(X, I[at.UNIT_Z], n)
    for i in range(n):
        r[i] = z[i] / unit[i] if warm else 0.0
    goal = min(ALMOST * tol, RELATIVE * largest)
    error, found = search(I, X, r, warm, tol, goal, stop), window(X, I[at.FOUND], n)
    for i in range(n):
        z[i] = unit[i] * found[i]
    return error
