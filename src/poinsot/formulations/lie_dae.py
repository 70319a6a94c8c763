"""`lie-dae`: index-1 equations on the Lie group of all poses and velocities, after paper 001.

Terze, Müller, Zlatar, DAE Index 1 Formulation for Multibody System Dynamics in Lie-Group Setting. The state is that of
(7), with the rotation matrix and the centre of mass of each body; its velocity is (8), its group that of (9). Equation
(10), accelerations and multipliers from [M Cᵀ; C 0], is solved block by block along the mechanism: a body is eliminated
first, then the joint that it hangs on, from the leaves inward; what closes a loop after all that it goes through.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, kernel, routine
from poinsot.algebra import so3, sparse
from poinsot.algebra.manifold import larger, nearest_rotation
from poinsot.algebra.matrix import product, symmetric_times, times, transposed_times
from poinsot.algebra.memory import column3, column9, get3, get6, get9, put3, put_column3, put_column9
from poinsot.algebra.sparse import get, put
from poinsot.algebra.vector import add, cross, dot, negate, scale, sub
from poinsot.formulations.bodies import (
    CHOSEN,
    EQUATION_PLACE,
    EQUATIONS,
    NEAR_SINGULAR,
    UNKNOWN,
    Kernels,
    judge_pivots,
    keep,
    recall,
)
from poinsot.formulations.closure import Closure
from poinsot.formulations.lie_plan import (
    BLOCKS,
    CLOSED,
    COUNTED,
    COUNTERS,
    ELIMINATION,
    END,
    END_COUNT,
    ENDS,
    FIRST_UNKNOWN,
    KEPT_SOLUTION,
    LENT,
    PLACE,
    PLACES,
    REFINED,
    RETURN,
    SETTINGS,
    UNIT,
    UNKNOWNS,
    VECTORS,
    with_plan,
)
from poinsot.formulations.loops import OPENED, REDUNDANT, SETTLING
from poinsot.mechanism import tables as t
from poinsot.mechanism.absolute import (
    ALPHA,
    COLUMNS,
    LINEAR,
    MOTION,
    POSE,
    apply_loads_to_bodies,
    blocks_of_bodies,
    count_rates,
    counters_of,
    of_bodies,
    place,
    report_motion,
    set_counts,
    state_of_bodies,
    workspace_of_bodies,
)
from poinsot.mechanism.build import Layout
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE, XI, put_equations
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    BODY_INERTIA,
    BODY_MASS,
    DRIVE_FORCE,
    LOAD_FORCE,
    LOAD_TORQUE,
    POSITION,
    ROTATION,
    VELOCITIES,
    borrowed,
    handed,
)
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Array, Option, SecondOrderODE
from poinsot.scalars import BorrowedType, borrow, floats, lend

OPTIONS = {
    "weights": Option(
        "mass", "the metric in which stabilize moves bodies least: their inertia, or 1 for metres and radians alike",
        ("mass", "unit"),
    ),
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    ),
}  # fmt: skip

# Newton's iteration for positions squares what is missing; more than this it never needs.
MOST_ITERATIONS = 12


# ------------------------------------------------------------------------------------------ equation (10)


@routine
def lie_dynamics(mechanism, t, state, work, rate):
    """The velocity (8) of the state at time t."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    plan, loops, n = mechanism.plan, mechanism.loops, mechanism.sizes[0, VELOCITIES]
    near = plan[NEAR_SINGULAR, 0] != 0
    if near:
        settle(mechanism, t, state, work)
    accelerate(mechanism, t, state, work)
    first, counted = state.shape[0] - n, plan[COUNTED, 0]
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        for k in range(MOTION):
            rate[MOTION * b + k, 0] = state[first + MOTION * b + k, 0]
        put_column3(rate, n + MOTION * b, 0, get3(work, i, ALPHA))
        put_column3(rate, n + MOTION * b + 3, 0, get3(work, i, LINEAR))
    count_rates(mechanism, plan, plan[COUNTERS, 0], counted, state, work, rate)
    if near:
        recall(plan, loops, state)


