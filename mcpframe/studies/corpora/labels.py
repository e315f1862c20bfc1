"""Labels: what makes a contact problem easy or hard, in a few figures that take a millisecond.

With W = Λ_u the compliance of the contacts (`mcpframe.contact.step_rows`), eigenvalues λ_1 >= λ_2 >= ...,

| label                | meaning                                                                          |
| -------------------- | -------------------------------------------------------------------------------- |
| `n`                  | rows of the problem                                                              |
| `n_contacts`         | contacts n_u                                                                     |
| `n_dofs`             | degrees of freedom N of the system *                                             |
| `contacts_per_dof`   | n_u / N *                                                                        |
| `rank_ratio`         | rank W / rows of W, λ_i > 1e-10 λ_1 counted; 1 where contacts are independent    |
| `condition`          | log10 (λ_1 / smallest λ_i counted)                                               |
| `contact_mass_ratio` | largest over smallest 1 / W_nn, the mass that a contact feels along its normal   |
| `mass_ratio`         | heaviest over lightest link *                                                    |
| `motion`             | "impact"; else of the contacts that stay closed: "sticking", "sliding", "mixed"; |
|                      | "separating" where none does **                                                  |
| `hardness`           | "easy", "medium", "hard": see `hardness`                                         |

* where the step is known; ** where its outcome is known, or that it is an impact. Where the exact cone is not
known, as for laws other than Coulomb's, there are no figures of W.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.problem.cone import ConeLCP, StepProblem
from mcpframe.problem.friction import FrictionProblem
from mcpframe.studies.study.row import Label

RANK_TOLERANCE = 1e-10
"""Eigenvalue of W, as a share of the largest, that counts as zero: rounding leaves 1e-14 of it, and mass
ratios of a thousand with long arms keep more than 1e-8."""
STICKING, SLIDING, MIXED, IMPACT, SEPARATING = "sticking", "sliding", "mixed", "impact", "separating"
EASY, MEDIUM, HARD = "easy", "medium", "hard"

EASY_CONTACTS, HARD_CONTACTS = 8, 24
EASY_CONDITION, HARD_CONDITION = 3.0, 5.0
"""Powers of ten between the softest and the stiffest direction of the contacts."""
HARD_RANK = 0.5
"""Share of W's rows up to which forces are far from determined; a box on four corners is at 0.5."""
EASY_POINTS, HARD_POINTS = 1, 4


def labels_of(
    problem: StepProblem | FrictionProblem,
    step: ContactStep | None = None,
    outcome: Outcome | None = None,
    exact: FrictionProblem | None = None,
) -> dict[str, Label]:
    """Return the labels of a problem; those that cannot be known are left out.

    Args:
        problem: in any formulation.
        step: that it was made from.
        outcome: of the step.
        exact: the same with the exact friction cone, contacts first, as `StepRows.friction_problem` has it.
    """
    exact = problem if isinstance(problem, FrictionProblem) else exact
    n_u = _n_contacts(problem) if step is None else step.n_u
    labels: dict[str, Label] = {"n": problem.n, "n_contacts": n_u}
    if step is not None:
        labels |= _of_system(step)
    if n_u and exact is not None:
        labels |= _of_contacts(exact, n_u)
    if isinstance(step, ImpactStep):
        labels["motion"] = IMPACT
    elif outcome is not None:
        labels["motion"] = motion(outcome.modes)
    return labels | {"hardness": hardness(labels)}


def motion(modes: Sequence[str]) -> str:
    """Return what the contacts do that stay closed."""
    closed = {mode for mode in modes if mode != "separating"}
    if not closed:
        return SEPARATING
    return MIXED if len(closed) > 1 else STICKING if closed == {"sticking"} else SLIDING


def hardness(labels: Mapping[str, Label]) -> str:
    """Return "easy", "medium" or "hard", by points.

    Number of contacts, condition and rank ratio count one point each beyond the first bound and two beyond
    the second: more than 8 or 24 contacts; condition above 3 or 5; rank ratio below 1 or at most 0.5. Up to
    one point is easy, four and more are hard.
    """
    contacts = float(labels["n_contacts"])
    condition, rank = float(labels.get("condition", 0.0)), float(labels.get("rank_ratio", 1.0))
    beyond = (
        (contacts > EASY_CONTACTS, contacts > HARD_CONTACTS),
        (condition > EASY_CONDITION, condition > HARD_CONDITION),
        (rank < 1.0, rank <= HARD_RANK),
    )
    points = sum(map(sum, beyond))
    return EASY if points <= EASY_POINTS else HARD if points >= HARD_POINTS else MEDIUM


def _n_contacts(problem: StepProblem | FrictionProblem) -> int:
    if isinstance(problem, FrictionProblem):
        return problem.n_c
    if isinstance(problem, ConeLCP):
        return problem.n_contacts
    return 0 if problem.contacts is None else problem.contacts.n_u


def _of_system(step: ContactStep) -> dict[str, Label]:
    model = step.state.model
    masses = [link.mass for link in model.links if link.mass > 0.0]
    labels: dict[str, Label] = {"n_dofs": model.n_dofs, "contacts_per_dof": step.n_u / model.n_dofs}
    return labels | ({"mass_ratio": max(masses) / min(masses)} if masses else {})


def _of_contacts(exact: FrictionProblem, n_u: int) -> dict[str, Label]:
    """Return the figures of W of the first contacts; limits come behind them."""
    rows = exact.dim * n_u
    whole = exact.W.toarray() if isinstance(exact.W, sp.csr_array) else exact.W
    W = whole[:rows, :rows]
    eigenvalues = np.linalg.eigvalsh(0.5 * (W + W.T))
    counted = eigenvalues[eigenvalues > RANK_TOLERANCE * eigenvalues[-1]]
    labels: dict[str, Label] = {"rank_ratio": counted.size / rows}
    if counted.size:
        labels["condition"] = float(np.log10(counted[-1] / counted[0]))
    normal = W.diagonal()[:: exact.dim]
    if normal.min() > RANK_TOLERANCE * normal.max():
        labels["contact_mass_ratio"] = float(normal.max() / normal.min())
    return labels
