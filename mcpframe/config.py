"""Plugins from TOML files: one table per family, unknown tables and keys refused.

    [solver]
    name = "lemke"
    max_pivots = 500

The keys beside ``name`` are the options of that plugin; ``mcpframe list`` shows them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.exceptions import FileFormatError, OptionError, PluginError, nearest
from mcpframe.plugin import AbstractFormulation, AbstractSolver
from mcpframe.registry import FORMULATIONS, SOLVERS, Registry

PathLike = str | os.PathLike[str]

FAMILIES: dict[str, Registry[Any]] = {"solver": SOLVERS, "formulation": FORMULATIONS}
"""The tables that a config file may have, and who makes a plugin of each."""


@dataclass(frozen=True)
class Config:
    """What a config file asks for; None where it has no such table."""

    solver: AbstractSolver | None = None
    formulation: AbstractFormulation | None = None


def load_config(path: PathLike) -> Config:
    """Return the plugins that a TOML file describes.

    Raises:
        FileFormatError: the file cannot be read, or is not TOML; the message has the line.
        OptionError: a table or a key is unknown (the message has the nearest known one) or out of range.
        PluginError: there is no plugin of that name, or it cannot run here.
    """
    tables = read_toml(path)
    try:
        _refuse_unknown(tables)
        return Config(**{family: FAMILIES[family].from_table(table) for family, table in tables.items()})
    except (OptionError, PluginError) as error:
        raise type(error)(f"{path}: {error}") from None


def load_solver(path: PathLike) -> AbstractSolver:
    """Return the solver that the ``[solver]`` table of a TOML file describes, to be handed to `solve`."""
    solver = load_config(path).solver
    if solver is None:
        raise OptionError(f"{path}: has no [solver] table")
    return solver


def read_toml(path: PathLike) -> dict[str, Any]:
    """Return the tables of a TOML file, or raise FileFormatError naming the file and the line."""
    text = ""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: is not UTF-8 text ({error.reason} at byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        message = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the last")
        raise FileFormatError(f"{path}: is not valid TOML: {message}") from None


def _refuse_unknown(tables: Mapping[str, Any]) -> None:
    for name, value in tables.items():
        if name in FAMILIES:
            continue
        if isinstance(value, Mapping):
            known = ", ".join(f"[{family}]" for family in FAMILIES)
            raise OptionError(f"unknown table [{name}];{nearest(name, FAMILIES)} (tables: {known})")
        raise OptionError(f"{name} = {value!r} stands outside a table: put it under [solver]")
