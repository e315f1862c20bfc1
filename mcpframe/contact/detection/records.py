"""Where the detection kernels keep what: integers `ID` and doubles `XD`, filled by `packing.py`.

Shapes are numbered with those of the world first, then those of the links in their order. Of a pair the shape
with the higher number is A: so the world is always B. A *part* is a link and all that is locked to it. A
*class* holds shapes that no name tells apart.
"""

from mcpframe.contact import contact
from mcpframe.jit.memory import MATRIX, VECTOR, Memory, columns

MEMORY = Memory()
N_SHAPES, N_FIXED, N_BOUNDED = MEMORY.count("shape"), MEMORY.count(), MEMORY.count("bounded")
N_PLANES, N_CLASSES = MEMORY.count("plane"), MEMORY.count("shape_class")
"""N_FIXED: shapes of the world, which come first and never move; N_BOUNDED: all but half-spaces."""
N_CANDIDATES, N_CONTACTS, N_FOREIGN, N_TESTS = MEMORY.counts(4)
"""Found by the last call: pairs whose bounding spheres meet, contacts, candidates without a closed form that
may be within the margin, tests of bounding spheres. Both first counts go on past the room that there is."""
MAX_CANDIDATES, MAX_CONTACTS, AXIS = MEMORY.count("candidate"), MEMORY.count("contact"), MEMORY.count()
"""Room in the tables; the axis of the last sweep, -1 before the first."""
GIVEN = MEMORY.count()
"""Whether the candidates are the caller's: pairs that are looked at again."""
MARGIN = MEMORY.number()
"""The largest gap of a contact, m; the caller may write another before each call."""

# Row of SHAPES.
S_KIND, S_BODY, S_PART, S_ABOVE, S_FIXED, S_CLASS, S_HOLDS, S_VERTEX, S_END, SHAPE_ROW = range(10)
"""Body of the multibody kernels, -1 for the world; the part, and that of the neighbour which carries it, -1
for none; whether the part is fixed to the world; whether points of contacts lie on its surface; of a mesh its
first vertex, and the one after its last."""
SHAPES = MEMORY.integers("shape", SHAPE_ROW)
ORDER, PLANES, CANDIDATES = MEMORY.integers("bounded"), MEMORY.integers("plane"), MEMORY.integers("candidate")
FOREIGNERS = MEMORY.integers("candidate")
"""The N_FOREIGN candidates that are left to `coal_pairs`."""
# S_KIND, in the order in which the narrow phase takes a pair.
PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, HEIGHTFIELD = range(8)
N_KINDS = 8
FOREIGN = frozenset(
    {
        (CAPSULE, CYLINDER),
        (ELLIPSOID, ELLIPSOID),
        (ELLIPSOID, CYLINDER),
        (CYLINDER, CYLINDER),
        (CYLINDER, BOX),
    }
    | {(kind, MESH) for kind in range(SPHERE, MESH + 1)}
    | {(kind, HEIGHTFIELD) for kind in range(SPHERE, HEIGHTFIELD)}
)
"""Pairs without a closed form; heightfields do not meet half-spaces and each other."""

RULES = MEMORY.integers("shape_class", "shape_class")
"""NEVER, or twice the material, plus ASKED where neighbours meet as well."""
NEVER, ASKED = -1, 1

# Row of FRAMES: the shape's axes, as columns, and its centre, both in the inner axes of its body.
F_ROTATION, F_POSITION, FRAME = columns(MATRIX, VECTOR)
# Row of PLACES: the same in the world; half edges, radii, or radius and half length; radius of the bounding
# sphere.
P_ROTATION, P_POSITION, P_SIZE, P_RADIUS, PLACE = columns(MATRIX, VECTOR, VECTOR, VECTOR)
P_AXIS = P_ROTATION + 2 * VECTOR
"""The z axis: normal of a half-space, axis of a capsule or cylinder."""
FRAMES, PLACES = MEMORY.doubles("shape", FRAME), MEMORY.doubles("shape", PLACE)
STARTS = MEMORY.doubles("shape")
# Convex hulls of meshes, one after the other: vertices in the frames of their shapes, and the numbers of
# those that share an edge with each, which begin at AROUND.
VERTICES, AROUND = MEMORY.doubles("vertex", VECTOR), MEMORY.integers("vertex + 1")
NEIGHBOURS = MEMORY.integers("neighbour")

# Row of MATERIALS.
M_MU, M_RESTITUTION, MATERIAL = range(3)
MATERIALS = MEMORY.doubles("material", MATERIAL)

# Row of CONTACTS.
C_BODY_A, C_BODY_B, C_KEY, C_MATERIAL, CONTACT_ROW = range(5)
"""C_KEY = (A N_SHAPES + B) FEATURES + feature: the same from step to step, and contacts are sorted by it."""
FEATURES = 1 << 20
"""Room for the features of a pair: corners, ends, crossings of edges. Every pair numbers its own."""
CONTACTS = MEMORY.integers("contact", CONTACT_ROW)

# RECORDS, per contact, as `mcpframe.contact.contact` has them.
R_POINT, R_NORMAL = contact.R_POINT, contact.R_NORMAL
R_TANGENT_1, R_TANGENT_2 = contact.R_TANGENT_1, contact.R_TANGENT_2
R_GAP, R_MU, R_RESTITUTION, RECORD = contact.GAP, contact.MU, contact.RESTITUTION, contact.RECORD
RECORDS = MEMORY.doubles("contact", RECORD)

SCRATCH = MEMORY.doubles(24, VECTOR)
"""For the narrow phase: two polygons of at most 12 corners."""

ROOM = -1
"""What `detect` returns where the tables are too small: make room and call again."""
