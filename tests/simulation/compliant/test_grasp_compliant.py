"""The whole-arm grasp [S00] on its compliant layer, held against an independent reproduction."""

import numpy as np
import pytest
from grasp_runs import EXAMPLES, SHARED, grasp_scene

import mcpframe as mf
from mcpframe.contact.layers.layer import carried
from mcpframe.simulation.engine import Engine

SAME = 1e-9
"""Metres and radians after a thousand steps of the same scheme."""
SAME_FORCE = 1e-8
"""Newtons: stiffnesses of some kN/m times some of that."""
NEAR = {"semi_implicit_euler": {1: 1e-9, 2: 1e-9}, "midpoint": {1: 0.01e-3, 2: 0.1e-3}}
"""Metres: the reference is of semi-implicit Euler, its contacts are on the object."""

needs_reference = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/compliant/reference")


def pressing(motion, state, forces):
    """Forces on A of the contacts that slide as designed, world axes, and their normals."""
    normals = motion.detector.contacts(state, 1e-9).axes[:, 0]
    return forces[:, None] * (normals - np.asarray(motion.mu)[:, None] * motion.slip(0.0)), normals


def on_the_object(contact, mu):
    """The contact with its point on the surface of the object."""
    side = 0.5 if contact.body_a == "object" else -0.5
    point = contact.point + side * contact.gap * contact.normal
    return mf.Contact(contact.body_a, contact.body_b, point, contact.normal, mu, gap=contact.gap)


def steps_in_python(example, scale):
    """Coordinates of a thousand steps by semi-implicit Euler, one `ContactStep` after the other."""
    motion, torque = EXAMPLES[example], np.load(SHARED / f"ex{example}_torque_ff.npz")
    model, dt = motion.model, 1e-3
    state = model.state(motion.state(0.0).theta, np.zeros(7))
    law, formulation = mf.contact_law("compliant", scale=scale, mass=1.69), mf.formulation("os")
    forces, before = pressing(motion, state, torque["lam"][0])
    memory = (forces * scale / 1.69)[:, None]  # F/k along n and t: nothing jumps
    for k in range(1000):
        found = motion.detector.contacts(state, 2e-3)
        memory = carried(memory, before[:, None], found.axes[:, :1])
        before = found.axes[:, 0]
        contacts = [on_the_object(contact, mu) for contact, mu in zip(found, motion.mu, strict=True)]
        tau = np.concatenate([np.zeros(3), torque["tau"][2 * k]])
        step = mf.ContactStep(state, contacts, dt, tau=tau, law=law, memory=memory)
        problem, recovery = formulation.build(step)
        outcome = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
        memory = outcome.memory
        state = model.state(model.integrate(state.theta, outcome.theta_dot, dt), outcome.theta_dot)
        yield state.theta


@needs_reference
@pytest.mark.parametrize(("example", "scale"), [(1, "0.001"), (2, "0.0005")])
def test_implicit_steps_of_a_millisecond_are_those_of_the_reference(example, scale):
    reference = np.load(SHARED / f"ex{example}_implicit_ff_s{scale}.npz")
    found = np.array(list(steps_in_python(example, float(scale))))
    assert np.abs(found - reference["q"][1:]).max() < SAME


def compliant_run(example, scale, **stepping):
    """Positions in steps of 1 ms from forces as designed, under the torques of the reference."""
    motion, torque = EXAMPLES[example], np.load(SHARED / f"ex{example}_torque_ff.npz")
    layer = {"scale": scale, "mass": 1.69}
    scene = grasp_scene(example, contact_model="compliant", layer=layer, **stepping)
    engine, state = Engine(scene), scene.initial_state()
    forces, _ = pressing(motion, motion.state(0.0), torque["lam"][0])
    engine.press(state, dict(zip(motion.detector.key.tolist(), forces, strict=True)))
    return engine.advance(state, 0, 1000)


@needs_reference
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "midpoint"])
@pytest.mark.parametrize("scale", ["0.001", "0.0005"])
@pytest.mark.parametrize("example", [1, 2])
def test_runs_of_the_compiled_loop_follow_the_reference(example, scale, integrator):
    reference = np.load(SHARED / f"ex{example}_implicit_ff_s{scale}.npz")
    run = compliant_run(example, float(scale), integrator=integrator)
    off = np.abs(run.theta[:, :2] - reference["q"][1:, :2]).max(axis=0)
    assert off.max() < NEAR[integrator][example]
    assert len(run.impacts) == 0


def tangential_columns(example, run, path):
    """Forces along n and t, from link to object and with n = R90 t, and stretches [steps, 4]; NaN for none.

    By the normals of where steps began, on the reference's path.
    """
    motion, columns = EXAMPLES[example], np.full((3, len(run.time), 4), np.nan)
    motion.detector.contacts(motion.state(0.0), 1e-6)
    keys, ends = motion.detector.key.tolist(), np.cumsum(run.n_contacts)
    for k, q in enumerate(path):
        found = motion.detector.contacts(motion.model.state(q), 5e-3)
        axes = dict(zip(motion.detector.key.tolist(), found.axes, strict=True))
        for row in range(ends[k] - run.n_contacts[k], ends[k]):
            n = -axes[key := int(run.contacts.key[row])][0]  # links are A
            force, t = -run.contacts.impulse[row] / 1e-3, np.array([n[1], -n[0], 0.0])
            columns[:, k, keys.index(key)] = force @ n, force @ t, -run.contacts.stretch[row] @ t
    return columns


@needs_reference
@pytest.mark.parametrize("scale", ["0.001", "0.0005"])
@pytest.mark.parametrize("example", [1, 2])
def test_all_that_the_reference_tells_of_implicit_steps_is_found_again(example, scale):
    """Coordinates, rates, forces and stretches of contacts; what is open is not recorded."""
    reference = np.load(SHARED / f"ex{example}_implicit_ff_s{scale}.npz")
    run = compliant_run(example, float(scale), integrator="semi_implicit_euler")
    assert np.abs(run.theta - reference["q"][1:]).max() < SAME
    assert np.abs(run.theta_dot - reference["qd"][1:]).max() < SAME
    normal, friction, stretch = tangential_columns(example, run, reference["q"][:-1])
    closed = ~np.isnan(normal)
    assert np.abs(reference["lam"][1:][~closed]).max(initial=0.0) < SAME_FORCE
    found = {"lam": (normal, SAME_FORCE), "lamT": (friction, SAME_FORCE), "dT": (stretch, SAME)}
    for name, (values, most) in found.items():
        assert np.abs(values - reference[name][1:])[closed].max() < most
