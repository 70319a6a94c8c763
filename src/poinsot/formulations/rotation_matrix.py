"""`rotation-matrix`: the nine elements of R and the pseudo-translation T* as coordinates, after paper 000.

Dumitriu, Mărgăritescu, Validation of New Rigid Body Dynamics Formulation Using Rotation Matrices Elements as Dependent
Parameters. R and T* (1) take a body from where it is at t = 0, (4), to where it is; Lagrange's equations (9), (12) have
a symmetric matrix Λ of multipliers for the orthogonality of R, and one multiplier for each equation of a joint. They
are eliminated in two steps, (25) and then (24), or all at once. Numbers of equations are the paper's, and those with a
letter those of docs/theory/rotation-matrix.md.

Kernels work in the principal axes of each body: with A for these at t = 0, P = R A has them for columns, and K is a
diagonal D.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, kernel, routine
from poinsot.algebra import manifold, so3, sparse
from poinsot.algebra.manifold import larger, nearest_rotation
from poinsot.algebra.matrix import (
    SYMMETRIC_IDENTITY,
    full_add,
    full_scale,
    full_sub,
    product,
    product_transposed,
    rotate_symmetric,
    skew,
    skew_times,
    symmetric_add,
    symmetric_part,
    symmetric_scale,
    symmetric_sub,
    times,
    times_skew,
    transposed_product,
    transposed_product_symmetric,
    transposed_times,
    twice_symmetric_part,
)
from poinsot.algebra.matrix import full as full_matrix
from poinsot.algebra.memory import add3, column3, column9, get3, get6, get9, put3, put6, put9, put_column3, put_column9
from poinsot.algebra.sparse import ROW, get, put
from poinsot.algebra.vector import add, dot, scale, sub
from poinsot.errors import PoinsotError
from poinsot.formulations.bodies import (
    CHOSEN,
    COMMON_HEAD,
    EQUATION_PLACE,
    EQUATIONS,
    KEPT_STATE,
    NEAR_SINGULAR,
    UNKNOWN,
    Kernels,
    judge_pivots,
    keep,
    recall,
)
from poinsot.formulations.closure import CLOSED_TO, Closure, cannot_be_kept_closed
from poinsot.formulations.loops import KEPT, OPENED, SETTLING
from poinsot.formulations.plan import way_of
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import (
    ALPHA,
    LINEAR,
    POSE,
    count_rates,
    counters_of,
    of_bodies,
    report_motion,
    set_counts,
    state_of_bodies,
    workspace_of_bodies,
)
from poinsot.mechanism.absolute import MOTION as TWIST
from poinsot.mechanism.build import Layout
from poinsot.mechanism.constraints import ALONG, GRADIENT, RATE_OF_VALUE, VALUE, XI, put_equations
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.elements import COUPLE, EFFORT, fixed_direction, put_element_equations
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.loads import apply_body_loads, clear_loads
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    DRIVE_FORCE,
    EQUATION_JOINT,
    LOAD_FORCE,
    LOAD_TORQUE,
    MULTIPLIER,
    ORTHOGONALITY,
    POSITION,
    REACTION_FORCE,
    ROTATION,
    VELOCITIES,
    VELOCITY,
    borrowed,
)
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Array, Option, SecondOrderODE
from poinsot.scalars import BorrowedType, borrow, floats, lend

OPTIONS = {
    "elimination": Option(
        "two-step", "how multipliers are eliminated: those of orthogonality first, or all from one system",
        ("two-step", "full"),
    ),
    "multipliers": Option(
        "per-stage", "when multipliers are found: at every stage, or at the beginning of each step, over which they are "
        "held", ("per-stage", "per-step"),
    ),
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    ),
}  # fmt: skip

# The head of `plan` behind what is common. Lists: of each equation, an axis of the world or -1, and its place among
# its joint's or -1; of each end of a term at a body; of each pair of ends at one body; counted angles. Then the plans of
# elimination in two steps and at once, whether elimination is at once, whether multipliers are held over steps, whether
# states are projected, how often solutions are refined. In the table of scalars: rows of bodies, rows of ends, blocks
# (and their end), unknowns of the elimination at once (and how many), a kept solution, settings.
(
    DIRECTIONS, PLACES_IN_JOINT, ENDS, END_COUNT, PAIRS, PAIR_COUNT, COUNTERS, COUNTED, ELIMINATION, TOGETHER, AT_ONCE,
    HELD, PROJECTS, REFINED, BODY_ROWS, END_ROWS, BLOCKS, BLOCKS_END, FIRST_OF_ALL, ALL, KEPT_SOLUTION, SETTINGS, HEAD,
) = range(COMMON_HEAD, COMMON_HEAD + 23)  # fmt: skip
# Of each end at a body: its row in the table of scalars, the link of the body, its number, its equation. Of each pair:
# both rows, the body, and the entries of the matrices of both eliminations that it adds to.
END, PAIR = 4, 5
# Rows of the state and of the velocities of a body: T*, then R. Multipliers of orthogonality.
MOTION, LAMBDAS = 12, 6
# Columns of `work` behind those of absolute.py: P, R' of the user's axes, C of (a), P'', the angular acceleration in
# principal axes, Λ in principal axes.
PRINCIPAL, TURNING, BENDING, SECOND, SWING, LAMBDA = (LINEAR + n for n in (3, 12, 21, 27, 36, 39))
COLUMNS = LAMBDA + LAMBDAS
# Columns of a body's row in the table of scalars: OG at t = 0, principal axes in the user's ones and A, D, the moments
# of inertia, what is lent to them, and the mass.
CENTER, TO_PRINCIPAL, START, D, MOMENT, LENT_MOMENT, MASS = 0, 3, 12, 21, 24, 27, 30
# Columns of an end's row, behind X and Y: H = Pᵀ Y, its moment, and the angular acceleration that this gives.
H, TORQUE, MOVED = 12, 21, 24
# Settings: the largest |Φ| that counts as closed, Baumgarte's rate (0 without).
CLOSED, RETURN = range(2)
# What a projection answers that has renewed held multipliers (problem.py).
RENEWED = 5
# A pivot of an equation below this part of what it would be between free bodies is rounding.
REDUNDANT = 1e-12
# A body that has no inertia about some axis is lent this part of what it has about the others; what that changes in a
# solution is taken back by refinement. A body whose D has an entry below this part of the others is flat.
LENT, REFINEMENTS, FLAT = 1e-9, 2, 1e-9
# Newton's iteration for positions squares what is missing; more than this it never needs.
MOST_ITERATIONS = 12


# ------------------------------------------------------------------------------------------ equation (12)


@routine
def rotation_dynamics(mechanism, t, state, work, rate):
    """The velocities of T* and R, and their accelerations (12)."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    plan, loops, n = mechanism.plan, mechanism.loops, mechanism.sizes[0, VELOCITIES]
    near = plan[NEAR_SINGULAR, 0] != 0
    if near:
        settle(mechanism, t, state, work)
    call_loads(mechanism, t, state, work)
    evaluate(mechanism, t, state, work)
    if plan[HELD, 0] != 0:
        take_held(mechanism, state, work)
        accelerate_by_multipliers(mechanism, work)
    elif plan[AT_ONCE, 0] != 0:
        eliminate_at_once(mechanism, work)
        accelerate_by_multipliers(mechanism, work)
    else:
        eliminate_in_two_steps(mechanism, work)
    for k in range(n):
        rate[k, 0] = state[n + k, 0]
        rate[n + k, 0] = 0.0 * state[n + k, 0]
    for b in range(mechanism.bodies.shape[0]):
        i, row = mechanism.bodies[b, 0], body_row(plan, b)
        P = get9(work, i, PRINCIPAL)
        put3(work, i, ALPHA, times(get9(loops, row, TO_PRINCIPAL), axial(transposed_product(P, get9(work, i, SECOND)))))
        R_second = product_transposed(get9(work, i, SECOND), get9(loops, row, START))
        T_second = sub(get3(work, i, LINEAR), times(R_second, get3(loops, row, CENTER)))
        put_column3(rate, n + MOTION * b, 0, T_second)
        put_column9(rate, n + MOTION * b + 3, 0, R_second)
    count_rates(mechanism, plan, plan[COUNTERS, 0], plan[COUNTED, 0], state, work, rate)
    if near:
        recall(plan, loops, state)


