"""Building in two stages: rows in contact components, and what laws make of them.

W and q against closed forms, dense algebra and every formulation; encoding against the definition of a law.
"""

import numpy as np
import pytest
from contact_scenes import DT, LAWS, SCENES, Scene
from scipy.linalg import block_diag

import mcpframe as mf
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.exceptions import ProblemError
from mcpframe.multibody.independence import IndependentRows
from mcpframe.multibody.reference.operators import DenseOperators

FORMULATIONS = sorted(name for name, reason in mf.available_formulations().items() if not reason)

ROUNDING = 1e-12
"""Relative; a few dozen operations on numbers near one."""
ELIMINATION = 1e-8
"""Relative; equations with masses from 0.2 to 6 kg beside unit rows, eliminated one way and another."""
REPEATED = 1e-8
"""Share of the largest singular value of G_b below which loops repeat each other."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
every_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
every_law = pytest.mark.parametrize("law", LAWS)


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(
        found, expected, rtol=0.0, atol=tolerance * (1.0 + np.abs(expected).max(initial=0))
    )


def exact(step, name="os", **options):
    return mf.formulation(name, **options).rows(step).friction_problem()


def six_components(step):
    """Rows of all six components of every contact on hinge rates [6 n_u, N]."""
    return contact_rows(step.state, step.contacts, [np.arange(6)] * step.n_u).jacobian(step.state)


def free_velocity(step, dense):
    """θ̇- + dt θ̈_f by dense operators; forces that a model has beside gravity are the step's own."""
    state = step.state
    wrenches = state.apply_wrenches(state.link_wrenches(step.wrenches or {}))
    known = step.dt * (step.total_force + wrenches - dense.bias_force())
    return state.theta_dot + np.linalg.solve(dense.mass_matrix(), known)


def oracle(step):
    """W and q of the contacts, with loops kept, by dense operators and numpy alone.

    v+ = v_f + Y J* p with Y = Mass^-1 on the rates that loops allow; loops alone move v_f to the nearest, by
    kinetic energy, that keeps them.
    """
    state = step.state
    dense = DenseOperators(state.model, state.theta, state.theta_dot)
    mass_matrix, J, v = dense.mass_matrix(), step.contact_rows.jacobian(state), free_velocity(step, dense)
    basis, kept = np.eye(len(mass_matrix)), np.zeros(len(mass_matrix))
    if step.bilateral.n:
        G_b = step.bilateral.jacobian(state)
        _, s, V = np.linalg.svd(G_b)
        basis = V[(s > REPEATED * s[0]).sum() :].T
        kept = np.linalg.pinv(G_b, rcond=REPEATED) @ step.closure_rate
    Y = basis @ np.linalg.solve(basis.T @ mass_matrix @ basis, basis.T)
    v_plus = kept + Y @ mass_matrix @ (v - kept)
    return J @ Y @ J.T, J @ v_plus + step.contact_row_shift


def softness_and_shift(step):
    """S and s of the layers of all contacts on six components [6 n_u], asked for one contact at a time."""
    S, s = np.zeros((step.n_u, 6)), np.zeros((step.n_u, 6))
    J = six_components(step).reshape(step.n_u, 6, -1)
    for i, rows in enumerate(step.law_rows):
        S[i] = rows.compliance
        if rows.layer is not None:
            speed, gap = (J[i] @ step.state.theta_dot)[[3]], step.contacts.gaps[[i]]
            softness, shift = rows.layer.terms(step.dt, gap, speed, np.zeros((1, rows.layer.vectors, 3)))
            S[i, 3:] += softness[0]
            s[i, 3:] += shift[0]
    return S.ravel(), s.ravel()


