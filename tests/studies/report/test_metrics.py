"""Figures of merit against cases worked out by hand, and the properties that profiles must have."""

import math

import numpy as np
import pytest
from report_rows import invented, row

from mcpframe.studies.report.entries import merge, outcome_of
from mcpframe.studies.report.metrics import (
    fit_exponent,
    in_classes,
    medians_by_size,
    rates,
    shifted_geometric_mean,
)
from mcpframe.studies.report.profiles import profiles, ranking, run_by_all

ROUNDING = 1e-12
"""A few operations on numbers of order one."""
PENALTY = 100.0


def by_solver(entries):
    return {column.solver: profile for column, profile in profiles(entries, "solve").items()}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "solved"),
        ({"status": "INACCURATE", "claim": "SOLVED"}, "false claim"),
        ({"status": "CRASHED", "claim": ""}, "crashed"),
        ({"status": "TIME_LIMIT", "claim": ""}, "time limit"),
        ({"status": "RAY"}, "failed"),
        ({"status": "UNSUPPORTED"}, "unsupported"),
    ],
)
def test_every_row_has_one_outcome(changes, outcome):
    assert outcome_of(row(**changes)) == outcome


def test_repeats_merge_to_the_smallest_of_each_time():
    (entry,) = merge([row(seconds=3.0, repeat=0, build_seconds=0.1), row(seconds=2.0, repeat=1)])
    assert (entry.build, entry.solve, entry.recover) == (0.1, 2.0, 0.25)
    assert entry.seconds("solve") == 2.0
    assert entry.seconds("total") == pytest.approx(2.35, abs=ROUNDING)
    assert (entry.repeats, entry.failures) == (2, 0)


def test_one_failed_repeat_makes_the_solve_a_failure():
    (entry,) = merge([row(repeat=0), row(repeat=1, status="RAY"), row(repeat=2)])
    assert entry.outcome == "failed"
    assert (entry.repeats, entry.failures) == (3, 1)


def test_a_time_that_was_not_measured_is_not_the_smallest():
    (entry,) = merge([row(repeat=0, seconds=math.nan), row(repeat=1, seconds=2.0)])
    assert entry.solve == 2.0


def test_rates_count_each_outcome_once_and_unsupported_apart():
    entries = merge(
        [
            row("a", seconds=1.0),
            row("b", seconds=3.0),
            row("c", status="INACCURATE", claim="SOLVED"),
            row("d", status="CRASHED", claim=""),
            row("e", status="TIME_LIMIT", claim=""),
            row("f", status="RAY"),
            row("g", status="UNSUPPORTED"),
        ]
    )
    found = rates(entries, "solve", PENALTY, shift=1.0)
    assert (found.total, found.taken, found.unsupported, found.solved) == (7, 6, 1, 2)
    assert (found.false_claims, found.crashed, found.time_limit, found.failed) == (1, 1, 1, 1)
    assert (found.right, found.claims) == (3, 4)
    assert found.success == 2 / 6
    assert found.correctness == 3 / 4
    assert found.median == 2.0
    by_hand = (2.0 * 4.0 * 101.0**4) ** (1 / 6) - 1.0
    assert found.mean == pytest.approx(by_hand, rel=ROUNDING)


def test_rates_of_a_solver_that_takes_nothing_are_not_numbers():
    found = rates(merge([row(status="UNSUPPORTED")]), "solve", PENALTY)
    assert found.taken == 0
    assert all(math.isnan(value) for value in (found.success, found.correctness, found.median, found.mean))


def test_shifted_geometric_mean_by_hand():
    assert shifted_geometric_mean([1.0, 7.0], shift=1.0) == pytest.approx(3.0, abs=ROUNDING)
    assert shifted_geometric_mean([4.0], shift=123.0) == pytest.approx(4.0, abs=1e-10)  # 127 cancels to 4
    assert math.isnan(shifted_geometric_mean([]))


def test_the_shift_leads_from_the_geometric_to_the_arithmetic_mean():
    times = [1.0, 2.0, 9.0]
    means = [shifted_geometric_mean(times, shift) for shift in (0.0, 1.0, 10.0, 1e6)]
    assert means == sorted(means)
    assert means[0] == pytest.approx(18.0 ** (1 / 3), rel=ROUNDING)
    assert means[-1] == pytest.approx(4.0, abs=1e-4)  # second order: variance / (2 shift)


def test_medians_by_size_are_sorted_by_size():
    assert list(medians_by_size([8, 2, 8, 8], [1.0, 5.0, 3.0, 2.0]).items()) == [(2, 5.0), (8, 2.0)]


