"""Dense operators against finite differences, Lagrange's equations, closed forms and Pinocchio."""

from functools import partial

import numpy as np
import pytest
from trees import KINDS, random_link, random_motion, random_nodes, random_tree

from mcpframe.multibody import Hinge, Link, Model, Node
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.spatial.transforms import phi, rotation_vector_from_rotation

EXACT = 1e-11
"""Relative rounding of products and inverses of well-conditioned matrices of a dozen links."""
STEP = 2e-4
DIFFERENCE = 1e-9
"""Relative error of derivatives from four points STEP apart: STEP⁴ of truncation, 1e-16 / STEP of rounding,
with room for the fast motions of light links, whose fifth derivatives are large."""
COORDINATE_KINDS = ("pin", "prismatic", "cylindrical", "universal", "planar", "locked")
"""Hinges whose rates are the derivatives of their coordinates."""
SEEDS = range(6)


def close(a, b, tolerance=EXACT):
    return np.allclose(a, b, rtol=0.0, atol=tolerance * (1.0 + np.abs(b).max(initial=0.0)))


def random_operators(seed, **options):
    rng = np.random.default_rng(seed)
    options = {"n": 10, "extra_roots": 0.15, "armature": 0.3} | options
    model = random_tree(rng, **options)
    return DenseOperators(model, *random_motion(rng, model)), random_nodes(rng, model, 5)


def at(operators, time, theta_ddot=0.0):
    """Operators a short time later under constant acceleration; coordinates exact to second order in time."""
    model, theta_dot = operators.model, operators.theta_dot
    theta = model.integrate(operators.theta, theta_dot + 0.5 * time * theta_ddot, time)
    return DenseOperators(model, theta, theta_dot + time * theta_ddot)


def derivative(f):
    """Derivative of f at 0; cubic terms of f, where `at` is not exact, drop out."""
    return (8.0 * (f(STEP) - f(-STEP)) - (f(2.0 * STEP) - f(-2.0 * STEP))) / (12.0 * STEP)


# The identities of J14, section 10


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_four_forms_of_the_mass_matrix_agree(seed, armature):
    o, _ = random_operators(seed, armature=armature)
    mass, identity = o.mass_matrix(), np.eye(o.model.n_dofs)
    assert close(mass, mass.T)
    assert close(o.innovations_mass_matrix(), mass)
    assert close(o.innovations_factor_inverse @ o.innovations_factor, identity)
    assert close(o.inverse_mass_matrix() @ mass, identity)
    assert np.linalg.eigvalsh(mass)[0] > 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_phi_and_psi_are_resolvents_of_their_steps(seed):
    """φ⁻¹ = I - E_φ, ψ⁻¹ = φ⁻¹ + K H, and (I - H ψ K) H φ = H ψ [J14, Eq. (63)]."""
    o, _ = random_operators(seed)
    identity = np.eye(6 * o.model.n_links)
    assert close(np.linalg.inv(o.psi), np.linalg.inv(o.phi) + o.K @ o.H)
    assert close(o.K, (identity - np.linalg.inv(o.phi)) @ o.G)
    assert close(o.innovations_factor_inverse @ o.H @ o.phi, o.H @ o.psi)


