"""URDF files: what they say is in the model, what is wrong with them is named, what is left out is named."""

import logging
import os
import sys

import numpy as np
import pytest

from mcpframe.exceptions import FileFormatError, ModelError, ModelWarning, PluginError
from mcpframe.io.urdf import load_urdf
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import Box, Cylinder, Mesh, Sphere

pytest.importorskip("yourdfpy")

EXACT = 1e-14
"""Rounding of a few products of numbers near one."""

INERTIAL = """<inertial><origin xyz="0.1 0.2 -0.3" rpy="0.3 -0.2 0.5"/><mass value="2"/>
  <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial>"""
LIMIT = '<limit lower="-1.5" upper="2" effort="10" velocity="3"/>'


def link(name, inside=INERTIAL):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind="revolute", inside=LIMIT):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def robot(*elements, attributes='name="r"'):
    return f"<robot {attributes}>" + "".join(elements) + "</robot>"


ARM = robot(link("base"), link("arm"), joint("shoulder", "base", "arm"))


@pytest.fixture
def urdf(tmp_path):
    """Write a text to a file and give its path."""

    def write(text, name="robot.urdf"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def rotation_rpy(roll, pitch, yaw):
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


# what the file says is in the model


def test_the_inertia_of_an_inertial_frame_is_turned_and_moved_to_the_link(urdf):
    axis = np.array([2.0, -1.0, 0.5])
    inside = f'<axis xyz="2 -1 0.5"/>{LIMIT}'
    model = load_urdf(urdf(robot(link("base"), link("arm"), joint("j", "base", "arm", inside=inside))))
    R, com = rotation_rpy(0.3, -0.2, 0.5), np.array([0.1, 0.2, -0.3])
    own = np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.025]])
    unit = axis / np.linalg.norm(axis)
    lever = np.cross(unit, com)
    expected = unit @ R @ own @ R.T @ unit + 2.0 * lever @ lever
    np.testing.assert_allclose(model.state([0.7]).mass_matrix(), [[expected]], rtol=EXACT)


def test_coordinates_go_depth_first_with_children_sorted_by_the_bytes_of_their_joints_name(urdf):
    tree = robot(
        *(link(name) for name in ("root", "late", "early", "upper", "leaf", "tip")),
        joint("m", "root", "late"),
        joint("a", "root", "early"),
        joint("Z", "root", "upper"),
        joint("x", "early", "leaf"),
        joint("b", "late", "tip"),
    )
    assert load_urdf(urdf(tree)).dof_names == ["Z", "a", "x", "m", "b"]


def test_children_of_a_merged_link_keep_its_place_among_its_siblings(urdf):
    tree = robot(
        *(link(name) for name in ("root", "plate", "on_plate", "before", "after")),
        joint("b", "root", "plate", "fixed", ""),
        joint("z", "plate", "on_plate"),
        joint("a", "root", "before"),
        joint("c", "root", "after"),
    )
    model = load_urdf(urdf(tree))
    assert model.dof_names == ["a", "z", "c"]
    assert model.dof_names == load_urdf(urdf(tree), merge_fixed=False).dof_names


def test_limits_and_damping_are_those_of_the_joint(urdf):
    inside = f'{LIMIT}<dynamics damping="0.25"/>'
    model = load_urdf(urdf(robot(link("base"), link("arm"), joint("j", "base", "arm", inside=inside))))
    assert (model.lower, model.upper, model.damping) == ([-1.5], [2.0], [0.25])


def test_a_continuous_joint_has_no_limits_even_where_the_file_gives_some(urdf):
    text = robot(link("base"), link("arm"), joint("j", "base", "arm", "continuous"))
    model = load_urdf(urdf(text))
    assert (model.lower, model.upper) == ([-np.inf], [np.inf])


def test_a_limit_without_bounds_means_zero_as_urdf_says(urdf):
    inside = '<limit upper="0.5" effort="1" velocity="1"/>'
    model = load_urdf(urdf(robot(link("base"), link("arm"), joint("j", "base", "arm", "prismatic", inside))))
    assert (model.lower, model.upper) == ([0.0], [0.5])


