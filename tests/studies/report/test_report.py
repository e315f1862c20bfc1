"""What a report says in words, in Markdown and in its data; the page itself is tested in a browser."""

import dataclasses
import json
import re

import pytest
from report_rows import header, invented, row

from mcpframe.exceptions import FileFormatError, OptionError, ProblemError
from mcpframe.studies.report import write_report
from mcpframe.studies.report.data import embedded, page_data
from mcpframe.studies.report.entries import Column, merge
from mcpframe.studies.report.facets import facets
from mcpframe.studies.report.facts import facts
from mcpframe.studies.report.grid import grid
from mcpframe.studies.report.growth import growing, growth_fits
from mcpframe.studies.report.markdown import summary
from mcpframe.studies.report.page import page as page_of
from mcpframe.studies.report.published import tables_of
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.trajectories import place
from mcpframe.studies.report.verdict import limitations, verdict
from mcpframe.studies.report.wording import count, listed, number, percent, power, time

LARGEST_PAGE = 10e6
"""Bytes of a page with 20,000 solves."""
BYTES_PER_SOLVE = 160
FAST_SLOW = (("fast", 1.0), ("slow", 2.0))
PUBLISHED = {
    "title": "Speed-up of os over nmc_os",
    "columns": ["links", "published", "ours"],
    "rows": [[3, 3.5, 4.125], [30, 50.3, None]],
    "source": "Table 2",
}


def results_of(rows, **changes):
    return Results.of(rows, header(**changes))


def labelled(**labels):
    """One solve per value; labels given as lists of the same length."""
    many = [dict(zip(labels, values, strict=True)) for values in zip(*labels.values(), strict=True)]
    return merge([row(f"case{k:04d}", labels=own) for k, own in enumerate(many)])


def facet(entries, name):
    return next(each for each in facets(entries) if each.name == name)


def test_the_verdict_names_who_solves_all_who_is_fastest_and_who_claims_falsely():
    rows = [row(case, "slow", 2.0) for case in "abc"] + [row(case, "fast", 1.0) for case in "abc"]
    rows += [row(case, "liar", 0.1, status="INACCURATE", claim="SOLVED") for case in "abc"]
    text = " ".join(verdict(results_of(rows)))
    assert "fast and slow solve all 3 problems." in text
    assert "The fastest of these is fast: 1.00 s" in text
    assert "puts fast on top (fastest on 100 % of the problems)" in text
    assert "3 of 9 claims were false successes: liar (3)." in text


def test_the_verdict_says_when_nobody_solves_all():
    rows = [
        row("a", "x"),
        row("b", "x", status="RAY"),
        row("a", "y", status="RAY"),
        row("b", "y", status="RAY"),
    ]
    text = " ".join(verdict(results_of(rows)))
    assert "No setting solves all 2 problems; most are solved by x: 1 (50.0 %)." in text
    assert "None of 4 claims was a false success." in text


def test_solving_all_that_one_takes_is_not_solving_all():
    rows = [row("a", "x"), row("b", "x"), row("a", "y"), row("b", "y", status="UNSUPPORTED")]
    assert verdict(results_of(rows))[0] == "x solves all 2 problems."


def test_limitations_tell_of_what_was_not_taken_and_not_run():
    rows = [row("a", "x"), row("b", "x"), row("a", "y", status="UNSUPPORTED")]
    text = " ".join(limitations(results_of(rows)))
    assert "1 solves are of a class that their solver does not take" in text
    assert "Not every setting was run on every problem (y)" in text
    plain = " ".join(limitations(results_of([row("a", "x")])))
    assert "does not take" not in plain
    assert "Not every setting" not in plain


def test_failures_cost_the_time_limit_or_the_longest_time_seen():
    rows = [row("a", seconds=7.0), row("b", seconds=1.0)]
    assert results_of(rows, time_limit=10.0).penalty == 10.0
    assert results_of(rows, time_limit=None).penalty == 7.75


def test_time_counts_building_where_formulations_are_compared():
    assert results_of([row("a"), row("b", formulation="given")]).clock == "solve"
    assert results_of([row("a"), row("a", formulation="nmc")]).clock == "total"


