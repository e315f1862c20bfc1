"""What a worker is doing, on a page of memory that it shares with its watcher.

A message would wake the watcher at the very moment when a clock begins to run; on the page it is just there,
for the watcher to look at now and then, or when the worker has died.
"""

from __future__ import annotations

import math
import mmap
import pickle
import struct
from time import monotonic

from mcpframe.studies.study.units import Stage

SIZE = 1 << 16
HEAD = struct.Struct("ddq")
"""When the stage began, until when it may last, both by the clock of the machine, and its length in bytes."""


class Board:
    """The page, written by one process and read by another.

    Args:
        handle: of a file of `SIZE` bytes.
    """

    def __init__(self, handle: int) -> None:
        self._page = mmap.mmap(handle, SIZE)

    def write(self, stage: Stage) -> None:
        """Tell what begins now."""
        text, now = pickle.dumps(stage), monotonic()
        if HEAD.size + len(text) > SIZE:  # labels or reasons of a length that nobody reads
            text = b""
        HEAD.pack_into(self._page, 0, now, math.inf, 0)  # no limit while the rest is written
        self._page[HEAD.size : HEAD.size + len(text)] = text
        HEAD.pack_into(self._page, 0, now, now + stage.limit, len(text))

    def clear(self) -> None:
        """Tell that nothing is being done."""
        HEAD.pack_into(self._page, 0, 0.0, math.inf, 0)

    def times(self) -> tuple[float, float]:
        """Return when the stage began and when it should be over."""
        begin, end, _ = HEAD.unpack_from(self._page, 0)
        return begin, end

    def read(self) -> Stage | None:
        """Return what was begun last; None where nothing was, or while it is being written."""
        *_, length = HEAD.unpack_from(self._page, 0)
        try:
            stage: Stage = pickle.loads(self._page[HEAD.size : HEAD.size + length])
        except Exception:  # whatever half a text may raise
            return None
        return stage

    def close(self) -> None:
        """Let go of the page."""
        self._page.close()
