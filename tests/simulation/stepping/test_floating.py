"""Trees on a free hinge that touch nothing keep momentum and spin to rounding, with loops, motors, pushes."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.closures import Ball, Distance
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.scene.controllers import PD, Push
from mcpframe.simulation import engine

ROUNDING = 1e-12
RATES = [0.5, 0.0, 2.0, 1.0, 2.0, 3.0] + [2.0, -3.0] * 3


def chain(links=4, **options):
    """Balls on universal hinges, the first one free, turned off its centre of mass."""
    model = mf.Model(**options)
    parent, hinge, place = "world", mf.Hinge("free"), mf.Pose((1.0, 2.0, 3.0))
    for k in range(links):
        shape = Geometry(Sphere(0.05), mf.Pose((0, 0, -0.1)))
        model.add_link(f"link_{k}", parent, hinge, place, 0.5, (0, 0.02, -0.1), 2e-3 * np.eye(3), shape)
        parent, hinge = f"link_{k}", mf.Hinge("universal", (1, 0, 0), (0, 1, 0))
        place = mf.Pose((0, 0, -0.2))
    return model


def momenta(state):
    """Momentum, and spin about the centre of mass."""
    links = state.model.links
    masses = np.array([link.mass for link in links])
    places = [state.pose(mf.Node(link.name, link.com)).position for link in links]
    centre = masses @ np.array(places) / masses.sum()
    about_origin, momentum = np.split(state.momentum(), 2)
    return momentum, about_origin - np.cross(centre, momentum)


def changes(scene, **stepping):
    """By how much momentum and spin have changed in a run, weight left out."""
    run = mf.simulate(scene, dt=1e-3, **stepping)
    (P, L), (P_end, L_end) = momenta(run.state(0)), momenta(run.state(-1))
    mass = sum(link.mass for link in scene.model.links)
    fallen = run.time[-1] * mass * scene.model.gravity
    assert np.abs(run.theta_dot[-1] - run.theta_dot[0]).max() > 0.1  # it did move
    return P_end - P - fallen, L_end - L


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
@pytest.mark.parametrize("gravity", [(0, 0, 0), (1.0, 0.0, -9.81)])
def test_a_chain_in_flight_keeps_both(scheme, gravity):
    scene = mf.Scene(chain(gravity=gravity), theta_dot=RATES)
    for change in changes(scene, duration=0.3, scheme=scheme):
        np.testing.assert_allclose(change, 0.0, rtol=0.0, atol=30 * ROUNDING)


def test_its_energy_stays_with_them(monkeypatch):
    scene = mf.Scene(chain(gravity=(0, 0, 0)), theta_dot=RATES)
    scene = scene.with_stepping(dt=1e-3, duration=2.0)
    kept = mf.simulate(scene).kinetic_energy
    monkeypatch.setattr(engine, "floating_trees", lambda tree, *_: np.zeros(tree.skeleton.n_bodies))
    left_alone = mf.simulate(scene).kinetic_energy
    assert 10.0 * np.abs(kept - kept[0]).max() < np.abs(left_alone - left_alone[0]).max()


def test_motors_springs_and_dampers_within_change_neither():
    model = chain(gravity=(0, 0, 0))
    stiff = np.append(np.zeros(6), np.full(6, 50.0))
    motors = PD(model, stiff, 0.01 * stiff, model.neutral())
    for change in changes(mf.Scene(model, theta_dot=RATES, controllers=[motors]), duration=0.3):
        np.testing.assert_allclose(change, 0.0, rtol=0.0, atol=ROUNDING)


def test_a_loop_within_changes_neither_and_one_to_the_world_holds_it():
    bent, rates = np.append([0, 0, 0, 0, 0, 0, 1], [0.6, 0.3] * 3), np.append(RATES[:6], np.zeros(6))
    model = chain(gravity=(0, 0, 0))
    state = model.state(bent)
    gap = state.pose("link_3").position - state.pose("link_0").position
    model.add_closure(Distance("link_0", "link_3", float(np.linalg.norm(gap))))
    for change in changes(mf.Scene(model, bent, rates), duration=0.2):
        np.testing.assert_allclose(change, 0.0, rtol=0.0, atol=30 * ROUNDING)
    model.add_closure(Ball("link_0", mf.Node("world", model.state(bent).pose("link_0").position)))
    rates[:3] = 0.0
    assert np.abs(changes(mf.Scene(model, bent, rates), duration=0.2)[0]).max() > 0.1


def test_a_push_gives_what_it_gives_and_turns_as_with_finer_steps():
    model = chain(gravity=(0, 0, 0))
    push = Push(model, "link_2", force=(3.0, -2.0, 1.0), point=(0.0, 0.1, 0.0))
    scene = mf.Scene(model, theta_dot=RATES, controllers=[push])
    momentum, spin = changes(scene, duration=0.3)
    np.testing.assert_allclose(momentum, 0.3 * np.array([3.0, -2.0, 1.0]), rtol=0.0, atol=ROUNDING)
    run = mf.simulate(scene, dt=1e-4, duration=0.3)
    finer = momenta(run.state(-1))[1] - momenta(run.state(0))[1]
    np.testing.assert_allclose(spin, finer, rtol=0.0, atol=1e-5)


def test_a_motor_on_the_free_hinge_is_not_taken_for_a_law_of_nature():
    """A stiff PD holds the base: its momentum goes to the world, as in finer steps."""
    model = chain(gravity=(0, 0, 0))
    gains = np.append(np.full(6, 200.0), np.zeros(6))
    scene = mf.Scene(model, theta_dot=RATES, controllers=[PD(model, gains, 0.1 * gains, model.neutral())])
    coarse, fine = (mf.simulate(scene, dt=dt, duration=0.2) for dt in (1e-3, 1e-4))
    np.testing.assert_allclose(coarse.theta_dot[-1], fine.theta_dot[-1], rtol=0.0, atol=2e-3)


def test_one_that_touches_the_floor_is_left_to_the_contact():
    model = chain(geometry=[Geometry(Plane(), name="floor")])
    theta = model.neutral()
    theta[2] = -2.2  # the lowest ball is 5 cm above the floor
    run = mf.simulate(mf.Scene(model, theta, materials=mf.Material(mu=0.5)), dt=1e-3, duration=0.3)
    assert len(run.impacts)
    assert run.certificate[1:].max() < 1e-9
    assert run.total_energy.max() < run.total_energy[0] + 1e-6
