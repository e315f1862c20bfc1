"""``mcpframe formulate``: from a system to a problem that ``mcpframe solve`` takes."""

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.commands.system import Start, start_state
from mcpframe.multibody import closure_rows

ROUNDING = 1e-10
"""Metres, radians and their rates: loops are closed to 1e-12 times the reach of a mechanism."""
URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <dynamics friction="0.3"/></joint>
</robot>
"""
MJCF = """
<mujoco model="ball"><worldbody>
  <body name="ball" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
</worldbody></mujoco>
"""
CONTACTS = """
[[contact]]
body_a = "sphere"
body_b = "world"
point = [0, 0, 0]
normal = [0, 0, 1]
mu = 0.3
law = { name = "frictionless" }
"""


@pytest.fixture
def out(tmp_path):
    return tmp_path / "problem.npz"


@pytest.fixture
def run(capsys):
    """Run the command in this process; give status, output and errors."""

    def run(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def test_the_help_is_a_page_to_act_on(run):
    status, out, _ = run("formulate", "--help")
    assert status == 0
    assert "mcpframe formulate pendulum --set links=12" in out
    assert all(name in out for name in mf.systems.available())


@pytest.mark.parametrize("formulation", mf.available_formulations())
def test_every_formulation_writes_a_problem_that_is_solved(run, out, formulation):
    words = ("quadruped", "--formulation", formulation, "--state", "random", "--seed", 1, "--out", out)
    status, text, _ = run("formulate", *words)
    assert status == 0
    record = mf.load_record(out)
    assert record.problem.layout.sizes["beta"] == 20
    assert record.problem.contacts.n_u == 4
    assert record.provenance["formulation"]["name"] == formulation
    for part in ("quadruped", "links", "13", "dofs", "18", "law coulomb", "beta 20", "build", str(out)):
        assert part in text
    assert f"{record.problem.n} = " in text
    assert f"{sp.csr_array(record.problem.M).count_nonzero()} of" in text
    assert run("solve", out, "--solver", "lemke")[0] == 0


@pytest.mark.parametrize("system", mf.systems.available())
@pytest.mark.parametrize("state", ["neutral", "random"])
def test_every_system_in_either_state_is_written_and_solved(run, out, system, state):
    assert run("formulate", system, "--state", state, "--contacts", 2, "--out", out)[0] == 0
    assert mf.load_problem(out).contacts.n_u == 2
    assert run("solve", out)[0] == 0


@pytest.mark.parametrize("law", mf.available_contact_laws())
def test_every_law_is_written_and_solved(run, out, law):
    status, text, _ = run("formulate", "box", "--law", law, "--out", out)
    assert status == 0
    assert f"law {law}" in text
    assert run("solve", out)[0] == 0


def test_the_written_problem_is_the_one_that_python_builds(run, out):
    run("formulate", "pendulum", "--set", "links=5", "--friction-directions", 6, "--dt", 0.01, "--out", out)
    state = mf.systems.pendulum(links=5).state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.5), 0.01)
    expected, _ = mf.formulation("os", friction_directions=6).build(step)
    written = mf.load_problem(out)
    assert written.layout == expected.layout
    for part in ("M", "q", "lower", "upper"):
        np.testing.assert_array_equal(getattr(written, part), getattr(expected, part))
    np.testing.assert_array_equal(written.contacts.mu, 0.5)


def test_options_reach_system_law_formulation_and_step(run, out):
    words = ["--set", "size=[1, 1, 1]", "--law", "box", "--law-option", "load=7", "--mu", "0.25"]
    words += ["--option", "friction_directions=6", "--dt", "0.5", "--out", out]
    words += ["--position-level", "--no-closure-bias", "--baumgarte", "0.2"]
    assert run("formulate", "box", *words)[0] == 0
    record = mf.load_record(out)
    assert record.provenance["set"] == {"size": [1, 1, 1]}
    assert record.provenance["contact_law"] == {"name": "box", "load": 7.0}
    assert record.provenance["formulation"] == {
        "name": "os",
        "friction_directions": 6,
        "friction": "polygon",
    }
    asks = {"position_level": True, "contact_bias": False, "closure_bias": False, "baumgarte": 0.2}
    assert record.provenance["asks"] == asks
    assert np.isclose(record.problem.upper, 0.25 * 7 * 0.5).sum() == 2 * 4


def test_a_config_file_chooses_formulation_and_law(run, out, tmp_path):
    config = tmp_path / "step.toml"
    config.write_text('[formulation]\nname = "mc"\n[contact_law]\nname = "frictionless"\n')
    assert run("formulate", "box", "--config", config, "--out", out)[0] == 0
    assert mf.load_problem(out).layout.sizes == {"theta_dot": 6, "p_b": 0, "p_l": 0, "beta": 4, "sigma": 0}
    for words in (("--law", "box"), ("--formulation", "os"), ("--friction-directions", "4")):
        status, _, err = run("formulate", "box", "--config", config, *words)
        assert status == 2
        assert "leave out" in err


def test_contacts_are_read_from_a_file(run, out, tmp_path):
    path = tmp_path / "contacts.toml"
    path.write_text(CONTACTS + CONTACTS.split("law")[0])
    assert run("formulate", "sphere", "--contacts", path, "--out", out)[0] == 0
    assert mf.load_problem(out).layout.sizes["beta"] == 1 + 5
    assert "says what friction" in run("formulate", "sphere", "--contacts", path, "--mu", 1)[2]
    status, _, err = run("formulate", "rod", "--contacts", path)
    assert status == 2
    assert "no link or frame 'sphere'" in err


def test_without_out_only_the_table_is_shown(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, text, _ = run("formulate", "sphere", "--contacts", 0)
    assert status == 0
    assert "written" not in text
    assert not list(tmp_path.iterdir())


def test_a_urdf_is_read_and_what_it_leaves_out_is_one_line(run, out, tmp_path):
    pytest.importorskip("yourdfpy")
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    words = ("formulate", path, "--contacts", 1, "--out", out)
    status, text, err = run(*words, "--set", "floating_base=true", "--set", "armature=0.1")
    assert status == 0
    assert "dofs      7" in text
    assert err.startswith("mcpframe: note: ")
    assert "friction of joints (shoulder)" in err
    assert err.count("\n") == 1
    assert "did you mean 'floating_base'" in run(*words, "--set", "floating=true")[2]
    assert run("solve", out)[0] == 0


def test_an_mjcf_is_read(run, tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "ball.xml"
    path.write_text(MJCF)
    status, text, err = run("formulate", path, "--contacts", 1)
    assert (status, err) == (0, "")
    assert "dofs      6" in text


@pytest.mark.parametrize("system", ["four_bar", "closed_chain"])
@pytest.mark.parametrize("seed", range(5))
def test_a_random_state_keeps_the_loops_closed(system, seed):
    model = mf.systems.make(system)
    state = start_state(model, Start.random, seed)
    rows = closure_rows(state)
    np.testing.assert_allclose(rows.error, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(rows.velocity(state), 0.0, atol=ROUNDING)
    assert np.abs(state.theta_dot).max() > ROUNDING
    np.testing.assert_array_equal(start_state(model, Start.random, seed).theta, state.theta)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing argument"),
        (["pendulm"], "no system 'pendulm'; did you mean 'pendulum'? known: pendulum, branched_tree"),
        (["robot.sdf"], "a robot is a path to a .urdf or .xml (MJCF) file"),
        (["pendulum", "--set", "link=3"], "--set: pendulum has no option 'link'; did you mean 'links'?"),
        (["dual_arm", "--set", "links=3"], "(options: none)"),
        (["pendulum", "--set", "links"], "--set links: write it as KEY=VALUE"),
        (["pendulum", "--set", "links=some"], "--set: links = 'some': input should be a valid integer"),
        (["pendulum", "--set", "links=0"], "links: 0; a whole number of at least 1 is needed"),
        (["pendulum", "--set", "mass=nan"], "mass: nan is not finite"),
        (["pendulum", "--formulation", "oss"], "did you mean 'os'? known: dca, mc, nmc"),
        (["pendulum", "--option", "friction_direction=6"], "did you mean 'friction_directions'"),
        (["pendulum", "--option", "baumgarte=0.2"], "it belongs to the step; say it to ContactStep"),
        (["pendulum", "--baumgarte", "1.5"], "--baumgarte"),
        (["pendulum", "--friction-directions", "3"], "friction_directions = 3"),
        (["pendulum", "--law", "coulom"], "did you mean 'coulomb'? known: anisotropic, box"),
        (["box", "--law", "box", "--law-option", "loud=1"], "did you mean 'load'"),
        (["pendulum", "--contacts", "FOLDER/missing.toml"], "missing.toml: cannot be read"),
        (["pendulum", "--contacts", "-1"], "--contacts -1"),
        (["sphere", "--contacts", "6"], "points for 5 only; or name them in a file: --contacts FILE"),
        (["pendulum", "--mu", "-1"], "--mu"),
        (["pendulum", "--dt", "0"], "dt = 0.0: must be a positive number of seconds"),
        (["pendulum", "--state", "lying"], "'neutral', 'random'"),
        (["pendulum", "--config", "FOLDER/missing.toml"], "missing.toml: cannot be read"),
        (["pendulum", "--out", "FOLDER"], "--out"),
        (["pendulum", "--out", "FOLDER/nowhere/problem.npz"], "--out"),
    ],
)
def test_misuse_ends_with_two_and_one_clear_line(run, tmp_path, words, message):
    status, text, err = run("formulate", *(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert (status, text) == (2, "")
    assert message in err
    assert err.startswith("mcpframe: error: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "module"), [("robot.urdf", "yourdfpy"), ("robot.xml", "mujoco")])
def test_a_missing_robot_file_is_named(run, tmp_path, name, module):
    pytest.importorskip(module)
    status, _, err = run("formulate", tmp_path / name)
    assert status == 2
    assert f"{name}: cannot be read (No such file or directory)" in err
