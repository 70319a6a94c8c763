"""A model's loads and functions of time as tables; what users wrote in Python is compiled here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from poinsot._jit import address, constants, kernel
from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism.functions import (
    ADDRESS,
    CONSTANT,
    EXPRESSION,
    FUNCTION_COLUMNS,
    FUNCTION_KIND,
    OPERATIONS,
    POINTER,
    START,
    STEPS,
    VECTOR_POINTER,
    program_signature,
    run_program,
)
from poinsot.mechanism.loads import apply_law, apply_law_signature, law_signature
from poinsot.model.body import Anchor
from poinsot.model.derivative import derivatives
from poinsot.model.expression import evaluate
from poinsot.model.functions import Function, Function3
from poinsot.model.loads import Damper, Force, Load, Motor, Spring, Torque, TorsionSpring, UserLoad
from poinsot.model.model import Model
from poinsot.scalars import curvature, slope

Array = NDArray[np.float64]
Derive = Callable[[Any], Callable[[float], Any]]  # makes one function of time of another: `slope` or `curvature`


class Functions:
    """The functions of time of a mechanism, collected into two tables."""

    def __init__(self) -> None:
        self.entries: list[list[int]] = []
        self.values: list[tuple[float, float]] = []

    def scalar(self, where: str, function: Function) -> int:
        """Add a function and return its index."""
        if function.kind == "python":
            return self._pointer(compiled_address(where, function.callable, float64(float64)))
        entry = [0] * FUNCTION_COLUMNS
        if function.kind == "constant":
            entry[FUNCTION_KIND], entry[START], entry[STEPS] = CONSTANT, len(self.values), 1
            self.values.append((0.0, float(function.value or 0.0)))
        else:
            program = [(OPERATIONS.index(operation), operand or 0.0) for operation, operand in function.program]
            entry[FUNCTION_KIND], entry[START], entry[STEPS] = EXPRESSION, len(self.values), len(program)
            entry[ADDRESS] = address(run_program, program_signature(float64))
            self.values.extend(program)
        self.entries.append(entry)
        return len(self.entries) - 1

    def _pointer(self, place: int, kind: int = POINTER) -> int:
        entry = [0] * FUNCTION_COLUMNS
        entry[FUNCTION_KIND], entry[ADDRESS] = kind, place
        self.entries.append(entry)
        return len(self.entries) - 1

    def with_derivatives(self, where: str, function: Function) -> int:
        """Add a function of time and its two derivatives, one behind the other, and return the first one's index."""
        first = len(self.entries)
        if function.kind == "constant":
            for value in (function.value, 0.0, 0.0):
                self.scalar(where, Function("constant", value=value))
        elif function.kind == "expression":
            for program in derivatives(where, function.program):
                self.scalar(where, Function("expression", program=program))
        else:
            for derive in (None, slope, curvature):
                self._pointer(compiled_address(where, function.callable, float64(float64), derive))
        return first

    def vector(self, where: str, function: Function3) -> int:
        """Add a vector function and return the index of the first of its three components."""
        if function.components is not None:
            return min(self.scalar(where, component) for component in function.components)
        three = types.UniTuple(float64, 3)
        return self._pointer(compiled_address(where, function.callable, three(float64)), VECTOR_POINTER)

    def tables(self) -> tuple[NDArray[np.int64], Array]:
        """Both tables, never empty, so that their types do not depend on the model."""
        return (
            np.array(self.entries or np.zeros((0, FUNCTION_COLUMNS)), np.int64).reshape(-1, FUNCTION_COLUMNS),
            np.array(self.values or np.zeros((0, 2)), np.float64).reshape(-1, 2),
        )


def derivatives_at(where: str, function: Function, t: float) -> tuple[float, float, float]:
    """A function of time and its two derivatives at one time, on the host."""
    if function.kind == "constant":
        return function(t), 0.0, 0.0
    if function.kind == "expression":
        f, slope_of_f, curvature_of_f = (evaluate(program, t) for program in derivatives(where, function.program))
        return f, slope_of_f, curvature_of_f
    for derive in (slope, curvature):
        compiled_address(where, function.callable, float64(float64), derive)
    first, second = (_user_kernel(function.callable, 1, derive) for derive in (slope, curvature))
    return function(t), float(first(float(t))), float(second(float(t)))


