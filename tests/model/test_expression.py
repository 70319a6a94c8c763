"""Expressions against Python's own arithmetic, and what is refused."""

import math

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from poinsot.errors import PoinsotError
from poinsot.model.expression import DEEPEST_STACK, evaluate, parse
from poinsot.model.quantities import Quantities, Reading

NUMBERS = st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 3))
NAMES = {
    name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "sqrt")
}
NAMES |= {"abs": abs, "min": min, "max": max, "pi": math.pi, "e": math.e}
NAMES["where"] = lambda condition, value, other: value if condition else other


def value(text, t=0.0, variables=("t",), **others):
    return evaluate(parse('motor "m": torque', text, variables), t, **others)


@st.composite
def expressions(draw, depth=4):
    """A random expression, its numbers written as floats: Python's integers know no -0."""

    def inner():
        return draw(expressions(depth - 1))

    def comparison():
        chain = [inner()]
        for _ in range(draw(st.integers(1, 2))):
            chain += [draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="])), inner()]
        return " ".join(chain)

    def condition():
        form = draw(st.sampled_from(["{}", "{} and {}", "{} or {}", "not ({})"]))
        return form.format(*(comparison() for _ in range(form.count("{}"))))

    shape = draw(st.sampled_from(["leaf", "sum", "plain", "power", "unary", "binary", "where"])) if depth else "leaf"
    match shape:
        case "leaf":
            return draw(st.one_of(NUMBERS.map(repr), st.sampled_from(["t", "pi", "e"])))
        case "sum":
            return f"({inner()}) {draw(st.sampled_from('+-*/'))} ({inner()})"
        case "plain":
            return f"{inner()} {draw(st.sampled_from('+-*/'))} {inner()}"
        case "power":
            return f"({inner()})**{draw(st.integers(-3, 3))}"
        case "unary":
            return f"{draw(st.sampled_from(['-', 'sin', 'cos', 'atan', 'abs', 'exp', 'sqrt', 'log']))}({inner()})"
        case "binary":
            return f"{draw(st.sampled_from(['atan2', 'min', 'max']))}({inner()}, {inner()})"
        case _:
            return f"where({condition()}, {inner()}, {inner()})"


@settings(deadline=None)
@given(text=expressions(), t=NUMBERS)
def test_agrees_with_python(text, t):
    try:
        expected = eval(text, {"__builtins__": {}}, {**NAMES, "t": t})
    except (ArithmeticError, ValueError):
        reject()  # kernels give inf or nan there
    assume(not isinstance(expected, complex) and math.isfinite(expected) and len(text) <= 1000)
    assert value(text, t) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100*sin(2*t)", 100 * math.sin(1.0)),
        (" 2 ", 2.0),
        ("+t", 0.5),
        ("--t", 0.5),
        ("2**-1", 0.5),
        ("-2**2", -4.0),
        ("2**3**2", 512.0),
        ("8/4/2", 1.0),
        ("7-4-2", 1.0),
        ("1e-3", 1e-3),
        ("where(1.5 <= t < 4.5, 2, 0)", 0.0),
        ("where(0.25 < t <= 0.5, 2, 0)", 2.0),
        ("where(t < 0 or t > 0.4 and not t > 0.6, 1, 2)", 1.0),
        ("max(1, 3, 2)", 3.0),
        ("min(t, 1, 2)", 0.5),
        ("min(\n t,\n 0)", 0.0),
    ],
)
def test_value_at_one_half(text, expected):
    assert value(text, 0.5) == expected


def test_motors_see_their_joint():
    text = "-3*position - 0.5*velocity"
    assert value(text, variables=("t", "position", "velocity"), position=2.0, velocity=4.0) == -8.0


def test_undefined_values_are_those_of_kernels():
    assert value("1/t") == math.inf
    assert math.isnan(value("sqrt(-1)"))
    assert math.isnan(value("(-8)**(1/3)"))
    assert value("exp(1000)") == math.inf


def test_long_sums_are_not_nested():
    assert value(" + ".join(["t"] * 200), 1.0) == 200.0
    assert value(" * ".join(["t"] * 200), 1.0) == 1.0


