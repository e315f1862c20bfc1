"""The benchmark of the diagnosis: definite matrices are told by the cheapest test."""

from benchmark_modules import load

diagnosis = load("diagnosis")


def test_the_cheapest_test_decides_about_the_matrices_that_are_timed():
    found = list(diagnosis.p_test_costs(0.01))
    assert [n for n, _, _ in found] == list(diagnosis.ROWS)
    assert {test for _, test, _ in found} == {"Cholesky of A + A*"}
    assert all(seconds > 0.0 for _, _, seconds in found)


def test_a_step_is_judged_by_the_rows_of_its_contacts():
    found = list(diagnosis.judge_costs(0.01))
    assert [(name, time) for name, time, *_ in found] == [
        (name, time) for name, times in diagnosis.JUDGED.items() for time in times
    ]
    standing = found[0]
    assert standing[2:4] == (12, "Cholesky of A + A*")  # four feet that stick
    assert all(seconds > 0.0 for *_, seconds in found)
