"""Blocks that slide, stick and topple."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry
from mcpframe.scene.controllers import Push
from truth.answers import (
    BOTH_SCHEMES,
    ROUNDING,
    SOLVERS,
    Answer,
    Answers,
    Way,
    certified,
    simulated,
    system,
    ways,
    zero,
)
from truth.bodies import FLOOR, G, along_x, block
from truth.motions import Motion, second_order

MU = 0.5
DT = 2e-3
SLOPE = np.radians(20.0)
EVERY_WAY = ways(solvers=SOLVERS)


@system("block sliding to rest", "distance v0²/(2 mu g); then no creep", (*BOTH_SCHEMES, *EVERY_WAY[1:]))
def block_slides_to_rest(way: Way) -> Answers:
    """Steps under a constant force are exact; the one in which it stops is taken whole."""
    v0 = 0.5
    run = simulated(way, block(), mf.Material(mu=MU), theta_dot=[v0, 0, 0, 0, 0, 0], dt=1e-3, duration=0.12)
    yield certified(run)
    yield Answer("distance, m", v0**2 / (2 * MU * G), run.theta[-1, 0], 1e-6, "mu g dt² / 8, the last step")
    still = run.time > v0 / (MU * G) + DT
    yield zero("creep after it, m", np.ptp(run.theta[still, 0]), ROUNDING, "rounding")


@system("block on an incline, inside the cone", "sticks where tan a < mu", EVERY_WAY)
def block_sticks_inside_the_cone(way: Way) -> Answers:
    """A millionth inside the cone."""
    mu = np.tan(SLOPE) * (1 + 1e-6)
    run = simulated(way, block(slope=SLOPE), mf.Material(mu=mu), dt=DT, duration=0.04)
    yield certified(run)
    yield zero("way, m", run.theta[:, :3], ROUNDING, "rounding")


@system("block on an incline, outside the cone", "a = g (sin a - mu cos a) where tan a > mu", EVERY_WAY)
def block_slips_outside_the_cone(way: Way) -> Answers:
    """Speeds under constant forces are exact; one run is far outside the cone, one a millionth."""
    for mu in (0.2, np.tan(SLOPE) * (1 - 1e-6)):
        run = simulated(way, block(slope=SLOPE), mf.Material(mu=mu), dt=DT, duration=0.04)
        yield certified(run)
        known = G * (np.sin(SLOPE) - mu * np.cos(SLOPE))
        yield Answer("acceleration, m/s²", known, run.theta_dot[-1, 0] / 0.04, 1e-9, "certified residual / t")


@system("block on an incline, high", "stands where tan a < width / height")
def block_stands_below_the_tipping_angle(way: Way) -> Answers:
    """Width 0.1, height 0.3; a thousandth of the tangent below."""
    slope = np.arctan((1 - 1e-3) / 3)
    run = simulated(way, block((0.1, 0.1, 0.3), slope=slope), mf.Material(mu=1.0), dt=DT, duration=0.2)
    yield certified(run)
    yield zero("rates", run.theta_dot, 1e-9, "certified residual")


@system(
    "block on an incline, high",
    "tips where tan a > width / height, (3 g / 2) (h sin a - w cos a) / (w² + h²)",
)
def block_tips_above_the_tipping_angle(way: Way) -> Answers:
    """It turns about its lower edge, moment of inertia m (w² + h²) / 3; checked while it has hardly moved."""
    width, height, slope, end = 0.1, 0.3, np.radians(25.0), 0.02
    model = block((width, width, height), slope=slope)
    run = simulated(way, model, mf.Material(mu=1.0), dt=1e-4, duration=end)
    yield certified(run)
    known = 1.5 * (height * G * np.sin(slope) - width * G * np.cos(slope)) / (width**2 + height**2)
    turned = known * end**2 / 2
    growth = 1.5 * (height * G * np.cos(slope) + width * G * np.sin(slope)) / (width**2 + height**2)
    got = run.theta_dot[-1, 4] / end
    yield Answer(
        "angular acceleration, rad/s²", known, got, growth * turned, "d/da of it times the angle turned"
    )


@system("block pushed along the floor", "friction equals the push up to mu m g, then mu m g")
def friction_answers_a_push(way: Way) -> Answers:
    """Pushed at the height of its centre of mass, by less and by more than friction can hold."""
    for share, acceleration in ((0.99, 0.0), (1.5, 0.5 * MU * G)):
        model = block((0.4, 0.4, 0.1), mass=2.0)
        push = share * MU * 2.0 * G
        controller = Push(model, "block", force=(push, 0, 0), start=0.0, stop=1.0)
        run = simulated(way, model, mf.Material(mu=MU), controllers=[controller], dt=DT, duration=0.05)
        yield certified(run)
        friction = -run.contacts.impulse[:, 0].sum() / 0.05
        yield Answer("friction, N", min(push, MU * 2.0 * G), friction, 1e-8, "certified residual / dt")
        yield Answer(
            "acceleration, m/s²", acceleration, run.theta_dot[-1, 0] / 0.05, 1e-8, "certified residual / t"
        )


@system(
    "block thrown on a plank on smooth ice",
    "both at m v / (m + M) from v / (mu g (1 + m/M)) on",
    BOTH_SCHEMES,
    ways(("mc", "nmc")),
)
def plank_takes_the_block_along(way: Way) -> Answers:
    """Friction between two bodies that move: it slides, then both go on as one."""
    m, M, mu, v, end = 1.0, 2.0, 0.3, 1.0, 0.5
    links = [
        mf.Link(
            name, pose=mf.Pose((0, 0, z)), mass=mass, inertia=0.02 * np.eye(3), geometry=Geometry(Box(size))
        )
        for name, z, mass, size in (("block", 0.15, m, (0.2, 0.2, 0.1)), ("plank", 0.05, M, (2.0, 0.4, 0.1)))
    ]
    materials = {"default": mf.Material(mu=mu), ("plank", "world"): mf.Material(mu=0.0)}
    scene = mf.Scene(
        mf.Model(links, gravity=(0, 0, -G), geometry=[FLOOR]),
        theta_dot=along_x([v, 0.0]),
        materials=materials,
    )
    run = mf.simulate(scene, dt=1e-3, duration=end, **way.stepping)
    yield certified(run)
    together, speed = v / (mu * G * (1 + m / M)), m * v / (m + M)
    block = v * together - mu * G * together**2 / 2 + speed * (end - together)
    plank = mu * G * m / M * together**2 / 2 + speed * (end - together)
    reason = "mu g dt² / 8 where it comes to rest, as alone"
    yield zero("places, m", run.theta[-1, [0, 7]] - [block, plank], 1e-6, reason)
    yield zero(
        "momentum, share", (m * run.theta_dot[:, 0] + M * run.theta_dot[:, 6]) / (m * v) - 1, 1e-9, "kept"
    )


def block_on_a_belt() -> Motion:
    """A block on a spring is taken along by a belt, sticks to it, and is pulled off again.

    It slides as x_0 (1 - cos wt), x_0 = mu m g / k, up to the belt's speed, sticks until the spring has
    x_0, and from then on swings about x_0 at v / w: at the belt's speed it just does not stick again.
    """
    k, v, mu, end = 50.0, 0.4, 0.3, 2.0
    model = mf.Model(gravity=(0, 0, -G), name="belt")
    belt = Geometry(Box((20.0, 1.0, 0.1)), mf.Pose((0, 0, -0.05)))
    model.add_link("belt", "world", mf.Hinge("prismatic", (1, 0, 0)), mass=1.0, geometry=belt)
    model.add_link("lift", "world", mf.Hinge("prismatic", (0, 0, 1)), mf.Pose((0, 0, 0.1)))
    box = Geometry(Box((0.2, 0.2, 0.2)))
    model.add_link("block", "lift", mf.Hinge("prismatic", (1, 0, 0)), mass=1.0, stiffness=k, geometry=box)
    model.add_closure(mf.closures.Gear({"belt": 1.0}, motion=lambda t: (v, 0.0)))
    w, far = np.sqrt(k), mu * G / k
    sticks = np.arcsin(v / (far * w)) / w
    slips = sticks + far * np.cos(w * sticks) / v
    known = np.array([far + v / w * np.sin(w * (end - slips))])
    scene = mf.Scene(model, theta_dot=[v, 0, 0], materials=mf.Material(mu=mu))
    # The steps in which it begins to stick and to slip are taken whole: mu g dt² / 8 each.
    bound = second_order(w, end, v / w) + 2 * mu * G * 1e-6 / 8 * w * end
    return Motion(scene, end, "place, m", lambda: known, lambda run: run.theta[-1, 2:], bound)


@system(
    "block on a spring on a belt",
    "slides, sticks from sin wt = v / x_0 w on, then x_0 + (v/w) sin",
    BOTH_SCHEMES,
)
def belt_takes_the_block_along(way: Way) -> Answers:
    """Friction is the drive here: sliding, sticking, sliding."""
    yield from block_on_a_belt().answers(way)
