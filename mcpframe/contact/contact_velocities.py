"""Velocities of contacts for given rates, by a sweep from base to tips; for checking, not for solving."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL, RECORD, TANGENT_1, TANGENT_2
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, CONTACT_ROW
from mcpframe.jit import Indices, Vector, VectorOut, inline, kernel
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.kernels.momentum import body_motions
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    BODIES,
    BODY,
    PAIR,
    REFERENCE,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import cross, dot, load_pair, null_pair

AXES = NORMAL.start, TANGENT_1.start, TANGENT_2.start
"""Where in a record n, t_1, t_2 begin."""


@inline
def motion_at(I, X, body, point):
    """Return the motion [ω; v] that B_ACCELERATION holds of a body, at a point; zero for the world."""
    if body < 0:
        return null_pair()
    w, v = load_pair(X, I[BODIES] + body * BODY + B_ACCELERATION)
    at = load(X, I[REFERENCE] + 4 * get(I, I[TREE] + body * TREE_ROW + SECTION))
    return w, v + cross(w, point - at)


@inline
def write_velocity(I, X, contacts, c, records, r, out, o):
    """Write the velocity of A relative to B of one contact for the motions that B_ACCELERATION holds."""
    point = load(records, r)
    w_a, v_a = motion_at(I, X, get(contacts, c + C_BODY_A), point)
    w_b, v_b = motion_at(I, X, get(contacts, c + C_BODY_B), point)
    w, v = w_a - w_b, v_a - v_b
    for k in range(3):
        axis = load(records, r + AXES[k])
        put(out, o + k, dot(axis, w))
        put(out, o + 4 + k, dot(axis, v))
    put(out, o + 3, 0.0)
    put(out, o + 7, 0.0)


@kernel(Indices, VectorOut, Vector, Indices, Vector, VectorOut)
def contact_velocities(I, X, rates, contacts, records, out):
    """Write the velocity of A relative to B of every contact in its frame, [ω; v] along n, t_1, t_2.

    Uses up B_ACCELERATION of X, nothing else.

    Args:
        I, X: a state whose bodies are placed; its own rates do not matter.
        rates: hinge rates [N].
        contacts: rows of contacts (body A, body B, ...) [4 n_u].
        records: their records [20 n_u].
        out: velocities, both parts padded to four [8 n_u].
    """
    body_motions(I, X, rates)
    for i in range(contacts.shape[0] // CONTACT_ROW):
        write_velocity(I, X, contacts, i * CONTACT_ROW, records, i * RECORD, out, i * PAIR)
