"""What every engine simulates in the comparisons: the pendulum of the papers, a ball, a block."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from typing import TypeAlias

Vector3: TypeAlias = tuple[float, float, float]

G = 9.81
"""Gravity of ball and block, m/s²; the pendulum of the papers has 9.8."""


@dataclass(frozen=True)
class Pendulum:
    """Solid spheres in a row on pins about y, above a floor z = 0, beside a wall x = `wall` [J14, section 8].

    A positive angle turns the straight chain to -x, away from the wall. Neighbours do not meet.
    """

    n_links: int
    height: float = 10.0
    angle: float = pi / 4.0
    rate: float = 1.0
    length: float = 12.0
    mass: float = 1.0
    wall: float = 4.0
    mu: float = 0.5
    restitution: float = 0.5
    gravity: Vector3 = (0.0, 0.0, -9.8)

    @property
    def spacing(self) -> float:
        """Distance of hinges, the diameter of a sphere, m."""
        return self.length / self.n_links

    @property
    def radius(self) -> float:
        """Of a sphere, m."""
        return self.spacing / 2.0


@dataclass(frozen=True)
class Ball:
    """A solid ball that falls from rest, its lowest point `height` above the floor z = 0."""

    restitution: float
    height: float = 1.0
    radius: float = 0.1
    mass: float = 1.0
    mu: float = 0.0
    gravity: Vector3 = (0.0, 0.0, -G)

    @property
    def fall(self) -> float:
        """Time until it touches the floor, s."""
        return sqrt(2.0 * self.height / G)


@dataclass(frozen=True)
class Block:
    """A flat block that lies on z = 0 and slides at first; a slope is gravity that leans towards x.

    Attributes:
        speed, heading: of the start, m/s, and its angle to x.
        slope: angle of the plane, radians.
    """

    mu: float = 0.5
    speed: float = 0.0
    heading: float = 0.0
    slope: float = 0.0
    size: Vector3 = (0.4, 0.4, 0.1)
    mass: float = 1.0
    restitution: float = 0.0

    @property
    def gravity(self) -> Vector3:
        """Acceleration of gravity in the plane's axes, m/s²."""
        return (G * sin(self.slope), 0.0, -G * cos(self.slope))

    @property
    def velocity(self) -> Vector3:
        """At the start, m/s."""
        return (self.speed * cos(self.heading), self.speed * sin(self.heading), 0.0)

    @property
    def stop_distance(self) -> float:
        """Of Coulomb's law on level ground: v0² / (2 mu g), m."""
        return self.speed**2 / (2.0 * self.mu * G)

    @property
    def stop_time(self) -> float:
        """Of Coulomb's law on level ground: v0 / (mu g), s."""
        return self.speed / (self.mu * G)


Mechanism: TypeAlias = Pendulum | Ball | Block


def papers_pendulum(n_links: int) -> Pendulum:
    """Return the pendulum of the tables of J14: few contacts, hard impacts."""
    return Pendulum(n_links)


def lying_pendulum(n_links: int) -> Pendulum:
    """Return the contact-rich variant: hung 2 m up, it starts level and at rest, and lies down."""
    return Pendulum(n_links, height=2.0, angle=pi / 2.0, rate=0.0)
