"""Layers make no energy and do not creep: a stool, a bar in a groove and a ladder, whatever way is taken.

With the midpoint rule a kick knows of the springs where they are half a step later. Semi-implicit Euler on
that other grid of times is what it is, so that

    T(v) + V(x + h/2 v) + U(x + h/2 v)

never grows, U being the energy of layers. Runs tell T(v) + V(x) + U(x + h/2 v), which flight keeps exactly.
"""

from itertools import product

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine
from mcpframe.spatial.transforms import rotation_from_axis_angle

DT = 1e-3
ROUNDED = 1e-11
"""J: what sums of some 20 J are off by."""
STILL = 1e-12
"""Metres: what does not creep, within a second."""
DOWN = (0.0, 0.0, -9.81)


def stool():
    """Three feet that do not land together, nor stand still."""
    angles = np.array([0.0, 2.1, 4.2])
    feet = [Geometry(Sphere(0.02), mf.Pose((0.2 * np.cos(a), 0.2 * np.sin(a), -0.3))) for a in angles]
    link = mf.Link("stool", mass=3.0, com=(0.01, 0.02, -0.05), inertia=np.diag([0.06, 0.05, 0.08]),
                   geometry=tuple(feet))  # fmt: skip
    model = mf.Model([link], gravity=DOWN, geometry=(Geometry(Plane()),))
    theta = model.neutral()
    theta[2], theta[3], theta[6] = 0.37, np.sin(0.05), np.cos(0.05)
    return mf.Scene(model, theta=theta, theta_dot=[0.4, 0.1, 0, 0, 0, 1.0], materials=mf.Material(0.4))


def groove():
    """A bar that falls into a groove of two slopes, turning."""
    turned = [rotation_from_axis_angle(np.array([0.0, 1.0, 0.0]), angle) for angle in (np.pi / 4, -np.pi / 4)]
    centres = [R @ np.array([x, 0.0, -0.1]) for R, x in zip(turned, (-0.5, 0.5), strict=True)]
    slopes = [Geometry(Box((1.0, 1.0, 0.2)), mf.Pose(c, R)) for c, R in zip(centres, turned, strict=True)]
    lying = mf.Pose((0.0, 0.0, 0.0), rotation_from_axis_angle(np.array([1.0, 0.0, 0.0]), np.pi / 2))
    link = mf.Link("bar", mass=2.0, inertia=0.008 * np.eye(3), geometry=Geometry(Capsule(0.1, 0.2), lying))
    model = mf.Model([link], gravity=DOWN, geometry=tuple(slopes))
    theta = model.neutral()
    theta[0], theta[2] = 0.02, 0.1 * np.sqrt(2.0) + 0.05
    return mf.Scene(model, theta=theta, theta_dot=[0, 0.3, 0, 0, 2.0, 0], materials=mf.Material(0.5))


def ladder():
    """A ladder at a wall that slides down and falls on the floor."""
    link = mf.Link("ladder", mass=5.0, inertia=np.diag([0.42, 0.42, 0.001]),
                   geometry=Geometry(Capsule(0.03, 0.94)))  # fmt: skip
    around = Geometry(Plane()), Geometry(Box((0.2, 2.0, 2.0)), mf.Pose((-0.1, 0.0, 1.0)))
    model = mf.Model([link], gravity=DOWN, geometry=around)
    theta, lean = model.neutral(), 0.6
    theta[0], theta[2] = 0.03 + 0.47 * np.sin(lean), 0.03 + 0.47 * np.cos(lean)
    theta[4], theta[6] = -np.sin(lean / 2), np.cos(lean / 2)
    return mf.Scene(model, theta=theta, materials=mf.Material(0.15))


SYSTEMS = {"stool": stool, "groove": groove, "ladder": ladder}
WAYS = list(product(("compliant", "auto"), ("polygon", "cone"), ("event_driven", "time_stepping")))


def energies(scene, run, ahead, wanted):
    """T and energy of layers as told, potential energy a time later along the motion, of the steps wanted."""
    model, total = scene.model, run.kinetic_energy + run.potential_energy
    state = model.state()
    for k in np.flatnonzero(wanted):
        here = state.update(run.theta[k]).potential_energy()
        moved = model.integrate(run.theta[k], run.theta_dot[k], ahead)
        total[k] += state.update(moved).potential_energy() - here
    return total


