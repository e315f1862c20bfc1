"""How far a pile is from solved, by the framework's rule: every row, or block, at its own scale.

Round cones are the blocks of `mcpframe.problem.cone`. Of a polygon with directions d_j the rows are those of
Coulomb friction, with the β and the least σ that impulse and velocity mean,

    r_n >= 0  _|_  u_n,     β_j >= 0  _|_  d_j . u_t + σ,     σ >= 0  _|_  mu (r_n + leans) - sum β,

natural residuals each, at 1 + |q_i|: see `mcpframe.problem.residual`. What rounding does is excused nothing.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import IndicesOut, VectorOut, callee, inline, kernel
from mcpframe.problem.cone import disc_gap
from mcpframe.problem.residual import natural_entry
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.cones import along, shares, slack, split
from mcpframe.simulation.piles.motions import cone_of, velocity
from mcpframe.simulation.piles.slots import DISC, SMOOTH, Pile, three_of


@inline
def row_off(z, w, q):
    """Return the natural residual of a row z >= 0  _|_  w at its scale."""
    return natural_entry(z, w, 0.0, math.inf) / (1.0 + abs(q))


@inline
def polygon_off(r, u, q, mu, leans, edges):
    """Return the worst row of a contact whose cone is a polygon."""
    (j, first, second), sigma = shares(r, edges), slack(u, edges)
    worst = max(row_off(r[0], u[0], q[0]), row_off(sigma, mu * (r[0] + leans) - first - second, mu * leans))
    worst = max(worst, row_off(first, along(u, j, edges) + sigma, along(q, j, edges)))
    j = (j + 1) % edges  # other directions have no share, and σ lets none of them approach
    return max(worst, row_off(second, along(u, j, edges) + sigma, along(q, j, edges)))


@inline
def disc_off(r, u, q, mu, leans):
    """Return the worst row of a contact whose cone is round, at the scale of the contact."""
    gap_1, gap_2 = disc_gap(r[1], r[2], u[1], u[2], mu * (r[0] + leans))
    off = max(natural_entry(r[0], u[0], 0.0, math.inf), max(abs(gap_1), abs(gap_2)))
    return off / (1.0 + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))


@callee
def residual(pile, motions, impulses):
    """Return the worst of all rows: solved where it is at most the tolerance."""
    worst = 0.0
    for c in range(pile.I[at.N_CONTACTS]):
        mu, leans, edges = cone_of(pile, c)
        r, u, q = three_of(pile, impulses, c), velocity(pile, motions, c), three_of(pile, at.FREE, c)
        if edges == SMOOTH:
            off = row_off(r[0], u[0], q[0])
        elif edges == DISC:
            off = disc_off(r, u, q, mu, leans)
        else:
            off = polygon_off(r, u, q, mu, leans, edges)
        worst = off if not off <= worst else worst
    return worst


@kernel(IndicesOut, VectorOut, IndicesOut, VectorOut, VectorOut)
def write_point(I, X, columns, blocks, z):
    """Write the best point as z of the problem that `stating` makes of the pile: all β, then all σ."""
    pile = Pile(I, X, columns, blocks)
    beta, sigma = 0, z.shape[0]
    for c in range(I[at.N_CONTACTS]):
        sigma -= 1 if cone_of(pile, c)[2] > SMOOTH else 0
    for c in range(I[at.N_CONTACTS]):
        r, u, edges = three_of(pile, at.R_BEST, c), velocity(pile, at.Y_BEST, c), cone_of(pile, c)[2]
        z[beta] = r[0]
        beta += 1
        if edges == DISC:
            z[beta], z[beta + 1] = r[1], r[2]
            beta += 2
        elif edges != SMOOTH:
            split(z, beta, sigma, r, u, edges)
            beta, sigma = beta + edges, sigma + 1
