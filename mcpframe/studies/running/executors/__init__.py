"""Executors: who runs the units of a study, and where. All give the same rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from mcpframe.studies.running.task import Context
from mcpframe.studies.study.units import Chain, Message


class Executor(Protocol):
    """Runs chains of units in worker processes."""

    def describe(self) -> dict[str, Any]:
        """Return what it is, for the header: name and number of workers."""
        ...

    def provenance(self) -> dict[str, Any]:
        """Return machine, versions and commit of the workers, which must agree."""
        ...

    def run(self, context: Context, chains: Sequence[Chain]) -> Generator[Message, None, None]:
        """Yield what happens; closing the iterator ends what is under way."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...
