"""Where rows were made: machine, versions and commit, by which rows of one study are kept apart."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, SOLVERS

PACKAGES = ("mcpframe", "numpy", "scipy", "numba", "casadi", "cvxpy", "clarabel", "osqp")
COMMIT_VARIABLE = "MCPFRAME_COMMIT"
"""Environment variable that names the commit where the code is not in a git repository."""
FOLDER = Path(__file__).resolve().parents[2]
SOURCES = ("mcpframe", "solvers", "formulations")


def provenance() -> dict[str, Any]:
    """Return what decides how rows come out beside the study: machine, Python, versions, commit."""
    return {
        "machine": machine(),
        "python": platform.python_version(),
        "versions": versions(),
        "commit": commit(),
    }


def machine() -> dict[str, Any]:
    """Return processor, number of cores and system."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute, those that bring plugins included."""
    groups = (SOLVERS.group, FORMULATIONS.group, CONTACT_LAWS.group)
    points = [point for group in groups for point in entry_points(group=group)]
    plugins = {point.dist.name for point in points if point.dist is not None}
    return {name: found for name in sorted({*PACKAGES, *plugins}) if (found := _version(name))}


def commit() -> str:
    """Return the commit of the code, with a digest of what was changed since; empty where it is unknown."""
    named = os.environ.get(COMMIT_VARIABLE)
    if named is not None:
        return named
    if not _git("ls-files", "__init__.py"):  # not the repository of this package, or none
        return ""
    root = Path(_git("rev-parse", "--show-toplevel"))
    changes = _git("diff", "HEAD", "--", *(str(root / name) for name in SOURCES if (root / name).exists()))
    changed = f"+{hashlib.sha256(changes.encode()).hexdigest()[:8]}" if changes else ""
    return _git("rev-parse", "--short=12", "HEAD") + changed


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=FOLDER, capture_output=True, text=True, check=False)
    except OSError:  # there is no git
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _cpu() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
