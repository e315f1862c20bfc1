"""Entries: all compiled functions of the multibody core, watched while states call them."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python as runtime
from states import moving, quantities
from trees import random_motion

from mcpframe.jit import KERNELS
from mcpframe.multibody.kernels import entries


class Watch:
    """A kernel that notes how often its code asks for memory."""

    def __init__(self, kernel):
        self.kernel, self.calls, self.allocations = kernel, 0, 0

    def __call__(self, *arguments):
        before = runtime.memsys_get_stats_alloc()
        result = self.kernel(*arguments)
        self.allocations += runtime.memsys_get_stats_alloc() - before
        self.calls += 1
        return result


@pytest.fixture
def counting_memory():
    """Let the compiler's runtime count its allocations."""
    runtime.memsys_enable_stats()
    yield
    runtime.memsys_disable_stats()


@pytest.mark.usefixtures("counting_memory")
def test_kernels_allocate_no_memory(monkeypatch, rng):
    names = [name.rsplit(".", 1)[1] for name in KERNELS if name.startswith(entries.__name__)]
    watches = {name: Watch(getattr(entries, name)) for name in names}
    for name, watch in watches.items():
        monkeypatch.setattr(entries, name, watch)
    state = moving(rng)
    for call in quantities(state.model).values():
        call(state)
        call(state.update(*random_motion(rng, state.model)))
        call(state.update(theta_dot=rng.standard_normal(state.model.n_dofs)))
    entries.articulate(state.I, state.X)  # which steps alone call
    assert all(watch.calls for watch in watches.values())
    assert {name: watch.allocations for name, watch in watches.items()} == dict.fromkeys(names, 0)


@pytest.mark.usefixtures("counting_memory")
def test_allocations_of_compiled_code_are_counted():
    """Otherwise the test above proves nothing."""
    watch = Watch(numba.njit(lambda x: np.zeros(x.size)))
    watch(np.ones(3))
    watch.allocations = 0
    watch(np.ones(3))
    assert watch.allocations == 2  # the zeros, and a handle for the argument, which kernels do without
