"""A stranger's package, built and installed into an environment of its own, solves by name."""

import shutil
from pathlib import Path

import pytest
from environments import Environment

import mcpframe as mf

SOURCE = Path(__file__).parent / "foreign_plugin"
SOLVE = """
import mcpframe as mf
solution = mf.solve(mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, -5.0]), "projection", step=0.3)
print(solution.ok, solution.solver, solution.z.round(6).tolist())
"""
LOAD = "print(repr(mf.load_solver('solver.toml')))"
LIST = "from mcpframe.cli import main; print('listed:', main(['list']))"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    shutil.copytree(SOURCE, folder / "source")
    environment = Environment(folder / "environment")
    environment.install(folder / "source")
    return environment


@pytest.fixture(scope="module")
def said(environment, tmp_path_factory):
    """The lines of one process there that solves, loads a solver from a file, and lists all."""
    folder = tmp_path_factory.mktemp("use")
    (folder / "solver.toml").write_text('[solver]\nname = "projection"\nmax_iterations = 1\n')
    run = environment.run(f"{SOLVE}\n{LOAD}\n{LIST}", folder)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_a_foreign_solver_solves_by_name(said):
    assert said[0] == "True projection [1.0, 2.0]"


def test_a_foreign_solver_takes_its_options_from_a_file(said):
    assert said[1] == "Projection(step=0.1, max_iterations=1)"


def test_a_foreign_solver_is_listed_with_its_options(said):
    *listed, end = said[2:]
    assert end == "listed: 0"
    assert any("projection  Fixed-point projection" in line for line in listed)
    assert any("length of a step" in line for line in listed)


def test_it_is_unknown_outside_its_environment():
    with pytest.raises(mf.PluginError, match="unknown solver 'projection'"):
        mf.solve(mf.MixedLCP([[1.0]], [-1.0]), "projection")


def test_a_second_owner_of_the_name_is_an_error_that_names_both(environment, tmp_path):
    """Last of all: from here on the environment has two packages that claim one name."""
    twin = tmp_path / "twin"
    shutil.copytree(SOURCE, twin)
    (twin / "foreign_plugin.py").rename(twin / "foreign_twin.py")
    text = (twin / "pyproject.toml").read_text()
    (twin / "pyproject.toml").write_text(
        text.replace("foreign-plugin", "foreign-twin").replace("foreign_plugin", "foreign_twin")
    )
    environment.install(twin)
    run = environment.run(f"{LIST}\n{SOLVE}")
    assert "solver 'projection' is claimed by foreign-" in run.stderr
    assert "foreign-plugin (foreign_plugin:Projection)" in run.stderr
    assert "foreign-twin (foreign_twin:Projection)" in run.stderr
    assert "foreign-plugin" in run.stdout
    assert "foreign-twin" in run.stdout
