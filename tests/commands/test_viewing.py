"""``mcpframe view`` draws and serves; misuse is one line."""

import signal
import subprocess
import sys
import urllib.request
from functools import partial

import numpy as np
import pytest
from runs import header, steps

pytest.importorskip("matplotlib")

from PIL import Image

from mcpframe.cli import main
from mcpframe.simulation.recording.trajectory import Trajectory

N = 41
PATIENCE = 60.0
"""Seconds that a slow machine may take to start or end a process."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    Trajectory(header(), steps(header().model, N)).save(place / "trajectory.h5")
    return place


def test_a_strip_an_overlay_and_a_film_are_written_at_once(folder, tmp_path, capsys):
    names = {"--strip": "strip.png", "--overlay": "overlay.png", "--gif": "film.gif"}
    words = [word for flag, name in names.items() for word in (flag, str(tmp_path / name))]
    assert main(["view", str(folder), *words, "--frames", "3", "--fps", "10"]) == 0
    said = capsys.readouterr().out.replace("\n", "")
    for name in names.values():
        assert name in said
        with Image.open(tmp_path / name) as picture:
            assert len(np.unique(np.asarray(picture.convert("RGB"))[::5, ::5].reshape(-1, 3), axis=0)) > 20
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 5, "0.4 s at 10 pictures per second"


def test_a_part_of_the_run_can_be_drawn(folder, tmp_path):
    path = tmp_path / "film.gif"
    words = ["view", str(folder), "--gif", str(path), "--from", "0.1", "--to", "0.3", "--fps", "10"]
    assert main(words) == 0
    with Image.open(path) as film:
        assert film.n_frames == 3


def test_cameras_have_names_or_angles(folder, tmp_path):
    pictures = []
    for camera in ("side", "top", "-90,0"):
        path = tmp_path / f"{len(pictures)}.png"
        assert main(["view", str(folder), "--strip", str(path), "--frames", "1", "--camera", camera]) == 0
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[2] != pictures[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--camera", "behind"], "--camera behind: give side, front, top, corner"),
        (["--from", "0.3", "--to", "0.1"], "--from 0.3 --to 0.1: the run lasts from 0 to 0.4 s"),
        (["--from", "9"], "the run lasts from 0 to 0.4 s"),
        (["--strip", "strip.png", "--frames", "0"], "--frames"),
        (["--port", "99999"], "--port"),
    ],
)
def test_misuse_is_one_line(folder, words, said, capsys):
    assert main(["view", str(folder), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_folder_without_a_run_is_named(tmp_path, capsys):
    assert main(["view", str(tmp_path)]) == 2
    assert "trajectory.h5: no such file" in capsys.readouterr().err


def test_without_viser_one_line_says_how_to_get_it(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", str(folder), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'mcpframe[view]'" in error
    assert error.count("\n") == 1


def test_the_page_is_served_until_it_is_interrupted(folder):
    pytest.importorskip("viser")
    words = [sys.executable, "-m", "mcpframe", "view", str(folder), "--no-browser", "--port", "0"]
    # Whoever runs the tests in the background may have made SIGINT ignored, which children inherit.
    heed = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, preexec_fn=heed) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            address = next(word for word in said.split() if word.startswith("http"))
            with urllib.request.urlopen(address, timeout=PATIENCE) as page:
                assert page.status == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
