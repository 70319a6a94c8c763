"""`generalized-alpha`: the method of Chung and Hulbert on Lie groups, order 2, for stiff and for constrained systems.

Brüls, Cardona and Arnold, Lie group generalized-α time integration of constrained flexible multibody systems, 2012:

    q = q_n exp(h v_n + h² ((1/2 - β) a_n + β a)),    v = v_n + h ((1 - γ) a_n + γ a),
    (1 - α_m) a + α_m a_n = (1 - α_f) v' + α_f v'_n,

where v' fulfils the equations of motion at the new point, with constraints on positions (index 3). The spectral radius
at infinite frequency sets the four numbers. The a belong to the time t + (α_m - α_f) h: a start from v' there keeps the
order 2 of multipliers from the first step on.
"""

import math
from typing import Any, NamedTuple

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.manifold import retract
from poinsot.methods import hermite
from poinsot.methods.collocation import (
    AGE,
    AUTOMATIC,
    CONTRACTION,
    FACTORED,
    LEAST_SIZE,
    MOST_FIXED_POINT,
    ON,
    STALLED,
    STAYS,
    WEAK,
    limit,
    newton_is_on,
    patience,
    position_rounding,
)
from poinsot.methods.newton import factor, solve
from poinsot.methods.stage_newton import STALE
from poinsot.methods.stepping import (
    DENSE,
    EVALUATIONS,
    FACTORIZATIONS,
    FRESH,
    ITERATIONS,
    NEWTON_STEPS,
    NEWTON_WANTED,
    NOT_CONVERGED,
    NOT_FINITE,
    RUNNING,
    TIME,
    copy,
    finite,
    rates_of,
)
from poinsot.scalars import borrow

_differentiate = pointer_call(lambda *arguments: types.int64(*arguments))
_residual = pointer_call(lambda *arguments: types.void(*arguments))


class Method(NamedTuple):
    """The four numbers, and how the equations of a step are solved."""

    alpha_m: Any
    alpha_f: Any
    beta: Any
    gamma: Any
    velocities: Any
    velocity_row: Any
    constraints: Any  # -1 where the problem is an ordinary differential equation
    index: Any
    iteration: Any
    tolerance: Any
    ready: Any  # whether what Newton's iteration needs is compiled


class Memory(NamedTuple):
    """Views of one column each; behind a DAE's state stand v' and the multipliers."""

    state: Any
    carry: Any
    new: Any
    new_carry: Any
    between: Any
    rates: Any  # v and v' at the state
    new_rates: Any
    algorithmic: Any  # a
    new_algorithmic: Any
    multiplier: Any  # at the state
    new_multiplier: Any
    acceleration: Any
    residual: Any
    defect: Any
    stage_rates: Any
    increment: Any
    slopes: Any
    notes: Any


class Solver(NamedTuple):
    """Newton's linearised equations with their factors; `derivatives` is the address of what makes them."""

    newton: Any
    E: Any
    pivots: Any
    derivatives: Any


@routine
def attempt(system, method, memory, solver, clock, counts, h, theta):
    """Solve for v' and the multipliers at the new point."""
    if newton_is_on(method, memory) and not method.ready:
        return NEWTON_WANTED
    if counts[FRESH] == 1:
        start(system, method, memory, solver, clock, counts, h)
    status = iterate(system, method, memory, solver, clock, counts, h)
    if status != RUNNING and method.iteration == AUTOMATIC and memory.notes[ON] == 0.0:
        memory.notes[ON] = 1.0
        if not method.ready:
            return NEWTON_WANTED
        status = iterate(system, method, memory, solver, clock, counts, h)
    if status != RUNNING and memory.notes[AGE] > 1.0:
        memory.notes[AGE] = 0.0
        status = iterate(system, method, memory, solver, clock, counts, h)
    if status != RUNNING:
        return status
    put_new_point(system, method, memory, h)
    return RUNNING if finite(memory.new) else NOT_FINITE


@routine
def accept(system, method, memory, solver, clock, counts, h, theta):
    """The new point is the state."""
    copy(memory.new, memory.state)
    copy(memory.new_carry, memory.carry)
    copy(memory.new_rates, memory.rates)
    copy(memory.new_algorithmic, memory.algorithmic)
    copy(memory.new_multiplier, memory.multiplier)
    memory.notes[AGE] += 1.0 if memory.notes[AGE] > 0.0 else 0.0
    if newton_is_on(method, memory):
        counts[NEWTON_STEPS] += 1
    return RUNNING


