"""What the shell offers after TAB: names of solvers, formulations, laws and systems that begin so."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import mcpframe as mf

Complete = Callable[[str], list[str]]


def _of(names: Callable[[], Iterable[str]]) -> Complete:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


solvers = _of(mf.available_solvers)
formulations = _of(mf.available_formulations)
laws = _of(mf.available_contact_laws)
systems = _of(mf.systems.available)
plugins = _of(lambda: [*mf.available_solvers(), *mf.available_formulations(), *mf.available_contact_laws()])
