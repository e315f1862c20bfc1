"""LU factors by LAPACK in compiled code, for matrices past the size at which loops of one's own keep up.

Kernels are cached and LAPACK lies elsewhere in every process, so that its addresses travel as integers:

    FACTOR_AT, SOLVE_AT = lapack_addresses()

LAPACK counts by columns: it is given A row by row, so what it factors is A', and it solves with the
transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address
from scipy.linalg import lapack

from mcpframe.jit.kernels import primitive

SIZE, INFO, ONE, TRANSPOSED, LAPACK_WORK = range(5)
"""Integers that LAPACK reads and writes by their addresses, and how many there are; of each it takes the
lower half."""
SCRATCH, NO, EIGENVALUE_WORK = LAPACK_WORK, LAPACK_WORK + 1, LAPACK_WORK + 2
"""Those that eigenvalues take besides."""


def lapack_addresses() -> tuple[int, int]:
    """Return where LAPACK's dgetrf and dgetrs begin."""
    names = "dgetrf", "dgetrs"
    factor, solve = (get_cython_function_address("scipy.linalg.cython_lapack", name) for name in names)
    return factor, solve


def eigenvalue_address() -> int:
    """Return where LAPACK's dgeev begins."""
    return int(get_cython_function_address("scipy.linalg.cython_lapack", "dgeev"))


def _factor(address: int, A: Any, pivots: Any, work: Any) -> None:
    n = A.shape[0]
    lu, order, work[INFO] = lapack.dgetrf(A.T)
    A[:] = lu.T
    pivots.view(np.int32)[:n] = order


def _solve(address: int, A: Any, pivots: Any, b: Any, work: Any) -> None:
    n = A.shape[0]
    b[:n] = lapack.dgetrs(A.T, pivots.view(np.int32)[:n], b[:n], trans=1)[0]


def _eigenvalues(address: int, A: Any, scratch: Any, work: Any) -> None:
    n = A.shape[0]
    real, imaginary, _, _, work[INFO] = lapack.dgeev(A.T, compute_vl=0, compute_vr=0)
    scratch[:n], scratch[n : 2 * n] = real, imaginary


@primitive(_eigenvalues)
def lapack_eigenvalues(typing_context: Any, address: Any, A: Any, scratch: Any, work: Any) -> Any:
    """Write the eigenvalues of A [n, n], which is used up: real parts, imaginary parts, then scratch [8 n].

    Work[SIZE] is n, work[ONE] 1, work[SCRATCH] at most the doubles of scratch behind 2 n, work[NO] ord("N");
    work[INFO] afterwards 0 where it went well.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, scratch, work = _data(context, builder, signature, values, (1, 2, 3))
        n, info, one, room, no = (_entry(builder, work, k) for k in (SIZE, INFO, ONE, SCRATCH, NO))
        size = builder.load(n)
        real, imaginary = scratch, builder.gep(scratch, [size])
        rest = builder.gep(imaginary, [size])
        none = (A, one, A, one)  # vectors that are not asked for
        _call(builder, values[0], (no, no, n, A, n, real, imaginary, *none, rest, room, info))
        return context.get_dummy_value()

    return types.void(types.intp, A, scratch, work), generate


@primitive(_factor)
def lapack_factor(typing_context: Any, address: Any, A: Any, pivots: Any, work: Any) -> Any:
    """Factor A [n, n] in place; pivots [n / 2 + 1].

    Work[SIZE] is n, and work[INFO] afterwards 0 where it went well.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, pivots, work = _data(context, builder, signature, values, (1, 2, 3))
        n, info = _entry(builder, work, SIZE), _entry(builder, work, INFO)
        _call(builder, values[0], (n, n, A, n, pivots, info))
        return context.get_dummy_value()

    return types.void(types.intp, A, pivots, work), generate


@primitive(_solve)
def lapack_solve(typing_context: Any, address: Any, A: Any, pivots: Any, b: Any, work: Any) -> Any:
    """Replace b [n] by A⁻¹ b, with the factors of `lapack_factor`.

    Work[ONE] is 1, work[TRANSPOSED] ord("T").
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        A, pivots, b, work = _data(context, builder, signature, values, (1, 2, 3, 4))
        n, info, one, flag = (_entry(builder, work, k) for k in (SIZE, INFO, ONE, TRANSPOSED))
        _call(builder, values[0], (flag, n, one, A, n, pivots, b, n, info))
        return context.get_dummy_value()

    return types.void(types.intp, A, pivots, b, work), generate


def _data(context: Any, builder: Any, signature: Any, values: Any, which: tuple[int, ...]) -> list[Any]:
    """Return where the data of some arrays begin."""
    arrays = [context.make_array(signature.args[k])(context, builder, values[k]) for k in which]
    return [array.data for array in arrays]


def _entry(builder: Any, data: Any, k: int) -> Any:
    return builder.gep(data, [ir.Constant(ir.IntType(64), k)])


def _call(builder: Any, address: Any, pointers: tuple[Any, ...]) -> None:
    """Call a function of Fortran: all arguments are pointers."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
    function = builder.inttoptr(address, kind.as_pointer())
    builder.call(function, [builder.bitcast(pointer, byte) for pointer in pointers])
