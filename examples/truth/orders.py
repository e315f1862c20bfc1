"""Order and constant: errors of motions with known ends, at steps of 1, 1/2 and 1/4 ms.

An order alone is not a truth: the error at a millisecond has its bound too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

import mcpframe as mf
from truth.answers import BOTH_SCHEMES, Answers, Way, system, zero
from truth.articulated.chains import double_pendulum, rubbing_tip
from truth.articulated.mechanisms import bead_on_a_hoop, four_bar
from truth.articulated.space_rods import rods_on_ice, spherical_pendulum
from truth.articulated.spins import heavy_top, tumbling_motion, wheel_on_a_ball
from truth.motions import DT, Motion
from truth.touching.passing import plank_on_a_log, rod_on_ice
from truth.touching.rolling import across_a_slope, ball_down_a_slope, coin, ladder, slide_to_roll

ORDER, FOURTH, SHORT = 2, 4, 0.1
"""Of the default integrator, of rk4, and how far two steps may fall short of it: the next power's share."""
EXACT = 1e-10
"""Below this the certified residuals of some thousand steps are what is left."""
SMOOTH: dict[str, Callable[[], Motion]] = {
    "tumbling body": tumbling_motion,
    "heavy top": heavy_top,
    "double pendulum": double_pendulum,
    "four-bar": four_bar,
    "bead on a hoop": bead_on_a_hoop,
    "double pendulum in space": spherical_pendulum,
    "wheel on a ball": wheel_on_a_ball,
}
LASTING: dict[str, Callable[[], Motion]] = {
    "coin in a circle": coin,
    "ladder, mu = 0": partial(ladder, 0.0),
    "ladder, mu = 0.1": partial(ladder, 0.1),
    "rubbing tip": rubbing_tip,
    "rod on ice": rod_on_ice,
    "two rods on ice": rods_on_ice,
    "plank on a log": plank_on_a_log,
}


HELD: dict[str, tuple[Callable[[], Motion], float]] = {
    "coin in a circle": (coin, 4e-3),
    "ladder, mu = 0.1": (partial(ladder, 0.1), 1e-2),
    "rubbing tip": (rubbing_tip, 8e-3),
    "ball that slides, then rolls": (slide_to_roll, 4e-3),
    "ball down a slope": (ball_down_a_slope, 1e-2),
}
"""Contacts that last, and a step at which rk4 is not down to rounding yet."""


@system("order in smooth motion, seven systems", "errors fall as dt²; bound at 1 ms")
def smooth_motion_is_of_second_order(way: Way) -> Answers:
    """Without contact both schemes are the same."""
    for name, motion in SMOOTH.items():
        yield from _order(way, name, motion())


@system("order in lasting contact, seven systems", "errors fall as dt²; bound at 1 ms", BOTH_SCHEMES)
def lasting_contact_is_of_second_order(way: Way) -> Answers:
    """Rolling, sliding without and with friction: contacts that neither open nor change."""
    for name, motion in LASTING.items():
        yield from _order(way, name, motion())


@system("order of rk4 in lasting contact, six systems", "errors fall as dt⁴; a parabola to rounding")
def rk4_is_of_fourth_order_in_contact(way: Way) -> Answers:
    """Contacts that stick, roll and slide, and one that stops sliding: modes are kept at every stage."""
    for name, (motion, dt) in HELD.items():
        one, two = (_error(replace(way, integrator="rk4"), motion(), step) for step in (dt, dt / 2))
        shown = np.log2(one / two) if two > EXACT else np.inf
        text = f"{1e3 * dt:g} and {5e2 * dt:g} ms"
        yield zero(f"{name}: order short of {FOURTH}", np.maximum(FOURTH - shown, 0.0), 2 * SHORT, text)
    error = _error(replace(way, integrator="rk4"), across_a_slope(0.2), 4e-3)
    yield zero("particle across a slope, place at 4 ms, m", error, EXACT, "a parabola: rounding")


def _order(way: Way, name: str, motion: Motion) -> Answers:
    steps = DT * np.array([1.0, 0.5, 0.25])
    errors = [_error(way, motion, float(dt)) for dt in steps]
    one, two = errors[1:]  # larger steps may not have come to their order yet
    shown = np.log2(one / two) if two > EXACT else np.inf
    yield zero(f"{name}: order short of {ORDER}", np.maximum(ORDER - shown, 0.0), SHORT, "1/2 to 1/4 ms")
    yield zero(f"{name}: {motion.quantity}, at 1 ms", errors[0], motion.bound, "the constant")


def _error(way: Way, motion: Motion, dt: float) -> float:
    """Return the error of a run; that of one that ends early is no number."""
    try:
        return motion.error(motion.run(way, dt))
    except mf.McpframeError:
        return np.nan
