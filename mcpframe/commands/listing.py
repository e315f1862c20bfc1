"""``mcpframe list``: every plugin with its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcpframe.commands import completion
from mcpframe.commands.terminal import console
from mcpframe.config.plugins import FAMILIES
from mcpframe.exceptions import PluginError, nearest
from mcpframe.solving.plugin import AbstractPlugin, Option, describe_options
from mcpframe.solving.registry import Registry

LIST_EPILOG = "Examples: **mcpframe list lemke**, **mcpframe list coulomb**"


def list_plugins(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.plugins,
            help="Show this plugin only.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show solvers, formulations and contact laws, with options, and whether they can run here."""
    chosen = {registry: _chosen(registry, name) for registry in FAMILIES.values()}
    if name is not None and not any(chosen.values()):
        known = [key for registry in chosen for key in registry.names()]
        raise PluginError(f"no plugin is called {name!r};{nearest(name, known)} known: {', '.join(known)}")
    for registry, names in chosen.items():
        if name is None or names:
            _print_family(console(), registry, names)


def _chosen(registry: Registry[Any], name: str | None) -> list[str]:
    """Return all names of a family, or the one that has this name or alias."""
    if name is None or name in registry.names():
        return registry.names() if name is None else [name]
    try:
        return [registry.get(name).name]
    except PluginError:
        return []


def _print_family(out: Console, registry: Registry[Any], names: Sequence[str]) -> None:
    title = f"{registry.kind}s" if names else f"{registry.kind}s: none installed"
    out.print(Text(title, style="bold underline"))
    classes = {name: _loaded(registry, name) for name in names}
    shared = _shared_options([cls for cls in classes.values() if not isinstance(cls, str)])
    for name, cls in classes.items():
        if isinstance(cls, str):
            out.print(Text.assemble((f"  {name}", "bold"), (f"  not available: {cls}", "red")))
        else:
            _print_plugin(out, cls, shared)
    if shared:
        out.print(Text(f"  options of every {registry.kind}:", style="bold"))
        _print_options(out, shared)


def _loaded(registry: Registry[Any], name: str) -> type[AbstractPlugin] | str:
    """Return the class of a plugin, or why there is none."""
    try:
        cls: type[AbstractPlugin] = registry.get(name)
    except PluginError as error:
        return str(error)
    return cls


def _shared_options(classes: Sequence[type[AbstractPlugin]]) -> list[Option]:
    """Return the options that several plugins all have, alike, so that they are told once."""
    tables = [describe_options(cls) for cls in classes]
    return [option for option in tables[0] if all(option in table for table in tables)] if tables[1:] else []


def _print_plugin(out: Console, cls: type[AbstractPlugin], shared: Sequence[Option]) -> None:
    reason = cls.why_unavailable()
    state = (f"not available: it {reason}", "red") if reason else ("available", "green")
    aliases = f"(also called {', '.join(cls.aliases)}) " if cls.aliases else ""
    out.print(Text.assemble((f"  {cls.name}", "bold cyan"), f"  {cls.summary()} {aliases}", state))
    _print_options(out, [option for option in describe_options(cls) if option not in shared])


def _print_options(out: Console, options: Iterable[Option]) -> None:
    table = Table.grid(padding=(0, 2))
    for option in options:
        cells = (f"      {option.name}", option.kind, f"= {option.default}", option.range, option.description)
        table.add_row(*map(Text, cells))
    if table.row_count:
        out.print(table)
