"""What an engine's contacts do, against Coulomb's law and the restitution that was asked for.

*Restitution*: speed after the first bounce of a ball over that before. *Stop*: how far a block slides over
v0² / (2 mu g). *Creep*: speed of a block on a slope within the friction cone, where it must rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, degrees, hypot, pi, radians

import numpy as np
from engines.engine import Engine, Watched
from subjects.mechanisms import Ball, Block, G

RESTITUTIONS = (0.2, 0.5, 0.8)
HEADINGS = (0.0, pi / 4.0, pi / 8.0, pi / 16.0)
"""Along a friction direction; midway between two of 4, of 8, of 16."""
SPEED, MU, SLOPE = 2.0, 0.5, radians(20.0)
LONGER = 1.5
"""Episodes of sliding last so many times what Coulomb's law says: some engines' blocks go on for longer."""


@dataclass(frozen=True)
class Model:
    """What one engine's contacts do.

    Attributes:
        n_f: friction directions, where the engine says; 0 for a round cone or none known.
        rebound: restitution that was got, by that asked for.
        stop: distance over theory, by heading in degrees.
        creep: m/s.
    """

    engine: str
    is_peer: bool
    n_f: int
    rebound: dict[float, float]
    stop: dict[float, float]
    creep: float


def model_of(engine: Engine, n_f: int, dt: float, dt_stop: float, rest: float) -> Model:
    """Return what an engine's contacts do.

    Args:
        engine: the engine.
        n_f: see `Model`.
        dt, dt_stop: steps, s; `dt_stop` where a block slides.
        rest: seconds on the slope.
    """
    rebounds = {e: rebound(engine, e, dt) for e in RESTITUTIONS}
    stops = {degrees(heading): stop_ratio(engine, heading, dt_stop) for heading in HEADINGS}
    return Model(engine.name, engine.is_peer, n_f, rebounds, stops, creep(engine, dt, rest))


def rebound(engine: Engine, restitution: float, dt: float) -> float:
    """Return the restitution that a ball shows at its first bounce."""
    ball = Ball(restitution)
    return speed_ratio(engine.watch(ball, dt, ceil(1.6 * ball.fall / dt)), dt)


def speed_ratio(episode: Watched, dt: float) -> float:
    """Return upward over downward speed; at the impact itself where the engine tells when that was.

    Else the largest speeds at ends of steps, which a step of free fall makes inexact by g dt / v.
    """
    v = episode.velocity[:, 2]
    if not episode.impact_times.size:
        k = int(np.argmin(v))
        return float(max(v[k:].max(), 0.0) / -v[k])
    time = episode.impact_times[0]
    k = min(int(time / dt), len(v) - 2)
    before, after = v[k] - G * (time - k * dt), v[k + 1] + G * ((k + 1) * dt - time)
    return float(after / -before)


def stop_ratio(engine: Engine, heading: float, dt: float) -> float:
    """Return how far a block slides over v0² / (2 mu g)."""
    block = Block(MU, SPEED, heading)
    path = engine.watch(block, dt, ceil(LONGER * block.stop_time / dt)).position
    return hypot(*(path[-1, :2] - path[0, :2])) / block.stop_distance


def creep(engine: Engine, dt: float, seconds: float) -> float:
    """Return the mean speed on the slope over the second half of an episode, m/s; contacts have settled."""
    n_steps = round(seconds / dt)
    path = engine.watch(Block(MU, slope=SLOPE), dt, n_steps).position
    half = n_steps // 2
    return float(np.linalg.norm(path[-1] - path[half]) / ((n_steps - half) * dt))


def polygon_bound(n_f: int) -> float:
    """Return the largest stop ratio of a friction cone with n_f edges: 1 / cos(pi / n_f).

    Friction is the point of a polygon, inscribed in Coulomb's circle, that brakes most. Against a velocity
    at an angle a to the nearest direction it brakes with mu N cos(a), and a is at most pi / n_f.
    """
    return 1.0 / cos(pi / n_f) if n_f else 1.0


def euler_ratio(dt: float) -> float:
    """Return the stop ratio that semi-implicit Euler has with exact friction: 1 - mu g dt / v0.

    Speeds fall by mu g dt each step, and each step goes by the speed after it; so v0 dt / 2 is missing.
    """
    return 1.0 - MU * G * dt / SPEED
