"""Impacts as steps of no duration: what they ask, in every formulation."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep

FORMULATIONS = sorted(mf.available_formulations())
EXACT = 1e-9
"""Of speeds of about one: a certified solution leaves a few times 1e-12."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)


def solve(problem):
    return mf.solve(problem, "lemke", throw=True)


def row_of_balls(masses, speeds, restitution=0.0):
    """Balls of radius 0.5 in a row along x, each touching the next; contacts with normals from B to A."""
    links = [
        mf.Link(f"ball{i}", hinge="free", mass=m, inertia=0.1 * m * np.eye(3)) for i, m in enumerate(masses)
    ]
    model = mf.Model(links, gravity=(0, 0, 0))
    theta = np.concatenate([[i, 0, 0, 0, 0, 0, 1] for i in range(len(masses))]).astype(float)
    theta_dot = np.concatenate([[v, 0, 0, 0, 0, 0] for v in speeds]).astype(float)
    contacts = [
        mf.Contact(f"ball{i}", f"ball{i + 1}", (i + 0.5, 0, 0), (-1, 0, 0), restitution=restitution)
        for i in range(len(masses) - 1)
    ]
    return model.state(theta, theta_dot), mf.ContactSet(model, contacts)


def bar_with_a_limit(angle):
    """A bar on a pin that may turn to 0.3, turning at 2 rad/s."""
    bar = {"mass": 1.0, "com": (1, 0, 0), "inertia": np.eye(3), "upper": 0.3}
    return mf.Model([mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), **bar)]).state([angle], [2.0])


def opening(name, step):
    """The hinge rates after an impact."""
    formulation = mf.formulation(name)
    problem, recovery = formulation.build(step)
    return formulation.recover(recovery, solve(problem)).theta_dot


@every_formulation
def test_contacts_and_limits_open_at_the_speeds_that_are_asked_for(name):
    state, contacts = row_of_balls([1.0, 1.0, 1.0], [1.0, 0.0, -1.0])
    speeds = opening(name, ImpactStep(state, contacts, rebound=[0.5, 0.25]))[::6]
    np.testing.assert_allclose(np.diff(speeds), [0.5, 0.25], atol=EXACT)
    assert speeds.sum() == pytest.approx(0.0, abs=EXACT)
    thrown = ImpactStep(bar_with_a_limit(0.3), [], limit_rebound=[0.7])
    np.testing.assert_allclose(opening(name, thrown), [-0.7], atol=EXACT)


@every_formulation
def test_gaps_and_errors_of_loops_are_no_speeds_in_an_impact(name):
    state, contacts = row_of_balls([1.0, 1.0], [1.0, -1.0])
    sunk = ImpactStep(state, contacts.with_gaps(np.array([-0.1])))
    np.testing.assert_allclose(opening(name, sunk)[::6], 0.0, atol=EXACT)
    overrun = ImpactStep(bar_with_a_limit(0.4), [])
    np.testing.assert_allclose(opening(name, overrun), 0.0, atol=EXACT)
    open_loop = mf.systems.four_bar().state([1e-3, 0.0, 0.0])
    np.testing.assert_allclose(ImpactStep(open_loop, []).closure_rate, 0.0, atol=EXACT)


def sliding_sphere(law, given):
    """A sphere of 2 kg, half a metre wide, sliding at 3 m/s along the floor, which throws it up at 1 m/s."""
    ball = mf.Link("ball", hinge="free", mass=2.0, inertia=0.05 * np.eye(3))
    model = mf.Model([ball], gravity=(0, 0, 0))
    state = model.state([0, 0, 0.25, 0, 0, 0, 1], [3.0, 0, 1.0, 0, 0, 0])
    contact = mf.Contact("ball", "world", (0, 0, 0), (0, 0, 1), mu=0.25, tangent=(1, 0, 0))
    return ImpactStep(state, [contact], law, given=given)


@every_formulation
@pytest.mark.parametrize("law", ["coulomb", "anisotropic", "torsional", "rolling"])
def test_friction_leans_on_what_is_given_back_though_the_contact_opens(name, law):
    formulation, step = mf.formulation(name), sliding_sphere(law, given=[2.0])
    problem, recovery = formulation.build(step)
    outcome = formulation.recover(recovery, solve(problem))
    np.testing.assert_allclose(outcome.impulses, [[-0.25 * 2.0, 0.0, 0.0]], atol=EXACT)
    certificate = mf.certify_step(step, outcome)
    assert certificate.worst < EXACT, str(certificate)
    loose = sliding_sphere(law, given=[1.9])
    assert mf.certify_step(loose, outcome).friction > 1e-3


@every_formulation
@pytest.mark.parametrize("law", ["frictionless", "box"])
def test_laws_whose_bounds_do_not_grow_with_the_normal_impulse_do_not_lean(name, law):
    np.testing.assert_allclose(opening(name, sliding_sphere(law, [2.0])), [3, 0, 1, 0, 0, 0], atol=EXACT)


def test_a_step_of_the_same_contacts_forgets_what_was_given_back():
    """Plans are kept from step to step, what a step adds to them is not."""
    first = sliding_sphere("coulomb", [2.0])
    formulation = mf.formulation("os")
    for given, known in (([2.0], 0.5), (None, 0.0), ([1.0], 0.25)):
        step = ImpactStep(first.state, first.contacts, given=given)
        assert formulation.build(step)[0].q[-1] == pytest.approx(known)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"given": [-1.0]}, "given: -1: a normal impulse is not negative"),
        ({"rebound": [0.1, 0.2]}, r"rebound: shape \(2,\), expected \(1,\)"),
        ({"rebound": [-0.1]}, "rebound: -0.1: a speed to open at is not negative"),
        ({"rebound": [np.nan]}, "rebound: entry 0 is nan"),
        ({"limit_rebound": [0.1]}, r"limit_rebound: shape \(1,\), expected \(0,\)"),
    ],
)
def test_a_rebound_that_is_none_is_refused(change, message):
    state, contacts = row_of_balls([1.0, 1.0], [1.0, -1.0])
    with pytest.raises(mf.ModelError, match=message):
        ImpactStep(state, contacts, **change)


@every_formulation
def test_loops_are_kept_through_an_impact_and_energy_does_not_grow(name):
    state = mf.systems.four_bar().state()
    state.update(theta_dot=mf.multibody.project_rates(state.update(theta_dot=[1.0, 0.0, 0.0])))
    packed = mf.ContactSet(state.model, mf.systems.contacts_of(state, 2))
    before = state.kinetic_energy()
    state.update(theta_dot=opening(name, ImpactStep(state, packed)))
    assert state.kinetic_energy() <= before + EXACT
    np.testing.assert_allclose(ImpactStep(state, packed).bilateral.velocity(state), 0.0, atol=EXACT)


@every_formulation
def test_a_limit_stops_a_hinge_that_touches_it(name):
    np.testing.assert_allclose(opening(name, ImpactStep(bar_with_a_limit(0.3), [])), [0.0], atol=EXACT)


@every_formulation
def test_a_limit_out_of_touch_lets_the_hinge_pass(name):
    np.testing.assert_allclose(opening(name, ImpactStep(bar_with_a_limit(0.2999), [])), [2.0], atol=EXACT)
