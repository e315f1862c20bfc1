"""Poses and shapes of a scene file."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from mcpframe.multibody.skeleton import turn_to
from mcpframe.multibody.validation import direction
from mcpframe.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Shape, Sphere
from mcpframe.simulation.toml_tables import TomlTable
from mcpframe.spatial.transforms import Pose

SHAPES: dict[str, type[Any]] = {
    "plane": Plane,
    "box": Box,
    "sphere": Sphere,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "mesh": Mesh,
}
"""What `shape` may say; the other keys of a shape are the fields of its class."""
HEIGHTFIELD = "heightfields are not read; build uneven ground of boxes and planes, or of convex meshes"
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
    if table.get("shape") == "heightfield":
        raise table.error("shape", HEIGHTFIELD)
    kind = table.choice("shape", tuple(SHAPES))
    own = [about.name for about in fields(SHAPES[kind])]
    table.only("shape", "name", *own, *(("point", "normal") if kind == "plane" else ()), "pose")
    for about in fields(SHAPES[kind]):
        if about.default is MISSING:
            table.get(about.name)
    with table.at():
        shape: Shape = SHAPES[kind](**{name: _value(table, name) for name in own if name in table})
    return Geometry(shape, _place(table), table.text("name", ""))


def _value(table: TomlTable, name: str) -> Any:
    return str(table.file(name)) if name == "path" else table.get(name)


def _place(table: TomlTable) -> Pose:
    if "normal" not in table and "point" not in table:
        return pose_of(table)
    if "pose" in table:
        raise table.error("pose", "give pose, or point and normal, not both")
    with table.at("normal"):
        normal = direction("normal", table.vector("normal", 3, (0.0, 0.0, 1.0)))
    return Pose(table.vector("point", 3, ORIGIN), turn_to(normal))
