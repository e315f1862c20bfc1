"""Loops that stay closed: coordinates and rates moved back onto the closures after a step.

A step keeps the rates of the loops, G_b θ̇+ = U, at the configuration where it begins; moved along θ̇+ for a
time dt, the loops open by dt²/2 Ġ_b θ̇. The nearest closed configuration is found by Gauss-Newton, and at it
the nearest rates with G_b θ̇ = U. *Nearest* is measured by kinetic energy, min ½ δ* Mass δ with G_b δ = r: it
is what impulses of the closures do, so that they move the centre of mass no more than in nature. Rows that
repeat others do no harm.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from mcpframe.arrays import Array
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.projection import LOOP_TOLERANCE, RANK_TOLERANCE
from mcpframe.multibody.state import State

CORRECTIONS = 5
"""Most Gauss-Newton steps: from dt² they square the error each, so that three reach rounding."""


def closed_theta(state: State, theta: Array) -> Array:
    """Return the coordinates near theta at which the loops are closed; the state comes back as it was.

    Near a singular configuration the error may stay larger than `LOOP_TOLERANCE`; then the best coordinates
    on the way are returned, and the next step begins with a loop that is a little open.
    """
    before = state.theta, state.theta_dot
    best, least = theta, np.inf
    try:
        for _ in range(CORRECTIONS):
            rows = closure_rows(state.update(theta))
            error = float(np.abs(rows.error).max(initial=0.0))
            if error >= least:
                break
            best, least = theta, error
            if error <= LOOP_TOLERANCE:
                break
            theta = state.model.integrate(
                theta, nearest_motion(state, rows.jacobian(state), -rows.error), 1.0
            )
        return best
    finally:
        state.update(*before)


def closed_rates(state: State) -> Array:
    """Return the rates near the state's that keep its loops closed, G_b θ̇ = U(t)."""
    rows = closure_rows(state)
    return state.theta_dot + nearest_motion(state, rows.jacobian(state), rows.rate - rows.velocity(state))


def nearest_motion(state: State, G: Array, right: Array) -> Array:
    """Return δ of least ½ δ* Mass δ among those of least |G δ - right| [N]."""
    L = np.linalg.cholesky(state.mass_matrix())
    whitened = solve_triangular(L, G.T, lower=True).T
    shortest = np.linalg.lstsq(whitened, right, rcond=RANK_TOLERANCE)[0]
    motion: Array = solve_triangular(L.T, shortest, lower=False)
    return motion
