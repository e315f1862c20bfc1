"""Contacts that wander or pass on: rimless wheel, ball that climbs a step, plank on a log, rods on ice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, system
from truth.bodies import FLOOR, G, leaning
from truth.equations import integrated, integrated_until
from truth.motions import Motion, second_order

OVERLAP = 1e-6
"""Metres to which times of impact are found."""
EVENTS = (Way(scheme="event_driven"),)
EVENTS_SLOWLY = tuple(Way(name, scheme="event_driven") for name in ("mc", "nmc"))
LYING = mf.Pose.from_rpy(rpy=(0, np.pi / 2, 0))


def in_the_plane(body: dict[str, object], ground: list[Geometry], slope: float = 0.0) -> mf.Model:
    """Return a body that moves along x and z and turns about y, towards +x; coordinates x, z, angle."""
    model = mf.Model(gravity=leaning(slope), geometry=ground)
    model.add_link("along", "world", mf.Hinge("prismatic", (1, 0, 0)))
    model.add_link("up", "along", mf.Hinge("prismatic", (0, 0, 1)))
    model.add_link("body", "up", mf.Hinge("pin", (0, 1, 0)), **body)
    return model


SPOKES, SPOKE, HUB, TOE = 6, 0.5, 0.05, 0.01
"""Of the rimless wheel: how many, their length, inertia of a hub of 1 kg, radius of the balls at the ends."""
SLOPE, FIRST = 0.25, 2.0
"""Rad, and rad/s at which it starts, on one spoke."""


def rimless_rates(_: float, y: Array) -> Array:
    """A pendulum upside down that rolls on its toe: J = m (r² + 2 r l cos a + l²) + I, V = -g . hub."""
    a, w = y
    J, growth = TOE**2 + 2 * TOE * SPOKE * np.cos(a) + SPOKE**2 + HUB, -2 * TOE * SPOKE * np.sin(a)
    pull = np.sin(SLOPE) * (TOE + SPOKE * np.cos(a)) + np.cos(SLOPE) * SPOKE * np.sin(a)
    return np.array([w, (G * pull - growth * w**2 / 2) / J])


def next_spoke(w: float) -> float:
    """Return the rate after the next toe has struck: the spin about it stays."""
    half = np.pi / SPOKES
    x, z = -SPOKE * np.sin(half), SPOKE * np.cos(half) + TOE
    return w * (z**2 - x**2 + HUB) / (z**2 + x**2 + HUB)


def rimless_turn(duration: float) -> float:
    """Return the angle by which the wheel has turned."""
    half, time, turned, y = np.pi / SPOKES, 0.0, 0.0, np.array([0.0, FIRST])
    while True:
        took, there = integrated_until(rimless_rates, y, lambda y: float(y[0]) - half)
        if time + took > duration:
            return turned + float(integrated(rimless_rates, y, duration - time)[0])
        time, turned, y = time + took, turned + 2 * half, np.array([-half, next_spoke(there[1])])


def rimless_wheel() -> Motion:
    """Six spokes with balls at their ends, down a slope: every stride is an impact, on another contact."""
    angles = 2 * np.pi * np.arange(SPOKES) / SPOKES
    toes = [Geometry(Sphere(TOE), mf.Pose((SPOKE * np.sin(a), 0, -SPOKE * np.cos(a)))) for a in angles]
    model = in_the_plane({"mass": 1.0, "inertia": HUB * np.eye(3), "geometry": toes}, [FLOOR], SLOPE)
    height, duration = SPOKE + TOE, 1.0
    scene = mf.Scene(model, [0, height, 0], [FIRST * height, 0, FIRST], materials=mf.Material(mu=5.0))
    # Two impacts, each early or late by the time in which a toe passes the overlap, at 1 m/s.
    bound = second_order(4.0, duration) + 2 * OVERLAP * 4.0
    return Motion(scene, duration, "angle, rad", lambda: np.array([rimless_turn(1.0)]), _angle, bound)


def _angle(run: mf.Trajectory) -> Array:
    return np.asarray(run.theta[-1, 2:])


@system(
    "rimless wheel down a slope", "w (z² - x² + I/m) / (z² + x² + I/m) at every spoke", EVENTS, EVENTS_SLOWLY
)
def rimless_wheel_walks(way: Way) -> Answers:
    """The toe that stood is free to leave at once, and does."""
    yield from rimless_wheel().answers(way)


def climbing_ball() -> Motion:
    """A ball that rolls against a step of a tenth of its radius, turns about the edge, and rolls on above.

    It strikes the edge with w (1 - 5 h / 7 R) left, then (7/5) R a'' = g sin a until it is above the edge.
    """
    R, h, v, edge, duration = 0.1, 0.01, 0.8, 0.5, 0.8
    step = Geometry(Box((2.0, 2.0, h)), mf.Pose((edge + 1.0, 0, h / 2)), "step")
    body = {"mass": 1.0, "inertia": 0.4 * R**2 * np.eye(3), "geometry": [Geometry(Sphere(R))]}
    before = np.sqrt(R**2 - (R - h) ** 2)

    def known() -> Array:
        rates = lambda _, y: np.array([y[1], 5 / 7 * G / R * np.sin(y[0])])  # noqa: E731
        start = [-np.arcsin(before / R), v / R * (1 - 5 * h / (7 * R))]
        climb, y = integrated_until(rates, start, lambda y: float(y[0]))
        return np.array([edge + R * y[1] * (duration - (edge - before) / v - climb), R + h])

    scene = mf.Scene(
        in_the_plane(body, [FLOOR, step]), [0, R, 0], [v, 0, v / R], materials=mf.Material(mu=3.0)
    )
    # The edge is met early or late by the overlap over the share of v against it; R turns that to a lever.
    bound = second_order(v / R, duration, R) + 2 * OVERLAP * duration * v / before
    return Motion(scene, duration, "place, m", known, lambda run: run.theta[-1, :2], bound)


@system(
    "ball that climbs a step", "keeps 1 - 5 h / 7 R of its rate; (7/5) R a'' = g sin a", EVENTS, EVENTS_SLOWLY
)
def ball_climbs_a_step(way: Way) -> Answers:
    """From the floor to the edge by an impact, from the edge to the face above without one."""
    yield from climbing_ball().answers(way)


def plank_on_a_log() -> Motion:
    """A round plank across a log rocks without slipping: the contact wanders by R a along it.

    Centre (R + r) n - R a t, so that T = (r² + R² a² + k²) w² / 2, V = g ((R + r) cos a + R a sin a).
    """
    R, r, length, duration = 0.3, 0.02, 1.0, 1.5
    square = length**2 / 12
    log = Geometry(Capsule(R, 2.0), mf.Pose.from_rpy(rpy=(np.pi / 2, 0, 0)), "log")
    inertia = np.diag([r**2 / 2, square, square])
    model = in_the_plane(
        {"mass": 1.0, "inertia": inertia, "geometry": [Geometry(Capsule(r, length), LYING)]}, [log]
    )

    def rates(_: float, y: Array) -> Array:
        a, w = y
        slope = G * (R * a * np.cos(a) - r * np.sin(a))
        return np.array([w, -(slope + R**2 * a * w**2) / (r**2 + (R * a) ** 2 + square)])

    def place(a: float) -> Array:
        n, t = np.array([np.sin(a), np.cos(a)]), np.array([np.cos(a), -np.sin(a)])
        return np.append((R + r) * n - R * a * t, a)

    known = lambda: place(integrated(rates, [0.4, 0.0], duration)[0])  # noqa: E731
    scene = mf.Scene(model, theta=place(0.4), materials=mf.Material(mu=1.5))
    return Motion(
        scene,
        duration,
        "place and angle, m and rad",
        known,
        lambda run: run.theta[-1],
        second_order(5.0, duration),
    )


@system("plank that rocks on a log", "(r² + R² a² + k²) a'' + R² a a'² = -V'", BOTH_SCHEMES, SLOW_WAYS)
def plank_rocks_on_a_log(way: Way) -> Answers:
    """Two round bodies that roll on each other: point and normal wander."""
    yield from plank_on_a_log().answers(way)


LENGTH, THICK = 1.0, 0.02
RODS: dict[str, tuple[Geometry, Callable[[float], float]]] = {
    "capsule": (Geometry(Capsule(THICK, LENGTH), LYING), lambda a: LENGTH / 2 * np.sin(a) + THICK),
    "box": (
        Geometry(Box((LENGTH, 2 * THICK, 2 * THICK))),
        lambda a: LENGTH / 2 * np.sin(a) + THICK * np.cos(a),
    ),
    "cylinder": (
        Geometry(Cylinder(THICK, LENGTH), LYING),
        lambda a: LENGTH / 2 * np.sin(a) + THICK * np.cos(a),
    ),
    "ellipsoid": (
        Geometry(Ellipsoid((LENGTH / 2, THICK, THICK))),
        lambda a: float(np.hypot(LENGTH / 2 * np.sin(a), THICK * np.cos(a))),
    ),
}
"""Shapes of a rod along x, and how high its middle is above the floor where it rises by an angle."""


def rod_on_ice(shape: str = "capsule", lean: float = 1.5, duration: float = 0.4) -> Motion:
    """A rod that stands almost upright on ice, falling: its middle goes straight down, z = h(a).

    With the inertia J about it, (J + h'²) a'' + h' h'' a'² + g h' = 0.
    """
    geometry, h = RODS[shape]
    J, small = LENGTH**2 / 12, 1e-4

    def rates(_: float, y: Array) -> Array:
        a, w = y
        low, here, high = (h(a + step) for step in (-small, 0.0, small))
        first, second = (high - low) / (2 * small), (high - 2 * here + low) / small**2
        return np.array([w, -(G + second * w**2) * first / (J + first**2)])

    model = in_the_plane({"mass": 1.0, "inertia": J * np.eye(3), "geometry": [geometry]}, [FLOOR])
    known = lambda: np.append(0.0, integrated(rates, [lean, 0.0], duration)[:1])  # noqa: E731
    got = lambda run: np.array([run.theta[-1, 0], -run.theta[-1, 2]])  # noqa: E731
    scene = mf.Scene(model, theta=[0.0, h(lean), -lean])
    return Motion(scene, duration, "place and angle, m and rad", known, got, second_order(5.0, duration))


@system(
    "rod that falls on ice: capsule, box, cylinder, ellipsoid",
    "(J + h'²) a'' + h' h'' a'² + g h' = 0",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def rod_falls_on_ice(way: Way) -> Answers:
    """The end that slides away is one contact all the time, a corner, a rim or a point that wanders."""
    for shape in RODS:
        for answer in rod_on_ice(shape).answers(way):
            yield replace(answer, quantity=f"{shape}: {answer.quantity}")
