"""Piles of discs and spheres in a box: friction problems with thousands of contacts.

A pile is bodies at places; `Pile.problem` is one time step of it [Stewart and Trinkle 1996],

    M v = H r + M (v- + g dt),    u = H' v + w,    w_n = gap / dt >= 0,

with a contact wherever two bodies, or a body and a wall, are closer than `reach`. Kinds (`pile_problem`):

    gap      a packing with small gaps: most contacts stay open
    touch    the same with all gaps closed: a contact graph that carries load everywhere
    shaken   touch, thrown about at 0.3 m/s with little friction
    settled  a loose packing after some steps of its own motion: jammed, full of self-stress

Packings are hexagonal in the plane and layered in space; radii and masses differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mcpframe.exceptions import OptionError, nearest
from mcpframe.problem.friction import FrictionProblem

Array = NDArray[np.float64]

RADIUS, DENSITY, GRAVITY = 0.05, 1000.0, 9.81
"""m, kg/m^3 (kg/m^2 of discs), m/s^2."""
REACH = 0.02
"""Gap up to which there is a contact, in radii."""
SETTLING_REACH, SETTLING_STEP, SETTLING_STEPS = 0.04, 5e-3, 40
"""The same for a pile that moves, its time step in s, and how many of them settle it."""
KINDS = "gap", "touch", "shaken", "settled"


@dataclass(frozen=True, eq=False)
class Contacts:
    """Where bodies touch each other and walls.

    Attributes:
        first, second: the bodies of every contact [n_c]; second is -1 for a wall.
        normal: unit normals from the second to the first [n_c, dim].
        gap: m [n_c].
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    normal: Array
    gap: Array

    def frames(self) -> Array:
        """Return (normal, tangents) as rows of every contact [n_c, dim, dim]."""
        n = self.normal
        if n.shape[1] == 2:
            return np.stack([n, np.column_stack([-n[:, 1], n[:, 0]])], axis=1)
        steep = np.abs(n[:, :1]) < 0.7
        t = np.cross(n, np.where(steep, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]))
        t /= np.linalg.norm(t, axis=1)[:, None]
        return np.stack([n, t, np.cross(n, t)], axis=1)


@dataclass(frozen=True, eq=False)
class Pile:
    """Discs (dim 2) or spheres (dim 3) between walls and on a floor, open above.

    Attributes:
        place: centres [n, dim].
        radius, mass: m and kg [n].
        velocity: linear, then angular [n, 3 or 6].
        width: of the box, from 0 [m].
        mu: friction coefficient of all contacts.
    """

    place: Array
    radius: Array
    mass: Array
    velocity: Array
    width: float
    mu: float

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.place.shape[1])

    def contacts(self, reach: float = REACH) -> Contacts:
        """Return contacts with gaps of up to `reach` radii, from the floor up."""
        far = reach * RADIUS
        pairs = cKDTree(self.place).query_pairs(2.0 * RADIUS + far, output_type="ndarray")
        apart = self.place[pairs[:, 0]] - self.place[pairs[:, 1]]
        distance = np.linalg.norm(apart, axis=1)
        between = (pairs[:, 0], pairs[:, 1], apart / distance[:, None], distance - self.radius[pairs].sum(1))
        first, second, normal, gap = (
            np.concatenate(parts) for parts in zip(between, *self._walls(), strict=True)
        )
        near = np.flatnonzero(gap < far)
        order = near[np.argsort(self.place[first[near], -1], kind="stable")]
        return Contacts(first[order], second[order], normal[order], np.maximum(gap[order], 0.0))

    def _walls(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]]:
        everyone, walls = np.arange(len(self.place)), []
        for axis in range(self.dim):
            for side in (1.0, -1.0) if axis < self.dim - 1 else (1.0,):
                inside = self.place[:, axis] if side > 0.0 else self.width - self.place[:, axis]
                normal = np.zeros(self.place.shape)
                normal[:, axis] = side
                walls.append((everyone, np.full(everyone.size, -1), normal, inside - self.radius))
        return walls

    def problem(self, dt: float = 1e-2, reach: float = REACH, *, closed: bool = False) -> FrictionProblem:
        """Return the next step as a friction problem, with its velocities.

        Args:
            dt: s.
            reach: gap up to which there is a contact, in radii.
            closed: take all gaps for zero.
        """
        contacts, k = self.contacts(reach), self.velocity.shape[1]
        inertia = (0.5 if self.dim == 2 else 0.4) * self.mass * self.radius**2
        spins = np.tile(inertia[:, None], k - self.dim)
        mass = np.concatenate([np.tile(self.mass[:, None], self.dim), spins], axis=1).ravel()
        free = self.velocity.copy()
        free[:, self.dim - 1] -= GRAVITY * dt
        w = np.zeros((contacts.gap.size, self.dim))
        w[:, 0] = 0.0 if closed else contacts.gap / dt
        H = contact_map(contacts, self.radius)
        return FrictionProblem.from_global(
            sp.diags_array(mass, format="csr"), H, mass * free.ravel(), w.ravel(), self.mu, self.dim
        )

    def moved(self, v: Array, dt: float) -> Pile:
        """Return the pile after a step at velocities v [n_v]."""
        velocity = v.reshape(self.velocity.shape)
        return replace(self, place=self.place + dt * velocity[:, : self.dim], velocity=velocity)


