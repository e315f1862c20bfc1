"""Closed loops in simulations: they stay closed, in every formulation, with and without contacts."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.projection import project_rates

CLOSED = 1e-11
"""Metres and radians: ten times what the projection asks for, at mechanisms of a metre."""
KEPT = 1e-10
"""Metres and radians per second, of rates of a few: rounding through a least-squares solve."""
SAME = 1e-7
"""Between formulations, after some hundred certified steps of 1e-9 each."""
FORMULATIONS = sorted(mf.available_formulations())


def scene(model, first_rate=2.0, mu=0.3, ignore=(), **stepping):
    """A mechanism whose first hinge is pushed."""
    state = model.state()
    rates = project_rates(state.update(theta_dot=[first_rate] + [0.0] * (model.n_dofs - 1)))
    materials = Material(mu=mu, restitution=0.3)
    return mf.Scene(model, None, rates, materials=materials, ignore=ignore, stepping=mf.Stepping(**stepping))


def high_four_bar(**options):
    return mf.systems.four_bar(height=2.0, **options)


def loop_errors(run):
    """Largest error in position, and in rate, of every recorded state."""
    rows = [(run.state(k), closure_rows(run.state(k))) for k in range(len(run))]
    return np.array(
        [(np.abs(r.error).max(), np.abs(r.velocity(state) - r.rate).max()) for state, r in rows]
    ).T


@pytest.mark.parametrize(
    "model", [high_four_bar(), mf.systems.closed_chain(links=5, height=5.0)], ids=lambda model: model.name
)
def test_loops_are_as_closed_after_ten_seconds_as_at_the_start(model):
    run = mf.simulate(scene(model, ignore=["*"], dt=0.02, duration=10.0))
    places, rates = loop_errors(run)[:, ::20]
    assert places.max() <= CLOSED
    assert rates[1:].max() <= KEPT


@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name != "os"])
def test_the_mechanism_moves_alike_in_every_formulation(formulation):
    runs = [
        mf.simulate(scene(high_four_bar(), dt=4e-3, duration=0.2, formulation=name))
        for name in ("os", formulation)
    ]
    np.testing.assert_allclose(runs[1].theta, runs[0].theta, atol=SAME)
    assert loop_errors(runs[1])[0].max() <= CLOSED


def test_a_floating_mechanism_keeps_its_momentum_while_its_loop_is_kept_closed():
    """Moved back by impulses of the closures alone, which are internal; first order in dt otherwise."""
    model = high_four_bar(floating=True)
    free = mf.Model(model.links, model.closures, gravity=(0, 0, 0))
    start = scene(free, dt=2e-3, duration=0.3, integrator="rk4")
    rates = mf.multibody.project_rates(free.state(None, [0.1, 0, 0, 0, 0.5, 0, 3.0, 0, 0]))
    run = mf.simulate(mf.Scene(free, None, rates, stepping=start.stepping))
    momenta = np.array([run.state(k).momentum() for k in range(len(run))])
    np.testing.assert_allclose(momenta[:, 3:], momenta[:1, 3:] * np.ones((len(run), 1)), atol=1e-9)
    assert loop_errors(run)[0].max() <= CLOSED


@pytest.mark.parametrize(("control", "least", "most"), [("baumgarte", 1e-9, 5e-5), ("none", 1e-7, 1e-5)])
def test_other_drift_controls_leave_what_they_are_known_to_leave(control, least, most):
    """Baumgarte's rule some dt² Ġ θ̇ / 0.2; none, what adds up: dt after a second."""
    error = loop_errors(mf.simulate(scene(high_four_bar(), dt=4e-3, duration=1.0, drift_control=control)))[0]
    assert least <= error[-50:].max() <= most


@pytest.mark.parametrize("seed", range(4))
def test_random_four_bars_that_rub_on_the_floor_solve_every_step_and_stay_closed(seed):
    """With the bias of the closures some of these steps would have no solution."""
    rng = np.random.default_rng(seed)
    lengths = {
        "crank": rng.uniform(0.2, 0.4),
        "coupler": rng.uniform(0.6, 0.9),
        "rocker": rng.uniform(0.5, 0.7),
    }
    model = mf.systems.four_bar(**lengths)
    run = mf.simulate(scene(model, rng.uniform(-4, 4), rng.uniform(0.1, 1.0), dt=2e-3, duration=0.15))
    assert run.n_contacts.max() > 0
    assert len(run.failed) == 0
    assert loop_errors(run)[0].max() <= CLOSED
    assert run.penetration.max() <= 1e-6
    assert (run.impacts.energy_after <= run.impacts.energy_before + 1e-9).all()
