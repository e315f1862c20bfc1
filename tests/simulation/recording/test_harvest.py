"""A harvest has every problem that a run has solved, once, with where it came from."""

from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import FileFormatError, OptionError
from mcpframe.cli import main
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.recording.harvest import Harvest

SCENES = Path(__file__).parents[3] / "examples" / "scenes"

SAME = 1e-9
"""Steps in Python and in compiled code round differently, and impacts amplify that."""


def bouncing_ball(**stepping):
    return mf.Scene(
        mf.systems.sphere(),
        theta={"sphere": mf.Pose((0, 0, 0.12))},
        materials=mf.Material(mu=0.3, restitution=0.5),
        stepping=mf.Stepping(duration=0.2, **stepping),
        name="ball",
    )


def bits_of(problem):
    return [np.asarray(array).tobytes() for array in (problem.M, problem.q, problem.lower, problem.upper)]


def test_the_corpus_holds_what_the_engine_has_solved_in_its_order(tmp_path):
    scene, seen = bouncing_ball(), []
    engine = Engine(scene, lambda told: seen.append((told, bits_of(told.problem))))
    engine.advance(scene.initial_state(), 0, 200)
    mf.simulate(scene, out=tmp_path, harvest=True)
    with mf.Corpus(tmp_path / "problems.h5") as corpus:
        assert len(corpus) == len(seen) > 20
        assert [bits_of(record.problem) for record in corpus] == [bits for _, bits in seen]
        assert [record.provenance["kind"] for record in corpus] == [told.kind for told, _ in seen]
        assert [record.provenance["time"] for record in corpus] == [told.time for told, _ in seen]


def test_every_problem_tells_where_it_came_from(tmp_path):
    run = mf.simulate(bouncing_ball(), out=tmp_path, harvest=True)
    with mf.Corpus(tmp_path / "problems.h5") as corpus:
        records = list(corpus)
    impacts = [record for record in records if record.provenance["kind"] == "compression"]
    assert [record.provenance["time"] for record in impacts] == run.impacts.time.tolist()
    for record in records:
        origin = record.provenance
        assert {"scene", "time", "step", "kind", "formulation", "dt", "n_contacts"} <= origin.keys()
        assert (origin["scene"], origin["formulation"], origin["n_contacts"]) == ("ball", "os", 1)
        assert (origin["step"] - 1) * 1e-3 <= origin["time"] < origin["step"] * 1e-3
        assert origin["dt"] <= 1e-3
        assert record.labels == (origin["kind"],)
        assert mf.solve(record.problem, "lemke").ok


def test_a_harvest_changes_nothing_of_the_run(tmp_path):
    harvested, alone = mf.simulate(bouncing_ball(), out=tmp_path, harvest=True), mf.simulate(bouncing_ball())
    np.testing.assert_allclose(harvested.theta, alone.theta, atol=SAME)
    assert len(harvested.impacts) == len(alone.impacts)


def test_a_run_in_memory_can_be_harvested_into_any_file(tmp_path):
    mf.simulate(bouncing_ball(), harvest=tmp_path / "mine.h5")
    with mf.Corpus(tmp_path / "mine.h5") as corpus:
        n_problems, first = len(corpus), bits_of(corpus[0].problem)
    with pytest.raises(FileFormatError, match=r"mine\.h5: exists already"):
        mf.simulate(bouncing_ball(), harvest=tmp_path / "mine.h5")
    mf.simulate(bouncing_ball(), harvest=tmp_path / "mine.h5", overwrite=True)
    with mf.Corpus(tmp_path / "mine.h5") as corpus:
        assert (len(corpus), bits_of(corpus[0].problem)) == (n_problems, first)
    with pytest.raises(OptionError, match="harvest=True: give out too"):
        mf.simulate(bouncing_ball(), harvest=True)


def test_a_run_whose_corpus_is_gone_is_not_resumed(tmp_path):
    mf.simulate(bouncing_ball(), out=tmp_path, duration=0.1, harvest=True)
    (tmp_path / "problems.h5").unlink()
    with pytest.raises(FileFormatError, match=r"problems\.h5: holds 0 problems, the run to go on with had"):
        mf.simulate(bouncing_ball(), out=tmp_path, harvest=True)


@pytest.mark.parametrize("dt", [1e-3, 1 / 3, 0.1])
def test_a_time_belongs_to_the_step_that_began_last(dt):
    harvest = Harvest(bouncing_ball(dt=dt), None)
    for k in range(0, 3000, 7):
        begin, end = k * dt, (k + 1) * dt
        assert harvest.step_at(begin) == k + 1
        assert harvest.step_at(np.nextafter(end, 0.0)) == k + 1
        assert harvest.step_at(0.5 * (begin + end)) == k + 1


def test_the_command_harvests_and_its_corpus_can_be_solved(tmp_path, capsys):
    words = ["--out", str(tmp_path), "--no-plots", "--harvest", "--set", "duration=0.006"]
    assert main(["simulate", str(SCENES / "box_stack.toml"), *words]) == 0
    assert f"mcpframe solve {tmp_path / 'problems.h5'}" in capsys.readouterr().out
    assert main(["solve", str(tmp_path / "problems.h5")]) == 0
    assert "3 of 3 certified" in capsys.readouterr().out
