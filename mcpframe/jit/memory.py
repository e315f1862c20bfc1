"""Memories of kernels: every slot is declared once, and offsets, sizes and arrays follow from that.

Each array argument of a compiled call costs tens of nanoseconds; so a memory is two arrays, integers `I` and
doubles `X`. The head of `I` holds counts, and says where the parts begin; the head of `X` holds single
numbers. Slots are numbered in the order of their declaration, and are plain integers to the kernels:

    MEMORY = Memory()
    N_DOFS = MEMORY.count("dof")                    # how many there is room for
    DOFS = MEMORY.doubles("dof", DOF)               # a row for each of them, of so many doubles
    D_COLUMN, D_GAIN, DOF = columns(PAIR, PAIR)     # where things are in a row, and how long it is

    I, X = MEMORY.arrays(dof=3)                     # I[N_DOFS] is 3
    MEMORY.part(I, X, DOFS)[:, D_GAIN] = 1.0        # in a kernel: X[I[DOFS] + d * DOF + D_GAIN]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

LINE = 8
"""Numbers in a cache line, where every part begins: lanes that straddle two lines are slow to load."""
VECTOR, MATRIX = 4, 12
"""Doubles of a vector, in four lanes, and of the three columns of a matrix."""


class Part(NamedTuple):
    """An array within `I` or `X`.

    Attributes:
        doubles: whether it lies in `X`.
        shape: of every axis the slot of its count, -1 for none, and what is added to that.
        spare: numbers behind it, which lanes may be loaded from.
    """

    doubles: bool
    shape: tuple[tuple[int, int], ...]
    spare: int

    def sizes(self, I: Indices | list[int]) -> tuple[int, ...]:
        """Return how long the axes are."""
        return tuple((int(I[slot]) if slot >= 0 else 0) + more for slot, more in self.shape)


class Memory:
    """The declarations of one memory.

    Lengths of axes are numbers, or names of counts: ``"dof"``, ``"form + 1"``. Only `arrays` says how many of
    each there are.

    Args:
        base: a memory whose slots come first, for kernels that know these alone.
    """

    def __init__(self, base: Memory | None = None) -> None:
        self.head: int = 0 if base is None else base.head
        self._n_numbers: int = 0 if base is None else base._n_numbers
        self._counts: dict[str, int] = {} if base is None else dict(base._counts)
        self._parts: dict[int, Part] = {} if base is None else dict(base._parts)
        self._last: tuple[tuple[int, ...] | None, tuple[Indices, int, int]] = None, (np.zeros(0, int), 0, 0)

    def count(self, of: str = "") -> int:
        """Declare an integer in the head of `I`; one with a name holds how many of these have room."""
        if of in self._counts:
            return self._counts[of]
        self.head += 1
        if of:
            self._counts[of] = self.head - 1
        return self.head - 1

    def counts(self, n: int) -> Iterator[int]:
        """Declare so many integers."""
        return (self.count() for _ in range(n))

    def number(self) -> int:
        """Declare a double in the head of `X`."""
        self._n_numbers += 1
        return self._n_numbers - 1

    def numbers(self, n: int) -> Iterator[int]:
        """Declare so many doubles."""
        return (self.number() for _ in range(n))

    def integers(self, *shape: int | str) -> int:
        """Declare an array of integers."""
        return self._part(False, shape, 0)

    def doubles(self, *shape: int | str, spare: int = 0) -> int:
        """Declare an array of doubles."""
        return self._part(True, shape, spare)

    def _part(self, doubles: bool, shape: tuple[int | str, ...], spare: int) -> int:
        axes = tuple(self._axis(length) for length in shape)
        slot = self.count()
        self._parts[slot] = Part(doubles, axes, spare)
        return slot

    def _axis(self, length: int | str) -> tuple[int, int]:
        if isinstance(length, int):
            return -1, length
        name, _, more = length.partition(" + ")
        return self.count(name), int(more or 0)

    def arrays(self, **counts: int) -> tuple[Indices, Array]:
        """Return `I` and `X` for so many of everything: counts and places are written, all else is zero."""
        if counts.keys() != self._counts.keys():
            raise TypeError(f"this memory has the counts {', '.join(sorted(self._counts))}")
        head, n_integers, n_doubles = self._laid_out(tuple(counts[name] for name in self._counts))
        I = np.zeros(n_integers, dtype=np.int64)
        I[: head.size] = head
        return I, aligned_zeros(n_doubles)

    def _laid_out(self, counts: tuple[int, ...]) -> tuple[Indices, int, int]:
        """Return the head of `I`, and how long `I` and `X` are; of the last counts it is known."""
        if counts != self._last[0]:
            head = [0] * _whole_lines(self.head)
            for slot, n in zip(self._counts.values(), counts, strict=True):
                head[slot] = n
            ends = {False: len(head), True: _whole_lines(self._n_numbers)}
            for slot, part in self._parts.items():
                head[slot] = ends[part.doubles]
                size = part.spare + math.prod(part.sizes(head))
                ends[part.doubles] += _whole_lines(size)
            n_doubles = ends[True] + LINE  # lanes may be loaded past the end
            self._last = counts, (np.array(head, dtype=np.int64), ends[False], n_doubles)
        return self._last[1]

    def part(self, I: Indices, X: Array, slot: int) -> NDArray[Any]:
        """Return the view of a part, in its shape."""
        part, start = self._parts[slot], int(I[slot])
        sizes = part.sizes(I)
        return (X if part.doubles else I)[start : start + math.prod(sizes)].reshape(sizes)

    def resized(self, I: Indices, X: Array, **counts: int) -> tuple[Indices, Array]:
        """Return `I` and `X` with other counts, and all that they hold as far as there is room for it."""
        old = {name: int(I[slot]) for name, slot in self._counts.items()}
        new_I, new_X = self.arrays(**old | counts)
        self._copy(I, X, new_I, new_X)
        return new_I, new_X

    def longer(self, base: Memory, I: Indices, X: Array, **counts: int) -> tuple[Indices, Array]:
        """Return `I` and `X` of this memory with all that those of its base hold; counts: of what is new."""
        old = {name: int(I[slot]) for name, slot in base._counts.items()}
        new_I, new_X = self.arrays(**old, **counts)
        base._copy(I, X, new_I, new_X)
        return new_I, new_X

    def _copy(self, I: Indices, X: Array, new_I: Indices, new_X: Array) -> None:
        """Copy counts without a name, numbers and parts as far as there is room for them."""
        for slot in set(range(self.head)) - self._parts.keys() - set(self._counts.values()):
            new_I[slot] = I[slot]
        new_X[: self._n_numbers] = X[: self._n_numbers]
        for slot in self._parts:
            before, after = self.part(I, X, slot).ravel(), self.part(new_I, new_X, slot).ravel()
            kept = min(before.size, after.size)
            after[:kept] = before[:kept]


def columns(*widths: int) -> Iterator[int]:
    """Return where the parts of a row of these widths begin, and last how wide the row is."""
    return accumulate(widths, initial=0)


def aligned_zeros(n: int) -> Array:
    """Return n zeros that begin at a cache line."""
    raw = np.zeros(8 * (n + LINE), dtype=np.uint8)
    start = -raw.ctypes.data % (8 * LINE)
    return raw[start : start + 8 * n].view(np.float64)


def aligned_copy(X: Array) -> Array:
    """Return a copy that begins at a cache line."""
    copy = aligned_zeros(X.size)
    copy[:] = X
    return copy


def _whole_lines(n: int) -> int:
    return -(-n // LINE) * LINE
