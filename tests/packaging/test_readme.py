"""Every Python block of the documents runs, in order, with the TOML blocks before it written to files."""

import re
from pathlib import Path

import pytest

import mcpframe as mf

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md", "docs/files.md", "docs/models.md", "docs/scenes.md", "docs/viewing.md"),
    *("docs/corpora.md", "docs/notebooks.md", "docs/reports.md"),
    *(
        f"docs/concepts/{page}.md"
        for page in ("problem", "formulations", "solvers", "laws", "stepping", "impacts")
    ),
    *(f"docs/extend/{page}.md" for page in ("law", "formulation", "solver")),
    "docs/coming-from-path.md",
]
BLOCK = re.compile(r"^( *)```(python|toml)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks(document):
    """Language and text of every block, without the indentation of the list it stands in."""
    for indent, language, text in BLOCK.findall((ROOT / document).read_text()):
        yield language, re.sub(f"^{indent}", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_runs(document, tmp_path, monkeypatch, registries):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "document"}
    languages = []
    for language, text in blocks(document):
        languages.append(language)
        if language == "toml":
            Path(text.split("\n")[0].removeprefix("# ")).write_text(text)
        else:
            exec(compile(text, document, "exec"), namespace)
    assert "python" in languages


def test_what_the_readme_prints_is_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(next(text for language, text in blocks("README.md") if language == "python"), {})
    printed = capsys.readouterr().out.split("\n")
    assert printed[0].startswith("SOLVED")
    assert printed[0].endswith("[2.8 0.  0.8 1.2]")


def test_the_readme_is_a_page():
    assert len((ROOT / "README.md").read_text().split("\n")) <= 160


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("solvers", mf.available_solvers()),
        ("formulations", mf.available_formulations()),
        ("contact laws", mf.available_contact_laws()),
    ],
)
def test_the_readme_names_every_plugin_and_no_other(kind, names):
    (row,) = re.findall(rf"^\| \[{kind}\].*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(names)


def table_of(page, title):
    """The first column of the table below a heading, and the rest of its rows."""
    text = (ROOT / f"docs/concepts/{page}.md").read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)`([^\n]*) \|$", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "title", "names"),
    [
        ("solvers", "What each is certain of", mf.available_solvers()),
        ("formulations", "Sizes", mf.available_formulations()),
    ],
)
def test_the_tables_of_solvers_and_formulations_are_complete(page, title, names):
    assert set(table_of(page, title)) == set(names)


def test_the_sizes_that_are_tabled_are_those_of_the_dual_arm():
    state = mf.systems.dual_arm().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4), dt=1e-3)
    rows = table_of("formulations", "Sizes")
    said = {name: int(re.findall(r"\| (\d+) \|", row)[0]) for name, row in rows.items()}
    assert said == {name: mf.formulation(name).build(step)[0].n for name in mf.available_formulations()}


def test_a_robot_lands_as_the_readme_says(capsys):
    code = next(text for _, text in blocks("README.md") if "mf.systems.quadruped()" in text)
    namespace = {"mf": mf}
    exec(code, namespace)
    assert capsys.readouterr().out.count("'sticking'") == 4
    assert namespace["problem"].n == 24


def test_the_table_of_systems_is_complete():
    text = (ROOT / "docs/models.md").read_text().split("## Ready systems")[1]
    assert all(f"`{name}`" in text for name in mf.systems.available())


def test_the_table_of_statuses_is_complete():
    text = (ROOT / "docs/concepts/problem.md").read_text().split("## When is it solved?")[1]
    assert all(f"`{status.name}`" in text for status in mf.Status)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]


def test_links_lead_somewhere():
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))
    ]
    assert len(links) > 100
    lost = [
        (page.name, target)
        for page, target in links
        if not target.startswith("https://")
        and not (page.parent / target).exists()
        and target != "report.png"  # of reports: the site shows it under the name that it has here
    ]
    assert not lost


def test_every_make_target_that_the_documents_name_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        word
        for page in PAGES
        for word in re.findall(r"(?:`|^    )make ([a-z]+)", page.read_text(), re.MULTILINE)
    }
    assert {"demo", "test", "bench", "suite"} <= named
    assert named <= targets
