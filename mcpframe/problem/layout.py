"""Named blocks of z: who owns which entries, so that nobody writes slices by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import frozen, index_array, real_array
from mcpframe.exceptions import ProblemError, nearest


@dataclass(frozen=True, eq=False)
class Layout:
    """Consecutive named blocks of z, in order.

    Attributes:
        sizes: of the blocks.
        labels: names of the entries of blocks whose entries have names of their own.

    >>> layout = Layout({"beta": 20, "sigma": 4})
    >>> layout["sigma"]
    slice(20, 24, None)
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, size in self.sizes.items():
            if not isinstance(name, str) or not name:
                raise ProblemError(f"layout: block name {name!r} is not a non-empty string")
            if not isinstance(size, (int, np.integer)) or size < 0:
                raise ProblemError(f"layout: block {name!r} has size {size!r}; it must be an integer >= 0")
        object.__setattr__(self, "sizes", {name: int(size) for name, size in self.sizes.items()})

    def __eq__(self, other: object) -> bool:
        """Two layouts are equal when they have the same blocks in the same order."""
        return isinstance(other, Layout) and tuple(self.sizes.items()) == tuple(other.sizes.items())

    def __hash__(self) -> int:
        return hash(tuple(self.sizes.items()))

    @property
    def n(self) -> int:
        """Length of z."""
        return sum(self.sizes.values())

    def __getitem__(self, name: str) -> slice:
        start = 0
        for block, size in self.sizes.items():
            if block == name:
                return slice(start, start + size)
            start += size
        raise ProblemError(f"layout: no block {name!r} among {list(self.sizes)};{nearest(name, self.sizes)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def label(self, i: int) -> str:
        """Return what entry i of z is called: its own name, or its block and place, ``beta[3]``."""
        for name, size in self.sizes.items():
            if i < size:
                return self.labels[name][i] if name in self.labels else f"{name}[{i}]"
            i -= size
        return str(i + self.n)

    def split(self, z: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the blocks of z by name, as views."""
        return {name: z[self[name]] for name in self.sizes}


@dataclass(frozen=True, eq=False)
class ContactBlocks:
    """Where the unknowns of Coulomb contacts on a polyhedral cone lie in z [J14, Eq. (14)].

    With Dbar = [n, d_1 .. d_nf], Ehat = [0; 1 .. 1] and Ebar = [mu, -1 .. -1] the rows read, contact by
    contact,
        Dbar* v + Ehat sigma  _|_  beta = [F_n; beta_1 .. beta_nf],
        Ebar beta = mu F_n - sum(beta_j)  _|_  sigma.

    Attributes:
        normal: index in z of every F_n [n_u].
        friction: indices in z of beta_1..beta_nf [n_u, n_f].
        slip: index in z of every sigma [n_u].
        mu: friction coefficients [n_u].
    """

    normal: NDArray[np.int64]
    friction: NDArray[np.int64]
    slip: NDArray[np.int64]
    mu: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("normal", "friction", "slip"):
            object.__setattr__(self, name, frozen(index_array(f"contacts.{name}", getattr(self, name))))
        object.__setattr__(self, "mu", frozen(real_array("contacts.mu", self.mu)))
        n_u = self.normal.size
        if self.normal.ndim != 1:
            raise ProblemError(f"contacts.normal: shape {self.normal.shape}, expected a vector")
        if self.friction.ndim != 2 or self.friction.shape[0] != n_u:
            raise ProblemError(f"contacts.friction: shape {self.friction.shape}, expected ({n_u}, n_f)")
        if self.slip.shape != (n_u,) or self.mu.shape != (n_u,):
            raise ProblemError(
                f"contacts: slip {self.slip.shape} and mu {self.mu.shape} must have shape ({n_u},) as normal"
            )
        if not (np.isfinite(self.mu).all() and (self.mu >= 0).all()):
            raise ProblemError(f"contacts.mu: {self.mu} has an entry that is negative or not finite")

    @property
    def n_u(self) -> int:
        """Number of contacts."""
        return int(self.normal.size)

    @property
    def n_f(self) -> int:
        """Friction directions per contact."""
        return int(self.friction.shape[1])

    def check(self, n: int) -> None:
        """Raise unless all indices are distinct and lie in 0..n-1."""
        indices = np.concatenate([self.normal, self.friction.ravel(), self.slip])
        outside = indices[(indices < 0) | (indices >= n)]
        if outside.size:
            raise ProblemError(f"contacts: index {outside[0]} lies outside z of length {n}")
        if np.unique(indices).size != indices.size:
            raise ProblemError("contacts: an index of z is used twice")
