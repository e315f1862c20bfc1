import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba import types

from mcpframe.jit import (
    KERNELS,
    WAY,
    Vector,
    VectorOut,
    address,
    by_address,
    callee,
    inline,
    kernel,
    ready,
    span,
)
from mcpframe.jit.cache import _pending
from mcpframe.multibody.kernels.entries import free_dynamics
from mcpframe.problem import residual


@inline
def twice(x):
    return 2.0 * x


@kernel(Vector, VectorOut)
def double(x, y):
    for i in range(x.shape[0]):
        y[i] = twice(x[i])


def test_kernels_take_read_only_arrays():
    x, y = np.arange(3.0), np.empty(3)
    x.flags.writeable = False
    double(x, y)
    np.testing.assert_array_equal(y, [0.0, 2.0, 4.0])


def test_kernels_refuse_any_other_signature():
    with pytest.raises(TypeError, match="No matching definition"):
        double(np.arange(3), np.empty(3))


def test_every_kernel_is_listed_once_compiled():
    assert KERNELS[f"{__name__}.double"] is double
    assert KERNELS["mcpframe.problem.residual.natural_residual"] is residual.natural_residual
    ready()
    assert all(len(dispatcher.signatures) == 1 for dispatcher in KERNELS.values())
    assert not _pending


def test_a_sum_is_the_same_in_every_run(rng):
    x, y = rng.normal(size=1001), rng.normal(size=1001)
    dotted = numba.njit(lambda x, y: residual.dot(x, y))  # helpers run in compiled code only
    assert len({dotted(x, y) for _ in range(5)}) == 1


def test_a_kernel_that_allocates_does_not_compile():
    def fresh(x):
        return np.empty(3)[0] + x[0]

    with pytest.raises(numba.TypingError, match="No implementation of function .*empty"):
        kernel(Vector)(fresh)(np.zeros(1))
    ready()


def test_importing_compiles_nothing(tmp_path):
    code = "import mcpframe; from mcpframe.jit.cache import _pending; print(len(_pending) > 0, end='')"
    environment = loud_environment() | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert (run.stdout, run.stderr) == ("True", "")
    assert not list(tmp_path.rglob("*.nbc"))


def test_a_kernel_is_compiled_by_its_first_call_in_whatever_thread():
    @kernel(Vector)
    def first(x):
        return x[0]

    assert not first.signatures
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, [np.full(1, float(k)) for k in range(8)])) == list(range(8))
    assert len(first.signatures) == 1
    with pytest.raises(TypeError, match="No matching definition"):
        first(np.arange(3))


def test_a_kernel_that_another_one_calls_keeps_its_one_signature():
    @kernel(Vector)
    def called(x):
        return x[0]

    @kernel(VectorOut)
    def calling(x):
        return called(x) + 1.0

    assert calling(np.ones(1)) == 2.0
    assert called(np.ones(1)) == 1.0
    assert len(called.signatures) == 1


def test_kernels_of_a_package_are_made_ready_and_no_others():
    @kernel(Vector)
    def waiting(x):
        return x[0]

    ready("mcpframe.problem")
    assert not waiting.signatures
    ready(__name__)
    assert waiting.signatures


@callee
def raised(x, power):
    product = 1.0
    for _ in range(power):
        product *= x
    return product


def test_a_helper_is_compiled_once_whatever_constants_it_is_called_with():
    powers = numba.njit(lambda x, power: raised(x, 2) + raised(x, 3) + raised(x, power))
    assert powers(2.0, 4) == 4.0 + 8.0 + 16.0
    assert raised.signatures == [(types.float64, types.int64)]


def test_a_helper_called_from_python_says_so_and_does_not_crash():
    with pytest.raises(TypeError, match="raised is a helper of kernels"):
        raised(2.0, 3)
    assert raised.py_func(2.0, 3) == 8.0


call_double = by_address(double)


@kernel(types.intp, Vector, VectorOut)
def quadruple(doubling, x, y):
    call_double(doubling, (x, y))
    call_double(doubling, (y, y))


def test_a_kernel_calls_another_by_its_address():
    x, y = np.arange(3.0), np.empty(3)
    quadruple(address(double), x, y)
    np.testing.assert_array_equal(y, [0.0, 4.0, 8.0])


def test_a_call_by_address_with_the_wrong_number_of_arguments_is_refused():
    def wrong(doubling, x):
        call_double(doubling, (x,))

    with pytest.raises(numba.NumbaError, match="double takes 2 arguments, not 1"):
        kernel(types.intp, Vector)(wrong)(0, np.zeros(1))


@kernel(Vector, types.int64, types.int64)
def sum_between(x, first, last):
    total = 0.0
    for i in span(first, last):
        total += x[i]
    return total


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 5), (2, 5), (5, 5)])
def test_a_span_holds_the_numbers_of_the_range(first, last):
    x = np.arange(5.0) ** 2
    assert sum_between(x, first, last) == x[first:last].sum()


def test_a_kernel_typed_at_a_prompt_compiles_without_a_cache():
    code = "import numpy as np\nfrom mcpframe.jit import *\n@kernel(Vector)\ndef f(x):\n    return x[0]\n"
    code += "print(f(np.ones(1)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "1.0\n"


def test_compiling_is_announced_once_and_only_where_there_is_no_cache(tmp_path):
    module = tmp_path / "fresh_kernels.py"
    body = "from mcpframe.jit import Vector, kernel\n"
    for name in "fg":
        body += f"@kernel(Vector)\ndef {name}(x):\n    return x[0]\n"
    module.write_text(body)
    calls = "import fresh_kernels as k, numpy; k.f(numpy.ones(1)), k.g(numpy.ones(1))"
    command = [sys.executable, "-c", calls]
    runs = [
        subprocess.run(
            command, cwd=tmp_path, env=loud_environment(), capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    said = "mcpframe: compiling fresh_kernels (a second or so, once; cached for later runs) ...\n"
    assert runs[0].stderr == said
    assert runs[1].stderr == ""


def test_an_address_holds_for_kernels_loaded_from_the_cache(tmp_path):
    body = """
from numba import types
from mcpframe.jit import address, by_address, kernel
@kernel(types.float64)
def f(x):
    return 2.0 * x
call_f = by_address(f)
@kernel(types.intp, types.float64)
def g(where, x):
    return call_f(where, (x,))
print(g(address(f), 3.0))
"""
    (tmp_path / "by_address_kernels.py").write_text(body)
    command = [
        sys.executable,
        "-c",
        "import by_address_kernels as k; print(sum(k.g.stats.cache_hits.values()))",
    ]
    runs = [
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert [run.stdout for run in runs] == ["6.0\n0\n", "6.0\n1\n"]


def loud_environment():
    return {key: value for key, value in os.environ.items() if key != "MCPFRAME_QUIET"}


@pytest.mark.skipif(WAY.name != "fast", reason="compiled otherwise")
def test_helpers_are_part_of_their_kernel_and_open_to_nobody_else():
    """So that they lose arguments that they do not use, and are not called where they are used once."""
    (result,) = free_dynamics.overloads.values()
    functions = result.library._get_module_for_linking().functions
    open_ones = [f.name for f in functions if not f.is_declaration and f.linkage != Linkage.internal]
    assert open_ones
    assert all("free_dynamics" in name for name in open_ones)
