"""The stages of a collocation method from their rates: Y_i = state + h Σ a_ij W_j, block by block.

Quaternions as numbers obey Q_i = q + h Σ a_ij Q_j W_j / 2, which is linear in the Q_i: it is solved exactly, by Gauss's
elimination with quaternions for numbers. So the collocation polynomial keeps the unit length (a quadratic invariant)
to rounding, however far the iteration for the rates has got. On the group Q_i = q exp(u_i), u_i = h Σ a_ij k_j and
k_j = dexp_inv(-u_j, W_j); rotation matrices are always stepped so.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra import quaternion, so3
from poinsot.algebra.manifold import KIND, QUATERNION, REAL, SIZE, STATE, VELOCITY
from poinsot.algebra.matrix import product as matrix_product
from poinsot.algebra.memory import (
    column3,
    column4,
    column9,
    get4,
    put4,
    put_column3,
    put_column4,
    put_column9,
)
from poinsot.algebra.vector import negate, scale

# What `Method.order` says where quaternions are stepped as numbers; on the group it is that of dexp_inv, 0 for exact.
NUMBERS = -1
MOST_SWEEPS = 30


@routine
def put_stages(blocks, method, memory, h):
    """All stages from the rates W; velocities come first where they are the rates of the positions."""
    a, c, order, n = method.a, method.c, method.order, method.velocities
    state, w, u, y, ring = memory.state, memory.w, memory.u, memory.y, memory.ring
    if n > 0:
        for i in range(n):
            for s in range(a.shape[0]):
                total = 0.0
                for j in range(a.shape[0]):
                    total += a[s, j] * w[n + i, j]
                w[i, s] = state[method.velocity_row + i, 0] + h * total
    for b in range(blocks.shape[0]):
        kind, row, rate = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                put_real_stages(a, state, w, y, h, row + i, rate + i)
        elif kind == QUATERNION and order == NUMBERS:
            put_quaternion_stages(a, state, w, y, ring, h, row, rate)
        else:
            put_group_stages(a, c, order, state, w, u, y, h, kind, row, rate)


@kernel
def put_real_stages(a, state, w, y, h, row, rate):
    """One number of the state at all stages."""
    for s in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[0]):
            total += a[s, j] * w[rate, j]
        y[row, s] = state[row, 0] + h * total


@kernel
def half_turn(w, rate, j, factor):
    """The quaternion (0, factor W_j / 2)."""
    turn = scale(0.5 * factor, column3(w, rate, j))
    return 0.0 * factor, turn[0], turn[1], turn[2]


@kernel
def minus(p, q):
    """p - q."""
    return p[0] - q[0], p[1] - q[1], p[2] - q[2], p[3] - q[3]


@kernel
def inverse(q):
    """The quaternion p with p q = 1."""
    s = 1.0 / quaternion.squared_norm(q)
    return s * q[0], -s * q[1], -s * q[2], -s * q[3]


@routine
def put_quaternion_stages(a, state, w, y, ring, h, row, rate):
    """Σ_j Q_j m_ij = q with m_ij = δ_ij - h a_ij W_j / 2, eliminated row by row; factors act from the right."""
    stages, m, q = a.shape[0], ring, column4(state, row, 0)
    for i in range(stages):
        put_column4(y, row, i, q)
        for j in range(stages):
            one = 1.0 if i == j else 0.0
            put4(m, stages * i + j, 0, minus((one, 0.0, 0.0, 0.0), half_turn(w, rate, j, h * a[i, j])))
    for k in range(stages):
        pivot = inverse(get4(m, stages * k + k, 0))
        for i in range(k + 1, stages):
            factor = quaternion.product(pivot, get4(m, stages * i + k, 0))
            put_column4(y, row, i, without(column4(y, row, i), column4(y, row, k), factor))
            for j in range(k + 1, stages):
                here = stages * i + j
                put4(m, here, 0, without(get4(m, here, 0), get4(m, stages * k + j, 0), factor))
    for k in range(stages - 1, -1, -1):
        rest = column4(y, row, k)
        for j in range(k + 1, stages):
            rest = without(rest, column4(y, row, j), get4(m, stages * k + j, 0))
        put_column4(y, row, k, quaternion.product(rest, inverse(get4(m, stages * k + k, 0))))


@kernel
def without(p, q, factor):
    """p - q factor."""
    return minus(p, quaternion.product(q, factor))


@kernel
def pulled_back(order, u, w):
    """The rate of the increment u where the velocity in body axes is w."""
    if order <= 0:
        return so3.dexp_inv(negate(u), w)
    return so3.dexp_inv_truncated(negate(u), w, order)


@routine
def put_group_stages(a, c, order, state, w, u, y, h, kind, row, rate):
    """Increments of a rotation at all stages, by sweeps to rounding, and the stages."""
    stages = a.shape[0]
    for s in range(stages):
        put_column3(u, rate, s, scale(h * c[s], column3(w, rate, s)))
    for _ in range(MOST_SWEEPS):
        change = size = 0.0
        for s in range(stages):
            new = increment(a, s, order, w, u, h, rate)
            for i in range(3):
                change, size = max(change, abs(new[i] - u[rate + i, s])), max(size, abs(new[i]))
            put_column3(u, rate, s, new)
        if change <= 2e-16 * size:
            break
    for s in range(stages):
        turn = column3(u, rate, s)
        if kind == QUATERNION:
            put_column4(y, row, s, quaternion.product(column4(state, row, 0), quaternion.exp(turn)))
        else:
            put_column9(y, row, s, matrix_product(column9(state, row, 0), so3.exp(turn)))


@kernel
def increment(weights, s, order, w, u, h, rate):
    """h Σ_j weights[s, j] k_j of a rotation."""
    x, y, z = 0.0, 0.0, 0.0
    for j in range(weights.shape[1]):
        k = pulled_back(order, column3(u, rate, j), column3(w, rate, j))
        x, y, z = x + weights[s, j] * k[0], y + weights[s, j] * k[1], z + weights[s, j] * k[2]
    return h * x, h * y, h * z


@routine
def put_step(blocks, method, memory, h, step):
    """What the numbers of the state gain in the step: h Σ b_j Y_j', of rotations on the group state (exp(u) - 1)."""
    weights, state, w, u, y = method.b, memory.state, memory.w, memory.u, memory.y
    for b in range(blocks.shape[0]):
        kind, row, rate = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        if kind == REAL:
            for i in range(blocks[b, SIZE]):
                total = 0.0
                for j in range(weights.shape[1]):
                    total += weights[0, j] * w[rate + i, j]
                step[row + i, 0] = h * total
        elif kind == QUATERNION and method.order == NUMBERS:
            gain = (0.0, 0.0, 0.0, 0.0)
            for j in range(weights.shape[1]):
                turn = half_turn(w, rate, j, -h * weights[0, j])
                gain = without(gain, column4(y, row, j), turn)
            put_column4(step, row, 0, gain)
        else:
            whole = increment(weights, 0, method.order, w, u, h, rate)
            if kind == QUATERNION:
                moved = quaternion.exp_minus_one(whole)
                put_column4(step, row, 0, quaternion.product(column4(state, row, 0), moved))
            else:
                put_column9(step, row, 0, matrix_product(column9(state, row, 0), so3.exp_minus_one(whole)))
