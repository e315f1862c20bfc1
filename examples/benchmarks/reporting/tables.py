"""Tables of the benchmark: failures and false claims in plain sight, ratios family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from measuring.solvers import Cell
from rich.table import Table

FASTER = 5.0
"""A cold solve should take at most a fifth of the pivoting peer's time."""
WARMER = 1 / 3
"""A warm solve should take at most a third of a cold one."""

Key = tuple[str, str, int, str]


class Cells:
    """The figures of a run, by solver, family, size and mode, in the order of the run."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.by_key: dict[Key, Cell] = {(c.solver, c.family, c.n, c.mode): c for c in cells}
        self.solvers = list(dict.fromkeys(cell.solver for cell in self.by_key.values()))
        self.families = list(dict.fromkeys(cell.family for cell in self.by_key.values()))
        self.sizes = sorted({cell.n for cell in self.by_key.values()})

    def get(self, solver: str, family: str, n: int, mode: str = "cold") -> Cell | None:
        """Return one cell, None where the solver did not take the problems."""
        return self.by_key.get((solver, family, n, mode))


def cold_table(cells: Cells, family: str, built: Sequence[float]) -> Table:
    """Return success and times of cold solves of one family; the last row is the building of a problem."""
    table = _table(
        f"family '{family}', cold: median (minimum) of the solver's own time, solved / tried", cells
    )
    for solver in cells.solvers:
        table.add_row(solver, *(_cold_entry(cells.get(solver, family, n)) for n in cells.sizes))
    table.add_row("(building the problem)", *map(seconds_text, built), style="dim")
    return table


def warm_table(cells: Cells) -> Table:
    """Return warm over cold time for the same and for neighbouring problems."""

    def entry(solver: str, family: str, n: int) -> str:
        cold = cells.get(solver, family, n)
        warm = [cells.get(solver, family, n, mode) for mode in ("same", "neighbour", "shaken")]
        if cold is None or not any(warm):
            return ""
        return " | ".join(judged(w.median / cold.median, WARMER) if w else "-" for w in warm)

    return _by_family(
        "warm time / cold time: same problem | next time step | every contact shaken", cells, entry
    )


def ratio_table(cells: Cells, peer: str) -> Table:
    """Return how many times the peer's cold time each solver's fits into."""

    def entry(solver: str, family: str, n: int) -> str:
        theirs, ours = cells.get(peer, family, n), cells.get(solver, family, n)
        if theirs is None or ours is None or solver == peer:
            return ""
        own, wall = ours.median / theirs.median, ours.wall_median / theirs.wall_median
        return f"{judged(own, 1 / FASTER, inverse=True)} | {1 / wall:.2f}"

    return _by_family(f"{peer} / solver, cold: own time | wall time from Python", cells, entry)


def seconds_text(seconds: float) -> str:
    """Return a time in its natural unit."""
    factor, unit = next(((f, u) for f, u in ((1.0, "s"), (1e3, "ms")) if seconds * f >= 1.0), (1e6, "us"))
    return f"{seconds * factor:.3g} {unit}"


def _table(title: str, cells: Cells) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("solver")
    for n in cells.sizes:
        table.add_column(f"n = {n}", justify="right")
    return table


def _by_family(title: str, cells: Cells, entry: Callable[[str, str, int], str]) -> Table:
    table = _table(title, cells)
    for solver in cells.solvers:
        for family in cells.families:
            entries = [entry(solver, family, n) for n in cells.sizes]
            if any(entries):
                table.add_row(f"{solver}, {family}", *(text or "-" for text in entries))
        table.add_section()
    return table


def _cold_entry(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    colour = "green" if cell.solved == cell.tried else "red"
    lies = f" [red]{cell.false_claims} false[/red]" if cell.false_claims else ""
    times = f"{seconds_text(cell.median)} ({seconds_text(cell.minimum)})"
    return f"{times} [{colour}]{cell.solved}/{cell.tried}[/{colour}]{lies}"


def judged(ratio: float, limit: float, *, inverse: bool = False) -> str:
    """Return a ratio, or its inverse, in the colour that says whether it keeps within a limit."""
    colour = "green" if ratio <= limit else "yellow"
    return f"[{colour}]{1 / ratio if inverse else ratio:.2f}[/{colour}]"
