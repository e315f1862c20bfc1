"""Impulses of a pile by proximal steps, each found by Newton's method on the motions of its bodies.

With u = J y + q and motions y = J* r, contacts that are redundant leave r undetermined along self-stresses,
where nothing moves. A proximal step keeps r near r_k there,

    r = P(r_k - u(y) / (ε w)),   y = J* r,   P of `cones`, w the size of W at the contact:

as many equations as motions, with the matrix 1 + J* (P' / ε w) J, which has a block for every two bodies that
touch. They are solved for what the step changes, with u_k = J y_k + q,

    d = J* (P(r_k - (u_k + J d) / (ε w)) - r_k),

for the rounding of u_k, which is divided by ε, is the same in all of them. Where r = r_k the friction problem
is solved. ε falls and rises by the rule of `mcpframe.solving.proximal`;
`mcpframe.solvers.cone.sparse.proximal` does the same for round cones.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.cones import facing, onto_cone, slopes
from mcpframe.simulation.piles.factors import factor, solve
from mcpframe.simulation.piles.judging import residual
from mcpframe.simulation.piles.motions import (
    clear,
    cone_of,
    copy_motions,
    minus,
    move,
    push,
    seen,
    size_of,
    velocity,
)
from mcpframe.simulation.piles.slots import BLOCK, PAIR, put_three_of, row_at, three_of
from mcpframe.solving.proximal import HALVINGS, MOST_EPS, MOST_STEPS, SUFFICIENT, next_eps
from mcpframe.spatial.algebra import load_pair, plus, scaled

LEAST_EPS = 1e-8
"""Below it, rounding within linear systems is more than Newton's method can bear."""
EXACT, CLOSE = 1e-13, 1e-2
"""Miss of the equations, beside the size of y, that ends Newton's method: what rounding leaves; or so much of
what the proximal step changes, times ε."""
LEAPS, CREEPING, HARMLESS = 40, 0.5, 1.001
"""How often the way along a self-stress is doubled; the share that a step brings the residual down to at
least, if load does not creep; by how much a leap may make the residual larger."""
NOTHING = 0.0, 0.0, 0.0
PATIENCE = 2
"""Steps in a row that creep, after which a residual that is small enough is not made smaller."""
GAIN = 0.5
"""Share that the residual is brought down to within a turn, for it to go on."""
FARTHER = 1.3
"""How much farther a sweep goes than to what a contact asks for: about half as many are needed then."""


@callee
def sweep(pile):
    """Give every contact in turn the impulse that its law asks for beside those of others [Moreau 1988].

    It goes a little `FARTHER`, as successive over-relaxation does [Cryer 1971]. One of the first half and one
    of the second in turns: contacts that follow each other share bodies, and the processor would wait for one
    before it can begin with the next.
    """
    I, X, n = pile.I, pile.X, pile.I[at.N_CONTACTS]
    put(I, at.N_SWEEPS, I[at.N_SWEEPS] + 1)
    for k in range(n):
        c = k // 2 + (k % 2) * ((n + 1) // 2)
        mu, leans, edges = cone_of(pile, c)
        r, u, o = three_of(pile, at.R, c), velocity(pile, at.Y, c), I[at.WEIGHT] + 4 * c
        along, across = FARTHER / get(X, o), FARTHER / max(get(X, o + 1), get(X, o + 2))
        x = r[0] - along * u[0], r[1] - across * u[1], r[2] - across * u[2]
        new = onto_cone(facing(x, edges), mu, leans, edges)
        put_three_of(pile, at.R, c, new)
        push(pile, at.Y, c, minus(new, r))


@inline
def ahead(pile, gone, c, eps):
    """Return r_k - (u_k + J d) / (ε w) of contact c, facing its cone."""
    edges, stiff = cone_of(pile, c)[2], 1.0 / (eps * get(pile.X, pile.I[at.WEIGHT] + 4 * c + 3))
    r, u = facing(three_of(pile, at.R, c), edges), facing(three_of(pile, at.BASE, c), edges)
    du = facing(seen(pile, gone, c, NOTHING), edges)
    return r[0] - stiff * (u[0] + du[0]), r[1] - stiff * (u[1] + du[1]), r[2] - stiff * (u[2] + du[2])


