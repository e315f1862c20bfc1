"""Compiled entry points of adaptive bodies; IT, XT are the whole, I, X its clusters, IA, XA as `records`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import Indices, IndicesOut, VectorOut, kernel
from mcpframe.multibody.adaptive.choice import choose_joints
from mcpframe.multibody.adaptive.clusters import compress, spread
from mcpframe.multibody.adaptive.rigidify import make_rigid
from mcpframe.multibody.kernels.articulated import free_accelerations
from mcpframe.multibody.kernels.kinematics import angles_of_pins, kinematics


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def cluster(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, with the rates that their joints have."""
    angles_of_pins(IT, XT)
    compress(IT, XT, IA, XA, I, X)


@kernel(Indices, VectorOut, IndicesOut, VectorOut)
def choose(IT, XT, IA, XA):
    """Choose ACTIVE for the forces in TAU of the whole; return whether it is another set, -1 on failure."""
    kinematics(IT, XT)
    if free_accelerations(IT, XT, False) != 0:
        return -1
    return 1 if choose_joints(IT, XT, IA, XA) else 0


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def rigidify(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, all other joints stopped by impulses; the whole is placed."""
    return make_rigid(IT, XT, IA, XA, I, X)


@kernel(Indices, VectorOut, Indices, Indices, VectorOut)
def gather(I, X, IA, IT, XT):
    """Write coordinates and rates of the clusters to the whole."""
    spread(I, X, IA, IT, XT)
