"""The page in a real browser: it renders, its numbers are those of Python, it asks no network."""

import shutil
from collections import Counter

import pytest
from report_rows import header, invented, row

from mcpframe.studies.report.entries import UNSUPPORTED, Column
from mcpframe.studies.report.grid import grid
from mcpframe.studies.report.growth import growing, growth_fits
from mcpframe.studies.report.metrics import by_column, rates
from mcpframe.studies.report.page import page as page_of
from mcpframe.studies.report.profiles import profiles, ranking, run_by_all
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.verdict import verdict

pytest.importorskip("plotly")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium on this machine", allow_module_level=True)

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-quic", "--no-first-run"),
]
NANOSECONDS = 1e-4
"""Relative: the page has times in whole nanoseconds, the shortest of these studies take ten microseconds.
Absolute in logarithms of times, and so in the exponents and r² of fits to them, which may be near zero."""
ROUNDING = 1e-9
PATIENCE = 60_000
"""Milliseconds that a loaded machine may take to open five megabytes of scripts."""
CHARTS = ("profile", "means", "growth", "sizes", "parts", "residuals", "accuracy")
COLUMNS = ("success", "solved", "taken", "false_claims", "crashed", "time_limit", "failed")
"""Of the first table, those before the column that is there only where something is not taken."""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def mixed(browser, tmp_path_factory):
    """A page of three formulations, cold and warm, with failures of every kind, and its results."""
    rows = invented(60, ("lemke", "newton", "qp relaxed", "stranger"), ("os", "nmc"), ("cold", "warm"), 2)
    rows += invented(20, ("pgs",), ("os",), seed=2)  # run on some of the problems only
    return opened(browser, rows, tmp_path_factory.mktemp("mixed"))


