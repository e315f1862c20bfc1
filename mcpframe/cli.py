"""Command line, ``mcpframe list``, ``solve``, ``simulate``, ``view`` and so on; each is in `commands`.

Exit status: 0 when all went well, 1 when an answer is not certified or a size is not the published one, 2 on
misuse (one line on stderr).
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

import mcpframe as mf
from mcpframe.commands.comparing import COMPARE_EPILOG, compare
from mcpframe.commands.corpora import corpus_app
from mcpframe.commands.formulating import FORMULATE_EPILOG, formulate
from mcpframe.commands.listing import LIST_EPILOG, list_plugins
from mcpframe.commands.simulating import SIMULATE_EPILOG, simulate
from mcpframe.commands.sizes import sizes
from mcpframe.commands.solving import SOLVE_EPILOG, solve
from mcpframe.commands.studying import study_app
from mcpframe.commands.terminal import Command, Group, printable
from mcpframe.commands.viewing import VIEW_EPILOG, view
from mcpframe.commands.warming import WARMUP_EPILOG, warmup
from mcpframe.exceptions import McpframeError

app = typer.Typer(
    help="Contact dynamics as mixed complementarity problems: write them, solve them, and know that they are "
    "solved.",
    epilog="Start with **mcpframe list**, then **mcpframe formulate SYSTEM --out FILE** and "
    "**mcpframe solve FILE**. **mcpframe --install-completion** teaches your shell to complete commands and "
    "names.",
    cls=Group,
    rich_markup_mode="markdown",
)
app.command("list", cls=Command, epilog=LIST_EPILOG)(list_plugins)
app.command("formulate", cls=Command, epilog=FORMULATE_EPILOG)(formulate)
app.command("solve", cls=Command, epilog=SOLVE_EPILOG)(solve)
app.command("simulate", cls=Command, epilog=SIMULATE_EPILOG)(simulate)
app.command("view", cls=Command, epilog=VIEW_EPILOG)(view)
app.command("compare", cls=Command, epilog=COMPARE_EPILOG)(compare)
app.command("sizes", cls=Command)(sizes)
app.command("warmup", cls=Command, epilog=WARMUP_EPILOG)(warmup)
app.add_typer(study_app, name="study")
app.add_typer(corpus_app, name="corpus")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    debug = "--debug" in words
    try:
        with contextlib.nullcontext() if debug else _warnings_in_a_line():
            status = app([word for word in words if word != "--debug"], "mcpframe", standalone_mode=False)
        return int(status or 0)
    except Exception as error:
        if debug:
            raise
        print(f"mcpframe: error: {_one_line(error)}", file=sys.stderr)
        return 2


@contextlib.contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print warnings as errors are printed, without the place in the code."""

    def written(message: Warning | str, *place: Any) -> str:
        return f"mcpframe: warning: {printable(' '.join(str(message).split()))}\n"

    usual, warnings.formatwarning = warnings.formatwarning, written  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _one_line(error: Exception) -> str:
    if isinstance(error, McpframeError):
        message = str(error)
    elif hasattr(error, "format_message"):  # misuse that the argument parser found
        message = error.format_message()
    else:
        message = f"{type(error).__name__}: {error} (unexpected; --debug shows where)"
    return printable(" ".join(message.split()))


def _print_version(asked: bool) -> None:
    if asked:
        print(f"mcpframe {mf.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Hold the options that come before the command."""
