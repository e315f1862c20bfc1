"""Every contact law does to a single body what it says it does."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, MOMENT_1, MOMENT_2, MOMENT_N
from mcpframe.solving.registry import CONTACT_LAWS

TOLERANCE = 1e-9  # of an impulse or a velocity of order one, solved by pivoting
MASS, RADIUS, DT = 2.0, 0.3, 0.01
SPIN_INERTIA = 0.4 * MASS * RADIUS**2
TANGENTIAL = [FORCE_1, FORCE_2]
MU = 0.5
LAWS = sorted(CONTACT_LAWS.names())


def contact(mu=MU, **options):
    return mf.Contact("ball", "world", (0, 0, 0), (0, 0, 1), mu, **options)


def sphere_delassus(arm=RADIUS, spin_inertia=SPIN_INERTIA):
    """A = J Mass^-1 J* of a ball that touches the floor `arm` below its centre, in the contact's components.

          n
          |          V at the point = [omega; v + omega x r],  r = -arm n,  components (n, t_1, t_2)
        (   )  ball
    ------*------ t_1
    """
    r = np.array([-arm, 0.0, 0.0])  # components along n, t_1, t_2: a right-handed frame
    r_cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    J = np.block([[np.eye(3), np.zeros((3, 3))], [-r_cross, np.eye(3)]])
    inverse_mass = np.diag([1 / spin_inertia] * 3 + [1 / MASS] * 3)
    return J @ inverse_mass @ J.T


def solved(rows, V_free, A=None):
    """Return impulsive wrench, V_rel after, beta and sigma of one contact, in the contact's components."""
    A = sphere_delassus() if A is None else A
    M = np.block([[rows.Wd.T @ A @ rows.Wd, rows.N], [rows.P, rows.R]])
    q = np.concatenate([rows.Wd.T @ V_free, rows.r])
    lower = np.concatenate([rows.beta_lower, rows.sigma_lower])
    upper = np.concatenate([rows.beta_upper, rows.sigma_upper])
    solution = mf.solve(mf.MixedLCP(M, q, lower, upper), "lemke", throw=True)
    beta, sigma = solution.z[: rows.m], solution.z[rows.m :]
    wrench = rows.Wd @ beta
    return wrench, V_free + A @ wrench, beta, sigma


def falling(v_1=0.0, v_2=0.0, omega=(0.0, 0.0, 0.0), v_n=-1.0):
    return np.array([*omega, v_n, v_1, v_2])


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_documented_and_works_without_options(name):
    cls = CONTACT_LAWS.get(name)
    assert cls.summary().endswith(".")
    assert all(field.description for field in cls.model_fields.values())
    rows = mf.contact_law(name).rows(contact(), DT)
    assert isinstance(rows, mf.LawRows)
    assert rows.Wd[FORCE_N, 0] == 1.0


