"""Runs whose joints become rigid and active again: beside full ones, resumed, recorded, refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ModelError, OptionError
from mcpframe.multibody import closure_rows
from mcpframe.multibody.model.shapes import Capsule, Geometry, Sphere
from mcpframe.scene.controllers import PD, ComputedTorque
from mcpframe.scene.references import Move, Moves
from mcpframe.scene.settings import Adaptive, Output, Stepping

N = 24
PEGS = Path(__file__).parents[2] / "examples" / "scenes" / "adaptive" / "pegs.toml"


def chain(n=N, length=2.4, **hinge):
    """Balls on a string, pins about y and x in turn, above pegs along y."""
    ell = length / n
    links = [
        mf.Link(
            f"link_{k + 1}",
            f"link_{k}" if k else "world",
            mf.Hinge("pin", ((0, 1, 0), (1, 0, 0))[k % 2]),
            mf.Pose((0, 0, -ell if k else 0)),
            mass=0.1,
            com=(0, 0, -ell / 2),
            inertia=0.1 * ell**2 / 10 * np.eye(3),
            geometry=Geometry(Sphere(0.4 * ell), mf.Pose((0, 0, -ell / 2))),
            **hinge,
        )
        for k in range(n)
    ]
    flat = mf.Pose.from_rpy((0, 0, 0), (np.pi / 2, 0, 0)).rotation
    pegs = [Geometry(Capsule(0.06, 1.0), mf.Pose(x, flat), "peg") for x in ((-0.7, 0, -1.3), (0.2, 0, -1.6))]
    return mf.Model(links, geometry=pegs)


def scene(adaptive=None, model=None, restitution=0.2, scheme="event_driven", every=1, **options):
    model = model or chain()
    return mf.Scene(
        model,
        theta={"link_1": 1.0},
        theta_dot={"link_1": -0.5, "link_2": 0.2},
        materials=mf.Material(mu=0.3, restitution=restitution),
        ignore=[("link_*", "link_*")],
        adaptive=adaptive,
        stepping=Stepping(dt=1e-3, duration=0.6, scheme=scheme, **options),
        output=Output(every=every),
    )


def same(a, b):
    for name in ("time", "theta", "theta_dot", "kinetic_energy", "n_contacts", "rigid_error", "rigid_loss"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.contacts.impulse, b.contacts.impulse)
    np.testing.assert_array_equal(a.active_joints, b.active_joints)


@pytest.fixture(scope="module")
def full():
    return mf.simulate(scene())


def test_all_joints_active_are_the_full_run_to_the_bit(full):
    run = mf.simulate(scene(Adaptive(active=N)))
    for name in ("theta", "theta_dot", "kinetic_energy", "n_contacts", "n_impacts"):
        np.testing.assert_array_equal(getattr(run, name), getattr(full, name), err_msg=name)
    np.testing.assert_array_equal(run.contacts.body_a, full.contacts.body_a)
    assert (run.active_joints[1:] == N).all()
    assert full.n_contacts.max() > 1
    assert (full.active_joints == -1).all()


@pytest.mark.parametrize("at_contacts", ["none", "event", "twice"])
@pytest.mark.parametrize("scheme", ["event_driven", "time_stepping"])
def test_steps_of_clusters_are_certified_and_lose_what_is_booked(scheme, at_contacts):
    """Solves and physics of the hybrid body; its energy falls by impacts, friction and rigid joints alone."""
    options = {"restitution": 0.0, "scheme": scheme, "certify": "all"}
    run = mf.simulate(scene(Adaptive(active=8, interval=5, at_contacts=at_contacts), **options))
    assert np.nanmax(run.certificate) < 1e-9
    assert not run.failed.size
    assert run.n_contacts.max() > 0
    assert (run.rigid_loss >= -1e-12).all()
    assert run.rigid_loss.sum() > 0.0
    assert (run.active_joints[1:] <= 8).all()
    assert run.total_energy[-1] < run.total_energy[1] - run.rigid_loss.sum()


def test_the_loss_is_booked_to_the_joule_where_nothing_else_takes_energy():
    """A floating chain without gravity keeps its momentum; energy is what is left after the loss."""
    model = mf.Model(
        [
            mf.Link(
                f"link_{k}",
                f"link_{k - 1}" if k else "world",
                mf.Hinge("pin", (0, 1, 0)) if k else "free",
                mf.Pose((0, 0, -0.1 if k else 0)),
                mass=0.1,
                inertia=1e-4 * np.eye(3),
                com=(0, 0, -0.05),
            )
            for k in range(16)
        ],
        gravity=(0, 0, 0),
    )
    rates = np.r_[[0.1, 0, 0, 0, 0.5, 0], np.linspace(-2.0, 2.0, 15)]
    off = []
    for finer in (1, 2):
        start = mf.Scene(
            model,
            theta_dot=rates,
            adaptive=Adaptive(active=6, interval=10 * finer, span=2e-3),
            stepping=Stepping(dt=2e-4 / finer, duration=0.4),
        )
        run = mf.simulate(start)
        lost = run.rigid_loss.sum()
        off.append(run.kinetic_energy[0] - run.kinetic_energy[-1] - lost)  # by the integrator, second order
    assert abs(off[0]) < 1e-2 * lost
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.02)
    assert abs(4.0 * off[1] - off[0]) / 3.0 < 1e-5 * lost
    momenta = [run.state(k).momentum() for k in (0, len(run) // 2, -1)]
    np.testing.assert_allclose(momenta[1], momenta[0], atol=1e-5)
    np.testing.assert_allclose(momenta[2], momenta[0], atol=1e-5)


def test_more_active_joints_come_nearer_to_the_full_run(full):
    off = []
    first = int(np.argmax(full.n_contacts > 0))
    for active in (4, 10, 20):
        run = mf.simulate(scene(Adaptive(active=active, interval=5)))
        ends = [t.motion_of(t.last_link, [first])[0] for t in (run, full)]
        off.append(float(np.linalg.norm(ends[0] - ends[1])))
    assert off[2] < off[1] < off[0]
    assert off[2] < 1e-2


def test_an_error_bound_chooses_how_many():
    loose, tight = (mf.simulate(scene(Adaptive(error=e, span=0.02))) for e in (1.0, 0.05))
    assert loose.active_joints[1:].mean() < tight.active_joints[1:].mean()
    assert (tight.rigid_error[1:] <= 0.05 + 1e-12).all()
    both = mf.simulate(scene(Adaptive(active=6, error=0.05, span=0.02)))
    assert both.active_joints.max() <= 6


def test_rigid_joints_stand_still():
    run = mf.simulate(scene(Adaptive(active=6, interval=10, at_contacts="none"), every=10))
    still = run.theta_dot[1:] == 0.0
    assert (still.sum(axis=1) == N - 6).all()


@pytest.mark.parametrize("by", ["joints", "nodes"])
@pytest.mark.parametrize("at_contacts", ["event", "twice"])
def test_a_run_that_is_cut_short_goes_on_to_the_same_bits(tmp_path, monkeypatch, at_contacts, by):
    """By sweeps of the whole, and by pieces."""
    monkeypatch.setattr("mcpframe.multibody.adaptive.packing.FEW", 0)
    asked = scene(Adaptive(active=8, interval=4, at_contacts=at_contacts, patience=3, by=by), every=3)
    whole = mf.simulate(asked)
    for duration in (0.2, 0.311, 0.45, 0.6):
        mf.simulate(asked, out=tmp_path / "run", duration=duration)
    again = mf.Trajectory.load(tmp_path / "run")
    rows = np.isin(again.time, whole.time)
    np.testing.assert_array_equal(again.theta[rows], whole.theta[np.isin(whole.time, again.time)])
    np.testing.assert_array_equal(again.theta_dot[-1], whole.theta_dot[-1])
    assert again.header.options["adaptive"]["active"] == 8


def test_limits_springs_and_dampers_act_on_active_joints():
    model = chain(stiffness=0.05, damping=0.002, lower=-0.3, upper=0.3)
    start = scene(Adaptive(active=8, interval=5), model)
    start = replace(start, theta={"link_1": 0.29}, theta_dot={"link_1": 1.0, "link_3": -1.0})
    run = mf.simulate(start, certify="all")
    assert np.nanmax(run.certificate) < 1e-9
    assert run.theta.max() <= 0.3 + 1e-5
    assert run.theta.min() >= -0.3 - 1e-5
    assert run.impacts.n_limits.max() > 0


def test_scene_files_have_a_table(tmp_path):
    text = """
    [[model]]
    system = "pendulum"
    options = { links = 12 }
    [initial]
    theta = { link_1 = 0.8 }
    [adaptive]
    active = 5
    interval = 20
    at_contacts = "twice"
    pinned = ["link_3"]
    """
    (tmp_path / "scene.toml").write_text(text)
    loaded = mf.load_scene(tmp_path / "scene.toml")
    assert loaded.adaptive == Adaptive(active=5, interval=20, at_contacts="twice", pinned=("link_3",))
    run = mf.simulate(loaded, duration=0.1)
    assert (run.theta_dot[1:, 2] != 0.0).all()
    (tmp_path / "scene.toml").write_text(text.replace("interval", "intervall"))
    with pytest.raises(OptionError, match="interval"):
        mf.load_scene(tmp_path / "scene.toml")
    (tmp_path / "scene.toml").write_text(text.replace("link_3", "link_33"))
    with pytest.raises((OptionError, ModelError), match="link_33"):
        mf.load_scene(tmp_path / "scene.toml")


def motors(kind):
    """A heavy arm of three links that motors move, and a light rope that hangs on it."""
    model = mf.Model(name="arm")
    for k in range(N):
        mass, ell = (2.0, 0.3) if k < 3 else (0.001, 0.1)
        before = 0.0 if k == 0 else (0.3 if k <= 3 else 0.1)
        axis = ((0, 1, 0), (1, 0, 0))[k % 2]
        link = f"link_{k + 1}", f"link_{k}" if k else "world", mf.Hinge("pin", axis), mf.Pose((0, 0, -before))
        model.add_link(*link, mass, (0, 0, -ell / 2), mass * ell**2 / 12 * np.eye(3), damping=1e-4)
    there = np.zeros(N)
    there[:3] = 0.8, -0.6, 0.5
    reference = Moves(model, np.zeros(N), [Move(there, 0.05, 0.4)])
    if kind == "pd":
        return model, [PD(model, 200.0, 20.0, reference, dofs=model.dof_names[:3], limit=60.0)]
    return model, [ComputedTorque(model, 100.0, 20.0, reference, dofs=model.dof_names[:3])]


@pytest.mark.parametrize("kind", ["pd", "computed_torque"])
def test_joints_with_motors_stay_active_and_follow_as_in_the_full_run(kind):
    model, controllers = motors(kind)
    asked = mf.Scene(model, controllers=controllers, stepping=Stepping(dt=1e-3, duration=0.6, certify="all"))
    full, every, run = (
        mf.simulate(replace(asked, adaptive=a))
        for a in (None, Adaptive(active=N), Adaptive(active=15, interval=5))
    )
    np.testing.assert_array_equal(every.theta, full.theta)
    assert np.abs(full.theta[-1, :3]).min() > 0.3  # moved they are
    assert (run.active_joints[1:] == 15).all()
    assert run.rigid_loss.sum() > 0.0
    assert np.nanmax(run.certificate) < 1e-9
    assert (run.theta_dot[100:400, :3] != 0.0).all()
    assert np.abs(run.theta[:, :3] - full.theta[:, :3]).max() < 0.02


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"controllers": [lambda state, time: np.zeros(N)]}, "controllers"),
        ({"stepping": Stepping(formulation="nmc")}, "formulation"),
    ],
)
def test_what_clusters_cannot_do_is_refused(change, why):
    with pytest.raises(ModelError, match=why):
        mf.simulate(mf.Scene(chain(), adaptive=Adaptive(active=4), **change), duration=0.01)


@pytest.mark.parametrize("make", [mf.systems.four_bar, mf.systems.closed_chain])
def test_loops_stay_closed_while_a_tail_is_rigid(make):
    model = make()
    last = model.links[-1].name
    for k in range(6):
        hinge = mf.Hinge("pin", (0, 1, 0))
        model.add_link(f"tail_{k}", last, hinge, mf.Pose((0.1, 0, 0)), 0.05, (0.05, 0, 0), 1e-4 * np.eye(3))
        last = f"tail_{k}"
    loop = model.n_links - 6
    some = mf.Scene(model, adaptive=Adaptive(active=loop + 2, interval=5))
    run = mf.simulate(some, duration=0.3, certify="all")
    assert np.nanmax(run.certificate) < 1e-9
    assert np.abs(closure_rows(model.state(run.theta[-1])).error).max() < 1e-9
    assert (run.active_joints[1:] == loop + 2).all()
    assert (run.rigid_loss >= -1e-10).all()
    all_active = mf.simulate(mf.Scene(model, adaptive=Adaptive(active=model.n_links)), duration=0.1)
    full = mf.simulate(mf.Scene(model), duration=0.1)
    np.testing.assert_array_equal(all_active.theta, full.theta)


@pytest.mark.parametrize("ignore", [[("link_*", "link_*")], []])
def test_contacts_found_by_balls_of_clusters_are_those_of_the_sweep(monkeypatch, ignore):
    """The same run to the bit, whoever looks for pairs of shapes; links meet each other in one of them."""
    asked = replace(scene(Adaptive(active=8, interval=5, at_contacts="twice")), ignore=ignore)
    by_balls = mf.simulate(asked)
    monkeypatch.setattr("mcpframe.simulation.adaptation.has_clusters", lambda detector: False)
    by_sweep = mf.simulate(asked)
    same(by_balls, by_sweep)
    assert by_balls.n_contacts.max() > 0


@pytest.mark.parametrize("at_contacts", ["none", "event", "twice"])
def test_choices_by_pieces_are_those_by_sweeps(monkeypatch, at_contacts):
    """The same joints in the same steps, with contacts, limits and springs; coordinates but for rounding."""
    model = chain(stiffness=0.01, damping=0.002, lower=-0.6, upper=0.6)
    asked = scene(Adaptive(active=8, interval=5, at_contacts=at_contacts, by="nodes"), model)
    asked = replace(asked, theta={"link_1": 0.6})
    by_sweep = mf.simulate(asked, duration=0.45)
    monkeypatch.setattr("mcpframe.multibody.adaptive.packing.FEW", 0)
    by_pieces = mf.simulate(asked, duration=0.45)
    assert by_sweep.n_contacts.max() > 0
    np.testing.assert_array_equal(by_pieces.active_joints, by_sweep.active_joints)
    np.testing.assert_allclose(by_pieces.theta, by_sweep.theta, atol=1e-9)
    np.testing.assert_allclose(by_pieces.rigid_error, by_sweep.rigid_error, rtol=1e-6, atol=1e-9)


WHIPS = "ignore::mcpframe.simulation.audit.rates.ResolutionWarning"
"""The last links of a cable that whips turn faster than the steps of the scene resolve."""


def on_pegs(**options):
    """The scene of the paper's first experiment: a pendulum of 200 dofs falls onto pegs, 40 active."""
    base = mf.load_scene(PEGS)
    adaptive = base.adaptive.with_options(**options) if options else None
    return replace(base, adaptive=adaptive, output=Output(every=1))


