"""Overconstrained linkages: loops that move although a count of their rows says they cannot.

A closed ring of n hinges in space has n - 6 degrees of freedom by count. These have one, because of relations
between their lengths: some rows of the closure repeat others wherever the ring is closed. Links carry the
axis of a hinge to the next by a length a along the common normal of both axes, and a twist α about it
(Denavit, Hartenberg), so that a ring of angles θ is closed where

    Rot_z(θ_1) T_1 ... Rot_z(θ_n) T_n = 1,   T = Trans_x(a) Rot_x(α).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import Pin
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import Capsule, Geometry
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, bar, bar_inertia

Z = (0.0, 0.0, 1.0)
Y = (0.0, 1.0, 0.0)
RADIUS = 0.02
ALONG_X = Pose.from_rpy((0.0, 0.0, 0.0), (0.0, np.pi / 2.0, 0.0)).rotation


def bennett(a: float = 0.5, alpha: float = 0.7, beta: float = 1.2, crank: float = 1.9) -> Model:
    """Bennett's linkage: four hinges in space, opposite links alike, a / sin α = b / sin β.

    With θ the angles of the ring, θ_1 the crank's on the world,

        θ_3 = -θ_1,   θ_4 = -θ_2,   tan(θ_1/2) tan(θ_2/2) = sin((β + α)/2) / sin((β - α)/2).

    Three hinges and a `Pin`, of whose five rows two are independent; at theta = 0 the ring is closed.

    Args:
        a: length of the links 1 and 3, metres; every link weighs 1 kg per metre.
        alpha, beta: twists of the links 1 and 3, 2 and 4, radians, between 0 and π and not the same.
        crank: θ_1 at theta = 0, radians.
    """
    if not (0.0 < alpha < np.pi and 0.0 < beta < np.pi and alpha != beta):
        raise ModelError(f"bennett: twists {alpha:g} and {beta:g} must differ and lie between 0 and π")
    b = a * np.sin(beta) / np.sin(alpha)
    second = 2.0 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(crank / 2))
    angles = crank, second, -crank, -second
    return ring("bennett", (a, b, a, b), (alpha, beta, alpha, beta), angles)


def bricard(a: float = 0.4, crank: float = 1.9) -> Model:
    """Bricard's trihedral linkage: six hinges, all links alike, neighbouring axes at right angles.

    Its angles repeat, θ_1 = θ_3 = θ_5 and θ_2 = θ_4 = θ_6, with

        cos θ_1 + cos θ_2 + cos θ_1 cos θ_2 = 0.

    Five hinges and a `Pin`, of whose five rows four are independent; at theta = 0 the ring is closed.

    Args:
        a: length of the links, metres; every link weighs 1 kg per metre.
        crank: θ_1 at theta = 0, radians, at most 2π/3.
    """
    cosine = -np.cos(crank) / (1.0 + np.cos(crank))
    if not abs(cosine) <= 1.0:
        raise ModelError(f"bricard: no ring is closed with a crank at {crank:g} rad; take one within 2π/3")
    twists = np.tile((np.pi / 2.0, -np.pi / 2.0), 3)
    return ring("bricard", (a,) * 6, twists.tolist(), (crank, float(np.arccos(cosine))) * 3)


def parallelogram(crank: float = 0.4, ground: float = 0.6, bars: int = 3, lean: float = 0.6) -> Model:
    r"""Parallelogram of equal cranks side by side on one coupler, more of them than it needs.

    All in the x-z plane, hanging from the world. Two cranks leave one degree of freedom; a third is closed by
    rows that repeat the others. The coupler swings without turning.

           o      o      o              cranks: `bars` of them, evenly along the ground
            \      \      \             theta: first crank, coupler, other cranks
             o------o------o            closures: Pins of the other cranks on the world

    Args:
        crank: length of the cranks, metres; every bar weighs 1 kg per metre.
        ground: distance of the first crank from the last, metres.
        bars: how many cranks there are, at least 2.
        lean: angle of the cranks from hanging at theta = 0, radians.
    """
    if not (isinstance(bars, int) and bars >= 2):
        raise ModelError(f"parallelogram: {bars!r} bars; at least 2 are needed")
    hinge, height = Hinge("pin", Y), crank + 2.0 * RADIUS
    level = -np.pi / 2.0  # a bar that hangs down is turned to run along x
    first = Pose.from_rpy((0.0, 0.0, height), (0.0, -lean, 0.0))
    on_first = Pose.from_rpy((0.0, 0.0, -crank), (0.0, level + lean, 0.0))
    links = [
        bar("crank_1", WORLD, hinge, first, length=crank, radius=RADIUS, mass=crank),
        bar("coupler", "crank_1", hinge, on_first, length=ground, radius=RADIUS, mass=ground),
    ]
    closures = []
    for k in range(1, bars):
        name, along = f"crank_{k + 1}", ground * k / (bars - 1)
        up = Pose.from_rpy((0.0, 0.0, -along), (0.0, np.pi - lean - level, 0.0))
        links.append(bar(name, "coupler", hinge, up, length=crank, radius=RADIUS, mass=crank))
        closures.append(Pin(Node(name, (0.0, 0.0, -crank)), Node(WORLD, (along, 0.0, height)), Y))
    return Model(links, closures, name="parallelogram", geometry=(FLOOR,))


def ring(name: str, lengths: Sequence[float], twists: Sequence[float], angles: Sequence[float]) -> Model:
    """Return a ring of hinges, closed at theta = 0, whose last link is the world.

    It stands on a floor, at a height that no link can fall short of.

    Args:
        name: of the model.
        lengths, twists: of the links, metres and radians.
        angles: of the hinges where theta is zero, radians; they must close the ring.
    """
    steps = [
        Pose.from_rpy((a, 0.0, 0.0), (twist, 0.0, 0.0)) for a, twist in zip(lengths, twists, strict=True)
    ]
    turns = [Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, float(angle))) for angle in angles]
    base = Pose((0.0, 0.0, float(np.sum(lengths)) + RADIUS))
    links: list[Link] = []
    parent, place = WORLD, base
    for k, length in enumerate(lengths[:-1]):
        links.append(_link(f"link_{k + 1}", parent, place @ turns[k], length))
        parent, place = links[-1].name, steps[k]
    last = base @ steps[-1].inverse()
    closure = Pin(Node(parent, place.position, place.rotation), Node(WORLD, last.position, last.rotation), Z)
    return Model(links, [closure], name=name, geometry=(FLOOR,))


def _link(name: str, parent: str, pose: Pose, length: float) -> Link:
    """Return a bar along x on a pin about z."""
    middle = (length / 2.0, 0.0, 0.0)
    return Link(
        name,
        parent,
        Hinge("pin", Z),
        pose,
        mass=length,
        com=middle,
        inertia=ALONG_X @ bar_inertia(length, RADIUS, length) @ ALONG_X.T,
        geometry=Geometry(Capsule(RADIUS, length), Pose(middle, ALONG_X), name),
    )
