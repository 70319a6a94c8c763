"""`rk4`, `dopri5`, `dop853`: explicit Runge-Kutta methods on the numbers of the state.

One compiled loop takes many steps, records what is asked for, and returns now and then so that Python can show
progress or be interrupted. Steps are fixed, or follow an error estimate with PI control (Hairer, Nørsett, Wanner,
Solving Ordinary Differential Equations I, II.4; Hairer and Wanner II, IV.2). Outputs between steps come from the
method's own interpolant and do not disturb the steps. After each step quaternions are brought back to unit length.
"""

import math
from typing import Any, NamedTuple

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.manifold import coordinate_rates, normalise

# Entries of `clock`.
TIME, NEXT_STEP, START, END, FIXED_STEP, RTOL, ATOL, LAST_ERROR = range(8)
# Entries of `counts`.
STEPS, EVALUATIONS, REJECTED, STORED, PROJECT = range(5)
# What the loop returns.
RUNNING, DONE, FULL, NOT_FINITE, STEP_TOO_SMALL = range(5)

# Step control: the part of the tolerance aimed at, and how much a step may shrink or grow at once.
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
# A last step that would leave less than this fraction of itself is stretched or cut to end at the end.
STRETCH = 0.01

_rates = pointer_call(lambda *arguments: types.void(*arguments))


class System(NamedTuple):
    """What is integrated: the address of the rates, and what they read and write besides the state."""

    rates: Any
    mechanism: Any
    blocks: Any
    work: Any


class Method(NamedTuple):
    """A tableau's numbers (see methods/tableaus.py)."""

    a: Any
    c: Any
    errors: Any
    dense: Any
    stages: Any
    error_order: Any


class Memory(NamedTuple):
    """Views of the loop: the state and its rates in the algebra, the new state, and room for stages and slopes.

    `carry` is what rounding has cut off the state so far (compensated summation), `new_carry` that of the new one.
    """

    state: Any
    carry: Any
    rates: Any
    new: Any
    new_carry: Any
    stage: Any
    stage_rates: Any
    slope: Any
    k: Any


class Output(NamedTuple):
    """Where results go: asked times (none: every step), recorded states, one per row, and their times."""

    asked: Any
    states: Any
    times: Any


@routine
def advance(system, method, memory, output, clock, counts, limit):
    """Take at most `limit` steps from the state at clock[TIME], where its rates are known."""
    for _ in range(limit):
        if clock[TIME] >= clock[END]:
            return DONE
        if counts[STORED] == output.times.shape[0] and output.asked.shape[0] == 0:
            return FULL
        h, end = next_step(clock, counts)
        if h <= 8e-16 * abs(clock[TIME]):
            return STEP_TOO_SMALL if finite(memory.new) and finite(memory.slope) else NOT_FINITE
        take_stages(system, method, memory, clock[TIME], h)
        counts[EVALUATIONS] += method.stages - 1
        sound = finite(memory.new) and finite(memory.slope)
        error = 0.0
        if clock[FIXED_STEP] == 0.0:
            error = error_norm(method.errors, memory, h, clock[RTOL], clock[ATOL])
        elif not sound:
            return NOT_FINITE
        if not (sound and error <= 1.0):
            counts[REJECTED] += 1
            measured = sound and error < math.inf
            factor = max(SHRINK, SAFETY * error ** (-1.0 / (method.error_order + 1))) if measured else SHRINK
            clock[NEXT_STEP] = factor * h
            continue
        copy(memory.stage_rates, memory.rates)
        record_step(system, method, memory, output, clock, counts, h, end)
        copy(memory.new, memory.state)
        copy(memory.new_carry, memory.carry)
        clock[TIME] = end
        counts[STEPS] += 1
        if clock[FIXED_STEP] == 0.0:
            control(clock, h, error, method.error_order)
    return RUNNING


@kernel
def next_step(clock, counts):
    """Length and end of the next step; the last one ends exactly at the end."""
    time, end = clock[TIME], clock[END]
    if clock[FIXED_STEP] > 0.0:
        there = clock[START] + (counts[STEPS] + 1) * clock[FIXED_STEP]
        there = end if there > end - 1e-9 * clock[FIXED_STEP] else there
    else:
        there = end if clock[NEXT_STEP] * (1.0 + STRETCH) > end - time else time + clock[NEXT_STEP]
    return there - time, there


@kernel
def take_stages(system, method, memory, time, h):
    """All stages of a step up to the one at the new point, which is `memory.new`."""
    coordinate_rates(system.blocks, memory.state, memory.rates, memory.slope)
    keep_slope(memory, 0)
    last = method.stages - 1
    for s in range(1, last):
        combine(method.a, memory, h, s, memory.new)
        evaluate(system, memory, time + method.c[s] * h, memory.new, s)
    move_on(method.a, memory, h, last)
    evaluate(system, memory, time + h, memory.new, last)


@kernel
def evaluate(system, memory, time, stage, s):
    """The slope of stage s."""
    _rates(system.rates, system.mechanism, time, stage, system.work, memory.stage_rates)
    coordinate_rates(system.blocks, stage, memory.stage_rates, memory.slope)
    keep_slope(memory, s)


