"""Functions of time as kernels run them, against their evaluation in plain Python and closed forms."""

import math
import re
from typing import NamedTuple

import numpy as np
import pytest
from mechanism.trees import WIDTH, Tree

import poinsot as ps
from poinsot._jit import DISABLED, kernel
from poinsot.mechanism.build_loads import Functions, derivatives_at
from poinsot.mechanism.functions import OPERATIONS, function_value
from poinsot.model.derivative import derivatives
from poinsot.model.expression import evaluate, parse
from poinsot.model.functions import scalar_function
from poinsot.scalars import borrow

EXPRESSIONS = (
    "3", "-3.5e-2", "t", "position", "velocity", "t + position", "t - velocity", "t*position - 2", "velocity/(1 + t)",
    "-t", "+position", "t**3", "(-2)**3 + t", "(1 + t)**velocity", "(1 + t**2)**-1.5", "0**t", "sin(20*t)",
    "cos(position)", "tan(t)", "asin(t/4)", "acos(position/3)", "atan(7*velocity)", "atan2(position, velocity)",
    "atan2(-t, -velocity)", "exp(-t)", "log(1 + t)", "sqrt(t)", "abs(velocity)", "abs(-t)", "min(t, position)",
    "max(t, position, 0.2)", "where(t < 1, 5, 0)", "where(t <= 1, position, velocity)", "where(t > 1, 5, 0)",
    "where(t >= 1, 5, 0)", "where(t == 1, 5, 0)", "where(t != 1, 5, 0)", "where(0 < t < 2, sin(t), 0)",
    "where(t < 0.5 or t > 1.5, 1, 2)", "where(t > 0.5 and position > 0, 1, 2)", "where(not t < 1, 1, 2)",
    "pi*e", "1/(t - 1)", "sqrt(t - 1)", "log(t - 1)",
    "(1 + (2 + (3 + (4 + (5 + (6 + (7 + (8 + (9 + (10 + (11 + (12 + t))))))))))))", "+".join("t" for _ in range(200)),
)  # fmt: skip
TIMES = (0.0, 0.4, 1.0, 1.9, 3.0)


def slider(text):
    """A mass of 1 kg on a rail, whose acceleration is the motor's force."""
    model = ps.Model("slider", gravity=(0, 0, 0))
    model.body("mass", ps.Inertia.sphere(mass=1.0, radius=0.1))
    model.prismatic("rail", "ground", "mass", axis=(0, 0, 1))
    motor = model.motor("motor", "rail", torque=text)
    return Tree(model), motor.torque


def usable(text):
    """Expressions that have no value at t = 0 are refused unless they depend on the motion."""
    return text if text not in ("1/(t - 1)", "sqrt(t - 1)", "log(t - 1)") else f"{text} + 0*position"


@pytest.mark.parametrize("text", [usable(text) for text in EXPRESSIONS])
def test_kernels_evaluate_as_python_does(text):
    tree, function = slider(text)
    for time in TIMES:
        state = np.array([[0.8 - time / 3.0], [0.3 + time]])
        found, wanted = tree.forward(state, time)[1, 0], function(time, *state[:, 0])
        np.testing.assert_allclose(found, wanted, rtol=4e-15, atol=1e-300)


def test_every_operation_is_among_them():
    used = {operation for text in EXPRESSIONS for operation, _ in slider(usable(text))[1].program}
    assert used == set(OPERATIONS)


@pytest.mark.parametrize("text", [usable(text) for text in EXPRESSIONS if "position" in text or "velocity" in text])
def test_expressions_in_packs_and_their_derivatives(text):
    tree, function = slider(text)
    states = np.array([np.linspace(-0.7, 0.9, WIDTH), np.linspace(1.3, 0.2, WIDTH)])
    found = tree.forward_packs(states, 1.2)[1]
    np.testing.assert_allclose(found, [function(1.2, *state) for state in states.T], rtol=4e-15)
    state, h = np.array([[0.37], [0.81]]), 1e-4
    directions = np.zeros((2, WIDTH))
    directions[0, 0] = directions[1, 1] = 1.0
    value, partials = tree.forward_duals(state, directions, 1.2)
    np.testing.assert_allclose(value[1], function(1.2, *state[:, 0]), rtol=4e-15)
    q, v = state[:, 0]
    along = [(function(1.2, q + h, v) - function(1.2, q - h, v)), (function(1.2, q, v + h) - function(1.2, q, v - h))]
    np.testing.assert_allclose(partials[1, :2], np.array(along) / (2.0 * h), rtol=1e-6, atol=1e-9)


