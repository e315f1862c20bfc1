"""Which rows `pgs` treats together, and the arrays its kernels take.

Gauss-Seidel needs a positive diagonal. The slip rows of contacts have none, so such a row has to be solved
together with the rows it is coupled with: for a contact these are F_n, beta_1..beta_nf and sigma
[J14, Eq. (14)].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from mcpframe.problem.problems import MixedLCP

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What a sweep visits, as `pgs_kernels` takes it.

    Attributes:
        order: rows i >= 0 and blocks -1 - b, in the order of a sweep.
        members: rows of every block, padded by -1 [n_blocks, m].
        matrices: M_BB of every block, the identity on padding [n_blocks, m, m].
        divisor: positive number by which the step of a single row is divided [n].
        damped: number of single rows whose diagonal is not positive.
    """

    order: Index
    members: Index
    matrices: Array
    divisor: Array
    damped: int


def contact_groups(problem: MixedLCP) -> list[Index]:
    """Return the rows [F_n, beta_1..beta_nf, sigma] of every contact."""
    contacts = problem.contacts
    if contacts is None:
        return []
    rows = np.column_stack([contacts.normal, contacts.friction, contacts.slip])
    return [np.asarray(row, dtype=np.int64) for row in rows]


def layout_groups(problem: MixedLCP) -> list[Index]:
    """Return the rows of every named block of z."""
    everything = np.arange(problem.n, dtype=np.int64)
    return [everything[problem.layout[name]] for name in problem.layout]


def coupled_groups(problem: MixedLCP, max_block: int) -> list[Index]:
    """Return groups that join every row without positive diagonal to the rows it is coupled with.

    Coupled means M_ij or M_ji is not zero. Groups of more than max_block rows are not formed.
    """
    hollow = (problem.M.diagonal() <= 0.0) & ~problem.fixed
    pattern = sp.coo_array(problem.M)
    joins = (hollow[pattern.row] | hollow[pattern.col]) & (pattern.data != 0.0)
    joins &= ~problem.fixed[pattern.row] & ~problem.fixed[pattern.col]
    graph = sp.coo_array((joins[joins], (pattern.row[joins], pattern.col[joins])), shape=pattern.shape)
    _, label = connected_components(graph, directed=False)
    sizes = np.bincount(label)
    chosen = np.flatnonzero((sizes > 1) & (sizes <= max_block))
    return [np.flatnonzero(label == group) for group in chosen]


def make_blocks(problem: MixedLCP, groups: Iterable[Index]) -> Blocks:
    """Return the arrays for these groups; every other row that is not fixed is swept alone."""
    groups = [group[~problem.fixed[group]] for group in groups]
    groups = [group for group in groups if group.size > 0]
    m = max((group.size for group in groups), default=1)
    members = np.full((len(groups), m), -1, dtype=np.int64)
    matrices = np.tile(np.eye(m), (len(groups), 1, 1))
    first = np.arange(problem.n)
    visit = ~problem.fixed
    for b, group in enumerate(groups):
        members[b, : group.size] = group
        matrices[b, : group.size, : group.size] = _dense(problem.M[group][:, group])
        visit[group[1:]] = False
        first[group[0]] = -1 - b
    single = visit & (first >= 0)
    diagonal = problem.M.diagonal()
    divisor = np.where(diagonal > 0.0, diagonal, _row_sizes(problem))
    damped = int(np.count_nonzero(single & ~(diagonal > 0.0)))
    return Blocks(first[visit], members, matrices, divisor, damped)


def _row_sizes(problem: MixedLCP) -> Array:
    """Return sum_j |M_ij|, 1 for empty rows."""
    sizes = np.asarray(abs(problem.M).sum(axis=1)).ravel()
    return np.where(sizes > 0.0, sizes, 1.0)


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if sp.issparse(A) else A)
