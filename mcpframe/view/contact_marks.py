"""Contacts as a picture shows them: points, modes and mean forces over a short time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.simulation.recording.steps import NONE, Codes, Indices
from mcpframe.simulation.recording.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class ContactMarks:
    """Contacts in a picture.

    Attributes:
        point: where each was last [m, 3].
        normal: from B to A [m, 3].
        force: mean force on A [m, 3], N.
        mode: when it carried most [m].
        body_a, body_b: indices of links, -1 for the world [m].
    """

    point: Array
    normal: Array
    force: Array
    mode: Codes
    body_a: Indices
    body_b: Indices

    def arrows(self) -> tuple[Array, Array, Codes]:
        """Return points and forces on links [k, 3], and modes: one for a contact with the world, else two."""
        on_a, on_b = self.body_a != NONE, self.body_b != NONE
        points = np.concatenate([self.point[on_a], self.point[on_b]])
        forces = np.concatenate([self.force[on_a], -self.force[on_b]])
        return points, forces, np.concatenate([self.mode[on_a], self.mode[on_b]])


def contact_marks(trajectory: Trajectory, k: int, seconds: float) -> ContactMarks:
    """Return the contacts of step k and of the steps in a time before it, each contact once."""
    time, start = trajectory.time, trajectory.steps.contact_start
    first = min(int(np.searchsorted(time, time[k] - seconds, side="right")), k)
    passed = time[k] - time[max(first - 1, 0)]
    rows = trajectory.contacts.rows(start[first], start[k + 1])
    identity = np.column_stack([rows.body_a, rows.body_b, rows.key])
    _, which = np.unique(identity, axis=0, return_inverse=True)
    impulse = np.zeros((which.max(initial=-1) + 1, 3))
    np.add.at(impulse, which, rows.impulse)
    last, strongest = np.zeros((2, len(impulse)), dtype=np.int64)
    last[which] = np.arange(len(rows))  # of several assignments the last one holds
    by_size = np.argsort(np.linalg.norm(rows.impulse, axis=1), kind="stable")
    strongest[which[by_size]] = by_size
    force = impulse / passed if passed > 0.0 else np.zeros_like(impulse)
    of_last = rows.point[last], rows.normal[last]
    return ContactMarks(*of_last, force, rows.mode[strongest], rows.body_a[last], rows.body_b[last])
