"""Bodies that spin: free balls, a tumbling body, a heavy top. What nature keeps stays for minutes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

import mcpframe as mf
from mcpframe.arrays import Array
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, simulated, system, zero
from truth.bodies import G
from truth.equations import attitude, integrated, turning
from truth.motions import DT, Motion, change, energy_kept, samples, second_order

KEPT = 1e-7
"""Share by which momentum, spin and energy of a free body may change in 20 s, as asked for."""
TOP = {"mass": 0.5, "arm": 0.05, "A": 0.5 * (0.03**2 / 4 + 0.05**2), "C": 0.5 * 0.03**2 / 2}
"""A disc of radius 3 cm on a stem of 5 cm: moments of inertia about the foot and about the axis."""
LEAN, SPIN = 0.5, 300.0


def lasting(way: Way, long: float, short: float = 0.1) -> float:
    """Return how long a run lasts: slow formulations show as much in a short one."""
    return long if way.quick else short


@system(
    "free ball with v = 1, spinning 10, 100, 300 rad/s, 20 s",
    "velocity, energy kept",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def spinning_ball_keeps_its_velocity(way: Way) -> Answers:
    """The axis of the spin is not along the velocity, so that the body's axes turn under it."""
    ball = mf.Link("ball", mass=1.0, inertia=0.4 * 0.1**2 * np.eye(3))
    model = mf.Model([ball], gravity=(0, 0, 0))
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    for spin in (10.0, 100.0, 300.0):
        rates = np.concatenate([[1.0, 0.0, 0.0], spin * axis])
        run = simulated(way, model, theta_dot=rates, dt=DT, duration=lasting(way, 20.0))
        velocity = [state.link_velocities()[0] for state in samples(run)]
        yield zero(f"{spin:g} rad/s: velocity, share", change([v[3:] for v in velocity]), KEPT, "asked for")
        yield zero(f"{spin:g} rad/s: spin, share", change([v[:3] for v in velocity]), KEPT, "asked for")
        yield energy_kept(run, KEPT)


def tumbling() -> tuple[mf.Model, Array]:
    """A body about its middle axis, thrown, its centre of mass beside the origin; and its rates."""
    com, J = np.array([0.02, -0.01, 0.03]), np.diag([0.02, 0.05, 0.06])
    model = mf.Model([mf.Link("body", mass=1.0, com=com, inertia=J)], gravity=(0, 0, 0))
    spin = np.array([0.03, 3.0, 0.02])
    return model, np.concatenate([[1.0, 0.5, -0.2] - np.cross(spin, com), spin])


@system("Dzhanibekov's body with v = 1, 20 s", "energy, spin vector, momentum kept", BOTH_SCHEMES, SLOW_WAYS)
def tumbling_body_keeps_its_spin(way: Way) -> Answers:
    """It turns over several times."""
    model, rates = tumbling()
    run = simulated(way, model, theta_dot=rates, dt=DT, duration=lasting(way, 20.0))
    momenta = [about_centre(state) for state in samples(run)]
    yield zero("momentum, share", change([m[3:] for m in momenta]), KEPT, "asked for")
    yield zero("spin about the centre, share", change([m[:3] for m in momenta]), KEPT, "asked for")
    yield energy_kept(run, KEPT)


def about_centre(state: mf.State) -> Array:
    """Return spin about the centre of mass of the only link, and momentum, in world axes."""
    link, momentum = state.model.links[0], state.momentum()
    centre = state.pose(mf.Node(link.name, link.com)).position
    return np.concatenate([momentum[:3] - np.cross(centre, momentum[3:]), momentum[3:]])


def tumbling_motion() -> Motion:
    """Its attitude after 2 s by Euler's equations, and where its centre of mass is."""
    model, rates = tumbling()
    link = model.links[0]
    J = link.inertia
    velocity = rates[:3] + np.cross(rates[3:], link.com)

    def known() -> Array:
        y = integrated(turning(J), [0, 0, 0, 1, *rates[3:]], 2.0)
        return np.concatenate([attitude(y), link.com + 2.0 * velocity])

    def got(run: mf.Trajectory) -> Array:
        state = run.state(-1)
        centre = state.pose(mf.Node("body", link.com)).position
        return np.concatenate([state.pose("body").rotation.ravel(), centre])

    return Motion(mf.Scene(model, theta_dot=rates), 2.0, "attitude and place, rad and m", known, got, 5e-7)


