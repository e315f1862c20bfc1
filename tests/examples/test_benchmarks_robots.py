"""The studies of robots (examples/benchmarks): both engines are given the same robots; runs that hang or die
become rows; energies are accounted for; the studies run and write what they say."""

import json

import numpy as np
import pytest
from benchmark_modules import load, study

import mcpframe as mf
from mcpframe.io.mjcf import theta_dot_from_qvel, theta_from_qpos
from mcpframe.multibody.closures import Ball

mujoco = pytest.importorskip("mujoco")

SAME_MASS = 1e-12
"""Relative: sums of the same masses."""
SAME_ACCELERATION = 1e-8
"""Relative to the largest: both solve with a mass matrix whose condition number is up to 1e5."""
EXACT = 1e-9
"""Relative: what is only written to a file with all its digits and read again."""
FIRST_ORDER = 2e-3
"""Share of the kinetic energy that steps of 1 ms may leave over: their first order makes it 1e-3 in 1 s."""


NAMES = (
    "quadruped, standing",
    "quadruped, falling",
    "arm, at limits and floor",
    "humanoid, standing",
    "humanoid, falling",
    "four-bar",
    "hexapod, six loops",
)
DOFS = dict(zip(NAMES, (18, 18, 7, 28, 28, 3, 24), strict=True))
LOOPS = {"four-bar": 1, "hexapod, six loops": 6}


@pytest.fixture(params=NAMES)
def robot(request, tmp_path):
    return load("engines.robots").Robot(
        request.param, load("subjects.robots").write_file(request.param, tmp_path)
    )


# the same robots


def test_the_names_are_those_of_the_study():
    assert tuple(load("subjects.robots").SUBJECTS) == NAMES


def test_both_engines_have_the_same_dofs_and_the_same_mass(robot):
    assert robot.model.n_dofs == robot.compiled.nv == DOFS[robot.name]
    ours = sum(link.mass for link in robot.model.links)
    assert ours == pytest.approx(robot.compiled.body_mass.sum(), rel=SAME_MASS)


def test_both_engines_have_the_same_limits_dampers_and_rotors(robot):
    limited = robot.compiled.jnt_limited.astype(bool)
    dofs = robot.compiled.jnt_dofadr[limited]
    lower, upper = robot.compiled.jnt_range[limited].T
    np.testing.assert_allclose(robot.model.lower[dofs], lower, rtol=EXACT)
    np.testing.assert_allclose(robot.model.upper[dofs], upper, rtol=EXACT)
    assert np.isfinite(robot.model.lower).sum() == limited.sum()
    np.testing.assert_allclose(robot.model.damping, robot.compiled.dof_damping, rtol=EXACT)
    np.testing.assert_allclose(robot.model.armature, robot.compiled.dof_armature, rtol=EXACT)


def test_both_engines_accelerate_the_robot_alike_at_random_states(robot, rng):
    """Free acceleration with springs and dampers, mapped from MuJoCo's rates of a free joint to ours."""
    compiled, model = robot.compiled, robot.model
    bits = mujoco.mjtDisableBit
    compiled.opt.disableflags |= bits.mjDSBL_CONSTRAINT | bits.mjDSBL_ACTUATION
    for _ in range(3):
        data = mujoco.MjData(compiled)
        mujoco.mj_integratePos(compiled, data.qpos, rng.standard_normal(compiled.nv), 0.5)
        data.qvel[:] = rng.standard_normal(compiled.nv)
        mujoco.mj_forward(compiled, data)
        theta = theta_from_qpos(model, data.qpos)
        state = model.state(theta, theta_dot_from_qvel(model, theta, data.qvel))
        ours = state.free_acceleration(state.passive_force())
        theirs = accelerations_in_our_rates(model, state, data)
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=SAME_ACCELERATION * scale)


def accelerations_in_our_rates(model, state, data):
    """qacc in our rates. A free hinge has v in link axes here, R* v, so that v̇ gains R* a - w x (R* v)."""
    accelerations = theta_dot_from_qvel(model, state.theta, data.qacc)
    for link, d in zip(model.links, model.dof_start, strict=True):
        if link.hinge.kind == "free":
            v, w = state.theta_dot[d : d + 3], state.theta_dot[d + 3 : d + 6]
            accelerations[d : d + 3] -= np.cross(w, v)
    return accelerations


def test_loops_of_the_file_are_closures_that_hold_at_the_start(robot):
    assert len(robot.model.closures) == LOOPS.get(robot.name, 0)
    assert all(isinstance(closure, Ball) for closure in robot.model.closures)
    assert load("measuring.run_facts").opening(robot.model, [robot.start()[0]]) < EXACT


