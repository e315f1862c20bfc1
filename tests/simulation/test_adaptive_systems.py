"""Adaptive runs of bodies of many kinds go on, are certified, gain no energy and come near full runs."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.scene.controllers import PD
from mcpframe.scene.settings import Adaptive, Stepping

APART = [("*_*", "*_*")]
"""Links of ropes pass through each other."""
GAINED = 1e-8
"""Share of the potential energy that a run may gain in all, by rounding and where loops are closed again."""


def add_rope(model, name, parent, place, links, spacing=0.05, **hinge):
    """Add a rope to a link or the world: balls on a string, pins about y and x in turn; return its last."""
    for k in range(links):
        axis = ((0, 1, 0), (1, 0, 0))[k % 2]
        com, ball = (0, 0, -spacing / 2), Geometry(Sphere(0.4 * spacing), mf.Pose((0, 0, -spacing / 2)))
        inertia = 0.02 * spacing**2 / 10 * np.eye(3)
        own = f"{name}_{k}"
        model.add_link(own, parent, mf.Hinge("pin", axis), place, 0.02, com, inertia, ball, **hinge)
        parent, place = own, mf.Pose((0, 0, -spacing))
    return parent


def octopus():
    """A ball that flies, six arms of ten links with limits around it, onto a floor."""
    floor = Geometry(Plane(), mf.Pose((0, 0, -0.8)), "floor")
    model = mf.Model(name="octopus", geometry=[floor])
    body = Geometry(Sphere(0.1))
    model.add_link("own_body", "world", "free", mf.Pose(), 0.5, (0, 0, 0), 2e-3 * np.eye(3), body)
    for arm in range(6):
        place = mf.Pose.from_rpy((0, 0, 0), (0.0, -2.0, arm * np.pi / 3))
        add_rope(model, f"arm_{arm}", "own_body", place, 10, lower=-0.5, upper=0.5, damping=2e-4)
    rates = np.zeros(model.n_dofs)
    rates[3:6] = 0.5, 0.3, 2.0
    return mf.Scene(model, theta_dot=rates, ignore=APART, adaptive=Adaptive(active=30, interval=5))


def ring_with_a_motor():
    """A rope whose first twelve links are closed to a ring by a ball, a motor in it, and a tail of thirty."""
    model = mf.Model(name="ring")
    ring = add_rope(model, "ring", "world", mf.Pose(), 12, damping=1e-3)
    theta = np.zeros(12)
    theta[::2] = -2.0 * np.pi / 7.0
    at = model.state(theta).link_poses()[1][-1]
    model.add_closure(mf.closures.Ball(ring, mf.Node("world", tuple(at))))
    add_rope(model, "tail", "ring_5", mf.Pose((0, 0, -0.05)), 30, damping=1e-4)
    start = np.r_[theta, np.zeros(30)]
    motor = PD(model, 0.5, 0.05, start, dofs=["ring_2"])
    return mf.Scene(
        model, theta=start, controllers=[motor], ignore=APART, adaptive=Adaptive(active=24, interval=5)
    )


def rope_ladder():
    """Two ropes and four rungs between them, which close three loops, and loose ends below; let go aside."""
    model = mf.Model(name="ladder")
    for side, y in (("left", -0.1), ("right", 0.1)):
        add_rope(model, side, "world", mf.Pose((0, y, 0)), 28, damping=2e-4)
    for rung in range(4):
        k = 2 + 4 * rung
        inertia = np.diag([1e-4, 1e-6, 1e-4])
        model.add_link(
            f"rung_{rung}", f"left_{k}", "ball", mf.Pose((0, 0, -0.05)), 0.03, (0, 0.1, 0), inertia
        )
        end = mf.Node(f"rung_{rung}", (0, 0.2, 0))
        model.add_closure(mf.closures.Ball(end, mf.Node(f"right_{k}", (0, 0, -0.05))))
    theta = {"left_0": 0.7, "right_0": 0.7, "left_20": 0.5, "right_23": -0.8}
    return mf.Scene(model, theta=theta, ignore=APART, adaptive=Adaptive(active=42, interval=5))


@pytest.mark.parametrize(("make", "near"), [(octopus, 0.03), (ring_with_a_motor, 1e-3), (rope_ladder, 0.01)])
def test_bodies_of_many_kinds_go_on_gain_nothing_and_stay_near(make, near):
    """`near`: rms of the way from links to those of the full run, m."""
    stepping = Stepping(dt=5e-4, duration=0.5, certify="all")
    asked = replace(make(), stepping=stepping)
    run, full = mf.simulate(asked), mf.simulate(replace(asked, adaptive=None))
    assert run.time[-1] == pytest.approx(0.5)
    assert not run.failed.size
    assert np.nanmax(run.certificate) < 1e-9
    assert (run.rigid_loss >= -1e-10).all()
    assert run.rigid_loss.sum() > 0.0
    if make is not ring_with_a_motor:
        growth = np.diff(run.total_energy) + run.rigid_loss[1:]
        assert growth[growth > 0.0].sum() < GAINED * np.ptp(run.potential_energy)
    kept = np.intersect1d(run.time, full.time)
    places = [one.link_poses(np.searchsorted(one.time, kept))[1] for one in (run, full)]
    assert np.sqrt((np.linalg.norm(places[0] - places[1], axis=2) ** 2).mean()) < near
