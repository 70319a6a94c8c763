"""Collocation methods: Gauss and Radau share their stages, the iteration for them, and the step.

The unknowns are the rates W_i at the stages; where the equations are of second order only the accelerations are, since
the velocities follow from them. Fixed-point iteration W <- f(Y(W)) starts from the polynomial through the rates of the
steps before. Where it does not contract fast, Newton's does (methods/stage_newton.py).
"""

import math
from typing import Any, NamedTuple

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.methods.explicit import add_with_carry
from poinsot.methods.stages import put_stages, put_step
from poinsot.methods.stepping import (
    ATOL,
    EVALUATIONS,
    FIXED_STEP,
    FRESH,
    ITERATIONS,
    LEAST,
    NEWTON_STEPS,
    NEWTON_WANTED,
    NOT_CONVERGED,
    NOT_FINITE,
    RTOL,
    RUNNING,
    TIME,
    copy,
    finite,
    rates_of,
)
from poinsot.scalars import borrow

# How the stages are solved for.
AUTOMATIC, FIXED_POINT, NEWTON = range(3)
# Entries of `notes`: Newton's iteration is on; age of its Jacobian (1: new, 0: none, -1: none good enough, so that one
# is made at the middle stage, ∞: one to be kept); the step of its factors; the slowest contraction of the last step;
# how many stages are remembered.
ON, AGE, FACTORED, CONTRACTION, REMEMBERED = range(5)
NOTES = 5
# Iterations at the most, and what two of them may leave of a change, because contractions vary from one to the next.
# Beyond WEAK Newton's gets a new Jacobian; beyond SLOW fixed-point iteration gives way to it; beyond STAYS a change
# that may be rounding is; beyond STUCK an iteration is given up.
MOST_FIXED_POINT, MOST_NEWTON, WEAK, SLOW, STAYS, STUCK = 100, 50, 0.1, 0.25, 0.5, 0.9
# Of the largest velocity (at least a thousandth): a change that is rounding, and one that may be, if it stays.
ROUNDING, STALLED, LEAST_SIZE = 2.3e-16, 1e-10, 1e-3
# The same near a singular position, where rounding grows across the constraints, and the projection removes it.
ACROSS_CONSTRAINTS = 1e-3
# Where constraints are on positions, these are divided by the step, and so is rounding in the largest of them.
POSITION_ROUNDING = 1e-14
# Adaptive steps iterate to this part of the tolerance.
PART_OF_TOLERANCE = 1e-3

_call = pointer_call(lambda *arguments: types.int64(*arguments))
_residual = pointer_call(lambda *arguments: types.void(*arguments))


class Method(NamedTuple):
    """A collocation method: its tableau, and how the stages are moved and solved for."""

    a: Any
    b: Any  # one row
    c: Any
    order: Any  # of dexp_inv on the group, or NUMBERS
    velocities: Any  # their number where the equations are of second order, else 0
    velocity_row: Any  # the first of them in the state
    iteration: Any
    tolerance: Any  # of the iteration; 0 stands for rounding
    reach: Any  # how many past stages the prediction uses
    constraints: Any  # their number; -1 where the problem is an ordinary differential equation
    index: Any
    correct: Any  # address of Newton's correction, 0 until it is compiled
    estimate: Any  # address of the error estimate, 0 where there is none


class Memory(NamedTuple):
    """Views of one column, or of one column per stage; after a DAE's state stand its accelerations and multipliers."""

    state: Any
    carry: Any
    new: Any
    new_carry: Any
    between: Any
    rates: Any  # at the state
    new_rates: Any
    stage: Any
    stage_rates: Any
    acceleration: Any
    multiplier: Any
    residual: Any
    y: Any  # stages
    w: Any  # their rates in the algebra
    u: Any  # their increments on the group
    multipliers: Any
    defect: Any
    past: Any  # rates, and multipliers below them, of the stages of the steps before
    past_times: Any
    ring: Any
    increment: Any
    slopes: Any
    aside: Any
    notes: Any


