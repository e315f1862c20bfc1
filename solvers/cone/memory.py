"""The memory of the dense method: a mixed LCP with discs in scaled units, and the vectors that work on it.

Rows are numbered as in the problem. A disc is two rows, or one, beside a normal row n: |z_D| <= mu z_n + c.
Scaling, z = unit s with one positive power of two for a normal and its discs, keeps bounds and discs what
they are while the diagonal becomes of unit size; all units also carry one factor, which makes max |q| one.
"""

from __future__ import annotations

from mcpframe.jit.lapack import LAPACK_WORK
from mcpframe.jit.memory import Memory

MEMORY = Memory()
ROOM, DISC_ROOM = MEMORY.count("row"), MEMORY.count("disc")
N, N_D, N_SIMPLE = MEMORY.counts(3)
"""Rows and discs of the problem at hand, and how many of the discs are `SIMPLE`."""
N_STEPS, N_SWEEPS, N_CENTRAL, STAGE = MEMORY.counts(4)
"""Linear systems of Newton's method, sweeps, and steps of the interior point, taken so far; which stage it
is."""
FACTOR_AT, SOLVE_AT = MEMORY.counts(2)
CHAIN_AT, STOP = MEMORY.counts(2)
"""For callers in compiled code: where `chain.solve_cones` is; what stops it, nothing."""
LAPACK = MEMORY.integers(LAPACK_WORK)
PIVOTS = MEMORY.integers("row + 1")

# The problem, scaled.
W, Q, LOWER, UPPER = (
    MEMORY.doubles("row", "row"),
    MEMORY.doubles("row"),
    MEMORY.doubles("row"),
    MEMORY.doubles("row"),
)
UNIT_Z, UNIT_W, WEIGHT = MEMORY.doubles("row"), MEMORY.doubles("row"), MEMORY.doubles("row")
"""WEIGHT: what the error of a row counts, the largest scale of a block over its own."""
NORMAL, FIRST, WIDTH, KIND = (MEMORY.integers("disc") for _ in range(4))
MU, OFFSET = MEMORY.doubles("disc"), MEMORY.doubles("disc")
DISC_OF, DISCS_AT = MEMORY.integers("row"), MEMORY.integers("row")
"""Of a row: its disc, -1 for none; the first of the discs whose normal it is, -1 for none."""
SIMPLE = 1
"""Kind of a disc of two rows, the only one of a normal with bounds [0, inf], whose offset is zero."""
INVERSE = MEMORY.doubles("disc", 9)
"""Of simple discs: inverse of the block of W on normal and disc."""

# Points.
POINT, U, TRIAL, TRIAL_U, BEST, KEPT, FOUND = (MEMORY.doubles("row") for _ in range(7))

# Newton's method on modes: z = C y + d, in columns; the rows of its equations.
STATE, SLIP = MEMORY.integers("disc"), MEMORY.doubles("disc", 3)
"""Of a disc: how it moves; its direction e, and what stands on the diagonal of its row across."""
COLUMN, ENTRY = MEMORY.integers("row + 1"), MEMORY.integers("entry")
VALUE = MEMORY.doubles("entry")
ROW_1, ROW_2 = MEMORY.integers("row"), MEMORY.integers("row")
ACROSS_1, ACROSS_2, EXTRA = (MEMORY.doubles("row") for _ in range(3))
REST, Q_REST, MIXED = (MEMORY.doubles("row") for _ in range(3))
SYSTEM, RIGHT, ANSWER = MEMORY.doubles("row", "row"), MEMORY.doubles("row"), MEMORY.doubles("row")

# The interior point: dual variables of discs and bounds, their steps, Nesterov and Todd's scaling.
DUAL, DUAL_STEP, LAMBDA, CENTRAL = (MEMORY.doubles("disc", 3) for _ in range(4))
SCALING, FROZEN = MEMORY.doubles("disc", 4), MEMORY.doubles("disc")
LOW, HIGH, LOW_STEP, HIGH_STEP, LOW_RIGHT, HIGH_RIGHT = (MEMORY.doubles("row") for _ in range(6))
RESIDUAL, STEP = MEMORY.doubles("row"), MEMORY.doubles("row")
