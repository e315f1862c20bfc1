"""What all tests share: quiet kernels, one thread in linear algebra, registries that forget, an order."""

import gc
import os

os.environ.setdefault("MCPFRAME_QUIET", "1")
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS

LONG = (
    "examples/test_tutorial.py",
    "packaging/test_docs.py",
    "studies/test_study_runner.py",
    "packaging/test_packaging.py",
    "examples/test_demo.py",
    "studies/test_study_dask.py",
    "packaging/test_platforms.py",
    "examples/test_plugin_example.py",
    "solving/test_foreign_plugin.py",
    "simulation/recording/test_resume.py",
    "studies/test_study_slurm.py",
    "examples/test_first_hour.py",
    "truth/test_truth_agreement.py",
    "simulation/test_engine.py",
    "examples/test_fuzz.py",
    "studies/test_store.py",
    "studies/test_study_kill.py",
)
"""Files of ten seconds and more, most of them for processes that they start."""
RANK = {(Path(__file__).parent / name).resolve(strict=True): rank for rank, name in enumerate(LONG)}


def pytest_collection_modifyitems(items):
    """Begin with what takes long, lest a worker be left alone with it at the end."""
    items.sort(key=lambda item: RANK.get(item.path, len(RANK)))


def pytest_collection_finish():
    """Leave ten thousand tests and all modules out of what is searched for garbage, again and again."""
    gc.collect()
    gc.freeze()


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
