import numpy as np
import pytest
from pydantic import Field

import mcpframe as mf
from mcpframe.contact import law as laws
from mcpframe.contact.law import FORCE_1, FORCE_N, LawRows, find_law, friction_rows, law_rows
from mcpframe.solving.plugin import AbstractContactLaw

NORMAL = np.eye(6)[:, [FORCE_N]]
SLIDE = np.eye(6)[:, [FORCE_1]] @ [[1.0, -1.0]]
DT = 0.01


class Counted(AbstractContactLaw):
    """Counts how often it is asked, and returns what it is told."""

    name = "counted"
    answer: object = None
    asked: list = Field(default_factory=list)

    def rows(self, contact, dt):
        self.asked.append((contact, dt))
        return self.answer() if callable(self.answer) else self.answer

    def with_options(self, options):
        return self


def contact(mu=0.5, **options):
    return mf.Contact("ball", "world", (0, 0, 0), (0, 0, 1), mu, **options)


def test_what_is_left_out_is_zero_and_bounds_are_those_of_an_lcp():
    rows = LawRows(np.hstack([NORMAL, SLIDE]), N=np.ones((3, 1)))
    assert (rows.m, rows.s) == (3, 1)
    np.testing.assert_array_equal(rows.P, np.zeros((1, 3)))
    np.testing.assert_array_equal(rows.R, np.zeros((1, 1)))
    np.testing.assert_array_equal(rows.r, np.zeros(1))
    assert not rows.beta_lower.any()
    assert not rows.sigma_lower.any()
    assert np.isinf(rows.beta_upper).all()
    assert np.isinf(rows.sigma_upper).all()
    assert rows.mu is None


def test_the_used_components_are_those_with_directions():
    rows = LawRows(np.hstack([NORMAL, SLIDE]))
    assert list(rows.used) == [FORCE_N, FORCE_1]
    np.testing.assert_array_equal(rows.C, [[1, 0, 0], [0, 1, -1]])
    np.testing.assert_allclose(rows.C_star_inverse @ rows.C.T, np.eye(2), atol=1e-15)


def test_rows_are_immutable():
    rows = LawRows(NORMAL)
    with pytest.raises(ValueError, match="read-only"):
        rows.Wd[0, 0] = 1.0
    with pytest.raises(AttributeError):
        rows.mu = 0.1


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"Wd": np.zeros((3, 2))}, r"Wd: shape \(3, 2\), expected \(6, 2\)"),
        ({"Wd": np.zeros(6)}, r"Wd: shape \(6,\), expected a matrix"),
        ({"Wd": NORMAL, "N": np.zeros((2, 1))}, r"N: shape \(2, 1\), expected \(1, 1\)"),
        ({"Wd": NORMAL, "N": [[1.0]], "P": [[1.0, 2.0]]}, r"P: shape \(1, 2\), expected \(1, 1\)"),
        ({"Wd": NORMAL, "N": [[1.0]], "R": np.zeros((2, 2))}, r"R: shape \(2, 2\), expected \(1, 1\)"),
        ({"Wd": NORMAL, "N": [[1.0]], "r": [1.0, 2.0]}, r"r: shape \(2,\), expected \(1,\)"),
        ({"Wd": NORMAL, "P": [[1.0]]}, r"P: shape \(1, 1\), expected \(0, 1\)"),
        ({"Wd": NORMAL, "beta_lower": [0.0, 0.0]}, r"beta_lower: shape \(2,\), expected \(1,\) or a scalar"),
        ({"Wd": NORMAL, "beta_lower": 2.0, "beta_upper": 1.0}, "beta_lower: .* must not exceed beta_upper"),
        ({"Wd": NORMAL, "beta_upper": np.nan}, "beta_lower: .* must not exceed beta_upper"),
        ({"Wd": NORMAL * np.nan}, r"Wd: entry \(0, 0\) is nan"),
        ({"Wd": NORMAL, "N": [[np.inf]]}, r"N: entry \(0, 0\) is inf"),
        ({"Wd": NORMAL, "N": [["a"]]}, "N: cannot be read as real numbers"),
        ({"Wd": NORMAL, "N": [[1.0]], "mu": 0.5}, "mu = 0.5: says that the rows are Coulomb's cone"),
        (
            {"Wd": np.hstack([NORMAL, 2.0 * SLIDE]), "N": [[0], [1], [1]], "P": [[0.5, -1, -1]], "mu": 0.5},
            r"mu = 0.5: says .* Wd = \[n, unit tangents\]",
        ),
    ],
)
def test_a_bad_part_is_refused_with_the_law_and_the_field(parts, message):
    with pytest.raises(mf.ProblemError, match=message):
        LawRows(**parts)
    with pytest.raises(mf.ProblemError, match=f"contact law 'counted': {message}"):
        law_rows(Counted(answer=lambda: LawRows(**parts)), contact(), DT, 4)


