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
from mcpframe.commands.terminal import printable
from mcpframe.exceptions import ModelWarning, OptionError, nearest
from mcpframe.io.readers import READERS, typed_options
from mcpframe.systems.states import neutral_state, random_state

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made


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
    return mf.systems.make(system, **_set(mf.systems.maker(system), options))


def start_state(model: mf.Model, start: Start, seed: int) -> State:
    """Return the neutral state at rest, or a random one that moves; loops are closed in both."""
    if start is Start.neutral:
        return neutral_state(model)
    return random_state(model, np.random.default_rng(seed))


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
        print(f"mcpframe: note: {printable(' '.join(str(warning.message).split()))}", file=sys.stderr)
    return model