def test_phi_joins_ancestors_by_the_vector_between_origins():
    o, _ = random_operators(3)
    x, parents = o.motion.position, o.model.parents
    for j in range(o.model.n_links):
        line = [j]
        while parents[line[-1]] >= 0:
            line.append(parents[line[-1]])
        for i in range(o.model.n_links):
            block = o.phi[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
            assert close(block, phi(x[j] - x[i]) if i in line else np.zeros((6, 6)))


@pytest.mark.parametrize("seed", SEEDS)
def test_articulated_quantities_satisfy_their_definitions(seed):
    o, _ = random_operators(seed)
    tau_bar = np.eye(len(o.P)) - o.G @ o.H
    E_phi = np.eye(len(o.P)) - np.linalg.inv(o.phi)
    assert close(o.P, o.M + E_phi @ tau_bar @ o.P @ E_phi.T)
    assert close(o.D, o.H @ o.P @ o.H.T + np.diag(o.armature))
    assert close(o.G @ o.D, o.P @ o.H.T)


@pytest.mark.parametrize("seed", SEEDS)
def test_extended_compliance_by_blocks_is_the_operator_product(seed):
    """Eq. (67) and (69) against Eq. (64)."""
    o, _ = random_operators(seed)
    product = o.psi.T @ o.H.T @ np.linalg.inv(o.D) @ o.H @ o.psi
    assert close(o.Omega, product)
    diagonal = [product[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] for k in range(o.model.n_links)]
    assert close(o.Upsilon, diagonal)


@pytest.mark.parametrize("seed", SEEDS)
def test_compliance_is_jacobian_inverse_mass_jacobian(seed):
    o, nodes = random_operators(seed)
    nodes = [*nodes, nodes[0], "world", "link0"]
    J = o.jacobian(nodes)
    assert close(o.compliance(nodes), J @ np.linalg.solve(o.mass_matrix(), J.T))
    assert close(o.compliance(["world"]), np.zeros((6, 6)))


def test_compliance_of_a_free_body_is_its_inverse_inertia_moved_to_the_node(rng):
    model = Model([random_link(rng, "body", "world", "free")])
    o = DenseOperators(model, *random_motion(rng, model))
    node = Node("body", (0.3, -0.2, 0.5))
    move = phi(o.motion.rotation[0] @ node.position)
    assert close(o.compliance([node]), move.T @ np.linalg.inv(o.M) @ move)


def test_an_empty_model_has_empty_operators():
    o = DenseOperators(Model())
    assert o.mass_matrix().shape == o.Omega.shape == o.compliance([]).shape == (0, 0)
    assert o.free_acceleration().shape == (0,)
    assert o.kinetic_energy() == o.potential_energy() == 0.0
    assert close(o.momentum(), np.zeros(6))


# Kinematics


def carried(kind, carrier, seed=1):
    """A hinge of some kind on a moving parent, carrying a pin; nodes on all three links."""
    rng = np.random.default_rng(seed)
    links = [random_link(rng, "a", "world", carrier), random_link(rng, "b", "a", kind)]
    model = Model([*links, random_link(rng, "c", "b", "pin")])
    nodes = [Node(name, rng.uniform(-1.0, 1.0, 3)) for name in "abc"]
    return DenseOperators(model, *random_motion(rng, model)), nodes


@pytest.mark.parametrize("carrier", ["pin", "prismatic", "free"])
@pytest.mark.parametrize("kind", KINDS)
def test_velocities_are_the_derivatives_of_poses(kind, carrier):
    o, _ = carried(kind, carrier)
    R, x = o.link_poses()

    def displacement(time):
        R_later, x_later = at(o, time).link_poses()
        turns = [
            rotation_vector_from_rotation(after @ before.T) for before, after in zip(R, R_later, strict=True)
        ]
        return np.hstack([turns, x_later - x])

    assert close(o.link_velocities(), derivative(displacement), DIFFERENCE)


@pytest.mark.parametrize("carrier", ["pin", "prismatic", "free"])
@pytest.mark.parametrize("kind", KINDS)
def test_bias_accelerations_are_the_derivatives_of_velocities_at_constant_rates(kind, carrier):
    o, nodes = carried(kind, carrier)
    assert close(o.link_bias(), derivative(lambda time: at(o, time).link_velocities()), DIFFERENCE)
    difference = derivative(lambda time: at(o, time).node_velocities(nodes))
    assert close(o.node_bias(nodes), difference, DIFFERENCE)


@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_and_hinge_columns_give_the_velocities(kind):
    o, nodes = carried(kind, "free")
    assert close(o.jacobian(nodes) @ o.theta_dot, o.node_velocities(nodes).reshape(-1))
    assert close((o.phi.T @ o.H.T @ o.theta_dot).reshape(-1, 6), o.link_velocities())
    columns = o.hinge_columns()
    first = o.model.dof_start[1]
    assert close(columns[first : o.model.dof_start[2]].T, o.motion.columns[1])


@pytest.mark.parametrize("kind", ["cylindrical", "universal", "planar"])
def test_a_hinge_with_several_axes_is_the_chain_of_its_elementary_hinges(kind, rng):
    """Poses, and the mass matrix of the link on massless links that turn or slide before it."""
    link = random_link(rng, "whole", "world", kind)
    chain, parent, pose = Model(gravity=(1.0, 2.0, 3.0)), "world", link.pose
    pieces = link.hinge.elementary()
    for i, (piece, axis) in enumerate(pieces[:-1]):
        chain.add_link(f"part{i}", parent, Hinge(piece, axis), pose)
        parent, pose = f"part{i}", None
    last = Hinge(*pieces[-1])
    chain.add_link("whole", parent, last, pose, mass=link.mass, com=link.com, inertia=link.inertia)
    theta, theta_dot = rng.standard_normal((2, len(pieces)))
    one = DenseOperators(Model([link], gravity=(1.0, 2.0, 3.0)), theta, theta_dot)
    many = DenseOperators(chain, theta, theta_dot)
    assert close(many.motion.position[-1], one.motion.position[0])
    assert close(many.motion.rotation[-1], one.motion.rotation[0])
    assert close(many.mass_matrix(), one.mass_matrix())
    assert close(many.bias_force(), one.bias_force())


# Dynamics


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_the_hinge_forces_is_the_rate_of_energy(seed):
    """d(kinetic + potential)/dt = θ̇ · τ for every kind of hinge, with rotors."""
    o, _ = random_operators(seed)
    theta_ddot = np.random.default_rng(seed).standard_normal(o.model.n_dofs)
    power = o.theta_dot @ o.inverse_dynamics(theta_ddot)

    def energy(time):
        later = at(o, time, theta_ddot)
        return later.kinetic_energy() + later.potential_energy()

    assert close(derivative(energy), power, DIFFERENCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_force_satisfies_the_equations_of_lagrange(seed):
    """C = dMass/dt θ̇ - ∂/∂θ (½ θ̇* Mass θ̇ - potential), by differences, where rates are θ's derivatives."""
    o, _ = random_operators(seed, n=6, kinds=COORDINATE_KINDS)
    theta_dot, unit = o.theta_dot, np.eye(o.model.n_dofs)

    def lagrangian(direction, step):
        moved = DenseOperators(o.model, o.theta + step * direction, theta_dot)
        return moved.kinetic_energy() - moved.potential_energy()

    mass_rate = derivative(lambda time: at(o, time).mass_matrix())
    slope = [derivative(partial(lagrangian, direction)) for direction in unit]
    assert close(o.bias_force(), mass_rate @ theta_dot - slope, DIFFERENCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_of_momentum_are_the_applied_forces(seed):
    """Internal hinge forces leave the momentum of a floating tree without gravity, a wrench adds to it."""
    rng = np.random.default_rng(seed)
    links = [random_link(rng, "link0", "world", "free")]
    links += [
        random_link(rng, f"link{k}", f"link{rng.integers(k)}", str(rng.choice(KINDS))) for k in range(1, 8)
    ]
    model = Model(links, gravity=(0.0, 0.0, 0.0))
    o = DenseOperators(model, *random_motion(rng, model))
    tau = np.concatenate([np.zeros(6), rng.standard_normal(model.n_dofs - 6)])
    node, wrench = Node("link5", (0.1, 0.2, 0.3)), rng.standard_normal(6)
    theta_ddot = o.free_acceleration(tau, {node: wrench})
    rate = derivative(lambda time: at(o, time, theta_ddot).momentum())
    k = model.link_index(node.body)
    point = o.motion.position[k] + o.motion.rotation[k] @ node.position
    assert close(rate, phi(point) @ wrench, DIFFERENCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_free_acceleration_inverts_inverse_dynamics(seed):
    o, nodes = random_operators(seed)
    rng = np.random.default_rng(seed)
    theta_ddot, wrench = rng.standard_normal(o.model.n_dofs), rng.standard_normal(6)
    tau = o.inverse_dynamics(theta_ddot)
    assert close(o.free_acceleration(tau), theta_ddot)
    assert close(o.free_acceleration(tau - o.jacobian([nodes[0]]).T @ wrench, {nodes[0]: wrench}), theta_ddot)
    assert close(o.free_acceleration(), np.linalg.solve(o.mass_matrix(), -o.bias_force()))


def test_kinetic_energy_is_half_the_square_in_the_mass_matrix():
    o, _ = random_operators(0)
    assert o.kinetic_energy() == pytest.approx(0.5 * o.theta_dot @ o.mass_matrix() @ o.theta_dot, rel=EXACT)


def test_a_point_pendulum_obeys_its_textbook_equation():
    """θ̈ = - (g / l) sin θ, whatever its mass."""
    length, g, angle, rate = 0.7, 9.81, 0.4, 1.3
    model = Model(
        [Link("bob", hinge=Hinge("pin", (0, 1, 0)), mass=2.0, com=(0, 0, -length))], gravity=(0, 0, -g)
    )
    o = DenseOperators(model, [angle], [rate])
    assert o.free_acceleration()[0] == pytest.approx(-g / length * np.sin(angle), rel=EXACT)
    assert o.kinetic_energy() == pytest.approx(0.5 * 2.0 * (length * rate) ** 2, rel=EXACT)
    assert o.potential_energy() == pytest.approx(-2.0 * g * length * np.cos(angle), rel=EXACT)


# Another library


def pinocchio_model(pin, model):
    """The same tree in Pinocchio: same order, same coordinates for pin, prismatic, ball and free hinges."""
    twin = pin.Model()
    twin.gravity.linear = model.gravity
    joints = {"world": 0}
    for link in model.links:
        axis = np.array(link.hinge.axis)
        joint = {
            "pin": lambda axis=axis: pin.JointModelRevoluteUnaligned(axis),
            "prismatic": lambda axis=axis: pin.JointModelPrismaticUnaligned(axis),
            "ball": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[link.hinge.kind]()
        pose = pin.SE3(link.pose.rotation, link.pose.position)
        joints[link.name] = twin.addJoint(joints[link.parent], joint, pose, link.name)
        inertia = pin.Inertia(link.mass, link.com, link.inertia)
        twin.appendBodyToJoint(joints[link.name], inertia, pin.SE3.Identity())
    twin.armature = model.armature.copy()
    return twin


@pytest.mark.parametrize("seed", range(12))
def test_dense_operators_agree_with_pinocchio(seed):
    pin = pytest.importorskip("pinocchio")
    o, nodes = random_operators(seed, n=12, kinds=("pin", "prismatic", "ball", "free"))
    model, theta, theta_dot = o.model, o.theta, o.theta_dot
    twin = pinocchio_model(pin, model)
    data = twin.createData()
    tau = np.random.default_rng(seed).standard_normal(model.n_dofs)
    mass = pin.crba(twin, data, theta)
    assert close(o.mass_matrix(), np.triu(mass) + np.triu(mass, 1).T)
    assert close(o.bias_force(), pin.nonLinearEffects(twin, data, theta, theta_dot))
    assert close(o.free_acceleration(tau), pin.aba(twin, data, theta, theta_dot, tau))
    linear_first = [3, 4, 5, 0, 1, 2]
    pin.forwardKinematics(twin, data, theta, theta_dot, np.zeros(model.n_dofs))
    J = o.jacobian(nodes).reshape(-1, 6, model.n_dofs)
    for c, node in enumerate(nodes):
        joint = twin.getJointId(node.body)
        frame = twin.addFrame(
            pin.Frame(f"node{c}", joint, 0, pin.SE3(np.eye(3), node.position), pin.FrameType.OP_FRAME)
        )
        data = twin.createData()
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        assert close(J[c], pin.computeFrameJacobian(twin, data, theta, frame, world)[linear_first])
        pin.forwardKinematics(twin, data, theta, theta_dot, np.zeros(model.n_dofs))
        acceleration = pin.getFrameClassicalAcceleration(twin, data, frame, world).vector
        assert close(o.node_bias([node])[0], acceleration[linear_first])
        velocity = pin.getFrameVelocity(twin, data, frame, world).vector
        assert close(o.node_velocities([node])[0], velocity[linear_first])


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum_agree_with_pinocchio(seed):
    pin = pytest.importorskip("pinocchio")
    o, _ = random_operators(seed, kinds=("pin", "prismatic", "ball", "free"), armature=0.0)
    twin = pinocchio_model(pin, o.model)
    data = twin.createData()
    assert o.kinetic_energy() == pytest.approx(
        pin.computeKineticEnergy(twin, data, o.theta, o.theta_dot), rel=EXACT
    )
    potential = pin.computePotentialEnergy(twin, data, o.theta)
    assert o.potential_energy() == pytest.approx(potential, rel=EXACT, abs=EXACT)
    centroidal = pin.computeCentroidalMomentum(twin, data, o.theta, o.theta_dot)
    linear, angular = centroidal.linear, centroidal.angular
    assert close(o.momentum(), [*(angular + np.cross(data.com[0], linear)), *linear])
