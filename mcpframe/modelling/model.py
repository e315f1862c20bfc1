"""MCPModel: a mixed complementarity problem written down variable by variable, pair by pair.

    find z, l <= z <= u, with w = F(z; p):   w >= 0 where z = l,   w <= 0 where z = u,   w = 0 in between

A model collects variables with bounds, parameters with values, and for every variable the expression that is
its w. Where F is affine in z, its problem is a mixed LCP, which every solver takes; else it is an MCP, with
exact derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.exceptions import ProblemError, nearest
from mcpframe.modelling.answer import Answer
from mcpframe.modelling.expressions import (
    Expression,
    Family,
    IndexSet,
    Key,
    Variable,
    keys_of,
    label_of,
    values_of,
)
from mcpframe.problem.layout import Layout
from mcpframe.problem.problems import MCP, MixedLCP, Problem
from mcpframe.solving.solve import SolverLike, solve

Array = NDArray[np.float64]
Values = Mapping[str, Any]
DENSE_UP_TO = 200
"""Rows up to which the matrix of an affine model is dense."""


@dataclass(frozen=True, eq=False)
class Block:
    """All entries of one name.

    Attributes:
        name: of the variable or parameter.
        keys: of its entries; None where it has no sets and is one entry.
        shape: how many elements each of its sets has.
        entries: the symbols.
        labels: names of the entries, ``"x[seattle, topeka]"``.
    """

    name: str
    keys: Sequence[Key] | None
    shape: tuple[int, ...]
    entries: Sequence[Any]
    labels: Sequence[str]

    def numbers(self, what: str, given: Any) -> Array:
        """Return a number for every entry, from one for all, a mapping by key, or an array."""
        return values_of(self.name, what, given, self.keys, self.shape)


@dataclass(frozen=True, eq=False)
class _Compiled:
    """F as functions of (z, p).

    Attributes:
        F: (z, p) -> F.
        linear: (p) -> (dF/dz, F at z = 0) where F is affine in z, else None.
        problem: the MCP where it is not.
    """

    F: casadi.Function
    linear: casadi.Function | None
    problem: MCP | None


class MCPModel:
    """A mixed complementarity problem, written down by names.

    Args:
        name: for messages.

    >>> model = MCPModel("monopoly")
    >>> q = model.variable("q")
    >>> (2 * q - 6).perp(q)
    >>> model.solve("newton")["q"]
    3.0
    """

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.variables: dict[str, Block] = {}
        self.parameters: dict[str, Block] = {}
        self._lower: dict[str, Array] = {}
        self._upper: dict[str, Array] = {}
        self._start: dict[str, Array] = {}
        self._values: dict[str, Array] = {}
        self._pairs: dict[str, casadi.SX] = {}
        self._made: _Compiled | None = None

    def __repr__(self) -> str:
        return f"MCPModel({self.name!r}, variables={len(self._labels())}, parameters={len(self.parameters)})"

    def variable(
        self, name: str, *index: IndexSet, lower: Any = 0.0, upper: Any = np.inf, start: Any = None
    ) -> Any:
        """Add a variable, or a family of them.

        Args:
            name: of the variable.
            index: sets; there is an entry for every element, or every combination of elements.
            lower, upper: bounds: a number, a mapping by key, or an array; infinite for none.
            start: where solvers start; the point within the bounds that is nearest to zero unless given.

        Returns:
            A `Variable`; with sets a `Family`, whose entries are ``x[key]`` or ``x[key, key]``.
        """
        block = self._block(name, index, lambda label: Variable(self, label))
        low, high = block.numbers("lower", lower), block.numbers("upper", upper)
        bad = np.flatnonzero((low > high) | (low == np.inf) | (high == -np.inf))
        if bad.size:
            i = int(bad[0])
            raise ProblemError(
                f"{block.labels[i]}: lower = {low[i]:g} and upper = {high[i]:g} leave no value for it"
            )
        if start is not None:
            self._start[name] = block.numbers("start", start)
        self.variables[name], self._lower[name], self._upper[name] = block, low, high
        return self._handle(block)

    def free(self, name: str, *index: IndexSet, start: Any = None) -> Any:
        """Add a variable without bounds: its expression is an equation, w = 0."""
        return self.variable(name, *index, lower=-np.inf, start=start)

    def parameter(self, name: str, *index: IndexSet, value: Any) -> Any:
        """Add a parameter, or a family of them: numbers that `solve` may be given others for.

        Args:
            name: of the parameter.
            index: sets, as of `variable`.
            value: a number, a mapping by key, or an array.
        """
        block = self._block(name, index, lambda label: Expression(casadi.SX.sym(label)))
        self._values[name] = block.numbers("value", value)
        self.parameters[name] = block
        return self._handle(block)

    def pair(self, expression: Any, variable: Variable | Family) -> None:
        """Pair w = expression with a variable, or the entries of a column with those of a family, in order.

        Raises:
            ProblemError: the variable is of another model, has a pair, or the sizes differ.
        """
        if variable.model is not self:
            raise ProblemError(f"{variable!r} is a variable of the model {variable.model.name!r}")
        entries = [variable] if isinstance(variable, Variable) else list(variable.values())
        name = variable.label if isinstance(variable, Variable) else variable.name
        rows = casadi.vec(casadi.SX(expression))
        if rows.numel() != len(entries):
            raise ProblemError(f"{name}: {rows.numel()} expressions for {len(entries)} variables")
        for k, entry in enumerate(entries):
            if entry.label in self._pairs:
                raise ProblemError(f"{entry.label}: is paired already; a variable has one expression")
            self._pairs[entry.label] = rows[k]
        self._made = None

    def problem(self, parameters: Values | None = None) -> Problem:
        """Return the problem: a `MixedLCP` where F is affine, else an `MCP`; blocks of z are the variables.

        Args:
            parameters: values to take in place of those of the model, by name.

        Raises:
            ProblemError: a variable has no pair, an expression uses a symbol that is not of the model, a
                parameter is unknown.
        """
        made, p = self._compiled(), self._numbers("parameter", self.parameters, self._values, parameters)
        if made.linear is None:
            assert made.problem is not None
            return made.problem.with_parameters(p)
        M, q = made.linear(p)
        matrix = np.asarray(M) if len(self._labels()) <= DENSE_UP_TO else sp.csr_array(M.sparse())
        return MixedLCP(matrix, np.asarray(q).ravel(), *self._bounds(), layout=self._layout())

    def solve(
        self,
        solver: SolverLike = "auto",
        *,
        parameters: Values | None = None,
        start: Values | Answer | None = None,
        **options: Any,
    ) -> Answer:
        """Solve the model and return the certified answer by names.

        Args:
            solver: as of `mcpframe.solve`; "path" and "newton" take every model.
            parameters: values to take in place of those of the model, by name.
            start: where to start, by name, or an answer; what is not named starts where the model says.
            options: tol, time_limit, throw, and options of the solver.

        Raises:
            ProblemError: beside those of `problem`, an expression is not finite where the solver starts.
        """
        problem = self.problem(parameters)
        given = start.values if isinstance(start, Answer) else start
        z0 = self.start_point(given)
        self._check_start(problem, z0)
        told = bool(self._start) or given is not None
        solution = solve(problem, solver, z0=z0 if told else None, **options)
        p = self._numbers("parameter", self.parameters, self._values, parameters)
        return Answer(self.name, self.variables, self.parameters, problem, p, solution)

    def start_point(self, given: Values | None = None) -> Array:
        """Return where solvers start [n]: as given by name, as the model says, or nearest to zero."""
        nearest_to_zero = {
            name: np.clip(0.0, self._lower[name], self._upper[name]) for name in self.variables
        }
        return self._numbers("variable", self.variables, {**nearest_to_zero, **self._start}, given)

    def _block(self, name: str, index: Sequence[IndexSet], symbol: Callable[[str], Any]) -> Block:
        if name in self.variables or name in self.parameters:
            raise ProblemError(f"{name}: the model {self.name!r} has something of that name already")
        if not name:
            raise ProblemError("a variable needs a name")
        self._made = None
        keys, shape = keys_of(name, index) if index else (None, ())
        labels = [name] if keys is None else [label_of(name, key) for key in keys]
        return Block(name, keys, shape, [symbol(label) for label in labels], labels)

    def _handle(self, block: Block) -> Any:
        if block.keys is None:
            return block.entries[0]
        return Family(self, block.name, dict(zip(block.keys, block.entries, strict=True)))

    def _labels(self) -> list[str]:
        return [label for block in self.variables.values() for label in block.labels]

    def _layout(self) -> Layout:
        sizes = {name: len(block.labels) for name, block in self.variables.items()}
        return Layout(sizes, {name: block.labels for name, block in self.variables.items()})

    def _bounds(self) -> tuple[Array, Array]:
        return _joined(self._lower.values()), _joined(self._upper.values())

    def _numbers(
        self, kind: str, blocks: Mapping[str, Block], own: Mapping[str, Array], given: Values | None
    ) -> Array:
        """Return the numbers of all blocks in one vector, those that are given in place of the model's."""
        for name in given or {}:
            if name not in blocks:
                raise ProblemError(f"{name}: the model has no such {kind};{nearest(name, blocks)}")
        given = given or {}
        return _joined(
            block.numbers("value", given[name]) if name in given else own[name]
            for name, block in blocks.items()
        )

    def _compiled(self) -> _Compiled:
        if self._made is None:
            self._made = self._compile()
        return self._made

    def _compile(self) -> _Compiled:
        z, p = _column(self.variables), _column(self.parameters)
        F = casadi.vertcat(*(self._pair_of(label) for label in self._labels()))
        self._check_symbols(z, p, F)
        J = casadi.jacobian(F, z)
        function = casadi.Function("F", [z, p], [F])
        if casadi.depends_on(J, z):
            values = _joined(self._values.values())
            mcp = MCP(function, *self._bounds(), p=values, layout=self._layout())
            return _Compiled(function, None, mcp)
        at_zero = casadi.substitute(F, z, casadi.SX.zeros(z.numel()))
        return _Compiled(function, casadi.Function("linear", [p], [J, casadi.densify(at_zero)]), None)

    def _pair_of(self, label: str) -> casadi.SX:
        if label not in self._pairs:
            raise ProblemError(f"{label}: has no pair; write (expression).perp({label})")
        return self._pairs[label]

    def _check_symbols(self, z: casadi.SX, p: casadi.SX, F: casadi.SX) -> None:
        """Raise where an expression uses a symbol that is neither a variable nor a parameter."""
        known = {symbol.element_hash() for symbol in casadi.symvar(casadi.vertcat(z, p))}
        for label in self._labels():
            for symbol in casadi.symvar(self._pairs[label]):
                if symbol.element_hash() not in known:
                    raise ProblemError(
                        f"{label}: its expression uses {symbol.name()!r}, which is no variable or parameter "
                        f"of {self.name!r}"
                    )

    def _check_start(self, problem: Problem, z0: Array) -> None:
        """Raise where an expression has no value at the start, which no solver can do much about."""
        w = problem.evaluator().F(z0)
        bad = np.flatnonzero(~np.isfinite(w))
        if bad.size:
            i = int(bad[0])
            label, own = self._labels()[i], self._pairs[self._labels()[i]]
            used = {symbol.name() for symbol in casadi.symvar(own)}
            near = [f"{n} = {z:g}" for n, z in zip(self._labels(), z0, strict=True) if n in used]
            raise ProblemError(
                f"{label}: its expression is {w[i]:g} at the start ({', '.join(near[:6])}); give a start "
                "where it has a value, or bounds that keep away from there"
            )


def _column(blocks: Mapping[str, Block]) -> casadi.SX:
    return casadi.vertcat(casadi.SX(0, 1), *(entry for block in blocks.values() for entry in block.entries))


def _joined(parts: Any) -> Array:
    return np.concatenate([np.zeros(0), *parts])
