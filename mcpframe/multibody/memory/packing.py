"""Elementary bodies into the two arrays of the kernels; the layout is written down in `records.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.multibody.memory import records as rec

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

COORDINATES = {rec.PIN: 1, rec.PRISMATIC: 1, rec.BALL: 4, rec.FREE: 7, rec.LOCKED: 0}
RATES = {rec.PIN: 1, rec.PRISMATIC: 1, rec.BALL: 3, rec.FREE: 6, rec.LOCKED: 0}
SLIDES = {
    rec.PIN: [False],
    rec.PRISMATIC: [True],
    rec.BALL: [False] * 3,
    rec.FREE: [True] * 3 + [False] * 3,
    rec.LOCKED: [],
}
"""Which dofs of a hinge move a body without turning it."""
ROUNDING = 1e-15
"""Part of the inertia further out that may be left in D of a dof that feels none of it."""
REACH = 8.0
"""Distance from the reference point, in sizes of the body, at which a new section begins: its square is what
rounding in D is multiplied by."""


@dataclass(frozen=True, eq=False)
class Bodies:
    """Elementary bodies in depth-first order; each hinge acts along or about the z axis of its frame.

    Attributes:
        parent: index of the parent body, -1 for the world [n].
        kind: PIN, PRISMATIC, BALL, FREE or LOCKED [n].
        rotation, position: hinge frame in the parent's frame [n, 3, 3], [n, 3].
        mass, com, inertia: [n], [n, 3], [n, 3, 3]; inertia about the centre of mass, body axes.
        armature: rotor inertia added to D, per dof [N].
        gravity: [3].
    """

    parent: Indices
    kind: Indices
    rotation: Array
    position: Array
    mass: Array
    com: Array
    inertia: Array
    armature: Array
    gravity: Array

    @property
    def n(self) -> int:
        """Number of bodies."""
        return int(self.parent.size)

    @property
    def theta_at(self) -> Indices:
        """Where each body's coordinates begin; one entry more than bodies."""
        return _starts(COORDINATES, self.kind)

    @property
    def dof_at(self) -> Indices:
        """Where each body's dofs begin; one entry more than bodies."""
        return _starts(RATES, self.kind)


def _starts(sizes: dict[int, int], kind: Indices) -> Indices:
    return np.cumsum([0, *(sizes[int(k)] for k in kind)], dtype=np.int64)


def pack(bodies: Bodies) -> tuple[Indices, Array]:
    """Return I and X with all constants in place and everything else zero."""
    I, X = rec.MEMORY.arrays(body=bodies.n, dof=int(bodies.dof_at[-1]), theta=int(bodies.theta_at[-1]))
    rec.MEMORY.part(I, X, rec.TREE)[:] = _tree_table(bodies)
    rec.MEMORY.part(I, X, rec.CONSTANTS)[:] = _constants(bodies)
    dofs = rec.MEMORY.part(I, X, rec.DOFS)
    dofs[:, rec.D_ARMATURE], dofs[:, rec.D_LEAST] = bodies.armature, _least_inertia(bodies)
    rec.MEMORY.part(I, X, rec.GRAVITY)[:3] = bodies.gravity
    I[rec.N_SPANS] = 1
    rec.MEMORY.part(I, X, rec.SPANS)[:1] = 0, bodies.n, 0, bodies.dof_at[-1]
    return I, X


def _tree_table(bodies: Bodies) -> Indices:
    table = np.zeros((bodies.n, rec.TREE_ROW), dtype=np.int64)
    table[:, rec.PARENT], table[:, rec.KIND] = bodies.parent, bodies.kind
    table[:, rec.THETA_AT], table[:, rec.DOF_AT] = bodies.theta_at[:-1], bodies.dof_at[:-1]
    table[:, rec.N_DOF] = np.diff(bodies.dof_at)
    table[:, rec.SECTION] = _sections(bodies)[0]
    for k in range(bodies.n - 1, -1, -1):  # in the order of the sweep: the first to join opens the sum
        table[k, rec.JOIN] = _join(table, k)
    return table