@kernel
def accelerate(mechanism, t, state, work):
    """Accelerations of the bodies into `work`, multipliers among the unknowns."""
    plan, loops = mechanism.plan, mechanism.loops
    call_loads(mechanism, t, state, work)
    evaluate(mechanism, t, state, work)
    put_matrix(mechanism, work, False, False)
    sparse.factorise(plan, plan[ELIMINATION, 0], loops)
    put_forces(mechanism, work)
    sparse.solve(plan, plan[ELIMINATION, 0], loops)
    for _ in range(plan[REFINED, 0]):
        refine(mechanism, work)
    for b in range(mechanism.bodies.shape[0]):
        i, u = mechanism.bodies[b, 0], plan[plan[PLACES, 0] + PLACE * b, 0]
        put3(work, i, ALPHA, unknowns3(loops, u))
        put3(work, i, LINEAR, unknowns3(loops, u + 3))


@kernel
def unknowns3(loops, u):
    """Three unknowns."""
    return get(loops, u), get(loops, u + 1), get(loops, u + 2)


@kernel
def put_unknowns3(loops, u, x):
    """Three unknowns, or right-hand sides, become x."""
    put(loops, u, x[0])
    put(loops, u + 1, x[1])
    put(loops, u + 2, x[2])


@kernel
def add_unknowns3(loops, u, x):
    """Add to three unknowns, or right-hand sides."""
    put_unknowns3(loops, u, add(unknowns3(loops, u), x))


@kernel
def gradient_at(plan, work, loops, at):
    """The gradient of an equation at an end: moment about the centre of mass in body axes, and force in the world."""
    i, q, column, sign = plan[at, 0], plan[at + 1, 0], GRADIENT * plan[at + 2, 0], plan[at + 3, 0]
    force, torque = scale(sign, get3(loops, q, column)), scale(sign, get3(loops, q, column + 3))
    arm = sub(get3(loops, q, column + 6), get3(work, i, POSITION))
    return transposed_times(get9(work, i, ROTATION), add(torque, cross(arm, force))), force


@kernel
def put_matrix(mechanism, work, unit, vectors):
    """The matrix [M Cᵀ; C 0] of (10), or that of (12) with weights; in rotation vectors, (17), if asked for."""
    plan, loops, frames = mechanism.plan, mechanism.loops, mechanism.body_frames
    for e in range(plan[BLOCKS, 0], plan[KEPT_SOLUTION, 0]):
        put(loops, e, 0.0)
    for b in range(mechanism.bodies.shape[0]):
        block, mass, J = plan[plan[PLACES, 0] + PLACE * b + 1, 0], frames[b, BODY_MASS], get6(frames, b, BODY_INERTIA)
        one, zero = 0.0 * mass + 1.0, 0.0 * work[mechanism.bodies[b, 0], POSITION]
        if unit:
            mass, J = one, (one, one, one, 0.0 * one, 0.0 * one, 0.0 * one)
        elif plan[REFINED, 0] > 0:
            lent = LENT * (J[0] + J[1] + J[2])
            J = (J[0] + lent, J[1] + lent, J[2] + lent, J[3], J[4], J[5])
        full = (
            J[0] + zero, J[3] + zero, J[4] + zero,
            J[3] + zero, J[1] + zero, J[5] + zero,
            J[4] + zero, J[5] + zero, J[2] + zero,
        )  # fmt: skip
        if vectors and not unit:
            T = tangent(work, mechanism.bodies[b, 0])
            full = product((T[0], T[3], T[6], T[1], T[4], T[7], T[2], T[5], T[8]), product(full, T))
        for k in range(3):
            put(loops, block + (MOTION + 1) * (3 + k), mass)
        put(loops, block, full[0])
        put(loops, block + MOTION, full[3])
        put(loops, block + MOTION + 1, full[4])
        put(loops, block + 2 * MOTION, full[6])
        put(loops, block + 2 * MOTION + 1, full[7])
        put(loops, block + 2 * MOTION + 2, full[8])
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        moment, force = gradient_at(plan, work, loops, at)
        if vectors:  # ∂Φ/∂Ψ = C T, (17)
            moment = so3.dexp(rotation_vector(work, plan[at, 0]), moment)
        begin, step = plan[at + 4, 0], plan[at + 5, 0]
        add_to(loops, begin, step, moment)
        add_to(loops, begin + 3 * step, step, force)


@kernel
def add_to(loops, begin, step, x):
    """Add to three entries of the matrix that stand `step` apart."""
    put(loops, begin, get(loops, begin) + x[0])
    put(loops, begin + step, get(loops, begin + step) + x[1])
    put(loops, begin + 2 * step, get(loops, begin + 2 * step) + x[2])


