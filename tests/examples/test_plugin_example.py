"""The tutorial on plugins: its code is that of examples/plugin, and it runs with the package installed."""

import re
import shutil
from pathlib import Path

import pytest
from environments import Environment

import mcpframe as mf
from mcpframe.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "plugin"
TUTORIAL = ROOT / "docs" / "tutorial-plugin.md"
NAMED_BLOCK = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHER_PYTHON = re.compile(r"(?<!`:\n\n)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_WHOLE = {
    "pyproject.toml",
    "parcels.toml",
    "study.toml",
    "src/mcpframe_conveyor/__init__.py",
    "src/mcpframe_conveyor/conveyor.py",
    "src/mcpframe_conveyor/douglas_rachford.py",
    "tests/test_study.py",
}
"""Files that the tutorial shows from the first line to the last, in parts."""
SOLVER = "douglas_rachford"
CHECK = ["study", "check", f"{PACKAGE}/study.toml"]


def shown():
    """What the tutorial shows of each file, part by part."""
    parts = {}
    for name, text in NAMED_BLOCK.findall(TUTORIAL.read_text()):
        parts.setdefault(name, []).append(text)
    return parts


def lines(text):
    return [line for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PACKAGE, folder / "source")
    environment = Environment(folder / "environment")
    environment.install(folder / "source")
    return environment


def test_every_block_of_the_tutorial_is_in_the_file_that_it_names():
    for name, parts in shown().items():
        text = (PACKAGE / name).read_text()
        assert [part for part in parts if part not in text] == [], name


@pytest.mark.parametrize("name", sorted(IN_WHOLE))
def test_whoever_follows_the_tutorial_has_the_whole_file(name):
    assert lines("".join(shown()[name])) == lines((PACKAGE / name).read_text())


def test_the_tutorial_shows_all_that_the_package_runs():
    sources = [*PACKAGE.glob("src/**/*.py"), *PACKAGE.glob("*.toml")]
    assert {str(path.relative_to(PACKAGE)) for path in sources} <= IN_WHOLE


@pytest.fixture(scope="module")
def said(environment):
    """What one process there says: the programs between, then commands; none of them may fail."""
    program = "\n".join(OTHER_PYTHON.findall(TUTORIAL.read_text()))
    commands = [f"assert main({words}) == 0" for words in (["list", "conveyor"], ["list", SOLVER], CHECK)]
    code = "\n".join([program, "from mcpframe.cli import main", *commands])
    run = environment.run(code, folder=PACKAGE)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_programs_between_run_one_after_the_other(said):
    assert said.count("0.003924 m/s") == 7  # mu g dt, in every formulation
    assert "laid_box: x = 0.673 m" in said  # v t - v^2 / (2 mu g), and half a step
    assert "SOLVED" in said


def test_the_command_line_lists_both_plugins_with_their_options(said):
    assert "speed_1" in said
    assert "max_iterations" in said
    assert "not available" not in said


def test_they_are_unknown_outside_that_environment():
    assert "coulomb" in mf.available_contact_laws()
    assert "conveyor" not in mf.available_contact_laws()
    assert SOLVER not in mf.available_solvers()


def test_its_study_is_read_there_and_refused_where_the_package_is_missing(said, capsys):
    assert "840 rows" in said
    assert main(CHECK) == 2
    assert "study.toml: line" in capsys.readouterr().err


def test_links_of_the_tutorial_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)", TUTORIAL.read_text())
    assert [target for target in targets if not (TUTORIAL.parent / target).exists()] == []
