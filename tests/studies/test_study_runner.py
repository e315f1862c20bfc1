"""Studies run: every solve a row, whatever the solver does; nothing is done twice; nothing is mixed."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from in_this_process import InThisProcess

import mcpframe as mf
from mcpframe.exceptions import OptionError
from mcpframe.studies.running.executors.local import Local
from mcpframe.studies.running.guard import Guard
from mcpframe.studies.running.runner import run_study
from mcpframe.studies.running.task import Context
from mcpframe.studies.study.row import CRASHED
from mcpframe.studies.study.store import FILE_NAME, Store
from mcpframe.studies.study.study_file import parse_study
from mcpframe.studies.study.units import AS_GIVEN, Job, Made, Unit

PLUGINS = Path(__file__).parents[1] / "support" / "study_plugins.py"
TIME_LIMIT = 0.5

SMALL = f"""
name = "small"
tol = 1e-8
repeats = 2
starts = ["cold", "warm"]
imports = ['{PLUGINS}']
formulations = ["os", "mc"]
solvers = ["lemke", {{ name = "pgs", label = "pgs, short", max_sweeps = 3, polish = false }}]

[[problems]]
system = "pendulum"
parameters = {{ links = [3, 6] }}
states = 2
"""

MISBEHAVING = f"""
name = "misbehaving"
time_limit = {TIME_LIMIT}
warm_limit = 1.0
labels = false
imports = ['{PLUGINS}']
solvers = ["sleeper", "busy", "aborter", "leaver", "raiser", "liar", "never_warm", "enum"]

