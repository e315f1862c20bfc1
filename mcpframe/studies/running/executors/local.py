"""Worker processes on this machine, a thread here for each that watches it."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from mcpframe.exceptions import OptionError
from mcpframe.studies.running.guard import Guard
from mcpframe.studies.running.machine import provenance
from mcpframe.studies.running.task import Context
from mcpframe.studies.study.units import Chain, Made, Message

Event = Message | BaseException | None


class Local:
    """Runs units in processes of this machine.

    Args:
        workers: how many; one less than there are cores unless given, so that clocks are not disturbed.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise OptionError(f"workers = {workers!r}: must be an integer >= 1")
        self.workers = workers or max(1, (os.cpu_count() or 1) - 1)

    def describe(self) -> dict[str, Any]:
        """Return name and number of workers."""
        return {"name": "local", "workers": self.workers}

    def provenance(self) -> dict[str, Any]:
        """Return machine, versions and commit here."""
        return provenance()

    def close(self) -> None:
        """Do nothing: processes end with their run."""

    def run(self, context: Context, chains: Sequence[Chain]) -> Generator[Message, None, None]:
        """Yield what happens, as it happens."""
        waiting, events = deque(chains), SimpleQueue[Event]()
        guards = [Guard(context) for _ in range(min(self.workers, len(chains)))]
        threads = [threading.Thread(target=_serve, args=(guard, waiting, events)) for guard in guards]
        for thread in threads:
            thread.start()
        at_work = len(threads)
        try:
            while at_work:
                event = events.get()
                if isinstance(event, BaseException):
                    raise event
                if event is None:
                    at_work -= 1
                else:
                    yield event
        finally:
            waiting.clear()
            for guard in guards:
                guard.stop()
            for thread in threads:
                thread.join()


def _serve(guard: Guard, waiting: deque[Chain], events: SimpleQueue[Event]) -> None:
    """Run chains as long as there are any."""
    try:
        while not guard.closed:
            try:
                chain = waiting.popleft()
            except IndexError:
                break
            for message in run_chain(guard, chain):
                events.put(message)
    except BaseException as error:
        events.put(error)
    finally:
        guard.close()
        events.put(None)


def run_chain(guard: Guard, chain: Chain) -> Iterator[Message]:
    """Run units that follow each other, each from where the one before has come to."""
    carry = chain[0].carry
    for unit in chain:
        for message in guard.run(replace(unit, carry=carry)):
            if isinstance(message, Made) and message.carry is not None:
                carry = message.carry
            yield message
