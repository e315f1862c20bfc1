"""Problems along a trajectory: which belong together, in which order.

The name of a problem ends with its place along the run or the corpus that it was taken from, as in
``"fall/links=12/step=00340"`` and ``"humanoid/000340"``.
"""

from __future__ import annotations

import re

PLACE = re.compile(r"^(?P<run>.+)/(?:(?:step|state)=)?(?P<step>\d+)$")


def place(case: str) -> tuple[str, int] | None:
    """Return the run that a problem was taken from and its number there, or None."""
    found = PLACE.match(case)
    return (found["run"], int(found["step"])) if found else None