@kernel
def body_row(plan, b):
    """The row of body b's constants."""
    return plan[BODY_ROWS, 0] + b


@kernel
def axial(W):
    """The vector of the skew part of W."""
    return 0.5 * (W[7] - W[5]), 0.5 * (W[2] - W[6]), 0.5 * (W[3] - W[1])


@kernel
def place(mechanism, state, work):
    """The motion of every body, from the state: the centre of mass (3), (5), the user's axes, Ω (6), and C of (a)."""
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
def apply_loads_to_elements(mechanism, t, state, work):
    """All loads, those on joint coordinates too, as forces and torques on the bodies."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    clear_loads(mechanism, work)
    place(mechanism, state, work)
    apply_body_loads(mechanism, t, state, work)


@kernel
def evaluate(mechanism, t, state, work):
    """Place the bodies, evaluate the equations, and turn the efforts of their ends into principal axes."""
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
def over_columns(A, d):
    """A D⁻¹."""
    return (
        A[0] / d[0], A[1] / d[1], A[2] / d[2],
        A[3] / d[0], A[4] / d[1], A[5] / d[2],
        A[6] / d[0], A[7] / d[1], A[8] / d[2],
    )  # fmt: skip


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


# ------------------------------------------------------------------------------------------ elimination in two steps


@kernel
def eliminate_in_two_steps(mechanism, work):
    """Multipliers of the joints from (24), into which the solution of (25) has been put; then P'' = P W, (c)."""
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


@kernel
def put_matrix(mechanism):
    """The matrix of the second step, (d): what the multipliers do to each other's equations through the bodies."""
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