def compiled_address(
    where: str, function: Callable[..., Any] | None, signature: Any, derive: Derive | None = None
) -> int:
    """The address of what a user wrote in Python, or of its derivative, compiled, or the reason why it cannot be."""
    try:
        return address(_user_kernel(function, len(signature.args), derive), signature)
    except Exception as error:  # Numba runs what it folds, so that anything may come out of a user's text
        plain = re.sub(r"\x1b\[\d*m", "", str(error))  # Numba colours its messages
        lines = [line.strip() for line in plain.splitlines()[1:]]
        reason = next((line for line in lines if line and not line.startswith("Failed in")), plain).rstrip(".:")
        raise PoinsotError(
            f"{where}: the Python function {getattr(function, '__name__', '')} cannot be compiled"
            f"{' for its derivatives' if derive else ''}: {reason}; write it "
            "with arithmetic, tuples, the functions of math, and your own functions under @numba.njit only"
        ) from error


_compiled: dict[Any, Any] = {}


def _user_kernel(function: Any, arguments: int, derive: Derive | None = None) -> Any:
    """One dispatcher per function and values that it reads: a second simulation finds it compiled."""
    key = function, derive, constants(function)
    if key not in _compiled:
        if derive is None and function.__code__.co_argcount > arguments:
            derive = _of_time
        _compiled[key] = kernel(derive(kernel(function)) if derive else function)
    return _compiled[key]


def _of_time(function: Any) -> Callable[[float], Any]:
    """A function of t alone, where the other arguments of a user's function have defaults."""
    return lambda t: function(t)


def load_tables(
    model: Model,
    row: dict[str, int],
    links_of: dict[str, tuple[int, ...]],
    start_axes: dict[int, Array],
    backwards: set[str],
) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], Array, int, dict[str, int]]:
    """The tables `loads`, `load_values`, `functions` and `function_values`: loads on bodies first, then by name.

    With them, how many act on bodies, and the first of the three functions that each drive follows.
    """
    functions = Functions()
    drives = {
        drive.name: functions.with_derivatives(f'drive "{drive.name}"', drive.position)
        for drive in model.drives.values()
    }
    closing = [n for n, name in enumerate(model.joints) if name not in links_of]
    links_of = {joint.name: (0,) * joint.coordinates for joint in model.joints.values()} | links_of  # 0: closes a loop
    joint_rows = {name: n for n, name in enumerate(model.joints)}
    entries: list[NDArray[np.int64]] = []
    values: list[Array] = []
    for load in sorted(model.loads.values(), key=lambda load: load.name):
        if isinstance(load, Damper):
            links = links_of[load.joint.name]
            rows = _damper_rows(load, links, row, start_axes, load.joint.name in backwards)
        else:
            rows = [_row(load, row, links_of, functions)]
        for entry, numbers in rows:
            if isinstance(load, Damper | Motor | TorsionSpring):
                entry[t.LOAD_B] = joint_rows[load.joint.name]
            entries.append(entry)
            values.append(numbers)
    table = np.array(entries or np.zeros((0, t.LOAD_COLUMNS)), np.int64).reshape(-1, t.LOAD_COLUMNS)
    numbers = np.array(values or np.zeros((0, t.LOAD_VALUE_COLUMNS))).reshape(-1, t.LOAD_VALUE_COLUMNS)
    # Those on joints that close loops have no coordinate of the state, and act on the bodies.
    on_coordinates = (table[:, t.LOAD_KIND] < t.FORCE) & ~np.isin(table[:, t.LOAD_B], closing)
    order = np.argsort(on_coordinates, kind="stable")
    return table[order], numbers[order], *functions.tables(), int(np.count_nonzero(~on_coordinates)), drives


