"""Two convex solids: distance and normal from coal, patches from the supports along the normal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.detection.patches import NO_PATCH, Patch, normal_of, overlap
from mcpframe.contact.detection.solids import Bar, Egg, Hull, Rod, Solid, Support
from mcpframe.contact.detection.thresholds import PARALLEL, REACHED
from mcpframe.contact.frames import contact_frame

TOLERANCES = (1e-10, 1e-8, 1e-6)
"""Of coal's iterations, m: all are tried, for the finest may end with a way out that is not the shortest."""
ITERATIONS = 1000
NEARBY, POLISHED = 1e-3, 1e-9
"""Of a normal at an ellipsoid, radians: how far around that of coal it is looked for, and how exactly."""
SQUARE = 1e-3
"""How far from one the square of a normal's length may be; coal gives none for centres that coincide."""


class Placed(NamedTuple):
    """A solid somewhere: itself, as coal has it, rotation, centre."""

    solid: Solid
    geometry: Any
    R: Array
    x: Array

    def reach(self, d: Array) -> float:
        """Return how far it reaches from its centre along a unit vector of the world."""
        return self.solid.reach(self.R.T @ d)

    def support(self, d: Array) -> Support:
        """Return what of it lies furthest along a unit vector, in world axes."""
        corners, numbers = self.solid.support(self.R.T @ d)
        return self.x + corners @ self.R.T, numbers


def meet(
    coal: Any, first: Placed, second: Placed, margin: float, hints: Sequence[Array] = ()
) -> tuple[Array, Patch]:
    """Return the normal from the first to the second, and the patch; none for gaps above the margin.

    Args:
        coal: the module.
        first, second: the solids.
        margin: largest gap.
        hints: directions that may be near the normal, beside that of coal.
    """
    gap, n, point = _distance(coal, first, second, margin)
    if gap > margin:
        return n, NO_PATCH
    gap, n = _polished(first, second, *_snapped(first, second, gap, n))
    for hint in hints:
        gap, n = max((gap, n), _snapped(first, second, -np.inf, hint), key=lambda found: found[0])
    supports = first.support(n), second.support(-n)
    patch = overlap(*supports, np.array(contact_frame(n)))
    size = max(np.ptp(corners, axis=0).max() for corners, _ in supports)
    if patch.gaps.min(initial=np.inf) <= gap + REACHED * size:
        return n, patch
    return n, Patch(np.vstack([point, patch.points]), np.append(gap, patch.gaps), [0, *patch.features])


def coal_shape(coal: Any, solid: Solid) -> Any:
    """Return a solid as coal has it."""
    if isinstance(solid, Rod):
        return coal.Capsule(solid.radius, 2.0 * solid.half) if solid.half else coal.Sphere(solid.radius)
    if isinstance(solid, Bar):
        return coal.Cylinder(solid.radius, 2.0 * solid.half)
    if isinstance(solid, Egg):
        return coal.Ellipsoid(*solid.radii)
    assert isinstance(solid, Hull)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in solid.points:
        points.append(point)
    for triangle in solid.triangles:
        triangles.append(coal.Triangle(*triangle))
    return coal.Convex(points, triangles)


def _snapped(first: Placed, second: Placed, gap: float, n: Array) -> tuple[float, Array]:
    """Return separation and normal, made exact where it is that of a face, an edge or two axes."""
    for which in range(3):
        if which == 0:
            direction = normal_of(first.support(n)[0], n)
        elif which == 1:
            direction = normal_of(second.support(-n)[0], n)
        else:
            direction = _across_axes(first, second, n)
        room = separation(first, second, direction)
        if room > gap:
            gap, n = room, direction
    return gap, n


def _polished(first: Placed, second: Placed, gap: float, n: Array) -> tuple[float, Array]:
    """Return the best separation around a normal: nothing of an ellipsoid is flat that it could snap to."""
    if not any(isinstance(placed.solid, Egg) for placed in (first, second)):
        return gap, n
    from scipy.optimize import minimize  # takes a third of a second to import

    tangents = np.array(contact_frame(n))[1:]

    def around(x: Array) -> Array:
        turned: Array = n + x @ tangents
        return turned / np.linalg.norm(turned)

    simplex = np.array([[0.0, 0.0], [NEARBY, 0.0], [0.0, NEARBY]])
    options = {"xatol": POLISHED, "fatol": 0.0, "initial_simplex": simplex}
    best = minimize(
        lambda x: -separation(first, second, around(x)), np.zeros(2), method="Nelder-Mead", options=options
    )
    return max((gap, n), (-float(best.fun), around(best.x)), key=lambda found: found[0])


def _across_axes(first: Placed, second: Placed, n: Array) -> Array:
    """Return the direction across the axes of two round shapes, between the axes if they are parallel."""
    if any(isinstance(placed.solid, (Egg, Hull)) for placed in (first, second)):
        return n
    u, v, d = first.R[:, 2], second.R[:, 2], second.x - first.x
    across = np.cross(u, v)
    if across @ across < PARALLEL:
        across = d - (d @ u) * u
    if not across.any():
        return n
    return np.asarray(np.copysign(1.0, across @ d) * across / np.linalg.norm(across))


def _distance(coal: Any, first: Placed, second: Placed, margin: float) -> tuple[float, Array, Array]:
    """Return signed distance, unit normal from the first to the second, and the middle between them.

    The signed distance of convex shapes is their largest separation over all directions: so of several
    answers the normal with the largest one is the best, and none is too large. One above the margin is
    enough.
    """
    placed = [(p.geometry, coal.Transform3s(p.R, p.x)) for p in (first, second)]
    request = coal.DistanceRequest()
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    n, middle = _centre_line(first, second), (first.x + second.x) / 2.0
    gap = separation(first, second, n)
    for tolerance in TOLERANCES:
        if gap > margin:
            break
        request.gjk_tolerance = request.epa_tolerance = tolerance
        result = coal.DistanceResult()
        coal.distance(*placed[0], *placed[1], request, result)
        square = result.normal @ result.normal
        if abs(square - 1.0) < SQUARE:  # false for NaN as well
            direction = result.normal / np.sqrt(square)
            room = separation(first, second, direction)
            if room > gap:
                gap, n = room, direction
                middle = (result.getNearestPoint1() + result.getNearestPoint2()) / 2.0
    return gap, n, middle


def separation(first: Placed, second: Placed, n: Array) -> float:
    """Return the room between two shapes along a direction."""
    return float(n @ (second.x - first.x)) - (first.reach(n) + second.reach(-n))


def _centre_line(first: Placed, second: Placed) -> Array:
    d = second.x - first.x
    length = float(np.linalg.norm(d))
    return d / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
