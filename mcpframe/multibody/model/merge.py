"""Merge locked links into what they are locked to: fewer bodies, the same motion.

The inertia of a locked link moves to its parent's centre of mass and axes, its geometry and its children are
posed on the parent, and its name becomes a frame there; closures keep naming it. What is locked to the world
becomes part of the world.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.shapes import Geometry
from mcpframe.spatial.transforms import Pose, skew

if TYPE_CHECKING:
    from mcpframe.multibody.model.model import Model


def merged(model: Model) -> Model:
    """Return the model without locked links; theta, theta_dot and their order stay the same."""
    from mcpframe.multibody.model.model import Model

    homes = _homes(model)
    parts: dict[str, list[Link]] = {WORLD: []}
    for link in model.links:
        parts.setdefault(homes[link.name][0], []).append(link)
    world_geometry = (*model.geometry, *_posed_geometry(parts[WORLD], homes))
    moving = [_joined(link, parts[link.name], homes) for link in model.links if link.hinge.kind != "locked"]
    result = Model(moving, gravity=model.gravity, name=model.name, geometry=world_geometry)
    for link in model.links:
        if link.hinge.kind == "locked":
            result.add_frame(link.name, *homes[link.name])
    for name, (index, pose) in model.frames.items():
        body = WORLD if index < 0 else model.links[index].name
        result.add_frame(name, body, pose)
    for closure in model.closures:
        result.add_closure(closure)
    return result


def _homes(model: Model) -> dict[str, tuple[str, Pose]]:
    """Return for every link the moving link (or world) that it is part of, and its pose there."""
    homes: dict[str, tuple[str, Pose]] = {WORLD: (WORLD, Pose())}
    for link in model.links:
        body, pose = homes[link.parent]
        homes[link.name] = (body, pose @ link.pose) if link.hinge.kind == "locked" else (link.name, Pose())
    return homes


def _joined(link: Link, parts: list[Link], homes: dict[str, tuple[str, Pose]]) -> Link:
    """Return a moving link with the inertia and geometry of all its parts, hung on the home of its parent."""
    parent, parent_pose = homes[link.parent]
    moved = replace(link, parent=parent, pose=parent_pose @ link.pose)
    if len(parts) == 1:
        return moved
    mass, com, inertia = _composite([(part, homes[part.name][1]) for part in parts])
    check = all(part.check_inertia for part in parts)
    geometry = _posed_geometry(parts, homes)
    return replace(moved, mass=mass, com=com, inertia=inertia, geometry=geometry, check_inertia=check)


def _composite(parts: list[tuple[Link, Pose]]) -> tuple[float, Array, Array]:
    """Return mass, centre of mass and inertia about it, sum of R I_i R* - m_i skew(r_i)²."""
    mass = sum(part.mass for part, _ in parts)
    centres = np.array([pose @ part.com for part, pose in parts])
    masses = np.array([part.mass for part, _ in parts])
    com = masses @ centres / mass if mass > 0.0 else parts[0][0].com
    inertia = np.zeros((3, 3))
    for (part, pose), centre in zip(parts, centres, strict=True):
        arm = skew(centre - com)
        inertia += pose.rotation @ part.inertia @ pose.rotation.T - part.mass * arm @ arm
    return mass, com, inertia


def _posed_geometry(parts: list[Link], homes: dict[str, tuple[str, Pose]]) -> tuple[Geometry, ...]:
    """Return the shapes of all parts where they are now; those without a name keep that of their link."""
    return tuple(
        replace(geometry, pose=homes[part.name][1] @ geometry.pose, name=geometry.name or part.name)
        for part in parts
        for geometry in part.geometry
    )
