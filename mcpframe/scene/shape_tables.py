"""Poses and shapes of a scene file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mcpframe.config.toml_tables import TomlTable
from mcpframe.io.npy import load_npy
from mcpframe.io.untrusted import reading
from mcpframe.multibody.memory.skeleton import turn_to
from mcpframe.multibody.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from mcpframe.multibody.model.validation import direction
from mcpframe.spatial.transforms import Pose

SHAPES: dict[str, type[Any]] = {
    "plane": Plane,
    "box": Box,
    "sphere": Sphere,
    "capsule": Capsule,
    "ellipsoid": Ellipsoid,
    "cylinder": Cylinder,
    "mesh": Mesh,
    "heightfield": HeightField,
}
"""What `shape` may say; the other keys of a shape are the fields of its class, and those of `OTHERWISE`."""
OTHERWISE = {"plane": ("point", "normal"), "heightfield": ("extent",)}
"""Keys that stand for others of the shape."""
READERS: dict[str, Callable[[Path], Any]] = {
    ".npy": load_npy,
    ".csv": partial(np.loadtxt, delimiter=",", ndmin=2),
}
"""Of files of heights; a row of a .csv file is a row of the grid."""
ORIGIN = (0.0, 0.0, 0.0)


def pose_of(table: TomlTable, key: str = "pose") -> Pose:
    """Return the pose of a key: xyz (m) with rpy (rad) or a quaternion x, y, z, w; the origin if missing."""
    pose = table.table(key)
    pose.only("xyz", "rpy", "quaternion")
    xyz = pose.vector("xyz", 3, ORIGIN)
    with table.at(key):
        if "quaternion" not in pose:
            return Pose.from_rpy(xyz, pose.vector("rpy", 3, ORIGIN))
        if "rpy" in pose:
            raise pose.error("rpy", "give rpy or quaternion, not both")
        return Pose.from_quaternion(xyz, pose.vector("quaternion", 4))


def geometry_of(table: TomlTable) -> Geometry:
    """Return the shape of a table, on its pose; a plane may be given by a point and its normal instead."""
    kind = table.choice("shape", tuple(SHAPES))
    own = [about.name for about in fields(SHAPES[kind])]
    table.only("shape", "name", *own, *OTHERWISE.get(kind, ()), "pose")
    for about in fields(SHAPES[kind]):
        if about.default is MISSING and not (about.name == "spacing" and "extent" in table):
            table.get(about.name)
    if "spacing" in table and "extent" in table:
        raise table.error("extent", "give spacing or extent, not both")
    with table.at():
        make = HeightField.over if "extent" in table else SHAPES[kind]
        given = [name for name in (*own, "extent") if name in table]
        shape: Shape = make(**{name: _value(table, name) for name in given})
    return Geometry(shape, _place(table), table.text("name", ""))


def _value(table: TomlTable, name: str) -> Any:
    if name == "path":
        return str(table.file(name))
    return _heights(table) if name == "heights" else table.get(name)


def _heights(table: TomlTable) -> Any:
    """Return the heights of a table: in line, or those of a file."""
    if not isinstance(table.get("heights"), str):
        return table.get("heights")
    path = table.file("heights")
    if path.suffix not in READERS:
        raise table.error("heights", f"{path.name!r}: a file .npy or .csv is expected, or rows of numbers")
    with table.at("heights"), reading(repr(path.name), "cannot be read"):
        return READERS[path.suffix](path)


def _place(table: TomlTable) -> Pose:
    if "normal" not in table and "point" not in table:
        return pose_of(table)
    if "pose" in table:
        raise table.error("pose", "give pose, or point and normal, not both")
    with table.at("normal"):
        normal = direction("normal", table.vector("normal", 3, (0.0, 0.0, 1.0)))
    return Pose(table.vector("point", 3, ORIGIN), turn_to(normal))
