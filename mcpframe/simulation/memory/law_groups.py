"""Laws as contact models are judged by them: a normal force, and groups of forces and moments beside it.

What has one limit is a group. While it is below that, it sticks: what it takes is whatever keeps its surfaces
together. At its limit it is known but for the normal force that it leans on:

    LEANS      directions that share out a part of the normal force, sum β_j <= c F_n
    DISC       components on a disc, |β| <= c F_n
    BOUNDED    one component between bounds that do not know of F_n
    HELD       one component without bounds: it always sticks
    GIVEN      components that follow from velocities, or have no force at all: they never do
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.law import FORCE_N, LawRows

LEANS, DISC, BOUNDED, HELD, GIVEN = range(5)
MOST_GROUPS = 5
"""A law has five components beside the normal force."""
# A law in a row of integers: how many components it uses, which of them is the normal, how many groups; the
# components; then of every group: kind; which slack, disc or β it is; first β and how many; its components,
# as places among those used, -1 for no second one.
G_COMPONENTS, G_NORMAL, G_GROUPS, G_USED = range(4)
G_FIRST = G_USED + 6
GROUP_KIND, GROUP_WHICH, GROUP_BETA, GROUP_BETAS, GROUP_FORM, GROUP_FORM_2, GROUP = range(7)
LAW_GROUPS = G_FIRST + MOST_GROUPS * GROUP


class Group(NamedTuple):
    """A group of a law: its kind, which slack, disc or β it is, and its β."""

    kind: int
    which: int
    betas: NDArray[np.int64]


def pack_groups(law: LawRows) -> NDArray[np.int64] | None:
    """Return the groups of a law in a row of integers; None where its rows are not of such groups."""
    row = np.full(LAW_GROUPS, -1)
    row[G_COMPONENTS], row[G_USED : G_USED + law.used.size] = law.used.size, law.used
    if law.m == law.used.size == 1 and law.s == 0:  # a limit, or no friction
        row[G_NORMAL], row[G_GROUPS] = 0, 0
        return row
    groups = list(_groups(law))
    if law.normal < 0 or not all(_is_read(law, group) for group in groups) or not _covers(law, groups):
        return None
    groups = [group for group in groups if _forms(law, group)]
    places = [_forms(law, group) for group in groups]
    taken = [form for forms in places for form in forms]
    if sorted(taken) != [form for form, c in enumerate(law.used) if c != FORCE_N]:
        return None
    row[G_NORMAL], row[G_GROUPS] = law.used.tolist().index(FORCE_N), len(groups)
    for k, (group, forms) in enumerate(zip(groups, places, strict=True)):
        start = G_FIRST + k * GROUP
        row[start : start + GROUP_FORM] = group.kind, group.which, group.betas[0], group.betas.size
        row[start + GROUP_FORM : start + GROUP_FORM + len(forms)] = forms
    return row


def _groups(law: LawRows) -> Iterator[Group]:
    """Yield the groups of a law; their β are consecutive, or it has none that can be read."""
    for d, (first, width, mu) in enumerate(law.discs):
        yield Group(DISC if mu > 0.0 else GIVEN, d, np.arange(first, first + width))
    for k in range(law.s):
        yield Group(_kind_of_slack(law, k), k, np.flatnonzero(law.N[:, k]))
    on_discs = {row for first, width, _ in law.discs for row in range(first, first + width)}
    for j in range(law.m):
        if j != law.normal and j not in on_discs and not law.N[j].any():
            yield Group(_kind_of_bounds(law, j), j, np.array([j]))


def _kind_of_slack(law: LawRows, k: int) -> int:
    """Return what a slack makes of its β: they share out a part of F_n, or follow it, which is a velocity."""
    betas = law.N[:, k] != 0.0
    if np.isneginf(law.sigma_lower[k]):
        return GIVEN if np.isneginf(law.beta_lower[betas]).all() else -1
    normal = np.arange(law.m) == law.normal
    shares = (
        (law.N[betas, k] == 1.0).all()
        and (law.P[k, betas] == -1.0).all()
        and not law.P[k, ~betas & ~normal].any()
        and not (law.R[k].any() or law.r[k] or law.beta_lower[betas].any())
    )
    if not shares:
        return -1
    return LEANS if law.P[k, law.normal] > 0.0 else GIVEN


def _kind_of_bounds(law: LawRows, j: int) -> int:
    """Return what bounds make of a β without a slack."""
    lower, upper = law.beta_lower[j], law.beta_upper[j]
    if np.isinf(lower) and np.isinf(upper):
        return HELD
    if lower == upper == 0.0:
        return GIVEN
    return BOUNDED if lower < 0.0 < upper and np.isfinite(lower) and np.isfinite(upper) else -1


def _forms(law: LawRows, group: Group) -> list[int]:
    """Return the places of a group's components among those used; none where it has no force at all."""
    return np.flatnonzero(law.C[:, group.betas].any(axis=1)).tolist()


def _is_read(law: LawRows, group: Group) -> bool:
    """Return whether kernels know such a group: consecutive β of one or two forces, or moments."""
    betas, forms = group.betas, _forms(law, group)
    if group.kind < 0 or not betas.size or not np.array_equal(betas, betas[0] + np.arange(betas.size)):
        return False
    moments = law.used[forms] < FORCE_N
    alike = len(forms) <= 2 and (moments.all() or not moments.any())
    C = law.C[forms][:, betas]
    apart = np.array_equal(C != 0.0, np.eye(*C.shape, dtype=bool))
    return bool(alike and (apart or group.kind in (LEANS, GIVEN)))


def _covers(law: LawRows, groups: list[Group]) -> bool:
    """Return whether every β but the normal's is in one group."""
    betas = [j for group in groups for j in group.betas.tolist()]
    return sorted(betas) == [j for j in range(law.m) if j != law.normal]
