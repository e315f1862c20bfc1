"""Impacts with restitution against closed forms, in every formulation; each happens where a run begins."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine

FORMULATIONS = sorted(mf.available_formulations())
EXACT = 1e-9
"""Of speeds of about one: a certified solution leaves a few times 1e-12."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
every_restitution = pytest.mark.parametrize("restitution", ["poisson", "newton"])


def row_of_balls(masses, speeds, e=0.0, distance=1.0, **stepping):
    """Balls of radius 0.5 in a row along x, each touching the next, without gravity."""
    links = [
        mf.Link(f"ball{i}", mass=m, inertia=0.1 * m * np.eye(3), geometry=Geometry(Sphere(0.5)))
        for i, m in enumerate(masses)
    ]
    theta = np.concatenate([[distance * i, 0, 0, 0, 0, 0, 1] for i in range(len(masses))])
    rates = np.concatenate([[v, 0, 0, 0, 0, 0] for v in speeds])
    material = mf.Material(mu=0.0, restitution=e)
    model = mf.Model(links, gravity=(0, 0, 0))
    return mf.Scene(model, theta=theta, theta_dot=rates, materials=material, stepping=mf.Stepping(**stepping))


def first_step(scene, name="os", restitution="poisson"):
    scene = scene.with_stepping(formulation=name, restitution_model=restitution)
    return Engine(scene).advance(scene.initial_state(), 0, 1)


def speeds(block):
    return block.theta_dot[-1, ::6]


@every_restitution
@every_formulation
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_balls_part_at_the_asked_share_and_keep_their_momentum(name, restitution, e):
    block = first_step(row_of_balls([1.0, 3.0], [2.0, -1.0], e), name, restitution)
    after = speeds(block)
    assert after[1] - after[0] == pytest.approx(3.0 * e, abs=EXACT)
    assert np.dot([1.0, 3.0], after) == pytest.approx(2.0 - 3.0, abs=EXACT)
    # A is the later ball, and the normal points from B to A
    assert block.contacts.impulse[0, 0] == pytest.approx(2.0 - after[0], abs=EXACT)


@every_formulation
def test_three_balls_in_one_impact_share_as_poisson_says(name):
    """(-1/3, 2/3, 2/3) in one complementarity problem; (0, 0, 1) needs one impact after the other."""
    block = first_step(row_of_balls([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0), name)
    np.testing.assert_allclose(speeds(block), [-1 / 3, 2 / 3, 2 / 3], atol=EXACT)
    np.testing.assert_allclose(block.impacts.energy_after, block.impacts.energy_before, atol=EXACT)


def test_balls_that_hit_one_after_the_other_hand_on_the_speed():
    scene = row_of_balls([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0, distance=1.001, duration=0.1)
    run = mf.simulate(scene)
    assert len(run.impacts) == 2
    np.testing.assert_allclose(run.theta_dot[-1, ::6], [0.0, 0.0, 1.0], atol=EXACT)


@every_restitution
def test_the_audit_follows_the_energy_through_both_phases(restitution):
    impacts = first_step(row_of_balls([1.0, 1.0], [1.0, -1.0], 0.5), restitution=restitution).impacts
    compressed = {"poisson": 0.0, "newton": 0.25}[restitution]
    found = impacts.energy_before[0], impacts.energy_compressed[0], impacts.energy_after[0]
    np.testing.assert_allclose(found, [1.0, compressed, 0.25], atol=EXACT)


def test_contacts_that_open_are_no_impact():
    block = first_step(row_of_balls([1.0, 1.0], [-1.0, 1.0], 1.0))
    np.testing.assert_allclose(speeds(block), [-1.0, 1.0], atol=EXACT)
    assert len(block.impacts) == 0


@every_formulation
def test_a_sphere_that_lands_sliding_spins_up_by_the_friction_impulse(name):
    """v_x falls by mu v_n, and the sphere (2/5 m r²) turns by mu v_n r m / J, as long as it still slides."""
    ball = mf.Link("ball", mass=2.0, inertia=0.4 * 2.0 * 0.25 * np.eye(3), geometry=Geometry(Sphere(0.5)))
    model = mf.Model([ball], gravity=(0, 0, 0), geometry=(Geometry(Plane()),))
    start = {"theta": [0, 0, 0.5, 0, 0, 0, 1], "theta_dot": [3.0, 0, -1.0, 0, 0, 0]}
    scene = mf.Scene(model, **start, materials=mf.Material(mu=0.2), stepping=mf.Stepping(dt=1e-6))
    spin = 0.2 * 2.0 * 0.5 / (0.4 * 2.0 * 0.25)
    after = first_step(scene, name).theta_dot[-1]
    np.testing.assert_allclose(after, [2.8, 0, 0, 0, spin, 0], atol=1e-5)  # it moves on for a microsecond


@every_formulation
@every_restitution
def test_a_limit_and_a_contact_hit_in_one_impact_each_with_its_own_restitution(name, restitution):
    """Two weights on slides that do not know of each other: one meets its stop, the other the floor."""
    falling = {"mass": 1.0, "inertia": np.eye(3), "hinge": mf.Hinge("prismatic", (0, 0, 1))}
    ball = Geometry(Sphere(0.1), mf.Pose((1.0, 0.0, 0.1)))
    links = [mf.Link("a", **falling, lower=0.0), mf.Link("b", **falling, geometry=ball)]
    model = mf.Model(links, gravity=(0, 0, 0), geometry=(Geometry(Plane()),))
    stepping = mf.Stepping(limit_restitution=0.25)
    material = mf.Material(mu=0.0, restitution=0.5)
    scene = mf.Scene(model, theta_dot=[-2.0, -3.0], materials=material, stepping=stepping)
    block = first_step(scene, name, restitution)
    np.testing.assert_allclose(block.theta_dot[-1], [0.5, 1.5], atol=EXACT)
    np.testing.assert_allclose(block.contacts.impulse, [[0, 0, 4.5]], atol=EXACT)
    assert (block.impacts.n_limits, block.impacts.n_contacts) == (1, 1)


@every_formulation
def test_a_limit_stops_a_hinge_as_a_wall_does(name):
    bar = {"mass": 1.0, "com": (1, 0, 0), "inertia": np.eye(3), "upper": 0.3}
    model = mf.Model([mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), **bar)], gravity=(0, 0, 0))
    block = first_step(mf.Scene(model, theta=[0.3], theta_dot=[2.0]), name)
    np.testing.assert_allclose(block.theta_dot[-1], [0.0], atol=EXACT)
    assert len(block.impacts) == 1


def test_formulations_agree_on_an_impact_with_friction_on_a_robot():
    model = mf.systems.quadruped()
    material = mf.Material(mu=0.6, restitution=0.4)
    start = {"theta_dot": np.array([0.5, 0.1, -1.0] + [0.0] * 15), "materials": material}
    lowest = min(contact.point[2] for contact in mf.systems.contacts_of(model.state(), 4))
    theta = model.neutral()
    theta[2] -= lowest
    scene = mf.Scene(model, theta=theta, **start)
    found = [first_step(scene, name) for name in FORMULATIONS]
    for block in found:
        assert len(block.impacts) >= 1
        np.testing.assert_allclose(block.theta_dot[-1], found[0].theta_dot[-1], atol=1e-7)
        assert (block.impacts.energy_after <= block.impacts.energy_before + EXACT).all()
