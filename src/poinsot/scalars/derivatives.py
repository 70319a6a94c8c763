"""First and second derivatives of a function of one number, exact: it is run on a Dual, and on a Dual of Duals.

A Dual of Duals is made as `Dual(Dual(t, 1.0), 1.0)`; compiled, its type is Nested. Its functions are the chain rules
of Dual applied once more: these are written with `value_of`, `partials_of` and `Dual` alone, as its arithmetic is here.
"""

import builtins
import math
import operator
from types import BuiltinFunctionType, CellType, FunctionType, SimpleNamespace

from numba import types
from numba.extending import lower_builtin

from poinsot._jit import DISABLED, is_ours, names_in
from poinsot.scalars.native import NestedType
from poinsot.scalars.plain import Dual, twins
from poinsot.scalars.primitives import first_lane, partials_of, value_of


def slope(function):
    """The derivative of a function of one number, a kernel."""
    function = _for_duals(function)
    return lambda t: first_lane(partials_of(function(Dual(t, 1.0))))


def curvature(function):
    """The second derivative of a function of one number, a kernel."""
    function = _for_duals(function)
    return lambda t: first_lane(partials_of(partials_of(function(Dual(Dual(t, 1.0), 1.0)))))


def _for_duals(function):
    """The function itself; in plain Python, where those of math take numbers only, one that calls ours instead."""
    return _rewritten(function, {}) if DISABLED else function


def _rewritten(function, known):
    cells = function.__closure__ or ()
    closure, scope = tuple(CellType() for _ in cells), {"__builtins__": builtins}
    twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
    twin.__kwdefaults__ = function.__kwdefaults__
    known[function] = twin  # it may call itself
    for cell, original in zip(closure, cells, strict=True):
        cell.cell_contents = _twin(original.cell_contents, known)
    around = function.__globals__
    scope.update((name, _twin(around[name], known)) for name in names_in(function.__code__) if name in around)
    return twin


def _twin(value, known):
    if value is math:
        return SimpleNamespace(**{name: _twin(entry, known) for name, entry in vars(math).items()})
    if isinstance(value, FunctionType):
        return value if is_ours(value) else known.get(value) or _rewritten(value, known)
    return twins.get(value, value) if isinstance(value, BuiltinFunctionType) else value


# ------------------------------------------------------------------------------------------ arithmetic of the Nested

PAIRS = [(NestedType, other) for other in (NestedType, types.Float, types.Integer)]
PAIRS += [(other, NestedType) for other in (types.Float, types.Integer)]


def _sum(x, y):
    return Dual(value_of(x) + value_of(y), partials_of(x) + partials_of(y))


def _difference(x, y):
    return Dual(value_of(x) - value_of(y), partials_of(x) - partials_of(y))


def _product(x, y):
    return Dual(value_of(x) * value_of(y), partials_of(x) * value_of(y) + partials_of(y) * value_of(x))


def _quotient(x, y):
    quotient = value_of(x) / value_of(y)
    return Dual(quotient, (partials_of(x) - partials_of(y) * quotient) / value_of(y))


def _negative(x):
    return Dual(-value_of(x), -partials_of(x))


def _generate(implementation, shapes, *operations):
    """Compile these operations on a Nested as the Python function says."""

    def generate(context, builder, signature, values):
        return context.compile_internal(builder, implementation, signature, values)

    for operation in operations:
        for shape in shapes:
            lower_builtin(operation, *shape)(generate)


_generate(_sum, PAIRS, operator.add, operator.iadd)
_generate(_difference, PAIRS, operator.sub, operator.isub)
_generate(_product, PAIRS, operator.mul, operator.imul)
_generate(_quotient, PAIRS, operator.truediv, operator.itruediv)
_generate(_negative, [(NestedType,)], operator.neg)
_generate(lambda x: x, [(NestedType,)], operator.pos)
_generate(lambda x, y: value_of(x) < value_of(y), PAIRS, operator.lt)
_generate(lambda x, y: value_of(x) <= value_of(y), PAIRS, operator.le)
_generate(lambda x, y: value_of(x) > value_of(y), PAIRS, operator.gt)
_generate(lambda x, y: value_of(x) >= value_of(y), PAIRS, operator.ge)
_generate(lambda x, y: value_of(x) == value_of(y), PAIRS, operator.eq)
_generate(lambda x, y: value_of(x) != value_of(y), PAIRS, operator.ne)
