"""Models from MJCF files: MuJoCo's own compiler reads the file, and the bodies it makes become links.

Conventions differ in three places. MuJoCo's quaternions are w, x, y, z, ours are x, y, z, w. The linear
velocity of its free joint is in world axes, ours in link axes like the angular one. Its free joint's
coordinates are the pose in the world, ours the pose against where the file puts the body. `theta_from_qpos`,
`qpos_from_theta` and `theta_dot_from_qvel` go from one to the other; angles and displacements are the same
numbers in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.exceptions import FileFormatError
from mcpframe.io.mjcf_left_out import constant, disabled, note_left_out
from mcpframe.io.mjcf_sizes import check_sizes
from mcpframe.io.robot_files import LeftOut, building, import_reader, read_bytes
from mcpframe.io.untrusted import reading
from mcpframe.multibody.closures import Ball, Closure, Gear, Weld
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from mcpframe.multibody.model.validation import values
from mcpframe.spatial.transforms import Pose, rotation_from_axis_angle, rotation_from_quaternion

XYZW = [1, 2, 3, 0]
WXYZ = [3, 0, 1, 2]
"""Places of the components of a quaternion of the other kind."""
HINGE_KINDS = {"free": "free", "ball": "ball", "slide": "prismatic", "hinge": "pin"}
"""Joint types of MuJoCo and the hinges they become."""


def load_mjcf(path: str | Path, merge_fixed: bool = True, *, visual: bool = False) -> Model:
    """Read a mechanism from an MJCF file.

    A body with one joint becomes a link; one with several becomes a chain whose inner links, called
    ``body/joint``, have no mass. A link's frame lies at its joint's anchor: where that is not the origin of
    the body, the link is called ``body/joint`` as well and the name of the body is a frame, so that names
    always mean the frames of the file. Sites are frames. The order of coordinates is MuJoCo's, and
    `Model.neutral` is the configuration in the file where no joint has a `ref`.

    Of the joints come limits, damping, stiffness, `springref` and armature; of the geoms planes, spheres,
    capsules, cylinders, boxes and meshes; of the equality constraints connect, weld and linear joint, as
    closures that hold exactly where MuJoCo's are soft. What the model has no place for (tendons, actuators,
    sensors, friction of geoms and joints, ...) is named in one ModelWarning.

    Args:
        path: MJCF file; the files that it includes and its meshes must be there, as for MuJoCo.
        merge_fixed: merge bodies without joints into their parents; their names stay as frames.
        visual: take also geoms that collide with nothing.

    Raises:
        FileFormatError: the file cannot be read, or MuJoCo's compiler refuses it.
        ModelError: a value that MuJoCo takes cannot be used here.
        PluginError: mujoco is not installed.
    """
    file = Path(path)
    left_out = LeftOut(file)
    compiled = _compile(file, left_out)
    with building(file):
        note_left_out(compiled, left_out)
        model = _model(compiled, visual, left_out)
        model = model.merged() if merge_fixed else model
    left_out.warn()
    return model


def theta_from_qpos(model: Model, qpos: ArrayLike) -> Array:
    """Return the coordinates theta of a model for the coordinates that MuJoCo has for the same file."""
    theta = values("qpos", qpos, (model.n_theta,)).copy()
    for link, at in _curved(model):
        theta[at[-4:]] = theta[at[-4:]][XYZW]
        if link.hinge.kind == "free":
            pose = link.pose.inverse() @ Pose.from_quaternion(theta[at[:3]], theta[at[3:]])
            theta[at] = [*pose.position, *pose.quaternion()]
    return theta


def qpos_from_theta(model: Model, theta: ArrayLike) -> Array:
    """Return the coordinates that MuJoCo has for a model's coordinates theta."""
    qpos = model.check_theta(theta)
    for link, at in _curved(model):
        if link.hinge.kind == "free":
            pose = link.pose @ Pose.from_quaternion(qpos[at[:3]], qpos[at[3:]])
            qpos[at] = [*pose.position, *pose.quaternion()]
        qpos[at[-4:]] = qpos[at[-4:]][WXYZ]
    return qpos


