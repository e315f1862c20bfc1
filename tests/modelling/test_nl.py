"""Models in .nl files: those that Pyomo writes, every kind of pair, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import FileFormatError, McpframeError

EXACT = 1e-9
PYOMO = (Path(__file__).parents[2] / "examples/mcp/pairs.nl").read_text()
"""Of complements(0 <= exp(x) - 2 + y, x >= 0), complements(sin(z) + x == 1, z) and
complements(y - x z >= -0.25, y >= 0), as Pyomo 6.10 writes it."""

KINDS = """g3 1 1 0
 4 4 0 0 1
 2 0 0 3 0 0
 0 0
 4 0 0
 0 0 0 1
 0 0 0 0 0
 4 0
 0 0
 0 1 0 0 0
V4 1 0
0 2
o5
v0
n2
C0
o54
3
v4
v1
n-3
C1
o0
v1
n1
C2
o0
v2
n-7
C3
n0
d1
0 0.5
S0 1 marked
0 1
r
4 0
5 2 2
5 3 3
5 0 4
b
3
1 -4
0 -1 1
3
J3 1
3 2
"""
"""v4 = 2 v0 + v0^2; v4 + v1 - 3 = 0 of the free v0; v1 + 1 of v1 <= -4; v2 - 7 of v2 in [-1, 1]; 2 v3 = 0."""


@pytest.fixture
def written(tmp_path):
    def write(text, names=""):
        path = tmp_path / "model.nl"
        path.write_text(text)
        if names:
            path.with_suffix(".col").write_text(names)
        return path

    return write


@pytest.mark.parametrize("solver", ["path", "newton"])
def test_a_model_of_pyomo_has_the_solution_of_its_equations(written, solver):
    model = mf.load_nl(written(PYOMO, "x\nz\nc1.bv\ny\nc2.bv\n"))
    answer = model.solve(solver, throw=True)
    x = np.log(2.0)
    z = np.arcsin(1 - x)
    assert (answer["x"], answer["z"], answer["y"]) == pytest.approx((x, z, 0.0), abs=EXACT)
    assert answer["c2.bv"] == pytest.approx(0.25 - x * z, abs=EXACT)


def test_every_kind_of_pair_and_common_expressions_are_read(written):
    answer = mf.load_nl(written(KINDS)).solve("path", start={"v0": 1.0}, throw=True)
    assert answer["v1"] == -4.0, "at its upper bound, where its expression is negative"
    assert answer.slack("v1") == pytest.approx(-3.0, abs=EXACT)
    assert (answer["v2"], answer.slack("v2")) == pytest.approx((1.0, -6.0), abs=EXACT)
    assert answer["v3"] == pytest.approx(0.0, abs=EXACT)
    v_0 = answer["v0"]
    assert 2 * v_0 + v_0**2 == pytest.approx(7.0, abs=1e-7)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("g3 1 1 0", "b3 1 1 0", "binary .nl file"),
        ("g3 1 1 0", "x3 1 1 0", "does not begin as"),
        (" 4 4 0 0 1", " 4 4 1 0 1", "has an objective"),
        (" 4 4 0 0 1", " 999999999 4 0 0 1", "declares 999999999 variables"),
        (" 0 0 0 0 0\n 4 0", " 1 0 0 0 0\n 4 0", "integer variables"),
        (" 0 0 0 1", " 0 2 0 1", "functions of other libraries"),
        ("o54\n", "o79\n", "line 17: operator 'o79' is not known"),
        ("v1\nn-3", "v9\nn-3", "cannot be read as a .nl model"),
        ("4 0\n5 2 2", "2 0\n5 2 2", "constraint 0: is an inequality"),
        ("5 2 2", "5 1 2", "v1: bounds"),
        ("5 2 2", "5 2 9", "complements variable 9"),
        ("5 2 2", "3", "1 equations for 2 variables"),
        ("b\n3\n", "b\n2 0\n", "v0: has bounds, but complements nothing"),
        ("0 -1 1", "0 5 1", "v2: lower = 5 and upper = 1"),
        ("J3 1\n3 2\n", "J3 1\n", "ends too early"),
        ("J3 1\n3 2\n", "J7 1\n3 2\n", "index 7, of 4"),
        ("J3 1\n3 2\n", "Q3 1\n", "segment 'Q'"),
    ],
)
def test_what_is_no_complementarity_problem_is_refused_with_the_file(written, old, new, words):
    assert KINDS.count(old) == 1
    path = written(KINDS.replace(old, new))
    with pytest.raises(FileFormatError, match=words) as caught:
        mf.load_nl(path)
    assert str(path) in str(caught.value)


def test_deep_expressions_are_refused_and_not_recursed_into(written):
    with pytest.raises(FileFormatError, match="operators deep"):
        mf.load_nl(written(KINDS.replace("o54\n3\nv4", "o16\n" * 5000 + "v4")))


def said_of(path):
    """Return what is wrong with a file, or its name where nothing is; errors that are not ours pass."""
    try:
        mf.load_nl(path)
    except McpframeError as error:
        return str(error)
    return str(path)


def test_damaged_files_raise_no_foreign_error(written, rng):
    for text in (PYOMO, KINDS):
        for _ in range(150):
            data = bytearray(text.encode())
            for place in rng.integers(0, len(data), 3):
                data[place] = rng.integers(32, 127)
            path = written("")
            path.write_bytes(data[: rng.integers(1, len(data) + 1)] if rng.random() < 0.3 else data)
            assert str(path) in said_of(path)


def test_what_is_no_complementarity_model_of_pyomo_is_refused_by_its_name():
    pytest.importorskip("pyomo")
    import pyomo.environ as pe

    model = pe.ConcreteModel(name="parabola")
    model.x = pe.Var()
    model.least = pe.Objective(expr=model.x**2)
    with pytest.raises(mf.FileFormatError, match=r"^model 'parabola': .* has an objective"):
        mf.from_pyomo(model)
    with pytest.raises(mf.ModelError, match="str is not a ConcreteModel"):
        mf.from_pyomo("parabola")


def test_a_pyomo_model_is_taken_as_it_is():
    pytest.importorskip("pyomo")
    import pyomo.environ as pe
    from pyomo.mpec import Complementarity, complements

    model = pe.ConcreteModel(name="duopoly")
    model.q = pe.Var([1, 2], bounds=(0, None))
    cost = {1: 1.0, 2: 2.0}
    price = 10 - model.q[1] - model.q[2]
    model.pairs = Complementarity(
        [1, 2], rule=lambda m, i: complements(cost[i] + m.q[i] - price >= 0, m.q[i] >= 0)
    )
    answer = mf.from_pyomo(model).solve("lemke", throw=True)
    assert (answer["q[1]"], answer["q[2]"]) == pytest.approx((10 / 3, 7 / 3), abs=EXACT)
    assert isinstance(model.pairs, Complementarity), "the model of the user is as it was"
