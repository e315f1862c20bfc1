"""Where the links are and how they move, straight from the model, one hinge after the other in plain numpy.

Made to be read and to check the compiled kernels against: nothing here is shared with them. A hinge says
where its link is in the hinge frame, which is fixed to the parent; its rates give, in that frame,

    [omega_r; v_r] = S(θ) θ̇     and, for θ̈ = 0,     [dω_r/dt; dv_r/dt] = Ṡ θ̇ .

All else is the kinematics of a point that moves in a turning frame. World axes throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.tree import Tree
from mcpframe.spatial.transforms import (
    Pose,
    rotation_from_axis_angle,
    rotation_from_quaternion,
    spatial_inertia,
)


@dataclass(frozen=True, eq=False)
class HingeMotion:
    """What a hinge does to its link, in the hinge frame.

    Attributes:
        position, rotation: origin [3] and axes [3, 3] of the link.
        columns: S [6, n_k], the link's [angular; linear] velocity at its origin per rate.
        bias: Ṡ θ̇ [6], the rate of S θ̇ while θ̇ stays.
    """

    position: Array
    rotation: Array
    columns: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Poses, velocities and accelerations of all links in world axes.

    Attributes:
        rotation, position: axes [n, 3, 3] and origins [n, 3] of the links.
        columns: H*(k), the hinge columns at the link's origin, one [6, n_k] per link.
        velocity: [omega; v of the origin] [n, 6].
        bias: [omega_dot; acceleration of the origin as a point of the link] for θ̈ = 0, no gravity [n, 6].
    """

    rotation: Array
    position: Array
    columns: list[Array]
    velocity: Array
    bias: Array


