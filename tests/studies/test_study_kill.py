"""A study that is killed with SIGKILL again and again ends with the rows of one that was left in peace."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mcpframe.studies.study.store import FILE_NAME, Store

PLUGINS = Path(__file__).parents[1] / "support" / "study_plugins.py"
KILLS = 10
LONGEST_WAIT = 120.0
"""Seconds for a process to make its first row; it imports, and so does its worker."""
SPREAD = 0.3
"""Seconds after a row within which the kill comes: about ten rows, half of a warm chain."""

STUDY = f"""
name = "killed"
starts = ["cold", "warm"]
repeats = 2
imports = ['{PLUGINS}']
formulations = ["os", "mc"]
solvers = [
    {{ name = "slow", seconds = 0.01 }},
    {{ name = "slow", label = "slower", seconds = 0.02 }},
    {{ name = "pgs", label = "pgs, short", max_sweeps = 3, polish = false }},
]

[[problems]]
system = "pendulum"
parameters = {{ links = [3, 4] }}
states = 8
"""
ROWS = 2 * 8 * 2 * 3 * 2 * 2


def start(study, out):
    call = f"import mcpframe; mcpframe.run_study({str(study)!r}, out={str(out)!r}, workers=1)"
    environment = {**os.environ, "MCPFRAME_COMMIT": "of the test"}
    return subprocess.Popen([sys.executable, "-c", call], env=environment, stderr=subprocess.PIPE, text=True)


def rows_in(out):
    """Return how many rows another process sees."""
    path = out / FILE_NAME
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM rows").fetchone()[0]
    except sqlite3.OperationalError:  # its tables are not made yet
        return 0
    finally:
        connection.close()


def kill_after_a_row(process, out, delay):
    before, end = rows_in(out), time.monotonic() + LONGEST_WAIT
    while rows_in(out) == before:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_ten_kills_at_random_moments_lose_nothing_repeat_nothing_and_change_nothing(tmp_path, rng):
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    out, calm = tmp_path / "killed", tmp_path / "calm"
    kept = {}
    for delay in rng.uniform(0.0, SPREAD, KILLS):
        kill_after_a_row(start(study, out), out, delay)
        with Store.read(out) as store:
            rows = {row.key: row.solve_seconds for row in store.rows()}
        assert kept.items() <= rows.items()  # none is lost, none is timed again
        kept = rows
    assert len(kept) < ROWS, "the study was over before the last kill: it proves nothing"
    for folder in (out, calm):
        _, errors = start(study, folder).communicate(timeout=LONGEST_WAIT)
        assert errors == ""
    with Store.read(out) as first, Store.read(calm) as second:
        rows = first.rows()
        assert len(rows) == ROWS
        assert [row.lasting for row in rows] == [row.lasting for row in second.rows()]
    seconds = {row.key: row.solve_seconds for row in rows}
    assert kept.items() <= seconds.items()
    assert np.isfinite([row.residual for row in rows]).all()


def children_of(pid):
    """Return the processes that any thread of a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(word) for task in tasks for word in (task / "children").read_text().split()]


def wait_for(condition):
    end = time.monotonic() + LONGEST_WAIT
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")
def test_a_killed_study_leaves_no_worker_behind_even_one_that_hangs(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        f'labels = false\ntime_limit = 1000.0\nimports = [\'{PLUGINS}\']\nsolvers = ["lemke", "busy"]\n'
        '[[problems]]\ngenerator = "full"\nsizes = 3\n'
    )
    process = start(study, tmp_path / "out")
    wait_for(lambda: rows_in(tmp_path / "out"))  # lemke's: the next one hangs
    workers = children_of(process.pid)
    assert workers
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
