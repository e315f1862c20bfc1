"""The studies of dynamics (examples/benchmarks) run and write what they say; their clock and fits hold."""

import gc
import re
from pathlib import Path

import numpy as np
import pytest
from benchmark_modules import BENCHMARKS, is_picture, load, study

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
ROUNDING = 1e-12
"""Relative: a straight line through points that lie on it."""
AGREEMENT = 1e-9
"""What the study asks of the peer's answers."""

timing = load("measuring.timing")
compile_clock = load("measuring.compile_clock")


# the fit


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.1, -0.5])
def test_a_power_is_found_exactly(exponent):
    sizes = np.array([3, 10, 30, 100])
    fit = timing.fit_power(sizes, 2e-6 * sizes**exponent)
    assert fit.exponent == pytest.approx(exponent, abs=ROUNDING)
    assert fit.factor == pytest.approx(2e-6, rel=ROUNDING)
    assert fit.deviation < 1e-9


def test_noise_that_is_alike_at_both_ends_leaves_the_exponent():
    sizes, noise = np.array([10, 100, 1000, 10_000]), np.array([1.2, 1 / 1.2, 1 / 1.2, 1.2])
    fit = timing.fit_power(sizes, 1e-6 * sizes * noise)
    assert fit.exponent == pytest.approx(1.0, abs=ROUNDING)
    assert fit.deviation == pytest.approx(0.2)


def test_a_constant_on_top_lowers_the_exponent_and_shows_as_deviation():
    sizes = np.array([10, 100, 1000])
    fit = timing.fit_power(sizes, 1e-6 * sizes + 1e-4)
    assert 0.0 < fit.exponent < 1.0
    assert fit.deviation > 0.1


# the clock


class FakeClock:
    """A clock that only moves when something runs; now and then the machine is busy with other work."""

    def __init__(self, monkeypatch):
        self.now, self.calls = 0.0, []
        monkeypatch.setattr(timing, "perf_counter", lambda: self.now)

    def run(self, name, seconds, busy=lambda i: False):
        def run(count):
            self.calls.append(name)
            self.now += count * seconds * (10.0 if busy(len(self.calls)) else 1.0)

        return run


def test_the_least_reading_counts_however_busy_the_machine_was(monkeypatch):
    clock = FakeClock(monkeypatch)
    slow, quick = (lambda i: i % 5 != 0), (lambda i: i % 3 == 0)
    times = timing.fastest({"a": clock.run("a", 3e-6, slow), "b": clock.run("b", 1e-6, quick)}, 1.0)
    assert times == pytest.approx({"a": 3e-6, "b": 1e-6})


def test_all_take_turns_and_long_ones_get_a_few_rounds(monkeypatch):
    clock = FakeClock(monkeypatch)
    times = timing.fastest({"a": clock.run("a", 2.0), "b": clock.run("b", 1.0)}, 0.5)
    assert times == {"a": 2.0, "b": 1.0}
    rounds = ["a", "a", "b", "b"] * timing.LEAST_ROUNDS  # each reading comes after a call that warms up
    assert clock.calls[-len(rounds) :] == rounds


def test_short_calls_are_repeated_until_the_clock_can_tell(monkeypatch):
    clock, counts = FakeClock(monkeypatch), []

    def run(count):
        counts.append(count)
        clock.now += count * 1e-7

    assert timing.fastest({"short": run}, 0.0)["short"] == pytest.approx(1e-7)
    assert counts[-1] * 1e-7 >= timing.READING / 2


def test_garbage_is_collected_again_afterwards():
    seen = []
    timing.fastest({"look": timing.repeated(lambda: seen.append(gc.isenabled()))}, 0.0)
    assert seen[-1] is False
    assert gc.isenabled()