[[problems]]
generator = "full"
sizes = 3
"""

ONE = 'solvers = ["lemke"]\nlabels = false\n[[problems]]\ngenerator = "full"\nsizes = 3\n'


@pytest.fixture(autouse=True)
def _same_code(monkeypatch, registries):
    """Hold the commit still while files around are edited, and forget foreign plugins afterwards."""
    monkeypatch.setenv("MCPFRAME_COMMIT", "of the test")
    yield
    sys.modules.pop(f"mcpframe_study_{PLUGINS.stem}", None)


def run(text, folder, **options):
    return run_study(parse_study(text), out=folder, **{"workers": 1, **options})


def row_of(results, *key):
    return next(row for row in results.rows if row.key == key)


def digest(z):
    return hashlib.sha256(z.tobytes()).hexdigest()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    os.environ["MCPFRAME_COMMIT"] = "of the test"
    folder = tmp_path_factory.mktemp("small")
    return run(SMALL, folder)


def test_every_combination_is_one_row(small):
    keys = {row.key for row in small.rows}
    assert len(keys) == len(small.rows) == 2 * 2 * 2 * 2 * 2 * 2
    assert {row.case for row in small.rows} == {
        f"pendulum/links={links}/state=000{state}" for links in (3, 6) for state in (0, 1)
    }
    assert {row.solver for row in small.rows} == {"lemke", "pgs, short"}
    assert {row.formulation for row in small.rows} == {"os", "mc"}


def test_rows_have_sizes_times_and_labels(small):
    row = next(row for row in small.rows if row.formulation == "mc" and row.solver == "lemke")
    links = row.labels["links"]
    assert (row.n, row.n_dofs, row.n_contacts) == (links + 24, links, 4)
    assert 0 < row.nnz <= row.n**2
    assert min(row.build_seconds, row.solve_seconds, row.recover_seconds) > 0.0
    assert row.labels["motion"] in ("sticking", "sliding", "mixed", "separating")
    assert row.ok
    assert row.claim_right
    assert row.reason == ""


def test_rows_agree_with_a_solve_by_hand(small):
    study = parse_study(SMALL)
    make = study.sources[0].open(study.place(), 1)
    problem, _ = mf.formulation("os").build(make(1).make_step())
    solution = mf.solve(problem, "lemke", tol=1e-8)
    row = row_of(small, "pendulum/links=6/state=0001", "os", "lemke", "cold", 0)
    assert row.residual == solution.residual
    assert row.z_digest == digest(solution.z)


def test_a_failed_row_keeps_its_problem_which_fails_again(small):
    failed = [row for row in small.rows if not row.ok]
    assert failed
    for row in failed:
        problem = mf.load_problem(small.folder / row.problem_file)
        assert row.reason
        assert not mf.solve(problem, "pgs", max_sweeps=3, polish=False, tol=1e-8).ok


def test_the_header_tells_what_the_rows_were_made_with(small):
    header = small.header
    assert header["commit"] == "of the test"
    assert header["versions"]["numpy"] == np.__version__
    assert header["machine"]["cores"] == os.cpu_count()
    assert header["config"]["solvers"]["pgs, short"]["max_sweeps"] == 3
    assert header["finished"] >= header["started"]


def test_a_second_run_makes_nothing_again_and_two_workers_give_the_same_rows(small, tmp_path):
    again = run(SMALL, small.folder)
    assert again.rows == small.rows  # the times as well
    two = run(SMALL, tmp_path, workers=2)
    assert [row.lasting for row in two.rows] == [row.lasting for row in small.rows]


def test_a_warm_row_is_what_a_solve_by_hand_gives_from_the_row_before(small):
    study = parse_study(SMALL)
    make = study.sources[0].open(study.place(), 1)
    first, second = (mf.formulation("mc").build(make(k).make_step())[0] for k in (0, 1))
    before = mf.solve(first, "lemke", tol=1e-8)
    after = mf.solve(second, "lemke", z0=before.z, basis=before.basis, tol=1e-8)
    cold = mf.solve(second, "lemke", tol=1e-8)
    row = row_of(small, "pendulum/links=6/state=0001", "mc", "lemke", "warm", 1)
    assert row.z_digest == digest(after.z)
    assert row.iterations == after.iterations != cold.iterations


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory):
    os.environ["MCPFRAME_COMMIT"] = "of the test"
    folder = tmp_path_factory.mktemp("misbehaving")
    clock = time.perf_counter()
    results = run(MISBEHAVING, folder)
    return {row.solver: row for row in results.rows}, folder, time.perf_counter() - clock


@pytest.mark.parametrize("solver", ["sleeper", "busy"])
def test_a_solver_that_hangs_is_stopped_and_is_a_row(misbehaved, solver):
    row = misbehaved[0][solver]
    assert (row.status, row.ok, row.claim) == ("TIME_LIMIT", False, "")
    assert "stopped" in row.reason
    assert TIME_LIMIT < row.solve_seconds < 20.0
    assert row.n == 18


@pytest.mark.parametrize(
    ("solver", "reason"),
    [("aborter", "SIGABRT"), ("leaver", "exit status 3"), ("raiser", "MemoryError: no more")],
)
def test_a_solver_that_crashes_is_a_row_with_its_reason(misbehaved, solver, reason):
    row = misbehaved[0][solver]
    assert (row.status, row.ok, row.claim) == (CRASHED, False, "")
    assert reason in row.reason


def test_the_problem_of_a_solver_that_died_is_kept(misbehaved):
    rows, folder, _ = misbehaved
    assert len({row.problem_file for name, row in rows.items() if name in ("sleeper", "aborter")}) == 1
    problem = mf.load_problem(folder / rows["aborter"].problem_file)
    assert mf.solve(problem, "lemke").ok


def test_a_false_claim_is_told_from_a_failure(misbehaved):
    row = misbehaved[0]["liar"]
    assert (row.status, row.claim, row.ok, row.claim_right) == ("INACCURATE", "SOLVED", False, False)
    assert misbehaved[0]["raiser"].claim_right


def test_a_solver_that_does_not_come_back_from_warming_up_is_asked_all_the_same(misbehaved):
    assert misbehaved[0]["never_warm"].ok


def test_a_worker_that_dies_between_two_units_is_replaced():
    study = parse_study(MISBEHAVING.replace('"sleeper", "busy", "aborter", "leaver", "raiser",', '"lemke",'))
    unit = Unit("cold", 0, 0, AS_GIVEN, (Job(0, 0, 0),))
    with contextlib.closing(Guard(Context(study))) as guard:
        rows = []
        for _ in range(2):
            rows += [message.row for message in guard.run(unit) if isinstance(message, Made)]
            guard._link.process.kill()
            guard._link.process.wait()
    assert [row.ok for row in rows] == [True, True]
    assert rows[0].lasting == rows[1].lasting


def test_workers_take_no_modules_from_the_working_folder(tmp_path, monkeypatch):
    """A folder of somebody else's files is no place to import from."""
    (tmp_path / "casadi.py").write_text("raise SystemExit('a file of the working folder ran')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (row,) = run(ONE, tmp_path / "out").rows
    assert row.ok


def test_a_formulation_that_raises_is_a_row(tmp_path):
    text = SMALL.replace('["os", "mc"]', '["breaks"]').replace('["cold", "warm"]', '["cold"]')
    rows = run_study(parse_study(text), executor=InThisProcess(), out=tmp_path).rows
    assert {row.status for row in rows} == {CRASHED}
    assert {row.reason for row in rows} == {"build: ArithmeticError: it cannot be written"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("tol = 1e-8", "tol = 1e-7"), "tol was 1e-08, is 1e-07"),
        (("max_sweeps = 3", "max_sweeps = 4"), "max_sweeps was 3, is 4"),
        (("links = [3, 6]", "links = [3, 5]"), "links was [3, 6], is [3, 5]"),
    ],
)
def test_other_settings_are_not_mixed_into_a_folder(small, change, words):
    with pytest.raises(OptionError) as error:
        run(SMALL.replace(*change), small.folder)
    assert words in str(error.value)
    assert "--out" in str(error.value)
    with Store.read(small.folder) as store:
        assert len(store) == len(small.rows)


