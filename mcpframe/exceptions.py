"""Errors of mcpframe: raised on misuse, never for a solve that did not converge (that is a Status)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpframe.solving.solution import Solution


class McpframeError(Exception):
    """Base of every error that mcpframe raises on purpose."""


class ProblemError(McpframeError, ValueError):
    """Problem data cannot be used; the message names the field and the value."""


class ModelError(McpframeError, ValueError):
    """A link, hinge, shape, closure or coordinate cannot be used; the message names it and the value."""


class ModelWarning(UserWarning):
    """A robot file holds something that the model does not have, or not as written; the message names it."""


class OptionError(McpframeError, ValueError):
    """An option is unknown, has the wrong type or is out of range."""


class PluginError(McpframeError, LookupError):
    """A plugin is unknown, cannot run here, or two packages claim its name."""


class FileFormatError(McpframeError, ValueError):
    """A file is truncated, of another kind, or misses a field."""


class NotSolvedError(McpframeError):
    """Raised by ``solve(..., throw=True)`` when the answer is not certified.

    Attributes:
        solution: what the solver returned, with its status and residual.
        problem: what it was asked, where that is kept.
    """

    def __init__(self, solution: Solution, problem: Any = None) -> None:
        self.solution, self.problem = solution, problem
        super().__init__(
            f"{solution.solver}: {solution.status.name} (natural residual {solution.residual:.3g}). "
            f"{solution.message or solution.status.remedy}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.solution, self.problem)  # pickled by what it is made from, not by its text


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` did you mean 'x'?`` for the closest known name, or an empty string."""
    match = difflib.get_close_matches(name, list(known), n=1)
    return f" did you mean {match[0]!r}?" if match else ""
