"""Impacts against closed forms, in every formulation."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.simulation.impact import resolve_impact
from mcpframe.simulation.response import approach_speeds

FORMULATIONS = sorted(mf.available_formulations())
EXACT = 1e-9
"""Of speeds of about one: a certified solution leaves a few times 1e-12."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
every_restitution = pytest.mark.parametrize("restitution", ["poisson", "newton"])


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


def speeds_after(state, contacts, name="os", restitution="poisson"):
    impact = resolve_impact(state, contacts, mf.formulation(name), solve, restitution)
    return impact.theta_dot[::6], impact


@every_restitution
@every_formulation
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_balls_part_at_the_asked_share_and_keep_their_momentum(name, restitution, e):
    state, contacts = row_of_balls([1.0, 3.0], [2.0, -1.0], e)
    speeds, impact = speeds_after(state, contacts, name, restitution)
    assert speeds[1] - speeds[0] == pytest.approx(3.0 * e, abs=EXACT)
    assert np.dot([1.0, 3.0], speeds) == pytest.approx(2.0 - 3.0, abs=EXACT)
    assert impact.impulses[0, 0] == pytest.approx(-(2.0 - speeds[0]), abs=EXACT)


@every_formulation
def test_three_balls_in_one_impact_share_as_poisson_says(name):
    """(-1/3, 2/3, 2/3) in one complementarity problem; (0, 0, 1) needs one impact after the other."""
    state, contacts = row_of_balls([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0)
    speeds, impact = speeds_after(state, contacts, name)
    np.testing.assert_allclose(speeds, [-1 / 3, 2 / 3, 2 / 3], atol=EXACT)
    assert impact.audit.gain == pytest.approx(0.0, abs=EXACT)


def test_balls_that_hit_one_after_the_other_hand_on_the_speed():
    state, contacts = row_of_balls([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0)
    for pair in (0, 1):
        _, impact = speeds_after(state, mf.ContactSet(state.model, contacts[pair : pair + 1]))
        state.update(theta_dot=impact.theta_dot)
    np.testing.assert_allclose(impact.theta_dot[::6], [0.0, 0.0, 1.0], atol=EXACT)


@every_restitution
def test_the_audit_follows_the_energy_through_both_phases(restitution):
    state, contacts = row_of_balls([1.0, 1.0], [1.0, -1.0], 0.5)
    _, impact = speeds_after(state, contacts, restitution=restitution)
    compressed = {"poisson": 0.0, "newton": 0.25}[restitution]
    found = impact.audit.before, impact.audit.compressed, impact.audit.after
    np.testing.assert_allclose(found, [1.0, compressed, 0.25], atol=EXACT)
    assert impact.audit.gain == pytest.approx(-0.75, abs=EXACT)


def test_the_state_is_left_as_it_was():
    state, contacts = row_of_balls([1.0, 1.0], [1.0, -1.0], 0.5)
    theta, theta_dot = state.theta, state.theta_dot
    speeds_after(state, contacts)
    np.testing.assert_array_equal(state.theta, theta)
    np.testing.assert_array_equal(state.theta_dot, theta_dot)


def test_without_restitution_there_is_no_second_problem():
    state, contacts = row_of_balls([1.0, 1.0], [1.0, -1.0], 0.0)
    _, impact = speeds_after(state, contacts)
    assert len(impact.outcomes) == 1


def test_contacts_that_open_feel_nothing():
    state, contacts = row_of_balls([1.0, 1.0], [-1.0, 1.0], 1.0)
    np.testing.assert_allclose(approach_speeds(state, contacts), [2.0], atol=EXACT)
    speeds, impact = speeds_after(state, contacts)
    np.testing.assert_allclose(speeds, [-1.0, 1.0], atol=EXACT)
    np.testing.assert_allclose(impact.impulses, 0.0, atol=EXACT)


@every_formulation
def test_a_sphere_that_lands_sliding_spins_up_by_the_friction_impulse(name):
    """v_x falls by mu v_n, and the sphere (2/5 m r²) turns by mu v_n r m / J, as long as it still slides."""
    state = mf.systems.sphere().state(theta_dot=[3.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    (contact,) = mf.systems.contacts_of(state, 1)
    floor = mf.Contact("sphere", "world", contact.point, (0, 0, 1), 0.2, 0.0, tangent=(1, 0, 0))
    link = state.model.links[0]
    radius = state.pose("sphere").position[2] - contact.point[2]
    impact = resolve_impact(state, mf.ContactSet(state.model, [floor]), mf.formulation(name), solve)
    spin = 0.2 * link.mass * radius / link.inertia[1, 1]
    np.testing.assert_allclose(impact.theta_dot, [2.8, 0, 0, 0, spin, 0], atol=EXACT)


def bar_with_a_limit(angle):
    """A bar on a pin that may turn to 0.3, turning at 2 rad/s."""
    bar = {"mass": 1.0, "com": (1, 0, 0), "inertia": np.eye(3), "upper": 0.3}
    return mf.Model([mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), **bar)]).state([angle], [2.0])


@every_formulation
def test_a_limit_stops_a_hinge_as_a_wall_does(name):
    bar = mf.Link(
        "bar", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(1, 0, 0), inertia=np.eye(3), upper=0.3
    )
    state = mf.Model([bar]).state([0.3], [2.0])
    impact = resolve_impact(state, mf.ContactSet(state.model, []), mf.formulation(name), solve)
    np.testing.assert_allclose(impact.theta_dot, [0.0], atol=EXACT)


@every_formulation
def test_a_limit_out_of_touch_lets_the_hinge_pass(name):
    bar = mf.Link(
        "bar", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(1, 0, 0), inertia=np.eye(3), upper=0.3
    )
    state = mf.Model([bar]).state([0.2999], [2.0])
    impact = resolve_impact(state, mf.ContactSet(state.model, []), mf.formulation(name), solve)
    np.testing.assert_allclose(impact.theta_dot, [2.0], atol=EXACT)


@every_formulation
@pytest.mark.parametrize("e", [0.0, 0.7])
def test_loops_are_kept_through_an_impact_and_energy_does_not_grow(name, e):
    state = mf.systems.four_bar().state()
    state.update(theta_dot=mf.multibody.project_rates(state.update(theta_dot=[1.0, 0.0, 0.0])))
    contacts = [
        mf.Contact(c.body_a, c.body_b, c.point, c.normal, 0.3, e) for c in mf.systems.contacts_of(state, 2)
    ]
    packed = mf.ContactSet(state.model, contacts)
    impact = resolve_impact(state, packed, mf.formulation(name), solve)
    assert impact.audit.gain <= EXACT
    state.update(theta_dot=impact.theta_dot)
    np.testing.assert_allclose(ImpactStep(state, packed).bilateral.velocity(state), 0.0, atol=EXACT)


def test_formulations_agree_on_an_impact_with_friction_on_a_robot():
    state = mf.systems.quadruped().state(theta_dot=[0.5, 0.1, -1.0] + [0.0] * 15)
    feet = [
        mf.Contact(c.body_a, c.body_b, c.point, c.normal, 0.6, 0.4) for c in mf.systems.contacts_of(state, 4)
    ]
    packed = mf.ContactSet(state.model, feet)
    found = [resolve_impact(state, packed, mf.formulation(name), solve) for name in FORMULATIONS]
    for impact in found:
        np.testing.assert_allclose(impact.theta_dot, found[0].theta_dot, atol=1e-7)
        assert impact.audit.gain <= EXACT
