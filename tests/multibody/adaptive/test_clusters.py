"""Compiled clusters, choices and impulses against merged models, brute force and dense equations."""

from dataclasses import replace

import numpy as np
import pytest
from test_hybrid import BODIES, some_links, some_state
from trees import random_motion, random_tree

from mcpframe import systems
from mcpframe.jit.memory import aligned_copy
from mcpframe.multibody.adaptive import entries
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.assembly import LEAF, Assembly
from mcpframe.multibody.adaptive.choice import FAILED, KEPT
from mcpframe.multibody.adaptive.hybrid import HybridState
from mcpframe.multibody.adaptive.packing import Measure, movable_links, pack_whole, pinned_links, take_active
from mcpframe.multibody.memory import records as rec

ROUNDING = 1e-13
EXACT = 1e-10


class Body:
    """The arrays of a state's whole and of its clusters."""

    def __init__(self, state, active=None, measure=None, pinned=None, by_pieces=False):
        self.state, model = state, state.model
        none = np.zeros(model.n_links, bool)
        asked = pinned_links(model, none if pinned is None else pinned)
        self.IA, self.XA = pack_whole(model, asked, measure or Measure(), by_pieces=by_pieces)
        self.IT, self.XT = state.I, state.X
        self.I, self.X = state.I.copy(), aligned_copy(state.X)
        if active is not None:
            left = np.flatnonzero(movable_links(model.tree) & ~active)
            take_active(self.IA, self.XA, active & movable_links(model.tree))
            self.part(at.LEFT)[: left.size] = left
            self.IA[at.N_LEFT] = left.size

    def part(self, slot):
        return at.MEMORY.part(self.IA, self.XA, slot)

    def of(self, slot):
        """A part of the clusters."""
        return rec.MEMORY.part(self.I, self.X, slot)

    def choose(self):
        whole = self.IT, self.XT, self.IA, self.XA
        entries.begin_choice(*whole)
        return entries.choose(*whole)

    def cluster(self):
        entries.cluster(self.IT, self.XT, self.IA, self.XA, self.I, self.X)
        return self


def rooted(state, active):
    """Flags with the joints on the world, which clusters always have."""
    return (active | (state.model.parents < 0)) & movable_links(state.tree)


@pytest.mark.parametrize("name", BODIES)
def test_clusters_are_packed_as_the_merged_model_is(rng, name):
    for share in (0.0, 0.3, 0.8, 1.0):
        state = some_state(rng, name)
        active = rooted(state, rng.random(state.model.n_links) < share)
        if not movable_links(state.tree)[state.model.parents < 0].all():
            continue  # merged into the world there, a body of its own here
        merged = HybridState(state, active).model.tree.skeleton
        body = Body(state, active).cluster()
        assert body.I[rec.N_BODIES] == merged.n_bodies
        tree = rec.MEMORY.part(merged.I, merged.X, rec.TREE)
        np.testing.assert_array_equal(body.of(rec.TREE), tree)
        for slot in (rec.CONSTANTS, rec.DOFS):
            expected = rec.MEMORY.part(merged.I, merged.X, slot)
            found = body.of(slot)
            if slot == rec.DOFS:
                found, expected = (x[:, [rec.D_ARMATURE, rec.D_LEAST]] for x in (found, expected))
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=ROUNDING * 10)


def test_all_joints_active_are_the_whole_to_the_bit(rng):
    state = random_tree(rng, 20, ("pin", "ball", "universal"), root="free").state()
    body = Body(state).cluster()
    np.testing.assert_array_equal(body.of(rec.CONSTANTS), rec.MEMORY.part(body.IT, body.XT, rec.CONSTANTS))


def test_coordinates_and_rates_go_to_the_clusters_and_back(rng):
    state = some_state(rng, "every hinge")
    body = Body(state, rooted(state, some_links(rng, state))).cluster()
    body.of(rec.THETA_DOT)[:] += 1.0
    moved = body.of(rec.THETA).copy()
    before = state.theta_dot
    entries.gather(body.I, body.X, body.IA, body.IT, body.XT)
    changed = rec.MEMORY.part(body.IT, body.XT, rec.THETA_DOT) != before
    assert changed.sum() == body.I[rec.N_DOFS]
    again = Body(state, body.part(at.ACTIVE) != 0).cluster()
    np.testing.assert_array_equal(again.of(rec.THETA), moved)


