"""Skeletons: hinges as chains of elementary bodies, axes turned to z, and the tables that kernels read."""

import numpy as np
import pytest
from trees import KINDS, random_link, random_motion, random_tree

from mcpframe.multibody import Hinge, Link, Model
from mcpframe.multibody.memory import records as rec
from mcpframe.multibody.memory.packing import REACH, ROUNDING
from mcpframe.multibody.memory.skeleton import Skeleton, turn_to
from mcpframe.spatial.transforms import Pose

UNIT_ROUNDING = 4e-16
"""A few products of numbers below one."""
CHAINS = {
    "locked": [rec.LOCKED],
    "pin": [rec.PIN],
    "prismatic": [rec.PRISMATIC],
    "cylindrical": [rec.PIN, rec.PRISMATIC],
    "universal": [rec.PIN, rec.PIN],
    "planar": [rec.PRISMATIC, rec.PRISMATIC, rec.PIN],
    "ball": [rec.BALL],
    "free": [rec.FREE],
}


def skeleton_of(model):
    return model.tree.skeleton


def tree_table(skeleton):
    return rec.MEMORY.part(skeleton.I, skeleton.X, rec.TREE)


def constants(skeleton):
    return rec.MEMORY.part(skeleton.I, skeleton.X, rec.CONSTANTS)


def dof_table(skeleton):
    return rec.MEMORY.part(skeleton.I, skeleton.X, rec.DOFS)


def matrix_at(row, start):
    return row[start : start + 12].reshape(3, 4)[:, :3].T


def sections_by_name(links):
    """Return for every link the name of the link whose hinge is its reference point."""
    model = Model(links)
    skeleton = skeleton_of(model)
    first = tree_table(skeleton)[skeleton.link_body, rec.SECTION]
    names = [model.links[k].name for k in skeleton.body_link[first]]
    return dict(zip((link.name for link in model.links), names, strict=True))


def bar(name, parent="world", hinge="pin", mass=1.0, step=0.01):
    """A link whose hinge lies a step below its parent's; its own radius of gyration is SIZE."""
    return Link(name, parent, Hinge(hinge), Pose((0, 0, -step)), mass, (0, 0.3, -0.5), 0.1 * np.eye(3))


SIZE = np.sqrt(0.3**2 + 0.5**2 + 0.3 / 2)


# Axes


def axes_near(direction):
    """An axis and its neighbours at distances from one rounding to a tenth."""
    sides = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, 0.8, 0), (0.6, 0, -0.8)]
    tilted = [direction + tilt * np.array(side) for tilt in (0.0, 1e-17, 1e-12, 1e-8, 0.1) for side in sides]
    return [axis / np.linalg.norm(axis) for axis in tilted]


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 0, 0)], ids=str)
def test_turns_take_z_to_any_axis_and_are_rotations_to_rounding(direction):
    for axis in axes_near(np.array(direction, dtype=float)):
        turn = turn_to(axis)
        np.testing.assert_allclose(turn @ [0.0, 0.0, 1.0], axis, atol=UNIT_ROUNDING)
        np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=2 * UNIT_ROUNDING)
        assert np.linalg.det(turn) > 0.0


def test_random_axes_are_reached(rng):
    for axis in rng.standard_normal((200, 3)):
        axis = axis / np.linalg.norm(axis)
        turn = turn_to(axis)
        np.testing.assert_allclose(turn[:, 2], axis, atol=UNIT_ROUNDING)
        np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=2 * UNIT_ROUNDING)


def test_z_is_not_turned_and_minus_z_is_half_a_turn_about_x():
    np.testing.assert_array_equal(turn_to((0.0, 0.0, 1.0)), np.eye(3))
    np.testing.assert_array_equal(turn_to((0.0, 0.0, -1.0)), np.diag([1.0, -1.0, -1.0]))


# Bodies


