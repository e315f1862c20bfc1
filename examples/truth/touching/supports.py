"""What rests, rocks or is pushed back: towers about to tip, a beam on three supports, blocks."""

from __future__ import annotations

import warnings

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from mcpframe.simulation.overlaps import OverlapWarning
from truth.answers import BOTH_SCHEMES, Answer, Answers, Way, certified, simulated, system, ways, zero
from truth.bodies import FLOOR, G, block
from truth.equations import integrated_until
from truth.motions import DT

LENGTH, WIDTH, THICK = 0.2, 0.1, 0.05
FORCE = 1e-6
"""Newton: certified residuals over a step of a millisecond."""


def tower(share: float, height: int = 4) -> mf.Model:
    """Bricks, the k-th from the top jutting out by share L / (2 k): at 1 all are about to tip."""
    overhang = share * LENGTH / 2 / np.arange(height - 1, 0, -1)
    places = np.concatenate([[0.0], np.cumsum(overhang)])
    links = [
        mf.Link(
            f"brick_{i}",
            pose=mf.Pose((x, 0, THICK * (i + 0.5))),
            mass=1.0,
            inertia=np.diag([WIDTH**2 + THICK**2, LENGTH**2 + THICK**2, LENGTH**2 + WIDTH**2]) / 12,
            geometry=Geometry(Box((LENGTH, WIDTH, THICK))),
        )
        for i, x in enumerate(places)
    ]
    return mf.Model(links, gravity=(0, 0, -G), geometry=[FLOOR], name="tower")


@system("harmonic tower of 4 bricks, overhangs L/2k", "stands at 0.99 of them, tips at 1.01", BOTH_SCHEMES)
def harmonic_tower_stands_or_tips(way: Way) -> Answers:
    """Far out it starts as a^2 t / 2 with a of a hundredth of g: millimetres within half a second."""
    for share, falls in ((0.99, 0.0), (1.01, 1.0)):
        run = simulated(way, tower(share), mf.Material(mu=0.6), dt=DT, duration=0.5)
        yield certified(run)
        moved = np.abs(run.theta[-1].reshape(-1, 7)[:, :3]).max()
        yield Answer(f"share {share}: moved by more than 0.1 mm", falls, float(moved > 1e-4), 0, "counted")
        if not falls:
            yield zero(f"share {share}: way, m", moved, 1e-9, "rounding of rates")


def beam(supports: dict[float, float]) -> mf.Model:
    """A beam of 1 kg and 2 m on balls, by their places along it and how far they lie below it."""
    balls = [
        Geometry(Sphere(0.05), mf.Pose((x, 0, -0.05 - below)), f"support_{i}")
        for i, (x, below) in enumerate(supports.items())
    ]
    link = mf.Link(
        "beam", hinge=mf.Hinge("planar", (0, -1, 0)), pose=mf.Pose((0, 0, 0.05)), mass=1.0,
        inertia=np.diag([1e-3, 1 / 3, 1 / 3]), geometry=Geometry(Box((2.0, 0.1, 0.1))),
    )  # fmt: skip
    return mf.Model([link], gravity=(0, 0, -G), geometry=balls, name="beam")


@system(
    "beam on three supports",
    "sum F = m g, sum x F = 0, F >= 0; two carry alone: m g b / (a + b)",
    (*BOTH_SCHEMES, *ways()),
)
def beam_rests_on_its_supports(way: Way) -> Answers:
    """Three forces are not unique, their sum and moment are; with one support lowered all are."""
    run = simulated(way, beam({-0.8: 0.0, 0.1: 0.0, 0.7: 0.0}), dt=DT, duration=0.02)
    yield certified(run)
    force, place = _loads(run)
    yield Answer("sum, N", G, force.sum(), FORCE, "certified residual / dt")
    yield zero("moment, N m", place @ force, FORCE, "certified residual / dt")
    yield zero("smallest force below 0, N", np.minimum(force, 0.0), 0.0, "contacts do not pull")
    run = simulated(way, beam({-0.8: 0.0, 0.1: 1e-3, 0.7: 0.0}), dt=DT, duration=0.02)
    yield certified(run)
    force, place = _loads(run)
    for x, got in zip(place, force, strict=True):
        yield Answer(f"force at {x:.1f} m, N", G * (0.7 if x < 0 else 0.8) / 1.5, got, FORCE, "as above")


