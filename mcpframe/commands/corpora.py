"""``mcpframe corpus``: problems of scenes and recipes in one file, what they are like, other formats."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

import mcpframe as mf
from mcpframe.commands import completion
from mcpframe.commands.terminal import AllowCode, Command, Group, check_out_file, console, read_pairs
from mcpframe.exceptions import OptionError, nearest
from mcpframe.io.trust import Code

if TYPE_CHECKING:
    from mcpframe.studies.corpora.export import Exported

corpus_app = typer.Typer(
    cls=Group,
    help="Make, look at and export corpora: many problems in one HDF5 file.",
    epilog="Start with **mcpframe corpus recipe all --size quick --out problems.h5** and "
    "**mcpframe corpus show problems.h5**.",
    rich_markup_mode="markdown",
)
RECIPE_EPILOG = """
Example:

    mcpframe corpus recipe quadruped --size quick --out walk.h5
"""
HARVEST_EPILOG = """
Examples:

    mcpframe corpus harvest examples/scenes/quadruped_lands.toml --out walk.h5 --every 10

    mcpframe corpus harvest pendulum.toml --out swing.h5 --set duration=2.0 --limit 200
"""
SHOW_EPILOG = """
Example:

    mcpframe corpus show walk.h5 --by motion
"""
EXPORT_EPILOG = """
Example:

    mcpframe corpus export walk.h5 --fclib walk_fclib --npz walk_npz
"""

RANGES = {
    "n": "rows",
    "n_contacts": "contacts",
    "contacts_per_dof": "contacts/dof",
    "rank_ratio": "rank ratio",
    "condition": "condition",
    "mass_ratio": "mass ratio",
}
"""Labels that `show` gives as a range, and their titles."""
COUNTS = ("motion", "hardness")
"""Labels that `show` counts."""

File = Annotated[Path, typer.Argument(metavar="FILE", help="Corpus, an HDF5 file.")]
NewFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="Corpus to write.")]


class Size(StrEnum):
    """How much of a recipe is made."""

    quick = "quick"
    full = "full"


@corpus_app.command("list", cls=Command)
def list_recipes() -> None:
    """Show the built-in recipes."""
    from mcpframe.studies.corpora.recipes import ALL, RECIPES, takes_of

    table = Table("recipe", "problems: quick", "full", "what", box=None, pad_edge=False)
    for name, recipe in RECIPES.items():
        reason = recipe.why_not()
        sums = (sum(take.count for take in takes) for takes in (recipe.quick, recipe.full))
        table.add_row(name, *map(str, sums), recipe.summary + (f" Not here: {reason}." if reason else ""))
    whole = [str(sum(take.count for _, take in takes_of(ALL, size))) for size in ("quick", "full")]
    table.add_row(ALL, *whole, "Every recipe that can be made here.")
    console().print(table)


@corpus_app.command("recipe", cls=Command, epilog=RECIPE_EPILOG)
def make_recipe(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A recipe, or all: see mcpframe corpus list.")],
    out: NewFile,
    size: Annotated[Size, typer.Option(help="About twenty problems of a kind, or hundreds.")] = Size.quick,
) -> None:
    """Make the problems of a built-in recipe."""
    from mcpframe.studies.corpora.recipes import make_corpus

    check_out_file(out)
    with make_corpus(name, out, size=size.value, progress=sys.stderr.isatty()) as corpus:
        _print_summary(corpus.texts(), "system")
    console().print(f"written   {out}")


@corpus_app.command("harvest", cls=Command, epilog=HARVEST_EPILOG)
def harvest_scene(
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="TOML file of the scene.")],
    out: NewFile,
    formulation: Annotated[
        str, typer.Option(autocompletion=completion.formulations, help="To write the problems in.")
    ] = "os",
    every: Annotated[int, typer.Option(min=1, help="Keep those of every so many steps; impacts always.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after so many problems.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the scene's stepping; repeatable."),
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Run a scene and append its problems, with provenance and labels, to a corpus."""
    from mcpframe.scene.scene_file import load_scene
    from mcpframe.studies.corpora.harvesting import harvest

    check_out_file(out)
    changes, code = read_pairs("--set", settings), Code.of_command(allow_code)
    loaded = load_scene(scene, allow_code=code).with_stepping(**changes)
    bar = sys.stderr.isatty()
    with harvest(loaded, out, formulation=formulation, every=every, limit=limit, progress=bar) as corpus:
        _print_summary(corpus.texts(), "system")
    console().print(f"written   {out}")


@corpus_app.command("show", cls=Command, epilog=SHOW_EPILOG)
def show(
    file: File,
    by: Annotated[str, typer.Option(help="Label, or word of the provenance, to group by.")] = "system",
) -> None:
    """Show what is in a corpus: counts and ranges of labels, group by group."""
    with mf.Corpus(file) as corpus:
        _print_summary(corpus.texts(), by)


@corpus_app.command("export", cls=Command, epilog=EXPORT_EPILOG)
def export(
    file: File,
    fclib: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for FCLIB files: W, q, mu, exact cone.")
    ] = None,
    npz: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for .npz files.")] = None,
) -> None:
    """Write every problem of a corpus to a file of its own."""
    from mcpframe.studies.corpora.export import export_fclib, export_npz

    if fclib is None and npz is None:
        raise OptionError("give --fclib DIR, --npz DIR, or both")
    with mf.Corpus(file) as corpus:
        if fclib is not None:
            _tell(export_fclib(corpus, fclib), fclib)
        if npz is not None:
            _tell(export_npz(corpus, npz), npz)


def _tell(exported: Exported, folder: Path) -> None:
    console().print(f"written   {len(exported.files)} files in {folder}")
    for reason, count in Counter(why for _, why in exported.left_out).items():
        console().print(f"left out  {count}: {reason}")


def _print_summary(texts: Sequence[Mapping[str, str]], by: str) -> None:
    about = [_about(text) for text in texts]
    known = {key for known in about for key in known}
    if about and by not in known:
        words = sorted(known)
        raise OptionError(f"--by {by}: no problem has it;{nearest(by, words)} known: {', '.join(words)}")
    groups: dict[str, list[dict[str, Any]]] = {}
    for known_here in about:
        groups.setdefault(str(known_here.get(by, "")), []).append(known_here)
    table = Table(by, "problems", *RANGES.values(), *COUNTS, box=None, pad_edge=False)
    for name, members in groups.items():
        table.add_row(name, *_cells(members))
    if len(groups) != 1:
        table.add_row("all", *_cells(about), style="bold")
    console().print(table)


def _about(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return labels and provenance of a problem as one table."""
    origin = json.loads(texts.get("provenance", "{}"))
    labels = origin.pop("labels", {})
    plain = {key: value for key, value in origin.items() if isinstance(value, (str, int, float))}
    return {"system": "given", **plain, **labels}


def _cells(members: Sequence[Mapping[str, Any]]) -> list[str]:
    ranges = [_range([member[key] for member in members if key in member]) for key in RANGES]
    counts = [_counted(member[key] for member in members if key in member) for key in COUNTS]
    return [str(len(members)), *ranges, *counts]


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{value} {count}" for value, count in Counter(values).most_common())
