"""An ellipsoid against half-spaces, spheres, capsules and boxes, by directions of separation.

An ellipsoid with axes R and radii a reaches h(n) = sqrt(n* E n), E = R diag(a²) R*; its point furthest along
n is E n / h. The signed distance of convex bodies is the largest separation over all directions; each feature
of the other body has one that is best for it: a face its normal, an edge that of the point nearest to the
ellipse which the ellipsoid casts along it, a corner that of the nearest point. Of these the one with the
largest separation of the whole bodies is the answer, apart or overlapping.

The nearest point x of a surface Σ (x_i/a_i)² = 1 to y has x_i = a_i² y_i/(a_i² + λ); with the least radius
a_0, s = λ/a_0² is the largest root of

    g(s) = Σ (r_i z_i/(s + r_i))² - 1,     z_i = y_i/a_i,     r_i = (a_i/a_0)²,

convex and falling for s > -1, so that Newton's steps from the left come to it without a search. From within
there is a second point that is nearer than all around it, beyond the plane across the least radius: the next
root below s = -1, found from the right. Deep overlaps may end there.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.kernels.sphere import length_and_direction
from mcpframe.contact.detection.records import P_AXIS, P_POSITION, P_ROTATION, P_SIZE
from mcpframe.contact.detection.thresholds import NO_GAP
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.spatial.algebra import cross, dot, load_matrix

STEPS = 200
"""Newton's steps at most: some ten, and one more for every factor of 1.5 that a point is nearer to a plane of
symmetry than to the surface."""
SETTLED = 1e-15
"""Relative change of the root at which Newton's steps end."""
ROUND = 1e-14
"""Difference of squared radii, relative, below which an ellipse has no axes."""


@inline
def stretched(XD, e, n):
    """Return E n and h(n) of the ellipsoid at e."""
    R = load_matrix(XD, e + P_ROTATION)
    a_0, a_1, a_2 = get(XD, e + P_SIZE), get(XD, e + P_SIZE + 1), get(XD, e + P_SIZE + 2)
    c_0, c_1, c_2 = a_0 * dot(R[0], n), a_1 * dot(R[1], n), a_2 * dot(R[2], n)
    return (a_0 * c_0) * R[0] + (a_1 * c_1) * R[1] + (a_2 * c_2) * R[2], math.sqrt(
        c_0 * c_0 + c_1 * c_1 + c_2 * c_2
    )


@inline
def term(r, z, s):
    """Return r z/(s + r), zero for z = 0 also at the pole."""
    return r * z / (s + r) if z > 0.0 else 0.0


@inline
def slope_term(r, f, s):
    """Return f²/(s + r)."""
    return f * f / (s + r) if f != 0.0 else 0.0


