"""The engine takes the same steps by kernels and by stages in Python, and tells of them in the same words."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.scene.settings import Output
from mcpframe.simulation import engine as engine_module
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.rules import ROUNDING
from mcpframe.spatial.transforms import rotation_from_rpy

SAME = 1e-9
"""Coordinates of two engines that round differently, after some hundred steps and a few impacts, which each
multiply differences by about ten: 1e-16 becomes 1e-12 or so."""
GENTLE = mf.Material(mu=0.5, restitution=0.5)


def pendulum(n_links=3, height=10.0, angle=np.pi / 4, rate=1.0, **stepping):
    model = mf.systems.pendulum(links=n_links, height=height)
    start = {"theta": {"link_1": angle}, "theta_dot": {"link_1": rate}}
    return mf.Scene(model, **start, materials=GENTLE, stepping=mf.Stepping(**stepping))


def thrown_box(**stepping):
    model = mf.systems.box()
    theta = model.neutral()
    theta[2] += 0.15
    turn = np.array([0.1, 0.2, -0.1, 0.0])
    turn[3] = np.sqrt(1.0 - turn @ turn)
    theta[3:7] = turn
    rates = np.array([0.6, -0.2, 0.0, 1.0, -2.0, 3.0])
    return mf.Scene(model, theta=theta, theta_dot=rates, materials=GENTLE, stepping=mf.Stepping(**stepping))


def sprung_pendulum(**stepping):
    links = [
        mf.Link(
            f"link_{k}",
            "world" if k == 0 else f"link_{k - 1}",
            mf.Hinge("pin", (0.0, 1.0, 0.0)),
            mf.Pose((0.0, 0.0, 2.0 if k == 0 else -0.5)),
            mass=1.0,
            com=(0.0, 0.0, -0.5),
            inertia=0.02 * np.eye(3),
            damping=0.1,
            stiffness=2.0,
            rest=0.3,
        )
        for k in range(3)
    ]
    return mf.Scene(mf.Model(links), theta={"link_0": 1.0}, stepping=mf.Stepping(**stepping))


def two_boxes(**stepping):
    """Two trees that land one after the other: the number of their contacts changes all the time."""
    size, turn = (0.4, 0.3, 0.2), np.array([0.2, -0.1, 0.1, 0.0])
    turn[3] = np.sqrt(1.0 - turn @ turn)
    boxes = [
        mf.Link(
            f"box_{k}",
            pose=mf.Pose((0.6 * k, 0.0, 0.3)),
            mass=1.0 + k,
            inertia=(1.0 + k) * np.diag([0.0108, 0.0167, 0.0208]),
            geometry=Geometry(Box(size)),
        )
        for k in range(2)
    ]
    model = mf.Model(boxes, geometry=(Geometry(Plane()),))
    theta, rates = model.neutral(), np.array([0.6, -0.2, 0.0, 1.0, -2.0, 3.0])
    theta[3:7] = theta[10:14] = turn
    return mf.Scene(
        model,
        theta=theta,
        theta_dot=np.concatenate([rates, -rates]),
        materials=mf.Material(mu=0.5, restitution=0.0),
        stepping=mf.Stepping(**stepping),
    )


def cradle(n, **stepping):
    """Balls on pins that touch, the first of them lifted: every ball is a tree of its own."""
    radius, length = 0.05, 0.5
    balls = [
        mf.Link(
            f"ball_{k}",
            "world",
            mf.Hinge("pin", (0.0, 1.0, 0.0)),
            mf.Pose((2.0 * radius * k, 0.0, 1.0)),
            mass=1.0,
            com=(0.0, 0.0, -length),
            inertia=1e-3 * np.eye(3),
            geometry=Geometry(Sphere(radius), mf.Pose((0.0, 0.0, -length))),
        )
        for k in range(n)
    ]
    elastic = mf.Material(mu=0.0, restitution=1.0)
    return mf.Scene(
        mf.Model(balls), theta={"ball_0": 0.5}, materials=elastic, stepping=mf.Stepping(**stepping)
    )


def run(engine, n_steps):
    state = engine.scene.initial_state()
    return engine.advance(state, 0, n_steps)


def both(scene, n_steps):
    """By the kernels of `os` and `lemke`, and by `mc`, which is all Python's."""
    in_python = scene.with_stepping(formulation="mc")
    return run(Engine(scene), n_steps), run(Engine(in_python), n_steps)


def without_clocks(block):
    columns = {name: array for name, array in block.items() if not name.endswith("_seconds")}
    tables = {
        f"{part}.{name}": array
        for part in ("contacts", "impacts")
        for name, array in getattr(block, part).items()
    }
    return {**columns, **tables}


