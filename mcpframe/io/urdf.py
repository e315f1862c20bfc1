"""Models from URDF files, in the order of coordinates that urdfdom and Pinocchio use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mcpframe.exceptions import FileFormatError, ModelError
from mcpframe.io.robot_files import LeftOut, building, import_reader
from mcpframe.io.urdf_xml import read_robot
from mcpframe.multibody.closures import Gear
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Cylinder, Geometry, Mesh, Shape, Sphere
from mcpframe.multibody.model.validation import why_not_physical
from mcpframe.spatial.transforms import Pose

HINGES = {"revolute": "pin", "continuous": "pin", "prismatic": "prismatic", "planar": "planar"}
"""Joint types with an axis, and the hinges they become; fixed is locked and floating is free."""
ONE_DOF = ("revolute", "continuous", "prismatic")
LIMITED = ("revolute", "prismatic")
WORLD_LINK = "world_link"
"""What a link called "world" is called here where it is a body of its own."""


def load_urdf(
    path: str | Path,
    floating_base: bool = False,
    merge_fixed: bool = True,
    *,
    armature: float = 0.0,
    visual: bool = False,
) -> Model:
    """Read a robot from a URDF file.

    Links and joints keep their names; the hinge of a link, its limits and its damping are those of the joint
    whose child it is. Coordinates are in the order of Pinocchio for the same file: depth first, children
    sorted by the name of their joint. So theta and theta_dot are its q and v, but for two kinds of joint: a
    continuous one is an angle here and (cos, sin) there, a planar one is (x, y, angle) and their rates here.

    Mimic joints keep their own coordinate and become `Gear` closures. Effort and velocity limits belong to
    actuators and are not read. What else the model has no place for (friction of joints, transmissions, ...)
    is named in one ModelWarning; so are inertias that no rigid body has, which are taken as written.

    Args:
        path: URDF file; the meshes that it names need not exist.
        floating_base: give the root link a free hinge instead of fixing it to the world.
        merge_fixed: merge links on fixed joints into their parents; their names stay as frames.
        armature: rotor inertia at every revolute, continuous and prismatic joint, kg m² or kg; URDF has no
            word for it, and it lets links without mass move.
        visual: take the shapes of <visual> instead of those of <collision>.

    Returns:
        The model, with gravity (0, 0, -9.81).

    Raises:
        FileFormatError: the file cannot be read, is malformed, or its joints do not make one tree.
        ModelError: the tree is fine but a value is not: a negative mass, a lower limit above the upper, a
            zero axis, a moving link whose whole subtree has no mass.
        PluginError: yourdfpy is not installed.
    """
    file = Path(path)
    left_out = LeftOut(file)
    robot = read_robot(file, "visual" if visual else "collision", left_out)
    with building(file):
        model = _model(file, robot, floating_base, armature, left_out)
        model = model.merged() if merge_fixed else model
    left_out.warn()
    return model


def _model(file: Path, robot: Any, floating_base: bool, armature: float, left_out: LeftOut) -> Model:
    joints = _by_name(file, "joint", robot.joints)
    links = _by_name(file, "link", _with_world(robot))
    root = _root(file, links, joints)
    names = {name: name for name in links} | ({WORLD: WORLD_LINK} if WORLD in links else {})
    fields = {name: _link(file, links[name], left_out) | {"name": names[name]} for name in links}
    built, floor = [], []
    if root == WORLD and not floating_base:  # an empty link that stands for the world
        names[WORLD], floor = WORLD, fields[WORLD]["geometry"]
    else:
        built.append(Link(hinge="free" if floating_base else "locked", **fields[root]))
    for joint in _depth_first(root, joints):
        hinge = _hinge(joint, left_out) | {"armature": armature if joint.type in ONE_DOF else 0.0}
        built.append(Link(parent=names[joint.parent], joint=joint.name, **hinge, **fields[joint.child]))
    if WORLD_LINK in (link.name for link in built):
        left_out.add("names of links", f"{WORLD!r} is here {WORLD_LINK!r}")
    gears = tuple(_gears(joints, left_out))
    return Model(built, closures=gears, name=robot.name, geometry=floor)


def _with_world(robot: Any) -> list[Any]:
    """Return the links; "world" is one of them also where joints name it and nothing defines it."""
    named = {end for joint in robot.joints for end in (joint.parent, joint.child)}
    implied = WORLD in named and WORLD not in (link.name for link in robot.links)
    world = import_reader("yourdfpy").Link(name=WORLD)
    return [*robot.links, world] if implied else robot.links


def _by_name(file: Path, kind: str, elements: list[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for element in elements:
        if named.setdefault(element.name, element) is not element:
            raise FileFormatError(f"{file}: two {kind}s are called {element.name!r}")
    return named


def _root(file: Path, links: dict[str, Any], joints: dict[str, Any]) -> str:
    """Return the link that is no joint's child, or raise FileFormatError where joints make no single tree."""
    joint_of: dict[str, Any] = {}
    for joint in joints.values():
        for end in (joint.parent, joint.child):
            if end not in links:
                raise FileFormatError(f"{file}: joint {joint.name!r} names link {end!r}, which is not there")
        other = joint_of.setdefault(joint.child, joint)
        if other is not joint:
            raise FileFormatError(
                f"{file}: link {joint.child!r} is the child of joints {other.name!r} and {joint.name!r}; "
                "a URDF is a tree, close loops with closures of the model"
            )
    roots = [name for name in links if name not in joint_of]
    if len(roots) > 1:
        raise FileFormatError(f"{file}: has {len(roots)} root links ({', '.join(roots)}), one is expected")
    reached = {*roots, *(joint.child for root in roots for joint in _depth_first(root, joints))}
    lost = next((name for name in links if name not in reached), None)
    if lost is not None:
        raise FileFormatError(f"{file}: links go round in a cycle: {_cycle(lost, joint_of)}")
    if not roots:
        raise FileFormatError(f"{file}: has no link")
    return roots[0]


