"""Simulations of systems with known answers."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.scene import Scene
from mcpframe.simulation.settings import Stepping
from mcpframe.simulation.simulate import simulate

G = 9.81
DT = 1e-3
IMPACT = 2e-6
"""Relative error of heights and times of impacts, found to 1e-6 m of overlap at metres per second."""
ROUNDING = 1e-12
FIRST_ORDER = 2 * DT
"""Relative error of a semi-implicit Euler step over about a second."""


def body(shape, mass=1.0, size=0.1, slope=0.0):
    """One free body on a floor; a slope is gravity that leans towards x."""
    link = mf.Link("body", mass=mass, inertia=0.4 * mass * size**2 * np.eye(3), geometry=Geometry(shape))
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return mf.Model([link], gravity=gravity, geometry=[Geometry(Plane(), name="floor")])


def run(model, theta, theta_dot=(0.0,) * 6, mu=0.0, restitution=0.0, **stepping):
    scene = Scene(
        model,
        theta=[*theta, 0, 0, 0, 1],
        theta_dot=list(theta_dot),
        materials=Material(mu=mu, restitution=restitution),
        stepping=Stepping(**{"dt": DT, "integrator": "rk4", **stepping}),
    )
    return simulate(scene)


def box():
    return Box((0.2, 0.2, 0.2))


@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_a_ball_bounces_at_the_times_and_heights_of_the_textbook(restitution_model):
    """Falling from h it hits after t_1 = √(2h/g), then every 2 e^k t_1; peaks are e^(2k) h."""
    ball = run(
        body(Sphere(0.1)), (0, 0, 1.1), restitution=0.5, duration=1.5, restitution_model=restitution_model
    )
    first = np.sqrt(2.0 / G)
    flights = 2.0 * first * 0.5 ** np.arange(1, 5)
    np.testing.assert_allclose(
        ball.impacts.time[:5], first + np.concatenate([[0.0], np.cumsum(flights)]), rtol=IMPACT
    )
    height = ball.theta[:, 2] - 0.1
    between = (ball.time > first) & (ball.time < first + flights[0])
    assert height[between].max() == pytest.approx(0.25, abs=0.125 * G * DT**2 + IMPACT)


def test_a_ball_comes_to_rest_when_the_sum_of_its_flights_ends():
    """At √(2h/g) (1 + e)/(1 - e); bounces lower than the tolerance of 1 µm, 1 ms long, are not made."""
    ball = run(body(Sphere(0.1)), (0, 0, 1.1), restitution=0.5, duration=1.5)
    end = np.sqrt(2.0 / G) * 3.0
    still = ball.time >= end + 2 * DT
    np.testing.assert_allclose(ball.theta_dot[still], 0.0, atol=ROUNDING)
    bouncing = (ball.time > 0.0) & (ball.time < end - 5 * DT)
    assert np.abs(ball.theta_dot[bouncing]).max(axis=1).min() > 0.0
    assert 5 <= len(ball.impacts) <= 30


def test_nothing_sinks_in_deeper_than_the_tolerance_and_impacts_take_energy():
    ball = run(body(Sphere(0.1)), (0, 0, 1.1), (2.0, 0, 0, 0, 0, 0), mu=0.5, restitution=0.8, duration=1.0)
    assert ball.penetration.max() <= 1e-6
    assert (ball.impacts.energy_after <= ball.impacts.energy_before).all()
    assert (ball.impacts.energy_compressed <= ball.impacts.energy_before).all()


def test_a_block_slides_to_rest_after_the_known_way_and_stays():
    """v²/(2 mu g); friction takes a whole step's worth at most too early or late."""
    block = run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), mu=0.5, duration=0.4)
    way = 1.0 / (2.0 * 0.5 * G)
    assert block.theta[-1, 0] == pytest.approx(way, abs=1.0 * DT)
    still = block.time > 1.0 / (0.5 * G) + 2 * DT
    assert np.ptp(block.theta[still, 0]) <= ROUNDING


