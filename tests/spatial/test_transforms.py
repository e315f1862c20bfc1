import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mcpframe.exceptions import ProblemError
from mcpframe.spatial import transforms as tf
from mcpframe.spatial.transforms import Pose

EXACT = 1e-14
"""A handful of roundings of numbers of size one."""
INVERSE = 1e-12
"""Roundings of an angle found from a rotation away from where that is ill-conditioned."""
HALF_TURN = 1e-7
"""Near half a turn and at pitch 90 degrees the angle depends on the rotation like a square root."""


def rotations(rng, n=200):
    return Rotation.random(n, random_state=rng)


def test_rotations_agree_with_scipy_in_every_form(rng):
    for reference in rotations(rng):
        R = reference.as_matrix()
        vector = reference.as_rotvec()
        assert np.allclose(tf.rotation_from_quaternion(3.0 * reference.as_quat()), R, atol=EXACT)
        assert np.allclose(tf.rotation_from_rotation_vector(vector), R, atol=EXACT)
        assert np.allclose(tf.rotation_from_axis_angle(vector, np.linalg.norm(vector)), R, atol=EXACT)
        assert np.allclose(tf.rotation_from_rpy(reference.as_euler("xyz")), R, atol=EXACT)


def test_every_form_is_found_back_from_the_matrix(rng):
    for reference in rotations(rng):
        R = reference.as_matrix()
        axis, angle = tf.axis_angle_from_rotation(R)
        assert np.allclose(tf.rotation_from_axis_angle(axis, angle), R, atol=INVERSE)
        assert np.allclose(tf.rotation_vector_from_rotation(R), reference.as_rotvec(), atol=HALF_TURN)
        assert np.allclose(tf.rpy_from_rotation(R), reference.as_euler("xyz"), atol=HALF_TURN)
        quaternion = tf.quaternion_from_rotation(R)
        assert quaternion[3] >= 0.0
        assert np.allclose(quaternion, reference.as_quat(canonical=True), atol=EXACT)


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), [[0.6, 0.0, -0.8], [1e-9, 1.0, 0.0]]]))
@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-12, 1e-5, 1e-4, 1.0, np.pi - 1e-9, np.pi])
def test_tiny_and_half_turns_are_found_back(axis, angle):
    R = tf.rotation_from_axis_angle(axis, angle)
    vector = tf.rotation_vector_from_rotation(R)
    assert np.linalg.norm(vector) == pytest.approx(angle, abs=EXACT, rel=INVERSE)
    assert np.allclose(tf.rotation_from_rotation_vector(vector), R, atol=EXACT)
    assert np.allclose(tf.rotation_from_quaternion(tf.quaternion_from_rotation(R)), R, atol=EXACT)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9])
def test_rpy_at_gimbal_lock_still_names_the_same_rotation(pitch):
    R = tf.rotation_from_rpy(np.array([0.3, pitch, -1.2]))
    assert np.allclose(tf.rotation_from_rpy(tf.rpy_from_rotation(R)), R, atol=EXACT)


def test_quaternions_multiply_as_rotations_do(rng):
    for a, b in zip(rotations(rng, 20), rotations(rng, 20), strict=True):
        product = tf.quaternion_product(a.as_quat(), b.as_quat())
        assert np.allclose(tf.rotation_from_quaternion(product), (a * b).as_matrix(), atol=EXACT)


def test_exponential_and_logarithm_of_quaternions_are_inverse(rng):
    for size in (0.0, 1e-8, 1e-4, 0.99e-4, 1.0, 3.1):
        direction = rng.standard_normal(3)
        vector = size * direction / np.linalg.norm(direction)
        quaternion = tf.quaternion_from_rotation_vector(vector)
        assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=EXACT)
        assert np.allclose(tf.rotation_vector_from_quaternion(-quaternion), vector, rtol=INVERSE, atol=1e-300)


def test_poses_compose_invert_and_map_points(rng):
    a, b = (Pose(rng.standard_normal(3), R.as_matrix()) for R in rotations(rng, 2))
    points = rng.standard_normal((2, 5, 3))
    assert np.allclose((a @ b) @ points, a @ (b @ points), atol=EXACT)
    assert np.allclose(a.inverse() @ (a @ points), points, atol=EXACT)
    assert np.allclose(a @ points[0, 0], a.rotation @ points[0, 0] + a.position, atol=EXACT)
    assert np.allclose(Pose.from_quaternion(a.position, a.quaternion()).rotation, a.rotation, atol=EXACT)
    assert np.allclose(Pose.from_rpy(rpy=tf.rpy_from_rotation(a.rotation)).rotation, a.rotation, atol=EXACT)


