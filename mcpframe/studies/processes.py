"""Worker processes and the ways to them: by inherited handles where the system has these, else by `spawn`.

On Unix the process inherits a pipe and a page of memory by their numbers, and is the head of a group that
ends with it. Windows has neither: there `multiprocessing` starts it and hands the pipe over, and the page is
a file that both open. A program that runs studies there needs ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Protocol

from mcpframe.studies.running.board import SIZE, Board
from mcpframe.studies.running.child import main, main_by_path

INHERITS = os.name == "posix"
"""Whether a process can be given handles by their numbers."""


class Process(Protocol):
    """What is needed of a process."""

    pid: Any

    def poll(self) -> int | None:
        """Return its exit status, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status; raise subprocess.TimeoutExpired where it goes on."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


@dataclass(frozen=True)
class Link:
    """A process and the ways to it."""

    process: Process
    pipe: Connection[Any, Any]
    board: Board
    errors: IO[bytes]

    def end(self) -> None:
        """Kill the process and, where they make a group, all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if isinstance(self.process, subprocess.Popen) and hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def close(self) -> None:
        """Close the ways to a process that has ended."""
        for channel in (self.pipe, self.board, self.errors):
            channel.close()


def start(environment: Mapping[str, str]) -> Link:
    """Start a process that waits for a context."""
    return _by_handles(environment) if INHERITS else _by_spawning(environment)


def _by_handles(environment: Mapping[str, str]) -> Link:
    ours, theirs = Pipe()
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process lives
    with tempfile.TemporaryFile() as page:
        page.truncate(SIZE)
        handles = (theirs.fileno(), page.fileno())
        call = f"from {main.__module__} import main; main({handles[0]}, {handles[1]}, {os.getpid()})"
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", call],  # modules of the working folder are not ours to import
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # solvers may print
            stderr=errors,
            pass_fds=handles,
            start_new_session=True,  # what a solver starts ends with it, and Ctrl-C is ours alone
        )
        board = Board(page.fileno())
    theirs.close()
    return Link(process, ours, board, errors)


class _Spawned:
    """A process of `multiprocessing` that answers as one of `subprocess` does."""

    def __init__(self, process: Any) -> None:
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        status: int | None = self._process.exitcode
        return status

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return int(self._process.exitcode)

    def kill(self) -> None:
        self._process.kill()


class _Folder:
    """The files of errors and page of a spawned process, removed when they are closed."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.errors, self.page = (Path(self.folder.name) / name for name in ("errors", "page"))
        self.page.write_bytes(bytes(SIZE))
        self.stream = self.errors.open("w+b")

    def seek(self, offset: int) -> int:
        return self.stream.seek(offset)

    def read(self) -> bytes:
        return self.stream.read()

    def close(self) -> None:
        self.stream.close()
        self.folder.cleanup()


def _by_spawning(environment: Mapping[str, str]) -> Link:
    ours, theirs = Pipe()
    files = _Folder()
    spawning = multiprocessing.get_context("spawn")
    arguments = (theirs, str(files.page), str(files.errors))
    process = spawning.Process(target=main_by_path, args=arguments, daemon=True)
    with _variables(environment):
        process.start()
    with files.page.open("r+b") as page:
        board = Board(page.fileno())
    theirs.close()
    return Link(_Spawned(process), ours, board, files)  # type: ignore[arg-type]


@contextlib.contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    """Have other variables while a process is started, which inherits them."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
