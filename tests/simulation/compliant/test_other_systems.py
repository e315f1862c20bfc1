"""Contact models on systems of no paper: a box over an edge, a driven wheel, a gripper, and long rests."""

from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere

SCENES = Path(__file__).parents[3] / "examples/scenes"
GRAVITY, DT = 9.81, 1e-3
MODELS = ("compliant", "auto")
STILL = 1e-9
"""Metres: what does not creep, within a second; springs have come to rest to rounding by then."""
LAYER_COSTS = 1.3
"""Times that contacts that yield may cost what rigid ones do."""


def over_the_edge():
    """A box that slides off a block and falls on the floor."""
    box = mf.Link("box", mass=1.0, inertia=np.eye(3) / 150.0, geometry=Geometry(Box((0.2, 0.2, 0.2))))
    around = Geometry(Box((1.0, 1.0, 0.4)), mf.Pose((-0.5, 0.0, 0.2))), Geometry(Plane())
    model = mf.Model([box], gravity=(0.0, 0.0, -GRAVITY), geometry=around)
    theta = model.neutral()
    theta[0], theta[2] = -0.25, 0.5
    return mf.Scene(model, theta=theta, theta_dot=[1.8, 0, 0, 0, 0, 0.3], materials=mf.Material(0.2))


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("contact_model", MODELS)
def test_a_box_that_slides_over_an_edge_only_loses_energy(contact_model, integrator):
    asked = {"contact_model": contact_model, "integrator": integrator, "duration": 1.5}
    run = mf.simulate(over_the_edge(), **asked)
    energy = run.kinetic_energy + run.potential_energy
    assert run.theta[-1, 2] < 0.2  # it has fallen
    layers = sum(switch.energy for switch in run.switches if switch.to == "compliant")
    assert (energy - np.minimum.accumulate(energy)).max() <= layers + 1e-9
    assert energy[-1] < energy[0] - 0.9 * GRAVITY * 0.4
    assert np.isfinite(run.contacts.impulse).all()


@pytest.mark.parametrize("contact_model", MODELS)
def test_a_box_over_an_edge_ends_where_the_rigid_one_does(contact_model):
    """Lying on the floor, at rest."""
    run = mf.simulate(over_the_edge(), contact_model=contact_model, duration=4.0)
    assert run.theta[-1, 2] == pytest.approx(0.1, abs=1e-4)
    assert np.abs(run.theta_dot[-1]).max() < 1e-6
    later = run.time > 3.0
    assert np.ptp(run.theta[later], axis=0).max() < STILL


def wheel(torque):
    """A ball of 2 kg and 0.1 m on a slope of 10 degrees that rises with x, turned in the plane about -y."""
    link = mf.Link(
        "wheel",
        hinge=mf.Hinge("planar", (0.0, -1.0, 0.0)),
        pose=mf.Pose((0.0, 0.0, 0.1)),
        mass=2.0,
        inertia=0.008 * np.eye(3),
        geometry=Geometry(Sphere(0.1)),
    )
    slope = np.deg2rad(10.0)
    gravity = -GRAVITY * np.sin(slope), 0.0, -GRAVITY * np.cos(slope)
    model = mf.Model([link], gravity=gravity, geometry=(Geometry(Plane()),))
    drive = np.array([0.0, 0.0, torque])
    return mf.Scene(model, materials=mf.Material(0.5), controllers=[lambda state, time: drive])


@pytest.mark.parametrize("contact_model", ["rigid", *MODELS])
@pytest.mark.parametrize("torque", [0.2, 0.0, -0.6])
def test_a_driven_wheel_on_a_slope_rolls_as_newton_says(contact_model, torque):
    """7/5 m a = -m g sin slope - T/r, without slip; a layer that begins pressed lets it not spin first."""
    layer = {"pressed": contact_model == "compliant"}
    run = mf.simulate(wheel(torque), contact_model=contact_model, layer=layer, duration=1.0)
    pull = -2.0 * GRAVITY * np.sin(np.deg2rad(10.0)) - torque / 0.1
    assert run.theta[-1, 0] == pytest.approx(0.5 * pull / (1.4 * 2.0), rel=1e-3)
    assert contact_model != "auto" or run.switches == []


