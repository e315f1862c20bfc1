"""Two capsules: the nearest points of two segments; where they are nearly parallel also their ends.

With r = x_1 - x_2 between the middles, u_1, u_2 along the axes and b = u_1 . u_2, the nearest points of the
two lines are at

    s = (b u_2.r - u_1.r) / (1 - b²),    t = b s + u_2.r,

and each parameter is moved into its segment, the other one following.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.kernels.sphere import clamped, length_and_direction
from mcpframe.contact.detection.records import P_AXIS, P_POSITION, P_ROTATION, P_SIZE
from mcpframe.contact.detection.thresholds import NEARLY_PARALLEL, NO_GAP, PARALLEL, REACHED
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.spatial.algebra import cross, dot


@callee
def nearest_on_segments(r, u_1, h_1, u_2, h_2):
    """Return the parameters of the nearest points of two segments of half lengths h_1, h_2."""
    b, c, f = dot(u_1, u_2), dot(u_1, r), dot(u_2, r)
    crossed = cross(u_1, u_2)
    sine_2 = dot(crossed, crossed)  # 1 - b² without cancellation
    if sine_2 > PARALLEL:
        s = clamped((b * f - c) / sine_2, h_1)
    else:  # the middle of the common stretch
        ends = b * (-h_2) - c, b * h_2 - c
        low, high = max(min(ends[0], ends[1]), -h_1), min(max(ends[0], ends[1]), h_1)
        s = clamped(0.5 * (low + high), h_1)
    t = b * s + f
    if abs(t) > h_2:
        t = clamped(t, h_2)
        s = clamped(b * t - c, h_1)
    return s, t


@inline
def across(XD, a, u_1, u_2):
    """Return a unit vector that is perpendicular to both axes, or to the first where they are parallel."""
    return length_and_direction(cross(u_1, u_2), load(XD, a + P_ROTATION))[1]


@inline
def add_between(ID, XD, pair, x_1, r_1, x_2, r_2, otherwise, feature):
    """Add the contact of balls around points of both axes; return its gap."""
    length, n = length_and_direction(x_2 - x_1, otherwise)
    gap = length - r_1 - r_2
    if gap <= pair.margin:
        add(ID, XD, pair, gap, x_1 + (r_1 + 0.5 * gap) * n, n, feature)
    return gap


@callee
def end_contacts(ID, XD, pair, a, b, otherwise):
    """Add the ends of the common stretch of nearly parallel axes; return the least gap.

    An end of a common stretch is an end of one segment that lies beside the other; where the ends of both
    lie side by side the first's is taken.
    """
    least = NO_GAP
    for of_second in range(2):
        p, q = (b, a) if of_second else (a, b)
        u, half = load(XD, p + P_AXIS), get(XD, p + P_SIZE + 1)
        v, reach = load(XD, q + P_AXIS), get(XD, q + P_SIZE + 1)
        room = -REACHED * reach if of_second else REACHED * reach
        for end in range(2):
            x = load(XD, p + P_POSITION) + (half if end else -half) * u
            t = dot(x - load(XD, q + P_POSITION), v)
            if abs(t) <= reach + room:
                y = load(XD, q + P_POSITION) + t * v
                r_p, r_q = get(XD, p + P_SIZE), get(XD, q + P_SIZE)
                if of_second:
                    gap = add_between(ID, XD, pair, y, r_q, x, r_p, otherwise, 3 + end)
                else:
                    gap = add_between(ID, XD, pair, x, r_p, y, r_q, otherwise, 1 + end)
                least = min(least, gap)
    return least


@callee
def capsule_capsule(ID, XD, pair, a, b):
    """The nearest points (feature 0), or the ends of the common stretch (1, 2 of the first; 3, 4)."""
    x_1, u_1, r_1 = load(XD, a + P_POSITION), load(XD, a + P_AXIS), get(XD, a + P_SIZE)
    x_2, u_2, r_2 = load(XD, b + P_POSITION), load(XD, b + P_AXIS), get(XD, b + P_SIZE)
    s, t = nearest_on_segments(x_1 - x_2, u_1, get(XD, a + P_SIZE + 1), u_2, get(XD, b + P_SIZE + 1))
    x_1, x_2 = x_1 + s * u_1, x_2 + t * u_2
    d = x_2 - x_1
    gap = math.sqrt(dot(d, d)) - r_1 - r_2
    if gap > pair.margin:
        return
    crossed = cross(u_1, u_2)
    otherwise = across(XD, a, u_1, u_2)
    least = NO_GAP
    if dot(crossed, crossed) < NEARLY_PARALLEL * NEARLY_PARALLEL:
        least = end_contacts(ID, XD, pair, a, b, otherwise)
    if gap < least - REACHED * (r_1 + r_2):
        add_between(ID, XD, pair, x_1, r_1, x_2, r_2, otherwise, 0)
