"""What an onlooker of a simulation is told: every problem that was solved for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcpframe.contact.step import ContactStep
from mcpframe.problem.cone import StepProblem
from mcpframe.solving.solution import Solution

Kind: TypeAlias = Literal["step", "compression", "decompression"]


@dataclass(frozen=True, eq=False)
class Observation:
    """One problem of a run and its solution; trials that a search throws away are not told.

    Attributes:
        problem, solution: what was solved, and how.
        kind: of a smooth step, or of a phase of an impact. Newton's law has a compression alone.
        time: at which the step begins, or the impact happens, s.
        dt: length of the step, s; zero for an impact.
        step: what the problem was built from. It reads the state of the run: valid during the call alone.
    """

    problem: StepProblem
    solution: Solution
    kind: Kind
    time: float
    dt: float
    step: ContactStep


Observer: TypeAlias = Callable[[Observation], None]
