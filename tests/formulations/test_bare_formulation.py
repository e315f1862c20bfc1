"""A formulation of nothing but `build` and `recover` does all that a simulation needs.

What a step asks of its rows is the step's to say, so that a stranger's formulation need not know of position
level, rebounds or drift control: it adds what the step tells it.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest
from contact_scenes import DT, SCENES, Scene

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.law_blocks import LawBlocks

SAME = 1e-9
"""Difference of velocities, relative to 1 + the largest: the promise of all formulations."""
BOUNCES = 1e-6
"""Metres after some bounces, each found to 1e-9 s at metres per second."""


@dataclass(frozen=True)
class Kept:
    """What `recover` needs."""

    step: mf.ContactStep
    free: np.ndarray
    response: np.ndarray
    ends: np.ndarray


@final
class Bare(mf.AbstractFormulation):
    """Impulses of loops, limits and contacts in one block, with the mass matrix factored as a whole."""

    name = "bare"

    def build(self, step: mf.ContactStep) -> tuple[mf.MixedLCP, Kept]:
        """z = [p_b; p_l; β; σ], w = G (θ̇_f + Mass^-1 G* p) + what the step adds."""
        state, laws = step.state, LawBlocks.of(step.law_rows, step.C)
        rows = [part.jacobian(state) for part in (step.bilateral, step.limits, step.contact_rows)]
        G = np.vstack([*rows[:2], laws.D.T @ rows[2]])
        shift = np.concatenate([-step.closure_rate, step.limit_shift, laws.D.T @ step.contact_row_shift])
        free = state.theta_dot + step.dt * step.free_acceleration
        response = np.linalg.solve(state.mass_matrix(), G.T)
        n_b, n_l = len(rows[0]), len(rows[1])
        N = np.vstack([np.zeros((n_b + n_l, laws.n_sigma)), laws.N])
        P = np.hstack([np.zeros((laws.n_sigma, n_b + n_l)), laws.P])
        yields = (laws.D.T * step.contact_row_softness) @ laws.D
        compliance = G @ response + np.pad(yields, ((n_b + n_l, 0), (n_b + n_l, 0)))
        problem = mf.MixedLCP(
            np.block([[compliance, N], [P, laws.R]]),
            np.concatenate([G @ free + shift, laws.r + step.slack_shift]),
            np.concatenate([np.full(n_b, -np.inf), np.zeros(n_l), laws.beta_lower, laws.sigma_lower]),
            np.concatenate([np.full(n_b + n_l, np.inf), laws.beta_upper, laws.sigma_upper]),
        )
        return problem, Kept(step, free, response, np.cumsum([n_b, n_l, laws.n_beta]))

    def recover(self, recovery: Any, solution: mf.Solution) -> mf.Outcome:
        """θ̇+ = θ̇_f + Mass^-1 G* p."""
        p_b, p_l, beta, sigma = np.split(solution.z, recovery.ends)
        theta_dot = recovery.free + recovery.response @ solution.z[: recovery.ends[-1]]
        w_beta = solution.w[recovery.ends[1] : recovery.ends[2]]
        return mf.Outcome(recovery.step, theta_dot, p_b, p_l, beta, sigma, w_beta)


def solved(formulation, step):
    problem, recovery = formulation.build(step)
    return formulation.recover(recovery, mf.solve(problem, throw=True))


def assert_same_step(step):
    expected = solved(mf.formulation("os"), step).theta_dot
    found = solved(Bare(), step).theta_dot
    assert np.abs(found - expected).max(initial=0.0) <= SAME * (1.0 + np.abs(expected).max(initial=0.0))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_it_takes_the_steps_of_all_others(scene: Scene):
    given = scene.step("coulomb")
    if given.bilateral.n:
        pytest.skip("closures may repeat each other, which takes more than this")
    for asks in ({}, {"position_level": True}):
        forces = given.tau, given.wrenches
        assert_same_step(mf.ContactStep(given.state, given.contacts, DT, *forces, **asks))
    assert_same_step(ImpactStep(given.state, given.contacts))


def test_it_writes_no_rows_before_laws():
    assert Bare().rows(SCENES[0].step("coulomb")) is None


def ball(formulation, **stepping):
    """A ball that falls by 0.2 m; restitution 0.5."""
    return mf.Scene(
        mf.systems.sphere(),
        theta={"sphere": mf.Pose((0, 0, 0.3))},
        materials=mf.Material(restitution=0.5),
        stepping=mf.Stepping(dt=5e-3, duration=0.8, formulation=formulation, **stepping),
    )


@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_a_ball_bounces_and_comes_to_rest(scheme, restitution_model):
    way = {"scheme": scheme, "restitution_model": restitution_model}
    found, expected = (mf.simulate(ball(formulation, **way)) for formulation in (Bare(), "os"))
    assert len(found.impacts) == len(expected.impacts) > 2
    np.testing.assert_allclose(found.theta, expected.theta, atol=BOUNCES)
    np.testing.assert_allclose(found.theta_dot[-1], 0.0, atol=BOUNCES)


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_a_limit_throws_a_bar_back(scheme):
    bar = {"mass": 1.0, "com": (1, 0, 0), "inertia": np.eye(3), "upper": 0.3}
    model = mf.Model([mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), **bar)])
    stepping = mf.Stepping(dt=5e-3, duration=0.5, scheme=scheme, limit_restitution=0.5)
    scene = mf.Scene(model, [0.25], [2.0], stepping=stepping)
    found, expected = (mf.simulate(scene, formulation=formulation) for formulation in (Bare(), "os"))
    assert len(found.impacts) == len(expected.impacts) > 1
    np.testing.assert_allclose(found.theta, expected.theta, atol=BOUNCES)
