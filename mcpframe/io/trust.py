"""Code that scenes and studies name: run only where somebody has said so.

A scene may name functions (``function = "walk.py:walk"``) and a study modules that register plugins
(``imports = ["peers.py"]``). To open such a file is then to run a program of whoever wrote it. In Python the
caller is a program already, and the default is to run it; the command line asks for --allow-code, or for
`VARIABLE` in the environment; checks never run any. Installed plugins are not meant: who installed them has
said so.
"""

from __future__ import annotations

import os
import sys
from enum import Enum
from functools import lru_cache

from mcpframe.exceptions import OptionError

VARIABLE = "MCPFRAME_ALLOW_CODE"
"""Set to 1, it allows on the command line what --allow-code does."""


class Code(Enum):
    """What becomes of code that a file names."""

    RUN = "run"
    TELL = "run, and say so on stderr"
    REFUSE = "raise an error"
    SKIP = "leave it alone, as checks do"

    @staticmethod
    def of(allowed: bool | Code) -> Code:
        """Return RUN or REFUSE for true or false."""
        return allowed if isinstance(allowed, Code) else Code.RUN if allowed else Code.REFUSE

    @staticmethod
    def of_command(flag: bool) -> Code:
        """Return what a command does, by its flag --allow-code and the environment."""
        return Code.TELL if flag or os.environ.get(VARIABLE, "") not in ("", "0") else Code.REFUSE

    def admits(self, name: str) -> bool:
        """Return whether code is to be run.

        Args:
            name: of the code, as the file has it.

        Raises:
            OptionError: it is refused; the message says how to allow it.
        """
        if self is Code.REFUSE:
            raise OptionError(
                f"{name!r} is Python code, which is not run unasked; if you trust it, add --allow-code, set "
                f"{VARIABLE}=1, or in Python pass allow_code=True"
            )
        if self is Code.TELL:
            _tell(name)
        return self is not Code.SKIP


@lru_cache
def _tell(name: str) -> None:
    """Say once what is run."""
    print(f"mcpframe: note: runs the code of {name!r}, which is allowed", file=sys.stderr)
