"""Divide and conquer against the dense operators, on every kind of tree, and where links have no inertia."""

import numpy as np
import pytest
from trees import random_link, random_motion, random_nodes, random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model, Node
from mcpframe.multibody.reference import divide_conquer as dc
from mcpframe.multibody.reference.divide_conquer import divide_and_conquer, link_compliance
from mcpframe.multibody.reference.operators import DenseOperators
from mcpframe.multibody.rows import Rows, hinge_constraint_rows, hinge_rate_rows
from mcpframe.spatial.transforms import Pose

EXACT = 1e-11
"""Relative to the largest entry: rounding on trees of a few dozen links, whose mass matrices have condition
numbers below 1e6."""
LONG = 1e-9
"""The same for chains of 200 links, condition number about 1e7."""
SEEDS = range(8)


def close(a, b, tolerance=EXACT):
    return np.allclose(a, b, rtol=0.0, atol=tolerance * (1.0 + np.abs(b).max(initial=0.0)))


def check_against_dense(model, rng, tolerance=EXACT):
    """Free acceleration under hinge forces and a wrench, compliance of four nodes, in a random state."""
    dense = DenseOperators(model, *random_motion(rng, model))
    nodes = random_nodes(rng, model, 4)
    tau, wrenches = rng.standard_normal(model.n_dofs), {nodes[0]: rng.standard_normal(6)}
    theta_ddot, Lambda = divide_and_conquer(dense, nodes, tau, wrenches)
    assert close(theta_ddot, dense.free_acceleration(tau, wrenches), tolerance)
    assert close(Lambda, dense.compliance(nodes), tolerance)


def chain(hinge, n, **options):
    """A serial chain; options that are functions are called with the number of the link."""
    links = []
    for k in range(n):
        made = {name: value(k) if callable(value) else value for name, value in options.items()}
        parent = f"link{k - 1}" if k else "world"
        links.append(Link(f"link{k}", parent, hinge, Pose((0.1, 0.0, -0.3)), **made))
    return Model(links)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("root", ["pin", "free", "locked", None])
def test_chains_of_mixed_hinges_agree_with_the_dense_operators(seed, root):
    rng = np.random.default_rng(seed)
    check_against_dense(random_tree(rng, int(rng.integers(1, 20)), chain=True, root=root), rng)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("armature", [0.0, 0.2])
def test_branched_trees_of_mixed_hinges_agree_with_the_dense_operators(seed, armature):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 30)), extra_roots=0.1, armature=armature)
    check_against_dense(model, rng)


@pytest.mark.parametrize("root", ["pin", "free"])
def test_a_hub_with_many_arms_agrees_with_the_dense_operators(root, rng):
    arms = [random_link(rng, f"arm{k}", "hub", "pin") for k in range(12)]
    hands = [random_link(rng, f"hand{k}", f"arm{k}", "ball") for k in range(0, 12, 2)]
    check_against_dense(Model([random_link(rng, "hub", "world", root), *arms, *hands]), rng)


def test_long_chains_agree_with_the_dense_operators(rng):
    model = chain(Hinge("pin", (0, 1, 0)), 200, mass=1.0, com=(0, 0, -0.1), inertia=1e-3 * np.eye(3))
    check_against_dense(model, rng, LONG)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 63, 100])
def test_a_chain_is_joined_in_logarithmically_many_rounds(n, rng, monkeypatch):
    rounds, join = [], dc._Assembly._join
    monkeypatch.setattr(
        dc._Assembly, "_join", lambda self, hinges: (rounds.append(hinges), join(self, hinges))
    )
    model = chain(Hinge("pin", (0, 1, 0)), n, mass=1.0, com=(0, 0, -0.1), inertia=1e-2 * np.eye(3))
    divide_and_conquer(DenseOperators(model))
    assert len(rounds) == np.ceil(np.log2(n + 1))  # n links and the world
    assert sum(len(hinges) for hinges in rounds) == n


def test_point_masses_are_no_obstacle(rng):
    """A point mass has no inverse inertia, which Featherstone's form of the handles would need."""
    check_against_dense(chain(Hinge("pin", (1, 2, 0)), 25, mass=1.0, com=(0.0, 0.0, -0.3)), rng)


@pytest.mark.parametrize("mass", [0.0, 1e-9, 1e-6])
def test_massless_and_light_links_between_heavy_ones_lose_no_digits(mass, rng):
    """Two of three links have next to no inertia: ball joints made of three pins."""
    axes = [(1, 0, 0), (0, 1, 0), (0, 0.6, 0.8)]
    links = []
    for k in range(24):
        share = 1.0 if k % 3 == 2 else mass
        body = {"mass": share, "com": (0, 0, -0.1), "inertia": share * np.diag([0.02, 0.03, 0.04])}
        parent = f"link{k - 1}" if k else "world"
        links.append(Link(f"link{k}", parent, Hinge("pin", axes[k % 3]), Pose((0, 0, -0.2)), **body))
    check_against_dense(Model(links), rng)