@kernel
def rotation_vector(work, i):
    """The rotation vector Ψ of a body, R = exp Ψ (13)."""
    return so3.log(get9(work, i, ROTATION))


@kernel
def tangent(work, i):
    """T(Ψ) of (17), which makes of a change of Ψ the rotation in body axes: dexp at -Ψ."""
    back = negate(rotation_vector(work, i))
    zero = 0.0 * back[0]
    x, y, z = (zero + 1.0, zero, zero), (zero, zero + 1.0, zero), (zero, zero, zero + 1.0)
    x, y, z = so3.dexp(back, x), so3.dexp(back, y), so3.dexp(back, z)
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@kernel
def put_forces(mechanism, work):
    """The right-hand side of (10): forces on the bodies, and ξ less what turning adds where equations act."""
    plan, loops, frames, gravity = mechanism.plan, mechanism.loops, mechanism.body_frames, get3(mechanism.gravity, 0, 0)
    for b in range(mechanism.bodies.shape[0]):
        i, u = mechanism.bodies[b, 0], plan[plan[PLACES, 0] + PLACE * b, 0]
        w = get3(work, i, ANGULAR_VELOCITY)
        torque = transposed_times(get9(work, i, ROTATION), get3(work, i, LOAD_TORQUE))
        gyroscopic = cross(w, symmetric_times(get6(frames, b, BODY_INERTIA), w))
        put_unknowns3(loops, u, sub(torque, gyroscopic))
        put_unknowns3(loops, u + 3, add(get3(work, i, LOAD_FORCE), scale(frames[b, BODY_MASS], gravity)))
    returning = loops[plan[SETTINGS, 0], RETURN]
    for q in range(plan[EQUATIONS, 0]):
        drift = returning * (2.0 * loops[q, RATE_OF_VALUE] + returning * loops[q, VALUE])
        put(loops, plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q, 0], loops[q, XI] - drift)
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        i, q, column = plan[at, 0], plan[at + 1, 0], GRADIENT * plan[at + 2, 0]
        R = get9(work, i, ROTATION)
        w = times(R, get3(work, i, ANGULAR_VELOCITY))
        arm = sub(get3(loops, q, column + 6), get3(work, i, POSITION))
        turning = plan[at + 3, 0] * dot(get3(loops, q, column), cross(w, cross(w, arm)))
        u = plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q, 0]
        put(loops, u, get(loops, u) - turning)


@kernel
def refine(mechanism, work):
    """Improve the solution by what it leaves of (10), with the bodies' own inertia; the factors are at hand."""
    plan, loops, frames = mechanism.plan, mechanism.loops, mechanism.body_frames
    first, kept = plan[FIRST_UNKNOWN, 0], plan[KEPT_SOLUTION, 0]
    for k in range(plan[UNKNOWNS, 0]):
        put(loops, kept + k, get(loops, first + k))
    put_forces(mechanism, work)
    for b in range(mechanism.bodies.shape[0]):
        u = plan[plan[PLACES, 0] + PLACE * b, 0]
        alpha, a = unknowns3(loops, u - first + kept), unknowns3(loops, u - first + kept + 3)
        add_unknowns3(loops, u, negate(symmetric_times(get6(frames, b, BODY_INERTIA), alpha)))
        add_unknowns3(loops, u + 3, scale(-frames[b, BODY_MASS], a))
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + END * n
        moment, force = gradient_at(plan, work, loops, at)
        u, e = plan[at + 6, 0], plan[plan[UNKNOWN, 0] + EQUATION_PLACE * plan[at + 1, 0], 0]
        there = u - first + kept
        moved = dot(moment, unknowns3(loops, there)) + dot(force, unknowns3(loops, there + 3))
        put(loops, e, get(loops, e) - moved)
        x = -get(loops, e - first + kept)
        add_unknowns3(loops, u, scale(x, moment))
        add_unknowns3(loops, u + 3, scale(x, force))
    sparse.solve(plan, plan[ELIMINATION, 0], loops)
    for k in range(plan[UNKNOWNS, 0]):
        put(loops, first + k, get(loops, first + k) + get(loops, kept + k))


# ------------------------------------------------------------------------------------------ stabilisation


