"""What is stored of a problem: named arrays and named texts, the same in .npz files and in a corpus.

| kind                | fields                                                                     |
| ------------------- | -------------------------------------------------------------------------- |
| ``mixed_lcp``       | ``M, q, lower, upper``, text ``layout`` (JSON list of [block, size]);      |
|                     | with contacts ``contacts_normal, _friction, _slip, _mu``; where it is the  |
|                     | polygon of an exact cone that is known, ``exact_W, _q, _mu, _dim``         |
| ``cone_lcp``        | as ``mixed_lcp``, with ``discs`` [k, 3] and ``disc_sizes`` [k, 2]          |
| ``friction``        | ``W, q, mu, dim``                                                          |
| ``global_friction`` | ``M, H, f, w, mu, dim``                                                    |
| all                 | ``z0`` where given; texts ``kind, name``; ``provenance, labels`` (JSON)    |

A sparse matrix ``M`` is stored as ``M_data, M_indices, M_indptr, M_shape`` (compressed rows).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import index_array, real_array
from mcpframe.exceptions import FileFormatError, ProblemError
from mcpframe.io.untrusted import reading
from mcpframe.problem.cone import ConeLCP, Discs
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.problems import MixedLCP

Arrays = dict[str, NDArray[Any]]
Stored = Mapping[str, Any]
"""Fields of a file by name: what has shape and dtype, and becomes an array when it is asked for."""
Texts = dict[str, str]
CONTACT_FIELDS = ("normal", "friction", "slip", "mu")
EXACT = "exact_"
"""Before the fields of the exact cone of a mixed LCP."""
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
TEXTS = ("kind", "name", "layout", "provenance", "labels")
"""Fields that are texts."""


@dataclass(frozen=True, eq=False)
class Record:
    """One problem with what is known about it.

    Attributes:
        problem: the problem.
        name: what to call it.
        z0: point to start from [n], or None.
        provenance: where it comes from; anything that JSON can hold.
        labels: tags to choose it by.
        exact: of a mixed LCP the same with the exact friction cone, where that is known.
    """

    problem: Any
    name: str = ""
    z0: NDArray[np.float64] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    exact: FrictionProblem | None = None


def make_record(
    problem: Any,
    name: str = "",
    z0: ArrayLike | None = None,
    provenance: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
    exact: FrictionProblem | None = None,
) -> Record:
    """Check what goes with a problem and put it into a record."""
    start = None if z0 is None else real_array("z0", z0)
    if start is not None and start.shape != (problem.n,):
        raise ProblemError(f"z0: shape {start.shape}, expected ({problem.n},)")
    if isinstance(labels, str):
        raise ProblemError(f"labels: expected a list of texts, got the text {labels!r}")
    return Record(problem, name, start, dict(provenance or {}), tuple(labels), exact)


def encode(record: Record) -> tuple[Arrays, Texts]:
    """Return the fields of a record.

    Raises:
        ProblemError: the problem is of a kind that arrays cannot hold, such as an MCP.
    """
    kind = _kind_of(record.problem)
    arrays, texts = KINDS[kind][0](record.problem)
    if record.z0 is not None:
        arrays["z0"] = record.z0
    if record.exact is not None:
        arrays |= {f"{EXACT}{name}": field for name, field in _friction_fields(record.exact)[0].items()}
    texts |= {"kind": kind, "name": record.name, "provenance": _json("provenance", record.provenance)}
    texts["labels"] = _json("labels", list(record.labels))
    return arrays, texts


class Fields(Mapping[str, Any]):
    """Fields of a file, each looked at when it is asked for; those that nobody asks for stay unread.

    Args:
        names: of the fields.
        look: returns what is stored under a name.
    """

    def __init__(self, names: Iterable[str], look: Callable[[str], Any]) -> None:
        self._names, self._look = list(names), look

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._look(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def decode(arrays: Stored, texts: Mapping[str, str], where: str) -> Record:
    """Return the record that the fields describe; files of other projects need only the problem's own.

    Sizes that fields declare are compared with each other before any of them is read.

    Raises:
        FileFormatError: a field is missing or cannot be used; `where` says in which file.
    """
    kind = texts["kind"] if texts.get("kind") in KINDS else _guess_kind(arrays)
    with reading(where, "cannot be used"):
        try:
            problem = KINDS[kind][1](arrays, texts, where)
            z0 = required("z0", arrays, where, problem.n) if "z0" in arrays else None
            about = parsed("provenance", texts, where, dict), parsed("labels", texts, where, list)
            return make_record(problem, texts.get("name", ""), z0, *about, _read_exact(arrays, where))
        except ProblemError as error:
            raise FileFormatError(f"{where}: {error}") from None


def matrix_fields(name: str, matrix: Any) -> Arrays:
    """Return a matrix as one array, or as the parts of its compressed rows."""
    if not sp.issparse(matrix):
        return {name: np.asarray(matrix)}
    rows = sp.csr_array(matrix)
    parts = (rows.data, rows.indices, rows.indptr, np.array(rows.shape, dtype=np.int64))
    return {f"{name}_{part}": value for part, value in zip(SPARSE_PARTS, parts, strict=True)}


def read_matrix(name: str, arrays: Stored, where: str, shape: tuple[int, int]) -> Any:
    """Return a matrix of a known shape from its fields, dense or in compressed rows."""
    m, n = shape
    if f"{name}_data" not in arrays:
        check_shape(f"{where}: {name}", shape_of(name, arrays, where), shape)
        return required(name, arrays, where)
    most = {"data": m * n, "indices": m * n, "indptr": m + 1, "shape": 2}
    data, indices, indptr, said = (
        required(f"{name}_{part}", arrays, where, most[part]) for part in SPARSE_PARTS
    )
    with reading(f"{where}: {name}", "its compressed rows do not fit together"):
        check_shape(f"{where}: {name}", tuple(int(size) for size in said), shape)
        matrix = sp.csr_array((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
    check_entries(f"{where}: {name}", matrix)
    return matrix


def check_shape(place: str, shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    """Raise FileFormatError unless a matrix has the shape that the vectors beside it ask for."""
    if shape != expected and not (0 in expected and 0 in shape):
        raise FileFormatError(f"{place}: shape {shape}, expected {expected} as the vectors beside it have it")


def check_entries(place: str, matrix: Any) -> None:
    """Raise FileFormatError unless all entries of a sparse matrix are finite numbers."""
    if matrix.data.dtype.kind not in "biuf" or not np.isfinite(matrix.data).all():
        raise FileFormatError(f"{place}: has an entry that is not a finite number")


def required(name: str, arrays: Stored, where: str, most: int | None = None) -> NDArray[Any]:
    """Return a field as an array, or raise FileFormatError naming it.

    Args:
        name: of the field.
        arrays: the fields of the file.
        where: the file.
        most: entries that it may have; more are not read.
    """
    shape = shape_of(name, arrays, where)
    if most is not None and math.prod(shape) > most:
        raise FileFormatError(f"{where}: {name}: shape {shape}, expected at most {most} entries")
    with reading(f"{where}: {name}", "cannot be read"):
        return np.asarray(arrays[name])


def shape_of(name: str, arrays: Stored, where: str) -> tuple[int, ...]:
    """Return the shape that a field declares, or raise FileFormatError where there is no such field."""
    if name not in arrays:
        raise FileFormatError(
            f"{where}: field {name!r} is missing (fields there: {', '.join(arrays) or 'none'})"
        )
    return tuple(int(size) for size in arrays[name].shape)


def _length(name: str, arrays: Stored, where: str) -> int:
    """Return the length that a vector declares."""
    shape = shape_of(name, arrays, where)
    if len(shape) != 1:
        raise FileFormatError(f"{where}: {name}: shape {shape}, expected a vector")
    return shape[0]


def _mixed_lcp_fields(problem: MixedLCP) -> tuple[Arrays, Texts]:
    arrays = matrix_fields("M", problem.M)
    arrays |= {"q": problem.q, "lower": problem.lower, "upper": problem.upper}
    if problem.contacts is not None:
        arrays |= {f"contacts_{name}": getattr(problem.contacts, name) for name in CONTACT_FIELDS}
    return arrays, {"layout": json.dumps(list(problem.layout.sizes.items()))}


def _read_mixed_lcp(arrays: Stored, texts: Mapping[str, str], where: str) -> MixedLCP:
    n = _length("q", arrays, where)
    M = read_matrix("M", arrays, where, (n, n))
    q = required("q", arrays, where)
    lower, upper = _bounds(arrays, where, max(n, 1))
    blocks = parsed("layout", texts, where, list) if "layout" in texts else None
    contacts = None
    if "contacts_normal" in arrays:
        fields = (required(f"contacts_{name}", arrays, where, n) for name in CONTACT_FIELDS)
        contacts = ContactBlocks(*fields)
    try:
        layout = None if blocks is None else Layout(dict(blocks))
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{where}: layout: {error}") from None
    return MixedLCP(M, q, lower, upper, layout=layout, contacts=contacts)


def _cone_lcp_fields(problem: ConeLCP) -> tuple[Arrays, Texts]:
    arrays, texts = _mixed_lcp_fields(problem.rows)
    return arrays | {"discs": problem.discs.table, "disc_sizes": problem.discs.sizes}, texts


def _read_cone_lcp(arrays: Stored, texts: Mapping[str, str], where: str) -> ConeLCP:
    rows = _read_mixed_lcp(arrays, texts, where)
    table, sizes = (required(name, arrays, where, 3 * max(rows.n, 1)) for name in ("discs", "disc_sizes"))
    for name, values, width in (("discs", table, 3), ("disc_sizes", sizes, 2)):
        if np.ndim(values) != 2 or np.shape(values)[1] != width or len(values) != len(table):
            raise FileFormatError(f"{where}: {name}: shape {np.shape(values)}, expected (k, {width})")
    discs = Discs(*index_array("discs", table).T, *np.asarray(sizes, dtype=np.float64).T)
    return ConeLCP(rows.M, rows.q, rows.lower, rows.upper, discs, layout=rows.layout)


def _bounds(arrays: Stored, where: str, most: int) -> tuple[Any, Any]:
    """Return lower and upper bounds; a problem that comes with neither is an LCP."""
    if "lower" not in arrays and "upper" not in arrays:
        return 0.0, np.inf
    return required("lower", arrays, where, most), required("upper", arrays, where, most)


def _friction_fields(problem: FrictionProblem) -> tuple[Arrays, Texts]:
    arrays = matrix_fields("W", problem.W) | {"q": problem.q}
    return arrays | {"mu": problem.mu, "dim": np.array(problem.dim)}, {}


def _read_friction(arrays: Stored, texts: Mapping[str, str], where: str) -> FrictionProblem:
    n = _length("q", arrays, where)
    W = read_matrix("W", arrays, where, (n, n))
    q, mu, dim = (required(name, arrays, where, max(n, 1)) for name in ("q", "mu", "dim"))
    return FrictionProblem(W, q, mu, _integer("dim", dim, where))


def _read_exact(arrays: Stored, where: str) -> FrictionProblem | None:
    """Return the problem with the exact cone that is stored beside one without."""
    fields = {name.removeprefix(EXACT): arrays[name] for name in arrays if name.startswith(EXACT)}
    return _read_friction(fields, {}, f"{where}: {EXACT.rstrip('_')}") if fields else None


def _global_friction_fields(problem: FrictionProblem) -> tuple[Arrays, Texts]:
    form = problem.global_form
    assert form is not None
    arrays = matrix_fields("M", form.M) | matrix_fields("H", form.H) | {"f": form.f, "w": form.w}
    return arrays | {"mu": problem.mu, "dim": np.array(problem.dim)}, {}


def _read_global_friction(arrays: Stored, texts: Mapping[str, str], where: str) -> FrictionProblem:
    n_v, n = _length("f", arrays, where), _length("w", arrays, where)
    M, H = read_matrix("M", arrays, where, (n_v, n_v)), read_matrix("H", arrays, where, (n_v, n))
    f, w = required("f", arrays, where), required("w", arrays, where)
    mu, dim = (required(name, arrays, where, max(n, 1)) for name in ("mu", "dim"))
    return FrictionProblem.from_global(M, H, f, w, mu, _integer("dim", dim, where))


def _integer(name: str, value: Any, where: str) -> int:
    if np.shape(value) != ():
        raise FileFormatError(f"{where}: field {name!r} has shape {np.shape(value)}, expected one integer")
    return int(index_array(name, value))


KINDS: dict[str, tuple[Callable[[Any], tuple[Arrays, Texts]], Callable[..., Any]]] = {
    "mixed_lcp": (_mixed_lcp_fields, _read_mixed_lcp),
    "cone_lcp": (_cone_lcp_fields, _read_cone_lcp),
    "friction": (_friction_fields, _read_friction),
    "global_friction": (_global_friction_fields, _read_global_friction),
}
"""Kinds of problems that can be stored: to fields, from fields."""


def _kind_of(problem: Any) -> str:
    if isinstance(problem, MixedLCP):
        return "mixed_lcp"
    if isinstance(problem, ConeLCP):
        return "cone_lcp"
    if isinstance(problem, FrictionProblem):
        return "friction" if problem.global_form is None else "global_friction"
    raise ProblemError(
        f"problem: {type(problem).__name__} cannot be stored, unlike {', '.join(KINDS)}; "
        "keep the function of an MCP with F.save('name.casadi')"
    )


def _guess_kind(arrays: Stored) -> str:
    """Return the kind that the fields give away; files of other projects do not tell, or use other words."""
    if "mu" in arrays and "lower" not in arrays:
        return "global_friction" if "f" in arrays else "friction"
    return "mixed_lcp"


def _json(name: str, value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: cannot be written as JSON ({error})") from None


def parsed(name: str, texts: Mapping[str, str], where: str, kind: type) -> Any:
    """Return what a text says in JSON, empty where there is none, or raise FileFormatError naming it."""
    if name not in texts:
        return kind()
    try:
        value = json.loads(texts[name])
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{where}: field {name!r} is not JSON ({error})") from None
    if not isinstance(value, kind):
        raise FileFormatError(f"{where}: field {name!r} is not a JSON {kind.__name__}")
    return value
