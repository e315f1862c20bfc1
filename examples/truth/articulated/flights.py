"""Free flight: momentum and energy are kept to the order of the integrator."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from truth.answers import ROUNDING, Answer, Answers, Way, simulated, system, zero

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
