"""Runs of whole scenes, from Python and from the command line."""

import dataclasses
import io
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.commands.run_summary import summary
from mcpframe.scene.settings import Output

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.toml"))
STEPS = 30
SETTLED = {"soft_table": 2e-3}
"""Metres by which contacts that yield may do so: the leg that carries most, 74.5 N, on 5e4 N/m, settling."""


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_every_example_scene_runs_and_every_step_is_certified(path):
    scene = mf.load_scene(path)
    run = mf.simulate(scene, duration=STEPS * scene.stepping.dt)
    assert run.time[-1] == pytest.approx(scene.time + STEPS * scene.stepping.dt)
    assert len(run.failed) == 0
    assert run.penetration.max() <= SETTLED.get(path.stem, scene.stepping.penetration_tolerance)
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
    assert re.search(r"simulated +0\.02 s, 10 steps", printed)
    assert re.search(r"not solved +0 steps", printed)
    assert re.search(r"per step: build \d+%, solve \d+%, recover \d+%, other \d+%", printed)
    assert f"mcpframe view {out}" in printed
    assert {"trajectory.h5", "energy.png"} <= {path.name for path in out.iterdir()}


def test_the_folder_is_called_like_the_scene_unless_it_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--no-plots", "--set", "duration=0.004"]
    assert main(["simulate", str(SCENES[0].parent / "box_stack.toml"), *words]) == 0
    assert (tmp_path / "box_stack" / "trajectory.h5").is_file()
    assert "box_stack: trajectory.h5" in capsys.readouterr().out


HOPELESS = 1e-300
"""A residual that no solve reaches."""
ROUNDING = 1e-12
"""Steps whose solve fails are taken by other code than the rest, with other rounding."""


def test_a_run_stops_at_a_failed_solve_and_keeps_the_problem_and_the_steps_before(tmp_path):
    start = mf.Pose.from_rpy((0, 0, 0.22), (0.3, 0.4, 0.2))  # so that it falls before there is a problem
    stepping = mf.Stepping(duration=0.3, solver="lemke")
    scene = mf.Scene(mf.systems.box(), theta={"box": start}, stepping=stepping)
    with pytest.raises(mf.NotSolvedError, match=r"box: step \d+, at t = [\d.]+ s, was not solved") as caught:
        mf.simulate(scene, out=tmp_path, tol=HOPELESS)
    error = caught.value
    assert error.problem_file == tmp_path / "failed_problem.npz"
    assert f"mcpframe solve {error.problem_file} --solver lemke" in str(error)
    record = mf.load_record(error.problem_file)
    assert mf.solve(record.problem, "lemke", tol=HOPELESS).residual == error.solution.residual
    taken = record.provenance["step"] - 1
    assert len(error.trajectory) == len(mf.Trajectory.load(tmp_path)) == taken + 1 > 10
    usual = mf.simulate(scene).theta[: taken + 1]
    np.testing.assert_allclose(error.trajectory.theta, usual, atol=ROUNDING)
    with pytest.raises(mf.NotSolvedError, match=f"step {taken + 1}"):  # resumed, it fails where it did
        mf.simulate(scene, out=tmp_path, tol=HOPELESS)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_command_that_stops_at_a_failed_solve_says_so(tmp_path, capsys):
    scene = SCENES[0].parent / "box_stack.toml"
    words = ["simulate", str(scene), "--out", str(tmp_path), "--no-plots", "--set", f"tol={HOPELESS}"]
    assert main(words) == 1
    printed = capsys.readouterr()
    assert "box_stack: step 1, at t = 0 s, was not solved" in " ".join(printed.err.split())
    assert (tmp_path / "failed_problem.npz").is_file()
    assert "simulated" in printed.out


def test_an_impact_that_adds_energy_is_warned_of(tmp_path):
    run = pendulum(duration=2.5, dt=2e-3)
    assert "WARNING" not in drawn(summary(run))
    lower = dataclasses.replace(run.impacts, energy_before=0.5 * run.impacts.energy_after)
    gained = mf.Trajectory(run.header, dataclasses.replace(run.steps, impacts=lower))
    assert f"WARNING: it grew in {len(lower)} of them" in drawn(summary(gained))


def drawn(table):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


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


@pytest.mark.parametrize("exists", [False, True])
def test_a_run_that_fails_before_its_first_step_leaves_nothing(tmp_path, exists):
    """A mesh is read when the run begins: one that is nowhere fails with the recorder open."""
    out = tmp_path / "runs" / "first"
    if exists:
        out.mkdir(parents=True)
    lost = mf.shapes.Geometry(mf.shapes.Mesh("nowhere.stl"))
    part = mf.Link("part", mass=1.0, inertia=np.eye(3), hinge=mf.Hinge("free"), geometry=(lost,))
    model = mf.Model([part], geometry=[mf.shapes.Geometry(mf.shapes.Plane())])
    with pytest.raises(mf.ModelError, match=r"nowhere\.stl: there is no such file"):
        mf.simulate(mf.Scene(model), duration=0.01, out=out)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert out.exists() == exists
