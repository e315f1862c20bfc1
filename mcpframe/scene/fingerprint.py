"""Fingerprints of a scene's parts: by them a run that is resumed is known to be of the same scene.

A fingerprint is taken of values, not of the file that they came from: a scene built in Python has one too,
and a comment in a scene file changes none. Functions go in with their source text and with what they hold.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property, partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numba.core.ccallback import CFunc

from mcpframe.multibody.model.model import Model
from mcpframe.scene.scene import Scene
from mcpframe.solving.plugin import AbstractPlugin

PLAIN = (str, bytes, int, float, complex, bool, type(None), type)
"""Types whose repr says it all."""


class Fingerprints(Mapping[str, str]):
    """Those of a scene, taken when they are first asked for: runs in memory may never need them."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @cached_property
    def _taken(self) -> dict[str, str]:
        return fingerprints(self._scene)

    def __getitem__(self, name: str) -> str:
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._taken)

    def __len__(self) -> int:
        return len(self._taken)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._taken,)


def fingerprints(scene: Scene) -> dict[str, str]:
    """Return a short digest of every part of a scene that decides how it moves, its stepping apart."""
    model = scene.model
    parts = {
        "links": model.links,
        "closures": model.closures,
        "gravity": model.gravity,
        "environment": model.geometry,
        "initial state": (scene.theta, scene.theta_dot, scene.time),
        "materials": scene.materials,
        "collision rules": (scene.ignore, scene.neighbours, scene.points_on),
        "controllers": scene.controllers,
    }
    return {name: digest(part) for name, part in parts.items()}


def digest(value: Any) -> str:
    """Return 16 hexadecimal digits that tell values apart, the same in every process."""
    total = hashlib.sha256()
    for piece in _pieces(value, ()):
        total.update(piece)
        total.update(b"\0")
    return total.hexdigest()[:16]


def _pieces(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the bytes that make up a value; `inside` has the values that it is part of."""
    value = getattr(value, "__wrapped__" if isinstance(value, CFunc) else "py_func", value)  # if compiled
    yield type(value).__qualname__.encode()
    if isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, PLAIN):
        yield repr(value).encode()
    elif not isinstance(value, Model) and id(value) not in inside:  # models have parts of their own
        for part in _parts(value):
            yield from _pieces(part, (*inside, id(value)))


def _parts(value: Any) -> list[Any]:
    """Return what a value is made of."""
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, (list, tuple)):
        return [*value]
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        return [*_written(value), value.__defaults__, value.__kwdefaults__, *_held(value)]
    if isinstance(value, AbstractPlugin):
        return [value.name, value.model_dump()]
    if is_dataclass(value):
        return [getattr(value, about.name) for about in fields(value)]
    return [getattr(value, "__qualname__", None), getattr(value, "__dict__", None)]


def _written(function: FunctionType) -> list[str]:
    """Return where a function is from and, where that can be found, how it is written."""
    try:
        return [function.__qualname__, inspect.getsource(function)]
    except (OSError, TypeError):
        return [function.__qualname__, function.__code__.co_code.hex()]


def _held(function: FunctionType) -> list[Any]:
    """Return the values of other functions that a function uses; one that is not set yet counts as None."""
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        return [None]
