"""States: what they keep until the next update, and what they compute."""

import copy
import pickle

import numpy as np
import pytest
from states import EXACT, assert_close, bar, mixed_model, moving, quantities
from trees import random_link, random_motion, random_nodes, random_tree

import mcpframe as mf
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Ball, Hinge, Link, Model, Node
from mcpframe.multibody.kernels import entries
from mcpframe.spatial.transforms import Pose, phi

# What it keeps, and for how long


class Counter:
    """A kernel that counts how often it is called, and with which last argument."""

    def __init__(self, kernel):
        self.kernel, self.last = kernel, []

    def __call__(self, *arguments):
        self.last.append(arguments[-1])
        return self.kernel(*arguments)


@pytest.fixture
def counted(monkeypatch):
    """Counters on the entries that do kinematics or the sweep."""
    counters = {
        name: Counter(getattr(entries, name)) for name in ("place", "free_dynamics", "node_compliance")
    }
    for name, counter in counters.items():
        monkeypatch.setattr(entries, name, counter)
    return counters


def test_kinematics_are_done_once(counted, rng):
    state = moving(rng)
    for _ in range(3):
        state.link_poses()
        state.link_velocities()
        state.node_velocities(["link3"])
        state.mass_matrix()
        state.bias_force()
        state.kinetic_energy()
    assert len(counted["place"].last) == 1
    state.update(state.theta)
    state.momentum()
    assert len(counted["place"].last) == 2


def test_the_sweep_is_done_once(counted, rng):
    """Accelerations first, then compliance: it is told that the sweep is there."""
    state = moving(rng)
    state.free_acceleration()
    state.compliance(["link3", "link7"])
    state.compliance(["link5"])
    state.solve_mass(np.ones(state.model.n_dofs))
    assert counted["free_dynamics"].last == [entries.NOTHING]
    assert counted["node_compliance"].last == [entries.SWEPT, entries.SWEPT]
    assert counted["place"].last == []


def test_compliance_alone_does_kinematics_and_sweep_in_one_call(counted, rng):
    state = moving(rng)
    state.compliance(["link3"])
    state.solve_mass(np.ones(state.model.n_dofs))
    assert counted["node_compliance"].last == [entries.NOTHING]
    assert counted["free_dynamics"].last == []
    state.update(state.theta)
    state.link_poses()
    state.compliance(["link3"])
    assert counted["node_compliance"].last == [entries.NOTHING, entries.PLACED]


@pytest.mark.parametrize("quantity", ["link_poses", "link_velocities", "link_bias", "hinge_columns"])
def test_tables_of_links_are_made_once_and_cannot_be_written_to(quantity, rng):
    state = moving(rng)
    first = getattr(state, quantity)()
    assert getattr(state, quantity)() is first
    for array in first if isinstance(first, tuple) else (first,):
        assert not array.flags.writeable
        kept = array.copy()
        state.update(*random_motion(rng, state.model))
        np.testing.assert_array_equal(array, kept)
    assert getattr(state, quantity)() is not first


@pytest.mark.parametrize("seed", range(10))
def test_no_quantity_disturbs_another_whatever_the_order(seed):
    """All quantities, each twice, in random order, with updates in between: as if each were alone."""
    rng = np.random.default_rng(seed)
    model = mixed_model(rng)
    calls = quantities(model)
    state = model.state()
    for _ in range(3):
        theta, theta_dot = random_motion(rng, model)
        state.update(theta, theta_dot)
        for name in rng.permutation([*calls] * 2):
            alone = calls[name](model.state(theta, theta_dot))
            np.testing.assert_array_equal(calls[name](state), alone, err_msg=name)


def test_every_quantity_is_the_callers_own_or_read_only(rng):
    state = moving(rng)
    for name, call in quantities(state.model).items():
        first = np.asarray(call(state))
        kept = first.copy()
        if first.flags.writeable and first.ndim:
            first[...] = np.nan
        np.testing.assert_array_equal(call(state), kept, err_msg=name)


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))],
    ids=["copy", "deep", "pickle"],
)
def test_copies_go_their_own_way(copied, rng):
    state = moving(rng, time=1.5)
    twin = copied(state)
    before = state.free_acceleration()
    assert twin.time == 1.5
    np.testing.assert_array_equal(twin.free_acceleration(), before)
    twin.update(state.model.neutral())
    np.testing.assert_array_equal(twin.theta, state.model.neutral())
    np.testing.assert_array_equal(twin.mass_matrix(), state.model.state().mass_matrix())
    np.testing.assert_array_equal(state.update(state.theta).free_acceleration(), before)


def test_states_of_one_model_do_not_touch_each_other(rng):
    model = mixed_model(rng)
    one, two = (model.state(*random_motion(rng, model)) for _ in range(2))
    alone = model.state(one.theta, one.theta_dot).free_acceleration()
    two.compliance(["link3"])
    one.compliance(["link3"])
    two.free_acceleration(np.ones(model.n_dofs))
    np.testing.assert_array_equal(one.free_acceleration(), alone)


# Models that change


