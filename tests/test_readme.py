"""Every Python block of the documents runs, in order, with the TOML blocks before it written to files."""

import re
from pathlib import Path

import pytest

import mcpframe as mf

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/files.md"]
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