def hinge_motion(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    """Return where the hinge brings its link, its columns S and their rate Ṡ θ̇."""
    return _MOTIONS[hinge.kind](hinge, theta, theta_dot)


def _locked(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    return HingeMotion(np.zeros(3), np.eye(3), np.zeros((6, 0)), np.zeros(6))


def _pin(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    axis = np.array(hinge.axis)
    return HingeMotion(np.zeros(3), rotation_from_axis_angle(axis, theta[0]), _angular(axis), np.zeros(6))


def _prismatic(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    axis = np.array(hinge.axis)
    return HingeMotion(theta[0] * axis, np.eye(3), _linear(axis), np.zeros(6))


def _cylindrical(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    axis = np.array(hinge.axis)
    columns = np.hstack([_angular(axis), _linear(axis)])
    return HingeMotion(theta[1] * axis, rotation_from_axis_angle(axis, theta[0]), columns, np.zeros(6))


def _universal(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    """The second axis turns with the first angle, so that Ṡ θ̇ = θ̇_1 θ̇_2 axis × turned axis_2."""
    axis, axis_2 = np.array(hinge.axis), np.array(hinge.axis_2)
    turn = rotation_from_axis_angle(axis, theta[0])
    turned = turn @ axis_2
    bias = np.concatenate([theta_dot[0] * theta_dot[1] * np.cross(axis, turned), np.zeros(3)])
    rotation = turn @ rotation_from_axis_angle(axis_2, theta[1])
    return HingeMotion(np.zeros(3), rotation, np.hstack([_angular(axis), _angular(turned)]), bias)


def _planar(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    x, y, axis = (np.array(direction) for _, direction in hinge.elementary())
    columns = np.hstack([_linear(x), _linear(y), _angular(axis)])
    rotation = rotation_from_axis_angle(axis, theta[2])
    return HingeMotion(theta[0] * x + theta[1] * y, rotation, columns, np.zeros(6))


def _ball(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    """Rates are in link axes: S = [R; 0] and Ṡ θ̇ = R (omega × omega) = 0."""
    rotation = rotation_from_quaternion(theta)
    return HingeMotion(np.zeros(3), rotation, np.vstack([rotation, np.zeros((3, 3))]), np.zeros(6))


def _free(hinge: Hinge, theta: Array, theta_dot: Array) -> HingeMotion:
    """Rates are [v; omega] in link axes: S = [[0, R], [R, 0]] and Ṡ θ̇ = [0; R (omega × v)]."""
    R, zero = rotation_from_quaternion(theta[3:]), np.zeros((3, 3))
    bias = np.concatenate([np.zeros(3), R @ np.cross(theta_dot[3:], theta_dot[:3])])
    return HingeMotion(theta[:3], R, np.block([[zero, R], [R, zero]]), bias)


def _angular(axis: Array) -> Array:
    return np.concatenate([axis, np.zeros(3)])[:, None]


def _linear(axis: Array) -> Array:
    return np.concatenate([np.zeros(3), axis])[:, None]


_MOTIONS: dict[str, Callable[[Hinge, Array, Array], HingeMotion]] = {
    "locked": _locked,
    "pin": _pin,
    "prismatic": _prismatic,
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "ball": _ball,
    "free": _free,
}


def link_motion(tree: Tree, theta: Array, theta_dot: Array) -> LinkMotion:
    """Return poses, hinge columns, velocities and bias accelerations of all links, base to tips.

    With r from the parent's origin to the link's, and [ω_r; v_r] = H*(k) θ̇(k) [J14, section 4],

        ω = ω_p + ω_r,                        v = v_p + ω_p × r + v_r,
        ω̇ = ω̇_p + ω_p × ω_r + ω̇_r,           a = a_p + ω̇_p × r + ω_p × (ω_p × r) + 2 ω_p × v_r + v̇_r .
    """
    n = len(tree.links)
    moving = LinkMotion(np.zeros((n, 3, 3)), np.zeros((n, 3)), [], np.zeros((n, 6)), np.zeros((n, 6)))
    still = (np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))
    for k, (p, link) in enumerate(zip(tree.parents, tree.links, strict=True)):
        start, dofs = tree.coordinates.theta_start[k], link_dofs(tree, k)
        motion = hinge_motion(link.hinge, theta[start : start + link.hinge.n_theta], theta_dot[dofs])
        parent = (moving.rotation[p], moving.position[p], moving.velocity[p], moving.bias[p])
        _carry(moving, k, parent if p >= 0 else still, link.pose, motion, theta_dot[dofs])
    return moving


def _carry(
    moving: LinkMotion, k: int, parent: tuple[Array, ...], pose: Pose, motion: HingeMotion, theta_dot: Array
) -> None:
    """Enter link k, which moves so in a hinge frame that is posed so on its parent."""
    R_p, x_p, V_p, a_p = parent
    R_h = R_p @ pose.rotation
    x = x_p + R_p @ pose.position + R_h @ motion.position
    H_star = np.vstack([R_h @ motion.columns[:3], R_h @ motion.columns[3:]])
    relative = H_star @ theta_dot  # [ω_r; v_r]
    relative_rate = np.concatenate([R_h @ motion.bias[:3], R_h @ motion.bias[3:]])
    turning = np.concatenate([np.cross(V_p[:3], relative[:3]), 2.0 * np.cross(V_p[:3], relative[3:])])
    moving.rotation[k], moving.position[k] = R_h @ motion.rotation, x
    moving.columns.append(H_star)
    moving.velocity[k] = moved_velocity(V_p, x - x_p) + relative
    moving.bias[k] = moved_acceleration(V_p, a_p, x - x_p) + turning + relative_rate


def moved_velocity(V: Array, r: Array) -> Array:
    """Return φ* V: the velocity [6] of the point at r from where the body's velocity is V."""
    return np.concatenate([V[:3], V[3:] + np.cross(V[:3], r)])


def moved_acceleration(V: Array, a: Array, r: Array) -> Array:
    """Return [omega_dot; acceleration] of the point of the body at r from where they are a."""
    omega, omega_dot = V[:3], a[:3]
    return np.concatenate([omega_dot, a[3:] + np.cross(omega_dot, r) + np.cross(omega, np.cross(omega, r))])


def link_inertias(tree: Tree, rotation: Array) -> Array:
    """Return the spatial inertias M(k) about the links' origins in world axes [n, 6, 6]."""
    mass = np.array([link.mass for link in tree.links])
    com = np.array([link.com for link in tree.links]).reshape(-1, 3, 1)
    inertia = np.array([link.inertia for link in tree.links]).reshape(-1, 3, 3)
    return spatial_inertia(mass, (rotation @ com)[..., 0], rotation @ inertia @ rotation.swapaxes(-1, -2))


def gyroscopic_forces(inertias: Array, velocity: Array) -> Array:
    """Return b(k) [n, 6] with force(k) = M(k) [omega_dot; a of the origin] + b(k).

    b = [ω × I_o ω; ω × (ω × m c)] with I_o the inertia about the origin and m c the first moment, both of
    which stand in M(k) = [[I_o, skew(m c)], [-skew(m c), m I]].
    """
    omega = velocity[:, :3]
    momentum = np.einsum("kij,kj->ki", inertias[:, :, :3], omega)  # [I_o ω; ω × m c]
    return np.hstack([np.cross(omega, momentum[:, :3]), np.cross(omega, momentum[:, 3:])])


def offsets_from_parents(tree: Tree, position: Array) -> Array:
    """Return the vectors from the parents' origins to the links' [n, 3]; zero for links on the world."""
    return np.where(tree.parents[:, None] >= 0, position - position[tree.parents], 0.0)


def link_dofs(tree: Tree, k: int) -> slice:
    """Return where the rates of link k stand in theta_dot."""
    start = int(tree.coordinates.dof_start[k])
    return slice(start, start + tree.links[k].hinge.n_dof)
