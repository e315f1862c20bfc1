"""A run that was stopped, however that came about, goes on to the same bits; other runs are left alone."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import FileFormatError, OptionError
from mcpframe.cli import main
from mcpframe.scene.fingerprint import digest, fingerprints
from mcpframe.scene.settings import Output
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.recording.resume import ResumeWarning, header_of
from mcpframe.simulation.recording.steps import StepBlock

SUPPORT = Path(__file__).parents[2] / "support"
SCENES = sorted((Path(__file__).parents[3] / "examples" / "scenes").glob("*.toml"))
STEPS, BLOCK = 12, 120
WALL_TIMES = {"step_seconds", "build_seconds", "solve_seconds", "recover_seconds"}
"""Columns that no two runs share."""

KILLED = '''
"""Run a scene undisturbed; then again and again, each time killed after a while, until it is finished."""
import os, random, signal, sys, time
from functools import partial
from types import SimpleNamespace

sys.path[:0] = sys.argv[2].split(os.pathsep)
import mcpframe as mf
from mcpframe.simulation import simulate
from mcpframe.simulation.recording import resume
from mcpframe.simulation.recording.recorder import Recorder
from test_resume import tumbling_box

often = {"flush_seconds": 0.01}
resume.Recorder = SimpleNamespace(
    create=partial(Recorder.create, **often), resume=partial(Recorder.resume, **often)
)
simulate.BLOCK_SECONDS = 0.005
begin = time.perf_counter()
harvest = len(sys.argv) > 3
scene = tumbling_box().with_stepping(duration=0.3 if harvest else 3.0)
for _ in range(2):  # the first time, code is loaded
    begin = time.perf_counter()
    simulate.simulate(scene, out=sys.argv[1] + "/whole", harvest=harvest, overwrite=True)
seconds, pause = time.perf_counter() - begin, random.Random(3)
for attempt in range(100):
    child = os.fork()
    if not child:
        try:
            simulate.simulate(scene, out=sys.argv[1] + "/killed", harvest=harvest)
        except mf.FileFormatError as error:  # killed when all was done
            os._exit("finished" not in str(error))
        os._exit(0)
    time.sleep(pause.uniform(0.1, 0.4) * (1.0 + 0.2 * attempt) * seconds)
    os.kill(child, signal.SIGKILL)
    if os.waitpid(child, 0)[1] == 0:
        break
    print("killed", flush=True)
'''


def tumbling_box(**stepping):
    """A box that falls on its edge, bounces, slides and comes to rest, every third step kept."""
    return mf.Scene(
        mf.systems.box(),
        theta={"box": mf.Pose.from_rpy((0, 0, 0.22), (0.3, 0.4, 0.2))},
        theta_dot=[1.0, 0.0, 0.0, 0.0, 2.0, 1.0],
        materials=mf.Material(mu=0.4, restitution=0.5),
        stepping=mf.Stepping(duration=0.4, **stepping),
        output=Output(every=3),
        name="tumbling box",
    )


def assert_same_run(found, expected):
    """Claim that two trajectories agree bit by bit, wall times apart."""
    tables = ("steps", "contacts", "impacts")
    for one, other in ((getattr(found, name), getattr(expected, name)) for name in tables):
        for (name, a), (_, b) in zip(one.items(), other.items(), strict=True):
            if name not in WALL_TIMES:
                assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name


def problems_of(folder):
    """Names, origins and bits of the problems that a run has harvested."""
    with mf.Corpus(folder / "problems.h5") as corpus:
        return [(record.name, dict(record.provenance), bits_of(record.problem)) for record in corpus]


def bits_of(problem):
    return [np.asarray(array).tobytes() for array in (problem.M, problem.q, problem.lower, problem.upper)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a POSIX system")
@pytest.mark.parametrize("harvest", [[], ["harvest"]], ids=["alone", "harvested"])
def test_a_run_that_is_killed_again_and_again_ends_in_the_bits_of_one_that_is_not(tmp_path, harvest):
    command = [
        sys.executable,
        "-c",
        KILLED,
        str(tmp_path),
        os.pathsep.join((str(SUPPORT), str(Path(__file__).parent))),
        *harvest,
    ]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.count("killed") >= 3
    found, whole = (mf.Trajectory.load(tmp_path / name) for name in ("killed", "whole"))
    assert_same_run(found, whole)
    assert len(whole.impacts) > 1
    if harvest:
        killed, undisturbed = (problems_of(tmp_path / name) for name in ("killed", "whole"))
        assert len(undisturbed) > 30
        assert killed == undisturbed


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_every_example_goes_on_to_the_same_bits_when_it_is_extended(path, tmp_path):
    scene = mf.load_scene(path)
    half, whole = (n * scene.output.every * scene.stepping.dt for n in (STEPS, 2 * STEPS))
    mf.simulate(scene, out=tmp_path, duration=half)
    told = []
    found = mf.simulate(scene, out=tmp_path, duration=whole, tell=told.append)
    assert told == [f"resuming at t = {scene.time + half:g} s"]
    assert_same_run(found, mf.simulate(scene, duration=whole))
    assert found.header.options["duration"] == whole


def slow_engine(scene):
    return Engine(scene.with_stepping(formulation="mc"))


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("make", [Engine, slow_engine])
def test_the_cutting_into_blocks_changes_no_bit(make, every):
    scene = replace(tumbling_box(), output=Output(every=every))

    def run(size):
        state, engine = scene.initial_state(), make(scene)
        blocks = [engine.advance(state, k, min(size, BLOCK - k)) for k in range(0, BLOCK, size)]
        return mf.Trajectory(header_of(scene), StepBlock.concatenate(blocks))

    whole = run(BLOCK)
    assert len(whole.impacts) > 0
    for size in (every, 3 * every, 20 * every):
        assert_same_run(run(size), whole)


@pytest.mark.parametrize("harvest", [False, True])
def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, harvest):
    def interrupted(scene, observe):
        engine = Engine(scene, observe)
        advance = engine.advance

        def until_interrupted(state, first, count):
            if first > 50:
                advance(state, first, count)  # what this block has brought is lost
                raise KeyboardInterrupt
            return advance(state, first, count)

        engine.advance = until_interrupted
        return engine

    monkeypatch.setattr("mcpframe.simulation.simulate.Engine", interrupted)
    monkeypatch.setattr("mcpframe.simulation.simulate.BLOCK_STEPS", 30)
    asked = {"duration": 0.2, "harvest": harvest}
    with pytest.raises(KeyboardInterrupt):
        mf.simulate(tumbling_box(), out=tmp_path / "run", **asked)
    assert 50 / 3 < len(mf.Trajectory.load(tmp_path / "run")) < 50
    monkeypatch.undo()
    found = mf.simulate(tumbling_box(), out=tmp_path / "run", **asked)
    expected = mf.simulate(tumbling_box(), out=tmp_path / "whole", **asked)
    assert len(expected.impacts) > 0
    assert_same_run(found, expected)
    assert not harvest or problems_of(tmp_path / "run") == problems_of(tmp_path / "whole")


def rebuilt(scene, **changes):
    parts = {
        "theta": scene.theta,
        "theta_dot": scene.theta_dot,
        "materials": scene.materials,
        "stepping": scene.stepping,
        "output": scene.output,
    }
    return mf.Scene(scene.model, **{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"materials": mf.Material(mu=0.3, restitution=0.5)}, "other materials"),
        ({"theta_dot": np.zeros(6)}, "other initial state"),
        ({"controllers": [lambda state, time: np.zeros(6)]}, "other controllers"),
        ({"output": Output(every=2)}, "every is 3 there, 2 here"),
        ({"ignore": ["box"]}, "other collision rules"),
        ({"stepping": mf.Stepping(duration=0.4, dt=2e-3)}, "dt is 0.001 there, 0.002 here"),
        ({"stepping": mf.Stepping(duration=0.4, solver="lemke")}, r"\(solver is auto there, lemke here\)"),
        (
            {"stepping": mf.Stepping(duration=0.4, formulation={"name": "os", "friction_directions": 6})},
            "formulation.friction_directions is 4 there, 6 here",
        ),
        ({"stepping": mf.Stepping(duration=0.02)}, r"up to 0.03 s, beyond the duration 0.02 s"),
        ({"stepping": mf.Stepping(duration=0.03)}, "holds this run, finished"),
    ],
)
def test_another_run_is_refused_with_what_differs_and_left_as_it_is(tmp_path, changes, message):
    mf.simulate(tumbling_box(), out=tmp_path, duration=0.03)
    before = (tmp_path / "trajectory.h5").read_bytes()
    with pytest.raises(FileFormatError, match=f"{message}.*overwrite"):
        mf.simulate(rebuilt(tumbling_box(), **changes), out=tmp_path)
    assert (tmp_path / "trajectory.h5").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["trajectory.h5"]


def test_overwriting_starts_anew_and_leaves_nothing_of_the_old_run(tmp_path):
    mf.simulate(tumbling_box(), out=tmp_path, duration=0.3, harvest=True)
    again = mf.simulate(tumbling_box(), out=tmp_path, duration=0.03, dt=5e-4, overwrite=True)
    assert again.time[-1] == pytest.approx(0.03)
    assert [path.name for path in tmp_path.iterdir()] == ["trajectory.h5"]


def test_other_files_and_files_in_the_place_of_folders_are_refused(tmp_path):
    (tmp_path / "trajectory.h5").write_bytes(b"something else")
    with pytest.raises(FileFormatError, match="not a complete trajectory"):
        mf.simulate(tumbling_box(), out=tmp_path, duration=0.01)
    with pytest.raises(OptionError, match="is a file; give a folder"):
        mf.simulate(tumbling_box(), out=tmp_path / "trajectory.h5", duration=0.01)
    assert (tmp_path / "trajectory.h5").read_bytes() == b"something else"


def test_a_run_of_other_versions_goes_on_with_a_warning(tmp_path, monkeypatch):
    mf.simulate(tumbling_box(), out=tmp_path, duration=0.03)
    monkeypatch.setattr("mcpframe.simulation.recording.header.version", lambda name: "9.9")
    with pytest.warns(ResumeWarning, match=r"numpy .* is 9\.9 now"):
        mf.simulate(tumbling_box(), out=tmp_path, duration=0.06)


def test_a_trajectory_that_was_only_saved_has_nothing_to_go_on_from(tmp_path):
    mf.simulate(tumbling_box(), duration=0.03, out=tmp_path / "run")
    mf.Trajectory.load(tmp_path / "run").save(tmp_path / "trajectory.h5")
    with pytest.raises(FileFormatError, match="has no checkpoint"):
        mf.simulate(tumbling_box(), out=tmp_path)


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_fingerprints_are_of_what_a_scene_says_not_of_how_its_file_looks(path, tmp_path):
    scene = mf.load_scene(path)
    text = "# another comment\n" + path.read_text()
    (tmp_path / path.name).write_text(text)
    for other in [*path.parent.glob("*.urdf"), *path.parent.glob("*.csv")]:
        (tmp_path / other.name).write_bytes(other.read_bytes())
    assert fingerprints(mf.load_scene(tmp_path / path.name)) == fingerprints(scene)


def test_functions_are_told_apart_by_how_they_are_written_and_by_what_they_hold():
    def gain(k):
        return lambda state, time: k * time

    assert digest(gain(1.0)) == digest(gain(1.0))
    assert digest(gain(1.0)) != digest(gain(2.0))
    assert digest(gain(1.0)) != digest(lambda state, time: 1.0 * time)
    assert digest({1.5: "a"}) != digest({1.5: "b"})
    assert digest(np.zeros(3)) != digest(np.zeros((3, 1)))


def test_the_command_resumes_refuses_and_overwrites(tmp_path, capsys):
    words = ["simulate", str(SCENES[0].parent / "box_stack.toml"), "--out", str(tmp_path), "--no-plots"]
    assert main([*words, "--set", "duration=0.004"]) == 0
    assert main([*words, "--set", "duration=0.004"]) == 2
    assert "holds this run, finished" in capsys.readouterr().err
    assert main([*words, "--set", "duration=0.008"]) == 0
    printed = capsys.readouterr()
    assert "resuming at t = 0.004 s" in printed.err
    assert "0.008 s" in printed.out
    assert main([*words, "--set", "duration=0.004", "--overwrite"]) == 0
    assert len(mf.Trajectory.load(tmp_path)) == 3
