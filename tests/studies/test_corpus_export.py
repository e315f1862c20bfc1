"""A corpus as FCLIB and .npz files: the same problems, with the same solutions, for other programs."""

import json

import h5py
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import OptionError
from mcpframe.io.fclib import read_fclib
from mcpframe.studies.corpora.export import export_fclib, export_npz, fclib_record

DT = 1e-3
SAME = 1e-9
"""N s and m/s; two certified solutions of the same problem."""


def given(model, n_u=4, speed=0.5, formulation="os", law="coulomb"):
    """Arguments of `Corpus.append`: a problem, and what it is with the exact cone."""
    rates = np.zeros(model.n_dofs)
    rates[:3] = [speed, 0.1, -0.5]
    state = model.state(theta_dot=rates)
    step = mf.ContactStep(state, mf.systems.contacts_of(state, n_u, mu=0.3), DT, law=law)
    way = mf.formulation(formulation)
    exact = way.rows(step).friction_problem() if law == "coulomb" else None
    return {"problem": way.build(step)[0], "exact": exact}


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.h5"
    with mf.Corpus(path, "a") as corpus:
        corpus.append(**given(mf.systems.quadruped()), name="feet", provenance={"step": 3}, labels=["x"])
        corpus.append(**given(mf.systems.box()), name="box")
        corpus.append(**given(mf.systems.quadruped(), formulation="nmc"), name="links")
        corpus.append(**given(mf.systems.box(), law="torsional"), name="torsional")
        corpus.append(mf.FrictionProblem(np.eye(3), [-1.0, 0.5, 0.0], 0.5), name="exact")
    with mf.Corpus(path) as corpus:
        yield corpus


def impulses(problem, z):
    """Normal and tangential impulses on four directions [n_u, 3]."""
    where = problem.contacts
    d = z[where.friction]
    return np.column_stack([z[where.normal], d[:, 0] - d[:, 2], d[:, 1] - d[:, 3]])


def test_a_problem_comes_back_with_the_same_impulses(corpus, tmp_path):
    exported = export_fclib(corpus, tmp_path / "fclib")
    for number in (0, 2):  # independent contacts: impulses are unique
        problem = corpus[number].problem
        back = mf.load_fclib(tmp_path / "fclib" / f"{number:06d}.hdf5")
        solution = mf.solve(problem, "auto")
        again = mf.solve(back.to_mixed_lcp(4), "auto")
        assert solution.ok
        assert again.ok
        np.testing.assert_allclose(
            back.impulses(again.z).reshape(-1, 3), impulses(problem, solution.z), atol=SAME
        )
    assert [path.name for path in exported.files] == [f"{k:06d}.hdf5" for k in (0, 1, 2, 4)]


def test_redundant_contacts_come_back_with_the_same_velocities(corpus, tmp_path):
    export_fclib(corpus, tmp_path / "fclib")
    problem, back = corpus[1].problem, mf.load_fclib(tmp_path / "fclib" / "000001.hdf5")
    r = impulses(problem, mf.solve(problem, "auto").z).ravel()
    again = mf.solve(back.to_mixed_lcp(4), "auto")
    u = back.relative_velocities(back.impulses(again.z))
    np.testing.assert_allclose(u, back.relative_velocities(r), atol=SAME)


def test_the_exact_cone_of_an_exported_problem_is_solved(corpus, tmp_path):
    export_fclib(corpus, tmp_path / "fclib")
    assert mf.solve(mf.load_fclib(tmp_path / "fclib" / "000000.hdf5"), "auto").ok


def test_files_have_the_groups_of_the_format(corpus, tmp_path):
    export_fclib(corpus, tmp_path / "fclib")
    with h5py.File(tmp_path / "fclib" / "000000.hdf5") as file:
        local = file["fclib_local"]
        assert set(local) == {"W", "info", "spacedim", "vectors"}
        assert set(local["W"]) == {"m", "n", "nz", "nzmax", "p", "i", "x"}
        assert set(local["vectors"]) == {"q", "mu"}
        assert set(local["info"]) == {"title", "description", "math_info"}
        assert (local["spacedim"][0], local["W/m"][0], local["W/n"][0]) == (3, 12, 12)
    info = read_fclib(tmp_path / "fclib" / "000000.hdf5").info
    assert info["title"] == "feet"
    assert json.loads(info["description"]) == {"step": 3}


def test_what_the_format_cannot_hold_is_left_out_and_told(corpus, tmp_path):
    (left_out,) = export_fclib(corpus, tmp_path / "fclib").left_out
    assert left_out[0] == "torsional"
    assert "Coulomb" in left_out[1]


def test_an_exact_problem_is_written_as_it_is(corpus):
    written = fclib_record(corpus[4]).problem
    np.testing.assert_array_equal(written.W, np.eye(3))
    assert (written.mu == [0.5]).all()


def test_npz_files_keep_everything(corpus, tmp_path):
    exported = export_npz(corpus, tmp_path / "npz")
    assert len(exported.files) == 5
    assert not exported.left_out
    back = mf.load_record(exported.files[0])
    assert (back.name, back.provenance, back.labels) == ("feet", {"step": 3}, ("x",))
    assert (back.problem.M == corpus[0].problem.M).all()
    assert (back.exact.W == corpus[0].exact.W).all()
    assert mf.load_record(exported.files[3]).exact is None


@pytest.mark.parametrize("export", [export_fclib, export_npz])
def test_a_folder_that_holds_something_is_refused(corpus, tmp_path, export):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    with pytest.raises(OptionError, match="not an empty folder"):
        export(corpus, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
