"""Generated problems are what they say: structure, ranks, existence, seeds."""

from itertools import product

import numpy as np
import pytest

from mcpframe import MixedLCP, OptionError
from mcpframe.problem.generators import (
    CLASSES,
    FAMILIES,
    SOLVABLE,
    contact_lcp,
    contact_system,
    random_lcp,
)

ROUNDING = 1e-9
"""Relative: products of well-scaled matrices of a few hundred rows lose a few digits at most."""

NEAR = 0.02
"""A relative change of 1e-3, grown by a few standard deviations and by the inverse mass matrix."""

RANKS = {"full": lambda n_u: 3 * n_u, "redundant": lambda n_u: n_u, "chain": lambda n_u: 2 * n_u}


@pytest.mark.parametrize(("family", "n_u"), list(product(FAMILIES, (1, 4, 8, 16))))
def test_contact_lcps_have_the_block_structure_of_the_friction_model(family, n_u):
    problem = contact_lcp(n_u, family, n_f=4, seed=3)
    c = problem.contacts
    assert problem.n == 6 * n_u == problem.layout.n
    for i in range(n_u):
        assert problem.M[c.slip[i], c.normal[i]] == c.mu[i]
        assert (problem.M[c.slip[i], c.friction[i]] == -1.0).all()
        assert (problem.M[c.friction[i], c.slip[i]] == 1.0).all()
        assert problem.M[c.normal[i], c.slip[i]] == 0.0
    sigma = problem.layout["sigma"]
    assert not problem.M[sigma, sigma].any()
    assert not problem.q[sigma].any()
    assert np.count_nonzero(problem.M[:, sigma]) == 4 * n_u


@pytest.mark.parametrize("family", FAMILIES)
def test_opposite_friction_directions_have_opposite_rows(family):
    problem = contact_lcp(4, family, n_f=6, seed=1)
    friction = problem.contacts.friction
    beta = problem.layout["beta"]
    forward, backward = problem.M[friction[:, :3], beta], problem.M[friction[:, 3:], beta]
    np.testing.assert_allclose(forward, -backward, atol=ROUNDING * abs(problem.M).max())


@pytest.mark.parametrize(("family", "n_u"), list(product(RANKS, (4, 8, 32))))
def test_the_rank_of_the_contact_block_is_the_familys(family, n_u):
    problem = contact_lcp(n_u, family)
    beta = problem.layout["beta"]
    assert np.linalg.matrix_rank(problem.M[beta, beta]) == RANKS[family](n_u)


@pytest.mark.parametrize("n_u", [4, 8, 9, 32])
def test_boxes_are_hyperstatic(n_u):
    system = contact_system(n_u, "boxes")
    assert np.linalg.matrix_rank(system.J) < 3 * n_u
    n_boxes = system.J.shape[0] // 6
    assert 4 <= n_u / n_boxes <= 8


@pytest.mark.parametrize(("family", "seed"), list(product(FAMILIES, range(3))))
def test_the_data_meet_the_existence_theorem(family, seed):
    problem = contact_lcp(8, family, seed=seed)
    beta = problem.layout["beta"]
    A, q = problem.M[beta, beta], problem.q[beta]
    assert np.linalg.eigvalsh(A).min() >= -ROUNDING * np.abs(A).max()
    in_range = A @ np.linalg.lstsq(A, q, rcond=ROUNDING)[0]
    np.testing.assert_allclose(in_range, q, atol=ROUNDING * np.abs(q).max())


@pytest.mark.parametrize(("family", "how"), list(product(FAMILIES, ("moved", "shaken"))))
def test_a_neighbour_is_near_and_keeps_the_rank(family, how):
    system = contact_system(8, family, seed=5)
    other = contact_system(8, family, seed=5, change=1e-3) if how == "moved" else system.shaken(1e-3)
    problem, neighbour = system.problem(), other.problem()
    beta = problem.layout["beta"]
    A, B = problem.M[beta, beta], neighbour.M[beta, beta]
    assert 0 < np.abs(A - B).max() < NEAR * np.abs(A).max()
    assert 0 < np.abs(problem.q - neighbour.q).max() < NEAR * np.abs(problem.q).max()
    assert np.linalg.matrix_rank(B, tol=ROUNDING) <= system.J.shape[0]