def test_columns_are_named_by_what_differs():
    both = results_of([row("a", "x"), row("a", "y")])
    assert [both.name(column) for column in both.columns] == ["x", "y"]
    starts = results_of([row("a", "x"), row("a", "x", start="warm")])
    assert [starts.name(column) for column in starts.columns] == ["cold", "warm"]
    assert results_of([row("a", "x")]).name(Column("os", "x", "cold")) == "x"


@pytest.mark.parametrize("starts", [("cold",), ("cold", "warm")])
@pytest.mark.parametrize("formulations", [("os",), ("os", "nmc_os", "nmc")])
def test_no_two_columns_look_alike_without_colour(starts, formulations):
    results = results_of(invented(2, starts=starts, formulations=formulations))
    looks = list(results.looks.values())
    assert len(set(looks)) == len(looks)
    if len(formulations) == 1:  # seven solvers: seven markers, whatever the colours
        assert len({(look.marker, look.dash) for look in looks}) == len(looks)


def test_few_values_are_classes_in_their_order():
    entries = labelled(hardness=["hard", "easy", "medium"], links=[12, 3, 30], moving=[True, False, True])
    assert facet(entries, "hardness").classes == ("easy", "medium", "hard")
    assert facet(entries, "hardness").codes == (2, 0, 1)
    assert facet(entries, "links").classes == ("3", "12", "30")
    assert facet(entries, "moving").classes == ("no", "yes")


def test_wide_numbers_fall_into_decades_and_narrow_ones_between_round_edges():
    wide = facet(labelled(mass_ratio=[1.0, 2.0, 9.9, 10.0, 50.0, 99.0, 100.0, 500.0, 5000.0]), "mass_ratio")
    assert wide.classes == ("1 to 10", "10 to 100", "100 to 10³", "10³ to 10⁴")
    assert wide.codes == (0, 0, 0, 1, 1, 1, 2, 2, 3)
    narrow = facet(labelled(rank_ratio=[k / 10 for k in range(1, 11)]), "rank_ratio")
    assert narrow.classes == ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
    assert narrow.codes[-1] == 4


def test_a_label_that_is_missing_or_not_finite_breaks_nothing():
    rows = [row(f"c{k}", labels={"mass_ratio": float(10**k)}) for k in range(9)]
    rows += [row("x"), row("y", labels={"mass_ratio": float("inf")})]
    found = facet(merge(rows), "mass_ratio")
    assert found.classes[-1] == "not finite"
    assert found.codes[-2:] == (-1, len(found.classes) - 1)


def test_a_label_with_one_value_or_a_word_per_problem_is_no_table():
    entries = labelled(same=["x"] * 20, name=[f"w{k}" for k in range(20)], half=["l", "r"] * 10)
    assert [each.name for each in facets(entries)] == ["half"]


