"""Warm starts: the solution of the last step, carried over to the next one's problem.

Contacts come and go from step to step; their unknowns β, σ are known again by the identity that the detector
gives them, those of joint limits by the limit. All other blocks (θ̇, V, impulses of loops and hinges) keep
their size and are taken as they were. Impulses grow with the time that they act for, speeds do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import LawRows
from mcpframe.problem.layout import Layout
from mcpframe.solving.solution import AT_LOWER, BASIC, Solution

Indices = NDArray[np.int64]

SPEEDS = frozenset({"theta_dot", "V", "sigma"})
"""Blocks of z that do not grow with the length of the step."""
NAMED = ("p_l", "beta", "sigma")
"""Blocks whose entries belong to limits or contacts that may be others in the next step."""
NONE: Indices = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Names:
    """Who owns the entries of the blocks in `NAMED`: one number per entry.

    The owner of entry j of a contact's β (or σ) is (key, j); of a limit's impulse (limit, 0).

    Attributes:
        owner, place: by block, each [size of the block].
    """

    owner: Mapping[str, Indices]
    place: Mapping[str, Indices]

    def entries(self, block: str) -> list[tuple[int, int]]:
        """Return (owner, place) of every entry of a block."""
        return list(zip(self.owner[block].tolist(), self.place[block].tolist(), strict=True))

    @staticmethod
    def of(laws: Sequence[LawRows], keys: Indices, limits: Indices) -> Names:
        """Return the owners of the unknowns of contacts, known by keys [n_u], and of limits [n_l]."""
        sizes = {
            "p_l": np.ones(limits.size, dtype=np.int64),
            "beta": np.array([law.m for law in laws], dtype=np.int64),
            "sigma": np.array([law.s for law in laws], dtype=np.int64),
        }
        whose = {"p_l": limits, "beta": keys, "sigma": keys}
        owner = {name: np.repeat(whose[name], sizes[name]) for name in NAMED}
        place = {name: np.concatenate([NONE, *map(np.arange, sizes[name])]) for name in NAMED}
        return Names(owner, place)


NO_NAMES = Names(dict.fromkeys(NAMED, NONE), dict.fromkeys(NAMED, NONE))


@dataclass(frozen=True, eq=False)
class Start:
    """Where a solve begins: a point, and a basis where the solver keeps one; None where nothing is known."""

    z: Array | None = None
    basis: NDArray[np.int8] | None = None


COLD = Start()


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The last solution, block by block.

    Attributes:
        h: length of the step that it solved, s; zero before the first one.
        z: blocks of the solution, by name.
        basis: blocks of its basis, by name; empty where the solver has none.
        names: who owns the entries of some of them.
    """

    h: float = 0.0
    z: Mapping[str, Array] = field(default_factory=dict)
    basis: Mapping[str, NDArray[np.int8]] = field(default_factory=dict)
    names: Names = field(default_factory=lambda: NO_NAMES)

    @staticmethod
    def of(h: float, layout: Layout, solution: Solution, names: Names) -> WarmStart:
        """Return what to keep of a step's solution."""
        basis = {} if solution.basis is None else layout.split(solution.basis)
        return WarmStart(h, layout.split(solution.z), basis, names)

    def start(self, h: float, layout: Layout, names: Names) -> Start:
        """Return where to start the solve of a step of length h."""
        if self.h == 0.0 or not layout.n:
            return COLD
        z = [self._carried(self.z, name, size, names, 0.0) for name, size in layout.sizes.items()]
        grown = [
            block if name in SPEEDS else h / self.h * block for name, block in zip(layout, z, strict=True)
        ]
        if not self.basis:
            return Start(np.concatenate(grown))
        unknown = {name: AT_LOWER if name in NAMED else BASIC for name in layout}
        codes = [
            self._carried(self.basis, name, size, names, unknown[name]) for name, size in layout.sizes.items()
        ]
        return Start(np.concatenate(grown), np.concatenate(codes).astype(np.int8))

    def _carried(self, blocks: Mapping[str, Any], name: str, size: int, names: Names, unknown: float) -> Any:
        """Return a block for the new owners of its entries, and `unknown` for those who were not there."""
        last = blocks.get(name, np.zeros(0))
        if name not in NAMED:
            return last if last.size == size else np.full(size, unknown)
        before, now = self.names.entries(name), names.entries(name)
        if before == now:
            return last
        known = dict(zip(before, last.tolist(), strict=True))
        return np.array([known.get(entry, unknown) for entry in now], dtype=np.float64)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays by name."""
        parts: dict[str, Mapping[str, NDArray[Any]]] = {
            "z": self.z,
            "basis": self.basis,
            "owner": self.names.owner,
            "place": self.names.place,
        }
        named = {f"{part}_{name}": block for part, blocks in parts.items() for name, block in blocks.items()}
        return {"h": np.array(self.h), **named}

    @staticmethod
    def of_checkpoint(kept: Mapping[str, NDArray[Any]]) -> WarmStart:
        """Return what `checkpoint` has written."""
        parts = {part: _named(kept, f"{part}_") for part in ("z", "basis", "owner", "place")}
        return WarmStart(float(kept["h"]), parts["z"], parts["basis"], Names(parts["owner"], parts["place"]))


def _named(kept: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        key.removeprefix(prefix): np.array(value) for key, value in kept.items() if key.startswith(prefix)
    }
