"""Mechanisms against equations of one degree of freedom: linkages, hoop, shaken pendulum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Box, Geometry
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answer, Answers, Way, certified, system, zero
from truth.articulated.chains import Y, hanging, relative
from truth.bodies import G
from truth.equations import Chain, integrated, with_reversals
from truth.motions import DT, Motion, energy_kept, second_order

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.8, 0.6, 0.7
UP = np.array([[0.0, 1.0]])


def four_bar() -> Motion:
    """Crank, coupler and rocker as a chain whose end is pinned to the ground; the crank starts at 8 rad/s."""
    chain = Chain.of_rods([CRANK, COUPLER, ROCKER], [CRANK, COUPLER, ROCKER])
    model = hanging(chain)
    end = mf.Node("link_2", (0, 0, -ROCKER))
    model.add_closure(mf.closures.Pin(end, mf.Node("world", (GROUND, 0, 0)), Y))
    angles = four_bar_angles()
    J = chain.tip_jacobian(angles)
    rates = 8.0 * np.append(1.0, np.linalg.solve(J[:, 1:], -J[:, 0]))
    frame = mf.Scene(model, theta=relative(angles), theta_dot=relative(rates))
    return Motion(
        frame,
        1.0,
        "angles, rad",
        lambda: integrated(chain.held(lambda a: np.eye(2)), np.concatenate([angles, rates]), 1.0)[:3],
        lambda run: np.cumsum(run.theta[-1]),
        3e-4,
    )


def four_bar_angles() -> Array:
    """Return absolute angles with the crank hanging down: the corner C is where two circles meet."""
    B, D = np.array([0.0, -CRANK]), np.array([GROUND, 0.0])
    distance = float(np.linalg.norm(D - B))
    part = (COUPLER**2 - ROCKER**2 + distance**2) / (2 * distance)
    unit = (D - B) / distance
    C = B + part * unit + np.sqrt(COUPLER**2 - part**2) * np.array([unit[1], -unit[0]])
    return np.array([np.arctan2(-x, -z) for x, z in (B, C - B, D - C)])


@system("four-bar", "Lagrange's equations with the loop, 1 s; energy for 60 s", BOTH_SCHEMES, SLOW_WAYS)
def four_bar_turns(way: Way) -> Answers:
    """Its coordinates are those of the tree; the loop is closed by a pin."""
    motion = four_bar()
    yield from motion.answers(way)
    if way.lasts:
        run = motion.run(way, duration=60.0)
        yield energy_kept(run, 1e-3, np.ptp(run.potential_energy))


SLIDER = Geometry(Box((0.2, 0.1, 0.1)))
SLIDER_CRANK = Chain(
    np.array([0.2, 0.5, 0.0]),
    np.array([2.0, 0.5, 1.0]),
    np.array([0.1, 0.25, 0.0]),
    np.array([0.05, 0.5 * 0.5**2 / 12, 1e-2]),
)
"""A heavy crank, a rod, and a slider that is pinned to it and does not turn."""


def slider_crank(crank: float, rate: float) -> tuple[Array, Array]:
    """Return the absolute angles and rates of the mechanism, the slider at the height of the crank's pin."""
    angles = np.array([crank, -np.arccos(-0.2 / 0.5 * np.cos(crank)), 0.0])
    J = SLIDER_CRANK.tip_jacobian(angles)[1]
    return angles, np.array([rate, -J[0] / J[1] * rate, 0.0])


def slider_scene(crank: float, rate: float, mu: float, model: mf.Model | None = None) -> mf.Scene:
    """Return it as a scene: the slider is a box on the floor."""
    angles, rates = slider_crank(crank, rate)
    model = model or hanging(SLIDER_CRANK, 0.05, SLIDER, floor=True)
    material = mf.Material(mu=mu)
    return mf.Scene(model, theta=relative(angles), theta_dot=relative(rates), materials=material)


def rubbing_slider() -> Motion:
    """Friction 0.3 at the slider, which turns round at its dead centre.

    A reversal elsewhere, where friction acts on the crank, is of first order: a step has one friction.
    """
    mu, end = 0.3, 0.3

    def rates(sense: float) -> Callable[[float, Array], Array]:
        def directions(a: Array) -> Array:
            J = SLIDER_CRANK.tip_jacobian(a)
            return (J[1] - mu * sense * J[0])[:, None]

        return SLIDER_CRANK.held(lambda a: UP, directions)

    def slip(y: Array) -> float:
        return float(SLIDER_CRANK.tip_jacobian(y[:3])[0] @ y[3:])

    start = np.concatenate(slider_crank(0.5, 8.0))
    return Motion(
        slider_scene(0.5, 8.0, mu),
        end,
        "angle of the crank, rad",
        lambda: with_reversals(rates, start, end, slip)[:1],
        lambda run: run.theta[-1, :1],
        1e-4,
    )


