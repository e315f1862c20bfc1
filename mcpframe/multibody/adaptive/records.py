"""Where the kernels of adaptive bodies keep what: integers `IA` and doubles `XA`; `packing` fills them.

The *whole* is the tree with all its joints, in arrays `IT` and `XT`; the *clusters* are the bodies that are
left while some joints are rigid, in `I` and `X` of the same layout with smaller counts. A *joint* is the
hinge of a link, with all its dofs. Nodes of the assembly tree come before those that they join.
"""

from mcpframe.jit.memory import MATRIX, VECTOR, Memory, columns

MEMORY = Memory()
N_LINKS, N_BODIES, N_NODES = MEMORY.count("link"), MEMORY.count("body"), MEMORY.count("node")
N_ROOTS, N_DOFS = MEMORY.count("root"), MEMORY.count("dof")
MOST, PATIENCE, BY_INERTIA, BY_NODES = MEMORY.counts(4)
"""How many joints may be active; in how many choices running a joint must be passed over to become rigid;
whether joints are weighed by the inertia that they move; whether nodes are opened, or joints taken one by
one."""
N_ACTIVE, N_PINNED, N_CHOSEN, N_LEFT, N_CLUSTERS, N_CHOICES = MEMORY.counts(6)
"""Joints that are active, always active, taken by the last choice, made rigid by it; clusters; choices."""
RATE_SHARE, SPAN, BOUND = MEMORY.numbers(3)
"""What a joint is judged by, RATE_SHARE θ̇ + SPAN θ̈; the error, squared, that is good enough."""
ERROR, LOSS = MEMORY.numbers(2)
"""Of the rigid joints after the last choice; kinetic energy that making joints rigid has taken."""

FIRST_BODY = MEMORY.integers("link + 1")
ACTIVE, PINNED, PASSED, CHOSEN = (MEMORY.integers("link") for _ in range(4))
"""Whether a joint moves; whether it always does; in how many choices it was passed over; whether the last one
has taken it."""
ACTIVE_LIST, CHOSEN_LIST, LEFT = (MEMORY.integers("link") for _ in range(3))
BODY_LINK, CLUSTER, HINGE_BODY, N_INSIDE = (MEMORY.integers("body") for _ in range(4))
"""Of a body of the whole its link and its cluster; of a cluster the body whose hinge carries it, and how many
bodies it has."""
HEAD, CHANGED = MEMORY.integers("body"), MEMORY.integers("body")
"""Of a body the one whose hinge carries its cluster, -1 where its place there is not known; of that one
whether its cluster has other bodies than before."""
NODE_JOINT, NODE_A, NODE_B, NODE_UP, NODE_LINK, NODE_TIP, NODE_RAKE, NODE_FORM, NODE_ROW = range(9)
"""Row of NODES: the joint that carries B on A, -1 for a single link; both; the node above, -1 for none; the
links that carry it and to which more is joined; whether B is a branch; its row of forms, -1 for none."""
NODES, ROOTS, HEAP = MEMORY.integers("node", NODE_ROW), MEMORY.integers("root"), MEMORY.integers("node")
METRIC, SUMS = MEMORY.doubles("link"), MEMORY.doubles("node")
"""What a joint adds to the error while it is rigid, and the sum of that over what a node joins."""
MOMENTA, KEPT = MEMORY.doubles("dof"), MEMORY.doubles("dof")

# Row of PLACES: a body in the frame of its cluster. Row of MASSES, at the body whose
# hinge carries a cluster: first moment, mass; inertia about there.
PL_ROTATION, PL_POSITION, PLACE = columns(MATRIX, VECTOR)
PLACES = MEMORY.doubles("body", PLACE)
_, MA_MASS, MA_INERTIA, MASSES_ROW = columns(3, 1, MATRIX)
MASSES = MEMORY.doubles("body", MASSES_ROW)
# To lay out sections, per cluster; see `mcpframe.multibody.memory.packing`.
SLID = MEMORY.integers("body")
SIZE, WAY, DISTANCE, MASS, FIRST, SECOND = (MEMORY.doubles("body") for _ in range(6))
