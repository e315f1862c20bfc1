"""References: moves from rest to rest, their derivatives, and functions that are checked."""

import numpy as np
import pytest
from trees import random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model
from mcpframe.scene.references import Move, Moves, checked_reference

ROUNDING = 1e-12
STEP = 1e-5
"""Seconds of central differences."""
DIFFERENCES = 1e-6
"""STEP² times third derivatives, up to 360 / T⁵ here, and rounding of size 1e-16 / STEP; with room."""


@pytest.fixture
def model():
    return Model([Link("a", hinge=Hinge("pin"), mass=1.0, inertia=np.eye(3))])


def test_a_move_begins_and_ends_at_rest(model):
    reference = Moves(model, [1.0], [Move([3.0], 0.5, 2.0)])
    for time, place in ((0.0, 1.0), (0.5, 1.0), (1.5, 2.0), (2.5, 3.0), (9.0, 3.0)):
        theta, theta_dot, theta_ddot = reference(time)
        assert theta == pytest.approx([place])
        if place != 2.0:
            assert (theta_dot, theta_ddot) == (0.0, 0.0)
    assert reference(1.5)[1] == pytest.approx([2.0 * 1.875 / 2.0])


def test_rates_are_derivatives_also_of_quaternions(rng):
    """Along the shortest way of all hinges at once, the free one's screw included."""
    model = random_tree(rng, 5, kinds=("pin", "ball", "free", "planar"), root="free")
    ends = [model.random_theta(rng) for _ in range(3)]
    reference = Moves(model, ends[0], [Move(ends[1], 0.0, 1.0), Move(ends[2], 1.5, 1.0)])
    for time in (0.3, 0.7, 1.6, 2.2):
        before, (_, theta_dot, theta_ddot), after = (reference(time + h) for h in (-STEP, 0.0, STEP))
        by_differences = model.difference(before[0], after[0]) / (2 * STEP)
        np.testing.assert_allclose(theta_dot, by_differences, atol=DIFFERENCES)
        np.testing.assert_allclose(theta_ddot, (after[1] - before[1]) / (2 * STEP), atol=DIFFERENCES)


def test_moves_go_on_from_where_the_one_before_ended(model):
    reference = Moves(model, [0.0], [Move([1.0], 0.0, 1.0), Move([-1.0], 2.0, 1.0)])
    assert reference(1.5)[0] == pytest.approx([1.0])
    assert reference(2.5)[0] == pytest.approx([0.0])
    assert reference(3.0)[0] == pytest.approx([-1.0])


def test_moves_that_overlap_or_take_no_time_are_refused(model):
    with pytest.raises(ModelError, match="move 1: start = 0.5 s, but the move before it ends at 1 s"):
        Moves(model, [0.0], [Move([1.0], 0.0, 1.0), Move([2.0], 0.5, 1.0)])
    with pytest.raises(ModelError, match="duration = 0: must be positive"):
        Move([1.0], 0.0, 0.0)
    with pytest.raises(ModelError, match="move: start"):
        Move([1.0], np.nan, 1.0)


def test_coordinates_alone_are_held_for_ever(model):
    theta, theta_dot, theta_ddot = checked_reference(model, [0.3])(7.0)
    assert (theta[0], theta_dot[0], theta_ddot[0]) == (0.3, 0.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (([0.0], [0.0]), "reference at 2 s: it must return theta, theta_dot and theta_ddot"),
        (([0.0], [0.0], [0.0, 1.0]), r"reference at 2 s: shape \(2,\)"),
        (([0.0, 0.0], [0.0], [0.0]), "theta: shape"),
    ],
)
def test_what_a_function_returns_is_checked(model, answer, message):
    with pytest.raises(ModelError, match=message):
        checked_reference(model, lambda time: answer)(2.0)
