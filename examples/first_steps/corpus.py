"""Keep problems in one file, come back later, and look at them without reading them all."""

from pathlib import Path
from tempfile import TemporaryDirectory

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp

with TemporaryDirectory() as folder:
    path = Path(folder, "contacts.h5")
    with mf.Corpus(path, "a") as corpus:
        for seed in range(5):
            problem = contact_lcp(4, "boxes", seed=seed)
            provenance = {"family": "boxes", "seed": seed}
            corpus.append(problem, name=f"boxes {seed}", provenance=provenance, labels=["contact"])

    with mf.Corpus(path) as corpus:
        print(len(corpus), "problems:", ", ".join(corpus.names))
        for record in corpus[1:3]:
            solution = mf.solve(record.problem, "lemke")
            print(record.name, record.provenance, solution)
            assert solution.ok
