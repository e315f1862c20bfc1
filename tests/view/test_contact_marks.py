"""Marks gather the contacts of a short time: each once, with its mean force."""

import numpy as np
import pytest
from runs import header

from mcpframe.simulation.recording.steps import SEPARATING, SLIDING, STICKING, ContactTable, StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.contact_marks import contact_marks

DT = 0.01


def trajectory(*rows):
    """A run of which row k is a list of (body_a, body_b, key, x, impulse along z, mode)."""
    flat = [row for step in rows for row in step]
    a, b, key, x, impulse, mode = (np.array(column) for column in zip(*flat, strict=True))
    zeros = np.zeros(len(flat))
    contacts = ContactTable(
        body_a=a,
        body_b=b,
        key=key,
        point=np.column_stack([x, zeros, zeros]),
        normal=np.ones((len(flat), 3)),
        impulse=np.column_stack([zeros, zeros, impulse]),
        mode=mode,
    )
    n = len(rows)
    still = np.zeros((n, 3))
    time, counts = DT * np.arange(n), [len(step) for step in rows]
    block = StepBlock(time=time, theta=still, theta_dot=still, n_contacts=counts, contacts=contacts)
    return Trajectory(header(), block)


RUN = trajectory(
    [],
    [(0, -1, 5, 0.1, 4.0, STICKING), (1, 0, 5, 9.0, 0.5, SLIDING)],
    [(0, -1, 5, 0.2, 2.0, SLIDING)],
    [(0, -1, 5, 0.3, 0.0, SEPARATING), (0, -1, 6, 1.0, 1.0, STICKING)],
)


def test_a_contact_is_shown_once_with_its_mean_force():
    marks = contact_marks(RUN, 3, 2.5 * DT)
    assert marks.body_a.tolist() == [0, 0, 1]
    assert marks.point[:, 0].tolist() == [0.3, 1.0, 9.0]  # where it was last
    np.testing.assert_allclose(marks.force[:, 2], np.array([6.0, 1.0, 0.5]) / (3 * DT))
    assert marks.mode.tolist() == [STICKING, STICKING, SLIDING]  # when it carried most


def test_a_step_shows_its_own_contacts_at_least():
    marks = contact_marks(RUN, 2, 1e-9)
    assert marks.point[:, 0].tolist() == [0.2]
    assert marks.force[0, 2] == pytest.approx(2.0 / DT)


def test_the_first_step_has_no_time_to_average_over():
    marks = contact_marks(RUN, 0, 1.0)
    assert marks.force.shape == (0, 3)
    touching = trajectory([(0, -1, 1, 0.0, 1.0, STICKING)])
    assert contact_marks(touching, 0, 1.0).force.tolist() == [[0.0, 0.0, 0.0]]


def test_forces_act_on_links_and_against_each_other():
    points, forces, modes = contact_marks(RUN, 1, DT / 2).arrows()
    assert points[:, 0].tolist() == [0.1, 9.0, 9.0]
    np.testing.assert_allclose(forces[:, 2] * DT, [4.0, 0.5, -0.5])
    assert modes[1] == modes[2], "both arrows of a contact have its mode"
    world_first = trajectory([], [(-1, 2, 1, 0.0, 3.0, STICKING)])
    assert contact_marks(world_first, 1, DT / 2).arrows()[1][0, 2] == pytest.approx(-3.0 / DT)