@pytest.mark.parametrize("name", ["chain of pins", "floating tree", "every hinge"])
def test_impulses_leave_the_rates_and_take_the_energy_of_the_hybrid_state(rng, name):
    for _ in range(5):
        state = some_state(rng, name)
        active = rooted(state, some_links(rng, state))
        expected = HybridState(state, active)
        body = Body(state, active)
        state.link_poses()
        assert entries.rigidify(body.IT, body.XT, body.IA, body.XA, body.I, body.X) == 0
        np.testing.assert_allclose(body.of(rec.THETA_DOT), expected.theta_dot, atol=1e-9)
        assert body.XA[at.LOSS] == pytest.approx(expected.loss, abs=1e-9 * (1 + abs(expected.loss)))
        rigid = np.setdiff1d(np.arange(state.model.n_dofs), expected.dofs)
        assert not rec.MEMORY.part(body.IT, body.XT, rec.THETA_DOT)[rigid].any()


@pytest.mark.parametrize("name", ["chain of pins", "floating tree", "every hinge"])
def test_clusters_that_keep_their_bodies_are_those_made_anew(rng, name):
    """Choice after choice, active joints moving in between: places, masses and impulses of fresh clusters."""
    state = some_state(rng, name, 30)
    movable = movable_links(state.tree)
    body, active = Body(state), movable
    for _ in range(8):
        flipped = rng.random(active.size) < 0.2
        chosen = rooted(state, np.where(flipped, some_links(rng, state), active))
        left = np.flatnonzero(active & ~chosen)
        take_active(body.IA, body.XA, chosen)
        body.part(at.LEFT)[: left.size] = left
        body.IA[at.N_LEFT] = left.size
        expected = HybridState(state.model.state(state.theta, state.theta_dot), chosen)
        fresh = Body(state.model.state(state.theta), chosen).cluster()
        state.link_poses()
        assert entries.rigidify(body.IT, body.XT, body.IA, body.XA, body.I, body.X) == 0
        np.testing.assert_array_equal(body.of(rec.CONSTANTS), fresh.of(rec.CONSTANTS))
        np.testing.assert_array_equal(body.part(at.PLACES), fresh.part(at.PLACES))
        np.testing.assert_allclose(body.of(rec.THETA_DOT), expected.theta_dot, atol=1e-9)
        rates = expected.whole()[1]
        state.update(state.model.integrate(state.theta, rates, 0.1), rates)
        active = chosen


def below(assembly, node):
    """The joints that a node joins, all together."""
    if assembly.joint[node] == LEAF:
        return []
    return [assembly.joint[node], *below(assembly, assembly.a[node]), *below(assembly, assembly.b[node])]


@pytest.mark.parametrize("links", [1, 2, 3, 7, 64, 1000])
def test_a_chain_is_assembled_in_halves(links):
    assembly = Assembly.of(np.arange(-1, links - 1))
    depth = {0: 0}
    for node in range(len(assembly)):
        for child in (assembly.a[node], assembly.b[node]):
            if child >= 0:
                assert child > node
                depth[child] = depth[node] + 1
    assert max(depth.values()) == int(np.ceil(np.log2(links)))
    assert sorted(below(assembly, 0)) == list(range(1, links))


def test_every_joint_of_a_branched_body_is_in_the_tree_once(rng):
    for n in (1, 5, 40, 300):
        model = random_tree(rng, n, ("pin",), extra_roots=0.05)
        assembly = Assembly.of(model.parents)
        joints = [joint for root in assembly.roots for joint in below(assembly, root)]
        assert sorted(joints) == np.flatnonzero(model.parents >= 0).tolist()
        for node in range(len(assembly)):
            if assembly.joint[node] != LEAF:
                carried = assembly.link[assembly.b[node]]
                assert carried == assembly.joint[node]
                assert assembly.link[assembly.a[node]] == assembly.link[node]


MEASURES = {
    "acceleration": Measure(5, rate=0.0, span=1.0),
    "velocity": Measure(5, rate=1.0, span=0.0),
    "joined": Measure(5, rate=1.0, span=0.02),
    "by inertia": Measure(5, rate=0.0, span=1.0, by_inertia=True),
}


