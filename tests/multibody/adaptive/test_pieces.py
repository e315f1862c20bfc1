"""Choices by pieces against sweeps of the whole: metric of every node, joints, clusters, impulses."""

import numpy as np
import pytest
from test_clusters import Body
from trees import random_motion, random_tree

from mcpframe import systems
from mcpframe.multibody.adaptive import entries
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.assembly import LEAF, Assembly
from mcpframe.multibody.adaptive.choice import FAILED
from mcpframe.multibody.adaptive.packing import Measure, has_pieces, is_long, pinned_links
from mcpframe.multibody.memory import records as rec

EXACT = 1e-10
KINDS = {
    "chain of pins": {"kinds": ("pin",), "chain": True, "root": "pin"},
    "tree of pins": {"kinds": ("pin",), "root": "pin"},
    "floating tree": {"kinds": ("pin", "prismatic"), "root": "free", "armature": 0.1},
    "chain on a ball": {"kinds": ("pin", "prismatic"), "chain": True, "root": "ball"},
    "several trees": {"kinds": ("pin",), "root": "prismatic", "extra_roots": 0.1},
}


def top_of(rng, assembly, share):
    """Joints of a random top part of the assembly tree."""
    active = np.zeros(max(assembly.link) + 1, bool)
    for node in range(len(assembly)):
        joint = assembly.joint[node]
        above = [n for n in range(node) if node in (assembly.a[n], assembly.b[n])]
        open_above = all(active[assembly.joint[n]] for n in above)
        if joint != LEAF and open_above:
            active[joint] = rng.random() < share
    return active


def hybrid(rng, kind, n=24, share=0.7):
    """A body whose rigid joints are at rest, by pieces and by sweeps, and its forces."""
    model = random_tree(rng, n, **KINDS[kind])
    assembly = Assembly.of(model.parents)
    active = top_of(rng, assembly, share) | (model.parents < 0)
    theta, rates = random_motion(rng, model)
    rates[~active[model.tree.dof_link]] = 0.0
    bodies, tau = [], rng.standard_normal(model.n_dofs)
    for by_pieces in (True, False):
        state = model.state(theta, rates)
        state.take_forces(tau)
        body = Body(state, active, Measure(8, rate=1.0, span=0.1, by_nodes=True), by_pieces=by_pieces)
        body.IA[at.N_LEFT] = 0
        bodies.append(body)
    one = bodies[0]
    entries.write_pieces(one.IT, one.XT, one.IA, one.XA)
    return assembly, active, *bodies


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_joints_are_chosen_as_by_a_sweep(rng, kind):
    for _ in range(10):
        assembly, active, by_pieces, by_sweep = hybrid(rng, kind)
        ends = [b.choose() for b in (by_pieces, by_sweep)]
        assert ends[0] == ends[1] != FAILED
        sums = by_sweep.part(at.SUMS)
        opened = active | (by_pieces.part(at.CHOSEN) != 0)
        known = [n for n, joint in enumerate(assembly.joint) if joint != LEAF and opened[joint]]
        known += [child for n in known for child in (assembly.a[n], assembly.b[n])]
        for node in known:
            assert abs(by_pieces.part(at.SUMS)[node] - sums[node]) <= EXACT * sums[assembly.roots].sum()
        np.testing.assert_array_equal(by_pieces.part(at.CHOSEN), by_sweep.part(at.CHOSEN))
        np.testing.assert_array_equal(by_pieces.part(at.ACTIVE), by_sweep.part(at.ACTIVE))
        assert by_pieces.XA[at.ERROR] == pytest.approx(by_sweep.XA[at.ERROR], rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_impulses_leave_the_same_rates_and_take_the_same_energy(rng, kind):
    """Clusters, their rates and what is lost, where joints leave that move and others enter."""
    left = 0
    for _ in range(10):
        _, _, by_pieces, by_sweep = hybrid(rng, kind)
        for body in (by_pieces, by_sweep):
            body.choose()
            assert entries.rigidify(body.IT, body.XT, body.IA, body.XA, body.I, body.X) == 0
        left += int(by_sweep.IA[at.N_LEFT])
        n = by_sweep.I[rec.N_BODIES]
        np.testing.assert_array_equal(by_pieces.of(rec.TREE)[:n], by_sweep.of(rec.TREE)[:n])
        for slot in (rec.CONSTANTS, rec.THETA, rec.THETA_DOT):
            np.testing.assert_allclose(by_pieces.of(slot), by_sweep.of(slot), rtol=1e-10, atol=1e-10)
        lost = by_sweep.XA[at.LOSS]
        assert by_pieces.XA[at.LOSS] == pytest.approx(lost, abs=1e-9 * (1.0 + lost))
    assert left > 0


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_that_have_become_rigid_are_those_of_a_body_that_begins_there(rng, kind):
    _, _, body, _ = hybrid(rng, kind)
    tau = rec.MEMORY.part(body.IT, body.XT, rec.TAU)
    for _ in range(4):
        body.choose()
        entries.rigidify(body.IT, body.XT, body.IA, body.XA, body.I, body.X)
        body.of(rec.THETA_DOT)[:] += rng.standard_normal(body.I[rec.N_DOFS])
        entries.gather(body.I, body.X, body.IA, body.IT, body.XT)
        theta, rates = (rec.MEMORY.part(body.IT, body.XT, part) for part in (rec.THETA, rec.THETA_DOT))
        fresh = body.state.model.state(theta, rates)
        fresh.take_forces(tau)
        other = Body(
            fresh, body.part(at.ACTIVE) != 0, Measure(8, rate=1.0, span=0.1, by_nodes=True), by_pieces=True
        )
        entries.write_pieces(other.IT, other.XT, other.IA, other.XA)
        kept = body.IA.copy(), body.XA.copy()
        for one in (body, other):
            assert one.choose() != FAILED
        np.testing.assert_array_equal(body.part(at.CHOSEN), other.part(at.CHOSEN))
        assert body.XA[at.ERROR] == other.XA[at.ERROR]
        body.IA[:], body.XA[:] = kept


def test_long_bodies_of_pins_and_sliders_have_pieces(rng):
    cable, none = systems.cable(links=100), np.zeros(100, bool)
    pinned = pinned_links(cable, none)
    assert is_long(cable, Measure(4))
    assert is_long(cable, Measure(10, by_nodes=True))
    for short in (Measure(6), Measure(20, by_nodes=True), Measure(4, by_nodes=False), Measure(bound=1.0)):
        assert not is_long(cable, short)
    assert has_pieces(cable, pinned, Measure(10))
    assert not has_pieces(cable, pinned, Measure(10, by_inertia=True))
    assert not has_pieces(cable, pinned | (np.arange(100) == 50), Measure(10))
    for kinds in (("ball",), ("universal",)):
        model = random_tree(rng, 8, kinds)
        assert not has_pieces(model, pinned_links(model, np.zeros(8, bool)), Measure(1))
