"""Two complementarity problems with solutions on paper, for every solver."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from truth.answers import SOLVERS, Answer, Answers, Way, system

EVERY_SOLVER = tuple(Way("given", solver) for solver in (*SOLVERS, "enum"))
CERTIFIED = 1e-8
"""Certified residuals are at most 1e-9 (1 + |q|); the inverses of these matrices are of size one."""


@system("LCP 1x1: M = 1, q = -9.8", "z = 9.8", EVERY_SOLVER)
def one_row_is_solved(way: Way) -> Answers:
    """M = 1, q = -9.8."""
    solution = mf.solve(mf.MixedLCP([[1.0]], [-9.8]), way.solver)
    yield Answer("z", 9.8, solution.z[0], CERTIFIED, "certified residual")


@system("LCP 4x4", "z = (2.8, 0, 0.8, 1.2)", EVERY_SOLVER)
def four_rows_are_solved(way: Way) -> Answers:
    """M = [[0, 0, -1, -1], [0, 0, 1, -2], [1, -1, 2, -2], [1, 2, -2, 4]], q = (2, 2, -2, -6)."""
    M = np.array([[0, 0, -1, -1], [0, 0, 1, -2], [1, -1, 2, -2], [1, 2, -2, 4]])
    solution = mf.solve(mf.MixedLCP(M, [2, 2, -2, -6]), way.solver)
    for i, known in enumerate((2.8, 0.0, 0.8, 1.2)):
        yield Answer(f"z_{i + 1}", known, solution.z[i], CERTIFIED, "certified residual")