@system("slider-crank with friction", "F_t = mu F_n, reversing: one ODE", BOTH_SCHEMES, SLOW_WAYS)
def slider_crank_rubs(way: Way) -> Answers:
    """The floor's force changes with the mechanism; the slider's four corners share it in some way."""
    yield from rubbing_slider().answers(way)


def driven_slider(time: float, crank: float = 0.5, rate: float = 6.0) -> tuple[float, float]:
    """Return where the slider is, and the force of the floor, with the crank at a constant rate.

    M a'' + bias = torque e_1 + N dz/da, a_1'' = 0 and z'' = 0: the second row has N alone.
    """
    angles, rates = slider_crank(crank + rate * time, rate)
    Jz, bias = SLIDER_CRANK.tip_jacobian(angles)[1], SLIDER_CRANK.tip_bias(angles, rates)[1]
    acceleration = np.array([0.0, -bias / Jz[1], 0.0])
    needed = SLIDER_CRANK.mass_matrix(angles) @ acceleration + SLIDER_CRANK.bias(angles, rates)
    return float(SLIDER_CRANK.tip(angles)[0]), float(needed[1] / Jz[1])


@system(
    "slider-crank, crank at a prescribed rate",
    "place r cos + l cos; N by inverse dynamics",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def prescribed_crank_moves_its_slider(way: Way) -> Answers:
    """A closure prescribes the rate; the floor's forces, means over steps, are those of their middles."""
    model = hanging(SLIDER_CRANK, 0.05, SLIDER, floor=True)
    model.add_closure(mf.closures.Gear({"link_0": 1.0}, motion=lambda t: (6.0, 0.0)))
    run = mf.simulate(slider_scene(0.5, 6.0, 0.0, model), dt=DT, duration=0.5, **way.stepping)
    yield certified(run)
    place = run.state(-1).pose("link_2").position[0]
    yield Answer("place of the slider after 0.5 s, m", driven_slider(0.5)[0], place, 1e-6, "at 1 ms")
    steps = np.arange(100, len(run), 50)
    got = [run.contacts_at(int(k)).impulse[:, 2].sum() / DT for k in steps]
    known = [driven_slider(run.time[k] - DT / 2)[1] for k in steps]
    reason = "middles of steps, rows that look ahead, at 1 ms"
    yield zero("force of the floor, N", np.subtract(got, known), 2e-2, reason)


HOOP, HOOP_RATE = 0.4, 7.0


def hoop(damping: float = 0.0) -> mf.Model:
    """A bead of 1 kg on a hoop that a motor turns about the vertical."""
    model = mf.Model(gravity=(0, 0, -G), name="hoop")
    model.add_link("hoop", "world", mf.Hinge("pin", (0, 0, 1)), mass=1.0, inertia=0.1 * np.eye(3))
    model.add_link("bead", "hoop", mf.Hinge("pin", Y), mass=1.0, com=(0, 0, -HOOP), damping=damping)
    model.add_closure(mf.closures.Gear({"hoop": 1.0}, motion=lambda t: (HOOP_RATE, 0.0)))
    return model


def bead_on_a_hoop() -> Motion:
    """Its angle obeys a'' = (W² cos a - g / R) sin a."""

    def rates(_: float, y: Array) -> Array:
        return np.array([y[1], (HOOP_RATE**2 * np.cos(y[0]) - G / HOOP) * np.sin(y[0])])

    scene = mf.Scene(hoop(), theta=[0.0, 0.4], theta_dot=[HOOP_RATE, 0.0])
    known = lambda: np.append(integrated(rates, [0.4, 0.0], 2.0)[0], 2 * HOOP_RATE)  # noqa: E731
    return Motion(scene, 2.0, "angles, rad", known, lambda run: run.theta[-1, ::-1], 1e-4)


@system(
    "bead on a turning hoop",
    "a'' = (W² cos a - g/R) sin a; damped, cos a = g / (W² R)",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def bead_finds_its_angle(way: Way) -> Answers:
    """Undamped it swings about the steady angle, damped it comes to rest there."""
    yield from bead_on_a_hoop().answers(way)
    if way.lasts:
        scene = mf.Scene(hoop(damping=1.6), theta=[0.0, 0.4], theta_dot=[HOOP_RATE, 0.0])
        run = mf.simulate(scene, dt=DT, duration=6.0, **way.stepping)
        steady = np.arccos(G / (HOOP_RATE**2 * HOOP))
        yield Answer("steady angle, rad", steady, run.theta[-1, 1], 1e-9, "e^(-d t / 2 m R²), and rounding")


SHAKEN, SHAKING = 0.05, 200.0
"""Metres and rad/s of a pivot that is shaken: at this rate a pendulum of 1 m stands upside down."""


def kapitza() -> Motion:
    """A pendulum upside down on a pivot that a closure shakes: a'' = (g - A W² sin W t) sin a."""

    def rates(t: float, y: Array) -> Array:
        return np.array([y[1], (G - SHAKEN * SHAKING**2 * np.sin(SHAKING * t)) * np.sin(y[0])])

    def motion(t: float) -> tuple[float, float]:
        return SHAKEN * SHAKING * np.cos(SHAKING * t), -SHAKEN * SHAKING**2 * np.sin(SHAKING * t)

    model = mf.Model(gravity=(0, 0, -G), name="kapitza")
    model.add_link("pivot", "world", mf.Hinge("prismatic", (0, 0, 1)), mass=1.0)
    model.add_link("bob", "pivot", mf.Hinge("pin", Y), mass=1.0, com=(0, 0, 1.0))
    model.add_closure(mf.closures.Gear({"pivot": 1.0}, motion=motion))
    scene = mf.Scene(model, theta=[0.0, 0.1], theta_dot=[SHAKEN * SHAKING, 0.0])
    known = lambda: np.array(  # noqa: E731
        [SHAKEN * np.sin(SHAKING * 0.5), integrated(rates, [0.1, 0.0], 0.5)[0]]
    )
    return Motion(scene, 0.5, "place and angle, m and rad", known, lambda run: run.theta[-1], 5e-3)


@system(
    "Kapitza's pendulum, pivot shaken at 200 rad/s",
    "a'' = (g - A W² sin W t) sin a: upside down it stays",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def shaken_pendulum_stands_upside_down(way: Way) -> Answers:
    """A step sees a fifth of a radian of the shaking: what is prescribed changes within it."""
    yield from kapitza().answers(way)


def trammel() -> Motion:
    """Two sliders at a right angle, joined by a rod: the trammel of Archimedes, let go.

    With a from the upright, sliders m_x, m_z and a rod m, l: J = l² (m/3 + m_x cos² a + m_z sin² a),
    J a'' + l² (m_z - m_x) sin a cos a a'² = (m/2 + m_z) g l sin a.
    """
    l, m, m_x, m_z, lean, end = 0.6, 0.5, 0.3, 0.7, 0.3, 1.5
    model = mf.Model(gravity=(0, 0, -G), name="trammel")
    model.add_link("along", "world", mf.Hinge("prismatic", (1, 0, 0)), mass=m_x)
    across = {"mass": m, "com": (0, 0, l / 2), "inertia": np.diag([m * l**2 / 12, m * l**2 / 12, 0.0])}
    model.add_link("rod", "along", mf.Hinge("pin", Y), **across)
    model.add_link("up", "world", mf.Hinge("prismatic", (0, 0, 1)), mass=m_z)
    model.add_closure(mf.closures.Pin(mf.Node("rod", (0, 0, l)), mf.Node("up"), Y))

    def rates(_: float, y: Array) -> Array:
        a, w = y
        s, c = np.sin(a), np.cos(a)
        J = l**2 * (m / 3 + m_x * c**2 + m_z * s**2)
        return np.array([w, ((m / 2 + m_z) * G * l * s - l**2 * (m_z - m_x) * s * c * w**2) / J])

    places = lambda a: np.array([-l * np.sin(a), a, l * np.cos(a)])  # noqa: E731
    known = lambda: places(integrated(rates, [lean, 0.0], end)[0])  # noqa: E731
    scene = mf.Scene(model, theta=places(lean))
    return Motion(
        scene, end, "places and angle, m and rad", known, lambda run: run.theta[-1], second_order(9.0, end)
    )


@system(
    "trammel of Archimedes, let go", "J a'' + J' a'² / 2 = (m/2 + m_z) g l sin a", BOTH_SCHEMES, SLOW_WAYS
)
def trammel_turns_over(way: Way) -> Answers:
    """Its loop has more rows than it needs: it is closed in space, and moves in a plane."""
    yield from trammel().answers(way)
