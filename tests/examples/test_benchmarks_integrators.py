"""The comparison of integrators (examples/benchmarks/integrators.py): it runs, and tells failures too."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "benchmarks" / "integrators.py"
MARKS = "<!-- figures:begin -->", "<!-- figures:end -->"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the arm with PD motors, which rk4 cannot run, was measured; with a page that had old figures."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "page.md").write_text("before\n" + "\nold figures\n".join(MARKS) + "\nafter\n")
    words = ["--quick", "--only", "PD arm", "--out", str(folder), "--page", str(folder / "page.md")]
    run = subprocess.run([sys.executable, str(SCRIPT), *words], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.mark.slow
def test_errors_fall_with_the_step_at_the_order_of_the_integrator(folder):
    cells = json.loads((folder / "integrators.json").read_text())["cells"]
    errors = {(cell["integrator"], cell["dt"]): cell["error"] for cell in cells}
    assert errors["midpoint", 2e-3] > 2.5 * errors["midpoint", 1e-3] > 0.0
    assert 1.7 < errors["semi_implicit_euler", 2e-3] / errors["semi_implicit_euler", 1e-3] < 2.3
    assert all(cell["work"] > 0.0 for cell in cells if not cell["ended"])


@pytest.mark.slow
def test_a_run_that_ends_early_stays_in_the_tables(folder):
    page = (folder / "page.md").read_text()
    assert page.count("no numbers at 0.00") == 4
    assert page.startswith("before\n" + MARKS[0])
    assert page.endswith(MARKS[1] + "\nafter\n")
    assert "old figures" not in page
    for name in ("integrators_work.png", "integrators_energy.png"):
        assert name in page
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_page_of_the_documentation_has_the_marks():
    page = (ROOT / "docs" / "concepts" / "integrators.md").read_text()
    assert [page.count(mark) for mark in MARKS] == [1, 1]
