"""Proximal Newton's method: the end of a search, also where contacts bear self-stress.

Redundant contacts leave r undetermined along self-stresses, W d = 0, and Newton's matrix is singular there.
A proximal step keeps r near r_k in exactly these directions,

    r = P(r_k - u(r) / eps),   P the projection on the disc mu x_n+ of each contact [Alart and Curnier 1991],

and its solution is one of the friction problem where r = r_k. It is found by Newton's method on v = G r with
a line search; one step does where no contact changes its mode. As long as modes stay, r creeps along a
self-stress by u / eps a step while u, and with it the residual, does not move at all: that is where
gradients, sweeps and proximal steps of one size stall in jammed piles. So eps falls, by the rule of
`mcpframe.solving.proximal`; and where a step has done nothing but creep, r leaps on along it, as far as that
does no harm, which is nearly to where a contact opens or slides.

Such steps are implicit ones, of length 1 / eps, along dr/dt = -u within the cones. With friction nothing has
to fall on this way: load that moves from contact to contact may raise the residual many times over, for
hundreds of steps, before it ends at a solution. So r goes on from where it is, never from the best point.
[Li, Sun, Toh 2018] is the convex case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import lengths
from mcpframe.solvers.cone.sparse.system import SparseCones
from mcpframe.solving.proximal import GROW, HALVINGS, MOST_EPS, MOST_STEPS, SUFFICIENT, eps_after

Array = NDArray[np.float64]

FIRST_EPS, LEAST_EPS = 1e-1, 1e-9
EXACT, CLOSE = 1e-12, 1e-2
"""Norm of v - G r that ends Newton's method, or so much of what the proximal step changes, times eps."""
LEAPS, CREEPING, HARMLESS = 40, 0.5, 1.001
"""How often the way along a self-stress is doubled; the share of the residual that a step without changes of
modes leaves at least, if it creeps; by how much a leap may make the residual larger."""


@dataclass(slots=True, eq=False)
class _Guess:
    """Velocities, the impulses that go with them, their derivative -dr/du, and v - G r."""

    v: Array
    r: Array
    B: Array
    off: Array

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.off))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best point, its residual (of the judge, over its scale), and linear systems solved."""

    r: Array
    residual: float
    steps: int


def proximal_newton(system: SparseCones, r: Array, goal: float, systems: int, deadline: float) -> Found:
    """Return the best point of proximal steps from r, done at residual `goal` or after so many systems."""
    eps, steps, held = FIRST_EPS, 0, 0
    residual = system.residual(r)
    best, v = Found(r, residual, 0), system.push(r)
    while best.residual > goal and steps < systems and perf_counter() < deadline:
        guess, taken, done = _proximal_step(system, r, v, eps, deadline)
        steps += max(taken, 1)
        if done:
            before, residual = residual, system.residual(guess.r)
            if taken <= 1 and residual > CREEPING * before:
                guess = _leap(system, guess, guess.r - r, residual)
                residual = system.residual(guess.r)
            r, v = guess.r, guess.v
            best = Found(r, residual, steps) if residual < best.residual else best
        elif eps >= MOST_EPS:
            break
        eps, held = eps_after(eps, held, taken, done, LEAST_EPS)
    return Found(best.r, best.residual, steps)


def _leap(system: SparseCones, at: _Guess, creep: Array, residual: float) -> _Guess:
    """Return the point farthest along the way that r has crept, in its cones, that is not worse."""
    far = at.r
    for k in range(LEAPS):
        ahead, _ = onto_discs(at.r + 2.0**k * creep, system.mu)
        if not system.residual(ahead) <= HARMLESS * residual:
            break
        far = ahead
    return at if far is at.r else replace(at, r=far, v=system.push(far))


def _proximal_step(
    system: SparseCones, r: Array, v: Array, eps: float, deadline: float
) -> tuple[_Guess, int, bool]:
    """Solve r = P(r_k - u(r) / eps); return it, the linear systems it took, and whether it was found."""
    guess = _guess(system, r, v, eps)
    change = float(np.abs(guess.r - r).max(initial=0.0))
    goal = max(EXACT, CLOSE * eps * min(1.0, change))
    for step in range(MOST_STEPS):
        if guess.size <= goal:
            return guess, step, True
        solve = system.factor(guess.B) if perf_counter() < deadline else None
        following = None if solve is None else _line_search(system, r, guess, -solve(guess.off), eps)
        if following is None:
            return guess, step + 1, guess.size <= EXACT * GROW
        guess = following
    return guess, MOST_STEPS, guess.size <= goal


def _line_search(system: SparseCones, r: Array, at: _Guess, step: Array, eps: float) -> _Guess | None:
    """Return the first point on the step, halved again and again, that is closer; None where none is."""
    share = 1.0
    for _ in range(HALVINGS):
        trial = _guess(system, r, at.v + share * step, eps)
        if trial.size < (1.0 - SUFFICIENT * share) * at.size:
            return trial
        share *= 0.5
    return None


def _guess(system: SparseCones, r: Array, v: Array, eps: float) -> _Guess:
    new, B = onto_discs(r - system.u(v) / eps, system.mu)
    return _Guess(v, new, B / eps, v - system.push(new))


def onto_discs(x: Array, mu: Array) -> tuple[Array, Array]:
    """Return P(x), tangents drawn into the disc of radius mu x_n+, and its derivative [n_c, d, d].

    Open: 0. Sticking: x and I. Sliding: (x_n, mu x_n e), e = x_t / |x_t|, and
    [[1, 0], [mu e, (mu x_n / |x_t|) (I - e e')]].
    """
    n_c, d = x.shape
    normal, far = np.maximum(x[:, 0], 0.0), lengths(x[:, 1:])
    slides = far > mu * normal
    e = x[:, 1:] / np.where(far > 0.0, far, 1.0)[:, None]
    share = np.where(slides, mu * normal / np.where(far > 0.0, far, 1.0), 1.0)
    r = np.column_stack([normal, share[:, None] * x[:, 1:]])
    B = np.zeros((n_c, d, d))
    B[:, 0, 0] = 1.0
    B[:, 1:, 0] = np.where(slides, mu, 0.0)[:, None] * e
    across = np.where(slides, 1.0, 0.0)[:, None, None] * e[:, :, None] * e[:, None, :]
    B[:, 1:, 1:] = share[:, None, None] * (np.eye(d - 1) - across)
    closed = x[:, 0] > 0.0
    return r * closed[:, None], B * closed[:, None, None]
