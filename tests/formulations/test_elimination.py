"""Velocities and loop impulses eliminated: against [J14, Eq. (39)] written with inverses."""

import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe.formulations.elimination import Elimination

EXACT = 1e-12
"""Rounding in matrices of six rows and condition numbers below a hundred."""

N, RANK = 6, 2


@pytest.fixture
def system(rng):
    """Mass matrix, loops, what they must be, and the free velocity."""
    root = rng.standard_normal((N, N))
    mass_matrix = root @ root.T + N * np.eye(N)
    return mass_matrix, rng.standard_normal((RANK, N)), rng.standard_normal(RANK), rng.standard_normal(N)


def eliminated(system, kind):
    mass_matrix, G_b, u, v_f = system
    inverse = kind(np.linalg.inv(mass_matrix))
    return Elimination(lambda B: inverse @ B, v_f, kind(G_b), u)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_Y_and_X_are_those_of_the_paper(system, kind):
    mass_matrix, G_b, u, v_f = system
    inverse = np.linalg.inv(mass_matrix)
    gain = inverse @ G_b.T @ np.linalg.inv(G_b @ inverse @ G_b.T)
    elimination = eliminated(system, kind)
    Y = elimination.compliance(kind(np.eye(N)))
    Y = Y.toarray() if sp.issparse(Y) else Y
    np.testing.assert_allclose(Y, inverse - gain @ G_b @ inverse, atol=EXACT)
    np.testing.assert_allclose(elimination.X, v_f + gain @ (u - G_b @ v_f), atol=EXACT)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_impulses_and_velocity_solve_the_saddle_point_system(system, kind, rng):
    mass_matrix, G_b, u, v_f = system
    momentum = rng.standard_normal(N)
    v, p_b = eliminated(system, kind).velocity(momentum)
    saddle = np.block([[mass_matrix, -G_b.T], [G_b, np.zeros((RANK, RANK))]])
    expected = np.linalg.solve(saddle, np.concatenate([mass_matrix @ v_f + momentum, u]))
    np.testing.assert_allclose(np.concatenate([v, p_b]), expected, atol=EXACT)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_row_that_the_loops_hold_has_no_compliance_at_all(system, kind):
    """Not even what rounding would leave of it."""
    _, G_b, _, _ = system
    held = kind(np.vstack([[1.0, -2.0] @ G_b, np.ones(N)]))
    compliance = eliminated(system, kind).compliance(held)
    compliance = compliance.toarray() if sp.issparse(compliance) else compliance
    assert not compliance[0].any()
    assert not compliance[:, 0].any()
    assert compliance[1, 1] > 0.0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_without_loops_nothing_is_eliminated(system, kind):
    mass_matrix, _, _, v_f = system
    elimination = eliminated((mass_matrix, np.zeros((0, N)), np.zeros(0), v_f), kind)
    v, p_b = elimination.velocity(np.zeros(N))
    assert p_b.size == 0
    np.testing.assert_allclose(v, v_f, atol=EXACT)
