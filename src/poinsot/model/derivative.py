"""Derivatives in time of an expression's program, as programs: exact, and simplified where that costs nothing.

A program is run as it would be on numbers, but on pairs of programs, a value's and its derivative's. Where an operation
chooses (`where`, `min`, `max`, `abs`), the derivative is that of the branch that kernels take; comparisons have none.
What is outside of the expression, such as a joint's position, is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from poinsot.errors import PoinsotError
from poinsot.model.expression import COMPARISONS, DEEPEST_STACK, LONGEST_PROGRAM, Program, arguments, evaluate


def derivatives(where: str, program: Program) -> tuple[Program, Program, Program]:
    """Return the program, its derivative and its second derivative."""
    first = derivative(program)
    second = derivative(first) if len(first) <= LONGEST_PROGRAM else first
    for order, result in (("first", first), ("second", second)):
        if len(result) > LONGEST_PROGRAM or _height(result) > DEEPEST_STACK:
            raise PoinsotError(
                f"{where}: the {order} derivative of the expression is too long; write a Python function of t instead"
            )
    return program, first, second


def derivative(program: Program) -> Program:
    """Return the derivative in time; it may be longer than kernels can run."""
    stack: list[tuple[Program, Program]] = []
    for operation, operand in program:
        count = arguments(operation)
        if count == 0:
            stack.append((((operation, operand),), ONE if operation == "t" else ZERO))
            continue
        values, rates = zip(*stack[-count:], strict=True)
        rate = _rate(operation, values, rates)
        # What is far too long is cut: it stays so, or is dropped where it does not count.
        stack[-count:] = [(_apply(operation, *values), rate[: 2 * LONGEST_PROGRAM])]
    return stack[0][1]


def _rate(operation: str, values: tuple[Program, ...], rates: tuple[Program, ...]) -> Program:
    """The derivative of an operation on arguments with these values and derivatives."""
    if operation in COMPARISONS.values():
        return ZERO
    if operation == "where":
        return _where(values[0], rates[1], rates[2])
    return OF_TWO[operation](*values, *rates) if len(values) == 2 else OF_ONE[operation](*values, *rates)


def _height(program: Program) -> int:
    """How many intermediate results a program needs at once."""
    height, highest = 0, 0
    for operation, _ in program:
        height += 1 - arguments(operation)
        highest = max(highest, height)
    return highest


# ------------------------------------------------------------------------------------------ operations on programs


def _number(value: float) -> Program:
    return (("number", value),)


ZERO, ONE, TWO = _number(0.0), _number(1.0), _number(2.0)


def _number_of(x: Program) -> float | None:
    return x[0][1] if len(x) == 1 and x[0][0] == "number" else None


def _apply(operation: str, *values: Program) -> Program:
    """The program of an operation, or the number that it gives."""
    program = (*(step for value in values for step in value), (operation, None))
    if all(_number_of(value) is not None for value in values):
        result = evaluate(program, 0.0)
        return _number(result) if math.isfinite(result) else program
    return program


def _add(x: Program, y: Program) -> Program:
    return y if x == ZERO else x if y == ZERO else _apply("add", x, y)


def _sub(x: Program, y: Program) -> Program:
    return _neg(y) if x == ZERO else x if y == ZERO else _apply("sub", x, y)


def _neg(x: Program) -> Program:
    return x[:-1] if x[-1][0] == "neg" else _apply("neg", x)


def _mul(x: Program, y: Program) -> Program:
    if ZERO in (x, y):
        return ZERO
    return y if x == ONE else x if y == ONE else _apply("mul", x, y)


def _div(x: Program, y: Program) -> Program:
    return x if x == ZERO or y == ONE else _apply("div", x, y)


def _power(x: Program, y: Program) -> Program:
    return ONE if y == ZERO else x if y == ONE else _apply("power", x, y)


def _where(condition: Program, x: Program, y: Program) -> Program:
    return x if x == y else _apply("where", condition, x, y)


def _choose(comparison: str, x: Program, y: Program, if_so: Program, if_not: Program) -> Program:
    return _where(_apply(comparison, x, y), if_so, if_not)


# ------------------------------------------------------------------------------------------ rules
# Of the arguments' programs and their derivatives.


def _of_product(x: Program, y: Program, dx: Program, dy: Program) -> Program:
    return _add(_mul(dx, y), _mul(x, dy))


def _of_quotient(x: Program, y: Program, dx: Program, dy: Program) -> Program:
    return _div(_sub(dx, _mul(_div(x, y), dy)), y)


def _of_power(x: Program, y: Program, dx: Program, dy: Program) -> Program:
    by_base = _mul(_mul(y, _power(x, _sub(y, ONE))), dx)
    if dy == ZERO:
        return by_base
    power = _power(x, y)
    growth = _mul(power, _apply("log", x))
    if (_number_of(x) or 0.0) <= 0.0:  # 0 times an infinite logarithm is 0
        growth = _choose("eq", power, ZERO, ZERO, growth)
    return _add(by_base, _mul(growth, dy))


def _of_angle(y: Program, x: Program, dy: Program, dx: Program) -> Program:
    return _div(_sub(_mul(x, dy), _mul(y, dx)), _add(_power(x, TWO), _power(y, TWO)))


def _of_asin(x: Program, dx: Program) -> Program:
    return _div(dx, _apply("sqrt", _mul(_sub(ONE, x), _add(ONE, x))))


OF_ONE: dict[str, Callable[[Program, Program], Program]] = {
    "neg": lambda x, dx: _neg(dx),
    "sin": lambda x, dx: _mul(_apply("cos", x), dx),
    "cos": lambda x, dx: _neg(_mul(_apply("sin", x), dx)),
    "tan": lambda x, dx: _mul(_add(ONE, _power(_apply("tan", x), TWO)), dx),
    "asin": _of_asin,
    "acos": lambda x, dx: _neg(_of_asin(x, dx)),
    "atan": lambda x, dx: _div(dx, _add(ONE, _power(x, TWO))),
    "exp": lambda x, dx: _mul(_apply("exp", x), dx),
    "log": lambda x, dx: _div(dx, x),
    "sqrt": lambda x, dx: _div(dx, _mul(TWO, _apply("sqrt", x))),
    "abs": lambda x, dx: _choose("lt", x, ZERO, _neg(dx), dx),
}
OF_TWO: dict[str, Callable[[Program, Program, Program, Program], Program]] = {
    "add": lambda x, y, dx, dy: _add(dx, dy),
    "sub": lambda x, y, dx, dy: _sub(dx, dy),
    "mul": _of_product,
    "div": _of_quotient,
    "power": _of_power,
    "atan2": _of_angle,
    "min": lambda x, y, dx, dy: _choose("lt", x, y, dx, dy),
    "max": lambda x, y, dx, dy: _choose("gt", x, y, dx, dy),
}
