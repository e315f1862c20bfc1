"""Write a model of ours as an MJCF file that MuJoCo, and `mf.load_mjcf`, read back as the same mechanism.

For what the ready systems are made of: pin, prismatic and free hinges, boxes, capsules, spheres and planes,
closures that hold a point. Motors are position actuators, the start is a keyframe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike

import mcpframe as mf
from mcpframe.io.mjcf import qpos_from_theta
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere

JOINTS = {"pin": "hinge", "prismatic": "slide"}
"""Hinges of one dof, and what MuJoCo calls them."""


@dataclass(frozen=True)
class Motor:
    """tau = kp (target - theta) - kd theta_dot."""

    kp: float
    kd: float
    target: float = 0.0


@dataclass(frozen=True)
class Setting:
    """What surrounds a model in a file.

    Attributes:
        motors: by link.
        theta: where it starts; neutral unless given.
        qvel: how it moves at the start, in MuJoCo's rates; at rest unless given.
        mu: friction of all surfaces.
        exclude: pairs of links that do not meet.
    """

    motors: Mapping[str, Motor] = field(default_factory=dict)
    theta: ArrayLike | None = None
    qvel: ArrayLike | None = None
    mu: float = 0.7
    exclude: Sequence[tuple[str, str]] = ()


def mjcf_text(model: mf.Model, setting: Setting) -> str:
    """Return the file."""
    root = ET.Element("mujoco", model=model.name)
    ET.SubElement(root, "compiler", angle="radian")
    ET.SubElement(root, "option", timestep="0.001", gravity=numbers(model.gravity))
    ET.SubElement(ET.SubElement(root, "default"), "geom", friction=numbers([setting.mu, 0.0, 0.0]))
    _add_bodies(ET.SubElement(root, "worldbody"), model)
    _add_rest(root, model, setting)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _add_bodies(world: ET.Element, model: mf.Model) -> None:
    bodies = {WORLD: world}
    _add_geoms(world, model.geometry)
    for link in model.links:  # parents come first
        at = {"pos": numbers(link.pose.position), "quat": numbers(np.roll(link.pose.quaternion(), 1))}
        body = bodies[link.name] = ET.SubElement(bodies[link.parent], "body", name=link.name, **at)
        _add_joint(body, link)
        I = link.inertia
        full = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        ET.SubElement(body, "inertial", pos=numbers(link.com), mass=repr(link.mass), fullinertia=full)
        _add_geoms(body, link.geometry)


def _add_joint(body: ET.Element, link: Link) -> None:
    if link.hinge.kind == "free":
        ET.SubElement(body, "freejoint", name=link.name)
        return
    about = {"type": JOINTS[link.hinge.kind], "axis": numbers(link.hinge.axis)}
    about |= {"damping": numbers(link.damping), "armature": numbers(link.armature)}
    if np.isfinite(link.lower).all():
        about["range"] = numbers([*link.lower, *link.upper])
    ET.SubElement(body, "joint", name=link.name, **about)


def _add_geoms(body: ET.Element, shapes: Iterable[Geometry]) -> None:
    for shape in shapes:
        kind, size = _shape(shape)
        at = {"pos": numbers(shape.pose.position), "quat": numbers(np.roll(shape.pose.quaternion(), 1))}
        ET.SubElement(body, "geom", name=shape.name, type=kind, size=numbers(size), **at)


def _shape(geometry: Geometry) -> tuple[str, Sequence[float]]:
    """Return the type and the half sizes of a shape."""
    match geometry.shape:
        case Box(size=size):
            return "box", [edge / 2.0 for edge in size]
        case Capsule(radius=radius, length=length):
            return "capsule", [radius, length / 2.0]
        case Sphere(radius=radius):
            return "sphere", [radius]
        case Plane():
            return "plane", [0.0, 0.0, 1.0]
    raise TypeError(f"no MJCF for {geometry.shape!r}")


def _add_rest(root: ET.Element, model: mf.Model, setting: Setting) -> None:
    """Add closures, exclusions, motors and the start."""
    equality, contact = ET.SubElement(root, "equality"), ET.SubElement(root, "contact")
    for closure in model.closures:
        a, b = (node if isinstance(node, Node) else Node(node) for node in (closure.node_a, closure.node_b))
        ET.SubElement(equality, "connect", body1=a.body, body2=b.body, anchor=numbers(a.position))
    for first, second in setting.exclude:
        ET.SubElement(contact, "exclude", body1=first, body2=second)
    actuator, start = ET.SubElement(root, "actuator"), ET.SubElement(root, "keyframe")
    for name, motor in setting.motors.items():
        ET.SubElement(actuator, "position", joint=name, kp=repr(motor.kp), kv=repr(motor.kd))
    theta = model.neutral() if setting.theta is None else setting.theta
    qvel = np.zeros(model.n_dofs) if setting.qvel is None else setting.qvel
    key = {"qpos": numbers(qpos_from_theta(model, theta)), "qvel": numbers(qvel)}
    if setting.motors:
        key["ctrl"] = numbers([motor.target for motor in setting.motors.values()])
    ET.SubElement(start, "key", name="start", **key)


def numbers(values: ArrayLike) -> str:
    """Return numbers with all their digits."""
    return " ".join(map(repr, np.asarray(values, dtype=float).ravel().tolist()))
