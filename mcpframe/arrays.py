"""Arrays that users hand in: copied, converted and checked, with errors that name the field."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.exceptions import ProblemError

Array = NDArray[np.float64]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def real_array(name: str, value: Any) -> Array:
    """Return a contiguous copy of value as real numbers, or raise ProblemError naming it."""
    try:
        array = np.array(value, order="C")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its entries are {array.dtype}")
        return array.astype(np.float64, order="C", copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"{name}: cannot be read as real numbers ({error})") from None


def index_array(name: str, value: Any) -> NDArray[np.int64]:
    """Return a contiguous copy of value as integers, or raise ProblemError naming it."""
    array = real_array(name, value)
    if not (array == np.floor(array)).all():  # false for NaN as well
        raise ProblemError(f"{name}: {array[array != np.floor(array)][0]} is not an integer")
    return array.astype(np.int64)


def real_vector(name: str, value: Any) -> Array:
    """Return a read-only copy of value as a vector of finite numbers, or raise ProblemError naming it."""
    vector = real_array(name, value)
    if vector.ndim != 1:
        raise ProblemError(f"{name}: shape {vector.shape}, expected a vector")
    check_finite(name, vector)
    return frozen(vector)


def real_matrix(name: str, value: Any, shape: tuple[int, int], reason: str = "") -> Any:
    """Return a read-only copy of value, dense or in compressed rows, or raise ProblemError naming it.

    Args:
        name: what to call it in errors.
        value: array or scipy.sparse matrix of finite real numbers.
        shape: what its shape must be; `reason` says why.
        reason: end of the sentence that refuses another shape.
    """
    if sp.issparse(value):
        return _sparse_matrix(name, value, shape, reason)
    matrix = real_array(name, value)
    if 0 in shape and matrix.size == 0:
        matrix = matrix.reshape(shape)
    _check_shape(name, matrix.shape, shape, reason)
    check_finite(name, matrix)
    return frozen(matrix)


def _sparse_matrix(name: str, value: Any, shape: tuple[int, int], reason: str) -> sp.csr_array:
    _check_shape(name, value.shape, shape, reason)
    if value.dtype.kind not in "biuf":
        raise ProblemError(f"{name}: cannot be read as real numbers (its entries are {value.dtype})")
    matrix = sp.csr_array(value, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    check_finite(name, matrix)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        frozen(part)
    return matrix


def canonical(matrix: Any, kind: Any = sp.csc_array) -> Any:
    """Return a matrix in compressed columns (or of another kind), in order, without duplicates, all its own.

    scipy lets matrices share arrays (`csc_array(A)`, `A.T`, a matrix made from another's indices), and puts
    them in order in place when it needs that: whoever shares some arrays but not all is spoiled by it.
    """
    own = kind(matrix, copy=True)
    own.sum_duplicates()
    return own


def _check_shape(name: str, shape: tuple[int, ...], expected: tuple[int, int], reason: str) -> None:
    if shape != expected:
        raise ProblemError(f"{name}: shape {shape}, expected {expected} {reason}".rstrip())


def check_finite(name: str, array: Any) -> None:
    """Raise ProblemError, with place and value of the first bad entry, unless all are finite."""
    if np.isfinite(array.data if sp.issparse(array) else array).all():
        return
    dense = array.toarray() if sp.issparse(array) else array
    place = tuple(int(i[0]) for i in (~np.isfinite(dense)).nonzero())
    where = place[0] if len(place) == 1 else place
    raise ProblemError(f"{name}: entry {where} is {dense[place]}; every entry must be finite")


def frozen(array: AnyArray) -> AnyArray:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array
