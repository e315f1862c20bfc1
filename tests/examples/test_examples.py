"""Every example runs; those that are commands of the Makefile explain themselves."""

from pathlib import Path

import pytest
from run_programs import outcome

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


def name_of(path):
    return path.stem


@pytest.mark.parametrize("path", [*(FIRST_STEPS / f"{name}.py" for name in SHORT), *MODELS], ids=name_of)
def test_a_short_example_runs_and_prints_and_leaves_nothing_behind(path, registries):
    found = outcome(str(path))
    assert found["status"] == 0, found["error"]
    assert found["out"]
    assert not found["left"]


@pytest.mark.parametrize("path", COMMANDS, ids=name_of)
def test_a_command_explains_itself(path):
    found = outcome(str(path), "--help")
    assert found["status"] == 0, found["error"]
    assert "usage" in found["out"].lower()


def test_every_example_is_run_by_a_test():
    rooms = [EXAMPLES, *(EXAMPLES / room for room in ("first_steps", "studies", "checks"))]
    files = [path for room in rooms for path in room.glob("*.py")]
    programs = {path for path in files if '__name__ == "__main__"' in path.read_text()}
    assert programs | set(FIRST_STEPS.glob("*.py")) == {
        *COMMANDS[:-1],
        *(FIRST_STEPS / f"{n}.py" for n in SHORT),
    }
