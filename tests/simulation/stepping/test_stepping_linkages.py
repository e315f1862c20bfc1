"""Loops with rows that repeat others: every formulation and solver, closed forms, contradictions."""

import linkages
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Gear, closure_rows, project_rates
from mcpframe.multibody.independence import IndependentRows

CLOSED = 1e-11
"""Metres and radians: ten times what the projection asks for."""
SAME = 1e-10
"""Between ways to solve a step, after ten of them; the first digits that differ are those of residuals."""
MODELS = {
    "bennett": mf.systems.bennett(),
    "bricard": mf.systems.bricard(),
    "parallelogram": mf.systems.parallelogram(),
    "pinned": mf.systems.four_bar(height=2.0),
    "welded": mf.systems.four_bar(height=2.0, weld=True),
}
FORMULATIONS, SOLVERS = sorted(mf.available_formulations()), sorted(mf.available_solvers())


def run(model, duration=0.01, rates=None, **stepping):
    first = [2.0] + [0.0] * (model.n_dofs - 1)
    rates = project_rates(model.state(None, first)) if rates is None else rates
    settings = mf.Stepping(dt=1e-3, duration=duration, **stepping)
    return mf.simulate(mf.Scene(model, None, rates, ignore=["*"], stepping=settings))


def loop_error(trajectory):
    states = [trajectory.state(k) for k in range(0, len(trajectory), 10)]
    return max(np.abs(closure_rows(state).error).max() for state in states)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_moves_overconstrained_linkages_alike(name, formulation):
    ours, reference = (run(MODELS[name], formulation=each) for each in (formulation, "os"))
    assert len(ours.failed) == 0
    np.testing.assert_allclose(ours.theta, reference.theta, atol=SAME)
    assert loop_error(ours) <= CLOSED


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("formulation", ["os", "mc", "nmc"])
def test_every_solver_takes_rows_that_repeat_others(solver, formulation):
    """`os` has few unknowns, `mc` and `nmc` have the mass matrix beside the closures, dense and sparse."""
    if (formulation, solver) == ("nmc", "enum"):
        pytest.skip("more unknowns than enum takes")
    if solver == "cone":
        pytest.skip("takes exact cones alone")
    model = MODELS["bennett"]
    ours = run(model, 0.003, formulation=formulation, solver=solver, on_failure="stop")
    np.testing.assert_allclose(ours.theta, run(model, 0.003).theta, atol=SAME)


@pytest.mark.parametrize("name", linkages.LINKAGES)
def test_the_fourth_order_rule_moves_linkages_as_their_closed_forms_do(name):
    """Two seconds, in which Bennett's crank goes round and Bricard's ring turns inside out."""
    model, duration = linkages.LINKAGES[name][0], 2.0
    ours = run(model, duration, linkages.rates(name), integrator="rk4")
    truth = linkages.motion(name, np.linspace(0.0, duration, 201))
    np.testing.assert_allclose(ours.theta[::10, 0], truth[:, 0], atol=1e-8)
    assert loop_error(ours) <= CLOSED


@pytest.mark.parametrize("name", linkages.LINKAGES)
def test_steps_halved_come_nearer_to_the_closed_form(name):
    model = linkages.LINKAGES[name][0]
    truth = linkages.motion(name, np.linspace(0.0, 0.5, 11))[-1, 0]
    errors = []
    for dt in (2e-3, 1e-3):
        settings = mf.Stepping(dt=dt, duration=0.5)
        scene = mf.Scene(model, None, linkages.rates(name), ignore=["*"], stepping=settings)
        errors.append(abs(mf.simulate(scene).theta[-1, 0] - truth))
    assert errors[1] <= 0.6 * errors[0]
    assert errors[1] <= 1e-2


def test_one_degree_of_freedom_is_left_all_the_way():
    ours = run(MODELS["bricard"], 1.0)
    for k in range(0, len(ours), 50):
        state = ours.state(k)
        assert IndependentRows.of(state, closure_rows(state)).kept.size == state.model.n_dofs - 1


@pytest.mark.parametrize("control", ["baumgarte", "none"])
def test_loops_that_are_left_open_keep_their_degree_of_freedom(control):
    """Rows that repeat others where loops are closed differ here; that is no reason to hold the linkage."""
    kept = run(MODELS["bennett"], 0.2)
    ours = run(MODELS["bennett"], 0.2, drift_control=control)
    assert 1e-9 <= loop_error(ours) <= 2e-3
    np.testing.assert_allclose(ours.theta, kept.theta, atol=5e-3)


def driven(*rates):
    """A four-bar whose crank is driven at each of some rates at once."""
    model = mf.systems.four_bar(height=2.0)
    gears = [Gear({"crank": 1.0}, lambda t, rate=rate: (rate, 0.0)) for rate in rates]
    return mf.Model(model.links, [*model.closures, *gears])


def test_the_same_motion_prescribed_twice_is_kept():
    ours = run(driven(1.0, 1.0), 0.05)
    np.testing.assert_allclose(ours.theta[-1, 0], 0.05, atol=1e-12)


def test_closures_that_contradict_each_other_at_the_start_are_named():
    with pytest.raises(ModelError, match=r"closure \d \(Gear of 'crank'\).*closure \d \(Gear of 'crank'\)"):
        mf.Scene(driven(1.0, 2.0))


def test_closures_that_come_to_contradict_each_other_stop_the_run_and_are_named():
    model = mf.systems.four_bar(height=2.0)
    gears = [
        Gear({"crank": 1.0}, lambda t: (1.0, 0.0)),
        Gear({"crank": 1.0}, lambda t: (1.0 + max(t - 0.0205, 0.0), float(t > 0.0205))),
    ]
    with pytest.raises(ModelError, match=r"step 2\d, .*closure 1 \(Gear of 'crank'\)"):
        run(mf.Model(model.links, [*model.closures, *gears]), 0.1)


def test_a_motion_that_leads_beyond_reach_stops_the_run_and_is_named():
    """The crank of this four-bar cannot go round: coupler and rocker are stretched before."""
    model = mf.systems.four_bar(crank=0.5, coupler=0.5, rocker=0.5, ground=0.7, height=2.0)
    drive = Gear({"crank": 1.0}, lambda t: (3.0, 0.0))
    with pytest.raises(ModelError, match=r"closure 1 \(Gear of 'crank'\)"):
        run(mf.Model(model.links, [*model.closures, drive]), 2.0)
