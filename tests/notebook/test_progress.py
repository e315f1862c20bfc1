"""Bars in a notebook: HTML that is replaced, by the display that every notebook has."""

import sys
from types import SimpleNamespace

import pytest
from rich.progress import BarColumn, Progress, TextColumn

import mcpframe as mf
from mcpframe.notebook import progress as bars
from mcpframe.notebook.progress import NotebookProgress, in_notebook, progress


class Screen:
    """What a notebook shows: the last update of every display."""

    def __init__(self):
        self.shown, self.updates = [], 0

    def HTML(self, text):
        return text

    def display(self, text, display_id):
        assert display_id is True
        self.shown.append(text)
        return SimpleNamespace(update=self._update)

    def _update(self, text):
        self.shown[-1] = text
        self.updates += 1


@pytest.fixture
def screen(monkeypatch):
    """A notebook that is not there: a shell with a kernel, and a display that remembers."""
    screen = Screen()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", screen)
    monkeypatch.setattr(bars, "EVERY", 0.0)
    return screen


def test_only_the_kernel_of_a_notebook_is_a_notebook(screen, monkeypatch):
    assert in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not in_notebook()  # IPython on a terminal
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert not in_notebook()


def test_a_bar_tells_share_and_fields_and_ends_as_a_line_with_the_time(screen):
    with progress(TextColumn(""), BarColumn(), wanted=True) as bar:
        assert isinstance(bar, NotebookProgress)
        task = bar.add_task("<study>", total=4, note="")
        bar.update(task, completed=1, note="[red]1 failed[/]")
        assert '&lt;study&gt; <progress value="0.2500" max="1"></progress> 25%, 1 failed' in screen.shown[-1]
        bar.advance(task)
        assert 'value="0.5000"' in screen.shown[-1]
    assert len(screen.shown) == 1
    assert screen.shown[0].startswith("<div>&lt;study&gt;: 0.0 s (1 failed)")
    assert "<progress" not in screen.shown[0]


def test_a_bar_of_unknown_length_just_moves(screen):
    with progress(wanted=True) as bar:
        bar.update(bar.add_task("plan"), now="counting")
        assert "<progress></progress> counting" in screen.shown[-1]


def test_updates_are_few(screen, monkeypatch):
    monkeypatch.setattr(bars, "EVERY", 1e9)
    with progress(wanted=True) as bar:
        task = bar.add_task("rows", total=1000)
        bar._last = bars.monotonic()
        for _ in range(1000):
            bar.advance(task)
        assert screen.updates == 0
    assert screen.updates == 1


def test_a_terminal_has_richs_bar_and_who_asks_for_none_gets_none(screen, monkeypatch):
    assert isinstance(progress(wanted=False), Progress)
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert isinstance(progress(wanted=True), Progress)


def test_a_run_shows_its_time_and_contacts(screen):
    scene = mf.Scene(mf.systems.sphere(), name="ball")
    mf.simulate(scene, duration=0.02, progress=True)
    assert len(screen.shown) == 1
    assert screen.shown[0].startswith("<div>ball: ")
    assert "t = 0.020 s, 1 contacts" in screen.shown[0]