@routine
def interpolate(system, method, memory, solver, clock, counts, h, theta):
    """Hermite's cubic through both ends with their velocities and accelerations; multipliers are linear."""
    if counts[DENSE] == 0:
        for i in range(memory.increment.shape[0]):
            memory.increment[i, 0] = 0.0
        copy(memory.rates, memory.stage_rates)
        hermite.keep_slope(system, memory, 1, h)
        hermite.put_ends(system, memory)
        copy(memory.new_rates, memory.stage_rates)
        hermite.keep_slope(system, memory, 2, h)
        counts[DENSE] = 1
    hermite.polynomial(system, memory, hermite.CUBIC, theta, memory.between)
    for i in range(method.velocity_row + method.velocities, memory.state.shape[0]):
        memory.between[i, 0] = (1.0 - theta) * memory.state[i, 0] + theta * memory.new[i, 0]
    return RUNNING


@routine
def start(system, method, memory, solver, clock, counts, h):
    """v' at the start, and a as v' at the time that it belongs to, from a state moved there."""
    n, row = method.velocities, method.velocity_row
    shift = (method.alpha_m - method.alpha_f) * h
    if method.constraints < 0:
        rates_of(system, clock[TIME], memory.state, memory.rates)
    else:
        for i in range(n):
            memory.rates[i, 0] = memory.state[row + i, 0]
            memory.rates[n + i, 0] = memory.state[row + n + i, 0]
        for i in range(method.constraints):
            memory.multiplier[i, 0] = memory.state[row + 2 * n + i, 0]
    for i in range(memory.increment.shape[0]):
        memory.increment[i, 0] = shift * memory.rates[i, 0]
    retract(system.blocks, memory.state, memory.increment, memory.between)
    if method.constraints < 0:
        rates_of(system, clock[TIME] + shift, memory.between, memory.new_rates)
        for i in range(n):
            memory.algorithmic[i, 0] = memory.new_rates[n + i, 0]
    else:
        put_constrained_acceleration(system, method, memory, solver, clock[TIME] + shift)
    counts[EVALUATIONS] += 2
    counts[FRESH] = 2


@kernel
def put_constrained_acceleration(system, method, memory, solver, time):
    """The acceleration in the state `between`, from M a + Bᵀ λ = f and Φ'' = 0, into memory.algorithmic."""
    n, m = method.velocities, method.constraints
    for i in range(n):
        memory.acceleration[i, 0] = 0.0
    for i in range(m):
        memory.new_multiplier[i, 0] = 0.0
    _differentiate(
        solver.derivatives, solver.newton, system.blocks, time, memory.between, memory.acceleration,
        memory.new_multiplier,
    )  # fmt: skip
    factor(solver.newton, solver.E, solver.pivots, 0.0, 0.0)
    call_residual(system, memory, time, memory.between)
    for i in range(n):
        memory.defect[i, 0] = -memory.residual[i, 0]
    for i in range(m):
        memory.defect[n + i, 0] = -memory.residual[n + 2 * m + i, 0]
    solve(solver.E, n, solver.pivots, memory.defect[:, 0])
    for i in range(n):
        memory.algorithmic[i, 0] = memory.defect[i, 0]


@kernel
def call_residual(system, memory, time, point):
    """The residual of a constrained system at a point, with memory.acceleration and memory.new_multiplier."""
    _residual(
        system.rates, system.mechanism, time, borrow(point), borrow(memory.acceleration),
        borrow(memory.new_multiplier), borrow(system.work), borrow(memory.residual),
    )  # fmt: skip


