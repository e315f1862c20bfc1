"""Lanes: every operation on four doubles against numpy, through small kernels compiled here."""

import numba
import numpy as np
import pytest

from mcpframe.jit import lanes

A = np.array([1.5, -2.25, 3.125, 0.0])
B = np.array([0.1, 1e300, -7.0, 0.0])
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0])


def of_one(operation):
    """Compile an operation from lanes to lanes."""

    @numba.njit
    def kernel(x, out):
        lanes.store(out, 0, operation(lanes.load(x, 0)))

    def call(a):
        out = np.full(4, np.nan)
        kernel(np.asarray(a), out)
        return out

    return call


def of_two(operation):
    """Compile an operation from two lanes to lanes."""

    @numba.njit
    def kernel(x, y, out):
        lanes.store(out, 0, operation(lanes.load(x, 0), lanes.load(y, 0)))

    def call(a, b):
        out = np.full(4, np.nan)
        kernel(np.asarray(a), np.asarray(b), out)
        return out

    return call


def to_number(operation):
    """Compile an operation from lanes to a number."""

    @numba.njit
    def kernel(x):
        return operation(lanes.load(x, 0))

    return kernel


@numba.njit
def moved(x, i, out, j):
    lanes.store(out, j, lanes.load(x, i))


@pytest.mark.parametrize("i", range(8))
def test_load_and_store_move_four_entries_wherever_they_begin(i):
    """Odd places too: nothing asks for alignment."""
    x, out = np.arange(20.0), np.full(20, -1.0)
    moved(x, i, out, 2 * i)
    np.testing.assert_array_equal(out[2 * i : 2 * i + 4], x[i : i + 4])
    assert (np.delete(out, np.arange(2 * i, 2 * i + 4)) == -1.0).all()


def test_lanes_keep_every_bit():
    out = np.zeros(4)
    moved(SPECIAL, 0, out, 0)
    np.testing.assert_array_equal(out.view(np.int64), SPECIAL.view(np.int64))


def test_load_reads_arrays_that_may_not_be_written_to():
    x, out = np.arange(4.0), np.zeros(4)
    x.flags.writeable = False
    moved(x, 0, out, 0)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_get_and_put_move_one_entry_of_any_type(dtype):
    @numba.njit
    def kernel(x, i, out, j):
        lanes.put(out, j, lanes.get(x, i))

    x, out = np.arange(10, 20).astype(dtype), np.zeros(10, dtype)
    kernel(x, 7, out, 3)
    assert out.tolist() == [0, 0, 0, 17, 0, 0, 0, 0, 0, 0]


def test_zero_and_vector_have_an_empty_fourth_lane():
    @numba.njit
    def kernel(x, y, z, out):
        lanes.store(out, 0, lanes.zero())
        lanes.store(out, 4, lanes.vector(x, y, z))

    out = np.full(8, np.nan)
    kernel(1.0, -2.0, np.inf, out)
    assert out.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, -2.0, np.inf, 0.0]


@pytest.mark.parametrize("b", [B, SPECIAL], ids=["numbers", "special"])
@pytest.mark.parametrize(
    ("operation", "expected"),
    [(lambda a, b: a + b, np.add), (lambda a, b: a - b, np.subtract), (lambda a, b: a * b, np.multiply)],
    ids=["+", "-", "*"],
)
def test_operators_act_on_every_lane(operation, expected, b):
    np.testing.assert_array_equal(of_two(numba.njit(operation))(A, b), expected(A, b))


def test_a_number_scales_every_lane():
    @numba.njit
    def kernel(s, x, out):
        lanes.store(out, 0, s * lanes.load(x, 0))

    out = np.zeros(4)
    for s in (0.0, -1.5, 1e-300, np.inf, np.nan):
        kernel(s, A, out)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(out, s * A)


def test_minus_turns_every_sign_also_of_zero():
    negative = of_one(numba.njit(lambda a: -a))(np.array([0.0, -0.0, 2.0, np.inf]))
    assert negative.tolist() == [0.0, 0.0, -2.0, -np.inf]
    assert np.signbit(negative).tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    ("operation", "order"),
    [
        (lanes.yzx, [1, 2, 0, 3]),
        (lanes.spread_x, [0, 0, 0, 0]),
        (lanes.spread_y, [1, 1, 1, 1]),
        (lanes.spread_z, [2, 2, 2, 2]),
    ],
    ids=["yzx", "spread_x", "spread_y", "spread_z"],
)
def test_lanes_are_put_in_another_order(operation, order):
    x = np.array([2.0, 3.0, 5.0, 7.0])
    np.testing.assert_array_equal(of_one(operation)(x), x[order])


@pytest.mark.parametrize(("operation", "i"), [(lanes.x_of, 0), (lanes.y_of, 1), (lanes.z_of, 2)], ids="xyz")
def test_one_lane_is_taken_out(operation, i):
    x = np.array([2.0, 3.0, 5.0, 7.0])
    assert to_number(operation)(x) == x[i]


def test_total_adds_in_its_stated_order():
    """Other orders round these numbers differently."""
    x = np.array([1.0, 1e16, 1.0, -1e16])
    assert to_number(lanes.total)(x) == (x[0] + x[2]) + (x[1] + x[3]) == 2.0
    assert np.sum(x[[0, 1, 2, 3]]) != 2.0


def test_transpose_turns_rows_into_columns(rng):
    @numba.njit
    def kernel(x, out):
        columns = lanes.transpose(lanes.load(x, 0), lanes.load(x, 4), lanes.load(x, 8), lanes.load(x, 12))
        for j in range(4):
            lanes.store(out, 4 * j, columns[j])

    x, out = rng.standard_normal((4, 4)), np.zeros(16)
    kernel(x.ravel(), out)
    np.testing.assert_array_equal(out.reshape(4, 4), x.T)


def test_sums_are_not_reordered():
    """(a a + b) - b loses the last digits of a a, which a compiler that cancels b would keep."""
    cancelled = of_two(numba.njit(lambda a, b: (a * a + b) - b))
    a, b = np.full(4, 1.0 + 2.0**-30), np.full(4, 2.0**25)
    assert (cancelled(a, b) == 1.0).all()


def test_lanes_live_through_branches_loops_and_tuples():
    @numba.njit
    def kernel(x, out):
        total, last = lanes.zero(), (lanes.zero(), lanes.zero())
        for i in range(x.size // 4):
            if x[4 * i] > 0.0:
                total = total + lanes.load(x, 4 * i)
                last = lanes.load(x, 4 * i), last[0]
        lanes.store(out, 0, total)
        lanes.store(out, 4, last[1])

    x, out = np.arange(16.0).reshape(4, 4) - 5.0, np.zeros(8)
    kernel(x.ravel(), out)
    np.testing.assert_array_equal(out, [*(x[2] + x[3]), *x[2]])


def test_lanes_and_numbers_do_not_mix_but_in_scaling():
    for operation in (lambda a: a + 1.0, lambda a: a * 2.0, lambda a: 2 * a, lambda a: 1.0 - a):
        with pytest.raises(numba.TypingError):
            of_one(numba.njit(operation))(A)


def test_lanes_exist_in_compiled_code_alone():
    with pytest.raises(NotImplementedError):
        lanes.load(A, 0)
    with pytest.raises(NotImplementedError):
        lanes.vector(1.0, 2.0, 3.0)
