"""Rows: the same linear form over hinge rates and over link velocities; hinges as rows."""

import numpy as np
import pytest
from trees import KINDS, random_motion, random_nodes, random_tree

from mcpframe.multibody import Hinge, Link, Model, Node, Rows, hinge_constraint_rows, hinge_rate_rows
from mcpframe.spatial.transforms import Pose

ROUNDING = 1e-11
"""A dozen links, a few metres, rates of size one: sums of about a hundred products."""


def random_state(rng, n=12):
    model = random_tree(rng, n, KINDS, extra_roots=0.2)
    return model.state(*random_motion(rng, model))


def random_rows(rng, state, n=7, halves=15):
    tree = state.tree
    return Rows.of_halves(
        n,
        [
            (
                rng.integers(n, size=halves),
                rng.integers(-1, len(tree.links), size=halves),
                rng.standard_normal((halves, 3)),
                rng.standard_normal((halves, 6)),
            )
        ],
        rng.standard_normal(n),
    )


def test_velocity_jacobian_and_link_matrix_are_one_form(rng):
    for _ in range(10):
        state = random_state(rng)
        rows = random_rows(rng, state)
        velocity = rows.velocity(state)
        np.testing.assert_allclose(rows.jacobian(state) @ state.theta_dot, velocity, atol=ROUNDING)
        np.testing.assert_allclose(
            rows.link_matrix(state) @ state.link_velocities().ravel(), velocity, atol=ROUNDING
        )


def test_jacobian_of_rows_at_nodes_is_the_nodes_jacobian(rng):
    state = random_state(rng)
    nodes = random_nodes(rng, state.model, 4)
    links = np.array([state.model.resolve(node)[0] for node in nodes])
    points = np.array([state.pose(node).position for node in nodes])
    wrench = np.tile(np.eye(6), (4, 1))
    rows = Rows.of_halves(24, [(np.arange(24), np.repeat(links, 6), np.repeat(points, 6, axis=0), wrench)])
    np.testing.assert_allclose(rows.jacobian(state), state.jacobian(nodes), atol=ROUNDING)


def test_impulses_on_rows_act_as_their_wrenches(rng):
    """G* p by the links' wrenches and by the Jacobian are one generalised impulse."""
    state = random_state(rng)
    rows = random_rows(rng, state)
    p = rng.standard_normal(rows.n)
    wrenches = (rows.link_matrix(state).T @ p).reshape(-1, 6)
    np.testing.assert_allclose(state.apply_wrenches(wrenches), rows.jacobian(state).T @ p, atol=ROUNDING)


def test_halves_on_the_world_are_left_out(rng):
    state = random_state(rng)
    rows = random_rows(rng, state, halves=100)
    assert 0 < rows.row.size < 100
    assert rows.link.min() >= 0


def test_hinge_rates_are_rows(rng):
    for _ in range(10):
        state = random_state(rng)
        dofs = rng.permutation(state.model.n_dofs)
        rows = hinge_rate_rows(state, dofs)
        np.testing.assert_allclose(rows.velocity(state), state.theta_dot[dofs], atol=ROUNDING)
        np.testing.assert_allclose(rows.jacobian(state), np.eye(state.model.n_dofs)[dofs], atol=ROUNDING)


def test_hinges_forbid_what_their_columns_do_not_span(rng):
    for _ in range(10):
        state = random_state(rng)
        n, n_dofs = state.model.n_links, state.model.n_dofs
        rows = hinge_constraint_rows(state)
        assert rows.n == 6 * n - n_dofs
        np.testing.assert_allclose(rows.velocity(state), 0.0, atol=ROUNDING)
        np.testing.assert_allclose(rows.jacobian(state), 0.0, atol=ROUNDING)


def test_hinge_rows_and_rates_together_determine_the_link_velocities(rng):
    """G_h V = 0 and G_r V = theta_dot are 6n independent rows, and their solution is V."""
    state = random_state(rng)
    G_h = hinge_constraint_rows(state).link_matrix(state).toarray()
    G_r = hinge_rate_rows(state, np.arange(state.model.n_dofs)).link_matrix(state).toarray()
    V = np.linalg.solve(np.vstack([G_h, G_r]), np.concatenate([np.zeros(len(G_h)), state.theta_dot]))
    np.testing.assert_allclose(V, state.link_velocities().ravel(), atol=1000 * ROUNDING)


def test_hinge_rows_come_link_by_link_with_orthonormal_directions(rng):
    state = random_state(rng)
    rows = hinge_constraint_rows(state)
    own = rows.wrench[: rows.n]  # the links' halves stand first, the parents' after them
    links = rows.link[: rows.n]
    assert (np.diff(links) >= 0).all()
    for link in np.unique(links):
        basis = own[links == link]
        np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=ROUNDING)


def test_link_matrix_touches_two_links_per_hinge_row(rng):
    state = random_state(rng, n=40)
    matrix = hinge_constraint_rows(state).link_matrix(state)
    assert matrix.shape == (6 * 40 - state.model.n_dofs, 240)
    links_touched = [np.unique(row.nonzero()[-1] // 6).size for row in matrix]
    assert max(links_touched) <= 2


def test_concatenation_stacks_everything(rng):
    state = random_state(rng)
    parts = [random_rows(rng, state, 3), Rows.concatenate([]), random_rows(rng, state, 5)]
    stacked = Rows.concatenate(parts)
    assert stacked.n == 8
    for field in ("bias", "rate", "rate_dot", "error"):
        np.testing.assert_array_equal(
            getattr(stacked, field), np.concatenate([getattr(part, field) for part in parts])
        )
    np.testing.assert_allclose(
        stacked.jacobian(state), np.vstack([part.jacobian(state) for part in parts]), atol=ROUNDING
    )


def test_no_rows_are_rows(rng):
    state = random_state(rng)
    none = Rows.concatenate([])
    assert none.n == 0
    assert none.velocity(state).shape == (0,)
    assert none.jacobian(state).shape == (0, state.model.n_dofs)
    assert none.link_matrix(state).shape == (0, 6 * state.model.n_links)
    assert hinge_rate_rows(state, []).n == 0


@pytest.mark.parametrize("distance", [0.0, 1e4])
def test_the_place_of_a_mechanism_in_the_world_does_not_matter(distance, rng):
    links = [Link("a", hinge=Hinge("pin", (0, 1, 0)), pose=Pose((distance, 0, 0)), mass=1, com=(0, 0, 1))]
    links.append(Link("b", "a", Hinge("pin", (1, 0, 0)), Pose((0, 0, 1)), mass=1, com=(0, 0, 1)))
    state = Model(links).state([0.3, 0.4])
    nodes = [Node("b", (0.1, 0.2, 0.3))]
    point = state.pose(nodes[0]).position
    rows = Rows.of_halves(6, [(np.arange(6), np.ones(6, dtype=int), np.tile(point, (6, 1)), np.eye(6))])
    np.testing.assert_allclose(rows.jacobian(state), state.jacobian(nodes), atol=ROUNDING)
