"""In which order bodies are eliminated, and where the blocks of the factors are.

Bodies with the fewest neighbours go first [Tinney and Walker 1967]; those that are left become neighbours of
each other. Sets of bodies are bits of words, so that joining two takes a word for every 32 of them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.jit import IndicesOut, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import get, put
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.slots import WORD, Pile, body_of


@inline
def set_of(pile, b):
    """Return where the set of a body's neighbours begins."""
    return pile.I[at.NEIGHBOURS] + b * pile.I[at.N_WORDS]


@inline
def bits(word):
    """Return how many of the 32 bits of a word are set."""
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    return (((word + (word >> 4)) & 0x0F0F0F0F) * 0x01010101 & 0xFFFFFFFF) >> 24


@inline
def words_of(pile):
    """Return how many words a set has."""
    return (pile.I[at.N_BODIES] + WORD - 1) // WORD


@inline
def is_in(pile, row, b):
    """Return whether body b is in a set."""
    return (get(pile.I, row + b // WORD) >> (b % WORD)) & 1 != 0


@inline
def add(pile, row, b):
    """Add body b to a set."""
    o = row + b // WORD
    put(pile.I, o, get(pile.I, o) | (1 << (b % WORD)))


@inline
def remove(pile, row, b):
    """Take body b out of a set."""
    o = row + b // WORD
    put(pile.I, o, get(pile.I, o) & ~(1 << (b % WORD)))


@callee
def size_of(pile, row):
    """Return how many bodies are in a set."""
    n = 0
    for k in range(words_of(pile)):
        n += bits(get(pile.I, row + k))
    return n


@callee
def know_neighbours(pile):
    """Write who touches whom."""
    I, n = pile.I, pile.I[at.N_BODIES]
    for b in range(n):
        for k in range(words_of(pile)):
            put(I, set_of(pile, b) + k, 0)
    for c in range(I[at.N_CONTACTS]):
        a, b = body_of(pile, c, 0), body_of(pile, c, 1)
        if a >= 0 and b >= 0 and a != b:
            add(pile, set_of(pile, a), b)
            add(pile, set_of(pile, b), a)
    for b in range(n):
        put(I, I[at.DEGREE] + b, size_of(pile, set_of(pile, b)))
        put(I, I[at.PLACE] + b, -1)


@callee
def eliminate(pile, body):
    """Make the neighbours of a body each other's; in its own set those remain that come later."""
    I, own = pile.I, set_of(pile, body)
    for b in range(I[at.N_BODIES]):
        if is_in(pile, own, b):
            row = set_of(pile, b)
            for k in range(words_of(pile)):
                put(I, row + k, get(I, row + k) | get(I, own + k))
            remove(pile, row, b)
            remove(pile, row, body)
            put(I, I[at.DEGREE] + b, size_of(pile, row))


@callee
def order_bodies(pile):
    """Write the order of elimination; return how many blocks the factors have."""
    I, n = pile.I, pile.I[at.N_BODIES]
    know_neighbours(pile)
    entries = n
    for place in range(n):
        best, least = -1, n
        for b in range(n):
            if get(I, I[at.PLACE] + b) < 0 and get(I, I[at.DEGREE] + b) < least:
                best, least = b, get(I, I[at.DEGREE] + b)
        put(I, I[at.ORDER] + place, best)
        put(I, I[at.PLACE] + best, place)
        entries += 2 * least
        eliminate(pile, best)
    return entries


@callee
def lay_out(pile):
    """Write where rows begin, and the columns of their blocks in ascending order."""
    I, columns, n = pile.I, pile.columns, pile.I[at.N_BODIES]
    for i in range(n):
        put(I, I[at.FILLED] + i, 0)
    for i in range(n):  # how many blocks are left of the diagonal
        own = set_of(pile, get(I, I[at.ORDER] + i))
        for b in range(n):
            if is_in(pile, own, b):
                left = I[at.FILLED] + get(I, I[at.PLACE] + b)
                put(I, left, get(I, left) + 1)
    start = 0
    for i in range(n):
        put(I, I[at.ROW_AT] + i, start)
        diagonal = start + get(I, I[at.FILLED] + i)
        put(I, I[at.DIAGONAL] + i, diagonal)
        columns[diagonal] = i
        start = diagonal + 1 + size_of(pile, set_of(pile, get(I, I[at.ORDER] + i)))
        put(I, I[at.FILLED] + i, 0)
    put(I, I[at.ROW_AT] + n, start)
    for i in range(n):
        own = set_of(pile, get(I, I[at.ORDER] + i))
        for b in range(n):
            if is_in(pile, own, b):
                j = get(I, I[at.PLACE] + b)
                filled = I[at.FILLED] + j
                columns[get(I, I[at.ROW_AT] + j) + get(I, filled)] = i
                put(I, filled, get(I, filled) + 1)
    for i in range(n):
        put(I, I[at.FILLED] + i, 0)
    for j in range(n):  # rows in order, so that columns are
        for e in range(get(I, I[at.ROW_AT] + j), get(I, I[at.DIAGONAL] + j)):
            i = columns[e]
            filled = I[at.FILLED] + i
            columns[get(I, I[at.DIAGONAL] + i) + 1 + get(I, filled)] = j
            put(I, filled, get(I, filled) + 1)


@callee
def entry_of(pile, i, j):
    """Return the number of the block in row i and column j."""
    for e in range(get(pile.I, pile.I[at.ROW_AT] + i), get(pile.I, pile.I[at.ROW_AT] + i + 1)):
        if pile.columns[e] == j:
            return e
    return -1


@callee
def place_contacts(pile):
    """Write where the blocks of every contact are."""
    I = pile.I
    for c in range(I[at.N_CONTACTS]):
        for k in range(4):
            a, b = body_of(pile, c, k // 2), body_of(pile, c, k % 2)
            entry = -1
            if a >= 0 and b >= 0:
                entry = entry_of(pile, get(I, I[at.PLACE] + a), get(I, I[at.PLACE] + b))
            put(I, I[at.PLACES] + 4 * c + k, entry)


@callee
def is_known(pile):
    """Return whether the same bodies touch as when the matrix was laid out; know these from now on."""
    I, same = pile.I, pile.I[at.N_ENTRIES] > 0 and pile.I[at.N_BEFORE] == pile.I[at.N_CONTACTS]
    put(I, at.N_BEFORE, I[at.N_CONTACTS])
    for k in range(2 * I[at.N_CONTACTS]):
        side, before = get(I, I[at.SIDES] + k), I[at.SIDES_BEFORE] + k
        same = same and get(I, before) == side
        put(I, before, side)
    return same


@kernel(IndicesOut, VectorOut, IndicesOut, VectorOut, types.boolean)
def arrange(I, X, columns, blocks, anew):
    """Lay the matrix of a pile out, unless it is that of the last; return whether there is room for it."""
    pile = Pile(I, X, columns, blocks)
    if is_known(pile) and not anew:
        return True
    put(I, at.N_ENTRIES, 0)
    put(I, at.N_NEEDED, order_bodies(pile))
    if I[at.N_NEEDED] > columns.shape[0]:
        return False
    lay_out(pile)
    place_contacts(pile)
    put(I, at.N_ENTRIES, I[at.N_NEEDED])
    return True
