"""Contacts that yield, in runs: native and from Python, with memory, without impacts or creep."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.scene.scene_file import load_scene
from mcpframe.simulation.engine import Engine

GRAVITY = 9.81
SOFT = {"name": "compliant", "stiffness": 1e4, "damping": 100.0}
SETTLED = 1e-9
"""Metres: implicit steps settle to rounding."""


def scene(model, law=SOFT, mu=0.5, theta=None, theta_dot=None, **stepping):
    materials = {"default": mf.Material(mu=mu, law=law)}
    return mf.Scene(
        model, theta=theta, theta_dot=theta_dot, materials=materials, stepping=mf.Stepping(**stepping)
    )


def last_contacts(run):
    return run.contacts_at(len(run.time) - 1)


def loads(run, dt):
    """Normal forces of the last step's contacts."""
    table = last_contacts(run)
    return (table.impulse * table.normal).sum(axis=1) / dt


def tilted(angle):
    """A block of 1 kg on a floor that is tilted about y: gravity is turned instead."""
    link = mf.Link("block", mass=1.0, inertia=0.01 * np.eye(3), geometry=Geometry(Box((0.2, 0.2, 0.1))))
    g = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    model = mf.Model([link], gravity=g, geometry=(Geometry(Plane(), name="floor"),))
    theta = model.neutral()
    theta[2] = 0.05
    return model, theta


def test_four_legs_carry_what_their_springs_say():
    """One of many answers of the rigid step is the only one here: an off-centre table by the lever's law."""
    dt = 1e-3
    link = mf.Link("table", mass=2.0, com=(0.05, 0.0, 0.1), inertia=0.1 * np.eye(3),
                   geometry=Geometry(Box((0.4, 0.3, 0.2)), mf.Pose((0.0, 0.0, 0.1))))  # fmt: skip
    run = mf.simulate(scene(mf.Model([link], geometry=(Geometry(Plane()),)), dt=dt), duration=2.0)
    table, forces = last_contacts(run), loads(run, dt)
    x = table.point[:, 0]
    expected = 2.0 * GRAVITY / 4.0 * (1.0 + np.sign(x) * 0.05 / 0.2)
    np.testing.assert_allclose(forces, expected, rtol=1e-3)
    np.testing.assert_allclose(-table.gap, forces / 1e4, rtol=1e-3)
    assert len(run.impacts) == 0


def test_the_table_of_the_examples_carries_what_statics_say_of_four_equal_springs():
    example = load_scene(Path(__file__).parents[3] / "examples/scenes/soft_table.toml")
    run = mf.simulate(example)
    table, weight = last_contacts(run), 20.0 * GRAVITY
    x, y = np.sign(table.point[:, 0]), np.sign(table.point[:, 1])
    tipping = 0.1 * weight + 0.7 * 30.0  # of the load off the centre, and of the push
    expected = weight / 4.0 + x * tipping / (4.0 * 0.55) + y * 0.05 * weight / (4.0 * 0.35)
    tilt = 0.1  # N: its centre, 0.6 m up, moves by half a millimetre as it tilts
    np.testing.assert_allclose(loads(run, example.stepping.dt), expected, atol=tilt)
    assert table.impulse[:, 0].sum() / example.stepping.dt == pytest.approx(-30.0, rel=1e-3)
    assert np.abs(run.theta_dot[-1]).max() < 1e-6


def stack(n):
    links = [
        mf.Link(f"b{k}", mass=1.0, inertia=0.004 * np.eye(3), geometry=Geometry(Box((0.2, 0.2, 0.2))))
        for k in range(n)
    ]
    model = mf.Model(links, geometry=(Geometry(Plane()),))
    theta = model.neutral()
    for k, start in enumerate(model.theta_start):
        theta[start + 2] = 0.1 + 0.2 * k
    return model, theta


