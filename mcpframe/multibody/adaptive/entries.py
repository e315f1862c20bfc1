"""Compiled entry points of adaptive bodies; IT, XT are the whole, I, X its clusters, IA, XA as `records`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import Indices, IndicesOut, VectorOut, kernel
from mcpframe.multibody.adaptive.choice import choose_joints
from mcpframe.multibody.adaptive.clusters import compress, forget_places, spread
from mcpframe.multibody.adaptive.fronts import find_parts
from mcpframe.multibody.adaptive.piece_records import N_PIECES
from mcpframe.multibody.adaptive.pieces import write_piece
from mcpframe.multibody.adaptive.rigidify import make_rigid
from mcpframe.multibody.kernels.kinematics import angles_of_pins, kinematics


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def cluster(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, with the rates that their joints have."""
    angles_of_pins(IT, XT)
    forget_places(IT, IA)
    compress(IT, XT, IA, XA, I, X)


@kernel(Indices, VectorOut, IndicesOut, VectorOut)
def begin_choice(IT, XT, IA, XA):
    """Find the parts of a whole that has pieces; place one that has none."""
    if IA[N_PIECES] > 0:
        find_parts(IT, IA)
    else:
        kinematics(IT, XT)


@kernel(Indices, VectorOut, IndicesOut, VectorOut)
def choose(IT, XT, IA, XA):
    """Choose ACTIVE for the forces in TAU of the whole and on its parts; return SAME, OTHERS or FAILED."""
    return choose_joints(IT, XT, IA, XA)


@kernel(Indices, VectorOut, IndicesOut, VectorOut)
def write_pieces(IT, XT, IA, XA):
    """Write the pieces of a whole that has them, for the coordinates and forces that their joints have."""
    for node in range(IA[N_PIECES] - 1, -1, -1):
        write_piece(IT, XT, IA, XA, node)


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def rigidify(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, the joints that have LEFT stopped; a whole without pieces is placed."""
    return make_rigid(IT, XT, IA, XA, I, X)


@kernel(Indices, VectorOut, Indices, Indices, VectorOut)
def gather(I, X, IA, IT, XT):
    """Write coordinates and rates of the clusters to the whole."""
    spread(I, X, IA, IT, XT)
