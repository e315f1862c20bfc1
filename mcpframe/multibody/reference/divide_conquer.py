"""Divide and conquer: free acceleration and compliance by joining pieces of the tree two by two.

Links begin as pieces (`pieces.py`) of their own; a hinge joins two pieces, until each tree is one piece with
the world, whose base does not accelerate. Then L is what the links' velocities gain per impulse there: the
compliance Ω [J14, Eq. (64)] of those links that were given a handle, and Λ = G Ω G* for any rows G on them.
Going back through the joints in reverse order gives θ̈.

Every piece joins at most one other in a round, tips first, so that a chain of n links takes log2(n) rounds;
joints of one round that look alike are computed together. Any order gives the same answer as long as the
pieces exist: every hinge between two pieces must feel inertia (`_Assembly.join_light_links`).

Accelerations count from those of θ̈ = 0 (`link_bias`) and gravity; the forces that these take are in z, so
that SPEC's Ṡ θ̇ appears nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.tree import Tree
from mcpframe.multibody.model.validation import values
from mcpframe.multibody.reference.dense_kinematics import (
    gyroscopic_forces,
    link_dofs,
    link_inertias,
    offsets_from_parents,
)
from mcpframe.multibody.reference.pieces import Joint, Piece, join, part
from mcpframe.multibody.rows import Rows, moved_wrench
from mcpframe.spatial.transforms import phi

LIGHT = 1e-3
"""A piece that gives its own hinge less than this share of the inertia that the hinge feels with the next
pieces locked to it is joined to those first: alone it would have no, or a huge, compliance."""

_AT_REST = (np.zeros((6, 6)), np.zeros(6))


class MovingModel(Protocol):
    """What is asked of a state; `State` and `DenseOperators` have it."""

    model: Model
    tree: Tree

    @property
    def armature(self) -> Array:
        """Inertia added to the hinges [N]."""

    def link_poses(self) -> tuple[Array, Array]:
        """Return axes [n, 3, 3] and origins [n, 3] of the links."""

    def link_velocities(self) -> Array:
        """Return [omega; v] at the links' origins [n, 6]."""

    def link_bias(self) -> Array:
        """Return [omega_dot; acceleration of the origin] for θ̈ = 0 and no gravity [n, 6]."""

    def hinge_columns(self) -> Array:
        """Return the column of H* of every dof at its link's origin [N, 6]."""


def divide_and_conquer(
    state: MovingModel,
    handles: Rows | Iterable[Node | str] = (),
    tau: ArrayLike | None = None,
    wrenches: Mapping[Node | str, ArrayLike] | None = None,
) -> tuple[Array, Array]:
    """Return the free acceleration θ̈_f [N] and the compliance Λ of nodes or rows.

    Args:
        state: where the model is and how it moves.
        handles: nodes, for Λ [6 n_c, 6 n_c] with [angular; linear] of every node in world axes (zero for the
            world); or rows G on link velocities, for Λ = G Ω G* [n, n] between the rows.
        tau: hinge forces [N], zero unless given; springs and dampers are not added.
        wrenches: [moment; force] at nodes or bodies, world axes.
    """
    links, G = (
        _rows_on_links(state, handles) if isinstance(handles, Rows) else _nodes_on_links(state, handles)
    )
    theta_ddot, Omega = link_compliance(state, links, tau, wrenches)
    Lambda: Array = G @ Omega @ G.T
    return theta_ddot, Lambda


def link_compliance(
    state: MovingModel,
    links: Sequence[int] | NDArray[np.int64],
    tau: ArrayLike | None = None,
    wrenches: Mapping[Node | str, ArrayLike] | None = None,
) -> tuple[Array, Array]:
    """Return θ̈_f [N] and Ω [6 m, 6 m] between the origins of m different links, world axes."""
    coordinates = state.tree.coordinates
    forces = coordinates.check_rates("tau", np.zeros(coordinates.n_dofs) if tau is None else tau)
    assembly = _Assembly(state, set(links), forces, _link_forces(state, wrenches or {}))
    assembly.join_light_links()
    assembly.join_in_rounds()
    return assembly.theta_ddot(), assembly.compliance(links)


