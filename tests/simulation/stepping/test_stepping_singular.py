"""Contacts along whose normals nothing moves: a chain that folds until a normal goes through its hinges."""

import numpy as np

import mcpframe as mf


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
