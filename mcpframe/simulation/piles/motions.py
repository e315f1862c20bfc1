"""Motions of a pile's bodies and impulses at its contacts: u = J y + q, y = J* r."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put, total, zero
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.slots import PAIR, body_of, row_at, three_of
from mcpframe.spatial.algebra import load_pair, plus, scaled, store_pair


@inline
def velocity(pile, part, c):
    """Return u = J y + q of contact c, along n, t_1 and t_2, for motions y."""
    return seen(pile, part, c, three_of(pile, at.FREE, c))


@inline
def seen(pile, part, c, u):
    """Return u and J y of contact c."""
    lanes = zero(), zero(), zero()
    for side in range(2):
        b = body_of(pile, c, side)
        if b >= 0:
            y = load_pair(pile.X, pile.I[part] + PAIR * b)
            lanes = add_rows(pile, lanes, y, row_at(pile, c, side, 0))
    return u[0] + total(lanes[0]), u[1] + total(lanes[1]), u[2] + total(lanes[2])


@inline
def add_rows(pile, lanes, y, o):
    """Add to lanes what the rows from o on see of a motion."""
    n, t_1, t_2 = load_pair(pile.X, o), load_pair(pile.X, o + PAIR), load_pair(pile.X, o + 2 * PAIR)
    return (
        lanes[0] + n[0] * y[0] + n[1] * y[1],
        lanes[1] + t_1[0] * y[0] + t_1[1] * y[1],
        lanes[2] + t_2[0] * y[0] + t_2[1] * y[1],
    )


@inline
def push(pile, part, c, r):
    """Add what an impulse at contact c does to motions."""
    for side in range(2):
        b = body_of(pile, c, side)
        if b >= 0:
            o, row = pile.I[part] + PAIR * b, row_at(pile, c, side, 0)
            y = load_pair(pile.X, o)
            for k in range(3):
                y = plus(y, scaled(r[k], load_pair(pile.X, row + k * PAIR)))
            store_pair(pile.X, o, y)


@inline
def minus(a, b):
    """Return a - b of three numbers."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def cone_of(pile, c):
    """Return mu, what friction leans on besides, and the edges of the cone of contact c."""
    I, X = pile.I, pile.X
    return get(X, I[at.MU] + c), get(X, I[at.LEANS] + c), get(I, I[at.EDGES] + c)


@callee
def clear(pile, part):
    """Set motions to none."""
    for i in range(PAIR * pile.I[at.N_BODIES]):
        put(pile.X, pile.I[part] + i, 0.0)


@callee
def move(pile, motions, impulses):
    """Write y = J* r."""
    clear(pile, motions)
    for c in range(pile.I[at.N_CONTACTS]):
        push(pile, motions, c, three_of(pile, impulses, c))


@callee
def copy_motions(pile, source, target, step, share):
    """Write motions and a share of a step."""
    I, X = pile.I, pile.X
    for i in range(PAIR * I[at.N_BODIES]):
        put(X, I[target] + i, get(X, I[source] + i) - share * get(X, I[step] + i))


@callee
def size_of(pile, part):
    """Return the size of motions."""
    total = 0.0
    for i in range(PAIR * pile.I[at.N_BODIES]):
        total += get(pile.X, pile.I[part] + i) * get(pile.X, pile.I[part] + i)
    return math.sqrt(total)
