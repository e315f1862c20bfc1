"""Stacks of boxes as friction problems: moving, at rest, struck, of unlike masses; fresh for every seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mcpframe import FrictionProblem

Array = NDArray[np.float64]

AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Normal and tangents of a horizontal face, by rows."""
HALF, DT, GRAVITY = 0.5, 1e-3, 9.81
INERTIA = 6.0
"""Of a unit cube of unit mass: one over it."""
FRICTION = (0.1, 0.3, 0.5, 0.8, 1.0, 1.5)
KINDS = {
    "slide": {"jitter": 1.0, "speed": 0.3},
    "mixed": {"jitter": 1.0, "speed": 0.005},
    "impact": {"jitter": 1.0, "speed": 1.0, "falls": 1.0},
    "unlike": {"jitter": 1.0, "speed": 0.1, "ratio": 1000.0},
    "rest": {},
}
"""Stacks that slide, that slide and stick, that strike, whose masses differ by 1000; and at rest."""


def skew(p: Array) -> Array:
    """Return the matrix of p ×."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def stack(
    rng: np.random.Generator,
    boxes: int,
    jitter: float = 0.0,
    speed: float = 0.0,
    ratio: float = 1.0,
    falls: float = 0.0,
) -> tuple[Array, Array]:
    """Return W and q of boxes on one another, four corners each.

    Args:
        jitter: how far corners are off, in twentieths of a box.
        speed: of the boxes along the floor, m/s.
        ratio: of the largest mass to the smallest one.
        falls: speed of all downwards, m/s.
    """
    n = 6 * boxes
    J = np.zeros((12 * boxes, n))
    for b in range(boxes):
        for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
            p = HALF * np.array([x, y, -1.0]) + 0.05 * jitter * rng.normal(size=3)
            rows = slice(12 * b + 3 * k, 12 * b + 3 * k + 3)
            J[rows, 6 * b : 6 * b + 3], J[rows, 6 * b + 3 : 6 * b + 6] = AXES, -AXES @ skew(p)
            if b > 0:
                below = p + np.array([0.0, 0.0, 1.0])
                J[rows, 6 * b - 6 : 6 * b - 3], J[rows, 6 * b - 3 : 6 * b] = -AXES, AXES @ skew(below)
    masses = ratio ** rng.uniform(-0.5, 0.5, boxes)
    inverse = np.concatenate([np.repeat([1.0, INERTIA], 3) / mass for mass in masses])
    v = np.zeros(n)
    v[2::6] = -GRAVITY * DT - falls
    if speed:
        v[0::6] += speed * rng.uniform(0.5, 1.5, boxes)
        v += 0.01 * rng.normal(size=n)
    return (J * inverse) @ J.T, J @ v


def problems(kind: str, contacts: int, count: int, seed: int) -> Iterator[FrictionProblem]:
    """Yield fresh problems of a kind; every other one has one mu for all contacts."""
    rng = np.random.default_rng([seed, contacts, list(KINDS).index(kind)])
    for i in range(count):
        W, q = stack(rng, contacts // 4, **KINDS[kind])
        yield FrictionProblem(W, q, rng.choice(FRICTION, None if i % 2 else contacts))
