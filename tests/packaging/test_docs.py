"""The site: it builds without a warning, asks nobody else for anything, and says all that the code has."""

import html
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.scene.settings import Adaptive, LayerSettings, Output, Stepping, Switching
from mcpframe.solving.plugin import describe_options
from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS
from mcpframe.studies.study.study import RunSettings
from mcpframe.studies.study.study_file import KINDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|toml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REPORT = """# quick

`lemke` solves everything.

|  |  |
| --- | ---: |
| machine | a processor, 2 cores |
| commit | 0123456 |

## Success and correctness

![rates](report.png)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, built as `make docs` does."""
    for module in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site")
    settings = str(DOCS / "hooks" / "mkdocs.yml")
    options = ["--strict", "--config-file", settings, "--site-dir", str(folder)]
    command = [sys.executable, "-m", "mkdocs", "build", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture
def hooks(monkeypatch):
    """The modules that fill in generated parts."""
    pytest.importorskip("markdown")
    monkeypatch.syspath_prepend(str(DOCS / "hooks"))
    import site_hook
    import site_results

    return site_hook, site_results


def text_of(page):
    """Return what a reader sees of a page."""
    article = page.read_text().split("<article", 1)[1].split("</article>", 1)[0]
    return html.unescape(re.sub(r"<[^>]*>", "", article))


def plain(description):
    """Return a description as a page shows it."""
    return description.replace("`", "")


def test_no_page_asks_another_host_for_anything(site):
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:)?//")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not loaded.search(page.read_text()), page
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", style.read_text()), style


def test_every_generated_part_is_filled_in(site):
    for page in site.rglob("*.html"):
        assert "<!-- generated" not in page.read_text(), page


def test_search_knows_every_page(site):
    index = (site / "search" / "search_index.json").read_text()
    for page in DOCS.rglob("*.md"):
        assert page.relative_to(DOCS).with_suffix(".html").as_posix() in index


@pytest.mark.parametrize(
    ("page", "registry"), [("solvers", SOLVERS), ("formulations", FORMULATIONS), ("laws", CONTACT_LAWS)]
)
def test_the_reference_has_every_plugin_with_every_option(site, page, registry):
    text = text_of(site / "reference" / f"{page}.html")
    for name in registry.names():
        cls = registry.get(name)
        if cls.__module__.startswith("mcpframe."):
            assert name in text
            assert all(plain(option.description) in text for option in describe_options(cls)), name


def test_the_reference_has_every_key_of_a_study_and_of_stepping(site):
    study, stepping = (text_of(site / "reference" / f"{name}.html") for name in ("study-file", "stepping"))
    for settings in (RunSettings, *KINDS.values()):
        assert all(plain(field.description) in study for field in settings.model_fields.values())
    for settings in (Stepping, LayerSettings, Switching, Output, Adaptive):
        assert all(plain(field.description) in stepping for field in settings.model_fields.values())


def test_the_reference_has_every_command(site, capsys):
    text = text_of(site / "reference" / "command-line.html")
    for words in (["solve"], ["simulate"], ["study", "run"], ["corpus", "harvest"]):
        assert main([*words, "--help"]) == 0
        options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
        assert f"mcpframe {' '.join(words)}" in text
        assert all(option in text for option in options), words


def test_the_reference_has_every_public_name(site):
    pages = "".join(page.read_text() for page in (site / "reference" / "api").glob("*.html"))
    shown = set(re.findall(r'id="(mcpframe\.[\w.]+)"', pages))
    missing = [name for name in mf.__all__ if f"mcpframe.{name}" not in shown]
    assert not missing


def test_every_page_is_in_the_navigation():
    text = (DOCS / "hooks" / "mkdocs.yml").read_text()
    named = set(re.findall(r"[\w/-]+\.md$", text, re.MULTILINE))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    reports = {f"results/{page.name}" for page in (DOCS / "results").glob("*.md")} - {"results/index.md"}
    assert pages - reports == named


