"""What a belt does to a parcel, against closed forms."""

import numpy as np
import pytest

import mcpframe as mf

G, MU, BELT, DT, MASS = 9.81, 0.4, 1.0, 1e-3, 2.0
EXACT = 1e-9
"""Accuracy of a certified step, m/s: speeds are about one and so is the condition of these problems."""


def belt(speed_1=BELT, speed_2=0.0):
    return {"name": "conveyor", "speed_1": speed_1, "speed_2": speed_2}


def stepped(velocity, law, formulation="os", solver="lemke", push=0.0):
    """The velocity of a box on four corners after one step, m/s."""
    state = mf.systems.box(mass=MASS).state(theta_dot=[*velocity, 0.0, 0.0, 0.0])
    contacts = mf.systems.contacts_of(state, 4, mu=MU)
    step = mf.ContactStep(state, contacts, DT, np.array([push, 0.0, 0.0, 0.0, 0.0, 0.0]), law=law)
    way = mf.formulation(formulation)
    problem, recovery = way.build(step)
    return way.recover(recovery, mf.solve(problem, solver, throw=True)).theta_dot


@pytest.mark.parametrize("solver", ["lemke", "auto", "douglas_rachford"])
@pytest.mark.parametrize("formulation", mf.available_formulations())
def test_a_parcel_laid_on_the_belt_gains_mu_g_dt_in_every_step(formulation, solver):
    after = stepped([0.0, 0.0, 0.0], belt(), formulation, solver)
    np.testing.assert_allclose(after, [MU * G * DT, 0, 0, 0, 0, 0], rtol=0, atol=EXACT)


@pytest.mark.parametrize("speed", [BELT - 0.5 * MU * G * DT, BELT, BELT + 0.5 * MU * G * DT])
def test_a_parcel_nearly_at_the_speed_of_the_belt_takes_it_on_and_does_not_overshoot(speed):
    np.testing.assert_allclose(stepped([speed, 0, 0], belt()), [BELT, 0, 0, 0, 0, 0], rtol=0, atol=EXACT)


def test_a_faster_parcel_is_slowed_down():
    assert stepped([2.0, 0.0, 0.0], belt())[0] == pytest.approx(2.0 - MU * G * DT, abs=EXACT)


def test_a_belt_may_run_across():
    np.testing.assert_allclose(
        stepped([0, 0, 0], belt(0.0, -BELT))[:3], [0, -MU * G * DT, 0], rtol=0, atol=EXACT
    )


@pytest.mark.parametrize(("share", "speed"), [(0.9, BELT), (1.5, BELT - 0.5 * MU * G * DT)])
def test_the_belt_carries_a_parcel_against_any_push_below_mu_times_its_weight(share, speed):
    push = -share * MU * MASS * G
    assert stepped([BELT, 0, 0], belt(), push=push)[0] == pytest.approx(speed, abs=EXACT)


def test_a_belt_that_stands_still_is_a_floor_with_coulomb_friction():
    for velocity in np.random.default_rng(0).normal(size=(10, 3)):
        expected = stepped(velocity, "coulomb")
        np.testing.assert_allclose(stepped(velocity, belt(0.0)), expected, rtol=0, atol=EXACT)


def test_who_rides_on_the_belt_sees_a_floor_that_stands_still():
    """Galileo: the belt at v under a box at u does what a floor does under a box at u - v."""
    rng = np.random.default_rng(1)
    for velocity, (v_1, v_2) in zip(rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), strict=True):
        ride = np.array([v_1, v_2, 0.0, 0.0, 0.0, 0.0])
        expected = stepped(velocity - ride[:3], "coulomb") + ride
        np.testing.assert_allclose(stepped(velocity, belt(v_1, v_2)), expected, rtol=0, atol=EXACT)


def test_a_parcel_slips_for_v_over_mu_g_and_lags_behind_by_v_squared_over_two_mu_g():
    materials = mf.Material(mu=MU, law=belt())
    stepping = mf.Stepping(dt=DT, duration=0.5, formulation="os", solver="lemke")
    run = mf.simulate(mf.Scene(mf.systems.box(mass=MASS), materials=materials, stepping=stepping))
    x, v = run.theta[:, 0], run.theta_dot[:, 0]
    np.testing.assert_allclose(v, np.minimum(BELT, MU * G * run.time), rtol=0, atol=EXACT)
    slipping = run.time[v < BELT - EXACT]
    assert slipping[-1] == pytest.approx(BELT / (MU * G), abs=DT)
    lag = BELT * run.time[-1] - (x[-1] - x[0])
    assert lag == pytest.approx(BELT**2 / (2.0 * MU * G), abs=BELT * DT)  # the step is of first order


def test_a_belt_that_pulls_a_hinged_strut_underneath_itself_jams():
    """A sprag clutch: riding along would push the tip into the belt, slip would need a force without end."""
    state = mf.systems.pendulum(links=1).state(theta=[0.3])  # from its hinge down to x < 0, where it touches
    tip = mf.systems.contacts_of(state, 1, mu=0.5)
    solutions = {}
    for speed in (-BELT, BELT):
        step = mf.ContactStep(state, tip, DT, law=belt(speed))
        solutions[speed] = mf.solve(mf.formulation("os").build(step)[0], "enum")  # tries every active set
    assert solutions[-BELT].ok
    assert solutions[BELT].status is mf.Status.INFEASIBLE


@pytest.mark.parametrize(("options", "said"), [({"speed_1": np.inf}, "speed_1"), ({"speed": 1.0}, "speed_1")])
def test_a_bad_option_is_an_error_that_names_the_one_to_give(options, said):
    with pytest.raises(mf.OptionError, match=said):
        mf.contact_law("conveyor", **options)
