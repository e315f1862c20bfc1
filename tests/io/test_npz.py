import casadi
import numpy as np
import pytest
import scipy.sparse as sp
from storage import (
    PROBLEMS,
    assert_same_problem,
    contact_problem,
    dense_problem,
    friction_problem,
    global_friction_problem,
    same_bits,
    sparse_problem,
)

import mcpframe as mf
from mcpframe import FileFormatError, ProblemError
from mcpframe.io.npz import load_problem, load_record, save_problem, save_solution


def rewrite(path, **changes):
    """Store the fields of a file again, with changes; None removes a field."""
    with np.load(path) as archive:
        fields = dict(archive) | changes
    np.savez(path, **{name: value for name, value in fields.items() if value is not None})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "problem.npz"


@pytest.mark.parametrize("make", PROBLEMS)
def test_a_round_trip_changes_no_bit(make, path):
    save_problem(path, make())
    assert_same_problem(load_problem(path), make())


def test_start_point_name_provenance_and_labels_travel_along(path):
    provenance = {"source": "two boxes", "step": 12, "nested": {"μ": [0.1, 1 / 3]}}
    z0 = np.array([1 / 3, -0.0, 5e-324, 1e308, 2.0])
    save_problem(
        path, dense_problem(), z0=z0, name="boxes", provenance=provenance, labels=("contact", "hard")
    )
    record = load_record(path)
    assert same_bits(record.z0, z0)
    assert (record.name, record.provenance, record.labels) == ("boxes", provenance, ("contact", "hard"))


def test_the_exact_cone_of_a_polygon_travels_along(path):
    save_problem(path, contact_problem(), exact=friction_problem())
    assert_same_problem(load_record(path).exact, friction_problem())
    assert_same_problem(load_problem(path), contact_problem())
    rewrite(path, exact_q=np.zeros(4))
    with pytest.raises(FileFormatError, match=r"exact: W: shape .*, expected \(4, 4\)"):
        load_record(path)


def test_numpy_alone_reads_the_file(path):
    save_problem(path, sparse_problem())
    with np.load(path, allow_pickle=False) as fields:
        M = sp.csr_array((fields["M_data"], fields["M_indices"], fields["M_indptr"]), shape=fields["M_shape"])
        assert str(fields["kind"]) == "mixed_lcp"
    np.testing.assert_array_equal(M.toarray(), sparse_problem().M_dense)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_files_of_other_projects_need_the_four_fields_only(path, index_type):
    M = sp.csr_array(np.array([[2.0, 0.0], [1.0, 3.0]]))
    parts = {
        "M_data": M.data,
        "M_indices": M.indices.astype(index_type),
        "M_indptr": M.indptr,
        "M_shape": M.shape,
    }
    np.savez(path, **parts, q=[1, -1], lower=[0.0, -np.inf], upper=[np.inf, np.inf], scale=1.0, z0=[0.0, 1.0])
    record = load_record(path)
    assert record.problem.is_sparse
    assert record.problem.free.tolist() == [False, True]
    np.testing.assert_array_equal(record.z0, [0.0, 1.0])


@pytest.mark.parametrize("field", ["M", "q", "lower", "upper", "contacts_mu", "contacts_slip"])
def test_a_missing_field_is_named_with_the_file(path, field):
    save_problem(path, contact_problem())
    rewrite(path, **{field: None})
    with pytest.raises(FileFormatError, match=f"problem.npz: field '{field}' is missing"):
        load_problem(path)


@pytest.mark.parametrize("field", ["W", "q", "mu", "dim"])
def test_a_missing_field_of_a_friction_problem_is_named(path, field):
    save_problem(path, friction_problem())
    rewrite(path, **{field: None})
    with pytest.raises(FileFormatError, match=f"problem.npz: field '{field}' is missing"):
        load_problem(path)


@pytest.mark.parametrize("make", [friction_problem, global_friction_problem])
def test_friction_problems_of_other_projects_are_told_by_their_fields(path, make):
    save_problem(path, make())
    rewrite(path, kind=np.array("fc3d"), name=None, provenance=None, labels=None)
    assert_same_problem(load_problem(path), make())


