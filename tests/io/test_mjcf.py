"""MJCF files: the model moves as MuJoCo's own; what it does not take over is named."""

import sys

import numpy as np
import pytest

from mcpframe.exceptions import FileFormatError, ModelError, ModelWarning, PluginError
from mcpframe.io.mjcf import load_mjcf, qpos_from_theta, theta_dot_from_qvel, theta_from_qpos
from mcpframe.multibody.closures import Ball, Gear, Weld
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from mcpframe.spatial.transforms import Pose

mujoco = pytest.importorskip("mujoco")

CLOSE = 1e-12
"""Relative: MuJoCo sums the same terms in another order, and keeps inertias by their principal axes."""

WORLD = "<mujoco model='m'>{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def mjcf(body, before="", after=""):
    return WORLD.format(before=before, body=body, after=after)


TREES = {
    "hinge": mjcf(
        "<body pos='0 0 1'><joint axis='1 2 3'/><geom size='0.1 0.2' type='capsule' pos='0.3 0 0'/></body>"
    ),
    "slide": mjcf("<body euler='10 20 30'><joint type='slide' axis='0 1 1'/><geom size='0.1'/></body>"),
    "ball": mjcf(
        "<body pos='1 2 3' quat='1 2 3 4'><joint type='ball'/><geom size='0.1' pos='0 0.2 0.4'/></body>"
    ),
    "free": mjcf(
        "<body pos='0.1 0.2 1' quat='1 0.2 0.3 0.4'><freejoint/>"
        "<geom type='box' size='0.1 0.2 0.3' pos='0.1 0 0' euler='20 0 10'/></body>"
    ),
    "anchor away from the body": mjcf(
        "<body name='a' pos='0 0 1'><joint pos='0.1 -0.2 0.3' axis='0 1 0'/><geom size='0.1'/>"
        "<body name='b' pos='0.5 0 0'><joint type='ball' pos='0 0 0.2'/><geom size='0.2' pos='0.1 0 0'/>"
        "</body></body>"
    ),
    "two and three joints per body": mjcf(
        "<body name='a'><joint name='x' axis='1 0 0' pos='0 0.1 0'/>"
        "<joint name='y' axis='0 1 0' pos='0 0 0.3'/><geom type='box' size='0.1 0.2 0.3'/>"
        "<body name='b' pos='1 0 0'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
        "<joint axis='0 0 1' pos='0.1 0 0'/><geom size='0.1 0.3' type='cylinder' euler='30 0 0'/>"
        "</body></body>"
    ),
    "reference angles": mjcf(
        "<body name='a' pos='0 0 1'><joint axis='0 1 1' pos='0.1 0 0' ref='30'/>"
        "<joint type='slide' axis='1 0 0' ref='0.2'/><geom size='0.1' pos='0.2 0.1 0'/></body>"
    ),
    "branches and fixed bodies": mjcf(
        "<body name='root' pos='0 0 1'><freejoint/><geom size='0.2'/>"
        "<body name='left' pos='0.3 0 0'><joint axis='0 1 0'/><geom size='0.1' pos='0 0 -0.2'/>"
        "<body name='left_foot' pos='0 0 -0.4' euler='0 30 0'><geom type='box' size='0.1 0.05 0.02'/>"
        "</body></body>"
        "<body name='plate' pos='0 0.2 0'><geom size='0.05'/>"
        "<body name='right' pos='-0.3 0 0'><joint axis='1 0 0'/><geom size='0.1' pos='0 0 -0.2'/>"
        "</body></body></body>"
        "<body name='second tree' pos='5 0 0'><joint type='slide'/><geom size='0.1'/></body>"
    ),
    "defaults and capsules by their ends": mjcf(
        "<body name='a'><joint/><geom fromto='0 0 0 0.4 0.1 0.2'/>"
        "<body name='b' pos='0.4 0.1 0.2' childclass='thin'><joint/><geom fromto='0 0 0 0.1 0.5 0'/>"
        "</body></body>",
        before="<default><geom type='capsule' size='0.05' density='500'/><joint axis='0 1 0' armature='0.3'/>"
        "<default class='thin'><geom size='0.02'/><joint damping='2' axis='0 0 1'/></default></default>",
    ),
    "inertia from geoms or as written": mjcf(
        "<body name='a'><inertial pos='0.1 0 0' mass='2' fullinertia='0.02 0.03 0.04 0.001 0.002 0.003'/>"
        "<joint axis='0 1 0'/><geom size='0.3'/>"
        "<body name='b' pos='0 0 1'><joint axis='1 0 0'/><geom size='0.1 0.2 0.3' type='box' mass='3'/>"
        "</body></body>",
        before="<compiler inertiafromgeom='auto' angle='radian'/><option gravity='1 2 -3'/>",
    ),
}


