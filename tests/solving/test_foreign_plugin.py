"""A stranger's package, built and installed into an environment of its own, solves by name."""

import shutil
from pathlib import Path

import pytest
from environments import Environment

import mcpframe as mf

SOURCE = Path(__file__).parent / "foreign_plugin"
SOLVE = """
import mcpframe as mf
solution = mf.solve(mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, -5.0]), "{name}", step=0.3)
print(solution.ok, solution.solver, solution.z.round(6).tolist())
"""
LIST = "from mcpframe.cli import main; raise SystemExit(main(['list']))"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    shutil.copytree(SOURCE, folder / "source")
    environment = Environment(folder / "environment")
    environment.install(folder / "source")
    return environment


def test_a_foreign_solver_solves_by_name(environment):
    run = environment.run(SOLVE.format(name="projection"))
    assert run.stdout == "True projection [1.0, 2.0]\n", run.stderr


def test_a_foreign_solver_takes_its_options_from_a_file(environment, tmp_path):
    config = tmp_path / "solver.toml"
    config.write_text('[solver]\nname = "projection"\nmax_iterations = 1\n')
    code = f"import mcpframe as mf; print(repr(mf.load_solver({str(config)!r})))"
    assert environment.run(code).stdout == "Projection(step=0.1, max_iterations=1)\n"


def test_a_foreign_solver_is_listed_with_its_options(environment):
    run = environment.run(LIST)
    assert run.returncode == 0, run.stderr
    assert "projection  Fixed-point projection" in run.stdout
    assert "length of a step" in run.stdout


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
    run = environment.run(f"from mcpframe.cli import main; main(['list'])\n{SOLVE.format(name='projection')}")
    assert "solver 'projection' is claimed by foreign-" in run.stderr
    assert "foreign-plugin (foreign_plugin:Projection)" in run.stderr
    assert "foreign-twin (foreign_twin:Projection)" in run.stderr
    assert "foreign-plugin" in run.stdout
    assert "foreign-twin" in run.stdout
