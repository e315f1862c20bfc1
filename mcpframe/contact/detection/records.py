"""Where the detection kernels keep what: integers `ID` and doubles `XD`, filled by `packing.py`.

Shapes are numbered with those of the world first, then those of the links in their order. Of a pair the shape
with the higher number is A: so the world is always B. A *part* is a link and all that is locked to it. A
*class* holds shapes that no name tells apart.
"""

from mcpframe.contact import contact

# Head of ID: counts.
N_SHAPES, N_FIXED, N_BOUNDED, N_PLANES, N_CLASSES = range(5)
"""N_FIXED: shapes of the world, which come first and never move; N_BOUNDED: all but half-spaces."""
N_CANDIDATES, N_CONTACTS, N_FOREIGN, N_TESTS = range(5, 9)
"""Found by the last call: pairs whose bounding spheres meet, contacts, candidates without a closed form, and
tests of bounding spheres. Both first counts go on past the room that there is."""
MAX_CANDIDATES, MAX_CONTACTS, AXIS = range(9, 12)
"""Room in the tables; the axis of the last sweep, -1 before the first."""
# Head of ID: where things begin, in ID and then in XD.
SHAPES, ORDER, PLANES, RULES, CANDIDATES, CONTACTS = range(12, 18)
FRAMES, PLACES, STARTS, MATERIALS, SCRATCH, RECORDS = range(18, 24)
DETECTION_HEAD = 24
MARGIN = 0
"""Where in XD the largest gap of a contact lies, m; the caller may write another before each call."""
XD_HEAD = 8

# Row of SHAPES.
S_KIND, S_BODY, S_PART, S_ABOVE, S_FIXED, S_CLASS = range(6)
"""Body of the multibody kernels, -1 for the world; the part, and that of the neighbour which carries it, -1
for none; whether the part is fixed to the world."""
SHAPE_ROW = 6
# S_KIND, in the order in which the narrow phase takes a pair.
PLANE, SPHERE, CAPSULE, CYLINDER, BOX, MESH, HEIGHTFIELD = range(7)
N_KINDS = 7
FOREIGN = frozenset(
    {(CAPSULE, CYLINDER), (CYLINDER, CYLINDER), (CYLINDER, BOX)}
    | {(kind, MESH) for kind in range(MESH + 1)}
    | {(kind, HEIGHTFIELD) for kind in range(SPHERE, HEIGHTFIELD)}
)
"""Pairs without a closed form; heightfields do not meet half-spaces and each other."""

# RULES [N_CLASSES, N_CLASSES]: NEVER, or twice the material, plus ASKED where neighbours meet as well.
NEVER, ASKED = -1, 1

# Row of FRAMES: the shape's axes, as columns, and its centre, both in the inner axes of its body.
F_ROTATION, F_POSITION = 0, 12
FRAME = 16
# Row of PLACES: the same in the world; half edges, or radius and half length; radius of the bounding sphere.
P_ROTATION, P_POSITION, P_SIZE, P_RADIUS = 0, 12, 16, 20
P_AXIS = P_ROTATION + 8
"""The z axis: normal of a half-space, axis of a capsule or cylinder."""
PLACE = 24

# Row of MATERIALS.
M_MU, M_RESTITUTION = range(2)
MATERIAL = 2

# Row of CONTACTS.
C_BODY_A, C_BODY_B, C_KEY, C_MATERIAL = range(4)
"""C_KEY = (A N_SHAPES + B) FEATURES + feature: the same from step to step, and contacts are sorted by it."""
CONTACT_ROW = 4
FEATURES = 1 << 20
"""Room for the features of a pair: corners, ends, crossings of edges. Every pair numbers its own."""

# RECORDS, per contact, as `mcpframe.contact.contact` has them: RECORD doubles.
R_POINT, R_NORMAL, R_TANGENT_1, R_TANGENT_2 = (
    vector.start for vector in (contact.POINT, contact.NORMAL, contact.TANGENT_1, contact.TANGENT_2)
)
R_GAP, R_MU, R_RESTITUTION, RECORD = contact.GAP, contact.MU, contact.RESTITUTION, contact.RECORD

SCRATCH_ROWS = 24
"""Rows of four doubles for the narrow phase: two polygons of at most 12 corners."""

ROOM = -1
"""What `detect` returns where the tables are too small: make room and call again."""
