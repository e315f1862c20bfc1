"""Controllers of a scene file: one table ``[[controller]]`` each, with a kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mcpframe.arrays import Array
from mcpframe.config.toml_tables import TomlTable
from mcpframe.exceptions import OptionError
from mcpframe.multibody.model.model import Model
from mcpframe.scene.compiled_function import function_controller, is_compiled
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller, Push
from mcpframe.scene.functions import find_function, with_options
from mcpframe.scene.naming import theta_by_name
from mcpframe.scene.references import Move, Moves, Reference, checked_reference
from mcpframe.scene.shape_tables import ORIGIN, pose_of

FOLLOWERS: dict[str, type[PD] | type[ComputedTorque]] = {"pd": PD, "computed_torque": ComputedTorque}
KINDS = ("constant", *FOLLOWERS, "push", "function")


def controller_of(table: TomlTable, model: Model, theta: Array) -> Controller:
    """Return the controller of a table; what it holds is by default where the scene starts, theta."""
    kind = table.choice("kind", KINDS)
    if kind == "constant":
        table.only("kind", "force")
        force = table.get("force")
        with table.at("force"):
            return Constant(model, force)
    if kind == "push":
        return _push(table, model)
    return _function(table, model) if kind == "function" else _follower(kind, table, model, theta)


def coordinates_of(table: TomlTable, key: str, model: Model, start: Array) -> Array:
    """Return the coordinates of a key: all of them, or a table by name, in which poses are tables too."""
    value = table.get(key, {})
    if isinstance(value, Mapping):
        own = table.table(key)
        value = {
            name: pose_of(own, name) if isinstance(part, Mapping) else part for name, part in value.items()
        }
    with table.at(key):
        return theta_by_name(model, key, value, start)


def _follower(kind: str, table: TomlTable, model: Model, theta: Array) -> Controller:
    table.only("kind", "kp", "kd", "limit", "dofs", "target", "move", "reference")
    kp, kd, limit = table.get("kp"), table.get("kd"), table.get("limit", np.inf)
    dofs = table.texts("dofs") if "dofs" in table else None
    reference = _reference(table, model, theta)
    with table.at():
        return FOLLOWERS[kind](model, kp, kd, reference, dofs, limit)


def _reference(table: TomlTable, model: Model, theta: Array) -> Reference:
    """Return where a controller wants the model to be: a function's answer, or a target and moves from it."""
    if "reference" in table:
        for other in ("target", "move"):
            if other in table:
                raise table.error(other, "give reference, or target and moves, not both")
        with table.at("reference"):
            function = find_function(table.text("reference"), table.source.folder, table.source.code)
            return checked_reference(model, with_options(function, {}, 0.0))
    place = start = coordinates_of(table, "target", model, theta)
    moves = []
    for entry in table.tables("move"):
        entry.only("to", "start", "duration")
        place = coordinates_of(entry, "to", model, place)
        with entry.at():
            moves.append(Move(place, entry.number("start"), entry.number("duration")))
    with table.at("move"):
        return Moves(model, start, moves)


def _push(table: TomlTable, model: Model) -> Controller:
    table.only("kind", "body", "force", "moment", "point", "start", "stop")
    body, start, stop = table.text("body"), table.number("start", -np.inf), table.number("stop", np.inf)
    force, moment, point = (table.vector(key, 3, ORIGIN) for key in ("force", "moment", "point"))
    with table.at():
        return Push(model, body, force, moment, point, start, stop)


def _function(table: TomlTable, model: Model) -> Controller:
    table.only("kind", "function", "options")
    name, options = table.text("function"), table.table("options").data
    with table.at("function"):
        function = find_function(name, table.source.folder, table.source.code)
        if is_compiled(function) and options:
            raise OptionError(f"function {name!r} is compiled, and takes no options")
        given = function if is_compiled(function) else with_options(function, options, None, 0.0)
        return function_controller(model, given, name)
