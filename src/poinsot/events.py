"""Events: functions of time and outputs whose zeros are located, recorded, and may end the motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numba import float64, int64, typeof

from poinsot._jit import address
from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism import watching as w
from poinsot.mechanism.functions import NUMBER, OPERAND, OPERATIONS, program_signature, run_program
from poinsot.methods.stepping import system_of
from poinsot.model.checks import show
from poinsot.model.event import WatchedEvent
from poinsot.model.expression import DEEPEST_STACK
from poinsot.outputs import Outputs
from poinsot.problem import Array, ManifoldODE, Solution, Watch
from poinsot.recording import named, recorded, report_tables
from poinsot.run import Happening
from poinsot.scalars import BorrowedType

# Where in the tables an output begins. Components follow each other.
PLACES = {
    "position": (w.BODIES, t.POSITION),
    "velocity": (w.BODIES, t.VELOCITY),
    "angular_velocity": (w.BODIES, t.ANGULAR_VELOCITY),
    "acceleration": (w.BODIES, t.ACCELERATION),
    "angular_acceleration": (w.BODIES, t.ANGULAR_ACCELERATION),
    "joint_position": (w.JOINTS, t.JOINT_POSITION),
    "joint_velocity": (w.JOINTS, t.JOINT_VELOCITY),
    "reaction_force": (w.JOINTS, t.REACTION_FORCE),
    "reaction_torque": (w.JOINTS, t.REACTION_TORQUE),
    "kinetic_energy": (w.TOTALS, t.KINETIC_ENERGY),
    "potential_energy": (w.TOTALS, t.POTENTIAL_ENERGY),
    "energy": (w.TOTALS, t.ENERGY),
    "linear_momentum": (w.TOTALS, t.LINEAR_MOMENTUM),
    "angular_momentum": (w.TOTALS, t.ANGULAR_MOMENTUM),
    "position_error": (w.TOTALS, t.POSITION_ERROR),
    "velocity_error": (w.TOTALS, t.VELOCITY_ERROR),
    "rotation_error": (w.TOTALS, t.ROTATION_ERROR),
}
# A value at t = 0 of so many times the largest number in its expression is a zero that rounding has moved.
ROUNDING = 16.0 * float(np.finfo(float).eps)


def watch(problem: ManifoldODE, events: tuple[WatchedEvent, ...]) -> Watch | None:
    """The events as a method watches them."""
    if not events:
        return None
    tables = report_tables(problem, 1)
    watching = _tables(problem, events)._replace(bodies=tables[0], joints=tables[1], totals=tables[2])
    system = system_of(problem)
    signature = int64(typeof(system), typeof(watching), float64, BorrowedType(float64), int64)
    watching = watching._replace(address=address(w.happens, signature))
    at_once = {name: values[0] for name, values in named(problem, *tables).items()}
    outputs = Outputs(list(problem.layout.bodies), list(problem.layout.joints), at_once)
    functions = [(place, each.name, each.function) for place, each in enumerate(events) if each.function is not None]

    def values(time: float, state: Array) -> Array:
        w.put_values(system, watching, time, state)
        found = watching.values[w.THEN]
        for place, name, function in functions:
            found[place] = _result(name, function, time, outputs)
        for place in np.flatnonzero(np.isnan(found)):
            raise PoinsotError(
                f'event "{events[place].name}": its value at t = {time:.9g} s is not a number; '
                "write it so that it has one all the time"
            )
        return found.copy()

    def first_values(state: Array) -> Array:
        found = values(0.0, state)
        for place in range(len(events)):
            numbers = [watching.program[row, OPERAND] for row in _rows(watching, place)] or [1.0]
            if abs(found[place]) <= ROUNDING * max(map(abs, numbers)):
                found[place] = 0.0
        return found

    first_values(problem.initial)  # what is wrong with a function at t = 0 shows before time runs
    return Watch(
        watching,
        values,
        first_values,
        np.array([each.event.sign for each in events]),
        np.array([each.event.terminal for each in events]),
        np.array([each.event.restart for each in events]),
    )


def occurred(problem: ManifoldODE, events: tuple[WatchedEvent, ...], solution: Solution) -> tuple[Happening, ...]:
    """What happened, as a Run holds it."""
    times = np.array([each.time for each in solution.occurrences])
    states = np.array([each.state for each in solution.occurrences] or np.zeros((0, problem.n_states)))
    arrays = recorded(problem, times, states)
    bodies, joints = list(problem.layout.bodies), list(problem.layout.joints)
    drives = list(problem.layout.model.drives)
    return tuple(
        Happening(
            events[each.event].name,
            each.time,
            Outputs(bodies, joints, {name: values[n] for name, values in arrays.items()}, drives),
        )
        for n, each in enumerate(solution.occurrences)
    )


def ending(events: tuple[WatchedEvent, ...], solution: Solution) -> dict[str, Any]:
    """The settings that say which events were watched, and which of them ended the motion, if any did."""
    if not events:
        return {}
    ended_by = [events[each.event].name for each in solution.occurrences if events[each.event].event.terminal]
    return {"events": [each.name for each in events]} | ({"ended_by": ended_by} if ended_by else {})


def _tables(problem: ManifoldODE, events: tuple[WatchedEvent, ...]) -> w.Watching:
    """The programs one below the other, and where the outputs go that they read."""
    program: list[tuple[float, float]] = []
    rows: list[tuple[int, int, int, int]] = []
    readings: list[tuple[int, int, int, int]] = []
    for each in events:
        rows.append((len(program), len(each.program), each.event.sign, each.event.restart))
        for operation, operand in each.program:
            if operation == "output":
                reading = each.readings[int(operand or 0.0)]
                table, column = PLACES[reading.output]
                readings.append((len(program), table, reading.row, column + reading.component))
            number = NUMBER if operation == "output" else OPERATIONS.index(operation)
            program.append((number, 0.0 if operation == "output" else operand or 0.0))
    return w.nothing()._replace(
        report=problem.report,
        run=address(run_program, program_signature(float64)) if program else 0,
        always=int(any(each.function is not None for each in events)),
        events=np.array(rows, np.int64),
        readings=np.array(readings, np.int64).reshape(-1, 4),
        program=np.array(program, np.float64).reshape(-1, 2),
        stack=np.zeros((1, DEEPEST_STACK)),
        values=np.zeros((2, len(events))),
        times=np.zeros(1),
        states=np.zeros((1, problem.n_states)),
        state=np.zeros((problem.n_states, 1)),
        rate=np.zeros((problem.n_rates, 1)),
    )


def _rows(watching: w.Watching, place: int) -> list[int]:
    """The rows of a program that hold numbers."""
    first, length = watching.events[place, w.FIRST], watching.events[place, w.LENGTH]
    return [row for row in range(first, first + length) if watching.program[row, 0] == NUMBER]


def _result(name: str, function: Callable[[float, Any], Any], time: float, outputs: Outputs) -> float:
    """What a user's function returns, or one sentence on what is wrong with it."""
    try:
        result = function(time, outputs)
    except Exception as error:
        reason = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise PoinsotError(
            f'event "{name}": the function failed at t = {time:.9g} s with {type(error).__name__}: {reason}; '
            "it must return a number for every state"
        ) from error
    if type(result) is float:
        return result
    if isinstance(result, np.ndarray) and result.ndim == 0:
        result = result.item()
    if not isinstance(result, Real) or isinstance(result, bool | np.bool_):
        raise PoinsotError(
            f'event "{name}": the function returned {show(result)} at t = {time:.9g} s; return one real number'
        )
    return float(result) if result == result else math.nan
