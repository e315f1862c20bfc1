"""Relative velocities of contacts as rows on link velocities.

Contact i sees V_rel = V_A - V_B, both taken at its point, in the components [ω along n, t_1, t_2; v along n,
t_1, t_2]; the frame (n, t_1, t_2) does not turn within a step, so the rows change in time only as the two
bodies' points accelerate, Ġ_u θ̇ [J14, Eq. (45)].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.multibody.rows import Rows

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

Indices = NDArray[np.int64]


def contact_rows(state: State, contacts: ContactSet, used: Sequence[Indices]) -> Rows:
    """Return one row for every used component of every contact, contact by contact.

    Args:
        state: where the links are.
        contacts: packed contacts.
        used: components of each contact, 0..5.
    """
    contact = np.repeat(np.arange(len(contacts)), [len(components) for components in used])
    row = np.arange(contact.size)
    point = contacts.points[contact, :3]
    wrench = component_wrenches(contacts.axes[contact], np.concatenate([np.zeros(0, np.int64), *used]))
    on_a = row, contacts.link_a[contact], point, wrench
    on_b = row, contacts.link_b[contact], point, -wrench
    rows = Rows.of_halves(contact.size, [on_a, on_b])
    bias = np.zeros(rows.n)
    np.add.at(bias, rows.row, np.einsum("hi,hi->h", rows.wrench, point_bias(state, rows.link, rows.point)))
    return replace(rows, bias=bias)


def component_wrenches(axes: Array, component: Indices) -> Array:
    """Return the unit wrench of a component in world axes [h, 6], given the rows n, t_1, t_2 [h, 3, 3]."""
    h = np.arange(component.size)
    wrench = np.zeros((component.size, 2, 3))
    wrench[h, component // 3] = axes[h, component % 3]
    return wrench.reshape(-1, 6)


def point_bias(state: State, link: Indices, point: Array) -> Array:
    """Return the acceleration [ω̇; a] of links' material points [h, 6] for θ̈ = 0, without gravity.

    a = a_origin + ω̇ × r + ω × (ω × r), r from the link's origin to the point.
    """
    r = point - state.link_poses()[1][link]
    omega, bias = state.link_velocities()[link, :3], state.link_bias()[link]
    acceleration = bias[:, 3:] + np.cross(bias[:, :3], r) + np.cross(omega, np.cross(omega, r))
    return np.hstack([bias[:, :3], acceleration])
