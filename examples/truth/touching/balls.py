"""Balls that bounce, collide and lie in a groove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from truth.answers import ROUNDING, SOLVERS, Answer, Answers, Way, certified, simulated, system, ways, zero
from truth.bodies import G, along_x, ball, row_of_balls

DT = 1e-3
OVERLAP = 1e-6
"""Metres to which times of impact are found; balls here hit at metres per second, so seconds too."""
SPEED = 1e-8
"""Speeds of about one after an impact: certified residuals."""
EVERY_WAY = ways(solvers=SOLVERS)


@system(
    "bouncing ball, height h, restitution e",
    "peaks e^(2k) h; at rest after sqrt(2h/g) (1+e)/(1-e)",
    (Way(), *(replace(way, integrator="rk4") for way in ways())),
)
def ball_bounces_to_rest(way: Way) -> Answers:
    """Flights are exact; a bounce lower than the overlap that counts as touching is not made."""
    h, e = 0.1, 0.5
    first, end = np.sqrt(2 * h / G), np.sqrt(2 * h / G) * (1 + e) / (1 - e)
    run = simulated(
        way,
        ball(),
        mf.Material(restitution=e),
        theta=[0, 0, h, 0, 0, 0, 1],
        dt=DT,
        duration=0.45,
    )
    yield certified(run)
    hits = first + 2 * first * np.concatenate([[0.0], np.cumsum(e ** np.arange(1, 4))])
    for k, known in enumerate(hits):
        yield Answer(f"time of impact {k + 1}, s", known, run.impacts.time[k], 2 * OVERLAP, "overlap / speed")
    for k in (1, 2):
        flying = (run.time > hits[k - 1]) & (run.time < hits[k])
        peak = run.theta[flying, 2].max()
        yield Answer(f"peak {k}, m", e ** (2 * k) * h, peak, G * DT**2 / 8 + OVERLAP, "recorded every dt")
    moving = np.abs(run.theta_dot).max(axis=1) > ROUNDING
    low = np.sqrt(8 * OVERLAP / G) / (1 - e)  # all flights of bounces lower than the overlap
    yield Answer("at rest after, s", end, run.time[moving][-1], low + DT, "bounces below the overlap, and dt")


@system("two-sphere head-on impact", "relative speed ratio e; momentum kept", (*EVERY_WAY, Way("os", "enum")))
def two_spheres_part_at_the_asked_share(way: Way) -> Answers:
    """Masses 1 and 3, speeds 2 and -1."""
    model = row_of_balls([0.03], [1.0, 3.0])
    run = simulated(
        way, model, mf.Material(mu=0.2, restitution=0.6), theta_dot=along_x([2, -1]), dt=DT, duration=0.03
    )
    yield certified(run)
    after = run.theta_dot[-1, ::6]
    yield Answer(
        "relative speed after over before", 0.6, (after[1] - after[0]) / 3.0, SPEED, "certified residual"
    )
    yield Answer("momentum, kg m/s", -1.0, float(after @ [1.0, 3.0]), SPEED, "certified residual")


@system("three equal balls in a row, e = 1, one LCP", "(-1/3, 2/3, 2/3)", EVERY_WAY)
def three_balls_share_one_impact(way: Way) -> Answers:
    """The second and the third touch when the first arrives."""
    run = simulated(
        way,
        row_of_balls([0.01, 0.0]),
        mf.Material(restitution=1.0),
        theta_dot=along_x([1, 0, 0]),
        dt=DT,
        duration=0.02,
    )
    yield from _speeds(run, (-1 / 3, 2 / 3, 2 / 3))


@system("three equal balls in a row, e = 1, one impact after the other", "(0, 0, 1)", EVERY_WAY)
def three_balls_hand_on_the_speed(way: Way) -> Answers:
    """A tenth of a millimetre between them."""
    run = simulated(
        way,
        row_of_balls([0.01, 1e-4]),
        mf.Material(restitution=1.0),
        theta_dot=along_x([1, 0, 0]),
        dt=DT,
        duration=0.02,
    )
    yield from _speeds(run, (0, 0, 1))


@system("cradle of five balls that touch, sequential impacts", "(0, 0, 0, 0, 1)", EVERY_WAY)
def touching_cradle_hands_on_one_ball(way: Way) -> Answers:
    """Nothing between them: the order is that of the speeds of approach."""
    run = simulated(
        way,
        row_of_balls([0.01, 0.0, 0.0, 0.0]),
        mf.Material(restitution=1.0),
        theta_dot=along_x([1, 0, 0, 0, 0]),
        dt=DT,
        duration=0.02,
        impacts="sequential",
    )
    yield from _speeds(run, (0, 0, 0, 0, 1))


@system("Newton's cradle of five balls, two of them thrown", "(0, 0, 0, 1, 1)")
def cradle_hands_on_two_balls(way: Way) -> Answers:
    """Ten micrometres between them, so that all impacts fall into one step."""
    model = row_of_balls([1e-5, 5e-3, 1e-5, 1e-5])
    run = simulated(
        way, model, mf.Material(restitution=1.0), theta_dot=along_x([1, 1, 0, 0, 0]), dt=DT, duration=0.02
    )
    yield from _speeds(run, (0, 0, 0, 1, 1))


def _speeds(run: mf.Trajectory, known: tuple[float, ...]) -> Answers:
    yield certified(run)
    for i, (one, got) in enumerate(zip(known, run.theta_dot[-1, ::6], strict=True)):
        yield Answer(f"speed of ball {i + 1}, m/s", one, got, SPEED, "certified residual")


@system("ball thrown at the floor, fast, as in J14", "slides: v_t becomes v_t - mu v_n", ways())
def thrown_ball_slides_in_compression(way: Way) -> Answers:
    """The impulse that compression stored comes back along the normal, without friction [J14, Eq. (56)]."""
    yield from _thrown(way, v_t=4.0, mu=0.1, known=4.0 - 0.1 * V_N, decompression="j14")


V_N = 2.0


def _thrown(way: Way, v_t: float, mu: float, known: float, **law: str) -> Answers:
    """Throw a ball from half a step above the floor; look at it half a step after the impact. No gravity."""
    e, dt, radius = 0.8, 1e-4, 0.1
    model = ball(radius, gravity=(0, 0, 0))
    run = simulated(
        way, model, mf.Material(mu=mu, restitution=e), theta=[0, 0, V_N * dt / 2, 0, 0, 0, 1],
        theta_dot=[v_t, 0, -V_N, 0, 0, 0], dt=dt, duration=dt, **law,
    )  # fmt: skip
    yield certified(run)
    after = run.state(-1).link_velocities()[0]
    turned = dt / 2 * (v_t - known) * 2.5 / radius  # m r Δv = (2/5) m r² ω
    yield Answer(
        "speed along the floor, m/s", known, after[3], v_t * turned, "axes of rates turn in half a step"
    )
    yield Answer("speed upwards, m/s", e * V_N, after[5], v_t * turned, "axes of rates turn in half a step")


@system("ball in a groove, walls at angles a to the floor", "N = m g / (2 cos a)", EVERY_WAY)
def ball_in_a_groove_presses_on_both_walls(way: Way) -> Answers:
    """Two planes, 50 degrees steep; without friction forces are unique."""
    angle, radius = np.radians(50.0), 0.1
    walls = [
        Geometry(Plane(), mf.Pose.from_rpy(rpy=(0, side * angle, 0)), name)
        for side, name in ((1, "left"), (-1, "right"))
    ]
    inertia = 0.4 * radius**2 * np.eye(3)
    link = mf.Link(
        "ball",
        pose=mf.Pose((0, 0, radius / np.cos(angle))),
        mass=1.0,
        inertia=inertia,
        geometry=Geometry(Sphere(radius)),
    )
    run = simulated(way, mf.Model([link], gravity=(0, 0, -G), geometry=walls), dt=DT, duration=0.02)
    yield certified(run)
    pressed = np.linalg.norm(run.contacts_at(-1).impulse, axis=1) / DT
    for wall, got in enumerate(pressed):
        yield Answer(
            f"force of wall {wall + 1}, N", G / (2 * np.cos(angle)), got, 1e-6, "certified residual / dt"
        )
    yield zero("rates", run.theta_dot, 1e-9, "certified residual")
