"""What all tests share: quiet kernels, one thread per linear algebra call, a registry that forgets."""

import os

os.environ.setdefault("MCPFRAME_QUIET", "1")
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np
import pytest

from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(20240607)


@pytest.fixture
def registries():
    """Let a test register plugins and forget them afterwards."""
    families = (SOLVERS, FORMULATIONS, CONTACT_LAWS)
    kept = [(registry, dict(registry._registered)) for registry in families]
    yield
    for registry, registered in kept:
        registry._registered.clear()
        registry._registered.update(registered)
        registry._instances.clear()