@callee
def miss(pile, gone, eps):
    """Write r of d to R_NEW, d - J* (r - r_k) to MISS; return its size, and the largest change of r."""
    I, X, change = pile.I, pile.X, 0.0
    clear(pile, at.MISS)
    for c in range(I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        new = onto_cone(ahead(pile, gone, c, eps), mu, leans, edges)
        put_three_of(pile, at.R_NEW, c, new)
        moved = minus(new, three_of(pile, at.R, c))
        push(pile, at.MISS, c, moved)
        change = max(change, max(abs(moved[0]), max(abs(moved[1]), abs(moved[2]))))
    size = 0.0
    for i in range(PAIR * I[at.N_BODIES]):
        off = get(X, I[gone] + i) - get(X, I[at.MISS] + i)
        put(X, I[at.MISS] + i, off)
        size += off * off
    return math.sqrt(size), change


@inline
def add_block(pile, entry, left, right, stiff, slope):
    """Add J_l* (P' / ε w) J_r to a block; rows of the two sides begin at `left` and `right`."""
    X, V, o = pile.X, pile.blocks, entry * BLOCK
    n, t_1, t_2 = load_pair(X, right), load_pair(X, right + PAIR), load_pair(X, right + 2 * PAIR)
    seen = (
        scaled(stiff * slope[0], n),
        plus(plus(scaled(stiff * slope[1], n), scaled(stiff * slope[3], t_1)), scaled(stiff * slope[4], t_2)),
        plus(plus(scaled(stiff * slope[2], n), scaled(stiff * slope[4], t_1)), scaled(stiff * slope[5], t_2)),
    )
    for a in range(6):
        i, row = left + a + a // 3, o + PAIR * a
        first, second = load(V, row), load(V, row + 4)
        for k in range(3):
            factor = get(X, i + k * PAIR)
            first, second = first + factor * seen[k][0], second + factor * seen[k][1]
        store(V, row, first)
        store(V, row + 4, second)


@callee
def write_matrix(pile, eps):
    """Write 1 + J* (P' / ε w) J at GONE."""
    I, X, V = pile.I, pile.X, pile.blocks
    for i in range(BLOCK * I[at.N_ENTRIES]):
        put(V, i, 0.0)
    for i in range(I[at.N_BODIES]):
        for a in range(6):
            put(V, get(I, I[at.DIAGONAL] + i) * BLOCK + PAIR * a + a + a // 3, 1.0)
    for c in range(I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        slope = slopes(ahead(pile, at.GONE, c, eps), mu, leans, edges)
        stiff = 1.0 / (eps * get(X, I[at.WEIGHT] + 4 * c + 3))
        if slope[0] == 0.0 and slope[3] == 0.0 and slope[5] == 0.0:
            continue
        for k in range(4):
            entry = get(I, I[at.PLACES] + 4 * c + k)
            if entry >= 0:
                add_block(pile, entry, row_at(pile, c, k // 2, 0), row_at(pile, c, k % 2, 0), stiff, slope)


@callee
def newton_step(pile, eps, size):
    """Go from GONE as far along Newton's step as makes the miss smaller; return success, miss and change."""
    write_matrix(pile, eps)
    if not factor(pile):
        return False, size, 0.0
    I = pile.I
    for i in range(PAIR * I[at.N_BODIES]):
        put(pile.X, I[at.STEP] + i, get(pile.X, I[at.MISS] + i))
    solve(pile, at.STEP)
    share = 1.0
    for _ in range(HALVINGS):
        copy_motions(pile, at.GONE, at.Y_TRIAL, at.STEP, share)
        new, change = miss(pile, at.Y_TRIAL, eps)
        if new < (1.0 - SUFFICIENT * share) * size:
            copy_motions(pile, at.Y_TRIAL, at.GONE, at.STEP, 0.0)
            return True, new, change
        share *= 0.5
    return False, size, 0.0


@callee
def proximal_step(pile, eps):
    """Find r = P(r_k - u / (ε w)) from Y; return how many systems it took, and whether it was found."""
    for c in range(pile.I[at.N_CONTACTS]):
        put_three_of(pile, at.BASE, c, velocity(pile, at.Y, c))
    clear(pile, at.GONE)
    size, change = miss(pile, at.GONE, eps)
    exact = EXACT * (1.0 + size_of(pile, at.Y))
    goal = max(exact, CLOSE * eps * min(1.0, change))
    for step in range(MOST_STEPS):
        if size <= goal:
            return step, True
        better, size, change = newton_step(pile, eps, size)
        if not better:
            miss(pile, at.GONE, eps)
            return step + 1, size <= 10.0 * exact
    return MOST_STEPS, size <= goal


@callee
def take_new(pile):
    """Make the impulses of the last proximal step those to go on from; return the residual there."""
    for c in range(pile.I[at.N_CONTACTS]):
        new = three_of(pile, at.R_NEW, c)
        put_three_of(pile, at.CREEP, c, minus(new, three_of(pile, at.R, c)))
        put_three_of(pile, at.R, c, new)
    move(pile, at.Y_TRIAL, at.R)
    copy_motions(pile, at.Y_TRIAL, at.Y, at.STEP, 0.0)
    return residual(pile, at.Y_TRIAL, at.R)


@callee
def go_farther(pile, far):
    """Write to R_NEW the impulses so much farther along the last change, in their cones; return how good."""
    for c in range(pile.I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        r, creep = three_of(pile, at.R, c), three_of(pile, at.CREEP, c)
        x = r[0] + far * creep[0], r[1] + far * creep[1], r[2] + far * creep[2]
        put_three_of(pile, at.R_NEW, c, onto_cone(facing(x, edges), mu, leans, edges))
    move(pile, at.Y_TRIAL, at.R_NEW)
    return residual(pile, at.Y_TRIAL, at.R_NEW)


@callee
def leap(pile, worst):
    """Go on along a self-stress that the last proximal step has crept along, as far as that does no harm.

    That is nearly to where a contact opens or slides. Returns the residual there.
    """
    far = 0.0
    for k in range(LEAPS):
        if not go_farther(pile, 2.0**k) <= HARMLESS * worst:
            break
        far = 2.0**k
    worst = go_farther(pile, far)
    for c in range(pile.I[at.N_CONTACTS]):
        put_three_of(pile, at.R, c, three_of(pile, at.R_NEW, c))
    copy_motions(pile, at.Y_TRIAL, at.Y, at.STEP, 0.0)
    return worst


@callee
def keep_best(pile, worst):
    """Keep impulses, and motions Y_TRIAL, that are the best so far."""
    put(pile.X, at.RESIDUAL, worst)
    for c in range(pile.I[at.N_CONTACTS]):
        put_three_of(pile, at.R_BEST, c, three_of(pile, at.R, c))
    copy_motions(pile, at.Y_TRIAL, at.Y_BEST, at.STEP, 0.0)


@callee
def proximal_newton(pile, eps, systems, enough):
    """Take proximal steps from R and Y until the residual meets the goal, or so many systems gain too little.

    Or until it is small enough and steps in a row bring it down by little: what is left then is rounding, or
    load that creeps along self-stresses.
    """
    X, taken, held, before, creeping = pile.X, 0, 0, math.inf, 0
    start = X[at.RESIDUAL]
    while X[at.RESIDUAL] > X[at.GOAL] and taken < systems:
        steps, found = proximal_step(pile, eps)
        taken += max(steps, 1)
        if found:
            worst = take_new(pile)
            creeping = creeping + 1 if worst > CREEPING * before else 0
            if creeping > 0 and steps <= 1:
                worst = leap(pile, worst)
            before = worst
            if worst < X[at.RESIDUAL]:
                keep_best(pile, worst)
        elif eps >= MOST_EPS:
            return
        if X[at.RESIDUAL] <= enough and (creeping >= PATIENCE or not found):
            return
        if X[at.RESIDUAL] <= GAIN * start:
            taken, start = 0, X[at.RESIDUAL]
        eps, held = next_eps(eps, held, steps, found, LEAST_EPS)
