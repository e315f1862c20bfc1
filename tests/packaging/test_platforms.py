"""Import, solve, simulate and studies work without what only POSIX has, as on Windows.

Modules are blocked, and functions of `os` and `signal` taken away, in a new process and in all that it
starts; workers are then started as they are where no handles can be inherited.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[1] / "support" / "study_plugins.py"
BLOCKED = """
import os, signal, sys

for name in ("fcntl", "resource", "termios", "pwd", "grp", "tty", "pty", "syslog", "posixshmem"):
    sys.modules[name] = None
for name in ("killpg", "sched_yield", "pread", "pwrite", "getpgid", "setsid", "nice"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGXFSZ", "SIGHUP", "setitimer", "pthread_sigmask"):
    if hasattr(signal, name):
        delattr(signal, name)
"""
SOLVE = """
import mcpframe as mf
assert mf.solve(mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, -5.0]), "lemke").ok
"""
SIMULATE = """
import mcpframe as mf
scene = mf.Scene(mf.systems.sphere())
run = mf.simulate(scene, out="run", duration=0.01, harvest=True)
assert len(mf.Trajectory.load("run")) == len(run) > 5
with mf.Corpus("run/problems.h5", "a") as corpus:
    corpus.append(mf.MixedLCP([[1.0]], [-1.0]))
"""
STUDY = f"""
import mcpframe as mf
from mcpframe.studies import processes
from mcpframe.studies.study.study_file import parse_study

processes.INHERITS = False
text = '''
time_limit = 0.5
warm_limit = 0.5
imports = ['{PLUGINS}']
solvers = ["lemke", "sleeper", "leaver"]
[[problems]]
generator = "full"
sizes = 2
'''
if __name__ == "__main__":
    rows = mf.run_study(parse_study(text), workers=1, out="rows").rows
    found = {{row.solver: row.status for row in rows}}
    lost = {{"sleeper": "TIME_LIMIT", "leaver": "CRASHED"}}
    assert found == {{"lemke": "SOLVED", **lost}}, found
    assert len(mf.run_study(parse_study(text), workers=1, out="rows").rows) == 3
"""


@pytest.mark.parametrize("program", [SOLVE, SIMULATE, STUDY], ids=["solve", "simulate", "study"])
def test_it_works_where_only_windows_has_its_modules(program, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCKED)
    (tmp_path / "program.py").write_text(f"import sys\nassert sys.modules['fcntl'] is None\n{program}")
    here = {"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path), "MCPFRAME_COMMIT": "of the test"}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=here, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
