"""Explicit Runge-Kutta methods: on the numbers of the state, or on the group in the way of Munthe-Kaas.

As numbers, quaternions and matrices are stepped by their derivatives and leave the group by the method's error. On the
group, stage i is state exp(u_i) with u_i = h Σ a_ij k_j and k_i = dexp_inv(-u_i, velocity): paper 001 (11), where the
sign is that of velocities in body axes, which act from the right. The state is summed with compensation: `carry` is
what rounding has cut off so far.
"""

import math
from typing import Any, NamedTuple

from poinsot._jit import kernel, routine
from poinsot.algebra.manifold import (
    KIND,
    QUATERNION,
    REAL,
    SIZE,
    STATE,
    VELOCITY,
    coordinate_rates,
    dexp_inv,
    displacement,
    retract,
)
from poinsot.methods.stepping import (
    ATOL,
    DENSE,
    ERROR,
    EVALUATIONS,
    FIXED_STEP,
    FRESH,
    NOT_FINITE,
    RTOL,
    RUNNING,
    TIME,
    copy,
    finite,
    rates_of,
)
from poinsot.scalars import borrow

# Kernels here borrow their views: a view that is taken out of a tuple within a loop would be counted each time.

# What `Method.order` says where the state is stepped as numbers; on the group it is that of dexp_inv, 0 for exact.
NUMBERS = -1


class Method(NamedTuple):
    """A tableau's numbers (see methods/tableaus.py), c as a column, and how states are moved."""

    a: Any
    c: Any
    errors: Any
    dense: Any
    stages: Any
    order: Any


class Memory(NamedTuple):
    """Views of one column each, but for the slopes `k`, one row per stage."""

    state: Any
    carry: Any
    new: Any
    new_carry: Any
    between: Any
    rates: Any  # at the state, in the algebra
    new_rates: Any
    increment: Any  # of the state: of its numbers, or in the algebra
    stage_rates: Any
    slope: Any
    k: Any


@routine
def attempt(system, method, memory, solver, clock, counts, h, theta):
    """All stages of a step up to the one at the new point."""
    if counts[FRESH] == 1:
        rates_of(system, clock[TIME], memory.state, memory.rates)
        counts[EVALUATIONS] += 1
        counts[FRESH] = 2
    blocks, order, last = borrow(system.blocks), method.order, method.stages - 1
    a, k, increment, slope = borrow(method.a), borrow(memory.k), borrow(memory.increment), borrow(memory.slope)
    state, new, new_rates = borrow(memory.state), borrow(memory.new), borrow(memory.new_rates)
    put_slope(blocks, order, increment, state, borrow(memory.rates), slope, k, 0)
    for s in range(1, last):
        combine(a, s, k, h, increment)
        place(blocks, order, state, increment, new)
        rates_of(system, clock[TIME] + method.c[s, 0] * h, memory.new, memory.new_rates)
        put_slope(blocks, order, increment, new, new_rates, slope, k, s)
    combine(a, last, k, h, increment)
    move_on(
        blocks, order, state, borrow(memory.carry), increment, borrow(memory.between), new, borrow(memory.new_carry)
    )
    rates_of(system, clock[TIME] + h, memory.new, memory.new_rates)
    put_slope(blocks, order, increment, new, new_rates, slope, k, last)
    counts[EVALUATIONS] += last
    if not (finite(new) and finite(slope)):
        return NOT_FINITE
    if clock[FIXED_STEP] == 0.0:
        error = error_norm(blocks, order, borrow(method.errors), state, new, k, h, clock[RTOL], clock[ATOL])
        clock[ERROR] = error if error < math.inf else math.inf
    return RUNNING


@routine
def accept(system, method, memory, solver, clock, counts, h, theta):
    """The new point is the state, and its rates are known."""
    copy(memory.new_rates, memory.rates)
    copy(memory.new, memory.state)
    copy(memory.new_carry, memory.carry)
    return RUNNING


