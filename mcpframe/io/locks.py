"""Locks on open files, held until the file is closed or its process dies.

Unix has `fcntl.flock`, Windows `msvcrt.locking`. Where Python has neither, there is one process, or nobody
to tell of another: every lock is granted.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import IO, Any

FAR = 1 << 62
"""Offset of the byte that is locked on Windows, where nobody can read what another one has locked."""


def try_lock(stream: IO[Any], *, shared: bool = False) -> bool:
    """Lock an open file without waiting; return False where another one holds it.

    Args:
        stream: the file.
        shared: many may hold it so at once, as readers do; on Windows they exclude each other too.
    """
    fcntl, msvcrt = _module("fcntl"), _module("msvcrt")
    try:
        if fcntl is not None:
            fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        elif msvcrt is not None:
            at = stream.tell()
            stream.seek(FAR)
            try:
                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                stream.seek(at)
    except OSError:
        return False
    return True


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
