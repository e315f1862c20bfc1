"""Free flight: momentum and energy are kept to the order of the integrator."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from truth.answers import (
    BOTH_SCHEMES,
    ROUNDING,
    SLOW_WAYS,
    Answer,
    Answers,
    Way,
    simulated,
    system,
    zero,
)
from truth.equations import attitude, integrated, turning
from truth.motions import Motion, second_order

END = 0.2
HALVING = 0.1
"""By how much the order that two steps show may fall short of the integrator's: the next power's share."""
ORDERS = {"semi_implicit_euler": 1, "rk4": 4}


def tumbling_box() -> mf.Model:
    """A box with three different moments of inertia, far from anything."""
    inertia = np.diag([0.02, 0.05, 0.06])
    return mf.Model([mf.Link("box", mass=1.0, inertia=inertia, geometry=Geometry(Box((0.2, 0.5, 0.6))))])


def free_chain(links: int = 4) -> mf.Model:
    """Balls on universal hinges, the first one free."""
    model = mf.Model(name="free_chain")
    parent, hinge = "world", mf.Hinge("free")
    for k in range(links):
        shape = Geometry(Sphere(0.05), mf.Pose((0, 0, -0.1)))
        place = mf.Pose((0, 0, -0.2 * (k > 0)))
        model.add_link(f"link_{k}", parent, hinge, place, 0.5, (0, 0, -0.1), 2e-3 * np.eye(3), shape)
        parent, hinge = f"link_{k}", mf.Hinge("universal", (1, 0, 0), (0, 1, 0))
    return model


@system("free flight of a tumbling box", "momentum and energy kept to the integrator's order")
def tumbling_box_keeps_momentum_and_energy(way: Way) -> Answers:
    """It spins about its middle axis, which is unstable."""
    yield from _kept(way, tumbling_box(), [1.0, 0.5, 2.0, 0.3, 6.0, 0.2])


@system("free flight of an n-link chain", "momentum and energy kept to the integrator's order")
def free_chain_keeps_momentum_and_energy(way: Way) -> Answers:
    """Four balls, thrown and turning."""
    rates = [0.5, 0.0, 2.0, 1.0, 2.0, 3.0] + [2.0, -1.0] * 3
    yield from _kept(way, free_chain(), rates)


def _kept(way: Way, model: mf.Model, rates: list[float]) -> Answers:
    for integrator, order in ORDERS.items():
        errors = [_losses(way, model, rates, integrator, dt) for dt in (4e-3, 2e-3)]
        for what, coarse, fine in zip(("momentum", "spin", "energy"), *errors, strict=True):
            shown = np.log2(coarse / fine) if fine > ROUNDING * 10 else np.inf
            short = max(0.0, order - shown)
            yield zero(
                f"order of {what} short of {order} ({integrator})", short, HALVING, "two steps, 4 and 2 ms"
            )


def _losses(way: Way, model: mf.Model, rates: list[float], integrator: str, dt: float) -> tuple[float, ...]:
    """Return how far momentum, spin about the centre of mass, and energy are off at the end, relatively."""
    run = simulated(way, model, theta_dot=rates, dt=dt, duration=END, integrator=integrator)
    mass = sum(link.mass for link in model.links)
    start, end = (momenta(run.state(k)) for k in (0, -1))
    fallen = mass * model.gravity * END
    momentum = np.linalg.norm(end[1] - start[1] - fallen) / np.linalg.norm(start[1])
    spin = np.linalg.norm(end[0] - start[0]) / np.linalg.norm(start[0])
    energy = abs(run.total_energy[-1] - run.total_energy[0]) / run.kinetic_energy[0]
    return float(momentum), float(spin), float(energy)


def momenta(state: mf.State) -> tuple[np.ndarray, np.ndarray]:
    """Return spin about the centre of mass and linear momentum."""
    momentum = state.momentum()
    links = state.model.links
    centres = np.array([state.pose(mf.Node(link.name, link.com)).position for link in links])
    masses = np.array([link.mass for link in links])
    centre = masses @ centres / masses.sum()
    return momentum[:3] - np.cross(centre, momentum[3:]), momentum[3:]


@system("symmetric top in free flight", "its axis nods at (C - A) w_3 / A in body axes")
def symmetric_top_precesses(way: Way) -> Answers:
    """Euler's equations with A = B: w_1 + i w_2 turns at a constant rate, w_3 stays."""
    A, C, w_3, dt = 0.03, 0.05, 10.0, 1e-3
    model = mf.Model([mf.Link("top", mass=1.0, inertia=np.diag([A, A, C]))], gravity=(0, 0, 0))
    run = simulated(way, model, theta_dot=[0, 0, 0, 1.0, 0, w_3], dt=dt, duration=END, integrator="rk4")
    turned = np.unwrap(np.arctan2(run.theta_dot[:, 4], run.theta_dot[:, 3]))[-1]
    fourth = ((C - A) / A * w_3 * dt) ** 4
    yield Answer(
        "angle of w_1 + i w_2, rad", (C - A) / A * w_3 * END, turned, 10 * END * fourth + ROUNDING, "(w dt)⁴"
    )
    yield zero("change of w_3, rad/s", run.theta_dot[:, 5] - w_3, ROUNDING * w_3, "rounding")


