"""The rows that the stepping kernels record, as a block of steps."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection.records import FEATURES, MAX_CONTACTS
from mcpframe.multibody.model.model import Model
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.recording.steps import (
    ASKED,
    AUTO,
    NONE,
    SOLVED,
    ContactTable,
    ImpactTable,
    StepBlock,
)

Indices = NDArray[np.int64]

STEPS, CONTACTS_PER_STEP = 4096, 12
"""Room for rows; where it is used up, they are taken away and the steps go on. Memory that no row reaches is
never touched."""


class RecordedRows:
    """Tables that the kernels write to."""

    def __init__(self, model: Model, max_impacts: int) -> None:
        self.n_theta, self.n_dofs = model.n_theta, model.n_dofs
        self.steps = np.empty(STEPS * (at.OUT_HEAD + self.n_theta + self.n_dofs))
        self.contacts = np.empty(STEPS * CONTACTS_PER_STEP * at.OUT_CONTACT)
        self.impacts = np.empty((STEPS + max_impacts) * at.OUT_IMPACT)

    def clear(self, IS: Indices, ID: Indices) -> None:
        """Begin anew; a single step always has room."""
        of_a_step = int(ID[MAX_CONTACTS] + at.TAKEN_ROOM * IS[at.CAPACITY]) * at.OUT_CONTACT
        if self.contacts.size < 2 * of_a_step:
            self.contacts = np.empty(4 * of_a_step)
        IS[[at.N_OUT, at.N_OUT_CONTACTS, at.N_OUT_IMPACTS]] = 0
        IS[at.MAX_OUT] = STEPS
        IS[at.MAX_OUT_CONTACTS] = self.contacts.size // at.OUT_CONTACT
        IS[at.MAX_OUT_IMPACTS] = self.impacts.size // at.OUT_IMPACT

    def block(self, IS: Indices, shape_link: Indices, seconds: float) -> StepBlock:
        """Return what was recorded.

        Args:
            IS: integers of the kernels.
            shape_link: link of every shape, -1 for the world.
            seconds: of a cycle.
        """
        told = partial(_column, self.steps, STEPS, int(IS[at.N_OUT]))
        solved, failed = told(at.O_SOLVED) > 0, told(at.O_STATUS)
        status = np.where(failed > 0, failed - 1, SOLVED)
        return StepBlock(
            time=told(at.O_TIME),
            theta=told(at.OUT_HEAD, self.n_theta),
            theta_dot=told(at.OUT_HEAD + self.n_theta, self.n_dofs),
            kinetic_energy=told(at.O_KINETIC),
            potential_energy=told(at.O_POTENTIAL),
            residual=told(at.O_RESIDUAL),
            status=np.where(solved | (failed > 0), status, NONE).astype(np.int8),
            solver=np.where(solved, np.where(told(at.O_AUTO) > 0, AUTO, ASKED), NONE),
            drift=told(at.O_DRIFT),
            iterations=told(at.O_ITERATIONS).astype(np.int64),
            build_seconds=seconds * told(at.O_BUILD),
            solve_seconds=seconds * told(at.O_SOLVE),
            recover_seconds=seconds * told(at.O_RECOVER),
            n_contacts=told(at.O_CONTACTS).astype(np.int64),
            penetration=told(at.O_PENETRATION),
            n_impacts=told(at.O_IMPACTS).astype(np.int64),
            certificate=told(at.O_CERTIFICATE),
            asleep=told(at.O_ASLEEP).astype(np.int64),
            active_joints=told(at.O_ACTIVE).astype(np.int64),
            rigid_error=told(at.O_ERROR),
            rigid_loss=told(at.O_LOSS),
            contact_model=told(at.O_YIELDED).astype(np.int8),
            unique=told(at.O_UNIQUE).astype(np.int8),
            margin=told(at.O_MARGIN),
            growth=told(at.O_GROWTH),
            force_jump=told(at.O_JUMP),
            layer_energy=told(at.O_LAYER),
            contacts=self._contacts(int(IS[at.N_OUT_CONTACTS]), shape_link),
            impacts=self._impacts(int(IS[at.N_OUT_IMPACTS])),
        )

    def _contacts(self, n: int, shape_link: Indices) -> ContactTable:
        told = partial(_column, self.contacts, self.contacts.size // at.OUT_CONTACT, n)
        key = told(at.C_NAME).astype(np.int64)
        a, b = np.divmod(key // FEATURES, max(shape_link.size, 1))
        return ContactTable(
            body_a=shape_link[a],
            body_b=shape_link[b],
            key=key,
            point=told(at.C_POINT, 3),
            normal=told(at.C_NORMAL, 3),
            gap=told(at.C_GAP),
            impulse=told(at.C_IMPULSE, 3),
            stretch=told(at.C_STRETCH, 3),
            mode=told(at.C_MODE).astype(np.int8),
        )

    def _impacts(self, n: int) -> ImpactTable:
        rows = self.impacts[: n * at.OUT_IMPACT].reshape(-1, at.OUT_IMPACT).copy()
        return ImpactTable(
            time=rows[:, at.H_TIME],
            n_contacts=rows[:, at.H_CONTACTS].astype(np.int64),
            n_limits=rows[:, at.H_LIMITS].astype(np.int64),
            energy_before=rows[:, at.H_BEFORE],
            energy_compressed=rows[:, at.H_COMPRESSED],
            energy_after=rows[:, at.H_AFTER],
            penetration=rows[:, at.H_PENETRATION],
            jam=rows[:, at.H_JAM].astype(np.int8),
            certificate=rows[:, at.H_CERTIFICATE],
        )


def _column(table: Array, room: int, n: int, first: int, *width: int) -> Array:
    """Return n rows, numbers or vectors, of the column behind `first` numbers of every row; room for more."""
    start = first * room
    return table[start : start + n * prod(width)].reshape(n, *width).copy()
