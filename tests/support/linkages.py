"""Linkages with one degree of freedom in closed form: their angles, and their motion by an ODE in one.

With θ(q) known, q̈ m(q) + m'(q) q̇²/2 + V'(q) = 0, m = θ'* Mass θ'. No rows and no loops are in this.
"""

import numpy as np
from scipy.integrate import solve_ivp

import mcpframe as mf

IMAGINARY = 1e-30
SIXTH_ORDER = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
NEAR = 1e-3
"""Step of differences of sixth order, whose error is then below 1e-12."""


def bennett(q, alpha=0.7, beta=1.2, crank=1.9):
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan((crank + q) / 2)) - 2 * np.arctan(ratio / np.tan(crank / 2))
    return np.array([q, second, -q])


def bricard(q, crank=1.9):
    """q is the angle in the plane of (θ_1, θ_2), in which all closed rings lie on an oval about zero."""
    other = np.arccos(-np.cos(crank) / (1 + np.cos(crank)))
    direction, radius = np.arctan2(other, crank) + q, 2.2 + 0.0 * q
    for _ in range(12):
        x, y = radius * np.cos(direction), radius * np.sin(direction)
        off = np.cos(x) + np.cos(y) + np.cos(x) * np.cos(y)
        slope = -np.sin(x) * (1 + np.cos(y)) * np.cos(direction)
        slope = slope - np.sin(y) * (1 + np.cos(x)) * np.sin(direction)
        radius = radius - off / slope
    turned = radius * np.cos(direction) - crank, radius * np.sin(direction) - other
    return np.array([*turned, *turned, turned[0]])


def parallelogram(q):
    return np.array([q, -q, q, q])


LINKAGES = {
    "bennett": (mf.systems.bennett(), bennett, 2.0),
    "bricard": (mf.systems.bricard(), bricard, -1.0),
    "parallelogram": (mf.systems.parallelogram(), parallelogram, 1.0),
}
"""Model, its angles by q, and q̇ at the start."""


def rates(name):
    """Return θ̇ at the start."""
    _, angles, speed = LINKAGES[name]
    return _slope(angles, 0.0) * speed


def motion(name, times):
    """Return θ at some times."""
    model, angles, speed = LINKAGES[name]
    state = model.state()

    def inertia_and_potential(q):
        slope = _slope(angles, q)
        state.update(theta=np.real(angles(q)), theta_dot=np.zeros(model.n_dofs))
        return slope @ state.mass_matrix() @ slope, state.potential_energy()

    def rate(_, y):
        around = np.array([inertia_and_potential(y[0] + k * NEAR) for k in range(-3, 4)])
        of_inertia, of_potential = SIXTH_ORDER @ around / NEAR
        return y[1], -(0.5 * of_inertia * y[1] ** 2 + of_potential) / around[3, 0]

    found = solve_ivp(rate, (0.0, times[-1]), (0.0, speed), "DOP853", times, rtol=1e-11, atol=1e-12)
    return np.array([angles(q) for q in found.y[0]])


def _slope(angles, q):
    return np.imag(angles(q + IMAGINARY * 1j)) / IMAGINARY