class _Assembly:
    """Pieces on their way from single links to whole trees.

    A piece is called by the index of its top link, the world under root r by n + r. Hinge c is that of link
    c. An outer handle is called c where the link c hangs, ~k where a force may act at the origin of link k.
    """

    def __init__(self, state: MovingModel, links: set[int], tau: Array, link_forces: Array) -> None:
        self.tree, self.n_links = state.tree, len(state.tree.links)
        self.dofs = [link_dofs(self.tree, k) for k in range(self.n_links)]
        self.columns, self.armature, self.tau = state.hinge_columns(), state.armature, tau
        self.owner = [int(p) if p >= 0 else self.n_links + k for k, p in enumerate(self.tree.parents)]
        self.handles = {k: [~k] if k in links else [] for k in range(self.n_links)}
        for c, owner in enumerate(self.owner):
            self.handles.setdefault(owner, []).append(c)
        self.pieces = self._single_links(state, link_forces)
        self.joined: list[tuple[list[int], list[int], Joint]] = []

    def _single_links(self, state: MovingModel, link_forces: Array) -> dict[int, Piece]:
        """Return every link as a piece, and the world under every root as one without inertia."""
        R, x = state.link_poses()
        inertias = link_inertias(self.tree, R)
        z = _forces_at_rest(state, inertias) - link_forces
        to_hinge = phi(offsets_from_parents(self.tree, x)).swapaxes(-1, -2)
        pieces = {}
        for name, handles in self.handles.items():
            T = np.array([to_hinge[h] if h >= 0 else np.eye(6) for h in handles]).reshape(-1, 6, 6)
            moves = name < self.n_links
            pieces[name] = Piece.rigid(inertias[name], z[name], T) if moves else Piece.rigid(*_AT_REST, T)
        return pieces

    def join_light_links(self) -> None:
        """Join pieces that hardly resist their own hinge to the ones that hang on them, tips to base.

        If every piece resists its hinge while its parent is held, then so does every union of pieces: in a
        motion without kinetic energy the piece next to the base must rest, then the next ones. At worst a
        piece takes up all that hangs on it, and the whole tree resists its hinges.
        """
        for k in range(self.n_links - 1, -1, -1):
            while self._is_light(k):
                self._join([next(c for c in self.handles[k] if c >= 0)])

    def _is_light(self, k: int) -> bool:
        hanging = [(i, c) for i, c in enumerate(self.handles[k]) if c >= 0]
        S, dofs = self.columns[self.dofs[k]].T, self.dofs[k]
        if not (hanging and S.size):
            return False
        piece = self.pieces[k]
        carried = [piece.T[6 * i : 6 * i + 6] @ S for i, _ in hanging]
        D = S.T @ piece.P @ S + np.diag(self.armature[dofs])
        D_next = D + sum(
            move.T @ self.pieces[c].P @ move for move, (_, c) in zip(carried, hanging, strict=True)
        )
        return not np.linalg.eigvalsh(D - LIGHT * D_next)[0] > 0.0

    def join_in_rounds(self) -> None:
        """Join all pieces, each with at most one other in a round, tips first."""
        while waiting := [c for c in range(self.n_links - 1, -1, -1) if c in self.pieces]:
            busy: set[int] = set()
            chosen = []
            for c in waiting:
                pair = {c, self.owner[c]}
                if not busy & pair:
                    busy |= pair
                    chosen.append(c)
            self._join(chosen)

    def _join(self, hinges: list[int]) -> None:
        """Join pieces by hinges that have no piece in common, alike ones together."""
        alike = defaultdict(list)
        for c in hinges:
            handles = self.handles[self.owner[c]]
            n_k = self.dofs[c].stop - self.dofs[c].start
            alike[handles.index(c), len(handles), len(self.handles[c]), n_k].append(c)
        for (position, *_), group in alike.items():
            self._join_alike(group, position)

    def _join_alike(self, group: list[int], position: int) -> None:
        owners = [self.owner[c] for c in group]
        A, B = (Piece.stack([self.pieces[name] for name in names]) for names in (owners, group))
        dofs = self._dofs_of(group)
        S = self.columns[dofs].swapaxes(-1, -2)
        try:
            C, joint = join(A, B, position, S, self.armature[dofs], self.tau[dofs])
        except np.linalg.LinAlgError:
            names = ", ".join(self.tree.links[c].name for c in group)
            raise ModelError(
                f"the hinge of one of these links feels no inertia in this state: {names}; give the link "
                "mass and inertia, or armature"
            ) from None
        self.joined.append((group, owners, joint))
        for c, owner, piece in zip(group, owners, C.split(), strict=True):
            self.pieces[owner] = piece
            del self.pieces[c], self.handles[owner][position]
            self.handles[owner] += self.handles[c]
            for handle in self.handles.pop(c):
                if handle >= 0:
                    self.owner[handle] = owner

    def _dofs_of(self, group: list[int]) -> NDArray[np.int64]:
        """Return the dofs of hinges that have equally many [g, n_k]."""
        return np.array([range(self.dofs[c].start, self.dofs[c].stop) for c in group], dtype=np.int64)

    def theta_ddot(self) -> Array:
        """Return θ̈ [N], taking the joints apart in reverse order while the world rests and nothing pulls."""
        theta_ddot = np.zeros(self.tau.size)
        a_0 = {name: np.zeros(6) for name in self.pieces}
        f = {name: np.zeros_like(piece.b) for name, piece in self.pieces.items()}
        for group, owners, joint in reversed(self.joined):
            at_base, on_handles = (np.stack([known[name] for name in owners]) for known in (a_0, f))
            theta_ddot[self._dofs_of(group)], on_A, a_B, on_B = part(joint, at_base, on_handles)
            f.update(zip(owners, on_A, strict=True))
            f.update(zip(group, on_B, strict=True))
            a_0.update(zip(group, a_B, strict=True))
        return theta_ddot

    def compliance(self, links: Sequence[int] | NDArray[np.int64]) -> Array:
        """Return Ω between links; trees meet only in the world, so there is none between two of them."""
        rows_of = {int(k): np.arange(6 * i, 6 * i + 6) for i, k in enumerate(links)}
        Omega = np.zeros((6 * len(links), 6 * len(links)))
        for name, piece in self.pieces.items():
            rows = [rows_of[~handle] for handle in self.handles[name]]
            at = np.concatenate([np.zeros(0, np.int64), *rows])
            Omega[np.ix_(at, at)] = piece.L
        return Omega