def test_a_ball_on_the_floor_has_the_compliance_of_the_textbook():
    mass, state = 2.0, mf.systems.sphere(0.1, 2.0).state()
    problem = exact(mf.ContactStep(state, mf.systems.contacts_of(state, 1, mu=0.6), DT))
    assert_close(problem.W, np.diag([1.0, 3.5, 3.5]) / mass, ROUNDING)  # 1/m, 1/m + r²/I
    assert_close(problem.q, [-9.81 * DT, 0.0, 0.0], ROUNDING)
    assert (problem.mu == [0.6]).all()


@every_formulation
@every_scene
def test_w_and_q_are_those_of_dense_operators_in_every_formulation(scene: Scene, name):
    step = scene.step("coulomb")
    if step.n_u == 0:
        pytest.skip("no contacts")
    problem, (W, q) = exact(step, name), oracle(step)
    n = len(W)
    assert_close(problem.W[:n, :n], W, ELIMINATION)
    assert_close(problem.q[:n], q, ELIMINATION)
    assert (problem.mu[: step.n_u] == [contact.mu for contact in step.contacts]).all()


@every_formulation
def test_w_and_q_know_what_a_step_asks(name):
    given = next(scene for scene in SCENES if scene.name == "a four-bar that lies on the floor").step(
        "coulomb"
    )
    asks = {"contact_bias": True, "position_level": True, "baumgarte": 0.2}
    step = mf.ContactStep(given.state, given.contacts, DT, **asks)
    W, q = oracle(step)
    assert_close(exact(step, name).W, W, ELIMINATION)
    assert_close(exact(step, name).q, q, ELIMINATION)


@every_scene
def test_w_of_os_is_symmetric_to_the_bit_and_never_negative(scene: Scene):
    rows = mf.formulation("os").rows(scene.step("rolling"))
    assert (rows.A == rows.A.T).all()
    assert np.linalg.eigvalsh(rows.A).min(initial=0.0) >= -ROUNDING * np.abs(rows.A).max(initial=0.0)


@every_law
@every_scene
def test_laws_encode_the_rows_as_their_definition_says(scene: Scene, law):
    """Wd* V_rel + N σ ⟂ β, P β + R σ + r ⟂ σ on six components, by numpy, against the kernel of `os`.

    V_rel + S Wd β + s in place of V_rel where a contact yields.
    """
    step = scene.step(LAWS[law])
    state, laws = step.state, step.law_rows
    dense = DenseOperators(state.model, state.theta, state.theta_dot)
    G = [step.bilateral.jacobian(state), step.limits.jacobian(state)]
    J = six_components(step).reshape(step.n_u, 6, -1)
    G = np.vstack([*G, *(law.Wd.T @ J_i for law, J_i in zip(laws, J, strict=True))])
    problem = mf.formulation("os").build(step)[0]
    n = len(G)
    known = G @ np.linalg.solve(dense.mass_matrix(), G.T)
    if step.bilateral.n:
        repeated = IndependentRows.of(state, step.bilateral).repeated
        known[repeated], known[:, repeated] = 0.0, 0.0
        known[repeated, repeated] = 1.0
    n_e = step.bilateral.n + step.limits.n
    Wd = block_diag(*(rows.Wd for rows in laws)) if laws else np.zeros((0, 0))
    S, s = softness_and_shift(step)
    known[n_e:, n_e:] += Wd.T @ (S[:, None] * Wd)
    assert_close(problem.M[:n, :n], known, ROUNDING)
    assert_close(problem.q[n_e:n], G[n_e:] @ free_velocity(step, dense) + Wd.T @ s, ROUNDING)
    at_beta, at_sigma = n_e, n
    for rows in laws:
        beta, sigma = slice(at_beta, at_beta + rows.m), slice(at_sigma, at_sigma + rows.s)
        assert (problem.M[beta, sigma] == rows.N).all()
        assert (problem.M[sigma, beta] == rows.P).all()
        assert (problem.M[sigma, sigma] == rows.R).all()
        assert (problem.q[sigma] == rows.r).all()
        assert (problem.lower[beta] == rows.beta_lower).all()
        assert (problem.upper[beta] == rows.beta_upper).all()
        at_beta, at_sigma = beta.stop, sigma.stop
    assert at_sigma == problem.n


