"""Columns of steps are checked, sliced and joined without changing a bit."""

import numpy as np
import pytest
from runs import assert_same_steps, header, steps

from mcpframe import ProblemError, Status
from mcpframe.simulation.recording.steps import (
    MODES,
    NO_CONTACTS,
    NONE,
    SOLVED,
    STATUSES,
    ContactTable,
    StepBlock,
)


def test_what_is_left_out_is_filled_with_defaults():
    block = StepBlock(time=[0.0, 1.0], theta=np.zeros((2, 3)), theta_dot=np.zeros((2, 3)))
    assert len(block) == 2
    assert np.isnan(block.residual).all()
    assert block.status.tolist() == [NONE, NONE]
    assert len(block.contacts) == len(block.impacts) == 0


def test_codes_name_statuses_and_modes():
    assert [Status[name] for name in STATUSES] == list(Status)
    assert STATUSES[SOLVED] == "SOLVED"
    assert MODES == ("separating", "sticking", "sliding")


def test_columns_of_the_right_type_are_not_copied():
    theta = np.zeros((1, 2))
    assert StepBlock(time=[0.0], theta=theta, theta_dot=np.zeros((1, 2))).theta is theta


def test_joining_parts_gives_the_whole_and_copies():
    whole = steps(header().model, 12)
    parts = [whole.rows(0, 5), whole.rows(5, 5), whole.rows(5, 12)]
    joined = StepBlock.concatenate(parts)
    assert_same_steps(joined, whole)
    assert not np.shares_memory(joined.theta, whole.theta)
    assert not joined.theta.flags.writeable


def test_rows_take_their_contacts_along():
    whole = steps(header().model, 12)
    part = whole.rows(7, 9)
    assert len(part.contacts) == whole.n_contacts[7:9].sum() > 0
    np.testing.assert_array_equal(
        part.contacts.point, whole.contacts.point[whole.contact_start[7] : whole.contact_start[9]]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": np.zeros((3, 2))}, r"theta: shape \(3, 2\), not \(2, n_theta\)"),
        ({"theta_dot": np.zeros(2)}, r"theta_dot: shape \(2,\), not \(2, N\)"),
        ({"status": [0, 300]}, "status: int64 does not fit into int8"),
        ({"iterations": [0.5, 1.0]}, "iterations: float64 does not fit"),
        ({"iterations": [np.nan, 1.0]}, "iterations: float64 does not fit"),
        ({"residual": ["small", "large"]}, "residual: <U5 does not fit"),
        ({"n_contacts": [1, 0]}, "n_contacts counts 1 contacts, the table has 0"),
        ({"n_impacts": [-1, 1]}, "n_impacts counts 0 impacts"),
        ({"theta": None}, "theta is missing"),
    ],
)
def test_a_column_that_does_not_fit_is_named(change, message):
    good = {"time": [0.0, 1.0], "theta": np.zeros((2, 3)), "theta_dot": np.zeros((2, 3))}
    with pytest.raises(ProblemError, match=message):
        StepBlock(**{**good, **change})


def test_a_contact_has_three_coordinates():
    with pytest.raises(ProblemError, match=r"point: shape \(1, 2\), not \(1, 3\)"):
        ContactTable(
            body_a=[0],
            body_b=[-1],
            point=[[0.0, 0.0]],
            normal=np.ones((1, 3)),
            impulse=np.ones((1, 3)),
            mode=[0],
        )
    assert NO_CONTACTS.point.shape == (0, 3)
