import casadi
import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe import ProblemError
from mcpframe.arrays import index_array, real_array, real_matrix, real_vector


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1.0, 2.0), np.float32([1, 2]), [True, 2], casadi.DM([1, 2]), np.array([1, 2], dtype=object)],
)
def test_whatever_holds_real_numbers_is_taken(value):
    array = real_array("x", value)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array.ravel(), [1.0, 2.0])


@pytest.mark.parametrize("value", [[1j], ["a"], "text", [[1], [1, 2]], {"a": 1}, [10**400], [object()]])
def test_whatever_does_not_is_refused_by_name(value):
    with pytest.raises(ProblemError, match="^x: cannot be read as real numbers"):
        real_array("x", value)


def test_numbers_of_no_dimension_keep_it():
    assert real_array("x", 3).shape == ()


def test_integers_are_told_from_fractions():
    np.testing.assert_array_equal(index_array("i", [1.0, 2]), [1, 2])
    for value in (1.5, np.nan):
        with pytest.raises(ProblemError, match=f"i: {value} is not an integer"):
            index_array("i", [value])


def test_vectors_and_matrices_are_read_only_copies():
    source = np.eye(2)
    for array in (real_vector("x", source[0]), real_matrix("A", source, (2, 2))):
        assert not array.flags.writeable
        assert not np.shares_memory(array, source)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_a_matrix_has_the_shape_that_is_asked_for(kind):
    assert real_matrix("A", kind(np.ones((2, 3))), (2, 3)).shape == (2, 3)
    with pytest.raises(ProblemError, match=r"A: shape \(2, 3\), expected \(3, 3\) because H is square"):
        real_matrix("A", kind(np.ones((2, 3))), (3, 3), "because H is square")


def test_empty_matrices_take_the_shape_that_is_asked_for():
    assert real_matrix("A", [], (0, 3)).shape == (0, 3)
