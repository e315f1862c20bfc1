"""Spatial algebra of the kernels against numpy, and the empty fourth lane that it relies on."""

import numba
import numpy as np
import pytest

from mcpframe.jit import lanes
from mcpframe.spatial import algebra
from mcpframe.spatial.transforms import phi, skew

ROUNDING = 1e-14
"""Sums of at most a dozen products of numbers of size one."""


def packed(array):
    """3-vectors along the last axis into four lanes each, the last empty."""
    array = np.asarray(array)
    return np.concatenate([array, np.zeros((*array.shape[:-1], 1))], axis=-1).ravel()


def packed_matrix(matrix):
    """3 x 3 by columns: twelve doubles."""
    return packed(matrix.T)


def packed_block(block):
    """6 x 6 as [[A, B], [C, D]], one after another: 48 doubles."""
    return np.concatenate([packed_matrix(block[i : i + 3, j : j + 3]) for i in (0, 3) for j in (0, 3)])


def unpacked(lanes_of_vectors):
    """Vectors [n, 3] from their lanes; the fourth lane of each must have stayed empty."""
    table = lanes_of_vectors.reshape(-1, 4)
    np.testing.assert_array_equal(table[:, 3], 0.0)
    return table[:, :3]


def unpacked_block(doubles):
    A, B, C, D = (unpacked(part).T for part in np.split(doubles, 4))
    return np.block([[A, B], [C, D]])


def result_of(kernel, size, *arguments):
    out = np.full(size, np.nan)
    kernel(*arguments, out)
    return out


def spatial(rng):
    return rng.standard_normal((2, 3))


def test_dot_and_cross_are_those_of_vectors(rng):
    @numba.njit
    def kernel(x, out):
        a, b = lanes.load(x, 0), lanes.load(x, 4)
        out[0] = algebra.dot(a, b)
        lanes.store(out, 1, algebra.cross(a, b))

    a, b = rng.standard_normal((2, 3))
    out = result_of(kernel, 5, packed([a, b]))
    assert out[0] == pytest.approx(a @ b, abs=ROUNDING)
    np.testing.assert_allclose(unpacked(out[1:])[0], np.cross(a, b), atol=ROUNDING)


def test_combine_is_a_matrix_times_a_stored_vector(rng):
    @numba.njit
    def kernel(m, x, out):
        lanes.store(out, 0, algebra.combine(algebra.load_matrix(m, 0), x, 1))

    m, x = rng.standard_normal((3, 3)), rng.standard_normal(4)
    product = result_of(kernel, 4, packed_matrix(m), x)
    np.testing.assert_allclose(unpacked(product)[0], m @ x[1:], atol=ROUNDING)


def test_matrices_are_stored_by_columns_and_add_up(rng):
    @numba.njit
    def kernel(x, out):
        a, b = algebra.load_matrix(x, 0), algebra.load_matrix(x, 12)
        algebra.store_matrix(out, 0, algebra.plus_matrix(a, b))
        algebra.store_matrix(out, 12, algebra.minus_matrix(a, b))
        algebra.store_matrix(out, 24, algebra.identity())

    a, b = rng.standard_normal((2, 3, 3))
    out = result_of(kernel, 36, np.concatenate([packed_matrix(a), packed_matrix(b)]))
    total, difference, identity = (unpacked(part).T for part in np.split(out, 3))
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(difference, a - b)
    np.testing.assert_array_equal(identity, np.eye(3))


def test_spatial_vectors_add_up_and_scale(rng):
    @numba.njit
    def kernel(s, x, out):
        a, b = algebra.load_pair(x, 0), algebra.load_pair(x, 8)
        algebra.store_pair(out, 0, algebra.plus(a, b))
        algebra.store_pair(out, 8, algebra.plus_scaled(a, s, b))
        algebra.store_pair(out, 16, algebra.scaled(s, a))
        algebra.store_pair(out, 24, algebra.null_pair())

    a, b = spatial(rng), spatial(rng)
    out = result_of(kernel, 32, -1.7, np.concatenate([packed(a), packed(b)]))
    plus, plus_scaled, scaled, null = (unpacked(part) for part in np.split(out, 4))
    np.testing.assert_array_equal(plus, a + b)
    np.testing.assert_allclose(plus_scaled, a - 1.7 * b, atol=ROUNDING)
    np.testing.assert_array_equal(scaled, -1.7 * a)
    np.testing.assert_array_equal(null, 0.0)


def test_inner_is_the_power_of_a_force_on_a_motion(rng):
    @numba.njit
    def kernel(x, out):
        out[0] = algebra.inner(algebra.load_pair(x, 0), algebra.load_pair(x, 8))

    a, b = spatial(rng), spatial(rng)
    out = result_of(kernel, 1, np.concatenate([packed(a), packed(b)]))
    assert out[0] == pytest.approx(np.vdot(a, b), abs=ROUNDING)


def test_motion_cross_is_the_adjoint_of_rigid_motions(rng):
    @numba.njit
    def kernel(x, out):
        algebra.store_pair(out, 0, algebra.motion_cross(algebra.load_pair(x, 0), algebra.load_pair(x, 8)))

    V, S = spatial(rng), spatial(rng)
    out = result_of(kernel, 8, np.concatenate([packed(V), packed(S)]))
    adjoint = np.block([[skew(V[0]), np.zeros((3, 3))], [skew(V[1]), skew(V[0])]])
    np.testing.assert_allclose(unpacked(out).ravel(), adjoint @ S.ravel(), atol=ROUNDING)


