"""Consistent initial conditions of a constrained system: positions, velocities, accelerations and multipliers.

Positions and velocities are corrected by the least amount in the metric of the masses, [M Bᵀ; B 0], positions by
Newton's iteration on the group; accelerations and multipliers follow from the equations of motion and Φ'' = 0. Least
squares serve redundant constraints, too: the multipliers are those of minimum norm.
"""

from __future__ import annotations

import numpy as np
from numba import types

from poinsot._jit import pointer_call, routine
from poinsot.algebra.manifold import retract
from poinsot.errors import PoinsotError
from poinsot.methods.newton import Newton, differentiate_residual
from poinsot.methods.stepping import System
from poinsot.problem import Array, SecondOrderDAE
from poinsot.scalars import borrow

MOST_ITERATIONS = 30
# Residuals up to this part of the largest position or velocity are rounding.
TOLERANCE = 1e-9

_residual = pointer_call(lambda *arguments: types.void(*arguments))


@routine
def put_residual(system, time, state, acceleration, multipliers, out):
    """The residual of a constrained system, for Python."""
    _residual(
        system.rates, system.mechanism, time, borrow(state), borrow(acceleration), borrow(multipliers),
        borrow(system.work), borrow(out),
    )  # fmt: skip


@routine
def move(blocks, state, turn, out):
    """The state moved by an increment in the algebra."""
    retract(blocks, state, turn, out)


def consistent_start(problem: SecondOrderDAE, system: System, newton: Newton) -> Array:
    """The initial state made consistent, with accelerations and multipliers behind it."""
    n, m = problem.n_rates // 2, problem.n_constraints
    state, still, no_multipliers = problem.initial.copy(), np.zeros((n, 1)), np.zeros((m, 1))
    out, turn = np.zeros((n + 3 * m, 1)), np.zeros((problem.n_rates, 1))

    def residual(first: int) -> Array:
        put_residual(system, 0.0, state, still, no_multipliers, out)
        return out[first : first + m, 0].copy()

    def metric() -> Array:
        differentiate_residual(newton, system.blocks, 0.0, state, still, no_multipliers)
        return np.block([[newton.M, newton.B.T], [newton.B, np.zeros((m, m))]])

    def solved(upper: Array, lower: Array) -> Array:
        return np.linalg.lstsq(metric(), np.concatenate((upper, lower)), rcond=1e-12)[0]

    missed = np.inf
    for _ in range(MOST_ITERATIONS):
        gap = residual(n)
        size = float(np.abs(gap).max(initial=0.0))
        if size == 0.0 or (size >= 0.5 * missed and size <= TOLERANCE):
            break
        missed = size
        turn[:] = 0.0
        turn[:n, 0] = solved(np.zeros(n), -gap)[:n]
        moved = state.copy()
        move(system.blocks, state, turn, moved)
        state = moved
    _check("positions", residual(n), state)
    state[-n:, 0] += solved(np.zeros(n), -residual(n + m))[:n]
    _check("velocities", residual(n + m), state)
    put_residual(system, 0.0, state, still, no_multipliers, out)
    behind = solved(-out[:n, 0], -out[n + 2 * m :, 0])
    return np.concatenate((state[:, 0], behind))


def _check(what: str, gap: Array, state: Array) -> None:
    missed = float(np.abs(gap).max(initial=0.0))
    if not missed <= TOLERANCE * max(1.0, float(np.abs(state).max(initial=0.0))):
        raise PoinsotError(
            f"simulate: the initial {what} cannot be made to fulfil the constraints (they are missed by {missed:.3g}); "
            "give some that nearly do"
        )
