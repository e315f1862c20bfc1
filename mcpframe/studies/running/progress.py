"""How a study goes, on a terminal or in a notebook: rows done, failures, what is being solved, time left."""

from __future__ import annotations

from types import TracebackType

from rich import progress

from mcpframe.notebook.progress import progress as bars
from mcpframe.studies.running.measuring import is_failure
from mcpframe.studies.study.units import Made, Message, Stage

COLUMNS = (
    progress.TextColumn("{task.description}"),
    progress.BarColumn(),
    progress.MofNCompleteColumn(),
    progress.TextColumn("{task.fields[failures]}"),
    progress.TimeElapsedColumn(),
    progress.TextColumn("left"),
    progress.TimeRemainingColumn(),
    progress.TextColumn("{task.fields[now]}"),
)
WIDTH = 60
"""Characters of what is being solved."""


class Progress:
    """A bar; silent unless wanted."""

    def __init__(self, name: str, wanted: bool) -> None:
        self._bar = bars(*COLUMNS, wanted=wanted)
        self._task = self._bar.add_task(name, total=None, failures="", now="")
        self._failures = 0

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.update(self._task, now="")
        self._bar.stop()

    def begin(self, total: int, done: int) -> None:
        """Tell how many rows there are, and how many are there already."""
        self._bar.update(self._task, total=total, completed=done, now="")

    def say(self, what: str) -> None:
        """Tell what is being done."""
        self._bar.update(self._task, now=what[-WIDTH:])

    def show(self, message: Message) -> None:
        """Tell what a message brings."""
        if isinstance(message, (Stage, Made)):
            row = message.draft if isinstance(message, Stage) else message.row
            self.say(f"{row.case} {row.formulation} {row.solver}")
        if isinstance(message, Made):
            self._failures += is_failure(message.row)
            failures = f"[red]{self._failures} failed[/]" if self._failures else ""
            self._bar.update(self._task, advance=1, failures=failures)
