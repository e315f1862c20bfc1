"""Runs of whole scenes, from Python and from the command line."""

from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.simulation.settings import Output

SCENES = sorted((Path(__file__).parents[1] / "examples" / "scenes").glob("*.toml"))
STEPS = 30


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_every_example_scene_runs_and_every_step_is_certified(path):
    scene = mf.load_scene(path)
    run = mf.simulate(scene, duration=STEPS * scene.stepping.dt)
    assert run.time[-1] == pytest.approx(scene.time + STEPS * scene.stepping.dt)
    assert len(run.failed) == 0
    assert run.penetration.max() <= scene.stepping.penetration_tolerance
    assert np.isfinite(run.theta).all()


def pendulum(**stepping):
    return mf.simulate(mf.load_scene(SCENES[0].parent / "pendulum_j14.toml"), **stepping)


def test_a_pendulum_swings_into_the_floor_and_no_impact_adds_energy():
    run = pendulum(duration=2.5, dt=2e-3)
    assert len(run.impacts) >= 1
    assert (run.impacts.energy_after <= run.impacts.energy_before).all()
    assert run.penetration.max() <= 1e-6


def test_two_formulations_drive_the_pendulum_through_its_first_impacts_alike():
    ours, theirs = (pendulum(duration=2.5, dt=2e-3, formulation=name) for name in ("os", "mc"))
    np.testing.assert_allclose(ours.theta, theirs.theta, atol=1e-6)


@pytest.mark.parametrize("every", [1, 7])
def test_impulses_of_a_body_at_rest_add_up_to_its_weight_however_few_steps_are_kept(every):
    model = mf.systems.box()
    scene = mf.Scene(model, stepping=mf.Stepping(duration=0.1), output=Output(every=every))
    run = mf.simulate(scene)
    weight = model.links[0].mass * -model.gravity[2]
    np.testing.assert_allclose(run.contacts.impulse.sum(axis=0), [0, 0, weight * 0.1], atol=1e-9)
    assert len(run) == 1 + -(-100 // every)


def test_a_run_on_disk_is_the_run_in_memory(tmp_path):
    kept, memory = pendulum(duration=0.05, out=tmp_path / "run"), pendulum(duration=0.05)
    np.testing.assert_array_equal(kept.theta, memory.theta)
    np.testing.assert_array_equal(mf.Trajectory.load(tmp_path / "run").theta, memory.theta)


def test_the_command_writes_a_trajectory_and_plots(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    scene, out = SCENES[0].parent / "box_stack.toml", tmp_path / "run"
    assert main(["simulate", str(scene), "--out", str(out), "--set", "duration=0.02"]) == 0
    printed = capsys.readouterr().out
    assert "simulated" in printed
    assert "0 steps without a certified solution" in printed
    assert {"trajectory.h5", "energy.png"} <= {path.name for path in out.iterdir()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "durations=1"], "durations"),
        (["--set", "solver=lemkee"], "lemke"),
        (["--set", "dt=-1"], "dt"),
    ],
)
def test_a_bad_setting_is_named_and_nothing_is_written(tmp_path, capsys, words, message):
    scene = SCENES[0].parent / "box_stack.toml"
    assert main(["simulate", str(scene), "--out", str(tmp_path / "run"), *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_a_run_is_refused(tmp_path, capsys):
    words = ["simulate", str(SCENES[0].parent / "box_stack.toml"), "--out", str(tmp_path), "--no-plots"]
    words += ["--set", "duration=0.004"]
    assert main(words) == 0
    assert main(words) == 2
    assert "trajectory.h5" in capsys.readouterr().err
