"""Four doubles in one register: the type that 3-vectors have inside the kernels (the fourth lane is zero).

In compiled code `a + b`, `a - b`, `a * b`, `a / b`, `s * a` and `-a` act on all lanes at once, so that a
kernel reads like the algebra it stands for. Arrays are flat; `load` and `store` move four consecutive
entries, `get` and `put` one, all without bounds checks and without negative indices.

None of these functions runs outside compiled code, unless kernels run uncompiled: then they are those of
`mcpframe.jit.four`. `mcpframe.multibody.reference.operators` does the same mathematics in plain numpy.
"""

# mypy: disable-error-code="misc, untyped-decorator"
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from mcpframe.jit import four, primitive

_DOUBLE = ir.DoubleType()
_FOUR = ir.VectorType(_DOUBLE, 4)
_INT = ir.IntType(32)
_FLAGS = ("contract",)  # a * b + c may become one instruction, nothing else is reordered


class Lanes(types.Type):
    """Numba type of four doubles in one register."""

    def __init__(self) -> None:
        super().__init__(name="lanes4")


lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _FOUR)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _shuffle(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, len(order)), order))


def _splat(builder: Any, x: Any) -> Any:
    one = builder.insert_element(ir.Constant(_FOUR, ir.Undefined), x, _INT(0))
    return _shuffle(builder, one, one, [0, 0, 0, 0])


@primitive(four.load)
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """Return the lanes array[index : index + 4]."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = _address(context, builder, sig.args[0], args[0], args[1])
        value = builder.load(builder.bitcast(address, _FOUR.as_pointer()))
        value.align = 8
        return value

    return lanes(array, types.intp), codegen


@primitive(four.store)
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write lanes to array[index : index + 4]."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = _address(context, builder, sig.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(address, _FOUR.as_pointer())).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), codegen


@primitive(four.get)
def get(typingctx: Any, array: Any, index: Any) -> Any:
    """Return array[index]."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], args[0], args[1]))

    return array.dtype(array, types.intp), codegen


@primitive(four.put)
def put(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write array[index]."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, sig.args[0], args[0], args[1]))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), codegen


@primitive(four.zero)
def zero(typingctx: Any) -> Any:
    """Return (0, 0, 0, 0)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(_FOUR, [0.0] * 4)

    return lanes(), codegen


@primitive(four.vector)
def vector(typingctx: Any, x: Any, y: Any, z: Any) -> Any:
    """Return (x, y, z, 0)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = ir.Constant(_FOUR, [0.0] * 4)
        for i in range(3):
            value = builder.insert_element(value, args[i], _INT(i))
        return value

    return lanes(types.float64, types.float64, types.float64), codegen


def _reordered(name: str, order: list[int], doc: str) -> Any:
    def shuffled(typingctx: Any, a: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _shuffle(builder, args[0], args[0], order)

        return lanes(lanes), codegen

    shuffled.__name__, shuffled.__doc__ = name, doc
    return primitive(four.reordered(order))(shuffled)


yzx = _reordered("yzx", [1, 2, 0, 3], "Return (y, z, x, 0).")
xzy = _reordered("xzy", [0, 2, 1, 3], "Return (x, z, y, 0).")
zyx = _reordered("zyx", [2, 1, 0, 3], "Return (z, y, x, 0).")
yxz = _reordered("yxz", [1, 0, 2, 3], "Return (y, x, z, 0).")
spread_x = _reordered("spread_x", [0, 0, 0, 0], "Return (x, x, x, x).")
spread_y = _reordered("spread_y", [1, 1, 1, 1], "Return (y, y, y, y).")
spread_z = _reordered("spread_z", [2, 2, 2, 2], "Return (z, z, z, z).")


def _lane(name: str, index: int) -> Any:
    def extracted(typingctx: Any, a: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.extract_element(args[0], _INT(index))

        return types.float64(lanes), codegen

    extracted.__name__, extracted.__doc__ = name, f"Return lane {index}."
    return primitive(four.lane(index))(extracted)


x_of, y_of, z_of = _lane("x_of", 0), _lane("y_of", 1), _lane("z_of", 2)


@primitive(four.total)
def total(typingctx: Any, a: Any) -> Any:
    """Return the sum of the lanes, as (x + z) + (y + w)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        low, high = (_shuffle(builder, args[0], args[0], half) for half in ([0, 1], [2, 3]))
        pair = builder.fadd(low, high)
        return builder.fadd(builder.extract_element(pair, _INT(0)), builder.extract_element(pair, _INT(1)))

    return types.float64(lanes), codegen


@primitive(four.spread_total)
def spread_total(typingctx: Any, a: Any) -> Any:
    """Return the sum of the lanes in every lane, to the bits of `total`; a sum that goes on as lanes."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        halves = builder.fadd(args[0], _shuffle(builder, args[0], args[0], [2, 3, 0, 1]))
        return builder.fadd(halves, _shuffle(builder, halves, halves, [1, 0, 3, 2]))

    return lanes(lanes), codegen


@primitive(four.transpose)
def transpose(typingctx: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the columns of the 4 x 4 matrix whose rows are a, b, c, d."""
    four = types.UniTuple(lanes, 4)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b, c, d = args
        even_ab, odd_ab = (_shuffle(builder, a, b, order) for order in ([0, 4, 2, 6], [1, 5, 3, 7]))
        even_cd, odd_cd = (_shuffle(builder, c, d, order) for order in ([0, 4, 2, 6], [1, 5, 3, 7]))
        columns = [
            _shuffle(builder, even_ab, even_cd, [0, 1, 4, 5]),
            _shuffle(builder, odd_ab, odd_cd, [0, 1, 4, 5]),
            _shuffle(builder, even_ab, even_cd, [2, 3, 6, 7]),
            _shuffle(builder, odd_ab, odd_cd, [2, 3, 6, 7]),
        ]
        return context.make_tuple(builder, four, columns)

    return four(lanes, lanes, lanes, lanes), codegen


def _register(op: Callable[..., Any], instruction: str) -> None:
    """Give an operator its meaning on lanes; typing by template compiles far faster than an overload."""

    @infer_global(op)
    class _Operator(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and args[1] is lanes:
                if args[0] is lanes:
                    return signature(lanes, lanes, lanes)
                if op is operator.mul and isinstance(args[0], types.Float):
                    return signature(lanes, types.float64, lanes)
            return None

    @lower_builtin(op, lanes, lanes)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(args[0], args[1], flags=_FLAGS)


for _op, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_op, _instruction)


@lower_builtin(operator.mul, types.float64, lanes)
def _lower_scaled(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fmul(_splat(builder, args[0]), args[1], flags=_FLAGS)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(lanes, lanes) if args[0] is lanes else None


@lower_builtin(operator.neg, lanes)
def _lower_negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])
