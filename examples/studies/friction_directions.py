"""Friction cones with edges against the exact one: rows, times, and how far the velocities are off.

    python examples/studies/friction_directions.py [--out out/friction_directions]

Runs examples/studies/friction_directions.toml, solves the same problems once more to compare the relative
velocities of the contacts with those under the exact cone, and writes one report.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from table2 import EXAMPLES, as_mapping, filled, show

import mcpframe as mf
from mcpframe.problem.generators import contact_system
from mcpframe.studies.report import write_report
from mcpframe.studies.report.published import Published

STUDY = EXAMPLES / "studies" / "friction_directions.toml"
DIRECTIONS = 4, 8, 16, 32
FAMILIES, SIZES, SEEDS = ("full", "chain"), (4, 16), 5
"""Those of the study."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, compare velocities, print the tables and name the report."""
    options = parsed(arguments)
    results = mf.run_study(options.study, out=options.out, progress=True)
    tables = [*filled(results.header["published"], results.rows), errors(SEEDS)]
    for table in tables:
        show(table)
    page = write_report(results.rows, results.header, results.folder, [as_mapping(table) for table in tables])
    Console().print(f"report     {page}  (open it in a browser)", soft_wrap=True)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/friction_directions"), help="folder of the study"
    )
    parser.add_argument("--study", type=Path, default=STUDY, help="study to run")
    return parser.parse_args(arguments)


def errors(seeds: int) -> Published:
    """Return how far the velocities of contacts are from those under the exact cone."""
    cases = [(family, size, seed) for family in FAMILIES for size in SIZES for seed in range(seeds)]
    found = np.array([velocity_errors(*case) for case in track(cases, "exact cones", transient=True)])
    percent = [[f"{100.0 * value:.2g} %" for value in (np.median(e), e.max())] for e in found.T]
    return Published.of(
        {
            "title": "How far the relative velocities are off",
            "columns": ["directions", "ours, median", "ours, worst"],
            "rows": [[n_f, *texts] for n_f, texts in zip(DIRECTIONS, percent, strict=True)],
            "source": "Largest difference of a contact's velocity to that under the exact cone, over the "
            "largest velocity of a contact before the step.",
        }
    )


def velocity_errors(family: str, size: int, seed: int) -> list[float]:
    """Return max |u - u_exact| / max |u_free| of every number of directions."""
    exact = contact_system(size, family, seed=seed).exact_problem()
    u_exact = exact.relative_velocities(solved(exact))
    found = []
    for n_f in DIRECTIONS:
        problem = exact.to_mixed_lcp(n_f)
        u = exact.relative_velocities(exact.impulses(solved(problem)))
        found.append(float(np.abs(u - u_exact).max() / np.abs(exact.q).max()))
    return found


def solved(problem: mf.MixedLCP | mf.FrictionProblem) -> np.ndarray:
    """Return the certified answer of `auto`."""
    solution = mf.solve(problem, "auto")
    assert solution.ok, solution
    return solution.z


if __name__ == "__main__":
    raise SystemExit(main())
