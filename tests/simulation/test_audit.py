"""What is said against a run: energy from nowhere, rates that steps cannot resolve, order that is lost."""

import io
import warnings
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import mcpframe as mf
from mcpframe.commands.run_summary import summary
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.scene.controllers import PD
from mcpframe.simulation.audit.findings import findings
from mcpframe.simulation.audit.growth import energy_growth, mechanical_energy
from mcpframe.simulation.audit.order import lost_order
from mcpframe.simulation.audit.rates import ResolutionWarning, fast_turns, round_down, turning_rates
from mcpframe.simulation.recording.energy_audit import EnergyWarning

Y = (0.0, 1.0, 0.0)


def rod(**options):
    """A rod of 1 m and 1 kg on a pin."""
    return mf.Link(
        "rod", hinge=mf.Hinge("pin", Y), mass=1.0, com=(0, 0, -0.5), inertia=np.eye(3) / 12, **options
    )


def swing(duration=1.0, theta=(-1.2,), controllers=(), link=None, **stepping):
    way = mf.Stepping(duration=duration, **stepping)
    return mf.Scene(mf.Model([link or rod()]), theta=theta, controllers=controllers, stepping=way)


def told(scene, run):
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(summary(run, scene))
    return console.export_text()


def lifted(run, gains):
    """Return the run with energies that were added to its kinetic energy."""
    return mf.Trajectory(run.header, replace(run.steps, kinetic_energy=run.kinetic_energy + gains))


def test_a_run_that_keeps_its_energy_is_not_warned_of():
    scene = swing()
    run = mf.simulate(scene)
    assert findings(scene, run) == []
    assert "WARNING" not in told(scene, run)


def test_a_first_order_scheme_that_gains_energy_is_named_with_how_much_and_from_when():
    scene = swing(dt=0.04, duration=2.0, integrator="semi_implicit_euler")
    with pytest.warns(EnergyWarning, match="probable cause: semi_implicit_euler") as caught:
        run = mf.simulate(scene)
    assert len(caught) == 1
    growth = energy_growth(scene, run)
    energy = run.total_energy
    start, end = run.index_at(growth.start), run.index_at(growth.end)
    assert growth.gained == pytest.approx(energy[end] - energy[start])
    assert energy[start] == energy[: end + 1].min()
    assert "WARNING: energy has grown by" in told(scene, run)


def test_energy_counts_as_grown_above_the_least_that_there_was():
    """A loss that is made good again is a gain: only nature's own direction is free."""
    scene = swing()
    run = mf.simulate(scene)
    moved = run.kinetic_energy.max()
    loss = np.where(run.time > 0.4, -0.5 * moved, 0.0)
    assert energy_growth(scene, lifted(run, loss)) is None
    back = np.where((run.time > 0.4) & (run.time <= 0.6), -0.5 * moved, 0.0)
    growth = energy_growth(scene, lifted(run, back))
    assert growth.gained == pytest.approx(0.5 * moved, rel=1e-3)
    assert 0.4 < growth.start <= 0.601 <= growth.end
    assert "a dt of 0.001 s is too long" in growth.cause


def test_what_drives_may_add_energy():
    model = mf.Model([rod()])
    driven = mf.Scene(model, controllers=[PD(model, 50.0, 1.0, [1.0])], stepping=mf.Stepping(duration=0.3))
    assert mf.simulate(driven).total_energy[-1] > 1.0
    assert findings(driven, mf.simulate(driven)) == []


def test_springs_give_back_what_they_hold():
    scene = swing(link=rod(stiffness=200.0, rest=1.0), theta=(0.0,))
    run = mf.simulate(scene)
    assert np.ptp(run.total_energy) > 50.0
    np.testing.assert_allclose(mechanical_energy(run), mechanical_energy(run)[0], rtol=1e-3)
    assert findings(scene, run) == []


