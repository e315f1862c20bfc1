"""Several bodies in one impact: the order of resolving them is asked for, that of numbering them is not."""

import itertools

import numpy as np
import pytest
from box_heaps import boxes, cradle, heap

import mcpframe as mf
from mcpframe.simulation.engine import Engine

EXACT = 1e-9
WAYS = [("os", "lemke"), ("os", "auto"), ("os", "path"), ("mc", "lemke"), ("nmc", "lemke")]
every_way = pytest.mark.parametrize(("formulation", "solver"), WAYS)


def orders(n):
    """Some ways to number n bodies: as they lie, backwards, from the middle, shuffled."""
    shuffled = [np.random.default_rng(seed).permutation(n) for seed in range(3)]
    return [np.arange(n), np.arange(n)[::-1], np.roll(np.arange(n), n // 2), *shuffled]


def hit(scene):
    return Engine(scene).advance(scene.initial_state(), 0, 1)


def speeds(block, order):
    """Speeds of the bobs of a cradle as they lie, m/s."""
    found = np.empty(len(order))
    found[list(order)] = 10.0 * block.theta_dot[-1]
    return found


@every_way
@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_a_cradle_one_after_the_other_lets_the_last_ball_leave_alone(n, formulation, solver):
    for order in orders(n):
        start = [1.0] + [0.0] * (n - 1)
        way = {"impacts": "sequential", "formulation": formulation, "solver": solver}
        block = hit(cradle(start, order, **way))
        np.testing.assert_allclose(speeds(block, order), start[::-1], atol=EXACT)
        assert block.impacts.energy_after[0] == pytest.approx(block.impacts.energy_before[0], rel=EXACT)


@every_way
@pytest.mark.parametrize("n", [3, 5, 6])
def test_a_cradle_at_once_keeps_energy_and_momentum_in_every_numbering(n, formulation, solver):
    """Reflection of the rates: 2/n for all but the first, which goes back by 1 - 2/n."""
    known = [2.0 / n - 1.0] + [2.0 / n] * (n - 1)
    for order in orders(n):
        block = hit(cradle([1.0] + [0.0] * (n - 1), order, formulation=formulation, solver=solver))
        np.testing.assert_allclose(speeds(block, order), known, atol=EXACT)
        assert block.impacts.energy_after[0] == pytest.approx(block.impacts.energy_before[0], rel=EXACT)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_balls_from_both_sides_are_a_tie_and_stay_symmetric(order):
    """Both outer balls arrive at the same speed; resolved together, they leave as they came."""
    block = hit(cradle([1.0, 0.0, 0.0, -1.0], order, impacts="sequential"))
    np.testing.assert_allclose(speeds(block, order), [-1.0, 0.0, 0.0, 1.0], atol=EXACT)


def test_what_lands_flat_is_a_tie_of_its_corners():
    """One after the other the corners would turn it; equally fast, they rebound together."""
    box = mf.systems.box()
    start = {"theta_dot": [0, 0, -1.0, 0, 0, 0]}
    way = mf.Stepping(dt=1e-6, impacts="sequential")
    block = hit(mf.Scene(box, **start, materials=mf.Material(0.3, 0.5), stepping=way))
    np.testing.assert_allclose(block.theta_dot[-1], [0, 0, 0.5, 0, 0, 0], atol=2e-5)
    assert block.impacts.n_contacts[0] == 4


@every_way
@pytest.mark.parametrize("impacts", ["simultaneous", "sequential"])
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_a_heap_rebounds_alike_in_every_numbering_and_way(restitution_model, impacts, formulation, solver):
    """Without friction impulses do what they do whoever finds them."""
    law = {"impacts": impacts, "restitution_model": restitution_model}
    for seed, order in zip(range(8), itertools.cycle((reverse, turn)), strict=False):
        expected = rates(hit(heap(seed, 0.6, 0.0, **law)), np.arange)
        found = rates(hit(heap(seed, 0.6, 0.0, order, formulation=formulation, solver=solver, **law)), order)
        np.testing.assert_allclose(found, expected, atol=1e-7)


def reverse(n):
    return np.arange(n)[::-1]


def turn(n):
    return np.roll(np.arange(n), 1)


def rates(block, order):
    """Rates body by body, as the heap was made."""
    given = block.theta_dot[-1].reshape(-1, 6)
    found = np.empty_like(given)
    found[order(len(given))] = given
    return found


@every_way
@pytest.mark.parametrize("n", [2, 3])
def test_boxes_that_never_touch_each_other_do_not_feel_their_numbers(n, formulation, solver):
    """No impact adds energy, and each box moves alike, until the first of them lands on a whole face.

    There, at 0.130 s, friction at four corners has several solutions, all certified.
    """
    way = {"formulation": formulation, "solver": solver, "duration": 0.14}
    expected = places(mf.simulate(boxes(n, np.arange(n), duration=0.14)), np.arange(n))
    for order in (np.arange(n), np.arange(n)[::-1]):
        run = mf.simulate(boxes(n, order, **way))
        assert np.count_nonzero(run.impacts.time < 0.125) >= 3
        assert (run.impacts.energy_after <= run.impacts.energy_before).all()
        np.testing.assert_allclose(places(run, order)[:125], expected[:125], atol=EXACT)


def places(run, order):
    """Coordinates of the boxes as they lie, step by step."""
    given = run.theta.reshape(len(run.time), -1, 7)
    found = np.empty_like(given)
    found[:, order] = given
    return found