def test_links_added_later_do_not_reach_a_state(rng):
    """New links come between the others in depth-first order, so that indices shift."""
    model = Model([bar("a"), bar("b", "a"), bar("c")])
    model.add_frame("tool", "c", Pose((0.1, 0.2, 0.3)))
    model.add_closure(Ball(Node("c", (0, 0, -1)), Node("a", (0.3, 0, 0))))
    state = model.state([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    nodes, wrench = ["b", Node("c", (0.1, 0, 0)), "tool"], {"c": np.arange(6.0)}

    def everything(state):
        rows = model.closures[0].rows(state)
        return [
            *(
                call(nodes)
                for call in (state.compliance, state.node_velocities, state.node_bias, state.jacobian)
            ),
            *(state.pose(body).position for body in nodes),
            state.free_acceleration(None, wrench),
            rows.error,
            rows.bias,
            rows.jacobian(state),
        ]

    before = everything(state)
    for name, parent in (("sibling", "b"), ("cousin", "a"), ("stranger", "world")):
        model.add_link(bar(name, parent))
    for one, other in zip(before, everything(state.update(time=1.0)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert_close(state.compliance([*nodes, "world"])[:18, :18], before[0])
    assert model.state().theta.size == 6


def test_a_link_added_later_is_asked_for_in_vain_and_the_message_says_why(rng):
    model = Model([bar("a"), bar("b", "a")])
    state = model.state()
    model.add_link(bar("late", "a"))
    for ask in (
        lambda: state.compliance(["late"]),
        lambda: state.pose("late"),
        lambda: state.free_acceleration(None, {"late": np.zeros(6)}),
    ):
        with pytest.raises(ModelError, match="'late' was added after the state was made; make a new state"):
            ask()
    assert model.state().compliance(["late"]).shape == (6, 6)


def test_frames_added_later_are_found(rng):
    model = Model([bar("a"), bar("b", "a")])
    state = model.state([0.1, 0.2])
    model.add_frame("tool", "b", Pose((0.1, 0.2, 0.3)))
    assert_close(state.pose("tool").position, state.pose(Node("b", (0.1, 0.2, 0.3))).position)


# What it computes: forces, masses, poses


def test_wrenches_at_nodes_act_by_their_jacobian(rng):
    state = moving(rng)
    nodes = [*random_nodes(rng, state.model, 4), "link2"]
    wrenches = dict(zip(nodes, rng.standard_normal((5, 6)), strict=True))
    force = state.jacobian(nodes).T @ np.concatenate(list(wrenches.values()))
    assert_close(state.apply_wrenches(state.link_wrenches(wrenches)), force)
    assert_close(state.free_acceleration(None, wrenches), state.free_acceleration(force))
    tau = rng.standard_normal(state.model.n_dofs)
    assert_close(state.free_acceleration(tau, wrenches), state.free_acceleration(tau + force))


def test_wrenches_on_frames_and_on_the_world_are_taken(rng):
    state = moving(rng)
    state.model.add_frame("tool", "link4", Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    f = rng.standard_normal(6)
    pushed = state.free_acceleration(None, {"tool": f, "world": 1e6 * f})
    assert_close(pushed, state.free_acceleration(None, {Node("link4", (0.1, 0.2, 0.3)): f}))
    assert_close(state.free_acceleration(None, {"world": f}), state.free_acceleration())
    assert_close(state.free_acceleration(None, {}), state.free_acceleration())


def test_a_wrench_is_in_world_axes_whatever_the_axes_of_its_node(rng):
    state = moving(rng)
    f, turned = rng.standard_normal(6), Pose.from_rpy(rpy=(1.0, 2.0, 3.0)).rotation
    assert_close(
        state.link_wrenches({Node("link1", (0.1, 0, 0), turned): f}),
        state.link_wrenches({Node("link1", (0.1, 0, 0)): f}),
    )


def test_several_wrenches_on_one_link_add_up_at_its_origin(rng):
    state = moving(rng)
    a, b = (Node("link1", rng.standard_normal(3)) for _ in range(2))
    f, g = rng.standard_normal((2, 6))
    R = state.pose("link1").rotation
    expected = phi(R @ a.position) @ f + phi(R @ b.position) @ g
    table, k = state.link_wrenches({a: f, b: g}), state.model.link_index("link1")
    assert_close(table[k], expected)
    assert not np.delete(table, k, axis=0).any()


def test_wrenches_that_are_none_are_refused_by_name(rng):
    state = moving(rng)
    with pytest.raises(ModelError, match="wrench on 'link1'.*shape"):
        state.free_acceleration(None, {Node("link1"): np.zeros(3)})
    with pytest.raises(ModelError, match="wrench on 'link1'.*nan"):
        state.free_acceleration(None, {"link1": np.full(6, np.nan)})
    with pytest.raises(ModelError, match="no link or frame 'hand'"):
        state.free_acceleration(None, {"hand": np.zeros(6)})


def test_springs_and_dampers_pull_back(rng):
    options = {"damping": 0.5, "stiffness": 2.0}
    rail = Hinge("prismatic", (1, 0, 0))
    model = Model([bar("a", rest=0.3, **options), bar("b", "a", rail, **options), bar("c", "b")])
    state = model.state([1.0, 0.2, 5.0], [4.0, -3.0, 7.0])
    assert_close(state.passive_force(), [-0.5 * 4 - 2 * (1.0 - 0.3), 0.5 * 3 - 2 * 0.2, 0.0])


def test_springs_of_quaternions_pull_along_the_shortest_turn(rng):
    """At rest turned by a rotation vector x, in link axes, the spring's force is -stiffness x."""
    links = [random_link(rng, "a", "world", "ball"), random_link(rng, "b", "a", "free")]
    soft = [
        Link(
            link.name,
            link.parent,
            link.hinge,
            link.pose,
            link.mass,
            link.com,
            link.inertia,
            stiffness=k,
            damping=0.1,
        )
        for link, k in zip(links, (2.0, 3.0), strict=True)
    ]
    model = Model(soft)
    x, theta_dot = 0.5 * rng.standard_normal((2, 9))
    state = model.state(model.integrate(model.rest_theta, x), theta_dot)
    assert_close(state.passive_force(), -np.repeat([2.0, 3.0], [3, 6]) * x - 0.1 * theta_dot)


def test_springs_are_not_in_the_free_acceleration(rng):
    stiff = Model([bar("a", stiffness=100.0, damping=10.0)])
    plain = Model([bar("a")])
    motion = [0.4], [1.0]
    stiff_state, plain_state = stiff.state(*motion), plain.state(*motion)
    assert_close(stiff_state.free_acceleration(), plain_state.free_acceleration())
    assert_close(stiff_state.bias_force(), plain_state.bias_force())
    assert plain_state.passive_force().tolist() == [0.0]


def test_the_inverse_mass_matrix_takes_vectors_and_columns(rng):
    state = moving(rng)
    n = state.model.n_dofs
    columns = rng.standard_normal((n, 4))
    solved = state.solve_mass(columns)
    assert_close(solved, np.linalg.solve(state.mass_matrix(), columns), 10 * EXACT)
    for column, x in zip(columns.T, solved.T, strict=True):
        np.testing.assert_array_equal(state.solve_mass(column), x)
    assert state.solve_mass(np.zeros((n, 0))).shape == (n, 0)
    assert_close(state.solve_mass(np.asfortranarray(columns)), solved)
    assert_close(state.solve_mass(columns.tolist()), solved)


@pytest.mark.parametrize("shape", [(), (3,), (3, 2), (0, 2)], ids=str)
def test_columns_of_another_length_are_refused(shape, rng):
    with pytest.raises(ModelError, match=r"shape .* expected"):
        moving(rng).solve_mass(np.zeros(shape))


def test_poses_of_links_frames_nodes_and_the_world(rng):
    state = moving(rng)
    state.model.add_frame("tool", "link4", Pose((0.1, 0.2, 0.3)))
    rotations, positions = state.link_poses()
    k = state.model.link_index("link4")
    link, tool = state.pose("link4"), state.pose("tool")
    assert_close(link.position, positions[k])
    assert_close(link.rotation, rotations[k])
    assert_close(tool.position, positions[k] + rotations[k] @ [0.1, 0.2, 0.3])
    node = Node("tool", (1.0, 0.0, 0.0), Pose.from_rpy(rpy=(0.1, 0.2, 0.3)).rotation)
    assert_close(state.pose(node).position, tool @ np.array([1.0, 0.0, 0.0]))
    assert_close(state.pose(node).rotation, rotations[k] @ node.rotation)
    assert_close(state.pose(Node("world", (1, 2, 3))).position, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(3))
def test_other_rates_alone_are_as_a_state_made_anew(seed):
    """The bodies stay where they are, and the gains of the sweep with them."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9)
    theta, tau = model.random_theta(rng), rng.standard_normal(model.n_dofs)
    state = model.state(theta)
    state.free_acceleration(tau)
    rates = rng.standard_normal(model.n_dofs)
    found, fresh = state.update(theta_dot=rates), model.state(theta, rates)
    np.testing.assert_allclose(found.free_acceleration(tau), fresh.free_acceleration(tau), atol=1e-9)
    np.testing.assert_allclose(found.link_velocities(), fresh.link_velocities(), atol=1e-12)
    np.testing.assert_allclose(found.bias_force(), fresh.bias_force(), atol=1e-10)


def test_armature_can_be_added_as_implicit_dampers_do():
    model = mf.systems.pendulum(links=4)
    state = model.state(np.full(4, 0.3))
    plain, extra = state.mass_matrix(), np.array([0.1, 0.0, 2.0, 5.0])
    stiffer = state.with_armature(model.armature + extra)
    np.testing.assert_allclose(stiffer.mass_matrix(), plain + np.diag(extra))
    tau = np.ones(4)
    known = np.linalg.solve(plain + np.diag(extra), tau - state.bias_force())
    np.testing.assert_allclose(stiffer.free_acceleration(tau), known, atol=1e-10)
    copied = pickle.loads(pickle.dumps(stiffer))
    np.testing.assert_array_equal(copied.armature, stiffer.armature)