# ------------------------------------------------------------------------------------------ derivatives in time


class Tables(NamedTuple):
    """What `function_value` reads of a mechanism."""

    functions: np.ndarray
    function_values: np.ndarray


@kernel
def three_values(functions, values, index, t, work, out):
    mechanism, work = Tables(borrow(functions), borrow(values)), borrow(work)
    for n in range(3):
        out[n] = function_value(mechanism, index + n, t, work[0, 0], work[0, 0], work)


def in_kernels(value, t):
    """f, f' and f'' from the tables; another function stands before them."""
    functions = Functions()
    functions.scalar("motor", scalar_function("motor", "torque", 7.0))
    index = functions.with_derivatives("drive", scalar_function("drive", "position", value))
    out = np.zeros(3)
    three_values(*functions.tables(), index, t, np.zeros((1, 48)), out)
    return out


def late(t):
    return 0.0 if t < 1.0 else 0.5 * (t - 1.0) ** 2


FORMS = (  # an expression, the same in Python, and its two derivatives
    ("3", lambda t: 3.0, lambda t: 0.0, lambda t: 0.0),
    ("1e3*t", lambda t: 1e3 * t, lambda t: 1e3, lambda t: 0.0),
    ("sin(50*t)", lambda t: math.sin(50 * t), lambda t: 50 * math.cos(50 * t), lambda t: -2500 * math.sin(50 * t)),
    ("exp(-t/4)", lambda t: math.exp(-t / 4), lambda t: -math.exp(-t / 4) / 4, lambda t: math.exp(-t / 4) / 16),
    ("t**3 - 2*t", lambda t: t**3 - 2.0 * t, lambda t: 3.0 * t * t - 2.0, lambda t: 6.0 * t),
    ("where(t < 1, 0, 0.5*(t - 1)**2)", late, lambda t: max(t - 1.0, 0.0), lambda t: 1.0 if t >= 1.0 else 0.0),
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=[form[0] for form in FORMS])
def test_derivatives_of_both_forms_are_those_of_closed_forms(form):
    text, function, first, second = form
    for t in (0.0, 0.7, 1.0, 1e3):
        wanted = np.array([function(t), first(t), second(t)])
        for value in (text, function):
            found = in_kernels(value, t)
            np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-14 * np.abs(wanted).max())
            on_host = derivatives_at("drive", scalar_function("drive", "position", value), t)
            np.testing.assert_allclose(found, on_host, rtol=4e-15, atol=1e-15 * np.abs(wanted).max())


def test_derivatives_of_a_number():
    assert in_kernels(2.5, 1.0).tolist() == [2.5, 0.0, 0.0]
    assert derivatives_at("drive", scalar_function("drive", "position", 2.5), 1.0) == (2.5, 0.0, 0.0)


OF_TIME = [text for text in EXPRESSIONS[:-1] if not {"position", "velocity"} & set(re.findall(r"\w+", text))]


@pytest.mark.parametrize("text", OF_TIME)
def test_derivatives_of_expressions_are_those_of_the_kernels_scalars(text):
    """On a Dual that stands where t does: branches, and their ends, are the same."""
    tree, _ = slider(re.sub(r"\bt\b", "position", text))
    programs = derivatives("drive", parse("drive", text))
    directions = np.zeros((2, WIDTH))
    directions[0, 0] = 1.0
    for t in (0.0, 0.4, 1.0, 1.9):
        value, partials = tree.forward_duals(np.array([[t], [0.0]]), directions, 0.0)
        wanted = value[1], partials[1, 0]
        if np.isfinite(wanted).all():
            np.testing.assert_allclose([evaluate(program, t) for program in programs[:2]], wanted, rtol=4e-15)


@pytest.mark.skipif(DISABLED, reason="plain Python compiles nothing")
def test_what_has_no_compiled_derivatives_is_said_in_one_sentence():
    with pytest.raises(ps.PoinsotError) as caught:
        in_kernels(lambda t: t % 1.0, 0.5)
    sentence = str(caught.value)
    start = "drive: the Python function <lambda> cannot be compiled for its derivatives: No implementation of function"
    assert sentence.startswith(start)
    assert "\n" not in sentence
