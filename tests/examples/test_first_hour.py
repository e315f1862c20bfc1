"""The walk through a first hour: its page is what is run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it clones the repository")
def test_a_model_of_ones_own_gets_into_a_study_as_the_page_says():
    command = [sys.executable, "examples/first_hour.py", "--here", "--only", "Own model"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "90, in out/cart" in " ".join(done.stdout.split()), "formulations, solvers, lengths, states"


def test_the_commands_find_what_is_installed_and_nothing_beside_it(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "examples")
    import first_hour

    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setattr(first_hour.subprocess, "run", lambda *words, **options: None)
    clone, environment = first_hour.prepared(tmp_path, here=False)
    assert "PYTHONPATH" not in environment
    assert environment["PATH"].startswith(str(clone / ".venv" / "bin"))
