"""Loops of a model where a scene starts: what is named stays as it is, and the rest follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.projection import project_loops, project_rates
from mcpframe.scene.naming import dofs_named


def closed(model: Model, theta: Array, given: Any) -> Array:
    """Return coordinates at which the loops are closed.

    Args:
        model: with its closures.
        theta: where to start [n_theta].
        given: coordinates by name, which are kept where the loops can have them so; or all at once.
    """
    try:
        return project_loops(model, theta, held=_dofs(model, given))
    except ModelError:
        return project_loops(model, theta)


def fitting(model: Model, theta: Array, theta_dot: Array, time: float, given: Any) -> Array:
    """Return rates that the closures allow; those that are given by name are kept where that can be."""
    return project_rates(model.state(theta, theta_dot, time), _dofs(model, given))


def _dofs(model: Model, given: Any) -> Any:
    return dofs_named(model, given) if isinstance(given, Mapping) else ()
