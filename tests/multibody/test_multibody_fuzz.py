"""States over random trees: against the dense operators, finite differences, and the laws of mechanics."""

import numpy as np
import pytest
from states import EXACT, assert_close
from test_closures import NODE_KINDS, closed_case, error_of, rate_by_differences, velocity_of
from trees import KINDS, random_link, random_motion, random_nodes, random_tree

from mcpframe.multibody import Link, Model, Node
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.spatial.transforms import Pose, phi, quaternion_product, rotation_from_quaternion

CLOSURE_DIFFERENCE = 1e-8
"""Relative error of central differences 1e-5 s apart: 1e-10 of truncation, 1e-16 / 1e-5 of rounding."""
STEP = 2e-4
DIFFERENCE = 1e-8
"""Relative error of derivatives from four points STEP apart: STEP⁴ of truncation, 1e-16 / STEP of rounding,
times the large higher derivatives of light links."""
SMALL = 1e-9
"""Relative, where links lie a hundred times their size apart: 1e-16 times condition numbers up to 1e7."""
DT, STEPS = 5e-4, 200
DRIFT = 1e-10
"""Relative drift after 0.1 s of a fourth-order method: DT⁴ times the fifth power of some 10 rad/s."""
LONG_CHAIN = 1e-9
"""Relative, for 1000 links: errors of the recursion add up along the chain."""

EDGES = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0)]
TILTS = [(1e-17, 0, 0), (0, 1e-12, 0), (1e-8, 1e-8, 0), (0, 0, 1e-9), (-1e-4, 0, 0)]
AXES = np.array([*EDGES, *(np.add(edge, tilt) for edge in EDGES for tilt in TILTS)])
"""Where a rotation that takes z to the axis could go wrong: at and near z, -z and the plane between."""

FAMILIES = {
    "any": {},
    "rotors": {"armature": 0.3},
    "forest": {"extra_roots": 0.4},
    "chain": {"chain": True},
    "edges": {"axes": AXES, "kinds": ("pin", "prismatic", "cylindrical", "planar", "universal")},
    "turning": {"kinds": ("ball", "free", "universal")},
    "sliding": {"kinds": ("prismatic", "planar", "cylindrical", "locked", "pin")},
    "floating": {"root": "free", "armature": 0.1},
}
SEEDS = range(8)


def fuzzed(family, seed):
    """Return state, operators, nodes and random numbers of one case."""
    rng = np.random.default_rng([seed, *family.encode()])
    model = random_tree(rng, **{"n": int(rng.integers(1, 14)), **FAMILIES[family]})
    theta, theta_dot = random_motion(rng, model)
    state, operators = model.state(theta, theta_dot), DenseOperators(model, theta, theta_dot)
    return state, operators, random_nodes(rng, model, 5), rng


over_all_trees = pytest.mark.parametrize(
    ("family", "seed"),
    [(family, seed) for family in FAMILIES for seed in SEEDS],
    ids=lambda value: str(value),
)


# Against the dense operators


@over_all_trees
def test_kinematics_are_those_of_the_dense_operators(family, seed):
    state, operators, nodes, _ = fuzzed(family, seed)
    for found, expected in zip(state.link_poses(), operators.link_poses(), strict=True):
        assert_close(found, expected)
    for quantity in ("link_velocities", "link_bias", "hinge_columns"):
        assert_close(getattr(state, quantity)(), getattr(operators, quantity)())
    for quantity in ("node_velocities", "node_bias", "jacobian"):
        assert_close(getattr(state, quantity)(nodes), getattr(operators, quantity)(nodes))


@over_all_trees
def test_dynamics_are_those_of_the_dense_operators(family, seed):
    state, operators, nodes, rng = fuzzed(family, seed)
    x, wrenches = rng.standard_normal(state.model.n_dofs), rng.standard_normal((state.model.n_links, 6))
    at_nodes = dict(zip(nodes, rng.standard_normal((5, 6)), strict=True))
    assert_close(state.mass_matrix(), operators.mass_matrix())
    assert_close(state.bias_force(), operators.bias_force())
    assert_close(state.inverse_dynamics(x), operators.inverse_dynamics(x))
    assert_close(state.apply_wrenches(wrenches), operators.apply_wrenches(wrenches))
    assert_close(state.solve_mass(x), operators.solve_mass(x))
    assert_close(state.respond(x, wrenches), operators.solve_mass(x + operators.apply_wrenches(wrenches)))
    assert_close(state.free_acceleration(x), operators.free_acceleration(x))
    assert_close(state.free_acceleration(x, at_nodes), operators.free_acceleration(x, at_nodes))


