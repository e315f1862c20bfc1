"""Painlevé's rod: where the rigid problem has no answer or two, contacts that yield go on and converge.

        \\
         \\  1 kg, 1 m, tan = 2       m A = 1 + 3 cos (cos - mu sin) = 1.6 - 1.2 mu,  negative for mu > 4/3
    ------*------ tip slides at 1 m/s under the rod, which so is pushed into the ground
"""

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Capsule, Geometry, Plane
from mcpframe.simulation.engine import Engine

GRAVITY, MU = 9.81, 1.6
ANGLE = np.arctan(2.0)
TIP = -0.5 * np.array([np.cos(ANGLE), 0.0, np.sin(ANGLE)])


def rod():
    """The rod with its lower end on the ground, and its rates: it slides to -x without turning."""
    along = mf.Pose.from_rpy(rpy=(0.0, np.pi / 2.0 - ANGLE, 0.0))  # z of the segment to the upper end
    link = mf.Link(
        "rod",
        mass=1.0,
        inertia=np.diag([1.0, 1.0, 1.0]) / 12.0,  # about y, which is all that turns, that of a thin rod
        geometry=Geometry(Capsule(0.0, 1.0), along, "rod"),
    )
    model = mf.Model([link], gravity=(0.0, 0.0, -GRAVITY), geometry=(Geometry(Plane(), name="floor"),))
    theta = model.neutral()
    theta[2] = -TIP[2]
    return model, theta, np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def jammed(dt, law):
    model, theta, rates = rod()
    scene = mf.Scene(
        model,
        theta=theta,
        theta_dot=rates,
        materials={"default": mf.Material(MU, law=law)},
        stepping=mf.Stepping(dt=dt),
    )
    state = scene.initial_state()
    block = Engine(scene).advance(state, 0, round(0.06 / dt))
    force = np.linalg.norm(block.contacts.impulse, axis=1).max() / dt
    return state.theta_dot, force


def test_compliant_steps_go_on_with_finite_forces_that_converge():
    law = {"name": "compliant", "stiffness": 1e4, "damping": 20.0}
    runs = [jammed(dt, law) for dt in (4e-4, 2e-4, 1e-4, 5e-5)]
    rates, forces = np.array([run[0] for run in runs]), np.array([run[1] for run in runs])
    steps = np.abs(np.diff(rates, axis=0)).max(axis=1)
    assert steps[2] < 0.75 * steps[1] < 0.75**2 * steps[0]
    changes = np.abs(np.diff(forces))
    assert np.isfinite(forces).all()
    assert changes[2] < changes[1] < changes[0]
    assert forces[-1] > 5.0 * GRAVITY  # it does jam
