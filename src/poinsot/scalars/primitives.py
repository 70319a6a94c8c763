"""What every scalar type can do beside arithmetic: select, round, split into parts.

Each is one instruction or two in compiled code and a few lines of NumPy in plain Python.
"""

import functools
import inspect
import itertools

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from poinsot._jit import WIDTH
from poinsot.scalars import native
from poinsot.scalars.native import DualType, MaskType, NestedType, PackType, is_real, joined, teach
from poinsot.scalars.plain import Dual, Mask, Pack, lanes_of, like

REALS = (types.Float, types.Integer)
SCALARS = (PackType, DualType, NestedType, *REALS)


# ------------------------------------------------------------------------------------------ select


def select(mask, a, b):
    """`a` where `mask` holds and `b` elsewhere, lane by lane; both are evaluated."""
    if isinstance(mask, Mask):
        return Pack(np.where(mask.lanes, lanes_of(a), lanes_of(b)))
    chosen = a if mask else b
    if isinstance(a, Pack) or isinstance(b, Pack):
        return Pack(chosen)
    return like(a, like(b, chosen if isinstance(chosen, Dual) else np.float64(chosen)))


def _select_rule(mask, a, b):
    if isinstance(mask, MaskType):
        return joined(native.pack, a, b)
    return joined(a, b) if isinstance(mask, types.Boolean) else None


def _select(context, builder, signature, values):
    a, b = (
        native.as_scalar(context, builder, kind, value, signature.return_type)
        for kind, value in zip(signature.args[1:], values[1:], strict=True)
    )
    if not isinstance(signature.return_type, DualType | NestedType):
        return builder.select(values[0], a, b)
    fields = (builder.select(values[0], builder.extract_value(a, n), builder.extract_value(b, n)) for n in range(2))
    make = native.make_dual if isinstance(signature.return_type, DualType) else native.make_nested
    return make(context, builder, *fields)


teach(select, _select_rule, _select, *((m, a, b) for m in (MaskType, types.Boolean) for a in SCALARS for b in SCALARS))


# ------------------------------------------------------------------------------------------ parts of a Dual


def value_of(x):
    """The value of a Dual; any other scalar itself."""
    return x.value if isinstance(x, Dual) else x


def partials_of(x):
    """The partial derivatives of a Dual, a Pack; zero for any other scalar."""
    return x.partials if isinstance(x, Dual) else 0.0


def first_lane(x):
    """The first lane of a Pack; a real number itself."""
    return x.lanes[0] if isinstance(x, Pack) else np.float64(x)


def _value_rule(x):
    return native.dual if isinstance(x, NestedType) else types.float64 if isinstance(x, DualType) else joined(x)


def _value(context, builder, signature, values):
    if isinstance(signature.args[0], DualType | NestedType):
        return builder.extract_value(values[0], 0)
    return native.as_scalar(context, builder, signature.args[0], values[0], signature.return_type)


def _partials_rule(x):
    if isinstance(x, NestedType):
        return native.dual
    return native.pack if isinstance(x, DualType) else None if joined(x) is None else types.float64


def _partials(context, builder, signature, values):
    if isinstance(signature.args[0], DualType | NestedType):
        return builder.extract_value(values[0], 1)
    return ir.Constant(native.DOUBLE, 0.0)


def _first_rule(x):
    return types.float64 if is_real(x) or isinstance(x, PackType) else None


def _first(context, builder, signature, values):
    if isinstance(signature.args[0], PackType):
        return builder.extract_element(values[0], ir.Constant(ir.IntType(32), 0))
    return native.as_double(context, builder, signature.args[0], values[0])


teach(value_of, _value_rule, _value, *((kind,) for kind in SCALARS))
teach(partials_of, _partials_rule, _partials, *((kind,) for kind in SCALARS))
teach(first_lane, _first_rule, _first, (PackType,), *((kind,) for kind in REALS))


def _pack_rule(x):
    return native.pack if is_real(x) or isinstance(x, PackType) else None


def _make_pack(context, builder, signature, values):
    return native.as_vector(context, builder, signature.args[0], values[0])


def _dual_rule(value, partials):
    if isinstance(value, DualType):
        return native.nested if isinstance(partials, DualType) or is_real(partials) else None
    return native.dual if is_real(value) and (is_real(partials) or isinstance(partials, PackType)) else None


def _make_dual(context, builder, signature, values):
    if isinstance(signature.return_type, NestedType):
        partials = native.as_scalar(context, builder, signature.args[1], values[1], native.dual)
        return native.make_nested(context, builder, values[0], partials)
    value = native.as_double(context, builder, signature.args[0], values[0])
    partials = native.as_vector(context, builder, signature.args[1], values[1])
    return native.make_dual(context, builder, value, partials)


teach(Pack, _pack_rule, _make_pack, (PackType,), *((kind,) for kind in REALS))
PARTS = [(value, partials) for value in REALS for partials in (PackType, *REALS)]
PARTS += [(DualType, partials) for partials in (DualType, *REALS)]
teach(Dual, _dual_rule, _make_dual, *PARTS)


# ------------------------------------------------------------------------------------------ instructions on doubles
# For float64 and Pack only: functions of a Dual are built on these by the chain rule.

ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it, then subtracting it, rounds to a whole number
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of 1/sqrt 2, and below those of 1
_ONE = 0x3FF0000000000000