@over_all_trees
def test_compliance_is_that_of_the_dense_operators(family, seed):
    state, operators, nodes, _ = fuzzed(family, seed)
    assert_close(state.compliance(nodes), operators.compliance(nodes))


@over_all_trees
def test_energies_and_momentum_are_those_of_the_dense_operators(family, seed):
    state, operators, _, _ = fuzzed(family, seed)
    assert_close(state.kinetic_energy(), operators.kinetic_energy())
    assert_close(state.potential_energy(), operators.potential_energy())
    assert_close(state.momentum(), operators.momentum())


# Identities


@over_all_trees
def test_free_acceleration_satisfies_inverse_dynamics(family, seed):
    state, _, nodes, rng = fuzzed(family, seed)
    tau, wrench = rng.standard_normal(state.model.n_dofs), rng.standard_normal(6)
    assert_close(state.inverse_dynamics(state.free_acceleration(tau)), tau, 10 * EXACT)
    pushed = state.free_acceleration(tau, {nodes[0]: wrench})
    assert_close(state.inverse_dynamics(pushed), tau + state.jacobian(nodes[:1]).T @ wrench, 10 * EXACT)


@over_all_trees
def test_products_with_the_inverse_mass_matrix_undo_those_with_it(family, seed):
    state, _, _, rng = fuzzed(family, seed)
    x = rng.standard_normal((state.model.n_dofs, 3))
    assert_close(state.solve_mass(state.mass_matrix() @ x), x, 10 * EXACT)


@over_all_trees
def test_energy_grows_by_the_power_of_all_forces(family, seed):
    """dE/dt = τ* θ̇ + Σ f* V over hinge forces and wrenches."""
    state, _, nodes, rng = fuzzed(family, seed)
    model, theta, theta_dot = state.model, state.theta, state.theta_dot
    tau, wrench = rng.standard_normal(model.n_dofs), rng.standard_normal(6)
    theta_ddot = state.free_acceleration(tau, {nodes[0]: wrench})
    power = tau @ theta_dot + wrench @ state.node_velocities(nodes[:1])[0]

    def energy(time):
        moved = model.integrate(theta, theta_dot + 0.5 * time * theta_ddot, time)
        state.update(moved, theta_dot + time * theta_ddot)
        return state.kinetic_energy() + state.potential_energy()

    scale = state.kinetic_energy() + abs(state.potential_energy())
    rate = (8.0 * (energy(STEP) - energy(-STEP)) - (energy(2 * STEP) - energy(-2 * STEP))) / (12.0 * STEP)
    assert rate == pytest.approx(power, abs=DIFFERENCE * (1.0 + scale + np.abs(theta_ddot).max(initial=0.0)))


# Sizes


def shrunk(model, size):
    """The same tree with links that are smaller; rails and free links still go a metre."""
    links = [
        Link(
            link.name,
            link.parent,
            link.hinge,
            Pose(size * link.pose.position, link.pose.rotation),
            mass=link.mass,
            com=size * link.com,
            inertia=size**2 * link.inertia,
        )
        for link in model.links
    ]
    return Model(links, gravity=model.gravity)


@pytest.mark.parametrize("seed", range(6))
def test_links_of_a_centimetre_on_rails_of_a_metre_keep_their_digits(seed):
    """Articulated inertias lose what is common to all links on a rail, and with it some digits."""
    rng = np.random.default_rng(seed)
    model = shrunk(random_tree(rng, 40), 0.015)
    theta, theta_dot = random_motion(rng, model)
    state, operators = model.state(theta, theta_dot), DenseOperators(model, theta, theta_dot)
    x, nodes = rng.standard_normal(model.n_dofs), random_nodes(rng, model, 5)
    for inverse in (state, operators):
        assert_close(operators.mass_matrix() @ inverse.solve_mass(x), x, SMALL)
    assert_close(state.compliance(nodes), operators.compliance(nodes), SMALL)


# Loops


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", NODE_KINDS)
def test_rows_of_loops_are_rates_of_their_errors_and_their_bias_the_rate_of_those(kind, seed):
    model, theta, theta_dot, closure = closed_case(np.random.default_rng(seed), kind)
    state = model.state(theta, theta_dot)
    rows = closure.rows(state)
    rate = rate_by_differences(model, theta, theta_dot, error_of(closure))
    bias = rate_by_differences(model, theta, theta_dot, velocity_of(closure))
    assert_close(rows.velocity(state), rate, CLOSURE_DIFFERENCE)
    assert_close(rows.jacobian(state) @ theta_dot, rate, CLOSURE_DIFFERENCE)
    assert_close(rows.bias, bias, CLOSURE_DIFFERENCE)


