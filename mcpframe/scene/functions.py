"""Python functions that a scene names: ``package.module:function``, ``file.py:function``, entry points."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from mcpframe.exceptions import OptionError, PluginError, nearest
from mcpframe.io.trust import Code

GROUP = "mcpframe.controllers"
"""Entry-point group of functions f(state, time) -> tau."""


def find_function(name: str, folder: Path | None = None, code: Code = Code.RUN) -> Callable[..., Any]:
    """Return the function behind a name.

    Args:
        name: ``package.module:function``, a path to a Python file as ``file.py:function``, or the name of an
            entry point of the group `mcpframe.controllers`.
        folder: against which the path of a file is meant.
        code: whether modules and files may be imported, which runs them; entry points always are. Where
            they are left alone, a function is returned that cannot be called.

    Raises:
        OptionError: they may not.
        PluginError: there is no such module, file, entry point or function, or it cannot be imported.
    """
    home, colon, function = name.partition(":")
    if not colon:
        return _callable(name, _from_entry_point(name))
    if home.endswith(".py"):
        _check_file(name, home, folder)
    if not code.admits(name):
        return partial(_not_run, name)
    module = _from_file(name, home, folder) if home.endswith(".py") else _from_package(name, home)
    found: Any = module
    for part in function.split("."):
        if not hasattr(found, part):
            raise PluginError(f"function {name!r}: {home} has no {part!r};{nearest(part, dir(found))}")
        found = getattr(found, part)
    return _callable(name, found)


def with_options(
    function: Callable[..., Any], options: Mapping[str, Any], *sample: Any
) -> Callable[..., Any]:
    """Return a function with its options filled in, or raise OptionError unless it takes these arguments.

    Args:
        function: to be called with the arguments of `sample` and the options as keywords.
        options: values by name.
        sample: arguments such as it will get; it is not called.
    """
    try:
        inspect.signature(function).bind(*sample, **options)
    except TypeError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise OptionError(f"function {name!r} cannot be called as planned: {error}") from None
    except ValueError:  # a function without a signature, as some compiled ones
        pass
    return partial(function, **options) if options else function


def _callable(name: str, found: Any) -> Callable[..., Any]:
    if not callable(found):
        raise PluginError(f"function {name!r}: it is {found!r}, which cannot be called")
    function: Callable[..., Any] = found
    return function


def _from_entry_point(name: str) -> Any:
    points = entry_points(group=GROUP)
    if name not in points.names:
        known = sorted(points.names)
        raise PluginError(
            f"function {name!r}: no entry point of the group {GROUP!r} is called so;{nearest(name, known)} "
            f"known: {', '.join(known) or 'none'}; others are written 'package.module:function' or "
            "'file.py:function'"
        )
    point = next(iter(points.select(name=name)))
    return _imported(name, point.load)


def _check_file(name: str, home: str, folder: Path | None) -> None:
    path = (folder or Path()) / home
    if not path.is_file():
        raise PluginError(f"function {name!r}: there is no file {path}")


def _not_run(name: str, *_: Any, **__: Any) -> Any:
    raise PluginError(f"function {name!r}: was not imported, for only checks are made here")


def _from_package(name: str, home: str) -> ModuleType:
    module: ModuleType = _imported(name, partial(importlib.import_module, home))
    return module


def _from_file(name: str, home: str, folder: Path | None) -> ModuleType:
    path = (folder or Path()) / home
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _imported(name, partial(spec.loader.exec_module, module))
    return module


def _imported(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # whatever the module raises while it is imported
        raise PluginError(f"function {name!r} cannot be imported: {type(error).__name__}: {error}") from error
