"""An executor of studies that starts no workers, for tests that are not about these."""

from mcpframe.studies.running.executors.local import run_chain
from mcpframe.studies.running.machine import provenance
from mcpframe.studies.running.task import Bench


class InThisProcess:
    """Runs units one after another, here, where all that a worker would import is there already."""

    def describe(self):
        return {"name": "in this process", "workers": 1}

    def provenance(self):
        return provenance()

    def run(self, context, chains):
        bench = Bench(context)
        for chain in chains:
            yield from run_chain(bench, chain)

    def close(self):
        pass
