"""Bodies and joints in elements of R and T*, and the elimination of multipliers in two steps, for `rotation-matrix`.

In principal axes the solution of (25) is one division for each element of Λ. Put into (12) it gives P'' = P W with
W = j(a) - C, where C = R'ᵀ R' in these axes and a is what Euler's equation gives: (b), (c) of
docs/theory/rotation-matrix.md. So (24) becomes a system for the multipliers of the joints alone, (d).
"""

from poinsot._jit import kernel, routine
from poinsot.algebra import sparse
from poinsot.algebra.matrix import (
    SYMMETRIC_IDENTITY,
    full_sub,
    product,
    product_transposed,
    skew,
    symmetric_add,
    symmetric_part,
    symmetric_scale,
    symmetric_sub,
    times,
    transposed_product,
    transposed_product_symmetric,
    transposed_times,
    twice_symmetric_part,
)
from poinsot.algebra.matrix import full as full_matrix
from poinsot.algebra.memory import add3, column3, column9, get3, get6, get9, put3, put6, put9
from poinsot.algebra.sparse import get, put
from poinsot.algebra.vector import add, dot, scale
from poinsot.formulations.bodies import CHOSEN, EQUATION_PLACE, EQUATIONS, UNKNOWN
from poinsot.formulations.rotation_plan import (
    BENDING,
    BLOCKS,
    BLOCKS_END,
    BODY_ROWS,
    CENTER,
    DIRECTIONS,
    ELIMINATION,
    END,
    END_COUNT,
    END_ROWS,
    ENDS,
    KEPT_SOLUTION,
    LAMBDA,
    LENT_MOMENT,
    MASS,
    MOMENT,
    MOTION,
    MOVED,
    PAIR,
    PAIR_COUNT,
    PAIRS,
    PRINCIPAL,
    REFINED,
    RETURN,
    SECOND,
    SETTINGS,
    START,
    SWING,
    TO_PRINCIPAL,
    TORQUE,
    TURNING,
    D,
    H,
)
from poinsot.mechanism.absolute import LINEAR
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE, XI
from poinsot.mechanism.elements import COUPLE, EFFORT, put_element_equations
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    LOAD_FORCE,
    LOAD_TORQUE,
    POSITION,
    ROTATION,
    VELOCITIES,
    VELOCITY,
    borrowed,
)
from poinsot.scalars import borrow


@kernel
def body_row(plan, b):
    """The row of body b's constants."""
    return plan[BODY_ROWS, 0] + b


@kernel
def axial(W):
    """The vector of the skew part of W."""
    return 0.5 * (W[7] - W[5]), 0.5 * (W[2] - W[6]), 0.5 * (W[3] - W[1])


@routine
def place(mechanism, state, work):
    """The motion of every body, from the state: the centre of mass (3), (5), the user's axes, Ω (6), and C of (a)."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops, n = mechanism.plan, mechanism.loops, mechanism.sizes[0, VELOCITIES]
    r = loops[plan[SETTINGS, 0], RETURN]
    for b in range(mechanism.bodies.shape[0]):
        i, row, q = mechanism.bodies[b, 0], body_row(plan, b), MOTION * b
        R, V, center = column9(state, q + 3, 0), column9(state, n + q + 3, 0), get3(loops, row, CENTER)
        to_principal, start = get9(loops, row, TO_PRINCIPAL), get9(loops, row, START)
        P, S = product(R, start), product(V, start)
        put9(work, i, PRINCIPAL, P)
        put9(work, i, ROTATION, product_transposed(P, to_principal))
        put9(work, i, TURNING, product_transposed(S, to_principal))
        put3(work, i, POSITION, add(column3(state, q, 0), times(R, center)))
        put3(work, i, VELOCITY, add(column3(state, n + q, 0), times(V, center)))
        turned = transposed_product(P, S)
        put3(work, i, ANGULAR_VELOCITY, times(to_principal, axial(turned)))
        departure = symmetric_sub(transposed_product_symmetric(P, P), SYMMETRIC_IDENTITY)
        returning = symmetric_scale(r, symmetric_add(twice_symmetric_part(turned), symmetric_scale(0.5 * r, departure)))
        put6(work, i, BENDING, symmetric_add(transposed_product_symmetric(S, S), returning))


@routine
def evaluate(mechanism, t, state, work):
    """Place the bodies, evaluate the equations, and turn the efforts of their ends into principal axes."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops = mechanism.plan, mechanism.loops
    place(mechanism, state, work)
    put_element_equations(
        mechanism, t, state, work, TURNING, plan, plan[CHOSEN, 0], plan[DIRECTIONS, 0], plan[EQUATIONS, 0], loops,
        plan[END_ROWS, 0],
    )  # fmt: skip
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, body = plan[at, 0], plan[at + 1, 0], body_row(plan, plan[at + 2, 0])
        Y = product(get9(loops, row, COUPLE), get9(loops, body, TO_PRINCIPAL))
        H_end = transposed_product(get9(work, i, PRINCIPAL), Y)
        torque = scale(2.0, axial(H_end))
        put9(loops, row, COUPLE, Y)
        put9(loops, row, H, H_end)
        put3(loops, row, TORQUE, torque)
        put3(loops, row, MOVED, divided(torque, lent_moment(loops, body)))


