"""Stiff hinges: PD gains against closed forms and ODEs, and robots whose dampers must not drive them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.scene.controllers import PD
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, certified, system, zero
from truth.articulated.chains import hanging, relative
from truth.bodies import G
from truth.equations import Chain, integrated
from truth.motions import DT, Motion

KP, KD = 1000.0, 50.0
INERTIA = 0.02
"""Of the hinge, kg m²: KD dt / INERTIA = 2.5, more than an explicit damper bears."""
BOUND = 2e-5
"""Radians at 1 ms, as asked for."""
ROBOTS = "tiago_description/robots/tiago.urdf", "hextilt_description/urdf/hextilt_flying_arm_5.urdf"
ROBOT_FILES = "example-robot-data", "yourdfpy"
"""What holds them, and what reads them."""
UR5 = "ur_description/urdf/ur5_robot.urdf"


def pd_hinge() -> Motion:
    """One hinge without gravity: I a'' + kd a' + kp a = 0, two real roots."""
    link = mf.Link("arm", hinge=mf.Hinge("pin", (0, 0, 1)), mass=1.0, inertia=INERTIA * np.eye(3))
    model = mf.Model([link], gravity=(0, 0, 0))
    start, end = 0.3, 0.1
    fast, slow = np.roots([INERTIA, KD, KP])
    known = start * (fast * np.exp(slow * end) - slow * np.exp(fast * end)) / (fast - slow)
    scene = mf.Scene(model, theta=[start], controllers=[PD(model, KP, KD, [0.0])])
    return Motion(scene, end, "angle, rad", lambda: np.array([known]), lambda run: run.theta[-1], BOUND)


def furuta() -> Motion:
    """An arm that PD holds about the vertical, and a pendulum that swings round its end.

    With arm J, L, pendulum m, l, i, angles f and a, M_11 = J + i + m L² + m l² sin² a, M_12 = m L l cos a:

        M_11 f'' + M_12 a'' = m L l sin a a'² - m l² sin 2a f' a' - kp f - kd f'
        M_12 f'' + (m l² + i) a'' = m l² sin a cos a f'² - m g l sin a.
    """
    J, L, m, l, i, kp, kd = 0.02, 0.2, 0.1, 0.3, 1e-4, 40.0, 2.0
    model = mf.Model(gravity=(0, 0, -G), name="furuta")
    model.add_link("arm", "world", mf.Hinge("pin", (0, 0, 1)), mass=1.0, inertia=J * np.eye(3))
    bob = {"mass": m, "com": (0, 0, -l), "inertia": i * np.eye(3)}
    model.add_link("bob", "arm", mf.Hinge("pin", (1, 0, 0)), mf.Pose((L, 0, 0)), **bob)

    def rates(_: float, y: Array) -> Array:
        f, a, df, da = y
        s, c = np.sin(a), np.cos(a)
        M = np.array([[J + i + m * L**2 + m * (l * s) ** 2, m * L * l * c], [m * L * l * c, m * l**2 + i]])
        arm = m * L * l * s * da**2 - 2 * m * l**2 * s * c * df * da - kp * f - kd * df
        return np.concatenate([[df, da], np.linalg.solve(M, [arm, m * l * s * (l * c * df**2 - G)])])

    start, end = np.array([0.5, 2.0]), 2.0
    scene = mf.Scene(model, theta=start, controllers=[PD(model, kp, kd, np.zeros(2), dofs=["arm"])])
    known = lambda: integrated(rates, [*start, 0.0, 0.0], end)[:2]  # noqa: E731
    return Motion(scene, end, "angles, rad", known, lambda run: run.theta[-1], 5e-5)


@system("Furuta's pendulum, its arm held by PD", "Lagrange's equations, 2 s", BOTH_SCHEMES, SLOW_WAYS)
def furuta_swings(way: Way) -> Answers:
    """The pendulum turns over and shakes the arm that a drive holds."""
    yield from furuta().answers(way)


