"""What a compiled function is made of: by its stamp a kernel in the cache is known to be still right.

A stamp is a digest of code and values, not of files and their dates: of the bytecode of a function and of all
functions that it calls, and of every global constant that they use, wherever it is defined. So a comment, a
date or another folder changes nothing, and an edit of a constant three imports away does.

Intrinsics are the exception: what they do stands in their file as a whole, whose text goes in.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from enum import Enum, EnumMeta
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core.typing import Signature

PLAIN = (
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    range,
    slice,
    np.generic,
    np.dtype,
    types.Type,
    Signature,
)
"""Types whose repr says it all."""
FOREIGN = {"numba", "numpy", "scipy", "llvmlite", *sys.stdlib_module_names}
"""Packages that change with their version only: what comes from them goes in by name."""


MAKING = "2: helpers as part of their kernel"
"""How kernels are made from their code, by `mcpframe.jit.helpers`: another text makes all of them anew."""


def stamp(compiled: Any) -> str:
    """Return a digest of all that the machine code of a function follows from, the same in every process."""
    reached, parts = [compiled], []
    number = {compiled: 0}
    for value in reached:  # grows meanwhile
        own, called = _own(value)
        for callee in called:
            if number.setdefault(callee, len(reached)) == len(reached):
                reached.append(callee)
        parts.append(f"{own} calls {[number[callee] for callee in called]}")
    return _digest([MAKING, *parts])


def reached_from(compiled: Iterable[Any]) -> list[Any]:
    """Return some functions and all that they call, each once."""
    reached = dict.fromkeys(compiled)
    todo = list(reached)
    for value in todo:  # grows meanwhile
        new = [callee for callee in _own(value)[1] if callee not in reached]
        reached |= dict.fromkeys(new)
        todo += dict.fromkeys(new)
    return todo


def code_size(compiled: Any) -> int:
    """Return the instructions of Python that a function is made of, without those it calls."""
    function = _function_of(compiled)
    return 0 if function is None else len(function.__code__.co_code) // 2


@cache  # kernels share helpers
def _own(compiled: Any) -> tuple[str, tuple[Any, ...]]:
    """Return a digest of a function without those that it calls, and these in the order of their names."""
    function = _function_of(compiled)
    assert function is not None
    walk = _Walk(_names(function.__code__))
    options = walk.value(getattr(compiled, "targetoptions", None))
    own = _digest([_file_behind(compiled, function), *options, *walk.function(function)])
    return own, tuple(walk.called)


class _Walk:
    """Yields what makes up values, and collects the functions among them.

    Args:
        names: of globals and attributes that the function uses; of modules, classes and other objects only
            these go in.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.called: list[Any] = []
        self._seen: set[int] = set()

    def function(self, function: FunctionType) -> Iterator[str]:
        """Yield the code of a function, and the values that it finds under the names it uses."""
        yield from self.code(function.__code__, function.__doc__)
        yield from self.value((function.__defaults__, function.__kwdefaults__))
        cells = map(_content, function.__closure__ or ())
        yield from self.named(dict(zip(function.__code__.co_freevars, cells, strict=True)))
        yield from self.named(self._chosen(function.__globals__))

    def code(self, code: CodeType, doc: str | None = None) -> Iterator[str]:
        """Yield what code does and nothing about where it stands; a docstring does nothing."""
        yield code.co_code.hex()
        yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags))
        yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from self.code(constant)
            elif doc is None or constant != doc:
                yield from self.value(constant)

    def named(self, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield names and what makes up their values."""
        for name, value in values.items():
            yield name
            yield from self.value(value)

    def value(self, value: Any) -> Iterator[str]:
        """Yield what makes up a value."""
        yield type(value).__qualname__
        if isinstance(value, Enum):
            yield from self.named({value.name: value.value})
        elif isinstance(value, PLAIN):
            yield repr(value)
        elif isinstance(value, np.ndarray):
            yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
        elif isinstance(value, (tuple, list)):
            yield f"{len(value)} {getattr(value, '_fields', '')}"
            for part in value:
                yield from self.value(part)
        elif isinstance(value, Set):
            yield from sorted(map(repr, value))
        elif isinstance(value, Mapping):
            yield from self.named({repr(key): value[key] for key in sorted(value, key=repr)})
        else:
            yield from self.object(value)

    def object(self, value: Any) -> Iterator[str]:
        """Yield the name of a function, or of another object and its attributes that the names stand for."""
        function = _function_of(value)
        module = str(getattr(function or value, "__module__", ""))
        yield f"{module} {getattr(function or value, '__qualname__', '')}"
        if function is not None:
            if not _is_foreign(module):
                self.called.append(value)
        elif id(value) not in self._seen:
            self._seen.add(id(value))
            yield repr(getattr(value, "_fields", ""))  # of named tuples: their order is their meaning
            yield from self.named(self._chosen(_attributes(value)))

    def _chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[name] for name in self.names if name in values}


def _attributes(value: Any) -> Mapping[str, Any]:
    """Return what an object, a module or a class holds itself."""
    return value.__members__ if isinstance(value, EnumMeta) else getattr(value, "__dict__", {})


def _function_of(value: Any) -> FunctionType | None:
    """Return the Python function behind a function, an intrinsic, or what Numba has compiled."""
    for function in (value, getattr(value, "_defn", None), getattr(value, "py_func", None)):
        if isinstance(function, FunctionType):
            return function
    return None


def _file_behind(compiled: Any, function: FunctionType) -> str:
    """Return a digest of the file that says what becomes of a function, where that is not Numba alone."""
    if hasattr(compiled, "_defn"):
        return _digest_of_file(function.__code__.co_filename)
    module = type(compiled).__module__
    return "" if _is_foreign(module) else _digest_of_file(sys.modules[module].__file__ or "")


@cache
def _digest_of_file(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # typed at a prompt
        return ""


def _is_foreign(module: str) -> bool:
    return module.partition(".")[0] in FOREIGN


def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names of globals and attributes that code uses, with the functions inside it."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def _content(cell: CellType) -> Any:
    """Return what a closure holds; a function that calls itself is not there yet while it is being made."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _digest(pieces: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(pieces).encode()).hexdigest()