def precession() -> float:
    """Return the slower rate of steady precession: C w_3 W - A W² cos(lean) = m g l."""
    moment = TOP["mass"] * G * TOP["arm"]
    slow = moment / (TOP["C"] * SPIN)
    balance = lambda W: W * (TOP["C"] * SPIN - TOP["A"] * W * np.cos(LEAN)) - moment  # noqa: E731
    return float(brentq(balance, 0.5 * slow, 2.0 * slow, xtol=1e-15, rtol=1e-14))


def precessed(time: float) -> Array:
    """Return the attitude of the top, flat [9]: Rz(W t) Ry(lean) Rz((w_3 - W cos lean) t)."""
    W = precession()
    turned = [mf.Pose.from_rpy(rpy=(0, 0, rate * time)).rotation for rate in (W, SPIN - W * np.cos(LEAN))]
    leaned = mf.Pose.from_rpy(rpy=(0, LEAN, 0)).rotation
    return np.asarray(turned[0] @ leaned @ turned[1]).ravel()


def heavy_top() -> Motion:
    """A top that starts in steady precession."""
    across = TOP["A"] - TOP["mass"] * TOP["arm"] ** 2
    link = mf.Link(
        "top", hinge=mf.Hinge("ball"), mass=TOP["mass"], com=(0, 0, TOP["arm"]),
        inertia=np.diag([across, across, TOP["C"]]),
    )  # fmt: skip
    W = precession()
    theta = [0.0, np.sin(LEAN / 2), 0.0, np.cos(LEAN / 2)]
    rates = [-W * np.sin(LEAN), 0.0, SPIN]
    scene = mf.Scene(mf.Model([link], gravity=(0, 0, -G)), theta=theta, theta_dot=rates)

    return Motion(
        scene, 1.0, "attitude, rad", lambda: precessed(1.0), lambda run: rotation_of(run, "top"), 2e-3
    )


def rotation_of(run: mf.Trajectory, body: str) -> Array:
    """Return the rotation of a body at the end, flat [9]."""
    return np.asarray(run.state(-1).pose(body).rotation).ravel()


@system("heavy top at 300 rad/s", "C w_3 W - A W² cos a = m g l, steady", BOTH_SCHEMES, SLOW_WAYS)
def heavy_top_precesses(way: Way) -> Answers:
    """One second by the closed form, a minute of energy."""
    top = heavy_top()
    if way.quick:
        yield from top.answers(way)
    yield energy_kept(top.run(way, duration=lasting(way, 60.0)), 1e-6)


@system("tumbling body with v = 1, 2 s", "Euler's equations, and uniform motion of the centre", BOTH_SCHEMES)
def tumbling_body_follows_euler(way: Way) -> Answers:
    """Attitude and place; what is kept alone would not see a wrong phase."""
    yield from tumbling_motion().answers(way)


