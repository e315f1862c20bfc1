"""Robots of the example-robot-data package and long chains: our dynamics against Pinocchio's.

Both readers give the same coordinates for the same file, so q and v are handed to both as they are.
Pinocchio's spatial vectors are [linear; angular], ours [angular; linear].
"""

import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

from mcpframe.exceptions import FileFormatError, ModelError, ModelWarning
from mcpframe.io.urdf import load_urdf
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.multibody.state import State

pin = pytest.importorskip("pinocchio")
pytest.importorskip("yourdfpy")

ROBOT_TOLERANCE = 1e-10
"""Relative to the largest entry; what the project promises for robots."""
CHAIN_TOLERANCE = 1e-8
"""Relative to the largest entry; rounding grows with the length of a chain."""


def robot_files():
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return {}
    files = [Path(package.locate_file(file)) for file in package.files or () if file.suffix == ".urdf"]
    return {f"{file.parts[-3]}/{file.name}": file for file in sorted(files)}


ROBOTS = robot_files()
NAMED = {
    "panda_description/panda.urdf": (False, True),
    "ur_description/ur5_robot.urdf": (False,),
    "kinova_description/kinova.urdf": (False,),
    "allegro_hand_description/allegro_right_hand.urdf": (False, True),
    "go2_description/go2.urdf": (False, True),
    "anymal_c_simple_description/anymal.urdf": (False, True),
    "talos_data/talos_full_v2.urdf": (False, True),
    "g1_description/g1_29dof_with_hand_rev_1_0.urdf": (False, True),
    "tiago_description/tiago_no_hand.urdf": (False, True),
}
"""Arms, one with continuous joints, a hand, quadrupeds, humanoids, a mobile manipulator: on a fixed base
(False) and a floating one (True)."""
CASES = [(name, floating) for name, bases in NAMED.items() for floating in bases]
NO_LINKS = "ur_description/ur3.urdf"
MASSLESS_LEAVES = ("romeo_description/romeo.urdf", "romeo_description/romeo_laas_small.urdf")
ARMATURE = 1e-3
SINGULAR_NECK = "icub_description/icub.urdf"
SINGULAR_TOLERANCE = 1e-9
"""iCub's head is a point near the last axis of its neck: the condition number of its mass matrix passes 1e8,
and Pinocchio's own two ways to the inverse differ by 1e-9."""

needs_robots = pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")


