"""FCLIB files: frictional contact problems in HDF5 [Acary, Bremond, Koziara, Perignon, RT-444, 2014].

| path                                                        | of     | meaning                        |
| ----------------------------------------------------------- | ------ | ------------------------------ |
| ``/fclib_local/W``, ``/fclib_local/vectors/{q,mu}``         | local  | u = W r + q                    |
| ``/fclib_global/{M,H}``, ``/fclib_global/vectors/{f,w,mu}`` | global | M v = H r + f, u = H' v + w    |
| ``spacedim``, ``info/{title,description,math_info}``        | both   | dimension; texts where known   |
| ``/solution``, ``/guesses/{1,2,..}``                        | both   | ``r``, ``u`` and, global, ``v`` |

A matrix is a group ``{m, n, nzmax, nz, p, i, x}``: nz = -1 compressed columns, -2 compressed rows, >= 0 so
many triplets (i row, p column); one whose entries are all stored is read as dense. A stored solution is a
claim of whoever wrote the file: nothing here trusts it, ``problem.certify(r)`` tells what it is worth.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.exceptions import FileFormatError, ProblemError
from mcpframe.io.hdf5 import child, child_dataset, child_group, entries, opened
from mcpframe.io.npz import PathLike, replacing
from mcpframe.io.records import check_entries, check_shape
from mcpframe.io.untrusted import reading
from mcpframe.problem.friction import FrictionProblem

Array = NDArray[np.float64]
Vectors = Mapping[str, Array]

LOCAL, GLOBAL = "fclib_local", "fclib_global"
INFO = ("title", "description", "math_info")
MATRIX_INFO = ("comment", "conditioning", "determinant", "rank")
BILATERAL = {LOCAL: ("V", "R"), GLOBAL: ("G",)}
"""Groups of bilateral constraints, which a `FrictionProblem` does not have."""


@dataclass(frozen=True, eq=False)
class FclibRecord:
    """What an FCLIB file holds.

    Attributes:
        problem: the problem, local or global.
        info: title, description and math_info, those that are there.
        matrix_info: comment, conditioning, determinant and rank, by matrix, those that are there.
        guesses: starting points, each with r, u and in global form v.
        solution: the stored solution likewise, not verified; None where there is none.
    """

    problem: FrictionProblem
    info: Mapping[str, str] = field(default_factory=dict)
    matrix_info: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    guesses: Sequence[Vectors] = ()
    solution: Vectors | None = None


def load_fclib(path: PathLike) -> FrictionProblem:
    """Return the problem in an FCLIB file.

    Raises:
        FileFormatError: the file is truncated or of another kind; the message names file and field.
    """
    return read_fclib(path).problem


def read_fclib(path: PathLike) -> FclibRecord:
    """Return everything in an FCLIB file; raises as `load_fclib`."""
    where = str(path)
    with opened(path, path) as file:
        kind = _kind(file, path)
        group = child_group(file, kind, where)
        names = ("W",) if kind == LOCAL else ("M", "H")
        try:
            problem = _read_problem(group, kind, where)
        except ProblemError as error:
            raise FileFormatError(f"{path}: /{kind}: {error}") from None
        sizes = {"v": problem.n if problem.global_form is None else len(problem.global_form.f)}
        most = {"r": problem.n, "u": problem.n, "l": problem.n, **sizes}
        return FclibRecord(
            problem,
            {
                name: _text(group, f"info/{name}", where)
                for name in INFO
                if child(group, f"info/{name}", where)
            },
            {name: found for name in names if (found := _matrix_info(group, name, where))},
            [_read_vectors(file, f"guesses/{k}", most, where) for k in _guess_names(file, where)],
            _read_vectors(file, "solution", most, where) if "solution" in file else None,
        )


def save_fclib(path: PathLike, record: FclibRecord | FrictionProblem) -> None:
    """Write a problem, or all that is known about it, to an FCLIB file, whole or not at all."""
    if isinstance(record, FrictionProblem):
        record = FclibRecord(record)
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        _write_problem(file, record)
        for k, guess in enumerate(record.guesses, start=1):
            _write_vectors(file.create_group(f"guesses/{k}"), guess)
        if record.guesses:
            file["guesses/number_of_guesses"] = _integer(len(record.guesses))
        if record.solution is not None:
            _write_vectors(file.create_group("solution"), record.solution)
    with replacing(Path(path)) as stream:
        stream.write(memory.getvalue())


def _kind(file: h5py.File, path: PathLike) -> str:
    for kind in (LOCAL, GLOBAL):
        if isinstance(child(file, kind, str(path)), h5py.Group):
            return kind
    found = ", ".join(file) or "nothing"
    raise FileFormatError(
        f"{path}: is not an FCLIB file: neither /{LOCAL} nor /{GLOBAL} is there, but {found}"
    )


def _read_problem(group: h5py.Group, kind: str, where: str) -> FrictionProblem:
    for name in BILATERAL[kind]:
        if name in group and _scalar(child_group(group, name, where), "n", where):
            raise FileFormatError(f"{where}: /{kind}/{name}: bilateral constraints are not supported")
    dim = _scalar(group, "spacedim", where)
    mu = _vector(group, "vectors/mu", where)
    if kind == LOCAL:
        q = _vector(group, "vectors/q", where)
        return FrictionProblem(_matrix(group, "W", where, (q.size, q.size)), q, mu, dim)
    f, w = _vector(group, "vectors/f", where), _vector(group, "vectors/w", where)
    M, H = _matrix(group, "M", where, (f.size, f.size)), _matrix(group, "H", where, (f.size, w.size))
    return FrictionProblem.from_global(M, H, f, w, mu, dim)


def _write_problem(file: h5py.File, record: FclibRecord) -> None:
    problem, form = record.problem, record.problem.global_form
    if form is None:
        group, matrices = file.create_group(LOCAL), {"W": problem.W}
        vectors = {"q": problem.q}
    else:
        group, matrices = file.create_group(GLOBAL), {"M": form.M, "H": form.H}
        vectors = {"f": form.f, "w": form.w}
    group["spacedim"] = _integer(problem.dim)
    for name, matrix in matrices.items():
        _write_matrix(group.create_group(name), matrix)
        for key, value in record.matrix_info.get(name, {}).items():
            group[name][key] = np.bytes_(value) if key == "comment" else np.array([value])
    for name, vector in (vectors | {"mu": problem.mu}).items():
        group[f"vectors/{name}"] = vector
    for name, text in record.info.items():
        group[f"info/{name}"] = np.bytes_(text.encode())


def _matrix(group: h5py.Group, name: str, where: str, expected: tuple[int, int]) -> Any:
    """Return a matrix in compressed rows, or dense where every entry is stored.

    Args:
        group: that holds it.
        name: of the matrix.
        where: the file.
        expected: shape that the vectors ask for; a sparse matrix of another one could take any memory.
    """
    place = f"{where}: {group.name}/{name}"
    parts = child_group(group, name, where)
    shape = _scalar(parts, "m", where), _scalar(parts, "n", where)
    check_shape(place, shape, expected)
    nz = _scalar(parts, "nz", where)
    p, i, x = (_vector(parts, key, where) for key in ("p", "i", "x"))
    with reading(place, "m, n, nz, p, i, x do not fit together"):
        if nz >= 0:
            matrix = sp.coo_array((x[:nz], (i[:nz].astype(int), p[:nz].astype(int))), shape=shape)
        else:
            format_ = {-1: sp.csc_array, -2: sp.csr_array}[nz]
            matrix = format_((x, i.astype(int), p.astype(int)), shape=shape)
            matrix.check_format(full_check=True)
    check_entries(place, matrix)
    full = nz < 0 and matrix.nnz == shape[0] * shape[1]
    return matrix.toarray() if full else sp.csr_array(matrix)


def _write_matrix(group: h5py.Group, matrix: Any) -> None:
    """Write compressed rows: of a dense matrix all entries, zeros as well.

    A sparse matrix that has all entries is written as triplets, so that it comes back as what it was.
    """
    m, n = matrix.shape
    rows = matrix if sp.issparse(matrix) else _all_entries(matrix)
    p, i, x, nz = rows.indptr, rows.indices, rows.data, -2
    if sp.issparse(matrix) and matrix.nnz == m * n:
        triplets = matrix.tocoo()
        p, i, x, nz = triplets.col, triplets.row, triplets.data, m * n
    for name, value in (("m", m), ("n", n), ("nz", nz), ("nzmax", len(x))):
        group[name] = _integer(value)
    group["p"], group["i"], group["x"] = p.astype(np.int32), i.astype(np.int32), x


def _all_entries(matrix: Array) -> sp.csr_array:
    m, n = matrix.shape
    return sp.csr_array((matrix.ravel(), np.tile(np.arange(n), m), n * np.arange(m + 1)), shape=(m, n))


def _scalar(group: h5py.Group, name: str, where: str) -> int:
    values = _vector(group, name, where)
    if values.size != 1 or not np.isfinite(values[0]) or values[0] != int(values[0]):
        raise FileFormatError(f"{where}: {group.name}/{name}: {values} is not one integer")
    return int(values[0])


def _vector(group: h5py.Group, name: str, where: str) -> Array:
    """Return a dataset as a vector of numbers, or raise FileFormatError naming it."""
    dataset = child_dataset(group, name, where)
    if dataset.dtype.kind not in "iuf":
        raise FileFormatError(f"{where}: {group.name}/{name}: holds {dataset.dtype}, not numbers")
    return entries(dataset).astype(np.float64).ravel()


def _read_vectors(file: h5py.File, name: str, most: Mapping[str, int], where: str) -> dict[str, Array]:
    """Return the vectors of a guess or a solution; those of another length are refused."""
    group = child_group(file, name, where)
    found = {}
    for key in (key for key in group if key in most):
        size = child_dataset(group, key, where).size
        if size > most[key]:
            raise FileFormatError(f"{where}: {group.name}/{key}: has {size} entries, expected {most[key]}")
        found[key] = _vector(group, key, where)
    return found


def _write_vectors(group: h5py.Group, vectors: Vectors) -> None:
    for name, vector in vectors.items():
        group[name] = np.asarray(vector, dtype=np.float64)


def _guess_names(file: h5py.File, where: str) -> list[str]:
    if "guesses" not in file:
        return []
    names = child_group(file, "guesses", where)
    return sorted((name for name in names if name.isascii() and name.isdigit()), key=int)


def _matrix_info(group: h5py.Group, name: str, where: str) -> dict[str, Any]:
    """Return what the file says about a matrix beside its entries."""
    parts = child_group(group, name, where)
    texts = {"comment": _text(parts, "comment", where)} if "comment" in parts else {}
    figures = (key for key in MATRIX_INFO if key != "comment" and key in parts)
    return texts | {key: _number(parts, key, where) for key in figures}


def _number(group: h5py.Group, name: str, where: str) -> float:
    values = _vector(group, name, where)
    if values.size != 1:
        raise FileFormatError(f"{where}: {group.name}/{name}: has {values.size} entries, expected one number")
    return float(values[0])


def _text(group: h5py.Group, name: str, where: str) -> str:
    dataset = child_dataset(group, name, where)
    if dataset.size > 1:
        raise FileFormatError(f"{where}: {group.name}/{name}: has {dataset.size} entries, expected one text")
    value = dataset[()]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _integer(value: int) -> NDArray[np.int32]:
    return np.array([value], dtype=np.int32)
