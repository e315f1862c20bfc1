"""The search for a pile's impulses: sweeps, then proximal steps, in turns."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.jit import IndicesOut, VectorOut, callee, kernel
from mcpframe.jit.lanes import put
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.judging import residual
from mcpframe.simulation.piles.motions import copy_motions, move
from mcpframe.simulation.piles.newton import keep_best, proximal_newton, sweep
from mcpframe.simulation.piles.slots import Pile

WARM_SWEEPS, SWEEPS, ROUND, TURNS = 50, 150, 25, 4
"""Sweeps before the first turn from impulses that are known, and from none, and more with every further turn;
between two looks at the residual; turns."""
NEAR = 1e-7
"""Residual from which on Newton's method needs no more sweeps in the first turn."""
WARM_EPS, EPS, SYSTEMS = 1e-2, 1e-1, 100
"""ε to begin a turn with, the first one from known impulses, and others; linear systems of a turn."""
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
def sweep_near(pile, sweeps, near):
    """Sweep until the residual is near enough, or so often; the best impulses are kept."""
    for k in range(sweeps):
        if pile.X[at.RESIDUAL] <= near:
            return
        sweep(pile)
        if (k + 1) % ROUND == 0:
            offer(pile)


@kernel(IndicesOut, VectorOut, IndicesOut, VectorOut, types.boolean, types.float64)
def solve_pile(I, X, columns, blocks, warm, enough):
    """Find impulses from those in R; those of the best point are in R_BEST, their motions in Y_BEST.

    Returns whether its residual is small enough; the first turn aims at a share of that, unless a trial alone
    is at stake, which sweeps are enough for.
    """
    pile, sharp = Pile(I, X, columns, blocks), enough < NEAR
    put(X, at.RESIDUAL, math.inf)
    goal, later = (SHARE if sharp else 1.0) * enough, (LATER if sharp else 1.0) * enough
    put(X, at.GOAL, goal)
    put(I, at.N_FACTORS, 0)
    put(I, at.N_SWEEPS, 0)
    offer(pile)
    for turn in range(TURNS):
        sweeps = WARM_SWEEPS if warm and turn == 0 else SWEEPS * (1 + turn * turn)
        sweep_near(pile, sweeps, max(NEAR, goal) if turn == 0 else goal)
        proximal_newton(pile, WARM_EPS if warm and turn == 0 else EPS, SYSTEMS, FINE * enough)
        put(X, at.GOAL, later)
        if X[at.RESIDUAL] <= later:
            return True
    return X[at.RESIDUAL] <= enough
