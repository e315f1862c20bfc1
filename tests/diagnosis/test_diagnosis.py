"""Diagnoses: the grasps of the paper, Painlevé's rod, redundant supports; counts against enumeration."""

import numpy as np
import pytest
from scipy.optimize import brentq

import mcpframe as mf
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model
from mcpframe.systems.grasp_motion import GraspMotion

LAYER = mf.Layer.scaled(1e-3, 1.69)
ROTATION = GraspMotion((0.0, 0.155, np.radians(70)), (0.0, 0.155, np.radians(110)), (0.1,) * 4)
LIFT = GraspMotion((0.0, 0.12, 0.0), (0.0, 0.18, 0.0), (0.8, 0.6, 0.8, 0.6))


def diagnosis(motion, time):
    return mf.diagnose(motion.step(time), layer=LAYER)


def test_the_lift_loses_and_regains_its_unique_answer():
    """Figures of an independent reproduction; [S00] prints 0.420 and 0.643 s for gains it does not give."""

    def margin(time):
        return diagnosis(LIFT, time).margin

    assert margin(0.2) == pytest.approx(0.27473, abs=1e-4)
    assert margin(0.5) == pytest.approx(-0.12847, abs=1e-4)
    assert brentq(margin, 0.4, 0.5, xtol=1e-5) == pytest.approx(0.4355, abs=0.002)
    before, after = margin(0.6155 - 0.002), margin(0.6155 + 0.002)
    assert before < 0.0 < after  # the slips of two links turn round in between


def test_forces_of_the_lift_are_those_that_the_torques_were_made_for():
    for time, count in ((0.2, 1), (0.5, 3), (0.7, 1)):
        found = diagnosis(LIFT, time)
        assert len(found.solutions) == count
        designed = LIFT.forces(time)
        assert min(np.abs(x - designed).max() for x in found.solutions) < 1e-9
        assert found.is_stable == (count == 1) == found.is_rigid


def test_the_rotation_always_has_one_answer():
    found = [diagnosis(ROTATION, time) for time in np.linspace(0.01, 0.99, 15)]
    assert all(one.is_rigid and one.test == "Cholesky of A + A*" for one in found)
    assert min(one.margin for one in found) > 0.58


def test_the_picture_of_two_coefficients_holds_the_point_of_the_paper():
    """[S00, Fig. 10]: (0.8, 0.6) is within the region of P at 0.2 s and outside at 0.5 s."""
    mu = np.array([0.0, 0.6, 0.8])
    early, late = (diagnosis(LIFT, time).margins((0, 2), (1, 3), mu) for time in (0.2, 0.5))
    assert early[2, 1] == pytest.approx(0.27473, abs=1e-4)
    assert late[2, 1] == pytest.approx(-0.12847, abs=1e-4)
    assert early[0, 0] > 0.0 < late[0, 0]


@pytest.mark.parametrize("time", [0.2, 0.5])
def test_at_the_largest_mu_the_margin_is_gone(time):
    found = diagnosis(LIFT, time)
    largest = found.largest_mu()
    for mu, sign in ((largest * (1 - 1e-6), 1.0), (largest * (1 + 1e-6), -1.0)):
        assert np.sign(found.margins((0, 2), (1, 3), [mu])[0, 0]) == sign


LEAN = np.arctan(2.0)
"""Where the rod jams first."""


def rod(mu, lean=LEAN, speed=-1.0):
    """A thin rod of 1 kg and 1 m, its lower end sliding on the floor, its middle towards x of it."""
    body = Link("rod", hinge=Hinge("planar", (0, -1, 0)), mass=1.0, inertia=np.eye(3) / 12.0)
    model = Model([body], gravity=(0.0, 0.0, -9.81))
    columns = model.state().hinge_columns()
    state = model.state(theta_dot=speed * columns[:, 3])
    tip = state.pose("rod").position - [0.5 * np.cos(lean), 0.0, 0.5 * np.sin(lean)]
    return state, [mf.Contact("rod", "world", tip, (0, 0, 1), mu, tangent=(1, 0, 0))]


@pytest.mark.parametrize(("mu", "m_A"), [(2.0, -0.8), (1.6, -0.32), (1.0, 0.4)])
def test_painleves_rod_has_the_known_stiffness_of_sliding(mu, m_A):
    found = mf.diagnose(mf.AccelerationStep(*rod(mu)))
    assert found.A[0, 0] == pytest.approx(m_A, abs=1e-12)
    assert found.largest_mu() == pytest.approx(4.0 / 3.0, abs=1e-12)
    assert found.is_p_matrix == (m_A > 0.0)
    assert len(found.solutions) == (1 if m_A > 0.0 else 0)  # pressed down: none where friction jams
    state, contacts = rod(mu)
    lifted = mf.diagnose(mf.AccelerationStep(state, contacts, wrenches={"rod": [0, 0, 0, 0, 0, 20.0]}))
    assert len(lifted.solutions) == (1 if m_A > 0.0 else 2)  # pulled up: it lifts off, or jams


def test_painleves_rod_takes_the_known_first_step():
    """p_n = (1.2 v_0 + 3.4 g dt)/4: the tip is stopped within the step."""
    state, contacts = rod(1.6)
    formulation = mf.formulation("os", friction_directions=4)
    problem, recovery = formulation.build(mf.ContactStep(state, contacts, 1e-3))
    impulse = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True)).impulses[0]
    assert impulse[2] == pytest.approx(0.3083385, abs=1e-6)


@pytest.mark.parametrize("time", [0.2, 0.5, 0.65])
def test_solutions_are_those_of_the_enumerating_solver(time):
    found = diagnosis(LIFT, time)
    solution = mf.solve(found.problem, "enum")
    theirs = [solution.z, *solution.alternatives]
    assert len(theirs) == len(found.solutions)
    for x in found.solutions:
        assert min(np.abs(x - z).max() for z in theirs) < 1e-8
        assert set(found.modes(x)) <= {"open", "closed"}


@pytest.mark.parametrize("solver", [name for name, why in mf.available_solvers().items() if not why])
def test_every_solver_solves_the_unique_problem(solver):
    found = diagnosis(LIFT, 0.2)
    solution = mf.solve(found.problem, solver)
    if solution.status is mf.Status.UNSUPPORTED:
        pytest.skip(solution.message)
    assert solution.ok
    np.testing.assert_allclose(solution.z, found.solutions[0], rtol=0.0, atol=1e-6)


def test_a_table_with_four_legs_does_not_determine_their_loads():
    state = mf.systems.box().state()
    found = mf.diagnose(mf.AccelerationStep(state, mf.systems.contacts_of(state, 4, mu=0.5)))
    assert not found.determinate
    assert found.rank < len(found.rows)
    assert "not determined" in str(found)
    assert found.solutions is None
    assert found.is_p_matrix is False
    with pytest.raises(ModelError, match="largest_mu"):
        found.largest_mu()


def test_words_and_misuse():
    assert "one solution for every load" in str(diagnosis(LIFT, 0.2))
    text = str(diagnosis(LIFT, 0.5))
    for words in ("several for some loads", "3 solutions for this load", "leaves"):
        assert words in text
    state, contacts = rod(1.0)
    with pytest.raises(ModelError, match="no AccelerationStep"):
        mf.diagnose(mf.ContactStep(state, contacts, 1e-3))
