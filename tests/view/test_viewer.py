"""The viewer shows the run where its clock is; in a browser, something is to be seen."""

import io
import shutil
import sys
import time
import urllib.request

import numpy as np
import pytest
from runs import header, steps

pytest.importorskip("viser")

from mcpframe import PluginError, ProblemError
from mcpframe.simulation.recording.steps import MODES, SLIDING, StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.spatial.transforms import rotation_from_quaternion
from mcpframe.view import viewer as viewers
from mcpframe.view.contact_marks import contact_marks
from mcpframe.view.viewer import Viewer, figures, legend
from mcpframe.view.viewer_actors import mode_colours, rgb, upright

PATIENCE = 60.0
"""Seconds that a slow machine may take to draw a page; an idle one takes about five."""
ROUNDING = 1e-6
"""What viser keeps of a number, which is single precision."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
"""For WebGL without a graphics card."""


@pytest.fixture(scope="module")
def run():
    return Trajectory(header(), steps(header().model, 41))


@pytest.fixture
def viewer(run):
    with Viewer(run, port=0) as opened:
        opened.clock.playing = False
        yield opened


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def shown_at(viewer, k):
    viewer.clock.seek(float(viewer.stage.trajectory.time[k]))
    wait_for(lambda: viewer._shown == k)
    with viewer.server.atomic():  # what is being shown is shown
        pass


def test_bodies_are_where_the_run_has_them(viewer, run):
    for k in (0, 17, 40):
        shown_at(viewer, k)
        rotations, positions = run.link_poses([k])
        for i, frame in enumerate(viewer.actors._frames):
            np.testing.assert_allclose(frame.position, positions[0, i], atol=ROUNDING)
            found = rotation_from_quaternion(np.asarray(frame.wxyz)[[1, 2, 3, 0]])
            np.testing.assert_allclose(found, rotations[0, i], atol=ROUNDING)


def test_marks_of_contacts_move_and_are_made_anew_only_where_their_number_changes(viewer, run):
    """A browser that makes them anew in every picture shows none while a run plays."""
    before = None
    for k in (5, 6, 7, 17, 18, 30):
        shown_at(viewer, k)
        marks = contact_marks(run, k, viewers.FLASH * viewer.clock.speed)
        count, discs = viewer.actors._marks["/contacts/points"]
        assert count == len(marks.point)
        np.testing.assert_allclose(discs.batched_positions, marks.point, atol=ROUNDING)
        np.testing.assert_array_equal(discs.batched_colors, mode_colours(marks.mode))
        assert before is None or (discs is before[1]) == (count == before[0])
        before = count, discs


def test_a_page_is_served_and_named_on_this_machine_only(viewer):
    assert viewer.address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(viewer.address, timeout=PATIENCE) as page:
        assert b"<html" in page.read()


def test_the_controls_do_what_they_say(viewer, run):
    viewer._step("end")
    wait_for(lambda: viewer._shown == len(run) - 1)
    viewer._step("−")
    wait_for(lambda: viewer._shown == len(run) - 2)
    viewer._step("start")
    wait_for(lambda: viewer._shown == 0)
    assert not viewer.clock.playing
    viewer._act(viewer.clock.toggle)
    wait_for(lambda: viewer._shown not in (0, None))
    assert viewer._play_button.label == "Pause"
    assert viewer._slider.value == pytest.approx(viewer.clock.time, abs=0.2)


def test_the_camera_sees_the_whole_region(viewer):
    camera, region = viewer.server.initial_camera, viewer.stage.whole
    axis = camera.look_at - camera.position
    rays = region.corners - camera.position
    cosines = rays @ axis / np.linalg.norm(axis) / np.linalg.norm(rays, axis=1)
    upper_half = np.degrees(np.arccos(cosines)).max()
    assert upper_half < np.degrees(camera.fov), "a page is at least twice as wide as half its height"


def test_figures_tell_step_contacts_and_solve(run):
    marks = viewers.Stage(run, np.array([5]), 0.01).marks[0]
    text = figures(run, 5, marks)
    assert "step 5** of 40" in text
    assert f"{np.count_nonzero(marks.mode == SLIDING)} sliding" in text
    assert "solved, residual 5.0e-12" in text
    assert figures(run, 0, marks).endswith("no solve")


def test_the_legend_names_every_mode_and_the_longest_arrow():
    assert all(mode in legend(1500.0) for mode in MODES)
    assert "1.5 kN or more" in legend(1500.0)
    assert "arrow" not in legend(0.0)


def test_colours_and_discs_fit_modes_and_normals(rng):
    assert rgb("#0072B2") == (0, 0x72, 0xB2)
    assert len(np.unique(mode_colours(np.arange(3)), axis=0)) == 3
    normals = np.concatenate([rng.standard_normal((20, 3)), np.eye(3), -np.eye(3)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for normal, wxyz in zip(normals, upright(normals), strict=True):
        axis = rotation_from_quaternion(wxyz[[1, 2, 3, 0]])[:, 2]
        np.testing.assert_allclose(axis, normal, atol=ROUNDING)


def test_a_run_without_steps_is_refused():
    with pytest.raises(ProblemError, match="no steps to show"):
        Viewer(Trajectory(header(), StepBlock.without_rows(header().model)))


def test_without_viser_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(PluginError, match=r"pip install 'mcpframe\[view\]'"):
        Viewer(run)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_a_browser_shows_the_scene_without_script_errors(viewer):
    playwright = pytest.importorskip("playwright.sync_api")
    image = pytest.importorskip("PIL.Image")
    errors = []
    with playwright.sync_playwright() as start:
        browser = start.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 700, "height": 400})
        page.set_default_timeout(1000.0 * PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda text: errors.append(text.text) if text.type == "error" else None)
        page.goto(viewer.address)
        page.get_by_text("arrow length").wait_for()
        wait_for(lambda: len(colours_left_of_panel(image, page)) > 100)
        browser.close()
    assert errors == []


def colours_left_of_panel(image, page):
    """Colours of the left half of the canvas: a blank one has one, a lit scene has many."""
    page.wait_for_timeout(500.0)
    picture = np.asarray(image.open(io.BytesIO(page.locator("canvas").first.screenshot())).convert("RGB"))
    return np.unique(picture[:, : picture.shape[1] // 2].reshape(-1, 3), axis=0)
