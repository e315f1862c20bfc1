"""Every example runs; those that are commands of the Makefile explain themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = [
    EXAMPLES / name
    for name in (
        "demo.py",
        "first_hour.py",
        "studies/table2.py",
        "studies/friction_directions.py",
        "checks/suite.py",
        "checks/fuzz.py",
        "checks/fuzz_files.py",
        "truth_table.py",
        "pictures.py",
        "benchmarks/solvers.py",
    )
]
"""Long-running ones with options; their own tests run them on little data."""
FIRST_STEPS = EXAMPLES / "first_steps"
SHORT = ["first_solve", "first_contact", "nonlinear", "swap_by_config", "own_solver", "own_law", "corpus"]
MODELS = sorted((EXAMPLES / "mcp").glob("*.py"))
"""Complementarity models of the literature; each checks its published solution."""


def run(path, *arguments, folder):
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "path", [*(FIRST_STEPS / f"{name}.py" for name in SHORT), *MODELS], ids=lambda p: p.stem
)
def test_a_short_example_runs_and_prints(path, tmp_path):
    finished = run(path, folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
    assert not list(tmp_path.iterdir()), "it leaves nothing behind"


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_explains_itself(path, tmp_path):
    finished = run(path, "--help", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "usage" in finished.stdout.lower()


def test_every_example_is_run_by_a_test():
    rooms = [EXAMPLES, *(EXAMPLES / room for room in ("first_steps", "studies", "checks"))]
    files = [path for room in rooms for path in room.glob("*.py")]
    programs = {path for path in files if '__name__ == "__main__"' in path.read_text()}
    assert programs | set(FIRST_STEPS.glob("*.py")) == {
        *COMMANDS[:-1],
        *(FIRST_STEPS / f"{n}.py" for n in SHORT),
    }