@kernel
def lent_moment(loops, body):
    """The moments of inertia, with what is lent to them."""
    return add(get3(loops, body, MOMENT), get3(loops, body, LENT_MOMENT))


@kernel
def divided(a, b):
    """a over b, element by element."""
    return a[0] / b[0], a[1] / b[1], a[2] / b[2]


@kernel
def multiplied(a, b):
    """a by b, element by element."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel
def by_columns(A, d):
    """A D."""
    return (
        A[0] * d[0], A[1] * d[1], A[2] * d[2],
        A[3] * d[0], A[4] * d[1], A[5] * d[2],
        A[6] * d[0], A[7] * d[1], A[8] * d[2],
    )  # fmt: skip


@kernel
def along_bending(H_end, C):
    """H : C, C symmetric."""
    return (
        H_end[0] * C[0] + H_end[4] * C[1] + H_end[8] * C[2]
        + (H_end[1] + H_end[3]) * C[3] + (H_end[2] + H_end[6]) * C[4] + (H_end[5] + H_end[7]) * C[5]
    )  # fmt: skip


@kernel
def unknown_of(plan, q):
    """Where the multiplier of equation q stands."""
    return plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q, 0]


# ------------------------------------------------------------------------------------------ the two steps


@routine
def eliminate_in_two_steps(mechanism, work):
    """Multipliers of the joints from (24), into which the solution of (25) has been put; then P'' = P W, (c)."""
    mechanism, work = borrowed(mechanism), borrow(work)
    plan, loops, gravity = mechanism.plan, mechanism.loops, get3(mechanism.gravity, 0, 0)
    put_matrix(mechanism)
    sparse.factorise(plan, plan[ELIMINATION, 0], loops)
    for b in range(mechanism.bodies.shape[0]):
        i, row = mechanism.bodies[b, 0], body_row(plan, b)
        C, d = get6(work, i, BENDING), get3(loops, row, D)
        turning = (C[5] * (d[1] - d[2]), C[4] * (d[2] - d[0]), C[3] * (d[0] - d[1]))
        torque = add(transposed_times(get9(work, i, PRINCIPAL), get3(work, i, LOAD_TORQUE)), turning)
        put3(work, i, SWING, divided(torque, lent_moment(loops, row)))
        put3(work, i, LINEAR, add(scale(1.0 / loops[row, MASS], get3(work, i, LOAD_FORCE)), gravity))
    demand_accelerations(mechanism, work)
    sparse.solve(plan, plan[ELIMINATION, 0], loops)
    move_by_multipliers(mechanism, work)
    for _ in range(plan[REFINED, 0]):
        refine(mechanism, work)
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put9(work, i, SECOND, product(get9(work, i, PRINCIPAL), second_in_body(work, i)))


@kernel
def second_in_body(work, i):
    """W = j(a) - C of (b)."""
    return full_sub(skew(get3(work, i, SWING)), full_matrix(get6(work, i, BENDING)))


@routine
def put_matrix(mechanism):
    """The matrix of the second step, (d): what the multipliers do to each other's equations through the bodies."""
    mechanism = borrowed(mechanism)
    plan, loops = mechanism.plan, mechanism.loops
    for e in range(plan[BLOCKS, 0], plan[BLOCKS_END, 0]):
        put(loops, e, 0.0)
    for n in range(plan[PAIR_COUNT, 0]):
        at = plan[PAIRS, 0] + PAIR * n
        one, other, mass = plan[at, 0], plan[at + 1, 0], loops[body_row(plan, plan[at + 2, 0]), MASS]
        x = dot(get3(loops, one, EFFORT), get3(loops, other, EFFORT)) / mass
        x += dot(get3(loops, one, TORQUE), get3(loops, other, MOVED))
        put(loops, plan[at + 3, 0], get(loops, plan[at + 3, 0]) + x)


