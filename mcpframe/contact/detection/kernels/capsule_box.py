"""A capsule against a box: its segment from outside and from within, and its stretch along a face or edge.

In the box's axes the segment is x(t) = q + t v, |t| <= half. Outside, the square of its distance is convex
and made of parabolas: its slope

    g(t) = sum over axes of e_i(t) v_i,    e_i = x_i - clamped(x_i, h_i)

is piecewise linear and grows, with corners where x_i = ±h_i; so its zero lies between two known corners.
Where the segment enters the box, the shortest way out is along a face normal or along u × an edge, as the
Minkowski difference of box and segment has no other faces.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.capsule import nearest_on_segments
from mcpframe.contact.detection.kernels.sphere import add_ball, box_distance, clamped
from mcpframe.contact.detection.records import P_AXIS, P_POSITION, P_ROTATION, P_SIZE, SCRATCH
from mcpframe.contact.detection.thresholds import NEARLY_FACE, NEARLY_PARALLEL, NO_GAP, PARALLEL, REACHED
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put
from mcpframe.spatial.algebra import cross, dot

WITHIN = 1e-10
"""Part of the box's size below which a distance is too short for a normal of its own."""

# In SCRATCH: q and v.
Q, V = 0, 4
CLOSEST, LOW_END, HIGH_END = range(3)
"""Features."""


@inline
def slope(XD, s, b, t):
    """Return half the slope of the squared distance at t."""
    total = 0.0
    for i in range(3):
        v = get(XD, s + V + i)
        x = get(XD, s + Q + i) + t * v
        total += (x - clamped(x, get(XD, b + P_SIZE + i))) * v
    return total


@callee
def nearest_to_box(XD, s, b, half):
    """Return the parameter at which the segment is nearest to the box."""
    low, high = -half, half
    if slope(XD, s, b, low) >= 0.0:
        return low
    if slope(XD, s, b, high) <= 0.0:
        return high
    for i in range(6):
        v = get(XD, s + V + i % 3)
        if v != 0.0:
            h = get(XD, b + P_SIZE + i % 3)
            t = ((h if i < 3 else -h) - get(XD, s + Q + i % 3)) / v
            if low < t < high:
                if slope(XD, s, b, t) <= 0.0:
                    low = t
                else:
                    high = t
    g_low, g_high = slope(XD, s, b, low), slope(XD, s, b, high)
    return low - g_low * (high - low) / (g_high - g_low)


@callee
def out_of_face(XD, s, a, b):
    """Return parameter, separation and outward normal of the face that is nearest to a segment in the box."""
    half = get(XD, a + P_SIZE + 1)
    best, out, t = -NO_GAP, load(XD, b + P_ROTATION), 0.0
    for i in range(3):
        q, v = get(XD, s + Q + i), get(XD, s + V + i)
        separation = abs(q) - get(XD, b + P_SIZE + i) - half * abs(v)
        if separation > best:
            side = 1.0 if q >= 0.0 else -1.0
            best, out = separation, side * load(XD, b + P_ROTATION + 4 * i)
            t = -half if side * v > 0.0 else half
    return t, best, out


@callee
def way_out(XD, s, a, b, size):
    """Return parameter, signed distance and outward normal of a segment that enters the box."""
    t, best, out = out_of_face(XD, s, a, b)
    u, d = load(XD, a + P_AXIS), load(XD, a + P_POSITION) - load(XD, b + P_POSITION)
    for i in range(3):
        n = cross(u, load(XD, b + P_ROTATION + 4 * i))
        square = dot(n, n)
        if square > PARALLEL:
            n = ((1.0 if dot(n, d) >= 0.0 else -1.0) / math.sqrt(square)) * n
            separation = dot(n, d)
            for k in range(3):
                separation -= get(XD, b + P_SIZE + k) * abs(dot(n, load(XD, b + P_ROTATION + 4 * k)))
            if separation > best + REACHED * size:
                t, best, out = beside_edge(XD, a, b, i, n), separation, n
    return t, best, out


@callee
def beside_edge(XD, a, b, i, n):
    """Return the parameter that is nearest to the edge along axis i furthest along n."""
    y = load(XD, b + P_POSITION)
    for k in range(3):
        if k != i:
            e = load(XD, b + P_ROTATION + 4 * k)
            h = get(XD, b + P_SIZE + k)
            y = y + (h if dot(e, n) >= 0.0 else -h) * e
    u, e = load(XD, a + P_AXIS), load(XD, b + P_ROTATION + 4 * i)
    x = load(XD, a + P_POSITION)
    return nearest_on_segments(x - y, u, get(XD, a + P_SIZE + 1), e, get(XD, b + P_SIZE + i))[0]


