"""Rows: linear forms in link velocities, the common currency of closures, limits, contacts and hinges.

A row is a sum of halves. A half takes the velocity [omega; v] of one link at a point, both in world axes,
and multiplies it with a wrench [moment at the point; force]:

    (G V)_i = sum over halves h of row i:  wrench_h . V_link(h)(point_h).

Impulse on a row acts on each link by its half's wrench, so G* is read from the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.arrays import Array

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

Indices = NDArray[np.int64]

NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
"""Axes after and before each: a x b = a[NEXT] b[LAST] - a[LAST] b[NEXT]; np.cross takes ten times as long."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of G with what their right-hand sides are made from; h halves in all.

    Attributes:
        n: number of rows.
        row: row that every half belongs to [h].
        link: link that every half acts on, never the world [h].
        point: where, in the world [h, 3].
        wrench: [moment at the point; force], world axes [h, 6].
        bias: dG/dt theta_dot, the rate of G theta_dot while theta_dot stays [n].
        rate: prescribed U(t), zero for a constraint at rest [n].
        rate_dot: dU/dt [n].
        error: how far the position is from the constraint; G theta_dot is its rate there [n].
    """

    n: int
    row: Indices
    link: Indices
    point: Array
    wrench: Array
    bias: Array
    rate: Array
    rate_dot: Array
    error: Array

    @staticmethod
    def of_halves(
        n: int, halves: Sequence[tuple[Indices, Indices, Array, Array]], bias: Array | None = None
    ) -> Rows:
        """Return rows at rest from groups of halves (row, link, point, wrench); the world's are left out."""
        row, link = (np.concatenate([np.zeros(0, np.int64), *(half[i] for half in halves)]) for i in (0, 1))
        point = np.concatenate([np.zeros((0, 3)), *(half[2] for half in halves)])
        wrench = np.concatenate([np.zeros((0, 6)), *(half[3] for half in halves)])
        kept = link >= 0
        zero = np.zeros(n)
        bias = zero if bias is None else bias
        return Rows(n, row[kept], link[kept], point[kept], wrench[kept], bias, zero, zero, zero)

    @staticmethod
    def concatenate(parts: Sequence[Rows]) -> Rows:
        """Stack rows one after another; no parts give no rows."""
        starts = np.cumsum([0] + [part.n for part in parts])
        row = [part.row + start for part, start in zip(parts, starts, strict=False)]
        return Rows(
            n=int(starts[-1]),
            row=np.concatenate([np.zeros(0, np.int64), *row]),
            link=np.concatenate([np.zeros(0, np.int64), *(part.link for part in parts)]),
            point=np.concatenate([np.zeros((0, 3)), *(part.point for part in parts)]),
            wrench=np.concatenate([np.zeros((0, 6)), *(part.wrench for part in parts)]),
            bias=np.concatenate([np.zeros(0), *(part.bias for part in parts)]),
            rate=np.concatenate([np.zeros(0), *(part.rate for part in parts)]),
            rate_dot=np.concatenate([np.zeros(0), *(part.rate_dot for part in parts)]),
            error=np.concatenate([np.zeros(0), *(part.error for part in parts)]),
        )

    def velocity(self, state: State) -> Array:
        """Return G theta_dot [n]."""
        V = state.link_velocities()[self.link]
        values = np.einsum("hi,hi->h", self._wrenches_at_origins(state), V)
        velocity = np.zeros(self.n)
        np.add.at(velocity, self.row, values)
        return velocity

    def speed(self, state: State) -> Array:
        """Return the size of what G theta_dot is made of, at the links' origins [n]: its rounding's scale."""
        wrench, V = self._wrenches_at_origins(state), state.link_velocities()[self.link]
        sizes = [np.linalg.norm(part.reshape(-1, 2, 3), axis=2) for part in (wrench, V)]
        speed = np.zeros(self.n)
        np.add.at(speed, self.row, (sizes[0] * sizes[1]).sum(axis=1))
        return speed

    def jacobian(self, state: State) -> Array:
        """Return G over theta_dot [n, N]: every wrench on the hinge columns of its link and all before it.

        Wrenches and columns are taken at one point amid the links, where wrenches of different links add up;
        one sweep from the tips to the base hands them on to the parents.
        """
        tree, x = state.tree, state.link_poses()[1]
        middle = x.mean(axis=0) if len(x) else np.zeros(3)
        carried = np.zeros((len(tree.links), self.n, 6))
        np.add.at(carried, (self.link, self.row), moved_wrench(self.wrench, self.point - middle))
        for k in range(len(tree.links) - 1, 0, -1):
            if tree.parents[k] >= 0:
                carried[tree.parents[k]] += carried[k]
        columns = state.hinge_columns()
        angular, linear = columns[:, :3], columns[:, 3:]
        at_middle = np.hstack([angular, linear - np.cross(angular, x[tree.dof_link] - middle)])
        jacobian: Array = np.einsum("dni,di->nd", carried[tree.dof_link], at_middle)
        return jacobian

    def link_matrix(self, state: State) -> sp.csr_array:
        """Return G over the velocities [omega; v at the origin] of all links in order [n, 6 n_links]."""
        wrench = self._wrenches_at_origins(state)
        columns = 6 * self.link[:, None] + np.arange(6)
        rows = np.repeat(self.row, 6)
        shape = (self.n, 6 * len(state.tree.links))
        matrix = sp.coo_array((wrench.ravel(), (rows, columns.ravel())), shape=shape).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def _wrenches_at_origins(self, state: State) -> Array:
        x = state.link_poses()[1]
        return moved_wrench(self.wrench, self.point - x[self.link])


