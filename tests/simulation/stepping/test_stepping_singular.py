"""Contacts along whose normals nothing moves: a chain that folds until a normal goes through its hinges."""

import warnings

import numpy as np

import mcpframe as mf
from mcpframe.simulation.recording.energy_audit import EnergyWarning

GIVEN = 0.1
"""Joules that a step at a dead point may add to 1,451; accelerations that were followed there gave 0.8."""


def folding_chain(links, angle, mu, **stepping):
    model = mf.systems.pendulum(links=links)
    theta = model.neutral()
    theta[0] = angle
    return mf.Scene(model, theta, materials=mf.Material(mu=mu), stepping=mf.Stepping(**stepping))


def test_a_chain_that_folds_onto_its_own_hinges_goes_on():
    run = mf.simulate(folding_chain(12, 1.2, mu=0.5, dt=1e-3, duration=15.0))
    folded = np.abs(np.abs(run.theta[-1]) - np.pi) < 1e-3
    assert folded.any()  # the sphere of a link lies in that of the link before, and touches the next
    assert run.status.max() <= 0
    assert run.total_energy.max() <= run.total_energy[0] * (1.0 + 1e-4)
    assert run.penetration.max() <= 2e-6


def test_a_straight_pendulum_that_touches_the_floor_below_its_hinge_stays():
    model = mf.systems.pendulum(links=1, length=2.0, height=2.0)
    run = mf.simulate(mf.Scene(model, materials=mf.Material(mu=0.5), stepping=mf.Stepping(duration=1.0)))
    np.testing.assert_array_equal(run.theta, 0.0)
    assert run.status.max() <= 0


def test_a_chain_that_rattles_at_a_dead_point_is_given_no_energy():
    model = mf.systems.pendulum(links=30)
    theta, rates = model.neutral(), np.zeros(model.n_dofs)
    theta[0], rates[0] = 0.8, 1.0
    scene = mf.Scene(model, theta, rates, materials=mf.Material(mu=0.5, restitution=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)  # a jam where the chain folds, 3e-3 of what moves
        run = mf.simulate(scene, duration=4.0, solver="lemke")
    assert np.abs(run.theta[-1, 2:]).max() > 3.0  # folded
    added = np.diff(run.total_energy)[run.index_at(3.0) :]  # before, a whip of 166 rad/s: up to 0.2 J a step
    assert added.max() < GIVEN
