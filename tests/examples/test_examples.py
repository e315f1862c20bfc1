"""Every example runs; those that are commands of the Makefile explain themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
        "checks/limits.py",
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


PROGRAMS = Path(__file__).parents[1] / "support" / "run_programs.py"


def outcomes(programs, folder):
    """Run programs in one process; return what became of each, by its path."""
    finished = subprocess.run(
        [sys.executable, str(PROGRAMS), str(folder)],
        input=json.dumps([[str(part) for part in program] for program in programs]),
        env=os.environ | {"PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    return {program[0]: found for program, found in zip(programs, json.loads(finished.stdout), strict=True)}


def test_short_examples_run_and_print_and_leave_nothing_behind(tmp_path):
    paths = [*(FIRST_STEPS / f"{name}.py" for name in SHORT), *MODELS]
    for path, found in outcomes([[path] for path in paths], tmp_path).items():
        assert found["status"] == 0, f"{path}: {found['error']}"
        assert found["out"], path
        assert not found["left"], path


def test_commands_explain_themselves(tmp_path):
    for path, found in outcomes([[path, "--help"] for path in COMMANDS], tmp_path).items():
        assert found["status"] == 0, f"{path}: {found['error']}"
        assert "usage" in found["out"].lower(), path


def test_every_example_is_run_by_a_test():
    rooms = [EXAMPLES, *(EXAMPLES / room for room in ("first_steps", "studies", "checks"))]
    files = [path for room in rooms for path in room.glob("*.py")]
    programs = {path for path in files if '__name__ == "__main__"' in path.read_text()}
    assert programs | set(FIRST_STEPS.glob("*.py")) == {
        *COMMANDS[:-1],
        *(FIRST_STEPS / f"{n}.py" for n in SHORT),
    }
