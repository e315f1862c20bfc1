"""What the commands share: how words of the command line are read and where output goes."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderHook
from rich.segment import Segment
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


CONTROLS = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    **dict.fromkeys(range(127, 160), 0xFFFD),
}
"""Characters that steer a terminal, and signs for them."""


def printable(text: str) -> str:
    """Return a text whose names may come from files of strangers: it is shown and steers no terminal."""
    return text.translate(CONTROLS)


class _Shown:
    """What is to be printed, every text of it printable."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.content, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class _Showing(RenderHook):
    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Shown(content) for content in renderables]


def console(*, stderr: bool = False) -> Console:
    """Return where tables, or notes, are printed."""
    width = WIDE if not (stderr or sys.stdout.isatty()) else None
    made = Console(width=width, highlight=False, stderr=stderr)
    made.push_render_hook(_Showing())
    return made


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
