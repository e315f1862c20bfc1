"""Independent rows of closures, and closures that contradict each other.

Rows that repeat others ask for nothing new and their impulses are not determined: with G_b = S G_k, G_k the
independent rows,

    G_b* p = G_k* p_k   where   p_k = S* p,

so that all p of the same p_k do the same. The rule by which rows are chosen is that of the compiled steps,
see `mcpframe.multibody.kernels.independence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import Gear, closure_rows, length_of
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.rows import Rows

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

Indices = NDArray[np.int64]

CONTRADICTION = 1e-6
"""Share of the largest rate by which rows that repeat others ask for something else."""


@dataclass(frozen=True, eq=False)
class IndependentRows:
    """Which rows of G_b are independent, and how the others follow from them.

    Attributes:
        G: all rows over hinge rates [n, N].
        kept: the independent ones, in their order [k].
        repeated: all others [n - k].
    """

    G: Array
    kept: Indices
    repeated: Indices

    @staticmethod
    def of(state: State, rows: Rows, certain: int | None = None) -> IndependentRows:
        """Return the choice among the rows of closures at a state.

        Args:
            state: where the model is.
            rows: of all closures.
            certain: how many are independent wherever loops are closed: more count only where the loops'
                error does not explain them; all unless given.
        """
        from mcpframe.multibody.kernels.independence import choose_independent  # compiled when asked for

        G, n = rows.jacobian(state), rows.n
        if n == 0:
            return IndependentRows(G, np.zeros(0, np.int64), np.zeros(0, np.int64))
        order, error = np.zeros(2 * n, np.int64), float(np.abs(rows.error).max())
        Lambda = np.concatenate([(G @ state.solve_mass(G.T)).ravel(), np.zeros(n)])
        counts = [closure.n_rows for closure in state.model.closures]
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        turns = np.ones(n, dtype=bool)
        turns[rows.row[rows.wrench[:, 3:].any(axis=1)]] = False
        weights = np.where(turns, length_of(state.model), 1.0)
        sure = n if certain is None else certain
        rank = choose_independent(n, Lambda, weights, firsts, order, sure, error)
        return IndependentRows(G, np.sort(order[:rank]), np.sort(order[rank:n]))

    @property
    def n(self) -> int:
        """Number of all rows."""
        return self.kept.size + self.repeated.size

    @cached_property
    def shares(self) -> Array:
        """S of G_b = S G_k [n, k]."""
        S = np.zeros((self.n, self.kept.size))
        S[self.kept, np.arange(self.kept.size)] = 1.0
        if self.repeated.size and self.kept.size:
            S[self.repeated] = np.linalg.lstsq(self.G[self.kept].T, self.G[self.repeated].T, rcond=None)[0].T
        return S

    def on_kept(self, impulses: Array) -> Array:
        """Return the impulses that do the same with none on repeated rows [n]."""
        if not self.repeated.size:
            return impulses
        same = np.zeros(self.n)
        same[self.kept] = self.shares.T @ impulses
        return same

    def least(self, impulses: Array) -> Array:
        """Return the impulses of least norm that do the same [n]; the norm sums squares of N s and N m s."""
        if not self.repeated.size:
            return impulses
        S = self.shares
        least: Array = S @ np.linalg.solve(S.T @ S, S.T @ impulses)
        return least

    def contradiction(self, asked: Array) -> Array:
        """Return by how much repeated rows ask for something else than those they repeat [n]."""
        off: Array = asked - self.shares @ asked[self.kept]
        return off


def closure_name(model: Model, k: int) -> str:
    """Return closure k of a model in words, as "closure 0 (Pin of 'rocker' on 'world')"."""
    closure = model.closures[k]
    kind = type(closure).__name__
    if isinstance(closure, Gear):
        return f"closure {k} ({kind} of {', '.join(map(repr, closure.ratios))})"
    bodies = [node.body for end in ("node_a", "node_b") if (node := getattr(closure, end, None))]
    return f"closure {k} ({' '.join([kind, 'of', ' on '.join(map(repr, bodies))]) if bodies else kind})"


def closures_off(model: Model, rows: NDArray[np.bool_]) -> list[str]:
    """Return the closures, in words, to which some rows of all belong."""
    owner = np.repeat(np.arange(len(model.closures)), [closure.n_rows for closure in model.closures])
    return [closure_name(model, k) for k in np.unique(owner[rows]).tolist()]


def check_motion(state: State) -> None:
    """Raise ModelError, naming them, where closures ask for rates that they cannot have together."""
    model = state.model
    if all(closure.motion is None for closure in model.closures):
        return
    rows = closure_rows(state)
    independent = IndependentRows.of(state, rows, certain=0)
    off = np.abs(independent.contradiction(rows.rate))
    if off.max(initial=0.0) <= CONTRADICTION * np.abs(rows.rate).max(initial=0.0):
        return
    worst = int(off.argmax())
    share = np.abs(independent.shares[worst])
    others = independent.kept[share > CONTRADICTION * share.max(initial=0.0)]
    owner = np.repeat(np.arange(len(model.closures)), [closure.n_rows for closure in model.closures])
    names = [closure_name(model, k) for k in dict.fromkeys(owner[[worst, *others]].tolist())]
    raise ModelError(
        f"closures of model {model.name!r} contradict each other at t = {state.time:g} s: row "
        f"{worst - int(np.argmax(owner == owner[worst]))} of {names[0]} asks for a rate that is "
        f"{off[worst]:.3g} m/s or rad/s off what is left by {'; '.join(names[1:]) or 'the hinges'}"
    )
