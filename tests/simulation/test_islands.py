"""Islands: what does not touch is solved apart, and moves as if nothing else were there."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import mcpframe as mf
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory import slots as at
from mcpframe.systems.bodies import FLOOR, box_inertia

EDGE = 0.2
CUT = 1e-6
"""Coordinates, m or rad: impacts of one island cut the steps of others, and accelerations are not followed
where something presses anew, wherever that is."""
ALONE = 1e-12
"""Coordinates of a body, m: the same problem is solved, only its neighbours in memory are others."""


def box(name):
    size = np.full(3, EDGE)
    return mf.Link(name, mass=1.0, inertia=box_inertia(1.0, size), geometry=Geometry(Box(size)))


def at_place(x, z, turn=0.0):
    return np.array([x, 0.0, z, 0.0, np.sin(0.5 * turn), 0.0, np.cos(0.5 * turn)])


def boxes(places, duration=0.08, **stepping):
    """Return boxes on the floor; those at one x are above each other."""
    model = mf.Model([box(f"box_{i}") for i in range(len(places))], geometry=(FLOOR,))
    theta_dot = np.tile([0.3, 0.0, 0.0, 0.0, 0.5, 0.0], len(places))
    return mf.Scene(
        model,
        np.concatenate(places),
        theta_dot,
        materials=mf.Material(mu=0.4, restitution=0.2),
        stepping=Stepping(duration=duration, certify="all", **stepping),
    )


LEFT = [at_place(0.0, 0.1), at_place(0.01, 0.303)]
RIGHT = [at_place(3.0, 0.12, 0.2), at_place(3.02, 0.35)]


@pytest.mark.parametrize("friction", ["polygon", "cone"])
def test_two_stacks_move_as_each_does_alone(friction):
    together = mf.simulate(boxes([*LEFT, *RIGHT], friction=friction))
    alone = [mf.simulate(boxes(places, friction=friction)) for places in (LEFT, RIGHT)]
    expected = np.concatenate([run.theta[-1] for run in alone])
    assert together.n_contacts.max() > max(run.n_contacts.max() for run in alone)
    np.testing.assert_allclose(together.theta[-1], expected, rtol=0, atol=ALONE)


def test_resting_stacks_are_the_same_to_rounding():
    """Without events, whose times depend on both."""
    scenes = [boxes(places, 0.02, scheme="time_stepping") for places in ([*LEFT, *RIGHT], LEFT, RIGHT)]
    together, *alone = (mf.simulate(scene).theta[-1] for scene in scenes)
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=0, atol=ALONE)


def connected(work, n_bodies):
    """Return of every body a number of its component, by another way: as a graph."""
    rows = work.integers(at.TOUCHING)[: work.IS[at.N_TOUCHING]]
    moving = rows[(rows[:, C_BODY_A] >= 0) & (rows[:, C_BODY_B] >= 0)]
    pairs = moving[:, C_BODY_A], moving[:, C_BODY_B]
    graph = coo_array((np.ones(len(moving)), pairs), shape=(n_bodies, n_bodies))
    return connected_components(graph, directed=False)[1], np.unique(rows[:, [C_BODY_A, C_BODY_B]])


def test_islands_are_the_components_of_the_graph_of_contacts(rng):
    n, radius = 40, 0.1
    shape = Geometry(Sphere(radius))
    links = [mf.Link(f"ball_{i}", mass=1.0, inertia=np.eye(3) * 4e-3, geometry=shape) for i in range(n)]
    columns = np.repeat(rng.uniform(-0.4, 0.4, (n // 4, 2)), 4, axis=0)  # some of which touch each other
    places = np.column_stack([columns, np.tile(radius * (1 + 2 * np.arange(4)), n // 4)])
    poses = np.column_stack([places, np.zeros((n, 3)), np.ones(n)])
    scene = mf.Scene(
        mf.Model(links, geometry=(FLOOR,)),
        poses.ravel(),
        materials=mf.Material(mu=0.5),
        stepping=Stepping(duration=2e-3, scheme="time_stepping", on_failure="best"),
    )
    engine = Engine(scene)
    engine.advance(scene.initial_state(), 0, 2)
    work = engine._work
    expected, touched = connected(work, n)
    touched = touched[touched >= 0]
    island = work.integers(at.ISLAND)
    assert 1 < work.IS[at.N_ISLANDS] < n // 4 + 1
    assert (np.delete(island, touched) == -1).all()
    pairs = {(int(a), int(b)) for a, b in zip(island[touched], expected[touched], strict=True)}
    assert len(pairs) == work.IS[at.N_ISLANDS] == np.unique(expected[touched]).size


def test_an_onlooker_sees_one_problem_of_all_islands():
    seen = []
    scene = boxes([*LEFT, *RIGHT])
    Engine(scene, seen.append).advance(scene.initial_state(), 0, 80)
    both = [one for one in seen if len(one.step.contacts) > 8]
    assert both
    for one in both:
        assert one.solution.ok
        beta = one.problem.layout["beta"]
        coupled = coo_array(np.abs(np.asarray(one.problem.M)[beta, beta]) > 0)
        assert connected_components(coupled, directed=False)[0] == 2


def test_a_loop_and_a_box_beside_it_do_not_know_of_each_other():
    loop = mf.systems.four_bar(height=1.0)
    beside = mf.Model([*loop.links, box("box")], loop.closures, geometry=loop.geometry)
    stepping = Stepping(duration=0.05, certify="all")
    alone = mf.simulate(mf.Scene(loop, stepping=stepping))
    theta = np.concatenate([alone.theta[0], at_place(9.0, 0.5 * EDGE)])
    both = mf.simulate(mf.Scene(beside, theta, stepping=stepping))
    assert both.n_contacts[-1] == 4
    assert abs(alone.theta[-1]).max() > 1e-3
    np.testing.assert_allclose(both.theta[-1][: loop.n_theta], alone.theta[-1], rtol=0, atol=CUT)
