"""Impulses of a pile by proximal steps, each found by Newton's method on the motions of its bodies.

With u = J y + q and motions y = J* r, contacts that are redundant leave r undetermined along self-stresses,
where nothing moves. A proximal step keeps r near r_k there,

    r = P(r_k - u(y) / (ε w)),   y = J* r,   P of `cones`, w the size of W at the contact:

as many equations as motions, with the matrix 1 + J* (P' / ε w) J, which has a block for every two bodies that
touch. Where r = r_k the friction problem is solved. ε falls as long as steps are easy and rises where one is
not, as in `mcpframe.solvers.cone.sparse.proximal`, which does the same for round cones.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.cones import off_cone, onto_cone, slopes
from mcpframe.simulation.piles.factors import factor, solve
from mcpframe.simulation.piles.slots import BLOCK, PAIR, body_of, put_three_of, row_at, three_of
from mcpframe.spatial.algebra import inner, load_pair, plus, scaled, store_pair

LEAST_EPS, MOST_EPS = 1e-8, 1.0
SHRINK, EASY_SHRINK, GROW = 0.3, 0.1, 10.0
EASY, HARD = 2, 8
"""Newton steps up to which a proximal step was easy, and from which on ε does not shrink."""
MOST_STEPS = 20
"""Newton steps of one proximal step."""
HALVINGS, SUFFICIENT = 8, 1e-4
EXACT, CLOSE = 1e-13, 1e-2
"""Size of y - J* r, beside that of y, that ends Newton's method; or so much of what the proximal step
changes, times ε."""
LEAPS, CREEPING, HARMLESS = 40, 0.5, 1.001
"""How often the way along a self-stress is doubled; the share that a step without changes of modes brings the
residual down to at least, if there is none; by how much a leap may make the residual larger."""
HELD = 3
"""Proximal steps after a hard one in which ε stays."""


@inline
def velocity(pile, part, c):
    """Return u = J y + q of contact c, along n, t_1 and t_2, for motions y."""
    u = three_of(pile, at.FREE, c)
    a, b = body_of(pile, c, 0), body_of(pile, c, 1)
    if a >= 0:
        y, o = load_pair(pile.X, pile.I[part] + PAIR * a), row_at(pile, c, 0, 0)
        u = add_rows(pile, u, y, o)
    if b >= 0:
        y, o = load_pair(pile.X, pile.I[part] + PAIR * b), row_at(pile, c, 1, 0)
        u = add_rows(pile, u, y, o)
    return u


@inline
def add_rows(pile, u, y, o):
    """Return u and what the rows from o on see of a motion."""
    X = pile.X
    return (
        u[0] + inner(load_pair(X, o), y),
        u[1] + inner(load_pair(X, o + PAIR), y),
        u[2] + inner(load_pair(X, o + 2 * PAIR), y),
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
def residual(pile, motions, impulses):
    """Return the largest |r - P(r - u)| of a contact, beside 1 + |q|."""
    worst = 0.0
    for c in range(pile.I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        off = off_cone(three_of(pile, impulses, c), velocity(pile, motions, c), mu, leans, edges)
        q = three_of(pile, at.FREE, c)
        off /= 1.0 + max(abs(q[0]), max(abs(q[1]), abs(q[2])))
        worst = off if not off <= worst else worst
    return worst


@callee
def sweep(pile):
    """Give every contact in turn the impulse that its law asks for beside those of others [Moreau 1988]."""
    I, X = pile.I, pile.X
    put(I, at.N_SWEEPS, I[at.N_SWEEPS] + 1)
    for c in range(I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        r, u, o = three_of(pile, at.R, c), velocity(pile, at.Y, c), I[at.WEIGHT] + 4 * c
        along, across = get(X, o), max(get(X, o + 1), get(X, o + 2))
        x = r[0] - u[0] / along, r[1] - u[1] / across, r[2] - u[2] / across
        new = onto_cone(x, mu, leans, edges)
        put_three_of(pile, at.R, c, new)
        push(pile, at.Y, c, minus(new, r))


@inline
def ahead(pile, motions, c, eps):
    """Return r_k - u / (ε w) of contact c."""
    r, u = three_of(pile, at.R, c), velocity(pile, motions, c)
    stiff = 1.0 / (eps * get(pile.X, pile.I[at.WEIGHT] + 4 * c + 3))
    return r[0] - stiff * u[0], r[1] - stiff * u[1], r[2] - stiff * u[2]


@callee
def miss(pile, motions, eps):
    """Write r of the motions y to R_NEW, y - J* r to MISS; return its size, and the largest change of r."""
    I, X, change = pile.I, pile.X, 0.0
    clear(pile, at.MISS)
    for c in range(I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        new = onto_cone(ahead(pile, motions, c, eps), mu, leans, edges)
        put_three_of(pile, at.R_NEW, c, new)
        push(pile, at.MISS, c, new)
        moved = minus(new, three_of(pile, at.R, c))
        change = max(change, max(abs(moved[0]), max(abs(moved[1]), abs(moved[2]))))
    size = 0.0
    for i in range(PAIR * I[at.N_BODIES]):
        off = get(X, I[motions] + i) - get(X, I[at.MISS] + i)
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
    """Write 1 + J* (P' / ε w) J at the motions Y."""
    I, X, V = pile.I, pile.X, pile.blocks
    for i in range(BLOCK * I[at.N_ENTRIES]):
        put(V, i, 0.0)
    for i in range(I[at.N_BODIES]):
        for a in range(6):
            put(V, get(I, I[at.DIAGONAL] + i) * BLOCK + PAIR * a + a + a // 3, 1.0)
    for c in range(I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        slope = slopes(ahead(pile, at.Y, c, eps), mu, leans, edges)
        stiff = 1.0 / (eps * get(X, I[at.WEIGHT] + 4 * c + 3))
        if slope[0] == 0.0 and slope[3] == 0.0 and slope[5] == 0.0:
            continue
        for k in range(4):
            entry = get(I, I[at.PLACES] + 4 * c + k)
            if entry >= 0:
                add_block(pile, entry, row_at(pile, c, k // 2, 0), row_at(pile, c, k % 2, 0), stiff, slope)


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


@callee
def newton_step(pile, eps, size):
    """Go from Y as far along Newton's step as makes the miss smaller; return success, miss and change."""
    write_matrix(pile, eps)
    if not factor(pile):
        return False, size, 0.0
    I = pile.I
    for i in range(PAIR * I[at.N_BODIES]):
        put(pile.X, I[at.STEP] + i, get(pile.X, I[at.MISS] + i))
    solve(pile, at.STEP)
    share = 1.0
    for _ in range(HALVINGS):
        copy_motions(pile, at.Y, at.Y_TRIAL, at.STEP, share)
        new, change = miss(pile, at.Y_TRIAL, eps)
        if new < (1.0 - SUFFICIENT * share) * size:
            copy_motions(pile, at.Y_TRIAL, at.Y, at.STEP, 0.0)
            return True, new, change
        share *= 0.5
    return False, size, 0.0


@callee
def proximal_step(pile, eps):
    """Find r = P(r_k - u / (ε w)) from Y; return how many systems it took, and whether it was found."""
    size, change = miss(pile, at.Y, eps)
    exact = EXACT * (1.0 + size_of(pile, at.Y))
    goal = max(exact, CLOSE * eps * min(1.0, change))
    for step in range(MOST_STEPS):
        if size <= goal:
            return step, True
        better, size, change = newton_step(pile, eps, size)
        if not better:
            miss(pile, at.Y, eps)
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
    return residual(pile, at.Y_TRIAL, at.R)


@callee
def go_farther(pile, far):
    """Write to R_NEW the impulses so much farther along the last change, in their cones; return how good."""
    for c in range(pile.I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        r, creep = three_of(pile, at.R, c), three_of(pile, at.CREEP, c)
        x = r[0] + far * creep[0], r[1] + far * creep[1], r[2] + far * creep[2]
        put_three_of(pile, at.R_NEW, c, onto_cone(x, mu, leans, edges))
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
def proximal_newton(pile, eps, systems):
    """Take proximal steps from R and Y until the residual meets the goal, or so many systems were solved."""
    X, taken, held, before = pile.X, 0, 0, math.inf
    while X[at.RESIDUAL] > X[at.GOAL] and taken < systems:
        steps, found = proximal_step(pile, eps)
        taken += max(steps, 1)
        if found:
            worst, held = take_new(pile), held - 1
            if steps <= 1 and worst > CREEPING * before:
                worst = leap(pile, worst)
            before = worst
            if worst < X[at.RESIDUAL]:
                keep_best(pile, worst)
            if steps < HARD and held <= 0:
                eps = max(LEAST_EPS, eps * (EASY_SHRINK if steps <= EASY else SHRINK))
        elif eps >= MOST_EPS:
            return
        else:
            eps, held = min(MOST_EPS, GROW * eps), HELD
