"""Frictional contact problems: the law, its certificate, the global form, the polyhedral mixed LCP."""

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.exceptions import ProblemError
from mcpframe.problem.friction import FrictionProblem, friction_directions, project_cone

ROUNDING = 1e-13
"""A few operations on numbers of order one."""


def block(v_n, v_t, mu=0.5, mass=2.0):
    """A point mass that comes with velocity (v_n, v_t, 0): W = I / m, q its velocity."""
    return FrictionProblem(np.eye(3) / mass, [v_n, v_t, 0.0], mu)


def sphere_pile(rng, n_c=6, dim=3, n_v=8):
    """Contacts on a random map H with mass matrix M; w = 0, so the problem has a solution."""
    A = rng.standard_normal((n_v, n_v))
    M, H, f = A @ A.T + np.eye(n_v), rng.standard_normal((n_v, dim * n_c)), rng.standard_normal(n_v)
    return M, H, f, np.zeros(dim * n_c), rng.uniform(0.2, 0.8, n_c)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_projection_is_the_nearest_point_of_the_cone(rng, dim):
    # y = P_K(x) iff y in K, y'(x - y) = 0 and k'(x - y) <= 0 for all k in K, of which edges are enough.
    x, mu = rng.standard_normal((200, dim)), rng.choice([0.0, 0.3, 1.0, 3.0], 200)
    y = project_cone(x, mu)
    assert (np.linalg.norm(y[:, 1:], axis=1) <= mu * y[:, 0] + ROUNDING).all()
    assert np.abs(np.sum(y * (x - y), axis=1)).max() < ROUNDING
    for angle in np.linspace(0.0, 2.0 * np.pi, 24):
        tangent = [np.cos(angle), np.sin(angle)] if dim == 3 else [np.sign(np.cos(angle))]
        edge = np.column_stack([np.ones(200), mu[:, None] * tangent])
        assert (np.sum(edge * (x - y), axis=1) < ROUNDING).all()


@pytest.mark.parametrize(
    ("v", "r"),
    [
        ((1.0, 3.0), (0.0, 0.0)),  # leaves: no impulse
        ((-1.0, 0.2), (2.0, -0.4)),  # sticks: r = -m v lies in the cone
        ((-1.0, 3.0), (2.0, -1.0)),  # slides: r_n = -m v_n, r_t = -mu r_n
    ],
)
def test_the_certificate_accepts_the_closed_forms_of_one_contact(v, r):
    problem = block(*v)
    z, u, residual = problem.certify(np.array([*r, 0.0]))
    assert residual < ROUNDING
    np.testing.assert_allclose(u, problem.q + z / 2.0, atol=ROUNDING)


@pytest.mark.parametrize("r", [(2.0, 1.0, 0.0), (2.0, 0.0, 0.0), (1.9, -0.95, 0.0), (0.0, 0.0, 0.0)])
def test_the_certificate_refuses_other_impulses(r):
    assert block(-1.0, 3.0).certify(np.array(r))[2] > 0.01


def test_without_friction_a_contact_never_pulls():
    problem = FrictionProblem(np.eye(3), [1.0, 0.0, 0.0], 0.0)
    zero, pull = np.zeros(3), np.array([-1.0, 0.0, 0.0])
    assert problem.certify(zero)[2] == 0.0
    np.testing.assert_array_equal(problem.certify(pull)[0], zero)
    assert problem.natural_residual(pull, pull + problem.q) == 1.0
    np.testing.assert_array_equal(mf.solve(problem).z, zero)


def test_contacts_beside_a_huge_one_are_judged_at_their_own_scale():
    W, q = np.eye(6), np.array([-1e11, 0.0, 0.0, -1.0, 0.0, 0.0])
    problem = FrictionProblem(W, q, 0.5)
    assert problem.certify(-q)[2] == 0.0
    off = problem.certify(-q + [0.0, 0.0, 0.0, 0.24, 0.0, 0.0])
    assert off[2] == pytest.approx(0.12 * problem.scale)
    assert problem.natural_residual(off[0], off[1]) < 1e-9 * problem.scale


