import math
import pickle
import time

import casadi
import numpy as np
import pytest
from toys import Diagonal, Says

import mcpframe as mf
from mcpframe import Claim, MixedLCP, NotSolvedError, OptionError, ProblemError, Status

PROBLEM = MixedLCP([[2.0, 0.0], [0.0, 4.0]], [-2.0, 8.0])
ANSWER = np.array([1.0, 0.0])


def says(z, status=Status.SOLVED, **claim):
    return Says(answer=Claim(np.asarray(z, dtype=float), status, **claim))


def test_a_right_claim_becomes_a_certified_solution():
    solution = mf.solve(PROBLEM, Diagonal(sweeps=3))
    assert solution.ok
    np.testing.assert_array_equal(solution.z, ANSWER)
    np.testing.assert_array_equal(solution.w, [0.0, 8.0])
    assert (solution.residual, solution.iterations, solution.solver) == (0.0, 3, "diagonal")
    assert solution.seconds > 0.0


def test_a_false_claim_is_overruled():
    solution = mf.solve(PROBLEM, says([0.9, 0.0]))
    assert solution.status is Status.INACCURATE
    assert solution.claimed is Status.SOLVED
    assert solution.residual == pytest.approx(0.2)
    assert not solution.ok


@pytest.mark.parametrize("status", [Status.ITERATION_LIMIT, Status.NUMERICAL, Status.RAY, Status.INFEASIBLE])
def test_a_modest_claim_with_a_right_point_is_solved(status):
    solution = mf.solve(PROBLEM, says(ANSWER, status))
    assert solution.status is Status.SOLVED
    assert solution.claimed is status


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("tol", [1e-9, 1e300])
def test_a_point_that_is_not_finite_never_passes(bad, tol):
    problem = MixedLCP(np.eye(2), [1e308, 1.0], -np.inf, np.inf)
    assert mf.solve(problem, says([bad, 0.0]), tol=tol).status is Status.NUMERICAL


@pytest.mark.parametrize("z", [[1.0], [[1.0, 0.0]], 1.0, [], [1.0, 0.0, 0.0]])
def test_a_point_of_the_wrong_shape_never_passes(z):
    solution = mf.solve(PROBLEM, says(z))
    assert solution.status is Status.NUMERICAL
    assert solution.z.shape == solution.w.shape == (2,)


@pytest.mark.parametrize("answer", ["solved", Claim(ANSWER, "SOLVED"), ANSWER, 7])
def test_an_answer_that_is_no_claim_never_passes(answer):
    solution = mf.solve(PROBLEM, Says(answer=answer))
    assert solution.status is Status.NUMERICAL
    assert "must return a Claim" in solution.message


def test_a_point_outside_its_bounds_is_moved_in_before_it_is_judged():
    solution = mf.solve(PROBLEM, says([1.0, -5.0]))
    np.testing.assert_array_equal(solution.z, ANSWER)
    assert solution.ok


def test_a_solver_that_raises_gives_a_status_that_tells_it():
    solution = mf.solve(PROBLEM, Says(answer=ZeroDivisionError("pivot")))
    assert solution.status is Status.NUMERICAL
    assert solution.message == "ZeroDivisionError: pivot"


def test_interrupting_a_solver_interrupts():
    with pytest.raises(KeyboardInterrupt):
        mf.solve(PROBLEM, Says(answer=KeyboardInterrupt()))


def test_throw_raises_with_the_solution_and_its_cause():
    with pytest.raises(NotSolvedError, match="says: INACCURATE") as caught:
        mf.solve(PROBLEM, says([0.0, 0.0]), throw=True)
    assert caught.value.solution.residual == 2.0
    with pytest.raises(NotSolvedError) as caught:
        mf.solve(PROBLEM, Says(answer=ZeroDivisionError("pivot")), throw=True)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    mf.solve(PROBLEM, Diagonal(), throw=True)


def test_not_solved_survives_pickling():
    with pytest.raises(NotSolvedError) as caught:
        mf.solve(PROBLEM, says([0.0, 0.0]), throw=True)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.solution.status is Status.INACCURATE


def test_an_unsupported_problem_is_a_status_with_the_reason():
    solution = mf.solve(MixedLCP([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0]), Diagonal())
    assert solution.status is Status.UNSUPPORTED
    assert solution.message == "diagonal takes diagonal matrices only"
    z = casadi.SX.sym("z")
    solution = mf.solve(mf.MCP(casadi.Function("F", [z], [z])), Diagonal())
    assert solution.message == "diagonal takes MixedLCP, not MCP"


def test_the_tolerance_is_relative_to_q():
    problem = MixedLCP([[1.0]], [-999.0])
    nearly = [999.0 + 0.9e-6]
    assert mf.solve(problem, says(nearly), tol=1e-9).ok
    assert not mf.solve(problem, says(nearly), tol=0.8e-9).ok