@pytest.mark.parametrize(
    ("kind", "hinge"),
    [
        ("fixed", "locked"),
        ("revolute", "pin"),
        ("continuous", "pin"),
        ("prismatic", "prismatic"),
        ("floating", "free"),
        ("planar", "planar"),
    ],
)
def test_every_joint_type_becomes_its_hinge_at_the_joints_origin(urdf, kind, hinge):
    inside = f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>{LIMIT}'
    text = robot(link("base"), link("arm"), joint("j", "base", "arm", kind, inside))
    arm = load_urdf(urdf(text), merge_fixed=False).links[1]
    assert arm.hinge.kind == hinge
    np.testing.assert_array_equal(arm.pose.position, [1, 2, 3])
    np.testing.assert_allclose(arm.pose.rotation, rotation_rpy(0.1, 0.2, 0.3), atol=EXACT)


def test_an_axis_is_x_unless_given_and_a_fixed_joint_may_have_a_zero_one(urdf):
    text = robot(
        link("base"),
        link("arm"),
        link("tool"),
        joint("j", "base", "arm"),
        joint("k", "arm", "tool", "fixed", '<axis xyz="0 0 0"/>'),
    )
    assert load_urdf(urdf(text)).links[0].hinge.axis == (1.0, 0.0, 0.0)


def test_a_mimic_joint_keeps_its_coordinate_and_becomes_a_gear_with_the_files_offset(urdf):
    mimic = f'{LIMIT}<mimic joint="j" multiplier="-2" offset="0.5"/>'
    text = robot(
        link("base"),
        link("a"),
        link("b"),
        joint("j", "base", "a"),
        joint("k", "a", "b", inside=mimic),
    )
    model = load_urdf(urdf(text))
    (gear,) = model.closures
    assert (gear.ratios, gear.offset) == ({"k": 1.0, "j": 2.0}, 0.5)
    rows = gear.rows(model.state([0.3, -2 * 0.3 + 0.5], [1.0, -2.0]))
    np.testing.assert_allclose(rows.error, [0.0], atol=EXACT)


def test_a_joint_that_mimics_a_fixed_one_is_held_at_its_offset(urdf):
    mimic = f'{LIMIT}<mimic joint="j" offset="0.5"/>'
    text = robot(
        link("base"),
        link("a"),
        link("b"),
        joint("j", "base", "a", "fixed", ""),
        joint("k", "a", "b", inside=mimic),
    )
    (gear,) = load_urdf(urdf(text)).closures
    assert (gear.ratios, gear.offset) == ({"k": 1.0}, 0.5)


def test_merging_fixed_links_changes_no_dynamics_and_keeps_their_names_as_frames(urdf, rng):
    tool = '<origin xyz="0 0.1 0.4" rpy="0 0.5 0"/>'
    text = robot(
        link("base"), link("arm"), link("tool"),
        joint("j", "base", "arm"), joint("k", "arm", "tool", "fixed", tool),
    )  # fmt: skip
    merged, whole = load_urdf(urdf(text)), load_urdf(urdf(text), merge_fixed=False)
    assert (merged.n_links, whole.n_links) == (1, 3)
    states = [model.state([0.4], [1.3]) for model in (merged, whole)]
    tip = Node("tool", (0.1, 0.2, 0.3))
    for quantity in ("mass_matrix", "bias_force", "kinetic_energy"):
        one, other = (getattr(state, quantity)() for state in states)
        np.testing.assert_allclose(one, other, rtol=1e-13)
    one, other = (state.node_velocities([tip]) for state in states)
    np.testing.assert_allclose(one, other, atol=EXACT)
    np.testing.assert_allclose(states[0].pose("base").position, np.zeros(3))


def test_a_floating_base_is_a_free_root_link(urdf):
    model = load_urdf(urdf(ARM), floating_base=True)
    assert [part.hinge.kind for part in model.links] == ["free", "pin"]
    assert (model.n_theta, model.n_dofs) == (8, 7)
    assert model.links[0].mass == 2.0


def test_a_moving_link_without_mass_is_fine_where_something_further_out_has_mass(urdf):
    text = robot(
        link("base", ""),
        link("x", ""),
        link("y"),
        joint("a", "base", "x"),
        joint("b", "x", "y", inside='<axis xyz="0 1 0"/>' + LIMIT),
    )
    model = load_urdf(urdf(text))
    assert np.isfinite(model.state([0.1, 0.2]).free_acceleration()).all()


