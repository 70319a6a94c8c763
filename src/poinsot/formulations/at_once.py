"""All multipliers of `rotation-matrix` from one dense system, and equation (12) as it stands.

The system is (23) with (24), into which (12) is put as printed, for any R: nothing here makes use of R Rᵀ = 1. The
unknowns are the six elements of each Λ and then the multipliers of the joints. K is inverted, so that no body may be
flat.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra import sparse
from poinsot.algebra.matrix import full as full_matrix
from poinsot.algebra.matrix import full_add, full_scale, product, skew_times, transpose, transposed_product
from poinsot.algebra.memory import add3, get3, get6, get9, put3, put9
from poinsot.algebra.sparse import get, put
from poinsot.algebra.vector import add, dot, scale
from poinsot.formulations.bodies import EQUATIONS
from poinsot.formulations.rotation_plan import (
    ALL,
    BENDING,
    END,
    END_COUNT,
    ENDS,
    FIRST_OF_ALL,
    LAMBDA,
    LAMBDAS,
    MASS,
    PAIR,
    PAIR_COUNT,
    PAIRS,
    PRINCIPAL,
    RETURN,
    SECOND,
    SETTINGS,
    TOGETHER,
    D,
    H,
)
from poinsot.formulations.two_steps import body_row, unknown_of
from poinsot.mechanism.absolute import LINEAR
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE, XI
from poinsot.mechanism.elements import COUPLE, EFFORT
from poinsot.mechanism.tables import LOAD_FORCE, LOAD_TORQUE, POSITION, borrowed
from poinsot.scalars import borrow

# The system is solved, and what is left of it once more: 1 / K makes it worse conditioned than the mechanism is.
ROUNDS = 2


@routine
def accelerate_by_multipliers(mechanism, work):
    """(12) as it stands, in principal axes: m x'' = X, P'' = (Y + P Λ) D⁻¹."""
    mechanism, work = borrowed(mechanism), borrow(work)
    plan, loops, gravity = mechanism.plan, mechanism.loops, get3(mechanism.gravity, 0, 0)
    for b in range(mechanism.bodies.shape[0]):
        i, row = mechanism.bodies[b, 0], body_row(plan, b)
        effort = full_add(load_couple(work, i), product(get9(work, i, PRINCIPAL), full_matrix(get6(work, i, LAMBDA))))
        put9(work, i, SECOND, effort)
        put3(work, i, LINEAR, add(scale(1.0 / loops[row, MASS], get3(work, i, LOAD_FORCE)), gravity))
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, x = plan[at, 0], plan[at + 1, 0], get(loops, unknown_of(plan, plan[at + 3, 0]))
        mass = loops[body_row(plan, plan[at + 2, 0]), MASS]
        add3(work, i, LINEAR, scale(x / mass, get3(loops, row, EFFORT)))
        put9(work, i, SECOND, full_add(get9(work, i, SECOND), full_scale(x, get9(loops, row, COUPLE))))
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put9(work, i, SECOND, over_columns(get9(work, i, SECOND), get3(loops, body_row(plan, b), D)))


@kernel
def over_columns(A, d):
    """A D⁻¹."""
    return (
        A[0] / d[0], A[1] / d[1], A[2] / d[2],
        A[3] / d[0], A[4] / d[1], A[5] / d[2],
        A[6] / d[0], A[7] / d[1], A[8] / d[2],
    )  # fmt: skip


@kernel
def load_couple(work, i):
    """Y of the loads: the least matrix that does the work of their torque, j(τ) P / 2."""
    return full_scale(0.5, skew_times(get3(work, i, LOAD_TORQUE), get9(work, i, PRINCIPAL)))


@kernel
def index_pair(k):
    """Row, column and weight of the symmetric unit matrix that goes with multiplier k of Λ."""
    if k < 3:
        return k, k, 0.5
    if k == 3:
        return 0, 1, 1.0
    return (0, 2, 1.0) if k == 4 else (1, 2, 1.0)


@kernel
def element(A, i, j):
    """A_ij of a full matrix, chosen by numbers."""
    k = 3 * i + j
    low = A[0] if k == 0 else A[1] if k == 1 else A[2] if k == 2 else A[3]
    high = A[5] if k == 5 else A[6] if k == 6 else A[7] if k == 7 else A[8]
    return low if k < 4 else A[4] if k == 4 else high


@kernel
def component(a, i):
    """a_i, chosen by number."""
    return a[0] if i == 0 else a[1] if i == 1 else a[2]


@kernel
def stretched(H_end, d, k):
    """What an effort with this H does to equation k of (23)."""
    i, j, weight = index_pair(k)
    return weight * (element(H_end, i, j) / component(d, j) + element(H_end, j, i) / component(d, i))


@kernel
def stretched_by_lambda(G, d, k, m):
    """What multiplier m of Λ does to equation k of (23), with G = Rᵀ R."""
    i, j, weight = index_pair(k)
    p, q, other = index_pair(m)
    x = 0.0 * G[0]
    if q == i:
        x += element(G, j, p) / component(d, i)
    if p == i:
        x += element(G, j, q) / component(d, i)
    if q == j:
        x += element(G, i, p) / component(d, j)
    if p == j:
        x += element(G, i, q) / component(d, j)
    return weight * other * x


@routine
def eliminate_at_once(mechanism, work):
    """All multipliers from one dense system, (23) with (24), without any use of R Rᵀ = 1."""
    mechanism, work = borrowed(mechanism), borrow(work)
    plan, loops = mechanism.plan, mechanism.loops
    put_whole_matrix(mechanism, work)
    sparse.factorise(plan, plan[TOGETHER, 0], loops)
    first, bodies = plan[FIRST_OF_ALL, 0], mechanism.bodies.shape[0]
    for b in range(bodies):
        for k in range(LAMBDAS):
            work[mechanism.bodies[b, 0], LAMBDA + k] = 0.0 * work[mechanism.bodies[b, 0], POSITION]
    for q in range(plan[EQUATIONS, 0]):
        put(loops, unknown_of(plan, q), 0.0)
    for _ in range(ROUNDS):
        accelerate_by_multipliers(mechanism, work)
        put_whole_demand(mechanism, work)
        sparse.solve(plan, plan[TOGETHER, 0], loops)
        for b in range(bodies):
            for k in range(LAMBDAS):
                work[mechanism.bodies[b, 0], LAMBDA + k] += get(loops, first + LAMBDAS * b + k)
        for q in range(plan[EQUATIONS, 0]):
            u = unknown_of(plan, q)
            put(loops, u, get(loops, u) + get(loops, first + LAMBDAS * bodies + q))


@kernel
def put_whole_matrix(mechanism, work):
    """The matrix of that system, its lower triangle: multipliers Λ of all bodies first, then those of the joints."""
    plan, loops, size, bodies = mechanism.plan, mechanism.loops, mechanism.plan[ALL, 0], mechanism.bodies.shape[0]
    begin = plan[FIRST_OF_ALL, 0] + 2 * size
    for e in range(begin, begin + size * size):
        put(loops, e, 0.0)
    for b in range(bodies):
        P, d = get9(work, mechanism.bodies[b, 0], PRINCIPAL), get3(loops, body_row(plan, b), D)
        G = transposed_product(P, P)
        for k in range(LAMBDAS):
            for m in range(k + 1):
                put(loops, begin + (LAMBDAS * b + k) * size + LAMBDAS * b + m, stretched_by_lambda(G, d, k, m))
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        H_end, b = get9(loops, plan[at, 0], H), plan[at + 2, 0]
        d, line = get3(loops, body_row(plan, b), D), begin + (LAMBDAS * bodies + plan[at + 3, 0]) * size
        for k in range(LAMBDAS):
            e = line + LAMBDAS * b + k
            put(loops, e, get(loops, e) + stretched(H_end, d, k))
    for n in range(plan[PAIR_COUNT, 0]):
        at = plan[PAIRS, 0] + PAIR * n
        one, other, row = plan[at, 0], plan[at + 1, 0], body_row(plan, plan[at + 2, 0])
        x = dot(get3(loops, one, EFFORT), get3(loops, other, EFFORT)) / loops[row, MASS]
        Y = over_columns(get9(loops, other, COUPLE), get3(loops, row, D))
        x += inner(get9(loops, one, COUPLE), Y)
        put(loops, plan[at + 4, 0], get(loops, plan[at + 4, 0]) + x)


@kernel
def inner(A, B):
    """A : B."""
    return (
        A[0] * B[0] + A[1] * B[1] + A[2] * B[2]
        + A[3] * B[3] + A[4] * B[4] + A[5] * B[5]
        + A[6] * B[6] + A[7] * B[7] + A[8] * B[8]
    )  # fmt: skip


@kernel
def put_whole_demand(mechanism, work):
    """The right-hand side of that system: what the accelerations so far leave open."""
    plan, loops = mechanism.plan, mechanism.loops
    first, bodies, returning = plan[FIRST_OF_ALL, 0], mechanism.bodies.shape[0], loops[plan[SETTINGS, 0], RETURN]
    for b in range(bodies):
        i = mechanism.bodies[b, 0]
        W, C = transposed_product(get9(work, i, PRINCIPAL), get9(work, i, SECOND)), full_matrix(get6(work, i, BENDING))
        open_yet = full_add(full_add(W, transpose(W)), full_scale(2.0, C))  # (23)
        for k in range(LAMBDAS):
            p, q, weight = index_pair(k)
            put(loops, first + LAMBDAS * b + k, -weight * element(open_yet, p, q))
    first += LAMBDAS * bodies
    for q in range(plan[EQUATIONS, 0]):
        drift = returning * (2.0 * loops[q, RATE_OF_VALUE] + returning * loops[q, VALUE])
        put(loops, first + q, loops[q, XI] - drift)
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, e = plan[at, 0], plan[at + 1, 0], first + plan[at + 3, 0]
        x = dot(get3(loops, row, EFFORT), get3(work, i, LINEAR)) + inner(
            get9(loops, row, COUPLE), get9(work, i, SECOND)
        )
        put(loops, e, get(loops, e) - x)
