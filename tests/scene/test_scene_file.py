"""Scene files: what each table means, and mistakes answered with file, line, key and what to do."""

import re
from pathlib import Path

import numpy as np
import pytest
from scene_mistakes import MISTAKES, PENDULUM

import mcpframe as mf
from mcpframe import FileFormatError, OptionError
from mcpframe.multibody import closure_rows
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from mcpframe.scene.controller_tables import KINDS
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Function, Push
from mcpframe.scene.model_tables import CLOSURES, PER_DOF
from mcpframe.scene.scene_file import KEYS, load_scene, parse_scene
from mcpframe.scene.settings import Output, Stepping
from mcpframe.scene.shape_tables import SHAPES

ROUNDING = 1e-12


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "scene.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_least_scene_is_a_model(write):
    path = write(PENDULUM)
    scene = load_scene(path)
    assert (scene.name, scene.model.name, scene.model.n_links) == ("scene", "pendulum", 2)
    assert scene.text == PENDULUM
    assert scene.folder == path.parent
    assert load_scene(str(path)).name == "scene"


def test_the_kept_text_makes_the_same_scene_again(write):
    text = "gravity = [0, 0, -1]\n" + PENDULUM + "[initial]\ntheta = [0.1, 0.2]\n[stepping]\ndt = 0.01\n"
    scene = load_scene(write(text))
    again = parse_scene(scene.text, scene.folder, scene.name)
    np.testing.assert_array_equal(again.theta, scene.theta)
    np.testing.assert_array_equal(again.gravity, [0, 0, -1])
    assert (again.stepping, again.name) == (scene.stepping, scene.name)


def test_links_in_line_have_all_that_links_have():
    scene = parse_scene("""
        [model]
        name = "arm"
        [[model.link]]
        name = "upper"
        hinge = { kind = "pin", axis = [0, 2, 0] }
        pose = { xyz = [0, 0, 1], rpy = [0, 0, 0.5] }
        mass = 1.5
        com = [0, 0, -0.25]
        inertia = [0.02, 0.03, 0.04, 0.001, 0.002, 0.003]
        geometry = [
          { shape = "capsule", radius = 0.02, length = 0.5, name = "bar", pose = { xyz = [0, 0, -0.25] } },
          { shape = "cylinder", radius = 0.1, length = 0.2 },
          { shape = "ellipsoid", radii = [0.1, 0.2, 0.3] },
        ]
        lower = -1
        upper = 2
        damping = 0.1
        [[model.link]]
        name = "lower"
        parent = "upper"
        hinge = { kind = "universal", axis = [1, 0, 0], axis_2 = [0, 1, 0] }
        mass = 1.0
        inertia = [[0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.001]]
        armature = [0.1, 0.2]
        stiffness = 3.0
        rest = [0.1, 0.2]
        geometry = { shape = "sphere", radius = 0.1 }
    """)
    upper, lower = scene.model.links
    assert scene.model.name == "arm"
    assert upper.hinge.axis == (0.0, 1.0, 0.0)
    assert upper.pose.position.tolist() == [0, 0, 1]
    assert upper.pose.rotation[0, 0] == pytest.approx(np.cos(0.5))
    np.testing.assert_array_equal(
        upper.inertia, [[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.04]]
    )
    assert [type(shape.shape) for shape in upper.geometry] == [Capsule, Cylinder, Ellipsoid]
    assert upper.geometry[2].shape == Ellipsoid((0.1, 0.2, 0.3))
    assert (upper.geometry[0].name, upper.geometry[0].pose.position.tolist()) == ("bar", [0, 0, -0.25])
    assert (upper.lower[0], upper.upper[0], upper.damping[0]) == (-1.0, 2.0, 0.1)
    assert (lower.parent, lower.armature.tolist(), lower.rest.tolist()) == ("upper", [0.1, 0.2], [0.1, 0.2])
    assert lower.geometry[0].shape == Sphere(0.1)