def opened(browser, rows, folder):
    """Write a page and open it; what goes wrong is collected."""
    results = Results.of(rows, header())
    path = folder / "report.html"
    path.write_text(page_of(results), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(PATIENCE)
    tab.troubles, tab.requests = [], []
    tab.on("pageerror", lambda error: tab.troubles.append(str(error)))
    tab.on(
        "console", lambda told: tab.troubles.append(told.text) if told.type in ("error", "warning") else None
    )
    tab.on("request", lambda request: tab.requests.append(request.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("body[data-ready]")
    return tab, results, path


@pytest.fixture
def page(mixed):
    """The mixed page, filters reset afterwards."""
    tab, results, _ = mixed
    yield tab, results
    tab.locator("#reset").click()


def table(tab, place):
    """Return the rows of a table by their heading: the value of every cell, NaN where it is no number."""
    return dict(
        tab.eval_on_selector_all(
            f"{place} tbody tr",
            """rows => rows.map(row => [
                row.querySelector("th").innerText.trim(),
                [...row.querySelectorAll("td")].map(cell => Number(cell.dataset.value))])""",
        )
    )


def keep_only(tab, name, word):
    """Set a filter to one value, as a user does."""
    box = tab.locator(f"details[data-filter='{name}']")
    box.locator("summary").click()
    line = box.locator("label").filter(has=tab.get_by_text(word, exact=True))
    line.get_by_role("button", name="only").click()
    tab.keyboard.press("Escape")
    tab.locator("h1").click()


def assert_success_table(tab, results, entries, clock=None):
    """Check every number of the first table against Python's, for some of the entries."""
    shown, expected = table(tab, "#success"), by_column(entries)
    assert shown.keys() == {results.name(column) for column in expected}
    for column, own in expected.items():
        cells = shown[results.name(column)]
        found = rates(own, clock or results.clock, results.penalty)
        assert cells[: len(COLUMNS)] == pytest.approx([getattr(found, name) for name in COLUMNS], nan_ok=True)
        assert cells[-3:] == pytest.approx(
            [found.correctness, found.median, found.mean], rel=NANOSECONDS, nan_ok=True
        )


def test_the_page_renders_without_script_errors_and_asks_no_network(mixed):
    tab, _, path = mixed
    for chart in CHARTS:
        assert tab.locator(f"#{chart} .main-svg").count() > 0, chart
        assert tab.locator(f"#{chart} .cartesianlayer path").count() > 0, chart
    assert tab.troubles == []
    assert tab.requests == [path.as_uri()]


def test_rates_of_the_page_are_those_of_python(page):
    tab, results = page
    assert_success_table(tab, results, results.entries)


@pytest.mark.parametrize(
    ("name", "word", "kept"),
    [
        ("system", "humanoid", lambda entry: entry.row.system == "humanoid"),
        ("formulation", "os", lambda entry: entry.row.formulation == "os"),
        ("solver", "lemke", lambda entry: entry.row.solver == "lemke"),
        ("start", "warm", lambda entry: entry.row.start == "warm"),
        ("hardness", "hard", lambda entry: entry.row.labels["hardness"] == "hard"),
        ("outcome", "failed", lambda entry: not entry.ok and entry.outcome != UNSUPPORTED),
    ],
)
def test_a_filter_leaves_what_it_says_in_tables_and_profiles(page, name, word, kept):
    tab, results = page
    keep_only(tab, name, word)
    entries = [entry for entry in results.entries if kept(entry)]
    assert_success_table(tab, results, entries)
    ratios = dict(
        tab.evaluate("[...makeView().profiles.ratios].map(([c, r]) => [DATA.columns[c].name, [...r]])")
    )
    for column, curve in profiles(entries, results.clock).items():
        assert ratios[results.name(column)] == pytest.approx(curve.ratios.tolist(), rel=NANOSECONDS)
    assert tab.locator("#shown").inner_text().startswith(f"{len(entries)} of ")
    assert tab.troubles == []


def test_filters_combine_and_reset_brings_everything_back(page):
    tab, results = page
    keep_only(tab, "solver", "newton")
    keep_only(tab, "system", "stack")
    kept = [e for e in results.entries if e.row.solver == "newton" and e.row.system == "stack"]
    assert_success_table(tab, results, kept)
    tab.locator("#reset").click()
    assert_success_table(tab, results, results.entries)


def test_filters_that_exclude_everything_say_so(page):
    tab, _ = page
    keep_only(tab, "solver", "pgs")
    keep_only(tab, "formulation", "nmc")
    assert tab.get_by_text("Nothing is left").is_visible()
    assert tab.troubles == []


def test_common_ground_is_that_of_python(page):
    tab, results = page
    tab.locator("#common").check()
    assert_success_table(tab, results, run_by_all(results.entries))


def test_the_clock_can_be_changed(page):
    tab, results = page
    tab.locator("#clock").select_option("solve")
    assert_success_table(tab, results, results.entries, "solve")
    tab.locator("#clock").select_option("total")


def test_profiles_areas_and_exponents_are_those_of_python(page):
    tab, results = page
    areas = dict(tab.evaluate("[...makeView().area].map(([c, a]) => [DATA.columns[c].name, a])"))
    for column, curve in results.profiles.items():
        assert areas[results.name(column)] == pytest.approx(curve.area(), rel=NANOSECONDS)
    choose = tab.locator("#growth-choice select")
    assert choose.locator("option").all_inner_texts() == growing(results)
    for family in growing(results):
        choose.select_option(family)
        assert_growth_table(tab, results, family)


def assert_growth_table(tab, results, family):
    fits = table(tab, "#growth-table")
    for column in results.columns:
        in_n, in_contacts = growth_fits(results, column, family)
        cells = fits[results.name(column)]
        for found, fit in ((cells[:4], in_n), (cells[4:], in_contacts)):
            wanted = [fit.exponent, fit.lowest, fit.count, fit.r2] if fit else [float("nan")] * 4
            assert found == pytest.approx(wanted, rel=NANOSECONDS, abs=NANOSECONDS, nan_ok=True)


def drawn_ends(tab):
    """Return where every profile that is drawn ends."""
    drawn = """document.getElementById('profile').data.filter(t => t.line.shape === 'hv')
        .map(t => [t.name, t.y.at(-1)])"""
    return dict(tab.evaluate(drawn))


def test_the_drawn_profile_ends_where_python_says(page):
    tab, results = page
    best = [results.name(column) for column in ranking(results.profiles)[:8]]
    assert sorted(drawn_ends(tab)) == sorted(best), "of many settings the best few are drawn"
    choose = tab.locator("#profile-choice select")
    choose.select_option(f"all {len(results.columns)}")
    ends = drawn_ends(tab)
    choose.select_option("the best 8")
    for column, curve in results.profiles.items():
        assert ends[results.name(column)] == pytest.approx(100 * curve.share(1e12), rel=ROUNDING)


def test_the_summary_is_that_of_python_for_what_the_filters_leave(page):
    tab, results = page
    said = tab.locator("#verdict").inner_text()
    assert said == " ".join(sentence for sentence in verdict(results) if sentence)
    keep_only(tab, "system", "humanoid")
    left = Results(results.header, [entry for entry in results.entries if entry.row.system == "humanoid"])
    words = " ".join(sentence for sentence in verdict(left) if sentence)
    assert tab.locator("#verdict").inner_text() == f"Of what the filters leave: {words}"


def test_the_grid_is_that_of_python(page):
    tab, results = page
    made, shown = grid(results), table(tab, "#grid")
    assert list(shown) == list(made.rows) == ["os", "nmc"]
    for row_name, cells in shown.items():
        own = [made.cells.get((row_name, column)) for column in made.columns]
        wanted = [float("nan") if cell is None else cell.success for cell in own]
        assert cells == pytest.approx(wanted, nan_ok=True)


def test_contents_lead_to_every_section_that_is_shown(page):
    tab, _ = page
    links = tab.eval_on_selector_all("#contents a", "all => all.map(a => [a.innerText, a.hash.slice(1)])")
    shown = tab.eval_on_selector_all(
        "main > section:not([hidden])", "all => all.map(s => [s.querySelector('h2').innerText, s.id])"
    )
    assert links == shown
    assert len({anchor for _, anchor in links}) == len(links) > 5


def test_warm_and_cold_are_paired(page):
    tab, results = page
    pairs = table(tab, "#warm-table")
    assert pairs["os · lemke"][0] == len(results.by_column[Column("os", "lemke", "cold")])
    assert "os · pgs" not in pairs
    lines = tab.evaluate("document.getElementById('along').data.map(t => [t.name, t.x.length])")
    assert [name for name, _ in lines] == ["cold", "warm"]
    assert lines[0][1] == lines[1][1] > 1


def test_every_label_has_a_table_with_all_problems(page):
    tab, results = page
    choose = tab.locator("#label-choice select")
    for label in choose.locator("option").all_inner_texts():
        choose.select_option(label)
        assert len(table(tab, "#by-label")) == len(results.columns)
    choose.select_option("hardness")
    cells = table(tab, "#by-label")["os · lemke · cold"]
    own = Counter()
    for entry in results.by_column[Column("os", "lemke", "cold")]:
        own[entry.row.labels["hardness"], entry.ok] += 1
    shares = [own[w, True] / (own[w, True] + own[w, False]) for w in ("easy", "medium", "hard")]
    assert cells == pytest.approx(shares, rel=ROUNDING)


def test_failures_can_be_searched_sorted_and_paged(page):
    tab, results = page
    failed = [entry for entry in results.entries if not entry.ok and entry.outcome != UNSUPPORTED]
    assert f"{len(failed)} of " in tab.locator("#failures-caption").inner_text()
    search = tab.get_by_label("search the table")
    search.press_sequentially("stranger crashed")
    crashed = [entry for entry in failed if entry.outcome == "crashed"]
    assert f"{len(crashed)} found of {len(failed)}" in tab.locator("#failures .where").inner_text()
    text = tab.locator("#failures tbody tr").first.inner_text()
    assert 'ValueError: matrix <M> is not "square" & more' in text
    assert tab.locator("#failures tbody a").first.get_attribute("href").startswith("problems/")
    search.fill("")
    tab.locator("#failures thead").get_by_role("button", name="residual").click()
    sizes = tab.eval_on_selector_all(
        "#failures tbody tr", "rows => rows.map(r => Number(r.querySelectorAll('td')[3].dataset.value))"
    )
    assert sizes == sorted(sizes, reverse=True)
    first = set(tab.locator("#failures tbody tr").all_inner_texts())
    tab.get_by_title("next page").click()
    assert "page 2 of" in tab.locator("#failures .where").inner_text()
    assert tab.locator("#failures tbody tr").count() == min(25, len(failed) - 25)
    assert not first & set(tab.locator("#failures tbody tr").all_inner_texts())


def test_on_paper_there_are_all_labels_and_no_controls(page):
    tab, _ = page
    labels = tab.evaluate("DATA.facets.length")
    tab.emulate_media(media="print")
    tab.wait_for_function("document.querySelectorAll('#by-label table').length > 1")
    assert tab.locator("#by-label table").count() == labels
    assert not tab.locator("#controls").is_visible()
    tab.emulate_media(media="screen")
    tab.wait_for_function("document.querySelectorAll('#by-label table').length === 1")
    assert tab.troubles == []


@pytest.mark.parametrize("width", [1280, 800, 500])
def test_the_page_is_never_wider_than_the_window(page, width):
    tab, _ = page
    tab.set_viewport_size({"width": width, "height": 900})
    tab.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_twenty_thousand_solves_fit(browser, tmp_path):
    tab, results, path = opened(browser, invented(2860), tmp_path)
    assert len(results.entries) > 20_000
    assert path.stat().st_size < 10e6
    assert_success_table(tab, results, results.entries)
    assert tab.troubles == []
    tab.close()


def test_a_study_of_one_failed_solve_renders(browser, tmp_path):
    broken = row(status="CRASHED", claim="", n=0, n_contacts=0, n_dofs=0, nnz=0, residual=float("inf"))
    tab, _, _ = opened(browser, [broken], tmp_path)
    assert tab.troubles == []
    for empty in ("grid", "profile", "growth", "sizes", "accuracy", "warm", "labels"):
        assert not tab.locator(f"#{empty}-section").is_visible(), empty
    assert tab.locator("#failures tbody tr").count() == 1
    tab.close()