def reaction_wheels() -> Motion:
    """A body without momentum that turns as two wheels in it are driven: J w + C (f e_x + g e_z) = 0."""
    C, A, end = 2e-3, 1.2e-3, 2.0
    body, wheels = np.diag([0.05, 0.06, 0.07]), (np.diag([C, A, A]), np.diag([A, A, C]))
    places, masses = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.05, 0.1]]), np.array([5.0, 0.2, 0.2])
    model = mf.Model([mf.Link("body", mass=masses[0], inertia=body)], gravity=(0, 0, 0))
    drives = (
        lambda t: (40.0 * np.sin(2 * t), 80.0 * np.cos(2 * t)),
        lambda t: (30.0 * (1 - np.cos(3 * t)), 90.0 * np.sin(3 * t)),
    )
    for k, (axis, drive) in enumerate(zip(((1, 0, 0), (0, 0, 1)), drives, strict=True)):
        rotor = {"mass": masses[k + 1], "inertia": wheels[k]}
        model.add_link(f"wheel_{k}", "body", mf.Hinge("pin", axis), mf.Pose(tuple(places[k + 1])), **rotor)
        model.add_closure(mf.closures.Gear({f"wheel_{k}": 1.0}, motion=drive))
    centre = masses @ places / masses.sum()
    arms = places - centre
    J = body + sum(wheels) + np.diag([masses @ (arms**2).sum(axis=1)] * 3) - (arms.T * masses) @ arms

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w = -np.linalg.solve(J, C * np.array([drives[0](t)[0], 0.0, drives[1](t)[0]]))
        return np.asarray(turning(np.eye(3))(t, np.concatenate([y, w]))[:4])

    def known() -> np.ndarray:
        R = attitude(integrated(rates, [0, 0, 0, 1.0], end))
        return np.concatenate([R, centre - R.reshape(3, 3) @ centre])

    def got(run: mf.Trajectory) -> np.ndarray:
        pose = run.state(-1).pose("body")
        return np.concatenate([pose.rotation.ravel(), pose.position])

    return Motion(mf.Scene(model), end, "attitude and place, rad and m", known, got, second_order(3.0, end))


@system("reaction wheels in a body without momentum", "J w + C (f e_x + g e_z) = 0", BOTH_SCHEMES, SLOW_WAYS)
def reaction_wheels_turn_a_body(way: Way) -> Answers:
    """The rates of the wheels are prescribed; when they stand still again the body has turned."""
    yield from reaction_wheels().answers(way)
