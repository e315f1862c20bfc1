"""Where pieces keep what: the constants of the nodes of an assembly tree while their joints are rigid.

They follow `records` in the same two arrays. A *piece* is a node of the assembly tree, seen as a body with
two handles: the frame of its first link, and that of its *tip*, the link to which more is joined. Everything
is in these frames, so that nothing of a rigid node changes however the body moves. With the accelerations a
(classical, counted from free fall) of the first frame, the force f on the tip, both six numbers, and the
products w = (xx, yy, zz, xy, xz, yz) of the angular velocity in the first frame,

    y = [a (6); f (6); w (6); 1; 0],    force at the first frame = BASE y,    acceleration of the tip = TIP y.
"""

from mcpframe.jit.memory import MATRIX, VECTOR, Memory, columns
from mcpframe.multibody.adaptive import records

MEMORY = Memory(records.MEMORY)
WIDE, Y_FORCE, Y_TURN, Y_ONE = 20, 6, 12, 18
"""Length of y; where force, products and the one begin."""
SIX = 6 * WIDE
"""Doubles of a matrix that takes y to a spatial vector."""
N_PIECES, N_FORMS = MEMORY.count("piece"), MEMORY.count("form")
"""Nodes, and those among them that join two others; none where choices are made by sweeps of the whole."""
N_PARTS, N_OPENED, N_AWAKE, N_MOVED = MEMORY.counts(4)

# Row of PIECES: tip in the first frame; first moment, mass, inertia about there; BASE and TIP.
PI_ROTATION, PI_POSITION, PI_MOMENT, PI_MASS, PI_INERTIA, PI_BASE, PI_TIP, PIECE = columns(
    MATRIX, VECTOR, 3, 1, MATRIX, SIX, SIX
)
PIECES = MEMORY.doubles("piece", PIECE)
# Row of FORMS: hinge of B in the tip frame of A; force on the tip of A, acceleration of B and of the joint,
# all by y; the sum Σ θ̈_i² over all joints of the node is y* SQUARES y.
FO_ROTATION, FO_POSITION, FO_FORCE, FO_MOTION, FO_JOINT, FO_SQUARES, FORM = columns(
    MATRIX, VECTOR, SIX, SIX, WIDE, WIDE * WIDE
)
FORMS = MEMORY.doubles("form", FORM)
SE_ROTATION, SE_POSITION, SEAT = columns(MATRIX, VECTOR)
SEATS = MEMORY.doubles("form", SEAT)
"""Where B is in the first frame of the node; apart from all else, for whole clusters are placed by them."""
# To join: e, [V | u_B], u, a transposed matrix, seven rows; two 6 x 6 matrices and N in rows of 8; a form.
J_MOTION, J_BASE, J_FORCE, J_TURNED, J_ROWS, J_MATRIX, J_GIVE, J_PRODUCTS, J_SQUARES, JOINING = columns(
    SIX, SIX, SIX, SIX, 2 * SIX, 48, 48, 48, WIDE * WIDE
)
SCRATCH = MEMORY.doubles(JOINING)

# A *part* is a node whose joints are all taken as one rigid or articulated body: the front of what is opened.
PART_NODE, PART_UP, OPENED, STACK = (MEMORY.integers("piece") for _ in range(4))
"""Node of a part, and the part that carries it; nodes above the parts, parents first."""
LEAF_OF, JOINT_NODE, TIP_PART, AWAKE, AWAKE_LIST = (MEMORY.integers("piece") for _ in range(5))
"""Of a link its node, the node of its joint, and its part where it is a tip; joints that are opened for a
choice because of a force, and their list."""
FRONT_OF, CLUSTER_OF, MOVED = MEMORY.integers("piece"), MEMORY.integers("piece"), MEMORY.integers("body")
"""Of a link the node that is its cluster, and of that its number; bodies with new places."""

# Row of PARTS: hinge in the tip frame of the part above; [P | z] of all that it carries; [t | e], the
# compliance of the tip above at the hinge, [force], [joint] by (a of the part above, 1); outer force; angular
# velocity. Rows of eight.
PA_ROTATION, PA_POSITION, PA_BASE, PA_MOTION, PA_GIVE, PA_FORCE, PA_JOINT, PA_PUSH, PA_OMEGA, PART = columns(
    MATRIX, VECTOR, 48, 48, 48, 48, 8, 8, VECTOR
)
PARTS = MEMORY.doubles("piece", PART)
# Row of TRIED: y of a node and its angular velocity, for the choice under way.
T_OMEGA, TRIED_ROW = WIDE, WIDE + VECTOR
TRIED = MEMORY.doubles("piece", TRIED_ROW)
