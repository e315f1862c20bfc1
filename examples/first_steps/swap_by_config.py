"""The same program, another solver: the choice is in a file."""

from pathlib import Path
from tempfile import TemporaryDirectory

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp

CONFIGS = {
    "pivoting": '[solver]\nname = "lemke"\nmax_pivots = 500\n',
    "newton": '[solver]\nname = "newton"\nmax_iterations = 50\n',
}

problem = contact_lcp(8, "redundant", seed=3)
with TemporaryDirectory() as folder:
    for title, text in CONFIGS.items():
        path = Path(folder, "solver.toml")
        path.write_text(text)
        solution = mf.solve(problem, mf.load_solver(path))
        print(f"{title:10s} {solution!r}")
        assert solution.ok
