"""Outlines: shapes as flat polygons, the way a camera sees them.

All shapes but heightfields are convex (a mesh is drawn as its convex hull), so that the faces which look
towards the camera never hide one another; those of heightfields come in their order, the nearest last.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from mcpframe.arrays import Array, frozen
from mcpframe.contact.detection.terrain import surface_of
from mcpframe.exceptions import ModelWarning, PluginError
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
from mcpframe.spatial.transforms import Pose
from mcpframe.view.camera import Camera

Face = tuple[Array, float]
"""Corners in the picture [m, 2] and brightness, 0 to 1."""

ROUND = 48
"""Corners of a circle."""
LIGHT = np.array([-0.35, 0.8, 0.5]) / np.linalg.norm([-0.35, 0.8, 0.5])
"""Where the light comes from, in the axes of the camera."""
SHADE = 0.72
"""Brightness of a face that the light does not reach."""
HALF = 0.9
"""Brightness of the darker half of a ball."""
EDGE_ON = 1e-9
MOST_CELLS = 40
"""Cells of a heightfield that are drawn along x or y; of larger ones some lines of the grid are left out."""
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


def faces(shape: Shape, pose: Pose, camera: Camera) -> list[Face]:
    """Return what a camera sees of a shape; nothing of planes, which have no end."""
    draw = OUTLINES.get(type(shape))
    return [] if draw is None else draw(shape, pose, camera)


def reach(shape: Shape) -> float:
    """Return the radius of a ball about the shape's origin that holds it; zero for planes."""
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Ellipsoid):
        return max(shape.radii)
    if isinstance(shape, Box):
        return float(np.linalg.norm(shape.size)) / 2.0
    if isinstance(shape, Capsule):
        return shape.length / 2.0 + shape.radius
    if isinstance(shape, Cylinder):
        return float(np.hypot(shape.length / 2.0, shape.radius))
    if isinstance(shape, Mesh):
        return float(np.linalg.norm(mesh_points(shape), axis=1).max(initial=0.0))
    if isinstance(shape, HeightField):
        return float(np.linalg.norm(surface_of(shape)[0], axis=1).max())
    return 0.0