@kernel
def refine(mechanism, work):
    """Take back what lent inertia has changed; the factors are at hand."""
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
    """Λ of every body from (9), in its principal axes: P (W D - H) with the loads' and the joints' H."""
    plan, loops = mechanism.plan, mechanism.loops
    for b in range(mechanism.bodies.shape[0]):
        i, d = mechanism.bodies[b, 0], get3(loops, body_row(plan, b), D)
        put6(work, i, LAMBDA, symmetric_part(by_columns(second_in_body(work, i), d)))
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, x = plan[at, 0], plan[at + 1, 0], get(loops, unknown_of(plan, plan[at + 3, 0]))
        done = symmetric_scale(x, symmetric_part(get9(loops, row, H)))
        put6(work, i, LAMBDA, symmetric_sub(get6(work, i, LAMBDA), done))


# ------------------------------------------------------------------------------------------ elimination at once


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
    put_whole_demand(mechanism, work)
    sparse.solve(plan, plan[TOGETHER, 0], loops)
    first, bodies = plan[FIRST_OF_ALL, 0], mechanism.bodies.shape[0]
    for b in range(bodies):
        for k in range(LAMBDAS):
            work[mechanism.bodies[b, 0], LAMBDA + k] = get(loops, first + LAMBDAS * b + k)
    for q in range(plan[EQUATIONS, 0]):
        put(loops, unknown_of(plan, q), get(loops, first + LAMBDAS * bodies + q))


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
    """The right-hand side of that system: what the loads leave open."""
    plan, loops, gravity = mechanism.plan, mechanism.loops, get3(mechanism.gravity, 0, 0)
    first, bodies, returning = plan[FIRST_OF_ALL, 0], mechanism.bodies.shape[0], loops[plan[SETTINGS, 0], RETURN]
    for b in range(bodies):
        i, d = mechanism.bodies[b, 0], get3(loops, body_row(plan, b), D)
        C, H_loads = (
            full_matrix(get6(work, i, BENDING)),
            transposed_product(get9(work, i, PRINCIPAL), load_couple(work, i)),
        )
        for k in range(LAMBDAS):
            p, q, weight = index_pair(k)
            x = -2.0 * weight * element(C, p, q) - stretched(H_loads, d, k)
            put(loops, first + LAMBDAS * b + k, x)
    first += LAMBDAS * bodies
    for q in range(plan[EQUATIONS, 0]):
        drift = returning * (2.0 * loops[q, RATE_OF_VALUE] + returning * loops[q, VALUE])
        put(loops, first + q, loops[q, XI] - drift)
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        row, i, body, e = plan[at, 0], plan[at + 1, 0], body_row(plan, plan[at + 2, 0]), first + plan[at + 3, 0]
        x_loads = add(scale(1.0 / loops[body, MASS], get3(work, i, LOAD_FORCE)), gravity)
        x = dot(get3(loops, row, EFFORT), x_loads)
        x += inner(get9(loops, row, COUPLE), over_columns(load_couple(work, i), get3(loops, body, D)))
        put(loops, e, get(loops, e) - x)


