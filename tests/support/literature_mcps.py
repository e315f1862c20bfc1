"""Nonlinear complementarity problems of the literature, as CasADi functions, with their solutions.

Each entry cites its source; `solutions` lists all that are known, `starts` points from which both the Newton
and the path solver must find one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np

from mcpframe import MCP

INF = np.inf


@dataclass(frozen=True)
class Literature:
    """A problem, points to start from, and its solutions (a function of z where they form a set)."""

    name: str
    problem: MCP
    starts: tuple
    solutions: tuple

    def distance(self, z):
        """Return how far z is from the nearest known solution."""
        points = [s(z) if callable(s) else np.array(s) for s in self.solutions]
        return min(np.abs(z - point).max() for point in points)


def mcp(n, formula, lower=0.0, upper=INF):
    """Return the problem of a formula z -> list of n expressions."""
    z = casadi.SX.sym("z", n)
    return MCP(casadi.Function("F", [z], [casadi.vertcat(*formula(z))]), lower, upper)


def quadratic_rows(z, c, d, e):
    """Return the four rows of Josephy's and Kojima's problems, which differ in a few coefficients."""
    return [
        3 * z[0] ** 2 + 2 * z[0] * z[1] + 2 * z[1] ** 2 + z[2] + 3 * z[3] - 6,
        2 * z[0] ** 2 + z[0] + z[1] ** 2 + c * z[2] + 2 * z[3] - 2,
        3 * z[0] ** 2 + z[0] * z[1] + 2 * z[1] ** 2 + 2 * z[2] + d * z[3] - e,
        z[0] ** 2 + 3 * z[1] ** 2 + 2 * z[2] + 3 * z[3] - 3,
    ]


def cournot(c, beta, L=5.0, gamma=1.1):
    """Return the Nash-Cournot equilibrium of firms with marginal cost c + (q / L)^(1 / beta)."""

    def rows(q):
        total = casadi.sum1(q)
        price = (5000.0 / total) ** (1.0 / gamma)
        return [
            c[i] + (q[i] / L) ** (1.0 / beta[i]) - price + q[i] * price / (gamma * total)
            for i in range(len(c))
        ]

    return rows


def mathiesen(alpha=0.75, b_2=1.0, b_3=2.0):
    """Return Mathiesen's Walrasian equilibrium: activity, three prices (homogeneous of degree zero)."""

    def rows(z):
        income = b_2 * z[2] + b_3 * z[3]
        return [
            -z[1] + z[2] + z[3],
            z[0] - alpha * income / z[1],
            b_2 - z[0] - (1.0 - alpha) * income / z[2],
            b_3 - z[0],
        ]

    return rows


def mathiesen_solution(z):
    """Return the solution with the price level of z: activity alpha b_2, p_1 = p_2, p_3 = 0."""
    return np.array([0.75, z[2], z[2], 0.0])


def hs35_rows(z):
    """Return the KKT system of Hock, Schittkowski 35: x_1, x_2, x_3 >= 0 and the multiplier."""
    x, y, s, m = z[0], z[1], z[2], z[3]
    return [
        4 * x + 2 * y + 2 * s - 8 + m,
        2 * x + 4 * y - 6 + m,
        2 * x + 2 * s - 4 + 2 * m,
        3 - x - y - 2 * s,
    ]


def bounded_root(z):
    """Return one equation and two bounded rows whose bounds are active from both sides."""
    return [casadi.exp(z[0]) - 2.0 * z[1], z[1] - 3.0 - z[2], z[2] + z[0] + 1.0]


GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
ROOT = np.sqrt(6.0) / 2.0

LITERATURE = (
    Literature(
        "Josephy 1979",
        mcp(4, lambda z: quadratic_rows(z, 3.0, 3.0, 1.0)),
        ([0.0] * 4, [1.0] * 4, [100.0] * 4, [1.0, 0.0, 1.0, 0.0]),
        ([ROOT, 0.0, 0.0, 0.5],),
    ),
    Literature(
        "Kojima, Shindo 1986 (one solution is degenerate)",
        mcp(4, lambda z: quadratic_rows(z, 10.0, 9.0, 9.0)),
        ([0.0] * 4, [1.0] * 4, [10.0] * 4, [0.0, 1.0, 1.0, 0.0]),
        ([ROOT, 0.0, 0.0, 0.5], [1.0, 0.0, 3.0, 0.0]),
    ),
    Literature(
        "Billups 1995 (a trap for every descent method at 0)",
        mcp(1, lambda z: [(z[0] - 1.0) ** 2 - 1.01]),
        ([0.0], [3.0]),
        ([1.0 + np.sqrt(1.01)],),
    ),
    Literature(
        "Murphy, Sherali, Soyster 1982, five firms (not defined at 0)",
        mcp(5, cournot([10.0, 8.0, 6.0, 4.0, 2.0], [1.2, 1.1, 1.0, 0.9, 0.8])),
        ([0.0] * 5, [1.0] * 5, [10.0] * 5, [100.0] * 5),
        ([36.93251, 41.81814, 43.70658, 42.65924, 39.17895],),
    ),
    Literature(
        "Mathiesen 1987 (a ray of solutions, singular Jacobian)",
        mcp(4, mathiesen(), [0.0, 1e-6, 1e-6, 0.0]),
        ([1.0] * 4, [0.5, 2.0, 1.0, 0.5]),
        (mathiesen_solution,),
    ),
    Literature(
        "Hock, Schittkowski 35",
        mcp(4, hs35_rows),
        ([0.5, 0.5, 0.5, 0.0], [0.0] * 4, [10.0] * 4),
        ([4.0 / 3.0, 7.0 / 9.0, 4.0 / 9.0, 2.0 / 9.0],),
    ),
    Literature(
        "a free row and two boxes",
        mcp(3, bounded_root, [-INF, 0.0, -1.0], [INF, 2.0, 1.0]),
        ([0.0] * 3, [-3.0, 1.0, 1.0]),
        ([np.log(4.0), 2.0, -1.0],),
    ),
    Literature(
        "Daryina, Izmailov, Solodov 2004 (one solution is singular)",
        mcp(2, lambda z: [(z[0] - 1.0) ** 2, z[0] + z[1] + z[1] ** 2 - 1.0]),
        ([0.2, 0.8], [1.5, 0.5], [0.0, 0.0]),
        ([0.0, GOLDEN], [1.0, 0.0]),
    ),
)
"""All problems."""

CASES = [(entry, start) for entry in LITERATURE for start in range(len(entry.starts))]
"""Every problem with every start."""


def case_name(value):
    """Return the pytest id of a part of a case."""
    return value.name.split(" (")[0] if isinstance(value, Literature) else str(value)


def bratu_obstacle(m, load=6.0, ceiling=0.45):
    """Return -laplace v = load exp(v), 0 <= v <= ceiling, on an m x m grid."""
    h = 1.0 / (m + 1)

    def rows(z):
        v = casadi.reshape(z, m, m)
        east = casadi.vertcat(v[1:, :], casadi.SX(1, m))
        west = casadi.vertcat(casadi.SX(1, m), v[:-1, :])
        north = casadi.horzcat(v[:, 1:], casadi.SX(m, 1))
        south = casadi.horzcat(casadi.SX(m, 1), v[:, :-1])
        return [casadi.vec(4.0 * v - east - west - north - south - load * h * h * casadi.exp(v))]

    return mcp(m * m, rows, 0.0, ceiling)
