"""How ε of proximal steps falls and rises: one rule for all methods that take them, compiled or not.

A proximal step, r = P(r_k - u(r) / ε), keeps r near r_k along self-stresses, where nothing else determines
it. The smaller ε is, the farther the step goes, and the harder it is to find. So ε falls as long as steps are
easy, and rises, and stays for a while, where one is not.
"""

from __future__ import annotations

from mcpframe.jit import inline

MOST_EPS = 1.0
SHRINK, EASY_SHRINK, GROW = 0.3, 0.1, 10.0
"""What ε is multiplied by after a step, an easy one, and one that was not found."""
EASY, HARD, MOST_STEPS = 2, 8, 20
"""Linear systems up to which a step was easy, from which on ε stays, and at most."""
HELD = 3
"""Steps for which ε stays after one that was not found."""
HALVINGS, SUFFICIENT = 8, 1e-4
"""Of the line search within a step: how often it halves, and the share of its length that must be gained."""


def eps_after(eps: float, held: int, systems: int, found: bool, least: float) -> tuple[float, int]:
    """Return ε of the next step, and for how many it is held, after one that took so many linear systems."""
    if not found:
        return min(MOST_EPS, GROW * eps), HELD
    if systems < HARD and held <= 1:
        return max(least, eps * (EASY_SHRINK if systems <= EASY else SHRINK)), 0
    return eps, held - 1


next_eps = inline(eps_after)
