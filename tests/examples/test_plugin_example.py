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


def test_the_programs_between_run_one_after_the_other(environment):
    program = "\n".join(OTHER_PYTHON.findall(TUTORIAL.read_text()))
    run = environment.run(program, folder=PACKAGE)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("0.003924 m/s") == 7  # mu g dt, in every formulation
    assert "laid_box: x = 0.673 m" in run.stdout  # v t - v^2 / (2 mu g), and half a step
    assert "SOLVED" in run.stdout


def test_the_command_line_lists_both_plugins_with_their_options(environment):
    names = ("conveyor", "douglas_rachford")
    code = f"from mcpframe.cli import main; raise SystemExit(max(main(['list', name]) for name in {names}))"
    run = environment.run(code)
    assert run.returncode == 0, run.stderr
    assert "speed_1" in run.stdout
    assert "max_iterations" in run.stdout
    assert "not available" not in run.stdout


def test_they_are_unknown_outside_that_environment():
    assert "coulomb" in mf.available_contact_laws()
    assert "conveyor" not in mf.available_contact_laws()
    assert "douglas_rachford" not in mf.available_solvers()


def test_its_study_is_read_there_and_refused_where_the_package_is_missing(environment, capsys):
    words = ["study", "check", f"{PACKAGE}/study.toml"]
    there = environment.run(f"from mcpframe.cli import main; raise SystemExit(main({words}))")
    assert there.returncode == 0, there.stderr
    assert "840 rows" in there.stdout
    assert main(words) == 2
    assert "study.toml: line" in capsys.readouterr().err


def test_links_of_the_tutorial_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)", TUTORIAL.read_text())
    assert [target for target in targets if not (TUTORIAL.parent / target).exists()] == []