@pytest.fixture
def load(tmp_path):
    """Write a text to a file; load it here and in MuJoCo."""

    def both(text, **options):
        file = tmp_path / "robot.xml"
        file.write_text(text)
        return load_mjcf(file, **options), mujoco.MjModel.from_xml_path(str(file))

    return both


@pytest.fixture(params=TREES)
def tree(request, load):
    return load(TREES[request.param])


def random_data(compiled, rng):
    data = mujoco.MjData(compiled)
    mujoco.mj_integratePos(compiled, data.qpos, rng.standard_normal(compiled.nv), 1.0)
    data.qvel[:] = rng.standard_normal(compiled.nv)
    mujoco.mj_forward(compiled, data)
    return data


def at(model, data):
    theta = theta_from_qpos(model, data.qpos)
    return model.state(theta, theta_dot_from_qvel(model, theta, data.qvel))


def rate_map(model, theta):
    """theta_dot = T qvel at theta."""
    columns = [theta_dot_from_qvel(model, theta, unit) for unit in np.eye(model.n_dofs)]
    return np.array(columns).T


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=CLOSE * max(1.0, np.abs(theirs).max(initial=0.0)))


# dynamics, against MuJoCo


def test_bodies_are_where_mujoco_has_them(tree, rng):
    model, compiled = tree
    data = random_data(compiled, rng)
    state = at(model, data)
    for body in range(1, compiled.nbody):
        pose = state.pose(compiled.body(body).name or f"body_{body}")
        close(pose.position, data.xpos[body])
        close(pose.rotation, data.xmat[body].reshape(3, 3))


def test_the_mass_matrix_is_mujocos(tree, rng):
    model, compiled = tree
    data = random_data(compiled, rng)
    state = at(model, data)
    T = rate_map(model, state.theta)
    expected = np.zeros((compiled.nv, compiled.nv))
    for row, unit in zip(expected, np.eye(compiled.nv), strict=True):
        mujoco.mj_mulM(compiled, data, row, unit)
    close(T.T @ state.mass_matrix() @ T, expected)


def test_a_body_accelerates_as_mujocos_does_without_forces(tree, rng):
    """Spatial accelerations of bodies, because free joints have their rates in other axes."""
    model, compiled = tree
    compiled.dof_damping[:] = 0.0
    compiled.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = random_data(compiled, rng)
    mujoco.mj_rnePostConstraint(compiled, data)
    state = at(model, data)
    names = [compiled.body(body).name or f"body_{body}" for body in range(1, compiled.nbody)]
    ours = state.jacobian(names) @ state.free_acceleration() + state.node_bias(names).ravel()
    for body, acceleration in enumerate(ours.reshape(-1, 6), start=1):
        theirs = np.zeros(6)
        mujoco.mj_objectAcceleration(compiled, data, mujoco.mjtObj.mjOBJ_XBODY, body, theirs, 0)
        theirs[3:] += compiled.opt.gravity  # what MuJoCo gives is what an accelerometer feels
        close(acceleration, theirs)


