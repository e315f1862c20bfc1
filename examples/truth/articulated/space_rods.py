"""Rods in space, end to end: swinging, thrown, on ice; against points with a constant mass matrix.

The points know nothing of hinges, angles and quaternions; see `truth.equations.Rods`.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Geometry, Sphere
from truth.answers import BOTH_SCHEMES, SLOW_WAYS, Answers, Way, system
from truth.bodies import FLOOR, G
from truth.equations import Rods, integrated
from truth.motions import Motion, second_order

LENGTH, MASS = (0.5, 0.4, 0.3), (1.0, 0.6, 0.5)
FOOT = 0.02
"""Radius of the ball at the end that stands on ice, m."""
SPIN = 1e-8
"""Inertia about their axes of rods that can turn about them, kg m²: their spin moves nothing else."""
UNIVERSAL = mf.Hinge("universal", (1, 0, 0), (0, 1, 0))


def rods(n: int, first: mf.Hinge, other: mf.Hinge, foot: bool = False) -> mf.Model:
    """Return n rods that hang down from each other's ends."""
    model = mf.Model(gravity=(0, 0, -G), geometry=[FLOOR] if foot else [], name="rods")
    for k, (length, mass) in enumerate(zip(LENGTH[:n], MASS[:n], strict=True)):
        hinge, parent, place = (other, f"rod_{k - 1}", LENGTH[k - 1]) if k else (first, "world", 0.0)
        across, along = mass * length**2 / 12, 0.0 if hinge is UNIVERSAL else SPIN
        inertia, shapes = np.diag([across, across, along]), [Geometry(Sphere(FOOT))] if foot and not k else []
        pose, com = mf.Pose((0, 0, -place)), (0, 0, -length / 2)
        model.add_link(f"rod_{k}", parent, hinge, pose, mass, com, inertia, shapes)
    return model


def ends(model: mf.Model) -> list[mf.Node]:
    """Return the ends of the rods, the first one's beginning before them."""
    lengths = zip(model.links, LENGTH, strict=False)
    return [mf.Node("rod_0"), *(mf.Node(link.name, (0, 0, -length)) for link, length in lengths)]


def places(state: mf.State) -> Array:
    """Return where the ends are [n, 3]."""
    return np.array([state.pose(node).position for node in ends(state.model)])


def moved(scene: mf.Scene, duration: float, fastest: float, held: tuple[int, ...] = ()) -> Motion:
    """Return the motion of the ends of rods; `fastest` as in `second_order`."""
    model, start = scene.model, scene.initial_state()
    y = np.concatenate([places(start), start.node_velocities(ends(model))[:, 3:]]).ravel()
    known = lambda: np.split(integrated(Rods(MASS[: len(model.links)], held).rates, y, duration), 2)[0]  # noqa: E731
    got = lambda run: places(run.state(-1)).ravel()  # noqa: E731
    return Motion(scene, duration, "ends, m", known, got, second_order(fastest, duration, sum(LENGTH)))


def turned(*angles: float) -> Array:
    """Return the quaternion of turns about x and y."""
    return np.asarray(Rotation.from_euler("xy", angles).as_quat())


def spherical_pendulum(hinge: str = "ball") -> Motion:
    """Two rods on balls, or on universal hinges, that swing out of every plane."""
    if hinge == "ball":
        model = rods(2, mf.Hinge("ball"), mf.Hinge("ball"))
        theta, rates = np.concatenate([turned(1.0, 0.4), turned(0.3, -0.9)]), [1.0, 2.0, 0, -3.0, 1.0, 0]
        fastest = 12.0
    else:
        model = rods(2, UNIVERSAL, UNIVERSAL)
        theta, rates, fastest = np.array([0.6, 0.3, 0.2, -0.5]), [1.0, 2.0, -3.0, 1.0], 8.3
    return moved(mf.Scene(model, theta=theta, theta_dot=rates), 1.0, fastest, held=(0, 1, 2))


@system(
    "double pendulum in space", "points p_1, p_2 with M = const, |d| = const: an ODE", BOTH_SCHEMES, SLOW_WAYS
)
def double_pendulum_swings_in_space(way: Way) -> Answers:
    """On ball hinges and on universal ones: quaternions and angles."""
    for hinge in ("ball", "universal"):
        yield from spherical_pendulum(hinge).answers(way)


def thrown_rods() -> Motion:
    """Three rods on balls, thrown, the first one free."""
    model = rods(3, mf.Hinge("free"), mf.Hinge("ball"))
    turns = [turned(0.7, 0.4), turned(0.7, 0.4), turned(-0.9, 0.5)]
    theta = np.concatenate([[0, 0, 1.0], *turns])
    rates = [0.3, 0, 1.0, 2.0, 1.0, 0, 1.0, -2.0, 0, 3.0, 1.0, 0]
    return moved(mf.Scene(model, theta=theta, theta_dot=rates), 1.0, 8.5)


@system(
    "three rods thrown, on ball hinges",
    "points p_0 ... p_3 with |d| = const: an ODE",
    BOTH_SCHEMES,
    SLOW_WAYS,
)
def thrown_rods_tumble(way: Way) -> Answers:
    """Nothing holds them: hinges bend and the whole tumbles."""
    yield from thrown_rods().answers(way)


def rods_on_ice() -> Motion:
    """Two rods, the lower one standing with a small ball on ice, sliding and falling."""
    model = rods(2, mf.Hinge("free"), mf.Hinge("ball"), foot=True)
    lean = turned(np.pi - 0.5, 0.2)
    glide = Rotation.from_quat(lean).inv().apply([0.3, 0.1, 0.0])
    theta = np.concatenate([[0, 0, FOOT], lean, turned(0.4, -0.7)])
    rates = np.concatenate([glide, [0.5, 0.3, 0, -1.0, 2.0, 0]])
    return moved(mf.Scene(model, theta=theta, theta_dot=rates), 0.2, 5.7, held=(2,))


@system("two rods on ice", "the same points, z of p_0 held: an ODE", BOTH_SCHEMES, SLOW_WAYS)
def rods_fall_on_ice(way: Way) -> Answers:
    """A floating tree in lasting contact: the floor takes its weight, nothing takes its momentum along it."""
    yield from rods_on_ice().answers(way)
