"""Poses, rotations and the 6 x 6 matrices of spatial algebra, in readable numpy.

A spatial velocity is V = [omega; v], a spatial force f = [moment; force]; both are taken at a point and
written in world axes. With l the vector from point a to point b [J14, section 4],

    φ(a, b) = [[I, skew(l)], [0, I]],     f(a) = φ(a, b) f(b),     V(b) = φ*(a, b) V(a).

Quaternions are (x, y, z, w). Roll, pitch, yaw turn about fixed x, then y, then z, as in URDF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array, check_finite, frozen, real_array
from mcpframe.exceptions import ProblemError

ROTATION_TOLERANCE = 1e-6  # a matrix or quaternion further from a rotation is a mistake, not rounding
EXACT_ROTATION = 1e-14  # a matrix this near is kept as it is, bit for bit
TINY_ANGLE = 1e-4  # radians; below, sin(a/2)/a is taken from its series, exact to the last bit there


@dataclass(frozen=True, eq=False, init=False)
class Pose:
    """Place a frame in another: a point p of the frame is at ``rotation @ p + position``.

    Attributes:
        position: origin of the frame [3], metres.
        rotation: axes of the frame as columns [3, 3].
    """

    position: Array
    rotation: Array

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> None:
        object.__setattr__(self, "position", frozen(_vector("position", position, 3)))
        object.__setattr__(self, "rotation", frozen(np.eye(3) if rotation is None else _rotation(rotation)))

    @staticmethod
    def from_rpy(position: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """Return the pose with roll, pitch and yaw in radians, as a URDF origin."""
        return Pose(position, rotation_from_rpy(_vector("rpy", rpy, 3)))

    @staticmethod
    def from_quaternion(
        position: ArrayLike = (0.0, 0.0, 0.0), quaternion: ArrayLike = (0.0, 0.0, 0.0, 1.0)
    ) -> Pose:
        """Return the pose with the quaternion (x, y, z, w) of any length but zero."""
        return Pose(position, rotation_from_quaternion(_vector("quaternion", quaternion, 4)))

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: Array) -> Array: ...
    def __matmul__(self, other: Pose | Array) -> Pose | Array:
        """Compose with a pose given in this frame, or map points [..., 3] out of this frame."""
        if isinstance(other, Pose):
            return Pose(self.rotation @ other.position + self.position, self.rotation @ other.rotation)
        points: Array = np.asarray(other, dtype=np.float64) @ self.rotation.T + self.position
        return points

    def inverse(self) -> Pose:
        """Return the pose of the outer frame in this one."""
        return Pose(-self.rotation.T @ self.position, self.rotation.T)

    def quaternion(self) -> Array:
        """Return the rotation as a quaternion (x, y, z, w) with w >= 0."""
        return quaternion_from_rotation(self.rotation)


def _vector(name: str, value: ArrayLike, size: int) -> Array:
    vector = real_array(name, value)
    if vector.shape != (size,):
        raise ProblemError(f"{name}: shape {vector.shape}, expected ({size},)")
    check_finite(name, vector)
    return vector


def _rotation(value: ArrayLike) -> Array:
    """Return value as a rotation: kept if exact, else the nearest one if it is within rounding of one."""
    rotation = real_array("rotation", value)
    if rotation.shape != (3, 3):
        raise ProblemError(f"rotation: shape {rotation.shape}, expected (3, 3)")
    check_finite("rotation", rotation)
    error = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if error > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0.0:
        raise ProblemError(
            f"rotation: {rotation.tolist()} is not a rotation matrix (R* R differs from I by {error:.3g}, "
            f"determinant {np.linalg.det(rotation):.3g}); its columns must be right-handed unit axes"
        )
    if error <= EXACT_ROTATION:
        return rotation
    U, _, V = np.linalg.svd(rotation)
    nearest: Array = U @ V  # polar factor
    return nearest


def skew(vector: Array) -> Array:
    """Return the cross-product matrices [..., 3, 3] of vectors [..., 3], a matrix times b being a × b."""
    values = np.asarray(vector, dtype=np.float64)
    cross = np.zeros((*values.shape, 3))
    cross[..., 2, 1], cross[..., 0, 2], cross[..., 1, 0] = values[..., 0], values[..., 1], values[..., 2]
    return cross - cross.swapaxes(-1, -2)


def phi(offset: Array) -> Array:
    """Return φ(a, b) = [[I, skew(l)], [0, I]] for l [..., 3] from a to b [J14, section 4]."""
    l_ab = np.asarray(offset, dtype=np.float64)
    phi_ab = np.zeros((*l_ab.shape[:-1], 6, 6))
    phi_ab[..., range(6), range(6)] = 1.0
    phi_ab[..., :3, 3:] = skew(l_ab)
    return phi_ab


def spatial_inertia(mass: ArrayLike, com: Array, inertia: Array) -> Array:
    """Return the spatial inertia [..., 6, 6] about a point: φ(com) diag(inertia, mass I) φ*(com).

    Args:
        mass: kg [...].
        com: from the point to the centre of mass [..., 3], metres.
        inertia: about the centre of mass [..., 3, 3], kg m², same axes as com.
    """
    shift = phi(com)
    at_com = np.zeros_like(shift)
    at_com[..., :3, :3] = inertia
    at_com[..., 3:, 3:] = np.multiply.outer(mass, np.eye(3))
    moved: Array = shift @ at_com @ shift.swapaxes(-1, -2)
    return moved


def motion_cross(velocity: Array) -> Array:
    """Return the matrix [6, 6] of the cross product with a motion: [[ω×, 0], [v×, ω×]]."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = skew(velocity[:3])
    matrix[3:, :3] = skew(velocity[3:])
    return matrix