def contact_map(contacts: Contacts, radius: Array) -> sp.csr_array:
    """Return H [n_v, n]: contact velocities, u = H' v, in the frames of the contacts."""
    frames = contacts.frames()
    n_c, dim, _ = frames.shape
    k, c = 3 * (dim - 1), np.arange(n_c)
    rows, columns, values = [], [], []
    for body, side in ((contacts.first, 1.0), (contacts.second, -1.0)):
        here = c[body >= 0]
        arm = -side * radius[body[here]][:, None] * contacts.normal[here]
        for a in range(dim):
            direction = side * frames[here, a]
            turn = (
                np.cross(_in_space(arm), _in_space(direction))[:, -1:]
                if dim == 2
                else np.cross(arm, direction)
            )
            for b, entries in enumerate(np.column_stack([direction, turn]).T):
                rows.append(k * body[here] + b)
                columns.append(dim * here + a)
                values.append(entries)
    parts = (np.concatenate(part) for part in (values, rows, columns))
    data, i, j = parts
    H = sp.csr_array((data, (i, j)), shape=(k * radius.size, dim * n_c))
    H.eliminate_zeros()
    return H


def packing(n_contacts: int, dim: int = 2, *, seed: int = 0, mu: float = 0.5, loose: bool = False) -> Pile:
    """Return a packing with about so many contacts.

    Args:
        loose: with radii that differ more, and faster, as a pile is before it settles.
    """
    if dim not in (2, 3):
        raise OptionError(f"dim = {dim!r}: must be 2 or 3")
    random = np.random.default_rng(seed)
    per_body = {(2, False): 2.4, (2, True): 2.2, (3, False): 5.2, (3, True): 3.5}[dim, loose]
    place, across = _lattice(max(4, int(n_contacts / per_body)), dim)
    n, k = len(place), 3 if dim == 2 else 6
    radius = RADIUS * (1.0 - (0.04 if loose else 0.01) * random.random(n))
    ball = np.pi * radius**2 if dim == 2 else 4.0 / 3.0 * np.pi * radius**3
    mass = DENSITY * ball * np.exp(0.3 * random.standard_normal(n))
    velocity = np.zeros((n, k))
    velocity[:, :dim] = (0.1 if loose else 0.02) * random.standard_normal((n, dim))
    if not loose:
        place = place + 0.003 * RADIUS * random.standard_normal(place.shape)
        velocity[:, dim:] = 0.1 * random.standard_normal((n, k - dim))
    return Pile(place, radius, mass, velocity, 2.0 * RADIUS * across, mu)


def _lattice(n: int, dim: int) -> tuple[Array, int]:
    """Return about n centres of layers, each in the hollows of the one below, and how many stand in a row."""
    across = max(4 if dim == 2 else 3, round(n ** (1.0 / dim)))
    rise = RADIUS * (np.sqrt(3.0) if dim == 2 else np.sqrt(2.0))
    layers = []
    for level in range(max(2, round(n / across ** (dim - 1)))):
        row = RADIUS * (1 + level % 2 + 2.0 * np.arange(across - level % 2))
        grid = np.stack(np.meshgrid(*[row] * (dim - 1)), axis=-1).reshape(-1, dim - 1)
        layers.append(np.column_stack([grid, np.full(len(grid), RADIUS + level * rise)]))
    return np.concatenate(layers), across


def settled(pile: Pile, solve: Callable[[FrictionProblem], Array], steps: int = SETTLING_STEPS) -> Pile:
    """Return the pile after some steps of its motion.

    Args:
        solve: returns impulses r of a problem, as ``lambda problem: mf.solve(problem, "cone", tol=1e-6).z``.
    """
    for _ in range(steps):
        problem = pile.problem(SETTLING_STEP, SETTLING_REACH)
        pile = pile.moved(problem.velocities(solve(problem)), SETTLING_STEP)
    return pile


def pile_problem(
    kind: str,
    n_contacts: int,
    dim: int = 2,
    *,
    seed: int = 0,
    solve: Callable[[FrictionProblem], Array] | None = None,
) -> FrictionProblem:
    """Return a step of a pile with about so many contacts.

    Args:
        kind: one of `KINDS`.
        n_contacts: about how many contacts.
        dim: 2 for discs, 3 for spheres.
        seed: same arguments, same bits.
        solve: what moves a pile until it has settled, see `settled`; the other kinds need none.
    """
    if kind not in KINDS:
        raise OptionError(f"kind {kind!r};{nearest(kind, KINDS)} known: {', '.join(KINDS)}")
    if kind == "settled":
        if solve is None:
            raise OptionError("a settled pile needs solve: impulses of a problem, by which the pile moves")
        pile = settled(packing(n_contacts, dim, seed=seed, loose=True), solve)
        return pile.problem(SETTLING_STEP, SETTLING_REACH)
    pile = packing(n_contacts, dim, seed=seed, mu=0.2 if kind == "shaken" else 0.5)
    if kind == "shaken":
        random = np.random.default_rng([seed, 1])
        pile = replace(pile, velocity=pile.velocity + 0.3 * random.standard_normal(pile.velocity.shape))
    return pile.problem(closed=kind != "gap")


def _in_space(x: Array) -> Array:
    return np.column_stack([x, np.zeros(len(x))])