# Motion: a fourth-order method on the coordinates themselves


def coordinate_rates(model, theta, theta_dot):
    """dθ/dt, with q_dot = q ω / 2 for quaternions and R v for the positions of free links."""
    rates, coordinates = np.zeros(model.n_theta), model.tree.coordinates
    rates[coordinates.plain_theta] = theta_dot[coordinates.plain_dofs]
    for k in (*coordinates.balls, *coordinates.frees):
        end, dof = coordinates.theta_start[k] + model.links[k].hinge.n_theta, coordinates.dof_start[k]
        q = theta[end - 4 : end]
        if k in coordinates.frees:
            rates[end - 7 : end - 4] = rotation_from_quaternion(q) @ theta_dot[dof : dof + 3]
            dof += 3
        rates[end - 4 : end] = 0.5 * quaternion_product(q, np.append(theta_dot[dof : dof + 3], 0.0))
    return rates


def moved_on(state, dt, steps, tau=None):
    """Advance a state by the classical Runge-Kutta method."""
    model, quaternions, n = state.model, state.model.tree.coordinates.quaternions, state.model.n_theta

    def slope(y):
        theta, theta_dot = y[:n].copy(), y[n:]
        theta[quaternions] /= np.linalg.norm(theta[quaternions], axis=1, keepdims=True)
        theta_ddot = state.update(theta, theta_dot).free_acceleration(tau)
        return np.concatenate([coordinate_rates(model, theta, theta_dot), theta_ddot])

    y = np.concatenate([state.theta, state.theta_dot])
    for _ in range(steps):
        k_1 = slope(y)
        k_2 = slope(y + dt / 2 * k_1)
        k_3 = slope(y + dt / 2 * k_2)
        k_4 = slope(y + dt * k_3)
        y = y + dt / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
        y[quaternions] /= np.linalg.norm(y[quaternions], axis=1, keepdims=True)
    return state.update(y[:n], y[n:])


def total_energy(state):
    return state.kinetic_energy() + state.potential_energy()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "locked"])
def test_energy_is_kept_on_every_kind_of_hinge(kind):
    """Two links, the second hung on the first by a pin, swing in gravity."""
    rng = np.random.default_rng(5)
    model = Model([random_link(rng, "a", "world", kind, 0.1), random_link(rng, "b", "a", "pin")])
    state = model.state(*random_motion(rng, model))
    before, start = total_energy(state), state.theta
    after = total_energy(moved_on(state, DT, STEPS))
    assert after == pytest.approx(before, abs=DRIFT * (1.0 + abs(before) + state.kinetic_energy()))
    assert np.abs(state.theta - start).max() > 0.01


@pytest.mark.parametrize("seed", range(4))
def test_energy_is_kept_by_trees_with_all_hinges(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7, root="free", extra_roots=0.1, armature=0.2)
    state = model.state(*random_motion(rng, model))
    before = total_energy(state)
    after = total_energy(moved_on(state, DT, STEPS))
    assert after == pytest.approx(before, abs=DRIFT * (1.0 + abs(before) + state.kinetic_energy()))


@pytest.mark.parametrize("seed", range(4))
def test_momentum_of_a_floating_system_is_kept_whatever_its_hinges_do(seed):
    rng = np.random.default_rng(seed)
    links = [random_link(rng, "link0", "world", "free")]
    links += [
        random_link(rng, f"link{k}", f"link{rng.integers(k)}", str(rng.choice(KINDS))) for k in range(1, 7)
    ]
    model = Model(links, gravity=(0.0, 0.0, 0.0))
    state = model.state(*random_motion(rng, model))
    tau = np.concatenate([np.zeros(6), rng.standard_normal(model.n_dofs - 6)])
    before = state.momentum()
    assert_close(moved_on(state, DT, STEPS, tau).momentum(), before, DRIFT)


def test_a_falling_system_gains_the_momentum_of_its_weight():
    """Linear: m g t; angular about the origin: its centre of mass, a parabola, times m g, integrated."""
    rng = np.random.default_rng(3)
    model = random_tree(rng, 6, root="free")
    state = model.state(*random_motion(rng, model))
    mass, time, g = sum(link.mass for link in model.links), DT * STEPS, model.gravity
    R, x = state.link_poses()
    com = sum(link.mass * (x[k] + R[k] @ link.com) for k, link in enumerate(model.links)) / mass
    before = state.momentum()
    swept = com * time + before[3:] / mass * time**2 / 2 + g * time**3 / 6
    expected = before + np.concatenate([mass * np.cross(swept, g), mass * g * time])
    assert_close(moved_on(state, DT, STEPS).momentum(), expected, DRIFT)


