"""The summary in Markdown: the main tables of the page, for a repository, a mail, or a diff."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from mcpframe.studies.report.entries import CLOCKS, UNSUPPORTED, Column, Entry
from mcpframe.studies.report.facets import Facet
from mcpframe.studies.report.facts import facts
from mcpframe.studies.report.grid import Grid, grid
from mcpframe.studies.report.growth import growing, growth_fits
from mcpframe.studies.report.metrics import SHIFT, Fit, Rates, median, rates
from mcpframe.studies.report.published import Published
from mcpframe.studies.report.results import Results, unique
from mcpframe.studies.report.verdict import limitations, verdict
from mcpframe.studies.report.wording import NOTHING, count, number, percent, power, time

MOST_FAILURES = 50
"""Failures told one by one; the page has them all."""


def summary(results: Results, published: Sequence[Published] = ()) -> str:
    """Return the report as Markdown."""
    parts = [
        f"# {results.header.get('name', 'study')}",
        " ".join(sentence for sentence in verdict(results) if sentence),
        table(("", ""), facts(results)),
        *_grid(results),
        "## Success and correctness",
        _success(results),
        "![rates, profiles, growth](report.png)",
        "## Mean times",
        _means(results),
        *_growth(results),
        "## Sizes by formulation",
        _sizes(results),
        *_warm(results),
        *(["## By label"] if results.facets else []),
        *(_label(results, facet) for facet in results.facets),
        *_failures(results),
        *(part for each in published for part in _published(each)),
        "## Limitations",
        "\n".join(f"- {sentence}" for sentence in limitations(results)),
    ]
    return "\n\n".join(parts) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, first column left, others right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _success(results: Results) -> str:
    """Rates first, as on the page."""
    unit = results.unit
    heads = ("setting", "success %", "solved", "of", "false claims", "crashed", "time limit", "gave up")
    rest = ("not taken", "claims right %", f"median {unit[0]}", f"mean {unit[0]}")
    return table((*heads, *rest), (_success_row(results, column) for column in results.best_first))


def _success_row(results: Results, column: Column) -> list[str]:
    own, scale = results.rates[column], results.unit[1]
    counts = (
        own.solved,
        own.taken,
        own.false_claims,
        own.crashed,
        own.time_limit,
        own.failed,
        own.unsupported,
    )
    return [
        results.name(column),
        percent(own.success),
        *(count(value) for value in counts),
        percent(own.correctness),
        number(own.median / scale),
        number(own.mean / scale),
    ]


def _means(results: Results) -> str:
    """Shifted geometric means, fastest first, and the shares within factors of the fastest."""
    order = sorted(results.columns, key=lambda column: _last(results.rates[column].mean))
    best = results.rates[order[0]].mean
    rows = [
        [
            results.name(column),
            number(results.rates[column].mean / results.unit[1]),
            number(results.rates[column].mean / best),
            *(percent(results.profiles[column].share(tau)) for tau in (1.0, 2.0, 10.0)),
        ]
        for column in order
    ]
    heads = (
        "setting",
        f"mean {results.unit[0]}",
        "over the best",
        "fastest %",
        "within 2 × %",
        "within 10 × %",
    )
    note = (
        f"Shifted geometric means of the time of {CLOCKS[results.clock]}, shift {time(SHIFT)}, failures at "
        f"{time(results.penalty)}; shares of all problems from the performance profiles."
    )
    return f"{table(heads, rows)}\n\n{note}"


def _grid(results: Results) -> list[str]:
    """Share solved and median time where formulation and solver meet."""
    made = grid(results)
    if made is None:
        return []
    cells = [[row, *(_cell_of(results, made, row, column) for column in made.columns)] for row in made.rows]
    note = (
        f"Share solved of the problems taken, and the median time of {CLOCKS[results.clock]} of the solved."
    )
    return [f"## {made.what.capitalize()} × solver", table((made.what, *made.columns), cells), note]


def _cell_of(results: Results, made: Grid, row: str, column: str) -> str:
    return _solved_cell(results, made.cells[row, column]) if (row, column) in made.cells else NOTHING


def _growth(results: Results) -> list[str]:
    """Exponents of time in n and n_c, a line per system and setting that has one."""
    rows = []
    for family in growing(results):
        for column in results.best_first:
            fits = growth_fits(results, column, family)
            if any(fits):
                rows.append([family, results.name(column), *(cell for fit in fits for cell in _fit(fit))])
    heads = ("system", "setting", "exponent in n", "n fitted", "exponent in n_c", "n_c fitted")
    return ["## Growth with size", table(heads, rows)] if rows else []


def _fit(fit: Fit | None) -> tuple[str, str]:
    if fit is None:
        return NOTHING, NOTHING
    return f"{fit.exponent:.2f}", f"{fit.lowest} to {fit.highest} ({fit.count} sizes)"


def _sizes(results: Results) -> str:
    rows = []
    for name in unique(column.formulation for column in results.columns):
        own = {entry.row.case: entry.row for entry in results.entries if entry.row.formulation == name}
        n = [row.n for row in own.values()]
        filled = median([row.nnz / row.n**2 for row in own.values() if row.n])
        rows.append(
            [name, count(len(own)), *(count(round(f(n))) for f in (min, median, max)), percent(filled)]
        )
    return table(("formulation", "problems", "n, smallest", "median", "largest", "filled % of M"), rows)


def _warm(results: Results) -> list[str]:
    """Cold and warm starts on the same problems, where both were run."""
    rows = []
    for column in results.best_first:
        warm = {e.row.case: e for e in results.by_column.get(column._replace(start="warm"), [])}
        pairs = [(e, warm[e.row.case]) for e in results.by_column[column] if e.row.case in warm]
        if column.start == "cold" and pairs:
            rows.append([results.name(column).removesuffix(" · cold"), *_warm_cells(results, pairs)])
    if not rows:
        return []
    unit = results.unit[0]
    heads = ("setting", "pairs", "solved cold", "solved warm", f"median cold {unit}", f"median warm {unit}")
    return ["## Warm and cold starts", table((*heads, "cold / warm"), rows)]


def _warm_cells(results: Results, pairs: Sequence[tuple[Entry, Entry]]) -> list[str]:
    both = [(a.seconds(results.clock), b.seconds(results.clock)) for a, b in pairs if a.ok and b.ok]
    scale = results.unit[1]
    return [
        count(len(pairs)),
        count(sum(a.ok for a, _ in pairs)),
        count(sum(b.ok for _, b in pairs)),
        number(median([a for a, _ in both]) / scale),
        number(median([b for _, b in both]) / scale),
        number(median([a / max(b, 1e-9) for a, b in both])),
    ]


def _label(results: Results, facet: Facet) -> str:
    """Share solved and median time, setting by class."""
    groups: dict[tuple[Column, int], list[Entry]] = {}
    for entry, code in zip(results.entries, facet.codes, strict=True):
        groups.setdefault((entry.column, code), []).append(entry)
    rows = (
        [
            results.name(column),
            *(_label_cell(results, groups.get((column, k), [])) for k in range(len(facet.classes))),
        ]
        for column in results.best_first
    )
    return f"### {facet.title}\n\n{table(('setting', *facet.classes), rows)}"


def _label_cell(results: Results, entries: Sequence[Entry]) -> str:
    return _solved_cell(results, rates(entries, results.clock, results.penalty))


def _solved_cell(results: Results, own: Rates) -> str:
    if not own.taken:
        return "not taken" if own.total else NOTHING
    return f"{percent(own.success)} %, {time(own.median, results.unit)}"


def _failures(results: Results) -> list[str]:
    """How often each status came, then the first failures one by one; nothing where there are none."""
    failed = [entry for entry in results.entries if not entry.ok and entry.outcome != UNSUPPORTED]
    if not failed:
        return []
    kinds = Counter((results.name(entry.column), entry.outcome, entry.row.status) for entry in failed)
    first = [_failure(results, entry) for entry in failed[:MOST_FAILURES]]
    told = (
        f"The first {MOST_FAILURES} of {count(len(failed))}; the page has all."
        if len(failed) > MOST_FAILURES
        else ""
    )
    counted = [[*kind, count(k)] for kind, k in kinds.most_common()]
    heads = ("problem", "setting", "outcome", "claim", "residual", "reason", "saved problem")
    kinds_table = table(("setting", "outcome", "status", "solves"), counted)
    return ["## Failures", kinds_table, told, table(heads, first)]


def _failure(results: Results, entry: Entry) -> list[str]:
    row = entry.row
    file = f"`{row.problem_file}`" if row.problem_file else NOTHING
    told = [row.claim or "none", power(row.residual), row.reason, file]
    return [row.case, results.name(entry.column), entry.outcome, *told]


def _published(given: Published) -> list[str]:
    return [f"## {given.title}", table(given.columns, given.rows), given.source]


def _last(mean: float) -> float:
    return mean if math.isfinite(mean) else math.inf
