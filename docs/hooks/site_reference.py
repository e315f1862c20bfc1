"""Pages of reference made from the code: commands, options of plugins, keys of study files and of scenes."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from mcpframe.cli import app
from mcpframe.scene.settings import Adaptive, LayerSettings, Output, Settings, Stepping, Switching
from mcpframe.solving.plugin import AbstractPlugin, Option, describe_options
from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS, Registry
from mcpframe.studies.study.reference import reference

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
LABEL = re.compile(
    r"^(Method|Order|Parts|Cycling|Derivatives|Warm start|Matrix class|Limits|References)[.:] ", re.MULTILINE
)
"""Words with which paragraphs of a solver's docstring begin."""


def study_keys() -> str:
    """Return the tables of all keys of a study file."""
    return reference().replace("\n### ", "\n## ").removeprefix("#")


def stepping_keys() -> str:
    """Return the tables of the keys of [stepping], those within it, [output] and [adaptive]."""
    tables = {"stepping": Stepping, "stepping.layer": LayerSettings, "stepping.switching": Switching}
    tables |= {"output": Output, "adaptive": Adaptive}
    return "\n".join(
        line for name, kind in tables.items() for line in (f"## `[{name}]`", "", *_settings(kind), "")
    )


def gallery() -> str:
    """Return every example scene: its picture, what it is, and its file."""
    return "\n\n".join(part for path in sorted(SCENES.glob("*.toml")) for part in _scene(path))


def _scene(path: Path) -> Iterator[str]:
    """Yield heading, comment, picture and text of a scene."""
    comment, _, text = path.read_text(encoding="utf-8").partition("\nname = ")
    yield f"## {re.sub('_j(?=1)', ' of J', path.stem.capitalize()).replace('_', ' ')}"
    yield " ".join(line.lstrip("# ") for line in comment.splitlines())
    yield f"![{path.stem.replace('_', ' ')}](pictures/gallery/{path.stem}.png)"
    yield f"```toml\n# {path.name}\nname = {text.rstrip()}\n```"


def _settings(settings: type[Settings]) -> Iterator[str]:
    defaults: dict[str, Any] = {}
    for name, field in settings.model_fields.items():
        defaults[name] = field.get_default(call_default_factory=True, validated_data=defaults)
    about = {name: field.description or "" for name, field in settings.model_fields.items()}
    rows = [(f"`{name}`", f"`{_value(default)}`", about[name]) for name, default in defaults.items()]
    yield from _table(("key", "unless given", "meaning"), rows)


def _value(default: Any) -> str:
    if isinstance(default, AbstractPlugin):
        return f'"{default.name}"'
    return "{}" if isinstance(default, Settings) else repr(default).replace("'", '"')


def solvers() -> str:
    """Return all solvers: method, class of matrices, limits, options."""
    return _family(SOLVERS, "of_module")


def formulations() -> str:
    """Return all formulations: equations, size, options."""
    return _family(FORMULATIONS, "of_class")


def contact_laws() -> str:
    """Return all contact laws: conditions, physics, options."""
    return _family(CONTACT_LAWS, "of_class")


def _family(registry: Registry[Any], source: str) -> str:
    """Return a section for every plugin that is installed with mcpframe; shared options once, at the end."""
    classes = [registry.get(name) for name in registry.names()]
    own = [cls for cls in classes if cls.__module__.startswith("mcpframe.")]
    tables = [describe_options(cls) for cls in own]
    shared = [option for option in tables[0] if all(option in table for table in tables)]
    parts = [part for cls in own for part in _plugin(cls, source, shared)]
    if shared:
        parts += [f"## Options of every {registry.kind}", *_options(shared)]
    return "\n\n".join(parts)


def _plugin(cls: type[AbstractPlugin], source: str, shared: Sequence[Option]) -> Iterator[str]:
    yield f"## `{cls.name}`"
    if cls.aliases:
        yield f"Also called {', '.join(f'`{alias}`' for alias in cls.aliases)}."
    yield LABEL.sub(r"**\1.** ", inspect.cleandoc(_text(cls, source)))
    if cls.requires:
        yield f"Needs {', '.join(f'`{module}`' for module in cls.requires)}."
    yield from _options([option for option in describe_options(cls) if option not in shared])


def _text(cls: type[AbstractPlugin], source: str) -> str:
    """Return the docstring of the class, or of its module, where solvers have theirs."""
    text = sys.modules[cls.__module__].__doc__ if source == "of_module" else cls.__doc__
    return (text or "").replace("_|_", "⟂")


def _options(options: Iterable[Option]) -> list[str]:
    rows = [
        (f"`{option.name}`", f"`{option.kind}`", f"`{option.default}`", option.range, option.description)
        for option in options
    ]
    return ["\n".join(_table(("option", "type", "unless given", "range", "meaning"), rows))] if rows else []


def command_line() -> str:
    """Return every command with its arguments and options."""
    root = typer.main.get_command(app)
    return "\n\n".join(_command("mcpframe", root))


def _command(name: str, command: Any) -> Iterator[str]:
    """Yield the sections of a command and of those below it."""
    yield f"## `{name}`"
    yield from [inspect.cleandoc(command.help)] if command.help else []
    below: dict[str, Any] = getattr(command, "commands", {})
    yield f"    {' '.join([name, *_usage(command.params), *(['COMMAND'] if below else [])])}"
    rows = [
        (f"`{_call(parameter)}`", _default(parameter), parameter.help or "") for parameter in command.params
    ]
    yield from ["\n".join(_table(("", "unless given", "meaning"), rows))] if rows else []
    yield from [inspect.cleandoc(command.epilog)] if command.epilog else []
    for word, sub in below.items():
        yield from _command(f"{name} {word}", sub)


def _usage(parameters: Sequence[Any]) -> Iterator[str]:
    if any(parameter.param_type_name == "option" for parameter in parameters):
        yield "[OPTIONS]"
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            word = _word(parameter) + ("..." if parameter.nargs == -1 else "")
            yield word if parameter.required else f"[{word}]"


def _call(parameter: Any) -> str:
    """Return how a parameter is written: ``--dt S``, ``--plots / --no-plots``, ``SCENE``."""
    if parameter.param_type_name == "argument":
        return _word(parameter)
    names = " / ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {_word(parameter)}"


def _word(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper().rpartition("_")[2]).strip("[]")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "must be given"
    default = parameter.default
    if default is None or default == () or (parameter.param_type_name == "option" and parameter.is_flag):
        return ""
    return f"`{default}`"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for line in (heads, ["---"] * len(heads), *rows):
        yield "| " + " | ".join(map(_cell, line)) + " |"


def _cell(text: str) -> str:
    """Return a text for a cell; strokes need an escape, which code would show."""
    return text.replace("\n", " ") if text.startswith("`") else text.replace("|", "\\|").replace("\n", " ")
