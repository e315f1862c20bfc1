"""What stands stays: a box on a slope for a minute, and stacks of boxes of very different masses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry
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
from truth.bodies import FLOOR, G, block

CREEP = 1e-12
"""Metres in a minute, as asked for."""
EDGE, HEIGHT = 0.2, 10
SLOPE_WAYS = (*BOTH_SCHEMES, *ways()[1:])
RATIOS = (1, 10, 100, 1000)
STANDING = 1e-9
"""Metres in ten seconds: rates at rest are rounding of 1e-11 m/s or so, which adds up at worst."""


@system("box on a slope of 20 degrees, mu = 0.5", "moves less than 1e-12 m in 60 s", SLOPE_WAYS, SLOW_WAYS)
def box_on_a_slope_sticks(way: Way) -> Answers:
    """Steps of a millisecond, 60,000 of them; it neither creeps nor sinks."""
    model = block(slope=np.radians(20.0))
    long = way.quick and way.solver == "lemke"
    duration = 60.0 if long else 5.0 if way.full else 0.1
    run = simulated(way, model, mf.Material(mu=0.5), dt=1e-3, duration=duration)
    yield certified(run)
    yield zero(f"way in {duration:g} s, m", run.theta[:, :3], CREEP, "asked for")


def stack(masses: Sequence[float]) -> mf.Model:
    """Boxes one upon the other, every second one turned by 45 degrees: 8 contacts at every face."""
    links = [
        mf.Link(
            f"box_{i + 1}",
            pose=mf.Pose.from_rpy((0, 0, EDGE * (i + 0.5)), (0, 0, np.pi / 4 * (i % 2))),
            mass=mass,
            inertia=mass * EDGE**2 / 6 * np.eye(3),
            geometry=Geometry(Box((EDGE, EDGE, EDGE))),
        )
        for i, mass in enumerate(masses)
    ]
    return mf.Model(links, gravity=(0, 0, -G), geometry=[FLOOR], name="stack")


@system("ten boxes, the heaviest on top, 1:1 to 1000:1", "stands for 10 s", ways(("os",)), ways(("os",)))
def stack_with_a_heavy_top_stands(way: Way) -> Answers:
    """8 contacts at every face where 3 would do, one weight on top of nine of a kilogram."""
    for ratio in RATIOS:
        yield from _stands(way, [1.0] * (HEIGHT - 1) + [float(ratio)], f"1:{ratio} on top")


@system("ten boxes, light and heavy in turn, 1:1 to 1000:1", "stands for 10 s", ways(("os",)), ways(("os",)))
def stack_of_light_and_heavy_stands(way: Way) -> Answers:
    """Every light box carries heavy ones."""
    for ratio in RATIOS[1:]:
        yield from _stands(way, [1.0, float(ratio)] * (HEIGHT // 2), f"1:{ratio} in turn")


def _stands(way: Way, masses: Sequence[float], title: str) -> Answers:
    duration = 10.0 if way.full else 0.04
    run = simulated(way, stack(masses), mf.Material(mu=0.6), dt=2e-3, duration=duration)
    yield certified(run)
    places = run.theta.reshape(len(run), HEIGHT, 7)[:, :, :3]
    yield zero(
        f"{title}: largest way in {duration:g} s, m", places - places[0], STANDING, "rounding of rates"
    )
    yield Answer(
        f"{title}: contacts", 8 * HEIGHT - 4, int(run.n_contacts[-1]), 0, "4 on the floor, 8 at a face"
    )
    weight = sum(masses) * G
    on_floor = run.contacts_at(-1)
    carried = on_floor.impulse[on_floor.body_b == -1, 2].sum() / 2e-3
    yield Answer(f"{title}: force of the floor, N", weight, carried, 1e-8 * weight, "certified residual / dt")