def _lanewise(function):
    """A function of NumPy arrays on numbers or on the lanes of Packs."""

    @functools.wraps(function)
    def apply(*arguments):
        with np.errstate(all="ignore"):
            result = function(*(np.asarray(lanes_of(x), dtype=float) for x in arguments))
        return Pack(result) if any(isinstance(x, Pack) for x in arguments) else np.float64(result)

    return apply


def _instructions(generate):
    """Compile the decorated function of NumPy arrays by `generate(builder, *doubles or vectors)`."""

    def rule(*kinds):
        kind = joined(*kinds)
        return None if isinstance(kind, DualType | NestedType) else kind

    def generate_all(context, builder, signature, values):
        kind = signature.return_type
        given = zip(signature.args, values, strict=True)
        return generate(builder, *(native.as_scalar(context, builder, have, value, kind) for have, value in given))

    def decorate(function):
        apply = _lanewise(function)
        kinds = (PackType, *REALS)
        arity = len(inspect.signature(function).parameters)
        teach(apply, rule, generate_all, *itertools.product(kinds, repeat=arity))
        return apply

    return decorate


def _call(name):
    def generate(builder, *values):
        kind = values[0].type
        suffix = f"v{WIDTH}f64" if isinstance(kind, ir.VectorType) else "f64"
        shape = ir.FunctionType(kind, [kind] * len(values))
        return builder.call(cgutils.get_or_insert_function(builder.module, shape, f"{name}.{suffix}"), values)

    return generate


@_instructions(_call("llvm.sqrt"))
def root(x):
    """The square root."""
    return np.sqrt(x)


@_instructions(_call("llvm.fabs"))
def magnitude(x):
    """The absolute value."""
    return np.abs(x)


@_instructions(_call("llvm.floor"))
def down(x):
    """The largest whole number up to x."""
    return np.floor(x)


@_instructions(_call("llvm.copysign"))
def with_sign(size, sign):
    """The magnitude of `size` with the sign of `sign`, that of a zero included."""
    return np.copysign(size, sign)


class _Bits:
    """The bits of a double, or of each lane, as a 64-bit integer."""

    def __init__(self, builder, value):
        self.builder, self.kind = builder, value.type
        word = ir.IntType(64)
        self.word = ir.VectorType(word, WIDTH) if isinstance(self.kind, ir.VectorType) else word
        self.bits = builder.bitcast(value, self.word)

    def constant(self, number):
        return ir.Constant(self.word, [number] * WIDTH if isinstance(self.word, ir.VectorType) else number)

    def then(self, instruction, operand):
        operand = operand.bits if isinstance(operand, _Bits) else self.constant(operand)
        self.bits = getattr(self.builder, instruction)(self.bits, operand)
        return self

    def double(self):
        return self.builder.bitcast(self.bits, self.kind)


def _generate_whole_power(builder, k):
    biased = builder.fadd(k, _same(k, ROUND + 1023.0))  # its lowest bits are the exponent field of 2**k
    return _Bits(builder, biased).then("shl", 52).double()


def _same(value, number):
    return ir.Constant(value.type, [number] * WIDTH if isinstance(value.type, ir.VectorType) else number)


@_instructions(_generate_whole_power)
def whole_power_of_two(k):
    """2**k for whole k from -1022 to 1023."""
    return np.ldexp(1.0, np.clip(np.nan_to_num(k), -1022, 1023).astype(int))


def _generate_exponent(builder, x):
    shifted = _Bits(builder, x).then("add", _ONE - _SQRT_HALF).then("lshr", 52)
    joined_with_two_to_52 = shifted.then("or_", 0x4330000000000000).double()
    return builder.fsub(joined_with_two_to_52, _same(x, 4503599627370496.0 + 1023.0))


@_instructions(_generate_exponent)
def exponent_of(x):
    """The whole k for which x / 2**k lies between 1/sqrt 2 and sqrt 2, for positive normal x."""
    fraction, k = np.frexp(x)
    return k - (fraction < np.sqrt(0.5))


def _generate_mantissa(builder, x):
    field = _Bits(builder, x).then("add", _ONE - _SQRT_HALF).then("and_", 0x7FF0000000000000)
    return _Bits(builder, x).then("sub", field).then("add", _ONE).double()


@_instructions(_generate_mantissa)
def mantissa_of(x):
    """x / 2**k between 1/sqrt 2 and sqrt 2, for positive normal x."""
    fraction, _ = np.frexp(x)
    return np.where(fraction < np.sqrt(0.5), 2.0 * fraction, fraction)


@_instructions(lambda builder, x: _Bits(builder, x).then("and_", 0xFFFFFFFFF8000000).double())
def leading(x):
    """The 26 leading bits of x: the product of two such numbers is exact."""
    return (x.view(np.int64) & np.int64(-0x8000000)).view(np.float64)


def _generate_quarter_turns(builder, quarters, sine, cosine):
    odd = builder.icmp_unsigned(
        "!=", _Bits(builder, quarters).then("and_", 1).bits, _Bits(builder, quarters).constant(0)
    )
    sign = _Bits(builder, quarters).then("and_", 2).then("shl", 62)
    return _Bits(builder, builder.select(odd, cosine, sine)).then("xor", sign).double()


@_instructions(_generate_quarter_turns)
def sine_after_quarter_turns(quarters, sine, cosine):
    """The sine of an angle with this sine and cosine, turned further by the whole number `quarters` - ROUND."""
    low_bits = quarters.view(np.int64) & 3
    return np.where(low_bits & 1, cosine, sine) * np.where(low_bits & 2, -1.0, 1.0)