def _row(
    load: Load, row: dict[str, int], links_of: dict[str, tuple[int, ...]], functions: Functions
) -> tuple[NDArray[np.int64], Array]:
    """The row of one load in both tables."""
    entry, values = np.zeros(t.LOAD_COLUMNS, np.int64), np.zeros(t.LOAD_VALUE_COLUMNS)
    entry[t.LOAD_B] = -1
    if isinstance(load, Force | Torque):
        entry[t.LOAD_A], entry[t.IN_BODY_AXES] = row[load.body.name], load.frame == "body"
        if isinstance(load, Force):
            entry[t.LOAD_KIND] = t.FORCE
            entry[t.FUNCTION] = functions.vector(f'force "{load.name}"', load.force)
            values[t.AT_A : t.AT_A + 3] = _fixed_in(load.body, load.at)
        else:
            entry[t.LOAD_KIND] = t.TORQUE
            entry[t.FUNCTION] = functions.vector(f'torque "{load.name}"', load.torque)
    elif isinstance(load, Spring):
        entry[[t.LOAD_KIND, t.LOAD_A, t.LOAD_B]] = t.SPRING, row[load.a.name], row[load.b.name]
        values[t.AT_A : t.AT_A + 3], values[t.AT_B : t.AT_B + 3] = (
            _fixed_in(load.a, load.at_a),
            _fixed_in(load.b, load.at_b),
        )
        values[[t.STIFFNESS, t.LENGTH, t.DAMPING]] = load.stiffness, load.length, load.damping
    elif isinstance(load, TorsionSpring):
        entry[[t.LOAD_KIND, t.LOAD_A]] = t.JOINT_SPRING, links_of[load.joint.name][0]
        values[[t.STIFFNESS, t.LENGTH, t.DAMPING]] = load.stiffness, load.rest, load.damping
    elif isinstance(load, Motor):
        entry[[t.LOAD_KIND, t.LOAD_A]] = t.MOTOR, links_of[load.joint.name][0]
        entry[t.FUNCTION] = functions.scalar(f'motor "{load.name}"', load.torque)
    else:
        _put_law(load, entry, values, row)
    return entry, values


def _fixed_in(body: Anchor, point: Array) -> Array:
    """A point of the world at t = 0, in the body's axes from its centre of mass."""
    return body.rotation.T @ (point - body.position)


def _damper_rows(
    load: Damper, links: tuple[int, ...], row: dict[str, int], start_axes: dict[int, Array], backwards: bool
) -> list[tuple[NDArray[np.int64], Array]]:
    """One row per coordinate, but one for the three of relative spin, in b's axes, and one for flight, in a's."""
    joint, c = load.joint, load.damping
    if joint.kind in ("spherical", "free"):
        dampers = [(t.SPIN_DAMPER, joint.b, c[:3]), (t.FLIGHT_DAMPER, joint.a, c[3:])][: len(c) // 3]
    else:
        dampers = [(t.JOINT_DAMPER, None, (value,)) for value in c]
    rows: list[tuple[NDArray[np.int64], Array]] = []
    for n, (kind, body, coefficients) in enumerate(dampers):
        entry, values = np.zeros(t.LOAD_COLUMNS, np.int64), np.zeros(t.LOAD_VALUE_COLUMNS)
        entry[[t.LOAD_KIND, t.LOAD_A, t.BACKWARDS]] = kind, links[min(n, len(links) - 1)], backwards
        if body is None:
            entry[t.COORDINATE], values[t.DAMPING] = n, coefficients[0]
        else:
            values[t.DAMPED_AXES : t.DAMPED_AXES + 9] = (start_axes[row[body.name]].T @ body.rotation).ravel()
            values[t.PARAMETER : t.PARAMETER + 3] = coefficients
        rows.append((entry, values))
    return rows


def _put_law(load: UserLoad, entry: NDArray[np.int64], values: Array, row: dict[str, int]) -> None:
    count = len(load.parameters)
    entry[[t.LOAD_KIND, t.LOAD_A, t.PARAMETERS]] = t.USER_LOAD, row[load.bodies[0].name], count
    if len(load.bodies) == 2:
        entry[t.LOAD_B] = row[load.bodies[1].name]
    values[t.PARAMETER : t.PARAMETER + count] = load.parameters
    signature = law_signature(float64, len(load.bodies), count)
    entry[t.LAW] = compiled_address(f'load "{load.name}"', load.law.function, signature)
    entry[t.FUNCTION] = address(apply_law, apply_law_signature(float64))


def with_laws_for(scalar: Any, model: Model, mechanism: t.Mechanism) -> t.Mechanism:
    """The same mechanism, its user-written laws and expressions compiled for another scalar type."""
    loads = mechanism.loads.copy()
    laws = (load for load in sorted(model.loads.values(), key=lambda load: load.name) if isinstance(load, UserLoad))
    for n, load in zip(np.flatnonzero(loads[:, t.LOAD_KIND] == t.USER_LOAD), laws, strict=True):
        signature = law_signature(scalar, len(load.bodies), len(load.parameters))
        loads[n, t.LAW] = compiled_address(f'load "{load.name}"', load.law.function, signature)
        loads[n, t.FUNCTION] = address(apply_law, apply_law_signature(scalar))
    functions = mechanism.functions.copy()
    expressions = functions[:, FUNCTION_KIND] == EXPRESSION
    if expressions.any():
        functions[expressions, ADDRESS] = address(run_program, program_signature(scalar))
    return mechanism._replace(loads=loads, functions=functions)
