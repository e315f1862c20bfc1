"""Columns of our own figures in tables of published ones."""

import pytest
from report_rows import row

from mcpframe.exceptions import McpframeError, OptionError
from mcpframe.studies.report.entries import merge
from mcpframe.studies.report.published import tables_of
from mcpframe.studies.study.study_file import parse_study

GIVEN = {
    "title": "Speed-up",
    "columns": ["links", "published"],
    "rows": [[3, 3.5], [30, 50.28]],
    "by": "links",
}
SPEED_UP = {"column": "ours", "figure": "solve", "formulation": "nmc", "over": {"formulation": "os"}}


def solves(formulation, case, seconds, links, **more):
    return row(case, seconds=seconds, formulation=formulation, labels={"links": links}, **more)


def filled(solved, *ours, **changes):
    (table,) = tables_of(GIVEN | {"ours": list(ours)} | changes)
    return table.filled(merge(solved))


def test_a_ratio_is_the_median_over_problems_that_both_solve():
    rows = [solves("os", case, 1.0, 3) for case in "abc"]
    rows += [solves("nmc", case, seconds, 3) for case, seconds in zip("abc", (2.0, 4.0, 9.0), strict=True)]
    rows += [
        solves("nmc", "d", 99.0, 3),
        solves("os", "e", 1.0, 3),
        solves("nmc", "e", 99.0, 3, status="RAY"),
    ]
    table = filled(rows, SPEED_UP)
    assert table.columns == ("links", "published", "ours")
    assert table.rows == (("3", "3.50", "4.00"), ("30", "50.3", "–"))


def test_rows_of_one_size_are_one_number_and_others_a_range():
    rows = [
        solves("os", "a", 1.0, 3, n=24),
        solves("os", "b", 1.0, 30, n=24),
        solves("os", "c", 1.0, 30, n=30),
    ]
    table = filled(rows, {"column": "ours, rows", "figure": "rows"})
    assert [line[2] for line in table.rows] == ["24", "24 to 30"]


def test_failures_count_in_the_share_solved_and_not_in_times():
    rows = [solves("os", "a", 2e-3, 3), solves("os", "b", 7.0, 3, status="RAY")]
    table = filled(rows, {"column": "ours, t", "figure": "solve"}, {"column": "ours, %", "figure": "solved"})
    assert table.rows[0][2:] == ("2.00 ms", "50.0 %")


def test_a_line_may_be_a_formulation_and_a_cell_left_empty():
    rows = [solves("os", "a", 1.0, 3, n=24)]
    table = filled(
        rows,
        {"column": "ours", "figure": "rows"},
        by="formulation",
        rows=[["os", 24], ["nmc", ""]],
    )
    assert table.rows == (("os", "24", "24"), ("nmc", "–", "–"))


@pytest.mark.parametrize(
    ("ours", "message"),
    [
        ({"column": "ours", "figur": "time"}, "figur"),
        ({"column": "ours", "figure": "speed"}, "speed"),
        ({"figure": "time"}, "column"),
        ({"column": "ours", "over": "os"}, "a table is expected"),
        ({"column": "ours", "over": {"formulaton": "os"}}, "did you mean 'formulation'"),
    ],
)
def test_a_column_that_makes_no_sense_is_refused(ours, message):
    with pytest.raises(OptionError, match=message):
        tables_of(GIVEN | {"ours": [ours]})


def test_columns_of_ours_need_to_know_what_a_line_is():
    with pytest.raises(OptionError, match="'by' is missing"):
        tables_of({"columns": ["a"], "rows": [[1]], "ours": [SPEED_UP]})


STUDY = """
solvers = ["lemke"]
formulations = ["os", "nmc"]
[[problems]]
system = "pendulum"
[[published]]
by = "links"
columns = ["links"]
rows = [[3]]
ours = [{ column = "ours", formulation = "nmc", over = { formulation = "oss" } }]
"""


def test_a_study_file_that_asks_for_a_label_it_does_not_have_is_refused_with_the_nearest():
    with pytest.raises(McpframeError, match=r"line 10: published\[0\].*'oss'.*did you mean 'os'"):
        parse_study(STUDY)
    assert parse_study(STUDY.replace("oss", "os")).published[0]["by"] == "links"
