"""Hybrid states against the dense equations of the whole body, restricted to its active joints."""

import copy
import pickle

import numpy as np
import pytest
from trees import KINDS, random_motion, random_nodes, random_tree

import mcpframe as mf
from mcpframe import systems
from mcpframe.exceptions import ModelError
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody import closure_rows, project_loops, project_rates
from mcpframe.multibody.adaptive.hybrid import momenta

EXACT = 1e-10
"""Accelerations of random trees are of size 1e2, by a route of its own through the dense mass matrix."""
KEPT = 1e-12
"""Momenta, relative."""
MOVING = tuple(kind for kind in KINDS if kind != "locked")
BODIES = {
    "chain of pins": {"kinds": ("pin",), "chain": True, "root": "pin"},
    "tree of pins": {"kinds": ("pin",), "root": "pin"},
    "floating tree": {"kinds": ("pin", "universal"), "root": "free"},
    "every hinge": {"armature": 0.3, "extra_roots": 0.1},
} | {f"all {kind}": {"kinds": (kind,)} for kind in MOVING}


def some_state(rng, name, n=14):
    model = random_tree(rng, n, **BODIES[name])
    return model.state(*random_motion(rng, model))


def some_links(rng, state, share=0.4):
    """Return which links have an active hinge; one at least."""
    active = rng.random(state.model.n_links) < share
    active[rng.integers(active.size)] = True
    return active


def still(state, hybrid):
    """The whole body with its rigid joints at rest."""
    return state.model.state(*hybrid.whole())


def scale(x):
    return 1.0 + np.abs(x).max(initial=0.0)


@pytest.mark.parametrize("name", BODIES)
def test_accelerations_are_those_of_the_active_rows_of_the_mass_matrix(rng, name):
    state = some_state(rng, name)
    hybrid = state.hybrid(some_links(rng, state))
    whole, a = still(state, hybrid), hybrid.dofs
    tau = rng.standard_normal(state.model.n_dofs)
    expected = np.linalg.solve(whole.mass_matrix()[np.ix_(a, a)], (tau - whole.bias_force())[a])
    np.testing.assert_allclose(hybrid.mass_matrix(), whole.mass_matrix()[np.ix_(a, a)], atol=EXACT)
    np.testing.assert_allclose(hybrid.free_acceleration(tau[a]), expected, atol=EXACT * scale(expected))


@pytest.mark.parametrize("name", BODIES)
def test_compliance_and_velocities_are_those_of_the_active_columns(rng, name):
    state = some_state(rng, name)
    hybrid = state.hybrid(some_links(rng, state))
    whole, a = still(state, hybrid), hybrid.dofs
    nodes = random_nodes(rng, state.model, 4)
    J = whole.jacobian(nodes)[:, a]
    expected = J @ np.linalg.solve(whole.mass_matrix()[np.ix_(a, a)], J.T)
    np.testing.assert_allclose(hybrid.compliance(nodes), expected, atol=EXACT * scale(expected))
    np.testing.assert_allclose(hybrid.node_velocities(nodes), whole.node_velocities(nodes), atol=EXACT)
    np.testing.assert_allclose(hybrid.node_bias(nodes), whole.node_bias(nodes), atol=EXACT * scale(J) ** 2)


def contact_states(rng):
    """Bodies that touch something, with rates."""
    floating = random_tree(rng, 9, ("pin", "ball"), root="free")
    for model in (systems.pendulum(links=12), systems.branched_tree(), floating):
        yield model.state(model.random_theta(rng), rng.standard_normal(model.n_dofs))


def test_problems_of_os_are_those_of_the_active_columns(rng):
    """A = G_a Mass_aa⁻¹ G_a*, and b from the free velocity of the active joints."""
    for state in contact_states(rng):
        active = some_links(rng, state, 0.6)
        active[0] = True  # nothing is part of the world
        hybrid = state.hybrid(active)
        whole, a = still(state, hybrid), hybrid.dofs
        tips = [link.name for link in state.model.links][-4:]
        contacts = [
            mf.Contact(name, "world", whole.pose(name).position, rng.standard_normal(3), 0.5) for name in tips
        ]
        steps = [mf.ContactStep(state, contacts, dt=1e-3) for state in (whole, hybrid)]
        G = StepTerms(steps[0], 4).contacts.jacobian(whole)[:, a]
        Mass, bias = whole.mass_matrix()[np.ix_(a, a)], whole.bias_force()[a]
        free = hybrid.theta_dot - 1e-3 * np.linalg.solve(Mass, bias)
        rows = mf.formulation("os").rows(steps[1])
        n_u = G.shape[0]
        A, b = rows.A[-n_u:, -n_u:], rows.b[-n_u:]
        np.testing.assert_allclose(A, G @ np.linalg.solve(Mass, G.T), atol=EXACT * scale(A))
        np.testing.assert_allclose(b, G @ free + StepTerms(steps[1], 4).c_u, atol=EXACT * scale(b))