def force_cross(velocity: Array) -> Array:
    """Return the matrix [6, 6] of the cross product with a force, [[ω×, v×], [0, ω×]] = -motion_cross*."""
    return -motion_cross(velocity).T


def rotation_from_axis_angle(axis: Array, angle: float) -> Array:
    """Return the rotation by angle (radians) about an axis of any length but zero (Rodrigues)."""
    length = float(np.linalg.norm(axis))
    if not 0.0 < length < np.inf:
        raise ProblemError(
            f"axis: {np.asarray(axis).tolist()} has no direction; give a vector that is not zero"
        )
    cross = skew(np.asarray(axis, dtype=np.float64) / length)
    rotation: Array = np.eye(3) + np.sin(angle) * cross + 2.0 * np.sin(angle / 2.0) ** 2 * cross @ cross
    return rotation


def axis_angle_from_rotation(rotation: Array) -> tuple[Array, float]:
    """Return the unit axis and the angle in [0, π] of a rotation; the axis of no turn is x."""
    vector = rotation_vector_from_rotation(rotation)
    angle = float(np.linalg.norm(vector))
    return (vector / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0])), angle


def rotation_from_rpy(rpy: Array) -> Array:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll) from (roll, pitch, yaw) in radians."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(rotation: Array) -> Array:
    """Return (roll, pitch, yaw), pitch in [-π/2, π/2]; yaw is what roll leaves at pitch ±π/2."""
    R = rotation
    roll = np.arctan2(R[2, 1], R[2, 2])
    pitch = np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2]))
    # with roll fixed, yaw follows from the second column of Rz Ry = R Rx(roll)*: no division by cos(pitch)
    sin_yaw = R[0, 2] * np.sin(roll) - R[0, 1] * np.cos(roll)
    cos_yaw = R[1, 1] * np.cos(roll) - R[1, 2] * np.sin(roll)
    return np.array([roll, pitch, np.arctan2(sin_yaw, cos_yaw)])


def unit_quaternion(quaternion: Array) -> Array:
    """Return the quaternion at length one, sign kept."""
    values = np.asarray(quaternion, dtype=np.float64)
    length = float(np.linalg.norm(values))
    if not 0.0 < length < np.inf:
        raise ProblemError(f"quaternion: {values.tolist()} has no direction; give x, y, z, w not all zero")
    unit: Array = values / length
    return unit


def rotation_from_quaternion(quaternion: Array) -> Array:
    """Return the rotation of a quaternion (x, y, z, w) of any length but zero."""
    unit = unit_quaternion(quaternion)
    cross = skew(unit[:3])
    rotation: Array = np.eye(3) + 2.0 * unit[3] * cross + 2.0 * cross @ cross
    return rotation


def quaternion_from_rotation(rotation: Array) -> Array:
    """Return the unit quaternion (x, y, z, w), w >= 0, of a rotation (Shepperd's method).

    The four products 4 c (x, y, z, w) with c the largest component are the column of a symmetric matrix
    with the largest diagonal; so nothing small is divided by.
    """
    R = np.asarray(rotation, dtype=np.float64)
    trace = np.trace(R)
    four = np.empty((4, 4))
    four[:3, :3] = R + R.T + (1.0 - trace) * np.eye(3)
    four[:3, 3] = four[3, :3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    four[3, 3] = 1.0 + trace
    column = unit_quaternion(four[:, np.argmax(np.diag(four))])
    return -column if column[3] < 0.0 else column


def quaternion_product(a: Array, b: Array) -> Array:
    """Return the quaternion of the rotation a after b: R(a b) = R(a) R(b)."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.array([*vector, a[3] * b[3] - a[:3] @ b[:3]])


def quaternion_from_rotation_vector(vector: Array) -> Array:
    """Return the quaternion of a turn by ``|vector|`` radians about vector (exponential map)."""
    values = np.asarray(vector, dtype=np.float64)
    angle = float(np.linalg.norm(values))
    scale = np.sin(angle / 2.0) / angle if angle > TINY_ANGLE else 0.5 - angle**2 / 48.0
    return np.array([*(scale * values), np.cos(angle / 2.0)])


def rotation_vector_from_quaternion(quaternion: Array) -> Array:
    """Return axis times angle, angle in [0, π], of a quaternion (logarithm; q and -q are one rotation)."""
    unit = unit_quaternion(quaternion)
    unit = -unit if unit[3] < 0.0 else unit
    sine = float(np.linalg.norm(unit[:3]))
    angle = 2.0 * np.arctan2(sine, unit[3])
    scale = angle / sine if sine > 0.0 else 2.0
    vector: Array = scale * unit[:3]
    return vector


def rotation_from_rotation_vector(vector: Array) -> Array:
    """Return the rotation by ``|vector|`` radians about vector."""
    return rotation_from_quaternion(quaternion_from_rotation_vector(vector))


def rotation_vector_from_rotation(rotation: Array) -> Array:
    """Return axis times angle, angle in [0, π], of a rotation."""
    return rotation_vector_from_quaternion(quaternion_from_rotation(rotation))
