"""Labels: figures against closed forms and numpy, motions of known cases, and the rule of hardness."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.multibody.model.joining import Part, joined
from mcpframe.problem.generators import contact_system
from mcpframe.studies.corpora.labels import hardness, labels_of, motion

DT = 1e-3
ROUNDING = 1e-9
"""Of logarithms and ratios of eigenvalues."""
ELIMINATION = 1e-6
"""Relative, of the same with link velocities eliminated before."""


def two_balls(heavy=1000.0):
    return joined(
        [Part(mf.systems.sphere(), "a_"), Part(mf.systems.sphere(mass=heavy), "b_", mf.Pose((1, 0, 0)))]
    )


def labelled(model, n_u, theta_dot=None, formulation="os", mu=0.5):
    state = model.state(theta_dot=theta_dot)
    step = mf.ContactStep(state, mf.systems.contacts_of(state, n_u, mu=mu), DT)
    way = mf.formulation(formulation)
    problem, recovery = way.build(step)
    outcome = way.recover(recovery, mf.solve(problem, "auto"))
    return labels_of(problem, step, outcome, way.rows(step).friction_problem())


def test_a_ball_at_rest_has_the_figures_of_the_textbook():
    labels = labelled(mf.systems.sphere(), 1)
    assert labels.pop("condition") == pytest.approx(np.log10(3.5), abs=ROUNDING)  # 1/m and 1/m + r²/I
    assert labels == {
        "n": 6,
        "n_contacts": 1,
        "n_dofs": 6,
        "contacts_per_dof": 1 / 6,
        "mass_ratio": 1.0,
        "rank_ratio": 1.0,
        "contact_mass_ratio": 1.0,
        "motion": "sticking",
        "hardness": "easy",
    }


@pytest.mark.parametrize(
    ("theta_dot", "expected"),
    [
        ([0, 0, 0, 0, 0, 0], "sticking"),
        ([1, 0, 0, 0, 0, 0], "sliding"),
        ([0, 0, 1, 0, 0, 0], "separating"),
        ([0.1, 0, 0, 0, 1, 0], "sticking"),  # rolls: 0.1 m/s = 1 rad/s 0.1 m
    ],
)
def test_motion_is_what_the_closed_contacts_do(theta_dot, expected):
    assert labelled(mf.systems.sphere(), 1, theta_dot)["motion"] == expected


def test_one_ball_that_slides_beside_one_at_rest_is_mixed_and_one_that_leaves_does_not_count():
    still = np.zeros(6)
    assert labelled(two_balls(), 2, np.r_[still, 1, 0, 0, 0, 0, 0])["motion"] == "mixed"
    assert labelled(two_balls(), 2, np.r_[still, 0, 0, 1, 0, 0, 0])["motion"] == "sticking"
    assert motion([]) == "separating"


def test_an_impact_is_one_whatever_its_contacts_do():
    state = mf.systems.sphere().state(theta_dot=[1, 0, -1, 0, 0, 0])
    step = ImpactStep(state, mf.systems.contacts_of(state, 1, mu=0.5))
    assert labels_of(mf.formulation("os").build(step)[0], step)["motion"] == "impact"


def test_mass_ratios_are_of_links_and_of_what_contacts_feel():
    labels = labelled(two_balls(), 2)
    assert labels["mass_ratio"] == pytest.approx(1000.0)
    assert labels["contact_mass_ratio"] == pytest.approx(1000.0, rel=ROUNDING)
    assert labels["condition"] == pytest.approx(np.log10(3500.0), abs=ROUNDING)


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
def test_rank_and_condition_are_those_of_numpy(family):
    system = contact_system(6, family, seed=3)
    W = np.asarray(system.exact_problem().W)
    labels = labels_of(system.problem(), exact=system.exact_problem())
    assert labels == {**labels_of(system.exact_problem()), "n": system.problem().n}
    singular = np.linalg.svd(W, compute_uv=False)
    rank = np.linalg.matrix_rank(W, tol=1e-10 * singular[0])
    assert labels["rank_ratio"] == rank / 18
    assert labels["condition"] == pytest.approx(np.log10(singular[0] / singular[rank - 1]), abs=1e-6)
    assert "n_dofs" not in labels
    assert "motion" not in labels


def test_a_box_on_four_corners_determines_half_of_its_forces():
    assert labelled(mf.systems.box(), 4)["rank_ratio"] == 0.5


@pytest.mark.parametrize("formulation", ["mc", "nmc", "dca"])
def test_labels_do_not_depend_on_the_formulation_but_for_the_rows(formulation):
    expected = labelled(mf.systems.quadruped(), 4)
    labels = labelled(mf.systems.quadruped(), 4, formulation=formulation)
    assert labels.pop("n") != expected.pop("n") or formulation == "dca"
    words = "motion", "hardness"
    assert [labels.pop(word) for word in words] == [expected.pop(word) for word in words]
    assert labels == pytest.approx(expected, rel=ELIMINATION)


def test_what_cannot_be_known_is_left_out():
    assert labels_of(mf.MixedLCP([[1.0]], [-1.0])) == {"n": 1, "n_contacts": 0, "hardness": "easy"}


@pytest.mark.parametrize(
    ("contacts", "condition", "rank", "expected"),
    [
        (1, 0.5, 1.0, "easy"),
        (8, 3.0, 0.67, "easy"),
        (9, 3.0, 0.67, "medium"),
        (4, 1.0, 0.5, "medium"),
        (9, 3.5, 0.5, "hard"),
        (25, 1.0, 0.5, "hard"),
        (25, 6.0, 1.0, "hard"),
    ],
)
def test_hardness_adds_up_contacts_condition_and_rank(contacts, condition, rank, expected):
    assert hardness({"n_contacts": contacts, "condition": condition, "rank_ratio": rank}) == expected