def test_a_law_that_returns_something_else_is_named():
    with pytest.raises(mf.ProblemError, match="contact law 'counted': rows must return LawRows, not dict"):
        law_rows(Counted(answer={}), contact(), DT, 4)


def test_friction_rows_share_out_the_normal_impulse_group_by_group():
    rows = friction_rows((SLIDE, 0.5), (np.eye(6)[:, [0]], 0.1))
    np.testing.assert_array_equal(rows.Wd, np.hstack([NORMAL, SLIDE, np.eye(6)[:, [0]]]))
    np.testing.assert_array_equal(rows.N, [[0, 0], [1, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(rows.P, [[0.5, -1, -1, 0], [0.1, 0, 0, -1]])


def test_a_law_is_found_by_name_by_table_or_is_there_already():
    coulomb = mf.contact_law("coulomb", friction_directions=8)
    assert find_law("coulomb") is mf.contact_law("coulomb")
    assert find_law({"name": "coulomb", "friction_directions": 8}) == coulomb
    assert find_law(coulomb) is coulomb


@pytest.mark.parametrize(
    ("law", "error", "message"),
    [
        ("coulombs", mf.PluginError, "unknown contact law 'coulombs'; did you mean 'coulomb'"),
        ({"friction_directions": 8}, mf.OptionError, "contact law: the table needs name"),
        ({"name": "coulomb", "directions": 8}, mf.OptionError, "coulomb: unknown option 'directions'"),
        (3, mf.OptionError, "law = 3: give the name of a contact law"),
        (AbstractContactLaw, mf.OptionError, "give the name of a contact law"),
        (mf.Pose(), mf.OptionError, "give the name of a contact law"),
    ],
)
def test_a_law_that_is_none_is_refused(law, error, message):
    with pytest.raises(error, match=message):
        find_law(law)


def test_rows_are_made_once_for_contacts_that_agree():
    law = Counted(answer=LawRows(NORMAL))
    first = law_rows(law, contact(0.5), DT, 4)
    assert law_rows(law, mf.Contact("x", "y", (1, 1, 1), (1, 0, 0), 0.5, gap=0.2), DT, 4) is first
    assert len(law.asked) == 1
    for other in ((contact(0.6), DT, 4), (contact(0.5), 2 * DT, 4), (contact(0.5, restitution=0.5), DT, 4)):
        law_rows(law, *other)
    assert len(law.asked) == 4


def test_the_memory_of_rows_is_bounded():
    law = Counted(answer=LawRows(NORMAL))
    for k in range(laws.REMEMBERED + 10):
        law_rows(law, contact(1e-3 * k), DT, 4)
    assert len(laws._remembered) <= laws.REMEMBERED


def test_the_law_of_a_contact_goes_before_that_of_the_step():
    step_law = mf.contact_law("frictionless")
    assert law_rows(step_law, contact(), DT, 4).m == 1
    assert law_rows(step_law, contact(law="coulomb"), DT, 4).m == 5


def test_parameters_of_a_contact_are_options_of_its_law():
    law = mf.contact_law("torsional", radius=0.01)
    wide = law_rows(law, contact(parameters={"radius": 0.5}), DT, 4)
    assert wide.P[1, 0] == 0.5 * 0.5
    assert law_rows(law, contact(), DT, 4).P[1, 0] == 0.01 * 0.5
    own = contact(law="torsional", parameters={"radius": 0.5, "friction_directions": 6})
    assert law_rows(mf.contact_law("box"), own, DT, 4).m == 9
    with pytest.raises(mf.OptionError, match="torsional: unknown option 'radios'; did you mean 'radius'"):
        law_rows(law, contact(parameters={"radios": 0.5}), DT, 4)