def test_rates_after_a_step_are_those_of_the_active_rows(rng):
    """Mass_aa (θ̇+ - θ̇)_a = -dt C_a + J_a* impulses, by the dense equations of the whole."""
    for state in contact_states(rng):
        active = some_links(rng, state, 0.6)
        active[0] = True
        hybrid = state.hybrid(active)
        whole, a = still(state, hybrid), hybrid.dofs
        tips = [link.name for link in state.model.links][-3:]
        against = -whole.node_velocities(tips)[:, 3:] + (0.0, 0.0, 0.1)
        contacts = [
            mf.Contact(name, "world", whole.pose(name).position, normal, 0.5)
            for name, normal in zip(tips, against, strict=True)
        ]
        problem, recovery = mf.formulation("os").build(mf.ContactStep(hybrid, contacts, dt=1e-3))
        outcome = mf.formulation("os").recover(recovery, mf.solve(problem, "auto", throw=True))
        J = whole.jacobian(tips).reshape(3, 2, 3, -1)[:, 1].reshape(9, -1)[:, a]
        push = J.T @ np.ravel(outcome.impulses) - 1e-3 * whole.bias_force()[a]
        expected = hybrid.theta_dot + np.linalg.solve(whole.mass_matrix()[np.ix_(a, a)], push)
        np.testing.assert_allclose(outcome.theta_dot, expected, atol=EXACT * scale(expected))
        assert np.any(outcome.impulses)


