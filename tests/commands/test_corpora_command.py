"""``mcpframe corpus``: harvest, recipe, list, show and export on the command line."""

from pathlib import Path

import pytest

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.studies.corpora.recipes import RECIPES

SCENE = Path(__file__).parents[2] / "examples" / "scenes" / "box_stack.toml"


def run(capsys, *words):
    status = main(["corpus", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def harvested(tmp_path, capsys):
    path = tmp_path / "stack.h5"
    words = ("harvest", SCENE, "--out", path, "--every", 2, "--limit", 5, "--set", "duration=0.1")
    assert run(capsys, *words)[0] == 0
    return path


def test_a_harvest_is_written_and_summed_up(tmp_path, capsys):
    out = tmp_path / "a.h5"
    status, text, _ = run(capsys, "harvest", SCENE, "--out", out, "--limit", 4, "--formulation", "mc")
    assert status == 0
    for part in ("box_stack", "4", "rank ratio", "sticking 4", str(out)):
        assert part in text
    with mf.Corpus(out) as corpus:
        assert [record.provenance["step"] for record in corpus] == [1, 2, 3, 4]
        assert {record.provenance["formulation"] for record in corpus} == {"mc"}


def test_every_and_limit_are_obeyed(harvested):
    with mf.Corpus(harvested) as corpus:
        assert [record.provenance["step"] for record in corpus] == [2, 4, 6, 8, 10]


def test_show_groups_by_label_or_provenance(harvested, capsys):
    status, text, _ = run(capsys, "show", harvested)
    assert status == 0
    assert "120" in text  # rows of five boxes on four corners each
    assert "hard 5" in text
    assert run(capsys, "show", harvested, "--by", "step")[1].splitlines()[-1].split()[:2] == ["all", "5"]
    status, _, error = run(capsys, "show", harvested, "--by", "hardnes")
    assert status == 2
    assert "did you mean 'hardness'" in error


def test_a_corpus_without_labels_is_shown_too(tmp_path, capsys):
    path = tmp_path / "plain.h5"
    with mf.Corpus(path, "a") as corpus:
        corpus.append(mf.MixedLCP([[1.0]], [-1.0]))
    status, text, _ = run(capsys, "show", path)
    assert status == 0
    assert "given" in text


def test_export_writes_files_that_solve_reads(harvested, tmp_path, capsys):
    fclib, npz = tmp_path / "fclib", tmp_path / "npz"
    status, text, _ = run(capsys, "export", harvested, "--fclib", fclib, "--npz", npz)
    assert status == 0
    assert text.count("5 files") == 2
    for file in (fclib / "000004.hdf5", npz / "000004.npz"):
        assert main(["solve", str(file)]) == 0


def test_list_names_every_recipe_with_its_sizes(capsys):
    status, text, _ = run(capsys, "list")
    assert status == 0
    for name, recipe in RECIPES.items():
        row = next(line for line in text.splitlines() if line.split()[0] == name)
        assert row.split()[1:3] == [
            str(sum(take.count for take in takes)) for takes in (recipe.quick, recipe.full)
        ]


def test_a_recipe_is_made(tmp_path, capsys):
    out = tmp_path / "q.h5"
    status, text, _ = run(capsys, "recipe", "quadruped", "--size", "quick", "--out", out)
    assert status == 0
    assert "quadruped" in text
    with mf.Corpus(out) as corpus:
        assert len(corpus) == RECIPES["quadruped"].quick[0].count


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("recipe", "quadrupet", "--out", "a.h5"), "did you mean 'quadruped'"),
        (("recipe", "quadruped", "--out", "no/folder/a.h5"), "folder that exists"),
        (("recipe", "quadruped", "--size", "huge", "--out", "a.h5"), "huge"),
        (("harvest", SCENE, "--out", "a.h5", "--formulation", "oz"), "oz"),
        (("harvest", SCENE, "--out", "a.h5", "--every", 0), "every"),
        (("harvest", "no.toml", "--out", "a.h5"), "no.toml"),
        (("show", "no.h5"), "no.h5"),
        (("export", "no.h5"), "--fclib DIR"),
    ],
)
def test_misuse_is_told_in_a_line_and_leaves_nothing(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    status, _, error = run(capsys, *words)
    assert status == 2
    assert message in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())
