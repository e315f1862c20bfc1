"""Exceptions out of signal handlers: somebody's wish to stop, not a fault of what was interrupted."""

from __future__ import annotations

import signal
from types import CodeType, TracebackType
from typing import Any


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an exception was raised by a signal handler, wherever it has struck.

    Python runs a handler between two instructions of whatever the main thread is doing, so that its frame
    stands in the traceback of what it raises.
    """
    codes = _handler_codes()
    return any(frame_code in codes for frame_code in _codes(error.__traceback__))


def _codes(trace: TracebackType | None) -> list[CodeType]:
    found = []
    while trace is not None:
        found.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return found


def _handler_codes() -> set[CodeType]:
    """Return the code of all handlers that are written in Python."""
    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    return {code for handler in handlers if (code := _code(handler)) is not None}


def _code(handler: Any) -> CodeType | None:
    function = getattr(handler, "func", handler)  # of a partial
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None
