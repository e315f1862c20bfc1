"""The suite runner (examples/checks): its measure is the checker's, its counts and demands are right."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.solving.solve import certify

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "checks"))
import suite
import suite_measure as measure

SHARED = Path(__file__).parents[3] / "shared" / "suite" / "open"
needs_suite = pytest.mark.skipif(not (SHARED / "suite.json").exists(), reason="the problem suite is not here")
ROUNDING = 1e-10
"""Relative: two ways to add up the same residual."""


def test_projection_onto_the_cone_is_the_nearest_point():
    rng = np.random.default_rng(0)
    x, mu = rng.standard_normal((200, 3)), rng.uniform(0.0, 1.5, 200)
    p = measure.project_cone(x, mu)
    assert (np.linalg.norm(p[:, 1:], axis=1) <= mu * p[:, 0] + ROUNDING).all()
    # Moreau: x - p lies in the polar cone and is orthogonal to p.
    rest = x - p
    assert (mu * np.linalg.norm(rest[:, 1:], axis=1) <= -rest[:, 0] + ROUNDING).all()
    np.testing.assert_allclose((p * rest).sum(axis=1), 0.0, atol=ROUNDING)


def test_a_sliding_contact_has_no_residual():
    # Mass 1 at (0, -1, 2) m/s, mu 0.5: the normal impulse stops the fall, friction opposes the slip.
    data = {"W": np.eye(3), "q": np.array([-1.0, 2.0, 0.0]), "mu": np.array([0.5]), "dim": 3}
    assert measure.frictional_residual(data, np.array([1.0, -0.5, 0.0])) < ROUNDING
    assert measure.frictional_residual(data, np.array([1.0, 0.5, 0.0])) > 0.1
    system = {
        "M": sp.eye_array(3, format="csr"),
        "H": sp.eye_array(3, format="csr"),
        "f": data["q"],
        "w": np.zeros(3),
    }
    assert measure.global_residual(data | system, np.array([1.0, -0.5, 0.0])) < ROUNDING


def test_a_suite_of_two_problems_is_run_and_judged(tmp_path, capsys):
    write_suite(tmp_path / "open")
    records = tmp_path / "records.json"
    assert suite.main([str(tmp_path), "--solvers", "lemke", "--json", str(records)]) == 0
    rows = json.loads(records.read_text())
    assert [row["ok"] for row in rows] == [True, True]
    printed = capsys.readouterr().out
    assert "no solution exists, as expected" in printed
    assert "every demand is met" in printed


def test_a_failure_is_listed_with_its_reason_and_fails_the_run(tmp_path, capsys, monkeypatch):
    write_suite(tmp_path)
    nowhere = mf.Claim(np.full(2, np.nan), mf.Status.NUMERICAL, message="gave up")
    fail = certify(mf.MixedLCP(np.eye(2), np.ones(2)), nowhere, 1e-9, "lemke", 0.0)
    monkeypatch.setattr(mf, "solve", lambda *args, **rest: fail)
    assert suite.main([str(tmp_path), "--solvers", "lemke", "--only", "good"]) == 1
    printed = capsys.readouterr().out
    assert "UNSOLVED: lcp_good (n = 2) lemke: NUMERICAL" in printed
    assert "gave up" in printed
    assert "not met: lemke on lcp_good" in printed


def test_a_folder_without_a_manifest_is_refused_by_name(tmp_path):
    with pytest.raises(SystemExit, match="no suite.json"):
        suite.main([str(tmp_path)])


def test_references_are_counted_by_problem_or_by_start():
    def entry(kind, solved_by, starts):
        return suite.Entry("x", kind, 1, Path(), tuple(solved_by), starts, False, True)

    linear = [entry("lcp", ["a", "b"], {}), entry("lcp", ["b"], {}), entry("lcp", [], {})]
    assert suite.best_reference(linear, "lcp") == ("b", 2)
    assert suite.by_any_reference(linear, "lcp") == 2
    nonlinear = [entry("mcp", ["a"], {"a": "2/3", "b": "1/3"}), entry("mcp", ["b"], {"a": "0/2", "b": "2/2"})]
    assert suite.best_reference(nonlinear, "mcp") == ("b", 3)
    assert suite.by_any_reference(nonlinear, "mcp") == 4


@needs_suite
def test_the_measure_is_the_checkers_on_its_reference_solutions():
    check = import_file(SHARED / "check.py")
    compared = 0
    for entry in suite.manifest(SHARED):
        reference = SHARED / "refsol" / f"{entry.name}.npz"
        if entry.kind == "mcp" or not reference.exists():
            continue
        data, stored = suite.load(entry.path), dict(np.load(reference))
        given = check.problem(check.load(entry.path), entry.kind, entry.name)
        rng = np.random.default_rng(compared)
        for shake in (0.0, 1e-3):
            key = "z" if entry.kind in suite.LINEAR else "r"
            point = stored[key].ravel() + shake * rng.standard_normal(stored[key].size)
            expected = check.residual(given, {key: point})[1]
            np.testing.assert_allclose(MEASURES[entry.kind](data, point), expected, rtol=1e-6, atol=1e-14)
        compared += 1
    assert compared > 50


@needs_suite
def test_lemke_solves_the_small_problems_of_its_class_in_the_suite(capsys):
    assert suite.main([str(SHARED), "--kinds", "lcp", "--solvers", "lemke", "--nmax", "60"]) == 0


MEASURES = {
    **dict.fromkeys(suite.LINEAR, measure.linear_residual),
    **dict.fromkeys(suite.LOCAL, measure.frictional_residual),
    **dict.fromkeys(suite.GLOBAL, measure.global_residual),
}


def write_suite(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    bounds = {"lower": np.zeros(2), "upper": np.full(2, np.inf), "scale": 1.0}
    np.savez(folder / "good.npz", M=np.array([[2.0, 1.0], [1.0, 2.0]]), q=np.array([-5.0, -6.0]), **bounds)
    # Row 0 has w = -z_0 - 1 < 0 for every z >= 0.
    M = sp.csr_array(np.array([[-1.0, 0.0], [0.0, 1.0]]))
    parts = {"M_data": M.data, "M_indices": M.indices, "M_indptr": M.indptr, "M_shape": M.shape}
    np.savez(folder / "bad.npz", q=np.array([-1.0, 1.0]), **parts, **bounds)
    common = {"kind": "lcp", "n": 2, "copositive": True}
    problems = [
        {"name": "lcp_good", "file": "good.npz", "reference": {"solved_by": ["ref"]}, **common},
        {
            "name": "lcp_bad",
            "file": "bad.npz",
            "reference": {"solved_by": []},
            "expected": "infeasible",
            **common,
        },
    ]
    (folder / "suite.json").write_text(json.dumps({"header": {}, "problems": problems}))


def import_file(path: Path):
    spec = importlib.util.spec_from_file_location("suite_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
