"""Piles: contact maps against finite differences, kinds, and the sparse inverse of their masses."""

import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe import FrictionProblem, OptionError
from mcpframe.problem.global_form import LARGEST_BLOCK, GlobalForm
from mcpframe.problem.piles import KINDS, Pile, contact_map, packing, pile_problem, settled

STEP, SAME = 1e-6, 1e-6
"""Of a finite difference, and the error that it leaves of rates of about 1 m/s over lengths of 0.1 m."""


@pytest.mark.parametrize("dim", [2, 3])
def test_normal_velocities_are_rates_of_the_gaps(rng, dim):
    pile = packing(60, dim, seed=1)
    v = rng.standard_normal(pile.velocity.shape)
    contacts = pile.contacts()
    later = pile.moved(v.ravel(), STEP)
    second = np.where(contacts.second >= 0, contacts.second, contacts.first)
    apart = later.place[contacts.first] - later.place[second]
    walls = contacts.second < 0
    was = np.linalg.norm(pile.place[contacts.first] - pile.place[second], axis=1)
    rate = (np.linalg.norm(apart, axis=1) - was) / STEP
    rate[walls] = (contacts.normal * v[contacts.first, :dim])[walls].sum(axis=1)
    u = (contact_map(contacts, pile.radius).T @ v.ravel()).reshape(-1, dim)
    np.testing.assert_allclose(u[:, 0], rate, atol=1e-3)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_ball_that_rolls_on_the_floor_does_not_slip(dim):
    radius, speed = 0.05, 0.3
    v = np.zeros((1, 3 if dim == 2 else 6))
    v[0, 0] = speed
    v[0, 2 if dim == 2 else 4] = -speed / radius if dim == 2 else speed / radius
    place = np.array([[0.5, radius]] if dim == 2 else [[0.5, 0.5, radius]])
    pile = Pile(place, np.array([radius]), np.ones(1), v, 1.0, 0.5)
    u = contact_map(pile.contacts(), pile.radius).T @ v.ravel()
    np.testing.assert_allclose(u, 0.0, atol=1e-15)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_same_arguments_give_the_same_bits(kind, dim):
    one, two = (pile_problem(kind, 100, dim, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.q, two.q)
    assert (one.W != two.W).nnz == 0
    assert 50 < one.n_c < 200


def test_gaps_are_open_or_closed_as_the_kind_says():
    assert pile_problem("gap", 200).global_form.w.max() > 0.0
    assert not pile_problem("touch", 200).global_form.w.any()


def test_a_settled_pile_needs_somebody_who_moves_it():
    with pytest.raises(OptionError, match="needs solve"):
        pile_problem("settled", 50)
    with pytest.raises(OptionError, match="known: gap"):
        pile_problem("heap", 50)
    with pytest.raises(OptionError, match="must be 2 or 3"):
        packing(50, 4)


def test_without_impulses_a_pile_falls_freely():
    pile = packing(40, loose=True)
    fallen = settled(pile, lambda problem: np.zeros(problem.n), steps=3)
    np.testing.assert_allclose(fallen.velocity[:, 1], pile.velocity[:, 1] - 3 * 9.81 * 5e-3, atol=1e-14)


def test_the_inverse_of_a_mass_matrix_is_as_sparse_as_it_is(rng):
    blocks = [rng.standard_normal((k, k)) for k in (1, 3, 6, 3, 2)]
    M = sp.block_diag([sp.csr_array(block @ block.T + np.eye(len(block))) for block in blocks], format="csr")
    order = rng.permutation(M.shape[0])
    M = sp.csr_array(M)[order][:, order]
    form = GlobalForm(M, sp.eye_array(M.shape[0], format="csr"), np.zeros(15), np.zeros(15))
    np.testing.assert_allclose(form.inverse.toarray(), np.linalg.inv(M.toarray()), atol=1e-12)
    assert form.inverse.nnz == sum(len(block) ** 2 for block in blocks)


def test_a_mass_matrix_that_hangs_together_has_no_sparse_inverse():
    n = LARGEST_BLOCK + 1
    M = sp.diags_array([np.full(n, 2.0), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1], format="csr")
    form = GlobalForm(M, sp.eye_array(n, format="csr"), np.zeros(n), np.zeros(n))
    assert form.inverse is None
    np.testing.assert_allclose(form.condensed().toarray(), np.linalg.inv(M.toarray()), atol=1e-12)


def test_the_judge_of_a_pile_says_the_same_with_and_without_its_velocities(rng):
    problem = pile_problem("gap", 60)
    local = FrictionProblem(problem.W, problem.q, problem.mu, problem.dim)
    for size in (0.0, 1e-9, 1.0):
        r = size * rng.standard_normal(problem.n)
        assert problem.certify(r)[2] == pytest.approx(local.certify(r)[2], rel=1e-9, abs=1e-13)