def test_armature_lets_a_link_without_mass_move(urdf):
    text = robot(link("base"), link("arm", ""), joint("j", "base", "arm"))
    with pytest.raises(ModelError, match=r"robot.urdf: link 'arm'"):
        load_urdf(urdf(text))
    assert load_urdf(urdf(text), armature=0.01).state().mass_matrix() == [[0.01]]


def test_a_fixed_root_called_world_is_the_world_with_its_shapes(urdf):
    floor = '<collision><geometry><box size="9 9 1"/></geometry></collision>'
    text = robot(link("world", floor), link("arm"), joint("j", "world", "arm"))
    model = load_urdf(urdf(text))
    assert (model.n_links, model.parents.tolist()) == (1, [-1])
    assert [geometry.shape for geometry in model.geometry] == [Box((9, 9, 1))]


def test_a_world_that_joints_name_and_nothing_defines_is_the_world(urdf):
    text = robot(link("arm"), joint("j", "world", "arm"))
    assert load_urdf(urdf(text)).parents.tolist() == [-1]


def test_a_link_called_world_that_floats_gets_another_name_and_a_warning(urdf):
    text = robot(link("world"), link("arm"), joint("j", "world", "arm"))
    with pytest.warns(ModelWarning, match="'world' is here 'world_link'"):
        model = load_urdf(urdf(text), floating_base=True)
    assert [part.name for part in model.links] == ["world_link", "arm"]


# geometry

SHAPES = """
<collision name="block"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry></collision>
<collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
<collision><geometry><sphere radius="0.2"/></geometry></collision>
<visual><geometry><sphere radius="7"/></geometry><material><color rgba="1 0"/></material></visual>"""


def test_collision_shapes_are_on_the_link_with_their_places_and_visual_ones_on_demand(urdf):
    text = robot(link("base", SHAPES))
    first, second, third = load_urdf(urdf(text), merge_fixed=False).links[0].geometry
    assert (first.shape, first.name) == (Box((1, 2, 3)), "block")
    np.testing.assert_array_equal(first.pose.position, [1, 0, 0])
    assert (second.shape, third.shape) == (Cylinder(0.1, 0.5), Sphere(0.2))
    (seen,) = load_urdf(urdf(text), merge_fixed=False, visual=True).links[0].geometry
    assert seen.shape == Sphere(7.0)


def mesh(name, scale=""):
    return f'<collision><geometry><mesh filename="{name}" {scale}/></geometry></collision>'


@pytest.mark.parametrize(
    "name",
    ["package://my_robot/meshes/hand.stl", "../meshes/hand.stl", "package://renamed/meshes/hand.stl"],
)
def test_a_mesh_is_found_above_the_file_and_is_not_opened(urdf, tmp_path, name):
    (tmp_path / "my_robot" / "meshes").mkdir(parents=True)
    (tmp_path / "my_robot" / "meshes" / "hand.stl").write_text("no triangles")
    text = robot(link("base", mesh(name, 'scale="1 -1 0.001"')))
    file = urdf(text, "my_robot/urdf/robot.urdf")
    (geometry,) = load_urdf(file, merge_fixed=False).links[0].geometry
    assert geometry.shape.scale == (1.0, -1.0, 0.001)
    assert (tmp_path / "my_robot" / "meshes" / "hand.stl").samefile(geometry.shape.path)


@pytest.mark.parametrize("within", ["", "my_robot"])
def test_packages_elsewhere_are_looked_for_where_ros_has_them(urdf, tmp_path, monkeypatch, within):
    hand = tmp_path / "ros" / "my_robot" / "hand.stl"
    hand.parent.mkdir(parents=True)
    hand.touch()
    places = tmp_path / "none", hand.parents[1] / within
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(map(str, places)))
    file = urdf(robot(link("base", mesh("package://my_robot/hand.stl"))), "here/robot.urdf")
    assert load_urdf(file).geometry[0].shape == Mesh(str(hand))


def test_a_mesh_that_is_nowhere_keeps_its_name_and_is_named(urdf):
    name = "package://elsewhere/hand.stl"
    with pytest.warns(ModelWarning, match="meshes that are not found .*elsewhere/hand.stl"):
        model = load_urdf(urdf(robot(link("base", mesh(name)))))
    assert model.geometry[0].shape == Mesh(name)