def test_velocities_of_bodies_are_mujocos(tree, rng):
    model, compiled = tree
    data = random_data(compiled, rng)
    state = at(model, data)
    for body in range(1, compiled.nbody):
        theirs = np.zeros(6)
        mujoco.mj_objectVelocity(compiled, data, mujoco.mjtObj.mjOBJ_XBODY, body, theirs, 0)
        close(state.node_velocities([compiled.body(body).name or f"body_{body}"])[0], theirs)


@pytest.mark.parametrize("name", [name for name in TREES if "free" not in TREES[name]])
def test_the_bias_force_is_mujocos_where_no_joint_is_free(load, rng, name):
    model, compiled = load(TREES[name])
    data = random_data(compiled, rng)
    close(at(model, data).bias_force(), data.qfrc_bias)


def test_coordinates_go_there_and_back(tree, rng):
    model, compiled = tree
    qpos = random_data(compiled, rng).qpos
    state = model.state(theta_from_qpos(model, qpos))
    again = model.state(theta_from_qpos(model, qpos_from_theta(model, state.theta)))
    close(again.link_poses()[0], state.link_poses()[0])
    close(np.abs(qpos_from_theta(model, state.theta)), np.abs(qpos))  # a quaternion's sign means nothing


def test_the_neutral_configuration_is_the_one_in_the_file(load):
    model, compiled = load(TREES["branches and fixed bodies"])
    close(theta_from_qpos(model, compiled.qpos0), model.neutral())


def test_coordinates_of_the_wrong_length_are_refused(load):
    model, _ = load(TREES["ball"])
    with pytest.raises(ModelError, match="qpos"):
        theta_from_qpos(model, np.zeros(5))
    with pytest.raises(ModelError, match="qvel"):
        theta_dot_from_qvel(model, model.neutral(), np.zeros(5))


def test_merging_fixed_bodies_keeps_their_names_and_the_dynamics(load, rng):
    text = TREES["branches and fixed bodies"]
    (merged, compiled), (whole, _) = load(text), load(text, merge_fixed=False)
    assert (merged.n_links, whole.n_links) == (4, 6)
    data = random_data(compiled, rng)
    close(at(merged, data).mass_matrix(), at(whole, data).mass_matrix())
    close(at(merged, data).pose("left_foot").position, at(whole, data).pose("left_foot").position)


# joints: limits, springs, dampers, armature

SPRINGS = mjcf(
    "<body name='a'><joint name='j' axis='0 1 0' range='-30 60' damping='0.5' stiffness='3' springref='20'"
    " armature='0.1'/><geom size='0.1' pos='0.2 0 0'/>"
    "<body name='b' pos='0.4 0 0'><joint type='ball' damping='0.2' stiffness='2' armature='0.05'/>"
    "<geom size='0.1' pos='0.1 0 0'/>"
    "<body name='c' pos='0.4 0 0'>"
    "<joint type='slide' range='-1 2' limited='true' stiffness='5' springref='0.1'/>"
    "<geom size='0.1' pos='0.1 0 0'/></body></body></body>"
)


def test_springs_and_dampers_push_as_mujocos(load, rng):
    model, compiled = load(SPRINGS)
    data = random_data(compiled, rng)
    close(at(model, data).passive_force(), data.qfrc_passive)


def test_limits_are_in_radians_and_metres_and_only_where_the_file_limits(load):
    model, _ = load(SPRINGS)
    none = [np.inf] * 3
    np.testing.assert_allclose(model.lower, [-np.pi / 6, *np.negative(none), -1])
    np.testing.assert_allclose(model.upper, [np.pi / 3, *none, 2])
    np.testing.assert_allclose(model.armature, [0.1, 0.05, 0.05, 0.05, 0.0])


# names


def test_names_mean_the_frames_of_the_file(load):
    model, _ = load(TREES["two and three joints per body"])
    assert model.dof_names == ["x", "y", "b/joint_2", "b/joint_3", "b/joint_4"]
    assert [model.dof_index(name) for name in ("a/x", "a/y", "y")] == [0, 1, 1]  # links are aliases
    assert set(model.frames) == {"a", "b"}


