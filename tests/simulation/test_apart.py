"""Parties have clocks of their own: an impact cuts the step of those whom it concerns, and of nobody else."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory import slots as at
from mcpframe.systems.bodies import FLOOR, box_inertia

RADIUS, DT = 0.1, 1e-3
TOUCH = 2e-6
"""Balls touch within the tolerance of 1e-6 m: what that makes of a time, at 1 m/s, in m; with some room."""


def balls(places, speeds, restitution=1.0, **stepping):
    """Return equal balls on a line, without gravity: each takes over the speed of the one that meets it."""
    shape, inertia = Geometry(Sphere(RADIUS)), 0.4 * RADIUS**2 * np.eye(3)
    links = [mf.Link(f"ball_{i}", mass=1.0, inertia=inertia, geometry=shape) for i in range(len(places))]
    theta, rates = np.zeros((len(places), 7)), np.zeros((len(places), 6))
    theta[:, 0], theta[:, 6], rates[:, 0] = places, 1.0, speeds
    return mf.Scene(
        mf.Model(links, gravity=(0.0, 0.0, 0.0)),
        theta.ravel(),
        rates.ravel(),
        materials=mf.Material(mu=0.0, restitution=restitution),
        stepping=Stepping(dt=DT, certify="all", **stepping),
    )


def along(run):
    return run.theta[:, ::7]


def met(gaps):
    """Return places of balls with these gaps between them."""
    return np.concatenate([[0.0], np.cumsum(2 * RADIUS + np.asarray(gaps))])


@pytest.mark.parametrize("gap", [1e-5, 1e-4, 4e-4, 2e-3])
def test_a_ball_that_is_struck_strikes_the_next_within_the_same_step(gap):
    """Parties that meet become one: three balls, the second at rest between the first and the third."""
    scene = balls(met([0.5 * DT, gap]), [1.0, 0.0, 0.0], duration=6 * DT)
    run = mf.simulate(scene)
    first, second = 0.5 * DT, 0.5 * DT + gap
    expected = met([0.5 * DT, gap]) + np.array([first, gap, 6 * DT - second])
    np.testing.assert_allclose(along(run)[-1], expected, rtol=0, atol=TOUCH)
    np.testing.assert_allclose(run.impacts.time, [first, second], rtol=0, atol=TOUCH)
    assert run.penetration.max() <= 1e-6


def test_pairs_that_collide_in_one_step_do_not_feel_each_other():
    """The bits of many pairs that collide at different times of one step are those of each pair alone."""
    gaps = DT * np.array([0.1, 0.25, 0.5, 0.77, 0.9])
    starts = 10.0 * np.arange(gaps.size)
    places = np.concatenate([start + met([gap]) for start, gap in zip(starts, gaps, strict=True)])
    run = mf.simulate(balls(places, np.tile([1.0, 0.0], gaps.size), duration=3 * DT))
    for k in range(gaps.size):
        alone = mf.simulate(balls(places[2 * k : 2 * k + 2], [1.0, 0.0], duration=3 * DT))
        np.testing.assert_array_equal(along(run)[:, 2 * k : 2 * k + 2], along(alone))
    np.testing.assert_allclose(run.impacts.time, gaps, rtol=0, atol=TOUCH)
    assert (np.diff(run.impacts.time) > 0).all()


def test_those_who_have_not_met_keep_what_they_did():
    """Three balls whose parties meet, and pairs that collide elsewhere: the bits are those of each alone."""
    three, pairs = met([0.5 * DT, 1e-4]), [10.0 + met([gap * DT]) for gap in (0.2, 0.6)]
    pairs[1] += 10.0
    speeds = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    places = np.concatenate([three, *pairs])
    run = mf.simulate(balls(places, speeds, duration=3 * DT))
    for own in (slice(0, 3), slice(3, 5), slice(5, 7)):
        alone = mf.simulate(balls(places[own], speeds[own], duration=3 * DT))
        np.testing.assert_array_equal(along(run)[:, own], along(alone))
    assert len(run.impacts) == 4
    assert (np.diff(run.impacts.time) > 0).all()


def test_the_numbers_of_bodies_change_nothing(rng):
    places = np.concatenate([met([0.5 * DT, 1e-4]), 10.0 + met([0.2 * DT]), 20.0 + met([0.6 * DT])])
    speeds = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    run = mf.simulate(balls(places, speeds, duration=3 * DT))
    for _ in range(3):
        order = rng.permutation(places.size)
        other = mf.simulate(balls(places[order], speeds[order], duration=3 * DT))
        np.testing.assert_allclose(along(other), along(run)[:, order], rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.impacts.time, run.impacts.time, rtol=0, atol=1e-12)


def tumbling(n, rng, **stepping):
    """Return boxes that fall on a floor beside each other, and on each other."""
    size = np.array([0.2, 0.15, 0.1])
    links = [
        mf.Link(f"box_{i}", mass=1.0, inertia=box_inertia(1.0, size), geometry=Geometry(Box(size)))
        for i in range(n)
    ]
    turns = rng.normal(size=(n, 4))
    theta = np.zeros((n, 7))
    theta[:, :3] = np.column_stack([0.12 * (np.arange(n) % 3), np.zeros(n), 0.15 + 0.27 * np.arange(n)])
    theta[:, 3:] = turns / np.linalg.norm(turns, axis=1)[:, None]
    return mf.Scene(
        mf.Model(links, geometry=(FLOOR,)),
        theta.ravel(),
        materials=mf.Material(mu=0.5, restitution=0.3),
        stepping=Stepping(certify="all", **stepping),
    )


def test_a_heap_moves_as_with_one_clock_while_impacts_are_few(rng):
    """Until impacts follow each other so closely that what is not determined decides."""
    scene, runs = tumbling(4, rng), []
    for clocks in (True, False):
        engine = Engine(scene)
        assert engine._work.IS[at.CLOCKS] == 1
        engine._flags[at.CLOCKS] = clocks
        engine._work.IS[at.CLOCKS] = clocks
        runs.append(engine.advance(scene.initial_state(), 0, 250))
    apart, together = runs
    assert len(apart.impacts) > 3
    np.testing.assert_allclose(apart.theta[-1], together.theta[-1], rtol=0, atol=1e-4)


def test_heaps_are_certified_and_gain_no_energy(rng):
    run = mf.simulate(tumbling(6, rng, duration=0.6))
    assert not len(run.failed)
    assert np.nanmax(run.certificate) < 1e-8
    assert (np.diff(run.impacts.time) >= 0).all()
    assert (run.impacts.energy_after <= run.impacts.energy_before * (1 + 1e-12)).all()
    assert run.total_energy[-1] < run.total_energy[0]
    assert run.penetration.max() < 3e-6


def test_a_checkpoint_of_a_heap_leads_to_the_same_bits(rng):
    scene = tumbling(5, rng)
    state, first = scene.initial_state(), Engine(scene)
    first.advance(state, 0, 230)
    second, other = Engine(scene), scene.model.state(state.theta, state.theta_dot, state.time)
    second.restore(first.checkpoint())
    a, b = first.advance(state, 230, 60), second.advance(other, 230, 60)
    assert a.n_impacts.sum() > 0
    np.testing.assert_array_equal(a.theta, b.theta)
    np.testing.assert_array_equal(a.contacts.impulse, b.contacts.impulse)