@callee
def stretch(XD, s, b, half, without):
    """Return the part [low, high] of the segment with |x_i| <= h_i for all axes but one."""
    low, high = -half, half
    for i in range(3):
        if i != without:
            q, v = get(XD, s + Q + i), get(XD, s + V + i)
            h = (1.0 + REACHED) * get(XD, b + P_SIZE + i)
            if v != 0.0:
                ends = (-h - q) / v, (h - q) / v
                low, high = max(low, min(ends[0], ends[1])), min(high, max(ends[0], ends[1]))
            elif abs(q) > h:
                high = low - 1.0
    return low, high


@callee
def along_face(ID, XD, pair, a, b, i, side, floor):
    """Add the ends of the stretch over a face; return the least gap.

    No gap is below that of the floor, the distance of segment and box. Heights are, where the shortest way
    out is along another normal; these do not count for the least one.
    """
    s, half, r = ID[SCRATCH], get(XD, a + P_SIZE + 1), get(XD, a + P_SIZE)
    low, high = stretch(XD, s, b, half, i)
    if low > high:
        return NO_GAP
    u, out = load(XD, a + P_AXIS), side * load(XD, b + P_ROTATION + 4 * i)
    least = NO_GAP
    single = high - low <= REACHED * half
    for end in range(1 if single else 2):
        t = high if end else low
        height = side * (get(XD, s + Q + i) + t * get(XD, s + V + i)) - get(XD, b + P_SIZE + i)
        distance = max(height, floor)
        add_ball(ID, XD, pair, load(XD, a + P_POSITION) + t * u, r, distance, out, LOW_END + end)
        if height >= floor - REACHED * r:
            least = min(least, height - r)
    return least


@callee
def along_edge(ID, XD, pair, a, b):
    """Add the ends of the stretch beside an edge that is nearly parallel to u; return the least gap."""
    s, half, r = ID[SCRATCH], get(XD, a + P_SIZE + 1), get(XD, a + P_SIZE)
    least = NO_GAP
    for i in range(3):
        e, v = load(XD, b + P_ROTATION + 4 * i), get(XD, s + V + i)
        crossed = cross(load(XD, a + P_AXIS), e)
        if dot(crossed, crossed) < NEARLY_PARALLEL * NEARLY_PARALLEL:
            h, q = (1.0 + REACHED) * get(XD, b + P_SIZE + i), get(XD, s + Q + i)
            ends = (-h - q) / v, (h - q) / v
            low, high = max(-half, min(ends[0], ends[1])), min(half, max(ends[0], ends[1]))
            if low < high:
                for end in range(2):
                    x = load(XD, a + P_POSITION) + (high if end else low) * load(XD, a + P_AXIS)
                    distance, out = box_distance(XD, b, x)
                    add_ball(ID, XD, pair, x, r, distance, out, LOW_END + end)
                    least = min(least, distance - r)
    return least


@callee
def to_box_axes(XD, s, a, b):
    """Write the segment in the axes of the box; return the sum of the half edges."""
    u, d = load(XD, a + P_AXIS), load(XD, a + P_POSITION) - load(XD, b + P_POSITION)
    size = 0.0
    for i in range(3):
        e = load(XD, b + P_ROTATION + 4 * i)
        put(XD, s + Q + i, dot(e, d))
        put(XD, s + V + i, dot(e, u))
        size += get(XD, b + P_SIZE + i)
    return size


@inline
def beyond_faces(XD, s, b, half):
    """Return how far the segment is beyond the faces of the box at least: no more than its distance."""
    furthest = -NO_GAP
    for i in range(3):
        along = abs(get(XD, s + Q + i)) - half * abs(get(XD, s + V + i))
        furthest = max(furthest, along - get(XD, b + P_SIZE + i))
    return furthest


@callee
def capsule_box(ID, XD, pair, a, b):
    """The ends of the stretch along a face or an edge, and the nearest point where neither reaches it."""
    s, u, half, r = ID[SCRATCH], load(XD, a + P_AXIS), get(XD, a + P_SIZE + 1), get(XD, a + P_SIZE)
    x, size = load(XD, a + P_POSITION), to_box_axes(XD, s, a, b)
    if beyond_faces(XD, s, b, half) - r > pair.margin:
        return
    t = nearest_to_box(XD, s, b, half)
    distance, out = box_distance(XD, b, x + t * u)
    outside = distance > WITHIN * size
    if not outside:
        t, distance, out = way_out(XD, s, a, b, size)
    if distance - r > pair.margin:
        return
    least = NO_GAP
    for i in range(3):
        cosine = dot(out, load(XD, b + P_ROTATION + 4 * i))
        if abs(cosine) > NEARLY_FACE:
            least = along_face(ID, XD, pair, a, b, i, 1.0 if cosine > 0.0 else -1.0, distance)
    if least == NO_GAP and outside:
        least = along_edge(ID, XD, pair, a, b)
    if distance - r < least - REACHED * r:
        add_ball(ID, XD, pair, x + t * u, r, distance, out, CLOSEST)
