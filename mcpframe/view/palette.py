"""Colours and markers of every plot; colour-blind readers can tell them apart [Okabe, Ito]."""

from __future__ import annotations

COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"),
    *("#D55E00", "#000000", "#999933", "#882255", "#777777"),
)
BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, BLACK = COLOURS[:7]
CLUSTERS = COLOURS[:6]
"""Of neighbouring rigid clusters, in turn."""
MARKERS = "osD^vPX*hp"
ALL, SOME, NONE = "#DCEAF5", "#F5C04A", "#D55E00"
"""Fills for: all problems solved (pale), most of them, none."""


def style(k: int) -> tuple[str, str]:
    """Return colour and marker of the k-th of several things."""
    return COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
