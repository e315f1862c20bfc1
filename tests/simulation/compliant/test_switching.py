"""Rigid or compliant, switched: the grasps of [S00], Painlevé's rod, and what switching must not do."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from grasp_runs import (
    EXAMPLES,
    SHARED,
    grasp_run,
    grasp_scene,
    normal_forces,
    reference,
)
from rich.console import Console

import mcpframe as mf
from mcpframe.commands.run_summary import summary
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.law import FORCE_N
from mcpframe.exceptions import OptionError
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.contact_marks import contact_marks
from mcpframe.view.plots import save_plots
from mcpframe.view.viewer import figures

SCENES = Path(__file__).parents[3] / "examples/scenes"
ROD = SCENES / "contact_models/painleve_rod.toml"
MILLI = 1e-3

needs_reference = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/compliant/reference")


@needs_reference
def test_runs_tell_when_the_lift_loses_and_regains_its_unique_answer():
    """Times and margins of an independent reproduction."""
    run = grasp_run(2, "rigid", diagnose=True)
    middle = run.time - 0.5 * MILLI  # where a step is judged
    lost = np.flatnonzero(run.unique < 0)
    assert middle[lost[0]] == pytest.approx(0.4355, abs=0.002)
    assert middle[lost[-1] + 1] == pytest.approx(0.6155, abs=0.002)
    for time, margin in ((0.2, 0.2747), (0.5, -0.1285)):
        assert np.interp(time, middle, run.margin) == pytest.approx(margin, abs=0.002)
    growing = (run.growth >= 0.0)[1:]
    assert growing.any()
    assert not growing[(middle[1:] < 0.43) | (middle[1:] > 0.62)].any()


@needs_reference
def test_runs_judge_as_the_diagnosis_of_a_state_does():
    run = grasp_run(2, "rigid", diagnose=True)
    for time in (0.1, 0.3, 0.5, 0.7):
        found = mf.diagnose(EXAMPLES[2].step(time), layer=mf.Layer.scaled(1e-3, 1.69))
        middle = run.time - 0.5 * MILLI
        assert np.interp(time, middle, run.margin) == pytest.approx(found.margin, abs=1e-3)
        assert np.interp(time, middle, run.growth) == pytest.approx(found.growth, rel=2e-2)


@needs_reference
@pytest.mark.parametrize("example", [1, 2])
def test_steps_of_rk4_are_judged_where_they_end(example):
    """As the diagnosis of that very state says; one in which a slip turns round is judged in its middle."""
    run, scene = grasp_run(example, "rigid", diagnose=True, integrator="rk4"), grasp_scene(example)
    detector, off = scene.detector(), []
    for k in range(40, 960, 10):
        state = scene.model.state(run.theta[k], run.theta_dot[k])
        step = mf.AccelerationStep.detected(state, detector, margin=1e-6, slip_speed=1e-9)
        off.append(abs(run.margin[k] - mf.diagnose(step).margin))
    assert np.sort(off)[-2] < 1e-9
    assert max(off) < 0.5 * MILLI * np.abs(np.diff(run.margin[2:-1])).max() / MILLI


@needs_reference
def test_margins_of_rk4_are_those_of_the_reference_half_a_step_late():
    """Torques are held for a step, which delays motion by half of one; another half where a slip turns."""
    run, margin = grasp_run(1, "rigid", diagnose=True, integrator="rk4"), reference(1, "rigid_ff")["P"]
    fastest = np.abs(np.diff(margin)).max() / MILLI
    assert np.abs(run.margin - margin)[2:].max() < MILLI * fastest


@needs_reference
def test_the_rotation_never_yields():
    run = grasp_run(1, "auto")
    assert run.switches == []
    assert (run.unique[1:] > 0).all()
    assert (run.contact_model[1:] == 0).all()
    assert np.nanmin(run.margin[2:]) == pytest.approx(0.587, abs=0.002)  # at first some do not slide yet


@needs_reference
@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
@pytest.mark.parametrize("scale", [1e-3, 5e-4])
def test_the_lift_yields_where_it_must_and_comes_back(scale, integrator):
    run = grasp_run(2, "auto", scale, integrator=integrator)
    there, back = run.switches  # and no others: it does not chatter
    assert (there.to, back.to) == ("compliant", "rigid")
    assert there.time == pytest.approx(0.4355, abs=0.002)
    assert there.margin <= 0.0
    assert there.force_jump < 1e-6
    assert 0.630 < back.time < 0.660
    assert back.force_jump < 0.1
    assert there.energy > back.energy > 0.0
    for switch, most in ((there, 0.02), (back, 0.1)):  # one step of the other model after the last
        k = round(switch.time / MILLI)
        assert np.abs(normal_forces(run, k + 1) - normal_forces(run, k)).max() < most
    moved = np.diff(run.theta[:, :3], axis=0) - 0.5 * MILLI * (run.theta_dot[1:, :3] + run.theta_dot[:-1, :3])
    assert np.abs(moved).max() < 1e-5  # nothing jumps


def moving(run, k):
    """Energy of motions along normals over that of the springs after step k, by dense matrices; all slide."""
    state, model = run.state(k), EXAMPLES[2].model
    contacts = EXAMPLES[2].detector.contacts(state, 0.02)
    rates = [model.state(state.theta, e) for e in np.eye(7)]
    J = np.array([contact_velocities(one, contacts)[:, FORCE_N] for one in rates]).T
    v = J @ state.theta_dot
    S = J @ np.linalg.solve(state.mass_matrix(), J.T)
    return 0.5 * v @ np.linalg.solve(S, v) / run.layer_energy[k]


@needs_reference
def test_a_layer_that_has_to_be_at_rest_comes_back_later():
    """In the lift the layer swings once before it follows the rigid forces."""
    layer, share, dwell = {"scale": 1e-3, "mass": 1.69}, 0.01, 3
    switching = {"moving": share, "dwell": dwell}
    run = mf.simulate(grasp_scene(2, contact_model="auto", layer=layer, switching=switching))
    back = round(run.switches[-1].time / MILLI)
    assert 660 < back < 760
    assert max(moving(run, k) for k in range(back - dwell, back)) < share
    assert 0.05 < moving(run, 650) < 0.25  # what is allowed unless said


def with_a_door(scene):
    """The scene with a door beside it that 500 N m press against its stop."""
    door = mf.Link("door", hinge=mf.Hinge("pin", (0, 0, 1)), lower=0.0, mass=5.0, inertia=np.eye(3))
    model = mf.Model([*scene.model.links, door], geometry=scene.model.geometry, gravity=scene.model.gravity)
    pushes = scene.controllers[0].function

    def tau(state, time):
        return np.append(pushes(state, time), -500.0)

    start = {"theta": np.append(scene.theta, 0.0), "theta_dot": np.zeros(8)}
    return replace(scene, model=model, controllers=[tau], **start)


@needs_reference
def test_torques_of_limits_are_no_forces_that_have_to_agree():
    """Nor do they make a layer grow: that of the lift is what it is without the door."""
    layer = {"scale": 1e-3, "mass": 1.69}
    alone, other = grasp_run(2, "auto"), with_a_door(grasp_scene(2, contact_model="auto", layer=layer))
    run = mf.simulate(other)
    assert [switch.time for switch in run.switches] == [switch.time for switch in alone.switches]
    for one, same in zip(run.switches, alone.switches, strict=True):
        assert one.force_jump == pytest.approx(same.force_jump, abs=1e-9)
        assert one.growth == pytest.approx(same.growth, rel=1e-9)


def swinging(**switching):
    """A ball on a soft layer, which it sinks into at once, beside a box on four corners that is pulled off.

    While the box stands, forces are not determined; then that of the ball is, but its layer still swings.
    """
    ball = mf.Link("ball", hinge=mf.Hinge("prismatic", (0, 0, 1)), pose=mf.Pose((0, 0, 0.1)), mass=1.0,
                   inertia=0.01 * np.eye(3), geometry=Geometry(Sphere(0.1)))  # fmt: skip
    box = mf.Link("box", pose=mf.Pose((1.0, 0, 0.1)), mass=1.0, inertia=0.01 * np.eye(3),
                  geometry=Geometry(Box((0.2, 0.2, 0.2))))  # fmt: skip
    model = mf.Model([ball, box], gravity=(0, 0, -9.81), geometry=(Geometry(Plane()),))
    pull = np.array([0, 0, 0, 30.0, 0, 0, 0])
    scene = mf.Scene(
        model, materials=mf.Material(0.5), controllers=[lambda state, time: (time > 0.05) * pull]
    )
    layer = {"stiffness": 1e3, "damping": 3.0}
    return mf.simulate(scene, contact_model="auto", layer=layer, switching=switching, duration=3.0)


def test_a_layer_that_swings_is_waited_for():
    """Its forces pass those of rigid contacts twice in every swing, fastest where they agree."""
    times = []
    for share in (1e9, 0.25, 0.01):
        run = swinging(moving=share)
        there, back = run.switches
        assert (there.time, there.to, back.to) == (0.0, "compliant", "rigid")
        k = round(back.time / MILLI)
        motion = 0.5 * run.theta_dot[k - 3 : k, 0] ** 2  # of 1 kg
        assert (motion <= share * run.layer_energy[k - 3 : k]).all()
        times.append(back.time)
    assert times[0] < 0.2 < times[1] < 1.0 < times[2]
    assert swinging().switches[-1].time == times[1]


@needs_reference
@pytest.mark.parametrize(("scale", "expected"), [(1e-3, (0.345, 0.307, 8.09)), (5e-4, (0.163, 0.151, 4.18))])
def test_the_layer_tends_to_the_rigid_model(scale, expected):
    """Largest differences of x, y and angle in mm and mrad, of an independent reproduction."""
    off = grasp_run(1, "compliant", scale).theta[:, :3] - grasp_run(1, "rigid").theta[:, :3]
    np.testing.assert_allclose(1e3 * np.abs(off).max(axis=0), expected, rtol=0.05)


@needs_reference
@pytest.mark.parametrize("scale", ["0.001", "0.0005"])
@pytest.mark.parametrize(("example", "most"), [(1, 0.01e-3), (2, 0.1e-3)])
def test_runs_pressed_by_their_first_step_follow_the_reference(example, most, scale):
    run = grasp_run(example, "compliant", float(scale))
    off = run.theta[:, :2] - reference(example, f"implicit_ff_s{scale}")["q"][:, :2]
    assert np.abs(off).max() < most


@needs_reference
def test_runs_go_on_to_the_same_bits_from_wherever_they_were_left():
    whole, scene = (
        grasp_run(2, "auto"),
        grasp_scene(2, contact_model="auto", layer={"scale": 1e-3, "mass": 1.69}),
    )
    for stop in (436, 500, 648, 652):  # about to yield, yielding, about to be rigid, with references
        first, state = Engine(scene), scene.initial_state()
        first.advance(state, 0, stop)
        kept = first.checkpoint()
        again = Engine(scene)
        again.restore(kept)
        block = again.advance(state, stop, 60)
        assert np.array_equal(block.theta, whole.theta[stop + 1 : stop + 61])
        assert np.array_equal(block.contact_model, whole.contact_model[stop + 1 : stop + 61])
        np.testing.assert_array_equal(block.force_jump, whole.force_jump[stop + 1 : stop + 61])


def test_painleves_rod_takes_the_known_first_step_and_is_told_to_have_no_answer():
    """p_n = (1.2 v_0 + 3.4 g dt)/4."""
    run = mf.simulate(mf.load_scene(ROD), contact_model="rigid", diagnose=True, duration=2e-3)
    assert run.contacts_at(1).impulse[0, 2] == pytest.approx(0.3083385, abs=1e-6)
    assert run.unique[1] < 0
    assert run.margin[1] < 0.0 < run.growth[1]
    scene = mf.load_scene(ROD)
    found = mf.diagnose(mf.AccelerationStep.detected(scene.initial_state(), scene.detector()))
    assert len(found.solutions) in (0, 2)
    assert "no or several" in str(found)


def test_painleves_rod_yields_and_its_motion_converges_as_steps_become_shorter():
    scene, ends, forces = mf.load_scene(ROD), [], []
    for dt in (4e-4, 2e-4, 1e-4):
        run = mf.simulate(scene, dt=dt, duration=0.04)
        assert [(switch.time, switch.to) for switch in run.switches] == [(0.0, "compliant")]
        assert len(run.impacts) == 0
        ends.append(run.theta_dot[-1])
        forces.append(np.linalg.norm(run.contacts.impulse, axis=1).max() / dt)
    assert np.abs(ends[2] - ends[1]).max() < 0.75 * np.abs(ends[1] - ends[0]).max()
    assert abs(forces[2] - forces[1]) < 0.75 * abs(forces[1] - forces[0])
    assert forces[-1] > 5.0 * 9.81  # it does jam


def grasp_on_palm(mu, **asked):
    """The grasp in space with a friction coefficient of the fingers; its run and its scene."""
    scene = mf.load_scene(SCENES / "contact_models/grasp_on_palm.toml")
    fingers = {names: mf.Material(mu) for names in scene.materials if "palm" not in names}
    scene = replace(scene, materials={**scene.materials, **fingers})
    return mf.simulate(scene, **asked), scene


@pytest.mark.parametrize(("mu", "there", "back"), [(0.5, 0.470, 0.996), (0.9, 0.296, 0.501)])
def test_the_grasp_in_space_yields_when_it_has_come_to_rest(mu, there, back):
    """More rows of what does not slip any more than its ten degrees of freedom."""
    run, scene = grasp_on_palm(mu)
    assert [switch.to for switch in run.switches[:2]] == ["compliant", "rigid"]
    assert [switch.time for switch in run.switches[:2]] == pytest.approx([there, back], abs=0.01)
    k = round(run.switches[0].time / MILLI)
    assert run.unique[k + 1] == -6
    assert run.switches[0].force_jump < 1e-6
    assert (run.unique[(run.n_contacts > 0) & (np.arange(len(run)) <= k)] > 0).all()
    step = mf.AccelerationStep.detected(run.state(k), scene.detector(), margin=1e-6, slip_speed=1e-6)
    assert not mf.diagnose(step).determinate
    assert np.abs(normal_forces(run, k + 1) - normal_forces(run, k)).max() < 0.1


@pytest.mark.parametrize(
    ("friction", "solver"),
    [("polygon", "lemke"), pytest.param("polygon", "path", marks=pytest.mark.slow), ("cone", "cone")],
)
def test_a_grasp_at_rest_is_judged_as_the_diagnosis_of_its_states_whatever_its_solver_chooses(
    friction, solver
):
    """Of forces that are not determined a solver returns some with friction at its limit: no slip."""
    asked = {"contact_model": "rigid", "diagnose": True, "friction": friction, "solver": solver}
    run, scene = grasp_on_palm(0.5, duration=0.65, **asked)
    assert run.residual[run.n_contacts > 0].max() < 1e-9
    detector = scene.detector()
    for k in (500, 530, 562, 563, 600, 640):
        step = mf.AccelerationStep.detected(run.state(k), detector, margin=1e-6, slip_speed=1e-7)
        assert set(step.modes) == {"sticking"}
        assert not mf.diagnose(step).determinate
    assert (run.unique[500:650] == -6).all()


def test_what_is_held_in_many_ways_yields_at_once_and_carries_equal_loads():
    """Four corners of a box: rigid forces are not determined; nothing sinks where it begins to yield."""
    scene = mf.Scene(mf.systems.box(), materials=mf.Material(0.5))
    run = mf.simulate(scene, contact_model="auto", duration=0.5)
    assert [(switch.time, switch.to) for switch in run.switches] == [(0.0, "compliant")]
    table = run.contacts_at(len(run) - 1)
    weight = 9.81 * sum(link.mass for link in scene.model.links) / 4.0
    np.testing.assert_allclose(table.impulse[:, 2] / MILLI, weight, rtol=1e-6)
    pressed = mf.simulate(scene, contact_model="compliant", layer={"pressed": True}, duration=0.5)
    assert np.abs(np.diff(pressed.theta[:, 2])).max() < 2e-6


def test_a_ball_that_rolls_stays_rigid():
    scene = mf.Scene(mf.systems.sphere(), theta_dot=[1, 0, 0, 0, 0, 0], materials=mf.Material(0.5))
    run = mf.simulate(scene, contact_model="auto", duration=0.5)
    assert run.switches == []
    assert (run.unique[run.n_contacts > 0][1:] > 0).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"contact_model": "auto", "switching": {"rigid_margin": 0.1, "yield_margin": 0.2}}, "yield_margin"),
        ({"contact_model": "auto", "switching": {"dwell": 0}}, "switching: dwell = 0"),
        ({"contact_model": "auto", "switching": {"slip_sped": 1.0}}, "did you mean 'slip_speed'"),
        ({"contact_model": "soft"}, "contact_model = 'soft'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(settings, words):
    with pytest.raises(OptionError, match=words):
        mf.simulate(mf.Scene(mf.systems.box(), materials=mf.Material(0.5)), duration=0.01, **settings)


def test_summary_plots_and_viewer_tell_of_switches(tmp_path):
    scene = mf.load_scene(ROD)
    run = mf.simulate(scene, duration=0.01, out=tmp_path / "run")
    table = Console(width=200, file=StringIO())
    table.print(summary(run, scene))
    assert "compliant from 0 s on" in table.file.getvalue()
    assert "rigid forces unique in 0 of 10 steps" in table.file.getvalue()
    assert (tmp_path / "contact_model.png") in save_plots(run, tmp_path)
    assert "compliant contacts from here on: margin -1" in figures(run, 1, contact_marks(run, 1, 1e-3))
    again = Trajectory.load(tmp_path / "run")
    assert again.switches == run.switches
    np.testing.assert_array_equal(again.margin, run.margin)


def test_feet_that_stick_are_judged_as_the_diagnosis_of_a_state_does():
    """Twelve rows: tangents are equations, and a bound tells that a layer settles.

    In short steps, as motors act implicitly, which adds to inertias.
    """
    scene = mf.load_scene(SCENES / "quadruped.toml")
    run = mf.simulate(scene, diagnose=True, dt=1e-6, duration=1e-5)
    state = run.state(len(run) - 1)
    found = mf.diagnose(mf.AccelerationStep.detected(state, scene.detector(), margin=1e-5, slip_speed=1e-3))
    assert found.step.modes == ["sticking"] * 4
    assert run.margin[-1] == pytest.approx(found.margin, abs=1e-3)
    assert run.growth[-1] == -np.inf
    assert found.is_rigid
    assert run.unique[-1] > 0
