"""Rigid or compliant under every law and in every formulation: judged as dense matrices say, and switched.

  o       two legs on a ball joint slide on their feet; the front one has the law, the rear one Coulomb's
 / \\      A = R W C*: normals, with what is at its limit as a share of them, and what sticks eliminated
o   o ->
"""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import mcpframe as mf
from mcpframe.commands.run_summary import summary
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, MOMENT_1, MOMENT_2, MOMENT_N
from mcpframe.diagnosis.p_matrix import margin_of
from mcpframe.exceptions import OptionError
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.memory.law_groups import BOUNDED, DISC, GIVEN, HELD, LEANS, pack_groups

SCENES = Path(__file__).parents[3] / "examples/scenes"
ROD = SCENES / "contact_models/painleve_rod.toml"
SHORT = 1e-6
"""Seconds: a step whose middle is where it begins."""
MU, MU_2, LEVER = 0.3, 0.15, 10.0
"""Friction along t_1 and t_2; m, long enough for moments to hold."""
LAYER = {"stiffness": 2e3, "damping": 40.0}


def legs(law):
    """The two legs, whose feet slide; inertias have no symmetry, so that turning is felt everywhere."""
    feet = [Geometry(Sphere(0.05), mf.Pose((0.0, 0.0, -0.5)), name) for name in ("front", "rear")]
    inertia = np.array([[0.05, 0.01, 0.02], [0.01, 0.07, -0.01], [0.02, -0.01, 0.04]])
    links = [
        mf.Link("front", mass=2.0, com=(0.02, 0.03, -0.3), inertia=inertia, geometry=feet[0]),
        mf.Link("rear", "front", mf.Hinge("ball"), mass=1.0, com=(0.0, -0.02, -0.2), inertia=inertia,
                geometry=feet[1]),
    ]  # fmt: skip
    model = mf.Model(links, gravity=(0.0, 0.0, -9.81), geometry=(Geometry(Plane(), name="floor"),))
    theta = model.neutral()
    theta[2] = 0.05 + 0.5 * np.cos(0.4)
    theta[3:7], theta[7:11] = (0.0, -np.sin(0.2), 0.0, np.cos(0.2)), (0.0, np.sin(0.4), 0.0, np.cos(0.4))
    materials = {("front", "floor"): mf.Material(MU, law=law), ("rear", "floor"): mf.Material(MU)}
    scene = mf.Scene(model, theta=theta, materials=materials)
    state = scene.initial_state()
    rates = np.linalg.lstsq(_jacobian(state, scene), _sliding(state, scene), rcond=None)[0]
    return replace(scene, theta_dot=rates)


def _jacobian(state, scene):
    """V_rel of all contacts by hinge rates [6 n, N], one rate after the other."""
    contacts, model = scene.detector().contacts(state, 1e-6), scene.model
    columns = [
        contact_velocities(model.state(state.theta, e), contacts).ravel() for e in np.eye(model.n_dofs)
    ]
    return np.array(columns).T


def _sliding(state, scene):
    """V_rel with which both feet slide without turning."""
    axes = scene.detector().contacts(state, 1e-6).axes
    velocity = np.zeros((len(axes), 6))
    velocity[:, FORCE_N:] = axes @ np.array([0.5, 0.2, 0.0])
    return velocity.ravel()


def dense(scene, held, share):
    """Margin and growth by dense matrices: `held` of the front foot stick, its friction is `share` of F_n."""
    state = scene.initial_state()
    J = _jacobian(state, scene)
    W = J @ np.linalg.solve(state.mass_matrix(), J.T)
    velocity = (J @ state.theta_dot).reshape(-1, 6)
    n = len(velocity)
    normals, columns = np.zeros((n, 6 * n)), np.zeros((n, 6 * n))
    for i, v in enumerate(velocity):
        normals[i, 6 * i + FORCE_N] = columns[i, 6 * i + FORCE_N] = 1.0
        friction = (share, round_friction)[i](v[FORCE_1], v[FORCE_2])
        columns[i, 6 * i + FORCE_1 : 6 * i + FORCE_2 + 1] = friction
    stuck = np.eye(6 * n)[list(held)]
    rest = W - W @ stuck.T @ np.linalg.pinv(stuck @ W @ stuck.T) @ stuck @ W
    A = normals @ rest @ columns.T
    return margin_of(A), mf.Layer(**LAYER).growth(A)


def round_friction(v_1, v_2):
    return -MU * np.array([v_1, v_2]) / np.hypot(v_1, v_2)