@kernel
def keep_slope(memory, s):
    """Keep the slope of stage s."""
    for i in range(memory.slope.shape[0]):
        memory.k[i, s] = memory.slope[i, 0]


@kernel
def combine(a, memory, h, s, out):
    """out = state + h sum_j a[s, j] k[j]."""
    for i in range(memory.state.shape[0]):
        total = a[s, 0] * memory.k[i, 0]
        for j in range(1, s):
            total += a[s, j] * memory.k[i, j]
        out[i, 0] = memory.state[i, 0] + h * total


@kernel
def move_on(a, memory, h, s):
    """The new state, with what rounding has cut off so far: new + new_carry = state + carry + h sum_j a[s, j] k[j]."""
    for i in range(memory.state.shape[0]):
        total = a[s, 0] * memory.k[i, 0]
        for j in range(1, s):
            total += a[s, j] * memory.k[i, j]
        step = h * total + memory.carry[i, 0]
        memory.new[i, 0] = memory.state[i, 0] + step
        memory.new_carry[i, 0] = step - (memory.new[i, 0] - memory.state[i, 0])


@kernel
def finite(view):
    """Whether every entry is a finite number."""
    total = 0.0
    for i in range(view.shape[0]):
        total += 0.0 * view[i, 0]
    return total == 0.0


@kernel
def error_norm(errors, memory, h, rtol, atol):
    """The estimated error of a step over its tolerance; two estimates are combined as in II.10."""
    first, second, n = 0.0, 0.0, max(memory.state.shape[0], 1)  # what is welded to the ground has no state
    for i in range(memory.state.shape[0]):
        scale = atol + rtol * max(abs(memory.state[i, 0]), abs(memory.new[i, 0]))
        for e in range(errors.shape[0]):
            total = 0.0
            for j in range(errors.shape[1]):
                if errors[e, j] != 0.0:
                    total += errors[e, j] * memory.k[i, j]
            if e == 0:
                first += (total / scale) ** 2
            else:
                second += (total / scale) ** 2
    if errors.shape[0] == 1 or first == 0.0:
        return h * math.sqrt(first / n)
    return h * first / math.sqrt((first + 0.01 * second) * n)


@kernel
def control(clock, h, error, error_order):
    """PI control of the next step after an accepted one."""
    error = max(error, 1e-10)
    exponent = 1.0 / (error_order + 1)
    beta = 0.3 * exponent
    factor = SAFETY * error ** (0.75 * beta - exponent) * clock[LAST_ERROR] ** beta
    clock[NEXT_STEP] = h * min(GROW, max(SHRINK, factor))
    clock[LAST_ERROR] = max(error, 1e-4)


@kernel
def copy(source, target):
    """target = source, views of one column."""
    for i in range(target.shape[0]):
        target[i, 0] = source[i, 0]


@kernel
def record_step(system, method, memory, output, clock, counts, h, end):
    """Record what was asked for within the step, and its end, which is normalised first."""
    asked, stored, near = output.asked, counts[STORED], end - 1e-10 * h
    project = counts[PROJECT] != 0
    if stored < asked.shape[0] and asked[stored] < near:
        for s in range(method.stages, method.a.shape[0]):
            combine(method.a, memory, h, s, memory.stage)
            evaluate(system, memory, clock[TIME] + method.c[s] * h, memory.stage, s)
        counts[EVALUATIONS] += method.a.shape[0] - method.stages
        while stored < asked.shape[0] and asked[stored] < near:
            interpolate(method.dense, memory, h, (asked[stored] - clock[TIME]) / h, memory.stage)
            if project:
                normalise(system.blocks, memory.stage)
            store(output, stored, asked[stored], memory.stage)
            stored += 1
    if project:
        normalise(system.blocks, memory.new)
    if asked.shape[0] == 0:
        store(output, stored, end, memory.new)
        stored += 1
    while stored < asked.shape[0] and asked[stored] <= end + 1e-10 * h:
        store(output, stored, asked[stored], memory.new)
        stored += 1
    counts[STORED] = stored


@kernel
def interpolate(dense, memory, h, theta, out):
    """The state at the fraction theta of the step."""
    for i in range(memory.state.shape[0]):
        total = 0.0
        for j in range(dense.shape[0]):
            weight = 0.0
            for power in range(dense.shape[1] - 1, -1, -1):
                weight = (weight + dense[j, power]) * theta
            total += weight * memory.k[i, j]
        out[i, 0] = memory.state[i, 0] + h * total


@kernel
def store(output, row, time, state):
    """Keep one state and its time."""
    output.times[row] = time
    for i in range(state.shape[0]):
        output.states[row, i] = state[i, 0]


@routine
def slope_at(system, time, state, rates, slope):
    """The rates at a state, in the algebra and of its numbers."""
    _rates(system.rates, system.mechanism, time, state, system.work, rates)
    coordinate_rates(system.blocks, state, rates, slope)
