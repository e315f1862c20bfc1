"""Fast bodies do not pass through thin ones within a step."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine

RADIUS = 0.01
PLATE = 0.004
"""Thickness, m."""
TOLERANCE = 1e-6


def run_of(scene):
    """The run of a scene."""
    way = scene.stepping
    return Engine(scene).advance(scene.initial_state(), 0, round(way.duration / way.dt))


def bullet_and_plate(thickness=PLATE):
    """A sphere in front of a plate at x = 1, without gravity."""
    sphere = mf.Link("bullet", mass=0.01, inertia=1e-6 * np.eye(3), geometry=Geometry(Sphere(RADIUS)))
    plate = Geometry(Box((thickness, 1.0, 1.0)), mf.Pose((1.0, 0, 0)), "plate")
    return mf.Model([sphere], gravity=(0, 0, 0), geometry=[plate])


def shot(model, speed, x=0.0, restitution=1.0, **stepping):
    theta, rates = [x, 0, 0, 0, 0, 0, 1], [speed, 0, 0, 0, 0, 0]
    way = mf.Stepping(**{"dt": 1e-2, "duration": 0.05, **stepping})
    return mf.Scene(model, theta, rates, materials=Material(restitution=restitution), stepping=way)


@pytest.mark.parametrize("speed", [30.0, 170.0, 900.0])
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_bullet_bounces_off_a_plate_that_it_would_jump_over_in_one_step(speed, integrator):
    """One step takes it ten to two thousand times the plate's thickness further."""
    run = run_of(shot(bullet_and_plate(), speed, integrator=integrator))
    wall = 1.0 - 0.5 * PLATE - RADIUS
    assert run.theta[:, 0].max() <= wall + TOLERANCE
    assert len(run.impacts) == 1
    assert run.impacts.time[0] == pytest.approx(wall / speed, abs=2 * TOLERANCE / speed)
    assert run.theta_dot[-1, 0] == pytest.approx(-speed, rel=1e-9)


def test_two_small_spheres_that_cross_at_high_speed_meet():
    sphere = {"mass": 1.0, "inertia": 1e-4 * np.eye(3), "geometry": Geometry(Sphere(RADIUS))}
    model = mf.Model([mf.Link("a", **sphere), mf.Link("b", **sphere)], gravity=(0, 0, 0))
    theta = [-0.5, 0, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 1]
    rates = np.zeros(12)
    rates[[0, 6]] = 60.0, -60.0
    way = mf.Stepping(dt=1e-2, duration=0.02)
    run = run_of(mf.Scene(model, theta, rates, materials=Material(restitution=0.5), stepping=way))
    assert len(run.impacts) == 1
    np.testing.assert_allclose(run.theta_dot[-1, [0, 6]], [-30.0, 30.0], rtol=1e-9)


def test_a_thin_rod_that_whirls_does_not_cut_through_a_post():
    rod = Geometry(Capsule(0.005, 2.0), mf.Pose.from_rpy((0, 0, 0), (0, np.pi / 2, 0)))
    link = mf.Link("rod", hinge=mf.Hinge("pin"), mass=1.0, inertia=np.eye(3), geometry=rod)
    post = Geometry(Capsule(0.005, 1.0), mf.Pose((0, 0.9, 0)), "post")
    model = mf.Model([link], gravity=(0, 0, 0), geometry=[post])
    way = mf.Stepping(dt=2e-2, duration=0.1)
    scene = mf.Scene(model, [0.2], [60.0], materials=Material(restitution=0.5), stepping=way)
    run = run_of(scene)
    assert run.theta.max() <= np.pi / 2
    assert run.impacts.energy_after[0] == pytest.approx(0.25 * run.impacts.energy_before[0], rel=1e-6)


def test_a_half_space_is_thick_enough_for_anything():
    sphere = mf.Link("bullet", mass=0.01, inertia=1e-6 * np.eye(3), geometry=Geometry(Sphere(RADIUS)))
    model = mf.Model([sphere], gravity=(0, 0, 0), geometry=[Geometry(Plane(), name="floor")])
    theta, rates = [0, 0, 1.0, 0, 0, 0, 1], [0, 0, -500.0, 0, 0, 0]
    scene = mf.Scene(model, theta, rates, stepping=mf.Stepping(dt=1e-2, duration=0.02))
    assert run_of(scene).theta[-1, 2] == pytest.approx(RADIUS, abs=TOLERANCE)
