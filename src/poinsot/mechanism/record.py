"""From the states that a method has stepped through to everything a Run holds, in one compiled pass."""

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.manifold import departure, larger
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE, put_equations
from poinsot.mechanism.energy import put_energies
from poinsot.mechanism.tables import POSITION_ERROR, ROTATION_ERROR, TOTAL_COLUMNS, VELOCITY_ERROR, borrowed
from poinsot.scalars import borrow

_call = pointer_call(lambda *arguments: types.void(*arguments))


@routine
def record(observe, report, mechanism, blocks, times, states, state, work, rate, bodies, joints, totals):
    """Fill `bodies` and `joints` (one table per instant) and a row of `totals` for each row of `states`."""
    for s in range(times.shape[0]):
        for i in range(state.shape[0]):
            state[i, 0] = states[s, i]
        for k in range(TOTAL_COLUMNS):
            totals[s, k] = 0.0
        _call(observe, mechanism, times[s], borrow(state), work, borrow(rate))
        _call(report, mechanism, borrow(state), work, bodies[s], joints[s])
        put_energies(mechanism, work, joints[s], totals, s)
        put_errors(mechanism, blocks, times[s], state, work, totals, s)


@kernel
def put_errors(mechanism, blocks, t, state, work, totals, row):
    """The largest residuals of all equations, metres and radians mixed, and the largest departure of a rotation."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    position, velocity, equations, loops = 0.0, 0.0, mechanism.equations, mechanism.loops
    put_equations(mechanism, t, state, work, equations, 0, equations.shape[0], loops)
    for e in range(equations.shape[0]):
        position, velocity = larger(position, loops[e, VALUE]), larger(velocity, loops[e, RATE_OF_VALUE])
    totals[row, POSITION_ERROR] = position
    totals[row, VELOCITY_ERROR] = velocity
    totals[row, ROTATION_ERROR] = departure(blocks, state)
