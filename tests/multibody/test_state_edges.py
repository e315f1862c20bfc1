"""States at the edges: nothing that moves, hinges that feel no inertia, trees far from the origin."""

import numpy as np
import pytest
from states import assert_close, bar
from trees import random_link, random_motion

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model, Node
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.spatial.transforms import Pose

FAR = 1e4
FAR_ROUNDING = 1e-10
"""Positions at 1e4 m are rounded to 1e-12 m; what only the shape decides must not lose more than that."""


# Nothing that moves


def test_a_model_without_links_has_empty_quantities():
    state = Model().state()
    assert state.free_acceleration().shape == state.bias_force().shape == state.theta.shape == (0,)
    assert state.mass_matrix().shape == (0, 0)
    assert state.link_velocities().shape == (0, 6)
    assert state.kinetic_energy() == state.potential_energy() == 0.0
    assert_close(state.momentum(), np.zeros(6))
    assert_close(state.compliance(["world"]), np.zeros((6, 6)))


def test_a_model_that_cannot_move_has_no_rates_but_poses(rng):
    model = Model([random_link(rng, "a", "world", "locked"), random_link(rng, "b", "a", "locked")])
    state, dense = model.state(), DenseOperators(model)
    assert state.free_acceleration().shape == (0,)
    assert_close(state.link_poses()[1], dense.link_poses()[1])
    assert_close(state.potential_energy(), dense.potential_energy())
    assert_close(state.compliance(["b"]), np.zeros((6, 6)))
    assert state.jacobian(["b"]).shape == (6, 0)


# No inertia at some configuration


def spherical_pendulum(parent="world", pose=None, length=0.7):
    """A point mass on two pins: the first, vertical, feels nothing of it while it hangs straight down."""
    azimuth = Link("azimuth", parent, Hinge("pin", (0, 0, 1)), pose)
    return [azimuth, Link("polar", "azimuth", Hinge("pin", (0, 1, 0)), mass=2.0, com=(0, 0, -length))]


@pytest.mark.parametrize("hanging", [0.0, np.pi, -np.pi, 1e-9])
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, 0.4, 0.5)], ids=["upright", "tilted"])
def test_a_hinge_that_moves_nothing_here_is_named(hanging, turn):
    """Exactly or but for rounding, whatever the axes."""
    pose = Pose.from_rpy((3.0, 4.0, 5.0), turn)
    state = Model(spherical_pendulum(pose=pose)).state([0.2, hanging])
    for call in (
        state.free_acceleration,
        lambda: state.compliance(["polar"]),
        lambda: state.solve_mass([1.0, 1.0]),
        lambda: state.solve_mass(np.eye(2)),
    ):
        with pytest.raises(ModelError, match="dof 'azimuth' has no inertia to move at this configuration"):
            call()
    assert state.mass_matrix()[0, 0] == pytest.approx(0.0, abs=1e-15)
    assert np.isfinite(state.update([0.2, 1.0]).free_acceleration()).all()


def test_the_hinge_without_inertia_is_named_and_not_those_before_it():
    """With numbers that do not round, D is exactly zero, and nothing further inward is a number."""
    model = Model([bar("base"), bar("arm", "base"), *spherical_pendulum("arm", length=0.5)])
    with pytest.raises(ModelError, match="dof 'azimuth' has no inertia"):
        model.state().free_acceleration()


@pytest.mark.parametrize("angle", [1e-4, 1e-2, 1.0, 2.0])
def test_beside_that_configuration_a_spherical_pendulum_obeys_its_textbook_equations(angle):
    """θ̈ = sin θ cos θ φ̇² - (g/l) sin θ,   φ̈ = -2 cot θ θ̇ φ̇."""
    rate, turning, g, length = 0.3, 0.7, 9.81, 0.7
    state = Model(spherical_pendulum()).state([0.4, angle], [turning, rate])
    s, c = np.sin(angle), np.cos(angle)
    expected = [-2 * c / s * rate * turning, s * c * turning**2 - g / length * s]
    np.testing.assert_allclose(state.free_acceleration(), expected, rtol=1e-15 / angle**2 + 1e-12)


def test_armature_is_inertia_enough():
    model = Model([Link("rotor", hinge=Hinge("pin"), armature=1e-6)])
    assert_close(model.state().free_acceleration([1.0]), [1e6])


# Far from the origin


def far_roots():
    """Roots that carry a tree to FAR metres by their pose or by their coordinates."""
    place = Pose((FAR, -FAR, FAR))
    return {
        "free by coordinates": (Hinge("free"), None, [FAR, -FAR, FAR, 0, 0, 0, 1]),
        "free by pose": (Hinge("free"), place, [0, 0, 0, 0, 0, 0, 1]),
        "pin by pose": (Hinge("pin", (0, 1, 0)), place, [0]),
        "ball by pose": (Hinge("ball"), place, [0, 0, 0, 1]),
        "locked by pose": (Hinge("locked"), place, []),
        "planar by coordinates": (Hinge("planar", (0, 1, 0)), None, [FAR, -FAR, 0]),
        "prismatic by coordinates": (Hinge("prismatic", (1, 0, 0)), None, [FAR]),
    }


@pytest.mark.parametrize("case", far_roots())
def test_the_place_in_the_world_costs_no_accuracy(case):
    """The same tree near the origin and at 1e4 m: what depends on its shape alone is the same."""
    hinge, pose, start = far_roots()[case]
    results = []
    for is_far in (False, True):
        rng = np.random.default_rng(1)
        root = Link(
            "link0",
            hinge=hinge,
            pose=pose if is_far else None,
            mass=1.0,
            com=(0.1, 0.2, 0.3),
            inertia=np.eye(3),
        )
        links = [
            root,
            *(random_link(rng, f"link{k}", f"link{k - 1}", kind) for k, kind in enumerate(CARRIED, 1)),
        ]
        model = Model(links)
        theta, theta_dot = random_motion(rng, model)
        theta[: len(start)] = start if is_far else hinge.neutral()
        state, nodes = model.state(theta, theta_dot), ["link1", Node("link4", (0.1, 0.2, 0.3))]
        shape = (state.mass_matrix(), state.bias_force(), state.jacobian(nodes), state.node_bias(nodes))
        results.append((*shape, state.free_acceleration(), state.compliance(nodes), state.kinetic_energy()))
    for near, far in zip(*results, strict=True):
        assert_close(far, near, FAR_ROUNDING)


CARRIED = ("pin", "ball", "prismatic", "universal")


def test_links_that_slide_far_from_their_root_keep_their_accuracy(rng):
    """A turning arm at the end of a rail 1e4 m long, on a base that cannot turn."""
    links = [bar("base", hinge=Hinge("locked")), bar("cart", "base", Hinge("prismatic", (1, 0, 0)))]
    model = Model([*links, bar("arm", "cart"), bar("hand", "arm")])
    near, far = (model.state([x, 0.3, 0.4], [1.0, 2.0, 3.0]) for x in (0.0, FAR))
    assert_close(far.free_acceleration(), near.free_acceleration(), FAR_ROUNDING)
    assert_close(far.compliance(["hand", "cart"]), near.compliance(["hand", "cart"]), FAR_ROUNDING)