def gimbals() -> Motion:
    """A rotor, its centre of mass off the crossing of the axes, in an inner and an outer gimbal.

    With f of the outer about the vertical, a of the inner, s of the rotor, w = s' + f' cos a, outer moment O,
    inner ones b, the rotor's A about the crossing and C, and M = O + (b_y + A) sin² a + b_z cos² a,

        M f'' + M' a' f' = C w sin a a',     C w = const,
        (b_x + A) a'' = M' f'² / 2 - C w f' sin a + m g l sin a,     M' = (b_y + A - b_z) sin 2a.
    """
    outer, b, m, l, a_0, C = 0.004, np.array([0.002, 0.003, 0.0025]), 0.4, 0.05, 0.001, 0.0018
    A = a_0 + m * l**2
    model = mf.Model(gravity=(0, 0, -G), name="gimbals")
    model.add_link("outer", "world", mf.Hinge("pin", (0, 0, 1)), mass=0.1, inertia=outer * np.eye(3))
    model.add_link("inner", "outer", mf.Hinge("pin", (1, 0, 0)), mass=0.1, inertia=np.diag(b))
    rotor = {"mass": m, "com": (0, 0, l), "inertia": np.diag([a_0, a_0, C])}
    model.add_link("rotor", "inner", mf.Hinge("pin", (0, 0, 1)), **rotor)

    def rates(_: float, y: Array) -> Array:
        _, a, df, da = y
        s, c = np.sin(a), np.cos(a)
        M, slope = outer + (b[1] + A) * s**2 + b[2] * c**2, 2 * s * c * (b[1] + A - b[2])
        up = (slope * df**2 / 2 - spin * df * s + m * G * l * s) / (b[0] + A)
        return np.array([df, da, (spin * s - slope * df) * da / M, up])

    start, turning_at, end = np.array([0.0, 0.6]), np.array([0.2, 0.0]), 2.0
    spin = C * (150.0 + turning_at[0] * np.cos(start[1]))
    scene = mf.Scene(model, theta=[*start, 0.0], theta_dot=[*turning_at, 150.0])
    known = lambda: integrated(rates, [*start, *turning_at], end)[:2]  # noqa: E731
    return Motion(scene, end, "angles of the gimbals, rad", known, lambda run: run.theta[-1, :2], 2e-4)


@system("gyroscope in gimbals of their own mass", "Lagrange's equations, 2 s", BOTH_SCHEMES, SLOW_WAYS)
def gyroscope_turns_its_gimbals(way: Way) -> Answers:
    """It precesses and nods; the gimbals, heavier than the rotor, take part."""
    yield from gimbals().answers(way)


def wheel_on_a_ball() -> Motion:
    """A wheel on an axle that stands on a ball, like a bicycle's on a string: w = 200 rad/s about it.

    The wheel's own spin s = C (w_3 + rate) stays; with J of all but that, J w' = m - w × (J w + s e_3).
    """
    arm, axle, wheel, radius, rate = 0.1, 0.05, 0.4, 0.06, 200.0
    own, A, C = np.diag([1e-4, 1e-4, 2e-5]), wheel * radius**2 / 4, wheel * radius**2 / 2
    model = mf.Model(gravity=(0, 0, -G), name="wheel")
    model.add_link("axle", "world", mf.Hinge("ball"), mass=axle, com=(0, 0, arm / 2), inertia=own)
    rim = {"mass": wheel, "inertia": np.diag([A, A, C])}
    model.add_link("wheel", "axle", mf.Hinge("pin", (0, 0, 1)), mf.Pose((0, 0, arm)), **rim)
    w, lean = np.array([0.5, -0.3, 0.2]), mf.Pose.from_rpy(rpy=(0.8, 0, 0)).quaternion()
    across = A + (axle / 4 + wheel) * arm**2
    J, spin = own + np.diag([across, across, 0.0]), np.array([0, 0, C * (rate + w[2])])
    turned = turning(J, lambda R: np.cross([0, 0, (axle / 2 + wheel) * arm], R.T @ [0, 0, -G]))

    def rates(t: float, y: Array) -> Array:
        return turned(t, y) - np.concatenate([np.zeros(4), np.linalg.solve(J, np.cross(y[4:], spin))])

    known = lambda: attitude(integrated(rates, [*lean, *w], 1.0))  # noqa: E731
    got = lambda run: run.state(-1).pose("axle").rotation.ravel()  # noqa: E731
    nods = float(spin[2] / J[0, 0])  # the rate at which the axle nods; it swings by its first rate over that
    scene = mf.Scene(model, theta=[*lean, 0.0], theta_dot=[*w, rate])
    return Motion(scene, 1.0, "attitude of the axle, rad", known, got, second_order(nods, 1.0))


@system(
    "spinning wheel on an axle that stands on a ball", "J w' = m - w × (J w + s e_3)", BOTH_SCHEMES, SLOW_WAYS
)
def wheel_on_a_ball_precesses(way: Way) -> Answers:
    """Two bodies, the spin in a hinge of its own: its gyroscopic moment is a force on the other."""
    yield from wheel_on_a_ball().answers(way)
