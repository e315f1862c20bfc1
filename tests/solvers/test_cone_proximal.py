"""Contacts that bear self-stress: walls of bricks, four contacts where two meet, with gaps that differ."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import ConeLCP, FrictionProblem
from mcpframe.problem.cone import cones_of

TIGHT = 1e-9
HALF = np.array([1.0, 0.5, 0.5])


def wall(rows, columns, seed, gaps):
    """A wall that falls at 1 cm/s, each brick moving a little; speeds that close gaps are below `gaps`."""
    rng = np.random.default_rng(seed)
    number = {place: k for k, place in enumerate((i, j) for i in range(rows) for j in range(columns - i % 2))}
    centre = [np.array([2.0 * j + i % 2, 0.0, i + 0.5]) for i, j in number]
    blocks = []
    for (i, j), k in number.items():
        for side in (-1, 1):
            below = number.get((i - 1, j + (side > 0) if i % 2 else j - (side < 0)))
            if i and below is None:
                continue
            for x in (0.0, float(side)) if i else (float(side),):
                for y in (-HALF[1], HALF[1]):
                    blocks.append(rows_of(centre[k] + [x, y, -HALF[2]], centre, k, below))
    J = np.vstack(blocks)
    mass = rng.uniform(0.5, 2.0, len(centre))
    inertia = np.outer(mass, HALF @ HALF - HALF**2) / 3.0
    inverse = 1.0 / np.column_stack([np.outer(mass, np.ones(3)), inertia]).ravel()
    v = rng.normal(0.0, 0.01, 6 * len(centre))
    v[2::6] -= 0.01
    q = J @ v
    q[::3] += rng.uniform(0.0, gaps, len(blocks))
    return FrictionProblem(J @ (inverse[:, None] * J.T), q, np.full(len(blocks), 0.5))


def rows_of(point, centre, above, below):
    """Relative velocity at a point, up and across, of one brick and the one below it or the ground."""
    G = np.zeros((3, 6 * len(centre)))
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for k, sign in ((above, 1.0), (below, -1.0)):
        if k is not None:
            G[:, 6 * k : 6 * k + 3] = sign * axes
            G[:, 6 * k + 3 : 6 * k + 6] = sign * np.cross(point - centre[k], axes)
    return G


def with_discs(problem):
    """The same as a step has it."""
    lower = np.full(problem.n, -np.inf)
    lower[::3] = 0.0
    discs = cones_of(problem.mu, 3)
    return ConeLCP(problem.W, problem.q, lower, np.full(problem.n, np.inf), discs)


@pytest.mark.parametrize("gaps", [0.0, 1e-3])
@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (5, 3), (8, 3)])
def test_walls_are_solved_cold_and_warm(rows, columns, gaps):
    for seed in range(6):
        problem = with_discs(wall(rows, columns, seed, gaps))
        cold = mf.solve(problem, "cone", tol=TIGHT)
        assert cold.ok, (seed, cold)
        moved = ConeLCP(problem.M, 1.001 * problem.q, problem.lower, problem.upper, problem.discs)
        warm = mf.solve(moved, "cone", tol=TIGHT, z0=cold.z)
        assert warm.ok, (seed, warm)
        assert moved.certify(warm.z)[2] <= TIGHT * moved.scale


def test_what_sweeps_newton_and_interior_points_leave_is_ended_by_proximal_steps():
    """Gaps of a ten thousandth of the velocities: which three of four contacts carry is all that is asked."""
    solution = mf.solve(with_discs(wall(4, 2, 0, 1e-6)), "cone", tol=TIGHT)
    assert solution.ok
    assert solution.method == "cone, proximal steps"
