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
    _serve_all(Connection(pipe_handle), Board(board_handle))


def main_by_path(pipe: Connection[Any, Any], page: str, errors: str) -> None:
    """Serve units until the pipe is closed, with what a process has that inherits no handles.

    Args:
        pipe: to whoever asks.
        page: file of the page on which to tell what is being done.
        errors: file for what this process says; what solvers print goes nowhere.
    """
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - as long as the process lives
    sys.stderr = open(errors, "w")  # noqa: SIM115
    with open(page, "r+b") as stream:
        board = Board(stream.fileno())
    _serve_all(pipe, board)


def _serve_all(pipe: Connection[Any, Any], board: Board) -> None:
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
