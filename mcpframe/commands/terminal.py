"""What the commands share: how words of the command line are read and where output goes."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from mcpframe.exceptions import OptionError

WIDE = 160
"""Columns where the output is no terminal, so that lines stay whole for grep."""


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Run Python code that the file names; only if you trust whoever wrote it. See docs/trust.md.",
    ),
]
"""Option of every command that opens a scene or a study to run it."""


class Command(TyperCommand):
    """A command whose help shows no type beside flags, for they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _flags_bare(super().get_params(ctx))


class Group(TyperGroup):
    """The same for a group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _flags_bare(super().get_params(ctx))


def _flags_bare(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def console() -> Console:
    """Return where tables are printed."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def quoted(path: Path) -> str:
    """Return a path as it must be written in a command that is to be copied."""
    return shlex.quote(str(path))


def read_pairs(flag: str, words: Sequence[str] | None) -> dict[str, Any]:
    """Return the KEY=VALUE words of a repeatable flag; values are read as in TOML, or as plain text."""
    return dict(_pair(flag, word) for word in words or ())


def _pair(flag: str, word: str) -> tuple[str, Any]:
    key, equals, text = word.partition("=")
    if not equals:
        raise OptionError(f"{flag} {word}: write it as KEY=VALUE")
    try:
        return key.strip(), tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), text.strip()


def check_out_file(out: Path | None) -> None:
    """Refuse a bad --out before the work is done, not after."""
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        raise OptionError(f"--out {out}: must be a file in a folder that exists")
