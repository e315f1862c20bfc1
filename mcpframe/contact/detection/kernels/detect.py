"""Detection in one call: places, candidates, and the closed form of every candidate pair."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.kernels.apart import are_apart
from mcpframe.contact.detection.kernels.box import box_box
from mcpframe.contact.detection.kernels.broad_phase import (
    find_candidates,
    place_candidates,
    place_shapes,
    rule_of,
)
from mcpframe.contact.detection.kernels.capsule import capsule_capsule
from mcpframe.contact.detection.kernels.capsule_box import capsule_box
from mcpframe.contact.detection.kernels.contact import Pair, sort_features
from mcpframe.contact.detection.kernels.ellipsoid import (
    capsule_ellipsoid,
    ellipsoid_box,
    plane_ellipsoid,
    sphere_ellipsoid,
)
from mcpframe.contact.detection.kernels.mesh import plane_mesh
from mcpframe.contact.detection.kernels.plane import plane_box, plane_capsule, plane_cylinder, plane_sphere
from mcpframe.contact.detection.kernels.sphere import (
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_sphere,
)
from mcpframe.contact.detection.records import (
    BOX,
    CANDIDATES,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FEATURES,
    FOREIGNERS,
    GIVEN,
    MARGIN,
    MAX_CONTACTS,
    MESH,
    N_CANDIDATES,
    N_CONTACTS,
    N_FOREIGN,
    N_SHAPES,
    PLACE,
    PLACES,
    PLANE,
    ROOM,
    S_BODY,
    S_HOLDS,
    S_KIND,
    SHAPE_ROW,
    SHAPES,
    SPHERE,
)
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, kernel
from mcpframe.jit.lanes import get, put


@callee
def meet(ID, XD, pair, kind_1, a, kind_2, b, row):
    """Add the contacts of two shapes, kind_1 <= kind_2; return False where there is no closed form.

    `row` is that of the second.
    """
    if kind_1 == PLANE:
        if kind_2 == SPHERE:
            plane_sphere(ID, XD, pair, a, b)
        elif kind_2 == CAPSULE:
            plane_capsule(ID, XD, pair, a, b)
        elif kind_2 == ELLIPSOID:
            plane_ellipsoid(ID, XD, pair, a, b)
        elif kind_2 == CYLINDER:
            plane_cylinder(ID, XD, pair, a, b)
        elif kind_2 == BOX:
            plane_box(ID, XD, pair, a, b)
        elif kind_2 == MESH:
            plane_mesh(ID, XD, pair, row, a, b)
        else:
            return False
    elif kind_1 == SPHERE:
        if kind_2 == SPHERE:
            sphere_sphere(ID, XD, pair, a, b)
        elif kind_2 == CAPSULE:
            sphere_capsule(ID, XD, pair, a, b)
        elif kind_2 == ELLIPSOID:
            sphere_ellipsoid(ID, XD, pair, a, b)
        elif kind_2 == CYLINDER:
            sphere_cylinder(ID, XD, pair, a, b)
        elif kind_2 == BOX:
            sphere_box(ID, XD, pair, a, b)
        else:
            return False
    elif kind_1 == CAPSULE and kind_2 == CAPSULE:
        capsule_capsule(ID, XD, pair, a, b)
    elif kind_1 == CAPSULE and kind_2 == ELLIPSOID:
        capsule_ellipsoid(ID, XD, pair, a, b)
    elif kind_1 == ELLIPSOID and kind_2 == BOX:
        ellipsoid_box(ID, XD, pair, a, b)
    elif kind_1 == CAPSULE and kind_2 == BOX:
        capsule_box(ID, XD, pair, a, b)
    elif kind_1 == BOX and kind_2 == BOX:
        box_box(ID, XD, pair, a, b)
    else:
        return False
    return True


@callee
def meet_candidate(ID, XD, candidate):
    """Add the contacts of a candidate pair, sorted; return False where others have to tell them."""
    i, j = candidate // ID[N_SHAPES], candidate % ID[N_SHAPES]
    row_a, row_b = ID[SHAPES] + i * SHAPE_ROW, ID[SHAPES] + j * SHAPE_ROW
    kind_a, kind_b = get(ID, row_a + S_KIND), get(ID, row_b + S_KIND)
    a, b = ID[PLACES] + i * PLACE, ID[PLACES] + j * PLACE
    body_a, body_b, material = get(ID, row_a + S_BODY), get(ID, row_b + S_BODY), rule_of(ID, i, j) >> 1
    key, margin = candidate * FEATURES, get(XD, MARGIN)
    first, side = ID[N_CONTACTS], 0.5 * (get(ID, row_a + S_HOLDS) - get(ID, row_b + S_HOLDS))
    if kind_b <= kind_a:
        pair = Pair(key, body_a, body_b, material, 1.0, margin, side)
        known = meet(ID, XD, pair, kind_b, b, kind_a, a, row_a)
    else:
        pair = Pair(key, body_a, body_b, material, -1.0, margin, side)
        known = meet(ID, XD, pair, kind_a, a, kind_b, b, row_b)
    if ID[N_CONTACTS] > first + 1:
        sort_features(ID, XD, first)
    return known or are_apart(ID, XD, i, j, margin)


@callee
def meet_candidates(ID, XD):
    """Add the contacts of all candidates; return their number, or ROOM."""
    for k in range(ID[N_CANDIDATES]):
        candidate = get(ID, ID[CANDIDATES] + k)
        if not meet_candidate(ID, XD, candidate):
            put(ID, ID[FOREIGNERS] + ID[N_FOREIGN], candidate)
            put(ID, N_FOREIGN, ID[N_FOREIGN] + 1)
    return ID[N_CONTACTS] if ID[N_CONTACTS] <= ID[MAX_CONTACTS] else ROOM


@callee
def detect(I, X, ID, XD):
    """Write all contacts with gaps up to XD[MARGIN], sorted by key; needs the kinematics.

    Where candidates are GIVEN, of these alone.

    Returns:
        their number, or ROOM where the tables are too small: then N_CANDIDATES or N_CONTACTS says how much
        room it takes, `packing.with_room` makes it, and the call is to be repeated. N_FOREIGN candidates
        have no closed form and may be within the margin: they are left to `coal_pairs`.
    """
    put(ID, N_CONTACTS, 0)
    put(ID, N_FOREIGN, 0)
    if ID[GIVEN] != 0:
        place_candidates(I, X, ID, XD)
    else:
        place_shapes(I, X, ID, XD)
        if not find_candidates(ID, XD):
            return ROOM
    return meet_candidates(ID, XD)


@kernel(Indices, Vector, IndicesOut, VectorOut, nogil=False)
def detect_contacts(I, X, ID, XD):
    """Call `detect`."""
    return detect(I, X, ID, XD)