def test_a_block_inside_the_cone_does_not_creep_down_a_slope():
    block = run(body(box(), slope=np.radians(20.0)), (0, 0, 0.1), mu=0.5, duration=0.5)
    assert np.abs(block.theta[:, :3] - [0, 0, 0.1]).max() <= ROUNDING
    assert set(block.contacts.mode.tolist()) == {1}  # rolling: no slip


def test_a_block_outside_the_cone_slides_down_as_it_should():
    slope = np.radians(20.0)
    block = run(body(box(), slope=slope), (0, 0, 0.1), mu=0.2, duration=0.5)
    speed = G * (np.sin(slope) - 0.2 * np.cos(slope)) * 0.5
    assert block.theta_dot[-1, 0] == pytest.approx(speed, rel=FIRST_ORDER)


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_a_sphere_rolls_down_a_slope_with_five_sevenths_of_the_pull(dt):
    """Within the angle that it turns in a step, by which the axes of its rates are off: first order in dt."""
    slope = np.radians(20.0)
    sphere = run(body(Sphere(0.1), slope=slope), (0, 0, 0.1), mu=0.5, duration=0.5, dt=dt)
    speed = 5.0 / 7.0 * G * np.sin(slope) * 0.5
    velocity = sphere.state(len(sphere) - 1).link_velocities()[0]
    assert velocity[3] == pytest.approx(speed, rel=speed / 0.1 * dt)


def test_free_flight_keeps_energy_to_the_square_of_the_step():
    """The turning of a free body is integrated to second order, the rest to fourth."""
    drift = [
        np.ptp(run(body(box()), (0, 0, 50.0), (1.0, 0, 0, 1.0, 2.0, 3.0), duration=0.2, dt=dt).total_energy)
        for dt in (2e-3, 1e-3)
    ]
    assert drift[1] < 1e-5
    assert drift[1] < 0.3 * drift[0]


def test_fixed_steps_report_how_deep_bodies_overlap():
    ball = run(body(Sphere(0.1)), (0, 0, 0.6), duration=0.5, scheme="time_stepping")
    assert 1e-6 < ball.penetration.max() <= np.sqrt(2 * G * 0.5) * DT
    assert ball.theta[-1, 2] == pytest.approx(0.1, abs=np.sqrt(2 * G * 0.5) * DT)


@pytest.mark.parametrize("formulation", ["os", "nmc_os", "mc"])
def test_every_formulation_drives_the_same_run(formulation):
    block = run(
        body(box()),
        (0, 0, 0.15),
        (1, 0, 0, 0, 0, 0),
        mu=0.3,
        restitution=0.4,
        duration=0.3,
        formulation=formulation,
    )
    same = run(body(box()), (0, 0, 0.15), (1, 0, 0, 0, 0, 0), mu=0.3, restitution=0.4, duration=0.3)
    np.testing.assert_allclose(block.theta[:, :3], same.theta[:, :3], atol=1e-6)


HOPELESS = {"name": "pgs", "max_sweeps": 1, "polish": False}


def test_a_failed_solve_stops_the_run_unless_told_otherwise():
    with pytest.raises(mf.NotSolvedError, match="pgs"):
        run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), mu=0.5, duration=0.01, solver=HOPELESS)


def test_a_failed_solve_falls_back_to_auto_where_asked():
    block = run(
        body(box()),
        (0, 0, 0.1),
        (1.0, 0, 0, 0, 0, 0),
        mu=0.5,
        duration=0.01,
        solver=HOPELESS,
        on_failure="auto",
    )
    assert len(block.failed) == 0
    assert set(block.solver[1:].tolist()) == {1}  # auto


def test_going_on_with_the_best_point_is_recorded_as_failed():
    block = run(
        body(box()),
        (0, 0, 0.1),
        (1.0, 0, 0, 0, 0, 0),
        mu=0.5,
        duration=0.01,
        solver=HOPELESS,
        on_failure="best",
    )
    assert len(block.failed) == len(block) - 1
