"""Tables of the simulation study: figures by engine, ratios beside their targets, growth, Python's share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.own import Share
from measuring.simulation import Cell, Growth
from reporting.sheets import Sheet
from reporting.tables import judged, seconds_text

TIME_LIMITS = {"MuJoCo": 1.0, "Drake": 0.2}
"""Largest share of a peer's time that ours may take, by the first word of its name."""
DEPTH_LIMIT = 1e-3
"""Largest share of MuJoCo's and Drake's overlap."""
LINEAR = 1.1
"""Largest exponent of "close to linear"."""


def times_sheet(cells: Sequence[Cell]) -> Sheet:
    """Return times of all engines on all pendulums, and the range of their largest overlaps."""
    subjects, by_key = subjects_of(cells), by_key_of(cells)
    rows = []
    for name in dict.fromkeys(cell.engine for cell in cells):
        own = [by_key[name, *subject] for subject in subjects]
        depths = [1e3 * cell.depth for cell in own]
        overlap = f"{min(depths):.2g} to {max(depths):.2g}"
        rows.append([name, *(f"{1e6 * cell.seconds:.3g}" for cell in own), overlap])
    columns = ["engine", *headings(subjects), "overlap, mm"]
    return Sheet("Pendulum, processor time per step of 1 ms, µs, and largest overlap", columns, rows)


def events_sheet(cells: Sequence[Cell]) -> Sheet:
    """Return what happened on the way: contacts, impacts, energy."""
    subjects, by_key = subjects_of(cells), by_key_of(cells)
    rows = []
    for name in dict.fromkeys(cell.engine for cell in cells):
        rows.append([name, *(_events(by_key[name, *subject]) for subject in subjects)])
    note = "Impacts of peers, which do not tell: pairs that began to touch, from one step to the next."
    title = "Contacts, mean (most); impacts; change of energy from start to end"
    return Sheet(title, ["engine", *headings(subjects)], rows, note)


def _events(cell: Cell) -> str:
    contacts = f"{cell.contacts:.1f} ({cell.most_contacts})"
    return f"{contacts}; {cell.impacts}; {100 * cell.energy_change:.1f} %"


def ratio_sheet(cells: Sequence[Cell]) -> Sheet:
    """Return time and overlap of each of our ways as shares of every peer's."""
    subjects, by_key = subjects_of(cells), by_key_of(cells)
    peers = dict.fromkeys(cell.engine for cell in cells if cell.is_peer)
    rows = []
    for own in dict.fromkeys(cell.engine for cell in cells if not cell.is_peer):
        for peer in peers:
            pairs = [(by_key[own, *subject], by_key[peer, *subject]) for subject in subjects]
            rows.append([f"{own} / {peer}", *(_ratio(ours, theirs) for ours, theirs in pairs)])
    note = "Wanted: at most 1 of MuJoCo's time, 0.2 of Drake's, 1e-3 of the overlap of either."
    return Sheet(
        "Ours as a share of the peer's: time; overlap", ["ours / peer", *headings(subjects)], rows, note
    )


Subject = tuple[str, int]


def subjects_of(cells: Sequence[Cell]) -> list[Subject]:
    """Return kinds and links in the order of the run."""
    return list(dict.fromkeys((cell.kind, cell.n_links) for cell in cells))


def by_key_of(cells: Sequence[Cell]) -> dict[tuple[str, str, int], Cell]:
    """Return the cells by engine, kind and links."""
    return {(cell.engine, cell.kind, cell.n_links): cell for cell in cells}


def headings(subjects: Sequence[Subject]) -> list[str]:
    """Return the titles of columns."""
    return [f"{kind} {n}" for kind, n in subjects]


def _ratio(ours: Cell, theirs: Cell) -> str:
    family = theirs.engine.replace(",", "").split()[0]
    time, limit = ours.seconds / theirs.seconds, TIME_LIMITS.get(family)
    text = f"{time:.2f}" if limit is None else judged(time, limit)
    if not theirs.depth:
        return f"{text}; -"
    share = ours.depth / theirs.depth
    if limit is None:
        return f"{text}; {share:.0e}"
    colour = "green" if share <= DEPTH_LIMIT else "yellow"
    return f"{text}; [{colour}]{share:.0e}[/{colour}]"


def growth_sheet(growth: Growth) -> Sheet:
    """Return how our time per step grows."""
    fit = growth.fit
    colour = "green" if fit.exponent <= LINEAR else "yellow"
    columns = ["time per step", *(f"n = {n}" for n in growth.sizes), "exponent", "off the fit"]
    row = [
        "mcpframe, event-driven",
        *map(seconds_text, growth.times),
        f"[{colour}]{fit.exponent:.2f}[/{colour}]",
        f"{100 * fit.deviation:.0f} %",
    ]
    return Sheet(
        "Growth with the links, pendulum 'papers', steps of 0.1 ms through the first impacts", columns, [row]
    )


def share_sheet(shares: Mapping[int, Share]) -> Sheet:
    """Return where the time of a step goes."""
    columns = ["links", "step", "outside the engine", "outside building, solving, recovering"]
    rows = [
        [
            str(n),
            seconds_text(share.step),
            f"{100 * share.outside_engine:.0f} %",
            f"{100 * share.outside_told:.0f} %",
        ]
        for n, share in shares.items()
    ]
    note = "Outside the engine is Python's share where the engine is compiled."
    return Sheet("Time of a step, pendulum 'papers', event-driven, in memory", columns, rows, note)
