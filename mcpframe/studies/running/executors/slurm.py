"""Jobs of a Slurm cluster, through submitit: one array of jobs, each with a share of the chains.

A job watches a process that solves, as `local` has it, so that a solver that hangs or dies costs a row and no
job. Its rows come back when it ends; what each of its tasks has printed stays in the folder of the study, in
``slurm/``. That folder must be on a disk that the nodes share.
"""

from __future__ import annotations

import contextlib
import importlib.util
import pickle
import re
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mcpframe.exceptions import OptionError, PluginError
from mcpframe.studies.running.executors.local import run_chain
from mcpframe.studies.running.guard import Guard, WorkerError
from mcpframe.studies.running.machine import provenance
from mcpframe.studies.running.task import Context
from mcpframe.studies.study.units import Chain, Message, Stage

FOLDER = "slurm"
"""Of the study's folder: scripts, answers and logs of the jobs."""
WORKERS = 8
"""Jobs that run at the same time, unless a number is given."""
SHARES = 4
"""Jobs for each of these: the more there are, the sooner rows come back."""
MINUTES = 60
"""That a job may take, unless ``time`` says another number."""
LOOK = 0.5
"""Seconds between two looks at what has come back."""
RAISED = re.compile(r"^[\w.]*(?:Error|Exception): (.*)$", re.MULTILINE)
"""Last line of a traceback."""


class Slurm:
    """Runs units in jobs of Slurm.

    Args:
        folder: of the study.
        workers: jobs that run at the same time.
        options: of sbatch, by submitit's names: partition, account, qos, time (minutes), mem, setup, ...
    """

    def __init__(
        self, folder: Path, workers: int | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        if importlib.util.find_spec("submitit") is None:
            raise PluginError("executor 'slurm' needs submitit: pip install 'mcpframe[slurm]'")
        if shutil.which("srun") is None:
            raise PluginError("executor 'slurm': there is no srun here; run it on a machine of the cluster")
        self.workers = workers or WORKERS
        self.folder = folder.absolute() / FOLDER
        self._executor = self._made({"time": MINUTES, "job_name": "mcpframe", **(options or {})})
        self._jobs: list[Any] = []

    def _made(self, options: Mapping[str, Any]) -> Any:
        import submitit

        executor = submitit.SlurmExecutor(folder=self.folder, max_num_timeout=0)
        try:
            executor.update_parameters(**options, array_parallelism=self.workers)
        except (TypeError, ValueError) as error:
            raise OptionError(f"slurm: {' '.join(str(error).split())}") from None
        return executor

    def describe(self) -> dict[str, Any]:
        """Return name and number of workers."""
        return {"name": "slurm", "workers": self.workers}

    def provenance(self) -> dict[str, Any]:
        """Return machine, versions and commit of a node."""
        return self._of_a_node

    @cached_property
    def _of_a_node(self) -> dict[str, Any]:
        job = self._executor.submit(provenance)
        self._jobs.append(job)
        found: dict[str, Any] = self._result(job)
        return found

    def run(self, context: Context, chains: Sequence[Chain]) -> Generator[Message, None, None]:
        """Yield what happens, job by job."""
        count = min(len(chains), SHARES * self.workers)
        shares = [list(chains[k::count]) for k in range(count)]
        waiting = self._submitted(pickle.dumps(context), shares) if shares else []
        while waiting:
            ended = [job for job in waiting if job.done()]
            for job in ended:
                yield from self._result(job)
            waiting = [job for job in waiting if job not in ended]
            if waiting and not ended:
                time.sleep(LOOK)

    def close(self) -> None:
        """Cancel what is still under way."""
        for job in self._jobs:
            with contextlib.suppress(Exception):
                if not job.done():
                    job.cancel(check=False)

    def _submitted(self, context: bytes, shares: Sequence[Sequence[Chain]]) -> list[Any]:
        count, node = len(shares), self.provenance()
        jobs: list[Any] = self._executor.map_array(run_share, [context] * count, shares, [node] * count)
        self._jobs += jobs
        return jobs

    def _result(self, job: Any) -> Any:
        """Return what a job has brought.

        Raises:
            WorkerError: it did not come to its end, with the file that says why.
        """
        from submitit.core.utils import FailedJobError, UncompletedJobError

        try:
            return job.result()
        except (FailedJobError, UncompletedJobError) as error:
            said = RAISED.findall(str(error)) or ["it did not come to its end"]
            raise WorkerError(
                f"job {job.job_id} of Slurm failed ({said[-1]}); see {job.paths.stderr}"
            ) from None


def run_share(context: bytes, chains: Sequence[Chain], node: Mapping[str, Any]) -> list[Message]:
    """Run chains in a process beside a job, and say in its log how it goes.

    Raises:
        WorkerError: the node is not as the first one: their times cannot stand in one table.
    """
    here = provenance()
    for key in node:
        if here[key] != node[key]:
            raise WorkerError(f"nodes differ in {key}: {node[key]!r}, and here {here[key]!r}")
    guard = Guard(pickle.loads(context))
    messages: list[Message] = []
    try:
        for k, chain in enumerate(chains):
            print(f"chain {k + 1} of {len(chains)}: {len(chain)} units", flush=True)
            messages += [message for message in run_chain(guard, chain) if not isinstance(message, Stage)]
    finally:
        guard.close()
    print(f"done: {len(messages)} messages", flush=True)
    return messages
