"""Newton's correction of all stages at once: in the basis in which the method's matrix is diagonal.

With A = T diag(α) T⁻¹ the equations of the stages fall apart into one system for each eigenvalue α, in which a unit of
acceleration moves the velocity by p = h α and the position by p² (Hairer and Wanner II, IV.8). Complex eigenvalues come
in pairs whose solutions are conjugate, so that one of each pair is solved for.
"""

from typing import Any, NamedTuple

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.methods.collocation import AGE, CONTRACTION, FACTORED
from poinsot.methods.newton import factor, solve
from poinsot.methods.stepping import FACTORIZATIONS, RUNNING, TIME

# Contractions slower than this ask for a new Jacobian at the next step.
STALE = 0.1

_differentiate = pointer_call(lambda *arguments: types.int64(*arguments))


class Eigenbasis(NamedTuple):
    """Eigenvalues of the method's matrix with no negative imaginary part, rows of T⁻¹ and columns of T for them."""

    values: Any
    into: Any
    back: Any  # doubled where a conjugate belongs to it
    E: Any  # factors, one below the other
    pivots: Any
    right: Any
    derivatives: Any  # the address of the kernel that makes the Jacobians


@routine
def correct(system, method, memory, solver, clock, counts, h, theta):
    """Replace the defects by Newton's corrections."""
    notes, (newton, basis) = memory.notes, solver
    if notes[AGE] <= 0.0 or (notes[AGE] > 1.0 and notes[CONTRACTION] > STALE):
        time = put_place(method, memory, clock, h)
        _differentiate(
            basis.derivatives, newton, system.blocks, time, memory.stage, memory.acceleration, memory.multiplier
        )
        notes[AGE], notes[CONTRACTION], notes[FACTORED] = 1.0, 0.0, 0.0
    n, rows = newton.C.shape[0], basis.right.shape[0]
    if abs(notes[FACTORED] - h) > 1e-6 * abs(h):
        status = put_factors(newton, basis, notes, counts, h)
        if status != RUNNING:
            return status
    for e in range(basis.values.shape[0]):
        p = h * basis.values[e]
        scale = 1.0 / p if newton.index == 2 else 1.0 / (p * p) if newton.index == 3 else 1.0 + 0.0 * p
        for i in range(rows):
            total = 0.0 * p
            for s in range(method.a.shape[0]):
                total += basis.into[e, s] * memory.defect[i, s]
            basis.right[i, e] = total if i < n else scale * total
    for e in range(basis.values.shape[0]):
        solve(basis.E[e], n, basis.pivots[e], basis.right[:, e])
    for i in range(rows):
        for s in range(method.a.shape[0]):
            total = 0.0
            for e in range(basis.values.shape[0]):
                total += (basis.back[s, e] * basis.right[i, e]).real
            memory.defect[i, s] = total
    return RUNNING


@kernel
def put_factors(newton, basis, notes, counts, h):
    """The factors for a step of length h."""
    for e in range(basis.values.shape[0]):
        p = h * basis.values[e]
        status = factor(newton, basis.E[e], basis.pivots[e], p, p * p)
        if status != RUNNING:
            return status
    counts[FACTORIZATIONS] += 1
    notes[FACTORED] = h
    return RUNNING


@kernel
def put_place(method, memory, clock, h):
    """The place at which a Jacobian is made, and its time: the state, or the middle stage once there is a good one."""
    middle = memory.notes[AGE] < 0.0
    s = method.a.shape[0] // 2 if middle else 0
    for i in range(memory.stage.shape[0]):
        memory.stage[i, 0] = memory.y[i, s] if middle else memory.state[i, 0]
    n = memory.acceleration.shape[0]
    for i in range(n):
        memory.acceleration[i, 0] = memory.w[memory.w.shape[0] - n + i, s]
    for i in range(memory.multiplier.shape[0]):
        memory.multiplier[i, 0] = memory.multipliers[i, s]
    return clock[TIME] + (method.c[s] * h if middle else 0.0)
