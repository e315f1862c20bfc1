"""Warm starts along a chain of cases: the point and basis at which the next solve begins, from the last one.

Where the problem keeps its size and its contacts, these are the last ones themselves. Where contacts come and
go, the unknowns of those that stay are carried over by the keys of the contacts; all else begins at zero, and
out of the basis but for free rows.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.problem.layout import ContactBlocks
from mcpframe.solving.solution import AT_LOWER, BASIC, Solution

Keys = NDArray[np.int64]
Codes = NDArray[np.int8]
Start: TypeAlias = tuple[Array | None, Codes | None]
"""Point and basis to begin with."""
COLD: Start = (None, None)


@dataclass(frozen=True, eq=False)
class Carry:
    """What is kept of a solve.

    Attributes:
        z: the point [n].
        basis: its codes [n]; empty where the solver has none.
        keys: of the contacts [n_u]; empty where they are unknown.
        places: indices in z of normal, friction and slip of every contact [n_u, 2 + n_f]; without rows where
            the problem does not tell.
    """

    z: Array
    basis: Codes
    keys: Keys
    places: Keys

    @staticmethod
    def of(problem: Any, keys: Keys | None, solution: Solution) -> Carry:
        """Return what is to be kept of the solution of a problem."""
        basis = np.zeros(0, dtype=np.int8) if solution.basis is None else np.asarray(solution.basis)
        return Carry(solution.z, basis, _known(keys), _places(problem))

    def start(self, problem: Any, keys: Keys | None) -> Start:
        """Return point and basis to begin with on another problem [n]; None where nothing fits."""
        new_keys, new_places = _known(keys), _places(problem)
        if self.z.size == problem.n and np.array_equal(self.keys, new_keys):
            return self.z, self.basis if self.basis.size else None
        if not (len(self.places) == len(self.keys) and len(new_places) == len(new_keys)):
            return COLD
        if self.places.shape[1] != new_places.shape[1]:
            return COLD
        _, old, new = np.intersect1d(self.keys, new_keys, return_indices=True)
        z = np.zeros(problem.n)
        z[new_places[new]] = self.z[self.places[old]]
        if not self.basis.size:
            return z, None
        basis = np.where(problem.free, BASIC, AT_LOWER).astype(np.int8)
        basis[new_places[new]] = self.basis[self.places[old]]
        return z, basis

    def to_bytes(self) -> bytes:
        """Return it as the bytes of an .npz file."""
        stream = io.BytesIO()
        np.savez(stream, z=self.z, basis=self.basis, keys=self.keys, places=self.places)
        return stream.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> Carry:
        """Return what `to_bytes` has written."""
        fields = np.load(io.BytesIO(data), allow_pickle=False)
        return Carry(fields["z"], fields["basis"], fields["keys"], fields["places"])


def _known(keys: Keys | None) -> Keys:
    return np.zeros(0, dtype=np.int64) if keys is None else keys


def _places(problem: Any) -> Keys:
    blocks: ContactBlocks | None = getattr(problem, "contacts", None)
    if blocks is None:
        return np.zeros((0, 0), dtype=np.int64)
    return np.column_stack([blocks.normal, blocks.friction, blocks.slip])
