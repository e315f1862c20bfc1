"""The tutorial notebook runs from its first cell to its last, in a kernel, and is kept without outputs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NOTEBOOK = TESTS.parent / "examples" / "first_steps" / "tutorial.ipynb"


def cells_of(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def html_of(outputs):
    return "".join("".join(output.get("data", {}).get("text/html", "")) for output in outputs)


def test_the_notebook_is_kept_without_outputs():
    cells = cells_of(NOTEBOOK)
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


def test_every_cell_of_the_notebook_runs_and_shows_what_it_should(tmp_path):
    for package in ("nbclient", "ipykernel", "pandas"):
        pytest.importorskip(package)
    result = tmp_path / "result.ipynb"
    words = [sys.executable, TESTS / "support" / "run_notebook.py", NOTEBOOK, result]
    finished = subprocess.run(words, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    outputs = [output for cell in cells_of(result) for output in cell["outputs"]]
    shown = html_of(outputs)
    for words in ("Mixed LCP, n = 2", "RAY", "Model", "Scene", "Run of", "data:image/gif", "Results of"):
        assert words in shown
    assert "quadruped: " in shown  # the line that a progress bar leaves
    assert not [output for output in outputs if output["output_type"] == "stream"]
    assert list(tmp_path.iterdir()) == [result], "it leaves nothing behind"