def _forces_at_rest(state: MovingModel, inertias: Array) -> Array:
    """Return what θ̈ = 0 takes at the links' origins, M α + gyroscopic forces [n, 6], gravity as α = a - g."""
    alpha = state.link_bias() - np.concatenate([np.zeros(3), state.model.gravity])
    inertial: Array = np.einsum("kij,kj->ki", inertias, alpha)
    return inertial + gyroscopic_forces(inertias, state.link_velocities())


def _rows_on_links(state: MovingModel, rows: Rows) -> tuple[NDArray[np.int64], Array]:
    """Return the links that rows touch and G [n, 6 m] on their velocities."""
    _, x = state.link_poses()
    links, column = np.unique(rows.link, return_inverse=True)
    G = np.zeros((rows.n, links.size, 6))
    np.add.at(G, (rows.row, column), moved_wrench(rows.wrench, rows.point - x[rows.link]))
    return links, G.reshape(rows.n, 6 * links.size)


def _nodes_on_links(state: MovingModel, nodes: Iterable[Node | str]) -> tuple[NDArray[np.int64], Array]:
    """Return the links that carry nodes and B* [6 n_c, 6 m] from their velocities to the nodes'."""
    on_link = [state.model.resolve(node, state.tree)[:2] for node in nodes]
    links = np.unique(np.array([k for k, _ in on_link if k >= 0], dtype=np.int64))
    R, _ = state.link_poses()
    G = np.zeros((len(on_link), 6, links.size, 6))
    for c, (k, position) in enumerate(on_link):
        if k >= 0:
            G[c, :, np.searchsorted(links, k)] = phi(R[k] @ position).T
    return links, G.reshape(6 * len(on_link), 6 * links.size)


def _link_forces(state: MovingModel, wrenches: Mapping[Node | str, ArrayLike]) -> Array:
    """Return the wrenches on every link at its origin [n, 6]."""
    links, G = _nodes_on_links(state, wrenches)
    names = [node if isinstance(node, str) else node.body for node in wrenches]
    stacked = [values(f"wrench on {name}", f, (6,)) for name, f in zip(names, wrenches.values(), strict=True)]
    forces = np.zeros((len(state.tree.links), 6))
    forces[links] = (G.T @ np.concatenate([np.zeros(0), *stacked])).reshape(-1, 6)
    return forces
