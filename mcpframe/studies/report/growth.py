"""Growth with size, system by system: times of different systems at the same size have nothing in common."""

from __future__ import annotations

from mcpframe.studies.report.entries import Column, Entry
from mcpframe.studies.report.metrics import Fit, fit_exponent, medians_by_size
from mcpframe.studies.report.results import Results


def growing(results: Results) -> list[str]:
    """Return the systems of which problems of several sizes were solved, those with most sizes first."""
    sizes: dict[str, tuple[set[int], set[int]]] = {}
    for entry in results.entries:
        if entry.ok:
            n, n_contacts = sizes.setdefault(entry.family, (set(), set()))
            n.add(entry.row.n)
            n_contacts.add(entry.row.n_contacts)
    several = [name for name, (n, n_contacts) in sizes.items() if len(n) > 1 or len(n_contacts) > 1]
    return sorted(several, key=lambda name: (-len(sizes[name][0]), name))


def solved_of(results: Results, column: Column, family: str) -> list[Entry]:
    """Return the solved entries of a column that belong to a system."""
    return [entry for entry in results.by_column[column] if entry.ok and entry.family == family]


def growth_fits(results: Results, column: Column, family: str) -> tuple[Fit | None, Fit | None]:
    """Return the exponents of time in n and in n_c over the solved problems of a system."""
    solved = solved_of(results, column, family)
    times = [entry.seconds(results.clock) for entry in solved]
    sizes = ([entry.row.n for entry in solved], [entry.row.n_contacts for entry in solved])
    in_n, in_contacts = (fit_exponent(medians_by_size(own, times)) for own in sizes)
    return in_n, in_contacts
