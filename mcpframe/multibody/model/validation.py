"""Numbers that describe a model: converted, checked, and refused with an error that names them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array, check_finite, frozen, real_array
from mcpframe.exceptions import ModelError, ProblemError

INERTIA_TOLERANCE = 1e-5
"""Relative to the largest entry: an inertia that is physical before it is rounded to six digits may miss
symmetry or the triangle inequality by that much afterwards."""

NO_DIRECTION = 1e-12
"""Length below which a vector has no direction worth trusting."""


def values(name: str, value: ArrayLike, shape: tuple[int, ...], *, finite: bool = True) -> Array:
    """Return a read-only copy of value with exactly the given shape, or raise ModelError."""
    try:
        array = real_array(name, value)
        if array.shape != shape:
            raise ModelError(f"{name}: shape {array.shape}, expected {shape}")
        if finite and not shape and not np.isfinite(array):
            raise ModelError(f"{name}: {array} is not finite")
        if finite:
            check_finite(name, array)
    except ProblemError as error:
        raise ModelError(str(error)) from None
    return frozen(array)


def per_dof(name: str, value: ArrayLike, n_dof: int) -> Array:
    """Return value, or a scalar for every dof, as a vector [n_dof] of numbers that may be infinite."""
    scalar = isinstance(value, (int, float)) or np.ndim(value) == 0
    if scalar:
        vector = frozen(np.full(n_dof, float(values(name, value, (), finite=False))))
    else:
        vector = values(name, value, (n_dof,), finite=False)
    if np.isnan(vector).any():
        raise ModelError(f"{name}: {vector.tolist()} has an entry that is not a number")
    return vector


def non_negative(name: str, value: ArrayLike, n_dof: int) -> Array:
    """Return value as a vector [n_dof] of finite numbers >= 0, or raise ModelError."""
    vector = per_dof(name, value, n_dof)
    if not (np.isfinite(vector).all() and (vector >= 0.0).all()):
        raise ModelError(f"{name}: {vector.tolist()}; every entry must be finite and not negative")
    return vector


def direction(name: str, value: ArrayLike) -> tuple[float, float, float]:
    """Return value as a unit vector, or raise ModelError."""
    vector = values(name, value, (3,))
    length = float(np.linalg.norm(vector))
    if not NO_DIRECTION < length < np.inf:
        raise ModelError(
            f"{name}: {vector.tolist()} has no direction; give three numbers that are not all zero"
        )
    x, y, z = (float(entry) for entry in vector / length)
    return x, y, z


def mass(name: str, value: float) -> float:
    """Return value as a mass in kg, or raise ModelError."""
    number = float(values(name, value, ()))
    if number < 0.0:
        raise ModelError(f"{name}: {number:g} kg; a mass is not negative")
    return number


def why_not_physical(inertia: Array) -> str:
    """Return why no rigid body has this inertia about its centre of mass, or an empty string.

    The principal moments are I_i = integral of the squared distance from axis i: none is negative, and
    I_1 + I_2 >= I_3 (triangle inequality).
    """
    room = INERTIA_TOLERANCE * float(np.abs(inertia).max(initial=0.0))
    if np.abs(inertia - inertia.T).max(initial=0.0) > room:
        return f"inertia {inertia.tolist()} is not symmetric"
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -room:
        return f"principal moments {moments.tolist()}: none may be negative"
    if moments[0] + moments[1] < moments[2] - room:
        return f"principal moments {moments.tolist()}: the sum of two must reach the third"
    return ""
