"""Long runs and the product of all settings (examples/benchmarks): they run, and see what is off."""

import json

import pytest
from benchmark_modules import load

import mcpframe as mf

soak, product = load("soak"), load("product")


def test_a_short_soak_is_told_in_a_row(tmp_path):
    assert soak.main(["--quick", "--only", "boxes", "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "soak.json").read_text())["runs"].values()
    assert row["steps"] == 300
    assert row["impacts"] > 0
    assert row["overlap"] <= 1e-6
    assert not row["stopped"]


def test_a_soak_that_stops_says_why():
    scene = soak.dropped(2).with_stepping(solver={"name": "lemke", "max_pivots": 1, "attempts": 1})
    row = soak.soak(scene, 0.5)
    assert 0 < row.steps < 500
    assert "was not solved" in row.stopped
    assert soak.cells(row)[-1] == row.stopped


def test_memory_that_comes_and_goes_is_no_growth_and_another_process_costs_no_time():
    """Blocks wait for the disk, then go: a saw of 40 MB. Of every second another process has half."""
    saw = [soak.Reading(300_000_000 + 10_000_000 * (k % 5), k, 0.5 * k, float(k)) for k in range(101)]
    growing = [reading._replace(memory=reading.memory + 100_000 * reading.written) for reading in saw]
    assert soak.growth(saw) == 0.0
    assert soak.growth(growing) == pytest.approx(6.0)
    assert soak.worked(saw, 0.9, 1.0) == 0.5


@pytest.mark.slow
def test_settings_drawn_at_random_run_and_agree(tmp_path):
    assert product.main(["--quick", "--only", "quadruped", "--out", str(tmp_path)]) == 0


def test_formulations_that_end_elsewhere_are_told():
    scene = mf.Scene(mf.systems.sphere(), theta_dot=[0, 0, 1, 0, 0, 0])
    one, other = (mf.simulate(scene, duration=duration) for duration in (0.01, 0.011))
    assert product.differences({"a": one, "b": one}, {}) == []
    (line,) = product.differences({"a": one, "b": other}, {"solver": "lemke"})
    assert line.startswith("b is")
