"""Factors of a pile's matrix, K = L U by blocks of six, row after row [George and Liu 1981].

Where friction slides K is not symmetric, but its pattern is. Within the blocks of bodies pivots are taken as
they come: but for friction that slides a block is 1 and a sum of squares.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, total, vector, zero
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.slots import BLOCK, PAIR


@inline
def subtract_product(V, target, left, right):
    """Subtract the product of two blocks from a third."""
    for a in range(6):
        row = target + PAIR * a
        first, second = load(V, row), load(V, row + 4)
        for k in range(6):
            factor = get(V, left + PAIR * a + k + k // 3)
            first = first - factor * load(V, right + PAIR * k)
            second = second - factor * load(V, right + PAIR * k + 4)
        store(V, row, first)
        store(V, row + 4, second)


@inline
def multiply_into(V, target, right):
    """Multiply a block from the right by another, in place."""
    for a in range(6):
        row = target + PAIR * a
        first, second = zero(), zero()
        for k in range(6):
            factor = get(V, row + k + k // 3)
            first = first + factor * load(V, right + PAIR * k)
            second = second + factor * load(V, right + PAIR * k + 4)
        store(V, row, first)
        store(V, row + 4, second)


@inline
def unit(k):
    """Return row k of the identity, in two halves."""
    e = vector(1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
    return (e, zero()) if k < 3 else (zero(), e)


@callee
def invert(V, o):
    """Invert a block in place by Gauss and Jordan, pivots as they come; return success.

    In lanes alone: numbers that are written one by one and read together make the processor wait.
    """
    ones = vector(1.0, 1.0, 1.0)
    for k in range(6):
        row, e = o + PAIR * k, unit(k)
        pivot = get(V, row + k + k // 3)
        if pivot == 0.0:
            return False
        rest, share = (ones - e[0], ones - e[1]), 1.0 / pivot
        first = share * (rest[0] * load(V, row) + e[0])
        second = share * (rest[1] * load(V, row + 4) + e[1])
        for i in range(6):
            other = o + PAIR * i
            factor = get(V, other + k + k // 3)
            store(V, other, rest[0] * load(V, other) - factor * first)
            store(V, other + 4, rest[1] * load(V, other + 4) - factor * second)
        store(V, row, first)
        store(V, row + 4, second)
    return True


@callee
def factor(pile):
    """Write L, and U with inverse diagonal blocks, over the matrix; return whether no block was singular."""
    I, V, columns = pile.I, pile.blocks, pile.columns
    put(I, at.N_FACTORS, I[at.N_FACTORS] + 1)
    for i in range(I[at.N_BODIES]):
        first, diagonal = get(I, I[at.ROW_AT] + i), get(I, I[at.DIAGONAL] + i)
        for e in range(first, get(I, I[at.ROW_AT] + i + 1)):
            put(I, I[at.ENTRY] + columns[e], e)
        for e in range(first, diagonal):
            k = columns[e]
            pivot = get(I, I[at.DIAGONAL] + k)
            multiply_into(V, e * BLOCK, pivot * BLOCK)
            for f in range(pivot + 1, get(I, I[at.ROW_AT] + k + 1)):
                subtract_product(V, get(I, I[at.ENTRY] + columns[f]) * BLOCK, e * BLOCK, f * BLOCK)
        if not invert(V, diagonal * BLOCK):
            return False
    return True


@inline
def subtract_applied(V, block, X, target, source):
    """Subtract a block times the vector at `source` from that at `target`."""
    first, second = load(X, source), load(X, source + 4)
    for a in range(6):
        row, o = block + PAIR * a, target + a + a // 3
        put(X, o, get(X, o) - total(load(V, row) * first + load(V, row + 4) * second))


@callee
def solve(pile, part):
    """Solve K x = b with its factors, in place; of every body its own numbers."""
    I, X, V, columns = pile.I, pile.X, pile.blocks, pile.columns
    n, b = I[at.N_BODIES], I[part]
    for i in range(n):
        target = b + PAIR * get(I, I[at.ORDER] + i)
        for e in range(get(I, I[at.ROW_AT] + i), get(I, I[at.DIAGONAL] + i)):
            subtract_applied(V, e * BLOCK, X, target, b + PAIR * get(I, I[at.ORDER] + columns[e]))
    for i in range(n - 1, -1, -1):
        target, diagonal = b + PAIR * get(I, I[at.ORDER] + i), get(I, I[at.DIAGONAL] + i)
        for e in range(diagonal + 1, get(I, I[at.ROW_AT] + i + 1)):
            subtract_applied(V, e * BLOCK, X, target, b + PAIR * get(I, I[at.ORDER] + columns[e]))
        apply_block(V, diagonal * BLOCK, X, target)


@inline
def apply_block(V, block, X, target):
    """Multiply the vector at `target` by a block."""
    first, second = load(X, target), load(X, target + 4)
    for a in range(6):
        row = block + PAIR * a
        put(X, target + a + a // 3, total(load(V, row) * first + load(V, row + 4) * second))
