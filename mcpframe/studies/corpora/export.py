"""A corpus as single files for other programs: FCLIB and .npz."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mcpframe.exceptions import OptionError, ProblemError
from mcpframe.io.fclib import FclibRecord, save_fclib
from mcpframe.io.folders import make_folder
from mcpframe.io.npz import save_problem
from mcpframe.io.records import Record
from mcpframe.problem.friction import FrictionProblem

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Exported:
    """What became of the problems of a corpus.

    Attributes:
        files: that were written.
        left_out: (name, why) of the problems that the format cannot hold.
    """

    files: list[Path]
    left_out: list[tuple[str, str]]


def export_fclib(records: Iterable[Record], folder: PathLike) -> Exported:
    """Write every problem to an FCLIB file of its own, local form, with the exact cone.

    W and q are those of `StepRows.friction_problem`: loops eliminated, limits as contacts without friction.
    """
    return _each(records, folder, ".hdf5", lambda record, path: save_fclib(path, fclib_record(record)))


def export_npz(records: Iterable[Record], folder: PathLike) -> Exported:
    """Write every problem to an .npz file of its own, with all that goes with it."""

    def save(record: Record, path: Path) -> None:
        origin, tags, exact = record.provenance, record.labels, record.exact
        start, name = record.z0, record.name
        save_problem(path, record.problem, z0=start, name=name, provenance=origin, labels=tags, exact=exact)

    return _each(records, folder, ".npz", save)


def fclib_record(record: Record) -> FclibRecord:
    """Return a problem as an FCLIB file holds it; its provenance is the description, as JSON.

    Raises:
        ProblemError: its exact cone is not known.
    """
    problem = record.problem if isinstance(record.problem, FrictionProblem) else record.exact
    if problem is None:
        raise ProblemError("its exact cone is not known: laws are others than Coulomb's, or it was not kept")
    info = {
        "title": record.name or "contact problem",
        "description": json.dumps(dict(record.provenance)),
        "math_info": "u = W r + q; each contact (normal, tangents); r in the cone |r_t| <= mu r_n",
    }
    return FclibRecord(problem, info)


def _each(
    records: Iterable[Record], folder: PathLike, ending: str, save: Callable[[Record, Path], None]
) -> Exported:
    """Save records under their numbers in a folder that is empty or new."""
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise OptionError(f"{place}: is not an empty folder; give a new one")
    make_folder(place, "--out")
    exported = Exported([], [])
    for number, record in enumerate(records):
        path = place / f"{number:06d}{ending}"
        try:
            save(record, path)
        except ProblemError as error:
            exported.left_out.append((record.name or str(number), str(error)))
        else:
            exported.files.append(path)
    return exported