@routine
def stabilise(mechanism, blocks, t, state, work, rate, kept):
    """Bring positions, then velocities, onto the constraints by the least weighted amount: (12), or (13)-(24).

    Of the views behind `work` none is needed: what changes stands among the unknowns.
    """
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops = mechanism.plan, mechanism.loops
    vectors, missed, left = plan[VECTORS, 0] != 0, 0.0, 0.0
    for iteration in range(MOST_ITERATIONS):
        left = demand(mechanism, t, state, work, VALUE)
        if left == 0.0 or not left < math.inf or (iteration > 0 and (vectors or left >= 0.5 * missed)):
            break
        missed = left
        correct(mechanism, work, VALUE, vectors)
        move_bodies(mechanism, state, work, vectors)
    demand(mechanism, t, state, work, RATE_OF_VALUE)
    correct(mechanism, work, RATE_OF_VALUE, False)
    first = state.shape[0] - mechanism.sizes[0, VELOCITIES]
    for b in range(mechanism.bodies.shape[0]):
        for k in range(MOTION):
            state[first + MOTION * b + k, 0] += get(loops, plan[plan[PLACES, 0] + PLACE * b, 0] + k)
    place(mechanism, state, work)
    set_counts(mechanism, plan, plan[COUNTERS, 0], plan[COUNTED, 0], state, work)
    if not (vectors or left <= loops[plan[SETTINGS, 0], CLOSED]):
        return OPENED
    return judge_pivots(plan, loops)


@kernel
def evaluate(mechanism, t, state, work):
    """Place the bodies and evaluate the equations."""
    plan, loops = mechanism.plan, mechanism.loops
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, plan, plan[CHOSEN, 0], plan[EQUATIONS, 0], loops)


@kernel
def demand(mechanism, t, state, work, column):
    """The same; the largest Φ or Φ' is returned."""
    largest = 0.0
    evaluate(mechanism, t, state, work)
    for q in range(mechanism.plan[EQUATIONS, 0]):
        largest = larger(largest, mechanism.loops[q, column])
    return largest


@kernel
def correct(mechanism, work, column, vectors):
    """The least motion, among the unknowns, that takes Φ or Φ' away to first order (22)-(23)."""
    plan, loops = mechanism.plan, mechanism.loops
    put_matrix(mechanism, work, plan[UNIT, 0] != 0, vectors)
    sparse.factorise(plan, plan[ELIMINATION, 0], loops)
    for k in range(plan[UNKNOWNS, 0]):
        put(loops, plan[FIRST_UNKNOWN, 0] + k, 0.0)
    for q in range(plan[EQUATIONS, 0]):
        put(loops, plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q, 0], -loops[q, column])
    sparse.solve(plan, plan[ELIMINATION, 0], loops)


@kernel
def move_bodies(mechanism, state, work, vectors):
    """Move all bodies by the unknowns: R exp(ΔΘ) (16), or exp(Ψ + ΔΨ) (24), and x + Δx (20)."""
    plan, loops = mechanism.plan, mechanism.loops
    for b in range(mechanism.bodies.shape[0]):
        i, u, q = mechanism.bodies[b, 0], plan[plan[PLACES, 0] + PLACE * b, 0], POSE * b
        turn, shift = unknowns3(loops, u), unknowns3(loops, u + 3)
        if vectors:
            put_column9(state, q, 0, so3.exp(add(rotation_vector(work, i), turn)))
        else:
            put_column9(state, q, 0, product(column9(state, q, 0), so3.exp(turn)))
        put_column3(state, q + 9, 0, add(column3(state, q + 9, 0), shift))


@kernel
def settle(mechanism, t, state, work):
    """Exchange the state for the nearest closed one; `recall` brings it back.

    In a singular position the gradient of an equation vanishes with what it demands, and accelerations are the limit of
    their quotient: only on the constraints, and with rotations, have they one. Stages of a step are a little off both.
    """
    plan, loops = mechanism.plan, mechanism.loops
    keep(plan, loops, state)
    for b in range(mechanism.bodies.shape[0]):
        put_column9(state, POSE * b, 0, nearest_rotation(column9(state, POSE * b, 0)))
    for _ in range(SETTLING):
        evaluate(mechanism, t, state, work)
        correct(mechanism, work, VALUE, False)
        move_bodies(mechanism, state, work, False)
    evaluate(mechanism, t, state, work)
    correct(mechanism, work, RATE_OF_VALUE, False)
    first = state.shape[0] - mechanism.sizes[0, VELOCITIES]
    for b in range(mechanism.bodies.shape[0]):
        for k in range(MOTION):
            state[first + MOTION * b + k, 0] += get(loops, plan[plan[PLACES, 0] + PLACE * b, 0] + k)