def _cycle(start: str, joint_of: dict[str, Any]) -> str:
    """Return the cycle that is met on the way up from a link, as text."""
    path = [start]
    while path.count(path[-1]) < 2:
        path.append(joint_of[path[-1]].parent)
    return " -> ".join(reversed(path[path.index(path[-1]) :]))


def _depth_first(root: str, joints: dict[str, Any]) -> Iterator[Any]:
    """Yield joints depth first, those of one link sorted by name, as urdfdom keeps them."""
    children: dict[str, list[Any]] = {}
    for name in sorted(joints, reverse=True, key=str.encode):
        children.setdefault(joints[name].parent, []).append(joints[name])
    waiting = children.get(root, [])
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting.extend(children.get(joint.child, []))


def _link(file: Path, link: Any, left_out: LeftOut) -> dict[str, Any]:
    """Return what a link is by itself: mass, inertia turned to link axes, shapes."""
    bodies = link.collisions + link.visuals
    shapes = [shape for body in bodies for shape in _geometry(file, link.name, body, left_out)]
    fields: dict[str, Any] = {"geometry": shapes, "check_inertia": False}
    if link.inertial is None:
        return fields
    origin = _pose(link.inertial.origin)
    inertia = origin.rotation @ link.inertial.inertia @ origin.rotation.T
    if why_not_physical(inertia):
        left_out.add("inertias that no rigid body has, kept", link.name)
    return fields | {"mass": link.inertial.mass, "com": origin.position, "inertia": inertia}


def _hinge(joint: Any, left_out: LeftOut) -> dict[str, Any]:
    """Return how a joint lets its child move: hinge, pose, limits, damping."""
    fields: dict[str, Any] = {"pose": _pose(joint.origin)}
    if joint.type not in HINGES:
        return fields | {"hinge": Hinge("locked" if joint.type == "fixed" else "free")}
    fields["hinge"] = Hinge(HINGES[joint.type], joint.axis)
    if joint.type in LIMITED and joint.limit is not None:
        fields |= {"lower": joint.limit.lower or 0.0, "upper": joint.limit.upper or 0.0}
    elif joint.type in LIMITED:
        left_out.add("limits that are missing, so none", joint.name)
    if joint.dynamics is not None:
        fields["damping"] = float(joint.dynamics.damping or 0.0)
        if float(joint.dynamics.friction or 0.0) != 0.0:
            left_out.add("friction of joints", joint.name)
    return fields


def _gears(joints: dict[str, Any], left_out: LeftOut) -> Iterator[Gear]:
    """Yield theta = multiplier theta_other + offset for every joint that mimics another."""
    for joint in joints.values():
        if joint.mimic is None:
            continue
        other = joints.get(joint.mimic.joint)
        if other is None or other is joint:
            left_out.add("mimic of what is no other joint", f"{joint.name} of {joint.mimic.joint}")
            continue
        if joint.type not in ONE_DOF or other.type not in (*ONE_DOF, "fixed"):
            left_out.add("mimic of joints without one coordinate", joint.name)
            continue
        ratios = {joint.name: 1.0}
        if other.type != "fixed":
            ratios[other.name] = -joint.mimic.multiplier
        yield Gear(ratios, offset=joint.mimic.offset)


def _pose(origin: Any) -> Pose:
    matrix = np.eye(4) if origin is None else origin
    return Pose(matrix[:3, 3], matrix[:3, :3])


def _geometry(file: Path, link: str, body: Any, left_out: LeftOut) -> Iterator[Geometry]:
    """Yield the shape on its place, or nothing where it has no size (which is noted)."""
    try:
        shape = _shape(file, body.geometry, left_out)
    except ModelError as error:
        left_out.add("shapes without size", f"{link}: {error}")
        return
    yield Geometry(shape, _pose(body.origin), body.name or "")


def _shape(file: Path, geometry: Any, left_out: LeftOut) -> Shape:
    if geometry.box is not None:
        return Box(geometry.box.size)
    if geometry.cylinder is not None:
        return Cylinder(geometry.cylinder.radius, geometry.cylinder.length)
    if geometry.sphere is not None:
        return Sphere(geometry.sphere.radius)
    scale = (1.0, 1.0, 1.0) if geometry.mesh.scale is None else tuple(geometry.mesh.scale)
    return Mesh(_mesh_path(file, geometry.mesh.filename, left_out), scale)


def _mesh_path(file: Path, name: str, left_out: LeftOut) -> str:
    """Return where a mesh is: package:// is looked for above the file, then in ROS_PACKAGE_PATH."""
    scheme, _, rest = name.rpartition("://")
    elsewhere = filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep))
    folders = [*file.resolve().parents, *map(Path, elsewhere)]
    within = Path(rest).parts[1:] if scheme in ("package", "model") else ()
    found = [folder / rest for folder in (folders if within else folders[:1])]
    found += [folder.joinpath(*within) for folder in folders if within]
    for candidate in found:
        if candidate.is_file():
            return str(candidate)
    left_out.add("meshes that are not found", name)
    return name
