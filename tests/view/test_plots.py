"""Plots show what the trajectory holds."""

import sys

import numpy as np
import pytest
from runs import header, steps

pytest.importorskip("matplotlib")

from mcpframe import FileFormatError, Node, PluginError
from mcpframe.simulation.recording.steps import MODES, StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view import plots
from mcpframe.view.figures import new_figure, pixels, save

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def run():
    return Trajectory(header(), steps(header().model, 60))


@pytest.fixture(scope="module")
def empty():
    return Trajectory(header(), StepBlock.without_rows(header().model))


def drawn(plot, *arguments):
    figure = new_figure(6.0, 4.0)
    plot(figure, *arguments)
    assert pixels(figure).min() < 255
    return figure.axes


def curve(axis, k=0):
    return np.asarray(axis.lines[k].get_xydata())


def legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_height_and_velocity_are_those_of_the_last_link(run):
    height, velocity = drawn(plots.motion, run)
    positions, velocities = run.motion_of(run.last_link)
    np.testing.assert_array_equal(curve(height), np.column_stack([run.time, positions[:, 2]]))
    np.testing.assert_array_equal(curve(velocity)[:, 1], velocities[:, 5])
    assert height.get_ylabel() == "height of link_3 [m]"
    assert legend(height) == ["impacts: 12"]


def test_any_node_can_be_plotted(run):
    height, _ = drawn(plots.motion, run, Node("link_1", (0, 0, -2)))
    assert height.get_ylabel() == "height of link_1 [m]"
    positions, _ = run.motion_of(Node("link_1", (0, 0, -2)))
    np.testing.assert_array_equal(curve(height)[:, 1], positions[:, 2])


def test_long_runs_are_thinned_for_the_motion_alone(run, monkeypatch):
    monkeypatch.setattr(plots, "MOST_POINTS", 25)
    times, heights, _ = plots.vertical_motion(run, "link_1")
    assert times.tolist() == run.time[::3].tolist()
    assert heights.size <= 25


def test_energies_add_up_and_impacts_are_marked(run):
    (axis,) = drawn(plots.energy, run)
    kinetic, potential, total = (curve(axis, k)[:, 1] for k in range(3))
    np.testing.assert_allclose(kinetic + potential, total)
    assert potential.min() == 0.0
    np.testing.assert_allclose(np.diff(total), np.diff(run.total_energy), atol=1e-9)
    assert curve(axis, 3)[:, 0].tolist() == run.impacts.time.tolist()


def test_contacts_are_counted_by_mode(run):
    counts = plots.mode_counts(run)
    assert counts.shape == (len(run), len(MODES))
    np.testing.assert_array_equal(counts.sum(axis=1), run.n_contacts)
    np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(run.contacts.mode, minlength=3))
    count, depth = drawn(plots.contacts, run)
    np.testing.assert_array_equal(curve(count)[:, 1], run.n_contacts)
    assert depth.get_yscale() == "log"
    np.testing.assert_array_equal(curve(depth)[:, 1], run.penetration[1:])


def test_certificates_that_were_made_are_plotted(run):
    figures = np.full(len(run), np.nan)
    figures[[1, 3]] = 2e-12, 0.0
    parts = {**dict(run.steps.items()), "certificate": figures}
    block = StepBlock(**parts, contacts=run.contacts, impacts=run.impacts)
    _, axis = drawn(plots.solve_time, Trajectory(run.header, block))
    np.testing.assert_array_equal(curve(axis), [[run.time[1], 2e-12], [run.time[3], plots.EXACT]])
    free = StepBlock(time=run.time, theta=run.theta, theta_dot=run.theta_dot)
    _, axis = drawn(plots.solve_time, Trajectory(run.header, free))
    assert [text.get_text() for text in axis.texts] == ["no certificates"]


def test_solve_times_are_in_microseconds_with_medians(run):
    axis, _ = drawn(plots.solve_time, run)
    np.testing.assert_allclose(curve(axis, 1)[:, 1], 2.0)
    assert legend(axis) == ["build, median 1 µs", "solve, median 2 µs", "recover, median 3 µs"]


def test_steps_that_were_not_solved_are_in_plain_sight(run):
    status = run.status.copy()
    status[5:8] = 3
    block = StepBlock(
        **{**dict(run.steps.items()), "status": status}, contacts=run.contacts, impacts=run.impacts
    )
    axis, _ = drawn(plots.solve_time, Trajectory(run.header, block))
    assert legend(axis)[-1] == "not solved: 3"
    assert curve(axis, 3)[:, 0].tolist() == run.time[5:8].tolist()


def test_pictures_are_written(run, tmp_path):
    paths = plots.save_plots(run, tmp_path / "plots")
    assert [path.name for path in paths] == ["motion.png", "energy.png", "contacts.png", "solve_time.png"]
    paths.append(plots.save_page(run, tmp_path / "page.png"))
    for path in paths:
        assert path.read_bytes().startswith(PNG)


def test_a_run_without_steps_can_be_plotted(empty, tmp_path):
    plots.save_page(empty, tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(PNG)


def test_a_run_without_contacts_says_so(run):
    free = StepBlock(time=run.time, theta=run.theta, theta_dot=run.theta_dot)
    _, depth = drawn(plots.contacts, Trajectory(run.header, free))
    assert [text.get_text() for text in depth.texts] == ["no penetration"]


def test_no_window_toolkit_is_touched(run):
    drawn(plots.energy, run)
    assert new_figure(1.0, 1.0).canvas.manager is None


def test_places_that_cannot_be_written_are_named(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileFormatError, match=r"motion\.png: the picture cannot be written"):
        plots.save_plots(run, tmp_path / "file")
    with pytest.raises(FileFormatError, match=r"page\.nonsense"):
        save(new_figure(1.0, 1.0), tmp_path / "page.nonsense")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PluginError, match=r"pip install 'mcpframe\[report\]'"):
        new_figure(1.0, 1.0)
