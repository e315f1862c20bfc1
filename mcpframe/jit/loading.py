"""Kernels from the cache on disk, without what Numba does beside: most of a first solve was spent on that.

Before it loads a function, Numba gets itself ready to compile, half a second, once; and with the machine code
it parses the intermediate code, kept for functions that call this one by name, longer than all the rest.
Kernels need neither: they count no references, and call each other by address.

What is used here of Numba is not part of its interface; `mcpframe.jit.ways` does without it where it has
changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary


def load_lightly(dispatcher: Any) -> None:
    """Have a dispatcher with a cache load machine code from there, and nothing else."""
    dispatcher._cache.load_overload = partial(_load, dispatcher._cache)


def _load(cache: Any, signature: Any, context: Any) -> Any:
    """Stand in for a cache's `load_overload`; where it finds nothing, the compiler gets itself ready."""
    with cache._guard_against_spurious_io_errors(), _light_libraries(context.codegen()):
        return cache._load_overload(signature, context)


@contextmanager
def _light_libraries(codegen: Any) -> Iterator[None]:
    """Make libraries light while something is loaded; who loads holds Numba's lock."""
    codegen.unserialize_library = partial(_LightLibrary.of, codegen)
    try:
        yield
    finally:
        del codegen.unserialize_library


class _LightLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code, with its intermediate code unread until a function that calls it by name is compiled."""

    _bitcode: bytes
    _shared_module: Any

    @classmethod
    def of(cls, codegen: Any, state: Any) -> Any:
        """Return the library that a cache holds."""
        name, kind, data = state
        if kind != "object":
            return cls._unserialize(codegen, state)
        library = cls(codegen, name)
        machine_code, library._bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        return library

    def get_pointer_to_function(self, name: str) -> int:
        """Return where the kernel begins, or its wrapper for Python, which every kernel has."""
        return int(self._codegen._engine.get_function_address(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module