REFUSED = {
    "": "the expression is empty; give one",
    "  ": "the expression is empty; give one",
    "2*(t": 'is not an expression (column 3: "(t"); write it as in Python, in t, with ** for powers',
    "2 t": 'is not an expression (column 3: "t")',
    "t +": 'is not an expression (column 3: "+")',
    "t = 3": "is not an expression (column",
    "t\0": "is not an expression (column 2",
    "2^t": 'column 1: "2^t" has an operator that is not allowed; write it as in Python, in t, with ** for powers (not',
    "t % 2": "has an operator that is not allowed",
    "t // 2": "has an operator that is not allowed",
    "1 + 2*tim": 'column 7: "tim" is not known; did you mean "t"? (allowed: t, pi, e, sin',
    "1 + θ*x": 'column 5: "θ" is not known; allowed: t, pi, e, sin',
    "θ": 'column 1: "θ" is not known',
    "t + sine(t)": 'column 5: "sine" is not a known function; did you mean "sin"? (allowed: sin, cos',
    "arcsin(t)": '"arcsin" is not a known function; did you mean',
    "sin": 'column 1: "sin" is a function without arguments; write sin(...)',
    "sin()": '"sin()" has the wrong arguments; sin takes 1 argument',
    "sin(t, t)": "sin takes 1 argument",
    "atan2(t)": "atan2 takes 2 arguments",
    "max(t)": "max takes two or more arguments",
    "sin(x=t)": "sin takes 1 argument",
    "sin(*t)": "is not allowed",
    "where(t, 1, 2)": 'column 7: "t" is not a condition; compare two numbers, as in where(t < 1, 5, 0)',
    "where(t is 1, 1, 2)": "has a comparison that is not allowed; use < <= > >= == !=",
    "t < 1": '"t < 1" is a condition, not a number; put it into where(condition, value, other)',
    "2 * (t > 1)": "is a condition, not a number",
    "t and 1": "is a condition, not a number",
    "1 if t < 1 else 0": "is not allowed; write where(condition, value, other)",
    "np.sin(t)": 'column 1: "np.sin" is not allowed; call functions by their names alone: sin(...)',
    "math.pi": 'column 1: "math.pi" is not allowed; write "pi" alone',
    "t.__class__": '"t.__class__" is not allowed',
    "().__class__": "is not allowed",
    "__import__('os').system('ls')": "is not allowed; call functions by their names alone: system(...)",
    "open('x')": '"open" is not a known function',
    "(lambda: t)()": "is not allowed; call functions by their names alone",
    "lambda: t": "is not allowed",
    "[t]": "is not allowed",
    "(t, t)": "is not allowed",
    "t[0]": "is not allowed",
    "~2": "is not allowed",
    "(t := 1)": "is not allowed",
    "'t'": "\"'t'\" is not a real number; write real numbers only",
    "True": "is not a real number",
    "None": "is not a real number",
    "2j": "is not a real number",
    "f'{t}'": "is not allowed",
    "1e999": "is too large; numbers go up to 1.8e308",
    "9" * 400: "is too large; numbers go up to 1.8e308",
    "t**1000": 'column 4: "1000" is too large an exponent; exponents go from -100 to 100',
    "t**-1000": "is too large an exponent",
    "t" + "+t" * 600: "the expression has 1201 characters, more than 1000; write a Python function of t instead",
    "-" * 60 + "t": "is nested more than 50 deep; write a Python function of t instead",
    "(" * 300 + "t" + ")" * 300: "is not an expression",
    "-" * 990 + "t": "is ",
    "t+(" * 49 + "t" + ")" * 49: "the expression is too complicated; write a Python function of t instead",
}

# A chained comparison writes its middle twice, so that a short text can be a long program.
doubled = "t"
for _ in range(20):
    doubled = f"where(0<{doubled}<1,1,0)"
REFUSED[doubled] = "the expression is too complicated; write a Python function of t instead"


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=range(len(REFUSED)))
def test_says_what_is_refused_and_where(text, sentence):
    with pytest.raises(PoinsotError) as caught:
        value(text)
    message = str(caught.value)
    assert message.startswith('motor "m": torque: ')
    assert sentence in message


