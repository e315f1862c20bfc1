"""Strips and films show the run at the right times, without a display."""

import numpy as np
import pytest
from runs import DT, header, steps

pytest.importorskip("matplotlib")

from PIL import Image

import mcpframe as mf
from mcpframe import FileFormatError, ProblemError
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view import strip
from mcpframe.view.camera import Camera
from mcpframe.view.figures import new_figure
from mcpframe.view.painting import DOTS, colours, legend_handles, paint, paint_all
from mcpframe.view.stage import Stage

N = 41


@pytest.fixture(scope="module")
def run():
    return Trajectory(header(), steps(header().model, N))


@pytest.fixture
def titles(monkeypatch):
    """Titles of the pictures that were saved, in order."""
    found = []

    def keep(figure, path):
        found.extend(axis.get_title() for axis in figure.axes)
        return path

    monkeypatch.setattr(strip, "save", keep)
    return found


def test_pictures_are_evenly_spaced_from_the_start_to_the_end(run, titles):
    strip.save_strip(run, "strip.png", frames=5)
    assert [title for title in titles if title] == ["0.00 s", "0.10 s", "0.20 s", "0.30 s", "0.40 s"]


def test_times_can_be_chosen(run, titles):
    strip.save_strip(run, "strip.png", times=[0.05, 0.25, 9.0])
    assert [title for title in titles if title] == ["0.05 s", "0.25 s", "0.40 s"]


@pytest.mark.parametrize("n", range(1, 14))
def test_rows_are_filled_evenly(run, n):
    stage = Stage(run, np.array([0, N - 1]), 0.0)
    columns = strip._columns(n, stage)
    rows = -(-n // columns)
    assert 0 <= rows * columns - n < rows, "at most one gap in each row"


def test_a_strip_is_a_picture_with_something_in_it(run, tmp_path):
    path = strip.save_strip(run, tmp_path / "new" / "strip.png", frames=3)
    with Image.open(path) as file:
        picture = np.asarray(file.convert("RGB"))
    assert picture.shape[1] == 1800
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50


def test_an_overlay_has_the_bodies_of_all_its_pictures(run, tmp_path):
    stage = Stage(run, np.array([0, 20, 40]), DT / 2)
    axis = new_figure(3.0, 3.0).subplots()
    paint_all(axis, stage)
    bodies = [one for one in axis.collections if len(one.get_paths()) == 6]
    opacities = [one.get_alpha() for one in bodies]
    assert len(bodies) == 3
    assert opacities == sorted(opacities)
    assert opacities[-1] == 1.0
    assert strip.save_overlay(run, tmp_path / "overlay.png", frames=3).read_bytes()[1:4] == b"PNG"


def test_a_film_has_its_pictures_and_its_speed(run, tmp_path):
    for speed in (1.0, 0.5):
        path = strip.save_gif(run, tmp_path / "film.gif", fps=20.0, speed=speed)
        with Image.open(path) as film:
            assert film.n_frames == 1 + round((N - 1) * DT * 20.0 / speed)
            assert (film.info["duration"], film.info["loop"]) == (50, 0)


def test_a_film_keeps_the_colours_of_the_pictures(run, tmp_path):
    """What stands still has one colour in all pictures, whatever else is in them."""
    colours = set()
    with Image.open(strip.save_gif(run, tmp_path / "film.gif", fps=10.0)) as film:
        for k in range(film.n_frames):
            film.seek(k)
            colours.add(film.convert("RGB").getpixel((film.width // 2, film.height - 60)))
    assert len(colours) == 1


def test_a_gif_has_room_for_all_colours():
    assert len(colours()) <= 256
    assert colours().min() >= 0.0
    assert colours().max() <= 1.0


def test_a_picture_shows_bodies_contacts_and_forces(run):
    stage = Stage(run, np.array([11]), DT / 2)
    marks = stage.marks[0]
    assert len(marks.point) == 3
    axis = new_figure(3.0, 3.0).subplots()
    paint(axis, stage, 0)
    bodies, arrows, dots = (one for one in axis.collections if len(one.get_paths()) or len(one.get_offsets()))
    assert len(bodies.get_paths()) == 6, "a disc and a half of each ball"
    assert arrows.N == 4, "one for each contact with the world, two between links"
    np.testing.assert_allclose(dots.get_offsets(), stage.camera.project(marks.point))
    longest = np.hypot(arrows.U, arrows.V).max()
    assert longest == pytest.approx(0.22 * stage.size.max())
    assert [handle.get_label() for handle in legend_handles(stage)][:2] == ["sticking", "sliding"]
    assert DOTS.keys() == {0, 1, 2}


def test_arrows_point_along_the_forces(run):
    stage = Stage(run, np.array([2]), DT / 2)
    axis = new_figure(3.0, 3.0).subplots()
    paint(axis, stage, 0)
    arrows = next(one for one in axis.collections if hasattr(one, "U"))
    _, forces, _ = stage.marks[0].arrows()
    np.testing.assert_allclose(arrows.V / arrows.U, forces[:, 2] / forces[:, 0])


@pytest.mark.parametrize(
    "name", ["quadruped", "dual_arm", "four_bar", "branched_tree", "box", "rod", "sphere"]
)
def test_every_system_can_be_drawn(name, tmp_path):
    model = mf.systems.make(name)
    still = StepBlock(time=[0.0], theta=[model.neutral()], theta_dot=np.zeros((1, model.n_dofs)))
    path = strip.save_strip(Trajectory(Header(model), still), tmp_path / "strip.png", frames=1)
    assert path.is_file()


def test_the_view_can_be_chosen(run, tmp_path):
    side = strip.save_strip(run, tmp_path / "side.png", frames=1).read_bytes()
    other = strip.save_strip(run, tmp_path / "other.png", frames=1, camera=Camera(-120, 30)).read_bytes()
    assert side != other


def test_the_same_run_gives_the_same_picture(run, tmp_path):
    one, other = (strip.save_strip(run, tmp_path / f"{k}.png", frames=2).read_bytes() for k in range(2))
    assert one == other


@pytest.mark.parametrize("options", [{"frames": 0}, {"frames": -1}])
def test_a_strip_needs_a_picture(run, options):
    with pytest.raises(ProblemError, match="must be positive"):
        strip.save_strip(run, "strip.png", **options)


@pytest.mark.parametrize("options", [{"fps": 0.0}, {"speed": -1.0}, {"fps": np.nan}])
def test_a_film_needs_a_speed(run, options):
    with pytest.raises(ProblemError, match="must be positive"):
        strip.save_gif(run, "film.gif", **options)


def test_a_run_without_steps_is_refused(tmp_path):
    nothing = Trajectory(header(), StepBlock.without_rows(header().model))
    for draw in (strip.save_strip, strip.save_gif):
        with pytest.raises(ProblemError, match="no steps to draw"):
            draw(nothing, tmp_path / "picture")


def test_places_that_cannot_be_written_are_named(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileFormatError, match=r"film\.gif: the film cannot be written"):
        strip.save_gif(run, tmp_path / "file" / "film.gif", fps=5.0)
