"""Threads, cables and nets: hundreds of links of which few need to move [G06, section 6]."""

from __future__ import annotations

import numpy as np

from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, bar_inertia, count

PINS = Hinge("pin", (0.0, 1.0, 0.0)), Hinge("pin", (1.0, 0.0, 0.0))
"""About y, about x."""
SLENDER = 0.2
"""Radius of a link as a share of its length."""
PEGS = (
    *((-0.50, -0.60), (-0.20, -0.82), (0.05, -0.50), (-0.73, -0.37), (0.0, -0.87), (0.25, -0.67)),
    *((0.60, -0.45), (0.45, -0.90), (-0.90, -0.75), (0.80, -0.80)),
)
"""x and z of pegs below a cable of length one, drawn at random once."""
PLATES = ((-0.17, 0.0), (-0.40, 0.012), (-0.62, -0.012))
"""Height and sideways place of the holes that a thread of length one is let down through."""


def cable(
    links: int = 200,
    length: float = 6.0,
    mass: float = 5.0,
    surroundings: str = "none",
    base: str = "pin",
    damping: float = 0.0,
) -> Model:
    """Capsules in a row on pins about y and x in turn; over pegs, through holes, or across a bridge [G06].

    At theta = 0 it hangs straight down from its first hinge, at the origin.

    Args:
        links: number of capsules.
        length: of the whole, metres.
        mass: of the whole, kg.
        surroundings: "none"; "pegs", round bars along y below it; "holes", plates with a hole each, one below
            the other; "bridge", a beam along y and a floor.
        base: how the first link is carried: "pin" about y, "slider" down along z with a damper, or "free".
        damping: of every pin, N m s.
    """
    n = count("cable: links", links, 2)
    spacing = length / n
    radius, own = SLENDER * spacing, mass / n
    places = {"none": (), "pegs": _pegs(length), "holes": _plates(length), "bridge": _bridge(length)}
    hinges = {
        "pin": PINS[0],
        "slider": Hinge("prismatic", (0.0, 0.0, -1.0)),
        "free": Hinge("free"),
    }
    for name, value, known in (("surroundings", surroundings, places), ("base", base, hinges)):
        if value not in known:
            raise ModelError(f"cable: {name} {value!r}; known: {', '.join(known)};{nearest(value, known)}")
    model = Model(name="cable", geometry=places[surroundings])
    centre, inertia = (0.0, 0.0, -spacing / 2.0), bar_inertia(own, radius, spacing)
    shape = Geometry(Capsule(radius, spacing - 2.0 * radius), Pose(centre))
    parent, place = WORLD, Pose()
    for k in range(n):
        hinge = PINS[k % 2] if k else hinges[base]
        damper = damping if k else {"pin": damping, "slider": 2.0 * mass, "free": 0.0}[base]
        name = f"link_{k + 1}"
        model.add_link(name, parent, hinge, place, own, centre, inertia, shape, damping=damper)
        parent, place = name, Pose((0.0, 0.0, -spacing))
    return model


def net(strands: int = 8, links: int = 40, length: float = 2.0, mass: float = 4.0) -> Model:
    """A tree of cables: one strand down, from which others hang side by side; above a beam and a floor.

    Args:
        strands: that hang on the first one, at equal distances.
        links: of every strand.
        length: of every strand, metres.
        mass: of the whole, kg.
    """
    m, n = count("net: strands", strands, 1), count("net: links", links, 2)
    spacing = length / n
    radius, own = SLENDER * spacing, mass / (n * (m + 1))
    model = Model(name="net", geometry=_bridge(length))
    centre, inertia = (0.0, 0.0, -spacing / 2.0), bar_inertia(own, radius, spacing)
    shape = Geometry(Capsule(radius, spacing - 2.0 * radius), Pose(centre))
    for strand in range(m + 1):
        parent, place = WORLD, Pose()
        if strand:
            at = (strand * n) // (m + 1)
            side = np.pi / 2.0 if strand % 2 else -np.pi / 2.0
            parent, place = f"strand_0_{at + 1}", Pose.from_rpy((0.0, 0.0, -spacing), (side, 0.0, 0.0))
        for k in range(n):
            name = f"strand_{strand}_{k + 1}"
            model.add_link(name, parent, PINS[k % 2], place, own, centre, inertia, shape)
            parent, place = name, Pose((0.0, 0.0, -spacing))
    return model


def _pegs(length: float) -> tuple[Geometry, ...]:
    return tuple(
        Geometry(Capsule(0.025 * length, 0.4 * length), _along_y(x * length, z * length), f"peg_{k + 1}")
        for k, (x, z) in enumerate(PEGS)
    )


def _along_y(x: float, z: float) -> Pose:
    return Pose.from_rpy((x, 0.0, z), (np.pi / 2.0, 0.0, 0.0))


def _plates(length: float) -> tuple[Geometry, ...]:
    """Return plates across z, each of four boxes around a square hole."""
    hole, width, thick = 0.03 * length, 0.3 * length, 0.01 * length
    parts = []
    for k, (z, aside) in enumerate(PLATES):
        for sign in (1.0, -1.0):
            along = aside * length + sign * (hole + width) / 2.0
            across = sign * (hole + width) / 2.0
            parts += [
                Geometry(
                    Box((width, 2.0 * width + hole, thick)), Pose((along, 0.0, z * length)), f"plate_{k}"
                ),
                Geometry(Box((hole, width, thick)), Pose((aside * length, across, z * length)), f"plate_{k}"),
            ]
    return tuple(parts)


def _bridge(length: float) -> tuple[Geometry, ...]:
    """Return a beam along y, a little below, and a floor that is farther down than the length."""
    beam = Geometry(Capsule(0.02 * length, length), _along_y(0.0, -0.06 * length), "bridge")
    return (beam, Geometry(FLOOR.shape, Pose((0.0, 0.0, -1.2 * length)), "floor"))