@kernel
def demand_accelerations(mechanism, work):
    """The right-hand side of (24): what the bodies' accelerations so far leave open."""
    plan, loops = mechanism.plan, mechanism.loops
    returning = loops[plan[SETTINGS, 0], RETURN]
    for q in range(plan[EQUATIONS, 0]):
        drift = returning * (2.0 * loops[q, RATE_OF_VALUE] + returning * loops[q, VALUE])
        put(loops, unknown_of(plan, q), loops[q, XI] - drift)
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, u = plan[at, 0], plan[at + 1, 0], unknown_of(plan, plan[at + 3, 0])
        x = along_bending(get9(loops, row, H), get6(work, i, BENDING))
        x -= dot(get3(loops, row, EFFORT), get3(work, i, LINEAR)) + dot(get3(loops, row, TORQUE), get3(work, i, SWING))
        put(loops, u, get(loops, u) + x)


@kernel
def move_by_multipliers(mechanism, work):
    """Add what the unknowns give to the accelerations (or displacements) of the bodies."""
    plan, loops = mechanism.plan, mechanism.loops
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, x = plan[at, 0], plan[at + 1, 0], get(loops, unknown_of(plan, plan[at + 3, 0]))
        mass = loops[body_row(plan, plan[at + 2, 0]), MASS]
        add3(work, i, LINEAR, scale(x / mass, get3(loops, row, EFFORT)))
        add3(work, i, SWING, scale(x, get3(loops, row, MOVED)))


@routine
def refine(mechanism, work):
    """Take back what lent inertia has changed; the factors are at hand."""
    mechanism, work = borrowed(mechanism), borrow(work)
    plan, loops = mechanism.plan, mechanism.loops
    kept = plan[KEPT_SOLUTION, 0]
    for q in range(plan[EQUATIONS, 0]):
        put(loops, kept + q, get(loops, unknown_of(plan, q)))
    for b in range(mechanism.bodies.shape[0]):
        i, row = mechanism.bodies[b, 0], body_row(plan, b)
        missing = multiplied(get3(loops, row, LENT_MOMENT), get3(work, i, SWING))
        add3(work, i, SWING, divided(missing, lent_moment(loops, row)))
    demand_accelerations(mechanism, work)
    sparse.solve(plan, plan[ELIMINATION, 0], loops)
    move_by_multipliers(mechanism, work)
    for q in range(plan[EQUATIONS, 0]):
        u = unknown_of(plan, q)
        put(loops, u, get(loops, u) + get(loops, kept + q))


@kernel
def find_lambdas(mechanism, work):
    """Λ of every body from (9), in its principal axes: W D - H with the H of loads and joints."""
    plan, loops = mechanism.plan, mechanism.loops
    for b in range(mechanism.bodies.shape[0]):
        i, d = mechanism.bodies[b, 0], get3(loops, body_row(plan, b), D)
        put6(work, i, LAMBDA, symmetric_part(by_columns(second_in_body(work, i), d)))
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, x = plan[at, 0], plan[at + 1, 0], get(loops, unknown_of(plan, plan[at + 3, 0]))
        done = symmetric_scale(x, symmetric_part(get9(loops, row, H)))
        put6(work, i, LAMBDA, symmetric_sub(get6(work, i, LAMBDA), done))