def test_boxes_that_move_on_keep_their_contacts_coplanar():
    floor = contact_system(8, "boxes", seed=5, change=1e-3)
    assert np.linalg.matrix_rank(floor.J[:, ::3], tol=ROUNDING) == 3


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not():
    for make in (lambda s: contact_lcp(4, "boxes", seed=s), lambda s: random_lcp("mixed", 5, seed=s)):
        assert (make(7).M == make(7).M).all()
        assert (make(7).q == make(7).q).all()
        assert not (make(7).q == make(8).q).all()


@pytest.mark.parametrize(("kind", "n"), list(product(CLASSES, (1, 4))))
def test_random_classes_give_problems(kind, n):
    problem = random_lcp(kind, n)
    assert isinstance(problem, MixedLCP)
    assert kind == "contact" or problem.n == n


@pytest.mark.parametrize("seed", range(20))
def test_classes_have_the_properties_they_are_named_for(seed):
    assert random_lcp("monotone", 6, seed=seed).is_psd
    assert random_lcp("p_matrix", 6, seed=seed).is_p_matrix
    assert random_lcp("free", 8, seed=seed).free.any() or seed
    box = random_lcp("box", 6, seed=seed)
    assert np.isfinite(box.lower).all()
    assert np.isfinite(box.upper).all()
    rng = np.random.default_rng(seed)
    copositive = random_lcp("copositive", 6, seed=seed).M_dense
    for x in rng.random((50, 6)):
        assert x @ copositive @ x > 0


@pytest.mark.parametrize(("kind", "seed"), list(product(sorted(SOLVABLE), range(15))))
def test_solvable_classes_have_a_solution(kind, seed):
    problem = random_lcp(kind, 5, seed=seed)
    assert _has_solution(problem), "no complementary face holds a solution"


@pytest.mark.parametrize("seed", range(15))
def test_the_infeasible_class_has_none(seed):
    assert not _has_solution(random_lcp("infeasible", 4, seed=seed))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: contact_lcp(4, "ful"), "did you mean 'full'"),
        (lambda: contact_lcp(0), "n_u = 0"),
        (lambda: random_lcp("monoton", 4), "did you mean 'monotone'"),
    ],
)
def test_misuse_is_answered_in_words(call, words):
    with pytest.raises(OptionError, match=words):
        call()


def _has_solution(problem: MixedLCP) -> bool:
    """Look at every complementary face by linear programming, an oracle that knows no pivoting rule."""
    from scipy.optimize import linprog

    codes = [
        [c for c, bound in enumerate((low, high)) if np.isfinite(bound)] + [2]
        for low, high in zip(problem.lower, problem.upper, strict=True)
    ]
    # In units in which the entries of M are near one: the program's tolerances are absolute.
    R, C = problem.scaling
    M, q = R[:, None] * problem.M_dense * C, R * problem.q
    size = max(1.0, np.abs(q).max())
    lower, upper = problem.lower / C / size, problem.upper / C / size
    for face in map(np.array, product(*codes)):
        low, high = np.where(face == 1, upper, lower), np.where(face == 0, lower, upper)
        signs = np.where(face == 1, 1.0, -1.0)[face < 2, None]
        found = linprog(
            np.zeros(problem.n),
            A_ub=signs * M[face < 2],
            b_ub=-signs[:, 0] * q[face < 2] / size,
            A_eq=M[face == 2],
            b_eq=-q[face == 2] / size,
            bounds=np.c_[low, high],
        )
        if found.status == 0:
            return True
    return False


def test_an_infeasible_problem_needs_a_row():
    with pytest.raises(OptionError, match="n = 0"):
        random_lcp("infeasible", 0)