def moved_wrench(wrench: Array, arm: Array) -> Array:
    """Return wrenches [..., 6] at a point that lies `arm` [..., 3] before theirs: phi times the wrench."""
    moved = wrench.copy()
    moved[..., :3] += arm[..., NEXT] * wrench[..., 3 + LAST] - arm[..., LAST] * wrench[..., 3 + NEXT]
    return moved


def hinge_rate_rows(state: State, dofs: Sequence[int] | Indices) -> Rows:
    """Return the rates of hinges as rows: theta_dot_d = w_d . (V_link - V_parent) at the link's origin.

    With S the hinge's columns, the w_d are those of S (S* S)^-1: w_d . S_d = 1, w_d . S_other = 0. The rate
    itself is a coordinate, so the bias is zero.
    """
    dof = np.asarray(dofs, dtype=np.int64)
    link = state.tree.dof_link[dof]
    point = state.link_poses()[1][link]
    wrench = _dual_columns(state)[dof]
    row = np.arange(dof.size)
    parents = state.tree.parents[link]
    return Rows.of_halves(dof.size, [(row, link, point, wrench), (row, parents, point, -wrench)])


def hinge_constraint_rows(state: State) -> Rows:
    """Return the 6 - n_k motions that every hinge forbids, as rows that hold at rest.

    Row by row an orthonormal basis of what is perpendicular to the hinge's columns at the link's origin, on
    V_link - V_parent. Whatever theta_dot is, these rows are zero, and so is their bias.
    """
    parents, x = state.tree.parents, state.link_poses()[1]
    basis, link = _forbidden_directions(state)
    row = np.arange(link.size)
    point = x[link]
    return Rows.of_halves(link.size, [(row, link, point, basis), (row, parents[link], point, -basis)])


def _columns_by_size(state: State) -> list[tuple[int, Indices, Array]]:
    """Return for every number of dofs the links that have it and their columns [m, n_k, 6]."""
    tree = state.tree
    n_dof = np.array([link.hinge.n_dof for link in tree.links], dtype=np.int64)
    columns = state.hinge_columns()
    groups = []
    for size in np.unique(n_dof):
        links = np.flatnonzero(n_dof == size)
        at = tree.coordinates.dof_start[links][:, None] + np.arange(size)
        groups.append((int(size), links, columns[at]))
    return groups


def _dual_columns(state: State) -> Array:
    """Return the rows w_d of (S* S)^-1 S* for the columns S of every hinge [N, 6]."""
    dual = np.zeros((state.tree.coordinates.n_dofs, 6))
    for size, links, S in _columns_by_size(state):
        at = state.tree.coordinates.dof_start[links][:, None] + np.arange(size)
        dual[at] = np.linalg.solve(S @ S.transpose(0, 2, 1), S) if size else S
    return dual


def _forbidden_directions(state: State) -> tuple[Array, Indices]:
    """Return the orthonormal complements of all hinge columns [r, 6] and the link of each, link by link."""
    directions, owners = [np.zeros((0, 6))], [np.zeros(0, dtype=np.int64)]
    for size, links, S in _columns_by_size(state):
        basis = np.broadcast_to(np.eye(6), (links.size, 6, 6))
        if size:
            basis = np.linalg.qr(S.transpose(0, 2, 1), mode="complete")[0].transpose(0, 2, 1)
        directions.append(basis[:, size:].reshape(-1, 6))
        owners.append(np.repeat(links, 6 - size))
    link = np.concatenate(owners)
    order = np.argsort(link, kind="stable")
    return np.concatenate(directions)[order], link[order]
