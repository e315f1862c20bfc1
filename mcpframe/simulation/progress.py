"""A bar, on the terminal or in a notebook, that tells how far a run has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from mcpframe.notebook.progress import progress
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.steps import StepBlock

Show = Callable[[StepBlock], None]


@contextmanager
def progress_bar(scene: Scene, wanted: bool) -> Iterator[Show]:
    """Yield what shows simulated time, contacts and residual after a block of steps."""
    if not wanted:
        yield lambda block: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with progress(*columns, wanted=True, transient=True) as bar:
        task = bar.add_task(scene.name, total=scene.stepping.duration, note="")

        def show(block: StepBlock) -> None:
            time = float(block.time[-1])
            note = f"t = {time:.3f} s, {block.n_contacts[-1]} contacts, residual {_worst(block):.0e}"
            bar.update(task, completed=time - scene.time, note=note)

        yield show


def _worst(block: StepBlock) -> float:
    """Return the largest residual of a block, zero where nothing was solved."""
    solved = block.residual[block.residual == block.residual]  # not NaN
    return float(solved.max(initial=0.0))
