"""The systems with known answers (examples/truth), for the tests."""

import importlib
import importlib.util
import sys
import warnings
from pathlib import Path

import pytest

from mcpframe.simulation.recording.energy_audit import EnergyWarning

FOLDER = Path(__file__).parents[2] / "examples" / "truth"
NO_SYSTEMS = ("__init__", "answers", "bodies", "equations", "motions", "page")
PLACES = {
    path.stem: ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in sorted(FOLDER.rglob("*.py"))
    if path.stem not in NO_SYSTEMS
}
"""Modules with systems, and where they are in the package."""
MODULES = list(PLACES)


def _package():
    """Import examples/truth as `truth`; the folder of the examples stays off the path."""
    if "truth" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "truth", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
        )
        sys.modules["truth"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["truth"])


def systems(module):
    """The systems of a module, in the order of their definition."""
    _package()
    name = importlib.import_module(f"truth.{PLACES[module]}").__name__
    listed = importlib.import_module("truth.answers").SYSTEMS
    return [system for system in listed if system.answers.__module__ == name]


def every_way(module):
    """Parametrise a test with the systems of a module and the ways in which they are run."""
    cases = [
        pytest.param(system, way, id=f"{system.name}-{way}")
        for system in systems(module)
        for way in system.ways
    ]
    return pytest.mark.parametrize(("system", "way"), cases)


def assert_known(system, way):
    """Claim that a run gives all the answers that are known, within their tolerances."""
    if system.missing:
        pytest.skip(f"needs {system.missing}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)  # energy that grows is an answer here
        answers = list(system.answers(way))
    off = [str(answer) for answer in answers if not answer.holds]
    assert answers
    assert not off, "\n".join(off)
