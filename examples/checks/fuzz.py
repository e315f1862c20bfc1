"""Fuzz: random small problems through every solver, every answer checked by an independent certificate.

    python examples/checks/fuzz.py [N] [--seed 0] [--first 0] [--solvers lemke,auto] [--everywhere] [--resume]

Case k of a seed is always the same problem (see fuzz_cases.py): degenerate, infeasible, singular, without
rows, with fixed variables, free rows, absurd scales, random warm starts, a few nonlinear or with the exact
friction cone; and misuse, which must end in an error of mcpframe. It is a breach when a solver
  crashes (an exception inside it, also a warning), or is over its time limit (in processor time: the clock on
  the wall also counts what others take of a machine),
  has an answer certified as SOLVED that the certificate here, in extended precision, refuses,
  says INFEASIBLE where a solution exists by construction, or another solver has one to the last bits,
  gives other bits when asked again, both times well within its limit,
or when misuse ends in anything but an error of mcpframe. Solvers on cvxpy take many milliseconds per problem
and get one case in fifty; --everywhere gives them all. Exit status 1 on a breach; cases go to out/fuzz.

Every chunk of cases that is done is a line of out/fuzz/done.jsonl, with seed, solvers and breaches; --resume
leaves out what is there, so that a long fuzz can be taken in parts. The last line printed is the total.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import faulthandler
import json
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, as_completed
from concurrent.futures import ProcessPoolExecutor as Pool
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from fuzz_cases import Case, make_case, misuse
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from suite_measure import cone_map, natural_map

import mcpframe as mf
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.residual import ROUNDING

TOL = 1e-9
TIME_LIMIT = 2.0
"""Seconds that a solver may take for one case."""
GRACE = 0.2
"""Seconds over it that are forgiven: a tenth."""
CHUNK = 250
"""Cases that a process takes at a time."""
HANG = 600.0
"""Seconds for one case, after which its process ends with a traceback of where it hangs."""
SHARE = {"qp": 50}
"""Solvers that get one case in so many."""
AGAIN = 20
"""One case in so many is solved twice, to compare bits."""
UNHURRIED = 0.5
"""Share of its time within which no clock has a say: `auto` gives a method half of what is left."""
MISUSE = 50
"""One case in so many also tries a misuse."""
PRINTED = 20
"""Breaches printed per solver."""
EPS = np.finfo(np.float64).eps
"""Per term: what the judge, adding up M z + q in doubles, may see otherwise than the certificate here."""


@dataclass
class Tally:
    """What is kept of one solver."""

    tried: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    overruled: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_case: int = -1

    def add(self, other: Tally) -> None:
        """Count what another process found."""
        self.tried += other.tried
        self.statuses += other.statuses
        self.overruled += other.overruled
        self.seconds += other.seconds
        if other.slowest > self.slowest:
            self.slowest, self.slowest_case = other.slowest, other.slowest_case


@dataclass(frozen=True)
class Breach:
    """Something that must not happen."""

    case: int
    solver: str
    what: str


class Ledger:
    """Which chunks of cases are done, in a file that grows line by line."""

    def __init__(self, path: Path, seed: int, solvers: Sequence[str]) -> None:
        self.path, self.about = path, {"seed": seed, "solvers": ",".join(solvers)}

    def add(self, chunk: range, breaches: Sequence[Breach]) -> None:
        """Note that a chunk is done."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = {**self.about, "first": chunk.start, "cases": len(chunk), "breaches": len(breaches)}
        if breaches:
            line["what"] = [f"case {breach.case}: {breach.solver}: {breach.what}" for breach in breaches]
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def done(self) -> dict[int, dict[str, Any]]:
        """Return the lines of this seed and these solvers by their first case, the last of each."""
        text = self.path.read_text() if self.path.exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        return {line["first"]: line for line in lines if self.about.items() <= line.items()}

    def total(self) -> str:
        """Return how many cases have been tried in all, and what came out."""
        lines = self.done().values()
        cases, breaches = (sum(line[name] for line in lines) for name in ("cases", "breaches"))
        return f"seed {self.about['seed']} in all: {cases} cases, {breaches} breaches ({self.path})"