def test_motors_act_alike_in_every_engine(robot, rng):
    """The same forces from `PD`, from the function, and from MuJoCo's actuators, at a random state."""
    run = load("engines.robots").MujocoRobotRun(True, robot, 1e-3)
    mujoco.mj_integratePos(run.model, run.data.qpos, rng.standard_normal(run.model.nv), 0.5)
    run.data.qvel[:] = rng.standard_normal(run.model.nv)
    mujoco.mj_forward(run.model, run.data)
    theta = theta_from_qpos(robot.model, run.data.qpos)
    state = robot.model.state(theta, theta_dot_from_qvel(robot.model, theta, run.data.qvel))
    expected = run.data.qfrc_actuator
    assert np.abs(expected[robot.motors.dofs]).min() > 0.0
    for native in (True, False):
        found = robot.scene(1e-3, 1, native).controller.force(state, 0.0)
        np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)


def test_what_falls_starts_where_nothing_touches_and_what_stands_touches(robot):
    state, detector = robot.scene(1e-3, 1, native=True).initial_state(), robot.scene(1e-3, 1, True).detector()
    contacts = detector.contacts(state, 1e-6)
    assert bool(len(contacts)) == ("standing" in robot.name)
    assert min((contact.gap for contact in contacts), default=0.0) > -1e-9


def test_a_written_model_is_read_back_as_the_same_mechanism(tmp_path, rng):
    text = load("subjects.mjcf_text")
    model = mf.systems.quadruped()
    file = tmp_path / "quadruped.xml"
    file.write_text(text.mjcf_text(model, text.Setting()))
    with pytest.warns(mf.ModelWarning):  # friction and the keyframe
        again = mf.load_mjcf(file)
    theta, rates = model.random_theta(rng), rng.standard_normal(model.n_dofs)
    one, other = (m.state(theta, rates) for m in (model, again))
    np.testing.assert_allclose(one.mass_matrix(), other.mass_matrix(), atol=EXACT)
    np.testing.assert_allclose(one.bias_force(), other.bias_force(), atol=EXACT * 1e3)
    np.testing.assert_array_equal(model.lower, again.lower)


# what is computed


def test_steps_are_as_many_as_the_slowest_engine_can_take_in_the_time():
    cells = load("measuring.robots")

    class Told:
        def __init__(self, each):
            self.each = each

        def seconds(self, robot, dt, n_steps):
            return self.each * n_steps

    rounds = cells.LEAST_ROUNDS + 1
    slow, fast = Told(1e-2), Told(1e-5)
    assert cells.steps_within([fast, slow], None, 1000, seconds=1e-2 * 100.5 * rounds) == 100
    assert cells.steps_within([fast], None, 1000, seconds=10.0) == 1000
    assert cells.steps_within([slow], None, 1000, seconds=0.0) == cells.PROBE
    assert cells.steps_within([slow], None, 7, seconds=0.0) == 7


def test_ratios_compare_motors_of_the_same_kind_round_by_round():
    cells, tables = load("measuring.robots"), load("reporting.robots")
    rest = ("r", 18, 100, 0.0, 0.0, 0.0, 0.0, 0, {})
    figures = {
        ("a", False, True): [2e-6, 6e-6, 3e-6],  # the machine was slow in the second round
        ("b", False, False): [9e-6, 9e-6, 9e-6],
        ("c", True, True): [4e-6, 12e-6, 9e-6],
        ("d", True, False): [6e-6, 6e-6, 6e-6],
    }
    rows = [cells.RobotCell(*key, *rest[:3], readings, *rest[4:]) for key, readings in figures.items()]
    assert tables.times_sheet(rows).rows == [
        ["r", "18", "100", "2", "9", "4", "6", "[green]0.50[/green]", "[yellow]1.50[/yellow]"]
    ]
    assert [row[1] for row in tables.events_sheet(rows).rows] == ["a", "c"]