def on_layers(run):
    """Whether contacts yield, and none is lifted to where it was before it yielded last."""
    yields = (run.contact_model == 1) | (not run.switches)
    for switch in run.switches:
        if switch.to == "rigid":
            yields &= (run.time <= switch.time) | (run.time > switch.time + mf.Stepping().switching.settle)
    return yields


@pytest.mark.parametrize(("contact_model", "friction", "scheme"), WAYS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_layers_make_no_energy_and_do_not_creep(system, contact_model, friction, scheme):
    scene = SYSTEMS[system]()
    asked = {"contact_model": contact_model, "friction": friction, "scheme": scheme, "solver": "auto"}
    run = mf.simulate(scene, duration=3.0, **asked)
    yields = on_layers(run)
    grown = np.diff(energies(scene, run, 0.5 * DT, yields))[yields[1:] & yields[:-1]]
    assert grown.max() < ROUNDED
    assert np.ptp(run.theta[run.time > 2.0], axis=0).max() < STILL
    assert len(run.failed) == 0
    assert np.isfinite(run.contacts.impulse).all()


@pytest.mark.parametrize("layer", [{}, {"damping": 0.0}, {"stiffness": 1e4, "damping": 10.0}])
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_runs_tell_falls_with_implicit_euler(system, layer):
    run = mf.simulate(
        SYSTEMS[system](), contact_model="compliant", layer=layer, integrator="semi_implicit_euler"
    )
    assert np.diff(run.kinetic_energy + run.potential_energy).max() < ROUNDED


def falling_ball(speed, **stepping):
    """A ball a little above a floor of undamped springs, that falls at a speed."""
    up = mf.Hinge("prismatic", (0, 0, 1))
    ball = mf.Link("ball", hinge=up, mass=1.0, inertia=np.eye(3), geometry=Geometry(Sphere(0.1)))
    model = mf.Model([ball], gravity=(0.0, 0.0, 0.0), geometry=(Geometry(Plane()),))
    scene = mf.Scene(model, theta=[0.1013], theta_dot=[-speed])
    layer = {"stiffness": 1e4, "damping": 0.0}
    return mf.simulate(scene, contact_model="compliant", layer=layer, **stepping)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_what_arrives_is_met_by_its_layer_in_that_step(integrator, scheme):
    """Depths are those of v' = (v + h K/m δ) / (1 + h² K/m) from the first time on that they would be any."""
    run = falling_ball(2.0, integrator=integrator, scheme=scheme, duration=5e-3)
    h, K, share = DT, 1e4, 0.5 if integrator == "midpoint" else 0.0
    v, gap = -2.0, 0.0013 - share * h * 2.0
    for k in range(1, 6):
        free = gap + h * v
        v = v if free >= 0.0 else (v - h * K * gap) / (1.0 + h * h * K)
        gap += h * v
        assert run.theta_dot[k, 0] == pytest.approx(v, abs=1e-12)


@pytest.mark.parametrize("friction", ["polygon", "cone"])
@pytest.mark.parametrize(("contact_model", "stop"), [("compliant", 260), ("auto", 330), ("auto", 480)])
def test_runs_left_while_layers_are_stretched_go_on_to_the_same_bits(contact_model, stop, friction):
    scene = stool().with_stepping(contact_model=contact_model, friction=friction, solver="auto")
    whole = mf.simulate(scene, duration=0.7)
    first, state = Engine(scene), scene.initial_state()
    first.advance(state, 0, stop)
    again = Engine(scene)
    again.restore(first.checkpoint())
    block = again.advance(state, stop, 200)
    assert contact_model == "compliant" or (whole.contact_model[stop] == 1)
    assert np.array_equal(block.theta, whole.theta[stop + 1 : stop + 201])
    assert np.array_equal(block.contacts.stretch, whole_stretch(whole, stop + 1, stop + 201))


def whole_stretch(run, first, last):
    """How far layers are stretched in steps from the first up to the last."""
    return np.concatenate([run.contacts_at(k).stretch for k in range(first, last)])
