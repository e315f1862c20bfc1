"""The search for a pile's impulses: sweeps and proximal steps, in turns.

A sweep costs little, and where hardly any contact is redundant sweeps are all that is needed. Along
self-stresses they creep, where Newton's method does not. Each goes on for as long as it pays. The unit of
what they cost is a linear system, whose time grows with a pile faster than that of a sweep.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.jit import IndicesOut, VectorOut, callee, kernel
from mcpframe.jit.lanes import get, put
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.judging import residual
from mcpframe.simulation.piles.motions import copy_motions, move
from mcpframe.simulation.piles.newton import keep_best, proximal_newton, sweep
from mcpframe.simulation.piles.slots import Pile

ROUND = 25
"""Sweeps between two looks at the residual."""
PER_CONTACT, PER_PRODUCT = 8.0, 3.5
"""Time of a linear system, in sweeps of one contact: for every contact, and every product of blocks."""
WINDOW, PACE = 4, 30.0
"""Systems in whose time sweeps must bring the residual down as far as these would, in a pile of n contacts by
exp(-PACE / n) each on the mean."""
TURN, EFFORT = 30, 400
"""Systems of a turn that may gain too little, and of all turns; sweeps may take as long, beside them."""
WARM_EPS, EPS = 1e-2, 1e-1
"""ε to begin with: from impulses that are known, or were found in an earlier turn, and from others."""
NEAR = 1e-7
"""Tolerance from which on, as in trials, no more than that is aimed at."""
SHARE, LATER = 0.01, 0.25
"""Of the tolerance, what the first turn aims at: few more Newton steps, and forces as exact as by pivots; and
others: certificates are relative to speeds, and have room then."""
FINE = 0.1
"""Of the tolerance, within which it stops short of that where load creeps."""


@callee
def offer(pile):
    """Keep the impulses R if they are the best so far."""
    move(pile, at.Y_TRIAL, at.R)
    worst = residual(pile, at.Y_TRIAL, at.R)
    if worst < pile.X[at.RESIDUAL]:
        keep_best(pile, worst)
    copy_motions(pile, at.Y_TRIAL, at.Y, at.STEP, 0.0)


@callee
def sweeps_of(pile, systems):
    """Return how many sweeps take as long as so many linear systems, in whole rounds."""
    I, products = pile.I, 0
    for i in range(I[at.N_BODIES]):
        beyond = get(I, I[at.ROW_AT] + i + 1) - get(I, I[at.DIAGONAL] + i)
        products += beyond * beyond
    each = PER_CONTACT + PER_PRODUCT * products / I[at.N_CONTACTS]
    return ROUND * max(1, int(systems * each / ROUND))


@callee
def sweep_on(pile, window):
    """Sweep until the residual meets the goal, or a window of so many does not pay; the best is kept."""
    X, left, start = pile.X, window, pile.X[at.RESIDUAL]
    pays = math.exp(-PACE * WINDOW / pile.I[at.N_CONTACTS])
    while left > 0 and X[at.RESIDUAL] > X[at.GOAL]:
        for _ in range(ROUND):
            sweep(pile)
        offer(pile)
        left -= ROUND
        if left <= 0 and X[at.RESIDUAL] <= pays * start:
            left, start = window, X[at.RESIDUAL]


@kernel(IndicesOut, VectorOut, IndicesOut, VectorOut, types.boolean, types.float64)
def solve_pile(I, X, columns, blocks, warm, enough):
    """Find impulses from those in R; those of the best point are in R_BEST, their motions in Y_BEST.

    Returns whether its residual is small enough; the first turn aims at a share of that, but for tolerances
    that are no less than `NEAR`.
    """
    pile, sharp, eps = Pile(I, X, columns, blocks), enough < NEAR, WARM_EPS if warm else EPS
    put(X, at.RESIDUAL, math.inf)
    put(X, at.GOAL, (SHARE if sharp else 1.0) * enough)
    put(I, at.N_FACTORS, 0)
    put(I, at.N_SWEEPS, 0)
    offer(pile)
    window, most = sweeps_of(pile, WINDOW), sweeps_of(pile, EFFORT)
    while X[at.RESIDUAL] > X[at.GOAL] and I[at.N_FACTORS] < EFFORT and I[at.N_SWEEPS] < most:
        sweep_on(pile, window)
        proximal_newton(pile, eps, TURN, FINE * enough)
        put(X, at.GOAL, (LATER if sharp else 1.0) * enough)
        eps = WARM_EPS
    return X[at.RESIDUAL] <= enough