# what the model has no place for is named, in one warning


def test_what_is_left_out_is_named_in_one_warning(urdf):
    inside = f'{LIMIT}<dynamics friction="0.2"/><safety_controller k_velocity="1"/>'
    capsule = '<collision><geometry><capsule radius="1" length="1"/></geometry></collision>'
    flat = '<collision><geometry><box size="1 1 0"/></geometry></collision>'
    text = robot(
        link("base", capsule + flat + INERTIAL),
        link("arm"),
        joint("j", "base", "arm", inside=inside),
        '<gazebo reference="arm"/><transmission name="t"/><drake:extra name="d"/><material name="m"/>',
    )
    with pytest.warns(ModelWarning) as caught:
        load_urdf(urdf(text))
    (warning,) = caught
    message = str(warning.message)
    for part in (
        "friction of joints (j)",
        "<safety_controller> (j)",
        "<capsule> (base)",
        "base: Box: size 0",
    ):
        assert part in message
    for part in ("<gazebo> (arm)", "<transmission> (t)", "<drake:extra> (d)", "robot.urdf"):
        assert part in message
    assert "material" not in message
    assert warning.filename == __file__


def test_an_inertia_that_no_body_has_is_kept_and_named(urdf):
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    text = robot(link("base"), link("arm", inertial), joint("j", "base", "arm", inside=LIMIT))
    with pytest.warns(ModelWarning, match=r"no rigid body has, kept \(arm\)"):
        model = load_urdf(urdf(text))
    np.testing.assert_array_equal(model.links[0].inertia, np.diag([1.0, 1.0, 5.0]))


@pytest.mark.parametrize(
    ("inside", "kind"),
    [
        (f'{LIMIT}<mimic joint="nobody"/>', "revolute"),
        (f'{LIMIT}<mimic joint="j"/>', "revolute"),
        ('<mimic joint="other"/>', "fixed"),
    ],
)
def test_a_mimic_that_cannot_be_a_gear_is_named_and_left_out(urdf, inside, kind):
    text = robot(
        link("base"),
        link("arm"),
        link("tip"),
        joint("j", "base", "arm", kind, inside),
        joint("other", "arm", "tip"),
    )
    with pytest.warns(ModelWarning, match="mimic of .*j"):
        assert load_urdf(urdf(text)).closures == ()


def test_a_revolute_joint_without_limits_is_named_and_unlimited(urdf):
    text = robot(link("base"), link("arm"), joint("j", "base", "arm", inside=""))
    with pytest.warns(ModelWarning, match=r"limits that are missing, so none \(j\)"):
        assert load_urdf(urdf(text)).upper == [np.inf]


@pytest.mark.parametrize(
    "attributes",
    [
        'name="r" xmlns="http://www.ros.org"',
        'name="r" xmlns:xi="http://www.w3.org/2001/XInclude" xi:foo="1" drake:bar="2"',
        "",
    ],
)
def test_namespaces_declared_or_not_and_a_missing_robot_name_do_no_harm(urdf, attributes, caplog):
    text = robot(link("base"), link("arm"), joint("j", "base", "arm"), attributes=attributes)
    with caplog.at_level(logging.DEBUG):
        model = load_urdf(urdf(text))
    assert model.dof_names == ["j"]
    assert model.name == ("r" if attributes else "robot")
    assert caplog.records == []


def test_names_may_have_any_letters(urdf, caplog):
    text = robot(link("Füße"), link("arm"), joint("j", "Füße", "arm"), '<joint_größe größe="1" name="é"/>')
    with pytest.warns(ModelWarning, match=r"<joint_größe> \(é\)"):
        model = load_urdf(urdf(text.replace("<limit", '<limit größe="1"')))
    assert set(model.frames) == {"Füße"}
    assert caplog.records == []


# what is wrong is named

