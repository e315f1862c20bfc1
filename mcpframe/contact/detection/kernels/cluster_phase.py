"""Broad phase of clusters: balls around the shapes of bodies, which need no refit while these are rigid.

Each cluster's ball is tested against the shapes of the world, planes and boxes around the others, and against
those of other clusters; where they are near, its halves are, down to single shapes, which alone are placed.
Between two choices of active joints nothing is done for all shapes.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.contact.detection import cluster_records as at
from mcpframe.contact.detection.kernels.broad_phase import (
    add_candidate,
    origin_of,
    place_candidates,
    place_shape_at,
    sort_candidates,
)
from mcpframe.contact.detection.kernels.detect import meet_candidates
from mcpframe.contact.detection.records import (
    F_POSITION,
    FRAME,
    FRAMES,
    GIVEN,
    MARGIN,
    MAX_CANDIDATES,
    N_BOUNDED,
    N_CANDIDATES,
    N_CONTACTS,
    N_FOREIGN,
    N_PLANES,
    N_TESTS,
    ORDER,
    P_AXIS,
    P_POSITION,
    P_RADIUS,
    PLACE,
    PLACES,
    PLANES,
    ROOM,
    S_BODY,
    SHAPE_ROW,
    SHAPES,
)
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put, store, vector, x_of, y_of, z_of
from mcpframe.multibody.memory.records import (
    B_ROTATION,
    BODIES,
    BODY,
    N_BODIES,
)
from mcpframe.spatial.algebra import dot, load_matrix, store_matrix


@callee
def sort_members(ID, n):
    """Write the bounded shapes of n clusters in the order of these."""
    first = ID[at.FIRST]
    for c in range(n + 1):
        put(ID, first + c, 0)
    for k in range(ID[N_BOUNDED]):
        body = get(ID, ID[SHAPES] + get(ID, ID[ORDER] + k) * SHAPE_ROW + S_BODY)
        if body >= 0:
            put(ID, first + body + 1, get(ID, first + body + 1) + 1)
    for c in range(n):
        put(ID, first + c + 1, get(ID, first + c) + get(ID, first + c + 1))
    for k in range(ID[N_BOUNDED] - 1, -1, -1):  # each fills its place from behind
        shape = get(ID, ID[ORDER] + k)
        body = get(ID, ID[SHAPES] + shape * SHAPE_ROW + S_BODY)
        if body >= 0:
            end = get(ID, first + body + 1) - 1
            put(ID, first + body + 1, end)
            put(ID, ID[at.MEMBERS] + end, shape)
    for c in range(n):  # what is left in place c + 1 is where c begins
        put(ID, first + c, get(ID, first + c + 1))
    put(ID, first + n, ID[N_BOUNDED] - ID[at.N_STILL])


@inline
def ball_of(ID, XD, low, high):
    """Return centre and radius of the ball around members [low, high), in the frame of their cluster."""
    if high - low == 1:
        shape = get(ID, ID[at.MEMBERS] + low)
        f = ID[FRAMES] + shape * FRAME + F_POSITION
        centre = vector(get(XD, f), get(XD, f + 1), get(XD, f + 2))
        return centre, get(XD, ID[PLACES] + shape * PLACE + P_RADIUS)
    b = ID[at.BALLS] + 4 * ((low + high) // 2)
    return vector(get(XD, b), get(XD, b + 1), get(XD, b + 2)), get(XD, b + 3)


@inline
def around(a, r_a, b, r_b):
    """Return the smallest ball around two."""
    way = b - a
    distance = math.sqrt(dot(way, way))
    if distance + r_b <= r_a:
        return a, r_a
    if distance + r_a <= r_b:
        return b, r_b
    radius = 0.5 * (distance + r_a + r_b)
    return a + ((radius - r_a) / distance) * way, radius


@inline
def push(ID, size, a, b, c, d):
    """Put two ranges of members on the stack; return its size."""
    row = ID[at.STACK] + 4 * size
    put(ID, row, a)
    put(ID, row + 1, b)
    put(ID, row + 2, c)
    put(ID, row + 3, d)
    return size + 1


@inline
def has_balls(ID, c, low, high):
    """Return whether the balls of a cluster are written already; they will be."""
    first = get(ID, ID[at.MEMBERS] + low)
    kept, last = ID[at.KEPT_FIRST] + first, ID[at.KEPT_LAST] + first
    same = get(ID, ID[at.STALE] + c) == 0 and get(ID, kept) == low and get(ID, last) == high
    put(ID, kept, low)
    put(ID, last, high)
    put(ID, ID[at.STALE] + c, 0)
    return same


@callee
def make_balls(ID, XD, n):
    """Write the balls of n clusters, each range after its halves, where they are not those of before."""
    for c in range(n):
        low, high = get(ID, ID[at.FIRST] + c), get(ID, ID[at.FIRST] + c + 1)
        size = 0
        if high - low > 1 and not has_balls(ID, c, low, high):
            size = push(ID, 0, low, high, 0, 0)
        while size > 0:
            row = ID[at.STACK] + 4 * (size - 1)
            a, b = get(ID, row), get(ID, row + 1)
            middle = (a + b) // 2
            if get(ID, row + 2) == 0:  # halves first
                put(ID, row + 2, 1)
                if middle - a > 1:
                    size = push(ID, size, a, middle, 0, 0)
                if b - middle > 1:
                    size = push(ID, size, middle, b, 0, 0)
                continue
            size -= 1
            x, r_x = ball_of(ID, XD, a, middle)
            y, r_y = ball_of(ID, XD, middle, b)
            centre, radius = around(x, r_x, y, r_y)
            store(XD, ID[at.BALLS] + 4 * middle, centre)
            put(XD, ID[at.BALLS] + 4 * middle + 3, radius)


@callee
def gather_clusters(ID, XD, n):
    """Write members and balls of n clusters; frames of shapes and their bodies are there."""
    sort_members(ID, n)
    make_balls(ID, XD, n)


@callee
def place_clusters(I, X, ID, XD):
    """Write where the clusters are; needs the kinematics."""
    for c in range(I[N_BODIES]):
        p = ID[at.FRAMES] + c * at.PLACED
        store_matrix(XD, p, load_matrix(X, I[BODIES] + c * BODY + B_ROTATION))
        store(XD, p + at.PL_POSITION, origin_of(I, X, c))


@callee
def place_shape(ID, XD, shape):
    """Write where a shape of a cluster is."""
    p = ID[at.FRAMES] + get(ID, ID[SHAPES] + shape * SHAPE_ROW + S_BODY) * at.PLACED
    place_shape_at(ID, XD, shape, load_matrix(XD, p), load(XD, p + at.PL_POSITION))


@inline
def placed_ball(ID, XD, c, low, high):
    """Return centre, in the world, and radius of the ball around members of cluster c."""
    p = ID[at.FRAMES] + c * at.PLACED
    R = load_matrix(XD, p)
    centre, radius = ball_of(ID, XD, low, high)
    return load(XD, p + at.PL_POSITION) + x_of(centre) * R[0] + y_of(centre) * R[1] + z_of(centre) * R[
        2
    ], radius


@inline
def box_distance(XD, box, x):
    """Return the square of the distance of a point from a box."""
    low, high = load(XD, box), load(XD, box + 4)
    a = max(x_of(low) - x_of(x), 0.0, x_of(x) - x_of(high))
    b = max(y_of(low) - y_of(x), 0.0, y_of(x) - y_of(high))
    c = max(z_of(low) - z_of(x), 0.0, z_of(x) - z_of(high))
    return a * a + b * b + c * c


@inline
def is_near(ID, XD, still, x, radius):
    """Return whether a ball is within the margin of a plane (below zero: -1 - its shape) or of a box."""
    near = radius + get(XD, MARGIN)
    if still < 0:
        p = ID[PLACES] + (-1 - still) * PLACE
        return dot(load(XD, p + P_AXIS), x - load(XD, p + P_POSITION)) <= near
    return near >= 0.0 and box_distance(XD, ID[at.BOXES] + 8 * still, x) <= near * near


@callee
def meet_still(ID, XD, c, still):
    """Find the shapes of cluster c that are near a plane or a box of the world, as its ball is."""
    tests, other = 0, -1 - still if still < 0 else get(ID, ID[at.STILL] + still)
    size = push(ID, 0, get(ID, ID[at.FIRST] + c), get(ID, ID[at.FIRST] + c + 1), 0, 0)
    while size > 0:
        size -= 1
        row = ID[at.STACK] + 4 * size
        low, high = get(ID, row), get(ID, row + 1)
        if high - low == 1:
            shape = get(ID, ID[at.MEMBERS] + low)
            place_shape(ID, XD, shape)
            add_candidate(ID, shape, other)
            continue
        middle = (low + high) // 2
        tests += 2
        for a, b in ((low, middle), (middle, high)):
            x, radius = placed_ball(ID, XD, c, a, b)
            if is_near(ID, XD, still, x, radius):
                size = push(ID, size, a, b, 0, 0)
    put(ID, N_TESTS, ID[N_TESTS] + tests)


@callee
def meet_world(ID, XD, c):
    """Find the shapes of cluster c that are near planes and boxes of the world, by its ball first."""
    x, radius = placed_ball(ID, XD, c, get(ID, ID[at.FIRST] + c), get(ID, ID[at.FIRST] + c + 1))
    for i in range(ID[N_PLANES]):
        still = -1 - get(ID, ID[PLANES] + i)
        if is_near(ID, XD, still, x, radius):
            meet_still(ID, XD, c, still)
    for still in range(ID[at.N_STILL]):
        if is_near(ID, XD, still, x, radius):
            meet_still(ID, XD, c, still)
    put(ID, N_TESTS, ID[N_TESTS] + ID[N_PLANES] + ID[at.N_STILL])


@callee
def meet_cluster(ID, XD, c, d):
    """Find the pairs of shapes of two clusters that are near each other."""
    tests, first = 0, ID[at.FIRST]
    size = push(ID, 0, get(ID, first + c), get(ID, first + c + 1), get(ID, first + d), get(ID, first + d + 1))
    while size > 0:
        size -= 1
        row = ID[at.STACK] + 4 * size
        a, b, e, f = get(ID, row), get(ID, row + 1), get(ID, row + 2), get(ID, row + 3)
        x, r_x = placed_ball(ID, XD, c, a, b)
        y, r_y = placed_ball(ID, XD, d, e, f)
        way, near = y - x, r_x + r_y + get(XD, MARGIN)
        tests += 1
        if near < 0.0 or dot(way, way) > near * near:
            continue
        if b - a == 1 and f - e == 1:
            one, other = get(ID, ID[at.MEMBERS] + a), get(ID, ID[at.MEMBERS] + e)
            place_shape(ID, XD, one)
            place_shape(ID, XD, other)
            add_candidate(ID, one, other)
        elif b - a >= f - e:
            size = push(ID, size, a, (a + b) // 2, e, f)
            size = push(ID, size, (a + b) // 2, b, e, f)
        else:
            size = push(ID, size, a, b, e, (e + f) // 2)
            size = push(ID, size, a, b, (e + f) // 2, f)
    put(ID, N_TESTS, ID[N_TESTS] + tests)


@callee
def find_near(ID, XD, n):
    """Write all pairs of shapes of n clusters, and of the world, that may meet within the margin."""
    put(ID, N_CANDIDATES, 0)
    put(ID, N_TESTS, 0)
    for c in range(n):
        if get(ID, ID[at.FIRST] + c) == get(ID, ID[at.FIRST] + c + 1):
            continue
        meet_world(ID, XD, c)
        if ID[at.MEET] != 0:
            for d in range(c):
                if get(ID, ID[at.FIRST] + d) < get(ID, ID[at.FIRST] + d + 1):
                    meet_cluster(ID, XD, c, d)
    if ID[N_CANDIDATES] > ID[MAX_CANDIDATES]:
        return False
    sort_candidates(ID)
    return True


@kernel(Indices, Vector, IndicesOut, VectorOut, nogil=False)
def detect_clusters(I, X, ID, XD):
    """As `detect`, by balls of clusters; pairs without a closed form are left to `coal_pairs` here too."""
    put(ID, N_CONTACTS, 0)
    put(ID, N_FOREIGN, 0)
    if ID[GIVEN] != 0:
        place_candidates(I, X, ID, XD)
    else:
        place_clusters(I, X, ID, XD)
        if not find_near(ID, XD, I[N_BODIES]):
            return ROOM
    return meet_candidates(ID, XD)


@kernel(IndicesOut, VectorOut, types.int64)
def gather(ID, XD, n):
    """Call `gather_clusters`."""
    gather_clusters(ID, XD, n)