def test_a_call_apart_returns_fails_dies_and_is_killed_in_words(tmp_path, monkeypatch):
    (tmp_path / "strange.py").write_text(
        "import os\nfrom measuring.apart import doing\n"
        "def fine(x): return {'x': 2 * x}\n"
        "def wrong(): raise ValueError('no\\n such robot')\n"
        "def dies():\n    doing('leaping')\n    os._exit(3)\n"
        "def spins():\n    doing('turning')\n    while True: pass\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    apart = load("measuring.apart")
    assert apart.call("strange:fine", 10.0, x=21) == {"x": 42}
    assert apart.call("strange:wrong", 10.0) == {"error": "ValueError: no such robot"}
    assert apart.call("strange:dies", 10.0) == {"error": "exit status 3, after: leaping"}
    assert apart.call("strange:spins", 1.0) == {"error": "killed after 1 s of processor time, after: turning"}


# robots of files on their own


@pytest.fixture
def pendulum_file(tmp_path):
    """A body with an arm whose hinge has a limit and a damper."""
    file = tmp_path / "arm.urdf"
    link = (
        "<link name='{0}'><inertial><origin xyz='0 0 -0.2'/><mass value='{1}'/><inertia ixx='0.02' "
        "iyy='0.02' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial><collision><origin xyz='0 {2} -0.2'/>"
        "<geometry><sphere radius='0.05'/></geometry></collision></link>"
    )
    file.write_text(
        f"<robot name='r'>{link.format('body', 2.0, 0.0)}{link.format('arm', 1.0, 0.3)}<joint name='j' "
        "type='revolute'><parent link='body'/><child link='arm'/><axis xyz='0 1 0'/><dynamics damping='0.5'/>"
        "<limit lower='0.1' upper='0.15' effort='9' velocity='9'/></joint></robot>"
    )
    return file


def test_the_energy_of_a_free_fall_is_found_again(pendulum_file):
    row = load("measuring.zoo").free_fall(str(pendulum_file), 0.2)
    assert (row["dofs"], row["failed"]) == (7, {})
    assert row["limit_impacts"] > 0
    assert row["limits"] > 0.0
    assert row["dampers"] > 0.0
    assert abs(row["left"]) < 5 * FIRST_ORDER  # after 0.2 s the share of the first order is five times larger


def test_a_dropped_robot_lands_and_gains_no_energy(pendulum_file):
    row = load("measuring.zoo").drop(str(pendulum_file), 0.15)
    assert (row["dofs"], row["mass"], row["steps"], row["failed"]) == (7, 3.0, 150, {})
    assert row["shapes"] == 2
    assert row["impacts"] > 0
    assert row["overlap"] < 1e-5
    assert row["start_overlap"] == 0.0
    assert row["energy_gain"] < 1e-3 * 3.0 * 9.81 * 0.05
    assert row["energy_change"] < 0.0


def test_the_posture_keeps_to_the_limits_and_stands_above_the_floor(pendulum_file):
    runs = load("measuring.zoo")
    model, posture = runs.robot(str(pendulum_file))
    assert posture[-1] == pytest.approx(0.1)
    theta, overlaps = runs.above_floor(model, posture)
    assert overlaps == {}
    low = [contact.gap for contact in runs.Scene(model, theta).detector().contacts(model.state(theta), 1.0)]
    assert min(low) == pytest.approx(runs.CLEARANCE, abs=1e-9)


# the studies


@pytest.mark.slow
def test_the_study_of_robots(tmp_path):
    record, printed = study("robots", tmp_path, "--quick", "--markdown")
    written = (tmp_path / "robots.md").read_text()
    assert [cell["robot"] for cell in record["cells"]] == [name for name in NAMES for _ in range(4)]
    # seconds are a difference of two times: on a loaded machine, in a few rounds, they can be anything
    assert [
        (cell["robot"], cell["engine"], cell["failed"]) for cell in record["cells"] if cell["failed"]
    ] == []
    ours = [cell for cell in record["cells"] if not cell["is_peer"]]
    assert max(cell["depth"] for cell in ours) < 1e-5
    assert max(cell["opening"] for cell in ours) < 1e-9
    assert written.count("\n| --- ") == 2
    assert written.splitlines()[0] in printed
    assert all(f"| {name} | {dofs} | 20 |" in written for name, dofs in DOFS.items())


@pytest.mark.slow
def test_the_study_of_the_zoo(tmp_path):
    if not load("subjects.chains").robot_files():
        pytest.skip("example-robot-data is not installed")
    record, printed = study("robot_zoo", tmp_path, "--quick", "--markdown")
    written = (tmp_path / "robot_zoo.md").read_text()
    drop, free = (record[kind] for kind in ("drop", "free"))
    assert list(drop) == list(free)
    assert len(drop) == 2
    assert {row["steps"] for row in drop.values()} == {5}
    assert "double_pendulum/double_pendulum_simple" in written
    assert "drop 2/2" in printed


def test_a_zoo_of_no_robot_says_so(tmp_path, capsys):
    assert load("robot_zoo").main(["--only", "no such robot", "--out", str(tmp_path)]) == 2
    assert "no robots" in capsys.readouterr().out


def test_figures_of_a_run_are_put_into_a_page_later(tmp_path):
    figures, page = tmp_path / "zoo.json", tmp_path / "page.md"
    rows = {"drop": {"r": {"error": "no"}}, "free": {"s": {"error": "neither"}}}
    figures.write_text(json.dumps({"header": {"commit": "1234567"}, **rows}))
    page.write_text("before\n<!-- figures:begin --><!-- figures:end -->\nafter\n")
    assert load("robot_zoo").main(["--shown", str(figures), "--page", str(page)]) == 0
    written = page.read_text()
    assert "commit 1234567" in written
    assert "| s |" in written
    assert written.startswith("before")
    assert written.endswith("after\n")


def test_a_robot_that_failed_stays_in_its_table_with_the_reason():
    zoo = load("robot_zoo")
    for make in zoo.SHEETS.values():
        sheet = make({"r": {"error": "ValueError: no"}})
        assert sheet.rows[0][0] == "r"
        assert sheet.rows[0][-1] == "ValueError: no"
        assert len(sheet.rows[0]) == len(sheet.columns)
