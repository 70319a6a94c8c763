"""Newton's iteration for implicit methods, simplified: Jacobians by Duals now and then, factors for many iterations.

Linearised in the accelerations x of a stage, with p and q what a unit of x adds to the velocity and to the position,

    (M + p C + q K) δx + Bᵀ δλ = -r,    G(p, q) δx = -c,

where K, C and M are the derivatives of the residual r with respect to position (in the algebra), velocity and
acceleration. Equations x = f of first order fit in with M = 1, C = -f' and K = 0. Collocation methods have p = h α and
q = p² for every eigenvalue α of their matrix (Hairer and Wanner II, IV.8), which may be complex.
"""

import math
from typing import Any, NamedTuple

from numba import types

from poinsot._jit import WIDTH, kernel, pointer_call, routine
from poinsot.algebra.manifold import retract
from poinsot.methods.stepping import RUNNING, SINGULAR
from poinsot.scalars import borrow

_call = pointer_call(lambda *arguments: types.void(*arguments))

# A pivot this small against the largest entry of its column, among the constraints, belongs to a redundant equation.
REDUNDANT = 1e-11


class Newton(NamedTuple):
    """The linearised equations, and room to make and solve them; `call` is 0 until the kernel for Duals exists."""

    call: Any
    index: Any  # in which form the constraint is imposed: 3 positions, 2 velocities, 1 accelerations
    mechanism: Any
    work: Any  # Duals, and so are the next six
    turn: Any
    state: Any
    rate: Any
    acceleration: Any
    multipliers: Any
    out: Any
    K: Any
    C: Any
    M: Any
    G_position: Any  # the constraint's derivatives
    G_velocity: Any
    G_acceleration: Any
    B: Any


@kernel
def seed(view, first):
    """Zero increments, of which WIDTH from row `first` on are the directions of derivatives."""
    for i in range(view.shape[0]):
        for k in range(WIDTH + 1):
            view.data[i, 0, k] = 1.0 if i == first + k - 1 and k > 0 else 0.0


@kernel
def constant(values, view):
    """Numbers without derivatives."""
    for i in range(view.shape[0]):
        view.data[i, 0, 0] = values[i, 0]
        for k in range(WIDTH):
            view.data[i, 0, 1 + k] = 0.0


@routine
def differentiate_rates(newton, blocks, time, state, acceleration, multipliers):
    """M, C and K of an ordinary differential equation; of the first order where C has a row for every rate."""
    rows, n = newton.rate.shape[0], newton.C.shape[0]
    for first in range(0, rows, WIDTH):
        seed(newton.turn, first)
        retract(blocks, state, newton.turn, newton.state)
        _call(newton.call, newton.mechanism, time, borrow(newton.state), newton.work, borrow(newton.rate))
        for k in range(min(WIDTH, rows - first)):
            column = first + k - (rows - n)
            for i in range(n):
                slope = -newton.rate.data[rows - n + i, 0, 1 + k]
                if column < 0:
                    newton.K[i, first + k] = slope
                else:
                    newton.C[i, column] = slope
    for i in range(n):
        newton.M[i, i] = 1.0
    return RUNNING


@routine
def differentiate_residual(newton, blocks, time, state, acceleration, multipliers):
    """M, C, K, B and the derivatives of the constraint of a constrained system, in the form `newton.index`."""
    n, m = newton.C.shape[0], newton.B.shape[0]
    here = n + m * (3 - newton.index)  # where the constraint of this index is in the residual
    constant(multipliers, newton.multipliers)
    for part in range(3):
        for first in range(0, n, WIDTH):
            seed(newton.turn, -WIDTH if part == 2 else first if part == 0 else n + first)
            retract(blocks, state, newton.turn, newton.state)
            constant(acceleration, newton.acceleration)
            if part == 2:
                for k in range(min(WIDTH, n - first)):
                    newton.acceleration.data[first + k, 0, 1 + k] = 1.0
            call_residual(newton, time)
            for k in range(min(WIDTH, n - first)):
                column = first + k
                for i in range(n):
                    slope = newton.out.data[i, 0, 1 + k]
                    if part == 0:
                        newton.K[i, column] = slope
                    elif part == 1:
                        newton.C[i, column] = slope
                    else:
                        newton.M[i, column] = slope
                for i in range(m):
                    slope = newton.out.data[here + i, 0, 1 + k]
                    if part == 0:
                        newton.G_position[i, column] = slope
                        newton.B[i, column] = newton.out.data[n + i, 0, 1 + k]
                    elif part == 1:
                        newton.G_velocity[i, column] = slope
                    else:
                        newton.G_acceleration[i, column] = slope
    return RUNNING