# Long chains, against a recursion in the links' own frames


def articulated_body_accelerations(model, theta, theta_dot, tau):
    """θ̈ of a chain of pins, link by link in its own axes about its own origin; shares nothing with ours."""
    n, up, H, V, c = model.n_links, [], [], [], []
    still = np.zeros(6)
    for k, link in enumerate(model.links):
        axis, angle = np.array(link.hinge.axis), theta[k]
        turn = rotation_from_quaternion(np.append(np.sin(angle / 2) * axis, np.cos(angle / 2)))
        R = (link.pose.rotation @ turn).T  # from the parent's axes to the link's
        to_link = np.kron(np.eye(2), R) @ phi(link.pose.position).T
        column = np.concatenate([axis, np.zeros(3)])
        velocity = to_link @ (V[k - 1] if k else still) + theta_dot[k] * column
        up, H, V = [*up, to_link], [*H, column], [*V, velocity]
        spin = np.concatenate([np.cross(velocity[:3], axis), np.cross(velocity[3:], axis)])
        c = [*c, theta_dot[k] * spin]
    P = [link.spatial_inertia() for link in model.links]
    z = [_force_cross(V[k], P[k] @ V[k]) for k in range(n)]
    D, G, u = [0.0] * n, [still] * n, [0.0] * n
    for k in range(n - 1, -1, -1):
        U = P[k] @ H[k]
        D[k], u[k] = H[k] @ U, tau[k] - H[k] @ z[k]
        G[k] = U / D[k]
        if k:
            P_plus = P[k] - np.outer(G[k], U)
            z_plus = z[k] + P_plus @ c[k] + G[k] * u[k]
            P[k - 1] = P[k - 1] + up[k].T @ P_plus @ up[k]
            z[k - 1] = z[k - 1] + up[k].T @ z_plus
    theta_ddot, a = np.zeros(n), np.concatenate([np.zeros(3), -model.gravity])
    for k in range(n):
        a = up[k] @ a + c[k]
        theta_ddot[k] = u[k] / D[k] - G[k] @ a
        a = a + theta_ddot[k] * H[k]
    return theta_ddot


def _force_cross(V, f):
    """V x* f of spatial vectors."""
    w, v = V[:3], V[3:]
    return np.concatenate([np.cross(w, f[:3]) + np.cross(v, f[3:]), np.cross(w, f[3:])])


@pytest.fixture(scope="module")
def long_chain():
    """A chain of 1000 pins about any axes, with what moves it."""
    rng = np.random.default_rng(0)
    model = random_tree(rng, 1000, ("pin",), chain=True)
    theta, theta_dot = model.random_theta(rng), 0.1 * rng.standard_normal(1000)
    return model.state(theta, theta_dot), rng.standard_normal(1000)


def test_a_chain_of_a_thousand_links_accelerates_as_by_a_recursion_in_link_frames(long_chain):
    state, tau = long_chain
    expected = articulated_body_accelerations(state.model, state.theta, state.theta_dot, tau)
    assert_close(state.free_acceleration(tau), expected, LONG_CHAIN)


def test_a_chain_of_a_thousand_links_satisfies_inverse_dynamics(long_chain):
    state, tau = long_chain
    assert_close(state.inverse_dynamics(state.free_acceleration(tau)), tau, LONG_CHAIN)


def test_the_compliance_of_a_long_chain_is_that_of_its_jacobian(long_chain):
    state, _ = long_chain
    nodes = [Node("link999", (0.1, 0.2, 0.3)), Node("link500"), Node("link0")]
    J = state.jacobian(nodes)
    assert_close(state.compliance(nodes), J @ state.solve_mass(J.T), LONG_CHAIN)


def test_the_recursion_in_link_frames_is_right_on_a_short_chain():
    rng = np.random.default_rng(1)
    model = random_tree(rng, 8, ("pin",), chain=True)
    theta, theta_dot = random_motion(rng, model)
    tau = rng.standard_normal(8)
    expected = DenseOperators(model, theta, theta_dot).free_acceleration(tau)
    assert_close(articulated_body_accelerations(model, theta, theta_dot, tau), expected)
