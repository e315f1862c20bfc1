"""Every Python block of the documents runs, in order, with the TOML blocks before it written to files."""

import re
from pathlib import Path

import pytest

import mcpframe as mf

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md", "docs/files.md", "docs/models.md", "docs/scenes.md", "docs/viewing.md"),
    *("docs/corpora.md", "docs/notebooks.md"),
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
    code = [text for language, text in blocks("README.md") if language == "python"]
    exec(code[0] + code[1], {})
    printed = capsys.readouterr().out.split("\n")
    assert printed[0].startswith("SOLVED")
    assert printed[0].endswith("[2.8 0.  0.8 1.2]")
    assert printed[1] == "[1. 1.]"


def test_the_table_of_solvers_is_complete():
    table = (ROOT / "README.md").read_text().split("## Solvers")[1].split("## Formulations")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(mf.available_solvers())


@pytest.mark.parametrize(
    ("title", "next_title", "names"),
    [
        ("## Formulations", "## Contact laws", mf.available_formulations()),
        ("## Contact laws", "## Honest answers", mf.available_contact_laws()),
    ],
)
def test_the_tables_of_formulations_and_laws_are_complete(title, next_title, names):
    table = (ROOT / "README.md").read_text().split(title)[1].split(next_title)[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(names)


def test_the_sizes_that_the_readme_says_are_those_of_the_dual_arm():
    state = mf.systems.dual_arm().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4), dt=1e-3)
    table = (ROOT / "README.md").read_text().split("## Formulations")[1].split("## Contact laws")[0]
    said = re.findall(r"^\| `(\w+)`.*?\| (\d+) \|", table, re.MULTILINE)
    assert {name: int(size) for name, size in said} == {
        name: mf.formulation(name).build(step)[0].n for name in mf.available_formulations()
    }


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
    text = (ROOT / "README.md").read_text().split("## Honest answers")[1]
    assert all(f"`{status.name}`" in text for status in mf.Status)


@pytest.mark.parametrize("document", [*DOCUMENTS, "CHANGELOG.md", "docs/mathematics.md"])
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert target.startswith("https://") or (ROOT / document).parent.joinpath(target).exists(), target


def test_every_make_target_that_the_documents_name_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        word
        for document in DOCUMENTS
        for word in re.findall(r"(?:`|^    )make ([a-z]+)", (ROOT / document).read_text(), re.MULTILINE)
    }
    assert {"demo", "test", "bench", "suite"} <= named
    assert named <= targets
