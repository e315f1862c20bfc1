"""Chains in the plane against equations on paper: swinging, rubbing on the floor, hanging at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Geometry, Sphere
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, certified, system, zero
from truth.bodies import FLOOR, G
from truth.equations import Chain, integrated
from truth.motions import DT, Motion

Y = (0.0, 1.0, 0.0)
RADIUS = 0.02
"""Of the ball at the tip of a chain that rubs on the floor, m."""
STARTS, APART = 6, 1e-9
"""Of a chaotic chain: starts whose mean is judged, and how far apart they are, rad."""


def hanging(
    chain: Chain, height: float = 0.0, tip: Geometry | None = None, floor: bool = False, **options: object
) -> mf.Model:
    """Return the chain as a model: pins about y, the first one at a height above the world's origin."""
    model = mf.Model(gravity=(0, 0, -G), geometry=[FLOOR] if floor else [], name="chain")
    parent, place = "world", (0.0, 0.0, height)
    for k, length in enumerate(chain.length):
        shapes = [tip] if tip and k == len(chain.length) - 1 else []
        across = np.diag([chain.inertia[k], chain.inertia[k], 0.0])
        com = (0, 0, -chain.centre[k])
        pose, pin = mf.Pose(place), mf.Hinge("pin", Y)
        model.add_link(f"link_{k}", parent, pin, pose, chain.mass[k], com, across, shapes, **options)
        parent, place = f"link_{k}", (0.0, 0.0, -length)
    return model


def relative(absolute: Array | Sequence[float]) -> Array:
    """Return the angles of the hinges of links at absolute angles."""
    return np.diff(absolute, prepend=0.0)


def swinging(chain: Chain, angles: Array, rates: Array, bound: float, duration: float = 1.0) -> Motion:
    """Return the free motion of a chain from absolute angles and rates."""
    scene = mf.Scene(hanging(chain), theta=relative(angles), theta_dot=relative(rates))
    return Motion(
        scene,
        duration,
        "angles, rad",
        lambda: integrated(chain.free(), np.concatenate([angles, rates]), duration)[: len(angles)],
        lambda run: np.cumsum(run.theta[-1]),
        bound,
    )


def double_pendulum() -> Motion:
    """Two rods of half a metre, let go high up: it turns over."""
    chain = Chain.of_rods([0.5, 0.5], [1.0, 1.0])
    return swinging(chain, np.array([2.0, 2.5]), np.zeros(2), 5e-4)


def twelve_links() -> Motion:
    """Twelve rods of 10 cm, bent."""
    chain = Chain.of_rods([0.1] * 12, [0.1] * 12)
    return swinging(chain, 1.2 + 0.05 * np.arange(12), np.zeros(12), 2e-3)


@system("double pendulum", "Lagrange's equations, 1 s; energy for 60 s", BOTH_SCHEMES, SLOW_WAYS)
def double_pendulum_swings(way: Way) -> Answers:
    """It is chaotic: angles are compared for a second, energy for a minute."""
    yield from _swings(way, double_pendulum(), 1e-3)


@system("chain of 12 links", "Lagrange's equations, 1 s; energy for 60 s", BOTH_SCHEMES, SLOW_WAYS)
def twelve_links_swing(way: Way) -> Answers:
    """A chain that whips, at 230 rad/s, turns by a quarter of a radian in a step and loses energy then.

    It is chaotic: what it loses is another share for starts a billionth of a radian apart, so that the mean
    of some is judged, not the last bits of one.
    """
    yield from _swings(way, twelve_links(), 0.36, STARTS)


def _swings(way: Way, motion: Motion, bound: float, starts: int = 1) -> Answers:
    yield from motion.answers(way)
    if way.lasts:
        drifts = np.array([_drift(way, motion, APART * k) for k in range(starts)])
        mean = np.abs(drifts).max(axis=1).mean()
        yield zero("energy in 60 s, share", mean, bound, "at 1 ms" if starts == 1 else f"of {starts} starts")
        yield zero("energy gained, share", np.maximum(drifts, 0.0), bound / 6 + 1e-3, "it wanders")


def _drift(way: Way, motion: Motion, away: float) -> Array:
    """Return what energy changes by in 60 s from a start away from a motion's own, over what it can give."""
    start = replace(motion, scene=replace(motion.scene, theta=motion.scene.theta + away))
    energy = start.run(way, duration=60.0).total_energy
    return np.asarray((energy - energy[0]) / (energy[0] - hanging_energy(motion)))


