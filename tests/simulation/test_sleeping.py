"""Sleep: islands at rest are left as they are until they are touched."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.shapes import Box, Geometry
from mcpframe.scene.controllers import Push
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.systems.bodies import FLOOR, box_inertia

EDGE, AFTER, DT = 0.2, 0.02, 1e-3
SAME = 1e-9
"""Coordinates of bodies that were at rest, m: what solves leave of their speeds."""


def boxes(places, controller=None, **stepping):
    """Return boxes on a floor, at x and height of the lower face above the floor."""
    size = np.full(3, EDGE)
    links = [
        mf.Link(f"box_{i}", mass=1.0, inertia=box_inertia(1.0, size), geometry=Geometry(Box(size)))
        for i in range(len(places))
    ]
    theta = np.zeros((len(places), 7))
    theta[:, 0], theta[:, 2] = np.transpose(places)
    theta[:, 2] += 0.5 * EDGE
    theta[:, 6] = 1.0
    model = mf.Model(links, geometry=(FLOOR,))
    return mf.Scene(
        model,
        theta.ravel(),
        materials=mf.Material(mu=0.5),
        controllers=() if controller is None else (controller(model),),
        stepping=Stepping(**{"dt": DT, "sleep_after": AFTER, "certify": "all", **stepping}),
    )


STACK = [(0.0, 0.0), (0.02, EDGE)]
FALLING = (0.05, 2 * EDGE + 0.02)


def awake(scene):
    return replace(scene, stepping=scene.stepping.model_copy(update={"sleep_after": None}))


def test_a_stack_falls_asleep_with_rates_of_zero_and_stays():
    run = mf.simulate(boxes([*STACK, (3.0, 0.0)], duration=0.1))
    steps = round(AFTER / DT)
    assert (run.asleep[:steps] == 0).all()
    assert (run.asleep[steps:] == 3).all()
    assert (run.theta_dot[steps:] == 0.0).all()
    assert (run.theta[steps:] == run.theta[steps]).all()
    np.testing.assert_allclose(run.theta[-1], run.theta[0], rtol=0, atol=SAME)


def test_what_falls_on_a_stack_wakes_all_of_it_and_nobody_else():
    scene = boxes([*STACK, (3.0, 0.0), FALLING], duration=0.12)
    run, full = mf.simulate(scene), mf.simulate(awake(scene))
    hit = int(np.flatnonzero(run.n_impacts)[0])
    assert run.asleep[hit - 1] == 3  # the stack, and the box beside it
    assert run.asleep[hit] == 1
    assert (full.asleep == 0).all()
    assert run.penetration.max() <= 2e-6
    np.testing.assert_allclose(run.impacts.time[0], full.impacts.time[0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.theta[hit], full.theta[hit], rtol=0, atol=1e-6)


def test_a_box_that_slides_into_a_sleeping_one_wakes_it():
    scene = boxes([(0.0, 0.0), (EDGE + 0.05, 0.0)], duration=0.1)
    scene = replace(scene, theta_dot=np.array([1.0, *np.zeros(11)]))
    run, full = mf.simulate(scene), mf.simulate(awake(scene))
    assert run.asleep.max() >= 1
    assert run.theta[-1][7] > run.theta[0][7] + 1e-3
    np.testing.assert_allclose(run.theta[-1], full.theta[-1], rtol=0, atol=1e-6)


def test_what_a_controller_pushes_does_not_sleep_and_goes_when_it_does():
    def push(model):
        return Push(model, "box_0", (20.0, 0.0, 0.0), start=0.05)

    run = mf.simulate(boxes([(0.0, 0.0), (3.0, 0.0)], push, duration=0.1))
    assert run.asleep.max() == 1
    assert run.theta_dot[-1][0] > 0.1
    assert run.theta[-1][7] == run.theta[25][7]


def test_a_checkpoint_knows_who_sleeps():
    scene = boxes([*STACK, FALLING])
    state, first = scene.initial_state(), Engine(scene)
    before = first.advance(state, 0, 45)
    assert before.asleep[-1] == 2
    second, other = Engine(scene), scene.model.state(state.theta, state.theta_dot, state.time)
    second.restore(first.checkpoint())
    a, b = first.advance(state, 45, 60), second.advance(other, 45, 60)
    assert a.n_impacts.sum() > 0
    np.testing.assert_array_equal(a.asleep, b.asleep)
    np.testing.assert_array_equal(a.theta, b.theta)


@pytest.mark.parametrize("setting", [{"integrator": "rk4"}, {"scheme": "time_stepping"}, {"diagnose": True}])
def test_where_nobody_can_sleep_the_scene_is_refused(setting):
    with pytest.raises(ModelError, match=r"sleep_after = 0.02: bodies sleep in event-driven steps"):
        Engine(boxes(STACK, **setting))
