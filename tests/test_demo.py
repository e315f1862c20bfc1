"""The demo and the benchmark run, and write what they say."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, str(ROOT / "examples" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_the_demo_writes_its_report_table_and_plot(tmp_path):
    pytest.importorskip("matplotlib")
    done = run(
        "demo.py", "--out", str(tmp_path), "--sizes", "12,24", "--problems", "2", "--solvers", "lemke,newton"
    )
    assert done.returncode == 0, done.stderr
    assert f"Open {tmp_path / 'report.md'}" in " ".join(done.stdout.split())
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert len(rows) == 2 * 2 * 4
    assert all(row["solved"] == row["tried"] == "2" for row in rows if row["solver"] == "lemke")
    assert (tmp_path / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert "| lemke | 16/16 |" in (tmp_path / "report.md").read_text()


def test_the_demo_shows_what_was_not_solved(tmp_path):
    done = run("demo.py", "--out", str(tmp_path), "--sizes", "24", "--problems", "2", "--solvers", "enum")
    assert done.returncode == 1
    assert "takes none" in done.stdout


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
