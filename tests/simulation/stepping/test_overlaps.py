"""Runs that begin with overlaps or beyond limits: told, left alone or pushed apart, without a burst."""

import warnings

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.overlaps import OverlapWarning

RISE = 0.1
"""Default of `rise_speed`, m/s."""


def sunk_box(depth=0.02, **stepping):
    link = mf.Link("box", mass=1.0, inertia=np.eye(3) / 150, geometry=Geometry(Box((0.2, 0.2, 0.2))))
    model = mf.Model([link], geometry=(Geometry(Plane(), name="floor"),))
    theta = [0, 0, 0.1 - depth, 0, 0, 0, 1]
    return mf.Scene(model, theta=theta, stepping=mf.Stepping(**{"duration": 0.4, **stepping}))


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_a_box_inside_the_floor_rises_slowly_and_its_depth_is_told(dt):
    with pytest.warns(OverlapWarning, match=r"'box' and 'world' overlap by 20 mm: pushed apart; ignore = "):
        run = mf.simulate(sunk_box(dt=dt))
    assert run.penetration.max() == pytest.approx(0.02, abs=2 * RISE * dt)
    assert run.kinetic_energy.max() <= 0.5 * RISE**2 * (1.0 + 1e-9)
    assert run.penetration[-1] <= 1e-6
    assert run.theta[-1, 2] == pytest.approx(0.1, abs=1e-3)


def test_the_speed_of_rising_is_an_option():
    with pytest.warns(OverlapWarning):
        run = mf.simulate(sunk_box(rise_speed=0.01, duration=0.1))
    assert run.kinetic_energy.max() <= 0.5 * 0.01**2 * (1.0 + 1e-9)


def test_a_hinge_beyond_its_limit_is_named_and_brought_back():
    bar = {"mass": 1.0, "com": (1, 0, 0), "inertia": np.eye(3), "upper": 0.3}
    model = mf.Model([mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), **bar)])
    with pytest.warns(OverlapWarning, match=r"'bar' is beyond its limit 0.3 by 0.02: brought back"):
        run = mf.simulate(mf.Scene(model, theta=[0.32], stepping=mf.Stepping(duration=0.3)))
    assert np.abs(run.theta_dot).max() <= RISE * (1.0 + 1e-9)
    assert run.theta[-1, 0] == pytest.approx(0.3, abs=1e-5)


def two_balls(parent):
    """Balls that overlap by 2 cm: of one mechanism where one carries the other, else two bodies."""
    ball = {"mass": 1.0, "inertia": 0.01 * np.eye(3), "geometry": Geometry(Sphere(0.1))}
    links = [mf.Link("a", **ball), mf.Link("rod", "a", hinge="ball", mass=0.1, inertia=1e-3 * np.eye(3))]
    place = mf.Pose((0.18, 0.0, 0.0))
    links.append(mf.Link("b", parent, hinge="free" if parent == "world" else "ball", pose=place, **ball))
    return mf.Scene(mf.Model(links, gravity=(0, 0, 0)), stepping=mf.Stepping(duration=0.3))


def test_parts_of_one_mechanism_that_overlap_are_left_alone():
    with pytest.warns(OverlapWarning, match="left alone, as parts of one mechanism"):
        run = mf.simulate(two_balls("rod"))
    assert run.n_contacts.max() == 0
    np.testing.assert_allclose(run.theta_dot, 0.0, atol=1e-12)


def test_two_bodies_that_overlap_are_pushed_apart():
    with pytest.warns(OverlapWarning, match="pushed apart"):
        run = mf.simulate(two_balls("world"))
    assert run.penetration[-1] <= 1e-6
    assert run.kinetic_energy.max() <= RISE**2


def test_what_only_touches_is_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = mf.simulate(sunk_box(depth=5e-7, duration=0.01))
    assert run.kinetic_energy.max() <= 1e-6


def test_what_is_ignored_is_not_told():
    scene = sunk_box(duration=0.01)
    apart = mf.Scene(scene.model, theta=scene.theta, ignore=[("box", "world")], stepping=scene.stepping)
    assert Engine(apart).overlaps == []


def test_rates_that_break_a_loop_are_told_with_its_name_and_those_that_fit_are_not():
    model, theta_dot = mf.systems.four_bar(), np.array([1.0, 0.0, 0.0])
    state = model.state()
    with pytest.warns(OverlapWarning, match=r"theta_dot breaks closure 0 \(Pin of .*\) by .* m/s or rad/s"):
        mf.simulate(mf.Scene(model, state.theta, theta_dot), duration=0.01)
    state.update(theta_dot=theta_dot)
    mf.simulate(mf.Scene(model, state.theta, mf.project_rates(state)), duration=0.01)  # warnings are errors
