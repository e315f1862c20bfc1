"""Two boxes: separating axes, the patch between faces, and the nearest points where the patch misses them.

The Minkowski difference of two boxes has faces along 6 face normals and 9 products of edges. The largest
separation s over these axes is the signed distance where the boxes overlap, and a lower bound where they do
not; then the distance is s where the nearest features are a face, or two edges, and else that of a vertex.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.capsule import nearest_on_segments
from mcpframe.contact.detection.kernels.clipping import FACES, LINES, axis_of, face_patch
from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.kernels.sphere import box_distance, length_and_direction
from mcpframe.contact.detection.records import P_POSITION, P_SIZE
from mcpframe.contact.detection.thresholds import NEARLY_FACE, NO_GAP, PARALLEL, REACHED
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.spatial.algebra import cross, dot

SAME_FACE = 1e-8
"""1 - cos of the angle between two faces within which the first box's is the reference, so that it stays."""

CLOSEST, FIRST_PATCH = 0, 1
"""Features: the nearest points, then patches on faces of the first box, then those on the second's."""
SECOND_PATCH = FIRST_PATCH + FACES * FACES * LINES * LINES


@inline
def extent(XD, o, n):
    """Return how far a box reaches from its centre along a unit vector."""
    reach = 0.0
    for i in range(3):
        reach += get(XD, o + P_SIZE + i) * abs(dot(axis_of(XD, o, i), n))
    return reach


@inline
def thickness(XD, o):
    """Return the shortest half edge."""
    return min(get(XD, o + P_SIZE), get(XD, o + P_SIZE + 1), get(XD, o + P_SIZE + 2))


@callee
def best_face(XD, a, b, d):
    """Return the largest separation along face normals, and the face: axis, or 3 + axis of the second box."""
    best, face = -NO_GAP, 0
    for k in range(6):
        n = axis_of(XD, a if k < 3 else b, k % 3)
        separation = abs(dot(d, n)) - extent(XD, a, n) - extent(XD, b, n)
        if separation > best:
            best, face = separation, k
    return best, face


@callee
def best_edges(XD, a, b, d):
    """Return the largest separation along products of edges, these edges, and n from the first box."""
    best, edges, normal = -NO_GAP, 0, d
    for k in range(9):
        n = cross(axis_of(XD, a, k // 3), axis_of(XD, b, k % 3))
        square = dot(n, n)
        if square > PARALLEL:
            n = ((1.0 if dot(d, n) >= 0.0 else -1.0) / math.sqrt(square)) * n
            separation = dot(d, n) - extent(XD, a, n) - extent(XD, b, n)
            if separation > best:
                best, edges, normal = separation, k, n
    return best, edges, normal


@inline
def edge_middle(XD, o, i, n):
    """Return the middle of the edge along axis i that lies furthest along n."""
    x = load(XD, o + P_POSITION)
    for k in range(3):
        if k != i:
            e, h = axis_of(XD, o, k), get(XD, o + P_SIZE + k)
            x = x + (h if dot(e, n) >= 0.0 else -h) * e
    return x


@callee
def between_edges(XD, a, b, edges, n):
    """Return the nearest points of the two edges that face each other along n."""
    i, j = edges // 3, edges % 3
    x, y = edge_middle(XD, a, i, n), edge_middle(XD, b, j, -n)
    u, v = axis_of(XD, a, i), axis_of(XD, b, j)
    s, t = nearest_on_segments(x - y, u, get(XD, a + P_SIZE + i), v, get(XD, b + P_SIZE + j))
    return x + s * u, y + t * v


@callee
def nearest_vertex(XD, a, b):
    """Return the distance of the nearest vertex of either box from the other, the normal and the middle."""
    best, normal, point = NO_GAP, load(XD, a + P_POSITION), load(XD, a + P_POSITION)
    for k in range(16):
        o, other = (a, b) if k < 8 else (b, a)
        x = load(XD, o + P_POSITION)
        for axis in range(3):
            h = get(XD, o + P_SIZE + axis)
            x = x + (h if (k >> axis) & 1 else -h) * axis_of(XD, o, axis)
        distance, out = box_distance(XD, other, x)
        if distance < best:
            best, normal, point = distance, -out if k < 8 else out, x - (0.5 * distance) * out
    return best, normal, point


@callee
def nearest_features(XD, a, b, separation, edges, n):
    """Return signed distance, normal and middle between the two edges, or a vertex and the other box."""
    x, y = between_edges(XD, a, b, edges, n)
    point = 0.5 * (x + y)
    if separation <= 0.0:
        return separation, n, point
    distance, normal, middle = nearest_vertex(XD, a, b)
    length, direction = length_and_direction(y - x, n)
    if length < distance:
        return length, direction, point
    return distance, normal, middle


@callee
def patch_on(ID, XD, pair, a, b, d, face, floor, room):
    """Add the patch on a face, or on the first box's if that is parallel; return the least height."""
    if face >= 3:
        n = axis_of(XD, b, face - 3)
        for i in range(3):
            if abs(dot(axis_of(XD, a, i), n)) > 1.0 - SAME_FACE:
                face = i
    if face < 3:
        side = 1.0 if dot(axis_of(XD, a, face), d) >= 0.0 else -1.0
        return face_patch(ID, XD, pair, a, b, face, side, 1.0, FIRST_PATCH, floor, room)
    side = 1.0 if dot(axis_of(XD, b, face - 3), d) <= 0.0 else -1.0
    return face_patch(ID, XD, pair, b, a, face - 3, side, -1.0, SECOND_PATCH, floor, room)


@callee
def box_box(ID, XD, pair, a, b):
    """The patch where the normal is nearly a face's, and the nearest points where the patch misses them."""
    d = load(XD, b + P_POSITION) - load(XD, a + P_POSITION)
    s_f, face = best_face(XD, a, b, d)
    if s_f > pair.margin:
        return
    s_e, edges, n = best_edges(XD, a, b, d)
    if s_e > pair.margin:
        return
    tolerance = REACHED * min(thickness(XD, a), thickness(XD, b))
    least = NO_GAP
    by_face = s_f >= s_e - tolerance
    if by_face or abs(dot(n, axis_of(XD, a if face < 3 else b, face % 3))) > NEARLY_FACE:
        least = patch_on(ID, XD, pair, a, b, d, face, max(s_f, s_e), tolerance)
    if by_face and (s_f <= 0.0 or least <= s_f + tolerance):
        return
    gap, normal, point = nearest_features(XD, a, b, max(s_f, s_e), edges, n)
    if gap < least - tolerance:
        add(ID, XD, pair, gap, point, normal, CLOSEST)
