"""Bodies of the systems with known answers, each free above the floor z = 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere

G = 9.81
FLOOR = Geometry(Plane(), name="floor")


def leaning(slope: float) -> tuple[float, float, float]:
    """Return gravity as a slope has it that goes down towards x; the floor stays z = 0."""
    return G * np.sin(slope), 0.0, -G * np.cos(slope)


def block(size: Sequence[float] = (0.2, 0.2, 0.2), mass: float = 1.0, slope: float = 0.0) -> mf.Model:
    """A block that lies on a floor, or on a slope."""
    squares = np.square(size)
    link = mf.Link(
        "block",
        pose=mf.Pose((0, 0, size[2] / 2)),
        mass=mass,
        inertia=np.diag(mass / 12.0 * (squares.sum() - squares)),
        geometry=Geometry(Box(size)),
    )
    return mf.Model([link], gravity=leaning(slope), geometry=[FLOOR], name="block")


def ball(radius: float = 0.1, slope: float = 0.0, gravity: Sequence[float] | None = None) -> mf.Model:
    """A solid ball of 1 kg that lies on a floor, or on a slope."""
    gravity = leaning(slope) if gravity is None else gravity
    return mf.Model(
        [_ball("ball", (0, 0, radius), radius, 1.0)], gravity=gravity, geometry=[FLOOR], name="ball"
    )


def row_of_balls(gaps: Sequence[float], mass: float | Sequence[float] = 1.0, radius: float = 0.1) -> mf.Model:
    """Balls along x without gravity or floor, that many metres apart."""
    places = np.concatenate([[0.0], np.cumsum(np.asarray(gaps) + 2 * radius)])
    masses = np.broadcast_to(mass, places.shape)
    links = [
        _ball(f"ball_{i}", (x, 0, 0), radius, m) for i, (x, m) in enumerate(zip(places, masses, strict=True))
    ]
    return mf.Model(links, gravity=(0, 0, 0), name="row_of_balls")


def _ball(name: str, place: Sequence[float], radius: float, mass: float) -> mf.Link:
    inertia = 0.4 * mass * radius**2 * np.eye(3)
    return mf.Link(name, pose=mf.Pose(place), mass=mass, inertia=inertia, geometry=Geometry(Sphere(radius)))


def along_x(speeds: Sequence[float]) -> list[float]:
    """Return the rates of free bodies that move along x without turning."""
    return [rate for speed in speeds for rate in (speed, 0, 0, 0, 0, 0)]


def rod(
    length: float,
    lean: float,
    place: Sequence[float],
    geometry: Sequence[Geometry] = (FLOOR,),
    radius: float = 0.01,
) -> mf.Model:
    """A uniform thin rod of 1 kg in the x-z plane; it rises by the angle `lean` towards x.

    Its shape is a capsule around it, whose ends touch planes as those of the thin rod touch planes that lie
    one radius further in: lever arms are those of the thin rod.
    """
    turn = mf.Pose.from_rpy(rpy=(0, np.pi / 2 - lean, 0))
    across = length**2 / 12.0
    inertia = turn.rotation @ np.diag([across, across, 0.0]) @ turn.rotation.T
    shape = Geometry(Capsule(radius, length), turn)
    hinge = mf.Hinge("planar", (0, -1, 0))
    link = mf.Link("rod", hinge=hinge, pose=mf.Pose(place), mass=1.0, inertia=inertia, geometry=shape)
    return mf.Model([link], gravity=(0, 0, -G), geometry=geometry, name="rod")
