"""Compiled entry points of the multibody core: what Python calls, and the only kernels that are compiled.

`done` says how far the state has come already: NOTHING, PLACED (kinematics), SWEPT (articulated sweep),
KICKED (its rates have what forces do to them in a step, and impulses alone are left).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, kernel
from mcpframe.multibody.kernels.articulated import free_accelerations, sweep
from mcpframe.multibody.kernels.compliance import compliance_of_lanes
from mcpframe.multibody.kernels.kinematics import kinematics, take_inputs, velocities
from mcpframe.multibody.kernels.mass import (
    clear_push,
    energies_into,
    generalized_force_into,
    inertial_forces,
    mass_matrix_into,
    push_links,
    solve_mass_into,
)
from mcpframe.multibody.kernels.nodes import (
    bias_of_nodes,
    compliance_of_nodes,
    jacobian_of_nodes,
    lanes_of_nodes,
    velocities_of_nodes,
)
from mcpframe.multibody.kernels.support_tree import support_tree

NOTHING, PLACED, SWEPT, KICKED = range(4)
COMPLIANCE, VELOCITIES, BIAS, JACOBIAN = range(4)


@kernel(Indices, VectorOut, Vector, Vector, nogil=False)
def take(I, X, theta, theta_dot):
    """Copy coordinates and rates into X; return False, and copy nothing, where they need a closer look."""
    return take_inputs(I, X, theta, theta_dot)


@kernel(Indices, VectorOut, nogil=False)
def place(I, X):
    """Kinematics."""
    kinematics(I, X)


@kernel(Indices, VectorOut, nogil=False)
def place_rates(I, X):
    """Kinematics of other rates; the bodies are placed."""
    velocities(I, X)


@kernel(Indices, VectorOut, types.int64, nogil=False)
def free_dynamics(I, X, done):
    """Free acceleration for the forces in TAU; return 0, 1 + a dof without inertia, or NOT_FINITE."""
    if done < PLACED:
        kinematics(I, X)
    return free_accelerations(I, X, done == SWEPT)


@kernel(Indices, VectorOut, nogil=False)
def articulate(I, X):
    """Gains of the articulated sweep; needs the kinematics. Return 0, or 1 + a dof without inertia."""
    return sweep(I, X)


@kernel(Indices, VectorOut, IndicesOut, VectorOut, types.int64, nogil=False)
def node_compliance(I, X, IR, XR, done):
    """Lambda of nodes into RESULT; return 0, or 1 + a dof without inertia."""
    failed = 0
    if done < PLACED:
        kinematics(I, X)
    if done < SWEPT:
        failed = sweep(I, X)
    support_tree(I, IR, XR)
    lanes_of_nodes(I, X, IR, XR)
    compliance_of_lanes(I, X, IR, XR)
    compliance_of_nodes(IR, XR)
    return failed


@kernel(Indices, VectorOut, Indices, VectorOut, types.int64)
def node_kinematics(I, X, IR, XR, which):
    """VELOCITIES, BIAS or JACOBIAN of nodes into RESULT; needs the kinematics."""
    if which == VELOCITIES:
        velocities_of_nodes(I, X, IR, XR)
    elif which == BIAS:
        bias_of_nodes(I, X, IR, XR)
    else:
        jacobian_of_nodes(I, X, IR, XR)


@kernel(Indices, VectorOut, VectorOut)
def mass_matrix(I, X, out):
    """Mass matrix by composite bodies; needs the kinematics."""
    mass_matrix_into(I, X, out)


@kernel(Indices, VectorOut, Indices, Vector, Vector, VectorOut)
def respond(I, X, link_body, wrenches, x, out):
    """Mass^-1 (x + J* wrenches) for wrenches at the origins of the links [n_links, 6]; needs the sweep."""
    clear_push(I, X)
    push_links(I, X, link_body, wrenches)
    solve_mass_into(I, X, x, out)


@kernel(Indices, VectorOut, Indices, Vector, VectorOut)
def generalized_force(I, X, link_body, wrenches, out):
    """J* wrenches for wrenches at the origins of the links [n_links, 6]; needs the kinematics."""
    clear_push(I, X)
    push_links(I, X, link_body, wrenches)
    generalized_force_into(I, X, out)


@kernel(Indices, VectorOut, Vector, VectorOut)
def inverse_dynamics(I, X, theta_ddot, out):
    """Mass theta_ddot + C without armature, gravity included; needs the kinematics."""
    inertial_forces(I, X, theta_ddot)
    generalized_force_into(I, X, out)


@kernel(Indices, VectorOut, VectorOut)
def energies(I, X, out):
    """Kinetic energy, potential energy, momentum; needs the kinematics."""
    energies_into(I, X, out)
