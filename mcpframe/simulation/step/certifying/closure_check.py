"""Closures in the certificate of a case: G_b hinge by hinge, what impulses do by it, what v+ makes of it."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.law_kernel import worse
from mcpframe.jit import callee
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    B_POSITION,
    B_SHIFT,
    BODIES,
    BODY,
    D_COLUMN,
    DOF,
    DOF_AT,
    DOFS,
    N_DOF,
    N_DOFS,
    PAIR,
    PARENT,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.spatial.algebra import cross, dot, inner, load_pair, shifted_force

RANK_TOLERANCE = 1e-8
"""Share of the longest column of G_b below which what is left of another adds no direction."""


@callee
def closure_matrix(case, X):
    """Write G_b on hinge rates: each row's wrenches, met by the columns of all hinges below them."""
    I, IE, IS, XS = case.I, case.IE, case.IS, case.XS
    N = I[N_DOFS]
    for i in range(IE[loops.N_ROWS]):
        row = IS[at.LOOP_MATRIX] + i * N
        for d in range(N):
            put(XS, row + d, 0.0)
        for half in range(get(IE, IE[loops.HALF_AT] + i), get(IE, IE[loops.HALF_AT] + i + 1)):
            f = load_pair(case.XE, IE[loops.HALF_WRENCH] + half * PAIR)
            k = get(IE, IE[loops.HALF_BODY] + half)
            while k >= 0:
                t = I[TREE] + k * TREE_ROW
                first = get(I, t + DOF_AT)
                for d in range(first, first + get(I, t + N_DOF)):
                    met = inner(load_pair(X, I[DOFS] + d * DOF + D_COLUMN), f)
                    put(XS, row + d, get(XS, row + d) + met)
                if get(I, t + SECTION) == k:
                    f = shifted_force(f, load(X, I[BODIES] + k * BODY + B_SHIFT))
                k = get(I, t + PARENT)


@callee
def closure_push(case):
    """Add the impulses of closures, which come first in Z, to those at the hinges: G_b* p_b."""
    IS, XS, N = case.IS, case.XS, case.I[N_DOFS]
    for i in range(case.IE[loops.N_ROWS]):
        impulse, row = get(XS, IS[at.Z] + i), IS[at.LOOP_MATRIX] + i * N
        for d in range(N):
            o = IS[at.HINGE_PUSH] + d
            put(XS, o, get(XS, o) + impulse * get(XS, row + d))


@callee
def closure_speed(case, X, fastest, motion):
    """Return the largest sum of what the bodies' motions, at their origins, are to the wrenches of a row."""
    I, IE = case.I, case.IE
    for i in range(IE[loops.N_ROWS]):
        total = 0.0
        for half in range(get(IE, IE[loops.HALF_AT] + i), get(IE, IE[loops.HALF_AT] + i + 1)):
            moment, force = load_pair(case.XE, IE[loops.HALF_WRENCH] + half * PAIR)
            o = I[BODIES] + get(IE, IE[loops.HALF_BODY] + half) * BODY
            (w, v), origin = load_pair(X, o + motion), load(X, o + B_POSITION)
            turned, moved = moment - cross(origin, force), v + cross(w, origin)
            total += math.sqrt(dot(turned, turned) * dot(w, w))
            total += math.sqrt(dot(force, force) * dot(moved, moved))
        fastest = max(fastest, total)
    return fastest


@callee
def closure_error(case, scale):
    """Return how far G_b v+ is from the rates asked for, as far as any velocity can have them.

    Rows that repeat others ask for nothing; they are taken out of the matrix.
    """
    IE, IS, XS, N = case.IE, case.IS, case.XS, case.I[N_DOFS]
    worst = 0.0
    for i in range(IE[loops.N_ROWS]):
        asked, rate = get(IS, IS[at.ASKED] + i), 0.0
        target = asked * get(case.XE, IE[loops.TARGET] + i)
        for d in range(N):
            o = IS[at.LOOP_MATRIX] + i * N + d
            put(XS, o, asked * get(XS, o))
            rate += get(XS, o) * get(XS, IS[at.AFTER] + d)
        put(XS, IS[at.LOOP_MISSING] + i, rate - target)
        scale, worst = max(scale, abs(target)), worse(worst, abs(rate - target))
    if worst / scale > XS[at.CERTIFY_TOL]:
        worst = largest_within_range(case)
    return worst / scale


@callee
def largest_within_range(case):
    """Return the largest part of the missing rates that some velocity could bring.

    Rows may contradict others. Columns of G_b are made orthogonal, the longest first; each takes its part of
    what is missing with it; what remains is out of reach. Uses up the matrix.
    """
    IS, XS, N, n = case.IS, case.XS, case.I[N_DOFS], case.IE[loops.N_ROWS]
    G, missing, reached = IS[at.LOOP_MATRIX], IS[at.LOOP_MISSING], IS[at.LOOP_MISSING] + n
    for i in range(n):
        put(XS, reached + i, 0.0)
    least = -1.0
    for _ in range(min(N, n)):
        best, longest = 0, 0.0
        for d in range(N):
            length = 0.0
            for i in range(n):
                length += get(XS, G + i * N + d) * get(XS, G + i * N + d)
            if length > longest:
                best, longest = d, length
        if least < 0.0:
            least = RANK_TOLERANCE * RANK_TOLERANCE * longest
        if longest <= least:
            break
        root = math.sqrt(longest)
        along = 0.0
        for i in range(n):
            put(XS, G + i * N + best, get(XS, G + i * N + best) / root)
            along += get(XS, G + i * N + best) * get(XS, missing + i)
        for i in range(n):
            put(XS, reached + i, get(XS, reached + i) + along * get(XS, G + i * N + best))
        for d in range(N):
            if d != best:
                share = 0.0
                for i in range(n):
                    share += get(XS, G + i * N + best) * get(XS, G + i * N + d)
                for i in range(n):
                    left = get(XS, G + i * N + d) - share * get(XS, G + i * N + best)
                    put(XS, G + i * N + d, left)
        for i in range(n):
            put(XS, G + i * N + best, 0.0)
    largest = 0.0
    for i in range(n):
        largest = worse(largest, abs(get(XS, reached + i)))
    return largest
