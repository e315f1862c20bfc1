"""Projection onto the loops: coordinates and rates that satisfy the closures, near given ones.

Gauss-Newton with steps of minimal norm: theta is moved by -pinv(G) error until the error is gone. Redundant
rows do no harm. Closures with a prescribed motion hold their hinges where they are, to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.independence import closures_off

if TYPE_CHECKING:
    from mcpframe.multibody.model.model import Model
    from mcpframe.multibody.state import State

Dofs = Sequence[int] | NDArray[np.int64]
LOOP_TOLERANCE = 1e-12
"""Metres and radians; a few units of rounding for mechanisms of about a metre."""
RANK_TOLERANCE = 1e-8
"""Singular values of G below this part of the largest count as zero, so that no step is divided by them."""
MAX_STEPS = 100
SHORTEST_STEP = 2.0**-20
"""Part of a Gauss-Newton step at which the line search gives up."""


def project_loops(model: Model, theta: ArrayLike, tol: float = LOOP_TOLERANCE, held: Dofs = ()) -> Array:
    """Return coordinates near theta at which every closure holds; limits are not looked at.

    Args:
        model: with its closures.
        theta: where to start [n_theta].
        tol: largest error, metres or radians, times the reach of the mechanism where that exceeds a metre.
        held: dofs that stay where they are.

    Raises:
        ModelError: where the error cannot be brought down that far from here.
    """
    state = model.state(theta)
    reach = float(np.abs(state.link_poses()[1]).max(initial=1.0))
    error, before = _size(closure_rows(state).error), np.inf
    for _ in range(MAX_STEPS):
        if error <= tol * reach:
            return np.array(state.theta)
        if error >= before:
            break
        before = error
        theta, error = _step(state, error, held)
        state.update(theta=theta)
    left = closures_off(model, np.abs(closure_rows(state).error) > tol * reach)
    raise ModelError(
        f"model {model.name!r}: the closures cannot be satisfied from these coordinates; an error of "
        f"{error:.3g} m or rad is left, {tol * reach:.3g} is wanted, by {', '.join(left)}; start nearer to a "
        "closed position"
    )


def project_rates(state: State, held: Dofs = ()) -> Array:
    """Return the rates nearest to the state's that satisfy the closures: G theta_dot = U(t).

    Args:
        state: with the rates to start from.
        held: dofs that keep their rates, unless the closures cannot have them so.
    """
    rows = closure_rows(state)
    G, missing = rows.jacobian(state), rows.rate - rows.velocity(state)
    correction = _minimal_solution(G, missing, held)
    if len(held) and _size(G @ correction - missing) > RANK_TOLERANCE * max(_size(missing), 1.0):
        correction = _minimal_solution(G, missing)
    return np.asarray(state.theta_dot) + correction


def _step(state: State, error: float, held: Dofs) -> tuple[Array, float]:
    """Return the coordinates, and their error, after the longest part of a Gauss-Newton step that helps."""
    model, theta = state.model, np.array(state.theta)
    rows = closure_rows(state)
    step = _minimal_solution(rows.jacobian(state), -rows.error, held)
    length = 1.0
    trial = model.state(theta)
    while True:
        trial.update(theta=model.integrate(theta, step, length))
        error_there = _size(closure_rows(trial).error)
        if error_there < error or length <= SHORTEST_STEP:
            return np.array(trial.theta), error_there
        length /= 2.0


def _minimal_solution(G: Array, right: Array, held: Dofs = ()) -> Array:
    """Return the shortest x with least |G x - right| whose held entries are zero."""
    G = G.copy()
    G[:, np.asarray(held, dtype=np.int64)] = 0.0
    return np.asarray(np.linalg.lstsq(G, right, rcond=RANK_TOLERANCE)[0], dtype=np.float64)


def _size(error: Array) -> float:
    return float(np.abs(error).max(initial=0.0))