@pytest.mark.parametrize("field", ["M_indices", "M_indptr", "M_shape"])
def test_a_missing_part_of_a_sparse_matrix_is_named(path, field):
    save_problem(path, sparse_problem())
    rewrite(path, **{field: None})
    with pytest.raises(FileFormatError, match=f"field '{field}' is missing"):
        load_problem(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.array([0.1, np.nan, 0.0, 0.0, 0.0])}, "q: entry 1 is nan"),
        ({"q": np.zeros(4)}, r"M: shape \(5, 5\), expected \(4, 4\)"),
        ({"lower": np.full(5, 2e300)}, "leave no value"),
        ({"M": np.full((5, 5), b"x")}, "M: cannot be read"),
        ({"M": np.array([[1.0]])}, r"M: shape \(1, 1\), expected \(5, 5\)"),
        ({"z0": np.zeros(2)}, r"z0: shape \(2,\)"),
        ({"layout": np.array("{broken")}, "field 'layout' is not JSON"),
        ({"layout": np.array("{}")}, "field 'layout' is not a JSON list"),
        ({"layout": np.array("[1, 2]")}, "layout"),
        ({"layout": np.array('[["a", 2]]')}, "add up to 2"),
        ({"provenance": np.array("[]")}, "field 'provenance' is not a JSON dict"),
    ],
)
def test_a_field_that_cannot_be_used_is_named_with_the_file(path, changes, message):
    save_problem(path, dense_problem())
    rewrite(path, **changes)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_problem(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"M_indices": np.array([1, 4, 0, 99])},
        {"M_indices": np.array([1, -4, 0, 4])},
        {"M_indices": np.array([1, 4])},
        {"M_indptr": np.array([0, 9, 9, 9, 9, 9])},
        {"M_shape": np.array([5])},
        {"M_shape": np.array(["a", "b"])},
    ],
)
def test_a_sparse_matrix_that_does_not_fit_together_is_refused(path, changes):
    save_problem(path, sparse_problem())
    rewrite(path, **changes)
    with pytest.raises(FileFormatError, match=r"problem\.npz: "):
        load_problem(path)


def test_a_file_cut_off_anywhere_is_refused(path):
    save_problem(path, contact_problem())
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(FileFormatError, match=r"problem\.npz: is not a complete \.npz file"):
            load_problem(path)


def test_a_damaged_byte_never_goes_unnoticed_in_the_arrays(path):
    save_problem(path, dense_problem())
    whole = bytearray(path.read_bytes())
    at = whole.find(np.float64(1 / 3).tobytes())
    whole[at] ^= 1
    path.write_bytes(whole)
    with pytest.raises(FileFormatError, match="Bad CRC"):
        load_problem(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89HDF\r\n\x1a\n" + bytes(100)])
def test_files_of_another_kind_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"problem\.npz: is not a complete \.npz file"):
        load_problem(path)


def test_a_bare_array_a_pickle_and_nothing_at_all_are_refused(path, tmp_path):
    np.save(tmp_path / "bare.npy", np.eye(2))
    with pytest.raises(FileFormatError, match="one bare array"):
        load_problem(tmp_path / "bare.npy")
    np.savez(path, M=np.array([{"a": 1}], dtype=object), q=[1.0], lower=[0.0], upper=[1.0])
    with pytest.raises(FileFormatError, match="field 'M': holds object, neither numbers nor text"):
        load_problem(path)
    with pytest.raises(FileFormatError, match="no such file"):
        load_problem(tmp_path / "missing.npz")


def test_a_nonlinear_problem_is_refused_and_nothing_is_written(path):
    z = casadi.SX.sym("z")
    with pytest.raises(ProblemError, match="MCP cannot be stored.*F.save"):
        save_problem(path, mf.MCP(casadi.Function("F", [z], [z])))
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "extras", [{"z0": [1.0]}, {"provenance": {"a": object()}}, {"labels": "text"}, {"z0": ["a"] * 5}]
)
def test_bad_extras_leave_the_old_file_alone(path, extras):
    save_problem(path, dense_problem())
    before = path.read_bytes()
    with pytest.raises(ProblemError, match=next(iter(extras))):
        save_problem(path, sparse_problem(), **extras)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_alone(path, monkeypatch):
    save_problem(path, dense_problem())
    before = path.read_bytes()

    def full_disk(stream, **fields):
        stream.write(b"half a fi")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(FileFormatError, match="cannot be written .No space left"):
        save_problem(path, sparse_problem())
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_reported(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be written .No such file"):
        save_problem(tmp_path / "nowhere" / "p.npz", dense_problem())


def test_a_place_in_which_nothing_can_be_made_is_reported(tmp_path):
    """Neither can what was begun be removed there: that must not be the error."""
    (tmp_path / "file").touch()
    with pytest.raises(FileFormatError, match=r"p\.npz: cannot be written .Not a directory"):
        save_problem(tmp_path / "file" / "p.npz", dense_problem())


def test_the_file_is_readable_to_whom_other_files_are(path):
    save_problem(path, dense_problem())
    other = path.with_name("other")
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_a_solution_is_stored_with_its_figures(path):
    solution = mf.Solution(
        np.array([1.0]),
        np.array([0.0]),
        0.0,
        mf.Status.SOLVED,
        mf.Status.SOLVED,
        "a",
        "b",
        3,
        0.5,
        basis=np.array([2]),
    )
    save_solution(path, solution)
    with np.load(path) as fields:
        assert str(fields["status"]) == "SOLVED"
        assert (fields["z"][0], int(fields["iterations"]), str(fields["method"])) == (1.0, 3, "b")
        assert fields["basis"].tolist() == [2]
