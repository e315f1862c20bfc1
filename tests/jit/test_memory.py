"""Memories of kernels: places, sizes and views follow from the declarations, and caches from the places."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mcpframe.jit.memory import LINE, Memory, aligned_copy, aligned_zeros, columns

ROOT = Path(__file__).parents[2]


def declared():
    """Return a memory with parts of all kinds, their slots, and those of two counts and two numbers."""
    memory = Memory()
    n_bodies, free = memory.count("body"), memory.count()
    numbers = list(memory.numbers(2))
    parts = {
        "tree": memory.integers("body", 3),
        "theta": memory.doubles("theta", spare=4),
        "ends": memory.integers("body + 1"),
        "square": memory.doubles("theta", "theta"),
        "fixed": memory.doubles(5),
    }
    return memory, parts, (n_bodies, free), numbers


def test_slots_are_numbered_as_they_are_declared():
    memory, parts, counts, numbers = declared()
    assert counts == (0, 1)
    assert numbers == [0, 1]
    assert list(parts.values()) == [2, 4, 5, 6, 7]  # 3 is the count of theta, which nobody has named
    assert memory.count("body") == 0
    assert list(memory.counts(2)) == [8, 9]


@pytest.mark.parametrize(("body", "theta"), [(0, 0), (1, 9), (5, 3)])
def test_parts_begin_at_cache_lines_and_do_not_overlap(body, theta):
    memory, parts, (n_bodies, _), numbers = declared()
    I, X = memory.arrays(body=body, theta=theta)
    assert I[n_bodies] == body
    views = {name: memory.part(I, X, slot) for name, slot in parts.items()}
    shapes = {
        "tree": (body, 3),
        "theta": (theta,),
        "ends": (body + 1,),
        "square": (theta, theta),
        "fixed": (5,),
    }
    assert {name: view.shape for name, view in views.items()} == shapes
    assert X.ctypes.data % (8 * LINE) == 0
    assert not any(I[slot] % LINE for slot in parts.values())
    for names, array, head, spare in (
        (("tree", "ends"), I, memory.head, 0),
        (("theta", "square", "fixed"), X, len(numbers), 4),
    ):
        ends = [head, *(I[parts[name]] + views[name].size for name in names)]
        ends[1] += spare
        starts = [*(I[parts[name]] for name in names), array.size]
        assert all(end <= start for end, start in zip(ends, starts, strict=True))
        assert all(start <= end for start, end in pairwise(starts))
        for name in names:
            assert np.shares_memory(views[name], array) or views[name].size == 0


def test_everything_but_counts_and_places_is_zero_and_can_be_written_through_a_view():
    memory, parts, _, _ = declared()
    I, X = memory.arrays(body=2, theta=3)
    assert not X.any()
    assert not memory.part(I, X, parts["tree"]).any()
    memory.part(I, X, parts["square"])[1, 2] = 7.0
    assert X[I[parts["square"]] + 5] == 7.0


def test_counts_that_are_missing_or_unknown_are_refused():
    memory = declared()[0]
    for counts in ({"body": 1}, {"body": 1, "theta": 1, "dof": 1}):
        with pytest.raises(TypeError, match="counts body, theta"):
            memory.arrays(**counts)


def test_a_memory_on_another_begins_as_that_one_does_and_leaves_it_alone():
    base, parts, _, _ = declared()
    longer = Memory(base)
    more = longer.doubles("body", "node")
    assert more == base.head + 1  # after the count of nodes
    I, X = longer.arrays(body=2, theta=3, node=4)
    assert longer.part(I, X, more).shape == (2, 4)
    assert base.part(I, X, parts["square"]).shape == (3, 3)
    assert base.arrays(body=2, theta=3)[0].size < I.size


def test_a_memory_of_another_size_holds_what_the_first_one_did():
    memory, parts, (n_bodies, free), numbers = declared()
    I, X = memory.arrays(body=2, theta=3)
    I[free], X[numbers[1]] = 11, 0.5
    for slot in parts.values():
        view = memory.part(I, X, slot)
        view[:] = 1 + np.arange(view.size).reshape(view.shape)
    larger = memory.resized(I, X, body=4)
    assert larger[0][[n_bodies, free]].tolist() == [4, 11]
    assert larger[1][numbers[1]] == 0.5
    tree = memory.part(*larger, parts["tree"])
    np.testing.assert_array_equal(tree[:2], memory.part(I, X, parts["tree"]))
    assert not tree[2:].any()
    for name in ("theta", "square", "fixed"):
        np.testing.assert_array_equal(memory.part(*larger, parts[name]), memory.part(I, X, parts[name]))
    smaller = memory.resized(*larger, body=1)
    np.testing.assert_array_equal(memory.part(*smaller, parts["tree"]), tree[:1])


def test_columns_stand_side_by_side():
    assert list(columns(12, 4, 1)) == [0, 12, 16, 17]


@pytest.mark.parametrize("n", [1, 7, 8, 1000])
def test_arrays_begin_at_a_cache_line(n, rng):
    zeros = aligned_zeros(n)
    assert zeros.shape == (n,)
    assert zeros.ctypes.data % (8 * LINE) == 0
    assert not zeros.any()
    values = rng.standard_normal(n)
    copy = aligned_copy(values)
    assert copy.ctypes.data % (8 * LINE) == 0
    np.testing.assert_array_equal(copy, values)
    assert not np.shares_memory(copy, values)


# Every memory of the package is part of the key under which its kernels are cached.

MULTIBODY, STEP = "mcpframe.multibody", "mcpframe.simulation.step"
STEP_MEMORY = "mcpframe.simulation.memory"
DETECTION, OPERATIONAL = "mcpframe.contact.detection", "mcpframe.formulations.operational"
MEMORIES = {
    (f"{MULTIBODY}.memory.records", "MEMORY"): f"{MULTIBODY}.kernels.entries:place",
    (f"{MULTIBODY}.memory.row_records", "MEMORY"): f"{MULTIBODY}.kernels.entries:node_compliance",
    (f"{MULTIBODY}.memory.row_records", "NODE_MEMORY"): f"{MULTIBODY}.kernels.entries:node_kinematics",
    (f"{MULTIBODY}.memory.loop_records", "MEMORY"): f"{STEP}.advance:advance",
    (f"{MULTIBODY}.memory.loop_records", "SPACE_MEMORY"): f"{STEP}.advance:advance",
    (f"{MULTIBODY}.adaptive.records", "MEMORY"): f"{STEP}.adaptive.adapt:adapt",
    (f"{MULTIBODY}.adaptive.piece_records", "MEMORY"): f"{STEP}.adaptive.adapt:adapt",
    (f"{STEP_MEMORY}.adaptive_slots", "WHOLE"): f"{STEP}.adaptive.adapt:adapt",
    (f"{DETECTION}.records", "MEMORY"): f"{DETECTION}.kernels.detect:detect_contacts",
    (f"{DETECTION}.cluster_records", "MEMORY"): f"{DETECTION}.kernels.cluster_phase:detect_clusters",
    (f"{STEP_MEMORY}.slots", "STEP"): f"{STEP}.advance:advance",
    (f"{STEP_MEMORY}.drive_slots", "DRIVE"): f"{STEP}.advance:advance",
    ("mcpframe.simulation.piles.slots", "PILE"): "mcpframe.simulation.piles.solving:solve_pile",
    (f"{OPERATIONAL}.kernels", "MEMORY"): f"{OPERATIONAL}.kernels:operational_space",
    (f"{OPERATIONAL}.law_tables", "MEMORY"): f"{OPERATIONAL}.stages:plan",
    ("mcpframe.solvers.lemke.stage", "MEMORY"): "mcpframe.solvers.lemke.stage:solve_in_place",
    ("mcpframe.solvers.cone.memory", "MEMORY"): "mcpframe.solvers.cone.chain:solve_cones",
}
"""Where each is declared, and a kernel that uses it."""
UNCONCERNED = "mcpframe.problem.residual:certify_dense"

STAMPS = """
import importlib, importlib.machinery, json, re, sys

