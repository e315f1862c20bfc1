"""Contacts that keep their modes, to fourth order: against closed forms, and where modes end."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.audit.order import lost_order

G = 9.81
FLOOR = Geometry(Plane(), name="floor")
ROUNDING = 1e-10
"""What a few hundred linear systems leave, their faint diagonal included."""


def slider(mu, angle=0.0, **start):
    """A ball on three slides over a floor that leans."""
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    model = mf.Model(gravity=gravity, geometry=[FLOOR])
    model.add_link("x", "world", mf.Hinge("prismatic", (1, 0, 0)), mf.Pose((0, 0, 0.1)))
    model.add_link("y", "x", mf.Hinge("prismatic", (0, 1, 0)))
    model.add_link("z", "y", mf.Hinge("prismatic", (0, 0, 1)), mass=1.0, geometry=[Geometry(Sphere(0.1))])
    return mf.Scene(model, materials=mf.Material(mu=mu), **start)


def run_of(scene, **stepping):
    return mf.simulate(scene, **{"dt": 1e-2, "duration": 0.5, "integrator": "rk4", **stepping})


def test_a_block_comes_to_rest_where_it_should_although_steps_are_long():
    run = run_of(slider(0.5, theta_dot=[1.0, 0, 0]))
    assert run.theta[-1, 0] == pytest.approx(1.0 / (2 * 0.5 * G), abs=ROUNDING)
    assert np.abs(run.theta_dot[-1]).max() <= ROUNDING
    assert np.all(run.time[~np.isnan(run.residual)] >= 0.2)  # no problem is solved before it stops


@pytest.mark.parametrize("friction_directions", [2, 4, 8, "cone"])
def test_friction_and_load_are_those_of_coulomb(friction_directions):
    formulation = {"name": "os", "friction_directions": friction_directions}
    stepping = {"friction": "cone"} if friction_directions == "cone" else {"formulation": formulation}
    run = run_of(slider(0.3, 0.5), duration=0.2, **stepping)
    pull = G * (np.sin(0.5) - 0.3 * np.cos(0.5))
    assert run.theta[-1, 0] == pytest.approx(pull * 0.2**2 / 2, abs=1e-8)
    load = run.contacts.impulse[1:] / 1e-2
    np.testing.assert_allclose(load, np.tile([-0.3, 0, 1.0], (len(load), 1)) * G * np.cos(0.5), atol=1e-6)


DOME, BALL, LEAN = 1.0, 0.1, 0.2


def ball_on_a_dome():
    """A ball at rest near the top of a large sphere, without friction."""
    dome = Geometry(Sphere(DOME), name="dome")
    place = (DOME + BALL) * np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    link = mf.Link("ball", mass=1.0, inertia=4e-3 * np.eye(3), geometry=Geometry(Sphere(BALL)))
    model = mf.Model([link], gravity=(0, 0, -G), geometry=[dome])
    return mf.Scene(model, theta={"ball": mf.Pose(place)}, materials=mf.Material(mu=0.0))


def test_a_ball_leaves_a_dome_where_its_weight_no_longer_holds_it():
    """cos a = (2/3) cos a_0, whatever its size."""
    run = run_of(ball_on_a_dome(), dt=2e-3, duration=1.0)
    v = run.theta_dot[-1, :3]
    leaves = np.arccos(2 / 3 * np.cos(LEAN))
    speed = np.sqrt((DOME + BALL) * G * np.cos(leaves))
    assert v[0] == pytest.approx(speed * np.cos(leaves), abs=1e-8)
    assert np.ptp(run.kinetic_energy + run.potential_energy) <= 1e-8
    assert np.abs(run.theta_dot[:, 3:]).max() <= ROUNDING


def test_a_contact_that_opens_on_a_curved_surface_does_not_push():
    """What is left behind between two steps has the normal of where it is, not of where the step began."""
    run = run_of(ball_on_a_dome(), dt=2e-3, duration=1.0, integrator="midpoint")
    energy = run.kinetic_energy + run.potential_energy
    assert np.diff(energy)[run.time[1:] > 0.7].max() <= 1e-9
    assert np.abs(run.theta_dot[:, 3:]).max() <= ROUNDING


def test_a_box_that_rests_on_four_corners_stands_still():
    box = mf.Link("box", mass=2.0, inertia=0.02 * np.eye(3), geometry=Geometry(Box((0.2, 0.2, 0.2))))
    scene = mf.Scene(
        mf.Model([box], gravity=(0, 0, -G), geometry=[FLOOR]),
        theta={"box": mf.Pose((0, 0, 0.1))},
        materials=mf.Material(mu=0.5),
    )
    run = run_of(scene)
    assert np.abs(run.theta_dot).max() <= ROUNDING
    assert run.contacts.impulse[:, 2].sum() / 0.5 == pytest.approx(2.0 * G, rel=1e-9)


def test_a_joint_limit_lasts():
    """It falls on its limit, lies there for good, and takes no problem to be solved."""
    inertia = 0.1 * np.eye(3)
    rod = mf.Link(
        "rod", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(0.5, 0, 0), inertia=inertia, upper=0.1
    )
    run = run_of(mf.Scene(mf.Model([rod], gravity=(0, 0, -G))), duration=0.5)
    assert run.theta[-1, 0] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(run.theta_dot[-1]).max() <= ROUNDING
    assert np.isnan(run.residual[-10:]).all()


def test_laws_that_are_not_coulombs_are_steps_of_the_midpoint_rule():
    law = mf.Material(mu=0.5, law={"name": "rolling", "radius": 0.01})
    scene = mf.Scene(slider(0.5).model, theta_dot=[1.0, 0, 0], materials=law).with_stepping(integrator="rk4")
    assert "second in 10 of 10" in lost_order(scene, run_of(scene, duration=0.1))
