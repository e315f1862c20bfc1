"""Whether every hinge feels an inertia, so that forces say how it moves.

With P the articulated inertia of a link, its hinge feels D = H P H* + armature. P of a link is its own
inertia and what those of the links on it are less what their hinges give way,

    P_k = M_k + sum_c (P_c - P_c H_c* D_c⁻¹ H_c P_c).

Where next to nothing is left of H (M_k + sum_c P_c) H*, masses without inertia of their own are free to turn
about some line: three axes that cross and a point mass, say. The whole inertia further out is no measure: of
a chain a hinge feels the next links alone, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.state import State
from mcpframe.spatial.transforms import skew

NEXT_TO_NONE = 1e-9
"""Share of the inertia that a hinge moves; axes that are written with six digits leave 1e-11 where there is
none."""


def check_inertias(state: State) -> None:
    """Raise ModelError where a hinge feels next to nothing of what it moves; names the outermost."""
    felt, moved = felt_and_moved(state)
    free = np.flatnonzero(felt < NEXT_TO_NONE * moved)
    if free.size:
        name, why = state.model.dof_names[free[-1]], _words(felt[free[-1]], moved[free[-1]])
        raise ModelError(f"{name!r} cannot be moved from where it is: {why}")


def why_free(state: State, dof: int) -> str:
    """Return that a hinge feels next to nothing of what it moves, if so."""
    felt, moved = (part[dof] for part in felt_and_moved(state))
    return _words(felt, moved) if felt < NEXT_TO_NONE * moved else ""


def _words(felt: float, moved: float) -> str:
    return (
        f"it feels an inertia of {felt:.2g}, next to nothing of the {moved:.2g} that it moves: masses "
        "without inertia of their own leave it free; give links behind it inertia, or it an armature"
    )


@np.errstate(all="ignore")
def felt_and_moved(state: State) -> tuple[Array, Array]:
    """Return 1 / (D⁻¹)_dd of every dof, and its H (M_k + sum_c P_c) H* [N] each; see the module."""
    links, parents, dof_link = state.tree.links, state.tree.parents, state.tree.dof_link
    rotations, positions = state.link_poses()
    positions = (
        positions - positions[_roots(parents)]
    )  # far from the origin little of an inertia would be left
    whole = _inertias(links, rotations, positions)
    P, columns = whole.copy(), _at_the_root(state.hinge_columns(), positions[dof_link])
    felt, moved = np.zeros(len(dof_link)), np.zeros(len(dof_link))
    begins = np.searchsorted(dof_link, np.arange(len(links) + 1))
    for k in range(len(links) - 1, -1, -1):
        dofs, parent = slice(begins[k], begins[k + 1]), int(parents[k])
        H, rotors = columns[dofs], np.diag(links[k].armature)
        U = P[k] @ H.T
        inverse = _inverse(H @ U + rotors)
        felt[dofs] = 1.0 / inverse.diagonal()
        moved[dofs] = (H @ whole[k] @ H.T + rotors).diagonal()
        if parent >= 0:
            whole[parent] += P[k] if len(H) else whole[k]
            P[parent] += P[k] - U @ inverse @ U.T
    return felt, moved


def _roots(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the root of the tree that every link belongs to [n]."""
    roots = np.arange(len(parents))
    for k in np.flatnonzero(parents >= 0):
        roots[k] = roots[parents[k]]
    return roots


def _inertias(links: Sequence[Link], R: Array, x: Array) -> Array:
    """Return the spatial inertias of links at x with rotations R, about the root's place [n, 6, 6]."""
    mass = np.array([link.mass for link in links])[:, None, None]
    own = np.array([link.inertia for link in links])
    arm = skew(x + np.einsum("nij,nj->ni", R, np.array([link.com for link in links])))
    spatial = np.empty((len(links), 6, 6))
    spatial[:, :3, :3] = R @ own @ R.transpose(0, 2, 1) - mass * arm @ arm
    spatial[:, :3, 3:], spatial[:, 3:, :3] = mass * arm, -mass * arm
    spatial[:, 3:, 3:] = mass * np.eye(3)
    return spatial


def _at_the_root(columns: Array, x: Array) -> Array:
    """Return columns [ω; v] at points as they are at the root's place [N, 6]."""
    return np.hstack([columns[:, :3], columns[:, 3:] - np.cross(columns[:, :3], x)])


def _inverse(D: Array) -> Array:
    """Return D⁻¹, infinite where there is none."""
    try:
        return np.asarray(np.linalg.inv(D), dtype=float)
    except np.linalg.LinAlgError:
        return np.full_like(D, np.inf)
