"""What comes back: a solver's Claim, and the Solution that the framework has certified."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.notebook import html

Array = NDArray[np.float64]

AT_LOWER, AT_UPPER, BASIC = 0, 1, 2
"""Codes of a basis, one per row: z at l (w >= 0), z at u (w <= 0), z in between (w = 0)."""


class Status(Enum):
    """How a solve ended; the value says what the user can do about it."""

    SOLVED = "The residual of every row meets the tolerance."
    INACCURATE = "The solver claimed success, but the residual is too large: try 'auto', or loosen tol."
    RAY = "Pivoting ended on a ray: there may be no solution, or M is outside the method's class; try 'auto'."
    INFEASIBLE = "No z within the bounds gives w the signs it needs: check the data."
    ITERATION_LIMIT = "The iteration limit was reached: raise it, give a warm start, or try 'auto'."
    TIME_LIMIT = "The time limit was reached: raise it, or give a warm start."
    NUMERICAL = "The method broke down: try 'auto', rescale the problem, or regularise it."
    UNSUPPORTED = "This solver does not take this kind of problem: choose another."
    UNPHYSICAL = "Solved, but what came of it breaks physics: lower tol, try another solver or formulation."

    @property
    def remedy(self) -> str:
        """What the user can do."""
        return self.value


@dataclass(slots=True, eq=False)
class Claim:
    """What a solver says it found; never shown to the user before it is certified.

    Attributes:
        z: the best point found [n]; the zero vector is honest when there is none.
        status: the solver's own view; INACCURATE is not for solvers.
        iterations: pivots, sweeps or Newton steps, as the method counts them.
        message: why it stopped, when the status alone does not say it.
        basis: code of every row (AT_LOWER, AT_UPPER, BASIC), for the next warm start.
        ray: direction of z along which pivoting left for infinity, with status RAY.
        farkas: multipliers y of w that prove infeasibility (see `mcpframe.problem.infeasibility`).
        method: which method answered, where one solver uses several.
        relaxed_z: the point before a polish, where the method has two.
        alternatives: further solutions, where the method finds several.
        trace: one line per iteration, printable, where the method keeps one.
    """

    z: Array
    status: Status
    iterations: int = 0
    message: str = ""
    basis: NDArray[np.int8] | None = None
    ray: Array | None = None
    farkas: Array | None = None
    method: str = ""
    relaxed_z: Array | None = None
    alternatives: tuple[Array, ...] = ()
    trace: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A certified answer: w and the residual are recomputed from the problem, whatever the solver said.

    Attributes:
        z: the point, within its bounds [n].
        w: M z + q, or F(z) [n].
        residual: natural residual of z, all rows at one scale; +inf where z or w is not finite.
        scaled_residual: the worst row, each over its own 1 + |q_i|, rounding excused: what is judged.
        status: SOLVED only when scaled_residual <= tol.
        claimed: what the solver had said.
        solver: name of the solver asked; `method` names the one that answered.
        seconds: wall time inside the solver; building the problem and certifying it are not in it.
        relaxed_residual: natural residual before the polish, where the method has two points.
    """

    z: Array
    w: Array
    residual: float
    status: Status
    claimed: Status
    solver: str
    method: str
    iterations: int
    seconds: float
    scaled_residual: float = np.inf
    message: str = ""
    basis: NDArray[np.int8] | None = None
    ray: Array | None = None
    farkas: Array | None = None
    relaxed_residual: float | None = None
    alternatives: tuple[Array, ...] = ()
    trace: tuple[Any, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the framework certified the answer."""
        return self.status is Status.SOLVED

    def log(self) -> str:
        """Return the iterations as text, one line each; empty where the method keeps none."""
        return "\n".join(str(line) for line in self.trace)

    def __repr__(self) -> str:
        why = "" if self.ok else f", {self.why!r}"
        return (
            f"Solution({self.status.name}{why}, residual={self.residual:.2e}, solver={self.solver!r}, "
            f"method={self.method!r}, iterations={self.iterations}, seconds={self.seconds:.3g})"
        )

    def _repr_html_(self) -> str:
        about = {
            "status": html.verdict(self.status.name, self.ok),
            "note": self.message if self.ok else self.why,
            "residual": f"{self.residual:.3g}; at the scale of its row {self.scaled_residual:.3g}",
            "solver": self.solver if self.method in ("", self.solver) else f"{self.solver}, by {self.method}",
            "iterations": self.iterations,
            "time": html.duration(self.seconds),
            "z": html.vector(self.z) if self.ok else "",
        }
        return html.card("Solution", about)

    @property
    def why(self) -> str:
        """Why it is not solved and what can be done about it; empty where it is."""
        return "" if self.ok else f"{self.message.rstrip('.')}. {self.status.remedy}".removeprefix(". ")
