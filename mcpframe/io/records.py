"""What is stored of a problem: named arrays and named texts, the same in .npz files and in a corpus.

| kind                | fields                                                                     |
| ------------------- | -------------------------------------------------------------------------- |
| ``mixed_lcp``       | ``M, q, lower, upper``, text ``layout`` (JSON list of [block, size]);      |
|                     | with contacts ``contacts_normal, _friction, _slip, _mu``                   |
| ``friction``        | ``W, q, mu, dim``                                                          |
| ``global_friction`` | ``M, H, f, w, mu, dim``                                                    |
| all                 | ``z0`` where given; texts ``kind, name``; ``provenance, labels`` (JSON)    |

A sparse matrix ``M`` is stored as ``M_data, M_indices, M_indptr, M_shape`` (compressed rows).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import index_array, real_array
from mcpframe.exceptions import FileFormatError, ProblemError
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.problems import MixedLCP

Arrays = dict[str, NDArray[Any]]
Texts = dict[str, str]
CONTACT_FIELDS = ("normal", "friction", "slip", "mu")
SPARSE_PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True, eq=False)
class Record:
    """One problem with what is known about it.

    Attributes:
        problem: the problem.
        name: what to call it.
        z0: point to start from [n], or None.
        provenance: where it comes from; anything that JSON can hold.
        labels: tags to choose it by.
    """

    problem: Any
    name: str = ""
    z0: NDArray[np.float64] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()


def make_record(
    problem: Any,
    name: str = "",
    z0: ArrayLike | None = None,
    provenance: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
) -> Record:
    """Check what goes with a problem and put it into a record."""
    start = None if z0 is None else real_array("z0", z0)
    if start is not None and start.shape != (problem.n,):
        raise ProblemError(f"z0: shape {start.shape}, expected ({problem.n},)")
    if isinstance(labels, str):
        raise ProblemError(f"labels: expected a list of texts, got the text {labels!r}")
    return Record(problem, name, start, dict(provenance or {}), tuple(labels))


def encode(record: Record) -> tuple[Arrays, Texts]:
    """Return the fields of a record.

    Raises:
        ProblemError: the problem is of a kind that arrays cannot hold, such as an MCP.
    """
    kind = _kind_of(record.problem)
    arrays, texts = KINDS[kind][0](record.problem)
    if record.z0 is not None:
        arrays["z0"] = record.z0
    texts |= {"kind": kind, "name": record.name, "provenance": _json("provenance", record.provenance)}
    texts["labels"] = _json("labels", list(record.labels))
    return arrays, texts


def decode(arrays: Mapping[str, Any], texts: Mapping[str, str], where: str) -> Record:
    """Return the record that the fields describe; files of other projects need only the problem's own.

    Raises:
        FileFormatError: a field is missing or cannot be used; `where` says in which file.
    """
    kind = texts["kind"] if texts.get("kind") in KINDS else _guess_kind(arrays)
    try:
        return make_record(
            KINDS[kind][1](arrays, texts, where),
            texts.get("name", ""),
            arrays.get("z0"),
            _parsed("provenance", texts, where, dict),
            _parsed("labels", texts, where, list),
        )
    except ProblemError as error:
        raise FileFormatError(f"{where}: {error}") from None


def matrix_fields(name: str, matrix: Any) -> Arrays:
    """Return a matrix as one array, or as the parts of its compressed rows."""
    if not sp.issparse(matrix):
        return {name: np.asarray(matrix)}
    rows = sp.csr_array(matrix)
    parts = (rows.data, rows.indices, rows.indptr, np.array(rows.shape, dtype=np.int64))
    return {f"{name}_{part}": value for part, value in zip(SPARSE_PARTS, parts, strict=True)}


def read_matrix(name: str, arrays: Mapping[str, Any], where: str) -> Any:
    """Return a matrix from its fields, dense or in compressed rows."""
    if f"{name}_data" not in arrays:
        return required(name, arrays, where)
    data, indices, indptr, shape = (required(f"{name}_{part}", arrays, where) for part in SPARSE_PARTS)
    try:
        matrix = sp.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise FileFormatError(f"{where}: {name}: its compressed rows do not fit together ({error})") from None
    return matrix


def required(name: str, arrays: Mapping[str, Any], where: str) -> Any:
    """Return a field, or raise FileFormatError naming it."""
    if name not in arrays:
        raise FileFormatError(
            f"{where}: field {name!r} is missing (fields there: {', '.join(arrays) or 'none'})"
        )
    return arrays[name]


def _mixed_lcp_fields(problem: MixedLCP) -> tuple[Arrays, Texts]:
    arrays = matrix_fields("M", problem.M)
    arrays |= {"q": problem.q, "lower": problem.lower, "upper": problem.upper}
    if problem.contacts is not None:
        arrays |= {f"contacts_{name}": getattr(problem.contacts, name) for name in CONTACT_FIELDS}
    return arrays, {"layout": json.dumps(list(problem.layout.sizes.items()))}


def _read_mixed_lcp(arrays: Mapping[str, Any], texts: Mapping[str, str], where: str) -> MixedLCP:
    M = read_matrix("M", arrays, where)
    q, lower, upper = (required(name, arrays, where) for name in ("q", "lower", "upper"))
    blocks = _parsed("layout", texts, where, list) if "layout" in texts else None
    contacts = None
    if "contacts_normal" in arrays:
        contacts = ContactBlocks(*(required(f"contacts_{name}", arrays, where) for name in CONTACT_FIELDS))
    try:
        layout = None if blocks is None else Layout(dict(blocks))
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{where}: layout: {error}") from None
    return MixedLCP(M, q, lower, upper, layout=layout, contacts=contacts)


def _friction_fields(problem: FrictionProblem) -> tuple[Arrays, Texts]:
    arrays = matrix_fields("W", problem.W) | {"q": problem.q}
    return arrays | {"mu": problem.mu, "dim": np.array(problem.dim)}, {}


def _read_friction(arrays: Mapping[str, Any], texts: Mapping[str, str], where: str) -> FrictionProblem:
    W = read_matrix("W", arrays, where)
    q, mu, dim = (required(name, arrays, where) for name in ("q", "mu", "dim"))
    return FrictionProblem(W, q, mu, _integer("dim", dim, where))


def _global_friction_fields(problem: FrictionProblem) -> tuple[Arrays, Texts]:
    form = problem.global_form
    assert form is not None
    arrays = matrix_fields("M", form.M) | matrix_fields("H", form.H) | {"f": form.f, "w": form.w}
    return arrays | {"mu": problem.mu, "dim": np.array(problem.dim)}, {}


def _read_global_friction(arrays: Mapping[str, Any], texts: Mapping[str, str], where: str) -> FrictionProblem:
    M, H = (read_matrix(name, arrays, where) for name in ("M", "H"))
    f, w, mu, dim = (required(name, arrays, where) for name in ("f", "w", "mu", "dim"))
    return FrictionProblem.from_global(M, H, f, w, mu, _integer("dim", dim, where))


def _integer(name: str, value: Any, where: str) -> int:
    if np.shape(value) != ():
        raise FileFormatError(f"{where}: field {name!r} has shape {np.shape(value)}, expected one integer")
    return int(index_array(name, value))


KINDS: dict[str, tuple[Callable[[Any], tuple[Arrays, Texts]], Callable[..., Any]]] = {
    "mixed_lcp": (_mixed_lcp_fields, _read_mixed_lcp),
    "friction": (_friction_fields, _read_friction),
    "global_friction": (_global_friction_fields, _read_global_friction),
}
"""Kinds of problems that can be stored: to fields, from fields."""


def _kind_of(problem: Any) -> str:
    if isinstance(problem, MixedLCP):
        return "mixed_lcp"
    if isinstance(problem, FrictionProblem):
        return "friction" if problem.global_form is None else "global_friction"
    raise ProblemError(
        f"problem: {type(problem).__name__} cannot be stored, unlike {', '.join(KINDS)}; "
        "keep the function of an MCP with F.save('name.casadi')"
    )


def _guess_kind(arrays: Mapping[str, Any]) -> str:
    """Return the kind that the fields give away; files of other projects do not tell, or use other words."""
    if "mu" in arrays and "lower" not in arrays:
        return "global_friction" if "f" in arrays else "friction"
    return "mixed_lcp"


def _json(name: str, value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: cannot be written as JSON ({error})") from None


def _parsed(name: str, texts: Mapping[str, str], where: str, kind: type) -> Any:
    if name not in texts:
        return kind()
    try:
        value = json.loads(texts[name])
    except ValueError as error:
        raise FileFormatError(f"{where}: field {name!r} is not JSON ({error})") from None
    if not isinstance(value, kind):
        raise FileFormatError(f"{where}: field {name!r} is not a JSON {kind.__name__}")
    return value
