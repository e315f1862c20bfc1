"""A seeded sample of the fuzz (examples/checks/fuzz.py), and proof that its net has no holes."""

import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.problem.friction import FrictionProblem

EXAMPLES = Path(__file__).parents[2] / "examples" / "checks"
sys.path.insert(0, str(EXAMPLES))
import fuzz  # noqa: E402
from fuzz_cases import MAKERS, OTHER_MAKERS, Case, make_case, misuse  # noqa: E402

CASES = range(120), pytest.param(range(120, 240), marks=pytest.mark.slow)
SHARES = {"auto": 2, "enum": 4, "ipm": 4, "newton": 4, "path": 4, "pgs": 4, "qp": 20}
"""Solvers that take milliseconds per problem get one case in so many, to keep the sample short."""


@pytest.mark.parametrize("cases", CASES, ids=str)
def test_no_solver_breaks_on_the_sample(cases):
    solvers = [name for name, reason in mf.available_solvers().items() if not reason]
    tallies, breaches = fuzz.fuzz(cases, solvers, share=SHARES)
    assert not breaches, "\n".join(f"case {b.case}: {b.solver}: {b.what}" for b in breaches)
    assert all(tally.tried == len(cases) // SHARES.get(name, 1) for name, tally in tallies.items())
    assert tallies["lemke"].statuses["SOLVED"] > len(cases) // 2


def test_a_case_is_the_same_whenever_it_is_made():
    for index in range(50):
        one, other = make_case(index, seed=3), make_case(index, seed=3)
        assert one.kind == other.kind
        assert one.problem.n == other.problem.n
        if isinstance(one.problem, mf.MixedLCP):
            assert (one.problem.M_dense == other.problem.M_dense).all()
            assert (one.problem.q == other.problem.q).all()


def test_every_kind_of_problem_is_in_a_thousand_cases():
    kinds = {make_case(index).kind for index in range(1000)}
    assert set(MAKERS) | set(OTHER_MAKERS) <= kinds
    assert {"infeasible", "degenerate", "contact", "free", "box"} <= kinds


@pytest.mark.parametrize("seed", range(150))
def test_misuse_ends_in_an_error_of_mcpframe(seed):
    with pytest.raises(mf.McpframeError):
        misuse(np.random.default_rng(seed))()


class Lies(mf.AbstractSolver):
    """Claims anything."""

    name = "lies"
    what: str = "solved"

    def _solve(self, problem, request):
        if self.what == "crash":
            raise ZeroDivisionError("inside")
        status = mf.Status.INFEASIBLE if self.what == "infeasible" else mf.Status.SOLVED
        return mf.Claim(np.full(problem.n, 3.0), status)


@pytest.mark.parametrize(
    ("what", "words"), [("crash", "crashed: ZeroDivisionError"), ("infeasible", "INFEASIBLE")]
)
def test_the_net_catches_a_solver_that_breaks_the_rules(what, words, monkeypatch):
    monkeypatch.setattr(fuzz, "make_case", lambda index, seed: _one_row(index))
    monkeypatch.setattr(mf, "solve", _with_lies(mf.solve, what))
    _, breaches = fuzz.fuzz([1], ["lies"])
    assert any(words in breach.what for breach in breaches)


def test_an_overruled_claim_is_counted_but_is_no_breach(monkeypatch):
    monkeypatch.setattr(fuzz, "make_case", lambda index, seed: _one_row(index))
    monkeypatch.setattr(mf, "solve", _with_lies(mf.solve, "solved"))
    tallies, breaches = fuzz.fuzz([1], ["lies"])
    assert not breaches
    assert tallies["lies"].overruled == 1


def test_the_independent_certificate_tells_right_from_wrong():
    problem = mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    assert fuzz.certified(problem, np.array([4.0 / 3.0, 7.0 / 3.0]))
    assert not fuzz.certified(problem, np.array([4.0 / 3.0, 7.0 / 3.0 + 1e-6]))
    assert not fuzz.certified(problem, np.array([np.nan, 0.0]))
    assert not fuzz.certified(problem, np.array([-1e-3, 0.0]))


def test_rounding_is_forgiven_in_w_alone_as_by_the_judge():
    """Rows with terms of 1e9: a z near its bound 0 that w asks for, and a w that must vanish."""
    bounded = mf.MixedLCP([[1.0, 0.0], [-1.0, 1.0]], [-1e9, 0.0], -np.inf, [np.inf, 0.0])
    free = mf.MixedLCP([[1.0, 0.0], [-1.0, 1.0]], [-1e9, 0.0], -np.inf, np.inf)
    right = (bounded, 0.0), (free, 1e9), (free, 1e9 + 1e-6)
    wrong = (bounded, -1e-8), (free, 1e9 + 1e-3)
    for holds, cases in ((True, right), (False, wrong)):
        for problem, z in cases:
            assert fuzz.certified(problem, np.array([1e9, z])) is holds
            assert (problem.certify(np.array([1e9, z]))[2] <= fuzz.TOL * problem.scale) is holds


@pytest.mark.parametrize("solver", ["lemke", "enum", "auto"])
def test_a_row_that_is_wrong_is_not_solved_because_its_terms_are_huge(solver):
    """Case 7976: w = -6e59, pushing a z of -4e45 to its bound 0, was taken for rounding of terms of 6e59."""
    _, breaches = fuzz.fuzz([7976], [solver])
    assert not breaches


def test_the_independent_certificate_knows_friction_and_nonlinear_problems():
    z = casadi.SX.sym("z")
    nonlinear = mf.MCP(casadi.Function("F", [z], [z**2 - 4]))
    assert fuzz.certified(nonlinear, np.array([2.0]))
    assert not fuzz.certified(nonlinear, np.array([2.0 + 1e-6]))
    # Mass 1, mu 0.5, sliding: the normal impulse stops the fall, friction opposes the slip.
    sliding = FrictionProblem(np.eye(3), [-1.0, 2.0, 0.0], 0.5)
    assert fuzz.certified(sliding, np.array([1.0, -0.5, 0.0]))
    assert not fuzz.certified(sliding, np.array([1.0, 0.5, 0.0]))


def _one_row(index: int) -> Case:
    return Case(index, "one row", mf.MixedLCP([[1.0]], [-1.0]), solvable=True)


def _with_lies(solve, what):
    return lambda problem, name, **rest: solve(problem, Lies(what=what), **rest)


def test_a_fuzz_is_taken_in_parts_that_add_up(tmp_path, capfd):
    """What is done is left out when it is resumed, and counted in the total."""
    one = ["--solvers", "lemke", "--jobs", "1", "--seed", "5", "--out", str(tmp_path)]
    ledger = fuzz.Ledger(tmp_path / "done.jsonl", 5, ["lemke"])
    assert fuzz.main([str(fuzz.CHUNK), *one]) == 0
    assert set(ledger.done()) == {0}
    assert fuzz.main([str(2 * fuzz.CHUNK), *one, "--resume"]) == 0
    assert set(ledger.done()) == {0, fuzz.CHUNK}
    assert len((tmp_path / "done.jsonl").read_text().splitlines()) == 2
    assert f"in all: {2 * fuzz.CHUNK} cases, 0 breaches" in capfd.readouterr().out
    assert fuzz.Ledger(ledger.path, 6, ["lemke"]).done() == {}


def test_the_ledger_says_what_was_broken(tmp_path):
    ledger = fuzz.Ledger(tmp_path / "done.jsonl", 0, ["lemke"])
    ledger.add(range(250, 500), [fuzz.Breach(311, "lemke", "took 3.0 s")])
    assert ledger.done()[250]["what"] == ["case 311: lemke: took 3.0 s"]
