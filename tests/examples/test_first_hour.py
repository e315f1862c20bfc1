"""The walk through a first hour: its page is what is run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it clones the repository")
def test_models_laws_and_problems_of_ones_own_take_what_the_page_says():
    command = [sys.executable, "examples/first_hour.py", "--here", "--only", "Own"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert all(part in said for part in ("Own model in a study", "Own contact law", "Own complementarity"))
    assert "90, in out/cart" in " ".join(said.split()), "formulations, solvers, lengths, states"