WRONG = {
    "truncated": (ARM[:-30], "not well-formed XML"),
    "empty": ("", "not well-formed XML"),
    "binary": ("\x00\x01\x02", "not well-formed XML"),
    "of another kind": ("<mujoco/>", "root element is <mujoco>"),
    "without links": (robot(), "has no link"),
    "xacro": (robot('<xacro:include filename="x"/>'), "xacro"),
    "link without name": (robot("<link/>"), "a <link> has no name"),
    "two links of one name": (robot(link("a"), link("a")), "two links are called 'a'"),
    "two joints of one name": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "b", "c")),
        "two joints are called 'j'",
    ),
    "unknown joint type": (
        robot(link("a"), link("b"), joint("j", "a", "b", "screw")),
        "'j' has type 'screw'",
    ),
    "joint without type": (ARM.replace(' type="revolute"', ""), "'shoulder' has type None"),
    "joint without parent": (ARM.replace('<parent link="base"/>', ""), "'shoulder' needs one <parent"),
    "joint without child": (ARM.replace('<child link="arm"/>', "<child/>"), "'shoulder' needs one <child"),
    "missing link": (robot(link("a"), joint("j", "a", "b")), "names link 'b', which is not there"),
    "two roots": (robot(link("a"), link("b")), r"2 root links \(a, b\)"),
    "two parents": (
        robot(link("a"), link("b"), link("c"), joint("i", "a", "c"), joint("j", "b", "c")),
        "'c' is the child of joints 'i' and 'j'",
    ),
    "cycle": (
        robot(link("a"), link("b"), joint("i", "a", "b"), joint("j", "b", "a")),
        "cycle: (a -> b -> a|b -> a -> b)",
    ),
    "cycle beside a tree": (
        robot(link("r"), link("a"), link("b"), joint("i", "a", "b"), joint("j", "b", "a")),
        "cycle: (a -> b -> a|b -> a -> b)",
    ),
    "link on itself": (robot(link("r"), link("a"), joint("j", "a", "a")), "cycle: a -> a"),
    "two numbers": (
        ARM.replace('xyz="0.1 0.2 -0.3"', 'xyz="0.1 0.2"'),
        "link 'base': xyz='0.1 0.2' of <origin>",
    ),
    "one number": (ARM.replace('xyz="0.1 0.2 -0.3"', 'xyz="0.1"'), "3 finite numbers"),
    "not a number": (ARM.replace('value="2"', 'value="two"'), "link 'base': value='two' of <mass>"),
    "nan": (ARM.replace('ixx="0.02"', 'ixx="nan"'), "ixx='nan' of <inertia>"),
    "missing moment": (ARM.replace('ixx="0.02"', ""), "ixx=None of <inertia>"),
    "missing mass": (ARM.replace('<mass value="2"/>', ""), "needs both <mass> and <inertia>"),
    "bad limit": (ARM.replace('upper="2"', 'upper="pi"'), "joint 'shoulder': upper='pi' of <limit>"),
    "bad scale": (robot(link("a", mesh("m.stl", 'scale="2"'))), "scale='2' of <mesh>"),
    "mesh without file": (robot(link("a", mesh(""))), "a <mesh> has no filename"),
    "box without size": (
        robot(link("a", "<collision><geometry><box/></geometry></collision>")),
        "size=None of <box>",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_malformed_file_is_refused_with_its_name_and_the_fault(urdf, case):
    text, fault = WRONG[case]
    with pytest.raises(FileFormatError, match=rf"robot\.urdf: .*{fault}"):
        load_urdf(urdf(text))


UNUSABLE = {
    "negative mass": (ARM.replace('value="2"', 'value="-2"'), "mass"),
    "limits swapped": (ARM.replace('upper="2"', 'upper="-2"'), "'arm': lower limit"),
    "zero axis": (ARM.replace("<limit", '<axis xyz="0 0 0"/><limit'), "axis"),
    "massless": (robot(link("base"), link("arm", ""), joint("j", "base", "arm")), "'arm'"),
    "negative damping": (ARM.replace("<limit", '<dynamics damping="-1"/><limit'), "damping"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_values_that_no_model_has_are_refused_with_the_files_name(urdf, case):
    text, fault = UNUSABLE[case]
    with pytest.raises(ModelError, match=rf"robot\.urdf: .*{fault}"):
        load_urdf(urdf(text))


@pytest.mark.parametrize("name", ["nowhere.urdf", "."])
def test_a_path_without_a_file_is_named(tmp_path, name):
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_urdf(tmp_path / name)


def test_a_missing_reader_says_how_to_get_it(urdf, monkeypatch):
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(PluginError, match=r"yourdfpy.*pip install 'mcpframe\[robots\]'"):
        load_urdf(urdf(ARM))