def test_a_part_that_is_timed_within_another_counts_for_itself_alone(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(compile_clock, "perf_counter", lambda: now[0])
    monkeypatch.setattr(compile_clock, "process_time", lambda: now[0] / 2)
    clock = compile_clock.Clock()
    with clock.timing("import"):
        now[0] += 1.0
        with clock.timing("kernels", kernels=1):
            now[0] += 4.0
    assert clock.parts == {"import": [0, 1.0, 0.5], "kernels": [1, 4.0, 2.0]}


# the studies


@pytest.mark.slow
def test_the_dynamics_beside_pinocchio(tmp_path):
    pytest.importorskip("pinocchio")
    record, _ = study(
        "dynamics", tmp_path, "--sizes", "3,4", "--nodes", "2", "--seconds", "0.05", "--no-robots"
    )
    figures = record["figures"]
    assert [(f["n_links"], f["n_c"]) for f in figures] == [(3, 0), (3, 2), (4, 0), (4, 2)]
    for figure in figures:
        assert figure["ours"].keys() == {"loop", "kernel", "public"}
        assert 0.0 < figure["ours"]["loop"] <= figure["ours"]["public"]
        assert figure["difference"] <= AGREEMENT
        assert figure["route"] not in figure["refused"]
        assert ("loop" in figure["peer"]) == (figure["n_c"] == 0)
        assert figure["peer"]["python"] > 0.0


@pytest.mark.slow
def test_the_dynamics_say_that_the_peer_is_missing(tmp_path):
    arguments = ("--sizes", "3", "--nodes", "1", "--seconds", "0.05", "--no-robots", "--no-peers")
    record, printed = study("dynamics", tmp_path, *arguments)
    assert is_picture(tmp_path / "dynamics.png")
    assert "Pinocchio is left out" in printed
    assert all(figure["peer"] == {} and figure["route"] == "" for figure in record["figures"])


@pytest.mark.slow
def test_the_formulations(tmp_path):
    small = ("--links", "3,6", "--contacts", "1,2", "--formulations", "os,mc", "--seconds", "0.2")
    record, printed = study("formulations", tmp_path, *small)
    assert is_picture(tmp_path / "formulations.png")
    ways = {"os", "mc", "os: loop", "os: kernel", "os: contacts anew"}
    for curve, sizes in (("by_links", {(3, 4), (6, 4)}), ("by_contacts", {(30, 1), (30, 2)})):
        assert {(cell["n_links"], cell["n_u"]) for cell in record[curve]} == sizes
        assert {cell["name"] for cell in record[curve]} == ways
        assert all(cell["build"] > 0.0 for cell in record[curve])
    rows = {(cell["name"], cell["n_links"]): cell["n_z"] for cell in record["by_links"]}
    assert (rows["os", 3], rows["os", 6], rows["mc", 3], rows["mc", 6]) == (24, 24, 27, 30)
    assert printed.count("growth from") == 4


@pytest.mark.slow
def test_the_growth(tmp_path):
    record, printed = study("growth", tmp_path, "--links", "5,20", "--nodes", "2,4", "--seconds", "0.2")
    assert is_picture(tmp_path / "growth.png")
    curves = {curve["name"]: curve for curve in record["curves"]}
    assert curves["build of os, 4 contacts"]["n_z"] == [24, 24]
    assert curves["build of nmc, 4 contacts"]["n_z"] == [11 * 5 + 24, 11 * 20 + 24]
    assert {(curve["by"], curve["limit"]) for curve in curves.values()} == {("links", 1.1), ("nodes", 2.1)}
    for curve in curves.values():
        slope = np.log(curve["times"][1] / curve["times"][0]) / np.log(curve["sizes"][1] / curve["sizes"][0])
        assert curve["exponent"] == pytest.approx(slope)
    assert "time by number of links" in printed
    assert "time by number of nodes" in printed


@pytest.mark.slow
def test_the_first_use(tmp_path):
    record, printed = study("first_use", tmp_path, "--modules", "mcpframe.problem.residual", "--loads", "1")
    assert is_picture(tmp_path / "first_use.png")
    (module,) = [module for module in record["modules"] if module["name"] == "mcpframe.problem.residual"]
    assert module["kernels"] > 1
    assert module["cold"][1] > module["warm"][1] > 0.0
    lines = record["lines"]["cold"]
    compiling = [module for module in record["modules"] if module["kernels"]]
    for line, compiled in zip(lines, compiling, strict=True):
        assert re.fullmatch(rf"mcpframe: compiling {compiled['name']} \(.* s.*, once; cached .*", line)
    assert record["lines"]["warm"] == []
    assert f"lines to read: {len(lines)} on an empty cache, 0 on a warm one" in printed


def test_make_bench_runs_every_study():
    """But the zoo, long runs and what else has a target of its own."""
    studies = re.search(r"^STUDIES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    programs = {path for path in BENCHMARKS.glob("*.py") if "study import" in path.read_text()}
    found = {BENCHMARKS / f"{name.replace('-', '_')}.py" for name in studies}
    names = ("robot_zoo", "soak", "product", "integrators", "adaptive", "scale", "piles", "heaps")
    apart = {BENCHMARKS / f"{name}.py" for name in names}
    alone = {BENCHMARKS / "solvers.py", BENCHMARKS / "cone.py"}
    assert found == (programs | alone) - apart
