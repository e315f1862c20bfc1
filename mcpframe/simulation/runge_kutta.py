"""Smooth motion to fourth order: the classical Runge-Kutta rule, on balls and free bodies as well.

Coordinates with quaternions are no vectors. As in the method of Munthe-Kaas, the rule is applied to the
tangent u in θ(t) = θ exp(u(t)), whose rate follows from the hinge rates by

    u̇ = dexp⁻¹(u) θ̇ = θ̇ + ½ [u, θ̇] + 1/12 [u, [u, θ̇]] + O(u⁴),

[., .] being the bracket of body twists at balls and free hinges and zero at all others. The terms left out
are below the order of the rule. Loops are kept by accelerations that satisfy them, G_b θ̈ = U̇ - Ġ_b θ̇,
at every stage. Springs and dampers act as they are at each stage; controllers are asked once, where the step
begins.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.step import ContactStep
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.model.coordinates import Coordinates
from mcpframe.multibody.state import State
from mcpframe.simulation.drift import nearest_motion

Indices = NDArray[np.int64]

STAGES = (0.5, 0.5, 1.0)
WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
NEXT, LAST = [1, 2, 0], [2, 0, 1]
"""Axes that follow x, y, z, and those before them."""


def runge_kutta(state: State, step: ContactStep, h: float) -> tuple[Array, Array]:
    """Return coordinates and rates after a step of h without contacts or limits; the state is left alone."""
    model, theta, theta_dot, time = state.model, state.theta, state.theta_dot, state.time
    tangents, accelerations = [theta_dot], [acceleration(state, step)]
    try:
        for share in STAGES:
            u = share * h * tangents[-1]
            rates = theta_dot + share * h * accelerations[-1]
            state.update(model.integrate(theta, u, 1.0), rates, time + share * h)
            tangents.append(tangent_rate(state.tree.coordinates, u, rates))
            accelerations.append(acceleration(state, step))
    finally:
        state.update(theta, theta_dot, time)
    moved = model.integrate(theta, WEIGHTS @ np.array(tangents), h)
    return moved, theta_dot + h * (WEIGHTS @ np.array(accelerations))


def acceleration(state: State, step: ContactStep) -> Array:
    """Return θ̈ at a state under the applied forces of a step, loops kept [N]."""
    free = state.free_acceleration(step.tau + state.passive_force(), step.wrenches)
    if not state.model.closures:
        return free
    rows = closure_rows(state)
    G = rows.jacobian(state)
    return free + nearest_motion(state, G, rows.rate_dot - rows.bias - G @ free)


def tangent_rate(coordinates: Coordinates, u: Array, theta_dot: Array) -> Array:
    """Return dexp⁻¹(u) θ̇ up to the terms that a fourth-order rule needs [N]."""
    if not coordinates.quaternions.size:
        return theta_dot
    once = bracket(coordinates, u, theta_dot)
    rate: Array = theta_dot + once / 2.0 + bracket(coordinates, u, once) / 12.0
    return rate


def bracket(coordinates: Coordinates, a: Array, b: Array) -> Array:
    """Return [a, b] of rates: ω_a × ω_b of balls; [ω_a × v_b + v_a × ω_b; ω_a × ω_b] of free bodies."""
    turning, v, omega = _twists(coordinates)
    result = np.zeros(coordinates.n_dofs)
    result[turning] = _cross(a[turning], b[turning])
    result[v] = _cross(a[omega], b[v]) + _cross(a[v], b[omega])
    return result


@lru_cache(maxsize=16)
def _twists(coordinates: Coordinates) -> tuple[Indices, Indices, Indices]:
    """Return where ω of balls and free bodies, and v and ω of free bodies lie in the rates, each [k, 3]."""
    balls, frees = (coordinates.dof_start[list(links)] for links in (coordinates.balls, coordinates.frees))
    ball, v, omega = (start.reshape(-1, 1) + np.arange(3) for start in (balls, frees, frees + 3))
    return np.vstack([ball, omega]), v, omega


def _cross(a: Array, b: Array) -> Array:
    """Return a × b of rows [k, 3]; numpy's own takes ten times as long on a few of them."""
    product: Array = a[:, NEXT] * b[:, LAST] - a[:, LAST] * b[:, NEXT]
    return product