def test_stack_stays_within_bounds():
    nested = "t+(" * (DEEPEST_STACK - 1) + "t" + ")" * (DEEPEST_STACK - 1)
    assert value(nested, 1.0) == DEEPEST_STACK


# ------------------------------------------------------------------------------------------ outputs


def quantities():
    return Quantities(["upper", "lower"], {"crank": 1, "ball": 3, "weld": 0})


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("energy", Reading("energy", 0, 0)),
        ("position_error", Reading("position_error", 0, 0)),
        ('position["lower"].z', Reading("position", 1, 2)),
        ("angular_velocity['upper'].y", Reading("angular_velocity", 0, 1)),
        ('joint_position["crank"]', Reading("joint_position", 0, 0)),
        ('joint_position["crank"][0]', Reading("joint_position", 0, 0)),
        ('joint_velocity["ball"][2]', Reading("joint_velocity", 1, 2)),
        ('reaction_torque["weld"].x', Reading("reaction_torque", 2, 0)),
        ("linear_momentum.x", Reading("linear_momentum", 0, 0)),
    ],
)
def test_outputs_are_read_by_their_names(text, reading):
    outputs = quantities()
    program = parse('event "e"', f"2*{text} - {text} + t", ("t",), outputs)
    assert outputs.readings == [reading]
    assert evaluate(program, 1.0, outputs=[3.0]) == 4.0


def test_outputs_stand_wherever_a_number_may():
    outputs = quantities()
    text = 'where(energy > 1, max(-position["upper"].x**2, sin(kinetic_energy)), 0)'
    program = parse('event "e"', text, ("t",), outputs)
    assert [each.output for each in outputs.readings] == ["energy", "position", "kinetic_energy"]
    assert evaluate(program, 0.0, outputs=[2.0, 3.0, 0.5]) == math.sin(0.5)
    assert evaluate(program, 0.0, outputs=[1.0, 3.0, 0.5]) == 0.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('1 + position["lowr"].z', 'column 14: ""lowr"" is not the name of a body; did you mean "lower"?'),
        ('joint_position["upper"]', '""upper"" is not the name of a joint; known: crank, ball, weld'),
        ("position.z", '"position.z" needs the name of a body; write position["upper"].x'),
        ("joint_position", 'needs the name of a joint; write joint_position["crank"]'),
        ("position[0].z", '"0" is not a body\'s name in quotes; write position["upper"].x'),
        ('position["lower"]', "is a vector, not one number; end it with .x, .y or .z"),
        ('position["lower"].w', "end it with .x, .y or .z"),
        ('position["lower"][2]', "end it with .x, .y or .z"),
        ("linear_momentum", "end it with .x, .y or .z"),
        ("energy.x", "goes on behind a number; write energy"),
        ('position["lower"].z.x', "goes on behind a number"),
        (
            'joint_position["crank"].x',
            'is not one coordinate of joint "crank", which has 1; write joint_position["crank"]',
        ),
        ('joint_position["ball"]', 'not one coordinate of joint "ball", which has 3; write [0] to [2] behind it'),
        ('joint_position["ball"][3]', "write [0] to [2] behind it"),
        ('joint_position["ball"][True]', "write [0] to [2] behind it"),
        ('joint_position["weld"]', 'is of joint "weld", which has no coordinate; name another joint'),
        ('positon["lower"].z', '"positon" is not an output; did you mean "position"?'),
        ("xyz.z", '"xyz" is not an output; outputs: position, velocity'),
        ("enrgy", '"enrgy" is not known; did you mean "energy"?'),
        ("energy()", '"energy" is not a known function'),
        ("().z", "is not allowed"),
        ("energy.__class__", "goes on behind a number"),
    ],
)
def test_says_which_output_is_not_one(text, sentence):
    with pytest.raises(PoinsotError) as caught:
        parse('event "e"', text, ("t",), quantities())
    assert str(caught.value).startswith('event "e": ')
    assert sentence in str(caught.value)
