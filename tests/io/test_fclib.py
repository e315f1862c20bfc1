"""FCLIB files: what is written comes back, what others write is read, what is damaged is named."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe.exceptions import FileFormatError
from mcpframe.io.fclib import FclibRecord, load_fclib, read_fclib, save_fclib
from mcpframe.problem.friction import FrictionProblem

INFO = {"title": "Two blocks", "description": "Größe 2", "math_info": "W is SPD"}


def local(rng, dense=True):
    H = rng.standard_normal((3, 3))
    W = np.kron(np.diag([1.0, 2.0]), H.T @ H)  # zeros that the dense form must keep
    return FrictionProblem(W if dense else sp.csr_array(W), rng.standard_normal(6), [0.3, 0.7])


def whole(rng, dim=3):
    M, H = np.diag(rng.uniform(1.0, 2.0, 4)), rng.standard_normal((4, 2 * dim))
    H[:2, :dim] = 0.0
    return FrictionProblem.from_global(
        sp.csr_array(M),
        sp.csr_array(H),
        rng.standard_normal(4),
        rng.standard_normal(2 * dim),
        [0.3, 0.7],
        dim,
    )


def same_matrix(a, b):
    assert sp.issparse(a) == sp.issparse(b)
    if sp.issparse(a):
        assert (a.indptr == b.indptr).all()
        assert (a.indices == b.indices).all()
        a, b = a.data, b.data
    np.testing.assert_array_equal(a, b)


def same_problem(a, b):
    """Every bit of the data, not only values that are close."""
    assert a.dim == b.dim
    same_matrix(a.W, b.W)
    for name in ("q", "mu"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert (a.global_form is None) == (b.global_form is None)
    if a.global_form is not None:
        for name in ("M", "H"):
            same_matrix(getattr(a.global_form, name), getattr(b.global_form, name))
        for name in ("f", "w"):
            np.testing.assert_array_equal(getattr(a.global_form, name), getattr(b.global_form, name))


@pytest.fixture(params=["dense", "sparse", "full", "global", "plane", "empty"])
def problem(request, rng):
    return {
        "dense": lambda: local(rng),
        "sparse": lambda: local(rng, dense=False),
        "full": lambda: FrictionProblem(sp.csr_array(np.ones((3, 3))), [1.0, 2.0, 3.0], 0.5),
        "global": lambda: whole(rng),
        "plane": lambda: whole(rng, dim=2),
        "empty": lambda: FrictionProblem(np.zeros((0, 0)), [], []),
    }[request.param]()


def test_a_round_trip_keeps_every_bit_of_the_problem(tmp_path, problem):
    save_fclib(tmp_path / "a.hdf5", problem)
    same_problem(load_fclib(tmp_path / "a.hdf5"), problem)


def test_a_round_trip_keeps_texts_guesses_and_solution(tmp_path, rng):
    guesses = [{"r": rng.standard_normal(6), "u": rng.standard_normal(6), "v": rng.standard_normal(4)}] * 11
    matrix_info = {"M": {"comment": "diagonal", "conditioning": 2.0, "determinant": 1.5, "rank": 4}}
    record = FclibRecord(whole(rng), INFO, matrix_info, guesses, {"r": np.arange(6.0), "u": np.zeros(6)})
    save_fclib(tmp_path / "a.hdf5", record)
    back = read_fclib(tmp_path / "a.hdf5")
    assert back.info == INFO
    assert back.matrix_info == matrix_info
    assert len(back.guesses) == 11
    for ours, theirs in zip([*guesses, record.solution], [*back.guesses, back.solution], strict=True):
        assert ours.keys() == theirs.keys()
        for name, vector in ours.items():
            np.testing.assert_array_equal(vector, theirs[name])


def test_a_stored_solution_is_not_part_of_the_problem(tmp_path, rng):
    # Not a solution: certify says so, and solving does not look at it.
    save_fclib(tmp_path / "a.hdf5", FclibRecord(local(rng), solution={"r": np.ones(6), "u": np.ones(6)}))
    record = read_fclib(tmp_path / "a.hdf5")
    assert record.problem.certify(record.solution["r"])[2] > 0.1


def write_matrix(group, name, m, n, nz, p, i, x):
    """A matrix as the FCLIB library writes it: vectors of 32-bit integers, also for single numbers."""
    for key, value in (("m", m), ("n", n), ("nz", nz), ("nzmax", len(x))):
        group[f"{name}/{key}"] = np.array([value], dtype=np.int32)
    for key, value in (("p", p), ("i", i)):
        group[f"{name}/{key}"] = np.asarray(value, dtype=np.int32)
    group[f"{name}/x"] = np.asarray(x, dtype=np.float64)


@pytest.mark.parametrize("storage", ["columns", "rows", "triplets"])
def test_all_three_storages_of_a_matrix_are_read(tmp_path, rng, storage):
    H = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 4.0, 5.0], [0.0, 0.0, 6.0]])
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([3], dtype=np.int32)
        write_matrix(group, "M", 4, 4, 4, range(4), range(4), np.ones(4))
        parts = {"columns": sp.csc_array(H), "rows": sp.csr_array(H), "triplets": sp.coo_array(H)}[storage]
        if storage == "triplets":
            write_matrix(group, "H", 4, 3, parts.nnz, parts.col, parts.row, parts.data)
        else:
            kind = -1 if storage == "columns" else -2
            write_matrix(group, "H", 4, 3, kind, parts.indptr, parts.indices, parts.data)
        for name, vector in {"f": np.ones(4), "w": np.zeros(3), "mu": [0.5]}.items():
            group[f"vectors/{name}"] = vector
    form = load_fclib(tmp_path / "a.hdf5").global_form
    np.testing.assert_array_equal(form.H.toarray(), H)
    np.testing.assert_array_equal(form.M.toarray(), np.eye(4))


@pytest.fixture
def stored(tmp_path, rng):
    path = tmp_path / "a.hdf5"
    save_fclib(path, FclibRecord(local(rng, dense=False), INFO))
    return path


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused_by_name(stored, share):
    whole_file = stored.read_bytes()
    stored.write_bytes(whole_file[: int(share * len(whole_file))])
    with pytest.raises(FileFormatError, match=r"a\.hdf5"):
        load_fclib(stored)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not hdf5", b"fclib_local"])
def test_a_foreign_file_is_refused_by_name(tmp_path, content):
    (tmp_path / "a.hdf5").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.hdf5: is not a complete HDF5 file"):
        load_fclib(tmp_path / "a.hdf5")


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(FileFormatError, match="nothing.hdf5: no such file"):
        load_fclib(tmp_path / "nothing.hdf5")


def test_another_hdf5_file_is_refused_with_what_it_holds(tmp_path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["measurements"] = np.ones(3)
    with pytest.raises(FileFormatError, match="not an FCLIB file.*measurements"):
        load_fclib(tmp_path / "a.hdf5")


FIELDS = [
    "spacedim",
    "vectors/q",
    "vectors/mu",
    "W",
    *(f"W/{part}" for part in ("m", "n", "nz", "p", "i", "x")),
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field_is_named(stored, field):
    with h5py.File(stored, "r+") as file:
        del file[f"fclib_local/{field}"]
    with pytest.raises(FileFormatError, match=f"a.hdf5: /fclib_local/{field}: is missing"):
        load_fclib(stored)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("spacedim", [4], "dim = 4"),
        ("spacedim", [3, 3], "spacedim: .* is not one integer"),
        ("spacedim", [2.5], "spacedim: .* is not one integer"),
        ("vectors/q", [np.nan] * 6, "q: entry 0 is nan"),
        ("vectors/q", [1.0] * 5, r"W: shape \(6, 6\), expected \(5, 5\)"),
        ("vectors/mu", [-1.0, 0.5], "mu: entry 0 is -1"),
        ("vectors/mu", [b"a", b"b"], "vectors/mu: holds .*, not numbers"),
        ("W/m", [7], r"W: shape \(7, 6\), expected \(6, 6\)"),
        ("W/nz", [-3], "W: m, n, nz, p, i, x do not fit together"),
        ("W/i", [99] * 30, "W: m, n, nz, p, i, x do not fit together"),
        ("W/x", [1.0], "W: m, n, nz, p, i, x do not fit together"),
    ],
)
def test_a_wrong_field_is_named(stored, field, value, message):
    with h5py.File(stored, "r+") as file:
        del file[f"fclib_local/{field}"]
        file[f"fclib_local/{field}"] = np.array(value)
    with pytest.raises(FileFormatError, match=f"a.hdf5: .*{message}"):
        load_fclib(stored)


def test_bilateral_constraints_are_refused_by_name(stored):
    with h5py.File(stored, "r+") as file:
        write_matrix(file["fclib_local"], "V", 6, 1, 1, [0], [0], [1.0])
    with pytest.raises(FileFormatError, match="fclib_local/V: bilateral constraints"):
        load_fclib(stored)


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_behind(tmp_path, rng):
    with pytest.raises(FileFormatError, match="cannot be written"):
        save_fclib(tmp_path / "no" / "folder.hdf5", local(rng))
    save_fclib(tmp_path / "a.hdf5", local(rng))
    save_fclib(tmp_path / "a.hdf5", local(rng))
    assert [path.name for path in tmp_path.iterdir()] == ["a.hdf5"]
