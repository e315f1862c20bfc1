"""Workers of a dask cluster: of a scheduler that runs already, or of one started on this machine.

A dask worker does not solve itself: it watches a process that does, as `local` has it, so that a solver that
hangs or dies costs a row and no worker. A worker that is lost costs its unfinished units: dask gives them to
another one, and units that have come back are in the store. A cluster started here is open to this machine
alone, on ports that are free.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import pickle
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from mcpframe.exceptions import OptionError, PluginError
from mcpframe.studies.running.guard import Guard, WorkerError
from mcpframe.studies.running.machine import provenance
from mcpframe.studies.running.task import Context
from mcpframe.studies.study.units import Chain, Made, Message, Stage, Unit

RETRIES = 5
"""How often a unit is given to another worker before the study gives up."""
CONNECT_LIMIT = 30.0
"""Seconds in which a scheduler must answer and have a worker."""
LOOPBACK, ANY_PORT = "127.0.0.1", 0

_CLIENT_LOG = logging.getLogger("distributed.client")
_here = threading.local()


class Dask:
    """Runs units on a dask cluster.

    Args:
        scheduler: its address, as ``tcp://host:8786``; a cluster is started here unless it is given.
        workers: processes of the cluster that is started; as many as there are cores but one unless given.
    """

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        if importlib.util.find_spec("distributed") is None:
            raise PluginError("executor 'dask' needs distributed: pip install 'mcpframe[cluster]'")
        if scheduler is not None and workers is not None:
            raise OptionError(f"workers = {workers}: the cluster at {scheduler} has the workers it has")
        self.scheduler, self.workers = scheduler, workers
        self._exit = contextlib.ExitStack()
        self._exit.enter_context(_quiet(_CLIENT_LOG))  # it would log what is raised here in words
        self.client = self._exit.enter_context(contextlib.closing(self._connected()))
        found = self.client.run(provenance)
        self._provenance = _agreed(found)
        self.n_workers = len(found)

    def describe(self) -> dict[str, Any]:
        """Return name and number of workers."""
        return {"name": "dask", "workers": self.n_workers}

    def provenance(self) -> dict[str, Any]:
        """Return machine, versions and commit of the workers."""
        return self._provenance

    def run(self, context: Context, chains: Sequence[Chain]) -> Generator[Message, None, None]:
        """Yield what happens, unit by unit."""
        from distributed import as_completed
        from distributed.comm import CommClosedError

        heads: dict[Any, Chain] = {}
        try:
            data = self.client.scatter(pickle.dumps(context), broadcast=True)
            heads |= {self._submit(data, chain[0]): chain for chain in chains}
            pending = as_completed(heads)
            for future in pending:
                chain = heads.pop(future)
                carry = chain[0].carry
                for message in _result(future):
                    if isinstance(message, Made) and message.carry is not None:
                        carry = message.carry
                    yield message
                if len(chain) > 1:
                    rest = [replace(chain[1], carry=carry), *chain[2:]]
                    following = self._submit(data, rest[0])
                    heads[following] = rest
                    pending.add(following)
        except (CancelledError, CommClosedError) as error:  # as dask has it when the connection is lost
            _CLIENT_LOG.addFilter(lambda record: False)  # it tries again, and logs that it is stopped
            raise WorkerError(
                f"the dask scheduler at {self._address()} is gone ({_first_line(error)})"
            ) from None
        finally:
            with contextlib.suppress(CancelledError, OSError):
                self.client.cancel(list(heads))

    def close(self) -> None:
        """Leave the cluster, or end the one that was started."""
        self._exit.close()

    def _address(self) -> str:
        return self.scheduler or "this machine"

    def _submit(self, data: Any, unit: Unit) -> Any:
        return self.client.submit(run_unit, data, unit, pure=False, retries=RETRIES)

    def _connected(self) -> Any:
        """Return a client of the scheduler, or of a cluster started here."""
        from distributed import Client

        if self.scheduler is None:
            from mcpframe.studies.running.executors.local import Local

            cluster = local_cluster(Local(self.workers).workers)
            self._exit.enter_context(contextlib.closing(cluster))
            return Client(cluster)
        try:
            client = Client(self.scheduler, timeout=CONNECT_LIMIT)
            client.wait_for_workers(1, timeout=CONNECT_LIMIT)
        except (OSError, ValueError, TimeoutError) as error:
            raise OptionError(f"scheduler {self.scheduler!r}: no cluster answers there ({error})") from None
        return client


def local_cluster(workers: int) -> Any:
    """Return a cluster on this machine, for this machine: every port is any that is free, on loopback.

    Dask's dashboard is left out. Its page for machines is served all the same, and without an address on a
    port that another program may have: 8787.
    """
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host=LOOPBACK,
        scheduler_port=ANY_PORT,
        dashboard_address=f"{LOOPBACK}:{ANY_PORT}",
        scheduler_kwargs={"dashboard": False},
        silence_logs=logging.ERROR,
    )


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep a logger silent meanwhile."""
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _result(future: Any) -> list[Message]:
    """Return what a unit has brought; the death of a solver is a row in it, that of workers is not."""
    from distributed import KilledWorker

    try:
        messages: list[Message] = future.result()
    except KilledWorker as error:
        raise WorkerError(f"dask has lost one worker after the other over the same unit ({error})") from None
    return messages


def run_unit(context: bytes, unit: Unit) -> list[Message]:
    """Run a unit in a process beside a dask worker; the next unit of that worker finds the process there."""
    known: tuple[bytes, Guard] | None = getattr(_here, "guard", None)
    if known is None or known[0] != context:
        if known is not None:
            known[1].close()
        known = _here.guard = (context, Guard(pickle.loads(context)))
    return [message for message in known[1].run(unit) if not isinstance(message, Stage)]


def _agreed(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what all workers say of themselves.

    Raises:
        OptionError: they differ, so that their rows must not stand in one table.
    """
    said = list(found.values())
    for address, other in found.items():
        differing = [key for key in said[0] if other[key] != said[0][key]]
        if differing:
            key = differing[0]
            raise OptionError(
                f"dask workers differ in {key}: {said[0][key]!r}, and at {address} {other[key]!r}; their "
                "times cannot be compared: use workers that are alike"
            )
    return said[0]
