"""Ready systems: models to try formulations and solvers on, by function or by name.

>>> from mcpframe import systems
>>> systems.make("pendulum", links=3)
Model('pendulum', links=3, dofs=3, closures=0)

`register_system` adds one of your own; scenes, studies and commands then know its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from mcpframe.exceptions import McpframeError, ModelError, PluginError, nearest
from mcpframe.multibody.model.model import Model
from mcpframe.systems.chains import branched_tree, pendulum
from mcpframe.systems.contacts import contacts_of
from mcpframe.systems.grasp import grasp_theta, whole_arm_grasp
from mcpframe.systems.humanoid import humanoid
from mcpframe.systems.linkages import bennett, bricard, parallelogram
from mcpframe.systems.loops import closed_chain, four_bar
from mcpframe.systems.robots import dual_arm, quadruped
from mcpframe.systems.single import box, rod, sphere
from mcpframe.systems.threads import cable, net

__all__ = [
    "available",
    "bennett",
    "box",
    "branched_tree",
    "bricard",
    "cable",
    "closed_chain",
    "contacts_of",
    "dual_arm",
    "four_bar",
    "grasp_theta",
    "humanoid",
    "make",
    "maker",
    "net",
    "parallelogram",
    "pendulum",
    "quadruped",
    "register_system",
    "rod",
    "sphere",
    "whole_arm_grasp",
]

_MAKERS: dict[str, Callable[..., Model]] = {
    maker.__name__: maker
    for maker in (
        pendulum,
        branched_tree,
        cable,
        net,
        dual_arm,
        four_bar,
        closed_chain,
        parallelogram,
        bennett,
        bricard,
        quadruped,
        humanoid,
        sphere,
        box,
        rod,
        whole_arm_grasp,
    )
}
_READY = frozenset(_MAKERS)
"""Names that belong to this package."""
Maker = TypeVar("Maker", bound=Callable[..., Model])


def available() -> dict[str, str]:
    """Return the names of all systems, each with a line that says what it is."""
    return {name: (inspect.getdoc(maker) or "").partition("\n")[0] for name, maker in _MAKERS.items()}


def register_system(name: str, function: Maker | None = None) -> Any:
    """Add a system by hand; usable as a decorator, ``@mf.register_system("name")``.

    Args:
        name: by which scenes, studies and commands find it; the same name again replaces it.
        function: returns a `Model`; its arguments are the system's options, typed by its annotations.

    Raises:
        PluginError: a ready system has that name, it cannot be told from a file, or this is no function.
    """
    if function is None:
        return partial(register_system, name)
    if not callable(function):
        raise PluginError(f"system {name!r}: {function!r} is not a function that returns a Model")
    if not name.replace("-", "_").replace(" ", "_").isidentifier():
        raise PluginError(f"system {name!r}: a name is made of letters, digits, - and _")
    if name in _READY:
        raise PluginError(f"system {name!r} is ready already; give yours another name")
    _MAKERS[name] = function
    return function


def is_registered(name: str) -> bool:
    """Return whether a system was added by hand: other processes do not know it."""
    return name in _MAKERS and name not in _READY


def maker(name: str) -> Callable[..., Model]:
    """Return the function that makes the system of that name."""
    if name not in _MAKERS:
        raise ModelError(f"no system {name!r} among {', '.join(_MAKERS)};{nearest(name, _MAKERS)}")
    return _MAKERS[name]


def make(name: str, **options: Any) -> Model:
    """Return the system of that name, made with the options of its function."""
    function = maker(name)
    known = inspect.signature(function).parameters
    for option in options:
        if option not in known:
            raise ModelError(
                f"system {name!r} has no option {option!r}; its options are {', '.join(known) or 'none'};"
                f"{nearest(option, known)}"
            )
    return made_by(name, function, options)


def made_by(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> Model:
    """Return the model that a function, maybe a user's, makes; ModelError if it raises or makes none."""
    try:
        model = function(**options)
    except McpframeError:
        raise
    except Exception as error:
        raise ModelError(f"system {name!r}: its function raised {type(error).__name__}: {error}") from error
    if not isinstance(model, Model):
        raise ModelError(f"system {name!r}: its function returned {type(model).__name__}, expected a Model")
    return model
