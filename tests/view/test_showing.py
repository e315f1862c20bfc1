"""`run.plot()` is a picture, and `run.show()` shows the run where the user is."""

import io
import sys
from types import SimpleNamespace

import pytest
from runs import header, steps

import mcpframe as mf
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view import showing

PIL = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def run():
    about = header()
    return Trajectory(about, steps(about.model, 30))


@pytest.fixture
def notebook(monkeypatch):
    """A notebook that is not there, and what it was told to display."""
    shown = []
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.append))
    return shown


def test_a_plot_is_a_picture_that_a_cell_shows_and_a_file_keeps(run, tmp_path):
    picture = run.plot()
    assert PIL.open(io.BytesIO(picture.data)).format == "PNG"
    assert picture._repr_html_().startswith('<img src="data:image/png;base64,iVBOR')
    assert picture.save(tmp_path / "run.png").read_bytes() == picture.data
    assert len(repr(picture)) < 40
    with pytest.raises(mf.FileFormatError, match="cannot be written"):
        picture.save(tmp_path / "missing" / "run.png")


def test_a_notebook_shows_a_film_or_a_strip(run, notebook):
    run.show()
    run.show(strip=True)
    film, strip = (PIL.open(io.BytesIO(picture.data)) for picture in notebook)
    assert (film.format, strip.format) == ("GIF", "PNG")
    assert film.n_frames == 4  # 0.29 s at 12.5 pictures a second


def test_a_film_of_a_long_run_is_played_faster(run, monkeypatch):
    monkeypatch.setattr(showing, "LONGEST", 0.1)
    assert PIL.open(io.BytesIO(showing.film(run).data)).n_frames == 2


def test_elsewhere_the_viewer_plays(run, monkeypatch):
    played = []
    monkeypatch.setattr(showing, "play", played.append)
    run.show()
    assert played == [run]
    with pytest.raises(mf.OptionError, match="strip: shown in a notebook only"):
        run.show(strip=True)