def test_models_are_joined_with_prefixes_and_poses(write, tmp_path):
    (tmp_path / "cart.urdf").write_text(
        '<robot name="cart"><link name="base"/><link name="cart"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    scene = load_scene(
        write("""
            [[model]]
            file = "cart.urdf"
            options = { armature = 0.5 }
            [[model]]
            system = "box"
            prefix = "a_"
            pose = { xyz = [1, 0, 2] }
            [[model]]
            system = "box"
            prefix = "b_"
            environment = false
        """)
    )
    assert [link.name for link in scene.model.links] == ["cart", "a_box", "b_box"]
    assert scene.model.armature[0] == 0.5
    assert scene.initial_state().pose("a_box").position.tolist() == [1.0, 0.0, 2.1]
    assert [shape.name for shape in scene.environment] == ["floor"]
    assert scene.model.name == "scene"


def test_mjcf_is_read_too(write, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "ball.xml").write_text(
        '<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    assert load_scene(write('[model]\nfile = "ball.xml"')).model.n_dofs == 6


def test_the_environment_is_placed_on_the_world(write, tmp_path):
    (tmp_path / "rock.stl").write_text("")
    scene = load_scene(
        write("""
            [model]
            system = "sphere"
            environment = false
            [[environment]]
            shape = "plane"
            name = "slope"
            point = [0, 0, 1]
            normal = [1, 0, 1]
            [[environment]]
            shape = "box"
            size = [1, 2, 3]
            pose = { xyz = [0, 0, 1], quaternion = [0, 0, 1, 1] }
            [[environment]]
            shape = "mesh"
            path = "rock.stl"
            scale = [1, 1, 2]
        """)
    )
    slope, box, rock = scene.environment
    assert (slope.shape, slope.name, box.shape) == (Plane(), "slope", Box((1, 2, 3)))
    np.testing.assert_allclose(slope.pose.rotation[:, 2], [np.sqrt(0.5), 0, np.sqrt(0.5)], atol=ROUNDING)
    np.testing.assert_allclose(box.pose.rotation[:, 0], [0, 1, 0], atol=ROUNDING)
    assert rock.shape == Mesh(str(tmp_path / "rock.stl"), (1, 1, 2))


def test_what_is_named_at_the_start_stays_and_the_loops_are_closed_by_the_rest(write):
    scene = load_scene(
        write(
            '[model]\nsystem = "four_bar"\n[initial]\ntheta = { crank = 0.3 }\ntime = 1.5\n'
            "theta_dot = { crank = 2.0 }\n"
        )
    )
    state = scene.initial_state()
    rows = closure_rows(state)
    assert scene.time == 1.5
    assert (state.theta[0], state.theta_dot[0]) == (0.3, 2.0)
    np.testing.assert_allclose(rows.error, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(rows.velocity(state), 0.0, atol=ROUNDING)


def test_where_the_loops_cannot_have_what_is_named_they_are_closed_near_it(write):
    start = "[initial]\ntheta = { crank = 0.3, coupler = 0.0, rocker = 0.0 }\n"
    state = load_scene(write(f'[model]\nsystem = "four_bar"\n{start}')).initial_state()
    np.testing.assert_allclose(closure_rows(state).error, 0.0, atol=ROUNDING)
    assert np.abs(state.theta - [0.3, 0.0, 0.0]).max() < 0.3


def test_a_pose_says_where_a_free_body_is():
    scene = parse_scene(
        '[model]\nsystem = "box"\n[initial]\ntheta = { box = { xyz = [1, 2, 3], rpy = [0, 0, 3] } }'
    )
    np.testing.assert_allclose(scene.initial_state().pose("box").position, [1, 2, 3], atol=ROUNDING)
    np.testing.assert_allclose(scene.theta[3:], [0, 0, np.sin(1.5), np.cos(1.5)], atol=ROUNDING)


def test_closures_and_frames_name_bodies_of_all_models(write, tmp_path):
    (tmp_path / "motions.py").write_text("def turn(t):\n    return [2.0 * t], [2.0]\n")
    scene = load_scene(
        write(
            """
            [[model]]
            system = "pendulum"
            options = { links = 3 }
            prefix = "p_"
            environment = false
            [[model]]
            system = "sphere"
            [[frame]]
            name = "tip"
            body = "p_link_3"
            pose = { xyz = [0, 0, -4] }
            [[closure]]
            kind = "ball"
            a = "sphere"
            b = { body = "tip", xyz = [0.1, 0, 0] }
            [[closure]]
            kind = "gear"
            ratios = { p_link_1 = 1 }
            motion = "motions.py:turn"
            [[closure]]
            kind = "distance"
            a = "sphere"
            b = "world"
            length = 2.0
            [initial]
            time = 0.25
            theta = { p_link_1 = 0.2 }
        """.replace("[[model]]", "gravity = [0, 0, -9.8]\n[[model]]", 1)
        )
    )
    assert [type(closure).__name__ for closure in scene.model.closures] == ["Ball", "Gear", "Distance"]
    state = scene.initial_state()
    np.testing.assert_allclose(closure_rows(state).error, 0.0, atol=1e-9)
    assert state.theta_dot[0] == pytest.approx(0.5)


def test_materials_are_for_all_and_for_pairs_which_inherit():
    scene = parse_scene(
        PENDULUM
        + """
        [material]
        mu = 0.5
        restitution = 0.25
        [[material.pair]]
        between = ["link_*", "floor"]
        mu = 0.9
        law = { name = "rolling", radius = 0.01 }
        [[material.pair]]
        between = "wall"
        restitution = 0.0
        """
    )
    floor, wall = scene.materials["link_*", "floor"], scene.materials["wall"]
    assert (floor.mu, floor.restitution, floor.law) == (0.9, 0.25, mf.contact_law("rolling", radius=0.01))
    assert (wall.mu, wall.restitution, wall.law) == (0.5, 0.0, None)


def test_collisions_are_ignored_and_asked_for_by_name():
    scene = parse_scene(
        PENDULUM + '[collision]\nignore = [["link_1", "floor"], "wall"]\nneighbours = [["link_1", "link_2"]]'
    )
    assert scene.ignore == (("link_1", "floor"), "wall")
    assert scene.neighbours == (("link_1", "link_2"),)
    assert parse_scene(PENDULUM + "[collision]\nneighbours = true").neighbours is True


def test_every_kind_of_controller_has_its_table(write, tmp_path):
    (tmp_path / "own.py").write_text(
        "def swing(state, time, gain):\n    return [gain * time, 0.0]\n"
        "def circle(time):\n    return [time, 0.0], [1.0, 0.0], [0.0, 0.0]\n"
    )
    scene = load_scene(
        write(
            PENDULUM
            + """
            [initial]
            theta = { link_1 = 0.5 }
            [[controller]]
            kind = "constant"
            force = { link_2 = 3.0 }
            [[controller]]
            kind = "pd"
            kp = 2.0
            kd = { link_1 = 1.0 }
            target = { link_2 = 0.1 }
            limit = 9.0
            [[controller]]
            kind = "computed_torque"
            kp = 4.0
            kd = 4.0
            dofs = ["link_2"]
            [[controller.move]]
            to = { link_2 = 1.0 }
            start = 0.0
            duration = 1.0
            [[controller.move]]
            to = { link_1 = 0.0 }
            start = 1.0
            duration = 1.0
            [[controller]]
            kind = "pd"
            kp = 1.0
            kd = 0.0
            reference = "own.py:circle"
            [[controller]]
            kind = "push"
            body = "link_2"
            force = [1, 0, 0]
            start = 0.1
            stop = 0.2
            [[controller]]
            kind = "function"
            function = "own.py:swing"
            options = { gain = 2.0 }
            """
        )
    )
    kinds = [type(controller) for controller in scene.controllers]
    assert kinds == [Constant, PD, ComputedTorque, PD, Push, Function]
    constant, pd, torque, follower, push, function = scene.controllers
    state = scene.initial_state()
    assert constant.force(state, 0.0).tolist() == [0.0, 3.0]
    np.testing.assert_allclose(pd.force(state, 0.0), [0.0, 0.2], atol=ROUNDING)  # link_1 holds the start
    assert torque.reference(2.0)[0].tolist() == [0.0, 1.0]
    assert torque.limit.tolist() == [0.0, np.inf]
    assert follower.force(state, 2.0).tolist() == [1.5, 0.0]
    assert function.force(state, 0.5).tolist() == [1.0, 0.0]
    assert (push.start, push.stop) == (0.1, 0.2)


def test_stepping_formulation_solver_and_output_have_their_tables():
    scene = parse_scene(
        'solver = "auto"\n' + PENDULUM + '[formulation]\nname = "fully_augmented"\nfriction_directions = 6\n'
        '[stepping]\ndt = 1e-4\nduration = 3\nscheme = "time_stepping"\nintegrator = "rk4"\n'
        'restitution_model = "newton"\non_failure = "auto"\ntol = 1e-8\n[output]\nevery = 10\n'
    )  # fmt: skip
    way = scene.stepping
    assert way.formulation == mf.formulation("nmc_os", friction_directions=6)
    assert way.solver == mf.solver("auto")
    assert (way.dt, way.duration, way.scheme, way.integrator) == (1e-4, 3.0, "time_stepping", "rk4")
    assert (way.restitution_model, way.on_failure, way.tol) == ("newton", "auto", 1e-8)
    assert scene.output.every == 10


@pytest.mark.parametrize(("text", "error", "line", "key", "message"), MISTAKES)
def test_a_mistake_is_answered_with_file_line_key_and_reason(write, text, error, line, key, message):
    path = write(text)
    with pytest.raises(error, match=message) as caught:
        load_scene(path)
    place = [str(path), *([f"line {line}"] if line else [])]
    said = str(caught.value).split(": ")
    assert said[: len(place)] == place
    assert said[len(place)].endswith(key)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model\n", "line 1"),
        (PENDULUM + "[stepping]\ndt = 1e-", "line 5"),
        (PENDULUM + "[initial]\ntheta = [1,\n2", "line 6, the last"),
        (PENDULUM + "[model]\n", "line 4"),
        (PENDULUM + '[stepping]\nscheme = "event', "line 5"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_cut_off_or_malformed_is_refused_with_the_line(write, text, message):
    path = write(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_scene(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="missing.toml: cannot be read"):
        load_scene(tmp_path / "missing.toml")


def test_a_malformed_robot_is_told_with_the_line_that_names_it(write, tmp_path):
    (tmp_path / "bad.urdf").write_text("<robot>")
    with pytest.raises(FileFormatError, match=r"scene.toml: line 2: model.file: .*bad.urdf"):
        load_scene(write('[model]\nfile = "bad.urdf"'))


def test_a_cut_of_a_scene_gives_a_scene_or_an_error_of_mcpframe():
    """A file that a crash or a full disk has cut off."""
    text = (Path(__file__).parents[2] / "examples/scenes/box_stack.toml").read_text()
    refused = 0
    for end in range(0, len(text), 7):
        try:
            assert parse_scene(text[:end]).model.n_links
        except mf.McpframeError:
            refused += 1
    assert 0 < refused < len(range(0, len(text), 7))


def test_the_reference_lists_every_key_and_kind():
    text = (Path(__file__).parents[2] / "docs/scenes.md").read_text()
    words = [*KEYS, *Stepping.model_fields, *Output.model_fields, *KINDS, *SHAPES, *CLOSURES, *PER_DOF]
    assert [word for word in words if not re.search(rf"`[\[]*(\w+\.)?{word}[\]]*`", text)] == []


def test_a_robot_or_a_study_in_the_place_of_a_scene_is_told_apart(write, tmp_path):
    robot = tmp_path / "arm.urdf"
    robot.write_text("<robot/>")
    with pytest.raises(FileFormatError, match=r'is a robot; .* file = "arm\.urdf"'):
        load_scene(robot)
    with pytest.raises(OptionError, match="is a study, not a scene; mcpframe study run"):
        load_scene(write('solvers = ["lemke"]\n[[problems]]\ngenerator = "full"\n'))
