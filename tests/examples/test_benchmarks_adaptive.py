"""The benchmark of adaptive bodies (examples/benchmarks/adaptive.py) runs, and so do its scenes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "benchmarks" / "adaptive.py"
SCENES = sorted((ROOT / "examples" / "scenes" / "adaptive").glob("*.toml"))


COSTS = "steps", "choices", "runs", "contacts"
PARTS = (*COSTS, "accuracy", "patience", "pegs", "branches", "scenes", "problems")


@pytest.mark.slow
def test_all_parts_of_the_benchmark_are_measured(tmp_path):
    words = ["--quick", "--out", str(tmp_path)]
    run = subprocess.run([sys.executable, str(SCRIPT), *words], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    tables = json.loads((tmp_path / "adaptive.json").read_text())
    for part in PARTS:
        assert tables[part]["rows"], part
        assert all(len(row) == len(tables[part]["head"]) for row in tables[part]["rows"]), part


@pytest.mark.parametrize(
    ("name", "dofs", "active"),
    [("pegs", 200, 40), ("holes", 300, 60), ("bridge", 500, 70), ("cable", 5000, 70), ("net", 360, 160)],
)
def test_a_scene_has_the_dofs_of_the_paper_and_runs(name, dofs, active):
    scene = mf.load_scene(next(path for path in SCENES if path.stem == name))
    assert scene.name == name
    assert (scene.model.n_dofs, scene.adaptive.active) == (dofs, active)
    run = mf.simulate(scene, duration=20 * scene.stepping.dt, certify="all")
    assert np.nanmax(run.certificate) < 1e-9
    assert run.active_joints[-1] == active
