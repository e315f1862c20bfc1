"""States for tests, and what it means that two arrays agree."""

import numpy as np
from trees import random_motion, random_nodes, random_tree

from mcpframe.multibody import Hinge, Link
from mcpframe.spatial.transforms import Pose

EXACT = 1e-12
"""Relative rounding of two algorithms on a dozen links; inertias of one tree differ by a thousand."""
PIN = Hinge("pin", (0, 1, 0))


def assert_close(found, expected, tolerance=EXACT):
    """Shapes are the same and entries agree, relative to one or to the largest."""
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    room = tolerance * (1.0 + np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=room)


def mixed_model(rng, n=12):
    """A floating tree with hinges of every kind, quaternions among the coordinates."""
    return random_tree(rng, n, root="free", extra_roots=0.1, armature=0.1)


def moving(rng, model=None, time=0.0):
    """A model, mixed unless given, somewhere and on its way."""
    model = mixed_model(rng) if model is None else model
    return model.state(*random_motion(rng, model), time)


def bar(name, parent="world", hinge=PIN, **options):
    """A link one metre below its parent."""
    rest = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": 0.1 * np.eye(3)} | options
    return Link(name, parent, hinge, Pose((0, 0, -1)), **rest)


def quantities(model):
    """Every quantity of a state, by name; nodes and forces are the same in every call."""
    rng = np.random.default_rng(3)
    nodes = [*random_nodes(rng, model, 3), "world"]
    x, columns = rng.standard_normal(model.n_dofs), rng.standard_normal((model.n_dofs, 2))
    wrenches, at_nodes = rng.standard_normal((model.n_links, 6)), {nodes[0]: rng.standard_normal(6)}
    return {
        "free_acceleration": lambda s: s.free_acceleration(),
        "free_acceleration of forces": lambda s: s.free_acceleration(x),
        "free_acceleration of wrenches": lambda s: s.free_acceleration(x, at_nodes),
        "compliance": lambda s: s.compliance(nodes),
        "compliance of one": lambda s: s.compliance(nodes[1:2]),
        "node_velocities": lambda s: s.node_velocities(nodes),
        "node_bias": lambda s: s.node_bias(nodes),
        "jacobian": lambda s: s.jacobian(nodes),
        "mass_matrix": lambda s: s.mass_matrix(),
        "solve_mass": lambda s: s.solve_mass(x),
        "solve_mass of columns": lambda s: s.solve_mass(columns),
        "respond": lambda s: s.respond(x, wrenches),
        "apply_wrenches": lambda s: s.apply_wrenches(wrenches),
        "link_wrenches": lambda s: s.link_wrenches(at_nodes),
        "inverse_dynamics": lambda s: s.inverse_dynamics(x),
        "bias_force": lambda s: s.bias_force(),
        "passive_force": lambda s: s.passive_force(),
        "kinetic_energy": lambda s: s.kinetic_energy(),
        "potential_energy": lambda s: s.potential_energy(),
        "momentum": lambda s: s.momentum(),
        "rotations": lambda s: s.link_poses()[0],
        "positions": lambda s: s.link_poses()[1],
        "pose": lambda s: s.pose(nodes[0]).position,
        "link_velocities": lambda s: s.link_velocities(),
        "link_bias": lambda s: s.link_bias(),
        "hinge_columns": lambda s: s.hinge_columns(),
        "reference_points": lambda s: s.reference_points(),
    }
