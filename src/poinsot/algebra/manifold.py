"""Products of manifolds, as methods step them: real numbers, unit quaternions and rotation matrices side by side.

A block table is an int64 array, one row per block, with the columns KIND, STATE (first row in the state view),
VELOCITY (first row in the views of velocities and increments) and SIZE (how many reals; REAL blocks only). Velocities
of rotations are in body axes: q' = q (0, w)/2 and R' = R hat(w); increments u act from the right, state exp(u). States
and velocities are views with one column.
"""

import numpy as np

from poinsot._jit import kernel
from poinsot.algebra import matrix, quaternion, so3
from poinsot.algebra.memory import column3, column4, column9, put_column3, put_column4, put_column9
from poinsot.algebra.vector import negate
from poinsot.scalars import absolute, sqrt

REAL, QUATERNION, ROTATION = 0, 1, 2
KIND, STATE, VELOCITY, SIZE = 0, 1, 2, 3

# From singular values off by a third to rounding error; each iteration squares the error and halves it.
_POLAR_ITERATIONS = 5


def block_table(blocks: list[tuple[int, int]]) -> tuple[np.ndarray, int, int]:
    """The table of consecutive (kind, size) blocks, and the numbers of state and of velocity rows.

    The size counts only for REAL blocks.
    """
    table, state, velocity = np.zeros((len(blocks), 4), dtype=np.int64), 0, 0
    for row, (kind, size) in enumerate(blocks):
        table[row] = kind, state, velocity, size if kind == REAL else 0
        state += {REAL: size, QUATERNION: 4, ROTATION: 9}[kind]
        velocity += size if kind == REAL else 3
    return table, state, velocity


@kernel
def coordinate_rates(blocks, state, velocity, rate):
    """The time derivatives of the numbers in the state, for methods that step them as numbers."""
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                rate[s + i, 0] = velocity[v + i, 0]
        elif kind == QUATERNION:
            put_column4(rate, s, 0, quaternion.derivative(column4(state, s, 0), column3(velocity, v, 0)))
        else:
            put_column9(rate, s, 0, matrix.times_skew(column9(state, s, 0), column3(velocity, v, 0)))


@kernel
def retract(blocks, state, u, out):
    """out = state exp(u), block by block; out may be the state itself."""
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                out[s + i, 0] = state[s + i, 0] + u[v + i, 0]
        elif kind == QUATERNION:
            turn = quaternion.exp(column3(u, v, 0))
            put_column4(out, s, 0, quaternion.product(column4(state, s, 0), turn))
        else:
            put_column9(out, s, 0, matrix.product(column9(state, s, 0), so3.exp(column3(u, v, 0))))


@kernel
def displacement(blocks, state, u, out):
    """out = state exp(u) - state, in which small u lose no digits."""
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                out[s + i, 0] = u[v + i, 0]
        elif kind == QUATERNION:
            turn = quaternion.exp_minus_one(column3(u, v, 0))
            put_column4(out, s, 0, quaternion.product(column4(state, s, 0), turn))
        else:
            put_column9(out, s, 0, matrix.product(column9(state, s, 0), so3.exp_minus_one(column3(u, v, 0))))


@kernel
def difference(blocks, state, other, out):
    """The u with other = state exp(u), block by block, rotations by half a turn at the most."""
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                out[v + i, 0] = other[s + i, 0] - state[s + i, 0]
        elif kind == QUATERNION:
            turn = quaternion.product(quaternion.conjugate(column4(state, s, 0)), column4(other, s, 0))
            put_column3(out, v, 0, quaternion.log(turn))
        else:
            turn = matrix.transposed_product(column9(state, s, 0), column9(other, s, 0))
            put_column3(out, v, 0, so3.log(turn))


@kernel
def dexp_inv(blocks, u, v, out, order):
    """The rate of the increment u at which state exp(u) has the velocity v: dexp_inv(-u, v) to `order`.

    An order of 0 asks for the exact, closed form; out may be v itself.
    """
    for b in range(blocks.shape[0]):
        k = blocks[b, VELOCITY]
        if blocks[b, KIND] == REAL:
            for i in range(blocks[b, SIZE]):
                out[k + i, 0] = v[k + i, 0]
        elif order == 0:
            put_column3(out, k, 0, so3.dexp_inv(negate(column3(u, k, 0)), column3(v, k, 0)))
        else:
            put_column3(out, k, 0, so3.dexp_inv_truncated(negate(column3(u, k, 0)), column3(v, k, 0), order))


@kernel
def nearest_rotation(R):
    """The orthogonal factor of R by Newton's iteration R <- (R + R⁻ᵀ)/2."""
    for _ in range(_POLAR_ITERATIONS):
        R = matrix.full_scale(0.5, matrix.full_add(R, matrix.transpose(matrix.inverse(R))))
    return R


@kernel
def normalise(blocks, state):
    """Bring quaternions to unit length and matrices to the nearest rotation, in place."""
    for b in range(blocks.shape[0]):
        s = blocks[b, STATE]
        if blocks[b, KIND] == QUATERNION:
            put_column4(state, s, 0, quaternion.normalise(column4(state, s, 0)))
        elif blocks[b, KIND] == ROTATION:
            put_column9(state, s, 0, nearest_rotation(column9(state, s, 0)))


@kernel
def larger(largest, x):
    """The larger of a bound and |x|; NaN wins. For float64 only."""
    size = absolute(x)
    return size if size > largest or size != size else largest


@kernel
def departure(blocks, state):
    """The largest departure from unit length | |q| - 1 | or orthogonality max |RᵀR - 1|; NaN if there is one.

    For float64 only.
    """
    largest = 0.0
    for b in range(blocks.shape[0]):
        s = blocks[b, STATE]
        if blocks[b, KIND] == QUATERNION:
            largest = larger(largest, sqrt(quaternion.squared_norm(column4(state, s, 0))) - 1.0)
        elif blocks[b, KIND] == ROTATION:
            R = column9(state, s, 0)
            for entry in matrix.symmetric_sub(matrix.transposed_product_symmetric(R, R), matrix.SYMMETRIC_IDENTITY):
                largest = larger(largest, entry)
    return largest