# ------------------------------------------------------------------------------------------ held multipliers


@routine
def take_held(mechanism, state, work):
    """Multipliers out of the state, which holds them over a step."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, bodies = mechanism.plan, mechanism.bodies.shape[0]
    first = MOTION * bodies
    for b in range(bodies):
        for k in range(LAMBDAS):
            work[mechanism.bodies[b, 0], LAMBDA + k] = state[first + LAMBDAS * b + k, 0]
    for q in range(plan[EQUATIONS, 0]):
        put(mechanism.loops, unknown_of(plan, q), state[first + LAMBDAS * bodies + q, 0])


@routine
def renew_held(mechanism, t, state, work):
    """Multipliers at this time and state into the state."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops, bodies = mechanism.plan, mechanism.loops, mechanism.bodies.shape[0]
    call_loads(mechanism, t, state, work)
    evaluate(mechanism, t, state, work)
    if plan[AT_ONCE, 0] != 0:
        eliminate_at_once(mechanism, work)
    else:
        eliminate_in_two_steps(mechanism, work)
        find_lambdas(mechanism, work)
    first = MOTION * bodies
    for b in range(bodies):
        for k in range(LAMBDAS):
            state[first + LAMBDAS * b + k, 0] = work[mechanism.bodies[b, 0], LAMBDA + k]
    for q in range(plan[EQUATIONS, 0]):
        state[first + LAMBDAS * bodies + q, 0] = get(loops, unknown_of(plan, q))


# ------------------------------------------------------------------------------------------ stabilisation


@routine
def stabilise(mechanism, blocks, t, state, work, rate, kept):
    """Bring R to the nearest rotations and the joints together, then velocities; renew multipliers that are held."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, answer = mechanism.plan, KEPT
    if plan[PROJECTS, 0] != 0:
        left = close(mechanism, t, state, work, MOST_ITERATIONS)
        if not left <= mechanism.loops[plan[SETTINGS, 0], CLOSED]:
            return OPENED
        set_counts(mechanism, plan, plan[COUNTERS, 0], plan[COUNTED, 0], state, work)
        answer = judge_pivots(plan, mechanism.loops)
    if plan[HELD, 0] != 0:
        renew_held(mechanism, t, state, work)
        answer = RENEWED
    return answer


@kernel
def settle(mechanism, t, state, work):
    """Exchange the state for the nearest closed one; `recall` brings it back (see docs/theory/constraints.md)."""
    keep(mechanism.plan, mechanism.loops, state)
    close(mechanism, t, state, work, SETTLING)


@routine
def close(mechanism, t, state, work, most):
    """Move the bodies, by the least amount in the metric of their inertia, to rotations that fulfil the equations.

    Velocities follow. The largest |Φ| that is left is returned.
    """
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops = mechanism.plan, mechanism.loops
    missed, left = 0.0, 0.0
    make_rotations(mechanism, state, work)
    for iteration in range(most):
        left = demand(mechanism, t, state, work, VALUE)
        if left == 0.0 or not left < math.inf or (iteration > 0 and left >= 0.5 * missed):
            break
        missed = left
        correct(mechanism, work, VALUE)
        for b in range(mechanism.bodies.shape[0]):
            i = mechanism.bodies[b, 0]
            P = product(get9(work, i, PRINCIPAL), so3.exp(get3(work, i, SWING)))
            put_pose(mechanism, state, b, P, add(get3(work, i, POSITION), get3(work, i, LINEAR)))
    demand(mechanism, t, state, work, RATE_OF_VALUE)
    correct(mechanism, work, RATE_OF_VALUE)
    for b in range(mechanism.bodies.shape[0]):
        i, to_principal = mechanism.bodies[b, 0], get9(loops, body_row(plan, b), TO_PRINCIPAL)
        w = add(transposed_times(to_principal, get3(work, i, ANGULAR_VELOCITY)), get3(work, i, SWING))
        put_velocity(
            mechanism, state, b, get9(work, i, PRINCIPAL), w, add(get3(work, i, VELOCITY), get3(work, i, LINEAR))
        )
    evaluate(mechanism, t, state, work)
    return left


@kernel
def make_rotations(mechanism, state, work):
    """R becomes the nearest rotation and R' the nearest of its velocities; the centre of mass moves as before."""
    place(mechanism, state, work)
    for b in range(mechanism.bodies.shape[0]):
        i, to_principal = mechanism.bodies[b, 0], get9(mechanism.loops, body_row(mechanism.plan, b), TO_PRINCIPAL)
        P, w = (
            nearest_rotation(get9(work, i, PRINCIPAL)),
            transposed_times(to_principal, get3(work, i, ANGULAR_VELOCITY)),
        )
        put_pose(mechanism, state, b, P, get3(work, i, POSITION))
        put_velocity(mechanism, state, b, P, w, get3(work, i, VELOCITY))