def pd_arm() -> Motion:
    """Two rods under gravity; torques on the absolute angles are t_1 - t_2 and t_2."""
    chain, end = Chain.of_rods([0.4, 0.3], [1.0, 0.5]), 0.3
    start, target = np.array([0.8, 1.4]), np.array([0.3, -0.2])
    model = hanging(chain)

    def torque(a: Array, rate: Array) -> Array:
        t = KP * (target - relative(a)) - KD * relative(rate)
        return np.array([t[0] - t[1], t[1]])

    scene = mf.Scene(model, theta=relative(start), controllers=[PD(model, KP, KD, target)])
    return Motion(
        scene,
        end,
        "angles, rad",
        lambda: integrated(chain.free(torque), [*start, 0.0, 0.0], end)[:2],
        lambda run: np.cumsum(run.theta[-1]),
        BOUND,
    )


@system("PD on one hinge, kp = 1000, kd = 50", "sum of two exponentials", BOTH_SCHEMES, SLOW_WAYS)
def pd_hinge_returns(way: Way) -> Answers:
    """The damper's own time is 0.4 ms, less than the step."""
    yield from pd_hinge().answers(way)


@system("PD on an arm of two links, kp = 1000, kd = 50", "Lagrange's equations", BOTH_SCHEMES, SLOW_WAYS)
def pd_arm_reaches_its_target(way: Way) -> Answers:
    """The gains couple with the mass matrix of the arm."""
    yield from pd_arm().answers(way)


def robots(paths: tuple[str, ...], floating: bool = False) -> Iterator[mf.Model]:
    """Yield robots of example-robot-data."""
    package = distribution("example-robot-data")
    for path in paths:
        file = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / path
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mf.ModelWarning)  # what files leave out is not the matter here
            yield mf.load_urdf(file, floating_base=floating)


def inside(model: mf.Model) -> Array:
    """Return the coordinates nearest to the neutral ones that no joint limit forbids."""
    theta = model.neutral()
    for link, start in zip(model.links, model.theta_start, strict=True):
        if link.hinge.quaternion_start is None:
            at = slice(start, start + link.hinge.n_theta)
            theta[at] = np.clip(theta[at], link.lower, link.upper)
    return theta


@system(
    "robots with damped joints, falling freely",
    "E + dissipated + lost at limits stays, within 1 %",
    needs=ROBOT_FILES,
)
def damped_robots_fall(way: Way) -> Answers:
    """Dampers of joints that carry next to nothing; on fixed and on floating bases."""
    for model in (*robots(ROBOTS), *robots(ROBOTS, floating=True)):
        scene = mf.Scene(model, theta=inside(model), ignore=["*"])
        run = mf.simulate(scene, dt=DT, duration=1.0, **way.stepping)
        power = (run.theta_dot**2) @ model.damping
        lost = np.sum(run.impacts.energy_before - run.impacts.energy_after)
        dissipated = np.sum((power[1:] + power[:-1]) / 2) * DT
        left = run.total_energy[0] - run.total_energy[-1] - dissipated - lost
        turned_over = np.ptp(run.potential_energy)
        yield certified(run)
        yield zero(f"{model.name}: energy unaccounted for, share", left / turned_over, 1e-2, "asked for")
        yield zero(f"{model.name}: largest rate, rad/s", run.theta_dot, 50.0, "it falls for a second")


@system("UR5 held by PD, kp = 1000, kd = 50", "stands still", needs=ROBOT_FILES)
def ur5_stands_still(way: Way) -> Answers:
    """It sags under its weight within the first second, then nothing moves: wrists of 1e-4 kg m² too."""
    for model in robots((UR5,)):
        hold = np.array([0.0, -1.0, 1.0, -0.5, 0.5, 0.0])[: model.n_theta]
        scene = mf.Scene(model, theta=hold, controllers=[PD(model, KP, KD, hold)], ignore=["*"])
        run = mf.simulate(scene, dt=DT, duration=3.0, **way.stepping)
        yield certified(run)
        yield zero(
            "rates after 3 s, rad/s",
            run.theta_dot[-100:],
            1e-8,
            "settled: e^(-t kp / kd) of the stiffest, and rounding",
        )
