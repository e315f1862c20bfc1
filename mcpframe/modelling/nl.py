"""Complementarity models of AMPL and Pyomo: `.nl` files in text form.

A model is taken where it is square and a complementarity problem: constraints that complement a variable,
w = body ⟂ z, and equations, as many as there are free variables left. Objectives, inequalities of their own,
integers and functions of other libraries are refused by name. Names of variables are those of the file `.col`
beside it, where there is one.

The format is that of D. M. Gay, Writing .nl files, Sandia report 2005-7907P: a header of ten lines, then
segments that begin with a letter; expressions are in Polish notation, ``o2`` an operator, ``n3.5`` a number,
``v1`` a variable or, from n on, a common expression.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from mcpframe.exceptions import FileFormatError, ModelError, PluginError, ProblemError
from mcpframe.io.untrusted import reading
from mcpframe.modelling.model import MCPModel

UNARY: dict[int, Callable[..., Any]] = {
    **{13: casadi.floor, 14: casadi.ceil, 15: casadi.fabs, 16: lambda x: -x, 37: casadi.tanh, 38: casadi.tan},
    **{39: casadi.sqrt, 40: casadi.sinh, 41: casadi.sin, 42: casadi.log10, 43: casadi.log, 44: casadi.exp},
    **{45: casadi.cosh, 46: casadi.cos, 47: casadi.atanh, 49: casadi.atan, 50: casadi.asinh},
    **{51: casadi.asin, 52: casadi.acosh, 53: casadi.acos},
}
BINARY: dict[int, Callable[..., Any]] = {
    **{0: lambda x, y: x + y, 1: lambda x, y: x - y, 2: lambda x, y: x * y, 3: lambda x, y: x / y},
    **{5: lambda x, y: x**y, 48: casadi.atan2},
}
LISTS: dict[int, Callable[..., Any]] = {11: casadi.fmin, 12: casadi.fmax, 54: lambda x, y: x + y}
"""Operators by their numbers; those of `LISTS` are followed by how many operands they have."""
BOX, UPPER, LOWER, NONE, EQUAL, COMPLEMENT = range(6)
"""Kinds of bounds, of variables and of constraints."""
HEADER = 10
DEEPEST = 400
"""Operators within operators that an expression may have."""


def load_nl(path: str | Path) -> MCPModel:
    """Return the complementarity model of a `.nl` file.

    Raises:
        FileFormatError: the file is damaged, binary, or holds what is not a complementarity problem.
    """
    return _read(Path(path), str(path))


def _read(path: Path, told: str) -> MCPModel:
    """Return the model of a file; errors name it as they are told to."""
    with reading(told, "cannot be read as a .nl model"):
        data = path.read_bytes()
        if data[:1] == b"b":
            raise FileFormatError(f"{told}: is a binary .nl file; write it as text (AMPL: write gNAME)")
        lines = data.decode("utf-8", "replace").splitlines()
        names = path.with_suffix(".col")
        given = names.read_text(encoding="utf-8").split("\n") if names.is_file() else []
        try:
            return _model(_Reader(lines, told).parsed(), path.stem, given, told)
        except ProblemError as error:  # of the model: a bound that is nan, a name that is there twice
            raise FileFormatError(f"{told}: {error}") from None


def from_pyomo(model: Any) -> MCPModel:
    """Return the model of a Pyomo model with `Complementarity` components, which is not changed.

    Raises:
        PluginError: Pyomo is not installed.
        ModelError: it is no model of Pyomo.
        FileFormatError: it is not a complementarity problem.
    """
    try:
        from pyomo.environ import TransformationFactory
    except ImportError as error:
        raise PluginError(f"from_pyomo needs Pyomo ({error}): pip install pyomo") from None
    if not hasattr(model, "clone"):
        raise ModelError(f"model: {type(model).__name__} is not a ConcreteModel of Pyomo")
    copy = model.clone()
    TransformationFactory("mpec.nl").apply_to(copy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{Path(str(model.name)).name or 'model'}.nl"
        copy.write(str(path), format="nl", io_options={"symbolic_solver_labels": True})
        return _read(path, f"model {str(model.name)!r}")


@dataclass
class _Parsed:
    """What a file holds: z, bodies of constraints, and the lines of bounds of constraints and variables."""

    z: list[Any]
    bodies: list[Any]
    rows: list[list[float]] = field(default_factory=list)
    bounds: list[list[float]] = field(default_factory=list)
    start: dict[int, float] = field(default_factory=dict)


class _Reader:
    """One walk through the lines."""

    def __init__(self, lines: Sequence[str], name: str) -> None:
        self.lines, self.at, self.name = lines, 0, name

    def parsed(self) -> _Parsed:
        n, m = self._header()
        self.z = [casadi.SX.sym(f"v{i}") for i in range(n)]
        self.common: dict[int, Any] = {}
        found = _Parsed(self.z, [casadi.SX(0.0) for _ in range(m)])
        while self.at < len(self.lines):
            self._segment(found)
        for what, own, count in (("r", found.rows, m), ("b", found.bounds, n)):
            if len(own) != count:
                raise self._error(f"segment {what} has {len(own)} lines of {count}")
        return found

    def _header(self) -> tuple[int, int]:
        if len(self.lines) < HEADER or not self.lines[0].startswith("g"):
            raise self._error("does not begin as a .nl file does")
        self.at = HEADER
        counts = [[int(word) for word in _bare(line).split()] for line in self.lines[1:HEADER]]
        n, m, objectives = counts[0][:3]
        if min(n, m) < 0 or max(n, m) > len(self.lines):
            raise self._error(f"declares {n} variables and {m} constraints, more than it has lines")
        for count, what in (
            (objectives, "an objective"),
            (sum(counts[5]), "integer variables"),
            (counts[4][1], "functions of other libraries"),
        ):
            if count:
                raise self._error(f"has {what}, so it is no complementarity problem that can be solved here")
        return n, m

    def _segment(self, found: _Parsed) -> None:
        line = self._next()
        kind, words = line[:1], line[1:].split()
        if kind == "C":
            found.bodies[self._index(words[0], found.bodies)] += self._expression()
        elif kind == "V":
            self._common(int(words[0]), int(words[1]))
        elif kind == "J":
            row = self._index(words[0], found.bodies)
            for i, factor in self._pairs(int(words[1])):
                found.bodies[row] += factor * self.z[i]
        elif kind == "x":
            found.start.update(self._pairs(int(words[0])))
        elif kind in "rb":
            count = len(found.bodies if kind == "r" else found.z)
            own = found.rows if kind == "r" else found.bounds
            own.extend([float(word) for word in self._next().split()] for _ in range(count))
        elif kind in "dkKS":  # starts of duals, columns of the Jacobian, suffixes: nothing of the problem
            for _ in range(int(words[1 if kind == "S" else 0])):
                self._next()
        elif line:
            raise self._error(f"segment {kind!r} is not known here")

    def _common(self, i: int, n_linear: int) -> None:
        linear = sum((factor * self.z[k] for k, factor in self._pairs(n_linear)), casadi.SX(0.0))
        self.common[i] = linear + self._expression()

    def _pairs(self, count: int) -> Iterator[tuple[int, float]]:
        for _ in range(count):
            i, value = self._next().split()
            yield self._index(i, self.z), float(value)

    def _expression(self, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise self._error(f"an expression is more than {DEEPEST} operators deep")
        word = self._next()
        kind, number = word[:1], word[1:]
        if kind == "n":
            return casadi.SX(float(number))
        if kind == "v":
            i = int(number)
            return self.common[i] if i >= len(self.z) else self.z[self._index(number, self.z)]
        code = int(number) if kind == "o" else -1
        if code in UNARY:
            return UNARY[code](self._expression(depth + 1))
        if code in BINARY:
            left = self._expression(depth + 1)
            return BINARY[code](left, self._expression(depth + 1))
        if code in LISTS:
            operands = [self._expression(depth + 1) for _ in range(int(self._next()))]
            return reduce(LISTS[code], operands)
        raise self._error(f"operator {word!r} is not known here")

    def _index(self, word: str, among: Sequence[Any]) -> int:
        i = int(word)
        if not 0 <= i < len(among):
            raise self._error(f"index {i}, of {len(among)}")
        return i

    def _next(self) -> str:
        if self.at >= len(self.lines):
            raise self._error("ends too early")
        self.at += 1
        return _bare(self.lines[self.at - 1])

    def _error(self, words: str) -> FileFormatError:
        return FileFormatError(f"{self.name}: line {self.at}: {words}")


def _bare(line: str) -> str:
    return line.partition("#")[0].strip()


def _model(found: _Parsed, name: str, names: Sequence[str], path: str) -> MCPModel:
    """Return the model: complementarity as it is written, equations with the free variables that are left."""
    given = [own.strip() for own in names[: len(found.z)]]
    labels = [own or f"v{i}" for i, own in enumerate([*given, *[""] * (len(found.z) - len(given))])]
    pairs: dict[int, Any] = {}
    equations = []
    for k, (kind, *numbers) in enumerate(found.rows):
        if kind == COMPLEMENT:
            sides, i = int(numbers[0]), int(numbers[1]) - 1
            if not 0 <= i < len(labels) or i in pairs:
                raise FileFormatError(
                    f"{path}: constraint {k}: complements variable {i + 1}, which cannot be"
                )
            _check_sides(path, labels[i], sides, _bounds(found.bounds[i]))
            pairs[i] = found.bodies[k]
        elif kind == EQUAL:
            equations.append(found.bodies[k] - numbers[0])
        elif kind != NONE:
            raise FileFormatError(f"{path}: constraint {k}: is an inequality that complements no variable")
    left = [i for i in range(len(labels)) if i not in pairs]
    if len(left) != len(equations):
        raise FileFormatError(
            f"{path}: {len(equations)} equations for {len(left)} variables; it is not square"
        )
    for i, equation in zip(left, equations, strict=True):
        if np.isfinite(_bounds(found.bounds[i])).any():
            raise FileFormatError(f"{path}: {labels[i]}: has bounds, but complements nothing")
        pairs[i] = equation
    return _written(name, labels, found, pairs)


def _written(name: str, labels: Sequence[str], found: _Parsed, pairs: dict[int, Any]) -> MCPModel:
    model = MCPModel(name)
    variables = []
    for i, label in enumerate(labels):
        lower, upper = _bounds(found.bounds[i])
        variables.append(model.variable(label, lower=lower, upper=upper, start=found.start.get(i)))
    old, new = casadi.vertcat(casadi.SX(0, 1), *found.z), casadi.vertcat(casadi.SX(0, 1), *variables)
    bodies = casadi.vertcat(casadi.SX(0, 1), *(pairs[i] for i in range(len(labels))))
    bodies = casadi.substitute(bodies, old, new)
    for i, variable in enumerate(variables):
        model.pair(bodies[i], variable)
    return model


def _bounds(line: Sequence[float]) -> tuple[float, float]:
    """Return lower and upper bound of a variable: its kind, then the numbers that the kind has."""
    kind, *numbers = line
    lower = numbers[0] if kind in (BOX, LOWER, EQUAL) else -np.inf
    upper = numbers[-1] if kind in (BOX, UPPER, EQUAL) else np.inf
    return lower, upper


def _check_sides(path: str, label: str, sides: int, bounds: tuple[float, float]) -> None:
    """Raise where a variable has other bounds than its complementarity counts on: 1 lower, 2 upper."""
    if tuple(np.isfinite(bounds)) != (bool(sides & 1), bool(sides & 2)):
        raise FileFormatError(f"{path}: {label}: bounds {bounds} are not those of its complementarity")