def test_the_solver_is_told_tolerance_start_and_deadline():
    seen = []

    def remember(problem, request):
        seen.append(request)
        return Claim(ANSWER, Status.SOLVED)

    before = time.perf_counter()
    mf.solve(PROBLEM, Says(answer=remember), z0=[1, 2], basis=[2, 0], tol=1e-6, time_limit=10)
    (request,) = seen
    assert request.tol == 1e-6 * 9.0
    np.testing.assert_array_equal(request.z0, [1.0, 2.0])
    assert request.basis.dtype == np.int8
    assert before + 10 <= request.deadline <= time.perf_counter() + 10
    mf.solve(PROBLEM, Says(answer=remember))
    assert (seen[1].z0, seen[1].basis, seen[1].deadline) == (None, None, math.inf)


def test_making_the_solver_takes_none_of_its_time(registries):
    """The first time, that imports libraries and loads kernels."""
    made, deadlines = [], []

    @mf.register_solver
    class SlowToMake(mf.AbstractSolver):
        name = "slow_to_make"

        def model_post_init(self, context):
            made.append(time.perf_counter())

        def _solve(self, problem, request):
            deadlines.append(request.deadline)
            return Claim(ANSWER, Status.SOLVED)

    assert mf.solve(PROBLEM, "slow_to_make", time_limit=10).ok
    assert deadlines[0] >= made[0] + 10


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"z0": [1.0]}, ProblemError, r"z0: shape \(1,\), expected \(2,\)"),
        ({"z0": [1.0, np.nan]}, ProblemError, "z0: entry 1 is not finite"),
        ({"z0": ["a", "b"]}, ProblemError, "z0: cannot be read"),
        ({"basis": [0]}, ProblemError, r"basis: shape \(1,\)"),
        ({"basis": [0, 3]}, ProblemError, "basis: codes are"),
        ({"basis": [0, 0.5]}, ProblemError, "basis: 0.5 is not an integer"),
        ({"tol": 0.0}, OptionError, "tol = 0.0: must be a positive number"),
        ({"tol": "tight"}, OptionError, "tol = 'tight'"),
        ({"tol": math.nan}, OptionError, "tol = nan"),
        ({"time_limit": 0}, OptionError, "time_limit = 0"),
        ({"time_limit": math.nan}, OptionError, "time_limit = nan"),
        ({"sweeps": 2}, OptionError, "sweeps: options go with a solver's name"),
    ],
)
def test_bad_requests_are_refused_with_name_and_value(arguments, error, message):
    with pytest.raises(error, match=message):
        mf.solve(PROBLEM, Diagonal(), **arguments)


def test_numpy_numbers_are_numbers():
    assert mf.solve(PROBLEM, Diagonal(), tol=np.float32(1e-6), time_limit=np.int64(3)).ok


@pytest.mark.parametrize("problem", [None, np.eye(2), "problem.npz"])
def test_what_is_no_problem_is_refused(problem):
    with pytest.raises(ProblemError, match="build a MixedLCP"):
        mf.solve(problem, Diagonal())


def test_solvers_are_taken_by_name_by_table_and_as_values(registries):
    mf.register_solver(Diagonal)
    by_name = mf.solve(PROBLEM, "diagonal", sweeps=5)
    by_table = mf.solve(PROBLEM, {"name": "diagonal", "sweeps": 5})
    by_value = mf.solve(PROBLEM, mf.solver("diagonal", sweeps=5))
    assert [solution.iterations for solution in (by_name, by_table, by_value)] == [5, 5, 5]


def test_infeasibility_needs_a_certificate_that_holds():
    impossible = MixedLCP([[0.0]], [-1.0])
    proven = mf.solve(impossible, says([0.0], Status.INFEASIBLE, farkas=np.array([1.0])))
    assert proven.status is Status.INFEASIBLE
    assert proven.farkas is not None
    wrong = mf.solve(impossible, says([0.0], Status.INFEASIBLE, farkas=np.array([-1.0])))
    assert wrong.status is Status.NUMERICAL
    assert wrong.farkas is None


def test_alternatives_are_certified_like_the_answer():
    problem = MixedLCP([[-1.0]], [1.0])  # z = 0 and z = 1
    claim = says([0.0], alternatives=(np.array([1.0]), np.array([0.5]), np.array([np.nan])))
    np.testing.assert_array_equal(mf.solve(problem, claim).alternatives, [[1.0]])


def test_the_residual_before_the_polish_is_reported():
    solution = mf.solve(PROBLEM, says(ANSWER, relaxed_z=np.array([0.5, 0.0])))
    assert solution.relaxed_residual == 1.0
    assert solution.residual == 0.0


def test_the_log_has_one_line_per_record():
    assert mf.solve(PROBLEM, says(ANSWER, trace=("first", 2))).log() == "first\n2"


def test_every_status_tells_a_remedy():
    assert all(status.remedy.endswith(".") for status in Status)
    assert len({status.remedy for status in Status}) == len(Status)
