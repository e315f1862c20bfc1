"""What all tests share: quiet kernels, one thread per linear algebra call, a registry that forgets."""

import os

os.environ.setdefault("MCPFRAME_QUIET", "1")
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from contextlib import contextmanager

import numpy as np
import pytest

from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(20240607)


@contextmanager
def forgetting_plugins():
    """Forget plugins that are registered meanwhile."""
    families = (SOLVERS, FORMULATIONS, CONTACT_LAWS)
    kept = [(registry, dict(registry._registered)) for registry in families]
    yield
    for registry, registered in kept:
        registry._registered.clear()
        registry._registered.update(registered)
        registry._instances.clear()


@pytest.fixture
def registries():
    """Let a test register plugins and forget them afterwards."""
    with forgetting_plugins():
        yield


@pytest.fixture(autouse=True, scope="module")
def _registries_of_the_module():
    """Forget what fixtures of a whole module register."""
    with forgetting_plugins():
        yield
