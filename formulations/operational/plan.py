"""Workspaces of the compiled `os`: laid out once for a set of contacts, then filled step after step.

What stays the same while the same bodies touch under the same laws is kept here: which halves, forms and
groups there are, the laws' directions and couplings, bounds, the names of the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.law_blocks import LawBlocks
from mcpframe.contact.step import ContactStep
from mcpframe.contact.step_rows import StepRows, Unknowns, with_discs
from mcpframe.formulations.operational import kernels as at
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.memory.row_packing import row_space
from mcpframe.multibody.memory.row_records import WRENCHES
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.multibody.rows import Rows
from mcpframe.problem.cone import StepProblem
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.stages import SHIFTS

Indices = NDArray[np.int64]

NO_CONTACT = -1
NO_ROWS = Rows.concatenate([])


class OperationalPlan:
    """Layout and workspaces of one kind of step.

    Args:
        step: a step of the kind: its tree, which bodies touch under which laws.
        equations: closures, then limits; only which links each row acts on matters.
        n_b: how many of their rows are closures.

    Attributes:
        IR, XR: workspaces of the kernels.
        unknowns: what z holds.
        filled: how often the workspaces have been filled; they hold the last step only.
    """

    filled = 0

    def __init__(self, step: ContactStep, equations: Rows, n_b: int) -> None:
        skeleton, contacts, laws = step.state.skeleton, step.contacts, step.law_rows
        # Kept alive, for the plan is remembered by their identity.
        self.contacts, self.law, self.laws = contacts, step.law, laws
        blocks = LawBlocks.of(laws, [law.C for law in laws])
        self.unknowns = Unknowns({"p_b": n_b}, equations.n - n_b, blocks)
        self.layout = self.unknowns.layout
        self.order = np.argsort(equations.row, kind="stable")
        halves = _halves(skeleton, contacts, laws, equations, self.order)
        n = self.n = self.layout.n
        groups, directions = _groups(laws, equations.n), _directions(laws)
        self.IR, self.XR = _workspace(skeleton, halves, groups, directions, n)
        self.result, self.A = self._part(at.M_AT), self._part(at.FORM_A)
        self.M, self.q = self.result[:n], self.result[n]
        self.b, self.asked = self._part(at.FORM_B), self._part(at.FORM_ASKED)[: equations.n]
        self.equation_wrenches = self._part(WRENCHES)[: self.order.size].reshape(-1, 2, 4)
        beta, sigma = self.layout["beta"], self.layout["sigma"]
        self.M[beta, sigma], self.M[sigma, beta], self.M[sigma, sigma] = blocks.N, blocks.P, blocks.R

    def _part(self, slot: int) -> Array:
        return at.MEMORY.part(self.IR, self.XR, slot)

    def lean(self, c_sigma: Array, c_disc: Array, exact: bool) -> None:
        """Take what the step adds to the rows of slacks and to discs, and whether cones are exact."""
        self.c_sigma, self.c_disc, self.exact = c_sigma, c_disc, exact
        self.q[self.layout["sigma"]] = self.unknowns.laws.r + c_sigma

    def rows(self) -> StepRows:
        """Return the rows that the workspace holds, with their own A and b."""
        return StepRows(self.A.copy(), self.b.copy(), self.unknowns, self.c_sigma, self.c_disc, self.exact)

    def problem(self) -> StepProblem:
        """Return the problem that the workspace holds, with its own M and q."""
        n = self.n
        result = self.result.copy()
        result.setflags(write=False)
        M, q, z = result[:n], result[n], self.unknowns
        lcp = MixedLCP.of_checked(M, q, z.lower, z.upper, z.layout, z.contacts)
        return with_discs(lcp, z.discs(self.c_disc), self.exact)

    def set_equations(self, equations: Rows, reference: Array, asked: Array) -> None:
        """Write the wrenches of closures and limits, moved to the reference points of their links.

        Args:
            equations: closures, then limits.
            reference: reference point of every link [n, 3].
            asked: what the step adds to their rows.
        """
        self.asked[:] = asked
        link, force = equations.link[self.order], equations.wrench[self.order, 3:]
        arm = equations.point[self.order] - reference[link]
        self.equation_wrenches[:, 0, :3] = equations.wrench[self.order, :3] + np.cross(arm, force)
        self.equation_wrenches[:, 1, :3] = force


def equations_of(terms: StepTerms) -> Rows:
    """Return the rows of closures and limits; none, without looking further, where the model has neither."""
    state = terms.step.state
    if state.model.closures or state.tree.has_limits:
        return Rows.concatenate([terms.closures, terms.limits])
    return NO_ROWS


def plan_of(step: ContactStep, equations: Rows, n_b: int) -> OperationalPlan:
    """Return the plan for steps of this kind, kept with the state for the next one.

    It is found by the identity of the contacts, or where the same bodies touch under the same laws.
    """
    contacts, kept = step.contacts, step.state.workspaces
    links = (equations.link.tobytes(), equations.row.tobytes(), n_b) if equations.n else ()
    same = id(contacts), id(step.law), step.law_dt, step.friction_directions, links
    plan: OperationalPlan | None = kept.get(same)
    if plan is None:
        laws = tuple(map(id, step.law_rows))
        alike = contacts.link_a.tobytes(), contacts.link_b.tobytes(), laws, links
        plan = kept.get(alike)
        if plan is None:
            plan = OperationalPlan(step, equations, n_b)
            step.state.keep_workspace(alike, plan)
            step.state.keep_workspace(same, plan)
    return plan


class _Halves:
    """All halves in the order of their forms: bodies, signs, and what the forms are."""

    def __init__(
        self, body: Indices, sign: Array, form: Indices, contact: Indices, component: Indices
    ) -> None:
        self.body, self.sign, self.contact, self.component = body, sign, contact, component
        self.form_at = np.searchsorted(form, np.arange(contact.size + 1)).astype(np.int64)


def _halves(
    skeleton: Skeleton, contacts: ContactSet, laws: Sequence[LawRows], equations: Rows, order: Indices
) -> _Halves:
    used = [law.used for law in laws]
    contact = np.repeat(np.arange(len(laws)), [components.size for components in used])
    component = np.concatenate([np.zeros(0, np.int64), *used])
    form = equations.n + np.arange(contact.size)
    sides = np.column_stack([contacts.link_a[contact], contacts.link_b[contact]]).reshape(-1, 2)
    touches = sides >= 0
    link = np.concatenate([equations.link[order], sides[touches]])
    signs = np.broadcast_to([1.0, -1.0], sides.shape)[touches]
    none = np.full(equations.n, NO_CONTACT)
    return _Halves(
        body=skeleton.link_body[link],
        sign=np.concatenate([np.ones(order.size), signs]),
        form=np.concatenate([equations.row[order], np.column_stack([form, form])[touches]]),
        contact=np.concatenate([none, contact]),
        component=np.concatenate([none, component]),
    )


def _groups(laws: Sequence[LawRows], n_e: int) -> Indices:
    """Return the table of groups: equations one by one, then contacts."""
    sizes = np.array([(1, 1)] * n_e + [law.C.shape for law in laws], dtype=np.int64).reshape(-1, 2)
    starts = np.cumsum(sizes, axis=0) - sizes
    areas = sizes[n_e:].prod(axis=1)
    places = np.concatenate([np.zeros(n_e, np.int64), 1 + np.cumsum(areas) - areas])
    return np.column_stack([starts[:, 0], sizes[:, 0], starts[:, 1], sizes[:, 1], places])


def _directions(laws: Sequence[LawRows]) -> Array:
    """Return the C of all groups: the 1 that all equations share, then those of the contacts."""
    return np.concatenate([[1.0], *(law.C.ravel() for law in laws)])


def _workspace(
    skeleton: Skeleton, halves: _Halves, groups: Indices, directions: Array, n_z: int
) -> tuple[Indices, Array]:
    """Return the integers and doubles of the kernels, with everything that does not change in place."""
    n_forms, widest = halves.contact.size, groups.max(axis=0, initial=0)
    IR, XR = row_space(
        at.MEMORY,
        skeleton.n_bodies,
        halves.body,
        form=n_forms,
        group=len(groups),
        direction=directions.size,
        scratch=int(widest[at.G_FORMS] * widest[at.G_UNKNOWNS]),
        z=n_z,
    )
    IR[[at.N_FORMS, at.N_GROUPS, at.N_Z]] = n_forms, len(groups), n_z
    contents = {
        at.FORM_AT: halves.form_at,
        at.FORM_CONTACT: halves.contact,
        at.FORM_COMPONENT: halves.component,
        at.FORM_SHIFT: np.where(
            halves.component >= FORCE_N, SHIFTS * halves.contact + halves.component - FORCE_N, NO_CONTACT
        ),
        at.GROUPS: groups,
        at.DIRECTIONS: directions,
        at.SIGNS: halves.sign,
    }
    for part, values in contents.items():
        at.MEMORY.part(IR, XR, part)[:] = values
    return IR, XR
