"""Impacts on paper: oblique bounces of a spinning ball, cradles in every numbering, a rod that jams."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
from scipy.optimize import minimize_scalar

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Geometry, Sphere
from truth.answers import Answer, Answers, Way, certified, simulated, system, ways, zero
from truth.bodies import G, ball
from truth.touching.rods import LENGTH, RADIUS, leaning_rod

OVERLAP = 1e-6
"""Speeds of about one after an impact: certified residuals."""
V_N, RESTITUTION, R = 2.0, 0.8, 0.1
LAWS = ("poisson", "newton")


@system("oblique bounce that grips", "v_t - (2/7) u, u = v_t - r w; v_n becomes -e v_n", ways())
def bounce_grips(way: Way) -> Answers:
    """Mu (1 + e) v_n is more than (2/7) u: no slip is left [Walton 1993, with no tangential restitution]."""
    yield from _bounce(way, v_t=1.0, spin=-5.0, mu=0.5)


@system("oblique bounce that slides", "v_t - mu (1 + e) v_n; w + (5/2) mu (1 + e) v_n / r", ways())
def bounce_slides(way: Way) -> Answers:
    """Friction is mu times the whole normal impulse, in compression and in decompression, in both laws."""
    yield from _bounce(way, v_t=4.0, spin=10.0, mu=0.1)


def bounced(v_t: float, spin: float, mu: float) -> Array:
    """Return speed along the floor, upwards, and spin about y after the bounce of a solid ball of 1 kg."""
    slip = v_t - R * spin
    impulse = np.sign(slip) * min(mu * (1 + RESTITUTION) * V_N, 2 / 7 * abs(slip))
    return np.array([v_t - impulse, RESTITUTION * V_N, spin + 2.5 * impulse / R])


def _bounce(way: Way, v_t: float, spin: float, mu: float) -> Answers:
    """Throw a spinning ball from half a step above the floor; look half a step after it. No gravity."""
    dt = 1e-4
    model, material = ball(R, gravity=(0, 0, 0)), mf.Material(mu=mu, restitution=RESTITUTION)
    for law in LAWS:
        run = simulated(
            way, model, material, theta=[0, 0, V_N * dt / 2, 0, 0, 0, 1],
            theta_dot=[v_t, 0, -V_N, 0, spin, 0], dt=dt, duration=dt, restitution_model=law,
        )  # fmt: skip
        yield certified(run)
        after = run.state(-1).link_velocities()[0]
        got = after[3], after[5], after[1]
        names = "speed along the floor, m/s", "speed upwards, m/s", "spin, rad/s"
        for name, known, one in zip(names, bounced(v_t, spin, mu), got, strict=True):
            arm = 2 * OVERLAP / R  # the arm of friction is known as well as the gap at the impact
            yield Answer(f"{law}: {name}", known, one, arm * max(1.0, abs(known)), "overlap / radius")


def cradle(order: Sequence[int], arm: float = 0.5) -> mf.Model:
    """Touching balls in a row, each on a pin of its own, numbered in some order; no gravity."""
    links = [
        mf.Link(
            f"ball_{i}",
            hinge=mf.Hinge("pin", (0, -1, 0)),
            pose=mf.Pose((2 * 0.05 * i, 0, arm)),
            mass=1.0,
            com=(0, 0, -arm),
            inertia=1e-3 * np.eye(3),
            geometry=Geometry(Sphere(0.05), mf.Pose((0, 0, -arm))),
        )
        for i in order
    ]
    return mf.Model(links, gravity=(0, 0, 0), name="cradle")


@system("five touching balls on pins, e = 1, in every numbering", "(2/n - 1, 2/n, ...), energy kept")
def cradle_in_every_numbering(way: Way) -> Answers:
    """One impact of four contacts, whichever ball is the first link; it arrives, or touches at once."""
    n, worst, lost, failed = 5, 0.0, 0.0, 0
    known = np.full(n, 2 / n) - np.eye(n)[0]
    for order, start in product(permutations(range(n)), (-0.01, 0.0)):
        run = simulated(
            way, cradle(order), mf.Material(restitution=1.0), theta={"ball_0": start},
            theta_dot={"ball_0": 1.0}, dt=2e-3, duration=0.004 - start,
        )  # fmt: skip
        failed += len(run.failed)
        worst = max(worst, float(np.abs(run.theta_dot[-1][np.argsort(order)] - known).max()))
        lost = max(lost, abs(float(run.kinetic_energy[-1] / run.kinetic_energy[0]) - 1))
    yield zero("steps without a certified solution", failed, 0.0, "none may fail")
    yield zero("speeds, rad/s, worst of 120 numberings", worst, 1e-6, "1 µm of overlap")
    yield zero("energy, share, worst of 120 numberings", lost, 1e-8, "certified residual")


def jammed(lean: float) -> float:
    """Return the kinetic energy of a rod at 1 m/s after its lower end, which rubs on the floor, has stopped.

    The impulse p = -L^-1 v, L = 1/m + (r x .)² / I at the point that rubs, takes (1/2) v . L^-1 v.
    """
    x, z = -LENGTH / 2 * np.cos(lean), -LENGTH / 2 * np.sin(lean) - RADIUS
    across = np.array([-z, x])
    L = np.eye(2) + np.outer(across, across) / (LENGTH**2 / 12)
    v = np.array([-1.0, 0.0])
    return float(0.5 - v @ np.linalg.solve(L, v) / 2)


@system("Painlevé rod that jams, mu = 2", "an impact without collision: p = -L^-1 v, in the record", ways())
def painleve_jam_is_an_impact(way: Way) -> Answers:
    """No finite force keeps the end on the floor: it stops at once, and that is an impact."""
    mu = 2.0
    stiffness = lambda a: 1 + 3 * np.cos(a) * (np.cos(a) - mu * np.sin(a))  # noqa: E731
    lean = float(minimize_scalar(stiffness, (0.1, 1.0, 1.5)).x)
    model = leaning_rod(lean)
    rates = -model.state().hinge_columns()[:, 3]
    run = simulated(way, model, mf.Material(mu=mu), theta_dot=rates, dt=1e-3, duration=0.005)
    yield certified(run)
    first = run.impacts_at(1)
    yield Answer("impacts in the first step", 1, float(len(first)), 0, "counted")
    gravity = G * 1e-3
    after = first.energy_after if len(first) else np.array([run.kinetic_energy[1]])
    yield zero("energy after it, J", after - jammed(lean), gravity, "g dt, at 1 m/s")
