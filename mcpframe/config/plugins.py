"""Plugins and contacts from TOML files; unknown tables and keys are refused.

    [formulation]
    name = "os"

    [contact_law]
    name = "torsional"
    radius = 0.02

    [solver]
    name = "lemke"
    max_pivots = 500

The keys beside ``name`` are the options of that plugin; ``mcpframe list`` shows them. Contacts stand in a
file of their own, one table ``[[contact]]`` each, whose keys are the arguments of `Contact`.
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.contact.contact import Contact
from mcpframe.exceptions import FileFormatError, ModelError, OptionError, PluginError, nearest
from mcpframe.solving.plugin import AbstractContactLaw, AbstractFormulation, AbstractSolver
from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS, Registry

PathLike = str | os.PathLike[str]

FAMILIES: dict[str, Registry[Any]] = {
    "solver": SOLVERS,
    "formulation": FORMULATIONS,
    "contact_law": CONTACT_LAWS,
}
"""The tables that a config file may have, and who makes a plugin of each."""

CONTACT_KEYS = tuple(inspect.signature(Contact).parameters)
REQUIRED_KEYS = ("body_a", "body_b", "point", "normal")


@dataclass(frozen=True)
class Config:
    """What a config file asks for; None where it has no such table."""

    solver: AbstractSolver | None = None
    formulation: AbstractFormulation | None = None
    contact_law: AbstractContactLaw | None = None


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


def load_contacts(path: PathLike) -> list[Contact]:
    """Return the contacts of a TOML file, in its order.

        [[contact]]
        body_a = "foot"            # a link or frame of the model, or "world"
        body_b = "world"
        point = [0.1, 0.0, 0.0]    # metres, world axes
        normal = [0.0, 0.0, 1.0]   # from B to A
        mu = 0.5                   # and, where wanted: restitution, gap, tangent, law, parameters

    Raises:
        FileFormatError: the file cannot be read, is not TOML, or holds something else.
        OptionError: a key is unknown or missing.
        ModelError: a value cannot be used.
    """
    tables = read_toml(path)
    contacts = tables.pop("contact", None)
    if tables or not isinstance(contacts, list):
        raise FileFormatError(f"{path}: must hold tables [[contact]] and nothing else")
    return [_contact(f"{path}: contact {i}", table) for i, table in enumerate(contacts)]


def _contact(where: str, table: Any) -> Contact:
    if not isinstance(table, Mapping):
        raise FileFormatError(f"{where}: must be a table, not {table!r}")
    for key in table:
        if key not in CONTACT_KEYS:
            known = ", ".join(CONTACT_KEYS)
            raise OptionError(f"{where}: unknown key {key!r};{nearest(key, CONTACT_KEYS)} (keys: {known})")
    for key in REQUIRED_KEYS:
        if key not in table:
            raise OptionError(f"{where}: {key} is missing")
    try:
        return Contact(**table)
    except (ModelError, OptionError, PluginError) as error:
        raise type(error)(f"{where}: {error}") from None


def read_toml(path: PathLike) -> dict[str, Any]:
    """Return the tables of a TOML file, or raise FileFormatError naming the file and the line."""
    return parse_toml(path, read_text(path))


def read_text(path: PathLike) -> str:
    """Return the text of a file, or raise FileFormatError naming it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: is not UTF-8 text ({error.reason} at byte {error.start})") from None


def parse_toml(path: PathLike, text: str) -> dict[str, Any]:
    """Return the tables of a TOML text, or raise FileFormatError naming the file and the line."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileFormatError(f"{path}: is not valid TOML: its values are nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        message = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the last")
        raise FileFormatError(f"{path}: is not valid TOML: {message}") from None


def _refuse_unknown(tables: Mapping[str, Any]) -> None:
    known = ", ".join(f"[{family}]" for family in FAMILIES)
    for name, value in tables.items():
        if name in FAMILIES:
            continue
        if isinstance(value, Mapping):
            raise OptionError(f"unknown table [{name}];{nearest(name, FAMILIES)} (tables: {known})")
        raise OptionError(f"{name} = {value!r} stands outside a table: put it under one of {known}")