def theta_dot_from_qvel(model: Model, theta: ArrayLike, qvel: ArrayLike) -> Array:
    """Return the rates theta_dot at theta for MuJoCo's; v of a free hinge goes to link axes, R* v."""
    theta_dot, coordinates = values("qvel", qvel, (model.n_dofs,)).copy(), model.check_theta(theta)
    for k, link in enumerate(model.links):
        if link.hinge.kind == "free":
            i, d = model.theta_start[k], model.dof_start[k]
            R = link.pose.rotation @ rotation_from_quaternion(coordinates[i + 3 : i + 7])
            theta_dot[d : d + 3] = R.T @ theta_dot[d : d + 3]
    return theta_dot


def _curved(model: Model) -> Iterator[tuple[Link, Array]]:
    """Yield ball and free links with the places of their coordinates."""
    for link, start in zip(model.links, model.theta_start, strict=True):
        if link.hinge.kind in ("ball", "free"):
            yield link, np.arange(start, start + link.hinge.n_theta)


def _compile(file: Path, left_out: LeftOut) -> Any:
    mujoco = import_reader("mujoco")
    content = read_bytes(file)
    if b"<mujoco" not in content:
        raise FileFormatError(f"{file}: has no <mujoco> element; is it a URDF? load_urdf reads that")
    check_sizes(file, content)
    with reading(str(file), "MuJoCo cannot compile it"), _warnings_to(mujoco, left_out):
        return mujoco.MjModel.from_xml_path(str(file.resolve()))


@contextmanager
def _warnings_to(mujoco: Any, left_out: LeftOut) -> Iterator[None]:
    """Take MuJoCo's warnings, which it would print and log to a file in the working folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: left_out.add("warnings of MuJoCo", " ".join(text.split())))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _model(m: Any, visual: bool, left_out: LeftOut) -> Model:
    shapes = [tuple(_geometry(m, body, visual, left_out)) for body in range(m.nbody)]
    links = [link for body in range(1, m.nbody) for link in _links(m, body, shapes[body])]
    gravity = np.zeros(3) if "gravity" in disabled(m) else m.opt.gravity
    model = Model(links, gravity=gravity, name=m.names.split(b"\0", 1)[0].decode(), geometry=shapes[0])
    for name, body, pose in _frames(m):
        model.add_frame(name, body, pose)
    for closure in _closures(m, left_out):
        model.add_closure(closure)
    return model


def _links(m: Any, body: int, geometry: tuple[Geometry, ...]) -> Iterator[Link]:
    """Yield the chain of links of a body, X = X_0 prod T(a_i) J_i(theta_i - ref_i) T(-a_i), a_i the anchors.

    Every link stands at the anchor of its joint. As J(theta - ref) = J(-ref) J(theta), the reference of a
    joint goes into the pose of its hinge, and theta is MuJoCo's qpos.
    """
    joints = _joints(m, body)
    parent, pose = _home(m, m.body_parentid[body])
    pose = pose @ _pose(m.body_pos[body], m.body_quat[body])
    name, in_link = _home(m, body)
    inertial = _inertial(m, body, in_link) | {"geometry": [_moved(shape, in_link) for shape in geometry]}
    if not joints:
        yield Link(name, parent, "locked", pose, **inertial)
    for joint in joints:
        anchor = Pose(m.jnt_pos[joint])
        body_fields = inertial if joint == joints[-1] else {}
        hinge_pose = pose @ anchor @ _reference(m, joint)
        names = {"name": _link_name(m, joint), "joint": m.joint(joint).name}
        yield Link(**names, parent=parent, pose=hinge_pose, **_hinge(m, joint), **body_fields)
        parent, pose = _link_name(m, joint), anchor.inverse()


def _home(m: Any, body: int) -> tuple[str, Pose]:
    """Return the link that carries a body, and the body's frame there."""
    joints = _joints(m, body)
    if not joints:
        return _body_name(m, body), Pose()
    return _link_name(m, joints[-1]), Pose(-m.jnt_pos[joints[-1]])