@every_law
@every_scene
def test_the_kernel_encodes_as_the_framework_does(scene: Scene, law):
    given = scene.step(LAWS[law])
    for step in (given, ImpactStep(given.state, given.contacts, LAWS[law])):
        formulation = mf.formulation("os", friction_directions=6)
        encoded, problem = formulation.rows(step).mixed_lcp(), formulation.build(step)[0]
        assert_close(problem.M, encoded.M, ROUNDING)
        assert_close(problem.q, encoded.q, ROUNDING)
        assert (problem.lower == encoded.lower).all()
        assert (problem.upper == encoded.upper).all()
        assert problem.layout == encoded.layout
        assert (problem.contacts is None) == (encoded.contacts is None)


def test_a_joint_limit_is_a_contact_without_friction():
    model = mf.systems.quadruped()
    theta = model.neutral()
    theta[model.theta_start[model.link_index("FL_hip")]] = 0.8  # its upper limit
    state = model.state(theta, np.r_[0.0, 0.0, -0.5, np.zeros(3), 2.0, np.zeros(11)])
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 3, mu=0.6), 1e-3)
    formulation = mf.formulation("os")
    problem, recovery = formulation.build(step)
    solution = mf.solve(problem, "lemke")
    outcome = formulation.recover(recovery, solution)
    cone = exact(step)
    assert (cone.n_c, cone.mu[-1]) == (4, 0.0)
    local = np.einsum("uij,uj->ui", step.contacts.axes, outcome.impulses)
    u = cone.W @ np.r_[local.ravel(), outcome.p_l, 0.0, 0.0] + cone.q
    assert outcome.p_l[0] > 0.0
    np.testing.assert_allclose(u[:9], outcome.contact_velocities[:, 3:].ravel(), atol=1e-9)
    np.testing.assert_allclose(u[9:], [solution.w[problem.layout["p_l"]][0], 0.0, 0.0], atol=1e-9)


def sliding_apart(n_f):
    """How far contact velocities on n_f directions are from those with the exact cone, m/s."""
    state = mf.systems.quadruped().state(theta_dot=np.r_[0.5, 0.3, -0.5, np.zeros(15)])
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.3), 1e-3)
    cone, formulation = exact(step), mf.formulation("os", friction_directions=n_f)
    problem, recovery = formulation.build(step)
    outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
    assert set(outcome.modes) == {"sliding"}
    u = mf.solve(cone, throw=True).w
    return np.abs(outcome.contact_velocities[:, 3:].ravel() - u[:12]).max()


def test_a_polygon_of_many_directions_comes_near_the_exact_cone():
    """Friction is off by the angle to the next direction, π/n_f at most, of impulses that stop 0.5 m/s."""
    for n_f in (16, 64, 256):
        assert sliding_apart(n_f) <= 0.5 * np.pi / n_f
    assert sliding_apart(4) > 10 * sliding_apart(256)


def test_contacts_in_the_plane_have_two_components():
    state = mf.systems.sphere().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 1), DT)
    planar, spatial = exact(step, friction_directions=2), exact(step)
    assert (planar.dim, spatial.dim) == (2, 3)
    assert (spatial.W[:2, :2] == planar.W).all()


COULOMB = ("coulomb", "compliant", "hunt_crossley")
"""Laws whose friction is Coulomb's."""


@pytest.mark.parametrize("law", [law for law in LAWS if not law.startswith(COULOMB)])
def test_other_laws_have_no_exact_cone_and_say_so(law):
    state = mf.systems.box().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4), DT, law=LAWS[law])
    with pytest.raises(ProblemError, match="Coulomb"):
        exact(step)


def test_a_step_without_contacts_has_no_exact_cone():
    with pytest.raises(ProblemError, match="no contacts"):
        exact(mf.ContactStep(mf.systems.four_bar().state(), [], DT))
