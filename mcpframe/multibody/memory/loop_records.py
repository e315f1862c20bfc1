"""Where the kernels of loops keep what: closures in integers `IE` and doubles `XE`; see `loop_packing`.

A closure is a table of rows; a row is a sum of halves, wrenches on single bodies, which stand one after
another. Rates and rows are those of `mcpframe.multibody.closures`.
"""

from mcpframe.jit.memory import MATRIX, VECTOR, Memory, columns
from mcpframe.multibody.memory import row_records
from mcpframe.multibody.memory.records import PAIR

MEMORY = Memory()
N_LOOPS, N_ROWS, N_HALVES = MEMORY.count("loop"), MEMORY.count("row"), MEMORY.count("half")
ANY_MOTION, N_TERMS = MEMORY.count(), MEMORY.count("term")

# Row of LOOPS.
L_KIND, L_BODY_A, L_BODY_B, L_ROW, L_ROWS, L_MOVES, L_TERM, L_TERMS, L_PLAIN, LOOP_ROW = range(10)
"""Bodies, -1 for the world; first row and how many; whether motion is prescribed; of a gear: its first term,
how many, and whether all of them have a coordinate."""
LOOPS = MEMORY.integers("loop", LOOP_ROW)
HALF_AT, HALF_BODY = MEMORY.integers("row + 1"), MEMORY.integers("half")
"""HALF_AT: of every row, where its halves begin."""
# L_KIND
FIXED, LEANING, TURNING, DISTANCE, GEAR = range(5)
"""Rows in B's axes that do not change, of a ball, pin or weld: their errors are positions alone, positions
and the lean of an axis, positions and a rotation; the distance of two points; hinge rates in proportion."""

# Row of TERMS: a dof of a gear, its body, that body's parent, whether it slides, its coordinate or -1.
T_DOF, T_BODY, T_PARENT, T_SLIDES, T_THETA, TERM_ROW = range(6)
TERMS, RATIOS = MEMORY.integers("term", TERM_ROW), MEMORY.doubles("term")

# Row of NODES: places and axes (columns) of both nodes in the inner axes of their bodies; two more vectors: x
# and y of a pin in B's axes, or the length of a distance, the offset of a gear in the first number.
N_PLACE_A, N_AXES_A, N_PLACE_B, N_AXES_B, N_FIRST, N_SECOND, NODE_ROW = columns(
    VECTOR, MATRIX, VECTOR, MATRIX, VECTOR, VECTOR
)
NODES = MEMORY.doubles("loop", NODE_ROW)

HALF_WRENCH, DIRECTIONS = MEMORY.doubles("half", PAIR), MEMORY.doubles("row", PAIR)
ERROR, BIAS, RATE, RATE_DOT, TARGET = (MEMORY.doubles("row") for _ in range(5))
"""RATE and RATE_DOT: U(t) and its derivative where motion is prescribed; TARGET: what a step asks G theta_dot
to be."""
ROW_FIRST, WEIGHT = MEMORY.integers("row"), MEMORY.doubles("row")
"""Of every row the first of its closure, and a weight by its unit."""

# The row space of the halves: Λ_b, the right side, scales, the order of the pivots, how many of them there
# are, and how many wherever the loops are closed.
SPACE_MEMORY = Memory(row_records.MEMORY)
PAST = VECTOR - 1
"""Room behind every row of Λ_b, for lanes that begin with its last number."""
LOOP_LAMBDA = SPACE_MEMORY.doubles("loop_row", f"loop_row + {PAST}", spare=VECTOR)
RIGHT = SPACE_MEMORY.doubles(2, "loop_row", spare=VECTOR)
SCALE, ORDER = SPACE_MEMORY.doubles("loop_row"), SPACE_MEMORY.integers(2, "loop_row")
N_PIVOTS, CERTAIN = SPACE_MEMORY.counts(2)
