"""Contact frames (n, t_1, t_2) and friction directions, in plain floats: contacts are made one by one.

n points from body B to body A. t_1 is the user's tangent, projected; without one it is the world's x axis,
projected onto the tangent plane, or the z axis where n is nearly along x: so a contact in the x-z plane has
its t_1 in that plane. t_2 = n × t_1. Friction directions are d_j = cos(a_j) t_1 + sin(a_j) t_2, n_f of them
at equal angles, opposites included; n_f = 2 is friction along t_1 alone (contact in the plane).
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.validation import NO_DIRECTION, direction, values
from mcpframe.problem.friction import friction_directions

__all__ = [
    "EXACT_CONE",
    "FRICTION_DIRECTIONS",
    "contact_frame",
    "cross",
    "friction_directions",
    "three_numbers",
    "unit",
]

Vector3: TypeAlias = tuple[float, float, float]
Frame: TypeAlias = tuple[Vector3, Vector3, Vector3]

FRICTION_DIRECTIONS = 4
"""Directions of a cone where neither the law nor the formulation says how many."""
EXACT_CONE = 0
"""Directions of a cone that has none: a round one, exact."""
NEARLY_ALONG = 0.9
"""|n_x| above which the x axis is no longer a good tangent: its projection would be shorter than 0.44."""
PARALLEL = 1e-6
"""Length of a unit tangent's projection below which the tangent is parallel to the normal, not a tangent."""


def contact_frame(normal: Any, tangent: Any = None) -> Frame:
    """Return the unit vectors (n, t_1, t_2), right-handed.

    Args:
        normal: direction from B to A [3], any length but zero.
        tangent: direction of t_1 [3], projected onto the tangent plane; None takes the rule above.
    """
    n = unit("normal", normal)
    if tangent is None:
        along = (0.0, 0.0, 1.0) if abs(n[0]) > NEARLY_ALONG else (1.0, 0.0, 0.0)
    else:
        along = unit("tangent", tangent)
    t_1 = _projected(along, n)
    return n, t_1, cross(n, t_1)


def _projected(along: Vector3, n: Vector3) -> Vector3:
    """Return the unit vector of along - (along . n) n, written (n × along) × n: exact also near n."""
    x, y, z = cross(cross(n, along), n)
    length = math.hypot(x, y, z)
    if length < PARALLEL:
        raise ModelError(f"contact: tangent {along} is parallel to the normal {n}; give another, or none")
    return x / length, y / length, z / length


def cross(a: Vector3, b: Vector3) -> Vector3:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(name: str, value: Any) -> Vector3:
    """Return three numbers at length one, or raise ModelError naming them."""
    x, y, z = three_numbers(name, value)
    length = math.hypot(x, y, z)
    if not NO_DIRECTION < length < math.inf:
        return direction(f"contact: {name}", value)
    return x / length, y / length, z / length


def three_numbers(name: str, value: Any) -> Vector3:
    """Return value as three finite floats, or raise ModelError naming it."""
    try:
        x, y, z = (0.0 + entry for entry in (value.tolist() if isinstance(value, np.ndarray) else value))
        if math.isfinite(x) and math.isfinite(y) and math.isfinite(z):
            return x, y, z
    except (TypeError, ValueError):
        pass
    x, y, z = values(f"contact: {name}", value, (3,)).tolist()  # the slow way says what is wrong
    return x, y, z
