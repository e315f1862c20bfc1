"""The fourth-order rule: orders by halving the step, on hinges, balls, free bodies, springs and loops."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.jit import Indices, Vector, VectorOut, kernel
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.step.moving.flight import tangent_rate

HALVED = 13.0
"""Halving the step of a fourth-order rule divides its error by 16, up to terms of the next order; of a
third-order rule by 8."""


def body(name="body", hinge="free", parent="world", **more):
    inertia = np.diag([0.1, 0.25, 0.3])
    return mf.Link(name, parent, mf.Hinge(hinge), mass=1.0, com=(0.1, 0.05, -0.3), inertia=inertia, **more)


def tumbling():
    return mf.Model([body()]), [0.5, -1.0, 2.0, 3.0, 1.0, -2.0]


def spherical():
    return mf.Model([body(hinge="ball")]), [1.0, 2.0, -1.5]


def balls():
    second = body("second", "ball", "body", pose=mf.Pose((0, 0, -0.6)))
    return mf.Model([body(hinge="ball"), second]), [1.0, 2.0, -1.5, 0.5, -1.0, 2.0]


def chain():
    return mf.systems.pendulum(links=4), [1.0, -2.0, 0.5, 1.0]


def sprung():
    slide = mf.Link(
        "slide", hinge=mf.Hinge("prismatic"), mass=1.0, inertia=np.eye(3), stiffness=40.0, damping=0.5
    )
    return mf.Model([slide]), [1.0]


def four_bar():
    model = mf.systems.four_bar(height=5.0)
    return model, mf.multibody.project_rates(model.state(None, [3.0, 0.0, 0.0]))


SYSTEMS = [tumbling, spherical, balls, chain, sprung, four_bar]


def end(model, rates, dt, duration=0.32, integrator="rk4"):
    ignore = ["*"] if any(link.geometry for link in model.links) else []
    scene = mf.Scene(model, None, rates, ignore=ignore, stepping=mf.Stepping(dt=dt, integrator=integrator))
    state = scene.initial_state()
    Engine(scene).advance(state, 0, round(duration / dt))
    return state


def order_ratio(errors):
    return errors[0] / errors[1]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.__name__)
def test_the_motion_is_of_fourth_order(system):
    model, rates = system()
    steps = 0.04, 0.02
    exact = end(model, rates, 0.0025)
    ends = [end(model, rates, dt) for dt in steps]
    places = [np.abs(model.difference(exact.theta, state.theta)).max() for state in ends]
    speeds = [np.abs(exact.theta_dot - state.theta_dot).max() for state in ends]
    assert order_ratio(places) >= HALVED
    assert order_ratio(speeds) >= HALVED


@pytest.mark.parametrize("system", [tumbling, balls, chain, four_bar], ids=lambda system: system.__name__)
def test_energy_drifts_at_fourth_order(system):
    model, rates = system()
    start = model.state(None, rates)
    energy = start.kinetic_energy() + start.potential_energy()
    ends = [end(model, rates, dt) for dt in (0.04, 0.02)]
    drift = [abs(state.kinetic_energy() + state.potential_energy() - energy) for state in ends]
    assert order_ratio(drift) >= HALVED


def test_flight_between_impacts_is_of_fourth_order():
    """A rod that swings into an elastic stop, twice; times of impact are found as well as can be."""
    link = body(hinge="pin", upper=0.0)
    fine = {"penetration_tolerance": 1e-13, "time_tolerance": 1e-15, "limit_restitution": 1.0}

    def angle(dt):
        way = mf.Stepping(dt=dt, duration=4.0, integrator="rk4", rest_speed=1e-12, **fine)
        model = mf.Model([link], gravity=(9.81, 0, 0))
        run = mf.simulate(mf.Scene(model, theta=[-1.2], stepping=way))
        assert len(run.impacts) >= 2
        return run.theta[-1, 0]

    exact = angle(0.00125)
    errors = [abs(angle(dt) - exact) for dt in (0.02, 0.01)]
    assert order_ratio(errors) >= HALVED


def test_semi_implicit_euler_is_of_first_order():
    model, rates = spherical()
    exact = end(model, rates, 0.0025)
    errors = [
        np.abs(exact.theta_dot - end(model, rates, dt, integrator="semi_implicit_euler").theta_dot).max()
        for dt in (0.004, 0.002)
    ]
    assert 1.7 <= order_ratio(errors) <= 2.3


@kernel(Indices, Vector, Vector, VectorOut)
def rate_of_tangent(I, u, rates, out):
    tangent_rate(I, u, 0, rates, 0, out, 0)


def test_the_rate_of_the_tangent_is_that_of_the_exponential_map():
    """Against differences of `Model.difference`, the logarithm, along a motion at constant rates."""
    model = mf.Model([body(), body("second", "ball", "body")])
    rng = np.random.default_rng(1)
    theta, u = model.neutral(), 0.05 * rng.normal(size=9)
    rates, eps = rng.normal(size=9), 1e-5
    there = model.integrate(theta, u, 1.0)
    ahead, behind = (
        model.difference(theta, model.integrate(there, rates, side * eps)) for side in (1.0, -1.0)
    )
    found = np.zeros(9)
    rate_of_tangent(model.tree.skeleton.I, u, rates, found)
    fourth_power = np.linalg.norm(u) ** 4
    np.testing.assert_allclose(found, (ahead - behind) / (2.0 * eps), atol=fourth_power + 1e-9)