@pytest.mark.parametrize("duration", [12.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_a_stack_of_ten_boxes_stands_with_equal_loads_and_does_not_creep(duration):
    dt = 0.01
    model, theta = stack(10)
    law = {"name": "compliant", "stiffness": 1e5, "damping": 1e3}
    run = mf.simulate(scene(model, law, theta=theta, dt=dt), duration=duration)
    settled = int(np.searchsorted(run.time, 10.0))
    assert np.abs(run.theta[settled:] - run.theta[-1]).max() < SETTLED
    table, forces = last_contacts(run), loads(run, dt)
    assert len(table) == 40
    height = np.round(table.point[:, 2] / 0.2)
    np.testing.assert_allclose(forces, (10.0 - height) * GRAVITY / 4.0, rtol=1e-6)


@pytest.mark.parametrize("friction", ["polygon", "cone"])
def test_a_block_on_a_slope_holds_by_its_stretch_and_does_not_creep(friction):
    angle = 0.3
    model, theta = tilted(angle)
    run = mf.simulate(scene(model, theta=theta, dt=2e-3, formulation={"name": "os", "friction": friction}),
                      duration=2.0)  # fmt: skip
    middle = int(np.searchsorted(run.time, 1.0))
    assert np.abs(run.theta[middle:] - run.theta[-1]).max() < 1e-8
    table = last_contacts(run)
    pulled = -GRAVITY * np.sin(angle) / 1e4  # of all four springs
    assert table.stretch[:, 0].sum() == pytest.approx(pulled, rel=1e-6)
    assert (table.mode == 1).all()  # sticking


def test_a_block_on_a_steep_slope_slides_as_coulomb_says():
    angle, mu = 0.6, 0.3
    model, theta = tilted(angle)
    run = mf.simulate(scene(model, mu=mu, theta=theta, dt=1e-3), duration=1.0)
    half = int(np.searchsorted(run.time, 0.5))
    gained = (run.theta_dot[-1, 0] - run.theta_dot[half, 0]) / (run.time[-1] - run.time[half])
    assert gained == pytest.approx(GRAVITY * (np.sin(angle) - mu * np.cos(angle)), rel=1e-4)


def dropped(**options):
    model = mf.systems.sphere(radius=0.1, mass=1.0)
    theta = model.neutral()
    theta[2] += 0.05
    return scene(model, theta=theta, theta_dot=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0], **options)


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_a_ball_bounces_on_its_layer_without_impacts_and_no_energy_is_made(scheme):
    law = {"name": "compliant", "stiffness": 1e4, "damping": 5.0}
    run = mf.simulate(dropped(law=law, dt=5e-4, scheme=scheme), duration=1.0)
    assert len(run.impacts) == 0
    assert run.penetration.max() > 1e-3  # it sinks in, which is physical
    energy = run.total_energy
    assert (energy - np.minimum.accumulate(energy)).max() < 0.02 * energy[0]
    assert np.nanmax(run.certificate) < 1e-8


def test_formulations_in_python_step_as_the_kernels_do():
    runs = [mf.simulate(dropped(dt=1e-3, formulation=name), duration=0.15) for name in ("os", "mc")]
    assert runs[0].penetration.max() > 1e-3
    np.testing.assert_allclose(runs[1].theta, runs[0].theta, rtol=0, atol=1e-9)
    np.testing.assert_allclose(last_contacts(runs[1]).stretch, last_contacts(runs[0]).stretch, atol=1e-12)


class Own(mf.ContactLayer):
    """The layer of springs, from Python."""

    vectors: ClassVar[int] = 2  # the second is a clock, along n

    def __init__(self):
        self.springs = SpringLayer(1e4, 100.0, tangential_stiffness=1e4, tangential_damping=100.0)

    def terms(self, dt, gap, speed, memory):
        return self.springs.terms(dt, gap, speed, memory[:, :1])

    def after(self, dt, gap, memory, impulse):
        after = memory.copy()
        after[:, :1] = self.springs.after(dt, gap, memory[:, :1], impulse)
        after[:, 1, 0] += dt
        return after


class OwnLaw(mf.AbstractContactLaw):
    """A law of one's own with a layer that remembers."""

    name: ClassVar[str] = "own_layer"
    adds_energy: ClassVar[bool] = True  # what it stores is not known to the run
    friction_directions: mf.FrictionDirections = None

    def rows(self, contact, dt):
        rigid = mf.contact_law("coulomb", friction_directions=self.friction_directions).rows(contact, dt)
        return rigid.softened(layer=Own())


@pytest.mark.parametrize("formulation", ["os", "mc"])
def test_layers_from_python_step_as_native_ones(formulation):
    native = mf.simulate(dropped(dt=1e-3), duration=0.15)
    own = mf.simulate(dropped(law=OwnLaw(), dt=1e-3, formulation=formulation), duration=0.15)
    np.testing.assert_allclose(own.theta, native.theta, rtol=0, atol=1e-9)


@pytest.mark.parametrize("law", [SOFT, OwnLaw()], ids=["native", "python"])
def test_a_run_with_stretched_contacts_goes_on_to_the_same_bits(law):
    asked = dropped(law=law, dt=1e-3)
    engine, state = Engine(asked), asked.initial_state()
    engine.advance(state, 0, 120)
    assert abs(engine.checkpoint()["memories"]).max() > 0.0
    kept, middle = engine.checkpoint(), (state.theta.copy(), state.theta_dot.copy())
    engine.advance(state, 120, 60)
    other, again = Engine(asked), asked.initial_state()
    other.restore(kept)
    again.update(*middle, 0.12)
    other.advance(again, 120, 60)
    np.testing.assert_array_equal(again.theta, state.theta)
    np.testing.assert_array_equal(again.theta_dot, state.theta_dot)


def test_in_an_impact_of_rigid_bodies_layers_do_nothing():
    """A ball rests on a soft floor; another strikes it, rigid, and rates jump as if there were no floor."""
    balls = [
        mf.Link(name, mass=1.0, inertia=0.004 * np.eye(3), geometry=Geometry(Sphere(0.1), name=name))
        for name in ("low", "high")
    ]
    model = mf.Model(balls, gravity=(0, 0, 0), geometry=(Geometry(Plane(), name="floor"),))
    theta = model.neutral()
    theta[2], theta[9] = 0.1 - 1e-4, 0.32
    rates = np.zeros(12)
    rates[8] = -1.0
    materials = {"default": mf.Material(law=SOFT), ("low", "high"): mf.Material(restitution=0.5)}
    struck = mf.Scene(model, theta=theta, theta_dot=rates, materials=materials, stepping=mf.Stepping(dt=1e-3))
    run = mf.simulate(struck, duration=0.025)
    assert len(run.impacts) == 1
    lost = run.impacts.energy_before - run.impacts.energy_after
    assert lost[0] == pytest.approx(
        0.25 * (1.0 - 0.5**2), rel=0.05
    )  # of the reduced mass; the floor has none


def test_a_compliance_that_is_no_line_in_dt_is_told():
    class Odd(mf.AbstractContactLaw):
        """A contact whose compliance falls with the square of dt."""

        name: ClassVar[str] = "odd"

        def rows(self, contact, dt):
            return mf.contact_law("frictionless").rows(contact, dt).softened(compliance=np.full(6, dt**2))

    with pytest.raises(mf.ModelError, match="takes a layer"):
        Engine(dropped(law=Odd(), dt=1e-3))
