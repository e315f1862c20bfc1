"""The papers that this framework follows, by the short names under which the code cites them."""

from __future__ import annotations

import re
from collections.abc import Iterable

PAPERS = {
    "J14": "A. Jain, Contact dynamics formulation using minimal coordinates, 2014",
    "J12": "A. Jain, C. Crean, C. Kuo, H. von Bremen, S. Myint, Minimal coordinate formulation of contact "
    "dynamics in operational space, 2012",
    "J11": "A. Jain and others, an earlier form of Minimal coordinate formulation of contact dynamics in "
    "operational space, 2011",
    "G06": "R. Gayle, M. C. Lin, D. Manocha, Adaptive dynamics with efficient contact handling for "
    "articulated robots, 2006",
    "S00": "P. Song, M. Yashima, V. Kumar, Dynamic simulation for grasping and whole arm manipulation, 2000",
}


def in_full(texts: Iterable[str]) -> list[str]:
    """Return texts in which every paper is named in full behind its first mention.

    >>> in_full(["J14, Table 1", "J14, Table 2"])
    ['J14 (A. Jain, Contact dynamics formulation using minimal coordinates, 2014), Table 1', 'J14, Table 2']
    """
    told: set[str] = set()

    def name(match: re.Match[str]) -> str:
        short = match[0]
        if short in told or PAPERS[short] in match.string:
            return short
        told.add(short)
        return f"{short} ({PAPERS[short]})"

    return [re.sub(rf"\b({'|'.join(PAPERS)})\b", name, text) for text in texts]
