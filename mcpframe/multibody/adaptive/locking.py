"""Locking: the model in which some joints are rigid where they stand, and what hangs together is one body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import Gear
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.reference.dense_kinematics import hinge_motion
from mcpframe.spatial.transforms import Pose

if TYPE_CHECKING:
    from mcpframe.multibody.model.model import Model

Flags = NDArray[np.bool_]


def active_links(model: Model, active: Any) -> Flags:
    """Return which links have an active hinge [n]: those asked for, and those of loops.

    Args:
        model: of n links.
        active: names of joints or links, or a flag for every link [n].
    """
    flags = np.zeros(model.n_links, dtype=bool)
    asked = np.asarray(active)
    if asked.dtype == bool:
        if asked.shape != flags.shape:
            raise ModelError(f"active: {asked.shape} flags; one for each of the {flags.size} links is needed")
        flags |= asked
    else:
        for name in [active] if isinstance(active, str) else active:
            flags[_link_of(model, name)] = True
    return flags | loop_links(model)


def loop_links(model: Model) -> Flags:
    """Return which links have a hinge that a closure sees move: these stay active [n]."""
    flags = np.zeros(model.n_links, dtype=bool)
    for closure in model.closures:
        if isinstance(closure, Gear):
            flags[[model.tree.dof_link[model.dof_index(name)] for name in closure.ratios]] = True
            continue
        ends: Any = closure
        a, b = (set(_ancestry(model, model.resolve(node)[0])) for node in (ends.node_a, ends.node_b))
        flags[list(a ^ b)] = True
    return flags


def locked(model: Model, theta: Array, active: Flags) -> Model:
    """Return the model with all hinges but the active ones locked where theta has them, links merged.

    Links keep their names, as frames of what they are part of; coordinates keep their order.
    """
    starts = model.theta_start
    links = [
        link if moves else _locked(link, theta[start : start + link.hinge.n_theta])
        for link, start, moves in zip(model.links, starts, active, strict=True)
    ]
    still = type(model)(links, gravity=model.gravity, name=model.name, geometry=model.geometry)
    for name, (index, pose) in model.frames.items():
        still.add_frame(name, "world" if index < 0 else model.links[index].name, pose)
    for closure in model.closures:
        still.add_closure(closure)
    return still.merged()


def _locked(link: Link, theta: Array) -> Link:
    moved = hinge_motion(link.hinge, theta, np.zeros(link.hinge.n_dof))
    pose = link.pose @ Pose(moved.position, moved.rotation)
    none: dict[str, Any] = dict.fromkeys(("lower", "upper", "rest"))
    none |= dict.fromkeys(("damping", "stiffness", "armature"), 0.0)
    return replace(link, hinge=Hinge("locked"), pose=pose, **none)


def _link_of(model: Model, name: str) -> int:
    """Return the link of a joint, or of that name."""
    if name in model.tree.joints:
        return model.tree.joints.index(name)
    return model.link_index(name)


def _ancestry(model: Model, link: int) -> Iterator[int]:
    """Yield a link and all that carry it."""
    while link >= 0:
        yield link
        link = int(model.parents[link])