@routine
def attempt(system, method, memory, solver, clock, counts, h, theta):
    """Solve for the stages, and put the new point and the error estimate."""
    notes = memory.notes
    if counts[FRESH] == 1:
        know_the_start(system, method, memory, clock, counts)
    newton = newton_is_on(method, memory)
    status = iterate(system, method, memory, solver, clock, counts, h, newton)
    if status != RUNNING and not newton and method.iteration == AUTOMATIC:
        if method.correct == 0:
            return NEWTON_WANTED
        notes[ON], newton = 1.0, True
        status = iterate(system, method, memory, solver, clock, counts, h, newton)
    if status != RUNNING and newton and (notes[AGE] > 1.0 or notes[REMEMBERED] > 0.0):
        notes[AGE] = notes[REMEMBERED] = 0.0  # the past misleads where the motion changes suddenly
        status = iterate(system, method, memory, solver, clock, counts, h, newton)
    if status != RUNNING:
        return status
    put_stages(system.blocks, method, memory, h)
    put_step(system.blocks, method, memory, h, memory.between)
    add_with_carry(memory.state, memory.carry, memory.between, memory.new, memory.new_carry)
    if method.constraints >= 0:
        put_last_multipliers(method, memory, memory.new)
    if not finite(memory.new):
        return NOT_FINITE
    if method.estimate == 0 or clock[FIXED_STEP] > 0.0:
        return RUNNING
    return _call(method.estimate, system, method, memory, solver, clock, counts, h, theta)


@routine
def accept(system, method, memory, solver, clock, counts, h, theta):
    """The new point is the state; its stages are remembered, the two steps before at the most."""
    stages, notes, past = method.a.shape[0], memory.notes, memory.past
    keep = method.reach - stages
    for i in range(past.shape[0]):
        for s in range(keep):
            past[i, s] = past[i, s + stages]
        for s in range(stages):
            multiplier = i - memory.w.shape[0]
            past[i, keep + s] = memory.w[i, s] if multiplier < 0 else memory.multipliers[multiplier, s]
    for s in range(keep):
        memory.past_times[s] = memory.past_times[s + stages]
    for s in range(stages):
        memory.past_times[keep + s] = clock[TIME] + method.c[s] * h
    notes[REMEMBERED] = min(float(method.reach), (0.0 if counts[FRESH] != 0 else notes[REMEMBERED]) + stages)
    notes[AGE] += 1.0 if notes[AGE] > 0.0 else 0.0
    if newton_is_on(method, memory):
        counts[NEWTON_STEPS] += 1
    for i in range(memory.rates.shape[0]):
        memory.rates[i, 0] = memory.w[i, stages - 1]  # at the new point where it is a stage (Radau)
    copy(memory.new, memory.state)
    copy(memory.new_carry, memory.carry)
    return RUNNING


@kernel
def know_the_start(system, method, memory, clock, counts):
    """The rates at a state before which nothing is known."""
    if method.constraints < 0:
        rates_of(system, clock[TIME], memory.state, memory.rates)
        counts[EVALUATIONS] += 1
    else:
        n = method.velocities
        for i in range(n):
            memory.rates[i, 0] = memory.state[method.velocity_row + i, 0]
            memory.rates[n + i, 0] = memory.state[method.velocity_row + n + i, 0]
    counts[FRESH] = 2


@kernel
def newton_is_on(method, memory):
    """Whether the stages are solved for by Newton's iteration."""
    return method.iteration == NEWTON or memory.notes[ON] != 0.0


@kernel
def put_last_multipliers(method, memory, point):
    """Accelerations and multipliers at the last stage, which is the step's end, behind the state there."""
    n, last = method.velocities, method.a.shape[0] - 1
    first = method.velocity_row + n
    for i in range(n):
        point[first + i, 0] = memory.w[n + i, last]
    for i in range(method.constraints):
        point[first + n + i, 0] = memory.multipliers[i, last]


@kernel
def predict(method, memory, clock, counts, h):
    """The stages' rates from the polynomial through the remembered ones; without any, those at the state."""
    known = 0 if counts[FRESH] != 0 else int(memory.notes[REMEMBERED])
    first, rows = method.reach - known, memory.w.shape[0]
    for s in range(method.a.shape[0]):
        time = clock[TIME] + method.c[s] * h
        for i in range(rows):
            memory.w[i, s] = memory.rates[i, 0] if known == 0 else 0.0
        for i in range(method.constraints):
            behind = method.velocity_row + 2 * method.velocities + i
            memory.multipliers[i, s] = memory.state[behind, 0] if known == 0 else 0.0
        for k in range(first, method.reach):
            weight = 1.0
            for j in range(first, method.reach):
                if j != k:
                    here, there = memory.past_times[k], memory.past_times[j]
                    weight *= (time - there) / (here - there)
            for i in range(rows):
                memory.w[i, s] += weight * memory.past[i, k]
            for i in range(method.constraints):
                memory.multipliers[i, s] += weight * memory.past[rows + i, k]