@pytest.mark.filterwarnings(WHIPS)
@pytest.mark.parametrize(
    "options",
    [{"interval": i, "by": "nodes", "patience": 1} for i in (2, 4, 8)]
    + [{"interval": 4, "weights": "inertia"}, {"interval": 2, "metric": "acceleration"}],
)
def test_a_cable_that_jams_between_pegs_goes_on(options):
    """Stiff clusters that have sunk in on several sides cannot rise: they are held, and nothing stops."""
    run = mf.simulate(on_pegs(**options), certify="all")
    assert run.time[-1] == pytest.approx(1.2)
    assert np.nanmax(run.certificate) < 1e-9
    assert not run.failed.size
    growth = np.diff(run.total_energy) + run.rigid_loss[1:]  # what rises out of overlaps gains a little
    assert growth[growth > 0.0].sum() < 0.01 * np.ptp(run.potential_energy)


def on_bars(n, active, bars=8, length=6.0):
    """A cable that lies level across bars and sags between them, chosen anew every 15 steps."""
    cable = mf.systems.cable(links=n, length=length, damping=1e-3)
    radius = cable.links[0].geometry[0].shape.radius
    middles = (np.round(n * (np.arange(bars) + 0.5) / bars) + 0.5) * length / n
    flat = mf.Pose.from_rpy((0, 0, 0), (np.pi / 2, 0, 0)).rotation
    below = [Geometry(Capsule(0.01, 1.0), mf.Pose((-x, 0, -radius - 0.01), flat), "bar") for x in middles]
    return mf.Scene(
        mf.Model(cable.links, geometry=below),
        theta={"link_1": np.pi / 2},
        ignore=[("link_*", "link_*")],
        materials=mf.Material(mu=0.3),
        adaptive=Adaptive(active=active, interval=15, at_contacts="none"),
        stepping=Stepping(dt=2.5e-4, duration=0.46, scheme="time_stepping", certify="all"),
    )


