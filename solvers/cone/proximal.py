"""Proximal steps on modes: for contacts that bear self-stress, where Newton's method alone cycles.

Redundant contacts leave z undetermined along self-stresses, W d = 0. A proximal step from c keeps it near c
in exactly these directions,

    z = P(c - u(z) / eps),   P onto bounds and discs, a disc by the reach of its own normal,

and its z solves the problem where z = c. The step is Newton's method on modes again, which are now those of
x = c - u / eps, with a line search on the norm of eps z - P(eps c - u). While modes stay, load creeps along
self-stress by u / eps a step until a contact slides or opens; so eps falls, by the rule of
`mcpframe.solving.proximal`. Totals are solved for, not changes: what slides lies on its disc to the last
bits, however small eps is. Gaps that differ by a ten thousandth of the velocities are the hardest: load has
far to go, and a wall of 20 bricks may stay at residuals of 1e-7.

`sparse.proximal` is the same for piles. [Li, Sun, Toh 2018] is the convex case.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, window
from mcpframe.jit.entries import get
from mcpframe.problem.cone import disc_gap
from mcpframe.problem.residual import natural_entry
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.modes import mode_step
from mcpframe.solvers.cone.units import HOPELESS, errors, move_inside, second, velocities
from mcpframe.solving.proximal import HALVINGS, MOST_EPS, MOST_STEPS, SUFFICIENT, next_eps

LEAST_EPS = 1e-11
EXACT, CLOSE, ALMOST = 1e-14, 1e-1, 10.0
"""Error of a proximal step that ends it; or so much of what it changes, times eps; where no more is gained,
so many times that will do."""


@callee
def proximal_error(I, X, r, u, centre, eps, rho):
    """Return the norm of rho z - P(rho z - u - eps (z - c)); rho = eps is that of the line search."""
    total = 0.0
    for i in range(I[at.N]):
        if get(I, I[at.DISC_OF] + i) < 0:
            v, low, high = u[i] + eps * (r[i] - centre[i]), get(X, I[at.LOWER] + i), get(X, I[at.UPPER] + i)
            total += natural_entry(rho * r[i], v, rho * low, rho * high) ** 2
    for d in range(I[at.N_D]):
        i, t = get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d)
        x = rho * r[i] - u[i] - eps * (r[i] - centre[i])
        x = min(max(x, rho * get(X, I[at.LOWER] + i)), rho * get(X, I[at.UPPER] + i))
        reach = get(X, I[at.MU] + d) * max(x, 0.0) + rho * get(X, I[at.OFFSET] + d)
        r_2 = second(I, r, d)
        v_1, v_2 = u[t] + eps * (r[t] - centre[t]), second(I, u, d) + eps * (r_2 - second(I, centre, d))
        gap_1, gap_2 = disc_gap(rho * r[t], rho * r_2, v_1, v_2, reach)
        total += gap_1 * gap_1 + gap_2 * gap_2
    return math.sqrt(total) if total < HOPELESS else HOPELESS


@callee
def is_close(I, X, r, u, centre, eps, room):
    """Return whether r is near enough to the end of a proximal step."""
    moved = 0.0
    for i in range(I[at.N]):
        moved = max(moved, abs(r[i] - centre[i]))
    return proximal_error(I, X, r, u, centre, eps, 1.0) <= room * max(EXACT, CLOSE * eps * min(1.0, moved))


@callee
def proximal_step(I, X, r, centre, eps, stop):
    """Move r from the centre to the end of a proximal step; return linear systems and whether it is found."""
    n, u = I[at.N], window(X, I[at.U], I[at.N])
    trial, trial_u = window(X, I[at.TRIAL], n), window(X, I[at.TRIAL_U], n)
    velocities(I, X, r, u)
    size = proximal_error(I, X, r, u, centre, eps, eps)
    for k in range(MOST_STEPS):
        if stop[0] != 0 or not mode_step(I, X, centre, u, eps, eps, trial):
            return k + 1, False
        velocities(I, X, trial, trial_u)
        close = is_close(I, X, trial, trial_u, centre, eps, 1.0)
        now = proximal_error(I, X, trial, trial_u, centre, eps, eps)
        share, halvings = 1.0, 0
        while not close and not now < (1.0 - SUFFICIENT * share) * size:
            if halvings == HALVINGS:
                return k + 1, is_close(I, X, r, u, centre, eps, ALMOST)
            share, halvings = 0.5 * share, halvings + 1
            for i in range(n):
                trial[i] = r[i] + 0.5 * (trial[i] - r[i])
                trial_u[i] = u[i] + 0.5 * (trial_u[i] - u[i])
            now = proximal_error(I, X, trial, trial_u, centre, eps, eps)
        size = now
        for i in range(n):
            r[i], u[i] = trial[i], trial_u[i]
        if close or is_close(I, X, r, u, centre, eps, 1.0):
            return k + 1, True
    return MOST_STEPS, False


@callee
def error_inside(I, X, r, trial):
    """Write r moved into its bounds and discs; return its error."""
    u = window(X, I[at.TRIAL_U], I[at.N])
    for i in range(I[at.N]):
        trial[i] = r[i]
    move_inside(I, X, trial)
    velocities(I, X, trial, u)
    return errors(I, X, trial, u)[0]


@callee
def proximal(I, X, r, goal, eps, most, stop):
    """Take proximal steps from r until its error is within the goal, or so many linear systems are solved.

    r is the best point afterwards, and its error is returned; `eps` is that of the first step.
    """
    n = I[at.N]
    centre, trial, best = window(X, I[at.KEPT], n), window(X, I[at.TRIAL], n), window(X, I[at.BEST], n)
    steps, held = 0, 0
    least = error_inside(I, X, r, best)
    while least > goal and steps < most and stop[0] == 0:
        for i in range(n):
            centre[i] = r[i]
        taken, done = proximal_step(I, X, r, centre, eps, stop)
        steps += taken
        if done:
            error = error_inside(I, X, r, trial)
            if error < least:
                least = error
                for i in range(n):
                    best[i] = trial[i]
        elif eps >= MOST_EPS:
            break
        else:
            for i in range(n):
                r[i] = centre[i]
        eps, held = next_eps(eps, held, taken, done, LEAST_EPS)
    for i in range(n):
        r[i] = best[i]
    return least
