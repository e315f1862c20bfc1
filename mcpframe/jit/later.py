"""The signature of a kernel that is not compiled yet."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any


class Later:
    """A signature that is found when somebody asks: what a kernel returns is known once it is compiled.

    So a module that calls a kernel by its address neither compiles nor loads it when it is imported.
    """

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    @cached_property
    def now(self) -> Any:
        """The signature, for which the kernel is compiled or loaded."""
        return self._find()

    @property
    def args(self) -> Any:
        """Types of its arguments."""
        return self.now.args

    @property
    def return_type(self) -> Any:
        """Type of what it returns."""
        return self.now.return_type
