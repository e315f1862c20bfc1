"""Every formulation makes the same motion: some steps of the motions with known ends, against `os`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mcpframe as mf
from truth.answers import BOTH_SCHEMES, Answers, Way, certified, system, zero
from truth.articulated.drives import pd_arm
from truth.orders import LASTING, SMOOTH

STEPS = 12
SAME = 1e-9
"""Radians and metres after twelve steps with certified residuals of 1e-9."""


@system("every formulation, 15 systems", "12 steps as in os", BOTH_SCHEMES, BOTH_SCHEMES)
def formulations_agree(way: Way) -> Answers:
    """Formulations that take closures, each by one scheme or the other; in full length by both, 100 steps."""
    others = sorted(set(mf.available_formulations()) - {"os"})
    for number, (name, motion) in enumerate({**SMOOTH, **LASTING, "PD arm": pd_arm}.items()):
        one, dt = motion(), 1e-3
        duration = dt * (100 if way.full else STEPS)
        known = one.run(way, dt, duration=duration)
        turn = (number + (way.scheme == "time_stepping")) % 2
        for formulation in others if way.full else others[turn::2]:
            run = one.run(replace(way, formulation=formulation), dt, duration=duration)
            yield replace(certified(run), quantity=f"{name}, {formulation}: steps not certified")
            off = np.abs(run.theta - known.theta).max()
            yield zero(f"{name}, {formulation}: coordinates", off, SAME, "certified residuals")