def _sections(bodies: Bodies) -> tuple[Indices, Array]:
    """Return the body that begins each body's section, and the distance from its hinge to the body's own.

    A section begins at a root, far from the reference point for a body's size, and where a body can turn
    that a sliding hinge may have carried anywhere.
    """
    section, distance, slid = np.arange(bodies.n), np.zeros(bodies.n), np.zeros(bodies.n, dtype=bool)
    length, size = np.linalg.norm(bodies.position, axis=1), _sizes(bodies)
    for k, (parent, kind) in enumerate(zip(bodies.parent, bodies.kind, strict=True)):
        slid[k] = kind == rec.PRISMATIC
        if parent < 0 or kind == rec.FREE or (slid[parent] and kind in (rec.PIN, rec.BALL)):
            continue
        if distance[parent] + length[k] <= REACH * size[k]:
            section[k], distance[k] = section[parent], distance[parent] + length[k]
            slid[k] |= slid[parent]
    return section, distance


def _least_inertia(bodies: Bodies) -> Array:
    """Return what of D could be rounding, per dof: that part of all mass, or inertia, further out [N].

    Inertia is about the reference point, each mass as far from it as the links between are long.
    """
    length, distance = np.linalg.norm(bodies.position, axis=1), _sections(bodies)[1]
    mass, arm = bodies.mass.copy(), np.linalg.norm(bodies.com, axis=1)
    first, second = mass * arm, mass * arm**2 + np.trace(bodies.inertia, axis1=1, axis2=2)
    for k in range(bodies.n - 1, 0, -1):
        parent, s = bodies.parent[k], length[k]
        if parent >= 0:
            second[parent] += second[k] + 2.0 * s * first[k] + s**2 * mass[k]
            first[parent] += first[k] + s * mass[k]
            mass[parent] += mass[k]
    inertia = second + 2.0 * distance * first + distance**2 * mass
    n_dof = np.diff(bodies.dof_at)
    slides = np.concatenate([np.zeros(0, bool), *(SLIDES[int(kind)] for kind in bodies.kind)])
    return ROUNDING * np.where(slides, np.repeat(mass, n_dof), np.repeat(inertia, n_dof))


def _sizes(bodies: Bodies) -> Array:
    """Return the radius of gyration of every body about its hinge; without mass, that of its children."""
    size = np.zeros(bodies.n)
    moving = bodies.mass > 0.0
    about_com = np.trace(bodies.inertia, axis1=1, axis2=2)[moving] / (2.0 * bodies.mass[moving])
    size[moving] = np.sqrt(np.maximum(about_com, 0.0) + (bodies.com[moving] ** 2).sum(axis=1))
    for k in range(bodies.n - 1, 0, -1):
        parent = bodies.parent[k]
        if parent >= 0 and not moving[parent]:
            size[parent] = max(size[parent], size[k])
    return size


def _join(table: Indices, k: int) -> int:
    parent = table[k, rec.PARENT]
    if parent < 0:
        return rec.DROP
    if parent == k - 1:
        return rec.CARRY
    is_first = not table[parent, rec.BRANCHED]
    table[parent, rec.BRANCHED] = 1
    return rec.OPEN if is_first else rec.ADD


def _constants(bodies: Bodies) -> Array:
    constants = np.zeros((bodies.n, rec.CONSTANT))
    for j in range(3):
        column = slice(rec.C_ROTATION + 4 * j, rec.C_ROTATION + 4 * j + 3)
        constants[:, column] = bodies.rotation[:, :, j]
        column = slice(rec.C_INERTIA + 4 * j, rec.C_INERTIA + 4 * j + 3)
        constants[:, column] = bodies.inertia[:, :, j]
    constants[:, rec.C_POSITION : rec.C_POSITION + 3] = bodies.position
    constants[:, rec.C_COM : rec.C_COM + 3] = bodies.com
    constants[:, rec.C_MASS] = bodies.mass
    return constants