@cache
def read(file, floating=False, armature=0.0):
    """The robot here and in Pinocchio; what each file leaves out is not the matter of this test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        ours = load_urdf(file, floating_base=floating, armature=armature)
    base = (pin.JointModelFreeFlyer(),) if floating else ()
    theirs = pin.buildModelFromUrdf(str(file), *base)
    rotors = np.full(theirs.nv, armature)
    rotors[: 6 * floating] = 0.0
    theirs.armature = rotors
    return ours, theirs


def pinocchio_q(theirs, theta):
    """theta with (cos, sin) in place of the angle of every continuous joint."""
    q, start = [], 0
    for joint in list(theirs.joints)[1:]:
        if (joint.nq, joint.nv) == (2, 1):
            q += [np.cos(theta[start]), np.sin(theta[start])]
        else:
            q += list(theta[start : start + joint.nq])
        start += joint.nv if (joint.nq, joint.nv) == (2, 1) else joint.nq
    return np.array(q)


def close(ours, theirs, tolerance):
    scale = np.abs(theirs).max(initial=0.0)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * scale)


class Peer:
    """Pinocchio at a configuration, with frames at our nodes."""

    def __init__(self, theirs, theta, theta_dot, nodes):
        self.model, self.v = theirs, theta_dot
        self.frames = [self._frame(node, k) for k, node in enumerate(nodes)]
        self.data = theirs.createData()
        self.q = pinocchio_q(theirs, theta)

    def _frame(self, node, k):
        name = "world" if node.body == "world_link" else node.body
        body = self.model.frames[self.model.getFrameId(name, pin.FrameType.BODY)]
        place = body.placement * pin.SE3(np.asarray(node.rotation), np.asarray(node.position))
        return self.model.addFrame(pin.Frame(f"node {k}", body.parentJoint, place, pin.FrameType.OP_FRAME))

    def mass_matrix(self):
        upper = np.triu(pin.crba(self.model, self.data, self.q))
        return upper + np.triu(upper, 1).T

    def bias_force(self):
        return pin.nonLinearEffects(self.model, self.data, self.q, self.v)

    def free_acceleration(self, tau):
        return pin.aba(self.model, self.data, self.q, self.v, tau)

    def inverse_mass_matrix(self):
        upper = np.triu(pin.computeMinverse(self.model, self.data, self.q))
        return upper + np.triu(upper, 1).T

    def jacobian(self):
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        blocks = [pin.getFrameJacobian(self.model, self.data, frame, aligned) for frame in self.frames]
        return np.vstack([np.roll(block.reshape(6, -1), 3, axis=0) for block in blocks])

    def node_bias(self):
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.forwardKinematics(self.model, self.data, self.q, self.v, np.zeros(self.model.nv))
        accelerations = [
            pin.getFrameClassicalAcceleration(self.model, self.data, frame, aligned) for frame in self.frames
        ]
        return np.array([[*a.angular, *a.linear] for a in accelerations])


def nodes_on(ours, rng, count=4):
    """Nodes on links all over the tree, merged ones too, away from their origins; none on the world."""
    names = [link.name for link in ours.links]
    names += [name for name, (link, _) in ours.frames.items() if link >= 0]
    chosen = rng.choice(len(names), size=min(count, len(names)), replace=False)
    return [Node(names[k], rng.uniform(-0.3, 0.3, 3)) for k in chosen]


def assert_same_dynamics(make, ours, theirs, nodes, rng, tolerance, solve_tolerance=None):
    """Compare at a random state; the last tolerance is for what needs the inverse of the mass matrix."""
    theta, theta_dot = ours.random_theta(rng), rng.standard_normal(ours.n_dofs)
    tau = rng.standard_normal(ours.n_dofs)
    state, peer = make(ours, theta, theta_dot), Peer(theirs.copy(), theta, theta_dot, nodes)
    J = peer.jacobian()
    close(state.mass_matrix(), peer.mass_matrix(), tolerance)
    close(state.bias_force(), peer.bias_force(), tolerance)
    close(state.jacobian(nodes), J, tolerance)
    close(state.node_bias(nodes), peer.node_bias(), tolerance)
    close(state.node_velocities(nodes).ravel(), J @ theta_dot, tolerance)
    close(state.free_acceleration(tau), peer.free_acceleration(tau), solve_tolerance or tolerance)
    close(state.compliance(nodes), J @ peer.inverse_mass_matrix() @ J.T, solve_tolerance or tolerance)


@needs_robots
@pytest.mark.parametrize("make", [State, DenseOperators], ids=["recursive", "dense"])
@pytest.mark.parametrize(("name", "floating"), CASES)
def test_a_robot_moves_as_pinocchios(name, floating, make, rng):
    ours, theirs = read(ROBOTS[name], floating)
    assert ours.n_dofs == theirs.nv
    for _ in range(3):
        assert_same_dynamics(make, ours, theirs, nodes_on(ours, rng), rng, ROBOT_TOLERANCE)


@needs_robots
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", [name for name in ROBOTS if name != NO_LINKS])
def test_every_robot_of_the_package_moves_as_pinocchios(name, floating, rng):
    ours, theirs = read(ROBOTS[name], floating, ARMATURE if name in MASSLESS_LEAVES else 0.0)
    assert ours.n_dofs == theirs.nv
    if ours.n_dofs:
        solve = SINGULAR_TOLERANCE if name == SINGULAR_NECK else None
        assert_same_dynamics(State, ours, theirs, nodes_on(ours, rng), rng, ROBOT_TOLERANCE, solve)


@needs_robots
def test_the_one_file_without_a_robot_in_it_is_refused():
    with pytest.raises(FileFormatError, match="has no link"):
        load_urdf(ROBOTS[NO_LINKS])


@needs_robots
@pytest.mark.parametrize("name", MASSLESS_LEAVES)
def test_robots_whose_fingers_have_no_mass_are_refused_with_the_remedy(name):
    with pytest.raises(ModelError, match="armature"):
        load_urdf(ROBOTS[name])


@needs_robots
@pytest.mark.parametrize("name", NAMED)
def test_limits_are_pinocchios(name):
    ours, theirs = read(ROBOTS[name])
    one_number = [joint.idx_q for joint in list(theirs.joints)[1:] if joint.nq == 1]
    limited = np.isfinite(ours.lower) | np.isfinite(ours.upper)
    np.testing.assert_array_equal(ours.lower[limited], theirs.lowerPositionLimit[one_number])
    np.testing.assert_array_equal(ours.upper[limited], theirs.upperPositionLimit[one_number])


# joints that robots of the package do not have

PLANAR_AND_FLOATING = """<robot name="r"><link name="base"/>{links}
<joint name="a" type="planar"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="a"/>
  <axis xyz="0 0 1"/></joint>