@callee
def outward(y_0, y_1, y_2, a_0, a_1, a_2, mirrored):
    """Return a normal, of any length, of an ellipsoid in its axes at its point nearest to y.

    Mirrored: at the nearest one beyond the plane across its least radius, where y is within; zero for none.
    """
    least = min(a_0, min(a_1, a_2))
    r_0, r_1, r_2 = (a_0 / least) ** 2, (a_1 / least) ** 2, (a_2 / least) ** 2
    z_0, z_1, z_2 = abs(y_0) / a_0, abs(y_1) / a_1, abs(y_2) / a_2
    s = max(-1.0, max(r_0 * (z_0 - 1.0), max(r_1 * (z_1 - 1.0), r_2 * (z_2 - 1.0))))
    pole = -NO_GAP
    if mirrored:
        s = -1.0 - max(
            z_0 if r_0 == 1.0 else 0.0, max(z_1 if r_1 == 1.0 else 0.0, z_2 if r_2 == 1.0 else 0.0)
        )
        pole = max(-r_0 if r_0 > 1.0 else pole, max(-r_1 if r_1 > 1.0 else pole, -r_2 if r_2 > 1.0 else pole))
        if z_0 * z_0 + z_1 * z_1 + z_2 * z_2 >= 1.0 or s == -1.0:
            return 0.0, 0.0, 0.0
    for _ in range(STEPS):
        if s <= pole:
            return 0.0, 0.0, 0.0
        f_0, f_1, f_2 = term(r_0, z_0, s), term(r_1, z_1, s), term(r_2, z_2, s)
        g = f_0 * f_0 + f_1 * f_1 + f_2 * f_2 - 1.0
        if not g > 0.0:
            break
        slope = slope_term(r_0, f_0, s) + slope_term(r_1, f_1, s) + slope_term(r_2, f_2, s)
        if mirrored and slope >= 0.0:
            return 0.0, 0.0, 0.0
        step = 0.5 * g / slope
        s += step
        if abs(step) <= SETTLED * (1.0 + abs(s)):
            break
    n_0 = math.copysign(1.0, y_0) * term(r_0, z_0, s) / a_0
    n_1 = math.copysign(1.0, y_1) * term(r_1, z_1, s) / a_1
    n_2 = math.copysign(1.0, y_2) * term(r_2, z_2, s) / a_2
    if s == -1.0:  # within, on the plane across the least axis: the nearest point lies off it
        rest = (a_0 * n_0) ** 2 + (a_1 * n_1) ** 2 + (a_2 * n_2) ** 2
        off = math.sqrt(max(1.0 - rest, 0.0)) / least
        if a_0 == least and y_0 == 0.0:
            n_0 = off
        elif a_1 == least and y_1 == 0.0:
            n_1 = off
        else:
            n_2 = off
    return n_0, n_1, n_2


@callee
def from_point(XD, e, x, mirrored):
    """Return the direction in which a point is furthest from the ellipsoid at e, towards the point."""
    R, d = load_matrix(XD, e + P_ROTATION), x - load(XD, e + P_POSITION)
    a_0, a_1, a_2 = get(XD, e + P_SIZE), get(XD, e + P_SIZE + 1), get(XD, e + P_SIZE + 2)
    n_0, n_1, n_2 = outward(dot(R[0], d), dot(R[1], d), dot(R[2], d), a_0, a_1, a_2, mirrored)
    return length_and_direction(n_0 * R[0] + n_1 * R[1] + n_2 * R[2], R[2])[1]


@callee
def from_line(XD, e, x, u, mirrored):
    """Return the same of the line through x along u: of the ellipse which the ellipsoid casts along u."""
    R = load_matrix(XD, e + P_ROTATION)
    least = 0
    if abs(dot(R[1], u)) < abs(dot(R[0], u)):
        least = 1
    if abs(dot(R[2], u)) < min(abs(dot(R[0], u)), abs(dot(R[1], u))):
        least = 2
    other = R[0] if least == 0 else (R[1] if least == 1 else R[2])
    p = length_and_direction(cross(u, other), R[0])[1]
    q = cross(u, p)
    E_p, E_q = stretched(XD, e, p)[0], stretched(XD, e, q)[0]
    s_pp, s_pq, s_qq = dot(p, E_p), dot(p, E_q), dot(q, E_q)
    mean, half = 0.5 * (s_pp + s_qq), math.hypot(0.5 * (s_pp - s_qq), s_pq)
    if half > ROUND * mean:
        angle = 0.5 * math.atan2(s_pq, 0.5 * (s_pp - s_qq))
        p, q = math.cos(angle) * p + math.sin(angle) * q, math.cos(angle) * q - math.sin(angle) * p
    d, long, short = x - load(XD, e + P_POSITION), math.sqrt(mean + half), math.sqrt(max(mean - half, 0.0))
    n_p, n_q, _ = outward(dot(p, d), dot(q, d), 0.0, long, short, long, mirrored)
    return length_and_direction(n_p * p + n_q * q, q)[1]


@inline
def add_apart(ID, XD, pair, e, gap, n, sign):
    """Add the contact with another body, which lies along n from the ellipsoid at e; sign n is the normal."""
    if gap <= pair.margin:
        E_n, h = stretched(XD, e, n)
        x = load(XD, e + P_POSITION) + (1.0 / h) * E_n
        add(ID, XD, pair, gap, x + (0.5 * gap) * n, sign * n, 0)