@pytest.mark.parametrize("law", ["frictionless", "coulomb", {"name": "torsional", "radius": 0.02}])
def test_every_formulation_finds_the_same_rates_on_a_hybrid_body(rng, law):
    state = next(contact_states(rng))
    state.update(theta_dot=0.1 * state.theta_dot)
    hybrid = state.hybrid([f"link_{k}" for k in (1, 4, 7, 8, 11)])
    names = ["link_3", "link_6", "link_12"]
    contacts = [mf.Contact(name, "world", hybrid.pose(name).position, (0, 0, 1), 0.4) for name in names]
    step = mf.ContactStep(hybrid, contacts, dt=1e-3, law=law)
    rates = {}
    for name in mf.available_formulations():
        formulation = mf.formulation(name)
        problem, recovery = formulation.build(step)
        rates[name] = formulation.recover(recovery, mf.solve(problem, "auto", throw=True)).theta_dot
    for name, found in rates.items():
        np.testing.assert_allclose(found, rates["os"], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", BODIES)
def test_rigid_joints_lose_their_rates_and_no_other_momentum_changes(rng, name):
    for _ in range(5):
        state = some_state(rng, name)
        hybrid = state.hybrid(some_links(rng, state))
        before, after = (momenta(s)[hybrid.dofs] for s in (state, still(state, hybrid)))
        np.testing.assert_allclose(after, before, atol=KEPT * scale(before) * state.mass_matrix().max())
        assert hybrid.loss >= -KEPT * state.kinetic_energy()
        taken = state.kinetic_energy() - still(state, hybrid).kinetic_energy()
        assert hybrid.loss == pytest.approx(taken, abs=KEPT * scale(state.kinetic_energy()))


def test_the_loss_is_that_of_the_impulses_at_the_rigid_joints(rng):
    """1/2 θ̇_r* [(Mass⁻¹)_rr]⁻¹ θ̇_r: the oracle knows nothing of the hybrid body."""
    state = some_state(rng, "every hinge")
    hybrid = state.hybrid(some_links(rng, state))
    rigid = np.setdiff1d(np.arange(state.model.n_dofs), hybrid.dofs)
    yielding = np.linalg.inv(state.mass_matrix())[np.ix_(rigid, rigid)]
    rates = state.theta_dot[rigid]
    assert hybrid.loss == pytest.approx(0.5 * rates @ np.linalg.solve(yielding, rates), rel=1e-9)


def test_a_floating_body_keeps_its_momentum(rng):
    state = some_state(rng, "floating tree")
    active = some_links(rng, state)
    active[0] = True
    before, after = state.momentum(), still(state, state.hybrid(active)).momentum()
    np.testing.assert_allclose(after, before, atol=KEPT * scale(before) * 10)


def test_all_joints_active_is_the_whole_body_and_none_a_rigid_one(rng):
    state = some_state(rng, "floating tree")
    full = state.hybrid(np.ones(state.model.n_links, bool))
    np.testing.assert_allclose(full.free_acceleration(), state.free_acceleration(), rtol=1e-9)
    assert full.loss == 0.0
    alone = state.hybrid([state.model.links[0].name])
    assert alone.model.n_links == 1
    assert alone.model.n_dofs == 6
    assert alone.model.links[0].mass == pytest.approx(sum(link.mass for link in state.model.links))


@pytest.mark.parametrize("make", [systems.four_bar, systems.parallelogram, systems.closed_chain])
def test_closures_keep_their_joints_active_and_their_rates(make, rng):
    model = make()
    last = model.links[-1].name
    for k in range(3):  # a tail that is no part of the loop
        model.add_link(f"tail_{k}", last, "pin", mf.Pose((0.1, 0.2, 0.0)), 0.5, (0.1, 0, 0), 0.01 * np.eye(3))
        last = f"tail_{k}"
    theta = project_loops(model, model.neutral())
    start = model.state(theta, rng.standard_normal(model.n_dofs))
    state = start.update(theta_dot=project_rates(start))
    hybrid = state.hybrid([])
    assert not hybrid.active[[model.link_index(f"tail_{k}") for k in range(3)]].any()
    closed = closure_rows(hybrid)
    assert np.abs(closed.error).max() < 1e-9
    assert np.abs(closed.velocity(hybrid)).max() < 1e-9
    G, change = closed.jacobian(hybrid), (momenta(still(state, hybrid)) - momenta(state))[hybrid.dofs]
    impulses = np.linalg.lstsq(G.T, change, rcond=1e-9)[0]
    np.testing.assert_allclose(G.T @ impulses, change, atol=1e-9)  # the loops' own impulses alone
    assert hybrid.loss > 0.0


def test_limits_springs_and_armature_of_active_joints_stay(rng):
    hinge = mf.Hinge("pin", (0, 1, 0))
    links = [
        mf.Link(
            f"link_{k}",
            f"link_{k - 1}" if k else "world",
            hinge,
            mf.Pose((0, 0, -0.5 if k else 0.0)),
            mass=1.0,
            inertia=0.1 * np.eye(3),
            lower=-1.0 - k,
            upper=1.0 + k,
            stiffness=2.0 + k,
            damping=0.1 * (1 + k),
            rest=0.1 * k,
            armature=0.01 * (1 + k),
        )
        for k in range(6)
    ]
    model = mf.Model(links)
    state = model.state(rng.uniform(-0.5, 0.5, 6), rng.standard_normal(6))
    hybrid = state.hybrid(["link_1", "link_4"])
    a = [1, 4]
    for field in ("lower", "upper", "stiffness", "damping", "armature", "rest_theta"):
        np.testing.assert_array_equal(getattr(hybrid.model, field), getattr(model, field)[a])
    np.testing.assert_allclose(hybrid.passive_force(), still(state, hybrid).passive_force()[a])


def test_copies_are_the_same(rng):
    state = some_state(rng, "every hinge")
    hybrid = state.hybrid(some_links(rng, state))
    for other in (copy.deepcopy(hybrid), pickle.loads(pickle.dumps(hybrid))):
        np.testing.assert_array_equal(other.theta, hybrid.theta)
        np.testing.assert_allclose(other.free_acceleration(), hybrid.free_acceleration(), rtol=1e-9)
        assert other.loss == hybrid.loss
        assert (other.active == hybrid.active).all()


def test_names_that_are_not_there_and_wrong_flags_are_refused():
    state = systems.pendulum(links=4).state()
    with pytest.raises(ModelError, match="link_9"):
        state.hybrid(["link_9"])
    with pytest.raises(ModelError, match=r"\(3,\) flags"):
        state.hybrid([True, False, True])
