"""Where the kernels keep what: one array of integers `I` and one of doubles `X`, filled by `packing.py`.

All constants, inputs, results and workspaces of a state live in them; see `mcpframe.jit.memory`. A *body*
here is a link or one of the massless intermediate bodies of a hinge with several axes, so that the kernels
know only five kinds of hinge; all hinge columns are eliminated one dof at a time.
"""

from mcpframe.jit.memory import MATRIX, VECTOR, Memory, columns

MEMORY = Memory()
N_BODIES, N_DOFS, N_THETA = MEMORY.count("body"), MEMORY.count("dof"), MEMORY.count("theta")

PAIR = 2 * VECTOR
"""Doubles of a spatial vector in memory (parts PUSH; rows of wrenches)."""
BLOCK = 6 * PAIR
"""Doubles of a 6 x 6 matrix in memory."""

# Row of the tree table, one per body, depth first.
PARENT, KIND, THETA_AT, DOF_AT, N_DOF, SECTION, JOIN, BRANCHED, TREE_ROW = range(9)
"""SECTION: the body whose hinge is the reference point; one that is its own begins a section."""
TREE = MEMORY.integers("body", TREE_ROW)
# KIND
PIN, PRISMATIC, BALL, FREE, LOCKED = range(5)
# JOIN: how a body hands its articulated inertia to its parent in the tips-to-base sweep.
CARRY, OPEN, ADD, DROP = range(4)
"""In registers (the parent comes next); as the first, or a later one, into the parent's sum; not at all."""

# CONSTANTS, per body: hinge frame in the parent's (columns, position); centre of mass, inertia (columns).
C_ROTATION, C_POSITION, C_COM, C_MASS, C_INERTIA, CONSTANT = columns(MATRIX, VECTOR, 3, 1, MATRIX)
"""The mass lies in the fourth lane of the centre of mass."""
CONSTANTS = MEMORY.doubles("body", CONSTANT)

# BODIES, per body: orientation, position; velocity; acceleration for theta_ddot = 0 (base at -g), and by it.
B_ROTATION, B_POSITION, B_VELOCITY, B_BIAS, B_ACCELERATION, B_SHIFT, BODY = columns(
    MATRIX, VECTOR, PAIR, PAIR, PAIR, PAIR
)
"""B_SHIFT of a body that begins a section: from the parent's reference point to its own."""
BODIES = MEMORY.doubles("body", BODY)

# DOFS, per dof: hinge column H*, gain G; then 1/D, u = tau - H z, armature, and the least D above rounding.
D_COLUMN, D_GAIN, D_INVERSE, D_FORCE, D_ARMATURE, D_LEAST, DOF = columns(PAIR, PAIR, 1, 1, 1, 1)
DOFS = MEMORY.doubles("dof", DOF)

# Coordinates, rates, forces, accelerations; lanes may be loaded past the end of the first two.
THETA, THETA_DOT = MEMORY.doubles("theta", spare=VECTOR), MEMORY.doubles("dof", spare=VECTOR)
TAU, THETA_DDOT = MEMORY.doubles("dof"), MEMORY.doubles("dof")
ANGLES = MEMORY.doubles("body", 3)

# BRANCHES, per body: sum of the children's articulated inertia and force.
_, BR_FORCE, BRANCH = columns(BLOCK, PAIR)
BRANCHES = MEMORY.doubles("body", BRANCH)

REFERENCE, GRAVITY = MEMORY.doubles("body", VECTOR), MEMORY.doubles(VECTOR)
PUSH = MEMORY.doubles("body", PAIR)

# SPANS: of every span of bodies that kernels go through its first body and dof, and those after its last; a
# model without bodies has one too, of none.
SP_BODY, SP_BODY_END, SP_DOF, SP_DOF_END, SPAN = range(5)
N_SPANS, SPANS = MEMORY.count(), MEMORY.integers("body + 1", SPAN)
