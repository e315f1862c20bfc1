"""Links as free bodies: velocities, hinge impulses and inverse masses against dense operators."""

import numpy as np
import pytest
import scipy.sparse as sp
from contact_scenes import DT, massless_links, rates, tree

import mcpframe as mf
from mcpframe import systems
from mcpframe.formulations.free_links import free_links, inverse_by_components
from mcpframe.multibody.reference.operators import DenseOperators

EXACT = 1e-11
"""Rounding in sums over a dozen links with entries below a hundred."""


def dense_of(step):
    return DenseOperators(step.state.model, step.state.theta, step.state.theta_dot)


@pytest.mark.parametrize("make", [tree, massless_links])
def test_link_velocities_follow_from_hinge_rates(make):
    step = make("coulomb")
    links, dense = free_links(step), dense_of(step)
    np.testing.assert_allclose(links.V, dense.link_velocities().ravel(), atol=EXACT)
    theta_dot = rates(step.state.model, 1)
    np.testing.assert_allclose(links.velocity(theta_dot), dense.phi.T @ dense.H.T @ theta_dot, atol=EXACT)
    np.testing.assert_allclose(links.G_r @ links.velocity(theta_dot), theta_dot, atol=EXACT)
    np.testing.assert_allclose(links.G_h @ links.velocity(theta_dot), 0.0, atol=EXACT)


@pytest.mark.parametrize("make", [tree, massless_links])
def test_projected_on_the_hinges_it_is_the_hinge_dynamics(make):
    """H φ turns masses and forces of links into those of hinges: rotors, springs and all."""
    step = make("coulomb")
    links, dense = free_links(step), dense_of(step)
    project = dense.H @ dense.phi
    np.testing.assert_allclose(project @ links.mass_matrix @ project.T, dense.mass_matrix(), atol=EXACT)
    state = step.state
    known = dense.mass_matrix() @ state.free_acceleration(step.total_force, step.wrenches)
    np.testing.assert_allclose(project @ links.impulse, DT * known, atol=EXACT)


@pytest.mark.parametrize("make", [tree, massless_links])
def test_hinge_impulses_balance_the_momentum_of_every_link(make):
    step = make("coulomb")
    links, state = free_links(step), step.state
    theta_dot = state.theta_dot + DT * step.free_acceleration
    V_plus = links.velocity(theta_dot)
    p_h = links.hinge_impulses(V_plus, np.zeros(links.V.size))
    gained = links.mass_matrix @ (V_plus - links.V)
    np.testing.assert_allclose(gained, links.impulse + links.G_h.T @ p_h, atol=EXACT)


def test_a_hanging_weight_pulls_its_hinge():
    """A sphere at rest below its pin: the impulse in the hinge carries m g dt, up."""
    state = systems.pendulum(1).state()
    links = free_links(mf.ContactStep(state, [], DT))
    p_h = links.hinge_impulses(links.V, np.zeros(6))
    np.testing.assert_allclose((links.G_h.T @ p_h)[3:], [0.0, 0.0, 9.8 * DT], atol=EXACT)


def test_links_with_inertia_stay_apart():
    state = systems.pendulum(5).state()
    inverse = free_links(mf.ContactStep(state, [], DT)).inverse_mass_matrix
    rows, columns = inverse.nonzero()
    assert (rows // 6 == columns // 6).all()


def test_links_without_inertia_borrow_it_without_a_change_of_motion():
    """With all hinge rows imposed, the borrowed inverse moves the links as Mass^-1 moves the hinges."""
    step = massless_links("coulomb")
    links, state = free_links(step), step.state
    G_h, inverse = links.G_h.toarray(), links.inverse_mass_matrix.toarray()
    assert np.linalg.eigvalsh(inverse)[0] > 0.0
    p_h = np.linalg.solve(G_h @ inverse @ G_h.T, -G_h @ links.free_velocity)
    V_plus = links.free_velocity + inverse @ (G_h.T @ p_h)
    expected = state.theta_dot + DT * step.free_acceleration
    np.testing.assert_allclose(links.G_r @ V_plus, expected, atol=EXACT)
    np.testing.assert_allclose(p_h, links.hinge_impulses(V_plus, np.zeros(links.V.size)), atol=EXACT)


def test_an_inverse_by_components_is_the_inverse(rng):
    blocks = [rng.standard_normal((size, size)) for size in (3, 1, 3, 2)]
    matrix = sp.block_diag(
        [sp.csr_array(block @ block.T + np.eye(len(block))) for block in blocks], format="csr"
    )
    order = rng.permutation(9)
    shuffled = sp.csr_array(matrix.toarray()[np.ix_(order, order)])
    inverse = inverse_by_components(shuffled)
    np.testing.assert_allclose(inverse @ shuffled.toarray(), np.eye(9), atol=EXACT)
    assert inverse.nnz == 9 + 1 + 9 + 4