def hanging_energy(motion: Motion) -> float:
    """Return the potential energy of a chain that hangs down at rest."""
    model = motion.scene.model
    places = model.state().link_poses()[1]
    masses = np.array([link.mass for link in model.links])
    coms = places[:, 2] + np.array([link.com[2] for link in model.links])
    return float(G * masses @ coms)


def rubbing(chain: Chain, mu: float, sense: float) -> Callable[[float, Array], Array]:
    """Return the rates of a chain whose tip, a ball of `RADIUS`, slides on the floor towards sense x.

    The ball's lowest point is the one that rubs: its velocity is that of the tip and -RADIUS a_n' along x.
    """
    up = np.array([[0.0, 1.0]])

    def directions(a: Array) -> Array:
        J = chain.tip_jacobian(a)
        along = J[0].copy()
        along[-1] -= RADIUS
        return (J[1] - mu * sense * along)[:, None]

    return chain.held(lambda a: up, directions)


def rubbing_tip() -> Motion:
    """Two rods of 0.5 m and 0.4 m whose tip slides on the floor towards +x all the time."""
    chain, mu, duration = Chain.of_rods([0.5, 0.4], [1.0, 0.8]), 0.2, 0.4
    first, height = 0.3, 0.75
    second = -np.arccos((height - RADIUS - 0.5 * np.cos(first)) / 0.4)
    angles, rates = np.array([first, second]), np.array([-1.0, 0.0])
    J = chain.tip_jacobian(angles)
    rates[1] = -J[1, 0] * rates[0] / J[1, 1]
    sense = float(np.sign(J[0] @ rates - RADIUS * rates[1]))
    ball = Geometry(Sphere(RADIUS), mf.Pose((0, 0, -0.4)))
    scene = mf.Scene(
        hanging(chain, height, ball, floor=True),
        theta=relative(angles),
        theta_dot=relative(rates),
        materials=mf.Material(mu=mu),
    )
    return Motion(
        scene,
        duration,
        "angles, rad",
        lambda: integrated(rubbing(chain, mu, sense), np.concatenate([angles, rates]), duration)[:2],
        lambda run: np.cumsum(run.theta[-1]),
        2e-5,
    )


@system(
    "double pendulum with a rubbing tip", "F_t = mu F_n, tip on the floor: one ODE", BOTH_SCHEMES, SLOW_WAYS
)
def rubbing_tip_slides(way: Way) -> Answers:
    """It stays on the floor and slides one way all the time."""
    yield from rubbing_tip().answers(way)


LINKS, SPAN = 10, 0.7


def catenary_angles() -> Array:
    """Return the absolute angles of ten rods of 10 cm between two hooks at the same height, 70 cm apart.

    The slope of rod k against the horizontal is that of the force in it: tan p_k = (k - 4.5) m g / H.
    """
    k = np.arange(LINKS) - (LINKS - 1) / 2
    slopes = lambda pull: np.arctan(k / pull)  # noqa: E731
    pull = brentq(lambda H: 0.1 * np.cos(slopes(H)).sum() - SPAN, 1e-3, 1e3, xtol=1e-14, rtol=1e-14)
    return np.asarray(-slopes(pull) - np.pi / 2)


@system("chain between two hooks, damped", "catenary of rods: tan p_k = (k - (n - 1)/2) m g / H")
def chain_hangs_as_a_catenary(way: Way) -> Answers:
    """Let go from a polygon; dampers in the hinges bring it to rest."""
    chain = Chain.of_rods([0.1] * LINKS, [0.1] * LINKS)
    model = hanging(chain, damping=1e-2)
    end = mf.Node(f"link_{LINKS - 1}", (0, 0, -0.1))
    model.add_closure(mf.closures.Ball(end, mf.Node("world", (SPAN, 0, 0))))
    slope = np.arccos(SPAN)
    start = np.repeat([slope, -slope], LINKS // 2) - np.pi / 2
    scene = mf.Scene(model, theta=relative(start))
    run = mf.simulate(scene, dt=DT, duration=20.0, **way.stepping)
    yield certified(run)
    angles = (np.cumsum(run.theta[-1]) + np.pi) % (2 * np.pi) - np.pi
    yield zero("angles after 20 s, rad", angles - catenary_angles(), 1e-6, "what is left of the swing")
    yield zero("loop, m", run.motion_of(end, range(0, len(run), 100))[0] - [SPAN, 0, 0], 1e-9, "projected")
