"""Where every shape is, and which pairs are near enough to look at: bounding spheres, sweep and prune.

Spheres are kept in the order of their lowest points along one axis. The order of the last call is nearly that
of this one, so that insertion sort takes it up in linear time; after a change of the axis larger steps come
first [Shell 1959]. The axis is the one along which the spheres are spread most, and changes only for one with
twice the variance. Half-spaces are tested against all.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.records import (
    ASKED,
    AXIS,
    CANDIDATES,
    F_POSITION,
    FRAME,
    FRAMES,
    MARGIN,
    MAX_CANDIDATES,
    N_BOUNDED,
    N_CANDIDATES,
    N_CLASSES,
    N_FIXED,
    N_PLANES,
    N_SHAPES,
    N_TESTS,
    NEVER,
    ORDER,
    P_AXIS,
    P_POSITION,
    P_RADIUS,
    P_ROTATION,
    PLACE,
    PLACES,
    PLANE,
    PLANES,
    RULES,
    S_ABOVE,
    S_BODY,
    S_CLASS,
    S_FIXED,
    S_KIND,
    S_PART,
    SHAPE_ROW,
    SHAPES,
    SPHERE,
    STARTS,
)
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, x_of, y_of, z_of, zero
from mcpframe.multibody.memory.records import (
    B_POSITION,
    B_ROTATION,
    BODIES,
    BODY,
    REFERENCE,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import combine, dot, load_matrix

BETTER = 2.0
"""Ratio of variances above which the sweep takes another axis."""


@inline
def origin_of(I, X, body):
    """Return where the frame of a body is; needs the kinematics."""
    reference = load(X, I[REFERENCE] + 4 * get(I, I[TREE] + body * TREE_ROW + SECTION))
    return reference + load(X, I[BODIES] + body * BODY + B_POSITION)


@inline
def place_shape_at(ID, XD, i, R, r):
    """Write where a shape is, on a body at (R, r). Spheres have no axes."""
    f, p = ID[FRAMES] + i * FRAME, ID[PLACES] + i * PLACE
    store(XD, p + P_POSITION, r + combine(R, XD, f + F_POSITION))
    if get(ID, ID[SHAPES] + i * SHAPE_ROW + S_KIND) != SPHERE:
        for k in range(0, 12, 4):
            store(XD, p + P_ROTATION + k, combine(R, XD, f + k))


@inline
def place_shape(I, X, ID, XD, i):
    """Write where a moving shape is; needs the kinematics."""
    body = get(ID, ID[SHAPES] + i * SHAPE_ROW + S_BODY)
    R = load_matrix(X, I[BODIES] + body * BODY + B_ROTATION)
    place_shape_at(ID, XD, i, R, origin_of(I, X, body))


@callee
def place_shapes(I, X, ID, XD):
    """Write where all moving shapes are."""
    for i in range(ID[N_FIXED], ID[N_SHAPES]):
        place_shape(I, X, ID, XD, i)


@callee
def place_candidates(I, X, ID, XD):
    """Write where the moving shapes of the candidates are."""
    for k in range(ID[N_CANDIDATES]):
        candidate = get(ID, ID[CANDIDATES] + k)
        for i in (candidate // ID[N_SHAPES], candidate % ID[N_SHAPES]):
            if i >= ID[N_FIXED]:
                place_shape(I, X, ID, XD, i)


@inline
def rule_of(ID, i, j):
    """Return the rule of a pair of shapes, or NEVER where they do not meet."""
    a, b = ID[SHAPES] + i * SHAPE_ROW, ID[SHAPES] + j * SHAPE_ROW
    part_a, part_b = get(ID, a + S_PART), get(ID, b + S_PART)
    if get(ID, a + S_BODY) == get(ID, b + S_BODY):  # rigid for the time being
        return NEVER
    if part_a == part_b or (get(ID, a + S_FIXED) and get(ID, b + S_FIXED)):
        return NEVER
    rule = get(ID, ID[RULES] + get(ID, a + S_CLASS) * ID[N_CLASSES] + get(ID, b + S_CLASS))
    if get(ID, a + S_ABOVE) == part_b or get(ID, b + S_ABOVE) == part_a:
        return rule if rule != NEVER and rule & ASKED else NEVER
    return rule


@inline
def add_candidate(ID, i, j):
    """Append a pair that may meet; past the end of the table it is only counted."""
    if rule_of(ID, i, j) != NEVER:
        n = ID[N_CANDIDATES]
        put(ID, N_CANDIDATES, n + 1)
        if n < ID[MAX_CANDIDATES]:
            put(ID, ID[CANDIDATES] + n, max(i, j) * ID[N_SHAPES] + min(i, j))


@callee
def choose_axis(ID, XD):
    """Return the axis to sweep along: the present one unless another is much better."""
    n, order = ID[N_BOUNDED], ID[ORDER]
    origin = load(XD, ID[PLACES] + get(ID, order) * PLACE + P_POSITION)
    total, squares = zero(), zero()
    for i in range(n):
        x = load(XD, ID[PLACES] + get(ID, order + i) * PLACE + P_POSITION) - origin
        total, squares = total + x, squares + x * x
    spread = squares - (1.0 / n) * (total * total)
    best, widest = 0, x_of(spread)
    if y_of(spread) > widest:
        best, widest = 1, y_of(spread)
    if z_of(spread) > widest:
        best, widest = 2, z_of(spread)
    axis = ID[AXIS]
    present = x_of(spread) if axis == 0 else (y_of(spread) if axis == 1 else z_of(spread))
    return best if axis < 0 or widest > BETTER * present else axis


@callee
def insertion_pass(ID, XD, step):
    """Sort the starts, and the shapes with them, in every chain of places that are `step` apart."""
    order, starts = ID[ORDER], ID[STARTS]
    for i in range(step, ID[N_BOUNDED]):
        shape, start = get(ID, order + i), get(XD, starts + i)
        j = i
        while j >= step and get(XD, starts + j - step) > start:
            put(ID, order + j, get(ID, order + j - step))
            put(XD, starts + j, get(XD, starts + j - step))
            j -= step
        put(ID, order + j, shape)
        put(XD, starts + j, start)


@inline
def first_step(n):
    """Return the largest of 1, 4, 13, 40, ... below n / 3, the first step of Shell's sort."""
    step = 1
    while 3 * step < n:
        step = 3 * step + 1
    return step


