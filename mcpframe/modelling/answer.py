"""The answer to a model, by the names of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import ProblemError, nearest
from mcpframe.modelling.expressions import Family, Variable
from mcpframe.notebook import html
from mcpframe.problem.problems import Problem
from mcpframe.solving.solution import Solution, Status

if TYPE_CHECKING:
    from mcpframe.modelling.model import Block

Array = NDArray[np.float64]
HEADS = ("variable", "lower", "value", "upper", "slack")


class Answer:
    """Values and slacks of a model, certified by the framework.

    ``answer["x"]`` or ``answer[x]`` is the value of a variable: a number, or a dict by key; any expression
    may be asked for in the same way. `slack` is w of a variable's pair: the dual of its bounds.

    Attributes:
        solution: as `mcpframe.solve` returned it, with status, residual, iterations and log.
    """

    def __init__(
        self,
        name: str,
        variables: Mapping[str, Block],
        parameters: Mapping[str, Block],
        problem: Problem,
        p: Array,
        solution: Solution,
    ) -> None:
        self.solution, self.problem = solution, problem
        self._name, self._p = name, p
        self._variables, self._parameters = variables, parameters

    @property
    def ok(self) -> bool:
        """Whether the framework certified the answer."""
        return self.solution.ok

    @property
    def status(self) -> Status:
        """How the solve ended."""
        return self.solution.status

    @property
    def values(self) -> dict[str, Any]:
        """Values of all variables by name."""
        return {name: self[name] for name in self._variables}

    def __getitem__(self, what: Any) -> Any:
        if isinstance(what, str | Variable | Family):
            return self._of(what, self.solution.z)
        if not isinstance(what, casadi.SX):
            raise ProblemError(f"{what!r}: ask for a variable, its name, or an expression")
        symbols = [[e for block in blocks.values() for e in block.entries] for blocks in self._blocks()]
        columns = [casadi.vertcat(casadi.SX(0, 1), *own) for own in symbols]
        made = np.asarray(casadi.Function("value", columns, [casadi.densify(what)])(self.solution.z, self._p))
        return float(made.item()) if made.size == 1 else made

    def slack(self, variable: str | Variable | Family) -> Any:
        """Return w of the pair of a variable: a number, or a dict by key.

        It is positive or zero where the variable rests on its lower bound, negative or zero on the upper one,
        zero in between.
        """
        return self._of(variable, self.solution.w)

    def rows(self) -> list[tuple[str, float, float, float, float]]:
        """Return name, lower bound, value, upper bound and slack of every variable."""
        labels = [label for block in self._variables.values() for label in block.labels]
        columns = (self.problem.lower, self.solution.z, self.problem.upper, self.solution.w)
        numbers = (column.tolist() for column in columns)
        return list(zip(labels, *numbers, strict=True))

    def log(self) -> str:
        """Return the iterations as text, with the names of variables; `path` keeps PATH's columns."""
        return self.solution.log()

    def __repr__(self) -> str:
        solved = self.solution
        ended = f"{solved.status.name}, residual={solved.residual:.2e}, solver={solved.solver!r}"
        return f"Answer({self._name!r}, {ended})"

    def __str__(self) -> str:
        cells = [HEADS, *((name, *(f"{x:.6g}" for x in numbers)) for name, *numbers in self.rows())]
        widths = [max(len(line[k]) for line in cells) for k in range(len(HEADS))]
        table = (
            "  ".join(
                [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in cells
        )
        return "\n".join([f"{self!r}", *table])

    def _repr_html_(self) -> str:
        about = {
            "status": html.verdict(self.status.name, self.ok),
            "residual": f"{self.solution.residual:.3g}",
        }
        cells = [(name, *(f"{x:.6g}" for x in numbers)) for name, *numbers in self.rows()]
        return html.card(f"Answer of {self._name!r}", about, html.grid(HEADS, cells))

    def _blocks(self) -> tuple[Mapping[str, Block], Mapping[str, Block]]:
        return self._variables, self._parameters

    def _of(self, variable: str | Variable | Family, numbers: Array) -> Any:
        if isinstance(variable, Variable):
            labels = [label for block in self._variables.values() for label in block.labels]
            return float(numbers[labels.index(variable.label)])
        name = variable.name if isinstance(variable, Family) else variable
        if name not in self._variables:
            raise ProblemError(f"{name!r}: the model has no such variable;{nearest(name, self._variables)}")
        own = numbers[self.problem.layout[name]].tolist()
        keys = self._variables[name].keys
        return own[0] if keys is None else dict(zip(keys, own, strict=True))
