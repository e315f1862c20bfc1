"""The package as pip makes it: complete, and nothing beside ``mcpframe`` in site-packages."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import mcpframe

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINKS = {"mcpframe/solvers": "../solvers", "mcpframe/formulations": "../formulations"}
HOMES = {"mcpframe.contact_laws": "mcpframe.formulations.laws"}
"""Packages of plugins whose entry-point group is not called like the package."""


def source_files():
    """Every Python file of the package, by its name once installed."""
    return {
        str(Path(folder, name).relative_to(ROOT))
        for folder, _, names in os.walk(ROOT / "mcpframe", followlinks=True)
        for name in names
        if name.endswith(".py")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(copied_tree(tmp_path_factory.mktemp("tree")), "build_wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return built(copied_tree(tmp_path_factory.mktemp("tree")), "build_sdist")


def copied_tree(target):
    """Copy what a build reads, so that it leaves nothing behind in the checkout."""
    forget = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("mcpframe", "solvers", "formulations"):
        shutil.copytree(ROOT / name, target / name, symlinks=True, ignore=forget)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    return target


def built(tree, hook):
    """Build as pip does, without a network: the backend's own hook in a process of its own."""
    code = f"import setuptools.build_meta as b; print('BUILT ' + b.{hook}('dist'))"
    (tree / "dist").mkdir()
    run = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return tree / "dist" / run.stdout.rsplit("BUILT ", 1)[1].strip()


def test_every_subpackage_is_listed_and_every_listed_one_exists():
    found = {str(Path(file).parent).replace(os.sep, ".") for file in source_files()}
    assert found == set(PROJECT["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("link", LINKS)
def test_plugin_folders_are_linked_into_the_package(link):
    assert (ROOT / link).is_symlink()
    assert os.readlink(ROOT / link) == LINKS[link]


def test_every_subpackage_has_an_init_file():
    files = source_files()
    assert all(f"{Path(file).parent}/__init__.py" in files for file in files)


def test_the_wheel_holds_every_source_file_and_nothing_beside_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if name.endswith(".py")} == source_files()
    assert "mcpframe/py.typed" in names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"mcpframe", f"mcpframe-{mcpframe.__version__}.dist-info"}


def test_the_wheel_carries_entry_points_and_licence(wheel):
    archive = zipfile.ZipFile(wheel)
    info = f"mcpframe-{mcpframe.__version__}.dist-info"
    points = archive.read(f"{info}/entry_points.txt").decode()
    assert "[mcpframe.solvers]" in points
    assert "lemke = mcpframe.solvers.lemke:Lemke" in points
    assert "os = mcpframe.formulations.operational.space:OperationalSpace" in points
    assert "coulomb = mcpframe.formulations.laws.coulomb:Coulomb" in points
    assert "mcpframe = mcpframe.cli:main" in points
    assert b"Apache License" in archive.read(f"{info}/licenses/LICENSE")


def test_a_wheel_made_from_the_sdist_is_the_same(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = built(next(tmp_path.iterdir()), "build_wheel")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_version_is_told_once():
    assert mcpframe.__version__ == PROJECT["project"]["version"]


def test_every_entry_point_of_a_plugin_names_a_file_of_the_package():
    files = source_files()
    groups = PROJECT["project"]["entry-points"]
    for group, points in groups.items():
        for value in points.values():
            module = value.partition(":")[0]
            assert module.startswith(f"{HOMES.get(group, group)}.")
            path = module.replace(".", "/")
            assert {f"{path}.py", f"{path}/__init__.py"} & set(files)


def test_the_top_level_is_the_one_that_was_agreed():
    run = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if run.returncode or not run.stdout:
        pytest.skip("not a git checkout")
    folders = {"mcpframe", "formulations", "solvers", "tests", "examples", "docs", ".ci"}
    files = {
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        ".gitignore",
    }
    assert {line.split("/")[0] for line in run.stdout.splitlines()} <= folders | files
