"""A worker process under watch: what hangs is stopped, what dies is replaced, and both become rows."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from time import monotonic
from typing import IO, Any

from mcpframe.exceptions import McpframeError
from mcpframe.solving.solution import Status
from mcpframe.studies.processes import Link, start
from mcpframe.studies.running.board import Board
from mcpframe.studies.running.measuring import failed
from mcpframe.studies.running.task import Context
from mcpframe.studies.study.row import CRASHED, Row
from mcpframe.studies.study.units import Labelled, Made, Message, Recorded, Saved, Stage, Unit

START_LIMIT = 600.0
"""Seconds for a process to import and, at the very first, to compile the kernels."""
TICK = 0.2
"""Seconds between two looks at what a process is doing."""
DYING = 10.0
"""Seconds for a process to be gone once its pipe is closed; writing its memory out may take some."""
THREAD_VARIABLES = ("OPENBLAS", "OMP", "MKL", "NUMBA", "NUMEXPR", "RAYON", "BLIS")
"""Libraries whose number of threads is set by NAME_NUM_THREADS."""


class WorkerError(McpframeError):
    """A worker process could not be started."""


@dataclass(frozen=True)
class Lost:
    """A worker that had to be stopped, or died.

    Attributes:
        stage: what it was doing.
        seconds: for how long.
        reason: in words.
        overran: whether it was stopped.
    """

    stage: Stage
    seconds: float
    reason: str
    overran: bool


class Guard:
    """Runs units in a process of its own, which it starts when needed and replaces when lost.

    Args:
        context: what the process must know.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.closed = False
        self._link: Link | None = None

    def run(self, unit: Unit) -> Iterator[Message]:
        """Yield what happens; every job ends in a row, whatever becomes of the process."""
        while unit.jobs:
            for message in self._attempt(unit):
                if isinstance(message, Lost):
                    unit = yield from self._after_loss(unit, message)
                    break
                yield message
                if not isinstance(message, Stage):
                    unit = unit.after(1)
                if isinstance(message, Made) and message.carry is not None:
                    unit = replace(unit, carry=message.carry)

    def stop(self) -> None:
        """End the process, from any thread; a unit that is under way ends with a WorkerError."""
        self.closed = True
        self._kill(0.0)

    def close(self) -> None:
        """End the process and let go of it."""
        self.stop()
        self._forget()

    def _after_loss(self, unit: Unit, lost: Lost) -> Any:
        """Yield the row of a job that took its process with it; return the unit that is left."""
        if lost.stage.what == "warm":
            return replace(unit, unwarmed=unit.unwarmed | {unit.jobs[0].solver})
        if unit.kind == "labels":
            yield Labelled(lost.stage.draft.case, dict(lost.stage.draft.labels))
        elif unit.kind == "problem":
            yield Saved(b"")
        elif unit.kind == "record":
            yield Recorded(unit.source, unit.group, {}, lost.reason)
        else:
            saving = replace(unit, kind="problem", jobs=unit.jobs[:1])
            saved = [message for message in self.run(saving) if isinstance(message, Saved)]
            yield Made(_row_of(lost), problem=saved[0].problem or None)
        return unit.after(1)

    def _attempt(self, unit: Unit) -> Iterator[Message | Lost]:
        """Yield what a process tells about a unit, and its loss where it is lost."""
        pipe, board = self._started()
        try:
            pipe.send(unit)
            while True:
                if not pipe.poll(TICK):
                    if monotonic() > board.times()[1]:
                        raise TimeoutError
                    stage = board.read()
                    if stage is not None:
                        yield stage
                    continue
                message = pipe.recv()
                if message is None:
                    return
                yield message
                pipe.send(None)  # taken
        except (TimeoutError, EOFError, OSError) as error:
            yield self._lost(isinstance(error, TimeoutError))

    def _lost(self, overran: bool) -> Message | Lost:
        """End the process; return what it was doing, or what it has sent in the meantime."""
        assert self._link is not None
        pipe, board = self._link.pipe, self._link.board
        status = self._kill(0.0 if overran else DYING)
        try:
            if self.closed:
                raise WorkerError("stopped")
            if overran:
                with contextlib.suppress(EOFError, OSError):  # unless it was just about to answer
                    message: Message = pipe.recv()
                    return message
            stage, seconds = board.read(), monotonic() - board.times()[0]
            if stage is None:
                raise WorkerError(f"a worker process was lost before it began ({_ending(status)})")
            return Lost(stage, seconds, "" if overran else _ending(status), overran)
        finally:
            self._forget()

    def _started(self) -> tuple[Connection[Any, Any], Board]:
        """Return the pipe to a process that is ready, and its board."""
        if self._link is not None and self._link.process.poll() is None:
            return self._link.pipe, self._link.board
        self._forget()  # it has died in between, of want of memory perhaps
        link = self._link = start(_environment(self.context.study.settings.threads))
        ours, board, errors = link.pipe, link.board, link.errors
        board.clear()
        try:
            ours.send(self.context)
            if not ours.poll(START_LIMIT):
                raise EOFError
            ours.recv()
        except (EOFError, OSError):
            raise self._not_started(errors) from None
        if self.closed:  # stopped by another thread before there was a process to end
            raise self._not_started(errors)
        return ours, board

    def _not_started(self, errors: IO[bytes]) -> WorkerError:
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
        self._kill(0.0)
        self._forget()
        return WorkerError("stopped" if self.closed else f"a worker process could not be started: {said[-1]}")

    def _kill(self, patience: float) -> int:
        """Kill the process and all it has started; return its exit status, negative for a signal.

        Args:
            patience: seconds to wait for one that is ending by itself.
        """
        link = self._link
        if link is None:
            return 0
        with contextlib.suppress(subprocess.TimeoutExpired):
            link.process.wait(patience)
        link.end()
        return link.process.wait()

    def _forget(self) -> None:
        """Close the ways to a process that has ended."""
        link, self._link = self._link, None
        if link is not None:
            link.close()


def _environment(threads: int) -> dict[str, str]:
    """Return the variables of a worker: threads of linear algebra, and the paths of this process."""
    fixed = {f"{name}_NUM_THREADS": str(threads) for name in THREAD_VARIABLES}
    fixed["VECLIB_MAXIMUM_THREADS"] = str(threads)
    return {**os.environ, **fixed, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _row_of(lost: Lost) -> Row:
    draft = lost.stage.draft
    if lost.stage.what == "solve":
        draft = replace(draft, solve_seconds=lost.seconds)
    prefix = "" if lost.stage.what == "solve" else f"{lost.stage.what}: "
    if lost.overran:
        return failed(draft, Status.TIME_LIMIT.name, f"{prefix}went on after the time limit and was stopped")
    return failed(draft, CRASHED, f"{prefix}{lost.reason}")


def _ending(status: int) -> str:
    if status >= 0:
        return f"its process ended with exit status {status}"
    name = signal.Signals(-status).name
    memory = ", which the system does for want of memory" if name == "SIGKILL" else ""
    return f"its process was killed by {name}{memory}"
