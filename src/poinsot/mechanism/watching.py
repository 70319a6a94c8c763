"""Events that the loop watches without Python: expressions of time and outputs, evaluated after every step.

An expression is a postfix program whose numbers are constants or outputs; the outputs are written into the program
before it runs. Two rows of values are kept: those at the beginning of a step and those at its end.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import float64

from poinsot._jit import kernel, pointer_call, routine
from poinsot.mechanism.functions import OPERAND, program_signature
from poinsot.mechanism.record import record
from poinsot.scalars import borrow

# Columns of `events`: the first row of the program and its length (0 for a Python function), the wanted direction,
# whether the event restarts the motion.
FIRST, LENGTH, DIRECTION, RESTARTS = range(4)
# Columns of `readings`: the row of `program` that an output goes to, and which table, row and column it is from.
PROGRAM_ROW, TABLE, ROW, COLUMN = range(4)
BODIES, JOINTS, TOTALS = range(3)
# Rows of `values`.
NOW, THEN = range(2)

_run = pointer_call(program_signature(float64))


class Watching(NamedTuple):
    """Addresses and tables of all that is watched; the types are the same for every mechanism."""

    address: Any  # of `happens`; 0 where nothing is watched
    report: Any  # of the problem's report
    run: Any  # of run_program
    always: Any  # 1 where Python has to look after every step
    events: Any  # (events, 4)
    readings: Any  # (readings, 4)
    program: Any  # (operations, 2)
    stack: Any  # (1, columns)
    values: Any  # (2, events)
    times: Any  # (1,), and below what `record` reads and writes for one instant
    states: Any
    state: Any
    rate: Any
    bodies: Any
    joints: Any
    totals: Any


def nothing():
    """What a loop is given where nothing is watched."""
    counts, table, tables = np.zeros((0, 4), np.int64), np.zeros((0, 1)), np.zeros((0, 0, 0))
    return Watching(
        0, 0, 0, 0, counts, counts, table, table, table, np.zeros(0), table, table, table, tables, tables, table
    )


@routine
def happens(system, watching, time, state, rejected):
    """1 where Python has to look at a step that ends here; else 0, and the next one begins here.

    In a step that was rejected only events that restart count: what jumps there may be why.
    """
    put_values(system, watching, time, state)
    values, looked_for = watching.values, watching.always != 0
    for e in range(watching.events.shape[0]):
        now, then, direction = values[NOW, e], values[THEN, e], watching.events[e, DIRECTION]
        rising = now < 0.0 and then >= 0.0 and direction >= 0
        falling = now > 0.0 and then <= 0.0 and direction <= 0
        if rejected == 0 or watching.events[e, RESTARTS] != 0:
            looked_for = looked_for or rising or falling or (then != then and rejected == 0)
    if not looked_for and rejected == 0:
        for e in range(watching.events.shape[0]):
            values[NOW, e] = values[THEN, e]
    return 1 if looked_for else 0


@routine
def put_values(system, watching, time, state):
    """The values of all expressions; the tables of outputs, where any are read."""
    if watching.always != 0 or watching.readings.shape[0] > 0:
        put_outputs(system, watching, time, state)
    for e in range(watching.events.shape[0]):
        if watching.events[e, LENGTH] > 0:
            watching.values[THEN, e] = _run(
                watching.run, borrow(watching.program), watching.events[e, FIRST], watching.events[e, LENGTH],
                time, 0.0, 0.0, borrow(watching.stack),
            )  # fmt: skip


@kernel
def put_outputs(system, watching, time, state):
    """Everything that a run records of one instant; what the programs read of it goes into them."""
    w, readings = watching, watching.readings
    w.times[0] = time
    for i in range(w.states.shape[1]):
        w.states[0, i] = state[i, 0]
    record(
        system.observe, w.report, system.mechanism, system.blocks, w.times, w.states, w.state, system.work, w.rate,
        w.bodies, w.joints, w.totals,
    )  # fmt: skip
    for n in range(readings.shape[0]):
        table, row, column = readings[n, TABLE], readings[n, ROW], readings[n, COLUMN]
        if table == BODIES:
            value = w.bodies[0, row, column]
        elif table == JOINTS:
            value = w.joints[0, row, column]
        else:
            value = w.totals[0, column]
        w.program[readings[n, PROGRAM_ROW], OPERAND] = value
