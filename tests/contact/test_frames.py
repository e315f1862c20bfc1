import numpy as np
import pytest

from mcpframe import ModelError
from mcpframe.contact.frames import FRICTION_DIRECTIONS, contact_frame, friction_directions

ROUNDING = 1e-15  # a few units in the last place of numbers up to one


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("with_tangent", [False, True])
def test_a_frame_is_a_right_handed_set_of_unit_vectors_along_the_normal(seed, with_tangent):
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(3) * 10.0 ** rng.integers(-6, 6)
    tangent = rng.standard_normal(3) if with_tangent else None
    F = np.array(contact_frame(normal, tangent))
    np.testing.assert_allclose(F @ F.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(F) == pytest.approx(1.0)
    np.testing.assert_allclose(F[0], normal / np.linalg.norm(normal), atol=ROUNDING)
    if with_tangent:
        assert F[1] @ tangent > 0.0
        assert abs(F[2] @ tangent) < ROUNDING * np.linalg.norm(tangent)


def test_a_tangent_nearly_along_the_normal_still_gives_an_exact_frame():
    F = np.array(contact_frame((0, 0, 1), (1e-5, 0, 1)))
    np.testing.assert_allclose(F, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=ROUNDING)


def test_without_a_tangent_a_floor_has_t_1_along_x():
    assert contact_frame((0, 0, 2)) == ((0, 0, 1), (1, 0, 0), (0, 1, 0))


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 25))
def test_without_a_tangent_a_contact_in_the_vertical_plane_has_t_1_in_it(angle):
    _, t_1, _ = contact_frame((np.cos(angle), 0.0, np.sin(angle)))
    assert t_1[1] == 0.0


@pytest.mark.parametrize(
    ("normal", "tangent", "message"),
    [
        ((0, 0, 0), None, "contact: normal.*has no direction"),
        ((0, 0, np.nan), None, "contact: normal.*nan"),
        ((0, 0, np.inf), None, "contact: normal.*inf"),
        ((0, 1), None, r"contact: normal: shape \(2,\), expected \(3,\)"),
        ("up", None, "contact: normal"),
        (("0", "0", "1"), None, "contact: normal"),
        (None, None, "contact: normal"),
        ((0, 0, 1), (0, 0, -3), "tangent .* is parallel to the normal"),
        ((0, 0, 1), (0, 0, 0), "contact: tangent.*has no direction"),
    ],
)
def test_a_frame_that_cannot_be_made_says_why(normal, tangent, message):
    with pytest.raises(ModelError, match=message):
        contact_frame(normal, tangent)


@pytest.mark.parametrize("n_f", [2, 4, 6, 8, 30])
def test_friction_directions_are_unit_vectors_at_equal_angles_with_opposites(n_f):
    d = friction_directions(n_f)
    angles = np.sort(np.arctan2(d[1], d[0]) % (2 * np.pi))
    np.testing.assert_allclose(np.linalg.norm(d, axis=0), 1.0)
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / n_f)
    np.testing.assert_allclose(d[:, : n_f // 2], -d[:, n_f // 2 :])
    np.testing.assert_array_equal(d[:, 0], [1.0, 0.0])


def test_four_directions_unless_somebody_says():
    assert FRICTION_DIRECTIONS == 4