def _loads(run: mf.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Return forces of the supports in the last step, and their places."""
    last = run.contacts_at(-1)
    order = np.argsort(last.point[:, 0])
    pressed = order[np.abs(last.impulse[order, 2]) > 0.0]
    return last.impulse[pressed, 2] / DT, last.point[pressed, 0]


ROCKING = {"width": 0.1, "height": 0.3, "angle": 0.1}


def rocking() -> tuple[float, float, float]:
    """Return when a tilted block comes down, its rate then, and the share of it that is left after.

    (4/3) R² a'' = -g R sin(alpha - a) about one edge; at the impact the spin about the other edge is kept:
    share 1 - (3/2) sin² alpha [Housner 1963].
    """
    b, h = ROCKING["width"] / 2, ROCKING["height"] / 2
    R, alpha = np.hypot(b, h), np.arctan2(b, h)
    rates = lambda _, y: np.array([y[1], -0.75 * G / R * np.sin(alpha - y[0])])  # noqa: E731
    time, end = integrated_until(rates, [ROCKING["angle"], 0.0], lambda y: float(y[0]))
    return time, float(end[1]), float(1 - 1.5 * np.sin(alpha) ** 2)


@system("rocking block", "falls by (4/3) R² a'' = -g R sin(b - a); keeps 1 - (3/2) sin² b of its rate")
def rocking_block_passes_to_its_other_edge(way: Way) -> Answers:
    """Tilted about one edge and let go; the other edge sticks where it comes down and the first lifts off."""
    b, h, angle = ROCKING["width"] / 2, ROCKING["height"] / 2, ROCKING["angle"]
    model = block((2 * b, 2 * b, 2 * h))
    turn = mf.Pose.from_rpy(rpy=(0, angle, 0)).rotation
    place = turn @ [-b, 0, h] + [b, 0, 0]
    theta = {"block": mf.Pose.from_rpy(place, (0, angle, 0))}
    run = simulated(way, model, mf.Material(mu=0.8), theta=theta, dt=DT, duration=0.25)
    yield certified(run)
    time, rate, share = rocking()
    audit = run.impacts
    inertia = 4 / 3 * (b**2 + h**2)
    hit = int(np.argmax(audit.energy_before)) if len(audit) else 0
    before, after = audit.energy_before[hit : hit + 1], audit.energy_after[hit : hit + 1]
    yield Answer("impacts of note", 1, float(len(before)), 0, "counted")
    yield zero("time of the impact, s", audit.time[hit : hit + 1] - time, 5e-6, "1 µm of overlap, at 0.3 m/s")
    yield zero("energy before it, J", before - inertia * rate**2 / 2, 1e-5, "at 1 ms")
    yield zero("energy left, share", after / before - share**2, 2e-5, "1 µm of overlap, at 1 ms")


@system(
    "box that starts 35 mm deep, fixed steps", "rises at 0.1 m/s and stays up", (Way(scheme="time_stepping"),)
)
def sunken_box_is_pushed_back(way: Way) -> Answers:
    """It must not shoot up either: the speed of rising is the scene's, 0.1 m/s, and is gone at the top."""
    depth = 0.035
    theta = [0, 0, -depth, 0, 0, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlapWarning)  # it is meant to
        run = simulated(way, block(), mf.Material(mu=0.5), theta=theta, dt=DT, duration=2.0)
    yield certified(run)
    yield zero("height after 2 s, m", run.theta[-1, 2], 1e-6, "penetration tolerance")
    yield zero("speed above 0.1 m/s", np.maximum(np.abs(run.theta_dot) - 0.1, 0.0), 1e-6, "rise_speed")
    yield zero("speed after 2 s, m/s", run.theta_dot[-1], 1e-9, "at rest")