@callee
def plane_ellipsoid(ID, XD, pair, a, b):
    """The lowest point."""
    n = load(XD, a + P_AXIS)
    gap = dot(n, load(XD, b + P_POSITION) - load(XD, a + P_POSITION)) - stretched(XD, b, n)[1]
    add_apart(ID, XD, pair, b, gap, -n, -1.0)


@callee
def sphere_ellipsoid(ID, XD, pair, a, b):
    """Centre to ellipsoid."""
    x = load(XD, a + P_POSITION)
    n = from_point(XD, b, x, False)
    gap = dot(n, x - load(XD, b + P_POSITION)) - stretched(XD, b, n)[1] - get(XD, a + P_SIZE)
    add_apart(ID, XD, pair, b, gap, n, -1.0)


@inline
def capsule_separation(XD, a, b, n):
    """Return how far the ellipsoid at b is from the capsule at a along n."""
    middle = dot(n, load(XD, a + P_POSITION) - load(XD, b + P_POSITION)) - get(XD, a + P_SIZE)
    half = get(XD, a + P_SIZE + 1) * abs(dot(n, load(XD, a + P_AXIS)))
    return middle - half - stretched(XD, b, n)[1]


@callee
def capsule_ellipsoid(ID, XD, pair, a, b):
    """One point: beside the axis, or at an end."""
    x, u = load(XD, a + P_POSITION), load(XD, a + P_AXIS)
    arm = get(XD, a + P_SIZE + 1) * u
    gap, best = -NO_GAP, u
    for k in range(6):
        if k < 2:
            n = from_line(XD, b, x, u, k == 1)
        else:
            n = from_point(XD, b, x + arm if k < 4 else x - arm, k & 1 == 1)
        separation = capsule_separation(XD, a, b, n)
        if separation > gap:
            gap, best = separation, n
    add_apart(ID, XD, pair, b, gap, best, -1.0)


@inline
def box_separation(XD, a, b, n):
    """Return how far the ellipsoid at a is from the box at b along n."""
    R = load_matrix(XD, b + P_ROTATION)
    reach = get(XD, b + P_SIZE) * abs(dot(R[0], n)) + get(XD, b + P_SIZE + 1) * abs(dot(R[1], n))
    reach += get(XD, b + P_SIZE + 2) * abs(dot(R[2], n))
    return dot(n, load(XD, b + P_POSITION) - load(XD, a + P_POSITION)) - reach - stretched(XD, a, n)[1]


@callee
def ellipsoid_box(ID, XD, pair, a, b):
    """One point: the best of six faces, twelve edges and eight corners."""
    R, centre = load_matrix(XD, b + P_ROTATION), load(XD, b + P_POSITION)
    gap, best = -NO_GAP, R[0]
    for axis in range(3):
        for side in range(2):
            n = load(XD, b + P_ROTATION + 4 * axis)
            n = n if side == 1 else -n
            separation = box_separation(XD, a, b, n)
            if separation > gap:
                gap, best = separation, n
    if gap > pair.margin:
        return
    for corner in range(8):
        x = centre
        for axis in range(3):
            half = 1.0 if (corner >> axis) & 1 else -1.0
            x = x + (half * get(XD, b + P_SIZE + axis)) * load(XD, b + P_ROTATION + 4 * axis)
        for k in range(8):
            axis = (k >> 1) - 1
            if axis < 0:
                n = from_point(XD, a, x, k == 1)
            elif not (corner >> axis) & 1:  # each edge once, from its lower corner
                n = from_line(XD, a, x, load(XD, b + P_ROTATION + 4 * axis), k & 1 == 1)
            else:
                continue
            separation = box_separation(XD, a, b, n)
            if separation > gap:
                gap, best = separation, n
    add_apart(ID, XD, pair, a, gap, best, 1.0)
