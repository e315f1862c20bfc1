"""Rows and constants that all formulations of a step share."""

import numpy as np
import pytest
from contact_scenes import DT, closed_tree, floating_four_bar, rates, tree

import mcpframe as mf
from mcpframe import systems
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.closures import Gear
from mcpframe.multibody.projection import project_rates
from mcpframe.multibody.reference.operators import DenseOperators

EXACT = 1e-11
"""Rounding in sums over a dozen links with entries below a hundred."""


def terms_of(step):
    return StepTerms(step, friction_directions=4)


@pytest.mark.parametrize("make", [tree, closed_tree, floating_four_bar])
def test_rows_on_links_and_on_hinge_rates_are_the_same_rows(make):
    terms = terms_of(make("coulomb"))
    state = terms.step.state
    dense = DenseOperators(state.model, state.theta, state.theta_dot)
    through_links = terms.link_jacobian() @ (dense.phi.T @ dense.H.T)
    np.testing.assert_allclose(terms.jacobian(), through_links, atol=EXACT)


@pytest.mark.parametrize("make", [tree, closed_tree])
def test_impulses_change_the_velocity_through_the_inverse_mass_matrix(make, rng):
    terms = terms_of(make("torsional"))
    impulses = rng.standard_normal(terms.c.size)
    mass_matrix = terms.step.state.mass_matrix()
    expected = np.linalg.solve(mass_matrix, terms.force_impulse() + terms.jacobian().T @ impulses)
    change = terms.velocity(impulses) - terms.step.state.theta_dot
    np.testing.assert_allclose(change, expected, atol=EXACT)
    free = np.linalg.solve(mass_matrix, terms.force_impulse())
    np.testing.assert_allclose(terms.free_velocity() - terms.step.state.theta_dot, free, atol=EXACT)


def test_a_pin_in_space_holds_a_planar_loop_by_two_of_its_five_rows():
    step = mf.ContactStep(systems.four_bar().state(), [], DT)
    assert terms_of(step).basis.shape == (5, 2)


def test_redundant_closures_are_given_the_impulses_of_least_norm(rng):
    terms = terms_of(mf.ContactStep(systems.four_bar().state(), [], DT))
    G_b, p_b = terms.jacobian(), rng.standard_normal(5)
    least = terms.least_closure_impulses(p_b)
    np.testing.assert_allclose(G_b.T @ least, G_b.T @ p_b, atol=EXACT)
    np.testing.assert_allclose(least, np.linalg.pinv(G_b.T) @ G_b.T @ p_b, atol=EXACT)


@pytest.mark.parametrize(
    "model", [systems.bennett(), systems.four_bar(weld=True)], ids=lambda model: model.name
)
@pytest.mark.parametrize("name", sorted(mf.available_formulations()))
def test_forces_of_redundant_closures_are_the_same_in_every_formulation(model, name):
    """And what one of them finds, expressed in another, solves its problem."""
    state = model.state(theta_dot=[2.0] + [0.0] * (model.n_dofs - 1))
    step = mf.ContactStep(state.update(theta_dot=project_rates(state)), [], DT)
    found = {}
    for each in ("os", name):
        formulation = mf.formulation(each)
        problem, recovery = formulation.build(step)
        found[each] = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
    np.testing.assert_allclose(found[name].p_b, found["os"].p_b, atol=EXACT)
    assert np.abs(found["os"].p_b).max() > 1e-4
    z = formulation.express(recovery, found["os"])
    assert np.abs(problem.M @ z + problem.q).max(initial=0.0) <= EXACT


def test_a_row_that_repeats_others_asks_for_nothing():
    """Two gears ask the same hinge for a rate: the first is kept."""
    model = systems.pendulum(2)
    for _ in range(2):
        model.add_closure(Gear({"link_1": 1.0}, lambda t: (1.5, 0.0)))
    terms = terms_of(mf.ContactStep(model.state(), [], DT))
    assert terms.independent.repeated.tolist() == [1]
    np.testing.assert_allclose(-terms.c_b, [1.5, 0.0], atol=EXACT)


def test_constants_are_zero_unless_the_step_asks_for_them():
    model = systems.box()
    state = model.state(theta_dot=rates(model, 3))
    contacts = [
        mf.Contact("box", "world", contact.point, contact.normal, 0.5, gap=0.01)
        for contact in systems.contacts_of(state, 2)
    ]

    def constants(**asks):
        return terms_of(mf.ContactStep(state, contacts, DT, **asks)).c

    assert not constants().any()
    assert constants(position_level=True).tolist() == [1.0, 0.0, 0.0] * 2
    dense = DenseOperators(model, state.theta, state.theta_dot)
    nodes = [mf.Node("box", state.pose("box").inverse() @ contact.point) for contact in contacts]
    bias = dense.node_bias(nodes)[:, 3:]
    axes = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])  # n, t_1, t_2
    np.testing.assert_allclose(constants(contact_bias=True), DT * (bias @ axes.T).ravel(), atol=EXACT)
