"""The compiled Pack and Dual: Numba types, their layout in registers, and their arithmetic in LLVM.

A Pack is one SIMD register of WIDTH doubles, a Mask the WIDTH answers of a comparison of Packs, a Dual a double and a
Pack of its WIDTH partial derivatives, a Nested a Dual of Duals, whose operators stand in derivatives.py. The rules of
typing and the instructions are registered directly, without an `overload` each: what is not a Python function need not
be compiled as one. Pack arithmetic may fuse a product and a sum ("contract"); the value of a Dual never does, so it has
exactly the bits of the float64 computation.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, lower_cast, models, register_model

from poinsot._jit import WIDTH

DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, WIDTH)
BITS = ir.VectorType(ir.IntType(1), WIDTH)
INDEX = ir.IntType(64)
CONTRACT = ("contract",)


def is_real(kind: types.Type) -> bool:
    """Whether Numba's type `kind` is that of a real number."""
    return isinstance(kind, types.Float | types.Integer)


class _ScalarType(types.Type):
    """A type into which real numbers turn where both meet in one variable: `s = 0.0`, then `s += view[i, k]`."""

    def can_convert_from(self, typing_context, other):
        return Conversion.safe if is_real(other) else None

    def unify(self, typing_context, other):
        return self if is_real(other) else None


class PackType(_ScalarType):
    """WIDTH doubles, one per lane."""

    def __init__(self) -> None:
        super().__init__(name=f"Pack{WIDTH}")


class MaskType(types.Type):
    """WIDTH truth values, one per lane."""

    def __init__(self) -> None:
        super().__init__(name=f"Mask{WIDTH}")


class DualType(_ScalarType):
    """A double and its WIDTH partial derivatives."""

    def __init__(self) -> None:
        super().__init__(name=f"Dual{WIDTH}")


class NestedType(_ScalarType):
    """A Dual and its derivative in one direction, a Dual too: second derivatives."""

    def __init__(self) -> None:
        super().__init__(name=f"Nested{WIDTH}")


pack, mask, dual, nested = PackType(), MaskType(), DualType(), NestedType()


@register_model(PackType)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, VECTOR)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, BITS)


@register_model(DualType)
class _DualModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("value", types.float64), ("partials", pack)])


@register_model(NestedType)
class _NestedModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("value", dual), ("partials", dual)])


# ------------------------------------------------------------------------------------------ typing rules


def joined(*kinds: types.Type) -> types.Type | None:
    """The scalar type of a result that is made from `kinds`; None where there is none."""
    found = {kind for kind in kinds if not is_real(kind)}
    if len(found) > 1 or not found <= {pack, dual, nested}:
        return None  # a pack of derivatives does not exist
    return found.pop() if found else types.float64


