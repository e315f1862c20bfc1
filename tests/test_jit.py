import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from mcpframe import residual
from mcpframe.jit import KERNELS, Vector, VectorOut, inline, kernel


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
    assert KERNELS["mcpframe.residual.natural_residual"] is residual.natural_residual
    assert all(len(dispatcher.signatures) == 1 for dispatcher in KERNELS.values())


def test_a_sum_is_the_same_in_every_run(rng):
    x, y = rng.normal(size=1001), rng.normal(size=1001)
    dotted = numba.njit(lambda x, y: residual.dot(x, y))  # helpers run in compiled code only
    assert len({dotted(x, y) for _ in range(5)}) == 1


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
    command = [sys.executable, "-c", "import fresh_kernels"]
    runs = [
        subprocess.run(
            command, cwd=tmp_path, env=loud_environment(), capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert runs[0].stderr.count("compiling fresh_kernels") == 1
    assert runs[1].stderr == ""


def loud_environment():
    return {key: value for key, value in os.environ.items() if key != "MCPFRAME_QUIET"}
