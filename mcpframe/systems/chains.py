"""Chains and trees: the pendulum of the tables in the papers, and a branched tree of bars."""

from __future__ import annotations

import numpy as np

from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, at_end, bar, count, sphere_inertia

PINS = Hinge("pin", (1.0, 0.0, 0.0)), Hinge("pin", (0.0, 1.0, 0.0))
"""About x, about y."""
LEAN_WIDTH = 0.8
"""Radians between the outermost children of a branched tree's link."""


def pendulum(
    links: int = 30, length: float = 12.0, mass: float = 1.0, height: float = 10.0, wall: float = 4.0
) -> Model:
    """Spheres in a row on pin hinges, above a floor and beside a wall [J14, section 8].

        world, `height` up
          o   pin about y
         (O)  link_1: centre half a spacing below its hinge
          o
         (O)  link_2
          ...

    n spheres of diameter length / n touch each other, so that the pendulum measures `length` overall. At
    theta = 0 it hangs straight down; a positive first angle swings it to -x, away from the wall.

    Args:
        links: number of spheres n.
        length: of the whole pendulum, metres.
        mass: of each sphere, kg.
        height: of the first hinge above the floor z = 0, metres.
        wall: distance of the wall x = wall, metres.
    """
    n = count("pendulum: links", links, 1)
    spacing = length / n
    radius = spacing / 2.0
    model = Model(gravity=(0.0, 0.0, -9.8), name="pendulum", geometry=(FLOOR, _wall(wall)))
    centre, inertia = (0.0, 0.0, -radius), sphere_inertia(mass, radius)
    shape = Geometry(Sphere(radius), Pose(centre))
    parent, place, end = WORLD, Pose((0.0, 0.0, height)), at_end(spacing)
    for k in range(1, n + 1):
        model.add_link(f"link_{k}", parent, PINS[1], place, mass, centre, inertia, shape)
        parent, place = f"link_{k}", end
    return model


def branched_tree(links: int = 31, branching: int = 2, length: float = 0.3, height: float = 3.0) -> Model:
    """Bars that branch downwards: link k carries `branching` more, on pins about x and y in turn.

    Args:
        links: number of bars.
        branching: children of every link that has any.
        length: of each bar, metres; each weighs 0.5 kg.
        height: of the first hinge above the floor, metres.
    """
    n, arms = count("branched_tree: links", links, 1), count("branched_tree: branching", branching, 1)
    model = Model(name="branched_tree", geometry=(FLOOR,))
    model.add_link(bar("link_1", WORLD, PINS[0], Pose((0.0, 0.0, height)), length=length, mass=0.5))
    leans = LEAN_WIDTH * (np.arange(arms) - (arms - 1) / 2.0) / max(arms - 1, 1)
    depth = [0]
    for k in range(1, n):
        parent, arm = divmod(k - 1, arms)
        depth.append(depth[parent] + 1)
        place = at_end(length, (leans[arm], 0.0, np.pi / 4.0))
        hinge = PINS[depth[k] % 2]
        model.add_link(bar(f"link_{k + 1}", f"link_{parent + 1}", hinge, place, length=length, mass=0.5))
    return model


def _wall(distance: float) -> Geometry:
    """Return the half-space x >= distance: a plane whose normal is -x."""
    return Geometry(Plane(), Pose.from_rpy((distance, 0.0, 0.0), (0.0, -np.pi / 2.0, 0.0)), "wall")