def test_labels_that_divide_alike_are_told_once():
    entries = merge([row("a", source="s", system="p"), row("b", source="t", system="q")])
    assert [each.name for each in facets(entries)] == ["system"]


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("fall/links=12/step=00340", ("fall/links=12", 340)),
        ("corpus/000007", ("corpus", 7)),
        ("pendulum/links=12", None),
        ("one", None),
    ],
)
def test_places_along_a_trajectory_are_read_from_names(case, found):
    assert place(case) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01234, "0.0123"),
        (0.3, "0.300"),
        (0.0, "0"),
        (1.234, "1.23"),
        (99.96, "100.0"),
        (1234.5, "1\u202f234"),
        (float("nan"), "–"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_nearly_all_is_not_100_percent():
    assert [percent(share) for share in (0.0, 1e-5, 0.5, 0.99999, 1.0)] == ["0", "0.1", "50.0", "99.9", "100"]
    assert percent(float("nan")) == "–"


def test_words_for_counts_times_powers_and_lists():
    assert count(20000) == "20\u202f000"
    assert [time(t) for t in (2.5e-5, 0.0025, 2.5)] == ["25.0 µs", "2.50 ms", "2.50 s"]
    assert [power(value) for value in (1e-9, 1.26e-13, float("inf"))] == ["1e-9", "1.3e-13", "not finite"]
    assert listed(["a"]) == "a"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"


def test_the_summary_holds_rates_means_failures_and_published_figures():
    rows = [row("a", "x"), row("a", "y", status="RAY", problem_file="failures/a.npz"), row("b", "x")]
    text = summary(results_of(rows, time_limit=None), tables_of(PUBLISHED))
    assert "| x | 100 | 2 | 2 | 0 | 0 | 0 | 0 | 0 | 100 | 1.00 | 1.00 |" in text
    assert "| y | 0 | 0 | 1 | 0 | 0 | 0 | 1 | 0 | 100 | – | 1.75 |" in text
    assert "| a | y | failed | RAY | 1e-12 | why | `failures/a.npz` |" in text
    assert "## Speed-up of os over nmc_os" in text
    assert "| 30 | 50.3 | – |" in text
    assert (
        text.index("## Success") < text.index("## Mean") < text.index("## Failures") < text.index("## Limit")
    )


def test_the_grid_has_formulations_against_solvers_or_else_systems():
    rows = [
        row("a", solver, seconds, formulation=name) for name in ("os", "mc") for solver, seconds in FAST_SLOW
    ]
    rows += [row("b", "slow", status="RAY", formulation="os")]
    made = grid(results_of(rows))
    assert (made.what, sorted(made.rows), made.columns) == ("formulation", ["mc", "os"], ["fast", "slow"])
    assert (made.cells["os", "slow"].solved, made.cells["os", "slow"].taken) == (1, 2)
    text = summary(results_of(rows))
    assert "## Formulation × solver" in text
    assert re.search(r"\| os \| 100 %, \S+ s \| 50.0 %, \S+ s \|", text)
    one = [row(case, solver, s, system=case) for case in "ab" for solver, s in FAST_SLOW]
    assert grid(results_of(one)).what == "system"
    assert grid(results_of([row("a", "fast"), row("b", "fast")])) is None


def test_growth_is_that_of_one_system_not_of_all_in_one_line():
    sizes = (10, 20, 40)
    rows = [row(f"slow{n}", seconds=n**2.0, system="slow", n=n) for n in sizes]
    rows += [row(f"fast{n}", seconds=1e-3 * n, system="fast", n=n) for n in (15, 25, 45)]
    rows += [row("lonely", system="lonely", n=7)]
    results = results_of(rows)
    assert growing(results) == ["fast", "slow"]
    exponents = {
        name: growth_fits(results, results.columns[0], name)[0].exponent for name in ("fast", "slow")
    }
    assert exponents == pytest.approx({"fast": 1.0, "slow": 2.0})


def test_given_problems_grow_with_their_source():
    rows = [row(f"{s}{n}", n=n, system="given", source=s) for s in ("small", "large") for n in (3, 4)]
    assert growing(results_of(rows)) == ["large", "small"]


def test_sections_with_nothing_to_show_are_left_out(tmp_path):
    pytest.importorskip("plotly")
    text = summary(results_of([row("a")], config={}))
    for absent in ("× solver", "## Growth", "## By label", "## Failures", "## Warm"):
        assert absent not in text
    page = page_of(results_of([row("a")], config={}))
    assert 'id="settings"' not in page
    assert 'id="settings"' in page_of(results_of([row("a")]))


def test_the_summary_pairs_cold_with_warm():
    rows = [row(case, seconds=4.0) for case in "ab"] + [row(case, seconds=1.0, start="warm") for case in "ab"]
    text = summary(results_of(rows))
    assert "| cold | 2 | 2 | 2 | 4.00 | 1.00 | 4.00 |" in text


def test_a_bar_in_a_name_does_not_break_a_table():
    text = summary(results_of([row("a|b", "x|y", status="RAY"), row("a|b", "z")]))
    lines = [line for line in text.splitlines() if "x\\|y" in line and line.startswith("| a")]
    assert len(lines) == 1
    assert len(re.findall(r"(?<!\\)\|", lines[0])) == 8


def test_data_cannot_close_its_element_and_survives_a_round_trip():
    rows = [row("</script><!--", "x", status="RAY", reason="<b>é</b>"), row("b", "x", residual=float("nan"))]
    data = page_data(results_of(rows))
    text = embedded(data)
    assert "<" not in text
    again = json.loads(text)
    assert again["cases"] == ["</script><!--", "b"]
    assert again["failures"]["0"][0] == "<b>é</b>"


def test_data_are_compact():
    rows = invented(600)
    assert len(embedded(page_data(results_of(rows)))) < BYTES_PER_SOLVE * len(rows)


def test_facts_say_what_is_not_recorded():
    found = dict(facts(Results.of([row()], {})))
    assert found["machine"] == found["commit"] == found["date"] == "not recorded"
    assert found["time limit"] == "none"


def test_facts_are_told_in_words():
    when = {"started": "2025-03-04T10:12:31+00:00", "finished": "some day"}
    found = dict(facts(Results.of([row()], header(executor={"name": "dask", "workers": 4}, **when))))
    assert found["executor"] == "dask, 4 workers"
    assert found["date"] == "2025-03-04 10:12 UTC to some day"
    assert found["machine"] == "An Example Processor @ 2.40 GHz, 2 cores, Linux 6.8"
    assert found["tolerance"].startswith("1e-9, ")


def test_a_report_is_a_page_a_summary_and_a_picture(tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("matplotlib")
    path = write_report(invented(20), header(), tmp_path / "new" / "folder", published=[PUBLISHED, PUBLISHED])
    assert path == tmp_path / "new" / "folder" / "report.html"
    assert sorted(each.name for each in path.parent.iterdir()) == ["report.html", "report.md", "report.png"]
    text = path.read_text(encoding="utf-8")
    assert text.count('<section class="published"') == 2
    assert path.stat().st_size + 20_000 * BYTES_PER_SOLVE < LARGEST_PAGE
    assert (path.parent / "report.png").read_bytes().startswith(b"\x89PNG")


def test_a_study_of_one_solve_that_failed_has_a_report(tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("matplotlib")
    broken = row(status="CRASHED", claim="", n=0, n_contacts=0, n_dofs=0, nnz=0, residual=float("inf"))
    path = write_report([broken], {}, tmp_path)
    assert "No setting solves the one problem" in path.with_suffix(".md").read_text(encoding="utf-8")


def test_a_study_without_rows_is_refused(tmp_path):
    with pytest.raises(ProblemError, match="no rows"):
        write_report([], header(), tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colums": []}, "unknown key 'colums'; did you mean 'columns'"),
        ({"rows": [[1, 2]]}, "row 0 has 2 cells for 3 columns"),
    ],
)
def test_published_figures_that_do_not_fit_are_refused(change, message):
    with pytest.raises(OptionError, match=message):
        tables_of(PUBLISHED | change)


def test_published_figures_without_rows_are_refused():
    with pytest.raises(OptionError, match="'rows' is missing"):
        tables_of({"columns": ["a"]})


def test_a_folder_that_cannot_be_made_is_an_error_of_the_file(tmp_path):
    pytest.importorskip("plotly")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_report([row()], header(), tmp_path / "file" / "folder")


def test_rows_may_come_in_any_order():
    rows = invented(15, repeats=2)
    mixed = [dataclasses.replace(each) for each in rows[::-1]]
    assert page_data(results_of(rows)) == page_data(results_of(mixed))


def test_given_problems_join_the_only_formulation():
    rows = [row("a", "x"), row("b", "x", formulation="given")]
    assert results_of(rows).columns == (Column("os + given", "x", "cold"),)
    assert verdict(results_of(rows))[0] == "x solves all 2 problems."
    several = [*rows, row("a", "x", formulation="nmc")]
    assert {column.formulation for column in results_of(several).columns} == {"os", "nmc", "given"}


def test_the_verdict_says_when_nobody_was_run_on_all():
    rows = [row("a", "x"), row("b", "y"), row("c", "y", status="RAY")]
    text = verdict(results_of(rows))[0]
    assert text == "No setting was run on all 3 problems; x solves all that it was run on."
