"""Expressions, variables and families of them: CasADi's scalar symbols that know how to be paired.

An `Expression` is a `casadi.SX`: all functions of CasADi and numpy take it. What operators make of it is an
`Expression` again, so that ``(price - cost[i]).perp(x[i])`` can be written; what functions of CasADi return
is a plain SX, which operators take, and `MCPModel.pair`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import ProblemError, nearest

if TYPE_CHECKING:
    from mcpframe.modelling.model import MCPModel

Key = Hashable
IndexSet = Iterable[Hashable] | int
"""Elements that a variable has an entry for; a number n stands for 0, ..., n - 1."""
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul")
NUMPY_NAMES = {
    "add": "plus",
    "subtract": "minus",
    "multiply": "times",
    "divide": "rdivide",
    "matmul": "mtimes",
    "maximum": "fmax",
    "minimum": "fmin",
    "absolute": "fabs",
}
"""Functions of numpy that have another name in CasADi."""


class Expression(casadi.SX):  # type: ignore[misc]
    """What can stand in a pair: a formula of variables and parameters."""

    __hash__ = casadi.SX.__hash__

    def perp(self, variable: Variable | Family) -> None:
        """Pair this expression, w, with a variable, z: w >= 0 where z = l, <= 0 where z = u, = 0 between.

        Args:
            variable: of a model; an expression of several entries is paired with a family of as many.
        """
        if not isinstance(variable, Variable | Family):
            raise ProblemError(
                f"perp: {variable!r} is not a variable; write expression.perp(variable), the expression first"
            )
        variable.model.pair(self, variable)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Answer functions of numpy by those of CasADi: np.exp(x), or an array times x."""
        function = getattr(casadi, NUMPY_NAMES.get(ufunc.__name__, ufunc.__name__), None)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return _wrapped(function(*(casadi.SX(value) for value in inputs)))

    def __neg__(self) -> Expression:
        return Expression(super().__neg__())


def _operator(name: str) -> Callable[..., Any]:
    plain = getattr(casadi.SX, name)
    return lambda *operands: _wrapped(plain(*operands))


for _name in OPERATORS:
    for _sided in (f"__{_name}__", f"__r{_name}__"):
        setattr(Expression, _sided, _operator(_sided))


def _wrapped(made: Any) -> Any:
    return Expression(made) if type(made) is casadi.SX else made


class Variable(Expression):
    """An unknown, or one entry of a family of them.

    Attributes:
        model: that it belongs to.
        label: its name, with the key of the entry, ``"x[seattle, topeka]"``.
    """

    def __init__(self, model: MCPModel, label: str) -> None:
        super().__init__(casadi.SX.sym(label))
        self.model, self.label = model, label

    __hash__ = casadi.SX.__hash__

    def __repr__(self) -> str:
        return f"Variable({self.label!r})"


class Family(Mapping[Key, Any]):
    """Variables, or parameters, of one name: one for every element of a set, or combination of elements.

    ``x["seattle", "topeka"]`` is an entry; iterating gives the keys, `vector` all entries as a column.
    """

    def __init__(self, model: MCPModel, name: str, entries: Mapping[Key, Expression]) -> None:
        self.model, self.name, self._entries = model, name, dict(entries)

    def __getitem__(self, key: Key) -> Any:
        try:
            return self._entries[key]
        except (KeyError, TypeError):
            known = {str(own): own for own in self._entries}
            raise ProblemError(
                f"{self.name}: there is no entry {key!r};{nearest(str(key), known)} "
                f"(its keys are such as {next(iter(self._entries), 'none')!r})"
            ) from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Family({self.name!r}, entries={len(self)})"

    @property
    def vector(self) -> Expression:
        """All entries as a column, in the order of the keys."""
        return Expression(casadi.vertcat(*self._entries.values()))


def keys_of(name: str, sets: Sequence[IndexSet]) -> tuple[list[Key], tuple[int, ...]]:
    """Return the keys of a family, the last set running fastest, and how many elements each set has."""
    elements = [list(range(own)) if isinstance(own, int) else list(own) for own in sets]
    for own in elements:
        if len(set(own)) != len(own):
            raise ProblemError(f"{name}: an element of {own} is there twice")
    keys: list[Key] = list(elements[0]) if len(elements) == 1 else list(itertools.product(*elements))
    return keys, tuple(len(own) for own in elements)


def label_of(name: str, key: Key) -> str:
    """Return the name of an entry, ``"x[seattle, topeka]"``."""
    inner = ", ".join(str(part) for part in key) if isinstance(key, tuple) else str(key)
    return f"{name}[{inner}]"


def values_of(
    name: str, what: str, given: Any, keys: Sequence[Key] | None, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return a number for every entry.

    Args:
        name: of the variable or parameter.
        what: the numbers are, for messages.
        given: a number for all entries; a mapping by key; or an array of the shape of the sets.
        keys: of the entries; None for a single one.
        shape: how many elements each set has.
    """
    if isinstance(given, Mapping):
        own = [] if keys is None else keys
        for key in given:
            if key not in own:
                hint = nearest(str(key), [str(other) for other in own])
                raise ProblemError(f"{name}: {what} is given for {key!r}, which is no entry of it;{hint}")
        missing = next((key for key in own if key not in given), None)
        if missing is not None or keys is None:
            raise ProblemError(f"{name}: {what} is not given for {missing!r}")
        given = [given[key] for key in own]
        shape = (len(own),)
    try:
        array = np.broadcast_to(np.asarray(given, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise ProblemError(
            f"{name}: {what} = {given!r} does not fit; expected a number, or {shape or 'one'} of them"
        ) from None
    if np.isnan(array).any():
        raise ProblemError(f"{name}: {what} is nan")
    return np.ascontiguousarray(array).ravel()
