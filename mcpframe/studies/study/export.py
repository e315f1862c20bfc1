"""Rows as tables for other programs: CSV and Parquet, one column per field and per label."""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from mcpframe.exceptions import FileFormatError, PluginError
from mcpframe.studies.study.row import Row

PathLike = str | os.PathLike[str]
LABEL = "label_"
"""Before the name of a label's column."""


def to_table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return rows as columns; labels that a row does not have are None."""
    names = [about.name for about in fields(Row) if about.name != "labels"]
    labels = sorted({name for row in rows for name in row.labels})
    table: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
    return table | {LABEL + name: [row.labels.get(name) for row in rows] for name in labels}


def to_csv(rows: Sequence[Row], path: PathLike) -> None:
    """Write rows to a CSV file with a line of names first."""
    table = to_table(rows)
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written ({error.strerror})") from None


def to_parquet(rows: Sequence[Row], path: PathLike) -> None:
    """Write rows to a Parquet file; a label that is not of one type becomes text."""
    if importlib.util.find_spec("pyarrow") is None:
        raise PluginError("Parquet needs pyarrow: pip install 'mcpframe[report]'; CSV needs nothing")
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: _of_one_type(values) for name, values in to_table(rows).items()}
    try:
        pq.write_table(pa.table(columns), path)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written ({error})") from None


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return values
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
