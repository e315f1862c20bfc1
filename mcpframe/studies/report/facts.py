"""What a study was made with, in short: machine, versions, date, commit, settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mcpframe.studies.report.entries import CLOCKS, MERGED
from mcpframe.studies.report.profiles import problems_of
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.wording import count, number, power

UNKNOWN = "not recorded"


def facts(results: Results) -> list[tuple[str, str]]:
    """Return name and value of each."""
    header = results.header
    return [
        ("measured", _measured(results)),
        ("machine", _machine(header)),
        ("versions", _versions(header)),
        ("commit", str(header.get("commit") or UNKNOWN)),
        ("date", _date(header)),
        ("tolerance", _tolerance(header)),
        ("time limit", _limit(header)),
        ("repeats", f"{header.get('repeats', UNKNOWN)}; times are the {MERGED}"),
        ("threads per solve", str(header.get("threads", UNKNOWN))),
        ("executor", _executor(header)),
        ("time that counts", CLOCKS[results.clock]),
    ]


def _measured(results: Results) -> str:
    """Count problems, settings and solves."""
    problems, columns = len(problems_of(results.entries)), len(results.columns)
    return f"{count(problems)} problems × {columns} settings, {count(len(results.entries))} solves"


def _machine(header: Mapping[str, Any]) -> str:
    machine = header.get("machine") or {}
    if not isinstance(machine, Mapping):
        return str(machine)
    cores = f"{machine['cores']} cores" if machine.get("cores") else ""
    return (
        ", ".join(str(part) for part in (machine.get("cpu"), cores, machine.get("system")) if part) or UNKNOWN
    )


def _versions(header: Mapping[str, Any]) -> str:
    own = {"mcpframe": header.get("mcpframe"), "Python": header.get("python")}
    named = {**own, **(header.get("versions") or {})}
    return ", ".join(f"{name} {version}" for name, version in named.items() if version) or UNKNOWN


def _executor(header: Mapping[str, Any]) -> str:
    executor = header.get("executor") or UNKNOWN
    if not isinstance(executor, Mapping):
        return str(executor)
    workers = executor.get("workers")
    words = f", {workers} worker{'s' if workers != 1 else ''}" if workers else ""
    return f"{executor.get('name', UNKNOWN)}{words}"


def _date(header: Mapping[str, Any]) -> str:
    moments = [_moment(header[key]) for key in ("started", "finished") if header.get(key)]
    return " to ".join(moments) or UNKNOWN


def _moment(moment: object) -> str:
    """Write a moment to the minute, where it is one."""
    try:
        return datetime.fromisoformat(str(moment)).strftime("%Y-%m-%d %H:%M %Z").strip()
    except ValueError:
        return str(moment)


def _tolerance(header: Mapping[str, Any]) -> str:
    tol = header.get("tol")
    return f"{power(tol)}, on r_i / (1 + |q_i|)" if isinstance(tol, float) else str(tol or UNKNOWN)


def _limit(header: Mapping[str, Any]) -> str:
    limit = header.get("time_limit")
    return f"{number(float(limit))} s per solve" if isinstance(limit, int | float) and limit else "none"