@pytest.mark.parametrize("name", LAWS)
def test_rows_depend_on_parameters_and_not_on_the_place(name):
    law = mf.contact_law(name)
    here, there = contact(), mf.Contact("b", "c", (1, 2, 3), (1, 1, 0), MU, gap=0.1)
    one, other = law.rows(here, DT), law.rows(there, DT)
    for field in ("Wd", "N", "P", "R", "r", "beta_lower", "beta_upper", "sigma_lower", "sigma_upper"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("name", LAWS)
def test_a_contact_that_opens_feels_nothing(name):
    V_free = falling(0.3, -0.2, (0.1, 0.2, 0.3), v_n=0.5)
    if name == "box":  # its friction does not know whether the contact is closed; with mu = 0 it is gone
        rows = mf.contact_law(name).rows(contact(mu=0.0), DT)
    else:
        rows = mf.contact_law(name).rows(contact(), DT)
    wrench, V, _, _ = solved(rows, V_free)
    np.testing.assert_allclose(wrench, 0.0, atol=TOLERANCE)
    np.testing.assert_allclose(V, V_free, atol=TOLERANCE)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", LAWS)
def test_a_contact_never_pulls_opens_or_adds_energy(name, seed):
    rng = np.random.default_rng(seed)
    V_free = np.append(rng.standard_normal(3), [-rng.uniform(0.1, 2.0), *rng.standard_normal(2)])
    rows = mf.contact_law(name).rows(contact(rng.uniform(0.0, 1.5)), DT)
    A = sphere_delassus(rng.uniform(0.0, 0.5), rng.uniform(0.01, 1.0))
    wrench, V, beta, _ = solved(rows, V_free, A)
    assert beta[0] >= 0.0
    assert V[FORCE_N] >= -TOLERANCE
    friction = wrench.copy()
    friction[FORCE_N] = 0.0
    assert friction @ V <= TOLERANCE  # it takes power from the motion that is left
    assert (
        wrench @ (V + V_free) / 2 <= TOLERANCE
    )  # nor does the impulse's work, at the mean velocity, add any


def test_frictionless_stops_the_fall_and_leaves_the_rest():
    wrench, V, _, _ = solved(mf.contact_law("frictionless").rows(contact(), DT), falling(0.7, 0.1))
    np.testing.assert_allclose(wrench, [0, 0, 0, MASS, 0, 0], atol=TOLERANCE)
    np.testing.assert_allclose(V, falling(0.7, 0.1, v_n=0.0), atol=TOLERANCE)


@pytest.mark.parametrize("n_f", [2, 4, 6, 8, 14])
def test_coulomb_friction_opposes_slip_along_a_direction_with_mu_times_the_normal_force(n_f):
    rows = mf.contact_law("coulomb", friction_directions=n_f).rows(contact(), DT)
    assert rows.m == n_f + 1
    for j in range(n_f):
        d = rows.Wd[TANGENTIAL, 1 + j]
        wrench, V, beta, sigma = solved(rows, falling(*(10.0 * d)))
        np.testing.assert_allclose(wrench[TANGENTIAL], -MU * beta[0] * d, atol=TOLERANCE)
        np.testing.assert_allclose(sigma, np.linalg.norm(V[TANGENTIAL]), atol=TOLERANCE)
        assert beta[0] == pytest.approx(MASS, abs=TOLERANCE)


def test_coulomb_friction_takes_the_most_power_that_its_polygon_can():
    rows = mf.contact_law("coulomb", friction_directions=6).rows(contact(), DT)
    for angle in np.linspace(0.1, 6.2, 17):
        wrench, V, beta, _ = solved(rows, falling(10 * np.cos(angle), 10 * np.sin(angle)))
        corners = MU * beta[0] * rows.Wd[TANGENTIAL, 1:]
        most = (-V[TANGENTIAL] @ corners).max()
        assert -wrench[TANGENTIAL] @ V[TANGENTIAL] == pytest.approx(most, abs=TOLERANCE)


def test_coulomb_friction_holds_what_lies_inside_the_cone():
    rows = mf.contact_law("coulomb").rows(contact(), DT)
    _, V, beta, sigma = solved(rows, falling(0.3, -0.4))
    np.testing.assert_allclose(V[TANGENTIAL], 0.0, atol=TOLERANCE)
    np.testing.assert_allclose(sigma, 0.0, atol=TOLERANCE)
    assert beta[1:].sum() < MU * beta[0]


def test_two_directions_are_friction_along_the_first_tangent_alone():
    rows = mf.contact_law("coulomb", friction_directions=2).rows(contact(), DT)
    assert list(rows.used) == [FORCE_N, FORCE_1]
    wrench, V, _, _ = solved(rows, falling(0.1, 5.0))
    assert V[FORCE_1] == pytest.approx(0.0, abs=TOLERANCE)
    assert wrench[FORCE_2] == 0.0


def ellipse_force(mu_1, mu_2, normal, slip):
    """argmin f . slip over (f_1/mu_1)^2 + (f_2/mu_2)^2 <= normal^2, by Lagrange: f ~ -diag(mu^2) slip."""
    D = np.array([mu_1, mu_2])
    return -normal * D**2 * slip / np.linalg.norm(D * slip)


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.1, np.pi / 2, 2.5, 4.0])
def test_anisotropic_friction_is_that_of_the_ellipse_up_to_the_polygon(angle):
    n_f, mu_1, mu_2 = 256, 0.2, 0.8
    rows = mf.contact_law("anisotropic", friction_directions=n_f, mu_1=mu_1, mu_2=mu_2).rows(contact(), DT)
    wrench, V, beta, _ = solved(rows, falling(20 * np.cos(angle), 20 * np.sin(angle)))
    corner_spacing = 2 * np.pi / n_f * max(mu_1, mu_2) * beta[0]
    expected = ellipse_force(mu_1, mu_2, beta[0], V[TANGENTIAL])
    np.testing.assert_allclose(wrench[TANGENTIAL], expected, atol=corner_spacing)
    f_1, f_2 = wrench[TANGENTIAL] / beta[0]
    assert (f_1 / mu_1) ** 2 + (f_2 / mu_2) ** 2 <= 1.0 + TOLERANCE