@routine
def iterate(system, method, memory, solver, clock, counts, h, newton):
    """Iterate for the stages' rates until the changes of the stages are below the tolerance, or rounding."""
    predict(method, memory, clock, counts, h)
    before = previous = math.inf
    renewable, renewals = newton and memory.notes[AGE] < math.inf, 0
    near, contraction = False, 0.0
    memory.notes[AGE] = max(memory.notes[AGE], 0.0)
    stalled = ACROSS_CONSTRAINTS if clock[LEAST] > 0.0 else STALLED
    of_positions = position_rounding(method, memory, h)
    for n in range(MOST_NEWTON if newton else MOST_FIXED_POINT):
        put_stages(system.blocks, method, memory, h)
        put_defects(system, method, memory, clock, h)
        counts[EVALUATIONS] += method.a.shape[0]
        counts[ITERATIONS] += 1
        if newton:
            status = _call(method.correct, system, method, memory, solver, clock, counts, h, 1.0)
            if status != RUNNING:
                return status
        change = abs(h) * add_defects(method, memory)
        if not change < math.inf:
            return NOT_CONVERGED if n > 0 else NOT_FINITE
        size = max(LEAST_SIZE, largest_velocity(method, memory))
        if n > 0:
            contraction = max(contraction, change / previous)
        near = change <= stalled * size + of_positions
        if change <= limit(method, clock, size) or (near and change > STAYS * before):
            memory.notes[CONTRACTION] = contraction
            return RUNNING
        weak, stuck = change > WEAK * before, change > patience(method, newton) * before
        if stuck and not near and not (renewable and renewals == 0):
            return NOT_CONVERGED
        before, previous = previous, change
        if renewable and weak and not near:
            memory.notes[AGE], contraction, renewals = -1.0, 0.0, renewals + 1
            before = previous = math.inf
    return RUNNING if near else NOT_CONVERGED


@kernel
def patience(method, newton):
    """What two iterations may leave of a change."""
    return STUCK if newton or method.iteration != AUTOMATIC else SLOW


@kernel
def limit(method, clock, size):
    """The change below which the iteration ends."""
    if method.tolerance > 0.0:
        return method.tolerance * max(1.0, size)
    if clock[FIXED_STEP] > 0.0:
        return ROUNDING * size
    return max(ROUNDING * size, PART_OF_TOLERANCE * (clock[ATOL] + clock[RTOL] * size))


@kernel
def put_defects(system, method, memory, clock, h):
    """What the equations of motion miss at each stage: f(Y) - W, of a DAE its negative residual."""
    free, n = method.velocities, memory.w.shape[0] - method.velocities
    for s in range(method.a.shape[0]):
        time = clock[TIME] + method.c[s] * h
        for i in range(memory.stage.shape[0]):
            memory.stage[i, 0] = memory.y[i, s]
        if method.constraints < 0:
            rates_of(system, time, memory.stage, memory.stage_rates)
            for i in range(n):
                memory.defect[i, s] = memory.stage_rates[free + i, 0] - memory.w[free + i, s]
        else:
            for i in range(n):
                memory.acceleration[i, 0] = memory.w[free + i, s]
            for i in range(method.constraints):
                memory.multiplier[i, 0] = memory.multipliers[i, s]
            _residual(
                system.rates, system.mechanism, time, borrow(memory.stage), borrow(memory.acceleration),
                borrow(memory.multiplier), borrow(system.work), borrow(memory.residual),
            )  # fmt: skip
            here = n + method.constraints * (3 - method.index)
            for i in range(n):
                memory.defect[i, s] = -memory.residual[i, 0]
            for i in range(method.constraints):
                memory.defect[n + i, s] = -memory.residual[here + i, 0]


@kernel
def add_defects(method, memory):
    """Add the corrections to the unknowns; return the largest of a rate."""
    free, n, largest = method.velocities, memory.w.shape[0] - method.velocities, 0.0
    for s in range(method.a.shape[0]):
        for i in range(n):
            size = abs(memory.defect[i, s])
            largest = size if size > largest or size != size else largest
            memory.w[free + i, s] += memory.defect[i, s]
        for i in range(method.constraints):
            memory.multipliers[i, s] += memory.defect[n + i, s]
    return largest


@kernel
def position_rounding(method, memory, h):
    """What rounding in positions makes of velocities where constraints are on positions."""
    largest = 0.0
    for i in range(method.velocity_row if method.index == 3 else 0):
        largest = max(largest, abs(memory.state[i, 0]))
    return POSITION_ROUNDING * largest / abs(h)


@kernel
def largest_velocity(method, memory):
    """The size of what the unknown rates change: velocities, or the whole state."""
    first = method.velocity_row if method.velocities > 0 else 0
    last, largest = memory.stage.shape[0], 0.0
    for i in range(first, last):
        largest = max(largest, max(abs(memory.state[i, 0]), abs(memory.y[i, method.a.shape[0] - 1])))
    return largest