@routine
def iterate(system, method, memory, solver, clock, counts, h):
    """Iterate for v' and the multipliers, from those of the step before."""
    n, newton = method.velocities, newton_is_on(method, memory)
    for i in range(n):
        memory.acceleration[i, 0] = memory.rates[n + i, 0]
    copy(memory.multiplier, memory.new_multiplier)
    before = previous = math.inf
    contraction, renewed, near = 0.0, not newton, False
    of_positions = position_rounding(method, memory, h)
    for iteration in range(MOST_FIXED_POINT):
        size = put_new_point(system, method, memory, h)
        put_defect(system, method, memory, clock[TIME] + h)
        counts[EVALUATIONS] += 1
        counts[ITERATIONS] += 1
        if newton:
            status = correct(system, method, memory, solver, clock, counts, h)
            if status != RUNNING:
                return status
        change = 0.0
        for i in range(n):
            step = abs(h * memory.defect[i, 0])
            change = step if step > change or step != step else change
            memory.acceleration[i, 0] += memory.defect[i, 0]
        for i in range(method.constraints):
            memory.new_multiplier[i, 0] += memory.defect[n + i, 0]
        if not change < math.inf:
            return NOT_CONVERGED if iteration > 0 else NOT_FINITE
        size = max(LEAST_SIZE, size)
        if iteration > 0:
            contraction = max(contraction, change / previous)
        near = change <= STALLED * size + of_positions
        if change <= limit(method, clock, size) or (near and change > STAYS * before):
            memory.notes[CONTRACTION] = contraction
            return RUNNING
        weak, stuck = change > WEAK * before, change > patience(method, newton) * before
        if stuck and renewed and not near:
            return NOT_CONVERGED
        before, previous = previous, change
        if newton and weak and not near:
            memory.notes[AGE], contraction, renewed = 0.0, 0.0, True
            before = previous = math.inf
    return RUNNING if near else NOT_CONVERGED


@kernel
def put_new_point(system, method, memory, h):
    """The new point that belongs to memory.acceleration; the largest velocity is returned."""
    n, row, size = method.velocities, method.velocity_row, 0.0
    for i in range(n):
        a_n, v_n = memory.algorithmic[i, 0], memory.state[row + i, 0]
        a = (1.0 - method.alpha_f) * memory.acceleration[i, 0] + method.alpha_f * memory.rates[n + i, 0]
        a = (a - method.alpha_m * a_n) / (1.0 - method.alpha_m)
        gain = h * ((1.0 - method.gamma) * a_n + method.gamma * a)
        memory.new_algorithmic[i, 0] = a
        memory.increment[i, 0] = h * (v_n + h * ((0.5 - method.beta) * a_n + method.beta * a))
        memory.increment[n + i, 0] = gain
        memory.new_rates[i, 0] = v_n + gain
        memory.new_rates[n + i, 0] = memory.acceleration[i, 0]
        size = max(size, max(abs(v_n), abs(v_n + gain)))
    retract(system.blocks, memory.state, memory.increment, memory.new)
    for i in range(row + n, memory.new.shape[0]):
        k = i - row - n
        memory.new[i, 0] = memory.acceleration[k, 0] if k < n else memory.new_multiplier[k - n, 0]
    return size


@kernel
def put_defect(system, method, memory, time):
    """What the equations of motion, and the constraints, miss at the new point."""
    n = method.velocities
    if method.constraints < 0:
        rates_of(system, time, memory.new, memory.stage_rates)
        for i in range(n):
            memory.defect[i, 0] = memory.stage_rates[n + i, 0] - memory.acceleration[i, 0]
    else:
        call_residual(system, memory, time, memory.new)
        for i in range(n + method.constraints):
            memory.defect[i, 0] = -memory.residual[i, 0]


@kernel
def correct(system, method, memory, solver, clock, counts, h):
    """Replace the defect by Newton's correction."""
    notes, n = memory.notes, method.velocities
    part = (1.0 - method.alpha_f) / (1.0 - method.alpha_m)
    p, q = h * method.gamma * part, h * h * method.beta * part
    if notes[AGE] == 0.0 or (notes[AGE] > 1.0 and notes[CONTRACTION] > STALE):
        _differentiate(
            solver.derivatives, solver.newton, system.blocks, clock[TIME] + h, memory.new, memory.acceleration,
            memory.new_multiplier,
        )  # fmt: skip
        notes[AGE], notes[CONTRACTION], notes[FACTORED] = 1.0, 0.0, 0.0
    if abs(notes[FACTORED] - h) > 1e-6 * abs(h):
        status = factor(solver.newton, solver.E, solver.pivots, p, q)
        if status != RUNNING:
            return status
        counts[FACTORIZATIONS] += 1
        notes[FACTORED] = h
    for i in range(n, memory.defect.shape[0]):
        memory.defect[i, 0] /= q
    solve(solver.E, n, solver.pivots, memory.defect[:, 0])
    return RUNNING