def test_blocks_keep_their_entries_and_add_up(rng):
    @numba.njit
    def kernel(x, out):
        a, b = algebra.load_block(x, 0), algebra.load_block(x, 48)
        algebra.store_block(out, 0, a)
        algebra.store_block(out, 48, algebra.plus_block(a, b))
        algebra.store_block(out, 96, algebra.null_block())
        algebra.store_block(out, 144, algebra.identity_block())

    a, b = rng.standard_normal((2, 6, 6))
    out = result_of(kernel, 192, np.concatenate([packed_block(a), packed_block(b)]))
    for part, expected in zip(np.split(out, 4), (a, a + b, np.zeros((6, 6)), np.eye(6)), strict=True):
        np.testing.assert_array_equal(unpacked_block(part), expected)


def test_transform_is_a_block_times_a_stored_spatial_vector(rng):
    @numba.njit
    def kernel(m, x, out):
        algebra.store_pair(out, 0, algebra.transform(algebra.load_block(m, 0), x, 2))

    m, a = rng.standard_normal((6, 6)), spatial(rng)
    out = result_of(kernel, 8, packed_block(m), np.concatenate([[np.nan, np.nan], packed(a)]))
    np.testing.assert_allclose(unpacked(out).ravel(), m @ a.ravel(), atol=ROUNDING)


def test_outer_products_are_added_and_taken_away(rng):
    @numba.njit
    def kernel(m, x, out):
        block, a, b = algebra.load_block(m, 0), algebra.load_pair(x, 0), algebra.load_pair(x, 8)
        algebra.store_block(out, 0, algebra.minus_outer(block, a, b))
        algebra.store_block(out, 48, algebra.plus_outer(block, a, x, 8))

    m, a, b = rng.standard_normal((6, 6)), spatial(rng), spatial(rng)
    out = result_of(kernel, 96, packed_block(m), np.concatenate([packed(a), packed(b)]))
    outer = np.outer(a.ravel(), b.ravel())
    np.testing.assert_allclose(unpacked_block(out[:48]), m - outer, atol=ROUNDING)
    np.testing.assert_allclose(unpacked_block(out[48:]), m + outer, atol=ROUNDING)


def test_taking_a_symmetric_outer_product_keeps_symmetry_to_the_bit(rng):
    @numba.njit
    def kernel(m, x, out):
        a = algebra.load_pair(x, 0)
        algebra.store_block(out, 0, algebra.minus_outer(algebra.load_block(m, 0), a, a))

    m, a = rng.standard_normal((6, 6)), spatial(rng)
    out = unpacked_block(result_of(kernel, 48, packed_block(m + m.T), packed(a)))
    np.testing.assert_array_equal(out, out.T)


def test_skews_multiply_from_either_side(rng):
    @numba.njit
    def kernel(m, x, out):
        matrix, arm = algebra.load_matrix(m, 0), lanes.load(x, 0)
        algebra.store_matrix(out, 0, algebra.crossed(arm, matrix))
        algebra.store_matrix(out, 12, algebra.times_skew(matrix, arm))

    m, arm = rng.standard_normal((3, 3)), rng.standard_normal(3)
    out = result_of(kernel, 24, packed_matrix(m), packed(arm))
    np.testing.assert_allclose(unpacked(out[:12]).T, skew(arm) @ m, atol=ROUNDING)
    np.testing.assert_allclose(unpacked(out[12:]).T, m @ skew(arm), atol=ROUNDING)


def test_motions_and_forces_are_shifted_by_phi(rng):
    """V(b) = φ*(a, b) V(a) and f(a) = φ(a, b) f(b) for the arm from a to b [J14, section 4]."""

    @numba.njit
    def kernel(x, arm, out):
        a, shift = algebra.load_pair(x, 0), lanes.load(arm, 0)
        algebra.store_pair(out, 0, algebra.shifted_motion(a, shift))
        algebra.store_pair(out, 8, algebra.shifted_force(a, shift))

    a, arm = spatial(rng), rng.standard_normal(3)
    motion, force = np.split(unpacked(result_of(kernel, 16, packed(a), packed(arm))), 2)
    np.testing.assert_allclose(motion.ravel(), phi(arm).T @ a.ravel(), atol=ROUNDING)
    np.testing.assert_allclose(force.ravel(), phi(arm) @ a.ravel(), atol=ROUNDING)


def test_inertias_and_compliances_are_shifted_by_phi_from_both_sides(rng):
    @numba.njit
    def kernel(m, arm, out):
        block, shift = algebra.load_block(m, 0), lanes.load(arm, 0)
        algebra.store_block(out, 0, algebra.shifted_inertia(block, shift))
        algebra.store_block(out, 48, algebra.shifted_compliance(block, shift))
        algebra.store_block(out, 96, algebra.times_phi_star(block, shift))

    m, arm = rng.standard_normal((6, 6)), rng.standard_normal(3)
    out = result_of(kernel, 144, packed_block(m), packed(arm))
    expected = phi(arm) @ m @ phi(arm).T, phi(arm).T @ m @ phi(arm), m @ phi(arm).T
    for part, matrix in zip(np.split(out, 3), expected, strict=True):
        np.testing.assert_allclose(unpacked_block(part), matrix, atol=3 * ROUNDING)
