"""Robot files by the end of their names, and options of their readers given as words or tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from mcpframe.exceptions import OptionError, nearest
from mcpframe.io.mjcf import load_mjcf
from mcpframe.io.urdf import load_urdf
from mcpframe.multibody.model.model import Model

MOST = 10_000
"""Links, and whatever else is counted: a model of more takes minutes to make, and its matrices gigabytes."""
READERS: dict[str, Callable[..., Model]] = {".urdf": load_urdf, ".xml": load_mjcf, ".mjcf": load_mjcf}
"""Who reads a robot file, by the end of its name."""


def typed_options(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a function with values of the types that it declares, or raise OptionError."""
    hints = get_type_hints(function)  # a function of a user's need not say types
    known = [name for name in inspect.signature(function).parameters if name != "path"]
    for key in options:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise OptionError(
                f"{function.__name__} has no option {key!r};{nearest(key, known)} (options: {listed})"
            )
    return {key: _typed(key, hints.get(key, Any), value) for key, value in options.items()}


def _typed(key: str, hint: Any, value: Any) -> Any:
    try:
        typed = TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        raise OptionError(f"{key} = {value!r}: {error.errors()[0]['msg'].lower()}") from None
    if hint is int and typed > MOST:
        raise OptionError(f"{key} = {value!r}: at most {MOST:,}")
    return typed
