"""Impacts without collision: Painlevé's rod, and sliding that merely comes to an end."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane

LENGTH, RADIUS, LEAN = 1.0, 0.01, 1.17
"""At this angle rubbing presses the rod down most easily; it needs mu > 4/3 to jam."""
EVERY_WAY = [("os", "lemke"), ("os", "auto"), ("os", "path"), ("mc", "lemke"), ("nmc", "lemke")]


def sliding_rod(mu, speed, **stepping):
    """A uniform rod that rises towards x, sliding along the floor; planar."""
    turn = mf.Pose.from_rpy(rpy=(0, np.pi / 2 - LEAN, 0))
    inertia = turn.rotation @ np.diag([LENGTH**2 / 12] * 2 + [0.0]) @ turn.rotation.T
    place = mf.Pose((0, 0, RADIUS + LENGTH / 2 * np.sin(LEAN)))
    shape = Geometry(Capsule(RADIUS, LENGTH), turn)
    hinge = mf.Hinge("planar", (0, -1, 0))
    link = mf.Link("rod", hinge=hinge, pose=place, mass=1.0, inertia=inertia, geometry=shape)
    model = mf.Model([link], gravity=(0, 0, -9.81), geometry=(Geometry(Plane()),))
    rates = speed * model.state().hinge_columns()[:, 3]
    way = mf.Stepping(duration=5e-3, **stepping)
    return mf.simulate(mf.Scene(model, theta_dot=rates, materials=mf.Material(mu=mu), stepping=way))


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
@pytest.mark.parametrize(("formulation", "solver"), EVERY_WAY)
def test_a_rod_that_jams_is_an_impact_with_its_energies(formulation, solver, dt, scheme):
    """The tip is stopped whatever the step: (J Mass^-1 J*) p = -v of it, and half p . v is lost."""
    run = sliding_rod(1.6, -1.0, dt=dt, scheme=scheme, formulation=formulation, solver=solver)
    first = run.impacts.rows(0, 1)
    assert (first.jam[0], first.time[0], first.n_contacts[0]) == (1, 0.0, 1)
    state = run.state(0)
    node = mf.Node("rod", (-LENGTH / 2 * np.cos(LEAN), 0, -LENGTH / 2 * np.sin(LEAN) - RADIUS))
    v = state.node_velocities([node])[0, [3, 5]]
    lost = 0.5 * v @ np.linalg.solve(state.compliance([node])[3:, 3:][np.ix_([0, 2], [0, 2])], v)
    assert first.energy_before[0] == pytest.approx(0.5)
    assert first.energy_after[0] == pytest.approx(0.5 - lost, abs=4.0 * dt)
    assert run.impacts.jam.sum() == 1
    assert run.impacts.certificate.max() < 1e-9


@pytest.mark.parametrize(("mu", "speed"), [(1.6, 1.0), (1.2, -1.0), (0.5, -1.0), (0.5, 1.0)])
def test_a_rod_that_slides_on_is_none(mu, speed):
    assert not sliding_rod(mu, speed, dt=1e-3).impacts.jam.any()


@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_a_box_that_slides_to_rest_is_none(scheme):
    """It loses up to mu g dt in the last step, more than the rest speed: suspected, and let go."""
    box = mf.Link("box", mass=1.0, inertia=0.01 * np.eye(3), geometry=Geometry(Box((0.2, 0.2, 0.1))))
    model = mf.Model([box], gravity=(0, 0, -9.81), geometry=(Geometry(Plane()),))
    start = {"theta": [0, 0, 0.05, 0, 0, 0, 1], "theta_dot": [0.1, 0, 0, 0, 0, 0]}
    way = mf.Stepping(dt=5e-3, duration=0.1, scheme=scheme)
    run = mf.simulate(mf.Scene(model, **start, materials=mf.Material(mu=0.5), stepping=way))
    assert len(run.impacts) == 0
    assert np.abs(run.theta_dot[-1]).max() < 1e-9


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_what_is_recorded_after_a_jam_is_where_its_step_ends(dt):
    """To find a jam other steps are tried; the contacts in their middles are none of the state's."""
    run = sliding_rod(1.6, -1.0, dt=dt)
    assert run.impacts_at(1).jam.any()
    detector = mf.Scene(run.model, materials=mf.Material(mu=1.6)).detector()
    (contact,) = detector.contacts(run.state(1), 1e-3)
    np.testing.assert_allclose(run.contacts_at(1).gap, [contact.gap], rtol=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_energies_of_a_jam_are_without_the_work_of_forces(dt):
    """Gravity alone would give the rod, which moves along the floor, m (g dt)² / 2 in that step."""
    run = sliding_rod(1.6, -0.1, dt=dt)
    jam, whole = run.impacts_at(1), np.diff(run.kinetic_energy)[0]
    assert jam.energy_after[0] - jam.energy_before[0] == pytest.approx(whole - (9.81 * dt) ** 2 / 2, rel=1e-5)