def elliptic_friction(v_1, v_2):
    return -np.array([MU**2 * v_1, MU_2**2 * v_2]) / np.hypot(MU * v_1, MU_2 * v_2)


def no_share(v_1, v_2):
    return np.zeros(2)


LAWS = {
    "coulomb": ({"name": "coulomb"}, (), round_friction),
    "anisotropic": ({"name": "anisotropic", "mu_1": MU, "mu_2": MU_2}, (), elliptic_friction),
    "torsional": ({"name": "torsional", "radius": LEVER}, (MOMENT_N,), round_friction),
    "rolling": ({"name": "rolling", "radius": LEVER}, (MOMENT_1, MOMENT_2), round_friction),
    "box": ({"name": "box", "load": 1.0}, (), no_share),
    "frictionless": ({"name": "frictionless"}, (), no_share),
}


@pytest.mark.parametrize("formulation", ["os", "mc"])
@pytest.mark.parametrize("law", LAWS)
def test_steps_are_judged_as_dense_matrices_say(law, formulation):
    table, held, share = LAWS[law]
    scene = legs(table)
    asked = {"diagnose": True, "friction": "cone", "formulation": formulation, "layer": LAYER}
    run = mf.simulate(scene, dt=SHORT, duration=SHORT, **asked)
    margin, growth = dense(scene, held, share)
    assert (run.contacts_at(1).impulse[:, 2] > 0.0).all()
    assert run.unique[1] > 0
    assert run.margin[1] == pytest.approx(margin, rel=1e-5)
    assert run.growth[1] == pytest.approx(growth, rel=1e-5)


def test_moments_that_stick_make_a_difference():
    """Or the test above would say nothing of them."""
    scene = legs(LAWS["coulomb"][0])
    margins = [dense(scene, held, round_friction)[0] for held in ((), (MOMENT_N,), (MOMENT_1, MOMENT_2))]
    assert min(abs(margins[0] - margins[1]), abs(margins[0] - margins[2])) > 1e-3


@pytest.mark.parametrize("friction", ["polygon", "cone"])
@pytest.mark.parametrize("law", ["anisotropic", "torsional", {"name": "rolling", "radius": 0.0}])
def test_the_rod_yields_under_every_law_whose_friction_leans_on_the_normal_force(law, friction):
    """In the plane they all are Coulomb's."""
    rod = mf.load_scene(ROD)
    ways = [replace(rod, materials=mf.Material(1.6, law=name)) for name in ("coulomb", law)]
    asked = {"friction": friction, "solver": "auto", "duration": 0.06}
    one, other = (mf.simulate(way, **asked) for way in ways)
    assert [switch.to for switch in one.switches] == ["compliant", "rigid"]
    assert [switch.time for switch in other.switches] == [switch.time for switch in one.switches]
    np.testing.assert_allclose(other.theta, one.theta, atol=1e-9)


@pytest.mark.parametrize("law", ["box", "frictionless"])
def test_friction_that_does_not_know_of_the_normal_force_does_no_harm(law):
    run = mf.simulate(replace(mf.load_scene(ROD), materials=mf.Material(1.6, law=law)), duration=0.02)
    assert run.switches == []
    assert (run.unique[1:] > 0).all()


@pytest.mark.parametrize("formulation", sorted({*mf.available_formulations()} - {"os"}))
def test_every_formulation_switches_where_operational_space_does(formulation):
    rod = mf.load_scene(ROD)
    one, other = (mf.simulate(rod, formulation=name, duration=0.06) for name in ("os", formulation))
    assert [(switch.time, switch.to) for switch in other.switches] == [(0.0, "compliant"), (0.048, "rigid")]
    np.testing.assert_array_equal(other.unique, one.unique)
    np.testing.assert_allclose(other.margin, one.margin, rtol=1e-6)
    np.testing.assert_allclose(other.theta, one.theta, atol=1e-7)


def test_a_box_that_slides_on_four_corners_is_told_to_be_held_in_many_ways():
    """Three of them press in a basic solution; the fourth is closed and does not open."""
    scene = mf.Scene(mf.systems.box(), theta_dot=[0.3, 0, 0, 0, 0, 0], materials=mf.Material(0.2))
    run = mf.simulate(scene, contact_model="auto", duration=0.1)
    assert [(switch.time, switch.to) for switch in run.switches] == [(0.0, "compliant")]
    weight = 9.81 * scene.model.links[0].mass
    table = run.contacts_at(len(run) - 1)
    assert table.impulse[:, 2].sum() / 1e-3 == pytest.approx(weight, rel=1e-2)
    assert table.impulse[:, 2].min() / 1e-3 > 0.1 * weight


