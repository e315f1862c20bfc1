"""Where the kernels of loops keep what: closures in integers `IE` and doubles `XE`; see `loop_packing`.

A closure is a table of rows; a row is a sum of halves, wrenches on single bodies, which stand one after
another. Rates and rows are those of `mcpframe.multibody.closures`.
"""

from mcpframe.multibody.memory.row_records import ROW_HEAD

# Head of IE: counts, then where things begin in IE.
N_LOOPS, N_ROWS, N_HALVES, ANY_MOTION = range(4)
LOOPS, HALF_AT, HALF_BODY, TERMS = range(4, 8)
"""HALF_AT: of every row, where its halves begin [N_ROWS + 1]."""
# Where things begin in XE, per half, per row, per closure.
HALF_WRENCH, ERROR, BIAS, RATE, RATE_DOT, TARGET, NODES, DIRECTIONS, RATIOS = range(8, 17)
"""RATE and RATE_DOT: U(t) and its derivative where motion is prescribed; TARGET: what a step asks G theta_dot
to be."""
LOOP_HEAD = 20

# Row of LOOPS.
L_KIND, L_BODY_A, L_BODY_B, L_ROW, L_ROWS, L_MOVES, L_TERM, L_TERMS, L_PLAIN = range(9)
"""Bodies, -1 for the world; first row and how many; whether motion is prescribed; of a gear: its first term,
how many, and whether all of them have a coordinate."""
LOOP_ROW = 9
# L_KIND
FIXED, LEANING, TURNING, DISTANCE, GEAR = range(5)
"""Rows in B's axes that do not change, of a ball, pin or weld: their errors are positions alone, positions
and the lean of an axis, positions and a rotation; the distance of two points; hinge rates in proportion."""

# Row of TERMS: a dof of a gear, its body, that body's parent, whether it slides, its coordinate or -1.
T_DOF, T_BODY, T_PARENT, T_SLIDES, T_THETA = range(5)
TERM_ROW = 5

# Row of NODES: places and axes (columns) of both nodes in the inner axes of their bodies; two more vectors: x
# and y of a pin in B's axes, or the length of a distance, the offset of a gear in the first number.
N_PLACE_A, N_AXES_A, N_PLACE_B, N_AXES_B, N_FIRST, N_SECOND = 0, 4, 16, 20, 32, 36
NODE_ROW = 40

# Head of the row space of the halves, after that of its rows: where Λ_b, the right side, scales and the order
# of the pivots begin, and how many pivots there are.
LOOP_LAMBDA, RIGHT, SCALE, ORDER, N_PIVOTS = range(ROW_HEAD, ROW_HEAD + 5)
LOOP_SPACE_HEAD = ROW_HEAD + 5