SCENES = {
    "pendulum that bounces": (lambda: pendulum(), 2700),
    "chain that lies down": (lambda: pendulum(6, 2.0, np.pi / 2, 0.0), 1200),
    "chain, fixed steps": (lambda: pendulum(6, 2.0, np.pi / 2, 0.0, scheme="time_stepping"), 1200),
    # Seven impacts: depth becomes speed at 1/dt here, so that rounding grows faster than elsewhere.
    "chain, fixed steps, gaps closed": (
        lambda: pendulum(6, 2.0, np.pi / 2, 0.0, scheme="time_stepping", rise_speed=0.5),
        700,
    ),
    "box that tumbles": (lambda: thrown_box(), 250),
    "springs and dampers": (lambda: sprung_pendulum(), 500),
    "two boxes": (lambda: two_boxes(), 215),  # the impact at five contacts that follows has several answers
    "cradle of five": (lambda: cradle(5), 500),
}


@pytest.mark.parametrize("name", SCENES)
def test_kernels_and_python_take_the_same_steps(name):
    make, n_steps = SCENES[name]
    ours, theirs = both(make(), n_steps)
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=0.0, atol=SAME)
    np.testing.assert_allclose(ours.kinetic_energy, theirs.kinetic_energy, rtol=1e-6, atol=SAME)
    np.testing.assert_array_equal(ours.n_impacts, theirs.n_impacts)
    np.testing.assert_allclose(ours.impacts.time, theirs.impacts.time, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(ours.impacts.energy_after, theirs.impacts.energy_after, rtol=1e-6, atol=SAME)


@pytest.mark.parametrize("n", [5, 6])
def test_impacts_of_a_cradle_lose_no_energy(n):
    impacts = run(Engine(cradle(n)), 500).impacts
    assert len(impacts) > 0
    np.testing.assert_allclose(impacts.energy_after, impacts.energy_before, rtol=1e-9)


def test_impacts_of_two_boxes_gain_no_energy():
    impacts = run(Engine(two_boxes()), 500).impacts
    assert len(impacts) > 5
    assert (impacts.energy_after <= impacts.energy_before * (1.0 + ROUNDING)).all()


def test_contacts_impulses_and_modes_are_told_alike(monkeypatch):
    scene = pendulum(6, 2.0, np.pi / 2, 0.0)
    ours = run(Engine(scene), 900)
    monkeypatch.setattr(type(scene.stepping.formulation), "stages", lambda *_: None)
    theirs = run(Engine(scene), 900)
    np.testing.assert_array_equal(ours.n_contacts, theirs.n_contacts)
    for column in ("key", "body_a", "body_b", "mode"):
        np.testing.assert_array_equal(getattr(ours.contacts, column), getattr(theirs.contacts, column))
    for column in ("point", "normal", "impulse", "gap"):
        np.testing.assert_allclose(
            getattr(ours.contacts, column), getattr(theirs.contacts, column), rtol=0.0, atol=1e-6
        )
    assert len(ours.contacts) > 100


def test_an_impact_within_a_step_is_told_with_its_contact():
    block = run(Engine(pendulum()), 2700)
    first = int(np.argmax(block.n_impacts > 0))
    assert block.n_contacts[first] == 1
    impulse = block.contacts.impulse[block.n_contacts[:first].sum()]
    assert np.linalg.norm(impulse) > 0.1


@pytest.mark.parametrize("blocks", [[1200], [7] * 171 + [3], [1, 499, 700]])
def test_how_a_run_is_cut_into_blocks_changes_no_bit(blocks):
    scene = pendulum(6, 2.0, np.pi / 2, 0.0)
    whole = run(Engine(scene), 1200)
    engine, state, first = Engine(scene), scene.initial_state(), 0
    thetas = []
    for count in blocks:
        thetas.append(engine.advance(state, first, count).theta)
        first += count
    assert np.concatenate(thetas).tobytes() == whole.theta.tobytes()


def test_a_checkpoint_leads_to_the_same_bits():
    scene = pendulum(6, 2.0, np.pi / 2, 0.0)
    whole = run(Engine(scene), 1200)
    first, state = Engine(scene), scene.initial_state()
    first.advance(state, 0, 800)
    second = Engine(scene)
    second.restore(first.checkpoint())
    again = scene.model.state(state.theta, state.theta_dot, state.time)
    rest = second.advance(again, 800, 400)
    for name, array in without_clocks(rest).items():
        if "." not in name:
            assert array.tobytes() == getattr(whole, name)[800:].tobytes(), name


def test_room_is_made_for_more_contacts_than_expected():
    boxes = [
        mf.Link(
            f"box_{k}",
            pose=mf.Pose((0.0, 0.0, 0.1 + 0.2 * k)),
            mass=1.0,
            inertia=np.eye(3) / 150.0,
            geometry=(Geometry(Box((0.2, 0.2, 0.2))),),
        )
        for k in range(8)
    ]
    model = mf.Model(boxes, geometry=(Geometry(Plane()),))
    engine = Engine(mf.Scene(model, materials=GENTLE))
    block = run(engine, 20)
    assert (block.n_contacts == 32).all()
    assert engine._work.capacity >= 32
    np.testing.assert_allclose(block.theta[-1], model.neutral(), atol=1e-12)


def test_a_fast_body_that_is_near_more_than_there_is_room_for_lands_all_the_same():
    """What is deep is looked for far around: 192 corners are near two planes, with room for 176."""
    rungs = [Geometry(Box((0.1, 0.1, 0.1)), mf.Pose((0.2 * k, 0, 0))) for k in range(12)]
    ladder = mf.Link(
        "ladder", hinge=mf.Hinge("prismatic", (0, 0, 1)), mass=1.0, inertia=np.eye(3), geometry=rungs
    )
    wall = Geometry(Plane(), mf.Pose((-0.2, 0, 0), rotation_from_rpy((0, np.pi / 2, 0))))
    model = mf.Model([ladder], gravity=(0, 0, 0), geometry=(Geometry(Plane()), wall))
    engine = Engine(mf.Scene(model, theta=[0.2], theta_dot=[-400.0]))
    block = run(engine, 3)
    assert block.theta[-1, 0] == pytest.approx(0.05, abs=1e-6)
    assert 0.0 <= block.theta_dot[-1, 0] < 1e-3  # what has sunk in, within the tolerance, rises slowly


def test_only_some_steps_are_recorded_with_the_impulses_of_all():
    scene = pendulum(6, 2.0, np.pi / 2, 0.0)
    every = run(Engine(scene), 1200)
    some = run(Engine(replace(scene, output=Output(every=10))), 1200)
    assert 120 <= len(some) < 400
    np.testing.assert_allclose(
        some.contacts.impulse.sum(axis=0), every.contacts.impulse.sum(axis=0), rtol=1e-12, atol=1e-12
    )


def test_no_impulse_is_lost_however_many_contacts_press_between_records(monkeypatch):
    scene = replace(pendulum(6, 2.0, np.pi / 2, 0.0), output=Output(every=10**6))
    usual = run(Engine(scene), 1200)
    monkeypatch.setattr(engine_module, "FIRST_CAPACITY", 1)
    small = run(Engine(scene), 1200)
    np.testing.assert_array_equal(small.contacts.impulse, usual.contacts.impulse)


def test_a_stage_in_python_makes_the_same_steps_as_its_kernel():
    """A solver without a kernel, a force that a function says, an onlooker: each is one stage of the step."""
    scene = pendulum(6, 2.0, np.pi / 2, 0.0)
    told = []
    usual = run(Engine(scene), 700)
    solver = run(Engine(scene.with_stepping(solver="newton")), 700)
    force = run(Engine(replace(scene, controllers=(lambda state, time: np.zeros(6),))), 700)
    onlooker = run(Engine(scene, told.append), 700)
    np.testing.assert_allclose(solver.theta, usual.theta, rtol=0.0, atol=1e-7)
    assert force.theta.tobytes() == usual.theta.tobytes()
    assert onlooker.theta.tobytes() == usual.theta.tobytes()
    assert len(told) > 10


def test_what_a_stage_in_python_raises_comes_out_of_the_run():
    def broken(state, time):
        raise KeyError("no such motor")

    scene = replace(pendulum(), controllers=(broken,))
    with pytest.raises(KeyError, match="no such motor"):
        run(Engine(scene), 10)


def test_a_step_that_is_not_solved_gets_the_help_that_the_scene_allows():
    hopeless = pendulum(6, 2.0, np.pi / 2, 0.0, solver={"name": "lemke", "max_pivots": 1}, on_failure="auto")
    block = run(Engine(hopeless), 1200)
    usual = run(Engine(pendulum(6, 2.0, np.pi / 2, 0.0)), 1200)
    assert (block.solver == 1).any()  # `auto` has taken over
    assert np.nanmax(block.residual) < 1e-8  # of what failed before it nothing is left in later rows
    np.testing.assert_allclose(block.theta[:700], usual.theta[:700], atol=1e-6)
