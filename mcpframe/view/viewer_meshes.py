"""Shapes as triangles, for the browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection.terrain import surface_of
from mcpframe.io.robot_files import import_reader
from mcpframe.multibody.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Shape,
    Sphere,
)
from mcpframe.view.outlines import mesh_triangles

ROUND = 24
"""Sides of a cylinder, and points around a capsule."""
DARKER = 0.7
"""Brightness of the half of a ball that shows how it turns."""
BALL = 3
"""How often the faces of an icosahedron are divided to make a ball."""

LINE = 2e-3
"""Radius, as a share of its length, of the bar that a segment is drawn as."""

Faces = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solid:
    """Triangles of one colour.

    Attributes:
        vertices: corners [m, 3] in the frame of the shape, metres.
        faces: indices of corners [k, 3].
        flat: whether every triangle is lit by itself, as shapes with edges are.
        brightness: share of the body's colour.
    """

    vertices: Array
    faces: Faces
    flat: bool = True
    brightness: float = 1.0


def solids(shape: Shape) -> list[Solid]:
    """Return what a shape is drawn as; nothing for planes, which have no end, and unreadable meshes."""
    if isinstance(shape, Mesh):
        vertices, faces = mesh_triangles(shape)
        return [Solid(vertices, faces)] if len(faces) else []
    if isinstance(shape, HeightField):
        return [Solid(*surface_of(shape))]
    creation = import_reader("trimesh").creation
    if isinstance(shape, Sphere):
        return _ball(creation.icosphere(subdivisions=BALL, radius=shape.radius))
    if isinstance(shape, Ellipsoid):
        mesh = creation.icosphere(subdivisions=BALL)
        mesh.vertices *= shape.radii
        return _ball(mesh)
    if isinstance(shape, Box):
        return [_solid(creation.box(extents=shape.size))]
    if isinstance(shape, Cylinder):
        return [_solid(creation.cylinder(radius=shape.radius, height=shape.length, sections=ROUND))]
    if isinstance(shape, Capsule):
        mesh = creation.capsule(
            radius=max(shape.radius, LINE * shape.length), height=shape.length, count=[ROUND, ROUND]
        )
        mesh.vertices -= mesh.bounds.mean(axis=0)  # some versions put the origin at one end
        return [_solid(mesh, flat=False)]
    return []


def disc_of(radius: float, thickness: float) -> Solid:
    """Return a flat disc about z."""
    return solids(Cylinder(radius, thickness))[0]


def _ball(mesh: Any) -> list[Solid]:
    """Return the two halves of a ball, that of x >= 0 a bit darker, to show how it turns."""
    front = mesh.triangles_center[:, 0] >= 0.0
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    return [Solid(vertices, faces[~front], flat=False), Solid(vertices, faces[front], False, DARKER)]


def _solid(mesh: Any, flat: bool = True) -> Solid:
    return Solid(np.asarray(mesh.vertices), np.asarray(mesh.faces), flat)