@kernel
def put_pose(mechanism, state, b, P, x):
    """R and T* (1) of a body."""
    row, q = body_row(mechanism.plan, b), MOTION * b
    R = product_transposed(P, get9(mechanism.loops, row, START))
    put_column3(state, q, 0, sub(x, times(R, get3(mechanism.loops, row, CENTER))))
    put_column9(state, q + 3, 0, R)


@kernel
def put_velocity(mechanism, state, b, P, w, v):
    """R' (7) and T*' (5) of a body."""
    row, q = body_row(mechanism.plan, b), mechanism.sizes[0, VELOCITIES] + MOTION * b
    V = product_transposed(times_skew(P, w), get9(mechanism.loops, row, START))
    put_column3(state, q, 0, sub(v, times(V, get3(mechanism.loops, row, CENTER))))
    put_column9(state, q + 3, 0, V)


@kernel
def demand(mechanism, t, state, work, column):
    """Evaluate all equations; the largest Φ or Φ' is returned."""
    largest = 0.0
    evaluate(mechanism, t, state, work)
    for q in range(mechanism.plan[EQUATIONS, 0]):
        largest = larger(largest, mechanism.loops[q, column])
    return largest


@kernel
def correct(mechanism, work, column):
    """The least motion of the bodies that takes Φ or Φ' away to first order."""
    plan, loops = mechanism.plan, mechanism.loops
    put_matrix(mechanism)
    sparse.factorise(plan, plan[ELIMINATION, 0], loops)
    for q in range(plan[EQUATIONS, 0]):
        put(loops, unknown_of(plan, q), -loops[q, column])
    sparse.solve(plan, plan[ELIMINATION, 0], loops)
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put3(work, i, LINEAR, scale(0.0, get3(work, i, LINEAR)))
        put3(work, i, SWING, scale(0.0, get3(work, i, SWING)))
    move_by_multipliers(mechanism, work)


