"""Where a pile keeps what: contacts and bodies of one island, in units in which every mass matrix is 1.

A motion of a body is y = (L* R* ω, m^½ v), with L L* its inertia in its own axes, R their orientation and v
the velocity of its centre of mass. Vectors are pairs of three, each with a fourth lane that is zero; a block
of a matrix has six rows of such pairs.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

from mcpframe.jit import inline
from mcpframe.jit.lanes import get, put
from mcpframe.jit.memory import Memory

PILE = Memory()
count, number, integers, doubles = PILE.count, PILE.number, PILE.integers, PILE.doubles

PAIR, SIDE, ROWS, BLOCK, WORD = 8, 24, 48, 48, 32
"""Doubles of a vector of a body, of the rows of a contact on one of its sides and on both, and of a block;
bodies in a word of a set."""
DISC, SMOOTH = 0, 1
"""Instead of the number of edges of a friction cone: a round one; no friction."""

N_CONTACTS, N_BODIES, N_BEFORE, N_ENTRIES, N_NEEDED, N_FACTORS, N_SWEEPS = (count() for _ in range(7))
"""Contacts and bodies of the pile, and contacts of the one before; blocks of its matrix, and how many there
ought to be room for; factors made and sweeps taken."""
ROOM, BODY_ROOM, N_WORDS, N_ALL_BODIES = count("contact"), count("body"), count("word"), count("all_body")
RESIDUAL, GOAL = number(), number()

# Contacts: numbers among what touches; bodies on both sides, -1 for the world, now and when the matrix was
# laid out; where its blocks are.
MEMBER, SIDES, SIDES_BEFORE = integers("contact"), integers("contact", 2), integers("contact", 2)
PLACES = integers("contact", 4)
EDGES, MU, LEANS = integers("contact"), doubles("contact"), doubles("contact")
"""Edges of the friction cone, mu, and the normal impulse that friction leans on besides the contact's own."""
JACOBIAN, FREE, WEIGHT = doubles("contact", ROWS), doubles("contact", 4), doubles("contact", 4)
"""Rows of both bodies along n, t_1, t_2; velocities without impulses, shifts included; diagonal of W, and its
mean."""
R, R_NEW, R_BEST, CREEP, BASE = (doubles("contact", 4) for _ in range(5))
"""CREEP: what the last proximal step has changed r by; BASE: u where it began."""
# Bodies: number in the tree; number here, of every body of the tree; motions, misses, steps.
BODY, LOCAL = integers("body"), integers("all_body")
Y, GONE, Y_TRIAL, MISS, STEP, Y_BEST = (doubles("body", PAIR) for _ in range(6))
"""GONE: how far Newton's method has come in a proximal step."""
INERTIA = doubles("body", 16)
"""L^-1 by rows of three in four lanes, and m^-½."""
# The matrix: the order in which bodies are eliminated and its inverse; neighbours as sets; where rows begin
# and end, and where their diagonal is; where the blocks of a row are, by column.
ORDER, PLACE, DEGREE = integers("body"), integers("body"), integers("body")
NEIGHBOURS = integers("body", "word")
ROW_AT, DIAGONAL, ENTRY = integers("body + 1"), integers("body"), integers("body")
FILLED = integers("body")


class Pile(NamedTuple):
    """Arrays of a pile: those of this file, columns of the matrix's entries, and their blocks."""

    I: Any
    X: Any
    columns: Any
    blocks: Any


@inline
def body_of(pile, c, side):
    """Return the body on a side of contact c, -1 for the world."""
    return get(pile.I, pile.I[SIDES] + 2 * c + side)


@inline
def row_at(pile, c, side, k):
    """Return where row k of a side of contact c begins."""
    return pile.I[JACOBIAN] + c * ROWS + side * SIDE + k * PAIR


@inline
def three_of(pile, part, c):
    """Return the three numbers of contact c in a part."""
    o = pile.I[part] + 4 * c
    return get(pile.X, o), get(pile.X, o + 1), get(pile.X, o + 2)


@inline
def put_three_of(pile, part, c, value):
    """Write them."""
    o = pile.I[part] + 4 * c
    put(pile.X, o, value[0])
    put(pile.X, o + 1, value[1])
    put(pile.X, o + 2, value[2])