def test_a_pose_keeps_its_own_arrays():
    position = np.ones(3)
    pose = Pose(position)
    position[0] = 5.0
    assert pose.position[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        pose.rotation[0, 0] = 2.0


def test_a_rotation_rounded_to_seven_digits_becomes_the_nearest_one(rng):
    R = rotations(rng, 1)[0].as_matrix()
    kept = Pose(rotation=np.round(R, 7)).rotation
    assert np.abs(kept.T @ kept - np.eye(3)).max() < EXACT
    assert np.abs(kept - R).max() < 1e-6


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pose((1.0, 2.0)), r"position: shape \(2,\)"),
        (lambda: Pose((0.0, np.nan, 0.0)), "position: entry 1 is nan"),
        (lambda: Pose(rotation=np.diag([1.0, 1.0, -1.0])), "not a rotation matrix"),
        (lambda: Pose(rotation=1.01 * np.eye(3)), "not a rotation matrix"),
        (lambda: Pose(rotation=np.eye(4)), r"rotation: shape \(4, 4\)"),
        (lambda: Pose.from_quaternion(quaternion=(0, 0, 0, 0)), "quaternion: .* no direction"),
        (lambda: Pose.from_quaternion(quaternion="xyzw"), "quaternion: cannot be read"),
        (lambda: Pose.from_rpy(rpy=(0.0, np.inf, 0.0)), "rpy: entry 1 is inf"),
        (lambda: tf.rotation_from_axis_angle(np.zeros(3), 1.0), "axis: .* no direction"),
    ],
)
def test_what_is_no_pose_is_refused_by_name(make, words):
    with pytest.raises(ProblemError, match=words):
        make()


def test_phi_moves_velocities_and_forces_and_keeps_power(rng):
    l_ab, omega, v, moment, force = rng.standard_normal((5, 3))
    moved = tf.phi(l_ab).T @ np.concatenate([omega, v])
    assert np.allclose(moved, [*omega, *(v + np.cross(omega, l_ab))], atol=EXACT)
    back = tf.phi(l_ab) @ np.concatenate([moment, force])
    assert np.allclose(back, [*(moment + np.cross(l_ab, force)), *force], atol=EXACT)
    assert np.concatenate([omega, v]) @ back == pytest.approx(
        moved @ np.concatenate([moment, force]), rel=INVERSE
    )


def test_phi_and_skew_take_stacks_of_vectors(rng):
    offsets = rng.standard_normal((2, 3, 3))
    stack = tf.phi(offsets)
    assert all((stack[i, j] == tf.phi(offsets[i, j])).all() for i in range(2) for j in range(3))
    assert np.allclose(tf.phi(offsets[0, 0]) @ tf.phi(offsets[0, 1]), tf.phi(offsets[0, 0] + offsets[0, 1]))


def test_spatial_inertia_gives_momentum_and_energy_of_a_cloud_of_points(rng):
    points, masses = rng.standard_normal((6, 3)), rng.uniform(0.1, 1.0, 6)
    com = masses @ points / masses.sum()
    inertia = sum(
        m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - com, strict=True)
    )
    omega, v = rng.standard_normal((2, 3))
    velocities = v + np.cross(omega, points)
    momentum = tf.spatial_inertia(masses.sum(), com, inertia) @ np.concatenate([omega, v])
    assert np.allclose(momentum[3:], masses @ velocities, atol=INVERSE)
    assert np.allclose(momentum[:3], masses @ np.cross(points, velocities), atol=INVERSE)
    energy = 0.5 * masses @ (velocities**2).sum(axis=1)
    assert 0.5 * momentum @ np.concatenate([omega, v]) == pytest.approx(energy, rel=INVERSE)


def test_cross_products_of_motion_and_force_are_dual_and_generate_phi(rng):
    V, U = rng.standard_normal((2, 6))
    assert np.allclose(tf.motion_cross(V), -tf.force_cross(V).T)
    assert np.allclose(tf.motion_cross(V) @ U, -tf.motion_cross(U) @ V, atol=EXACT)
    shift = np.concatenate([np.zeros(3), V[3:]])
    assert np.allclose(np.eye(6) + tf.force_cross(shift), tf.phi(V[3:]))
