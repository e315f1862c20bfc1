"""Large sparse problems of mathematical physics and finance, and one solve of one of them, measured.

obstacle   a membrane over bumps: -Laplace v + f >= 0, v >= psi, complementary  [Rodrigues 1987]
bearing    the pressure in a journal bearing, -div(h^3 grad p) + h' >= 0, p >= 0  [Cryer 1971]
option     an American put, one implicit step of Black and Scholes, V >= payoff  [Wilmott et al. 1995]
"""

from __future__ import annotations

import math
import resource
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from measuring.apart import doing

import mcpframe as mf

ECCENTRICITY = 0.8
"""Of the journal: how far its axis is off, as a share of the gap."""
RATE, VOLATILITY, STRIKE, STEP = 0.05, 0.3, 100.0, 0.01
"""Of the option: interest and volatility per year, strike, years of one step."""


def obstacle(n: int) -> mf.MixedLCP:
    """Return the obstacle problem on a square grid of about n points."""
    k = round(np.sqrt(n))
    h, x = 1.0 / (k + 1), np.arange(1, k + 1) / (k + 1)
    X, Y = np.meshgrid(x, x)
    psi = 0.5 * np.sin(9.0 * X) * np.sin(7.0 * Y) - 0.2
    return mf.MixedLCP(
        _divergence(np.ones((k, k + 1)), np.ones((k + 1, k))), 8.0 * h * h * np.ones(k * k), psi.ravel()
    )


def bearing(n: int) -> mf.MixedLCP:
    """Return the journal bearing on a square grid of about n points: angle by width."""
    k = round(np.sqrt(n))
    step = 2.0 * np.pi / (k + 1)
    at = step * np.arange(k + 2)
    gap = 1.0 + ECCENTRICITY * np.cos(at)
    east = 0.5 * (gap[1:] ** 3 + gap[:-1] ** 3)
    across = gap[1:-1] ** 3
    M = _divergence(np.tile(east, (k, 1)), np.tile(across, (k + 1, 1)))
    slope = 0.5 * step * (gap[2:] - gap[:-2])
    return mf.MixedLCP(M, np.tile(slope, k))


def option(n: int) -> mf.MixedLCP:
    """Return one time step of an American put on n prices up to three strikes: V - payoff >= 0."""
    price = 3.0 * STRIKE * np.arange(1, n + 1) / (n + 1)
    i = np.arange(1.0, n + 1.0)
    spread, drift = 0.5 * STEP * VOLATILITY**2 * i**2, 0.5 * STEP * RATE * i
    diagonals = [-(spread - drift)[1:], 1.0 + 2.0 * spread + STEP * RATE, -(spread + drift)[:-1]]
    payoff = np.maximum(STRIKE - price, 0.0)
    row = 1.0 / diagonals[1]  # rows in units of their diagonal: spread reaches n^2
    M = sp.csr_array(sp.diags_array(row) @ sp.diags_array(diagonals, offsets=[-1, 0, 1]))
    right = payoff.copy()
    right[0] += (spread - drift)[0] * STRIKE  # worth the strike at a price of zero
    return mf.MixedLCP(M, -row * right, payoff)


def _divergence(across: Any, down: Any) -> sp.csr_array:
    """Return -div(a grad .) of five points, zero outside; a on the edges between columns and between rows."""
    k = down.shape[1]
    diagonal = (across[:, :-1] + across[:, 1:] + down[:-1] + down[1:]).ravel()
    beside = across[:, 1:].copy()
    beside[:, -1] = 0.0
    right, below = beside.ravel()[:-1], down[1:-1].ravel()
    bands = [-below, -right, diagonal, -right, -below]
    return sp.csr_array(sp.diags_array(bands, offsets=[-k, -1, 0, 1, k]))


Maker = Callable[[int], mf.MixedLCP]
PROBLEMS: dict[str, Maker] = {"obstacle": obstacle, "bearing": bearing, "option": option}


def measure(problem: str, n: int, solver: str, limit: float, memory: float = math.inf) -> dict[str, Any]:
    """Solve one problem; return how it ended, processor time [s] and memory at its peak [MB].

    Args:
        limit: seconds of wall time; memory: gigabytes that the process may ask for.
    """
    if memory < math.inf:
        resource.setrlimit(resource.RLIMIT_AS, (int(1e9 * memory),) * 2)
    made = PROBLEMS[problem](n)
    mf.solve(PROBLEMS[problem](100), solver)  # all that is loaded once
    doing("solving")
    clock = process_time()
    solution = mf.solve(made, solver, tol=1e-8, time_limit=limit)
    seconds = process_time() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {
        "n": made.n,
        "status": solution.status.name,
        "residual": solution.scaled_residual,
        "iterations": solution.iterations,
        "seconds": seconds,
        "megabytes": peak,
        "message": solution.message,
    }
