"""The patch between two faces of boxes: the face of one, clipped by the sides of the face of the other.

The face of the *reference* box, with normal n out of it, gives the plane; the *incident* face is the one of
the other box that looks most against n. In the axes (u, v, n) of the reference face the incident one is a
polygon of corners (u, v, height); clipped to the rectangle of the reference face [Sutherland and Hodgman
1974] it is the overlap polygon, and every height is a gap. Each corner is the meeting of two lines, incident
edges (0..3) or sides of the rectangle (4..7), and these two are its identity.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.records import P_POSITION, P_ROTATION, P_SIZE, SCRATCH
from mcpframe.contact.detection.thresholds import NO_GAP
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, vector
from mcpframe.spatial.algebra import dot

POLYGON = 4 * 12
"""Doubles of a polygon in SCRATCH; a row is u, v, height, line to the next corner."""
LINE = 3
SIDES = 4
"""First line that is a side of the rectangle."""
LINES = 8
ON_SIDE = 1e-9
"""Part of the rectangle within which a corner on a side is inside: boxes that stand flush stay so."""
FACES = 6


@inline
def axis_of(XD, o, i):
    """Return axis i of the box at o."""
    return load(XD, o + P_ROTATION + 4 * i)


@inline
def incident_face(XD, o, n):
    """Return axis and side of the face of the box at o that looks most against n."""
    best, axis, side = -1.0, 0, 1.0
    for i in range(3):
        cosine = dot(axis_of(XD, o, i), n)
        if abs(cosine) > best:
            best, axis, side = abs(cosine), i, -1.0 if cosine > 0.0 else 1.0
    return axis, side


@callee
def incident_polygon(XD, s, o, axis, side, origin, u, v, n):
    """Write the corners of a face of the box at o, seen from the reference face."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    middle = load(XD, o + P_POSITION) + (side * get(XD, o + P_SIZE + axis)) * axis_of(XD, o, axis) - origin
    e_j = get(XD, o + P_SIZE + j) * axis_of(XD, o, j)
    e_k = get(XD, o + P_SIZE + k) * axis_of(XD, o, k)
    for corner in range(4):
        x = middle + (e_j if corner == 1 or corner == 2 else -e_j)
        x = x + (e_k if corner >= 2 else -e_k)
        store(XD, s + 4 * corner, vector(dot(x, u), dot(x, v), dot(x, n)))
        put(XD, s + 4 * corner + LINE, float(corner))


@callee
def clip(XD, source, n, target, axis, side, half, line):
    """Write the part of a polygon with side * (coordinate along axis) <= half; return its corners' number."""
    m = 0
    for i in range(n):
        p, q = source + 4 * i, source + 4 * ((i + 1) % n)
        d_p, d_q = side * get(XD, p + axis) - half, side * get(XD, q + axis) - half
        if d_p <= 0.0:
            store(XD, target + 4 * m, load(XD, p))
            m += 1
        if (d_p <= 0.0) != (d_q <= 0.0):
            share = d_p / (d_p - d_q)
            leaving = float(line) if d_p <= 0.0 else get(XD, p + LINE)
            store(XD, target + 4 * m, load(XD, p) + share * (load(XD, q) - load(XD, p)))
            put(XD, target + 4 * m + LINE, leaving)
            m += 1
    return m


@callee
def face_patch(ID, XD, pair, reference, other, axis, side, sign, first, floor, room):
    """Add the corners of the overlap of a face with the one that looks at it; return the least height.

    Args:
        ID, XD, pair: as in `add`.
        reference, other: places of the boxes.
        axis, side: which face of the reference, ±.
        sign: 1 where the reference is the first box of the pair, -1 where it is the second.
        first: the first feature that the patch may use.
        floor: signed distance of the boxes. No gap is below it; heights are, where the shortest way out is
            along another normal, and these do not count for the least one.
        room: rounding that a height may be below the floor.
    """
    n, j, k = side * axis_of(XD, reference, axis), (axis + 1) % 3, (axis + 2) % 3
    u, v = axis_of(XD, reference, j), axis_of(XD, reference, k)
    h_u, h_v = get(XD, reference + P_SIZE + j), get(XD, reference + P_SIZE + k)
    origin = load(XD, reference + P_POSITION) + get(XD, reference + P_SIZE + axis) * n
    face, look = incident_face(XD, other, n)
    s, t = ID[SCRATCH], ID[SCRATCH] + POLYGON
    incident_polygon(XD, s, other, face, look, origin, u, v, n)
    m = 4
    for line in range(4):
        half = (1.0 + ON_SIDE) * (h_v if line & 1 else h_u)
        m = clip(XD, s, m, t, line & 1, 1.0 if line < 2 else -1.0, half, SIDES + line)
        s, t = t, s
    feature = first + ((2 * axis + (side > 0.0)) * FACES + 2 * face + (look > 0.0)) * LINES * LINES
    least = NO_GAP
    for i in range(m):
        o, before = s + 4 * i, s + 4 * ((i + m - 1) % m)
        height = get(XD, o + 2)
        gap = max(height, floor)
        point = origin + get(XD, o) * u + get(XD, o + 1) * v + (0.5 * height) * n
        corner = LINES * int(get(XD, before + LINE)) + int(get(XD, o + LINE))
        add(ID, XD, pair, gap, point, sign * n, feature + corner)
        if height >= floor - room:
            least = min(least, height)
    return least