def _joints(m: Any, body: int) -> range:
    start = int(m.body_jntadr[body])
    return range(start, start + int(m.body_jntnum[body]))


def _link_name(m: Any, joint: int) -> str:
    body = m.jnt_bodyid[joint]
    if joint == _joints(m, body)[-1] and not m.jnt_pos[joint].any():
        return _body_name(m, body)
    return f"{_body_name(m, body)}/{m.joint(joint).name or f'joint_{joint}'}"


def _body_name(m: Any, body: int) -> str:
    return m.body(body).name or f"body_{body}"


def _frames(m: Any) -> Iterator[tuple[str, str, Pose]]:
    """Yield named frames: bodies whose frame is not that of their link, and sites."""
    bodies = [_body_name(m, body) for body in range(m.nbody)]
    for body, name in enumerate(bodies):
        if name != _home(m, body)[0]:
            yield name, *_home(m, body)
    for site in range(m.nsite):
        name, on = m.site(site).name, bodies[m.site_bodyid[site]]
        if name:
            pose = _pose(m.site_pos[site], m.site_quat[site])
            yield (f"{on}/{name}" if name in bodies else name), on, pose


def _inertial(m: Any, body: int, in_link: Pose) -> dict[str, Any]:
    principal = _pose(m.body_ipos[body], m.body_iquat[body])
    inertia = principal.rotation @ np.diag(m.body_inertia[body]) @ principal.rotation.T
    return {"mass": m.body_mass[body], "com": in_link @ principal.position, "inertia": inertia}


def _hinge(m: Any, joint: int) -> dict[str, Any]:
    """Return the hinge of a joint with its limits, damper, spring and armature."""
    kind, dof = constant("mjtJoint", m.jnt_type[joint]), m.jnt_dofadr[joint]
    fields: dict[str, Any] = {"damping": m.dof_damping[dof], "armature": m.dof_armature[dof]}
    if kind in ("slide", "hinge"):
        fields["hinge"] = Hinge(HINGE_KINDS[kind], m.jnt_axis[joint])
        fields |= {"stiffness": m.jnt_stiffness[joint], "rest": m.qpos_spring[m.jnt_qposadr[joint]]}
        if m.jnt_limited[joint]:
            fields["lower"], fields["upper"] = m.jnt_range[joint]
        return fields
    fields["hinge"] = Hinge(HINGE_KINDS[kind])
    if kind == "ball":
        start = m.jnt_qposadr[joint]
        fields |= {"stiffness": m.jnt_stiffness[joint], "rest": m.qpos_spring[start : start + 4][XYZW]}
    return fields


def _reference(m: Any, joint: int) -> Pose:
    """Return J(-ref): where the joint is at qpos = 0, seen from where the file draws it."""
    ref, axis = m.qpos0[m.jnt_qposadr[joint]], m.jnt_axis[joint]
    kind = constant("mjtJoint", m.jnt_type[joint])
    if kind == "hinge":
        return Pose(rotation=rotation_from_axis_angle(axis, -ref))
    return Pose(-ref * axis) if kind == "slide" else Pose()


def _closures(m: Any, left_out: LeftOut) -> Iterator[Closure]:
    """Yield the equality constraints that a closure states exactly; others are noted."""
    for k in range(m.neq):
        kind, data = constant("mjtEq", m.eq_type[k]), m.eq_data[k]
        if not m.eq_active0[k]:
            left_out.add("equality constraints that are not active", _equality_name(m, k))
        elif kind == "joint" and not data[2:5].any():
            yield _gear(m, int(m.eq_obj1id[k]), int(m.eq_obj2id[k]), data)
        elif kind in ("connect", "weld"):
            yield from _joined(m, k, kind == "weld")
        else:
            left_out.add("equality constraints", _equality_name(m, k))


def _equality_name(m: Any, k: int) -> str:
    return m.equality(k).name or f"equality {k}"