@pytest.mark.parametrize("mass", [1e3, 1e9, 1e12])
def test_the_edge_of_a_cone_is_met_to_rounding_of_the_impulse(mass):
    v = 3.0 * np.array([np.cos(0.3), np.sin(0.3)])
    problem = FrictionProblem(np.eye(3) / mass, [-1.0, *v], 0.5)
    r = mass * np.r_[1.0, -0.5 * v / 3.0]
    assert problem.certify(r)[2] <= 1e-14
    assert problem.certify(r * [1.0, 1.0, 1.0 - 1e-9])[2] > 1e-8


def test_the_certified_point_lies_in_the_cones():
    z, _, _ = block(-1.0, 3.0).certify(np.array([1.0, 5.0, 0.0]))
    assert np.hypot(z[1], z[2]) <= 0.5 * z[0] + ROUNDING


def test_a_small_velocity_beside_a_huge_impulse_is_seen():
    # W r + q = 1e-3 in a contact that sticks: r - (r - u) would have lost it.
    problem = FrictionProblem([[1e-30]] * np.eye(3), [1e-3, 0.0, 0.0], 0.5)
    assert problem.certify(np.array([1e20, 0.0, 0.0]))[2] == pytest.approx(1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_never_pass(bad):
    assert block(-1.0, 3.0).certify(np.array([bad, 0.0, 0.0]))[2] == np.inf


def test_overflow_never_passes_and_does_not_warn():
    problem = FrictionProblem(1e300 * np.eye(3), [-1.0, 0.0, 0.0], 0.5)
    assert problem.certify(np.array([1e300, 0.0, 0.0]))[2] == np.inf


def test_a_problem_without_contacts_is_solved_by_nothing():
    problem = FrictionProblem(np.zeros((0, 0)), [], [])
    assert (problem.n, problem.n_c, problem.scale) == (0, 0, 1.0)
    assert problem.certify(np.empty(0))[2] == 0.0
    assert problem.to_mixed_lcp().n == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_the_global_form_is_the_local_one_with_the_velocities_eliminated(rng, sparse):
    M, H, f, w, mu = sphere_pile(rng)
    w = rng.standard_normal(w.size)
    kept = (sp.csr_array(M), sp.csr_array(H)) if sparse else (M, H)
    problem = FrictionProblem.from_global(*kept, f, w, mu)
    assert sp.issparse(problem.W) == sparse
    W = problem.W.toarray() if sparse else problem.W
    np.testing.assert_allclose(W, H.T @ np.linalg.solve(M, H), atol=1e-11)
    r = project_cone(rng.standard_normal((6, 3)), mu).ravel()
    v = problem.velocities(r)
    np.testing.assert_allclose(M @ v, H @ r + f, atol=1e-11)
    np.testing.assert_allclose(problem.certify(r)[1], H.T @ v + w, atol=1e-11)
    np.testing.assert_allclose(problem.certify(r)[1], W @ r + problem.q, atol=1e-10)


def test_a_local_problem_has_no_generalised_velocities():
    with pytest.raises(ProblemError, match="local form"):
        block(-1.0, 3.0).velocities(np.zeros(3))


@pytest.mark.parametrize("form", ["local", "global"])
def test_in_the_plane_the_mixed_lcp_is_exact(rng, form):
    M, H, f, w, mu = sphere_pile(rng, dim=2)
    problem = FrictionProblem.from_global(M, H, f, w, mu, dim=2)
    if form == "local":
        problem = FrictionProblem(problem.W, problem.q, mu, dim=2)
    mixed = problem.to_mixed_lcp()
    solution = mf.solve(mixed, "lemke", throw=True)
    assert problem.certify(problem.impulses(solution.z))[2] < 1e-9 * problem.scale


def test_in_space_the_mixed_lcp_is_exact_for_slip_along_a_direction():
    problem = block(-1.0, 3.0)  # slides along the first friction direction
    solution = mf.solve(problem.to_mixed_lcp(n_f=6), "lemke", throw=True)
    np.testing.assert_allclose(problem.impulses(solution.z), [2.0, -1.0, 0.0], atol=1e-9)


def test_more_friction_directions_come_closer_to_the_cone():
    problem = FrictionProblem(np.eye(3), [-1.0, np.cos(0.3), np.sin(0.3)], 0.5)
    residuals = []
    for n_f in (4, 8, 32):
        solution = mf.solve(problem.to_mixed_lcp(n_f), "lemke", throw=True)
        residuals.append(problem.certify(problem.impulses(solution.z))[2])
    assert residuals[0] > residuals[1] > residuals[2]


@pytest.mark.parametrize("n_f", [4, 6])
def test_the_mixed_lcp_has_the_blocks_of_the_friction_model(rng, n_f):
    M, H, f, w, mu = sphere_pile(rng)
    local = FrictionProblem(H.T @ H, H.T @ f, mu).to_mixed_lcp(n_f)
    whole = FrictionProblem.from_global(M, H, f, w, mu).to_mixed_lcp(n_f)
    assert dict(local.layout.sizes) == {"beta": 6 * (n_f + 1), "sigma": 6}
    assert dict(whole.layout.sizes) == {"v": 8} | dict(local.layout.sizes)
    assert whole.is_sparse
    assert whole.free.sum() == 8
    for mixed in (local, whole):
        A, c = mixed.M_dense, mixed.contacts
        for i in range(6):
            assert (A[c.friction[i], c.slip[i]] == 1.0).all()
            assert (A[c.slip[i], c.friction[i]] == -1.0).all()
            assert A[c.slip[i], c.normal[i]] == mu[i]
            assert A[c.normal[i], c.slip[i]] == 0.0


def test_friction_directions_come_with_their_opposites():
    d = friction_directions(8)
    np.testing.assert_allclose(np.linalg.norm(d, axis=0), 1.0)
    np.testing.assert_array_equal(d[:, :4], -d[:, 4:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.eye(2)}, r"W: shape \(2, 2\), expected \(3, 3\)"),
        ({"W": np.full((3, 3), np.nan)}, r"W: entry \(0, 0\) is nan"),
        ({"W": sp.csr_array(np.diag([1.0, np.inf, 1.0]))}, r"W: entry \(1, 1\) is inf"),
        ({"q": [1.0, np.inf, 0.0]}, "q: entry 1 is inf"),
        ({"q": [[1.0, 0.0, 0.0]]}, r"q: shape \(1, 3\), expected a vector"),
        ({"q": [1.0, 0.0]}, "q: 2 entries are not a multiple of dim = 3"),
        ({"q": "text"}, "q: cannot be read"),
        ({"mu": [0.5, 0.5]}, r"mu: shape \(2,\), expected \(1,\)"),
        ({"mu": [-0.5]}, "mu: entry 0 is -0.5"),
        ({"mu": [np.nan]}, "mu: entry 0 is nan"),
        ({"dim": 4}, "dim = 4: must be 2 or 3"),
    ],
)
def test_bad_data_is_refused_by_name(change, message):
    with pytest.raises(ProblemError, match=message):
        FrictionProblem(**({"W": np.eye(3), "q": [-1.0, 0.0, 0.0], "mu": 0.5, "dim": 3} | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"M": np.eye(2)}, r"M: shape \(2, 2\), expected \(3, 3\)"),
        ({"M": np.zeros((3, 3))}, "M: the mass matrix is singular"),
        ({"H": np.eye(4)}, r"H: shape \(4, 4\), expected \(3, 3\)"),
        ({"f": [np.nan, 0.0, 0.0]}, "f: entry 0 is nan"),
        ({"w": [0.0, 0.0]}, r"H: shape \(3, 3\), expected \(3, 2\)"),
    ],
)
def test_bad_global_data_is_refused_by_name(change, message):
    data = {"M": np.eye(3), "H": np.eye(3), "f": np.zeros(3), "w": np.zeros(3), "mu": 0.5}
    with pytest.raises(ProblemError, match=message):
        FrictionProblem.from_global(**(data | change))


@pytest.mark.parametrize("n_f", [0, 3, 5, 4.5])
def test_directions_that_lack_opposites_are_refused(n_f):
    with pytest.raises(ProblemError, match="n_f"):
        block(-1.0, 3.0).to_mixed_lcp(n_f)


@pytest.mark.parametrize("size", [3, 5, 7, 11])
def test_a_solution_of_another_problem_is_refused(size):
    with pytest.raises(ProblemError, match="does not belong"):
        block(-1.0, 3.0).impulses(np.zeros(size))


def test_the_data_cannot_be_changed_afterwards():
    problem = block(-1.0, 3.0)
    for array in (problem.W, problem.q, problem.mu):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0
