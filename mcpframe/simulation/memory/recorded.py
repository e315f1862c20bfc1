"""The rows that the stepping kernels record, as a block of steps."""

from __future__ import annotations

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
        self.width = at.OUT_HEAD + self.n_theta + self.n_dofs
        self.steps = np.empty(STEPS * self.width)
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
        rows = self.steps[: IS[at.N_OUT] * self.width].reshape(-1, self.width).copy()
        theta_end = at.OUT_HEAD + self.n_theta
        solved = rows[:, at.O_SOLVED] > 0
        status = np.where(rows[:, at.O_STATUS] > 0, rows[:, at.O_STATUS] - 1, SOLVED)
        return StepBlock(
            time=rows[:, at.O_TIME],
            theta=rows[:, at.OUT_HEAD : theta_end],
            theta_dot=rows[:, theta_end:],
            kinetic_energy=rows[:, at.O_KINETIC],
            potential_energy=rows[:, at.O_POTENTIAL],
            residual=rows[:, at.O_RESIDUAL],
            status=np.where(solved | (rows[:, at.O_STATUS] > 0), status, NONE).astype(np.int8),
            solver=np.where(solved, np.where(rows[:, at.O_AUTO] > 0, AUTO, ASKED), NONE),
            drift=rows[:, at.O_DRIFT],
            iterations=rows[:, at.O_ITERATIONS].astype(np.int64),
            build_seconds=seconds * rows[:, at.O_BUILD],
            solve_seconds=seconds * rows[:, at.O_SOLVE],
            recover_seconds=seconds * rows[:, at.O_RECOVER],
            n_contacts=rows[:, at.O_CONTACTS].astype(np.int64),
            penetration=rows[:, at.O_PENETRATION],
            n_impacts=rows[:, at.O_IMPACTS].astype(np.int64),
            certificate=rows[:, at.O_CERTIFICATE],
            active_joints=rows[:, at.O_ACTIVE].astype(np.int64),
            rigid_error=rows[:, at.O_ERROR],
            rigid_loss=rows[:, at.O_LOSS],
            contact_model=rows[:, at.O_YIELDED].astype(np.int8),
            unique=rows[:, at.O_UNIQUE].astype(np.int8),
            margin=rows[:, at.O_MARGIN],
            growth=rows[:, at.O_GROWTH],
            force_jump=rows[:, at.O_JUMP],
            layer_energy=rows[:, at.O_LAYER],
            contacts=self._contacts(int(IS[at.N_OUT_CONTACTS]), shape_link),
            impacts=self._impacts(int(IS[at.N_OUT_IMPACTS])),
        )

    def _contacts(self, n: int, shape_link: Indices) -> ContactTable:
        rows = self.contacts[: n * at.OUT_CONTACT].reshape(-1, at.OUT_CONTACT).copy()
        key = rows[:, at.C_NAME].astype(np.int64)
        a, b = np.divmod(key // FEATURES, max(shape_link.size, 1))
        return ContactTable(
            body_a=shape_link[a],
            body_b=shape_link[b],
            key=key,
            point=_three(rows, at.C_POINT),
            normal=_three(rows, at.C_NORMAL),
            gap=rows[:, at.C_GAP],
            impulse=_three(rows, at.C_IMPULSE),
            stretch=_three(rows, at.C_STRETCH),
            mode=rows[:, at.C_MODE].astype(np.int8),
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


def _three(rows: Array, start: int) -> Array:
    return rows[:, start : start + 3]
