"""Functions of time: a number, a string in `t`, or a Python function; and three of them for a vector.

A Python function is called once, at t = 0, to see that it returns what it should.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from poinsot.errors import PoinsotError
from poinsot.model import checks, expression
from poinsot.model.checks import show
from poinsot.model.expression import Program

FORMS = 'a number, a string such as "2*sin(t)", or a Python function of t'


@dataclass(frozen=True, eq=False)
class Function:
    """A scalar function of time: `kind` is "constant" (value), "expression" (text, program) or "python" (callable)."""

    kind: str
    value: float | None = None
    text: str | None = None
    program: Program = ()
    callable: Callable[[float], float] | None = None

    def __call__(self, t: float, position: float = 0.0, velocity: float = 0.0) -> float:
        """Evaluate in plain Python; position and velocity matter to a motor's expression only."""
        if self.callable is not None:
            return float(self.callable(t))
        if self.value is not None:
            return self.value
        return expression.evaluate(self.program, t, position, velocity)


@dataclass(frozen=True, eq=False)
class Function3:
    """A vector function of time: three `components`, or one Python function `callable` that returns three numbers."""

    components: tuple[Function, Function, Function] | None = None
    callable: Callable[[float], Any] | None = None

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Evaluate in plain Python."""
        if self.callable is not None:
            x, y, z = self.callable(t)
            return float(x), float(y), float(z)
        x, y, z = cast("tuple[Function, Function, Function]", self.components)
        return x(t), y(t), z(t)


def scalar_function(where: str, what: str, value: object, variables: tuple[str, ...] = ("t",)) -> Function:
    """Read a scalar function of time in any of its three forms."""
    place = f"{where}: {what}"
    if isinstance(value, str):
        program = expression.parse(place, value, variables)
        if all(operation not in ("position", "velocity") for operation, _ in program):
            start = expression.evaluate(program, 0.0)
            checks.number(where, f'{what} "{value.strip()}" at t = 0:', start, "give one that has a value there")
        return Function("expression", text=value.strip(), program=program)
    if callable(value):
        function = plain(value)
        result = _call(where, what, function)
        checks.number(where, f"{what} (a Python function) at t = 0: result", result, "return one finite number")
        return Function("python", callable=function)
    return Function("constant", value=checks.number(where, what, value, f"give {FORMS}"))


def vector_function(where: str, what: str, value: object) -> Function3:
    """Read a vector function of time: three scalar ones, or one Python function that returns three numbers."""
    if callable(value):
        function = plain(value)
        result = _call(where, what, function)
        place = f"{what} (a Python function) at t = 0: result"
        checks.vector(where, place, result)
        if not isinstance(result, tuple):  # kernels hold no lists and no arrays
            raise PoinsotError(f"{where}: {place} is a {type(result).__name__}; return a tuple (x, y, z)")
        return Function3(callable=function)
    if value is None:
        raise PoinsotError(f"{where}: {what} is missing; give three of {FORMS}, or one Python function")
    if isinstance(value, str) or not hasattr(value, "__len__") or len(cast("Any", value)) != 3:
        raise PoinsotError(
            f"{where}: {what} {show(value)} is not a vector function; "
            f"give three of {FORMS}, or one Python function that returns three numbers"
        )
    x, y, z = (
        scalar_function(where, f"{what}'s {axis} component", item)
        for axis, item in zip("xyz", cast("Any", value), strict=True)
    )
    return Function3(components=(x, y, z))


def plain(function: Any) -> Any:
    """Return the Python function inside one that the user has compiled with Numba already, or the function itself."""
    return getattr(function, "py_func", function)


def _call(where: str, what: str, function: Callable[..., object]) -> object:
    """Call a user's function at t = 0, and turn what goes wrong into one sentence."""
    if not inspect.isfunction(function):
        raise PoinsotError(
            f"{where}: {what} {show(function)} is not a plain Python function, and nothing else can be compiled; "
            "write one, such as lambda t: 2.0 * math.sin(t)"
        )
    try:
        inspect.signature(function).bind(0.0)
    except TypeError:
        form = f"{function.__name__}{inspect.signature(function)}"
        raise PoinsotError(f"{where}: {what} {form} does not take one argument; write a function of t alone") from None
    try:
        return function(0.0)
    except Exception as error:
        raise PoinsotError(
            f"{where}: {what} (a Python function) failed at t = 0 with {type(error).__name__}: {error}; "
            "it must return a value for every t"
        ) from error