edited = {}
plain = importlib.machinery.SourceFileLoader.get_code

def get_code(loader, module):
    if module not in edited:
        return plain(loader, module)
    memory = edited[module]
    text, n = re.subn(rf"(?m)^({memory} = Memory.*)$", rf"\\1; {memory}.count()", loader.get_source(module))
    assert n == 1
    return compile(text, loader.path, "exec")

importlib.machinery.SourceFileLoader.get_code = get_code

def stamp_of(kernel):
    module, name = kernel.split(":")
    function = getattr(importlib.import_module(module), name).__wrapped__
    return importlib.import_module("mcpframe.jit.stamp").stamp(function)

answers = []
for module, memory, *kernels in json.loads(sys.argv[1]):
    edited[module] = memory
    answers.append([stamp_of(kernel) for kernel in kernels])
    edited.clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "mcpframe"]:
        del sys.modules[name]
print(json.dumps(answers))
"""


def test_a_slot_more_in_a_memory_changes_the_stamps_of_its_kernels_and_of_no_others():
    before = ["", "", UNCONCERNED, *MEMORIES.values()]  # nothing is edited
    asked = [before, *([*memory, kernel, UNCONCERNED] for memory, kernel in MEMORIES.items())]
    done = subprocess.run(
        [sys.executable, "-c", STAMPS, json.dumps(asked)],
        env={**os.environ, "MCPFRAME_JIT": "off"},  # the same functions, sooner there
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (unconcerned, *plain), *edited = json.loads(done.stdout)
    assert [others for _, others in edited] == [unconcerned] * len(MEMORIES)
    same = [memory for memory, a, (b, _) in zip(MEMORIES, plain, edited, strict=True) if a == b]
    assert same == []


def test_no_memory_is_forgotten_here():
    found = set()
    for path in (ROOT / folder for folder in ("mcpframe", "formulations", "solvers")):
        for file in path.rglob("*.py"):
            parts = file.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts if parts[0] == "mcpframe" else ("mcpframe", *parts))
            found |= {(module, name) for name in re.findall(r"(?m)^(\w+) = Memory\(", file.read_text())}
    assert found == set(MEMORIES)


@pytest.mark.parametrize(
    "module",
    [
        "mcpframe.simulation.memory.slots",
        "mcpframe.simulation.memory.adaptive_slots",
        "mcpframe.simulation.piles.slots",
        "mcpframe.multibody.memory.records",
        "mcpframe.multibody.memory.loop_records",
        "mcpframe.contact.detection.records",
    ],
)
def test_names_of_slots_are_given_once(module):
    """A name that is given twice stands for the second slot, also where the first is meant."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    given = [name.id for line in tree.body if isinstance(line, ast.Assign) for name in _names(line.targets)]
    assert [name for name, n in Counter(given).items() if n > 1] == []


def _names(targets):
    return [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
