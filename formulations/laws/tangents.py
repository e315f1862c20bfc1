"""Directions that the laws share: forces in the tangent plane, in components of the contact's frame."""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.frames import FRICTION_DIRECTIONS, friction_directions
from mcpframe.contact.law import FORCE_1, FORCE_2, MOMENT_1, MOMENT_2


def tangent_forces() -> Array:
    """Return the unit forces along t_1 and t_2, the axes of an exact cone [6, 2]."""
    return np.eye(6)[:, [FORCE_1, FORCE_2]]


def tangent_moments() -> Array:
    """Return the unit moments about t_1 and t_2 [6, 2]."""
    return np.eye(6)[:, [MOMENT_1, MOMENT_2]]


def sliding_forces(n_f: int | None) -> Array:
    """Return the unit forces d_1 .. d_nf in the tangent plane [6, n_f]."""
    d = friction_directions(n_f or FRICTION_DIRECTIONS)
    forces = np.zeros((6, d.shape[1]))
    forces[[FORCE_1, FORCE_2]] = d
    return forces


def rolling_moments(n_f: int | None) -> Array:
    """Return the unit moments n × d_j, which oppose rolling along d_j [6, n_f]."""
    d = friction_directions(n_f or FRICTION_DIRECTIONS)
    moments = np.zeros((6, d.shape[1]))
    moments[MOMENT_1], moments[MOMENT_2] = -d[1], d[0]
    return moments
