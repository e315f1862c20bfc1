"""One row of a study: one solve of one problem, and all that was measured of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

Label = float | int | str | bool
Key = tuple[str, str, str, str, int]
"""What tells one row from another: case, formulation, solver, start, repeat."""

CRASHED = "CRASHED"
"""Status of a solve that raised, or took its process with it; beside the names of `Status`."""


@dataclass(frozen=True)
class Row:
    """One solve.

    Attributes:
        case: stable identity of the problem within the study, ``"pendulum/n_links=12/step=0340"``.
        source: name of the problem source in the study file.
        system: what the problem comes from, ``"pendulum"``; ``"given"`` for matrices from a file.
        formulation: label of the formulation in the study; ``"given"`` for problems that come as (M, q).
        solver: label of the solver and its settings.
        start: ``"cold"`` or ``"warm"``.
        repeat: number of the repetition, from 0.
        status: name of the certified Status; also ``"CRASHED"``, and ``"TIME_LIMIT"`` set by the runner.
        reason: why it was not solved, in words; empty where it was.
        claim: name of the Status that the solver claimed; empty where it crashed.
        ok: certified by the framework.
        claim_right: the claim agrees with the certificate.
        residual: natural residual of z.
        scaled_residual: of the worst row, each over its own 1 + |q_i|, rounding excused: what is judged.
        iterations: as the method counts them.
        build_seconds: wall time of the formulation's build [s].
        solve_seconds: wall time inside the solver [s].
        recover_seconds: wall time of the formulation's recover [s].
        n: rows of the problem.
        n_contacts: contacts of the step.
        n_dofs: degrees of freedom of the system.
        nnz: stored entries of M that are not zero.
        z_digest: SHA-256 of the bytes of z.
        labels: of the problem, and the parameters of the grid it comes from.
        problem_file: where the problem of a failed row is saved; empty otherwise.
    """

    case: str
    source: str
    system: str
    formulation: str
    solver: str
    start: str
    repeat: int
    status: str
    reason: str
    claim: str
    ok: bool
    claim_right: bool
    residual: float
    scaled_residual: float
    iterations: int
    build_seconds: float
    solve_seconds: float
    recover_seconds: float
    n: int
    n_contacts: int
    n_dofs: int
    nnz: int
    z_digest: str
    labels: dict[str, Label] = field(default_factory=dict)
    problem_file: str = ""

    @property
    def key(self) -> Key:
        """What tells the row from every other one of the study."""
        return self.case, self.formulation, self.solver, self.start, self.repeat

    @property
    def lasting(self) -> tuple[object, ...]:
        """All that another run must repeat exactly: everything but the times."""
        return tuple(
            "nan" if isinstance(value, float) and math.isnan(value) else value
            for about in fields(self)
            if not about.name.endswith("_seconds")
            for value in (getattr(self, about.name),)
        )
