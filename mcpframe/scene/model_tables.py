"""Models of a scene file: ready systems, robot files, or links written in line; closures and frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcpframe import systems
from mcpframe.arrays import Array
from mcpframe.config.toml_tables import TomlTable, is_vector
from mcpframe.exceptions import ModelError
from mcpframe.io.readers import READERS, typed_options
from mcpframe.io.trust import Code
from mcpframe.multibody.closures import Ball, Closure, Distance, Gear, Pin, Weld
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.joining import Part
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.scene.functions import find_function, with_options
from mcpframe.scene.shape_tables import geometry_of, pose_of

ORIGINS = ("system", "file", "link")
"""What a model may come from."""
PER_DOF = ("lower", "upper", "damping", "stiffness", "rest", "armature")
CLOSURES: dict[str, type[Closure]] = {
    "weld": Weld,
    "pin": Pin,
    "ball": Ball,
    "distance": Distance,
    "gear": Gear,
}


def part_of(table: TomlTable) -> Part:
    """Return the model of a table ``[[model]]``, with its prefix and pose."""
    table.only(*ORIGINS, "options", "name", "prefix", "pose", "environment")
    given = [origin for origin in ORIGINS if origin in table]
    if len(given) != 1:
        said = " and ".join(given) or "none of them"
        key = given[-1] if given else ORIGINS[0]
        raise table.error(key, f"a model comes from one of {', '.join(ORIGINS)}; here {said} is given")
    model = {"system": _system, "file": _robot, "link": _in_line}[given[0]](table)
    return Part(model, table.text("prefix", ""), pose_of(table), table.flag("environment", True))


def _system(table: TomlTable) -> Model:
    name = table.choice("system", tuple(systems.available()))
    options = table.table("options")
    with table.at("options"):
        return systems.make(name, **typed_options(systems.maker(name), options.data))


def _robot(table: TomlTable) -> Model:
    path = table.file("file")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise table.error("file", f"{path.name!r}: a robot is a .urdf file, or MJCF in a .xml or .mjcf file")
    options = table.table("options")
    with table.at("options"):
        typed = typed_options(reader, options.data)
    with table.at("file"):
        return reader(path, **typed)


def _in_line(table: TomlTable) -> Model:
    if "options" in table:
        raise table.error("options", "a model of links has none; options belong to system and file")
    tables = table.tables("link")
    links = [_link(link) for link in tables]
    try:
        return Model(links, name=table.text("name", "model"))
    except ModelError as error:
        with _blamed(tables, error).at():
            raise


def _blamed(tables: list[TomlTable], error: ModelError) -> TomlTable:
    """Return the table of the link that a message names, the last one where a name is there twice."""
    named = [[f"{word}{table.data['name']!r}" in str(error) for table in tables] for word in ("link ", "")]
    return next(
        (table for flags in named for table, flag in zip(tables[::-1], flags[::-1], strict=True) if flag),
        tables[0],
    )


def _link(table: TomlTable) -> Link:
    keys = "name", "parent", "joint", "hinge", "pose", "mass", "com", "inertia", "geometry"
    table.only(*keys, *PER_DOF)
    per_dof = {key: table.get(key) for key in PER_DOF if key in table}
    fields: dict[str, Any] = {
        "name": table.text("name"),
        "parent": table.text("parent", WORLD),
        "joint": table.text("joint", ""),
        "hinge": _hinge(table),
        "pose": pose_of(table),
        "mass": table.number("mass", 0.0),
        "com": table.vector("com", 3, (0.0, 0.0, 0.0)),
        "inertia": _inertia(table),
        "geometry": [geometry_of(shape) for shape in table.tables("geometry")],
    }
    with table.at():
        return Link(**fields, **per_dof)


def _hinge(table: TomlTable) -> Hinge:
    """Return the hinge of a link: the name of a kind, or a table with kind and axis."""
    with table.at("hinge"):
        if isinstance(table.get("hinge", "free"), str):
            return Hinge(table.text("hinge", "free"))
        hinge = table.table("hinge")
        hinge.only("kind", "axis", "axis_2")
        axis_2 = hinge.vector("axis_2", 3) if "axis_2" in hinge else None
        return Hinge(hinge.text("kind"), hinge.vector("axis", 3, (0.0, 0.0, 1.0)), axis_2)


def _inertia(table: TomlTable) -> Array:
    """Return an inertia given as ixx, iyy, izz, with ixy, ixz, iyz behind them, or as three rows [3, 3]."""
    value = table.get("inertia", [0.0, 0.0, 0.0])
    if is_vector(value, 3):
        return np.diag(np.array(value, dtype=np.float64))
    if is_vector(value, 6):
        ixx, iyy, izz, ixy, ixz, iyz = value
        return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]], dtype=np.float64)
    if isinstance(value, list) and len(value) == 3 and all(is_vector(row, 3) for row in value):
        return np.array(value, dtype=np.float64)
    raise table.error("inertia", f"{value!r}: three numbers, six, or three rows of three are expected")


def closure_of(table: TomlTable) -> Closure:
    """Return the closure of a table ``[[closure]]``."""
    kind = table.choice("kind", tuple(CLOSURES))
    nodes = () if kind == "gear" else ("a", "b")
    own = {"pin": ("axis",), "distance": ("length",), "gear": ("ratios", "offset")}.get(kind, ())
    table.only("kind", *nodes, *own, "motion")
    options: dict[str, Any] = {}
    if "motion" in table:
        with table.at("motion"):
            motion = find_function(table.text("motion"), table.source.folder, table.source.code)
            if table.source.code is not Code.SKIP:  # a closure would call it at once, to be closed
                options["motion"] = with_options(motion, {}, 0.0)
    if "axis" in own:
        options["axis"] = table.vector("axis", 3, (0.0, 0.0, 1.0))
    if "length" in own:
        options["length"] = table.number("length")
    with table.at():
        if kind == "gear":
            return Gear(table.table("ratios").data, offset=table.number("offset", 0.0), **options)
        return CLOSURES[kind](*(node_of(table, key) for key in nodes), **options)


def node_of(table: TomlTable, key: str) -> Node:
    """Return the node of a key: the name of a body, or a table with body, xyz and rpy."""
    value = table.get(key)
    if isinstance(value, str):
        return Node(value)
    node = table.table(key)
    node.only("body", "xyz", "rpy", "quaternion")
    place = {name: part for name, part in node.data.items() if name != "body"}
    pose = pose_of(TomlTable(table.source, {key: place}, table.path), key)
    return Node(node.text("body"), pose.position, pose.rotation)


def add_frame(model: Model, table: TomlTable) -> None:
    """Name the frame of a table ``[[frame]]``."""
    table.only("name", "body", "pose")
    with table.at():
        model.add_frame(table.text("name"), table.text("body"), pose_of(table))
