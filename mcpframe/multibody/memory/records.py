"""Where the kernels keep what: one array of integers `I` and one of doubles `X`, filled by `packing.py`.

Each array argument of a compiled call costs tens of nanoseconds, as much as a whole link; so all constants,
inputs, results and workspaces of a state live in two arrays. The head of `I` says how many bodies and
dofs there are and where in `X` the parts begin. A *body* here is a link or one of the massless
intermediate bodies of a hinge with several axes, so that the kernels know only five kinds of hinge; all
hinge columns are eliminated one dof at a time.
"""

# Head of I: counts, then where things begin.
N_BODIES, N_DOFS, N_THETA, TREE = range(4)
"""Number of bodies, of dofs and of coordinates; where the tree table begins in I."""
CONSTANTS, BODIES, DOFS, THETA, THETA_DOT, TAU = range(4, 10)
THETA_DDOT, ANGLES, BRANCHES, REFERENCE, GRAVITY, PUSH = range(10, 16)
"""Where these parts begin in X."""
HEAD = 16

# Row of the tree table, one per body, depth first.
PARENT, KIND, THETA_AT, DOF_AT, N_DOF, SECTION, JOIN, BRANCHED = range(8)
"""SECTION: the body whose hinge is the reference point; one that is its own begins a section."""
TREE_ROW = 8
# KIND
PIN, PRISMATIC, BALL, FREE, LOCKED = range(5)
# JOIN: how a body hands its articulated inertia to its parent in the tips-to-base sweep.
CARRY, OPEN, ADD, DROP = range(4)
"""In registers (the parent comes next); as the first, or a later one, into the parent's sum; not at all."""

# CONSTANTS, per body: hinge frame in the parent's (columns, position); centre of mass, inertia (columns).
C_ROTATION, C_POSITION, C_COM, C_INERTIA = 0, 12, 16, 20
C_MASS = 19
"""The mass lies in the fourth lane of the centre of mass."""
CONSTANT = 32

# BODIES, per body: orientation, position; velocity; acceleration for theta_ddot = 0 (base at -g), and by it.
B_ROTATION, B_POSITION, B_VELOCITY, B_BIAS, B_ACCELERATION, B_SHIFT = 0, 12, 16, 24, 32, 40
BODY = 48
"""B_SHIFT of a body that begins a section: from the parent's reference point to its own."""

# DOFS, per dof: hinge column H*, gain G; then 1/D, u = tau - H z, armature, and the least D above rounding.
D_COLUMN, D_GAIN, D_INVERSE, D_FORCE, D_ARMATURE, D_LEAST = 0, 8, 16, 17, 18, 19
DOF = 20

# BRANCHES, per body: sum of the children's articulated inertia (48) and force (8).
BR_FORCE = 48
BRANCH = 56

PAIR = 8
"""Doubles of a spatial vector in memory (parts PUSH; rows of wrenches)."""
BLOCK = 48
"""Doubles of a 6 x 6 matrix in memory."""
