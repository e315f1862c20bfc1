"""Shapes of a model into the two arrays of the detection kernels; `records.py` has the layout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.materials import Rules, Surface
from mcpframe.contact.detection.solids import Hull
from mcpframe.jit.memory import VECTOR, Memory
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.multibody.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from mcpframe.spatial.transforms import Pose

Indices = NDArray[np.int64]
Spheres: TypeAlias = Mapping[int, tuple[Array, float]]

KINDS: dict[type, int] = {
    Plane: rec.PLANE,
    Sphere: rec.SPHERE,
    Capsule: rec.CAPSULE,
    Ellipsoid: rec.ELLIPSOID,
    Cylinder: rec.CYLINDER,
    Box: rec.BOX,
    Mesh: rec.MESH,
    HeightField: rec.HEIGHTFIELD,
}
ROOM_PER_SHAPE, LEAST_ROOM = 8, 64
"""Candidates and contacts that the tables hold at first."""


def kinds(shapes: Sequence[Surface]) -> Indices:
    """Return the kind of every shape [n]."""
    return np.array([KINDS[type(shape.geometry.shape)] for shape in shapes], dtype=np.int64)


def pack(
    skeleton: Skeleton,
    shapes: Sequence[Surface],
    rules: Rules,
    spheres: Spheres,
    hulls: Mapping[int, Hull],
) -> tuple[Indices, Array]:
    """Return ID and XD with all constants in place.

    Args:
        skeleton: the tree as the kernels see it.
        shapes: those of the world first.
        rules: which of them may meet.
        spheres: centre [3], in the shape's frame, and radius of the bounding sphere of every mesh and
            heightfield that takes part, by the number of its shape; one without it meets nothing.
        hulls: of the meshes among them, about these centres.
    """
    kind = kinds(shapes)
    body = [int(skeleton.link_body[shape.link]) if shape.link >= 0 else -1 for shape in shapes]
    bounded = [i for i, k in enumerate(kind) if k != rec.PLANE and (k < rec.MESH or i in spheres)]
    planes, room = np.flatnonzero(kind == rec.PLANE), LEAST_ROOM + ROOM_PER_SHAPE * len(shapes)
    ID, XD = rec.MEMORY.arrays(
        shape=len(shapes),
        bounded=len(bounded),
        plane=planes.size,
        shape_class=len(rules.table),
        material=len(rules.materials),
        candidate=room,
        contact=room,
        vertex=sum(len(hull.points) for hull in hulls.values()),
        neighbour=sum(len(others) for hull in hulls.values() for others in hull.neighbours),
    )
    ID[rec.N_FIXED], ID[rec.AXIS] = sum(shape.link < 0 for shape in shapes), -1
    columns = [kind, np.array(body, dtype=np.int64), rules.part, rules.above, rules.fixed, rules.shape_class]
    n_vertices = np.array(
        [len(hulls[i].points) if i in hulls else 0 for i in range(len(shapes))], dtype=np.int64
    )
    end = np.cumsum(n_vertices)
    columns += [rules.holds, end - n_vertices, end]
    frames = _frames(skeleton, shapes, spheres)
    contents: dict[int, ArrayLike] = {
        rec.SHAPES: np.column_stack(columns),
        rec.ORDER: bounded,
        rec.PLANES: planes,
        rec.RULES: rules.table,
        rec.FRAMES: frames,
        rec.PLACES: _places(frames, shapes, spheres),
        rec.MATERIALS: [[material.mu, material.restitution] for material in rules.materials],
        **_polyhedra([hulls[i] for i in sorted(hulls)]),
    }
    for part, values in contents.items():
        view = rec.MEMORY.part(ID, XD, part)
        view[:] = np.reshape(values, view.shape)
    return ID, XD


def _polyhedra(hulls: Sequence[Hull]) -> dict[int, ArrayLike]:
    """Return the parts that hold vertices and edges of hulls, in their order."""
    starts = np.cumsum([0, *(len(hull.points) for hull in hulls)])
    points = np.zeros((starts[-1], VECTOR))
    around: list[list[int]] = []
    for hull, start in zip(hulls, starts.tolist(), strict=False):
        points[start : start + len(hull.points), :3] = hull.points
        around += [[start + other for other in others] for others in hull.neighbours]
    return {
        rec.VERTICES: points,
        rec.AROUND: np.cumsum([0, *map(len, around)]),
        rec.NEIGHBOURS: list(chain.from_iterable(around)),
    }


def with_room(
    memory: Memory, ID: Indices, XD: Array, n_candidates: int, n_contacts: int
) -> tuple[Indices, Array]:
    """Return ID and XD, of a memory that begins as that of the detection, with room for so many."""
    return memory.resized(ID, XD, candidate=n_candidates, contact=n_contacts)


def _frames(skeleton: Skeleton, shapes: Sequence[Surface], spheres: Spheres) -> Array:
    """Return frames of shapes in the inner axes of their bodies, at the centres of `spheres` [n, 16]."""
    frames = np.zeros((len(shapes), rec.FRAME))
    for i, shape in enumerate(shapes):
        pose = shape.geometry.pose
        if i in spheres:
            pose = pose @ Pose(spheres[i][0])
        inner = skeleton.link_rotation[shape.link].T if shape.link >= 0 else np.eye(3)
        frames[i, : rec.F_POSITION].reshape(3, 4)[:, :3] = (inner @ pose.rotation).T
        frames[i, rec.F_POSITION : rec.F_POSITION + 3] = inner @ pose.position
    return frames


def _places(frames: Array, shapes: Sequence[Surface], spheres: Spheres) -> Array:
    """Return sizes and bounding radii, beside the frames: those of the world are where they stay [n, 24]."""
    places = np.zeros((len(shapes), rec.PLACE))
    places[:, : rec.FRAME] = frames
    for i, shape in enumerate(shapes):
        size, radius = _size(shape.geometry.shape)
        places[i, rec.P_SIZE : rec.P_SIZE + len(size)] = size
        places[i, rec.P_RADIUS] = spheres[i][1] if i in spheres else radius
    return places


def _size(shape: Shape) -> tuple[tuple[float, ...], float]:
    """Return half edges, radii, or radius and half length, and the radius of the bounding sphere."""
    if isinstance(shape, Sphere):
        return (shape.radius,), shape.radius
    if isinstance(shape, Capsule):
        return (shape.radius, shape.length / 2.0), shape.radius + shape.length / 2.0
    if isinstance(shape, Cylinder):
        return (shape.radius, shape.length / 2.0), math.hypot(shape.radius, shape.length / 2.0)
    if isinstance(shape, Ellipsoid):
        return tuple(shape.radii), max(shape.radii)
    if isinstance(shape, Box):
        half = tuple(edge / 2.0 for edge in shape.size)
        return half, math.hypot(*half)
    return (), 0.0