def test_a_whirled_chain_is_told_which_hinge_when_and_what_dt_would_do():
    """A hundred links whip until their tip turns by more than half a radian in a step of 2 ms."""
    links, parent, pose = [], "world", None
    for k in range(100):
        inertia = np.diag([1.0, 1.0, 0.0]) * 0.1 * 0.1**2 / 12
        links.append(mf.Link(f"link_{k}", parent, mf.Hinge("pin", Y), pose, 0.1, (0, 0, -0.05), inertia))
        parent, pose = f"link_{k}", mf.Pose((0, 0, -0.1))
    theta = np.append(1.2, np.full(99, 0.005))
    scene = mf.Scene(mf.Model(links), theta=theta, stepping=mf.Stepping(duration=5.0, dt=2e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        with pytest.warns(ResolutionWarning, match=r"'link_99' turns at .* dt = 0.001 s would resolve it"):
            run = mf.simulate(scene)
    fast = fast_turns(run, 2e-3)
    assert fast.rate == np.abs(run.theta_dot).max() > 0.5 / 2e-3
    assert np.abs(run.theta_dot[run.index_at(fast.time)]).max() == fast.rate
    assert round_down(0.5 / fast.rate) * fast.rate <= 0.5


def test_a_spinning_body_turns_about_all_its_axes_together():
    model = mf.Model([mf.Link("body", mass=1.0, inertia=np.eye(3)), rod()])
    rates, names = turning_rates(model, np.array([[900.0, 0.0, 0.0, 300.0, 0.0, -400.0, 7.0]]))
    assert dict(zip(names, rates[0].tolist(), strict=True)) == {"body": 500.0, "rod": 7.0}


def test_sliding_is_no_turning():
    model = mf.Model([mf.Link("slide", hinge=mf.Hinge("prismatic"), mass=1.0, inertia=np.eye(3))])
    scene = mf.Scene(model, theta_dot=[1e4], stepping=mf.Stepping(duration=0.01))
    assert findings(scene, mf.simulate(scene)) == []


@pytest.mark.parametrize(("value", "known"), [(0.00064, 6e-4), (0.5, 0.5), (1.99, 1.0), (12.0, 10.0)])
def test_numbers_are_rounded_down_to_one_digit(value, known):
    assert round_down(value) == pytest.approx(known)


def bouncing(**stepping):
    """A ball that falls for 0.1 s and bounces."""
    ball = mf.Link("ball", mass=1.0, inertia=np.eye(3) / 250, geometry=Geometry(Sphere(0.1)))
    model = mf.Model([ball], geometry=[Geometry(Plane(), name="floor")])
    start = {"ball": mf.Pose((0, 0, 0.1 + 9.81 / 200))}
    way = mf.Stepping(duration=0.19, **stepping)
    return mf.Scene(model, theta=start, materials=mf.Material(restitution=1.0), stepping=way)


def test_rk4_says_where_it_is_not_of_fourth_order():
    scene = bouncing(integrator="rk4")
    order = lost_order(scene, mf.simulate(scene))
    assert order.startswith("fourth; second in 1 of 190 steps recorded")
    assert order.endswith("the first at t = 0.101 s")
    assert order in told(scene, mf.simulate(scene))


def test_rk4_says_that_limits_have_changed_its_motion():
    """The step of the impact, and one in which the limit opens or closes, if any; not those at the limit."""
    scene = swing(link=rod(upper=-0.3), integrator="rk4", duration=1.0)
    run = mf.simulate(scene)
    held = run.time[1:][np.abs(run.theta[1:, 0] + 0.3) < 1e-6]
    count = int(lost_order(scene, run).split("second in ")[1].split()[0])
    assert held.size > 100
    assert 1 <= count <= 3


def test_rk4_says_that_it_asks_controllers_once_in_a_step():
    model = mf.Model([rod()])
    scene = mf.Scene(model, controllers=[PD(model, 5.0, 0.1, [0.5])], stepping=mf.Stepping(integrator="rk4"))
    assert lost_order(scene, mf.simulate(scene)).endswith(
        "first where controllers act, which are asked once in a step"
    )


def test_rk4_in_flight_is_of_fourth_order_and_others_say_nothing_of_order():
    scene = swing(integrator="rk4")
    assert lost_order(scene, mf.simulate(scene)) == "fourth"
    assert lost_order(swing(), mf.simulate(swing())) == ""