@routine
def interpolate(system, method, memory, solver, clock, counts, h, theta):
    """The state at the fraction theta of the step; stages that only the interpolant needs are made for the first."""
    blocks, order, state, between = borrow(system.blocks), method.order, borrow(memory.state), borrow(memory.between)
    k, increment, slope, dense = borrow(memory.k), borrow(memory.increment), borrow(memory.slope), borrow(method.dense)
    if counts[DENSE] == 0:
        for s in range(method.stages, method.a.shape[0]):
            combine(borrow(method.a), s, k, h, increment)
            place(blocks, order, state, increment, between)
            rates_of(system, clock[TIME] + method.c[s, 0] * h, memory.between, memory.stage_rates)
            put_slope(blocks, order, increment, between, borrow(memory.stage_rates), slope, k, s)
        counts[EVALUATIONS] += method.a.shape[0] - method.stages
        counts[DENSE] = 1
    for i in range(increment.shape[0]):
        total = 0.0
        for j in range(dense.shape[0]):
            weight = 0.0
            for power in range(dense.shape[1] - 1, -1, -1):
                weight = (weight + dense[j, power]) * theta
            total += weight * k[j, i]
        increment[i, 0] = h * total
    place(blocks, order, state, increment, between)
    return RUNNING


@kernel
def put_slope(blocks, order, increment, stage, rates, slope, k, s):
    """Keep the slope of stage s, which stands at the increment."""
    if order == NUMBERS:
        coordinate_rates(blocks, stage, rates, slope)
    elif s == 0:
        copy(rates, slope)
    else:
        dexp_inv(blocks, increment, rates, slope, order)
    for i in range(slope.shape[0]):
        k[s, i] = slope[i, 0]


@kernel
def combine(a, s, k, h, increment):
    """increment = h sum_j a[s, j] k[j], all rows side by side: the sum of one row alone would wait for itself."""
    rows = increment.shape[0]
    for i in range(rows):
        increment[i, 0] = a[s, 0] * k[0, i]
    for j in range(1, s):
        weight = a[s, j]
        if weight != 0.0:
            for i in range(rows):
                increment[i, 0] += weight * k[j, i]
    for i in range(rows):
        increment[i, 0] *= h


@kernel
def place(blocks, order, state, increment, out):
    """The state moved by the increment."""
    if order == NUMBERS:
        for i in range(out.shape[0]):
            out[i, 0] = state[i, 0] + increment[i, 0]
    else:
        retract(blocks, state, increment, out)


@kernel
def move_on(blocks, order, state, carry, increment, step, new, new_carry):
    """The new point, with what rounding has cut off so far: new + new_carry = state + carry + step."""
    if order == NUMBERS:
        add_with_carry(state, carry, increment, new, new_carry)
    else:
        displacement(blocks, state, increment, step)
        add_with_carry(state, carry, step, new, new_carry)


@kernel
def add_with_carry(state, carry, step, new, new_carry):
    """new + new_carry = state + carry + step, by compensated summation."""
    for i in range(state.shape[0]):
        x = step[i, 0] + carry[i, 0]
        new[i, 0] = state[i, 0] + x
        new_carry[i, 0] = x - (new[i, 0] - state[i, 0])


@routine
def error_norm(blocks, order, errors, state, new, k, h, rtol, atol):
    """The estimated error of a step over its tolerance: the root mean square over all rows of the slopes."""
    total, n = 0.0, max(k.shape[1], 1)  # what is welded to the ground has no state
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        first_row = s if order == NUMBERS else v
        for r in range(blocks[b, SIZE] if kind == REAL else rows_of(kind, order)):
            if order == NUMBERS or kind == REAL:
                scale = atol + rtol * max(abs(state[s + r, 0]), abs(new[s + r, 0]))
            else:
                scale = atol + rtol  # an angle, of a rotation whose entries are of size one
            total += (estimate(errors, k, first_row + r) / scale) ** 2
    return h * math.sqrt(total / n)


@kernel
def rows_of(kind, order):
    """How many increments a rotation has."""
    return (4 if kind == QUATERNION else 9) if order == NUMBERS else 3


@kernel
def estimate(errors, k, row):
    """The error estimate of one row of the slopes, over the step.

    Where there are two, e of order 5 and f of order 3, they make e²/sqrt(e² + 0.01 f²), of order 7 (II.10), row by row:
    of the norms of e and f, the f of a row that moves fast would hide the e of all others.
    """
    first, second = 0.0, 0.0
    for j in range(errors.shape[1]):
        if errors[0, j] != 0.0:
            first += errors[0, j] * k[j, row]
        if errors.shape[0] > 1 and errors[1, j] != 0.0:
            second += errors[1, j] * k[j, row]
    square = first * first
    if errors.shape[0] == 1 or square == 0.0:
        return first
    return square / math.sqrt(square + 0.01 * second * second)
