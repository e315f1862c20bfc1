"""The memory of compiled `os`, and what contact laws write into it once: directions, couplings, bounds.

After the memory of the forms come laws, their data, bounds, and the address of the kernel that assembles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import FORCE_N, MOST_DISCS, LawRows
from mcpframe.formulations.operational.kernels import DIRECTIONS
from mcpframe.formulations.operational.kernels import MEMORY as FORM_MEMORY
from mcpframe.jit.memory import Memory, columns
from mcpframe.multibody.memory.loop_records import N_HALVES as N_LOOP_HALVES
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.multibody.memory.row_packing import room_for_rows
from mcpframe.problem.cone import DISC_DOUBLES, DISC_INTEGERS

Integers = NDArray[np.int64]

MEMORY = Memory(FORM_MEMORY)
# Row of LAWS: counts of forms, of beta and sigma, which beta is the normal impulse, components of the forms,
# where in DIRECTIONS its C begins, where in LAW_DATA its N, P, R, r, bounds and mu of discs begin, which of
# the contact's shifts each form takes, -1 for none; discs, and the first beta and the number of each. Behind
# all of LAW_DATA: what it grows by with dt.
(
    L_FORMS, L_BETAS, L_SIGMAS, L_NORMAL, L_COMPONENTS, L_DIRECTIONS, L_DATA, L_SHIFTS, L_DISCS, L_DISC,
    LAW_ROW,
) = columns(1, 1, 1, 1, 6, 1, 1, 6, 1, 2 * MOST_DISCS)  # fmt: skip
LAWS, BOUNDS = MEMORY.integers("law", LAW_ROW), MEMORY.doubles(2, "z")
N_LAW_DATA, LAW_DATA = MEMORY.count("law_data"), MEMORY.doubles(2, "law_data")
OPERATIONAL_SPACE, LAWS_GROW = MEMORY.counts(2)
# How many rows of closures come first, where in DIRECTIONS their C = 1 is, and law, beta and sigma of
# everything that touches.
N_LOOPS_AHEAD, UNIT = MEMORY.counts(2)
GROUP_LAW = MEMORY.integers("contact", 3)
# Exact cones, in the tables of `mcpframe.problem.cone`.
DISCS, SIZES = MEMORY.integers("disc", DISC_INTEGERS), MEMORY.doubles("disc", DISC_DOUBLES)


@dataclass(frozen=True, eq=False)
class LawTables:
    """What the laws of a run say, as the kernels read it.

    Attributes:
        laws: rows of LAWS.
        directions: C of all laws.
        data, growth: of all laws for dt = 0, and what it grows by with dt.
        forms, rows: the most that what touches has, of components and of unknowns.
    """

    laws: Integers
    directions: Array
    data: Array
    growth: Array
    forms: int
    rows: int

    @staticmethod
    def of(laws: Sequence[LawRows], half: Sequence[LawRows], dt: float) -> LawTables | None:
        """Return the tables of laws in steps of dt and of half that; None where one has no F_n."""
        normals = [_normal(law) for law in laws]
        if min(normals, default=0) < 0:
            return None
        table = np.zeros((len(laws), LAW_ROW), dtype=np.int64)
        directions = [law.C.ravel() for law in laws]
        whole = [_data_of(law) for law in laws]
        for k, law in enumerate(laws):
            table[k, : L_NORMAL + 1] = law.used.size, law.m, law.s, normals[k]
            table[k, L_COMPONENTS : L_COMPONENTS + law.used.size] = law.used
            table[k, L_DIRECTIONS] = sum(part.size for part in directions[:k])
            table[k, L_DATA] = sum(part.size for part in whole[:k])
            table[k, L_SHIFTS : L_SHIFTS + law.used.size] = _shifts(law)
            table[k, L_DISCS] = len(law.discs)
            table[k, L_DISC : L_DISC + 2 * len(law.discs)] = np.ravel(law.disc_rows)
        data, growth = _grown(_joined(whole), _joined(map(_data_of, half)), dt)
        forms = max((law.used.size for law in laws), default=1)
        rows = max((law.m + law.s for law in laws), default=1)
        return LawTables(table, _joined(directions), data, growth, forms, rows)

    def room(self, n_bodies: int, loops: Integers, n_contacts: int) -> tuple[Integers, Array]:
        """Return IR, XR for any contacts up to a number; two halves a form, of which some share a body."""
        n_b, loop_halves = int(loops[N_LOOP_ROWS]), int(loops[N_LOOP_HALVES])
        n_halves = loop_halves + 2 * n_contacts * self.forms
        touched = min(loop_halves + 2 * n_contacts, n_bodies)
        IR, XR = room_for_rows(
            MEMORY,
            n_bodies,
            n_halves,
            n_halves + 3 * touched,
            touched,
            form=n_b + n_contacts * self.forms,
            group=n_b + n_contacts,
            direction=self.directions.size + 1,
            scratch=self.forms * self.rows,
            z=n_b + n_contacts * self.rows,
            law=len(self.laws),
            law_data=self.data.size,
            contact=n_contacts,
            disc=n_contacts * int(self.laws[:, L_DISCS].max(initial=0)),
        )
        IR[[LAWS_GROW, UNIT]] = self.growth.any(), self.directions.size
        MEMORY.part(IR, XR, LAWS)[:] = self.laws
        MEMORY.part(IR, XR, DIRECTIONS)[:] = np.append(self.directions, 1.0)
        MEMORY.part(IR, XR, LAW_DATA)[:] = self.data, self.growth
        return IR, XR


def _joined(parts: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])


def _grown(at_dt: Array, at_half: Array, dt: float) -> tuple[Array, Array]:
    """Return data for dt = 0 and what it grows by with dt, from those of dt and of half that."""
    differs = at_dt != at_half
    growth = np.zeros(at_dt.size)
    growth[differs] = (at_dt[differs] - at_half[differs]) / (0.5 * dt)
    return np.where(differs, at_dt - dt * growth, at_dt), growth


def _normal(law: LawRows) -> int:
    """Return which β is a pure normal force, or the only one of a joint limit; -1 where none is."""
    return 0 if law.m == 1 and law.s == 0 else law.normal


def _shifts(law: LawRows) -> Integers:
    """Return which shift each of the components used takes: of n, t_1, t_2; the only one that of n."""
    if law.used.size == 1:
        return np.zeros(1, dtype=np.int64)
    return np.where(law.used >= FORCE_N, law.used - FORCE_N, -1)


def _data_of(law: LawRows) -> Array:
    bounds = law.beta_lower, law.beta_upper, law.sigma_lower, law.sigma_upper
    return np.concatenate([np.ravel(part) for part in (law.N, law.P, law.R, law.r, *bounds, law.disc_mu)])