def test_every_concept_has_a_picture_that_a_command_draws(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from drawings import PICTURES

    kept = {path.relative_to(DOCS / "pictures").as_posix() for path in (DOCS / "pictures").rglob("*.png")}
    assert {f"{name}.png" for name in PICTURES} == kept
    for page in [*(DOCS / "concepts").glob("*.md"), DOCS / "mathematics.md"]:
        pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())
        assert pictures, page
        assert all((page.parent / picture).is_file() for picture in pictures), page


def test_a_picture_is_drawn_anew(tmp_path):
    pytest.importorskip("matplotlib")
    script = ROOT / "examples" / "pictures.py"
    command = [sys.executable, str(script), "--only", "concepts/laws", "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [path.name for path in tmp_path.rglob("*.png")] == ["laws.png"]
    assert (tmp_path / "concepts" / "laws.png").read_bytes().startswith(b"\x89PNG")


def test_equations_are_shown_as_such_and_commands_as_code(hooks):
    import site_math

    assert site_math.is_mathematics("Mass (θ̇⁺ − θ̇_f) = G* [p_b; p_l],     p_u = D β")
    assert site_math.is_mathematics("w >= 0 _|_ z >= 0")
    for code in ("mcpframe solve a.npz --tol 1e-9", "pip install '.[robots]'", "make demo     # β", "x == 1"):
        assert not site_math.is_mathematics(code)
    shown = site_math.equation("θ̇_f = D⁻¹ G*(k) [[a, b], [c, d]] where i is\n|p_t| ≤ μ p_n")
    assert "<mover><mi>θ</mi>" in shown
    assert "<msup><mi>D</mi><mrow><mn>−1</mn></mrow></msup>" in shown
    assert "<msup><mi>G</mi><mo>∗</mo></msup>" in shown
    assert shown.count("<mtr>") == 2 + 2, "two lines, and two rows of a matrix"
    assert "<mtext>&nbsp;where&nbsp;</mtext><mi>i</mi><mtext>&nbsp;is</mtext>" in shown
    ElementTree.fromstring(shown.replace("&nbsp;", " "))
    after = "<msup><mi>v</mi><mrow><mn>+</mn></mrow></msup><mo>−</mo><mi>v</mi>"
    assert after in site_math.equation("v+ - v")
    words = "<mtext>&nbsp;over&nbsp;</mtext><mtext>children&nbsp;</mtext>"
    assert words in site_math.equation("P + Σ over children φ"), "one gap between two words"


def test_columns_of_equations_stay_columns(hooks):
    import site_math

    lines = [
        "limits:    G_l θ̇⁺ ≥ 0    ⟂  p_l",
        "contacts:  D* V + N σ    ⟂  β",
        "           P β           ⟂  σ",
    ]
    rows = ElementTree.fromstring(site_math.equation("\n".join(lines))).findall("math/mtable/mtr")
    assert [len(row) for row in rows] == [4] * 3
    assert "".join(rows[2][0].itertext()) == ""
    assert [row[2][0][0].text for row in rows] == ["⟂"] * 3


def test_the_site_shows_equations(site):
    for page, least in (("mathematics", 8), ("concepts/formulations", 3), ("reference/laws", 5)):
        text = (site / f"{page}.html").read_text()
        assert text.count('<div class="equation">') >= least, page


def test_every_equation_that_is_cited_is_on_the_page_of_its_paper(site, hooks):
    import site_papers

    found = site_papers.citations()
    assert {cited.paper for cited in found} >= {"J14", "J12", "G06"}
    for cited in found:
        text = text_of(site / "papers" / f"{cited.paper.lower()}.html")
        assert cited.name in text
        assert cited.place in text


def test_every_equation_of_the_mathematics_has_a_function(hooks):
    import site_papers

    said = {
        number
        for citation in re.findall(r"\[(?:J14, )?Eqs?\. [^\]]*\]", (DOCS / "mathematics.md").read_text())
        for number in re.findall(r"\((\d+)\)", citation)
    }
    found = {cited.number for cited in site_papers.citations() if (cited.paper, cited.kind) == ("J14", "Eq.")}
    assert len(said) > 10
    assert said <= found


def test_citations_are_read_in_all_their_forms(hooks):
    import site_papers

    text = "First.\n\n[J14, Eqs. (37)-(39), (41)] and [J12, section IV-B; G06, Fig. 3] and [J14]."
    found = [(cited.paper, cited.place) for cited in site_papers._of_docstring(text, "name")]
    equations = {("J14", f"Eq. ({number})") for number in (37, 38, 39, 41)}
    assert set(found) == equations | {("J12", "section IV-B"), ("G06", "figure 3"), ("J14", "as a whole")}


def test_a_report_is_called_what_its_study_is_about(hooks):
    _, results = hooks
    titles = {report.path.stem: report.title for report in results.reports(DOCS)}
    assert titles["table2_j14"] == "Table 2 of J14"
    assert not any("_" in title for title in titles.values())


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("solvers", mf.available_solvers()),
        ("formulations", mf.available_formulations()),
        ("laws", mf.available_contact_laws()),
    ],
)
def test_the_concepts_name_every_plugin(page, names):
    rows = [line for line in (DOCS / "concepts" / f"{page}.md").read_text().split("\n") if line[:1] == "|"]
    assert all(any(f"`{name}`" in row for row in rows) for name in names)


