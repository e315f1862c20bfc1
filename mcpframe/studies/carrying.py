"""Warm starts along a chain of cases: the point at which the next solve begins, from the last one found.

Where the problem keeps its size and its contacts, that is the point itself. Where contacts come and go, the
unknowns of those that stay are carried over by the keys of the contacts, and all else begins at zero.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.layout import ContactBlocks

Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Carry:
    """What is kept of a solve.

    Attributes:
        z: the point [n].
        keys: of the contacts [n_u]; empty where they are unknown.
        places: indices in z of normal, friction and slip of every contact [n_u, 2 + n_f]; without rows where
            the problem does not tell.
    """

    z: Array
    keys: Keys
    places: Keys

    @staticmethod
    def of(problem: Any, keys: Keys | None, z: Array) -> Carry:
        """Return what is to be kept of a point found for a problem."""
        return Carry(z, _known(keys), _places(problem))

    def start(self, problem: Any, keys: Keys | None) -> Array | None:
        """Return where to begin on another problem [n]; None where nothing fits."""
        new_keys, new_places = _known(keys), _places(problem)
        if self.z.size == problem.n and np.array_equal(self.keys, new_keys):
            return self.z
        if not (len(self.places) == len(self.keys) and len(new_places) == len(new_keys)):
            return None
        if self.places.shape[1] != new_places.shape[1]:
            return None
        _, old, new = np.intersect1d(self.keys, new_keys, return_indices=True)
        z = np.zeros(problem.n)
        z[new_places[new]] = self.z[self.places[old]]
        return z

    def to_bytes(self) -> bytes:
        """Return it as the bytes of an .npz file."""
        stream = io.BytesIO()
        np.savez(stream, z=self.z, keys=self.keys, places=self.places)
        return stream.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> Carry:
        """Return what `to_bytes` has written."""
        fields = np.load(io.BytesIO(data), allow_pickle=False)
        return Carry(fields["z"], fields["keys"], fields["places"])


def _known(keys: Keys | None) -> Keys:
    return np.zeros(0, dtype=np.int64) if keys is None else keys


def _places(problem: Any) -> Keys:
    blocks: ContactBlocks | None = getattr(problem, "contacts", None)
    if blocks is None:
        return np.zeros((0, 0), dtype=np.int64)
    return np.column_stack([blocks.normal, blocks.friction, blocks.slip])