def _gear(m: Any, joint: int, other: int, data: Array) -> Gear:
    """Return theta_1 - ref_1 = c_0 + c_1 (theta_2 - ref_2)."""
    ratios, offset = {m.joint(joint).name: 1.0}, data[0] + m.qpos0[m.jnt_qposadr[joint]]
    if other >= 0:
        ratios[m.joint(other).name] = -data[1]
        offset -= data[1] * m.qpos0[m.jnt_qposadr[other]]
    return Gear(ratios, offset=offset)


def _joined(m: Any, k: int, weld: bool) -> Iterator[Closure]:
    """Yield connect as a ball, weld as a weld, between two bodies or two sites; none within a rigid body.

    Anchors of a connect are data[0:3] on the first body and data[3:6] on the second; of a weld it is the
    other way round, and data[6:10] is the second body's quaternion in the first.
    """
    ends, data = (int(m.eq_obj1id[k]), int(m.eq_obj2id[k])), m.eq_data[k]
    if constant("mjtObj", m.eq_objtype[k]) == "site":
        places = [(m.site_pos[site], _rotation(m.site_quat[site])) for site in ends]
        bodies = [int(m.site_bodyid[site]) for site in ends]
    else:
        anchors = (data[3:6], data[:3]) if weld else (data[:3], data[3:6])
        places = [(anchors[0], _rotation(data[6:10]) if weld else np.eye(3)), (anchors[1], np.eye(3))]
        bodies = list(ends)
    if m.body_weldid[bodies[0]] != m.body_weldid[bodies[1]]:
        a, b = (Node(_body_name(m, body), *place) for body, place in zip(bodies, places, strict=True))
        yield Weld(a, b) if weld else Ball(a, b)


def _geometry(m: Any, body: int, visual: bool, left_out: LeftOut) -> Iterator[Geometry]:
    """Yield the geoms of a body in the body's frame; those without a shape here are noted."""
    start = int(m.body_geomadr[body])
    for geom in range(start, start + int(m.body_geomnum[body])):
        if not (visual or m.geom_contype[geom] or m.geom_conaffinity[geom]):
            continue
        name = m.geom(geom).name
        shape, pose = _shape(m, geom), _pose(m.geom_pos[geom], m.geom_quat[geom])
        if shape is None:
            left_out.add("shapes of geoms", name or f"geom {geom} of {_body_name(m, body)}")
            continue
        if isinstance(shape, Mesh):  # MuJoCo turns meshes to principal axes; the file's frame is wanted
            mesh = m.geom_dataid[geom]
            pose = pose @ _pose(m.mesh_pos[mesh], m.mesh_quat[mesh]).inverse()
        yield Geometry(shape, pose, name)


def _shape(m: Any, geom: int) -> Shape | None:
    """Return the shape of a geom; MuJoCo's sizes are half lengths."""
    a, b, c = (float(size) for size in m.geom_size[geom])
    kind = constant("mjtGeom", m.geom_type[geom])
    if kind == "mesh":
        return _mesh(m, m.geom_dataid[geom])
    if kind in ("capsule", "cylinder"):
        return (Capsule if kind == "capsule" else Cylinder)(a, 2.0 * b)
    if kind == "box":
        return Box((2.0 * a, 2.0 * b, 2.0 * c))
    if kind == "ellipsoid":
        return Ellipsoid((a, b, c))
    if kind == "sphere":
        return Sphere(a)
    return Plane() if kind == "plane" else None


def _mesh(m: Any, mesh: int) -> Mesh | None:
    """Return the file of a mesh, None if its vertices are written in the MJCF itself."""
    start = int(m.mesh_pathadr[mesh])
    if start < 0:
        return None
    path = m.paths[start:].split(b"\0", 1)[0].decode()
    return Mesh(str(Path(path).resolve()), m.mesh_scale[mesh])


def _moved(geometry: Geometry, pose: Pose) -> Geometry:
    return Geometry(geometry.shape, pose @ geometry.pose, geometry.name)


def _pose(position: Array, quaternion: Array) -> Pose:
    return Pose(position, _rotation(quaternion))


def _rotation(quaternion: Array) -> Array:
    return rotation_from_quaternion(quaternion[XYZW])
