"""Bars that tell how far work has come: by rich on a terminal, as HTML that is replaced in a notebook.

Rich's own bars need ipywidgets in a notebook; a display that is updated needs nothing but the notebook.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from time import monotonic
from types import TracebackType
from typing import Any

from rich import progress as rich_progress
from rich.console import Console
from rich.text import Text

EVERY = 0.1
"""Seconds between two updates of a display."""


def in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook, where HTML is shown."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def progress(*columns: rich_progress.ProgressColumn, wanted: bool, transient: bool = False) -> Any:
    """Return bars that fit where they are shown; `add_task`, `update`, `start` and `stop` are as in rich.

    Args:
        columns: of bars on a terminal; in a notebook the fields of a task stand behind its bar.
        wanted: False is silent.
        transient: bars on a terminal vanish at the end; in a notebook a line stays that tells the time.
    """
    if wanted and in_notebook():
        return NotebookProgress()
    console = Console(stderr=True, force_jupyter=False)
    return rich_progress.Progress(*columns, disable=not wanted, console=console, transient=transient)


@dataclass
class _Task:
    name: str
    total: float | None
    completed: float = 0.0
    fields: dict[str, str] = field(default_factory=dict)

    def html(self, elapsed: float) -> str:
        share = min(self.completed / self.total, 1.0) if self.total else None
        known = "" if share is None else f' value="{share:.4f}" max="1"'
        told = [] if share is None else [f"{share:.0%}"]
        told += [Text.from_markup(text).plain for text in self.fields.values() if text]
        if share:
            told.append(f"{elapsed * (1.0 - share) / share:.0f} s left")
        return f"<div>{escape(self.name)} <progress{known}></progress> {escape(', '.join(told))}</div>"


class NotebookProgress:
    """Bars in the output of a cell."""

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._start = monotonic()
        self._last = 0.0
        self._display: Any = None

    def add_task(self, description: str, total: float | None = None, **fields: str) -> int:
        """Add a bar and return its number."""
        self._tasks.append(_Task(description, total, fields=fields))
        return len(self._tasks) - 1

    def update(
        self,
        task: int,
        *,
        description: str | None = None,
        total: float | None = None,
        completed: float | None = None,
        advance: float = 0.0,
        **fields: str,
    ) -> None:
        """Change what a bar tells; it is shown a few times a second."""
        bar = self._tasks[task]
        bar.name = bar.name if description is None else description
        bar.total = bar.total if total is None else total
        bar.completed = (bar.completed if completed is None else completed) + advance
        bar.fields |= fields
        if self._display is not None and monotonic() - self._last >= EVERY:
            self._show("".join(bar.html(monotonic() - self._start) for bar in self._tasks))

    def advance(self, task: int, advance: float = 1.0) -> None:
        """Tell that so much more is done."""
        self.update(task, advance=advance)

    def start(self) -> None:
        """Show the bars from now on."""
        self._start = monotonic()
        self._display = _ipython().display(_ipython().HTML(""), display_id=True)

    def stop(self) -> None:
        """Leave a line for every bar that tells how long it took."""
        took = f"{monotonic() - self._start:.1f} s"
        self._show("".join(f"<div>{escape(bar.name)}: {took}{_last_words(bar)}</div>" for bar in self._tasks))
        self._display = None

    def __enter__(self) -> NotebookProgress:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _show(self, text: str) -> None:
        self._last = monotonic()
        self._display.update(_ipython().HTML(text))


def _ipython() -> Any:
    """Return what displays, which is there in every notebook and has no types."""
    return import_module("IPython.display")


def _last_words(bar: _Task) -> str:
    """Return what was told last, behind a colon."""
    told = ", ".join(Text.from_markup(text).plain for text in bar.fields.values() if text)
    return f" ({escape(told)})" if told else ""
