"""Labels in classes: what the tables by label group by, and what one can filter for.

Words, switches and few different numbers are their own classes; other numbers fall into decades where they
span two or more, into steps of round numbers where they do not; a class holds its lower edge.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcpframe.studies.report.entries import Entry
from mcpframe.studies.study.row import Label

MOST_CLASSES = 8
"""Classes of one label: what fits beside each other on a page."""
MOST_FACETS = 14
WIDE = 100.0
"""Ratio of largest to smallest from which on classes are decades."""
FIRST = (
    *("hardness", "motion", "contacts_per_dof", "mass_ratio"),
    *("contact_mass_ratio", "condition", "rank_ratio"),
)
"""Labels told first; the others follow by name."""
TITLES = {"n": "size n", "n_contacts": "contacts", "n_dofs": "dofs", "condition": "log₁₀ condition of W"}
LOGARITHMS = frozenset({"condition"})
"""Labels that are powers of ten already."""
ROUND_STEPS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0)
"""Widths of classes over the power of ten below the range of the values."""
EVEN_CLASSES = 6
TINY = 1e-12
RANKS = ("easy", "medium", "moderate", "hard", "extreme")
"""Words that have an order."""
MISSING = -1
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Facet:
    """One label of all entries, in classes.

    Attributes:
        name: of the label.
        title: how to call it in a table.
        classes: in their order.
        codes: number of the class of every entry, MISSING where it has no such label.
    """

    name: str
    title: str
    classes: tuple[str, ...]
    codes: tuple[int, ...]


def facets(entries: Sequence[Entry]) -> list[Facet]:
    """Return every label that divides the entries: system, size and contacts, then labels."""
    names = {name for entry in entries for name in entry.row.labels} - {"n", "n_contacts", "n_dofs", "system"}
    order = sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    getters: dict[str, Callable[[Entry], Label | None]] = {
        "system": lambda entry: entry.row.system,
        "source": lambda entry: entry.row.source,
        "n": lambda entry: entry.row.n,
        "n_contacts": lambda entry: entry.row.n_contacts,
    }
    for name in order:
        getters[name] = lambda entry, name=name: entry.row.labels.get(name)  # type: ignore[misc]
    found = [_facet(name, [get(entry) for entry in entries]) for name, get in getters.items()]
    kept = [facet for facet in found if facet is not None and len(facet.classes) > 1]
    return _without_twins(kept)[:MOST_FACETS]


def _facet(name: str, values: Sequence[Label | None]) -> Facet | None:
    """Sort the values of one label into classes; None where each is a class of its own."""
    given = [value for value in values if value is not None]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
    different = set(given)
    if numbers and len(different) > MOST_CLASSES:
        return _binned(name, [None if value is None else float(value) for value in values])
    if len(different) > MOST_CLASSES:
        return None
    classes = sorted(different, key=_rank)
    code = {value: k for k, value in enumerate(classes)}
    codes = tuple(MISSING if value is None else code[value] for value in values)
    return Facet(name, _title(name), tuple(_text(value) for value in classes), codes)


def _binned(name: str, values: Sequence[float | None]) -> Facet:
    """Sort numbers into classes between edges; what is not finite is a class of its own, the last."""
    finite = np.array([value for value in values if value is not None and math.isfinite(value)])
    edges, texts = _decades(finite) if name not in LOGARITHMS and _is_wide(finite) else _even(finite)
    codes = [MISSING if value is None else _code(value, edges) for value in values]
    classes = [*texts, "not finite"]
    used = sorted({code for code in codes if code != MISSING})
    place = {code: k for k, code in enumerate(used)} | {MISSING: MISSING}
    return Facet(
        name, _title(name), tuple(classes[code] for code in used), tuple(place[code] for code in codes)
    )


def _code(value: float, edges: Sequence[float]) -> int:
    """Return the number of the interval that holds a value; the last edge belongs to the last one."""
    if not math.isfinite(value):
        return len(edges) - 1
    return min(max(bisect_right(edges, value) - 1, 0), len(edges) - 2)


def _is_wide(values: np.ndarray) -> bool:
    """Whether positive numbers span enough for decades."""
    return bool(values.size) and values.min() > 0 and values.max() >= WIDE * values.min()


def _decades(values: np.ndarray) -> tuple[list[float], list[str]]:
    """Return edges at powers of ten, every second, third ... where there would be too many classes."""
    low, high = math.floor(math.log10(values.min())), math.floor(math.log10(values.max())) + 1
    stride = math.ceil((high - low) / (MOST_CLASSES - 1))
    powers = list(range(low, high + stride, stride))
    texts = [f"{_power(a)} to {_power(b)}" for a, b in itertools.pairwise(powers)]
    return [10.0**power for power in powers], texts


def _even(values: np.ndarray) -> tuple[list[float], list[str]]:
    """Return evenly spaced edges at round numbers."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    magnitude = 10.0 ** math.floor(math.log10(max(high - low, TINY)))
    step = next(
        step * magnitude
        for step in ROUND_STEPS
        if math.floor(high / (step * magnitude)) - math.floor(low / (step * magnitude)) < EVEN_CLASSES
    )
    first = math.floor(low / step)
    last = max(math.ceil(high / step - TINY), first + 1)
    edges = [k * step for k in range(first, last + 1)]
    return edges, [f"{a:.4g} to {b:.4g}" for a, b in itertools.pairwise(edges)]


def _power(exponent: int) -> str:
    """Write a power of ten; small ones as numbers."""
    return str(10**exponent) if 0 <= exponent <= 2 else "10" + str(exponent).translate(SUPERSCRIPTS)


def _rank(value: Label) -> tuple[int, float, str]:
    """Order of classes: numbers by size, words with an order by it, others by name."""
    if isinstance(value, str):
        return (RANKS.index(value) if value in RANKS else len(RANKS), 0.0, value)
    return (0, float(value), "")


def _text(value: Label) -> str:
    """Write a class."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:.6g}"


def _title(name: str) -> str:
    """Write the name of a label."""
    return TITLES.get(name, name.replace("_", " "))


def _without_twins(found: list[Facet]) -> list[Facet]:
    """Drop what divides the entries exactly as one before it does, as the source may as the system does."""
    kept: dict[tuple[int, ...], Facet] = {}
    for facet in found:
        kept.setdefault(facet.codes, facet)
    return list(kept.values())