def test_links_that_have_only_armature_are_no_obstacle(rng):
    check_against_dense(chain(Hinge("pin", (0, 1, 0)), 9, armature=0.5), rng)


def test_a_link_that_resists_only_with_its_whole_subtree_is_no_obstacle(rng):
    """Massless links in a row with the only mass at the tip, beyond a branch."""
    links = []
    for k, axis in enumerate([(0, 1, 0), (1, 0, 0), (0, 0, 1)]):
        parent = f"link{k - 1}" if k else "world"
        links.append(Link(f"link{k}", parent, Hinge("pin", axis), Pose((0.2, 0.1, -0.3))))
    for name in ("left", "right"):
        slide = Hinge("prismatic")
        links.append(Link(name, "link2", slide, Pose((0.3, 0.2, 0.4)), mass=1.0, com=(0.3, 0.1, 0.2)))
    check_against_dense(Model([*links, random_link(rng, "tip", "left", "ball")]), rng)


def test_a_hinge_without_inertia_is_named():
    """Two slides along one line with a massless link between them: their mass matrix is singular."""
    slide = Hinge("prismatic", (1, 0, 0))
    model = Model([Link("inner", hinge=slide), Link("outer", "inner", slide, mass=1.0)])
    with pytest.raises(ModelError, match="no inertia in this state: inner"):
        divide_and_conquer(DenseOperators(model))
    with pytest.raises(ModelError, match="'inner': its hinge feels no inertia"):
        DenseOperators(model).free_acceleration()


@pytest.mark.parametrize("seed", SEEDS)
def test_compliance_between_arbitrary_rows_is_that_of_their_jacobian(seed):
    """Rows with several halves, hinge rates and forbidden hinge motions (which have none)."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12, extra_roots=0.1)
    dense = DenseOperators(model, *random_motion(rng, model))
    row, link = np.array([0, 0, 1, 2, 2, 2]), rng.integers(model.n_links, size=6)
    loose = Rows.of_halves(3, [(row, link, rng.standard_normal((6, 3)), rng.standard_normal((6, 6)))])
    rates = hinge_rate_rows(dense, range(model.n_dofs))
    rows = Rows.concatenate([loose, rates, hinge_constraint_rows(dense)])
    G = rows.jacobian(dense)
    theta_ddot, Lambda = divide_and_conquer(dense, rows)
    assert Lambda.shape == (rows.n, rows.n)
    assert close(Lambda, G @ np.linalg.solve(dense.mass_matrix(), G.T))
    assert close(Lambda[3 : 3 + model.n_dofs, 3 : 3 + model.n_dofs], np.linalg.inv(dense.mass_matrix()))
    assert close(theta_ddot, dense.free_acceleration())


def test_compliance_between_links_is_omega_in_the_order_asked_for(rng):
    model = random_tree(rng, 15, extra_roots=0.2)
    dense = DenseOperators(model, *random_motion(rng, model))
    links = [9, 2, 14, 3]
    rows = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in links])
    assert close(link_compliance(dense, links)[1], dense.Omega[np.ix_(rows, rows)])


def test_nodes_on_the_world_and_twice_the_same_node_are_allowed(rng):
    model = random_tree(rng, 6)
    dense = DenseOperators(model, *random_motion(rng, model))
    nodes = [Node("link3", (0.1, 0.2, 0.3)), "world", "link3", Node("link3", (0.1, 0.2, 0.3))]
    _, Lambda = divide_and_conquer(dense, nodes, wrenches={"world": np.ones(6)})
    assert close(Lambda, dense.compliance(nodes))


def test_a_state_gives_the_same_as_the_dense_operators(rng):
    model = random_tree(rng, 15, extra_roots=0.2, armature=0.1)
    theta, theta_dot = random_motion(rng, model)
    nodes, tau = random_nodes(rng, model, 3), rng.standard_normal(model.n_dofs)
    state = model.state(theta, theta_dot)
    theta_ddot, Lambda = divide_and_conquer(state, nodes, tau)
    assert close(theta_ddot, DenseOperators(model, theta, theta_dot).free_acceleration(tau))
    assert close(theta_ddot, state.free_acceleration(tau))
    assert close(Lambda, state.compliance(nodes))


def test_an_empty_model_and_no_handles_give_empty_answers():
    theta_ddot, Lambda = divide_and_conquer(DenseOperators(Model()))
    assert theta_ddot.shape == (0,)
    assert Lambda.shape == (0, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tau": np.zeros(3)}, "tau: shape"),
        ({"tau": [np.nan]}, "tau: entry 0 is nan"),
        ({"wrenches": {"link0": np.zeros(3)}}, "wrench on link0: shape"),
        ({"handles": ["elbow"]}, "no link or frame 'elbow'"),
    ],
)
def test_unusable_input_is_refused_by_name(options, words):
    model = chain(Hinge("pin", (0, 1, 0)), 1, mass=1.0, com=(0, 0, -1.0))
    with pytest.raises(ModelError, match=words):
        divide_and_conquer(DenseOperators(model), **options)