def test_a_site_is_a_frame_also_where_a_body_has_its_name(load, rng):
    text = mjcf(
        "<body name='a'><joint pos='0.1 0 0'/><geom size='0.1'/><site name='tip' pos='0 0 1' euler='0 90 0'/>"
        "<site name='a' pos='0 1 0'/><site/></body>"
    )
    model, compiled = load(text)
    data = random_data(compiled, rng)
    assert set(model.frames) == {"a", "tip", "a/a"}
    for site, name in enumerate(("tip", "a/a")):
        close(at(model, data).pose(name).position, data.site_xpos[site])
        close(at(model, data).pose(name).rotation, data.site_xmat[site].reshape(3, 3))


# geometry


def test_primitive_geoms_become_shapes_on_their_places(load):
    text = mjcf(
        "<geom type='plane' size='1 1 1' pos='0 0 -1'/>"
        "<body name='a'><joint pos='0.1 0 0'/><geom name='ball' size='0.1' pos='1 0 0'/>"
        "<geom type='box' size='0.1 0.2 0.3'/><geom type='capsule' size='0.1 0.2'/>"
        "<geom type='cylinder' size='0.1 0.2'/><geom type='ellipsoid' size='0.1 0.2 0.3'/>"
        "<geom size='9' contype='0' conaffinity='0'/></body>"
    )
    model, _ = load(text)
    (floor,) = model.geometry
    assert (floor.shape, floor.pose.position[2]) == (Plane(), -1.0)
    shapes = [geometry.shape for geometry in model.links[0].geometry]
    assert shapes == [
        Sphere(0.1),
        Box((0.2, 0.4, 0.6)),
        Capsule(0.1, 0.4),
        Cylinder(0.1, 0.4),
        Ellipsoid((0.1, 0.2, 0.3)),
    ]
    ball = model.links[0].geometry[0]
    assert ball.name == "ball"
    np.testing.assert_allclose(ball.pose.position, [0.9, 0, 0])  # the link stands at the joint's anchor
    assert Sphere(9.0) in [geometry.shape for geometry in load(text, visual=True)[0].links[0].geometry]


def test_a_mesh_is_named_in_the_frame_of_its_own_file(load, tmp_path):
    vertices = np.array([[1, 0, 0], [2, 0, 0], [1, 1, 0], [1, 0, 3.0]])
    faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "meshes").mkdir()
    lines = "".join(f"v {x} {y} {z}\n" for x, y, z in vertices)
    (tmp_path / "meshes" / "corner.obj").write_text(lines + faces)
    model, _ = load(
        mjcf(
            "<body name='a'><freejoint/>"
            "<geom type='mesh' mesh='corner' pos='0.1 0.2 0.3' euler='10 20 30'/></body>",
            before="<compiler meshdir='meshes' eulerseq='XYZ'/>"
            "<asset><mesh name='corner' file='corner.obj' scale='1 2 1'/></asset>",
        )
    )
    (geometry,) = model.links[0].geometry
    assert geometry.shape == Mesh(str((tmp_path / "meshes" / "corner.obj").resolve()), (1, 2, 1))
    expected = Pose.from_rpy((0.1, 0.2, 0.3), np.radians([10, 20, 30]))
    np.testing.assert_allclose(geometry.pose.position, expected.position, atol=1e-12)
    np.testing.assert_allclose(geometry.pose.rotation, expected.rotation, atol=1e-12)


# equality constraints

LOOP = (
    "<body name='a' pos='0 0 1'><joint name='j' axis='0 1 0' pos='0.1 0 0' ref='10'/><geom size='0.1'/>"
    "<body name='b' pos='0.5 0 0'><joint name='k' axis='0 1 0' ref='20'/><joint type='slide'/>"
    "<geom size='0.1' pos='0.1 0 0'/><site name='s' pos='0 0.1 0' euler='0 40 0'/></body></body>"
    "<body name='c' pos='1 0 1' euler='10 0 0'><freejoint/><geom size='0.1'/><site name='t'/></body>"
)


