"""Pendulums and a spring: against walls, in circles, and with links locked to each other."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from truth.answers import (
    BOTH_SCHEMES,
    SLOW_WAYS,
    Answer,
    Answers,
    Way,
    certified,
    simulated,
    system,
    ways,
    zero,
)
from truth.bodies import G
from truth.equations import integrated
from truth.motions import Motion

Y = (0.0, 1.0, 0.0)
OVERLAP = 1e-6
"""Metres to which times of impact are found."""


def bob(radius: float, length: float, hinge: mf.Hinge, **options: object) -> mf.Link:
    """A ball of 1 kg whose centre hangs that far below its hinge."""
    inertia = 0.4 * radius**2 * np.eye(3)
    shape = Geometry(Sphere(radius), mf.Pose((0, 0, -length)))
    return mf.Link(
        "bob", hinge=hinge, mass=1.0, com=(0, 0, -length), inertia=inertia, geometry=shape, **options
    )


def wall(x: float) -> Geometry:
    """A wall whose solid side is x > that."""
    return Geometry(Plane(), mf.Pose.from_rpy((x, 0, 0), (0, -np.pi / 2, 0)), "wall")


@system(
    "pendulum released against a wall",
    "hits at sqrt(2 g l (1 - cos a) / (l² + 2 r²/5)), rebounds at e times that",
    ways(),
)
def pendulum_rebounds_from_a_wall(way: Way) -> Answers:
    """The wall touches the bob at its lowest place; the swing before it is of fourth order."""
    length, radius, e, angle = 1.0, 0.1, 0.7, 0.3
    model = mf.Model([bob(radius, length, mf.Hinge("pin", Y))], gravity=(0, 0, -G), geometry=[wall(radius)])
    run = simulated(
        way, model, mf.Material(restitution=e), theta=[angle], dt=2e-3, duration=0.6, integrator="rk4"
    )
    yield certified(run)
    inertia = length**2 + 0.4 * radius**2
    energy = G * length * (1 - np.cos(angle))
    speed = np.sqrt(2 * energy / inertia)
    audit = run.impacts
    yield Answer(
        "energy at the impact, J", energy, audit.energy_before[0], 1e-6, "g l times 1 µm / l, squared root"
    )
    k = run.index_at(audit.time[0]) + 1
    yield Answer(
        "rate after over before",
        -e,
        run.theta_dot[k, 0] / run.theta_dot[k - 1, 0],
        G * 2e-3 * 0.01,
        "one step",
    )
    yield Answer("energy after it, J", e**2 * energy, audit.energy_after[0], 1e-6, "as before it")
    yield Answer("rate before it, rad/s", speed, abs(run.theta_dot[k - 1, 0]), G * 2e-3 * 0.01, "one step")


@system("mass on a spring against a stop", "hits at the times pi/(2w) + k pi/w, amplitudes e^k x0", ways())
def mass_on_a_spring_bounces_from_its_stop(way: Way) -> Answers:
    """The stop stands where the spring is at rest; half periods do not depend on the amplitude."""
    stiffness, e, x0, dt = 100.0, 0.6, 0.1, 5e-4
    w = np.sqrt(stiffness)
    slider = mf.Link(
        "slider", hinge=mf.Hinge("prismatic", (1, 0, 0)), mass=1.0, inertia=1e-3 * np.eye(3),
        stiffness=stiffness, geometry=Geometry(Sphere(0.05)),
    )  # fmt: skip
    model = mf.Model([slider], gravity=(0, 0, 0), geometry=[wall(0.05)])
    run = simulated(way, model, mf.Material(restitution=e), theta=[-x0], dt=dt, duration=0.85)
    yield certified(run)
    for k in range(3):
        hit = (0.5 + k) * np.pi / w
        yield Answer(
            f"time of impact {k + 1}, s", hit, run.impacts.time[k], (k + 1) * dt, "dt per half period"
        )
    for k in (1, 2):
        between = (run.time > run.impacts.time[k - 1]) & (run.time < run.impacts.time[k])
        reached = -run.theta[between, 0].min()
        yield Answer(f"amplitude {k}, m", e**k * x0, reached, e**k * x0 * k * w * dt, "w dt per half period")


@system(
    "conical pendulum, angle a",
    "turns at w² = g / (l cos a), its height unchanged",
    ways(("os", "mc", "nmc")),
)
def conical_pendulum_keeps_its_height(way: Way) -> Answers:
    """A ball on a ball hinge turns about the vertical; its inertia, the same about every axis, drops out."""
    length, angle, dt = 1.0, 0.5, 1e-3
    w = np.sqrt(G / (length * np.cos(angle)))
    model = mf.Model([bob(0.1, length, mf.Hinge("ball"))], gravity=(0, 0, -G))
    half = angle / 2
    theta = [0.0, -np.sin(half), 0.0, np.cos(half)]
    turn = mf.Pose.from_quaternion(quaternion=theta).rotation
    run = simulated(
        way, model, theta=theta, theta_dot=turn.T @ [0, 0, w], dt=dt, duration=0.4, integrator="rk4"
    )
    positions, _ = run.motion_of(mf.Node("bob", (0, 0, -length)))
    turned = np.unwrap(np.arctan2(positions[:, 1], positions[:, 0]))
    second = (w * dt) ** 2
    yield zero("change of height, m", positions[:, 2] + length * np.cos(angle), second, "(w dt)²")
    yield Answer("angle turned, rad", w * 0.4, turned[-1] - turned[0], 0.4 * w * second, "(w dt)² per turn")


@system("pendulum on pegs, links locked", "the same mechanism with the locked links merged", ways())
def locked_links_move_as_one_body(way: Way) -> Answers:
    """Eight links, every second hinge locked, swing into two pegs."""
    whole = _on_pegs()
    yield from _same_motion(way, whole, whole.merged())


def _on_pegs() -> mf.Model:
    pegs = [
        Geometry(Sphere(0.05), mf.Pose((x, 0, z)), name)
        for x, z, name in ((0.1, -0.5, "one"), (-0.15, -0.9, "two"))
    ]
    model = mf.Model(gravity=(0, 0, -G), geometry=pegs, name="on_pegs")
    parent, place = "world", (0.0, 0.0, 0.0)
    for k in range(8):
        hinge = mf.Hinge("pin", Y) if k % 2 == 0 else mf.Hinge("locked")
        shape = Geometry(Sphere(0.06), mf.Pose((0, 0, -0.075)))
        model.add_link(
            f"link_{k}", parent, hinge, mf.Pose(place), 0.2, (0, 0, -0.075), 2.88e-4 * np.eye(3), shape
        )
        parent, place = f"link_{k}", (0.0, 0.0, -0.15)
    return model


def _same_motion(way: Way, whole: mf.Model, merged: mf.Model) -> Answers:
    start = {"theta": [0.9, 0.0, 0.0, 0.0], "dt": 2e-3, "duration": 0.5}
    one, other = (
        simulated(way, model, mf.Material(mu=0.3, restitution=0.4), **start) for model in (whole, merged)
    )
    yield certified(one)
    yield Answer("impacts of both", len(one.impacts), len(other.impacts), 0, "counted")
    yield Answer("at least one impact", 1.0, float(len(one.impacts) > 0), 0, "it swings into the pegs")
    yield zero("difference of angles, rad", one.theta - other.theta, 1e-6, "1 µm of overlap at impacts")


def elastic() -> Motion:
    """A bob of mass m and inertia i on a spring k of length l along its arm: r from the pivot, angle a.

    (m r² + i) a'' = -m g r sin a - 2 m r r' a',     r'' = r a'² + g cos a - (k / m) (r - l).
    """
    m, i, l, k, end = 1.0, 1e-3, 0.5, 80.0, 3.0
    model = mf.Model(gravity=(0, 0, -G), name="elastic pendulum")
    model.add_link("arm", "world", mf.Hinge("pin", Y), mass=0.0, inertia=np.zeros((3, 3)))
    spring = mf.Hinge("prismatic", (0, 0, -1))
    model.add_link("bob", "arm", spring, mf.Pose((0, 0, -l)), mass=m, inertia=i * np.eye(3), stiffness=k)

    def rates(_: float, y: Array) -> Array:
        a, r, da, dr = y
        turning = (-m * G * r * np.sin(a) - 2 * m * r * dr * da) / (m * r**2 + i)
        return np.array([da, dr, turning, r * da**2 + G * np.cos(a) - k / m * (r - l)])

    known = lambda: integrated(rates, [0.8, l + 0.1, 0.0, 0.0], end)[:2] - [0.0, l]  # noqa: E731
    scene = mf.Scene(model, theta=[0.8, 0.1])
    return Motion(scene, end, "angle and length, rad and m", known, lambda run: run.theta[-1], 2e-5)


@system("pendulum on a spring", "r'' = r a'² + g cos a - (k/m) (r - l); 3 s", BOTH_SCHEMES, SLOW_WAYS)
def elastic_pendulum_swings(way: Way) -> Answers:
    """Swinging and bouncing hand their energy to and fro; the arm has no mass of its own."""
    yield from elastic().answers(way)
