"""Recorders: blocks of steps in, a trajectory out; on disk, nothing that was flushed is ever lost.

A flush is a transaction (`mcpframe.io.journal`): killed at any moment, a run leaves a file that opens and
holds every step up to the last flush, together with the checkpoint that belongs to it. So a run that is
resumed goes on from there as if it had never stopped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from mcpframe.exceptions import FileFormatError, ProblemError
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory, check_widths, file_of, load_steps
from mcpframe.simulation.recording.trajectory_file import Checkpoint, TrajectoryFile

FLUSH_STEPS = 8192
FLUSH_SECONDS = 1.0
"""A block is flushed once so many steps wait, or so long after the last flush: a flush costs a few
milliseconds, whatever its size, and that should not show in the time of a step."""
ENOUGH_STEPS = 8192
"""Blocks of so many steps are written as they are, smaller ones together."""


class Recorder:
    """Takes the steps of one run, in memory or on disk.

    Args:
        header: what the run is.
        file: where the steps go; None keeps them in memory. `Recorder.create` and `Recorder.resume` open it.
        flush_steps, flush_seconds: steps waiting, or seconds passed, after which `append` flushes.

    Attributes:
        header: as given, or as found in the file.
        n_steps: how many steps were recorded.
        checkpoint: arrays that came with the last step; after `resume`, those found in the file. None where
            the last step came without.

    >>> with Recorder.create(header, "run/trajectory.h5") as recorder:  # doctest: +SKIP
    ...     recorder.append(StepBlock(time=[0.0], theta=[theta], theta_dot=[theta_dot]))
    """

    def __init__(
        self,
        header: Header,
        file: TrajectoryFile | None = None,
        flush_steps: int = FLUSH_STEPS,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        self.header, self._file = header, file
        self.flush_steps, self.flush_seconds = flush_steps, flush_seconds
        self.n_steps = 0 if file is None else file.n_steps
        self._latest = None if file is None else file.last()
        self.checkpoint = None if file is None else file.checkpoint()
        self._waiting: list[StepBlock] = []
        self._n_waiting, self._flushed, self._closed = 0, time.monotonic(), False

    @staticmethod
    def create(
        header: Header,
        path: str | os.PathLike[str],
        flush_steps: int = FLUSH_STEPS,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> Recorder:
        """Start a new file; one that holds a run already is refused. Arguments as of the class."""
        return Recorder(header, TrajectoryFile.create(Path(path), header), flush_steps, flush_seconds)

    @staticmethod
    def resume(
        path: str | os.PathLike[str],
        flush_steps: int = FLUSH_STEPS,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> Recorder:
        """Go on with the file or folder of a run after its last complete step. Arguments as of the class."""
        file = TrajectoryFile.open(file_of(path))
        return Recorder(file.header, file, flush_steps, flush_seconds)

    @property
    def last(self) -> StepBlock | None:
        """The last step that was recorded, None before the first."""
        n = 0 if self._latest is None else len(self._latest)
        return None if self._latest is None else self._latest.rows(n - 1, n)

    def append(self, block: StepBlock, checkpoint: Checkpoint | None = None) -> None:
        """Record a block of steps; its arrays are copied and may be used again. Arguments as of `take`."""
        self.take(StepBlock.concatenate([block]), checkpoint)

    def take(self, block: StepBlock, checkpoint: Checkpoint | None = None) -> None:
        """Record a block of steps and keep its arrays, which must not be changed any more.

        Args:
            block: steps that follow those recorded so far.
            checkpoint: arrays that a run which is resumed after this block needs beside the last state, such
                as the solver's last basis.
        """
        self._check(block)
        if not len(block):
            return
        self._waiting.append(block)
        self.n_steps += len(block)
        self._n_waiting += len(block)
        self._latest = self._waiting[-1]
        self.checkpoint = None if checkpoint is None else {k: np.array(v) for k, v in checkpoint.items()}
        if self._n_waiting >= self.flush_steps or time.monotonic() - self._flushed >= self.flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Bring everything recorded so far to disk; a run in memory has nothing to do."""
        if self._file is None or not self._waiting:
            return
        try:
            self._file.append(_gathered(self._waiting), self.checkpoint or {})
        except FileFormatError:
            self._closed = True  # and so is the file: as it was after the last flush
            raise
        self._waiting.clear()
        self._n_waiting, self._flushed = 0, time.monotonic()

    def take_header(self, header: Header) -> None:
        """Go on under another header, as where a resumed run is to last longer."""
        self.header = header
        if self._file is not None:
            self._file.take_header(header)

    def finish(self) -> Trajectory:
        """Close the recorder and return what it has recorded."""
        if self._file is None or (self._n_waiting == self.n_steps and not self._closed):  # all are here
            whole = StepBlock.concatenate([StepBlock.without_rows(self.header.model), *self._waiting])
            self._waiting = [whole]
            self.close()
            return Trajectory(self.header, whole)
        if self._closed:
            return Trajectory(self.header, load_steps(self._file.path, self.header.model))
        self.flush()
        steps = self._file.steps()
        self.close()
        return Trajectory(self.header, steps)

    def close(self) -> None:
        """Flush, and close the file."""
        if not self._closed:
            self.flush()
            self._closed = True
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check(self, block: StepBlock) -> None:
        if self._closed:
            raise ProblemError("the recorder is closed; Recorder.resume opens its file again")
        check_widths(self.header.model, block)
        before = -np.inf if self._latest is None else self._latest.time[-1]
        late = np.flatnonzero(~(np.diff(block.time, prepend=before) > 0.0))
        if late.size:
            raise ProblemError(
                f"time: step {self.n_steps + late[0]} at {block.time[late[0]]} s "
                "does not come after the step before it"
            )


def _gathered(blocks: Sequence[StepBlock]) -> Iterator[StepBlock]:
    """Yield the steps of blocks, small ones put together: a block costs HDF5 a quarter of a millisecond."""
    few: list[StepBlock] = []
    for block in blocks:
        few.append(block)
        if block is blocks[-1] or sum(map(len, few)) >= ENOUGH_STEPS:
            yield few[0] if len(few) == 1 else StepBlock.concatenate(few)
            few = []