class Elsewhere(Local):
    """This machine, by another name."""

    def provenance(self):
        found = super().provenance()
        return {**found, "machine": {**found["machine"], "cpu": "another"}}


def test_rows_of_another_machine_or_commit_are_not_mixed_into_a_folder(small, monkeypatch):
    with pytest.raises(OptionError, match=r"machine\.cpu was .*, is 'another'"):
        run_study(parse_study(SMALL), out=small.folder, executor=Elsewhere(1))
    monkeypatch.setenv("MCPFRAME_COMMIT", "another")
    with pytest.raises(OptionError, match="commit was 'of the test', is 'another'"):
        run(SMALL, small.folder)


def test_two_runs_at_once_in_one_folder_are_refused(small):
    code = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
        "print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(small.folder / ".lock")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OptionError, match="another run is at work"):
            run(SMALL, small.folder)
    finally:
        holder.kill()
        holder.communicate()


def test_steps_of_a_scene_are_recorded_once_and_solved_in_every_formulation(tmp_path):
    scene = tmp_path / "ball.toml"
    scene.write_text(
        '[model]\nsystem = "sphere"\n[material]\nmu = 0.5\n[initial]\ntheta_dot = [0.3, 0, 0, 0, 0, 0]\n'
        "[stepping]\ndt = 0.01\nduration = 0.3\n"
    )
    text = (
        'name = "scene"\nstarts = ["cold", "warm"]\nformulations = ["os", "nmc"]\nsolvers = ["lemke"]\n'
        '[[problems]]\nscene = "ball.toml"\nparameters = { "material.mu" = [0.1, 0.5] }\n'
        "every = 3\nlimit = 4\n"
    )
    study = parse_study(text, tmp_path)
    rows = run_study(study, executor=InThisProcess(), out=tmp_path / "out").rows
    assert len(rows) == 2 * 4 * 2 * 2
    assert all(row.ok for row in rows)
    assert {row.system for row in rows} == {"sphere"}
    assert {row.labels["material.mu"] for row in rows} == {0.1, 0.5}
    recordings = sorted((tmp_path / "out" / "recordings").iterdir())
    before = [path.stat().st_mtime_ns for path in recordings]
    run_study(study, executor=InThisProcess(), out=tmp_path / "out")
    assert [path.stat().st_mtime_ns for path in recordings] == before


def test_a_scene_without_contacts_stops_the_study_and_says_what_to_do(tmp_path):
    (tmp_path / "up.toml").write_text(
        '[model]\nsystem = "sphere"\n[initial]\ntheta = [0, 0, 9, 0, 0, 0, 1]\n[stepping]\nduration = 0.01\n'
    )
    text = 'solvers = ["lemke"]\n[[problems]]\nscene = "up.toml"\n'
    with pytest.raises(OptionError, match=r"'up'.*no step of its 0\.01 s has contacts.*run it for longer"):
        run_study(parse_study(text, tmp_path), executor=InThisProcess(), out=tmp_path / "out")


def test_the_store_is_plain_sqlite(small):
    import sqlite3

    connection = sqlite3.connect(small.folder / FILE_NAME)
    count = connection.execute("SELECT count(*) FROM rows WHERE ok").fetchone()[0]
    name = connection.execute("SELECT value FROM header WHERE key = 'name'").fetchone()[0]
    connection.close()
    assert count == sum(row.ok for row in small.rows)
    assert json.loads(name) == "small"


def test_a_row_is_the_same_after_the_store(small):
    row = replace(small.rows[0], residual=float("inf"), repeat=99)
    folder = small.folder.with_name("copy")
    folder.mkdir()
    with Store.open(folder / FILE_NAME, small.header) as store:
        store.label(row.case, row.labels)
        store.add(row)
        assert store.has(row.key)
    with Store.read(folder) as store:
        assert store.rows() == [row]
