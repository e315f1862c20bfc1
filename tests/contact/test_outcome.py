import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.law import FORCE_1, FORCE_N, MOMENT_N

TOLERANCE = 1e-9  # of impulses and velocities of order one, solved by pivoting
MOMENTUM_TOLERANCE = 1e-8  # of the momentum of a robot of some ten kilograms
DT, MASS, MU, G = 0.01, 1.0, 0.5, 9.81


def outcome_of(state, contacts, formulation="mc", **asks):
    step = mf.ContactStep(state, contacts, DT, **asks)
    chosen = mf.formulation(formulation)
    problem, recovery = chosen.build(step)
    return chosen.recover(recovery, mf.solve(problem, "lemke", throw=True))


def box_on_floor(theta_dot, formulation="mc", **options):
    state = mf.systems.box(mass=MASS).state(theta_dot=theta_dot)
    return outcome_of(state, mf.systems.contacts_of(state, 4, mu=MU), formulation, **options)


def test_a_resting_box_rolls_nowhere():
    outcome = box_on_floor([0] * 6)
    assert outcome.modes == ["sticking"] * 4
    assert repr(outcome) == "Outcome(dofs=6, contacts=4 (4 sticking))"
    np.testing.assert_allclose(outcome.impulses.sum(axis=0), [0, 0, MASS * G * DT], atol=TOLERANCE)
    np.testing.assert_allclose(outcome.theta_dot, 0.0, atol=TOLERANCE)


def test_a_box_that_is_thrown_up_separates():
    outcome = box_on_floor([0, 0, 1, 0, 0, 0])
    assert outcome.modes == ["separating"] * 4
    np.testing.assert_allclose(outcome.impulses, 0.0, atol=TOLERANCE)


def test_a_box_that_is_pushed_slides_and_is_braked_by_mu_times_its_weight():
    outcome = box_on_floor([1, 0, 0, 0, 0, 0])
    assert outcome.modes == ["sliding"] * 4
    np.testing.assert_allclose(
        outcome.impulses.sum(axis=0), MASS * G * DT * np.array([-MU, 0, 1]), atol=TOLERANCE
    )
    np.testing.assert_allclose(outcome.contact_velocities[:, FORCE_1], 1 - MU * G * DT, atol=TOLERANCE)


def test_modes_do_not_depend_on_who_carries_the_load():
    assert box_on_floor([0] * 6, "rmc").modes == box_on_floor([0] * 6, "nmc").modes == ["sticking"] * 4


def test_a_contact_without_friction_slides_as_long_as_it_is_closed():
    assert box_on_floor([0] * 6, law="frictionless").modes == ["sliding"] * 4
    assert box_on_floor([0, 0, 1, 0, 0, 0], law="frictionless").modes == ["separating"] * 4


def test_a_gap_that_the_step_does_not_close_separates():
    state = mf.systems.sphere(mass=MASS).state()
    height = state.link_poses()[1][0][2]
    for gap, mode in ((1e-2, "separating"), (1e-5, "sticking")):
        contact = mf.Contact("sphere", "world", (0, 0, height - 0.1), (0, 0, 1), MU, gap=gap)
        assert outcome_of(state, [contact], position_level=True).modes == [mode]


@pytest.mark.parametrize("law", ["torsional", "rolling"])
def test_wrenches_are_those_that_the_law_gave_in_world_axes(law, rng):
    state = mf.systems.box(mass=MASS).state(theta_dot=[0.3, 0.4, -1.0, 2.0, -1.0, 3.0])
    corner = state.pose("box") @ np.array([0.2, 0.1, -0.1])
    contact = mf.Contact("box", "world", corner, (0.2, 0.3, 1.0), MU, tangent=(1, 2, 0), law=law)
    outcome = outcome_of(state, [contact])
    local = outcome.step.law_rows[0].Wd @ outcome.beta
    frame = contact.frame
    expected = np.concatenate([frame @ local[:3], frame @ local[3:]])
    np.testing.assert_allclose(outcome.wrenches, [expected], atol=TOLERANCE)
    np.testing.assert_array_equal(outcome.impulses, outcome.wrenches[:, 3:])
    assert np.linalg.norm(local[:3]) > 0.0


@pytest.mark.parametrize("law", sorted(mf.available_contact_laws()))
def test_contact_velocities_are_those_of_the_new_rates_and_of_surfaces_that_yield(law, rng):
    state = mf.systems.box(mass=MASS).state(theta_dot=[0.3, 0.4, -1.0, 2.0, -1.0, 3.0])
    contacts = mf.systems.contacts_of(state, 3, mu=MU)
    outcome = outcome_of(state, contacts, law=law)
    step, after = outcome.step, state.model.state(state.theta, outcome.theta_dot)
    pushed = np.concatenate(
        [rows.C @ beta for rows, beta in zip(step.law_rows, outcome._beta_of, strict=True)]
    )
    expected = step.contact_rows.velocity(after) + step.contact_row_softness * pushed + step.contact_row_shift
    used = np.concatenate([outcome.contact_velocities[i, rows.used] for i, rows in enumerate(step.law_rows)])
    np.testing.assert_allclose(used, expected, atol=TOLERANCE)
    unused = [component for component in range(6) if component not in step.law_rows[0].used]
    assert np.isnan(outcome.contact_velocities[:, unused]).all()
    assert FORCE_N not in unused
    assert (MOMENT_N in unused) == (law != "torsional")


def test_the_impulses_change_momentum_by_what_they_sum_to():
    model = mf.systems.quadruped()
    state = model.state(theta_dot=np.linspace(-1, 1, model.n_dofs))
    outcome = outcome_of(state, mf.systems.contacts_of(state, 4, mu=MU), "os")
    after = model.state(state.theta, outcome.theta_dot)
    free = model.state(state.theta, state.theta_dot + DT * outcome.step.free_acceleration)
    gained = after.momentum() - free.momentum()
    moments = np.cross(outcome.step.contacts.points[:, :3], outcome.impulses) + outcome.wrenches[:, :3]
    np.testing.assert_allclose(gained[3:], outcome.impulses.sum(axis=0), atol=MOMENTUM_TOLERANCE)
    np.testing.assert_allclose(gained[:3], moments.sum(axis=0), atol=MOMENTUM_TOLERANCE)


def test_a_step_without_contacts_has_an_empty_outcome():
    state = mf.systems.pendulum(links=2).state([0.1, 0.2])
    outcome = outcome_of(state, [])
    assert outcome.modes == []
    assert outcome.wrenches.shape == (0, 6)
    assert outcome.impulses.shape == (0, 3)
    np.testing.assert_allclose(outcome.theta_dot, DT * state.free_acceleration(), atol=TOLERANCE)
