"""Closed chains: a four-bar and a ring of n bars, planar mechanisms closed by a pin in space.

Of the pin's five rows only two matter in the plane; the other three repeat what the hinges forbid. So these
are also the systems on which redundant closures are tried.
"""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import Closure, Pin, Weld
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, at_end, bar, count

Y = (0.0, 1.0, 0.0)
PIN = Hinge("pin", Y)
RADIUS = 0.02


def four_bar(
    crank: float = 0.3,
    coupler: float = 0.8,
    rocker: float = 0.6,
    ground: float = 0.7,
    height: float | None = None,
    floating: bool = False,
    weld: bool = False,
) -> Model:
    """Four bars in a loop, in the x-z plane; at theta = 0 it is closed, the crank hanging down.

           A --- ground -- D            theta: angles of crank, coupler and rocker about y
         crank           rocker         closure: Pin of the rocker's end on D
           B -- coupler -- C
    ======================================  floor z = 0

    Args:
        crank, coupler, rocker, ground: lengths, metres; every bar weighs 1 kg per metre.
        height: of A and D above the floor, metres; unless given, the lowest bar touches the floor.
        floating: the ground bar is a link on a free hinge, "ground", instead of the world.
        weld: the rocker is cut in the middle; its half on D, "stub", has the last hinge, and a `Weld` of six
            rows, three of them independent, joins the halves.
    """
    B, D = np.array([0.0, -crank]), np.array([ground, 0.0])
    C = _third_corner(B, D, coupler, rocker)
    height = RADIUS - min(B[1], C[1]) if height is None else height
    base, place, end, lean = WORLD, (0.0, 0.0, height), (ground, 0.0, height), 0.0
    links: list[Link] = []
    if floating:
        lean = _lean(D)
        lying = Pose.from_rpy(place, (0.0, lean, 0.0))
        base, place, end = "ground", (0.0, 0.0, 0.0), (0.0, 0.0, -ground)
        links.append(bar(base, WORLD, Hinge("free"), lying, length=ground, radius=RADIUS, mass=ground))
    parent = base
    for name, along in (("crank", B), ("coupler", C - B), ("rocker", D - C)):
        length = float(np.linalg.norm(along)) * (0.5 if weld and name == "rocker" else 1.0)
        hinge_pose = Pose.from_rpy(place, (0.0, _lean(along) - lean, 0.0))
        links.append(bar(name, parent, PIN, hinge_pose, length=length, radius=RADIUS, mass=length))
        parent, place, lean = name, (0.0, 0.0, -length), _lean(along)
    closure: Closure = Pin(Node("rocker", place), Node(base, end), Y)
    if weld:
        hanging = Pose.from_rpy(end, (0.0, lean + np.pi - (_lean(D) if floating else 0.0), 0.0))
        links.append(bar("stub", base, PIN, hanging, length=rocker / 2, radius=RADIUS, mass=rocker / 2))
        turned = Pose.from_rpy(place, (0.0, np.pi, 0.0)).rotation
        closure = Weld(Node("rocker", place, turned), Node("stub", place))
    return Model(links, [closure], name="four_bar", geometry=(FLOOR,))


def closed_chain(links: int = 8, length: float = 0.3, height: float = 2.0) -> Model:
    """Ring of n equal bars that hangs by one hinge, a regular polygon at theta = 0.

    All hinges are pins about y; the end of the last bar is pinned to the start of the first.

    Args:
        links: number of bars, at least 3.
        length: of each, metres; each weighs 0.5 kg.
        height: of the hinge on the world above the floor, metres.
    """
    n = count("closed_chain: links", links, 3)
    turn = 2.0 * np.pi / n
    parent, place = WORLD, Pose.from_rpy((0.0, 0.0, height), (0.0, turn / 2.0 - np.pi / 2.0, 0.0))
    bars: list[Link] = []
    for k in range(1, n + 1):
        bars.append(bar(f"link_{k}", parent, PIN, place, length=length, mass=0.5))
        parent, place = f"link_{k}", at_end(length, (0.0, turn, 0.0))
    closure = Pin(Node(parent, (0.0, 0.0, -length)), Node("link_1"), Y)
    return Model(bars, [closure], name="closed_chain", geometry=(FLOOR,))


def _lean(along: Array) -> float:
    """Return the turn about y that brings a bar from hanging down to a direction (x, z)."""
    return float(np.arctan2(-along[0], -along[1]))


def _third_corner(B: Array, D: Array, coupler: float, rocker: float) -> Array:
    """Return the lower point that lies `coupler` from B and `rocker` from D: where two circles meet."""
    along = D - B
    distance = float(np.linalg.norm(along))
    part = (coupler**2 - rocker**2 + distance**2) / (2.0 * distance)
    height_squared = coupler**2 - part**2
    if not height_squared >= 0.0:
        raise ModelError(
            f"four_bar: with the crank hanging down its end is {distance:g} m from the rocker's hinge, which "
            f"a coupler of {coupler:g} m and a rocker of {rocker:g} m cannot span; change a length"
        )
    unit = along / distance
    lower: Array = B + part * unit + np.sqrt(height_squared) * np.array([unit[1], -unit[0]])
    return lower
