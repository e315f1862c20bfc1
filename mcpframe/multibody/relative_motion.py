"""The motion of one node as seen from another.

In the axes of node B, with x, v, omega of both nodes in the world, node A has

    p = R_b* (x_a - x_b),   v = R_b* (v_a - v_b - omega_b × (x_a - x_b)),   omega = R_b* (omega_a - omega_b),

and v is the rate of p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.rows import Rows

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

Links = tuple[Array, Array, Array, Array]
"""Of all links: axes [n, 3, 3], origins [n, 3], velocities and biases at the origins [n, 6]."""


@dataclass(frozen=True, eq=False)
class RelativeMotion:
    """The motion of node A as seen from node B, in the axes of B.

    Attributes:
        link_a, link_b: links of the nodes, -1 for the world.
        point: x_a in the world [3].
        axes: axes of B in the world, as columns [3, 3].
        position, rotation: p [3] and axes of A as columns [3, 3].
        velocity: [omega; v] [6].
        acceleration: rate of `velocity` while theta_dot stays [6].
    """

    link_a: int
    link_b: int
    point: Array
    axes: Array
    position: Array
    rotation: Array
    velocity: Array
    acceleration: Array

    @staticmethod
    def of(state: State, node_a: Node | str, node_b: Node | str) -> RelativeMotion:
        """Return the motion at a state.

        With d = x_a - x_b, u = v_a - v_b - omega_b × d and w = omega_a - omega_b in world axes,
        u_dot = a_a - a_b - omega_dot_b × d - omega_b × (v_a - v_b), and in the axes of B, which turn,
        d(R_b* u)/dt = R_b* (u_dot - omega_b × u), d(R_b* w)/dt = R_b* (w_dot - omega_b × w).
        """
        moving = *state.link_poses(), state.link_velocities(), state.link_bias()
        on_a, on_b = (state.model.resolve(node, state.tree) for node in (node_a, node_b))
        R_a, x_a, V_a, A_a = _motion(moving, on_a)
        R_b, x_b, V_b, A_b = _motion(moving, on_b)
        omega_b, d = V_b[:3], x_a - x_b
        w, v = np.split(V_a - V_b, 2)
        u = v - _cross(omega_b, d)
        w_dot, a = np.split(A_a - A_b, 2)
        u_dot = a - _cross(A_b[:3], d) - _cross(omega_b, v)
        acceleration = [R_b.T @ (w_dot - _cross(omega_b, w)), R_b.T @ (u_dot - _cross(omega_b, u))]
        return RelativeMotion(
            link_a=on_a[0],
            link_b=on_b[0],
            point=x_a,
            axes=R_b,
            position=R_b.T @ d,
            rotation=R_b.T @ R_a,
            velocity=np.concatenate([R_b.T @ w, R_b.T @ u]),
            acceleration=np.concatenate(acceleration),
        )

    def rows(self, directions: Array, bias: Array) -> Rows:
        """Return the rows that multiply [omega; v] with directions [n, 6] in B's axes; both halves at x_a."""
        n = len(directions)
        wrench = np.hstack([directions[:, :3] @ self.axes.T, directions[:, 3:] @ self.axes.T])
        row, point = np.arange(n), np.tile(self.point, (n, 1))
        on_a = (row, np.full(n, self.link_a), point, wrench)
        on_b = (row, np.full(n, self.link_b), point, -wrench)
        return Rows.of_halves(n, [on_a, on_b], bias)


def _motion(moving: Links, node: tuple[int, Array, Array]) -> tuple[Array, Array, Array, Array]:
    """Return axes, place, velocity [6] and bias [6] in the world of a node that is resolved on its link.

    With r from the link's origin: v = v_o + omega × r, a = a_o + omega_dot × r + omega × (omega × r).
    """
    link, position, rotation = node
    if link < 0:
        return rotation, position, np.zeros(6), np.zeros(6)
    R, x, V, A = (part[link] for part in moving)
    r = R @ position
    spin = _cross(V[:3], r)
    velocity = np.concatenate([V[:3], V[3:] + spin])
    bias = np.concatenate([A[:3], A[3:] + _cross(A[:3], r) + _cross(V[:3], spin)])
    return R @ rotation, x + r, velocity, bias


def _cross(a: Array, b: Array) -> Array:
    """Return a × b of two 3-vectors; numpy's own takes ten times as long on so few numbers."""
    (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
    return np.array([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x])