def fuzz(
    cases: Sequence[int],
    solvers: Sequence[str],
    *,
    seed: int = 0,
    share: dict[str, int] = SHARE,
) -> tuple[dict[str, Tally], list[Breach]]:
    """Run the cases and return what happened.

    Args:
        cases: numbers of the cases.
        solvers: names.
        share: solvers that get only one case in so many.
    """
    tallies = {name: Tally() for name in solvers}
    breaches: list[Breach] = []
    for index in cases:
        case = make_case(index, seed)
        solutions: dict[str, mf.Solution] = {}
        for name in solvers:
            if index % share.get(name, 1) == 0:
                solution, found = attempt(case, name)
                note(tallies[name], solution, index)
                solutions[name] = solution
                breaches += found
        breaches += false_infeasibility(case, solutions)
        if index % MISUSE == 0:
            breaches += misused(index, seed)
    return tallies, breaches


def attempt(case: Case, name: str) -> tuple[mf.Solution, list[Breach]]:
    """Solve a case with one solver and return what is wrong with the answer by itself."""
    clock = process_time()
    solution, error = solve(case, name)
    seconds = min(process_time() - clock, solution.seconds)  # the first also has what is compiled once
    wrong = []
    if error is not None:
        wrong.append(f"crashed: {type(error).__name__}: {error}")
    if seconds > TIME_LIMIT + GRACE:
        wrong.append(f"took {seconds:.1f} s")
    if solution.ok and not certified(case.problem, solution.z):
        wrong.append(f"SOLVED is refused by the independent certificate (residual {solution.residual:.2e})")
    if case.index % AGAIN == 0:
        again, _ = solve(case, name)
        unhurried = max(solution.seconds, again.seconds) < UNHURRIED * TIME_LIMIT
        if unhurried and again.z.tobytes() != solution.z.tobytes():
            wrong.append("another run gave other bits")
    return solution, [Breach(case.index, name, f"{what} [{case.kind}]") for what in wrong]


def solve(case: Case, name: str) -> tuple[mf.Solution, BaseException | None]:
    """Return the answer and the exception inside the solver that the framework has caught, if any."""
    try:
        answer = mf.solve(case.problem, name, tol=TOL, time_limit=TIME_LIMIT, throw=True, **case.start)
        return answer, None
    except mf.NotSolvedError as error:
        return error.solution, error.__cause__


def certified(problem: mf.MixedLCP | mf.MCP | FrictionProblem, z: np.ndarray) -> bool:
    """Return whether z is a solution, recomputed with plain numpy."""
    if not np.isfinite(z).all():
        return False
    if isinstance(problem, FrictionProblem):
        return certified_friction(problem, z)
    if isinstance(problem, mf.MCP):
        w = np.array(problem.F(z)).ravel()
        J = np.array(problem.jacobian(z, problem.p))
        rest = less_rounding(w, rounding(problem.n) * (1.0 + np.abs(J) @ np.abs(z)))
        return bool((np.abs(natural_map(z, rest, problem.lower, problem.upper)) <= TOL).all())
    return certified_linear(problem, z)


def rounding(n: int) -> float:
    """Return the share of its terms that rounding may leave of a row: what the judge excuses, and its own."""
    return ROUNDING + EPS * (n + 1)