def test_an_exact_power_law_is_fitted_exactly():
    fit = fit_exponent({n: 3e-6 * n**1.7 for n in (6, 12, 24, 96)})
    assert fit.exponent == pytest.approx(1.7, abs=ROUNDING)
    assert fit.factor == pytest.approx(3e-6, rel=1e-11)  # exp of a sum of logarithms of order ten
    assert (fit.lowest, fit.highest, fit.count) == (6, 96, 4)
    assert fit.r2 == pytest.approx(1.0, abs=ROUNDING)


def test_a_fit_agrees_with_numpy(rng):
    medians = {int(n): float(n**1.3 * rng.uniform(0.5, 2.0)) for n in range(4, 60, 5)}
    x, y = np.log(list(medians)), np.log(list(medians.values()))
    fit = fit_exponent(medians)
    assert fit.exponent == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-10)
    assert fit.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-10)


def test_two_sizes_have_no_exponent_and_size_zero_does_not_count():
    assert fit_exponent({2: 1.0, 4: 2.0}) is None
    assert fit_exponent({0: 1.0, 2: 1.0, 4: 2.0}) is None


def test_many_sizes_are_drawn_in_classes_that_stay_in_order():
    few = {n: float(n) for n in (1, 2, 4)}
    assert in_classes(few) == [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]
    many = in_classes({n: float(n) for n in range(1, 401)})
    assert len(many) <= 16
    assert many == sorted(many)


def test_a_profile_by_hand():
    entries = merge(
        [
            *(row("p", "one", 1.0), row("p", "two", 4.0)),
            *(row("q", "one", 6.0), row("q", "two", 3.0)),
            *(row("r", "one", status="RAY"), row("r", "two", 5.0)),
            *(row("s", "one", status="RAY"), row("s", "two", status="UNSUPPORTED")),
        ]
    )
    curves = by_solver(entries)
    assert curves["one"].ratios.tolist() == [1.0, 2.0]
    assert curves["two"].ratios.tolist() == [1.0, 1.0, 4.0]
    assert [curves["one"].share(tau) for tau in (1.0, 1.99, 2.0, 1e9)] == [0.25, 0.25, 0.5, 0.5]
    assert [curves["two"].share(tau) for tau in (1.0, 3.99, 4.0)] == [0.5, 0.5, 0.75]
    by_hand = (1.0 + (1.0 - math.log(2) / math.log(100))) / 4
    assert curves["one"].area(100.0) == pytest.approx(by_hand, abs=ROUNDING)


def test_profiles_are_monotone_between_wins_and_success():
    entries = merge(invented(60))
    for column, curve in profiles(entries, "total").items():
        own = [entry for entry in entries if entry.column == column]
        shares = [curve.share(tau) for tau in np.geomspace(1.0, 1e6, 50)]
        assert shares == sorted(shares)
        assert all(0.0 <= share <= 1.0 for share in shares)
        assert shares[-1] == sum(entry.ok for entry in own) / 60
        assert curve.share(0.999) == 0.0
        assert shares[0] <= curve.area() <= shares[-1]


def test_somebody_is_fastest_on_every_problem_that_is_solved():
    entries = merge(invented(60))
    solved = {entry.row.case for entry in entries if entry.ok}
    wins = sum(curve.share(1.0) for curve in profiles(entries, "solve").values())
    assert wins * 60 >= len(solved) - 1e-9  # sums of sixtieths


def test_profiles_do_not_depend_on_the_unit_of_time():
    rows = [row(case, solver, t) for case, solver, t in (("p", "a", 1.0), ("p", "b", 3.0), ("q", "b", 2.0))]
    slow = [row(r.case, r.solver, 1024.0 * r.solve_seconds) for r in rows]
    for solver, curve in by_solver(merge(rows)).items():
        assert by_solver(merge(slow))[solver].ratios.tolist() == curve.ratios.tolist()


def test_a_clock_that_reads_zero_has_finite_ratios():
    curves = by_solver(merge([row("p", "a", 0.0), row("p", "b", 1e-6)]))
    assert np.isfinite(curves["b"].ratios).all()


def test_ranking_puts_the_highest_profile_first():
    curves = profiles(merge(invented(60)), "solve")
    areas = [curves[column].area() for column in ranking(curves)]
    assert areas == sorted(areas, reverse=True)


def test_run_by_all_keeps_common_problems_alone():
    kept = run_by_all(merge([row("p", "a"), row("p", "b", status="UNSUPPORTED"), row("q", "a")]))
    assert {entry.row.case for entry in kept} == {"p"}