@cache
def mesh_triangles(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Return corners [m, 3] and triangles [k, 3] of a mesh; none, and a warning, if it cannot be read."""
    try:
        read = import_reader("trimesh").load(mesh.path, force="mesh")
        vertices = np.array(read.vertices) * np.array(mesh.scale)
        return frozen(vertices), frozen(np.array(read.faces, dtype=np.int64))
    except (PluginError, OSError, ValueError, AttributeError, RuntimeError) as error:
        _is_not_drawn(mesh, error)
        return frozen(np.zeros((0, 3))), frozen(np.zeros((0, 3), dtype=np.int64))


@cache
def mesh_points(mesh: Mesh) -> Array:
    """Return the corners of a mesh's convex hull [m, 3]; none, and a warning, where it has none."""
    vertices, _ = mesh_triangles(mesh)
    try:
        return frozen(np.array(vertices[ConvexHull(vertices).vertices])) if len(vertices) else vertices
    except QhullError as error:
        _is_not_drawn(mesh, error)
        return frozen(np.zeros((0, 3)))


def _is_not_drawn(mesh: Mesh, error: Exception) -> None:
    warnings.warn(f"mesh {mesh.path}: is not drawn ({error})", ModelWarning, stacklevel=3)


def _sphere(shape: Sphere, pose: Pose, camera: Camera) -> list[Face]:
    """Return the ball, and over it what is seen of its half x >= 0, a bit darker, to show how it turns."""
    right, up, towards = camera.axes @ pose.rotation[:, 0]
    turn = np.arctan2(up, right) + np.linspace(-np.pi / 2.0, np.pi / 2.0, ROUND // 2)
    rim = np.column_stack([np.cos(turn), np.sin(turn)])
    outwards = np.array([np.cos(turn.mean()), np.sin(turn.mean())])
    inner = rim - (1.0 + towards) * np.outer(rim @ outwards, outwards)  # the rim of the half is an ellipse
    centre = camera.project(pose.position)
    half = centre + shape.radius * np.concatenate([rim, inner[::-1]])
    return [(centre + shape.radius * _circle(), 1.0), (half, HALF)]


def _ellipsoid(shape: Ellipsoid, pose: Pose, camera: Camera) -> list[Face]:
    """Return the ellipse it is seen as: the points furthest along directions d, E d / sqrt(d* E d)."""
    across = camera.axes[:2] @ pose.rotation * shape.radii
    centre, shadow = camera.project(pose.position), across @ across.T
    d = _circle()
    return [(centre + d @ shadow / np.sqrt(np.einsum("ki,ij,kj->k", d, shadow, d))[:, None], 1.0)]


def _box(shape: Box, pose: Pose, camera: Camera) -> list[Face]:
    corners = camera.project(pose @ (SIGNS * np.array(shape.size) / 2.0))
    seen: list[Face] = []
    for axis in range(3):
        normal = pose.rotation[:, axis]
        towards = float(normal @ camera.axes[2])
        if abs(towards) > EDGE_ON:
            side = np.sign(towards)
            at = np.flatnonzero(SIGNS[:, axis] == side)[[0, 1, 3, 2]]  # around the face
            seen.append((corners[at], _brightness(side * normal, camera)))
    return seen


def _capsule(shape: Capsule, pose: Pose, camera: Camera) -> list[Face]:
    """Return two half circles, joined by the lines that touch both."""
    half = 0.5 * shape.length * pose.rotation[:, 2]
    (start, end), along = camera.project(np.array([pose.position - half, pose.position + half])), half
    flat = camera.project(along)
    turn = np.arctan2(flat[1], flat[0]) + np.linspace(-np.pi / 2.0, np.pi / 2.0, ROUND // 2)
    arc = shape.radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return [(np.concatenate([end + arc, start - arc]), 1.0)]


def _cylinder(shape: Cylinder, pose: Pose, camera: Camera) -> list[Face]:
    """Return the whole outline, and over it the end that faces the camera."""
    rim = np.column_stack([shape.radius * _circle(), np.full(ROUND, shape.length / 2.0)])
    ends = [camera.project(pose @ (rim * [1.0, 1.0, side])) for side in (-1.0, 1.0)]
    axis = pose.rotation[:, 2]
    side = int(axis @ camera.axes[2] > 0.0)
    seen: list[Face] = [(_hull(np.concatenate(ends)), 0.5 * (1.0 + SHADE))]
    if abs(axis @ camera.axes[2]) > EDGE_ON:
        seen.append((ends[side], _brightness((2 * side - 1) * axis, camera)))
    return seen


def _mesh(shape: Mesh, pose: Pose, camera: Camera) -> list[Face]:
    points = mesh_points(shape)
    return [(_hull(camera.project(pose @ points)), 1.0)] if len(points) else []


def _heightfield(shape: HeightField, pose: Pose, camera: Camera) -> list[Face]:
    """Return the cells and walls that look towards the camera, those far away first."""
    seen: list[tuple[float, Face]] = []
    for polygon in _patches(shape):
        corners = pose @ polygon
        across = np.cross(corners[2] - corners[0], corners[3] - corners[1])
        normal = across / np.linalg.norm(across)
        if normal @ camera.axes[2] > EDGE_ON:
            face = camera.project(corners), _brightness(normal, camera)
            seen.append((float(camera.depth(corners.mean(axis=0))), face))
    return [face for _, face in sorted(seen, key=lambda entry: entry[0])]


@cache
def _patches(shape: HeightField) -> Array:
    """Return cells and pieces of the walls of a heightfield, around [k, 4, 3]; fewer if there are many."""
    (nx, ny), (dx, dy) = shape.grid.shape, shape.cell
    i, j = (np.unique(np.linspace(0, n - 1, min(n, MOST_CELLS + 1)).astype(int)) for n in (nx, ny))
    x, y = np.meshgrid(dx * (i - (nx - 1) / 2.0), dy * (j - (ny - 1) / 2.0), indexing="ij")
    top = np.stack([x, y, shape.grid[np.ix_(i, j)]], axis=2)
    cells = np.stack([top[:-1, :-1], top[1:, :-1], top[1:, 1:], top[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    rim = np.concatenate([top[:-1, 0], top[-1, :-1], top[:0:-1, -1], top[0, :0:-1]])
    foot, ahead = np.column_stack([rim[:, :2], np.full(len(rim), shape.base)]), np.roll(rim, -1, axis=0)
    walls = np.stack([foot, np.roll(foot, -1, axis=0), ahead, rim], axis=1)
    return frozen(np.concatenate([cells, walls]))


OUTLINES: dict[type[Any], Callable[..., list[Face]]] = {
    Sphere: _sphere,
    Box: _box,
    Capsule: _capsule,
    Ellipsoid: _ellipsoid,
    Cylinder: _cylinder,
    Mesh: _mesh,
    HeightField: _heightfield,
}


def _hull(points: Array) -> Array:
    hull: Array = points[ConvexHull(points).vertices]
    return hull


@cache
def _circle() -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    return frozen(np.column_stack([np.cos(angle), np.sin(angle)]))


def _brightness(normal: Array, camera: Camera) -> float:
    return float(SHADE + (1.0 - SHADE) * max(camera.axes @ normal @ LIGHT, 0.0))
