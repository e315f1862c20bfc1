"""Time one solver on many problems: best of a few runs each, then median and minimum over the problems."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter

from measuring.kernel import Kernel
from peers.solvers import Answer, Drake, Own

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp, contact_system

Contestant = Own | Kernel | Drake
Problems = dict[str, mf.MixedLCP]
"""A problem and its neighbours, by the mode that they are solved in."""

SUCCESS = 1e-8
"""Solved means natural residual <= SUCCESS * (1 + |q|_inf), whatever the solver says."""
RUNS = 5
"""Runs per problem, of which the fastest counts: the others met the machine's noise."""
NEIGHBOUR = 1e-3
"""Relative change of configuration and velocity from a problem to its neighbour, about one step of 1 ms."""


@dataclass(frozen=True)
class Cell:
    """One solver on one family and size, in seconds over the problems; times are of the solver itself.

    Attributes:
        mode: ``cold``; or warm, from the solution of the cold problem: ``same``, the problem itself;
            ``neighbour``, the problem of the next time step; ``shaken``, every contact moved by itself.
        false_claims: answers called a solution by the solver that the certificate refuses.
        wall_median: with the way through Python.
    """

    solver: str
    peer: bool
    family: str
    n: int
    mode: str
    tried: int
    solved: int
    false_claims: int
    median: float
    minimum: float
    wall_median: float
    worst_residual: float
    iterations: float


def problems(family: str, n_u: int, count: int) -> tuple[list[Problems], float]:
    """Return problems with their neighbours, and the median time to build one from its system."""
    made, built = [], []
    for seed in range(count):
        system = contact_system(n_u, family, seed=seed)
        clock = perf_counter()
        problem = system.problem()
        built.append(perf_counter() - clock)
        made.append(
            {
                "cold": problem,
                "same": problem,
                "neighbour": contact_lcp(n_u, family, seed=seed, change=NEIGHBOUR),
                "shaken": system.shaken(NEIGHBOUR, seed).problem(),
            }
        )
    return made, median(built)


def measure(
    contestant: Contestant, family: str, made: Sequence[Problems], mode: str, budget: float
) -> Cell | None:
    """Return the figures of a solver on these problems; None where it does not take them, or no warm start.

    Args:
        mode: see `Cell`.
        budget: seconds after which no further problem is begun.
    """
    first = made[0]["cold"]
    if not contestant.takes(first) or (mode != "cold" and not contestant.warm_starts):
        return None
    if mode == "cold" and not contestant.is_peer:
        contestant.prepare(first)()  # loads and compiles what this size needs, outside every clock
    answers: list[tuple[Answer, float]] = []
    end = perf_counter() + budget
    for group in made:
        previous = None if mode == "cold" else group["cold"]
        answer = _fastest(contestant, group[mode], previous, budget / len(made))
        answers.append((answer, group[mode].certify(answer.z)[2] / group[mode].scale))
        if perf_counter() > end:
            break
    return _cell(contestant, family, first.n, mode, answers)


def _fastest(
    contestant: Contestant, problem: mf.MixedLCP, previous: mf.MixedLCP | None, budget: float
) -> Answer:
    """Return the fastest of a few runs; every run begins with a fresh problem and solver."""
    end = perf_counter() + budget
    answers = [contestant.prepare(problem, previous)()]
    while len(answers) < RUNS and perf_counter() < end:
        answers.append(contestant.prepare(problem, previous)())
    return min(answers, key=lambda answer: answer.seconds)


def _cell(
    contestant: Contestant, family: str, n: int, mode: str, answers: Sequence[tuple[Answer, float]]
) -> Cell:
    solved = [residual <= SUCCESS for _, residual in answers]
    return Cell(
        solver=contestant.name,
        peer=contestant.is_peer,
        family=family,
        n=n,
        mode=mode,
        tried=len(answers),
        solved=sum(solved),
        false_claims=sum(answer.claimed and not ok for (answer, _), ok in zip(answers, solved, strict=True)),
        median=median(answer.seconds for answer, _ in answers),
        minimum=min(answer.seconds for answer, _ in answers),
        wall_median=median(answer.wall for answer, _ in answers),
        worst_residual=max(residual for _, residual in answers),
        iterations=median(answer.iterations for answer, _ in answers),
    )


def header(peers: Sequence[str] = ("drake",)) -> dict[str, str]:
    """Return what the figures depend on: machine, commit, versions, also of peers."""
    facts = {"machine": f"{_cpu()}, {platform.system()} {platform.machine()}", "commit": _commit()}
    facts["python"] = platform.python_version()
    for package in ("mcpframe", "numpy", "scipy", "numba", "casadi", "cvxpy", *peers):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        if names:
            return f"{len(names)} x {names[0]}"
    return platform.processor() or "unknown processor"


def _commit() -> str:
    here = Path(__file__).parent
    try:
        run = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "not a git checkout"
    return run.stdout.strip()
