"""The balance of momentum and the velocities of contacts by sweeps, against dense operators."""

import numpy as np
import pytest
from states import EXACT, moving
from trees import KINDS, random_motion, random_tree

import mcpframe as mf
from mcpframe.contact.contact_velocities import contact_velocities
from mcpframe.multibody.kernels.momentum import momentum_error
from mcpframe.multibody.memory.records import PAIR
from mcpframe.multibody.reference.operators import DenseOperators

SEEDS = range(12)
H = 0.01


def tree_state(rng):
    model = random_tree(rng, 12, KINDS, extra_roots=0.2, armature=0.3)
    return model.state(*random_motion(rng, model))


def body_pushes(state, link_wrenches):
    """Wrenches at the links' origins as the kernels take them: about the reference points, padded."""
    arm = state.link_poses()[1] - state.reference_points()
    push = np.zeros((state.skeleton.n_bodies, PAIR))
    at = state.skeleton.link_body
    push[at, :3] = link_wrenches[:, :3] + np.cross(arm, link_wrenches[:, 3:])
    push[at, 4:7] = link_wrenches[:, 3:]
    return push.ravel()


def dense_balance(state, change, h, tau, link_wrenches, impulses):
    dense = DenseOperators(state.model, state.theta, state.theta_dot)
    J = dense.jacobian([mf.Node(link.name) for link in state.model.links])
    gained = dense.mass_matrix() @ change
    return h * (tau - dense.bias_force()) + J.T @ link_wrenches.ravel() + impulses - gained


def found_balance(state, change, h, tau, link_wrenches, impulses):
    state.take_forces(tau)
    push = body_pushes(state, link_wrenches)  # places the bodies
    out = np.empty(change.size)
    largest, scale = momentum_error(state.I, state.X, change, h, push, impulses, out, np.empty(4))
    return out, largest, scale


def drawn(rng, state):
    n, n_links = state.model.n_dofs, state.model.n_links
    return (*rng.standard_normal((2, n)), rng.standard_normal((n_links, 6)), rng.standard_normal(n))


@pytest.mark.parametrize("h", [0.0, H])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_balance_is_that_of_dense_operators(seed, h):
    rng = np.random.default_rng(seed)
    state = tree_state(rng)
    change, tau, wrenches, impulses = drawn(rng, state)
    expected = dense_balance(state, change, h, tau, wrenches, impulses)
    out, largest, scale = found_balance(state, change, h, tau, wrenches, impulses)
    assert np.abs(out - expected).max() <= EXACT * scale
    assert largest == np.abs(out).max()
    assert largest <= scale


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_dynamics_answer_is_balanced(seed):
    rng = np.random.default_rng(seed)
    state = tree_state(rng)
    _, tau, wrenches, impulses = drawn(rng, state)
    change = H * state.free_acceleration(tau) + state.respond(impulses, wrenches)
    _, largest, scale = found_balance(state, change, H, tau, wrenches, impulses)
    assert largest <= EXACT * scale


def test_a_chain_of_many_sections_is_balanced():
    model = mf.systems.pendulum(60)
    rng = np.random.default_rng(1)
    state = model.state(rng.uniform(-0.1, 0.1, 60), rng.standard_normal(60))
    change = H * state.free_acceleration()
    none = np.zeros(60)
    _, largest, scale = found_balance(state, change, H, none, np.zeros((60, 6)), none)
    assert largest <= EXACT * scale


def test_free_fall_has_a_scale():
    """Weight and gain of momentum cancel, and what is left of them is not compared with nothing."""
    state = mf.systems.box().state()
    none = np.zeros(6)
    _, largest, scale = found_balance(state, H * state.free_acceleration(), H, none, np.zeros((1, 6)), none)
    assert largest <= EXACT * scale
    assert scale == pytest.approx(2 * 9.81 * H)


def test_a_rate_that_is_no_number_is_told():
    state = moving(np.random.default_rng(0))
    change, none = np.zeros(state.model.n_dofs), np.zeros(state.model.n_dofs)
    change[3] = np.nan
    _, largest, _ = found_balance(state, change, 0.0, none, np.zeros((state.model.n_links, 6)), none)
    assert np.isnan(largest)


@pytest.mark.parametrize("seed", SEEDS)
def test_contact_velocities_are_those_of_dense_operators(seed):
    rng = np.random.default_rng(seed)
    state = tree_state(rng)
    names = [link.name for link in state.model.links]
    pairs = [(0, -1), (3, 7), (11, 2)]
    points, normals = rng.standard_normal((2, 3, 3))
    contacts = [
        mf.Contact(names[a], names[b] if b >= 0 else "world", point, normal)
        for (a, b), point, normal in zip(pairs, points, normals, strict=True)
    ]
    rates = rng.standard_normal(state.model.n_dofs)
    dense = DenseOperators(state.model, state.theta, rates)
    expected = np.array([seen(dense, state, contact, rates) for contact in contacts])
    body = np.append(state.skeleton.link_body, -1)
    rows = np.array([(body[a], body[b], 0, 0) for a, b in pairs]).ravel()
    out = np.empty(PAIR * len(contacts))
    state.link_poses()  # places the bodies
    records = np.concatenate([contact.record for contact in contacts])
    contact_velocities(state.I, state.X, rates, rows, records, out)
    found = out.reshape(-1, 2, 4)
    np.testing.assert_allclose(found[:, :, :3].reshape(-1, 6), expected, rtol=0, atol=1e-11)
    assert not found[:, :, 3].any()


def seen(dense, state, contact, rates):
    """Velocity of A relative to B at the contact's point, in its frame."""
    total = np.zeros(6)
    for body, sign in ((contact.body_a, 1.0), (contact.body_b, -1.0)):
        if body != "world":
            node = mf.Node(body, state.pose(body).inverse() @ contact.point)
            total += sign * (dense.jacobian([node]) @ rates)
    return np.concatenate([contact.frame.T @ total[:3], contact.frame.T @ total[3:]])
