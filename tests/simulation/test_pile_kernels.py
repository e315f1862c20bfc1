"""Parts of piles against independent oracles: nearest points, differences, inverses."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
import pytest
from numba import types

from mcpframe.jit import Vector, VectorOut, kernel
from mcpframe.problem.friction import friction_directions
from mcpframe.simulation.piles.cones import facing, onto_cone, slopes
from mcpframe.simulation.piles.factors import invert
from mcpframe.simulation.piles.slots import BLOCK, DISC, PAIR

MU = 0.5
SIX = [0, 1, 2, 4, 5, 6]
"""Where the six numbers of a pair are."""


@kernel(Vector, types.float64, types.float64, types.int64, VectorOut)
def draw(x, mu, leans, edges, out):
    """Write `onto_cone` of x, and the derivative there by rows."""
    front = facing((x[0], x[1], x[2]), edges)
    out[0], out[1], out[2] = onto_cone(front, mu, leans, edges)
    out[3], out[4], out[5], out[6], out[7], out[8] = slopes(front, mu, leans, edges)


@kernel(VectorOut)
def invert_first(V):
    """Invert the block where V begins; return success."""
    return invert(V, 0)


def drawn(x, leans, edges):
    """Return x in its cone, and its derivative [3, 3]."""
    out = np.zeros(9)
    draw(np.asarray(x, dtype=float), MU, leans, edges, out)
    n, t_1, t_2, a, b, c = out[3:]
    return out[:3], np.array([[n, 0.0, 0.0], [t_1, a, b], [t_2, b, c]])


def nearest(t, radius, edges):
    """Return the point nearest to t of a disc, or of the polygon with corners along friction directions."""
    if edges == DISC:
        return t * min(1.0, radius / np.linalg.norm(t))
    corners = radius * friction_directions(edges).T
    sides = np.roll(corners, -1, axis=0) - corners
    outwards = np.column_stack([sides[:, 1], -sides[:, 0]])
    if (np.einsum("ij,ij->i", outwards, t - corners) <= 0.0).all():
        return t
    share = np.clip(np.einsum("ij,ij->i", sides, t - corners) / (sides**2).sum(axis=1), 0.0, 1.0)
    points = corners + share[:, None] * sides
    return points[np.argmin(np.linalg.norm(points - t, axis=1))]


@pytest.mark.parametrize("edges", [DISC, 4, 6, 8])
def test_tangents_go_to_the_nearest_point_of_the_friction_disc_or_polygon(edges):
    rng = np.random.default_rng(edges)
    for _ in range(200):
        x, leans = rng.normal(size=3), rng.uniform(0.0, 0.2)
        r, _ = drawn(x, leans, edges)
        normal = max(x[0], 0.0)
        expected = [normal, *nearest(x[1:], MU * (normal + leans), edges)]
        np.testing.assert_allclose(r, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("edges", [DISC, 4, 6, 8])
def test_slopes_are_those_of_differences(edges):
    rng, h = np.random.default_rng(edges), 1e-6
    for _ in range(100):
        x = rng.normal(size=3)  # next to no kink, almost surely
        numeric = [
            (drawn(x + step, 0.1, edges)[0] - drawn(x - step, 0.1, edges)[0]) / (2.0 * h)
            for step in h * np.eye(3)
        ]
        np.testing.assert_allclose(drawn(x, 0.1, edges)[1], np.transpose(numeric), rtol=0, atol=1e-8)


def test_what_slides_fast_along_a_normal_of_a_square_leaves_what_sticks_along_its_edge_exact():
    r, pull = np.array([0.3, 0.01, 0.02]), 1e8 * np.array([0.0, 0.3, 0.3])
    found, _ = drawn(r + pull, 0.0, 4)
    assert abs((found[2] - found[1]) - (r[2] - r[1])) < 1e-8  # what adding so much leaves of r itself
    exact = np.array([0.3, 0.3 * MU / 2.0, 0.3 * MU / 2.0])
    found, _ = drawn([0.3, *pull[1:]], 0.0, 4)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-16)


def test_blocks_are_inverted_as_exactly_as_their_condition_allows():
    rng = np.random.default_rng(0)
    for eps in (1.0, 1e-3, 1e-6):
        n, t = rng.normal(size=(2, 4, 6))
        block = np.eye(6) + (n.T @ n + 0.2 * t.T @ n) / eps  # contacts that slide: not symmetric
        V = np.zeros(BLOCK + PAIR)
        V[:BLOCK].reshape(6, PAIR)[:, SIX] = block
        assert invert_first(V)
        found = V[:BLOCK].reshape(6, PAIR)[:, SIX]
        off = np.abs(found @ block - np.eye(6)).max()
        assert off < 1e-13 * np.linalg.cond(block)
    V = np.zeros(BLOCK + PAIR)
    assert not invert_first(V)
