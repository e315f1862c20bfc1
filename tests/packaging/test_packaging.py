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
FAMILIES = ("solvers", "formulations")
"""Folders of plugins that belong to the package; the links in it serve type checkers and editors."""
HOMES = {"mcpframe.contact_laws": "mcpframe.formulations.laws"}
"""Packages of plugins whose entry-point group is not called like the package."""


def source_files():
    """Every Python file of the package, by its name once installed."""
    found = (path for folder in ("mcpframe", *FAMILIES) for path in (ROOT / folder).rglob("*.py"))
    names = (path.relative_to(ROOT).as_posix() for path in found)
    return {name if name.startswith("mcpframe/") else f"mcpframe/{name}" for name in names}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(copied_tree(tmp_path_factory.mktemp("tree")), "build_wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return built(copied_tree(tmp_path_factory.mktemp("tree")), "build_sdist")


def copied_tree(target):
    """Copy what a build reads, so that it leaves nothing behind in the checkout."""
    forget = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("mcpframe", *FAMILIES):
        shutil.copytree(ROOT / name, target / name, symlinks=True, ignore=forget)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    return target


def built(tree, hook):
    """Build as pip does, without a network: the backend's own hook in a process of its own."""
    code = f"import setuptools.build_meta as b; print('BUILT ' + b.{hook}('dist'))"
    (tree / "dist").mkdir(exist_ok=True)
    run = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return tree / "dist" / run.stdout.rsplit("BUILT ", 1)[1].strip()


def unpacked(sdist, folder):
    """Return the tree that a source archive holds."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


def contents(wheel):
    return sorted(zipfile.ZipFile(wheel).namelist())


def test_every_subpackage_is_listed_and_every_listed_one_exists():
    found = {file.rpartition("/")[0].replace("/", ".") for file in source_files()}
    assert found == set(PROJECT["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("family", FAMILIES)
def test_plugin_folders_are_linked_into_the_package(family):
    link = ROOT / "mcpframe" / family
    if not os.path.lexists(link):
        pytest.skip("a checkout without links")
    target = os.readlink(link) if link.is_symlink() else link.read_text()  # what git writes on Windows
    assert target == f"../{family}"


USE = """
import site, sys

# Out with the editable installation that runs this test, in with the one that was built.
sys.meta_path[:] = [finder for finder in sys.meta_path if "Editable" not in getattr(finder, "__name__", "")]
for name in [name for name in sys.modules if name.startswith("__editable__")]:
    del sys.modules[name]
sys.path.insert(1, sys.argv[1])
site.addsitedir(sys.argv[1])
import mcpframe as mf
from mcpframe.formulations.laws import coulomb
from mcpframe.solvers.lemke import method

problem, _ = mf.formulation("os").build(mf.ContactStep(mf.systems.pendulum(links=2).state(), [], dt=0.01))
assert mf.solve(problem, "lemke").ok
for module in (mf, coulomb, method):
    print(module.__file__)
"""


@pytest.mark.parametrize("left", ["a text, as git writes it", "nothing"])
def test_a_checkout_without_links_installs_and_builds_as_one_with_them(left, wheel, tmp_path):
    tree = copied_tree(tmp_path / "tree")
    for family in FAMILIES:
        link = tree / "mcpframe" / family
        link.unlink(missing_ok=True)
        if left != "nothing":
            link.write_text(f"../{family}")
    zipfile.ZipFile(built(tree, "build_editable")).extractall(tmp_path / "site")
    used = subprocess.run(
        [sys.executable, "-c", USE, tmp_path / "site"],
        cwd=tree,
        env={**os.environ, "MCPFRAME_JIT": "off"},
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
    files = ("mcpframe/__init__.py", "formulations/laws/coulomb.py", "solvers/lemke/method.py")
    assert used.stdout.splitlines() == [str(tree / file) for file in files]
    for source in (tree, unpacked(built(tree, "build_sdist"), tmp_path / "unpacked")):
        assert contents(built(source, "build_wheel")) == contents(wheel)


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
    assert contents(built(unpacked(sdist, tmp_path), "build_wheel")) == contents(wheel)


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
