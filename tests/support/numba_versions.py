"""Run the tests of kernels on the oldest and the newest Numba that pyproject.toml allows.

The oldest comes with the lowest versions of all that the package needs, and with tests of the parts that lean
on these: files, options, the command line, solvers of other libraries.

    python numba_versions.py FOLDER [JOBS] [oldest|newest]

as ``make test-numba`` does. Each runs in an environment of its own on a copy of the checkout, so that kernels
compiled by one version do not push those of another out of the cache.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from environments import Environment
from lowest import lowest

ROOT = Path(__file__).parents[2]
TESTS = (
    "spatial/test_algebra",
    "multibody/test_sincos",
    "multibody/test_compliance",
    "jit",
    "solvers/test_lemke",
)
"""Short ones, which need most kernels; those of ways simulate."""
WITH_OLDEST = ("io/test_npz", "solvers/test_qp", "commands/test_cli", "studies/test_study_file")
"""What leans on numpy, scipy, h5py, cvxpy, pydantic and typer."""
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "out", "site", "build", "dist")


def versions():
    """Return what to install, and which tests to run on it."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    newest = [line for line in needed if line.startswith(("numba", "numpy"))]
    return {"oldest": (lowest(), TESTS + WITH_OLDEST), "newest": (newest, TESTS)}


def make(folder, requirements):
    """Make an environment with a Numba of its own, and a copy of the checkout; return its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = Environment(folder / "environment")
    site_packages = next((folder / "environment").glob("lib/python*/site-packages"))
    # Into that folder and nowhere else: pip also sees the packages of the environment that this one extends.
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, "--target", str(site_packages), *requirements], check=True)
    shutil.copytree(ROOT, folder / "checkout", symlinks=True, ignore=LEFT_OUT)
    return environment.python


def run(folder, requirements, names):
    """Run tests; return what they say, and whether all is well."""
    start = perf_counter()
    python = make(folder, requirements)
    checkout = folder / "checkout"
    settings = {"cwd": checkout, "env": {**os.environ, "PYTHONPATH": str(checkout)}, "text": True}
    which = "import numba, numpy, mcpframe.jit as j; print(numba.__version__, numpy.__version__, j.__file__)"
    version = subprocess.run([python, "-c", which], **settings, check=True, capture_output=True).stdout
    tests = [f"tests/{name}" if name == "jit" else f"tests/{name}.py" for name in names]
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow"]
    tested = subprocess.run([python, "-m", "pytest", *options, *tests], **settings, capture_output=True)
    took = f"{perf_counter() - start:.0f} s"
    return f"Numba {version}{tested.stdout}{tested.stderr}{took}", tested.returncode == 0


def main(folder, jobs=1, *only):
    """Run the tests on all versions, or those named, so many at a time; return an exit status."""
    chosen = {name: wanted for name, wanted in versions().items() if not only or name in only}
    with ThreadPoolExecutor(int(jobs)) as pool:
        runs = [pool.submit(run, folder / name, *wanted) for name, wanted in chosen.items()]
        well = True
        for started in runs:
            said, passed = started.result()
            print(said, flush=True)
            well = well and passed
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
