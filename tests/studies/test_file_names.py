"""Names of studies and sources are names of files, and lead nowhere else."""

from pathlib import Path

import pytest
from in_this_process import InThisProcess

from mcpframe import OptionError
from mcpframe.studies.file_names import file_name, is_within
from mcpframe.studies.running.runner import run_study
from mcpframe.studies.study.study_file import parse_study

PLAIN = ["solvers", "pendulum_links=12", "a-b.c", "übung"]
HOSTILE = [
    "../../X",
    "/etc/x",
    "..",
    ".",
    "",
    "C:\\x",
    "nul",
    "CON.txt",
    "a\0b",
    "a\nb",
    "ä" * 400,
    ".hidden",
    "x.",
]
STUDY = """
solvers = ["lemke"]
labels = false
[[problems]]
generator = "full"
sizes = 1
"""


def test_plain_names_stay_as_they_are():
    assert [file_name(name) for name in PLAIN] == PLAIN
    assert file_name("pendulum, links 12/step=3") == "pendulum,_links_12_step=3"


def test_any_name_is_one_of_a_file_in_its_folder(tmp_path):
    names = [file_name(name) for name in HOSTILE]
    for name in names:
        place = tmp_path / f"{name}.npz"
        place.write_bytes(b"")
        assert place.parent.resolve() == tmp_path
        assert not set(name) & set('\\/:*?"<>|')
    assert len({name.lower() for name in names}) == len(HOSTILE)


@pytest.mark.parametrize("name", ["../../X", "{elsewhere}/X"])
def test_a_study_stays_in_the_current_folder_whatever_its_name(name, tmp_path, monkeypatch):
    here, elsewhere = tmp_path / "a/b/here", tmp_path / "elsewhere"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    study = parse_study(f"name = '{name.format(elsewhere=elsewhere)}'\n{STUDY}")
    assert is_within(run_study(study, executor=InThisProcess()).folder, here / "out")
    assert sorted(path.name for path in tmp_path.rglob("*") if here not in (path, *path.parents)) == [
        "a",
        "b",
    ]


@pytest.mark.parametrize("corpus", ["../made.h5", "{elsewhere}/made.h5"])
def test_a_recipe_makes_no_corpus_elsewhere(corpus, tmp_path, monkeypatch):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    monkeypatch.chdir(here)
    table = f"[[problems]]\ncorpus = '{corpus.format(elsewhere=elsewhere)}'\nrecipe = 'quadruped'\n"
    with pytest.raises(
        OptionError, match=r"made\.h5 is neither in the current folder nor in that of the study"
    ):
        parse_study(f'solvers = ["lemke"]\n{table}', here)
    assert list(tmp_path.iterdir()) == [here]


def test_links_do_not_lead_out(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here/link").symlink_to(tmp_path)
    assert is_within(tmp_path / "here/x", tmp_path / "here")
    assert not is_within(tmp_path / "here/link/x", tmp_path / "here")
    assert not is_within(Path("/"), tmp_path)
