"""What a compiled function is made of: by its stamp a kernel in the cache is known to be still right.

A stamp is a digest of code and values, not of files and their dates: of the bytecode of a function and of all
functions that it calls, and of every global constant that they use, wherever it is defined. So a comment, a
date or another folder changes nothing, and an edit of a constant three imports away does.

Intrinsics are the exception: what they do stands in their file as a whole, whose text goes in.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from enum import Enum, EnumMeta
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core.typing import Signature

from mcpframe.jit.later import Later

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
    """Return some functions and all that they call, each once; nothing is compiled to find out."""
    reached = dict.fromkeys(compiled)
    todo = list(reached)
    for value in todo:  # grows meanwhile
        new = [callee for callee in _called(value) if callee not in reached]
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
    walk = _walked(compiled, signed=True)
    return _digest(walk.pieces), tuple(walk.called)


@cache
def _called(compiled: Any) -> tuple[Any, ...]:
    """Return the functions that a function calls."""
    return tuple(_walked(compiled, signed=False).called)


def _walked(compiled: Any, signed: bool) -> _Walk:
    """Return the walk over what a function is made of."""
    function = _function_of(compiled)
    assert function is not None
    walk = _Walk(_names(function.__code__), signed)
    walk.add(_file_behind(compiled, function))
    walk.value(getattr(compiled, "targetoptions", None))
    walk.function(function)
    return walk


class _Walk:
    """Writes down what makes up values, and collects the functions among them.

    Args:
        names: of globals and attributes that the function uses; of modules, classes and other objects only
            these go in.
        signed: whether signatures of kernels that are called by address go in, for which these are compiled.

    Attributes:
        pieces: what is written.
        called: the functions.
    """

    def __init__(self, names: tuple[str, ...], signed: bool) -> None:
        self.names, self.signed = names, signed
        self.pieces: list[str] = []
        self.add = self.pieces.append
        self.called: list[Any] = []
        self._seen: set[int] = set()

    def function(self, function: FunctionType) -> None:
        """Write the code of a function, and the values that it finds under the names it uses."""
        self.code(function.__code__, function.__doc__)
        self.value((function.__defaults__, function.__kwdefaults__))
        cells = map(_content, function.__closure__ or ())
        self.named(dict(zip(function.__code__.co_freevars, cells, strict=True)))
        self.named(self._chosen(function.__globals__))

    def code(self, code: CodeType, doc: str | None = None) -> None:
        """Write what code does and nothing about where it stands; a docstring does nothing."""
        self.add(code.co_code.hex())
        self.add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)))
        self.add(repr((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount)))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant)
            elif doc is None or constant != doc:
                self.value(constant)

    def named(self, values: Mapping[str, Any]) -> None:
        """Write names and what makes up their values."""
        for name, value in values.items():
            self.add(name)
            self.value(value)

    def value(self, value: Any) -> None:
        """Write what makes up a value."""
        if type(value) is Later:
            if not self.signed:
                return
            value = value.now
        kind: Any = type(value)
        self.add(kind.__qualname__)
        _writer(kind)(self, value)

    def enum(self, value: Enum) -> None:
        """Write the name and the value of a member."""
        self.named({value.name: value.value})

    def plain(self, value: Any) -> None:
        """Write a value whose repr says it all."""
        self.add(repr(value))

    def array(self, value: Any) -> None:
        """Write the numbers of an array."""
        self.add(f"{value.dtype} {value.shape} {value.tobytes().hex()}")

    def sequence(self, value: Any) -> None:
        """Write the parts of a tuple or a list."""
        self.add(f"{len(value)} {getattr(value, '_fields', '')}")
        for part in value:
            self.value(part)

    def set(self, value: Any) -> None:
        """Write the parts of a set, which have no order."""
        self.pieces += sorted(map(repr, value))

    def mapping(self, value: Any) -> None:
        """Write keys and values."""
        self.named({repr(key): value[key] for key in sorted(value, key=repr)})

    def object(self, value: Any) -> None:
        """Write the name of a function, or of another object and its attributes that the names stand for."""
        function = _function_of(value)
        module = str(getattr(function or value, "__module__", ""))
        self.add(f"{module} {getattr(function or value, '__qualname__', '')}")
        if function is not None:
            if not _is_foreign(module):
                self.called.append(value)
        elif id(value) not in self._seen:
            self._seen.add(id(value))
            self.add(repr(getattr(value, "_fields", "")))  # of named tuples: their order is their meaning
            self.named(self._chosen(_attributes(value)))

    def _chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[name] for name in self.names if name in values}


WRITERS: dict[Any, Callable[[_Walk, Any], None]] = {
    Enum: _Walk.enum,
    PLAIN: _Walk.plain,
    np.ndarray: _Walk.array,
    (tuple, list): _Walk.sequence,
    Set: _Walk.set,
    Mapping: _Walk.mapping,
}
"""What writes values of some types: the first that fits."""


@cache  # a walk meets a few types, and asking abstract ones takes most of its time
def _writer(kind: type) -> Callable[[_Walk, Any], None]:
    return next((write for kinds, write in WRITERS.items() if issubclass(kind, kinds)), _Walk.object)


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
