"""Ready systems: models to try formulations and solvers on, by function or by name.

>>> from mcpframe import systems
>>> systems.make("pendulum", links=3)
Model('pendulum', links=3, dofs=3, closures=0)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.model.model import Model
from mcpframe.systems.chains import branched_tree, pendulum
from mcpframe.systems.contacts import contacts_of
from mcpframe.systems.humanoid import humanoid
from mcpframe.systems.loops import closed_chain, four_bar
from mcpframe.systems.robots import dual_arm, quadruped
from mcpframe.systems.single import box, rod, sphere

__all__ = [
    "available",
    "box",
    "branched_tree",
    "closed_chain",
    "contacts_of",
    "dual_arm",
    "four_bar",
    "humanoid",
    "make",
    "pendulum",
    "quadruped",
    "rod",
    "sphere",
]

_MAKERS: dict[str, Callable[..., Model]] = {
    maker.__name__: maker
    for maker in (
        pendulum,
        branched_tree,
        dual_arm,
        four_bar,
        closed_chain,
        quadruped,
        humanoid,
        sphere,
        box,
        rod,
    )
}


def available() -> dict[str, str]:
    """Return the names of all systems, each with a line that says what it is."""
    return {name: (inspect.getdoc(maker) or "").splitlines()[0] for name, maker in _MAKERS.items()}


def make(name: str, **options: Any) -> Model:
    """Return the system of that name, made with the options of its function."""
    if name not in _MAKERS:
        raise ModelError(f"no system {name!r} among {', '.join(_MAKERS)};{nearest(name, _MAKERS)}")
    maker = _MAKERS[name]
    known = inspect.signature(maker).parameters
    for option in options:
        if option not in known:
            raise ModelError(
                f"system {name!r} has no option {option!r}; its options are {', '.join(known) or 'none'};"
                f"{nearest(option, known)}"
            )
    return maker(**options)
