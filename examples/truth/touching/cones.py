"""Friction on the exact, round cone: headings and slopes between any directions that a polygon would have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.joining import joined
from mcpframe.scene.controllers import Push
from truth.answers import (
    BOTH_SCHEMES,
    ROUNDING,
    Answer,
    Answers,
    Way,
    certified,
    simulated,
    system,
    zero,
)
from truth.bodies import G, ball, block
from truth.equations import integrated
from truth.motions import Motion
from truth.touching.rolling import particle

CONE = Way(solver="cone", friction="cone")
CONES = tuple(replace(CONE, scheme=way.scheme) for way in BOTH_SCHEMES)
OTHERS = replace(CONE, solver="auto"), replace(CONE, formulation="mc"), replace(CONE, formulation="nmc")
MU, SLOPE = 0.5, np.radians(20.0)
HEADINGS = np.radians([22.5, 45.0])
"""Between two directions of eight, and of four."""


def along(heading: float) -> Array:
    """Return the unit vector of a heading."""
    return np.array([np.cos(heading), np.sin(heading), 0.0])


def down(heading: float) -> Array:
    """Return gravity of a slope that goes down along a heading; the floor stays z = 0."""
    return G * (np.sin(SLOPE) * along(heading) - np.cos(SLOPE) * np.array([0.0, 0.0, 1.0]))


@system(
    "block on a round cone, sliding to rest", "distance v0²/(2 mu g) along v0; then no creep", CONES + OTHERS
)
def block_slides_straight_to_rest(way: Way) -> Answers:
    """As along an axis: the one step in which it stops is taken whole."""
    v0 = 0.5
    for heading in HEADINGS if way.quick else HEADINGS[:1]:
        start = v0 * along(heading)
        run = simulated(way, block(), mf.Material(mu=MU), theta_dot=[*start, 0, 0, 0], dt=1e-3, duration=0.12)
        yield certified(run)
        moved = run.theta[-1, :3] - run.theta[0, :3]
        known = v0**2 / (2 * MU * G)
        yield Answer("distance, m", known, moved @ along(heading), 1e-6, "mu g dt² / 8, the last step")
        aside = np.cross(along(heading), moved)
        yield zero("aside, m", aside, 1e-9, "certified residual")
        still = run.time > v0 / (MU * G) + 2e-3
        yield zero("creep after it, m", np.ptp(run.theta[still, :2], axis=0), ROUNDING, "rounding")


@system("block on an incline, round cone", "sticks where tan a < mu, else a = g (sin a - mu cos a)", CONES)
def block_on_an_incline_of_any_heading(way: Way) -> Answers:
    """A millionth inside of the cone, and a thousandth outside."""
    for heading in HEADINGS:
        for share in (1 + 1e-6, 1 - 1e-3):
            mu = np.tan(SLOPE) * share
            model = joined([block()], gravity=down(heading))
            run = simulated(way, model, mf.Material(mu=mu), dt=2e-3, duration=0.04)
            yield certified(run)
            known = max(G * (np.sin(SLOPE) - mu * np.cos(SLOPE)), 0.0)
            got = run.theta_dot[-1, :3] @ along(heading) / 0.04
            yield Answer("acceleration, m/s²", known, got, 1e-9, "certified residual / t")


@system("particle across a slope, round cone", "v' = g sin a e_y - mu g cos a v/|v|: an ODE", CONES)
def particle_turns_across_a_slope(way: Way) -> Answers:
    """The direction of friction turns all the way; a step has that of its end, which is of first order."""
    slope, v, end = 0.4, 2.0, 0.5
    pull, brake = np.array([0.0, G * np.sin(slope)]), MU * G * np.cos(slope)

    def rates(_: float, y: Array) -> Array:
        return np.concatenate([y[2:], pull - brake * y[2:] / np.linalg.norm(y[2:])])

    gravity = np.array([0.0, G * np.sin(slope), -G * np.cos(slope)])
    scene = mf.Scene(particle(gravity), theta_dot=[v, 0, 0], materials=mf.Material(mu=MU))
    motion = Motion(
        scene,
        end,
        "place, m",
        lambda: integrated(rates, [0.0, 0.0, v, 0.0], end)[:2],
        lambda run: run.theta[-1, :2],
        5e-4,
    )
    yield from motion.answers(way)


@system("block pushed along the floor, round cone", "friction equals the push up to mu m g", CONES)
def friction_answers_a_push_of_any_heading(way: Way) -> Answers:
    """By less and by more than friction can hold."""
    for heading in HEADINGS:
        for share, acceleration in ((0.99, 0.0), (1.5, 0.5 * MU * G)):
            model = block((0.4, 0.4, 0.1))
            push = Push(model, "block", force=share * MU * G * along(heading), start=0.0, stop=1.0)
            run = simulated(way, model, mf.Material(mu=MU), controllers=[push], dt=2e-3, duration=0.05)
            yield certified(run)
            got = run.theta_dot[-1, :3] @ along(heading) / 0.05
            yield Answer("acceleration, m/s²", acceleration, got, 1e-8, "certified residual / t")


@system("ball that slides through a bounce, round cone", "v_t loses mu (1 + e) v_n", CONES[:1])
def ball_slides_through_a_bounce(way: Way) -> Answers:
    """Friction of decompression leans on the impulse that is given back, whatever the heading."""
    mu, e, height = 0.1, 0.5, 0.1
    for heading in HEADINGS:
        start = {
            "theta": {"ball": mf.Pose((0, 0, 0.1 + height))},
            "theta_dot": [*5.0 * along(heading), 0, 0, 0],
        }
        run = simulated(way, ball(), mf.Material(mu=mu, restitution=e), **start, dt=1e-3, duration=0.2)
        yield certified(run)
        lost = mu * (1 + e) * np.sqrt(2 * G * height)
        velocity = (run.theta[-1, :3] - run.theta[-2, :3]) / 1e-3
        yield Answer("speed along, m/s", 5.0 - lost, velocity @ along(heading), 1e-5, "fall into the impact")


@system("ball that spins on a torsional cone", "spin loses (5/2) mu r_e g / r² in a second", CONES)
def spin_dies_on_a_torsional_cone(way: Way) -> Answers:
    """A disc of its own for the moment about the normal."""
    radius, reach, spin, end = 0.1, 0.02, 30.0, 0.3
    material = mf.Material(mu=0.3, law={"name": "torsional", "radius": reach})
    run = simulated(way, ball(radius), material, theta_dot=[0, 0, 0, 0, 0, spin], dt=1e-3, duration=end)
    yield certified(run)
    known = spin - 2.5 * 0.3 * reach * G / radius**2 * end
    yield Answer("spin, rad/s", known, run.theta_dot[-1, 5], 1e-8, "certified residual / t")
