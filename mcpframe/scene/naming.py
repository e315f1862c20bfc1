"""Values by name: which dofs, coordinates and shapes of a model a name or a pattern means.

In a pattern ``*`` stands for any text and ``?`` for any one character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.validation import values
from mcpframe.spatial.transforms import Pose

Indices = NDArray[np.int64]
ByName = ArrayLike | Mapping[str, Any]
"""A number for all, a vector, or a table from names to numbers."""


def matches(pattern: str, name: str) -> bool:
    """Return whether a name is meant by a pattern."""
    return pattern == name or _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def actuated_dofs(model: Model) -> Indices:
    """Return the dofs that have a motor unless something else is said: all but those of free hinges."""
    tree = model.tree
    return np.array([d for d, k in enumerate(tree.dof_link) if tree.links[k].hinge.kind != "free"], np.int64)


def dofs_named(model: Model, names: Iterable[str], what: str = "dofs") -> Indices:
    """Return the dofs, in order, that patterns of dof or link names mean; each must mean one at least."""
    tree = model.tree
    called = [{tree.dof_names[d], tree.links[k].name} for d, k in enumerate(tree.dof_link)]
    found: set[int] = set()
    for pattern in names:
        dofs = [d for d, own in enumerate(called) if any(matches(pattern, name) for name in own)]
        if not dofs:
            known = {name for own in called for name in own}
            raise ModelError(
                f"{what}: no dof or moving link of model {model.name!r} is called {pattern!r};"
                f"{nearest(pattern, known)}"
            )
        found.update(dofs)
    return np.array(sorted(found), np.int64)


def rates_by_name(
    model: Model, what: str, value: ByName, dofs: Indices | None = None, unnamed: float = 0.0
) -> Array:
    """Return one number per dof [N], read-only.

    Args:
        model: whose dofs.
        what: the values' name in messages.
        value: a number for the given dofs, a vector [N], or a table from names to numbers; a name of a link
            with several dofs takes a number for all or a vector.
        dofs: which ones a single number is for; all unless given.
        unnamed: number of all others.
    """
    result = np.full(model.n_dofs, unnamed)
    if isinstance(value, Mapping):
        for name, part in value.items():
            chosen = dofs_named(model, [name], what)
            result[chosen] = _broadcast(f"{what} of {name!r}", part, chosen.size)
    elif np.ndim(value) == 0:
        chosen = np.arange(model.n_dofs) if dofs is None else dofs
        result[chosen] = _broadcast(what, value, chosen.size)
    else:
        result[:] = values(what, value, (model.n_dofs,), finite=False)
    if np.isnan(result).any():
        raise ModelError(f"{what}: {value!r} has an entry that is not a number")
    return frozen(result)


def theta_by_name(model: Model, what: str, value: ArrayLike | Mapping[str, Any], start: Array) -> Array:
    """Return coordinates [n_theta], read-only.

    Args:
        model: whose coordinates.
        what: their name in messages.
        value: all coordinates, or a table by name. A link's coordinates are a number, a vector, or for ball
            and free hinges a `Pose`; ``link[i]`` is one coordinate of a hinge that has several.
        start: coordinates of what the table does not name.
    """
    if not isinstance(value, Mapping):
        return frozen(model.check_theta(values(what, value, (model.n_theta,))))
    theta = np.array(start)
    for name, part in value.items():
        for place in _theta_places(model, what, name):
            theta[place] = _coordinates(f"{what} of {name!r}", part, place.stop - place.start)
    return frozen(model.check_theta(theta))


def _theta_places(model: Model, what: str, pattern: str) -> list[slice]:
    """Return where in theta the links or plain dofs lie that a pattern means."""
    tree = model.tree
    coordinates = tree.coordinates
    places = {
        link.name: slice(int(start), int(start) + link.hinge.n_theta)
        for link, start in zip(tree.links, coordinates.theta_start, strict=True)
        if link.hinge.n_theta
    }
    plain = zip(coordinates.plain_dofs.tolist(), coordinates.plain_theta.tolist(), strict=True)
    places |= {tree.dof_names[d]: slice(i, i + 1) for d, i in plain}
    found = [place for name, place in places.items() if matches(pattern, name)]
    if not found:
        raise ModelError(
            f"{what}: no coordinate or moving link of model {model.name!r} is called {pattern!r};"
            f"{nearest(pattern, places)}"
        )
    return found


def _coordinates(what: str, value: Any, size: int) -> Array:
    if isinstance(value, Pose):
        if size not in (4, 7):
            raise ModelError(f"{what}: a pose is for ball and free hinges; give {size} numbers")
        return np.concatenate([value.position, value.quaternion()])[-size:]
    if size in (4, 7):
        return values(what, value, (size,))
    return _broadcast(what, value, size)


def _broadcast(what: str, value: Any, size: int) -> Array:
    number = values(what, value, (), finite=False) if np.ndim(value) == 0 else None
    return np.full(size, number) if number is not None else values(what, value, (size,), finite=False)
