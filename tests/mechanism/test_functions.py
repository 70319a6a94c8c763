"""Expressions as kernels run them, against their evaluation in plain Python."""

import numpy as np
import pytest
from mechanism.trees import WIDTH, Tree

import poinsot as ps
from poinsot.mechanism.functions import OPERATIONS

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
