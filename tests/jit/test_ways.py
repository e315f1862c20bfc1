"""Ways to run kernels: compiled the fast way, by `numba.njit` alone, or not at all, with the same answers."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import way_answers
from numba import types

from mcpframe.jit import cache, four, uncompiled, ways

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
ROUNDING = 1e-12
"""Multiply-adds in one instruction or two differ in the last bits, which steps and impacts multiply."""


def answers(folder, way, *parts, **environment):
    """Return the answers of kernels that run in some way, in a process of its own."""
    file = folder / f"{way}.npz"
    subprocess.run(
        [sys.executable, way_answers.__file__, str(file), *parts],
        env={**os.environ, "MCPFRAME_JIT": way, **environment},
        check=True,
    )
    with np.load(file) as found:
        return dict(found)


def assert_same(found, expected, way):
    assert found.pop("way") == way
    for name, answer in found.items():
        np.testing.assert_allclose(answer, expected[name], rtol=ROUNDING, atol=ROUNDING, err_msg=name)


def test_kernels_give_the_same_answers_uncompiled(tmp_path):
    expected = way_answers.answers("simulation")
    assert expected["way"] == "fast"
    assert expected["box impacts"] > 0
    assert_same(answers(tmp_path, "off", "simulation"), expected, "off")


@pytest.mark.slow
def test_kernels_give_the_same_answers_compiled_by_numba_alone(tmp_path, request):
    """A minute to compile, the first time: its kernels have a cache of their own."""
    kept = request.config.cache.mkdir("plain_kernels")
    found = answers(tmp_path, "plain", NUMBA_CACHE_DIR=str(kept))
    assert_same(found, way_answers.answers(), "plain")


def test_numba_that_has_changed_inside_means_plain_kernels_and_a_line_that_says_so(monkeypatch, capsys):
    def changed(way):
        raise AttributeError("module has no attribute 'Compiler'\nmore")

    monkeypatch.setattr(ways, "check", changed)
    assert ways.choose("").name == "fast"  # a version that was tried is not checked
    monkeypatch.setattr(ways, "NEWEST_TRIED", (0, 1))
    monkeypatch.delenv("MCPFRAME_QUIET", raising=False)
    assert ways.choose("").name == "plain"
    assert (
        "the plain, slow way (AttributeError: module has no attribute 'Compiler')" in capsys.readouterr().err
    )
    with pytest.raises(AttributeError):  # who asks for it is not given another
        ways.choose("fast")


@pytest.mark.parametrize("wrong", [lambda x: 0.0, lambda x: x.missing])
def test_a_fast_way_that_answers_wrongly_or_not_at_all_is_found_out(wrong, monkeypatch):
    monkeypatch.setattr(cache, "_cached", lambda dispatcher, tell: False)  # nothing of this is to be kept
    monkeypatch.setattr(ways, "NEWEST_TRIED", (0, 1))
    assert ways.choose("").name == "fast"
    monkeypatch.setattr(
        ways.Fast, "helper", lambda self, function, inline: ways.Plain().helper(wrong, inline)
    )
    assert ways.choose("").name == "plain"


def test_a_numba_that_lacks_something_means_plain_kernels(monkeypatch):
    def missing(name):
        raise ImportError(f"no {name}")

    monkeypatch.setattr(ways, "import_module", missing)
    assert ways.choose("").name == "plain"


def test_versions_beyond_the_newest_tried_are_not_installed():
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    major, minor = ways.NEWEST_TRIED
    assert any(
        re.fullmatch(rf"numba>=[\d.]+,<{major}\.{minor + 1}", line) for line in project["dependencies"]
    )


def test_ways_are_chosen_by_name(monkeypatch):
    assert [ways.choose(name).name for name in ("", "fast", "plain", "off")] == [
        "fast",
        "fast",
        "plain",
        "off",
    ]
    with pytest.raises(ValueError, match="MCPFRAME_JIT=on: there are fast, plain and off"):
        ways.choose("on")
    monkeypatch.setattr(ways.numba.config, "DISABLE_JIT", 1)
    assert ways.choose("").name == "off"


# Uncompiled functions, here in this process.

OFF = ways.Off()


def test_uncompiled_divisions_by_zero_are_those_of_compiled_code():
    def divided(x, y, n):
        total = 0.0
        for i in range(n):
            total += y[i]
        return 1.0 / total, x / 0.0, 0.0 / x

    made = OFF.kernel(divided, (types.float64, types.float64[::1], types.int64), nogil=True)
    np.testing.assert_array_equal(made(0, np.zeros(2), 2), [np.inf, np.nan, np.nan])


def test_uncompiled_kernels_are_called_by_a_handle():
    def doubled(x):
        return 2.0 * x

    def tripled(x):
        return 3.0 * x

    kernels = [OFF.kernel(function, (types.float64,), nogil=True) for function in (doubled, tripled)]
    addresses = [OFF.address(kernel) for kernel in kernels]
    assert addresses == [OFF.address(kernel) for kernel in kernels]
    call = OFF.calls(OFF.signature(kernels[0]), "doubled")
    assert [call(address, (1.0,)) for address in addresses] == [2.0, 3.0]
    with pytest.raises(TypeError, match="doubled takes 1 arguments, not 2"):
        call(addresses[0], (1.0, 2.0))


@pytest.mark.parametrize(
    "wrong",
    [[1.0, 2.0], np.ones((2, 2)), np.ones(2, dtype=int), np.ones(4)[::2], np.broadcast_to(1.0, 2), None],
    ids=["list", "matrix", "integers", "strided", "read-only", "None"],
)
def test_uncompiled_kernels_refuse_what_compiled_ones_refuse(wrong):
    """Callers try first and look closer where a kernel refuses."""

    def filled(x):
        return x[0]

    made = OFF.kernel(filled, (types.float64[::1],), nogil=True)
    assert made(np.ones(2)) == 1.0
    with pytest.raises(TypeError, match="No matching definition"):
        made(wrong)


def test_an_uncompiled_function_is_itself_for_a_debugger():
    def helped(x):
        return [0.5 * x, (1.0, 2)]

    lines = list(helped.__code__.co_lines())
    made = OFF.helper(helped, inline=True)
    assert made is helped
    assert [line for *_, line in made.__code__.co_lines()] == [line for *_, line in lines]
    assert made(2) == [1.0, (1.0, 2)]
    assert isinstance(made(2)[1][0], np.float64)
    assert uncompiled.numpy_numbers(helped) is helped


A, B = np.array([1.5, -2.25, 3.125, 0.0]), np.array([0.1, 1e300, -7.0, 0.0])


def test_lanes_in_python_do_what_they_do_in_compiled_code():
    a, b = four.load(A, 0), four.load(B, 0)
    pairs = [(a + b, A + B), (a - b, A - B), (a * b, A * B), (-a, -A), (2.0 * a, 2.0 * A)]
    pairs += [
        (np.float64(2.0) * a, 2.0 * A),
        (four.zero(), np.zeros(4)),
        (four.vector(1.0, 2.0, 3.0), [1, 2, 3, 0]),
    ]
    pairs += [(four.reordered([1, 2, 0, 3])(a), A[[1, 2, 0, 3]])]
    pairs += [*zip(four.transpose(a, b, a, b), np.array([A, B, A, B]).T, strict=True)]
    for lanes, expected in pairs:
        assert isinstance(lanes, four.Four)
        np.testing.assert_array_equal(lanes.values, expected)
    assert four.lane(1)(a) == -2.25
    assert four.total(four.Four(np.array([1.0, 1e16, 1.0, -1e16]))) == 2.0  # adds in its stated order
    assert repr(a) == "Four(1.5, -2.25, 3.125, 0)"


def test_lanes_in_python_are_copies():
    x = np.arange(8.0)
    a = four.load(x, 2)
    four.store(x, 2, four.zero())
    np.testing.assert_array_equal(a.values, [2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(x, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 6.0, 7.0])


@pytest.mark.parametrize("mixed", [lambda a: a + 1.0, lambda a: a * 2.0, lambda a: 2 * a, lambda a: 1.0 - a])
def test_lanes_in_python_and_numbers_do_not_mix_but_in_scaling(mixed):
    with pytest.raises((TypeError, AttributeError)):
        mixed(four.load(A, 0))
