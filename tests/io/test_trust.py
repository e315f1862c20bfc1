"""Code that scenes and studies name runs where somebody has said so, and never by a check."""

import subprocess
import sys

import pytest

import mcpframe as mf
from mcpframe import OptionError
from mcpframe.cli import main
from mcpframe.io.trust import VARIABLE, Code, _tell
from mcpframe.scene.scene_file import parse_scene
from mcpframe.studies.study.study_file import load_study

MARK = "from pathlib import Path\nPath('{mark}').touch()\n"
"""What hostile code might do: here it leaves a file behind."""
WALK = "def walk(state, time):\n    return [0.0] * 6\n"
PLUGIN = """
import mcpframe as mf
from typing import final

@final
class Idle(mf.AbstractSolver):
    name = "idle"

    def _solve(self, problem, request):
        return mf.Claim(problem.lower, mf.Status.ITERATION_LIMIT)

mf.register_solver(Idle)
"""
BODY = '[model]\nsystem = "sphere"\n[stepping]\nduration = 0.002\n'
NAMES = {
    "controller": '[[controller]]\nkind = "function"\nfunction = "walk.py:walk"\n',
    "module": '[[controller]]\nkind = "function"\nfunction = "walk:walk"\n',
    "reference": '[[controller]]\nkind = "pd"\nkp = 1.0\nkd = 1.0\nreference = "walk.py:walk"\n',
    "motion": '[[closure]]\nkind = "distance"\na = "sphere"\nb = "world"\nlength = 1.0\n'
    'motion = "walk.py:walk"\n',
}
STUDY = 'name = "s"\nsolvers = ["lemke", "idle"]\nimports = ["plugin.py"]\n'
GENERATOR = '[[problems]]\ngenerator = "full"\nsizes = 1\n'


@pytest.fixture
def folder(tmp_path, monkeypatch, registries):
    """Give a folder of code that leaves `mark` behind when it is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    mark = MARK.format(mark=tmp_path / "mark")
    (tmp_path / "walk.py").write_text(mark + WALK)
    (tmp_path / "plugin.py").write_text(mark + PLUGIN)
    (tmp_path / "scene.toml").write_text(BODY + NAMES["controller"])
    (tmp_path / "study.toml").write_text(STUDY + GENERATOR)
    _tell.cache_clear()
    yield tmp_path
    sys.modules.pop("mcpframe_study_plugin", None)


COMMANDS = [
    ["simulate", "scene.toml", "--no-plots", "--out", "run"],
    ["compare", "scene.toml", "--formulation", "os", "--dt", "1e-3", "--dt", "2e-3", "--out", "compared"],
    ["corpus", "harvest", "scene.toml", "--out", "harvest.h5"],
    ["study", "run", "study.toml", "--no-report", "--out", "rows", "--workers", "1"],
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_refuses_code_in_one_line_that_says_what_to_do(words, folder, capsys):
    before = sorted(folder.iterdir())
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is Python code, which is not run unasked" in error
    assert "add --allow-code, set MCPFRAME_ALLOW_CODE=1" in error
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("words", [COMMANDS[0], COMMANDS[3]])
@pytest.mark.parametrize("way", ["flag", "setting"])
def test_a_command_runs_code_that_is_allowed_and_says_so(words, way, folder, monkeypatch, capsys):
    if way == "setting":
        monkeypatch.setenv(VARIABLE, "1")
    assert main([*words, *["--allow-code"] * (way == "flag")]) == 0
    assert "mcpframe: note: runs the code of" in capsys.readouterr().err
    assert (folder / "mark").exists()


def test_the_setting_0_allows_nothing(monkeypatch):
    for value, code in (("1", Code.TELL), ("0", Code.REFUSE), ("", Code.REFUSE)):
        monkeypatch.setenv(VARIABLE, value)
        assert Code.of_command(False) is code
    assert Code.of_command(True) is Code.TELL


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_is_refused_wherever_it_names_code(name, folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(OptionError, match=r"scene: line \d+: .*is Python code"):
        parse_scene(BODY + NAMES[name], folder, allow_code=False)
    assert not (folder / "mark").exists()
    parse_scene(BODY + NAMES[name], folder, allow_code=Code.SKIP)
    assert not (folder / "mark").exists()


def test_python_runs_code_unless_it_is_told_not_to(folder):
    with pytest.raises(OptionError, match="is Python code"):
        mf.load_scene("scene.toml", allow_code=False)
    with pytest.raises(OptionError, match="is Python code"):
        mf.run_study("study.toml", out="rows", allow_code=False)
    assert not (folder / "mark").exists()
    assert not (folder / "rows").exists()
    mf.load_scene("scene.toml")
    assert (folder / "mark").exists()


@pytest.mark.parametrize("variable", ["0", "1"])
def test_a_check_runs_no_code_whatever_is_allowed(variable, folder, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, variable)
    scenes = '[[problems]]\nscene = "scene.toml"\n'
    (folder / "study.toml").write_text(STUDY + GENERATOR + scenes)
    assert main(["study", "check", "study.toml"]) == 0
    assert not (folder / "mark").exists()
    assert "plugin.py: not run by a check" in capsys.readouterr().out


def test_a_check_still_finds_mistakes(folder, capsys):
    (folder / "study.toml").write_text(STUDY.replace("plugin.py", "plugn.py") + GENERATOR)
    assert main(["study", "check", "study.toml"]) == 2
    assert "'plugn.py': there is no such file" in capsys.readouterr().err
    (folder / "study.toml").write_text(STUDY + GENERATOR.replace("sizes", "seizes"))
    assert main(["study", "check", "study.toml"]) == 2
    assert "did you mean 'sizes'?" in capsys.readouterr().err
    (folder / "scene.toml").write_text(BODY + NAMES["controller"].replace("walk.py:", "wlk.py:"))
    (folder / "study.toml").write_text(STUDY + '[[problems]]\nscene = "scene.toml"\n')
    assert main(["study", "check", "study.toml"]) == 2
    assert "function 'wlk.py:walk': there is no file" in capsys.readouterr().err
    assert not (folder / "mark").exists()


def test_what_was_allowed_runs_in_the_workers_too(folder):
    study = load_study("study.toml")
    rows = mf.run_study(study, out="rows", workers=1).rows
    assert {row.solver: row.status for row in rows} == {"lemke": "SOLVED", "idle": "ITERATION_LIMIT"}


def test_a_run_that_fails_before_its_first_step_leaves_no_folder(folder, capsys):
    (folder / "walk.py").write_text("def walk(state, time):\n    raise RuntimeError('lame')\n")
    assert main([*COMMANDS[0], "--allow-code"]) == 2
    assert "lame" in capsys.readouterr().err
    assert not (folder / "run").exists()


def test_a_module_in_the_current_folder_is_code_as_well(folder):
    """``python -m mcpframe`` looks for modules in the current folder first."""
    (folder / "scene.toml").write_text(BODY + NAMES["module"])
    words = [sys.executable, "-m", "mcpframe", "simulate", "scene.toml"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "is Python code" in done.stderr
    assert not (folder / "mark").exists()
