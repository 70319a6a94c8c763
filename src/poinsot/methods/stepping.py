"""The loop that every method runs in: fixed or controlled steps, outputs within them, and a stop where events may be.

A method brings three kernels, called by address: `attempt` a step of length h from memory.state to memory.new, `accept`
it, and `interpolate` the state at a fraction of it into memory.between. The loop returns now and then so that Python
can show progress, be interrupted, or look for events. Step control is that of Hairer, Nørsett, Wanner, Solving Ordinary
Differential Equations I, II.4, and Hairer and Wanner II, IV.2.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.manifold import coordinate_rates, normalise
from poinsot.scalars import borrow, lend

# Entries of `clock`. TRIED and TRIED_END are the length and the end of the step that has been attempted.
TIME, NEXT_STEP, START, END, FIXED_STEP, RTOL, ATOL, ERROR, LAST_ERROR, TRIED, TRIED_END = range(11)
EXPONENT, DAMPING, KEEP = range(11, 14)
# Where a singular position is near: a step that is short enough for the motion through it; 0 elsewhere. ACCEPTED: the
# length of the last step.
LEAST, ACCEPTED = range(14, 16)
CLOCK = 16
# Entries of `counts`. GRID: how many steps of fixed length lie behind; PENDING: an attempted step waits to be
# accepted; WATCHED is 1 where events are watched, 2 where they are in rejected steps, too; FRESH is 1 where nothing is
# known of the steps before, 2 where the rates at the state are; RESTART asks for that after the step; DENSE says that
# the interpolant of the step is ready; REASON is why the last attempt failed; DECOMPOSITIONS
# counts how often what the state's coordinates mean has been chosen anew.
STEPS, EVALUATIONS, REJECTED, ITERATIONS, FACTORIZATIONS, NEWTON_STEPS = range(6)
STORED, NORMALISE, GRID, PENDING, WATCHED, FRESH, RESTART, DENSE, REASON, DECOMPOSITIONS = range(6, 16)
COUNTS = 16
# What the loop and the attempts return.
RUNNING, DONE, FULL, WATCH, NOT_FINITE, STEP_TOO_SMALL, NOT_CONVERGED, SINGULAR, NEWTON_WANTED = range(9)
OPENED, RECONSIDER, NEAR_SINGULAR, AT_SINGULAR, RENEWED = range(9, 14)

# Step control: the part of the tolerance aimed at, and how much a step may shrink or grow at once.
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
# A last step that would leave less than this fraction of itself is stretched or cut to end at the end.
STRETCH = 0.01
# Near a singular position: the part of the step that came there which is short enough, and the largest relative error
# of a step that may be rounding across the constraints. How much is changed where it is only bad luck that a step ends,
# or has a stage, so near.
SHORTEST, ACROSS, ASIDE = 0.125, 1e-6, 0.8

_rates = pointer_call(lambda *arguments: types.void(*arguments))
_step = pointer_call(lambda *arguments: types.int64(*arguments))
_project = pointer_call(lambda *arguments: types.int64(*arguments))
_happens = pointer_call(lambda *arguments: types.int64(*arguments))


class System(NamedTuple):
    """What is integrated: the address of the rates (of a residual, for a DAE), and what they read and write.

    `project` is the address of what brings a state back onto its constraints (0: nothing does), with room for it;
    `renew` that of what chooses its coordinates anew, `observe` that of what comes before a report (problem.py).
    All views are lent (scalars/borrowed.py): references would be counted in every call.
    """

    rates: Any
    mechanism: Any
    blocks: Any
    work: Any
    project: Any
    renew: Any
    observe: Any
    room: Any  # two columns of velocities
    kept: Any


def system_of(problem: Any) -> System:
    """What a method integrates of a problem."""
    call = problem.residual if hasattr(problem, "residual") else problem.rates
    room, kept = (lend(np.zeros((problem.n_rates, 1))) for _ in range(2))
    observe = problem.observe or call
    return System(
        call, problem.mechanism, problem.blocks, problem.work, problem.project, problem.renew, observe, room, kept
    )


class Calls(NamedTuple):
    """The addresses of a method's kernels; each takes (system, method, memory, solver, clock, counts, h, theta).

    `solver` is what a method needs to solve equations, an empty tuple where it solves none.
    """

    attempt: Any
    accept: Any
    interpolate: Any


class Output(NamedTuple):
    """Where results go: asked times (none: every step), recorded states, one per row, and their times."""

    asked: Any
    states: Any
    times: Any


@routine
def advance(calls, system, method, memory, solver, output, watching, clock, counts, limit):
    """Take at most `limit` steps from the state at clock[TIME]."""
    for _ in range(limit):
        if counts[PENDING] == 0:
            if clock[TIME] >= clock[END]:
                return DONE
            if counts[STORED] == output.times.shape[0] and output.asked.shape[0] == 0:
                return FULL
            h, end = next_step(clock, counts)
            if h <= 8e-16 * abs(clock[TIME]):
                return counts[REASON]
            status = _step(calls.attempt, system, method, memory, solver, clock, counts, h, 1.0)
            if status == NEWTON_WANTED or (status != RUNNING and clock[FIXED_STEP] > 0.0):
                return status
            rejected = not stands(clock, status, h)
            jumped = rejected and status == RUNNING and counts[WATCHED] == 2
            if rejected and not (
                jumped and _happens(watching.address, system, watching, end, borrow(memory.new), 1) != 0
            ):
                reject(clock, counts, h, status)
                continue
            clock[TRIED], clock[TRIED_END] = h, end
            if jumped or (
                counts[WATCHED] != 0 and _happens(watching.address, system, watching, end, borrow(memory.new), 0) != 0
            ):
                counts[PENDING] = 1
                return WATCH
        status = finish_step(calls, system, method, memory, solver, output, clock, counts)
        if status == AT_SINGULAR or (status == OPENED and clock[FIXED_STEP] == 0.0):  # a shorter step is nearer to them
            counts[PENDING] = 0
            reject(clock, counts, clock[TRIED], status)
        elif status != RUNNING:
            return status
    return RUNNING


@kernel
def next_step(clock, counts):
    """Length and end of the next step; the last one ends exactly at the end."""
    time, end = clock[TIME], clock[END]
    if clock[FIXED_STEP] > 0.0:
        there = clock[START] + (counts[GRID] + 1) * clock[FIXED_STEP]
        there = end if there > end - nearness(clock, end) else there
    else:
        there = end if clock[NEXT_STEP] * (1.0 + STRETCH) > end - time else time + clock[NEXT_STEP]
    return there - time, there


@kernel
def stands(clock, status, h):
    """Whether an attempt is as exact as is asked.

    On its branch through a singular position a motion is as smooth as elsewhere, and needs no shorter steps. What grows
    there, the more the nearer it is looked at, is rounding across the constraints, which the projection removes.
    """
    if status != RUNNING or clock[ERROR] <= 1.0:
        return status == RUNNING
    return h <= 1.001 * clock[LEAST] and clock[ERROR] * clock[RTOL] <= ACROSS


@kernel
def nearness(clock, time):
    """How far before a point of the grid a step of fixed length is there: rounding, and how well events are located."""
    return min(0.1 * clock[FIXED_STEP], 1e-9 * clock[FIXED_STEP] + 2e-12 * max(1.0, time))


@kernel
def reject(clock, counts, h, status):
    """Choose a shorter step after a failed attempt."""
    counts[REJECTED] += 1
    counts[REASON] = STEP_TOO_SMALL if status == RUNNING else status
    clock[NEXT_STEP] = h * reduction(clock, status)
    if status == RUNNING:
        clock[NEXT_STEP] = max(clock[NEXT_STEP], min(clock[LEAST], ASIDE * h))


@kernel
def reduction(clock, status):
    """The factor of the step after a failed attempt."""
    if status == NOT_CONVERGED:
        return 0.5
    if status == AT_SINGULAR:
        return ASIDE
    if status != RUNNING:
        return SHRINK
    return max(SHRINK, SAFETY * clock[ERROR] ** -clock[EXPONENT])


@routine
def finish_step(calls, system, method, memory, solver, output, clock, counts):
    """Record and accept the attempted step, and choose the next."""
    h, end = clock[TRIED], clock[TRIED_END]
    counts[DENSE] = 0
    outcome = record_step(calls, system, method, memory, solver, output, clock, counts, h, end)
    if outcome != RUNNING and outcome != RECONSIDER:
        return outcome
    _step(calls.accept, system, method, memory, solver, clock, counts, h, 1.0)
    clock[TIME], clock[ACCEPTED] = end, h
    counts[STEPS] += 1
    counts[FRESH] = counts[RESTART]
    counts[PENDING] = counts[RESTART] = 0
    counts[REASON] = STEP_TOO_SMALL
    if clock[FIXED_STEP] == 0.0:
        control(clock, h)
    else:
        there = clock[START] + (counts[GRID] + 1) * clock[FIXED_STEP]
        if end > there - nearness(clock, there):
            counts[GRID] += 1
    if outcome == RECONSIDER:
        if system.renew != 0:
            counts[DECOMPOSITIONS] += call_project(system, system.renew, end, memory.state)
            return RUNNING
    return outcome


@kernel
def control(clock, h):
    """PI control of the next step after an accepted one; a factor from 1 to KEEP leaves the step as it is."""
    error = min(max(clock[ERROR], 1e-10), 1.0)
    beta = clock[DAMPING] * clock[EXPONENT]
    factor = SAFETY * error ** (0.75 * beta - clock[EXPONENT]) * clock[LAST_ERROR] ** beta
    factor = min(GROW, max(SHRINK, factor))
    clock[NEXT_STEP] = max(h * (1.0 if 1.0 <= factor < clock[KEEP] else factor), clock[LEAST])
    clock[LAST_ERROR] = max(error, 1e-4)


@routine
def record_step(calls, system, method, memory, solver, output, clock, counts, h, end):
    """Record what was asked for within the step, and its end, which is normalised first."""
    asked, stored, near = output.asked, counts[STORED], end - 1e-10 * h
    project = counts[NORMALISE] != 0
    while stored < asked.shape[0] and asked[stored] < near:
        theta = (asked[stored] - clock[TIME]) / h
        status = _step(calls.interpolate, system, method, memory, solver, clock, counts, h, theta)
        if status != RUNNING:
            return status
        if project:
            status = bring_back(system, asked[stored], memory.between)
            if status == OPENED:
                return status
        store(output, stored, asked[stored], memory.between)
        stored += 1
    status = RUNNING
    if project:
        status = bring_back(system, end, memory.new)
        if status == OPENED:
            return status
        if status == AT_SINGULAR and clock[FIXED_STEP] == 0.0 and end < clock[END] and h > 0.5 * clock[LEAST]:
            return status
        near = clock[LEAST] if clock[LEAST] > 0.0 else SHORTEST * max(h, clock[ACCEPTED])
        clock[LEAST] = near if status == NEAR_SINGULAR or status == AT_SINGULAR else 0.0
        if status == RENEWED or status == RECONSIDER:  # the rates at the end of the step are none of the next one's
            counts[RESTART] = 1
        status = RECONSIDER if status == RECONSIDER else RUNNING
    if asked.shape[0] == 0:
        store(output, stored, end, memory.new)
        stored += 1
    while stored < asked.shape[0] and asked[stored] <= end + 1e-10 * h:
        store(output, stored, asked[stored], memory.new)
        stored += 1
    counts[STORED] = stored
    return status


@kernel
def bring_back(system, time, state):
    """Unit lengths, orthogonality and constraints, to rounding."""
    normalise(system.blocks, state)
    if system.project == 0:
        return RUNNING
    answer = call_project(system, system.project, time, state)
    return RUNNING if answer == 0 else OPENED + answer - 1


@kernel
def call_project(system, address, time, state):
    """Call what changes a state in place."""
    return _project(
        address, system.mechanism, system.blocks, time, borrow(state), system.work, system.room, system.kept
    )


@kernel
def store(output, row, time, state):
    """Keep one state and its time."""
    output.times[row] = time
    for i in range(output.states.shape[1]):
        output.states[row, i] = state[i, 0]


@routine
def put_back(system, time, state):
    """The same, for Python."""
    return bring_back(system, time, state)


@routine
def call(address, system, method, memory, solver, clock, counts, h):
    """Attempt, or accept, a step of another length from the same state, where an event is to be located."""
    return _step(address, system, method, memory, solver, clock, counts, h, 1.0)


@kernel
def rates_of(system, time, state, rate):
    """The velocity in the algebra."""
    _rates(system.rates, system.mechanism, time, borrow(state), system.work, borrow(rate))


@kernel
def finite(view):
    """Whether every entry is a finite number."""
    total = 0.0
    for i in range(view.shape[0]):
        total += 0.0 * view[i, 0]
    return total == 0.0


@kernel
def copy(source, target):
    """target = source, views of one column."""
    for i in range(target.shape[0]):
        target[i, 0] = source[i, 0]


@routine
def slope_at(system, time, state, rate, slope):
    """The velocity in the algebra, and the derivatives of the state's numbers."""
    rates_of(system, time, state, rate)
    coordinate_rates(system.blocks, state, rate, slope)
