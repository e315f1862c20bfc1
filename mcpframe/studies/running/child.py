"""The process that solves: takes units from a pipe, tells every step of them, and may die at any of them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from mcpframe.studies.running.board import Board
from mcpframe.studies.running.task import Bench
from mcpframe.studies.study.units import Stage, Unit

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def main(pipe_handle: int, board_handle: int, parent: int) -> None:
    """Serve units until the pipe is closed.

    Args:
        pipe_handle: of the pipe.
        board_handle: of the page on which to tell what is being done.
        parent: process that has started this one.
    """
    _die_with(parent)
    pipe, board = Connection(pipe_handle), Board(board_handle)
    try:
        bench = Bench(pipe.recv())
        pipe.send(None)  # ready
        while True:
            _serve(bench, pipe.recv(), pipe, board)
    except (EOFError, BrokenPipeError):  # whoever asked is gone
        return


def _serve(bench: Bench, unit: Unit, pipe: Connection[Any, Any], board: Board) -> None:
    for message in bench.run(unit):
        if isinstance(message, Stage):
            board.write(message)
        else:
            pipe.send(message)
            pipe.recv()  # the watcher has it, and is at rest before the next clock runs
    board.clear()
    pipe.send(None)  # done


def _die_with(parent: int) -> None:
    """Ask the system to end this process with its parent, for a solve that hangs would not notice."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
