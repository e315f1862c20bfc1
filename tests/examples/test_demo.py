"""The demo and the benchmark run, and write what they say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmark_modules import HANGS
from run_programs import outcome

import mcpframe as mf

ROOT = Path(__file__).parents[2]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, str(ROOT / "examples" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANGS)


def demo(*arguments: str) -> str:
    """Run the demo in this process, which has its kernels already; return what it prints."""
    done = outcome(str(ROOT / "examples" / "demo.py"), *arguments)
    assert done["status"] == 0, done["error"]
    return done["out"]


TABLE_2 = """
solvers = ["lemke"]
formulations = ["os", "nmc_os"]
[[problems]]
system = "pendulum"
parameters = { links = [3] }
[[published]]
title = "Speed-up"
by = "links"
columns = ["links", "published"]
rows = [[3, 3.5]]
ours = [{ column = "ours", formulation = "nmc_os", over = { formulation = "os" } }]
"""
SOLVERS = """
solvers = ["lemke", "newton"]
[[problems]]
generator = "boxes"
sizes = [2, 4]
"""


def test_the_demo_runs_again_with_one_word_changed_and_names_the_report_to_open(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    table2, solvers, out = tmp_path / "table2.toml", tmp_path / "solvers.toml", tmp_path / "out"
    table2.write_text(TABLE_2)
    solvers.write_text(SOLVERS)
    options = ("--out", str(out), "--table2", str(table2), "--study", str(solvers))
    said = demo(*options)
    assert "A robot lands" in said
    assert (out / "robot" / "landing.png").read_bytes().startswith(b"\x89PNG")
    assert mf.Trajectory.load(out / "robot").impacts.time.size > 4
    report = out / "solvers" / "report.md"
    assert f"Open {report.with_suffix('.html')} in a browser." in said
    assert (report.parent / "study.sqlite").is_file(), "links to saved problems are seen from this folder"
    assert f'change "lemke" to "path" in {solvers}' in said
    assert "solve all 2 problems." in " ".join(said.split())
    text = report.read_text()
    assert "## Speed-up" in text
    assert "## Simulated seconds per second of wall clock" in text

    solvers.write_text(SOLVERS.replace("lemke", "path"))
    assert f'change "path" to "lemke" in {solvers}' in demo(*options)
    assert "| path |" in report.read_text()
    assert "| lemke |" not in report.read_text()


@pytest.mark.slow
def test_the_benchmark_writes_its_figures_and_plot(tmp_path):
    pytest.importorskip("matplotlib")
    small = ("--sizes", "12,24", "--repeats", "2", "--budget", "0.1", "--families", "full,boxes")
    done = run("benchmarks/solvers.py", "--out", str(tmp_path), "--solvers", "lemke", *small)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "solvers.json").read_text())
    assert {"machine", "commit", "python", "numpy", "mcpframe"} <= set(record["header"])
    lemke = [cell for cell in record["cells"] if cell["solver"] == "lemke"]
    assert len(lemke) == 2 * 2 * 4
    assert all(cell["solved"] == cell["tried"] for cell in lemke)
    assert (tmp_path / "solvers.png").read_bytes().startswith(b"\x89PNG")
