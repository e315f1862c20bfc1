"""A contact into the tables: the margin, the contact frame, body A and body B, the identity."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from typing import NamedTuple

from mcpframe.contact.detection.records import (
    C_BODY_A,
    C_BODY_B,
    C_KEY,
    C_MATERIAL,
    CONTACT_ROW,
    CONTACTS,
    M_MU,
    M_RESTITUTION,
    MATERIAL,
    MATERIALS,
    MAX_CONTACTS,
    N_CONTACTS,
    R_GAP,
    R_MU,
    R_NORMAL,
    R_POINT,
    R_RESTITUTION,
    R_TANGENT_1,
    R_TANGENT_2,
    RECORD,
    RECORDS,
)
from mcpframe.contact.frames import NEARLY_ALONG
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, vector, x_of
from mcpframe.spatial.algebra import cross, dot


class Pair(NamedTuple):
    """What all contacts of a pair share.

    Attributes:
        key: identity of its feature 0.
        body_a, body_b: kernel bodies.
        material: number of its material.
        sign: 1 where the second shape is A, so that normals from the first to the second are from B to A.
        margin: largest gap of a contact.
        side: where its points lie: 0 in the middle between the surfaces, 1/2 on that of A, -1/2 on that of B.
    """

    key: int
    body_a: int
    body_b: int
    material: int
    sign: float
    margin: float
    side: float


@inline
def unit(a):
    """Return a vector, which is not zero, at length one."""
    return (1.0 / math.sqrt(dot(a, a))) * a


@callee
def add(ID, XD, pair, gap, point, normal, feature):
    """Append a contact unless its gap is beyond the margin; past the end of the tables it is only counted.

    Args:
        ID, XD: as in `records`.
        pair: the `Pair`.
        gap: signed distance of the surfaces along the normal.
        point: the middle between the surfaces, world.
        normal: unit vector from the first shape to the second.
        feature: number of the feature within the pair.
    """
    if not gap <= pair.margin:
        return
    k = ID[N_CONTACTS]
    put(ID, N_CONTACTS, k + 1)
    if k >= ID[MAX_CONTACTS]:
        return
    row = ID[CONTACTS] + k * CONTACT_ROW
    put(ID, row + C_BODY_A, pair.body_a)
    put(ID, row + C_BODY_B, pair.body_b)
    put(ID, row + C_KEY, pair.key + feature)
    put(ID, row + C_MATERIAL, pair.material)
    o, m = ID[RECORDS] + k * RECORD, ID[MATERIALS] + pair.material * MATERIAL
    n = pair.sign * normal
    along = vector(0.0, 0.0, 1.0) if abs(x_of(n)) > NEARLY_ALONG else vector(1.0, 0.0, 0.0)
    t_1 = unit(cross(cross(n, along), n))
    store(XD, o + R_POINT, point + pair.side * gap * n)
    store(XD, o + R_NORMAL, n)
    store(XD, o + R_TANGENT_1, t_1)
    store(XD, o + R_TANGENT_2, cross(n, t_1))
    put(XD, o + R_GAP, gap)
    put(XD, o + R_MU, get(XD, m + M_MU))
    put(XD, o + R_RESTITUTION, get(XD, m + M_RESTITUTION))


@callee
def sort_features(ID, XD, first):
    """Bring the contacts from `first` on into the order of their keys."""
    n = min(ID[N_CONTACTS], ID[MAX_CONTACTS])
    for i in range(first + 1, n):
        j = i
        while j > first and key_of(ID, j - 1) > key_of(ID, j):
            exchange(ID, XD, j - 1, j)
            j -= 1


@inline
def key_of(ID, k):
    """Return the key of contact k."""
    return get(ID, ID[CONTACTS] + k * CONTACT_ROW + C_KEY)


@inline
def exchange(ID, XD, i, j):
    """Exchange two contacts."""
    a, b = ID[CONTACTS] + i * CONTACT_ROW, ID[CONTACTS] + j * CONTACT_ROW
    for k in range(CONTACT_ROW):
        kept = get(ID, a + k)
        put(ID, a + k, get(ID, b + k))
        put(ID, b + k, kept)
    a, b = ID[RECORDS] + i * RECORD, ID[RECORDS] + j * RECORD
    for k in range(0, RECORD, 4):
        lanes = load(XD, a + k)
        store(XD, a + k, load(XD, b + k))
        store(XD, b + k, lanes)
