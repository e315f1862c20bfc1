"""Files of strangers: what other libraries raise on them becomes our error, and sizes are checked first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mcpframe.exceptions import FileFormatError, McpframeError
from mcpframe.interrupts import is_interrupt

ALWAYS, RATIO = 1 << 28, 100
"""Bytes that a file may take in memory whatever its own size, 256 MB; beyond them, how many times its size.

A few kilobytes can declare any size, by compression or by rows that were never written. What compresses a
hundredfold is hardly a problem that somebody wants solved."""


@contextmanager
def reading(where: str, what: str) -> Iterator[None]:
    """Turn what other libraries raise meanwhile into a FileFormatError; errors of mcpframe pass.

    Their readers do not say what they raise on damaged bytes, and it is a long list: a fuzz of .npz files met
    twelve types. So all are taken, and the first one stays the cause, for --debug.

    Args:
        where: file and, where it is known, the field.
        what: the end of the sentence: "is not a complete .npz file".
    """
    try:
        yield
    except (McpframeError, Warning):  # a warning is raised where a user has made it an error
        raise
    except Exception as error:
        if is_interrupt(error):
            raise
        raise FileFormatError(f"{where}: {what} ({first_line(error)})") from error


def first_line(error: BaseException) -> str:
    """Return what an error says, in a line; its type where it says nothing."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def check_size(where: str, declared: int, stored: int) -> None:
    """Raise FileFormatError where data declare many times more bytes than there are.

    Args:
        where: file and field.
        declared: bytes that they will take in memory.
        stored: bytes that they take in the file.
    """
    if declared > max(ALWAYS, RATIO * stored):
        raise FileFormatError(
            f"{where}: declares {declared / 1e9:.3g} GB and has {stored} bytes; more than {RATIO} times as "
            "much is not unpacked"
        )