def many_feet(together):
    """Forty feet on the floor: of one body, or of forty."""
    places = [mf.Pose((0.2 * (k % 8), 0.2 * (k // 8), 0.1)) for k in range(40)]
    if together:
        links = [mf.Link("body", mass=1.0, inertia=np.eye(3),
                         geometry=tuple(Geometry(Sphere(0.1), place) for place in places))]  # fmt: skip
    else:
        links = [mf.Link(f"ball_{k}", pose=place, mass=1.0, inertia=np.eye(3), geometry=Geometry(Sphere(0.1)))
                 for k, place in enumerate(places)]  # fmt: skip
    model = mf.Model(links, gravity=(0.0, 0.0, -9.81), geometry=(Geometry(Plane()),))
    return mf.Scene(model, materials=mf.Material(0.5))


def test_more_normals_than_a_body_has_ways_to_move_are_too_many_whatever_there_is_room_for():
    run = mf.simulate(many_feet(True), contact_model="auto", duration=0.01)
    assert [(switch.time, switch.to) for switch in run.switches] == [(0.0, "compliant")]
    assert (run.unique[1:] == -6).all()


def test_what_is_too_much_to_be_judged_stays_rigid_and_is_told():
    run = mf.simulate(many_feet(False), contact_model="auto", duration=0.01)
    assert run.switches == []
    assert (run.unique == 0).all()
    table = Console(width=200, file=StringIO())
    table.print(summary(run))
    assert "10 with too much that presses were not judged" in table.file.getvalue()


def two_boxes():
    """One on a layer of its own on the floor, one that is rigid and slides on it."""
    links = [
        mf.Link(name, mass=1.0, inertia=0.01 * np.eye(3), geometry=Geometry(Box((0.3, 0.3, 0.1)), name=name))
        for name in ("lower", "upper")
    ]
    model = mf.Model(links, gravity=(0.0, 0.0, -9.81), geometry=(Geometry(Plane(), name="floor"),))
    theta = model.neutral()
    theta[2], theta[9] = 0.05, 0.15
    soft = mf.Material(0.8, law={"name": "compliant", "stiffness": 1e4, "damping": 100.0})
    materials = {("lower", "floor"): soft, ("lower", "upper"): mf.Material(0.2)}
    return mf.Scene(model, theta=theta, theta_dot=[0] * 6 + [0.5] + [0] * 5, materials=materials)


def test_contacts_with_a_layer_of_their_own_keep_it_while_others_switch():
    scene = two_boxes()
    run = mf.simulate(scene, contact_model="auto", duration=0.3)
    assert [(switch.time, switch.to) for switch in run.switches] == [(0.0, "compliant")]
    table = run.contacts_at(len(run) - 1)
    on_floor = table.point[:, 2] < 0.05
    assert (table.impulse[on_floor, 2].sum() / 1e-3) == pytest.approx(2.0 * 9.81, rel=1e-2)
    np.testing.assert_allclose(-table.gap[on_floor], table.impulse[on_floor, 2] / 1e-3 / 1e4, rtol=2e-2)
    energy = run.kinetic_energy + run.potential_energy
    assert (energy - energy[0]).max() < 1e-9


def ball_on_plate():
    """A ball on a plate that lies on a layer of its own, beside a box on four corners that is pulled off."""
    up = mf.Hinge("prismatic", (0, 0, 1))
    links = [
        mf.Link("plate", hinge=up, pose=mf.Pose((0, 0, 0.01)), mass=2.0, inertia=0.01 * np.eye(3),
                geometry=Geometry(Box((0.4, 0.4, 0.02)), name="plate")),
        mf.Link("ball", hinge=up, pose=mf.Pose((0, 0, 0.12)), mass=1.0, inertia=0.01 * np.eye(3),
                geometry=Geometry(Sphere(0.1), name="ball")),
        mf.Link("box", pose=mf.Pose((1, 0, 0.1)), mass=1.0, inertia=0.01 * np.eye(3),
                geometry=Geometry(Box((0.2, 0.2, 0.2)), name="box")),
    ]  # fmt: skip
    model = mf.Model(links, gravity=(0, 0, -9.81), geometry=(Geometry(Plane(), name="floor"),))
    pull = np.array([0, 0, 0, 0, 30.0, 0, 0, 0])
    soft = mf.Material(0.5, law={"name": "compliant", "stiffness": 1e4, "damping": 200.0})
    materials = {"default": mf.Material(0.5), ("plate", "floor"): soft}
    return mf.Scene(model, materials=materials, controllers=[lambda state, time: (time > 0.05) * pull])


def test_forces_of_layers_that_stay_are_loads_to_rigid_ones():
    """Without that of the plate ball and plate would fall freely, and no rigid force would agree."""
    layer = {"stiffness": 1e4, "damping": 50.0}
    run = mf.simulate(ball_on_plate(), contact_model="auto", layer=layer, duration=2.0)
    there, back = run.switches
    assert (there.to, back.to) == ("compliant", "rigid")
    assert back.force_jump < 0.1 * 1.5 * 9.81
    table = run.contacts_at(len(run) - 1)
    on_plate = table.point[:, 2] > 0.01
    assert table.impulse[on_plate, 2].sum() / 1e-3 == pytest.approx(9.81, rel=1e-6)


@pytest.mark.parametrize("at_contacts", ["none", "twice"])
def test_hybrid_bodies_switch_too(at_contacts):
    scene = mf.load_scene(SCENES / "adaptive/bridge.toml")
    scene = replace(scene, adaptive=scene.adaptive.model_copy(update={"at_contacts": at_contacts}))
    run = mf.simulate(scene, contact_model="auto", duration=0.4)
    assert run.switches
    assert run.switches[0].to == "compliant"
    assert run.switches[0].force_jump < 1e-6
    assert len(run.failed) == 0
    told = run.unique[1:] != 0
    assert told.any()


class Drag(mf.AbstractContactLaw):
    """A force against the slip that follows from its speed, and a moment that always holds."""

    name = "drag_and_hold"

    def rows(self, contact, dt):
        Wd = np.zeros((6, 4))
        Wd[[FORCE_N, FORCE_1, FORCE_2, MOMENT_N], range(4)] = 1.0
        P = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
        lower = (0.0, -np.inf, -np.inf, -np.inf)
        return mf.LawRows(Wd, -P.T, P, dt * np.eye(2), beta_lower=lower, sigma_lower=-np.inf)


class Glue(mf.AbstractContactLaw):
    """A normal force that pulls as well: nobody leans on it."""

    name = "glue"

    def rows(self, contact, dt):
        return mf.LawRows(np.eye(6)[:, [FORCE_N, FORCE_1]], beta_lower=(-np.inf, 0.0))


def test_a_law_of_ones_own_is_judged_where_it_can_be_read():
    scene = legs(Drag())
    run = mf.simulate(scene, dt=SHORT, duration=SHORT, diagnose=True, friction="cone", layer=LAYER)
    margin, growth = dense(scene, (MOMENT_N,), no_share)
    assert run.margin[1] == pytest.approx(margin, rel=1e-5)
    assert run.growth[1] == pytest.approx(growth, rel=1e-5)


@pytest.mark.parametrize("settings", [{"contact_model": "auto"}, {"diagnose": True}])
def test_a_law_that_cannot_be_read_is_refused_in_words(settings):
    scene = mf.Scene(mf.systems.box(), materials=mf.Material(0.5, law=Glue()))
    with pytest.raises(OptionError, match=r"the law 'glue' cannot be judged: beside a normal force"):
        mf.simulate(scene, duration=0.01, **settings)


KINDS = {
    ("frictionless", 4): [],
    ("coulomb", 4): [LEANS],
    ("coulomb", 0): [DISC],
    ("anisotropic", 8): [LEANS],
    ("torsional", 4): [LEANS, LEANS],
    ("rolling", 0): [DISC, DISC],
    ("box", 4): [BOUNDED, BOUNDED],
}


@pytest.mark.parametrize(("law", "directions"), KINDS)
def test_laws_are_read_as_groups(law, directions):
    contact = mf.Contact("world", "world", (0, 0, 0), (0, 0, 1), 0.5)
    row = pack_groups(mf.contact_law(law).with_friction_directions(directions).rows(contact, 1e-3))
    assert row[9 : 9 + 6 * row[2] : 6].tolist() == KINDS[law, directions]


def test_groups_without_force_are_given_and_what_has_no_bounds_is_held():
    contact = mf.Contact("world", "world", (0, 0, 0), (0, 0, 1), 0.0)
    row = pack_groups(mf.contact_law("coulomb").rows(contact, 1e-3))
    assert row[9] == GIVEN
    drag = pack_groups(Drag().rows(contact, 1e-3))
    assert sorted(drag[9 : 9 + 6 * drag[2] : 6].tolist()) == [HELD, GIVEN, GIVEN]