<joint name="b" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 1"/>{limit}</joint>
<joint name="c" type="floating"><origin xyz="0 1 0" rpy="1 0 0"/><parent link="b"/><child link="c"/></joint>
<joint name="d" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="1 2 2"/>{limit}</joint>
</robot>"""


def test_planar_and_floating_joints_within_a_tree_move_as_pinocchios(tmp_path, rng):
    """Rates of a planar joint are in the hinge frame here, in the link's axes in Pinocchio."""
    file = tmp_path / "robot.urdf"
    links = "".join(chain_link(name, 0.5, rng) for name in "abcd")
    limit = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
    file.write_text(PLANAR_AND_FLOATING.format(links=links, limit=limit))
    ours, theirs = read(file)
    theta, theta_dot = ours.random_theta(rng), rng.standard_normal(ours.n_dofs)
    x, y, angle = theta[:3]
    c, s = np.cos(angle), np.sin(angle)
    q, T, T_dot = np.array([x, y, c, s, *theta[3:]]), np.eye(ours.n_dofs), np.zeros_like(theta_dot)
    T[:2, :2] = [[c, s], [-s, c]]  # v = T theta_dot
    T_dot[:2] = theta_dot[2] * np.array([[-s, c], [-c, -s]]) @ theta_dot[:2]
    data, state = theirs.createData(), ours.state(theta, theta_dot)
    upper = np.triu(pin.crba(theirs, data, q))
    mass = upper + np.triu(upper, 1).T
    close(state.mass_matrix(), T.T @ mass @ T, ROBOT_TOLERANCE)
    bias = pin.nonLinearEffects(theirs, data, q, T @ theta_dot)
    close(state.bias_force(), T.T @ (mass @ T_dot + bias), ROBOT_TOLERANCE)


# chains

CHAIN_LENGTH = 12.0
"""Metres overall, as the pendulum of the papers."""


def chain(n, rng):
    """A URDF of n links on pins about random axes, 12 m overall, each of 1 kg."""
    step = CHAIN_LENGTH / n
    text = [f"<robot name='chain'>{chain_link('base', step, rng)}"]
    for k in range(n):
        parent = f"link{k - 1:04d}" if k else "base"
        text.append(
            f"{chain_link(f'link{k:04d}', step, rng)}<joint name='joint{k:04d}' type='revolute'>"
            f"<origin xyz='{step} 0 0'/><parent link='{parent}'/><child link='link{k:04d}'/>"
            f"<axis xyz='{' '.join(map(str, rng.standard_normal(3)))}'/>"
            "<limit lower='-0.5' upper='0.5' effort='1' velocity='1'/></joint>"
        )
    return "".join([*text, "</robot>"])


