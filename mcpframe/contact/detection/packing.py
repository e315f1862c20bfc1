"""Shapes of a model into the two arrays of the detection kernels; `records.py` has the layout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.materials import Rules, Surface
from mcpframe.multibody.memory.packing import aligned_zeros
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from mcpframe.spatial.transforms import Pose

Indices = NDArray[np.int64]
Spheres: TypeAlias = Mapping[int, tuple[Array, float]]

KINDS: dict[type, int] = {
    Plane: rec.PLANE,
    Sphere: rec.SPHERE,
    Capsule: rec.CAPSULE,
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
    skeleton: Skeleton, shapes: Sequence[Surface], rules: Rules, hulls: Spheres
) -> tuple[Indices, Array]:
    """Return ID and XD with all constants in place.

    Args:
        skeleton: the tree as the kernels see it.
        shapes: those of the world first.
        rules: which of them may meet.
        hulls: centre [3], in the shape's frame, and radius of the bounding sphere of every mesh and
            heightfield that takes part, by the number of its shape; one without it meets nothing.
    """
    head = np.zeros(rec.DETECTION_HEAD, dtype=np.int64)
    integers, doubles = _integers(skeleton, shapes, rules, hulls), _doubles(skeleton, shapes, rules, hulls)
    head[[rec.N_SHAPES, rec.N_FIXED]] = len(shapes), sum(shape.link < 0 for shape in shapes)
    head[[rec.N_BOUNDED, rec.N_PLANES]] = integers[rec.ORDER].size, integers[rec.PLANES].size
    head[[rec.N_CLASSES, rec.AXIS]] = len(rules.table), -1
    head[rec.CANDIDATES] = _place(head, integers, rec.DETECTION_HEAD, 1)
    head[rec.RECORDS] = _place(head, doubles, rec.XD_HEAD, 8)
    ID, XD = np.zeros(head[rec.CANDIDATES], dtype=np.int64), aligned_zeros(int(head[rec.RECORDS]))
    ID[: rec.DETECTION_HEAD] = head
    for slot, whole_numbers in integers.items():
        ID[head[slot] : head[slot] + whole_numbers.size] = whole_numbers.ravel()
    for slot, numbers in doubles.items():
        XD[head[slot] : head[slot] + numbers.size] = numbers.ravel()
    room = LEAST_ROOM + ROOM_PER_SHAPE * len(shapes)
    return with_room(ID, XD, room, room)


def _integers(
    skeleton: Skeleton, shapes: Sequence[Surface], rules: Rules, hulls: Spheres
) -> dict[int, Indices]:
    """Return the parts of ID that stay."""
    n, kind = len(shapes), kinds(shapes)
    bounded = [i for i in range(n) if kind[i] != rec.PLANE and (kind[i] < rec.MESH or i in hulls)]
    body = [int(skeleton.link_body[shape.link]) if shape.link >= 0 else -1 for shape in shapes]
    columns = [kind, np.array(body, dtype=np.int64), rules.part, rules.above, rules.fixed, rules.shape_class]
    return {
        rec.SHAPES: np.column_stack(columns).astype(np.int64),
        rec.ORDER: np.array(bounded, dtype=np.int64),
        rec.PLANES: np.flatnonzero(kind == rec.PLANE),
        rec.RULES: rules.table,
    }


def _doubles(skeleton: Skeleton, shapes: Sequence[Surface], rules: Rules, hulls: Spheres) -> dict[int, Array]:
    """Return the parts of XD that stay, and room for what changes."""
    frames = _frames(skeleton, shapes, hulls)
    return {
        rec.FRAMES: frames,
        rec.PLACES: _places(frames, shapes, hulls),
        rec.STARTS: np.zeros(len(shapes)),
        rec.MATERIALS: np.array([[material.mu, material.restitution] for material in rules.materials]),
        rec.SCRATCH: np.zeros(4 * rec.SCRATCH_ROWS),
    }


def with_room(ID: Indices, XD: Array, n_candidates: int, n_contacts: int) -> tuple[Indices, Array]:
    """Return ID and XD with room for so many candidates and contacts; the tables' contents are lost."""
    constants, first = ID[rec.CANDIDATES], ID[rec.RECORDS]
    contacts = constants + n_candidates
    larger_ID = np.zeros(contacts + n_contacts * rec.CONTACT_ROW, dtype=np.int64)
    larger_XD = aligned_zeros(int(first) + n_contacts * rec.RECORD)
    larger_ID[:constants], larger_XD[:first] = ID[:constants], XD[:first]
    larger_ID[[rec.CONTACTS, rec.MAX_CANDIDATES, rec.MAX_CONTACTS]] = contacts, n_candidates, n_contacts
    return larger_ID, larger_XD


def _place(head: Indices, parts: Mapping[int, NDArray[np.generic]], start: int, unit: int) -> int:
    """Write where each part begins, in multiples of `unit`; return where the last one ends."""
    for slot, values in parts.items():
        head[slot] = start
        start += -(-values.size // unit) * unit
    return start


def _frames(skeleton: Skeleton, shapes: Sequence[Surface], hulls: Spheres) -> Array:
    """Return frames of shapes in the inner axes of their bodies, of `hulls` at their centres [n, 16]."""
    frames = np.zeros((len(shapes), rec.FRAME))
    for i, shape in enumerate(shapes):
        pose = shape.geometry.pose
        if i in hulls:
            pose = pose @ Pose(hulls[i][0])
        inner = skeleton.link_rotation[shape.link].T if shape.link >= 0 else np.eye(3)
        frames[i, : rec.F_POSITION].reshape(3, 4)[:, :3] = (inner @ pose.rotation).T
        frames[i, rec.F_POSITION : rec.F_POSITION + 3] = inner @ pose.position
    return frames


def _places(frames: Array, shapes: Sequence[Surface], hulls: Spheres) -> Array:
    """Return sizes and bounding radii, beside the frames: those of the world are where they stay [n, 24]."""
    places = np.zeros((len(shapes), rec.PLACE))
    places[:, : rec.FRAME] = frames
    for i, shape in enumerate(shapes):
        size, radius = _size(shape.geometry.shape)
        places[i, rec.P_SIZE : rec.P_SIZE + len(size)] = size
        places[i, rec.P_RADIUS] = hulls[i][1] if i in hulls else radius
    return places


def _size(shape: Shape) -> tuple[tuple[float, ...], float]:
    """Return half edges, or radius and half length, and the radius of the bounding sphere."""
    if isinstance(shape, Sphere):
        return (shape.radius,), shape.radius
    if isinstance(shape, Capsule):
        return (shape.radius, shape.length / 2.0), shape.radius + shape.length / 2.0
    if isinstance(shape, Cylinder):
        return (shape.radius, shape.length / 2.0), math.hypot(shape.radius, shape.length / 2.0)
    if isinstance(shape, Box):
        half = tuple(edge / 2.0 for edge in shape.size)
        return half, math.hypot(*half)
    return (), 0.0