@kernel
def call_residual(newton, time):
    """The residual of a constrained system, with Duals."""
    _call(
        newton.call, newton.mechanism, time, borrow(newton.state), borrow(newton.acceleration),
        borrow(newton.multipliers), borrow(newton.work), borrow(newton.out),
    )  # fmt: skip


@kernel
def factor(newton, E, pivots, p, q):
    """The matrix of the linearised equations, in factors, for steps p and q per unit of acceleration."""
    n, m = newton.C.shape[0], newton.B.shape[0]
    for i in range(n):
        for j in range(n):
            E[i, j] = newton.M[i, j] + p * newton.C[i, j] + q * newton.K[i, j]
        for j in range(m):
            E[i, n + j] = newton.B[j, i]
    for i in range(m):
        for j in range(n):
            change = newton.G_position[i, j] + 0.0 * p  # of positions per q, of velocities per p
            if newton.index == 2:
                change = newton.G_velocity[i, j] + q / p * newton.G_position[i, j]
            elif newton.index == 1:
                change = newton.G_acceleration[i, j] + p * newton.G_velocity[i, j] + q * newton.G_position[i, j]
            E[n + i, j] = change
        for j in range(m):
            E[n + i, n + j] = 0.0 * p
    return eliminate(E, n, pivots)


@kernel
def size_of(x):
    """The size of a real or complex number, cheaply."""
    return abs(x.real) + abs(x.imag)


@kernel
def eliminate(E, n, pivots):
    """Factors of E: the first n rows exchanged among themselves, then the constraints, largest diagonal entry first.

    What is left of the constraints is -G (M + p C + q K)⁻¹ Bᵀ, symmetric and definite but for terms in p and q; where
    its diagonal ends at rounding, the rest are redundant, and their multipliers are zero.
    """
    largest = 0.0
    for j in range(E.shape[0]):
        chosen, size = j, -1.0
        for i in range(j, n if j < n else E.shape[0]):
            here = size_of(E[i, j] if j < n else E[i, i])
            if here > size or here != here:
                chosen, size = i, here
        if j == n:
            largest = size
        if not size > (0.0 if j < n else REDUNDANT * largest):
            if j < n or size != size:
                return SINGULAR
            for i in range(j, E.shape[0]):
                pivots[i], E[i, i] = i, math.inf
            return RUNNING
        exchange(E, n, j, chosen)
        pivots[j] = chosen
        inverse = 1.0 / E[j, j]
        for i in range(j + 1, E.shape[0]):
            f = E[i, j] * inverse
            E[i, j] = f
            if f != 0.0:
                for k in range(j + 1, E.shape[0]):
                    E[i, k] -= f * E[j, k]
    return RUNNING


@kernel
def exchange(E, n, j, other):
    """Exchange two rows and, of constraints, their columns too."""
    if other != j:
        for k in range(E.shape[0]):
            E[j, k], E[other, k] = E[other, k], E[j, k]
        if j >= n:
            for k in range(E.shape[0]):
                E[k, j], E[k, other] = E[k, other], E[k, j]


@kernel
def solve(E, n, pivots, x):
    """Replace the column x of right-hand sides by the solution."""
    rows = E.shape[0]
    for j in range(rows):
        x[j], x[pivots[j]] = x[pivots[j]], x[j]
    for i in range(rows):
        total = x[i]
        for j in range(i):
            total -= E[i, j] * x[j]
        x[i] = total
    for i in range(rows - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, rows):
            total -= E[i, j] * x[j]
        x[i] = total / E[i, i] if size_of(E[i, i]) < math.inf else 0.0 * total
    for j in range(rows - 1, n - 1, -1):
        x[j], x[pivots[j]] = x[pivots[j]], x[j]
