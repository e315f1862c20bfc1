"""The log of the path solver: typed lines that print like PATH's."""

from __future__ import annotations

from typing import NamedTuple

LEGEND = """\
type: I start, C crash, SO Newton point, W the same on trust, B search back, G gradient step
residual: Fischer-Burmeister, scaled; inorm: natural, as the tolerance is; (label): the worst row
"""


class RunLine(NamedTuple):
    """A run begins: its number, its settings in words; prints the header of the lines that follow.

    Before the first stands what the columns mean.
    """

    run: int
    settings: str

    def __str__(self) -> str:
        legend = LEGEND if self.run == 1 else ""
        return (
            f"{legend}run {self.run}: {self.settings}\n"
            "major minor  func  grad  residual    step type    prox   inorm  (label)"
        )


class MajorLine(NamedTuple):
    """One crash step or major iteration.

    Attributes:
        major: iterations so far in this run.
        minor: pivots of this iteration.
        func, grad: evaluations of F and of its Jacobian so far in this run.
        merit: ||Phi|| of the Fischer-Burmeister function, scaled, after the step.
        step: share of the path (or of the crash or gradient step) that was taken.
        kind: I start, C crash, SO Newton point accepted, W Newton point taken on trust (watchdog), B path
            search back from the last checkpoint, G gradient step.
        prox: proximal perturbation lam of the Jacobian.
        residual: natural residual in the problem's units.
        label: the row where it is largest.
    """

    major: int
    minor: int
    func: int
    grad: int
    merit: float
    step: float
    kind: str
    prox: float
    residual: float
    label: str

    def __str__(self) -> str:
        return (
            f"{self.major:5d} {self.minor:5d} {self.func:5d} {self.grad:5d} {self.merit:9.4e} "
            f"{self.step:7.1e} {self.kind:>4s} {self.prox:7.1e} {self.residual:7.1e} ({self.label})"
        )
