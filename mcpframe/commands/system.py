"""SYSTEM on the command line: a ready system by name, or a robot file, in a state to start from."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mcpframe as mf
from mcpframe.exceptions import ModelError, ModelWarning, OptionError, nearest
from mcpframe.io.readers import READERS, typed_options
from mcpframe.multibody.projection import project_loops, project_rates

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

DRAWS = 100
"""Random coordinates that are tried before loops count as impossible to close."""


class Start(StrEnum):
    """Where a system starts."""

    neutral = "neutral"
    random = "random"


def make_model(system: str, options: Mapping[str, Any]) -> mf.Model:
    """Return the model that SYSTEM names, made or read with the options of --set."""
    reader = READERS.get(Path(system).suffix.lower())
    if reader is not None:
        return _told(partial(reader, system, **_set(reader, options)))
    known = mf.systems.available()
    if system not in known:
        raise OptionError(
            f"no system {system!r};{nearest(system, known)} known: {', '.join(known)}; "
            "a robot is a path to a .urdf or .xml (MJCF) file"
        )
    return mf.systems.make(system, **_set(getattr(mf.systems, system), options))


def start_state(model: mf.Model, start: Start, seed: int) -> State:
    """Return the neutral state at rest, or a random one that moves; loops are closed in both."""
    if start is Start.neutral:
        return model.state(project_loops(model, model.neutral()))
    rng = np.random.default_rng(seed)
    state = model.state(_random_coordinates(model, rng), rng.standard_normal(model.n_dofs))
    return state.update(theta_dot=project_rates(state))


def _random_coordinates(model: mf.Model, rng: np.random.Generator) -> Any:
    for _ in range(DRAWS - 1):
        try:
            return project_loops(model, model.random_theta(rng))
        except ModelError:  # the loops cannot be closed from there
            continue
    return project_loops(model, model.random_theta(rng))


def _set(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return typed_options(function, options)
    except OptionError as error:
        raise OptionError(f"--set: {error}") from None


def _told(read: Callable[[], mf.Model]) -> mf.Model:
    """Return what a reader returns; what it leaves out goes to stderr, a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        model = read()
    for warning in caught:
        print(f"mcpframe: note: {' '.join(str(warning.message).split())}", file=sys.stderr)
    return model
