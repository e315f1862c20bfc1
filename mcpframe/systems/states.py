"""States to start from: the neutral one at rest, and random ones that move; loops are closed in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.projection import project_loops, project_rates

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

DRAWS = 100
"""Random coordinates that are tried before loops count as impossible to close."""


def neutral_state(model: Model) -> State:
    """Return the neutral coordinates at rest."""
    return model.state(project_loops(model, model.neutral()))


def random_state(model: Model, rng: np.random.Generator) -> State:
    """Return random coordinates with normally distributed rates."""
    state = model.state(_random_coordinates(model, rng), rng.standard_normal(model.n_dofs))
    return state.update(theta_dot=project_rates(state))


def _random_coordinates(model: Model, rng: np.random.Generator) -> Array:
    for _ in range(DRAWS - 1):
        try:
            return project_loops(model, model.random_theta(rng))
        except ModelError:  # the loops cannot be closed from there
            continue
    return project_loops(model, model.random_theta(rng))