# ------------------------------------------------------------------------------------------ the report


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `rotation_dynamics`."""
    plan, loops = mechanism.plan, mechanism.loops
    if plan[HELD, 0] == 0 and plan[AT_ONCE, 0] == 0:
        find_lambdas(mechanism, work)
    place(mechanism, state, work)
    report_motion(mechanism, state, work, bodies, joints)
    for b in range(mechanism.bodies.shape[0]):
        i, start = mechanism.bodies[b, 0], get9(loops, body_row(plan, b), START)
        put6(bodies, b, ORTHOGONALITY, rotate_symmetric(start, get6(work, i, LAMBDA)))
    for j in range(mechanism.joints.shape[0]):
        clear_reaction(joints, j)
        joints[j, DRIVE_FORCE] = 0.0
    put_equations(mechanism, 0.0, state, work, plan, plan[CHOSEN, 0], plan[EQUATIONS, 0], loops)
    for q in range(plan[EQUATIONS, 0]):
        e, x, direction = (
            plan[plan[CHOSEN, 0] + q, 0],
            get(loops, unknown_of(plan, q)),
            plan[plan[DIRECTIONS, 0] + q, 0],
        )
        j, place_in_joint = mechanism.equations[e, EQUATION_JOINT], plan[plan[PLACES_IN_JOINT, 0] + q, 0]
        if place_in_joint >= 0:
            joints[j, MULTIPLIER + place_in_joint] = x
        if direction >= 0:
            add3(joints, j, REACTION_FORCE, scale(x, fixed_direction(direction, get3(work, 0, POSITION))))
        else:
            add_reaction(mechanism, e, loops, q, x, joints)


# ------------------------------------------------------------------------------------------ posing


KERNELS = Kernels(rotation_dynamics, apply_loads_to_elements, COLUMNS)


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE:
    """Pose (12) with the initial values (4) and (8)."""
    refuse_undetermined(layout)
    stabilize = chosen.get("stabilize", "projection")
    if stabilize == "rotation-vector":
        raise PoinsotError(
            'simulate: stabilize "rotation-vector" is not one of formulation "rotation-matrix"; choose projection, '
            "baumgarte or none"
        )
    held, at_once = chosen.get("multipliers") == "per-step", chosen.get("elimination") == "full"
    if held or at_once:
        _refuse_flat_bodies(layout, "multipliers per-step" if held else "elimination full")
    closure = Closure.of(layout, chosen)
    start, counters = closure.consistent(initial_state(layout)), counters_of(layout)
    imposed = [e for e in range(len(layout.equations)) if e not in closure.rows or e in closure.chosen]
    bodies = len(layout.bodies)
    rows = MOTION * bodies + (LAMBDAS * bodies + len(imposed) if held else 0)
    moving = state_of_bodies(layout, counters, start)
    initial = _initial(moving, bodies, rows)
    mechanism = of_bodies(layout, counters, rows, rows)
    mechanism = _with_plan(layout, mechanism, imposed, counters, moving, len(initial), closure.size)
    plan, loops = mechanism.plan, mechanism.loops
    plan[[AT_ONCE, HELD, PROJECTS], 0] = at_once, held, stabilize == "projection"
    if stabilize == "baumgarte":
        loops[plan[SETTINGS, 0], RETURN] = chosen["rate_of_return"]
    work = workspace_of_bodies(mechanism, floats, COLUMNS)
    view, table = BorrowedType(float64), float64[:, ::1]
    address_of_rates = KERNELS.address_of_rates(mechanism, view)
    _put_least_pivots(closure, mechanism, imposed, initial, work)
    if held:
        renew_held(mechanism, 0.0, initial, work)
    duals = KERNELS.dual_tables(mechanism)
    blocks, n_states, n_rates = manifold.block_table([(manifold.REAL, len(initial) // 2)] * 2)
    lent, blocks, work = lend((mechanism, blocks, work))
    signature = types.int64(*map(typeof, (lent, blocks)), float64, *(view,) * 4)
    stabilised = stabilize == "projection" or held
    rotations = [(manifold.ROTATION, MOTION * b + 3, 0, 0) for b in range(bodies)]
    return SecondOrderODE(
        layout,
        lent,
        blocks,
        n_states,
        n_rates,
        initial,
        work,
        address_of_rates,
        address(report, types.void(typeof(lent), view, view, table, table)),
        lambda: KERNELS.derived(layout, mechanism),
        dual_tables=lend(duals),
        project=address(stabilise, signature) if stabilised else 0,
        diagnose=lambda time, state: _diagnose(layout, mechanism, imposed, time, state),
        mobility=closure.mobility,
        redundant=closure.redundant,
        renews=held,
        rotations=lend(np.array(rotations, np.int64).reshape(-1, 4)),
        multipliers=True,
    )


def _initial(moving: Array, bodies: int, rows: int) -> Array:
    """(4) and (8), with counts behind; held multipliers are zero yet."""
    counted = (len(moving) - (POSE + TWIST) * bodies) // 2
    positions, velocities = np.zeros(rows + counted), np.zeros(rows + counted)
    first = POSE * bodies + counted
    for b in range(bodies):
        R, x = moving[POSE * b : POSE * b + 9, 0].reshape(3, 3), moving[POSE * b + 9 : POSE * (b + 1), 0]
        w, v = moving[first + TWIST * b :, 0][:3], moving[first + TWIST * b :, 0][3:6]
        spin = np.array(skew(tuple(R @ w))).reshape(3, 3)
        positions[MOTION * b + 3 : MOTION * (b + 1)] = np.eye(3).ravel()
        velocities[MOTION * b : MOTION * (b + 1)] = *(v - spin @ x), *spin.ravel()
    positions[rows:] = moving[POSE * bodies : first, 0]
    velocities[rows:] = moving[len(moving) - counted :, 0]
    return np.concatenate((positions, velocities))[:, None].copy()


def _principal(layout: Layout) -> list[tuple[Array, Array, Array]]:
    """Of each body the principal axes in its own ones, D, which is K (11) there, and the moments of inertia."""
    found: list[tuple[Array, Array, Array]] = []
    for body in layout.model.bodies.values():
        J = body.inertia.matrix
        if np.abs(J - np.diag(np.diag(J))).max() == 0.0:
            moments, axes = np.diag(J).copy(), np.eye(3)
        else:
            moments, axes = np.linalg.eigh(J)
            axes[:, 2] *= np.sign(np.linalg.det(axes))
        found.append((axes, 0.5 * moments.sum() - moments, moments))
    return found


def _refuse_flat_bodies(layout: Layout, what: str) -> None:
    """Raise an error where (12) would divide by nothing."""
    for name, (_, d, _) in zip(layout.bodies, _principal(layout), strict=True):
        if d.min() <= FLAT * d.max():
            raise PoinsotError(
                f'body "{name}": it is flat, so that its Poinsot inertia has no inverse, which {what} needs; give it '
                "some thickness, or leave that option at its default"
            )


def _with_plan(
    layout: Layout,
    mechanism: tables.Mechanism,
    imposed: Sequence[int],
    counters: Sequence[tuple[int, int]],
    moving: Array,
    n_states: int,
    size: float,
) -> tables.Mechanism:
    """The mechanism with its plan and its table of scalars, laid out for these equations."""
    bodies, rows = len(layout.bodies), len(layout.equations)
    body_of_link = {int(link): b for b, link in enumerate(mechanism.bodies[:, 0])}
    members: dict[str, list[int]] = {}
    for e in imposed:
        members.setdefault(layout.equations[e].owner, []).append(e)
    sizes = [len(group) for group in members.values()]
    place = {e: (node, n) for node, group in enumerate(members.values()) for n, e in enumerate(group)}

    table = [0] * HEAD
    table[EQUATIONS], table[CHOSEN] = len(imposed), len(table)
    table += imposed
    table[DIRECTIONS] = len(table)
    table += [_direction(layout, mechanism, e, members[layout.equations[e].owner]) for e in imposed]
    table[PLACES_IN_JOINT] = len(table)
    owners = [word.owner for word in layout.equations]
    table += [-1 if layout.equations[e].is_drive else e - owners.index(owners[e]) for e in imposed]

    table[BODY_ROWS], table[END_ROWS] = rows, rows + bodies
    ends: list[tuple[int, int, int]] = []  # row, link, equation
    row = table[END_ROWS]
    for q, e in enumerate(imposed):
        for link, _, _ in way_of(layout.mechanism, e).ends:
            ends.append((row, link, q))
            row += 1
    ends = [end for end in ends if end[1] in body_of_link]
    table[ENDS], table[END_COUNT] = len(table), len(ends)
    for end_row, link, q in ends:
        table += [end_row, link, body_of_link[link], q]

    at_body: dict[int, list[tuple[int, int]]] = {}
    for end_row, link, q in ends:
        at_body.setdefault(link, []).append((end_row, q))
    around: dict[int, set[int]] = {node: set() for node in range(len(sizes))}
    for group in at_body.values():
        nodes = {place[imposed[q]][0] for _, q in group}
        for node in nodes:
            around[node] |= nodes - {node}
    elimination = sparse.plan_elimination(sizes, around, {}, row * ROW)
    whole = LAMBDAS * bodies + len(imposed)
    together = sparse.plan_elimination([whole], {}, {}, elimination.scalars)
    table[PAIRS] = len(table)
    for link, group in at_body.items():
        for one, q in group:
            for other, p in group:
                (node, n), (beside, m) = place[imposed[q]], place[imposed[p]]
                if (node, n) >= (beside, m):
                    begin, by_row, by_column = elimination.entry(node, beside, sizes)
                    line, column = LAMBDAS * bodies + max(p, q), LAMBDAS * bodies + min(p, q)
                    entry = together.diagonal[0] + line * whole + column
                    table += [one, other, body_of_link[link], begin + n * by_row + m * by_column, entry]
    table[PAIR_COUNT] = (len(table) - table[PAIRS]) // PAIR

    table[UNKNOWN] = len(table)
    for e in imposed:
        node, n = place[e]
        table += [elimination.unknowns[node] + n, elimination.diagonal[node] + n * (sizes[node] + 1)]
    table[COUNTERS], table[COUNTED] = len(table), len(counters)
    table += [number for pair in counters for number in pair]
    table[ELIMINATION] = len(table)
    table += elimination.table
    table[TOGETHER] = len(table)
    table += together.table
    table[BLOCKS], table[BLOCKS_END] = row * ROW + 2 * len(imposed), elimination.scalars
    table[FIRST_OF_ALL], table[ALL] = elimination.scalars, whole
    table[KEPT_SOLUTION] = together.scalars
    table[KEPT_STATE] = together.scalars + len(imposed)
    table[SETTINGS] = (table[KEPT_STATE] + n_states) // ROW + 1
    loops = np.zeros((table[SETTINGS] + 1, ROW))
    loops[table[SETTINGS], CLOSED] = CLOSED_TO * size
    thin = False
    for b, (axes, d, moments) in enumerate(_principal(layout)):
        constants, pose_of_body = loops[rows + b], moving[POSE * b : POSE * (b + 1), 0]
        constants[CENTER : CENTER + 3] = pose_of_body[9:]
        constants[TO_PRINCIPAL : TO_PRINCIPAL + 9] = axes.ravel()
        constants[START : START + 9] = (pose_of_body[:9].reshape(3, 3) @ axes).ravel()
        constants[D : D + 3], constants[MOMENT : MOMENT + 3] = d, moments
        constants[MASS] = mechanism.body_frames[b, tables.BODY_MASS]
        if moments.min() <= LENT * moments.max():
            constants[LENT_MOMENT : LENT_MOMENT + 3] = LENT * moments.sum()
            thin = True
    table[REFINED] = REFINEMENTS if thin else 0
    return mechanism._replace(plan=np.array(table, np.int64)[:, None], loops=loops)


def _direction(layout: Layout, mechanism: tables.Mechanism, e: int, group: Sequence[int]) -> int:
    """The axis of the world along which an equation of a spherical joint keeps its point, (13); -1 for others.

    Where equations of the joint are redundant, its own axes tell which.
    """
    _, j, first, _, function = mechanism.equations[e]
    spherical = tables.JOINT_KINDS[mechanism.joints[j, tables.JOINT_KIND]] == "spherical"
    kind, *_, axis, _ = mechanism.terms[first]
    return int(axis) if spherical and function < 0 and kind == ALONG and len(group) == 3 else -1


def _put_least_pivots(
    closure: Closure, mechanism: tables.Mechanism, imposed: Sequence[int], state: Array, work: Array
) -> None:
    """Below which pivots equations count as dependent on others: a part of what they would be between free bodies."""
    plan, loops = mechanism.plan[:, 0], mechanism.loops
    put_gradients(mechanism, state, work)
    bodies = len(mechanism.bodies)
    for q, e in enumerate(imposed):
        scale_of_q = sum(
            closure.answer(work, link, loops[q, GRADIENT * term : GRADIENT * (term + 1)])
            for link, term, _ in way_of(mechanism, e).ends
            if link > 0
        )
        for unknown, count in (
            (plan[plan[UNKNOWN] + EQUATION_PLACE * q], len(imposed)),
            (plan[FIRST_OF_ALL] + LAMBDAS * bodies + q, plan[ALL]),
        ):
            loops.ravel()[unknown + count] = REDUNDANT * scale_of_q


@routine
def put_gradients(mechanism, state, work):
    """Gradients of the equations as wrenches, for Python."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan = mechanism.plan
    place(mechanism, state, work)
    put_equations(mechanism, 0.0, state, work, plan, plan[CHOSEN, 0], plan[EQUATIONS, 0], mechanism.loops)


@routine
def evaluate_for_python(mechanism, t, state, work):
    """The equations of a state, for Python."""
    evaluate(borrowed(mechanism), t, borrow(state), borrow(work))


def _diagnose(layout: Layout, mechanism: tables.Mechanism, imposed: Sequence[int], time: float, state: Array) -> str:
    """Why positions cannot be closed."""
    evaluate_for_python(mechanism, time, state, workspace_of_bodies(mechanism, floats, COLUMNS))
    gaps = np.abs(mechanism.loops[: len(imposed), VALUE])
    return cannot_be_kept_closed(layout.equations[imposed[int(np.argmax(gaps))]])
