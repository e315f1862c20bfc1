"""The clock of the player stays within the run."""

import pytest

from mcpframe.view.viewer_clock import Clock


def clock(**parts):
    return Clock(**{"start": 1.0, "end": 3.0, "time": 1.0, **parts})


@pytest.mark.parametrize("speed", [0.05, 1.0, 4.0])
def test_time_goes_by_at_its_speed(speed):
    shown = clock(speed=speed)
    shown.advance(0.25)
    assert shown.time == pytest.approx(1.0 + 0.25 * speed)


def test_a_loop_begins_again_and_goes_on():
    shown = clock(time=2.5)
    shown.advance(1.0)
    assert (shown.time, shown.playing) == (pytest.approx(1.5), True)


def test_without_a_loop_it_stops_at_the_end_and_plays_from_the_start():
    shown = clock(loop=False)
    shown.advance(9.0)
    assert (shown.time, shown.playing) == (3.0, False)
    shown.toggle()
    assert (shown.time, shown.playing) == (1.0, True)


def test_a_pause_holds_the_moment():
    shown = clock(time=2.0)
    shown.toggle()
    shown.advance(5.0)
    assert (shown.time, shown.playing) == (2.0, False)


@pytest.mark.parametrize(("asked", "shown"), [(0.0, 1.0), (2.0, 2.0), (9.0, 3.0)])
def test_moments_outside_the_run_are_its_ends(asked, shown):
    moved = clock()
    moved.seek(asked)
    assert moved.time == shown


def test_a_run_of_one_moment_stands_still():
    shown = clock(end=1.0)
    shown.advance(1.0)
    assert (shown.time, shown.playing) == (1.0, False)
