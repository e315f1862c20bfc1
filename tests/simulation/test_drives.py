"""What acts at the hinges: the controllers in Python, asked ever more often, and closed forms are oracles."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from trees import random_tree

import mcpframe as mf
from mcpframe.jit import Indices, Vector, VectorOut, kernel
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller, Function, Push, Together
from mcpframe.scene.references import Move, Moves
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory.drive_packing import sorted_parts
from mcpframe.simulation.step.moving.motion import difference, integrate

SAME = 1e-10
"""Coordinates after a hundred steps of two ways that round differently."""


class PushedFromPython(Controller):
    """A push that no kernel knows."""

    def __init__(self, push):
        self.model, self.push = push.model, push

    def wrenches(self, time):
        return self.push.wrenches(time)


def in_python(controller):
    if isinstance(controller, Push):
        return PushedFromPython(controller)
    return Function(controller.model, controller.force)


def arm():
    """Pins, a ball and a slide, with springs and dampers on all of them."""
    shape = {"mass": 1.0, "com": (0.2, 0, 0.1), "inertia": 0.05 * np.eye(3), "damping": 0.05, "armature": 0.1}
    links = [
        mf.Link("a", hinge=mf.Hinge("pin", (0, 1, 0)), stiffness=3.0, **shape),
        mf.Link("b", "a", hinge="ball", pose=mf.Pose((0.5, 0, 0)), stiffness=2.0, **shape),
        mf.Link("c", "b", hinge=mf.Hinge("prismatic", (1, 0, 0)), pose=mf.Pose((0.3, 0, 0)), **shape),
    ]
    return mf.Model(links)


def target(model):
    theta = model.random_theta(np.random.default_rng(3))
    return np.where(np.isfinite(theta), theta, 0.0)


def moves(model):
    return Moves(model, model.neutral(), [Move(target(model), 0.01, 0.05), Move(model.neutral(), 0.07, 0.02)])


CONTROLLERS = {
    "pd that holds": lambda model: [PD(model, 5.0, 0.5, target(model))],
    "pd that moves, with a limit": lambda model: [PD(model, 50.0, 2.0, moves(model), limit=3.0)],
    "pd at some dofs": lambda model: [PD(model, 5.0, 0.5, target(model), dofs=["c"])],
    "computed torque": lambda model: [ComputedTorque(model, 100.0, 20.0, moves(model))],
    "push": lambda model: [Push(model, "b", (1, 2, 3), (0.1, 0, 0), (0.1, 0.2, 0), start=0.02, stop=0.06)],
    "several": lambda model: [
        Constant(model, 0.3),
        PD(model, 5.0, 0.5, target(model)),
        Push(model, "c", force=(0, 0, 2.0)),
    ],
}


LARGEST = {"pd that moves, with a limit": 2e-4, "computed torque": 5e-3}


def moved(model, controllers, dt, integrator):
    stepping = mf.Stepping(dt=dt, duration=0.1, integrator=integrator)
    scene = mf.Scene(model, controllers=controllers, stepping=stepping)
    return Engine(scene).advance(scene.initial_state(), 0, round(0.1 / dt)).theta[-1]


def followed_to_zero(model, controllers):
    """Where the controllers in Python lead that are asked more and more often: first order in dt."""
    hosted = [in_python(part) for part in controllers]
    coarse, fine = (moved(model, hosted, dt, "rk4") for dt in (2e-4, 1e-4))
    return 2.0 * fine - coarse


@pytest.mark.parametrize("name", CONTROLLERS)
def test_kernels_drive_as_python_does(name):
    """To second order; but a motor comes to its limit within a step, and computed torque sees v*_0."""
    model = arm()
    controllers = CONTROLLERS[name](model)
    known, foreign = sorted_parts(Together(model, controllers))
    assert len(known) == len(controllers)
    assert not foreign
    truth = followed_to_zero(model, controllers)
    errors = [np.abs(moved(model, controllers, dt, "midpoint") - truth).max() for dt in (2e-3, 1e-3)]
    assert errors[1] <= LARGEST.get(name, 2e-5)
    assert errors[1] <= errors[0] / (1.8 if name in LARGEST else 3.0)


def chain(links=4):
    shape = {"mass": 1.0, "com": (0, 0, -0.15), "inertia": 0.01 * np.eye(3)}
    names = ["world", *(f"link_{i}" for i in range(links))]
    return mf.Model(
        mf.Link(name, parent, mf.Hinge("pin", (0, 1, 0)), mf.Pose((0, 0, -0.3)), **shape)
        for parent, name in pairwise(names)
    )


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_a_motor_that_holds_is_a_spring_with_a_damper(integrator):
    kp, kd = 300.0, 40.0
    links = {
        name: mf.Link(name, mass=1.0, com=(0.3, 0, 0), inertia=0.1 * np.eye(3), **at)
        for name, at in {
            "a": {"hinge": mf.Hinge("pin", (0, 1, 0))},
            "b": {"parent": "a", "hinge": mf.Hinge("pin", (0, 1, 0)), "pose": mf.Pose((0.6, 0, 0))},
        }.items()
    }
    bare = mf.Model(links.values())
    sprung = mf.Model([replace(link, stiffness=kp, damping=kd, rest=0.2) for link in links.values()])
    motor = moved(bare, [PD(bare, kp, kd, [0.2, 0.2])], 1e-3, integrator)
    np.testing.assert_allclose(motor, moved(sprung, [], 1e-3, integrator), rtol=0.0, atol=SAME)


def test_computed_torque_makes_of_a_chain_hinges_of_inertia_one():
    """e'' + kd e' + kp e = 0, critically damped."""
    model = chain()
    start, kp, kd = np.full(4, 0.3), 100.0, 20.0
    stepping = mf.Stepping(duration=0.2)
    controllers = [ComputedTorque(model, kp, kd, np.zeros(4))]
    scene = mf.Scene(model, theta=start, controllers=controllers, stepping=stepping)
    run = mf.simulate(scene)
    known = 0.3 * (1.0 + 10.0 * run.time) * np.exp(-10.0 * run.time)
    np.testing.assert_allclose(run.theta, np.repeat(known[:, None], 4, axis=1), rtol=0.0, atol=2e-3)