def metric_of(state, measure):
    """What every joint adds, by the dense mass matrix."""
    r = measure.rate * state.theta_dot + measure.span * state.free_acceleration()
    weight = state.mass_matrix().diagonal() if measure.by_inertia else 1.0
    metric = np.zeros(state.model.n_links)
    np.add.at(metric, state.tree.dof_link, weight * r * r)
    return metric


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", ["chain of pins", "every hinge", "floating tree"])
def test_sums_of_nodes_are_those_of_their_joints(rng, kind, name):
    measure, state = replace(MEASURES[name], by_nodes=True), some_state(rng, kind, 30)
    body = Body(state, measure=measure)
    expected = metric_of(state, measure)
    expected[body.part(at.PINNED) != 0] = 0.0
    assert body.choose() != FAILED
    assembly, sums = Assembly.of(state.model.parents), body.part(at.SUMS)
    for node in range(len(assembly)):
        assert abs(sums[node] - expected[below(assembly, node)].sum()) <= EXACT * (1 + expected.sum())
    left = expected[body.part(at.ACTIVE) == 0].sum()
    assert body.XA[at.ERROR] == pytest.approx(left, rel=1e-9, abs=1e-12)


def greedy(assembly, metric, most):
    """The joints of the largest nodes from the roots downwards."""

    def total(node):
        return metric[below(assembly, node)].sum()

    waiting, taken = list(assembly.roots), []
    while len(taken) < most:
        node = max((n for n in waiting if assembly.joint[n] != LEAF), key=total)
        waiting.remove(node)
        waiting += [assembly.a[node], assembly.b[node]]
        taken.append(assembly.joint[node])
    return sorted(taken)


def test_the_largest_nodes_are_opened_first(rng):
    for _ in range(10):
        state = some_state(rng, "chain of pins", 40)
        body = Body(state, measure=Measure(9, by_nodes=True))
        metric = metric_of(state, Measure())
        metric[0] = 0.0
        body.choose()
        chosen = np.flatnonzero(body.part(at.CHOSEN)).tolist()
        assert chosen == greedy(Assembly.of(state.model.parents), metric, 8)  # the root's is the ninth
        assert body.IA[at.N_ACTIVE] == 9


