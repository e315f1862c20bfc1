"""The entries of a study as compact columns, which the page computes everything from.

Words are numbers into lists of words, times whole nanoseconds, residuals three digits: about 100 bytes per
entry. `template/page.js` reads them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.studies.report.entries import CLOCKS, MERGED, OUTCOMES, Column, Entry
from mcpframe.studies.report.metrics import SHIFT
from mcpframe.studies.report.profiles import FAR
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.trajectories import place

NANO = 1e9
SYMBOL_NAMES = (
    *("circle", "square", "diamond", "triangle-up", "triangle-down"),
    *("cross", "x", "star", "hexagon", "pentagon"),
)
SYMBOLS = dict(zip("osD^vPX*hp", SYMBOL_NAMES, strict=True))
"""Markers of the palette as plotly calls them."""


class Words:
    """A list of words that grows as they are looked up."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def code(self, word: str) -> int:
        """Return the place of a word in the list."""
        return self.places.setdefault(word, len(self.places))

    @property
    def words(self) -> list[str]:
        """The list."""
        return list(self.places)


def page_data(results: Results) -> dict[str, Any]:
    """Return all that the page computes from, ready for JSON."""
    words, runs, cases = Words(), Words(), Words()
    columns = {column: k for k, column in enumerate(results.columns)}
    steps: dict[str, tuple[int, int]] = {}
    for entry in results.entries:
        where = place(entry.row.case)
        steps[entry.row.case] = (-1, 0) if where is None else (runs.code(where[0]), where[1])
    return {
        "settings": _settings(results),
        "columns": [_column(results, k) for k in range(len(columns))],
        "entries": _entries(results.entries, columns, cases, words),
        "failures": _failures(results.entries),
        "facets": [
            {"name": facet.name, "title": facet.title, "classes": facet.classes, "codes": facet.codes}
            for facet in results.facets
        ],
        "cases": cases.words,
        "runs": runs.words,
        "places": [steps[case] for case in cases.words],
        "words": words.words,
    }


def embedded(data: dict[str, Any]) -> str:
    """Write data as JSON that may stand inside a script element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")  # no word of a study can close the element or open a comment


def _settings(results: Results) -> dict[str, Any]:
    """Return what all figures share."""
    tol = results.header.get("tol")
    return {
        "clock": results.clock,
        "clocks": CLOCKS,
        "shift": SHIFT,
        "penalty": results.penalty,
        "far": FAR,
        "unit": results.unit,
        "merged": MERGED,
        "outcomes": OUTCOMES,
        "tol": tol if isinstance(tol, int | float) else None,
    }


def _column(results: Results, k: int) -> dict[str, str]:
    """Return names and looks of a column."""
    column = results.columns[k]
    look = results.looks[column]
    return {
        **column._asdict(),
        "name": results.name(column),
        "colour": look.colour,
        "symbol": SYMBOLS[look.marker],
        "dash": look.dash,
    }


def _entries(
    entries: Sequence[Entry], columns: Mapping[Column, int], cases: Words, words: Words
) -> dict[str, list[Any]]:
    """Return one list per property of the entries."""
    getters: dict[str, Callable[[Entry], Any]] = {
        "case": lambda e: cases.code(e.row.case),
        "column": lambda e: columns[e.column],
        "outcome": lambda e: OUTCOMES.index(e.outcome),
        "claimed": lambda e: int(bool(e.row.claim)),
        "right": lambda e: int(e.row.claim_right),
        "system": lambda e: words.code(e.row.system),
        "family": lambda e: words.code(e.family),
        "status": lambda e: words.code(e.row.status),
        "claim": lambda e: words.code(e.row.claim),
        "residual": lambda e: _short(e.row.scaled_residual),
        "build": lambda e: round(e.build * NANO),
        "solve": lambda e: round(e.solve * NANO),
        "recover": lambda e: round(e.recover * NANO),
        "iterations": lambda e: e.row.iterations,
        "n": lambda e: e.row.n,
        "n_contacts": lambda e: e.row.n_contacts,
        "n_dofs": lambda e: e.row.n_dofs,
        "nnz": lambda e: e.row.nnz,
    }
    return {name: [get(entry) for entry in entries] for name, get in getters.items()}


def _failures(entries: Sequence[Entry]) -> dict[int, list[Any]]:
    """Return reason, residual, saved problem, and failed repeats of every entry that is not solved."""
    return {k: _failure(entry) for k, entry in enumerate(entries) if not entry.ok}


def _failure(entry: Entry) -> list[Any]:
    row = entry.row
    return [row.reason, _short(row.residual), row.problem_file, entry.failures, entry.repeats]


def _short(value: float) -> float | None:
    """Round to three digits; None where it is not finite, for which JSON has no word."""
    return float(f"{value:.2e}") if math.isfinite(value) else None
