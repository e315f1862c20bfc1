"""What the readers of robot files share: optional modules, and a record of what they leave out."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcpframe.exceptions import FileFormatError, ModelError, ModelWarning, PluginError, ProblemError
from mcpframe.io.untrusted import reading

NAMES_SHOWN = 4
"""Names listed for each thing that is left out; the rest is counted."""


def import_reader(module: str) -> Any:
    """Import a module of the extra `robots`, or raise PluginError that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PluginError(
            f"reading robot files needs {module} ({error}); pip install 'mcpframe[robots]'"
        ) from None


def read_bytes(path: Path) -> bytes:
    """Return what is in the file, or raise FileFormatError naming it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None


@contextmanager
def building(file: Path) -> Iterator[None]:
    """Give errors about the values of a robot file its name; those of other libraries become ours."""
    try:
        with reading(str(file), "has values that cannot be used"):
            yield
    except (ModelError, ProblemError) as error:
        raise ModelError(f"{file}: {error}") from None


class LeftOut:
    """What a file holds and the model does not, collected while reading and told in one warning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: dict[str, list[str]] = {}

    def add(self, what: str, name: str) -> None:
        """Note that `what` of the element `name` is not, or not as written, in the model."""
        self._names.setdefault(what, []).append(name)

    def warn(self, stacklevel: int = 3) -> None:
        """Emit one ModelWarning that names everything, as if from the caller of the reader."""
        if self._names:
            parts = "; ".join(f"{what} ({_short(names)})" for what, names in self._names.items())
            warnings.warn(f"{self._path}: not taken over as written: {parts}", ModelWarning, stacklevel)


def _short(names: list[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    return shown if len(names) <= NAMES_SHOWN else f"{len(names)}: {shown}, ..."
