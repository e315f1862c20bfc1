"""Scenes from TOML files; docs/scenes.md lists the keys.

Everything is checked on load: tables and keys, names of bodies, dofs and shapes, formulation, solver, laws
and their options, functions. Errors name the file, the line, the key and the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from mcpframe.arrays import Array
from mcpframe.config.plugins import PathLike, parse_toml, read_text
from mcpframe.config.toml_tables import Source, TomlTable, changed
from mcpframe.contact.detection.materials import DEFAULT, Material, Names, make_rules, surfaces
from mcpframe.contact.law import find_law
from mcpframe.exceptions import FileFormatError, OptionError
from mcpframe.io.readers import READERS
from mcpframe.io.trust import Code
from mcpframe.io.untrusted import reading
from mcpframe.multibody.model.joining import joined
from mcpframe.multibody.model.model import Model
from mcpframe.scene.closing import closed, fitting
from mcpframe.scene.controller_tables import controller_of, coordinates_of
from mcpframe.scene.model_tables import add_frame, closure_of, part_of
from mcpframe.scene.naming import rates_by_name
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Adaptive, Output, Settings, Stepping
from mcpframe.scene.shape_tables import geometry_of

Kept = TypeVar("Kept", bound=Settings)

PLUGINS = ("formulation", "solver")
"""Plugins that have a name, or a table, of their own at the top of the file."""
KEYS = (
    *("name", "gravity", "model", "environment", "closure", "frame", "initial", "material", "collision"),
    *("controller", "stepping", *PLUGINS, "output", "adaptive"),
)
"""What may stand at the top of a scene file."""
MATERIAL_KEYS = ("mu", "restitution", "law")


def load_scene(
    path: PathLike, changes: Mapping[str, Any] | None = None, *, allow_code: bool | Code = True
) -> Scene:
    """Return the scene of a TOML file.

    Args:
        path: the file.
        changes: values to put in its place, by dotted keys, as ``{"model.options.links": 6}``.
        allow_code: import the modules and files whose functions it names, which runs them; False refuses a
            scene that names any.

    Raises:
        FileFormatError: the file cannot be read, is not TOML, or names a robot file that is malformed.
        OptionError: a key is unknown (the message has the nearest known one), missing or out of range.
        ModelError: a value cannot be used: a body, a material, coordinates, a name that means nothing.
        PluginError: there is no formulation, solver, law or function of that name.
    """
    if Path(path).suffix.lower() in READERS:
        name = Path(path).name
        raise FileFormatError(
            f'{path}: is a robot; a scene is a TOML file with [[model]] and file = "{name}"; see docs/scenes'
        )
    return parse_scene(read_text(path), Path(path).parent, str(path), changes, allow_code=allow_code)


def parse_scene(
    text: str,
    folder: PathLike = "",
    name: str = "scene",
    changes: Mapping[str, Any] | None = None,
    *,
    allow_code: bool | Code = True,
) -> Scene:
    """Return the scene of a TOML text.

    Args:
        text: what a scene file holds; the scene keeps it.
        folder: against which paths in it are meant.
        name: of the file, for messages.
        changes: values to put in its place, by dotted keys; the text that the scene keeps has the old ones.
        allow_code: as of `load_scene`.
    """
    with reading(name, "cannot be used as a scene"):
        source = Source(name, text, Path(folder), Code.of(allow_code))
        table = TomlTable(source, changed(parse_toml(name, text), changes or {}))
        with table.at():
            return _scene(table)


def _scene(table: TomlTable) -> Scene:
    if "problems" in table and "model" not in table:
        raise OptionError(f"{table.source.name}: is a study, not a scene; mcpframe study run runs it")
    for key in table.data:
        if key in Stepping.model_fields and key not in KEYS:
            raise table.error(key, "belongs under [stepping]")
    table.only(*KEYS)
    model = _model(table)
    theta, theta_dot, time = _initial(table.table("initial"), model)
    materials = _materials(table.table("material"), model)
    ignore, neighbours, points_on = _collision(table.table("collision"), model)
    with table.at():
        return Scene(
            model,
            theta,
            theta_dot,
            time,
            materials=materials,
            ignore=ignore,
            neighbours=neighbours,
            points_on=points_on,
            controllers=[controller_of(entry, model, theta) for entry in table.tables("controller")],
            stepping=_stepping(table, model),
            output=_settings(Output, table.table("output")),
            adaptive=_settings(Adaptive, table.table("adaptive")) if "adaptive" in table else None,
            name=_name(table),
            text=table.source.text,
            folder=table.source.folder,
        )


def _name(table: TomlTable) -> str:
    return table.text("name", Path(table.source.name).stem)


def _model(table: TomlTable) -> Model:
    """Return all models as one, with the environment, closures and frames."""
    if not table.tables("model"):
        raise OptionError(f"{table.source.name}: has no [[model]] table")
    parts = [part_of(part) for part in table.tables("model")]
    shapes = [geometry_of(shape) for shape in table.tables("environment")]
    gravity = table.vector("gravity", 3) if "gravity" in table else None
    name = None if len(parts) == 1 else _name(table)
    with table.at("model"):
        model = joined(parts, geometry=shapes, gravity=gravity, name=name)
    for frame in table.tables("frame"):
        add_frame(model, frame)
    for closure in table.tables("closure"):
        with closure.at():
            model.add_closure(closure_of(closure))
    return model


def _initial(table: TomlTable, model: Model) -> tuple[Array, Array, float]:
    """Return theta, theta_dot and time; loops are closed from there, and the rates of others made to fit."""
    table.only("theta", "theta_dot", "time")
    theta = coordinates_of(table, "theta", model, model.neutral())
    time = table.number("time", 0.0)
    with table.at("theta_dot"):
        theta_dot = rates_by_name(model, "theta_dot", table.get("theta_dot", {}))
    if not model.closures:
        return theta, theta_dot, time
    with table.at("theta"):
        theta = closed(model, theta, table.get("theta", {}))
    return theta, fitting(model, theta, theta_dot, time, table.get("theta_dot", {})), time


def _materials(table: TomlTable, model: Model) -> dict[Names, Material]:
    """Return the material of all surfaces, and those of the ones that have their own."""
    table.only(*MATERIAL_KEYS, "pair")
    default = _material(table, {})
    materials: dict[Names, Material] = {DEFAULT: default}
    for entry in table.tables("pair"):
        entry.only("between", *MATERIAL_KEYS)
        between = _names(entry, ("between",), entry.get("between"), model)
        if between in materials:
            raise entry.error("between", "this pair has a material already")
        materials[between] = _material(entry, {key: getattr(default, key) for key in MATERIAL_KEYS})
    return materials


def _material(table: TomlTable, default: dict[str, Any]) -> Material:
    options = default | {key: table.get(key) for key in MATERIAL_KEYS if key in table}
    with table.at("law"):
        law = None if options.get("law") is None else find_law(options["law"])
    with table.at():
        return Material(**options | {"law": law})


def _collision(table: TomlTable, model: Model) -> tuple[list[Names], bool | list[Names], list[str]]:
    """Return what does not meet, which neighbours do, and on whose surfaces points of contacts lie."""
    table.only("ignore", "neighbours", "points_on")
    neighbours = table.get("neighbours", False)
    if not isinstance(neighbours, bool):
        neighbours = _all_names(table, "neighbours", model)
    return _all_names(table, "ignore", model), neighbours, _points_on(table, model)


def _points_on(table: TomlTable, model: Model) -> list[str]:
    names = table.get("points_on", [])
    if not isinstance(names, list):
        raise table.error("points_on", f"{names!r}: a list is expected, of names")
    with table.at("points_on"):
        make_rules(model, surfaces(model), [], {}, False, names)
    return names


def _all_names(table: TomlTable, key: str, model: Model) -> list[Names]:
    entries = table.get(key, [])
    if not isinstance(entries, list):
        raise table.error(key, f"{entries!r}: a list is expected, of names and pairs of names")
    return [_names(table, (key, k), entry, model) for k, entry in enumerate(entries)]


def _names(table: TomlTable, place: tuple[str | int, ...], value: Any, model: Model) -> Names:
    """Return a name or a pair of names, to each of which a shape must answer."""
    names = value if isinstance(value, str) else tuple(value) if isinstance(value, list) else ()
    with table.at(*place):
        if not names or not all(isinstance(name, str) for name in names):
            raise OptionError(f"{value!r}: a name or a pair of names is expected")
        make_rules(model, surfaces(model), [names], {}, False)
    return names


def _stepping(table: TomlTable, model: Model) -> Stepping:
    own = table.table("stepping")
    own.only(*(key for key in Stepping.model_fields if key not in PLUGINS))
    plugins = {}
    for key in PLUGINS:
        if key in table:
            with table.at(key):
                plugins[key] = getattr(Stepping(**{key: table.get(key)}), key)
    stepping = _settings(Stepping, own).with_options(**plugins)
    with own.at("limit_restitution"):
        rates_by_name(model, "limit_restitution", stepping.limit_restitution)  # refuses bad names
    return stepping


def _settings(kind: type[Kept], table: TomlTable) -> Kept:
    with table.at():
        return kind(**table.data)