def teach(function: Callable[..., Any], rule: Callable[..., Any], generate: Callable[..., Any], *shapes) -> None:
    """Let Numba compile `function`: `rule(*types)` gives the result's type or None, `generate` the instructions.

    `shapes` are the tuples of type classes for which `generate` is registered.
    """

    class _Template(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            result = None if kws else rule(*args)
            return None if result is None else result(*(types.unliteral(kind) for kind in args))

    infer_global(function, types.Function(_Template))
    for shape in shapes:
        lower_builtin(function, *shape)(generate)


# ------------------------------------------------------------------------------------------ values


def splat(builder, value, vector=VECTOR):
    """A vector with `value` in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def as_double(context, builder, kind, value):
    """A real number as a double."""
    return context.cast(builder, value, kind, types.float64)


def as_vector(context, builder, kind, value):
    """A real number or Pack as a vector of doubles."""
    return value if isinstance(kind, PackType) else splat(builder, as_double(context, builder, kind, value))


def parts(context, builder, kind, value):
    """Value and partials of a Dual; a real number has no partials."""
    if isinstance(kind, DualType):
        return builder.extract_value(value, 0), builder.extract_value(value, 1)
    return as_double(context, builder, kind, value), None


def make_dual(context, builder, value, partials):
    """A Dual of its two parts; without partials, a constant."""
    struct = cgutils.create_struct_proxy(dual)(context, builder)
    struct.value = value
    struct.partials = ir.Constant(VECTOR, [0.0] * WIDTH) if partials is None else partials
    return struct._getvalue()


def make_nested(context, builder, value, partials):
    """A Nested of its two parts."""
    struct = cgutils.create_struct_proxy(nested)(context, builder)
    struct.value, struct.partials = value, partials
    return struct._getvalue()


def as_scalar(context, builder, kind, value, wanted):
    """`value` as the scalar type `wanted`."""
    if isinstance(kind, NestedType):
        return value
    if isinstance(wanted, NestedType):
        constant = as_scalar(context, builder, kind, value, dual)
        return make_nested(context, builder, constant, make_dual(context, builder, ir.Constant(DOUBLE, 0.0), None))
    if isinstance(wanted, PackType):
        return as_vector(context, builder, kind, value)
    if isinstance(wanted, DualType):
        return make_dual(context, builder, *parts(context, builder, kind, value))
    return as_double(context, builder, kind, value)


@lower_cast(types.Float, PackType)
@lower_cast(types.Integer, PackType)
@lower_cast(types.Float, DualType)
@lower_cast(types.Integer, DualType)
@lower_cast(types.Float, NestedType)
@lower_cast(types.Integer, NestedType)
def _cast(context, builder, kind, wanted, value):
    return as_scalar(context, builder, kind, value, wanted)


# ------------------------------------------------------------------------------------------ arithmetic


def _sum(instruction):
    def combine(builder, a, da, b, db):
        def apply(x, y, **flags):
            return getattr(builder, instruction)(x, y, **flags)

        if da is None and instruction == "fsub":
            slope = builder.fneg(db)
        elif da is None or db is None:
            slope = db if da is None else da
        else:
            slope = apply(da, db, flags=CONTRACT)
        return apply(a, b), slope

    return combine


def _product(builder, a, da, b, db):
    terms = [builder.fmul(d, splat(builder, x), flags=CONTRACT) for d, x in ((da, b), (db, a)) if d is not None]
    return builder.fmul(a, b), terms[0] if len(terms) == 1 else builder.fadd(*terms, flags=CONTRACT)


def _quotient(builder, a, da, b, db):
    quotient = builder.fdiv(a, b)
    slope = da
    if db is not None:
        change = builder.fmul(db, splat(builder, quotient), flags=CONTRACT)
        slope = builder.fneg(change) if da is None else builder.fsub(da, change, flags=CONTRACT)
    inverse = splat(builder, builder.fdiv(ir.Constant(DOUBLE, 1.0), b))
    return quotient, builder.fmul(slope, inverse, flags=CONTRACT)


def _teach_arithmetic(instruction, combine, *operators):
    def generate(context, builder, signature, values):
        (left, right), (a, b) = signature.args, values
        if isinstance(signature.return_type, PackType):
            x, y = as_vector(context, builder, left, a), as_vector(context, builder, right, b)
            return getattr(builder, instruction)(x, y, flags=CONTRACT)
        result = combine(builder, *parts(context, builder, left, a), *parts(context, builder, right, b))
        return make_dual(context, builder, *result)

    for operation in operators:
        teach(operation, _arithmetic_rule, generate, *PAIRS)


def _arithmetic_rule(a, b):
    return None if is_real(a) and is_real(b) else joined(a, b)


OURS = (PackType, DualType)
PAIRS = [(kind, kind) for kind in OURS]
PAIRS += [pair for kind in OURS for real in (types.Float, types.Integer) for pair in ((kind, real), (real, kind))]

_teach_arithmetic("fadd", _sum("fadd"), operator.add, operator.iadd)
_teach_arithmetic("fsub", _sum("fsub"), operator.sub, operator.isub)
_teach_arithmetic("fmul", _product, operator.mul, operator.imul)
_teach_arithmetic("fdiv", _quotient, operator.truediv, operator.itruediv)


def _negative(context, builder, signature, values):
    if isinstance(signature.return_type, PackType):
        return builder.fneg(values[0])
    value, partials = parts(context, builder, dual, values[0])
    return make_dual(context, builder, builder.fneg(value), builder.fneg(partials))


def _own_rule(a):
    return a if isinstance(a, _ScalarType) else None


teach(operator.neg, _own_rule, _negative, (PackType,), (DualType,))
teach(operator.pos, _own_rule, lambda context, builder, signature, values: values[0], (PackType,), (DualType,))


# ------------------------------------------------------------------------------------------ comparisons and masks


def _teach_comparison(operation, symbol):
    def generate(context, builder, signature, values):
        (left, right), (a, b) = signature.args, values
        compare = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        if isinstance(signature.return_type, MaskType):
            return compare(symbol, as_vector(context, builder, left, a), as_vector(context, builder, right, b))
        return compare(symbol, parts(context, builder, left, a)[0], parts(context, builder, right, b)[0])

    def rule(a, b):
        kind = _arithmetic_rule(a, b)
        return None if kind is None else mask if isinstance(kind, PackType) else types.boolean

    teach(operation, rule, generate, *PAIRS)


for _operation, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _teach_comparison(_operation, _symbol)


def as_mask(builder, kind, value):
    """A truth value or Mask as a vector of bits."""
    return value if isinstance(kind, MaskType) else splat(builder, value, BITS)


def _teach_combination(operation, instruction):
    def rule(a, b):
        kinds = (MaskType, types.Boolean)
        ours = isinstance(a, kinds) and isinstance(b, kinds) and any(isinstance(kind, MaskType) for kind in (a, b))
        return mask if ours else None

    def generate(context, builder, signature, values):
        a, b = (as_mask(builder, kind, value) for kind, value in zip(signature.args, values, strict=True))
        return getattr(builder, instruction)(a, b)

    pairs = ((MaskType, MaskType), (MaskType, types.Boolean), (types.Boolean, MaskType))
    teach(operation, rule, generate, *pairs)


_teach_combination(operator.and_, "and_")
_teach_combination(operator.or_, "or_")
_teach_combination(operator.xor, "xor")
teach(
    operator.invert,
    lambda a: mask if isinstance(a, MaskType) else None,
    lambda context, builder, signature, values: builder.not_(values[0]),
    (MaskType,),
)