def test_anisotropic_friction_along_a_tangent_has_that_tangents_coefficient():
    rows = mf.contact_law("anisotropic", mu_1=0.2, mu_2=0.7).rows(contact(), DT)
    along_1, *_ = solved(rows, falling(v_1=10.0))
    along_2, *_ = solved(rows, falling(v_2=-10.0))
    np.testing.assert_allclose(along_1[3:], [MASS, -0.2 * MASS, 0.0], atol=TOLERANCE)
    np.testing.assert_allclose(along_2[3:], [MASS, 0.0, 0.7 * MASS], atol=TOLERANCE)


@pytest.mark.parametrize("v", [(0.3, -0.2), (5.0, 1.0), (-2.0, 7.0)])
def test_anisotropic_with_equal_coefficients_is_coulomb(v):
    laws = (
        mf.contact_law("anisotropic", friction_directions=8),
        mf.contact_law("coulomb", friction_directions=8),
    )
    one, other = (solved(law.rows(contact(), DT), falling(*v))[0] for law in laws)
    np.testing.assert_allclose(one, other, atol=TOLERANCE)


@pytest.mark.parametrize("spin", [4.0, -4.0])
def test_torsional_friction_opposes_a_fast_spin_with_its_bound(spin):
    law = mf.contact_law("torsional", radius=0.02)
    wrench, V, beta, _ = solved(law.rows(contact(), DT), falling(omega=(spin, 0, 0)))
    assert wrench[MOMENT_N] == pytest.approx(-np.sign(spin) * 0.02 * MU * beta[0], abs=TOLERANCE)
    assert 0.0 < V[MOMENT_N] / spin < 1.0


def test_torsional_friction_stops_a_slow_spin_within_its_bound():
    law = mf.contact_law("torsional", radius=0.02)
    wrench, V, beta, _ = solved(law.rows(contact(), DT), falling(omega=(0.1, 0, 0)))
    assert V[MOMENT_N] == pytest.approx(0.0, abs=TOLERANCE)
    assert abs(wrench[MOMENT_N]) < 0.02 * MU * beta[0]


def test_torsional_friction_leaves_sliding_to_coulomb():
    V_free = falling(5.0, 0.0, omega=(3.0, 0, 0))
    spun, *_ = solved(mf.contact_law("torsional").rows(contact(), DT), V_free)
    plain, *_ = solved(mf.contact_law("coulomb").rows(contact(), DT), V_free)
    np.testing.assert_allclose(spun[3:], plain[3:], atol=TOLERANCE)


def rolling_without_slip(omega_1, omega_2):
    """Velocity at the contact point of a ball that rolls: none, only omega."""
    return falling(omega=(0.0, omega_1, omega_2))