# ------------------------------------------------------------------------------------------ posing


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `lie_dynamics`."""
    mechanism = borrowed(mechanism)
    plan, loops = mechanism.plan, mechanism.loops
    place(mechanism, state, work)
    report_motion(mechanism, state, work, bodies, joints)
    for j in range(mechanism.joints.shape[0]):
        clear_reaction(joints, j)
        joints[j, DRIVE_FORCE] = 0.0
    for q in range(plan[EQUATIONS, 0]):
        x = -get(loops, plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q, 0])
        add_reaction(mechanism, plan[plan[CHOSEN, 0] + q, 0], loops, q, x, joints)


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE:
    """Pose (9) with accelerations from (10)."""
    refuse_undetermined(layout)
    closure = Closure.of(layout, chosen)
    start, counters = closure.consistent(initial_state(layout)), counters_of(layout)
    mechanism = of_bodies(layout, counters)
    imposed = [e for e in range(len(layout.equations)) if e not in closure.rows or e in closure.chosen]
    initial = state_of_bodies(layout, counters, start)
    mechanism = with_plan(layout, mechanism, imposed, counters, len(initial), chosen, closure.size)
    table_of_blocks, n_states, n_rates = blocks_of_bodies(len(layout.bodies), len(counters))
    work = workspace_of_bodies(mechanism, floats)
    _put_least_pivots(closure, mechanism, imposed, initial, work)
    view = BorrowedType(float64)
    address_of_rates = KERNELS.address_of_rates(mechanism, view)
    pointer, work = handed(mechanism, work)
    blocks = lend(table_of_blocks)
    table, stabilised = float64[:, ::1], chosen.get("stabilize", "projection") in ("projection", "rotation-vector")
    signature = types.int64(*map(typeof, (pointer, blocks)), float64, *(view,) * 4)
    return SecondOrderODE(
        layout,
        pointer,
        blocks,
        n_states,
        n_rates,
        initial,
        work,
        address_of_rates,
        address(report, types.void(typeof(pointer), view, view, table, table)),
        lambda: KERNELS.derived(layout, mechanism),
        dual_tables=handed(*KERNELS.dual_tables(mechanism)),
        project=address(stabilise, signature) if imposed and stabilised else 0,
        diagnose=lambda time, state: KERNELS.diagnose(closure, mechanism, time, state),
        suspect=lambda time, state: KERNELS.suspect(closure, mechanism, table_of_blocks, time, state),
        mobility=closure.mobility,
        redundant=closure.redundant,
    )


def _put_least_pivots(
    closure: Closure, mechanism: t.Mechanism, imposed: Sequence[int], state: Array, work: Array
) -> None:
    """Below which pivots equations count as dependent on others: a part of what they would be between free bodies."""
    plan, loops = mechanism.plan[:, 0], mechanism.loops
    evaluate_for_python(mechanism, 0.0, state, work)
    scales = np.zeros(len(imposed))
    for link, q, term, *_ in plan[plan[ENDS] : plan[ENDS] + END * plan[END_COUNT]].reshape(-1, END):
        scales[q] += closure.answer(work, int(link), loops[q, GRADIENT * term : GRADIENT * (term + 1)])
    places = plan[plan[UNKNOWN] : plan[UNKNOWN] + EQUATION_PLACE * len(imposed)].reshape(-1, EQUATION_PLACE)[:, 0]
    loops.ravel()[places + plan[UNKNOWNS]] = REDUNDANT * scales


@routine
def evaluate_for_python(mechanism, t, state, work):
    """The equations of a state that are imposed, for Python."""
    evaluate(borrowed(mechanism), t, borrow(state), borrow(work))


@routine
def evaluate_all(mechanism, t, state, work):
    """All equations of a state, for Python."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0], mechanism.loops)


KERNELS = Kernels(lie_dynamics, apply_loads_to_bodies, stabilise, evaluate_all, COLUMNS)