@pytest.mark.parametrize("kind", KINDS)
def test_a_hinge_becomes_its_chain_of_elementary_hinges(kind, rng):
    model = Model([random_link(rng, "base", "world", "free"), random_link(rng, "link", "base", kind)])
    skeleton, n = skeleton_of(model), len(CHAINS[kind])
    table = tree_table(skeleton)
    assert table[1:, rec.KIND].tolist() == CHAINS[kind]
    assert table[:, rec.PARENT].tolist() == list(range(-1, n))
    assert skeleton.link_body.tolist() == [0, n]
    assert skeleton.body_link.tolist() == [0] + [1] * n
    assert table[:, rec.N_DOF].sum() == model.n_dofs == skeleton.I[rec.N_DOFS]
    assert skeleton.I[rec.N_THETA] == model.n_theta


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_last_body_of_a_chain_has_mass(kind, rng):
    link = random_link(rng, "link", "world", kind)
    skeleton = skeleton_of(Model([link]))
    rows, Q = constants(skeleton), skeleton.link_rotation[0]
    assert (rows[:-1, rec.C_COM : rec.CONSTANT] == 0.0).all()
    last = rows[-1]
    assert last[rec.C_MASS] == link.mass
    np.testing.assert_allclose(Q @ last[rec.C_COM : rec.C_COM + 3], link.com, atol=UNIT_ROUNDING)
    np.testing.assert_allclose(Q @ matrix_at(last, rec.C_INERTIA) @ Q.T, link.inertia, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_inner_axes_lead_back_to_the_link_at_theta_zero(kind, rng):
    """The frames along a chain, multiplied up, are the link's pose."""
    link = random_link(rng, "link", "world", kind)
    skeleton = skeleton_of(Model([link]))
    R, x = np.eye(3), np.zeros(3)
    for row in constants(skeleton):
        x = x + R @ row[rec.C_POSITION : rec.C_POSITION + 3]
        R = R @ matrix_at(row, rec.C_ROTATION)
    np.testing.assert_allclose(R @ skeleton.link_rotation[0].T, link.pose.rotation, atol=4 * UNIT_ROUNDING)
    np.testing.assert_allclose(x, link.pose.position, atol=UNIT_ROUNDING)


def test_offsets_follow_the_links_however_long_their_chains(rng):
    model = random_tree(rng, 30, extra_roots=0.2, armature=1.0)
    skeleton, coordinates = skeleton_of(model), model.tree.coordinates
    table = tree_table(skeleton)
    first_body = np.searchsorted(skeleton.body_link, np.arange(30))
    np.testing.assert_array_equal(table[first_body, rec.THETA_AT], coordinates.theta_start)
    np.testing.assert_array_equal(table[first_body, rec.DOF_AT], coordinates.dof_start)
    np.testing.assert_array_equal(dof_table(skeleton)[:, rec.D_ARMATURE], model.armature)
    parents = [skeleton.body_link[p] if p >= 0 else -1 for p in table[first_body, rec.PARENT]]
    np.testing.assert_array_equal(parents, model.parents)


# Joins


def test_a_chain_is_carried_in_registers_and_dropped_at_the_world():
    skeleton = skeleton_of(Model([bar("a"), bar("b", "a"), bar("c", "b")]))
    assert tree_table(skeleton)[:, rec.JOIN].tolist() == [rec.DROP, rec.CARRY, rec.CARRY]
    assert not tree_table(skeleton)[:, rec.BRANCHED].any()


def test_the_last_branch_opens_the_sum_the_next_adds_and_the_first_is_carried():
    """Tips to base: d, c, then b, which stands right behind its parent."""
    skeleton = skeleton_of(Model([bar("a"), bar("b", "a"), bar("c", "a"), bar("d", "a")]))
    assert tree_table(skeleton)[:, rec.JOIN].tolist() == [rec.DROP, rec.CARRY, rec.ADD, rec.OPEN]
    assert tree_table(skeleton)[:, rec.BRANCHED].tolist() == [1, 0, 0, 0]


def test_every_branch_joins_exactly_once(rng):
    for _ in range(20):
        table = tree_table(skeleton_of(random_tree(rng, 25, extra_roots=0.2)))
        parent, join = table[:, rec.PARENT], table[:, rec.JOIN]
        assert ((join == rec.DROP) == (parent < 0)).all()
        follows = (parent >= 0) & (parent == np.arange(len(parent)) - 1)
        assert ((join == rec.CARRY) == follows).all()
        for k in range(len(parent)):
            opened = (join[parent == k] == rec.OPEN).sum()
            assert opened == table[k, rec.BRANCHED]


# Sections


def test_links_that_turn_near_one_another_share_the_root_as_their_point():
    kinds = {"a": "pin", "b": "pin", "c": "ball", "d": "cylindrical", "e": "locked"}
    parents = {"a": "world", "b": "a", "c": "b", "d": "a", "e": "d"}
    sections = sections_by_name([bar(name, parents[name], kind) for name, kind in kinds.items()])
    assert set(sections.values()) == {"a"}


def test_every_tree_and_every_free_link_begins_a_section():
    links = [bar("a"), bar("b", "a"), bar("c"), bar("d", "c"), bar("e", "d", "free"), bar("f", "e")]
    assert sections_by_name(links) == {"a": "a", "b": "a", "c": "c", "d": "c", "e": "e", "f": "e"}


def test_a_section_begins_where_a_link_turns_that_may_have_slid_anywhere():
    links = [bar("a"), bar("rail", "a", "prismatic"), bar("b", "rail"), bar("c", "b"), bar("d", "a")]
    assert sections_by_name(links) == {"a": "a", "rail": "a", "b": "b", "c": "b", "d": "a"}
    planar = skeleton_of(Model([bar("cart", hinge="planar")]))
    assert tree_table(planar)[:, rec.SECTION].tolist() == [0, 0, 2]


def test_a_section_ends_where_bodies_are_small_against_the_way_to_their_point():
    step = 0.15 * REACH * SIZE
    links = [bar("link0"), *(bar(f"link{k}", f"link{k - 1}", step=step) for k in range(1, 100))]
    first = [int(name[4:]) for name in sections_by_name(links).values()]
    assert first == [k - k % 7 for k in range(100)]  # 6 steps are within the reach of 6.7, 7 are not


# The least inertia that is not rounding


def test_the_least_inertia_is_a_rounding_of_what_hangs_further_out():
    """Each mass, and each inertia, as if links were stretched out from the reference point."""
    step = 0.1 * REACH * SIZE
    links = [bar("a"), bar("b", "a", step=step), bar("rail", "b", "prismatic", mass=2.0, step=step)]
    least = dof_table(skeleton_of(Model(links)))[:, rec.D_LEAST] / ROUNDING
    com, spin = np.hypot(0.3, 0.5), 0.3
    at_a, at_b, at_rail = (m * (n * step + com) ** 2 + spin for m, n in ((1.0, 0), (1.0, 1), (2.0, 2)))
    np.testing.assert_allclose(least, [at_a + at_b + at_rail, at_b + at_rail, 2.0])


def test_a_hinge_with_nothing_but_armature_has_no_least_inertia():
    skeleton = skeleton_of(Model([Link("rotor", hinge="pin", armature=1e-9)]))
    assert dof_table(skeleton)[0, rec.D_LEAST] == 0.0


# Arrays


def test_states_work_on_copies_and_leave_the_skeleton_as_it_is(rng):
    model = random_tree(rng, 12, armature=0.5)
    skeleton = skeleton_of(model)
    I, X = skeleton.I.copy(), skeleton.X.copy()
    one, two = model.state(*random_motion(rng, model)), model.state()
    for state in (one, two):
        state.free_acceleration()
        state.compliance(["link3", "link7"])
        state.inverse_dynamics(np.ones(model.n_dofs))
    assert one.skeleton is two.skeleton is skeleton
    np.testing.assert_array_equal(skeleton.I, I)
    np.testing.assert_array_equal(skeleton.X, X)


def test_no_links_make_an_empty_skeleton():
    skeleton = Skeleton.of((), np.zeros(0, dtype=np.int64))
    assert skeleton.n_bodies == 0
    assert skeleton.I[[rec.N_BODIES, rec.N_DOFS, rec.N_THETA]].tolist() == [0, 0, 0]
