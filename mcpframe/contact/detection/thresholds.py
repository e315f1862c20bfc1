"""When directions, lines and gaps count as the same; the kernels and the pairs without closed forms agree."""

from __future__ import annotations

import math

NEARLY_FACE = 0.995
"""Cosine of the angle between a normal and that of a face above which the patch along the face counts."""
NEARLY_PARALLEL = 0.05
"""Sine of the angle between two axes, or an axis and an edge, below which the ends of their common stretch
are contacts of their own."""
PARALLEL = 1e-14
"""Square of the sine below which lines have no crossing."""
REACHED = 1e-9
"""Part of the sizes within which two gaps are the same."""
NO_GAP = math.inf
"""Least gap of no contacts."""
