"""Tables of the study of robots: times and ratios, and what happened on the way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from measuring.robots import RobotCell
from measuring.run_facts import in_words
from reporting.sheets import Sheet
from reporting.tables import judged

SHARE = 1.0
"""Largest share of MuJoCo's time that ours is meant to take."""


def times_sheet(cells: Sequence[RobotCell]) -> Sheet:
    """Return least times of all engines on all robots; ours as shares of MuJoCo's with the same motors."""
    engines = list(dict.fromkeys(cell.engine for cell in cells))
    columns = ["robot", "dofs", "steps", *engines, "own motors: ours / MuJoCo", "Python: ours / MuJoCo"]
    rows = []
    for name, group in groupby(cells, key=lambda cell: cell.robot):
        own = list(group)
        times = [_microseconds(min(cell.readings)) for cell in own]
        ratios = [judged(_ratio(own, native), SHARE) for native in (True, False)]
        rows.append([name, f"{own[0].dofs}", f"{own[0].steps}", *times, *ratios])
    note = "Times: least of all rounds. Shares: median over the rounds, in each of which all take turns."
    return Sheet("Robots, processor time per step of 1 ms, µs", columns, rows, note)


def _microseconds(seconds: float) -> str:
    """Return a time with three digits, but no power of ten."""
    time = 1e6 * seconds
    return f"{time:.0f}" if time >= 100.0 else f"{time:.3g}"


def _ratio(cells: Sequence[RobotCell], native: bool) -> float:
    """Return the median over the rounds of our time over MuJoCo's: both met the same machine in a round."""
    ours, theirs = (
        np.array(next(cell.readings for cell in cells if cell.native == native and cell.is_peer == is_peer))
        for is_peer in (False, True)
    )
    return float(np.median(ours / theirs))


def events_sheet(cells: Sequence[RobotCell]) -> Sheet:
    """Return what happened on the way, in engines with motors of their own."""
    columns = ["robot", "engine", "contacts, mean", "impacts", "largest overlap, m", "loops open by, m"]
    rows = [
        [
            cell.robot,
            cell.engine,
            f"{cell.contacts:.1f}",
            f"{cell.impacts}",
            f"{cell.depth:.1e}",
            f"{cell.opening:.1e}",
            in_words(cell.failed),
        ]
        for cell in cells
        if cell.native
    ]
    note = "Impacts of MuJoCo, which does not tell: pairs that began to touch, from one step to the next."
    return Sheet("Contacts, overlap, loops, failed steps", [*columns, "failed steps"], rows, note)
