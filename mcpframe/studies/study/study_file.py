"""Study files: TOML, checked before anything runs; errors name the file, the line, the key and the fix.

    name = "solvers"
    tol = 1e-8
    time_limit = 5.0
    solvers = ["lemke", "auto", { name = "pgs", label = "pgs, 1000 sweeps", max_sweeps = 1000 }]
    formulations = ["os"]

    [[problems]]
    system = "pendulum"
    parameters = { links = [6, 12, 24] }
    states = 20

Solvers and formulations are names, or tables of a name, options and a label; tables may also be written
``[[solvers]]``. A table of problems has one of the keys `KINDS`, which says where they come from. Tables
``[[published]]`` with title, columns, rows and source are shown beside the study's own figures; with `by` and
`ours` they have columns of these.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mcpframe.config.plugins import PathLike, parse_toml, read_text
from mcpframe.config.toml_tables import Source, TomlTable
from mcpframe.exceptions import ModelError, OptionError, PluginError
from mcpframe.io.trust import Code
from mcpframe.io.untrusted import reading
from mcpframe.solving.registry import FORMULATIONS, SOLVERS, Registry
from mcpframe.studies.report.published import tables_of
from mcpframe.studies.sources.corpus import CorpusSource
from mcpframe.studies.sources.given import FclibSource, GeneratorSource, NpzSource
from mcpframe.studies.sources.source import GIVEN, AbstractSource
from mcpframe.studies.sources.steps import SceneSource, SystemSource
from mcpframe.studies.study.study import RunSettings, Setting, Study

KINDS: dict[str, type[AbstractSource]] = {
    source.kind: source
    for source in (SystemSource, SceneSource, CorpusSource, FclibSource, NpzSource, GeneratorSource)
}
"""Kinds of sources by their key."""
PARTS = ("name", "problems", "formulations", "solvers", "published")
"""What a study file has beside the settings."""
DEFAULT_FORMULATION = Setting("os", "os")


def load_study(path: PathLike, *, allow_code: bool | Code = True) -> Study:
    """Return the study of a TOML file.

    Args:
        path: the file.
        allow_code: import the modules that it names under `imports`, and those of functions in its scenes,
            which runs them; False refuses a study that names any.

    Raises:
        FileFormatError: the file cannot be read, or is not TOML.
        OptionError: a key is unknown (the message has the nearest known one), missing or out of range, a file
            is not there, a grid is empty, a label is there twice.
        PluginError: there is no solver or formulation of that name, or it cannot run here.
    """
    return parse_study(read_text(path), Path(path).absolute().parent, str(path), allow_code=allow_code)


def parse_study(
    text: str, folder: PathLike = "", name: str = "study", *, allow_code: bool | Code = True
) -> Study:
    """Return the study of a TOML text.

    Args:
        text: what a study file holds.
        folder: against which paths in it are meant.
        name: of the file, for messages.
        allow_code: as of `load_study`.
    """
    with reading(name, "cannot be used as a study"):
        source = Source(name, text, Path(folder), Code.of(allow_code))
        table = TomlTable(source, parse_toml(name, text))
        with table.at():
            return _study(table)


def make_study(table: Mapping[str, Any], folder: PathLike = "", *, allow_code: bool | Code = True) -> Study:
    """Return the study that a dict describes, with the keys of a study file.

    Args:
        table: as `tomllib` would return it; tuples, ranges and arrays of numpy do for lists.
        folder: against which paths in it are meant.
        allow_code: as of `load_study`.

    >>> make_study({"name": "small", "solvers": ["lemke"], "problems": [{"generator": "monotone"}]})
    Study('small', sources=1, formulations=1, solvers=1)
    """
    name = str(table.get("name", "study"))
    source = Source(name, "", Path(folder).absolute(), Code.of(allow_code))
    plain = TomlTable(source, _as_toml(table))
    with plain.at():
        return _study(plain)


def _as_toml(value: Any) -> Any:
    """Return values of Python and numpy as TOML has them."""
    if isinstance(value, Mapping):
        return {key: _as_toml(own) for key, own in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_as_toml(own) for own in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _study(table: TomlTable) -> Study:
    if "model" in table and "problems" not in table:
        raise OptionError(
            f"{table.source.name}: is a scene, not a study; mcpframe simulate runs it, and a study takes its "
            f'steps by [[problems]] and scene = "{Path(table.source.name).name}"'
        )
    table.only(*PARTS, *RunSettings.model_fields)
    with table.at():
        settings = RunSettings(**{key: value for key, value in table.data.items() if key not in PARTS})
    name, source = table.text("name", Path(table.source.name).stem), table.source
    study = Study(name, settings, (), (), (), source.folder, source.text, code=source.code)
    with table.at("imports"):
        study.load_imports()
    sources = _sources(table, study)
    formulations = _settings(table, study, "formulations", FORMULATIONS) or (DEFAULT_FORMULATION,)
    solvers = _settings(table, study, "solvers", SOLVERS)
    if not solvers:
        raise table.error("solvers", 'at least one is needed, as solvers = ["lemke", "auto"]')
    study = replace(study, sources=sources, formulations=formulations, solvers=solvers)
    return replace(study, published=_published(table, study))


def _sources(table: TomlTable, study: Study) -> tuple[AbstractSource, ...]:
    tables = table.tables("problems")
    if not tables:
        raise OptionError(f"{table.source.name}: has no [[problems]] table")
    sources: list[AbstractSource] = []
    for entry in tables:
        source = _source(entry)
        if source.name in [other.name for other in sources]:
            key = "name" if "name" in entry else source.kind
            raise entry.error(key, f"{source.name!r} is the name of a source before; give it another name")
        # What only its code would register may be missing where that code is left alone.
        with entry.at(), suppress(PluginError, ModelError) if study.unseen else nullcontext():
            source.check(study.place())
        sources.append(source)
    return tuple(sources)


def _source(table: TomlTable) -> AbstractSource:
    given = [kind for kind in KINDS if kind in table]
    if len(given) != 1:
        said = " and ".join(given) or "none of them"
        key = given[-1] if given else next(iter(table.data), "kind")
        raise table.error(key, f"problems come from one of {', '.join(KINDS)}; here {said} is given")
    kind = KINDS[given[0]]
    table.only(given[0], *(key for key in kind.model_fields if key != given[0]))
    with table.at():
        source = kind(**table.data)
        # From the table again, so that what was given in it can be told from defaults.
        return source if source.name else kind(**{**table.data, "name": source.default_name()})


def _published(table: TomlTable, study: Study) -> tuple[Mapping[str, Any], ...]:
    """Return the tables of figures that the report shows beside those of the study."""
    tables = table.tables("published")
    labels = {
        "formulation": [*(setting.label for setting in study.formulations), GIVEN],
        "solver": [setting.label for setting in study.solvers],
        "source": [source.name for source in study.sources],
    }
    for entry in tables:
        with entry.at():
            tables_of(entry.data)[0].check_labels(labels)
    return tuple(dict(entry.data) for entry in tables)


def _settings(table: TomlTable, study: Study, key: str, registry: Registry[Any]) -> tuple[Setting, ...]:
    """Return the columns of a list of names and tables, or of tables ``[[key]]``."""
    entries = table.get(key, [])
    entries = entries if isinstance(entries, list) else [entries]
    settings: list[Setting] = []
    for k, entry in enumerate(entries):
        setting = _setting(table, study, (key, k), entry, registry)
        if setting.label in [other.label for other in settings]:
            place = table.source.place((*table.path, key, k))
            raise OptionError(
                f"{place}: a {registry.kind} before is labelled {setting.label!r} too; give it another label"
            )
        settings.append(setting)
    return tuple(settings)


def _setting(
    table: TomlTable, study: Study, path: tuple[str, int], entry: Any, registry: Registry[Any]
) -> Setting:
    where = TomlTable(table.source, entry if isinstance(entry, Mapping) else {}, path)
    with where.at():
        if isinstance(entry, str):
            entry = {"name": entry}
        if not isinstance(entry, Mapping):
            raise OptionError(f"{entry!r}: give the name of a {registry.kind}, or a table with a name")
        options = {key: value for key, value in entry.items() if key != "label"}
        if not (study.unseen and options.get("name") not in registry.names()):
            registry.from_table(options)
        label = entry.get("label", options["name"])
        if not isinstance(label, str) or not label:
            raise OptionError(f"label = {label!r}: a text is expected")
        return Setting(label, options.pop("name"), options)