def test_the_first_steps_run_as_they_are_written(tmp_path, monkeypatch, capsys):
    """Python blocks in one program, TOML blocks into files, commands of mcpframe where they stand."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "document"}
    for language, text in BLOCK.findall((DOCS / "index.md").read_text()):
        if language == "toml":
            Path(text.split("\n")[0].removeprefix("# ")).write_text(text)
        elif language == "python":
            exec(compile(text, "index.md", "exec"), namespace)
        else:
            for line in text.splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] != "mcpframe" or main(words[1:]) == 0, line
    assert (tmp_path / "ball" / "trajectory.h5").exists()
    assert (tmp_path / "ball.png").stat().st_size > 1000
    assert (tmp_path / "first" / "report.html").exists()
    assert len((tmp_path / "first.csv").read_text().splitlines()) == 1 + 2 * 3 * 6, (
        "formulations, solvers, problems"
    )


def test_results_are_listed_with_machine_and_commit(hooks, tmp_path):
    _, results = hooks
    (tmp_path / "results").mkdir()
    assert results.overview(tmp_path) == results.NONE_YET
    report = tmp_path / "results" / "quick.md"
    report.write_text(REPORT)
    page = results.overview(tmp_path)
    assert "## [quick](quick.md)" in page
    assert "| machine | a processor, 2 cores |" in page
    assert "| commit | 0123456 |" in page
    assert "report.png" not in results.with_picture(REPORT, report), (
        "a picture that is not there is not shown"
    )
    report.with_suffix(".png").write_bytes(b"")
    assert "![rates](quick.png)" in results.with_picture(REPORT, report)
    assert "![quick](quick.png)" in results.overview(tmp_path)


def test_docstrings_give_every_name_an_entry(hooks):
    pytest.importorskip("griffe")
    from site_docstrings import rewritten

    text = "Args:\n    lower, upper: bounds,\n        w _|_ z.\n    q: vector [n], or [a, b: c]."
    entries = [f"    {name}: bounds,\n        w ⟂ z." for name in ("lower", "upper")]
    assert rewritten(text) == "\n".join(["Args:", *entries, "    q: vector [n], or [a, b: c]."])


def test_links_out_of_the_documentation_become_names_of_files(hooks):
    hook, _ = hooks
    page = type("Page", (), {"file": type("File", (), {"src_uri": "extend/law.md"})})
    config = type("Config", (), {"docs_dir": str(DOCS)})
    text = (
        "[CONTRIBUTING](../../CONTRIBUTING.md), [scenes](../../examples/scenes), [scene](../scenes.md#keys)"
    )
    said = hook.on_page_markdown(text, page, config, None)
    assert said == "CONTRIBUTING (`CONTRIBUTING.md`), `examples/scenes`, [scene](../scenes.md#keys)"
