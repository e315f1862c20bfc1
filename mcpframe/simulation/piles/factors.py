"""Factors of a pile's matrix, K = L U by blocks of six, row after row [George and Liu 1981].

Where friction slides K is not symmetric, but its pattern is. Pivots are taken within the blocks of bodies.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, total, zero
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


@callee
def invert(V, o):
    """Invert a block in place by Gauss and Jordan, the largest pivot of all rows first; return success."""
    done = 0
    for _ in range(6):
        best, size = -1, 0.0
        for i in range(6):
            pivot = abs(get(V, o + PAIR * i + i + i // 3))
            if (done >> i) & 1 == 0 and pivot > size:
                best, size = i, pivot
        if best < 0:
            return False
        done |= 1 << best
        column, row = best + best // 3, o + PAIR * best
        pivot = get(V, row + column)
        put(V, row + column, 1.0)
        store(V, row, (1.0 / pivot) * load(V, row))
        store(V, row + 4, (1.0 / pivot) * load(V, row + 4))
        for i in range(6):
            if i != best:
                other = o + PAIR * i
                factor = get(V, other + column)
                put(V, other + column, 0.0)
                store(V, other, load(V, other) - factor * load(V, row))
                store(V, other + 4, load(V, other + 4) - factor * load(V, row + 4))
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
