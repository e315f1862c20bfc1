"""Compliance Lambda = J Mass^-1 J*: every way two nodes can stand to each other, many nodes, any order."""

import numpy as np
import pytest
from states import assert_close
from trees import random_link, random_motion, random_nodes, random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model, Node
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.multibody.state import REMEMBERED
from mcpframe.spatial.transforms import Pose, phi, spatial_inertia

SEMIDEFINITE = 1e-12
"""Relative to the largest eigenvalue: rounding of those that are zero."""


def by_jacobian(state, nodes):
    """J Mass^-1 J* from the mass matrix, which knows nothing of articulated inertias."""
    J = state.jacobian(nodes)
    return J @ np.linalg.solve(state.mass_matrix(), J.T)


def assert_compliance(state, nodes):
    Lambda = state.compliance(nodes)
    assert_close(Lambda, by_jacobian(state, nodes))
    return Lambda


def moving(model, seed=0):
    return model.state(*random_motion(np.random.default_rng(seed), model))


@pytest.fixture(scope="module")
def family():
    """Two trees; the first parts twice, below a hinge with several axes and at its root.

    root ─┬─ trunk ─ fork ─┬─ left ─ left_hand
          │                ├─ middle
          │                └─ right ─ right_hand
          └─ tail                                  other ─ outer
    """
    kinds = {
        ("root", "world"): "free",
        ("trunk", "root"): "pin",
        ("fork", "trunk"): "universal",
        ("left", "fork"): "planar",
        ("left_hand", "left"): "ball",
        ("middle", "fork"): "prismatic",
        ("right", "fork"): "pin",
        ("right_hand", "right"): "locked",
        ("tail", "root"): "cylindrical",
        ("other", "world"): "ball",
        ("outer", "other"): "pin",
    }
    rng = np.random.default_rng(11)
    return moving(Model([random_link(rng, *names, kind) for names, kind in kinds.items()]))


@pytest.mark.parametrize(
    "bodies",
    [
        ["trunk"],
        ["root"],
        ["left", "left"],
        ["trunk", "fork"],
        ["root", "left_hand"],
        ["left_hand", "root", "fork"],
        ["left", "right"],
        ["left_hand", "right_hand", "middle"],
        ["tail", "middle"],
        ["tail", "root", "left"],
        ["fork", "left", "right", "left_hand", "right_hand"],
        ["right_hand", "right"],
        ["left", "outer"],
        ["outer", "left", "other", "right", "outer"],
        ["other"],
    ],
    ids=" ".join,
)
def test_nodes_give_way_to_each_other_as_by_the_jacobian(family, bodies):
    rng = np.random.default_rng(len(bodies))
    assert_compliance(family, [Node(body, rng.uniform(-1.0, 1.0, 3)) for body in bodies])
    assert_compliance(family, bodies)


def test_different_trees_do_not_couple_at_all(family):
    Lambda = family.compliance(["left_hand", "outer", "root"])
    between = Lambda[np.ix_([*range(6), *range(12, 18)], range(6, 12))]
    assert not between.any()
    assert Lambda[:6, 12:].any()


def test_two_nodes_of_one_link_differ_by_the_arm_between_them(family):
    """Lambda(b, b) = φ* Lambda(a, a) φ with φ over the vector from a to b."""
    a, b = Node("left", (0.2, 0.1, 0.4)), Node("left", (-0.3, 0.5, 0.0))
    Lambda = family.compliance([a, b])
    move = phi(family.pose(b).position - family.pose(a).position)
    assert_close(Lambda[6:, 6:], move.T @ Lambda[:6, :6] @ move)
    assert_close(Lambda[:6, 6:], Lambda[:6, :6] @ move)


def test_axes_of_a_node_do_not_matter(family):
    turned = Node("fork", (0.1, 0.2, 0.3), Pose.from_rpy(rpy=(0.4, 0.5, 0.6)).rotation)
    np.testing.assert_array_equal(
        family.compliance([turned]), family.compliance([Node("fork", (0.1, 0.2, 0.3))])
    )


def test_the_same_node_twice_repeats_its_rows(family):
    node = Node("right", (0.1, 0.2, 0.3))
    once, twice = family.compliance([node]), family.compliance([node, node])
    assert_close(twice, np.tile(once, (2, 2)))


@pytest.mark.parametrize("seed", range(4))
def test_sixty_four_nodes_are_as_exact_as_one(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 30, extra_roots=0.1, armature=0.1)
    state, nodes = moving(model, seed), random_nodes(rng, model, 64)
    Lambda = assert_compliance(state, nodes)
    dense = DenseOperators(model, state.theta, state.theta_dot)
    assert_close(Lambda, dense.compliance(nodes))


@pytest.mark.parametrize("n_c", range(1, 12))
def test_any_number_of_nodes_on_one_link_fits_its_lanes(n_c, family):
    """Six rows a node, four to a register: some registers are full, some not."""
    rng = np.random.default_rng(n_c)
    assert_compliance(family, [*(Node("left", x) for x in rng.uniform(-1, 1, (n_c, 3))), "right_hand"])


@pytest.mark.parametrize("seed", range(6))
def test_nodes_in_another_order_give_the_matrix_in_that_order(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 15, extra_roots=0.2)
    state, nodes = moving(model, seed), random_nodes(rng, model, 9)
    order = rng.permutation(9)
    rows = (6 * order[:, None] + np.arange(6)).ravel()
    assert_close(state.compliance([nodes[i] for i in order]), state.compliance(nodes)[np.ix_(rows, rows)])


