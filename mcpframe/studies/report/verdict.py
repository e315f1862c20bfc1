"""What a study says, in sentences made from its figures; and what it does not say."""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.studies.report.entries import CLOCKS, MERGED, Column
from mcpframe.studies.report.metrics import SHIFT
from mcpframe.studies.report.profiles import problems_of, ranking
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.wording import count, listed, percent, power, time


def verdict(results: Results) -> list[str]:
    """Return who solves everything, who is fastest, whose claims are false."""
    return [_success(results), _speed(results), _on_top(results), _claims(results)]


def _success(results: Results) -> str:
    """Say who solves every problem, or who solves most."""
    total = len(problems_of(results.entries))
    full = solve_all(results)
    if full:
        who = "All settings" if len(full) == len(results.columns) > 1 else _names(results, full)
        return f"{who} {_verb(full, 'solve')} {_all(total)}."
    if len(partly_run(results)) == len(results.columns):
        return _where_run(results, total)
    best = results.best_first[0]
    rates = results.rates[best]
    return (
        f"No setting solves {_all(total)}; most are solved by {results.name(best)}: "
        f"{count(rates.solved)} ({percent(rates.solved / total)} %)."
    )


def _where_run(results: Results, total: int) -> str:
    """Say who solves all of its own problems, where nobody was run on all of them."""
    full = [column for column in results.best_first if results.rates[column].success == 1.0]
    start = f"No setting was run on {_all(total)}"
    if not full:
        return f"{start}, and none solves all that it was run on."
    they = "it was" if len(full) == 1 else "they were"
    return f"{start}; {_names(results, full)} {_verb(full, 'solve')} all that {they} run on."


def _speed(results: Results) -> str:
    """Say who is fastest among those who solve most, and by how much."""
    most = results.rates[results.best_first[0]].solved
    field = [column for column in results.columns if results.rates[column].solved == most]
    order = sorted(field, key=lambda column: results.rates[column].mean)
    fastest = f"{results.name(order[0])}: {time(results.rates[order[0]].mean)}"
    if len(order) == 1:
        return f"Time of {CLOCKS[results.clock]}, shifted geometric mean, of {fastest}."
    return (
        f"The fastest of these is {fastest} ({CLOCKS[results.clock]}, shifted geometric mean), "
        f"before {results.name(order[1])} with {time(results.rates[order[1]].mean)}."
    )


def _on_top(results: Results) -> str:
    """Say whose performance profile lies highest."""
    if len(results.columns) == 1:
        return ""
    top = ranking(results.profiles)[0]
    share = results.profiles[top].share(1.0)
    return (
        f"The performance profile puts {results.name(top)} on top "
        f"(fastest on {percent(share)} % of the problems)."
    )


def _claims(results: Results) -> str:
    """Count false claims and name who made them."""
    false = {column: results.rates[column].false_claims for column in results.columns}
    made = sum(results.rates[column].claims for column in results.columns)
    makers = sorted((column for column in false if false[column]), key=lambda column: -false[column])
    if not makers:
        return f"None of {count(made)} claims was a false success."
    names = listed([f"{results.name(column)} ({count(false[column])})" for column in makers])
    return f"{count(sum(false.values()))} of {count(made)} claims were false successes: {names}."


def limitations(results: Results) -> list[str]:
    """Return what to keep in mind when reading the figures."""
    unsupported = sum(results.rates[column].unsupported for column in results.columns)
    partial = partly_run(results)
    return [
        "All times are wall times of one machine; another one may order close competitors otherwise.",
        f"Times vary from run to run; the {MERGED} is taken ({_repeats(results)} per solve), and small "
        "differences mean nothing.",
        "Kernels were compiled before the clocks started; the first use of a solver takes longer.",
        f"A solve counts as solved when the framework's own residual meets the tolerance ({_tol(results)}) "
        "in every repeat, whatever the solver says. Answers far better than that gain nothing.",
        f"A failure counts as {time(results.penalty)} in means ({_penalty_source(results)}) and as "
        f"infinitely slow in profiles. The shift of {time(SHIFT)} keeps differences far below it from "
        "deciding.",
        *_if(
            unsupported,
            f"{count(unsupported)} solves are of a class that their solver does not take (unsupported): they "
            "count neither as failures nor in means, and as not solved in profiles.",
        ),
        *_if(
            len(partial),
            f"Not every setting was run on every problem ({_names(results, partial)}); profiles count what "
            "was not run as not solved. The filter 'run by all' compares on common ground.",
        ),
        "Problems without a solution cannot be told from hard ones here: both are failures of everybody.",
        "Exponents describe the sizes measured and nothing beyond them.",
        "The problems are those of the study; their mix decides every rate and every mean.",
    ]


def solve_all(results: Results) -> list[Column]:
    """Return the columns that solve every problem of the study."""
    total = len(problems_of(results.entries))
    return [column for column in results.best_first if results.rates[column].solved == total]


def partly_run(results: Results) -> list[Column]:
    """Return the columns that were not run on every problem."""
    total = len(problems_of(results.entries))
    return [column for column in results.columns if results.rates[column].total < total]


def _names(results: Results, columns: Sequence[Column]) -> str:
    return listed([results.name(column) for column in columns])


def _all(total: int) -> str:
    return "the one problem" if total == 1 else f"all {count(total)} problems"


def _verb(subjects: Sequence[Column], verb: str) -> str:
    return verb if len(subjects) > 1 else f"{verb}s"


def _if(holds: int, text: str) -> list[str]:
    return [text] if holds else []


def _repeats(results: Results) -> str:
    """Say how many repeats there were; they differ where a study was stopped."""
    low, high = (f(entry.repeats for entry in results.entries) for f in (min, max))
    return str(low) if low == high else f"{low} to {high}"


def _tol(results: Results) -> str:
    tol = results.header.get("tol")
    return power(tol) if isinstance(tol, float) else str(tol)


def _penalty_source(results: Results) -> str:
    return "the time limit" if results.header.get("time_limit") else "the longest time seen"
