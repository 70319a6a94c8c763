"""Pack, Mask and Dual as plain Python classes: what kernels compute with when Numba is switched off.

Inside kernels the same names make the compiled scalars. NumPy's functions and operators arrive at these classes through
`__array_ufunc__`, so that `np.sin(x)` means the same with and without Numba.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._jit import WIDTH

NUMBERS = (int, float, np.floating, np.integer)

ufuncs: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.power: operator.pow,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}  # completed by the modules that define the functions

# The functions of math, which in plain Python take numbers only, and ours, which take all scalars.
twins: dict[Any, Callable[..., Any]] = {}


class _Scalar:
    __slots__ = ()
    __hash__ = None  # equality of two Packs has one answer per lane

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        function = ufuncs.get(ufunc)
        if function is None or method != "__call__" or keywords:
            return NotImplemented
        # A number of NumPy's own would ask this method again, without end.
        return function(*(x.item() if isinstance(x, np.generic | np.ndarray) else x for x in inputs))

    def __float__(self):
        name = type(self).__name__
        raise TypeError(f"a {name} is not one number; without Numba, write np.sin(x) instead of math.sin(x)")

    def __pos__(self):
        return self

    def __abs__(self):
        return ufuncs[np.absolute](self)

    def __pow__(self, exponent):
        return ufuncs[np.power](self, exponent)

    def __rpow__(self, base):
        return ufuncs[np.power](base, self)


class Mask:
    """The WIDTH truth values of a comparison of Packs."""

    __slots__ = ("lanes",)

    def __init__(self, lanes):
        self.lanes = np.broadcast_to(np.asarray(lanes, dtype=bool), WIDTH)

    def __and__(self, other):
        return Mask(self.lanes & lanes_of(other))

    def __or__(self, other):
        return Mask(self.lanes | lanes_of(other))

    def __xor__(self, other):
        return Mask(self.lanes ^ lanes_of(other))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self):
        return Mask(~self.lanes)

    def __bool__(self):
        raise TypeError("a comparison of Packs has one answer per lane; use select(mask, a, b) instead of a branch")


def lanes_of(x):
    """The lanes of a Pack or Mask; a plain number stands for all lanes."""
    return x.lanes if isinstance(x, Pack | Mask) else x


def _on_lanes(operation, result):
    def apply(self, other):
        if not isinstance(other, (Pack, *NUMBERS)):
            return NotImplemented
        with np.errstate(all="ignore"):
            return result(operation(self.lanes, lanes_of(other)))

    return apply


class Pack(_Scalar):
    """WIDTH doubles, one per lane."""

    __slots__ = ("lanes",)

    def __init__(self, lanes):
        self.lanes = np.array(np.broadcast_to(np.asarray(lanes_of(lanes), dtype=float), WIDTH))

    def __repr__(self):
        return f"Pack({self.lanes.tolist()})"

    def __neg__(self):
        return Pack(-self.lanes)

    __add__ = __radd__ = _on_lanes(operator.add, lambda x: Pack(x))
    __mul__ = __rmul__ = _on_lanes(operator.mul, lambda x: Pack(x))
    __sub__ = _on_lanes(operator.sub, lambda x: Pack(x))
    __rsub__ = _on_lanes(lambda a, b: b - a, lambda x: Pack(x))
    __truediv__ = _on_lanes(operator.truediv, lambda x: Pack(x))
    __rtruediv__ = _on_lanes(lambda a, b: b / a, lambda x: Pack(x))
    __lt__ = _on_lanes(operator.lt, Mask)
    __le__ = _on_lanes(operator.le, Mask)
    __gt__ = _on_lanes(operator.gt, Mask)
    __ge__ = _on_lanes(operator.ge, Mask)
    __eq__ = _on_lanes(operator.eq, Mask)
    __ne__ = _on_lanes(operator.ne, Mask)


def value_and_partials(x):
    """Both parts of a Dual; a plain number has zero partials."""
    return (x.value, x.partials) if isinstance(x, Dual) else (x, Pack(0.0))


def like(pattern, x):
    """A plain number as a constant Dual where `pattern` is a Dual, and as one of Duals where that is."""
    return Dual(like(pattern.value, x)) if isinstance(pattern, Dual) and not isinstance(x, Dual) else x


def _on_values(operation):
    def apply(self, other):
        if not isinstance(other, (Dual, *NUMBERS)):
            return NotImplemented
        return np.bool_(operation(self.value, value_and_partials(other)[0]))

    return apply


def _on_parts(combine):
    def apply(self, other):
        if not isinstance(other, (Dual, *NUMBERS)):
            return NotImplemented
        other = like(self, other)
        with np.errstate(all="ignore"):
            return Dual(*combine(self.value, self.partials, other.value, other.partials))

    return apply


def _quotient(a, da, b, db):
    quotient = np.divide(a, b)  # inf or nan, never an exception
    return quotient, (da - db * quotient) * np.divide(1.0, b)


class Dual(_Scalar):
    """A double and its WIDTH partial derivatives, which are a Pack; or a Dual and its derivative, a Dual too."""

    __slots__ = ("partials", "value")

    def __init__(self, value, partials=0.0):
        if isinstance(value, Dual):
            self.value, self.partials = value, like(value, partials)
        else:
            self.value, self.partials = np.float64(value), Pack(partials)

    def __repr__(self):
        return f"Dual({self.value}, {self.partials})"

    def __neg__(self):
        return Dual(-self.value, -self.partials)

    __add__ = __radd__ = _on_parts(lambda a, da, b, db: (a + b, da + db))
    __mul__ = __rmul__ = _on_parts(lambda a, da, b, db: (a * b, da * b + db * a))
    __sub__ = _on_parts(lambda a, da, b, db: (a - b, da - db))
    __rsub__ = _on_parts(lambda a, da, b, db: (b - a, db - da))
    __truediv__ = _on_parts(_quotient)
    __rtruediv__ = _on_parts(lambda a, da, b, db: _quotient(b, db, a, da))
    __lt__ = _on_values(operator.lt)
    __le__ = _on_values(operator.le)
    __gt__ = _on_values(operator.gt)
    __ge__ = _on_values(operator.ge)
    __eq__ = _on_values(operator.eq)
    __ne__ = _on_values(operator.ne)
