"""Rods that slide and fall: Painlevé's, the ladder, and one that is dropped."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane
from truth.answers import Answer, Answers, Way, certified, simulated, system, ways, zero
from truth.bodies import FLOOR, G, rod

LENGTH, RADIUS = 1.0, 0.01
OVERLAP = 1e-6
"""Metres to which times of impact are found."""
NO_FORCE = 1e-6
"""Newton; residuals of 1e-9 over a step of 0.5 ms."""
SPEED = 1e-8
"""Speeds of about one after an impact: certified residuals."""


def leaning_rod(lean: float) -> mf.Model:
    """A rod that rises towards x, its lower end on the floor."""
    return rod(LENGTH, lean, (0, 0, RADIUS + LENGTH / 2 * np.sin(lean)), radius=RADIUS)


def tip(lean: float) -> mf.Node:
    """The lower end of the rod; the point where it touches lies straight below."""
    return mf.Node("rod", (-LENGTH / 2 * np.cos(lean), 0, -LENGTH / 2 * np.sin(lean)))


def stiffness_of_sliding(lean: float, mu: float) -> float:
    """Return a_n per normal force while the tip slides to -x: n* Lambda (n + mu t), friction towards x.

    On paper (1 + 3 cos a (cos a - mu sin a)) / m.
    """
    Lambda = leaning_rod(lean).state().compliance([tip(lean)])[3:, 3:]
    return float(Lambda[2] @ [mu, 0.0, 1.0])


def solutions(a: float, b: float) -> int:
    """Return how many solutions the LCP a F + b >= 0, F >= 0 has."""
    solution = mf.solve(mf.MixedLCP([[a]], [b]), "enum")
    return 1 + len(solution.alternatives) if solution.ok else 0


@system(
    "Painlevé rod (uniform), sliding", "acceleration-level LCP loses its unique solution only for mu > 4/3"
)
def painleve_rod_loses_uniqueness_above_four_thirds(way: Way) -> Answers:
    """The worst angle for each mu, and the mu whose worst angle has no stiffness left."""

    def worst(mu: float) -> tuple[float, float]:
        least = minimize_scalar(
            lambda a: stiffness_of_sliding(a, mu), (0.1, 1.0, 1.5), options={"xtol": 1e-10}
        )
        return float(least.x), float(least.fun)

    critical = brentq(lambda mu: worst(mu)[1], 1.0, 2.0, xtol=1e-12)
    yield Answer("mu", 4 / 3, critical, 1e-9, "root and minimum to 1e-10")
    for mu, counts in ((1.3, (1, 1)), (1.4, (0, 2))):
        a = worst(mu)[1]
        for b, count in zip((-G, G), counts, strict=True):
            yield Answer(f"solutions, mu = {mu}, b = {b}", count, solutions(a, b), 0, "counted")


@system("Painlevé rod, time-stepping", "a finite impulse where accelerations have no solution", ways())
def painleve_rod_gets_a_finite_impulse(way: Way) -> Answers:
    """Mu = 2, sliding into the jam: the tip is stopped by an impulse, as if it had hit something.

    The impulse is known: it takes the tip's velocity to zero, (J Mass^-1 J*) p = -v_free, in the plane.
    """
    mu, dt = 2.0, 1e-3
    lean = float(minimize_scalar(lambda a: stiffness_of_sliding(a, mu), (0.1, 1.0, 1.5)).x)
    yield Answer(
        "solutions at acceleration level", 0, solutions(stiffness_of_sliding(lean, mu), -G), 0, "counted"
    )
    model = leaning_rod(lean)
    state = model.state(theta_dot=_gliding(model, -1.0))
    point = state.pose(tip(lean)).position - [0, 0, RADIUS]
    step = mf.ContactStep(state, [mf.Contact("rod", "world", point, (0, 0, 1), mu, tangent=(1, 0, 0))], dt)
    formulation = mf.formulation(way.formulation)
    problem, recovery = formulation.build(step)
    solution = mf.solve(problem, way.solver)
    yield zero("residual", solution.residual, 1e-9, "tolerance of the solve")
    impulse = formulation.recover(recovery, solution).impulses[0]
    node = mf.Node("rod", np.subtract(tip(lean).position, (0, 0, RADIUS)))
    free = state.node_velocities([node])[0, 3:] + dt * _free_acceleration(state, node)
    Lambda = state.compliance([node])[3:, 3:][np.ix_([0, 2], [0, 2])]
    for axis, known, got in zip("xz", np.linalg.solve(Lambda, -free[[0, 2]]), impulse[[0, 2]], strict=True):
        yield Answer(f"impulse along {axis}, N s", known, got, SPEED, "certified residual")
    run = simulated(way, model, mf.Material(mu=mu), theta_dot=_gliding(model, -1.0), dt=dt, duration=0.02)
    yield certified(run)
    yield Answer("jams among the impacts", 1, int(run.impacts.jam.sum()), 0, "counted")


def _gliding(model: mf.Model, speed: float) -> np.ndarray:
    """Return rates of a planar hinge that move the rod along x."""
    columns = model.state().hinge_columns()
    return speed * columns[:, 3]


def _free_acceleration(state: mf.State, node: mf.Node) -> np.ndarray:
    return (state.jacobian([node]) @ state.free_acceleration())[3:] + state.node_bias([node])[0, 3:]


@system("rod dropped on its end, angle a, no friction", "J = m v (1 + e) / (1 + 3 cos² a)", ways())
def dropped_rod_gets_the_known_impulse(way: Way) -> Answers:
    """Falls 5 cm; the speed at the impact is exact, its time is found to a micrometre of overlap."""
    lean, height, e = np.radians(40.0), 0.05, 0.6
    model = rod(LENGTH, lean, (0, 0, RADIUS + LENGTH / 2 * np.sin(lean) + height), radius=RADIUS)
    run = simulated(way, model, mf.Material(restitution=e), dt=1e-3, duration=0.105, integrator="rk4")
    yield certified(run)
    v = np.sqrt(2 * G * height)
    impulse = v * (1 + e) / (1 + 3 * np.cos(lean) ** 2)
    spin = impulse * LENGTH / 2 * np.cos(lean) / (LENGTH**2 / 12)
    deeper = OVERLAP / height
    yield Answer("spin after it, rad/s", spin, np.abs(run.theta_dot[-1, 2]), spin * deeper, "falls 1 µm more")
    lost = run.impacts.energy_before[0] - run.impacts.energy_after[0]
    known = (1 - e**2) / 2 * v**2 / (1 + 3 * np.cos(lean) ** 2)
    yield Answer("energy lost, J", known, lost, 2 * known * deeper, "falls 1 µm more")


@system(
    "ladder sliding down a smooth wall, from the angle a0",
    "w² = (3 g / l) (sin a0 - sin a); leaves the wall at sin a = (2/3) sin a0",
)
def ladder_slides_and_leaves_the_wall(way: Way) -> Answers:
    """No friction; ends slide along planes. It leaves the wall where the wall's force, which falls, ends."""
    start, dt = np.radians(60.0), 5e-4
    wall = Geometry(Plane(), mf.Pose.from_rpy(rpy=(0, np.pi / 2, 0)), "wall")
    place = (LENGTH / 2 * np.cos(start) + RADIUS, 0, LENGTH / 2 * np.sin(start) + RADIUS)
    run = simulated(way, rod(LENGTH, np.pi - start, place, (FLOOR, wall), RADIUS), dt=dt, duration=0.34)
    yield certified(run)
    forces = [run.contacts_at(k).impulse[:, 0].sum() / dt for k in range(len(run))]
    last = int(np.flatnonzero(np.array(forces) > NO_FORCE)[-1])
    angle, got = start - abs(run.theta[last, 2]), abs(run.theta_dot[last, 2])
    known = np.arcsin(2 / 3 * np.sin(start))
    rate = np.sqrt(3 * G / LENGTH * (np.sin(start) - np.sin(known)))
    yield Answer("angle where it leaves the wall, rad", known, angle, 3 * rate * dt, "three steps")
    middle = last // 2
    lean = start - abs(run.theta[middle, 2])
    force = 3 / 4 * G * np.cos(lean) * (3 * np.sin(lean) - 2 * np.sin(start))
    yield Answer(
        "force of the wall half way, N", force, forces[middle], 0.02 * force, "acceleration times dt"
    )
    square = 3 * G / LENGTH * (np.sin(start) - np.sin(angle))
    yield Answer(
        "angular speed there, rad/s", np.sqrt(square), got, 3 * G / LENGTH * dt, "acceleration times dt"
    )
