"""Sine and cosine of the kernels against numpy's: everywhere, at the edges of quadrants, far away."""

import math

import numba
import numpy as np
import pytest

from mcpframe.multibody.kernels.sincos import REDUCIBLE, sincos, sincos_of

LAST_PLACE = 2.0**-52
"""Distance of neighbouring numbers just above 1; numpy's own values are within half of it."""
ONE_UNIT = 1.5 * LAST_PLACE
"""One unit in the last place of numbers of size one, plus numpy's share."""


@numba.njit
def sincos_of_each(x, s, c):
    for i in range(x.size):
        s[i], c[i] = sincos(x[i])


@numba.njit
def sincos_behind(X, at, n):
    sincos_of(X, at, n)


def ours(x):
    """By the polynomials alone."""
    s, c = np.empty_like(x), np.empty_like(x)
    sincos_of_each(x, s, c)
    return s, c


def table_of(x):
    """By the kernel that fills a table: n angles, n sines, n cosines."""
    X = np.concatenate([[7.0], x, np.full(2 * x.size, 7.0), [7.0]])
    sincos_behind(X, 1, x.size)
    assert X[0] == X[-1] == 7.0
    np.testing.assert_array_equal(X[1 : 1 + x.size], x)
    return X[1 + x.size : 1 + 2 * x.size], X[1 + 2 * x.size : -1]


def assert_close(found, x):
    s, c = found
    np.testing.assert_allclose(s, np.sin(x), rtol=0.0, atol=ONE_UNIT)
    np.testing.assert_allclose(c, np.cos(x), rtol=0.0, atol=ONE_UNIT)


def quadrant_edges(multiples):
    """Multiples of π/4 and their neighbours on either side."""
    edges = multiples * (math.pi / 4.0)
    return np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e-3, 1.0, math.pi, 100.0, 1e4, REDUCIBLE])
def test_values_are_right_to_the_last_place_over_all_reducible_angles(size, rng):
    x = rng.uniform(-size, size, 20000)
    assert_close(ours(x), x)


def test_values_are_right_at_the_edges_of_quadrants(rng):
    near = np.arange(-400.0, 401.0)
    far = rng.integers(-1_270_000, 1_270_000, 5000).astype(float)
    for multiples in (near, far):
        x = quadrant_edges(multiples)
        x = x[np.abs(x) <= REDUCIBLE]
        assert_close(ours(x), x)


def test_small_values_are_right_in_relation_to_their_own_size():
    """sin x near a multiple of π is the rest of the reduction, which must keep its digits."""
    x = quadrant_edges(4.0 * np.arange(1.0, 1001.0))
    s, _ = ours(x)
    np.testing.assert_allclose(s, np.sin(x), rtol=1e-10)
    tiny = np.array([1e-300, 1e-20, 1e-10, 1e-8, -1e-8])
    np.testing.assert_array_equal(ours(tiny)[0], tiny)


def test_special_angles_are_exact():
    s, c = ours(np.array([0.0]))
    assert (s[0], c[0]) == (0.0, 1.0)


def test_squares_add_up_to_one(rng):
    s, c = ours(rng.uniform(-1000.0, 1000.0, 20000))
    np.testing.assert_allclose(s * s + c * c, 1.0, rtol=0.0, atol=3 * LAST_PLACE)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 1000])
def test_tables_of_any_length_are_filled(n, rng):
    x = rng.uniform(-50.0, 50.0, n)
    assert_close(table_of(x), x)


@pytest.mark.parametrize("far", [1.01 * REDUCIBLE, 1e9, 1e16, 1e22, 1e308])
def test_one_angle_too_far_to_reduce_leaves_all_to_the_library(far, rng):
    x = np.concatenate([rng.uniform(-5.0, 5.0, 10), [far, -far]])
    assert_close(table_of(x), x)


def test_the_last_reducible_angle_is_reduced():
    x = np.array([REDUCIBLE, -REDUCIBLE, np.nextafter(REDUCIBLE, np.inf)])
    assert_close(table_of(x), x)
    assert_close(table_of(x[:2]), x[:2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_has_no_sine(bad):
    s, c = table_of(np.array([0.5, bad, 1.0]))
    assert np.isnan([s[1], c[1]]).all()
    assert_close((s[::2], c[::2]), np.array([0.5, 1.0]))