def less_rounding(w: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return w with what rounding may have done taken off: r(z) of it is the least that any such w has."""
    return np.sign(w) * np.maximum(np.abs(w) - most, 0.0)


def certified_friction(problem: FrictionProblem, z: np.ndarray) -> bool:
    """Return whether z solves a friction problem, every contact at the scale of its own q."""
    off = np.abs(cone_map(z, problem.W @ z + problem.q, problem.mu, problem.dim))
    terms = np.abs(problem.W) @ np.abs(z) + np.abs(problem.q) + np.abs(z)
    off, q, terms = (np.abs(x).reshape(-1, problem.dim).max(axis=1) for x in (off, problem.q, terms))
    return bool((off <= TOL * (1.0 + q) + rounding(problem.n) * terms).all())


def certified_linear(problem: mf.MixedLCP, z: np.ndarray) -> bool:
    """Return whether z solves a mixed LCP, recomputed in extended precision."""
    if (z < problem.lower).any() or (z > problem.upper).any():
        return False
    w, terms = slack(problem, z)
    rest = less_rounding(w, rounding(problem.n) * terms)
    residual = np.abs(np.minimum(np.maximum(rest, z - problem.upper), z - problem.lower))
    return bool((residual <= TOL * (1.0 + np.abs(problem.q))).all())


def exact(problem: mf.MixedLCP, z: np.ndarray) -> bool:
    """Return whether every row is at a bound with the right sign of w, or has w = 0, up to rounding alone.

    Only such a point contradicts a proof that there is none: no room here for what a linear solve leaves.
    """
    w, terms = slack(problem, z)
    rest = less_rounding(w, EPS * (problem.n + 1) * terms)
    low, high = (z == problem.lower) & (rest >= 0.0), (z == problem.upper) & (rest <= 0.0)
    return bool((low | high | (rest == 0.0)).all())


def slack(problem: mf.MixedLCP, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return w = M z + q in extended precision, and the sum of the sizes of its terms."""
    M, q = problem.M_dense.astype(np.longdouble), problem.q.astype(np.longdouble)
    return M @ z + q, np.abs(M) @ np.abs(z) + np.abs(q)


def false_infeasibility(case: Case, solutions: dict[str, mf.Solution]) -> list[Breach]:
    """Return the solvers that deny a solution that exists by construction, or that another has found."""
    found = "construction" if case.solvable else ""
    if isinstance(case.problem, mf.MixedLCP):
        found = found or next(
            (name for name, s in solutions.items() if s.ok and exact(case.problem, s.z)), ""
        )
    return [
        Breach(case.index, name, f"INFEASIBLE, but there is a solution by {found} [{case.kind}]")
        for name, solution in solutions.items()
        if found and solution.status is mf.Status.INFEASIBLE
    ]


def misused(index: int, seed: int) -> list[Breach]:
    """Return a breach unless a misuse ends in an error of mcpframe."""
    call = misuse(np.random.default_rng([seed, index, 1]))
    try:
        call()
    except mf.McpframeError:
        return []
    except Exception as error:
        return [Breach(index, "misuse", f"{type(error).__name__}: {error}")]
    return [Breach(index, "misuse", "accepted")]


def note(tally: Tally, solution: mf.Solution, index: int) -> None:
    """Count an answer."""
    tally.tried += 1
    tally.statuses[solution.status.name] += 1
    tally.overruled += solution.claimed is mf.Status.SOLVED and not solution.ok
    tally.seconds += solution.seconds
    if solution.seconds > tally.slowest:
        tally.slowest, tally.slowest_case = solution.seconds, index


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzz from the command line, in chunks of cases over a few processes."""
    options = parse(arguments)
    console = Console(width=max(Console().width, 150))
    share = {} if options.everywhere else SHARE
    end = options.first + options.n
    chunks = [range(k, min(k + CHUNK, end)) for k in range(options.first, end, CHUNK)]
    ledger = Ledger(Path(options.out) / "done.jsonl", options.seed, options.solvers)
    if options.resume:
        chunks = [chunk for chunk in chunks if chunk.start not in ledger.done()]
    tallies: dict[str, Tally] = {name: Tally() for name in options.solvers}
    breaches: list[Breach] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress, Pool(options.jobs) as pool:
        task = progress.add_task("cases", total=sum(map(len, chunks)))
        jobs = {pool.submit(watched, chunk, options.solvers, options.seed, share): chunk for chunk in chunks}
        for job in as_completed(jobs):
            found, broken = finished(job, jobs[job])
            breaches += broken
            if found:  # else its process died, and it is to be tried again
                ledger.add(jobs[job], broken)
            for name, tally in found.items():
                tallies[name].add(tally)
            progress.advance(task, len(jobs[job]))
    console.print(table(tallies))
    report(console, sorted(breaches, key=lambda breach: breach.case), options.seed, Path(options.out))
    console.print(ledger.total())
    return 1 if breaches else 0


def watched(
    cases: range, solvers: Sequence[str], seed: int, share: dict[str, int]
) -> tuple[dict[str, Tally], list[Breach]]:
    """Run one chunk in a process of its own: warnings are errors, and a hang ends it with a traceback."""
    warnings.simplefilter("error")
    tallies, breaches = {name: Tally() for name in solvers}, list[Breach]()
    try:
        for index in cases:
            faulthandler.dump_traceback_later(HANG, exit=True)
            found, broken = fuzz([index], solvers, seed=seed, share=share)
            breaches += broken
            for name, tally in found.items():
                tallies[name].add(tally)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return tallies, breaches


def finished(job: Future[Any], cases: range) -> tuple[dict[str, Tally], list[Breach]]:
    """Return what a chunk found; a process that died is a breach."""
    try:
        result: tuple[dict[str, Tally], list[Breach]] = job.result()
        return result
    except BrokenExecutor:
        what = f"a process died or hung in cases {cases.start} to {cases.stop - 1}, or next to them"
        return {}, [Breach(cases.start, "unknown", what)]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [name for name, reason in mf.available_solvers().items() if not reason]
    parser.add_argument("n", nargs="?", type=int, default=100_000, help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--solvers", default=",".join(known))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--everywhere", action="store_true", help="every case through the slow solvers too")
    parser.add_argument("--resume", action="store_true", help="leave out chunks that are done")
    parser.add_argument("--out", default="out/fuzz", help="folder for cases that break something")
    options = parser.parse_args(arguments)
    options.solvers = options.solvers.split(",")
    return options


def table(tallies: dict[str, Tally]) -> Table:
    """Return what came out, by solver."""
    shown = Table(title="answers by solver", title_justify="left")
    names = [status.name for status in mf.Status]
    for column in ("solver", "tried", *names, "claims overruled", "mean ms", "slowest s (case)"):
        shown.add_column(column.replace("_", "\n"), justify="left" if column == "solver" else "right")
    for solver, tally in tallies.items():
        counts = [str(tally.statuses[name]) for name in names]
        mean = 1e3 * tally.seconds / max(1, tally.tried)
        slowest = f"{tally.slowest:.3f} ({tally.slowest_case})"
        shown.add_row(solver, str(tally.tried), *counts, str(tally.overruled), f"{mean:.3f}", slowest)
    return shown


def report(console: Console, breaches: Sequence[Breach], seed: int, out: Path) -> None:
    """Save the cases of the breaches and print them, the first few of each solver."""
    out.mkdir(parents=True, exist_ok=True)
    printed: Counter[str] = Counter()
    for breach in breaches:
        problem = make_case(breach.case, seed).problem
        if isinstance(problem, mf.MixedLCP):
            data = {name: getattr(problem, name) for name in ("q", "lower", "upper")}
            np.savez(out / f"seed{seed}_case{breach.case}.npz", M=problem.M_dense, **data)
        printed[breach.solver] += 1
        if printed[breach.solver] <= PRINTED:
            line = f"BREACH case {breach.case}: {breach.solver}: {breach.what}"
            console.print(line, markup=False, soft_wrap=True)
    counts = ", ".join(f"{solver} {count}" for solver, count in printed.items())
    verdict = (
        f"[red]{len(breaches)} breaches[/red] ({counts}); cases in {out}"
        if breaches
        else "[green]no breach[/green]"
    )
    console.print(verdict)


if __name__ == "__main__":
    raise SystemExit(main())
