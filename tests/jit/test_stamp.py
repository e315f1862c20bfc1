"""Stamps: a kernel in the cache is taken as long as nothing has changed that its code follows from."""

import enum
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from types import ModuleType

import numpy as np
import pytest
from numba import types

from mcpframe.jit import address, by_address, kernel, settle
from mcpframe.jit.cache import _pending
from mcpframe.jit.stamp import reached_from, stamp
from mcpframe.jit.ways import WAY
from mcpframe.problem.residual import certify_dense

BODY = (
    "def f(x):\n    return g(x) * {uses}\n\ndef g(x):\n    return x + h(x)\n\ndef h(x):\n    return {deep}\n"
)


def stamp_of(body, name="f", **constants):
    """Return the stamp of a function of a module with given constants."""
    namespace = {"__name__": "own", **constants}
    exec(compile(body, "own.py", "exec"), namespace)
    return stamp(namespace[name])


def module_with(**values):
    module = ModuleType("records")
    vars(module).update(values)
    return module


class Mode(enum.IntEnum):
    SLIDING = 1


class OtherMode(enum.IntEnum):
    SLIDING = 2


@pytest.mark.parametrize(
    ("uses", "before", "after"),
    [
        ("C", 1, 2),
        ("C", 1, 1.0),
        ("C", 0.0, -0.0),
        ("C", False, True),
        ("C", "a", "b"),
        ("C[1]", (1, 2), (1, 3)),
        ("C.start", slice(1, 4), slice(2, 4)),
        ("C[0]", np.arange(3), np.arange(3) + 1),
        ("C.SLIDING", Mode, OtherMode),
        ("C", Mode.SLIDING, OtherMode.SLIDING),
        ("C.ROW", module_with(ROW=8), module_with(ROW=12)),
        ("C.inner.ROW", module_with(inner=module_with(ROW=8)), module_with(inner=module_with(ROW=12))),
        ("C(1, 2).a", namedtuple("Run", "a b"), namedtuple("Run", "b a")),
    ],
)
@pytest.mark.parametrize("place", ["uses", "deep"])
def test_a_stamp_follows_the_constants_of_a_function_and_of_those_it_calls(place, uses, before, after):
    body = BODY.format(**{"uses": "x", "deep": "x", place: uses})
    assert stamp_of(body, C=before) == stamp_of(body, C=before)
    assert stamp_of(body, C=before) != stamp_of(body, C=after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    return x + 1", "    return x + 2"),
        ("    return x + 1", "    return x - 1"),
        ("    return x + 1", "    return 1 + x"),
        ("    return [i + 1 for i in x]", "    return [i + 2 for i in x]"),
    ],
)
def test_a_stamp_follows_the_code(before, after):
    assert stamp_of(f"def f(x):\n{before}") != stamp_of(f"def f(x):\n{after}")


def test_a_stamp_follows_defaults_and_closures():
    def held(C):
        return lambda x, scale=1.0: C * x * scale

    def held_and_scaled(C):
        return lambda x, scale=2.0: C * x * scale

    assert stamp(held(1)) == stamp(held(1))
    assert len({stamp(held(1)), stamp(held(2)), stamp(held_and_scaled(1))}) == 3


def test_comments_docstrings_places_and_constants_of_others_change_no_stamp():
    plain = stamp_of("def f(x):\n    return x + C", C=1, D=2)
    assert plain == stamp_of("# why\n\ndef f(x):\n    # how\n    return x + C", C=1, D=3)
    documented = [stamp_of(f'def f(x):\n    """{doc}"""\n    return x + C', C=1) for doc in ("One.", "Two.")]
    assert documented[0] == documented[1]


def test_a_stamp_of_functions_that_call_each_other_ends():
    assert stamp_of("def f(x):\n    return g(x)\n\ndef g(x):\n    return f(x)")


def test_kernels_are_stamped():
    settle(certify_dense)
    assert certify_dense._cache._cache_file._source_stamp == stamp(certify_dense)


FILES = {
    "constants.py": "ROW = 8\nUNUSED = 1\n",
    "inner.py": "from mcpframe.jit import inline\nfrom own import constants as at\n"
    "@inline\ndef deep(x):\n    return x * at.ROW\n",
    "outer.py": "from mcpframe.jit import callee\nfrom own.inner import deep\n"
    "@callee\ndef helped(x):\n    return deep(x)\n",
    "kernels.py": "from numba import types\nfrom mcpframe.jit import kernel\n"
    "from own.constants import ROW\nfrom own.outer import helped\n"
    "@kernel(types.float64)\ndef direct(x):\n    return x * ROW\n"
    "@kernel(types.float64)\ndef indirect(x):\n    return helped(x)\n",
    "__init__.py": "",
}
RUN = """
from own.kernels import direct, indirect
answers = direct(1.0), indirect(1.0)
print(*answers, *(sum(kernel.stats.cache_hits.values()) for kernel in (direct, indirect)))
"""


@pytest.fixture
def folder(tmp_path):
    """A package whose kernels use a constant of another file, one of them two calls deep."""
    (tmp_path / "own").mkdir()
    for name, text in FILES.items():
        (tmp_path / "own" / name).write_text(text)
    return tmp_path


def run(folder):
    """Return the answers of the two kernels, how often they came from the cache, and what was said."""
    environment = {key: value for key, value in os.environ.items() if key != "MCPFRAME_QUIET"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split(), done.stderr


def test_kernels_are_compiled_anew_where_a_constant_changes_and_only_there(folder, tmp_path):
    assert run(folder) == (["8.0", "8.0", "0", "0"], announced("own.kernels"))
    constants = folder / "own" / "constants.py"

    constants.write_text("ROW = 12\nUNUSED = 1\n")
    assert run(folder) == (["12.0", "12.0", "0", "0"], announced("own.kernels"))

    # Neither another date, nor a constant that nobody uses, nor another folder makes a difference.
    constants.write_text("ROW = 12\nUNUSED = 2\n")
    os.utime(folder / "own" / "kernels.py", (1, 1))
    copied = shutil.copytree(folder / "own", tmp_path / "copy" / "own").parent
    assert run(copied) == (["12.0", "12.0", "1", "1"], "")


def test_nothing_is_called_cached_where_no_cache_can_be_written(folder):
    (folder / "own" / "__pycache__").write_text("a file where the folder would be")
    body = "import numba.core.caching as c\n"
    body += "beside = [kind for name, kind in vars(c).items() if name.lstrip('_') == 'InTreeCacheLocator']\n"
    body += "c.CacheImpl._locator_classes = beside\n"
    environment = {key: value for key, value in os.environ.items() if key != "MCPFRAME_QUIET"}
    # mcpframe's own kernels have their caches: only this package's folder is taken away.
    done = subprocess.run(
        [sys.executable, "-c", body + RUN],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["8.0", "8.0", "0", "0"]
    assert done.stderr == announced("own.kernels", "in every run: there is no folder to cache it in")


def announced(module, how="once; cached for later runs"):
    return f"mcpframe: compiling {module} (a second or so, {how}) ...\n"


@pytest.mark.skipif(WAY.name == "off", reason="nothing is compiled")
def test_what_functions_reach_is_found_without_compiling_any():
    @kernel(types.float64)
    def inner(x):
        return 2.0 * x

    call_inner = by_address(inner)

    @kernel(types.intp, types.float64)
    def outer(where, x):
        return call_inner(where, (x,))

    assert outer in reached_from([outer])
    assert inner in _pending  # an announcement that kernels are compiled would else wait for itself
    assert outer(address(inner), 3.0) == 6.0