@callee
def sort_shapes(ID, XD):
    """Bring the bounded shapes into the order of their lowest points along the axis."""
    axis = choose_axis(ID, XD)
    for i in range(ID[N_BOUNDED]):
        p = ID[PLACES] + get(ID, ID[ORDER] + i) * PLACE
        put(XD, ID[STARTS] + i, get(XD, p + P_POSITION + axis) - get(XD, p + P_RADIUS))
    step = 1
    if axis != ID[AXIS]:
        put(ID, AXIS, axis)
        step = first_step(ID[N_BOUNDED])
    while step > 0:
        insertion_pass(ID, XD, step)
        step //= 3


@callee
def sweep_shapes(ID, XD):
    """Find pairs of bounding spheres within the margin; return how many were tested."""
    n, order, starts, margin, tests = ID[N_BOUNDED], ID[ORDER], ID[STARTS], get(XD, MARGIN), 0
    for i in range(n):
        shape = get(ID, order + i)
        p = ID[PLACES] + shape * PLACE
        x, reach = load(XD, p + P_POSITION), get(XD, p + P_RADIUS) + margin
        end = get(XD, starts + i) + 2.0 * get(XD, p + P_RADIUS) + margin
        j = i + 1
        while j < n and get(XD, starts + j) <= end:
            other = get(ID, order + j)
            q = ID[PLACES] + other * PLACE
            d, near = load(XD, q + P_POSITION) - x, reach + get(XD, q + P_RADIUS)
            if near >= 0.0 and dot(d, d) <= near * near:
                add_candidate(ID, shape, other)
            j += 1
        tests += j - i - 1
    return tests


@callee
def meet_planes(ID, XD):
    """Find bounding spheres within the margin of half-spaces."""
    margin = get(XD, MARGIN)
    for i in range(ID[N_PLANES]):
        plane = get(ID, ID[PLANES] + i)
        p = ID[PLACES] + plane * PLACE
        n, origin = load(XD, p + P_AXIS), load(XD, p + P_POSITION)
        for j in range(ID[N_BOUNDED]):
            shape = get(ID, ID[ORDER] + j)
            q = ID[PLACES] + shape * PLACE
            if dot(n, load(XD, q + P_POSITION) - origin) - get(XD, q + P_RADIUS) <= margin:
                add_candidate(ID, plane, shape)


@inline
def are_near(ID, XD, i, j, margin):
    """Return whether the bounding spheres of two shapes are within a margin; one may be a half-space."""
    p, q = ID[PLACES] + i * PLACE, ID[PLACES] + j * PLACE
    d = load(XD, q + P_POSITION) - load(XD, p + P_POSITION)
    if get(ID, ID[SHAPES] + i * SHAPE_ROW + S_KIND) == PLANE:
        return dot(load(XD, p + P_AXIS), d) - get(XD, q + P_RADIUS) <= margin
    near = get(XD, p + P_RADIUS) + get(XD, q + P_RADIUS) + margin
    return near >= 0.0 and dot(d, d) <= near * near


@callee
def find_among(I, X, ID, XD, some, first, n):
    """Write the pairs that may meet of n shapes, some[first ...] in their order, and of these with the world.

    As `find_candidates` does of all; they are placed first. Return whether there was room.
    """
    margin = get(XD, MARGIN)
    put(ID, N_CANDIDATES, 0)
    for a in range(n):
        place_shape(I, X, ID, XD, get(some, first + a))
    for a in range(n):
        j = get(some, first + a)
        for i in range(ID[N_FIXED]):
            if are_near(ID, XD, i, j, margin):
                add_candidate(ID, i, j)
        for b in range(a):
            if are_near(ID, XD, get(some, first + b), j, margin):
                add_candidate(ID, get(some, first + b), j)
    return ID[N_CANDIDATES] <= ID[MAX_CANDIDATES]


@callee
def sort_candidates(ID):
    """Bring the candidates into the order of their pairs."""
    at, n = ID[CANDIDATES], ID[N_CANDIDATES]
    step = first_step(n)
    while step > 0:
        for i in range(step, n):
            pair = get(ID, at + i)
            j = i
            while j >= step and get(ID, at + j - step) > pair:
                put(ID, at + j, get(ID, at + j - step))
                j -= step
            put(ID, at + j, pair)
        step //= 3


@callee
def find_candidates(ID, XD):
    """Write all pairs that may meet within the margin, in order; return whether there was room for them."""
    put(ID, N_CANDIDATES, 0)
    put(ID, N_TESTS, ID[N_PLANES] * ID[N_BOUNDED])
    if ID[N_BOUNDED] > 1:
        sort_shapes(ID, XD)
        put(ID, N_TESTS, ID[N_TESTS] + sweep_shapes(ID, XD))
    meet_planes(ID, XD)
    if ID[N_CANDIDATES] > ID[MAX_CANDIDATES]:
        return False
    sort_candidates(ID)
    return True