@pytest.mark.parametrize("gains", [(1e3, 50.0), (1e6, 1e4), (0.0, 1e5), (1e7, 0.0)])
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_stiff_motors_neither_ring_nor_explode(gains, integrator):
    model = chain()
    motor = PD(model, *gains, np.zeros(4))
    scene = mf.Scene(
        model,
        theta=np.full(4, 0.1),
        controllers=[motor],
        stepping=mf.Stepping(duration=2.0, integrator=integrator),
    )
    run = mf.simulate(scene)
    assert np.abs(run.theta).max() <= 0.4
    state = run.state(-1)
    sag = np.abs(state.bias_force()).max() / max(gains[0], 1.0)
    assert gains[0] == 0.0 or np.abs(run.theta[-1]).max() <= 0.01 + 5.0 * sag
    assert np.abs(run.theta_dot[-1]).max() <= (1.0 if gains[1] == 0.0 else 0.05)


@kernel(Indices, Vector, Vector, VectorOut, VectorOut)
def there_and_back(I, theta, rates, moved, found):
    integrate(I, theta, 0, rates, 0, 0.7, moved, 0)
    difference(I, theta, 0, moved, 0, found, 0)


@pytest.mark.parametrize("seed", range(5))
def test_coordinates_are_those_of_the_model(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8)
    theta, rates = model.random_theta(rng), rng.standard_normal(model.n_dofs)
    moved, found = np.zeros(model.n_theta), np.zeros(model.n_dofs)
    there_and_back(model.tree.skeleton.I, theta, rates, moved, found)
    np.testing.assert_allclose(moved, model.integrate(theta, rates, 0.7), atol=1e-12)
    np.testing.assert_allclose(found, 0.7 * rates, atol=1e-9)


@pytest.mark.parametrize("law", ["frictionless", "anisotropic", "torsional", "rolling", "box"])
def test_every_law_has_the_same_steps_by_kernels_and_in_python(law):
    """Also one whose bounds grow with dt."""
    options = {"box": {"name": "box", "load": 2.0}}.get(law, law)
    model = mf.systems.sphere()
    rates = [1.0, 0.2, 0.0, 0.5, 2.0, -0.5]
    material = mf.Material(mu=0.3, restitution=0.3, law=options)
    scene = mf.Scene(model, theta_dot=rates, materials=material, stepping=mf.Stepping(dt=2e-3))
    blocks = [
        Engine(each).advance(each.initial_state(), 0, 60)
        for each in (scene, scene.with_stepping(formulation="mc"))
    ]
    np.testing.assert_allclose(blocks[0].theta, blocks[1].theta, rtol=0.0, atol=1e-8)
    assert blocks[0].n_contacts.max() > 0