def equality(text):
    return mjcf(LOOP, after=f"<equality>{text}</equality>")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<connect body1='b' body2='c' anchor='0.1 0.2 0.3'/>", Ball),
        ("<connect body1='b' anchor='0.1 0.2 0.3'/>", Ball),
        ("<connect site1='s' site2='t'/>", Ball),
        ("<weld body1='b' body2='c' anchor='0.1 0.2 0.3'/>", Weld),
        ("<weld body1='b' body2='c' relpose='0.1 0.2 0.3 1 0.2 0.3 0.4'/>", Weld),
        ("<weld body1='b'/>", Weld),
        ("<weld site1='s' site2='t'/>", Weld),
        ("<joint joint1='k' joint2='j' polycoef='0.1 -2 0 0 0'/>", Gear),
        ("<joint joint1='k' polycoef='0.1 0 0 0 0'/>", Gear),
    ],
)
def test_an_equality_constraint_is_a_closure_with_the_same_error(load, rng, text, kind):
    """Positions in other axes, so their norm; MuJoCo measures turns in a way of its own."""
    model, compiled = load(equality(text))
    (closure,) = model.closures
    assert isinstance(closure, kind)
    data = random_data(compiled, rng)
    ours, theirs = closure.rows(at(model, data)).error, data.efc_pos[: closure.n_rows]
    if kind is Weld:
        ours, theirs = ours[3:], theirs[:3]
    close(np.linalg.norm(ours), np.linalg.norm(theirs))


@pytest.mark.parametrize("kind", ["connect", "weld"])
def test_at_a_closed_loop_mujoco_sees_no_error_and_forbids_the_same_motions(load, rng, kind):
    anchors = {"connect": "anchor='0.1 0.2 0.3'", "weld": "relpose='0.1 0.2 0.3 1 0.2 0.3 0.4'"}
    model, compiled = load(equality(f"<{kind} body1='b' body2='c' {anchors[kind]}/>"))
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    (closure,) = model.closures
    data = random_data(compiled, rng)
    pose = at(model, data).pose(closure.node_a) @ closure.node_b.pose.inverse()
    data.qpos[-7:] = [*pose.position, *pose.quaternion()[[3, 0, 1, 2]]]
    mujoco.mj_forward(compiled, data)
    state, n = at(model, data), closure.n_rows
    rows = closure.rows(state)
    close(rows.error, np.zeros(n))
    close(data.efc_pos[:n], np.zeros(n))
    ours = rows.jacobian(state) @ rate_map(model, state.theta)
    theirs = data.efc_J.reshape(-1, compiled.nv)[:n]
    assert np.linalg.matrix_rank(ours) == np.linalg.matrix_rank(np.vstack([ours, theirs])) == n


@pytest.mark.parametrize("coefficients", ["0.1 -2 0 0 0", "0 0.5 0 0 0"])
def test_a_joint_constraint_is_a_gear_with_mujocos_row(load, rng, coefficients):
    text = equality(f"<joint joint1='k' joint2='j' polycoef='{coefficients}'/>")
    model, compiled = load(text)
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = random_data(compiled, rng)
    rows = model.closures[0].rows(at(model, data))
    close(rows.error, data.efc_pos[:1])
    close(rows.velocity(at(model, data)), data.efc_J[: compiled.nv] @ data.qvel)


def test_a_weld_within_one_rigid_body_is_no_closure(load):
    text = mjcf(
        "<body name='a'><joint/><geom size='1'/><body name='b'><geom size='1'/></body></body>",
        after="<equality><weld body1='a' body2='b'/></equality>",
    )
    assert load(text)[0].closures == ()