@pytest.mark.parametrize("omega", [(6.0, 0.0), (0.0, -6.0)])
def test_rolling_resistance_opposes_fast_rolling_with_its_bound(omega):
    law = mf.contact_law("rolling", radius=0.01)
    wrench, V, beta, _ = solved(law.rows(contact(), DT), rolling_without_slip(*omega))
    expected = -0.01 * beta[0] * np.sign(omega)
    np.testing.assert_allclose(wrench[[MOMENT_1, MOMENT_2]], expected, atol=TOLERANCE)
    np.testing.assert_allclose(V[TANGENTIAL], 0.0, atol=TOLERANCE)  # it goes on rolling, slower
    assert (np.abs(V[[MOMENT_1, MOMENT_2]]) <= np.abs(omega) + TOLERANCE).all()


def test_rolling_resistance_stops_slow_rolling_within_its_bound():
    law = mf.contact_law("rolling", radius=0.01)
    wrench, V, beta, _ = solved(law.rows(contact(), DT), rolling_without_slip(0.05, 0.02))
    np.testing.assert_allclose(V[[MOMENT_1, MOMENT_2]], 0.0, atol=TOLERANCE)
    assert np.linalg.norm(wrench[[MOMENT_1, MOMENT_2]]) < 0.01 * beta[0]


def test_rolling_in_the_plane_is_resisted_about_the_second_tangent():
    rows = mf.contact_law("rolling", friction_directions=2).rows(contact(), DT)
    assert list(rows.used) == [MOMENT_2, FORCE_N, FORCE_1]


@pytest.mark.parametrize("v_n", [-1.0, -5.0])
def test_box_friction_has_fixed_bounds_whatever_the_normal_force(v_n):
    law = mf.contact_law("box", load=30.0)
    bound = MU * 30.0 * DT
    wrench, *_ = solved(law.rows(contact(), DT), falling(9.0, -8.0, v_n=v_n))
    np.testing.assert_allclose(wrench[3:], [-MASS * v_n, -bound, bound], atol=TOLERANCE)


def test_box_friction_holds_what_its_bounds_allow():
    law = mf.contact_law("box", load=1000.0)
    wrench, V, _, _ = solved(law.rows(contact(), DT), falling(0.1, -0.2))
    np.testing.assert_allclose(V[TANGENTIAL], 0.0, atol=TOLERANCE)
    assert (np.abs(wrench[TANGENTIAL]) < MU * 1000.0 * DT).all()


def test_without_a_load_mu_itself_bounds_box_friction_in_newtons():
    rows = mf.contact_law("box").rows(contact(mu=3.0), DT)
    np.testing.assert_allclose(rows.beta_upper, [np.inf, 3.0 * DT, 3.0 * DT])
    np.testing.assert_allclose(rows.beta_lower, [0.0, -3.0 * DT, -3.0 * DT])


@pytest.mark.parametrize("name", ["coulomb", "anisotropic", "torsional", "rolling"])
def test_a_law_leaves_its_directions_to_the_formulation_or_fixes_them(name):
    open_law, fixed = mf.contact_law(name), mf.contact_law(name, friction_directions=6)
    assert open_law.with_friction_directions(8) == mf.contact_law(name, friction_directions=8)
    assert fixed.with_friction_directions(8) is fixed
    assert open_law.rows(contact(), DT).m == open_law.with_friction_directions(4).rows(contact(), DT).m


@pytest.mark.parametrize("name", ["frictionless", "box"])
def test_a_law_without_directions_ignores_how_many_there_are(name):
    law = mf.contact_law(name)
    assert law.with_friction_directions(8) is law


@pytest.mark.parametrize("n_f", [1, 3, -2, 2.5])
def test_directions_come_in_opposite_pairs(n_f):
    with pytest.raises(mf.OptionError, match="coulomb: option friction_directions"):
        mf.contact_law("coulomb", friction_directions=n_f)


def test_only_laws_with_the_cone_of_coulomb_tell_solvers_of_it():
    cones = {name for name in LAWS if mf.contact_law(name).rows(contact(), DT).mu is not None}
    assert cones == {"coulomb", "compliant", "hunt_crossley"}