def gripper():
    """A hand with two fingers that close with 8 N on a standing capsule and lift it by 0.1 m."""
    sides = {"left": 1.0, "right": -1.0}
    hand = mf.Link("hand", hinge=mf.Hinge("prismatic", (0, 0, 1)), pose=mf.Pose((0, 0, 0.25)), mass=1.0,
                   inertia=0.01 * np.eye(3))  # fmt: skip
    fingers = [
        mf.Link(name, "hand", mf.Hinge("prismatic", (side, 0, 0)), pose=mf.Pose((-0.08 * side, 0, -0.15)),
                mass=0.2, inertia=1e-3 * np.eye(3), geometry=Geometry(Box((0.02, 0.06, 0.1)), name=name))
        for name, side in sides.items()
    ]  # fmt: skip
    capsule = mf.Link("capsule", mass=0.3, inertia=np.diag([1e-3, 1e-3, 2e-4]),
                      geometry=Geometry(Capsule(0.04, 0.08), name="capsule"))  # fmt: skip
    model = mf.Model([hand, *fingers, capsule], gravity=(0, 0, -GRAVITY), geometry=(Geometry(Plane()),))
    theta = model.neutral()
    theta[5] = 0.08
    weight = 1.7 * GRAVITY

    def drive(state, time):
        wanted = np.clip(0.2 * (time - 0.5), 0.0, 0.1)
        lift = weight + 400.0 * (wanted - state.theta[0]) - 60.0 * state.theta_dot[0]
        return np.concatenate([[lift], 8.0 - 5.0 * state.theta_dot[1:3], np.zeros(6)])

    materials, ignore = mf.Material(0.6), [("left", "right")]
    return mf.Scene(model, theta=theta, materials=materials, controllers=[drive], ignore=ignore)


@pytest.mark.parametrize("contact_model", MODELS)
def test_what_a_gripper_holds_does_not_creep(contact_model):
    run = mf.simulate(gripper(), contact_model=contact_model, duration=3.0)
    held = run.theta[:, 5] - run.theta[:, 0]
    later = run.time > 2.0
    assert run.theta[-1, 5] == pytest.approx(0.18, abs=2e-3)  # lifted
    assert np.ptp(held[later]) < STILL
    table = run.contacts_at(len(run) - 1)
    assert table.impulse[:, 2].sum() / DT == pytest.approx(0.3 * GRAVITY, rel=1e-6)
    assert np.linalg.norm(run.contacts.impulse, axis=1).max() / DT < 1e3


def test_the_table_of_the_examples_stands_for_a_minute_without_creep():
    """Loads are what springs say, and stay; it is pushed all the time."""
    scene = mf.load_scene(SCENES / "soft_table.toml")
    run = mf.simulate(scene, duration=60.0)
    settled = run.time > 10.0
    assert np.ptp(run.theta[settled], axis=0).max() < STILL
    first, last = (run.contacts_at(k).impulse for k in (int(np.argmax(settled)), len(run) - 1))
    np.testing.assert_allclose(first, last, rtol=1e-9, atol=1e-12)  # N s


@pytest.mark.slow
def test_a_quadruped_on_ground_that_yields_costs_little_more_than_on_rigid_ground():
    scene = mf.load_scene(SCENES / "quadruped.toml")
    ways = [scene, scene.with_stepping(contact_model="compliant")]
    for way in ways:
        mf.simulate(way, duration=0.01)
    times = [[seconds(partial(mf.simulate, way, duration=1.0)) for way in ways] for _ in range(5)]
    rigid, compliant = np.min(times, axis=0)
    assert compliant <= LAYER_COSTS * rigid


def seconds(call):
    """Processor time of a call."""
    start = process_time()
    call()
    return process_time() - start