def test_a_cable_on_bars_goes_on_where_slips_are_asked_in_vain():
    """Contacts of stiff clusters are asked for slips that no motion has; impulses do not grow for that."""
    asked = on_bars(200, 40)
    run = mf.simulate(asked)
    assert run.time[-1] == pytest.approx(0.46)
    assert not run.failed.size
    assert np.nanmax(run.certificate) < 1e-9
    fall = 9.81 * sum(link.mass for link in asked.model.links) * asked.stepping.duration
    assert np.linalg.norm(run.contacts.impulse, axis=1).max() < fall


@pytest.mark.filterwarnings(WHIPS)
def test_with_patience_pegs_are_met_as_by_the_full_run():
    """Within 0.06 m and a tenth of the contacts, in the median of intervals 2 to 6: single runs scatter."""
    full = mf.simulate(on_pegs())
    hit = int(np.argmax(full.n_contacts > 0))
    off, contacts = [], []
    for interval in range(2, 7):
        run = mf.simulate(on_pegs(interval=interval, patience=4))
        assert run.active_joints[1:].max() <= 40
        ways = np.linalg.norm(run.link_poses()[1] - full.link_poses()[1], axis=2)[hit:]
        off.append(np.sqrt((ways**2).mean()))
        contacts.append(run.n_contacts.mean() / full.n_contacts.mean() - 1.0)
    assert np.median(off) < 0.06
    assert np.median(np.abs(contacts)) < 0.1
