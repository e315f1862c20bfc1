"""Studies from Python: systems that are registered or made by functions of files, and dicts for files."""

import re
from pathlib import Path

import numpy as np
import pytest
from in_this_process import InThisProcess

import mcpframe as mf
from mcpframe import systems
from mcpframe.exceptions import ModelError, OptionError, PluginError
from mcpframe.io.trust import Code
from mcpframe.studies.running.estimate import estimate
from mcpframe.studies.study.study_file import load_study, make_study

FUNCTION = '''
import mcpframe as mf

def rope(links: int = 3, mass=0.5):
    """A pendulum by another name."""
    return mf.systems.pendulum(links=links)

def nothing():
    return 3

def broken():
    raise KeyError("mass")
'''


def study_of(system, **parameters):
    return {
        "name": "mine",
        "labels": False,
        "solvers": ("lemke",),
        "problems": [{"system": system, "parameters": parameters, "contacts": 2, "states": 2}],
    }


@pytest.fixture
def registered(monkeypatch):
    """Names that are registered in a test are forgotten after it."""
    monkeypatch.setattr(systems, "_MAKERS", dict(systems._MAKERS))


@pytest.fixture
def rope_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ropes.py").write_text(FUNCTION)
    return tmp_path


def test_a_registered_system_is_solved_by_processes_that_do_not_know_it(registered, tmp_path):
    heavy = 2  # a closure, which no other process could import

    @mf.register_system("rope")
    def rope(links: int = 3):
        """A rope of links."""
        return mf.systems.pendulum(links=heavy * links)

    results = mf.run_study(study_of("rope", links=[1, 2]), workers=1, out=tmp_path / "out")
    assert len(results.rows) == 4
    assert all(row.ok for row in results.rows)
    assert {row.system for row in results.rows} == {"rope"}
    assert {row.n_dofs for row in results.rows} == {2, 4}
    assert systems.available()["rope"] == "A rope of links."


def test_rows_of_a_registered_system_are_not_mixed_with_those_of_another_of_its_name(registered):
    def config():
        return make_study(study_of("rope")).config()

    mf.register_system("rope", lambda: mf.systems.pendulum(links=3))
    before, again = config(), config()
    mf.register_system("rope", lambda: mf.systems.pendulum(links=4))
    assert before == again
    assert config() != before


def test_a_registered_system_is_known_to_scenes(registered, tmp_path):
    mf.register_system("rope", lambda links=3: mf.systems.pendulum(links=links))
    file = tmp_path / "scene.toml"
    file.write_text('[model]\nsystem = "rope"\noptions = { links = 5 }\n')
    assert mf.load_scene(file).model.n_dofs == 5


@pytest.mark.parametrize(
    ("name", "function", "word"),
    [
        ("pendulum", lambda: None, "another name"),
        ("a/b", lambda: None, "letters"),
        ("x.urdf", lambda: None, "letters"),
        ("rope", 3, "not a function"),
    ],
)
def test_names_that_mislead_and_what_is_no_function_are_refused(registered, name, function, word):
    with pytest.raises(PluginError, match=word):
        mf.register_system(name, function)


def test_a_function_of_a_file_makes_the_models(rope_file):
    study = study_of("ropes.py:rope", links=[2, 3], mass=1)
    results = mf.run_study(study, executor=InThisProcess(), out="out")
    assert [row.n_dofs for row in sorted(results.rows, key=lambda row: row.case)] == [2, 2, 3, 3]
    assert {row.system for row in results.rows} == {"rope"}
    assert "ropes.py" in results.header["config"]["problems"]["rope"]["files"]


def test_code_of_a_system_is_refused_or_left_alone_where_it_is_not_allowed(rope_file):
    Path("ropes.py").write_text("raise SystemExit('this file was run')")
    with pytest.raises(OptionError, match=r"problems\[0\].system: 'ropes.py:rope' is Python code"):
        make_study(study_of("ropes.py:rope"), allow_code=False)
    study = make_study(study_of("ropes.py:rope", links=[2, 3]), allow_code=Code.SKIP)
    (share,) = estimate(study)
    assert (share.groups, share.rows, share.seconds) == (2, 4, None)


def test_a_file_names_a_function_as_a_dict_does(rope_file):
    text = 'solvers = ["lemke"]\n[[problems]]\nsystem = "ropes.py:rope"\nparameters = { links = 4 }\n'
    Path("study.toml").write_text(text)
    table = {"solvers": ["lemke"], "problems": [{"system": "ropes.py:rope", "parameters": {"links": 4}}]}
    assert load_study("study.toml").config() == make_study(table).config()


@pytest.mark.parametrize(
    ("system", "error", "words"),
    [
        ("ropes.py:rop", PluginError, "did you mean 'rope'"),
        ("cords.py:rope", PluginError, "no file"),
        ("ropes.py:nothing", ModelError, "returned int, expected a Model"),
        ("ropes.py:broken", ModelError, "raised KeyError: 'mass'"),
        ("pendulm", ModelError, "did you mean 'pendulum'"),
    ],
)
def test_errors_say_which_table_and_what_to_do(rope_file, system, error, words):
    with pytest.raises(error, match=rf"mine: problems\[0\].*{words}"):
        make_study(study_of(system))


def test_options_that_a_function_does_not_have_are_named(rope_file):
    with pytest.raises(OptionError, match=r"parameters.*rope has no option 'link'; did you mean 'links'"):
        make_study(study_of("ropes.py:rope", link=3))
    with pytest.raises(OptionError, match="links"):
        make_study(study_of("ropes.py:rope", links="many"))


def test_arrays_tuples_and_ranges_do_for_lists():
    lists = study_of("pendulum", links=[2, 3])
    other = study_of("pendulum", links=np.arange(2, 4)) | {"solvers": ["lemke"], "tol": np.float64(1e-9)}
    ranged = study_of("pendulum", links=range(2, 4))
    assert make_study(lists).config() == make_study(other).config() == make_study(ranged).config()


def test_the_guide_runs_as_it_is_written(registered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/studies.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(compile(code, "studies.md", "exec"), {"__name__": "document"})