@pytest.mark.parametrize("seed", range(6))
def test_compliance_is_symmetric_to_the_bit_and_positive_semidefinite(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12, extra_roots=0.2)
    Lambda = moving(model, seed).compliance(random_nodes(rng, model, 10))
    np.testing.assert_array_equal(Lambda, Lambda.T)
    eigenvalues = np.linalg.eigvalsh(Lambda)
    assert eigenvalues[0] >= -SEMIDEFINITE * eigenvalues[-1]


def test_a_part_of_the_nodes_has_that_part_of_the_matrix(family):
    nodes = ["root", "left_hand", "right", "outer"]
    whole = family.compliance(nodes)
    for i, node in enumerate(nodes):
        at = slice(6 * i, 6 * i + 6)
        assert_close(family.compliance([node]), whole[at, at])


def test_rates_play_no_part(family):
    nodes = ["left_hand", "tail"]
    at_rest = family.model.state(family.theta)
    np.testing.assert_array_equal(at_rest.compliance(nodes), family.compliance(nodes))


def test_compliance_is_the_velocity_that_unit_impulses_leave(family):
    nodes = [Node("left_hand", (0.1, 0.0, 0.2)), Node("tail", (0.0, 0.3, 0.0))]
    Lambda, J = family.compliance(nodes), family.jacobian(nodes)
    for i, node in enumerate(nodes):
        for j in range(6):
            impulse = family.link_wrenches({node: np.eye(6)[j]})
            assert_close(J @ family.respond(link_wrenches=impulse), Lambda[:, 6 * i + j])


# Closed forms


def test_a_free_body_gives_way_as_its_inverse_inertia(rng):
    link = random_link(rng, "body", "world", "free")
    state = moving(Model([link]))
    node = Node("body", (0.3, -0.2, 0.5))
    R, M = state.pose("body").rotation, spatial_inertia(link.mass, link.com, link.inertia)
    turn, move = np.kron(np.eye(2), R), phi(R @ node.position)
    assert_close(state.compliance([node]), move.T @ np.linalg.inv(turn @ M @ turn.T) @ move)


def test_a_point_pendulum_gives_way_along_its_circle_alone():
    """At the bob: angular 1/(m l²) about the axis, linear 1/m along the tangent, 1/(m l) between."""
    m, length = 2.0, 0.5
    model = Model([Link("bob", hinge=Hinge("pin", (0, 1, 0)), mass=m, com=(0, 0, -length))])
    Lambda = model.state([0.0]).compliance([Node("bob", (0, 0, -length))])
    expected = np.zeros((6, 6))
    expected[1, 1], expected[3, 3] = 1 / (m * length**2), 1 / m
    expected[1, 3] = expected[3, 1] = -1 / (m * length)
    assert_close(Lambda, expected)


def test_what_is_locked_to_the_world_does_not_give_way(rng):
    links = [random_link(rng, "base", "world", "locked"), random_link(rng, "arm", "base", "pin")]
    Lambda = moving(Model(links)).compliance(["base", "arm"])
    assert not Lambda[:6].any()
    assert Lambda[6:, 6:].any()


# The world, no nodes, mistakes


def test_nodes_on_the_world_have_zero_rows(family):
    nodes = ["world", "left", Node("world", (1.0, 2.0, 3.0)), "right", "world"]
    dense = DenseOperators(family.model, family.theta, family.theta_dot)
    for quantity in ("compliance", "node_velocities", "node_bias", "jacobian"):
        assert_close(getattr(family, quantity)(nodes), getattr(dense, quantity)(nodes))
    assert_close(family.compliance(["world"]), np.zeros((6, 6)))


def test_no_nodes_have_an_empty_matrix(family):
    assert family.compliance([]).shape == (0, 0)
    assert family.node_velocities([]).shape == family.node_bias([]).shape == (0, 6)
    assert family.jacobian([]).shape == (0, family.model.n_dofs)


def test_unknown_bodies_are_named(family):
    with pytest.raises(ModelError, match="no link or frame 'lefd'.*left"):
        family.compliance(["left", "lefd"])


@pytest.mark.parametrize("one", ["left", Node("left")], ids=["name", "node"])
def test_one_node_alone_is_refused_with_advice(family, one):
    with pytest.raises(ModelError, match="give a list"):
        family.compliance(one)
    with pytest.raises(ModelError, match="give a list"):
        family.jacobian(one)


# Workspaces


def test_results_are_the_callers_own(family):
    first = family.compliance(["left"])
    kept = first.copy()
    first[:] = np.nan
    np.testing.assert_array_equal(family.compliance(["left"]), kept)


def test_more_lists_of_nodes_than_a_state_remembers_stay_right(family):
    rng = np.random.default_rng(0)
    lists = [random_nodes(rng, family.model, 1 + i % 3) for i in range(2 * REMEMBERED + 3)]
    first = [family.compliance(nodes) for nodes in lists]
    for nodes, Lambda in zip(lists, first, strict=True):
        np.testing.assert_array_equal(family.compliance(nodes), Lambda)


def test_a_node_that_changes_its_list_is_looked_up_anew(family):
    nodes = ["left"]
    before = family.compliance(nodes)
    nodes[0] = "right"
    assert_close(family.compliance(nodes), by_jacobian(family, ["right"]))
    assert np.abs(before - family.compliance(nodes)).max() > 1e-3


def test_the_plan_of_nodes_holds_at_every_configuration(family):
    state, nodes = moving(family.model), ["left_hand", "right_hand", "tail", "outer"]
    rng = np.random.default_rng(4)
    for _ in range(5):
        state.update(*random_motion(rng, family.model))
        assert_compliance(state, nodes)