def chain_link(name, step, rng):
    x, y, z = rng.uniform(0.3, 1.0, 3) * step**2
    inertia = f"ixx='{y + z}' iyy='{x + z}' izz='{x + y}' ixy='0' ixz='0' iyz='0'"
    inertial = f"<origin xyz='{step / 2} 0 0'/><mass value='1'/><inertia {inertia}/>"
    return f"<link name='{name}'><inertial>{inertial}</inertial></link>"


def chain_nodes(n):
    return [Node(f"link{k:04d}", (0.1, -0.2, 0.3)) for k in sorted({0, n // 3, n // 2, n - 1})]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("n", [1, 10, 100])
def test_a_chain_moves_as_pinocchios(tmp_path, n, floating, rng):
    """Up to 100 links: Pinocchio keeps tensors of n³ numbers, 64 GB of them for 1000 links."""
    file = tmp_path / "chain.urdf"
    file.write_text(chain(n, rng))
    ours, theirs = read(file, floating)
    assert_same_dynamics(State, ours, theirs, chain_nodes(n), rng, CHAIN_TOLERANCE)


@pytest.mark.parametrize("n", [100, 1000])
def test_a_long_chain_moves_as_drakes(tmp_path, n, rng):
    """Drake's articulated-body recursion agrees with Pinocchio's to 1e-14; MuJoCo's factorised mass matrix,
    with a condition number of 1e10, is off by 5e-8 at 1000 links."""
    pytest.importorskip("pydrake.multibody.plant")
    file = tmp_path / "chain.urdf"
    file.write_text(chain(n, rng))
    ours = load_urdf(file)
    theta, theta_dot, tau = ours.random_theta(rng), rng.standard_normal(n), rng.standard_normal(n)
    state, peer, nodes = ours.state(theta, theta_dot), Drake(file, theta, theta_dot), chain_nodes(n)
    J, bias = peer.jacobian(nodes)
    close(state.mass_matrix(), peer.plant.CalcMassMatrix(peer.context), CHAIN_TOLERANCE)
    close(state.bias_force(), peer.bias_force(), CHAIN_TOLERANCE)
    close(state.free_acceleration(tau), peer.acceleration(tau), CHAIN_TOLERANCE)
    close(state.jacobian(nodes), J, CHAIN_TOLERANCE)
    close(state.node_bias(nodes), bias, CHAIN_TOLERANCE)
    at_rest = Drake(file, theta, np.zeros(n), gravity=0.0)
    close(state.compliance(nodes), J @ np.array([at_rest.acceleration(row) for row in J]).T, CHAIN_TOLERANCE)


class Drake:
    """Drake's plant for a chain on a fixed base."""

    def __init__(self, file, theta, theta_dot, gravity=9.81):
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant

        self.plant = MultibodyPlant(time_step=0.0)
        Parser(self.plant).AddModels(str(file))
        self.plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -gravity])
        self.plant.WeldFrames(self.plant.world_frame(), self.plant.GetFrameByName("base"))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.plant.SetPositions(self.context, theta)
        self.plant.SetVelocities(self.context, theta_dot)

    def bias_force(self):
        coriolis = self.plant.CalcBiasTerm(self.context)
        return coriolis - self.plant.CalcGravityGeneralizedForces(self.context)

    def acceleration(self, tau):
        self.plant.get_applied_generalized_force_input_port().FixValue(self.context, tau)
        return self.plant.EvalTimeDerivatives(self.context).get_generalized_velocity().CopyToVector()

    def jacobian(self, nodes):
        """Jacobians of the nodes and their bias accelerations."""
        from pydrake.multibody.tree import JacobianWrtVariable

        world, blocks, biases = self.plant.world_frame(), [], []
        for node in nodes:
            place = (self.plant.GetFrameByName(node.body), node.position, world, world)
            by_rates = (self.context, JacobianWrtVariable.kV, *place)
            blocks.append(self.plant.CalcJacobianSpatialVelocity(*by_rates))
            biases.append(self.plant.CalcBiasSpatialAcceleration(*by_rates).get_coeffs())
        return np.vstack(blocks), np.array(biases)