@pytest.mark.parametrize(
    "text",
    [
        "<joint name='e' joint1='k' joint2='j' polycoef='0 1 2 0 0'/>",
        "<connect name='e' body1='b' body2='c' anchor='0 0 0' active='false'/>",
    ],
)
def test_an_equality_constraint_that_is_not_linear_or_not_active_is_named(load, text):
    with pytest.warns(ModelWarning, match="equality constraints.*e"):
        model, _ = load(equality(text))
    assert model.closures == ()


# what is left out is named

LEFT_OUT = {
    "tendons (t)": "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>",
    "actuators (m)": "<actuator><motor name='m' joint='j'/></actuator>",
    "sensors (p)": "<sensor><jointpos name='p' joint='j'/></sensor>",
    "contact exclusions (no. 0)": "<contact><exclude body1='a' body2='c'/></contact>",
    "contact pairs (no. 0)": "<contact><pair geom1='g' geom2='h'/></contact>",
    "keyframes (home)": "<keyframe><key name='home' qpos='0 1 0 0 0'/></keyframe>",
    "friction of joints (j)": "",
    "limits of ball joints (ball)": "",
    "contact parameters of geoms (g)": "",
    "gravity compensation (c)": "",
    "fluid (density and viscosity)": "",
    "disabling of parts (limit)": "",
    "custom numbers (n)": "<custom><numeric name='n' data='1'/></custom>",
}


def test_what_is_left_out_is_named_in_one_warning(load):
    body = (
        "<body name='a'><joint name='j' frictionloss='0.1'/><geom name='g' size='0.1' friction='0.3'/>"
        "<body name='c' gravcomp='1'><joint name='ball' type='ball' range='0 50' limited='true'/>"
        "<geom name='h' size='0.1'/></body></body>"
    )
    option = "<option density='1.2'><flag limit='disable' gravity='disable'/></option>"
    with pytest.warns(ModelWarning) as caught:
        model, _ = load(mjcf(body, before=option, after="".join(LEFT_OUT.values())))
    (warning,) = caught
    for part in LEFT_OUT:
        assert part in str(warning.message)
    assert warning.filename == __file__
    assert (model.gravity == 0.0).all()


# what is wrong is named


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (TREES["hinge"][:-20], "MuJoCo cannot compile"),
        ("", "no <mujoco> element"),
        ("<robot name='r'><link name='a'/></robot>", "load_urdf"),
        (mjcf("<body><joint type='screw'/></body>"), "MuJoCo cannot compile.*screw"),
        (mjcf("<body><joint/></body>"), "mass and inertia of moving bodies"),
        (mjcf("<geom type='mesh' mesh='none'/>"), "MuJoCo cannot compile.*none"),
    ],
)
def test_a_malformed_file_is_refused_with_its_name_and_the_fault(load, text, fault):
    with pytest.raises(FileFormatError, match=rf"robot\.xml: .*{fault}"):
        load(text)


def test_a_path_without_a_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="nowhere.xml: cannot be read"):
        load_mjcf(tmp_path / "nowhere.xml")


def test_a_missing_compiler_says_how_to_get_it(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(PluginError, match=r"mujoco.*pip install 'mcpframe\[robots\]'"):
        load(TREES["hinge"])


def test_warnings_of_mujoco_are_ours_and_no_log_lands_in_the_working_folder(tmp_path, monkeypatch, capfd):
    """MuJoCo prints them, and logs them to MUJOCO_LOG.TXT in whichever folder the process is in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    numbers = "<custom><numeric name='x' data='nan'/></custom>"
    (tmp_path / "m.xml").write_text(mjcf("<body><joint/><geom size='0.1'/></body>", after=numbers))
    with pytest.warns(ModelWarning, match="warnings of MuJoCo.*NaN"):
        load_mjcf(tmp_path / "m.xml")
    assert list((tmp_path / "here").iterdir()) == []
    assert capfd.readouterr() == ("", "")