@pytest.mark.parametrize("kind", ["chain of pins", "every hinge", "floating tree"])
def test_one_by_one_the_joints_that_count_most_are_taken(rng, kind):
    for name in MEASURES:
        measure, state = MEASURES[name], some_state(rng, kind, 40)
        body = Body(state, measure=replace(measure, most=14, by_nodes=False))
        metric = metric_of(state, measure)
        metric[body.part(at.PINNED) != 0] = -1.0
        assert body.choose() != FAILED
        n = 14 - int(body.IA[at.N_PINNED])
        largest = np.sort(np.argsort(metric)[::-1][:n])
        np.testing.assert_array_equal(np.flatnonzero(body.part(at.CHOSEN)), largest)
        left = metric[body.part(at.ACTIVE) == 0].sum()
        assert body.XA[at.ERROR] == pytest.approx(left, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("by_nodes", [True, False])
def test_a_bound_opens_as_many_as_it_needs(rng, by_nodes):
    state = some_state(rng, "chain of pins", 40)
    whole = np.sqrt(metric_of(state, Measure())[1:].sum())
    last = 0
    for share in (1.1, 0.5, 0.1, 0.01, 0.0):
        body = Body(state, measure=Measure(None, bound=share * whole, by_nodes=by_nodes))
        body.choose()
        assert np.sqrt(body.XA[at.ERROR]) <= share * whole
        assert body.IA[at.N_ACTIVE] >= last
        last = body.IA[at.N_ACTIVE]
    assert last == 40


def test_patience_keeps_a_joint_for_a_while(rng):
    state = some_state(rng, "chain of pins", 30)
    body = Body(state, measure=Measure(bound=1e9, patience=3))
    counts = []
    for _ in range(4):
        body.choose()
        counts.append(int(body.IA[at.N_ACTIVE]))
    assert counts == [30, 30, 1, 1]


def patient_choice(metric, active, passed, most, patience):
    """The joints to be active, by sets: the largest, as many as leave room for those chosen not long ago."""
    ranked = sorted(range(len(metric)), key=lambda j: -metric[j])[:most]
    staying = [j for j in active if passed[j] + 1 < patience]
    chosen = ranked[: most - most // KEPT]
    for joint in ranked[len(chosen) :]:
        if joint not in staying and len({*chosen, *staying, joint}) > most:
            break
        chosen.append(joint)
    return chosen, [j for j in staying if j not in chosen][: most - len(chosen)]


@pytest.mark.parametrize("patience", [2, 4])
def test_patience_keeps_within_the_count_those_chosen_not_long_ago(rng, patience):
    n, most = 40, 12
    state = some_state(rng, "chain of pins", n)
    body = Body(
        state, measure=Measure(most + 1, rate=1.0, span=0.0, patience=patience)
    )  # one is on the world
    active, passed, kept_any = list(range(1, n)), np.zeros(n, int), False
    rates = rec.MEMORY.part(body.IT, body.XT, rec.THETA_DOT)
    for _ in range(12):
        rates[:] = 0.7 * rates + 0.5 * rng.standard_normal(n)
        metric = np.where(np.arange(n) > 0, rates**2, -1.0)
        chosen, kept = patient_choice(metric, active, passed, most, patience)
        body.choose()
        assert set(np.flatnonzero(body.part(at.ACTIVE))) == {0, *chosen, *kept}
        left = [j for j in range(n) if j not in {0, *chosen, *kept}]
        assert body.XA[at.ERROR] == pytest.approx(metric[left].sum(), rel=1e-12)
        passed += 1
        passed[chosen] = 0
        active = [j for j in active if j in {*chosen, *kept}] + [j for j in chosen if j not in active]
        kept_any = kept_any or bool(kept)
    assert kept_any


def test_opened_nodes_stay_closed_upwards_with_patience(rng):
    state = some_state(rng, "tree of pins", 60)
    body = Body(state, measure=Measure(14, rate=1.0, span=0.0, patience=3, by_nodes=True))
    rates = rec.MEMORY.part(body.IT, body.XT, rec.THETA_DOT)
    nodes = Assembly.of(state.model.parents).table()
    for _ in range(12):
        rates[:] = 0.7 * rates + 0.5 * rng.standard_normal(60)
        body.choose()
        active = body.part(at.ACTIVE)
        assert active.sum() <= 14
        for joint, _, _, up, *_ in nodes:
            if joint >= 0 and active[joint] and up >= 0:
                assert active[nodes[up][at.NODE_JOINT]]


def test_pinned_joints_are_active_whatever_is_chosen(rng):
    state = some_state(rng, "tree of pins", 30)
    pinned = np.zeros(30, bool)
    pinned[[7, 21]] = True
    body = Body(state, measure=Measure(1), pinned=pinned)
    body.choose()
    expected = {0, 7, 21}
    assert set(np.flatnonzero(body.part(at.ACTIVE))) == expected


def test_the_error_bounds_that_of_the_acceleration_in_the_kinetic_norm():
    """|θ̈_h - θ̈|²_Mass <= n_r Σ_r Mass_ii θ̈_i², on 10,000 states with rigid joints at rest."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(20):
        model = random_tree(rng, 8, ("pin", "universal", "prismatic"), root="free", armature=0.1)
        state = model.state()
        body = Body(state, measure=Measure(3, by_inertia=True))
        for _ in range(500):
            links = rng.random(model.n_links) < 0.5
            links[0] = False
            r = links[state.tree.dof_link]
            theta, rates = random_motion(rng, model)
            state.update(theta, np.where(r, 0.0, rates))
            state.take_forces()
            assert body.choose() != FAILED
            error = body.part(at.METRIC)[links].sum()
            state.update(theta, np.where(r, 0.0, rates))
            released, Mass = state.free_acceleration(), state.mass_matrix()
            off = -released
            off[~r] = np.linalg.solve(Mass[np.ix_(~r, ~r)], Mass[np.ix_(~r, r)] @ released[r])
            assert off @ Mass @ off <= r.sum() * error * (1 + 1e-9)
            worst = max(worst, off @ Mass @ off / max(r.sum() * error, 1e-300))
    assert 0.1 < worst <= 1.0 + 1e-9


def test_systems_of_any_kind_are_clustered(rng):
    for model in (systems.quadruped(), systems.humanoid(), systems.branched_tree(), systems.four_bar()):
        state = model.state(model.random_theta(rng), rng.standard_normal(model.n_dofs))
        active = rooted(state, rng.random(model.n_links) < 0.5)
        body = Body(state, active).cluster()
        assert body.of(rec.CONSTANTS)[:, rec.C_MASS].sum() == pytest.approx(
            sum(link.mass for link in model.links)
        )
