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
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.tree import Tree
from mcpframe.multibody.model.validation import values
from mcpframe.spatial.transforms import Pose

Indices = NDArray[np.int64]
ByName = ArrayLike | Mapping[str, Any]
"""A number for all, a vector, or a table from names to numbers."""


def matches(pattern: str, name: str) -> bool:
    """Return whether a name is meant by a pattern."""
    return pattern == name or _expression(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def actuated_dofs(model: Model) -> Indices:
    """Return the dofs that have a motor unless something else is said: all but those of free hinges."""
    tree = model.tree
    return np.array([d for d, k in enumerate(tree.dof_link) if tree.links[k].hinge.kind != "free"], np.int64)


def dofs_named(model: Model, names: Iterable[str], what: str = "dofs") -> Indices:
    """Return the dofs, in order, that patterns of dof, joint or link names mean; each must mean one."""
    tree = model.tree
    known = {name: [d] for name, d in tree.dof_index.items()}
    for name, k in _links_by_name(tree).items():
        start = int(tree.coordinates.dof_start[k])
        known[name] = list(range(start, start + tree.links[k].hinge.n_dof))
    found: set[int] = set()
    for pattern in names:
        dofs = [d for name, own in known.items() if matches(pattern, name) for d in own]
        if not dofs:
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
        value: a number for the given dofs, a vector [N], or a table from names to numbers; a name of a joint
            or link with several dofs takes a number for all or a vector.
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
        value: all coordinates, or a table by name of joint or link. Coordinates are a number or a vector;
            for ball and free hinges also a `Pose`, which says where the link is in its parent's frame (of a
            link on the world: in the world); ``name[i]`` is one coordinate of a hinge that has several.
        start: coordinates of what the table does not name.
    """
    if not isinstance(value, Mapping):
        return frozen(model.check_theta(values(what, value, (model.n_theta,))))
    theta = np.array(start)
    for name, part in value.items():
        for place, link in _theta_places(model, what, name):
            theta[place] = _coordinates(f"{what} of {name!r}", part, link, place.stop - place.start)
    return frozen(model.check_theta(theta))


def _links_by_name(tree: Tree) -> dict[str, int]:
    """Return the moving link that a name means: that of a joint, else a link's own."""
    moving = [k for k, link in enumerate(tree.links) if link.hinge.n_dof]
    return {tree.links[k].name: k for k in moving} | {tree.joints[k]: k for k in moving}


def _theta_places(model: Model, what: str, pattern: str) -> list[tuple[slice, Link]]:
    """Return where in theta the joints, links or plain dofs of a pattern lie, with the link of each."""
    tree = model.tree
    coordinates = tree.coordinates
    plain = dict(zip(coordinates.plain_dofs.tolist(), coordinates.plain_theta.tolist(), strict=True))
    places = {
        name: (slice(plain[d], plain[d] + 1), tree.links[tree.dof_link[d]])
        for name, d in tree.dof_index.items()
        if d in plain
    }
    for name, k in _links_by_name(tree).items():
        start = int(coordinates.theta_start[k])
        places[name] = slice(start, start + tree.links[k].hinge.n_theta), tree.links[k]
    found = [place for name, place in places.items() if matches(pattern, name)]
    if not found:
        raise ModelError(
            f"{what}: no coordinate or moving link of model {model.name!r} is called {pattern!r};"
            f"{nearest(pattern, places)}"
        )
    return found


def _coordinates(what: str, value: Any, link: Link, size: int) -> Array:
    if isinstance(value, Pose):
        if size not in (4, 7):
            raise ModelError(f"{what}: a pose is for ball and free hinges; give {size} numbers")
        seen = link.pose.inverse() @ value  # coordinates are in the hinge frame
        return np.concatenate([seen.position, seen.quaternion()])[-size:]
    if size in (4, 7):
        return values(what, value, (size,))
    return _broadcast(what, value, size)


def _broadcast(what: str, value: Any, size: int) -> Array:
    number = values(what, value, (), finite=False) if np.ndim(value) == 0 else None
    return np.full(size, number) if number is not None else values(what, value, (size,), finite=False)
