"""Derivatives of expressions against differences in many digits, and how long they become."""

import math

import mpmath
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st
from model.test_expression import expressions

from poinsot.errors import PoinsotError
from poinsot.model.derivative import ZERO, derivative, derivatives
from poinsot.model.expression import DEEPEST_STACK, LONGEST_PROGRAM, arguments, evaluate, parse

IN_MANY_DIGITS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "power": mpmath.power,
    "abs": abs,
    "lt": lambda x, y: mpmath.mpf(x < y),
    "le": lambda x, y: mpmath.mpf(x <= y),
    "gt": lambda x, y: mpmath.mpf(x > y),
    "ge": lambda x, y: mpmath.mpf(x >= y),
    "eq": lambda x, y: mpmath.mpf(x == y),
    "ne": lambda x, y: mpmath.mpf(x != y),
    "where": lambda condition, x, y: x if condition else y,
    "min": lambda x, y: x if x < y else y,
    "max": lambda x, y: x if x > y else y,
} | {name: getattr(mpmath, name) for name in "sin cos tan asin acos atan atan2 exp log sqrt".split()}


def precisely(program, t):
    """The value in many digits; what holds no t is the double that it is folded to."""
    stack = []
    for operation, operand in program:
        if operation in ("t", "number"):
            stack.append((t, None) if operation == "t" else (mpmath.mpf(operand), operand))
            continue
        count = arguments(operation)
        taken = stack[-count:]
        numbers = [number for _, number in taken]
        if None in numbers:
            result = IN_MANY_DIGITS[operation](*(value for value, _ in taken)), None
        else:
            number = evaluate((*(("number", number) for number in numbers), (operation, None)), 0.0)
            result = mpmath.mpf(number), number
        assume(mpmath.im(result[0]) == 0 and mpmath.isfinite(result[0]) and abs(result[0]) < 1e100)
        stack[-count:] = [result]
    return stack[0][0]


@example("tan(t/2)/acos(t/4) - asin(t/5)*atan(7*t)", 0.3)
@example("(1 + t)**sin(t) + 3**(t*t) - t**-1.5 + (t - 2)**3", 0.3)
@example("atan2(sin(t), 2 + cos(t)) + log(2 + t)*sqrt(1 + t*t)", 0.3)
@example("abs(t - 1)**3*max(t*t, t, exp(t)) - where(0 < t < 2 and not t == 1, min(t, 1/t), sin(t))", 0.3)
@settings(deadline=None, derandomize=True)
@given(expressions(depth=3), st.integers(1, 30).map(lambda n: 0.1 * n + 1e-4 * math.pi))
def test_random_expressions(text, t):
    """At times that are no ends of branches, where differences would reach across."""
    assume(len(text) <= 1000)
    programs = [parse("drive", text)]
    for _ in range(2):
        programs.append(derivative(programs[-1]))
    assume(len(programs[-1]) <= LONGEST_PROGRAM)
    with mpmath.workdps(60):
        t = mpmath.mpf(t)
        try:
            wanted = [mpmath.diff(lambda t: precisely(programs[0], t), t, order) for order in (1, 2)]
            found = [precisely(program, t) for program in programs[1:]]
        except ZeroDivisionError:
            reject()
    size = max(1, *(abs(x) for x in wanted))
    assert abs(found[0] - wanted[0]) <= 1e-10 * size
    assert abs(found[1] - wanted[1]) <= 1e-10 * size


def test_rules_stay_short():
    assert derivatives("drive", parse("drive", "3")) == ((("number", 3.0),), ZERO, ZERO)
    assert derivatives("drive", parse("drive", "5 - 2*t"))[1:] == ((("number", -2.0),), ZERO)
    assert derivatives("drive", parse("drive", "t**2"))[1:] == (parse("", "2*t"), (("number", 2.0),))
    assert derivatives("drive", parse("drive", "where(t < 1, t, 1)"))[1:] == (parse("", "where(t < 1, 1, 0)"), ZERO)
    assert derivatives("drive", parse("drive", "0*sin(t) + t/1"))[1] == (("number", 1.0),)


@pytest.mark.parametrize(
    ("text", "t", "first", "second"),
    [
        ("abs(t)", 0.0, 1.0, 0.0),
        ("min(t, 2*t)", 0.0, 2.0, 0.0),
        ("max(t, 2*t)", 0.0, 2.0, 0.0),
        ("where(t < 0, -t**2, t**2)", 0.0, 0.0, 2.0),
        ("where(sin(t) > 2, 1/t, t**2)", 0.0, 0.0, 2.0),
        ("(t - 2)**3", 1.0, 3.0, -6.0),
        ("(t - 2)**3", 2.0, 0.0, 0.0),
        ("t**(2 + t)", 0.0, 0.0, 2.0),
        ("2**t", 0.0, math.log(2.0), math.log(2.0) ** 2),
        ("sqrt(t)", 0.0, math.inf, -math.inf),
    ],
)
def test_at_ends_of_branches_and_zeros(text, t, first, second):
    assert [evaluate(program, t) for program in derivatives("drive", parse("drive", text))[1:]] == [first, second]


def test_what_is_too_long_is_refused():
    with pytest.raises(PoinsotError) as caught:
        derivatives('drive "d": position', parse("drive", "*".join(["t"] * 80)))
    sentence = 'drive "d": position: the first derivative of the expression is too long; write a Python function of t'
    assert str(caught.value).startswith(sentence)
    with pytest.raises(PoinsotError, match="the second derivative of the expression is too long"):
        derivatives("drive", parse("drive", "*".join(["t"] * 20)))
    nested = "sin(t)+(" * (DEEPEST_STACK - 1) + "t" + ")" * (DEEPEST_STACK - 1)
    assert len(derivatives("drive", parse("drive", nested))[2]) < LONGEST_PROGRAM


def test_what_is_too_deep_is_refused():
    nested = "t*(" * (DEEPEST_STACK - 1) + "t" + ")" * (DEEPEST_STACK - 1)
    with pytest.raises(PoinsotError, match="the first derivative of the expression is too long"):
        derivatives("drive", parse("drive", nested))


def test_what_is_too_long_but_does_not_count_is_left_out():
    condition = " * ".join(["(1 + t*t)"] * 80)
    assert derivatives("drive", parse("drive", f"where({condition} > 2, t**2, t)"))[1][-1][0] == "where"
