"""Runs are compared between their collisions; formulations agree, and steps converge."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from runs import header, steps

from mcpframe.scene.scene_file import load_scene
from mcpframe.simulation.recording.steps import ImpactTable, StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.comparison import Comparison, Pair, Run, compare_runs, label_of

SCENES = Path(__file__).parents[2] / "examples/scenes"
SAME = 1e-7
"""Metres, and metres per second, that formulations may be apart up to the first collisions: times of impact
are found to 1e-9 s, links move at up to 20 m/s, a collision amplifies by less than ten. Integration errs by
1e-3.
"""
ORDER = 0.25
"""How far from one an order measured with steps of some milliseconds may be."""
COLLISIONS = 3


@pytest.fixture(scope="module")
def swing():
    return Trajectory(header(), steps(header().model, 41))


def run_of(trajectory, setting="a", dt=1e-2, impacts=(), **columns):
    """A run with other columns and other impacts, all in its last step."""
    n = len(impacts)
    table = ImpactTable(
        time=np.array(impacts, dtype=float),
        n_contacts=np.ones(n, dtype=int),
        energy_before=np.zeros(n),
        energy_compressed=np.zeros(n),
        energy_after=np.zeros(n),
    )
    parts = {"time": trajectory.time, "theta": trajectory.theta, "theta_dot": trajectory.theta_dot, **columns}
    counts = np.zeros(len(parts["time"]), dtype=int)
    counts[-1] = n
    return Run(
        setting, dt, Trajectory(trajectory.header, StepBlock(**parts, n_impacts=counts, impacts=table))
    )


def test_impacts_close_to_one_another_are_one_collision(swing):
    starts, ends = run_of(swing, impacts=[0.1, 0.105, 0.2, 0.3, 0.301]).collisions(0.01)
    assert starts.tolist() == [0.1, 0.2, 0.3]
    assert ends.tolist() == [0.105, 0.2, 0.301]
    assert [times.tolist() for times in run_of(swing).collisions(0.01)] == [[], []]


def test_distances_are_taken_between_collisions(swing):
    """One run jumps in velocity at 0.10 s, the other at 0.13 s: that is no distance."""
    rates = [np.where(swing.time[:, None] < jump, swing.theta_dot, 0.0) for jump in (0.10, 0.13)]
    one, other = (
        run_of(swing, setting, impacts=[jump], theta_dot=rate)
        for setting, jump, rate in zip("ab", (0.10, 0.13), rates, strict=True)
    )
    height, velocity = Pair(one, other).largest(1)
    assert height.tolist() == [0.0, 0.0]
    assert velocity[0] == 0.0
    assert velocity[1] > 0.1, "of the whole run it is one"


def test_runs_with_other_collisions_part_ways(swing):
    one, other = run_of(swing, impacts=[0.1, 0.2, 0.3]), run_of(swing, "b", impacts=[0.1, 0.35])
    assert np.isfinite(Pair(one, other).largest(4)[0]).tolist() == [True, True, False, False, True]
    gone = run_of(swing, "b", impacts=[0.25, 0.3, 0.35])
    assert np.isfinite(Pair(one, gone).largest(3)[0]).tolist() == [True, False, False, True]


def test_runs_with_other_steps_meet_at_the_times_of_the_coarser(swing):
    half = Trajectory(swing.header, swing.steps.rows(0, 21))
    coarse = run_of(
        swing, dt=2e-2, **{name: getattr(swing, name)[::2] for name in ("time", "theta", "theta_dot")}
    )
    t, height, velocity = Pair(coarse, Run("a", 1e-2, half)).apart
    assert t.tolist() == half.time[::2].tolist()
    assert height.max() == velocity.max() == 0.0


def test_pairs_are_of_one_step_or_of_one_way(swing):
    runs = [Run(setting, dt, swing) for setting in ("os", "mc", "rmc") for dt in (4e-3, 2e-3, 1e-3)]
    compared = Comparison(tuple(runs))
    assert [pair.label for pair in compared.same_step][:3] == [
        *("os – mc, 4 ms", "os – rmc, 4 ms", "os – mc, 2 ms"),
    ]
    assert [pair.label for pair in compared.same_setting][:3] == [
        *("os, 4 – 2 ms", "os, 2 – 1 ms", "mc, 4 – 2 ms"),
    ]
    assert len(compared.same_step) == len(compared.same_setting) == 6


def test_an_order_needs_three_steps_and_is_that_of_the_distances(swing):
    def shifted(dt):
        return run_of(swing, dt=dt, theta=swing.theta, time=swing.time)

    assert Comparison((shifted(2e-2), shifted(1e-2))).orders(0) == {}
    runs = []
    for dt in (4e-2, 2e-2, 1e-2):
        run = shifted(dt)
        moved = dataclasses.replace(run)
        vars(moved)["motion"] = (run.motion[0] + dt**2, run.motion[1] + dt)
        runs.append(moved)
    (order,) = Comparison(tuple(runs)).orders(0).values()
    np.testing.assert_allclose(order[:, 0], [2.0, 1.0], rtol=1e-9)


def test_labels_name_what_differs():
    assert label_of("", 1e-3) == "1 ms"
    assert label_of("os lemke", 5e-4) == "os lemke, 0.5 ms"


@pytest.fixture(scope="module")
def compared():
    """The pendulum of J11 through its first collisions: 3 links, which first touch after about 0.9 s."""
    scene = load_scene(SCENES / "pendulum_j11.toml").with_stepping(duration=1.6)
    return compare_runs(scene, ["os", "nmc_os"], steps=[4e-3, 2e-3, 1e-3])


def test_formulations_agree_through_all_collisions(compared):
    for pair in compared.same_step:
        assert np.nanmax(pair.largest(COLLISIONS)) <= SAME  # the last column is the whole run


def test_the_error_of_the_step_is_above_that_and_of_second_order(compared):
    for setting in compared.settings:
        assert compared.orders(1)[setting][:, 0] == pytest.approx(2.0, abs=ORDER)
    assert min(pair.largest(1)[0, 0] for pair in compared.same_setting) > 2.0 * SAME


def test_solvers_are_compared_in_the_same_manner(tmp_path):
    scene = load_scene(SCENES / "pendulum_j11.toml").with_stepping(duration=1.2)
    found = compare_runs(scene, solvers=["lemke", "path"], steps=[4e-3], out=tmp_path)
    assert found.settings == ("lemke", "path")
    assert found.same_step[0].largest(1)[0, 0] <= SAME
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lemke_4_ms", "path_4_ms"]
    assert len(Trajectory.load(tmp_path / "path_4_ms")) == len(found.runs[1].trajectory)
