"""Test impulses and analytical constraints of the paper against compliance and complementarity problems."""

import numpy as np
import pytest
from test_hybrid import BODIES, some_links, some_state
from trees import random_nodes

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.limits import closed_limits
from mcpframe.multibody.adaptive.collisions import collision_matrix, constrained_rates

EXACT = 1e-10


@pytest.mark.parametrize("name", BODIES)
def test_impulses_on_a_hybrid_body_add_what_its_compliance_says(rng, name):
    state = some_state(rng, name)
    hybrid = state.hybrid(some_links(rng, state))
    nodes = random_nodes(rng, state.model, 3)
    Lambda = hybrid.compliance(nodes).reshape(3, 2, 3, 3, 2, 3)[:, 1, :, :, 1].reshape(9, 9)
    K = collision_matrix(hybrid, nodes)
    np.testing.assert_allclose(K, Lambda, atol=EXACT * (1 + np.abs(Lambda).max()))


def test_limits_that_all_press_are_the_analytical_ones(rng):
    """An impact on limits, by the rows of the problem and by h - h_0 = K f."""
    hinge = mf.Hinge("pin", (0, 1, 0))
    links = [
        mf.Link(
            f"link_{k}",
            f"link_{k - 1}" if k else "world",
            hinge,
            mf.Pose((0, 0, -0.5 if k else 0.0)),
            mass=1.0,
            com=(0, 0, -0.25),
            inertia=0.05 * np.eye(3),
            upper=0.3,
        )
        for k in range(8)
    ]
    state = mf.Model(links).state(np.full(8, 0.3), np.full(8, 2.0))
    hybrid = state.hybrid(["link_0", "link_3", "link_5"])
    formulation = mf.formulation("os")
    problem, recovery = formulation.build(ImpactStep(hybrid, [], limits=closed_limits(hybrid, 1e-6)))
    outcome = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
    pressing = [name for name, p in zip(hybrid.model.dof_names, outcome.p_l, strict=True) if p > 0.0]
    rates, f = constrained_rates(hybrid, pressing)
    np.testing.assert_allclose(rates, outcome.theta_dot, atol=EXACT)
    np.testing.assert_allclose(-f, outcome.p_l[outcome.p_l > 0.0], atol=EXACT)
    assert len(pressing) > 0
