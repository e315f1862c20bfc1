"""What acts at the hinges: by kernels the same as by the controllers in Python, which are their oracle."""

import numpy as np
import pytest
from trees import random_tree

import mcpframe as mf
from mcpframe.jit import Indices, Vector, VectorOut, kernel
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller, Function, Push
from mcpframe.scene.references import Move, Moves
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.step.drive_packing import has_kernel
from mcpframe.simulation.step.motion import difference, integrate

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


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_kernels_drive_as_python_does(name, integrator):
    model = arm()
    controllers = CONTROLLERS[name](model)
    stepping = mf.Stepping(duration=0.1, integrator=integrator)
    native = mf.Scene(model, controllers=controllers, stepping=stepping)
    hosted = mf.Scene(model, controllers=[in_python(part) for part in controllers], stepping=stepping)
    assert has_kernel(native.controller)
    assert not has_kernel(hosted.controller)
    ours, theirs = (Engine(scene).advance(scene.initial_state(), 0, 100) for scene in (native, hosted))
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=0.0, atol=SAME)
    np.testing.assert_allclose(ours.theta_dot, theirs.theta_dot, rtol=0.0, atol=100.0 * SAME)


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
