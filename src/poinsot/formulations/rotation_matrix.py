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
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import (
    SYMMETRIC_IDENTITY,
    full_add,
    full_scale,
    product,
    product_transposed,
    rotate_symmetric,
    skew,
    symmetric_sub,
    times,
    times_skew,
    transposed_product,
    transposed_product_symmetric,
    twice_symmetric_part,
)
from poinsot.algebra.matrix import full as full_matrix
from poinsot.algebra.memory import add3, column3, column9, get3, get6, get9, put3, put6, put_column3, put_column9
from poinsot.algebra.sparse import get, put
from poinsot.algebra.vector import add, scale, sub
from poinsot.errors import PoinsotError
from poinsot.formulations.at_once import accelerate_by_multipliers, eliminate_at_once
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
from poinsot.formulations.loops import KEPT, OPENED, REDUNDANT, SETTLING
from poinsot.formulations.plan import way_of
from poinsot.formulations.rotation_plan import (
    ALL,
    AT_ONCE,
    CENTER,
    CLOSED,
    COLUMNS,
    COUNTED,
    COUNTERS,
    DIRECTIONS,
    ELIMINATION,
    FIRST_OF_ALL,
    HELD,
    LAMBDA,
    LAMBDAS,
    MOTION,
    PLACES_IN_JOINT,
    PRINCIPAL,
    PROJECTS,
    RETURN,
    SECOND,
    SETTINGS,
    START,
    SWING,
    TO_PRINCIPAL,
    principal,
    with_plan,
)
from poinsot.formulations.two_steps import (
    axial,
    body_row,
    eliminate_in_two_steps,
    evaluate,
    find_lambdas,
    move_by_multipliers,
    place,
    put_matrix,
    unknown_of,
)
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
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE, put_equations
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.elements import fixed_direction
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.loads import apply_body_loads, clear_loads
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import (
    DRIVE_FORCE,
    EQUATION_JOINT,
    MULTIPLIER,
    ORTHOGONALITY,
    POSITION,
    REACTION_FORCE,
    VELOCITIES,
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
        "per-stage", "when multipliers are found: at every stage, or at the beginning of each step and held over it",
        ("per-stage", "per-step"),
    ),
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    ),
}  # fmt: skip

# What a projection answers that has renewed held multipliers (problem.py).
RENEWED = 5
# A body whose D has an entry below this part of the others is flat.
FLAT = 1e-9
# Newton's iteration for positions squares what is missing; more than this it never needs. That for the nearest rotation
# leaves the third power of what is missing, and begins at singular values off by a third.
MOST_ITERATIONS, POLAR_ITERATIONS = 12, 4


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


@routine
def apply_loads_to_elements(mechanism, t, state, work):
    """All loads, those on joint coordinates too, as forces and torques on the bodies."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    clear_loads(mechanism, work)
    place(mechanism, state, work)
    apply_body_loads(mechanism, t, state, work)


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
        left = close(mechanism, t, state, work)
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
    """Exchange the state for the nearest closed one; `recall` brings it back.

    In a singular position only states on the constraints have accelerations; stages of a step are a little off them.
    """
    keep(mechanism.plan, mechanism.loops, state)
    make_rotations(mechanism, state)
    for _ in range(SETTLING):
        evaluate(mechanism, t, state, work)
        move_bodies(mechanism, state, work)
    turn_bodies(mechanism, t, state, work)


@routine
def close(mechanism, t, state, work):
    """Move the bodies, by the least amount in the metric of their inertia, to rotations that fulfil the equations.

    Velocities follow. The largest |Φ| that is left is returned.
    """
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    missed, left = 0.0, 0.0
    make_rotations(mechanism, state)
    for iteration in range(MOST_ITERATIONS):
        evaluate(mechanism, t, state, work)
        left = 0.0
        for q in range(mechanism.plan[EQUATIONS, 0]):
            left = larger(left, mechanism.loops[q, VALUE])
        if left == 0.0 or not left < math.inf or (iteration > 0 and left >= 0.5 * missed):
            break
        missed = left
        move_bodies(mechanism, state, work)
    turn_bodies(mechanism, t, state, work)
    evaluate(mechanism, t, state, work)
    return left


@routine
def move_bodies(mechanism, state, work):
    """Take Φ away to first order; velocities turn with the bodies."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    correct(mechanism, work, VALUE)
    for b in range(mechanism.bodies.shape[0]):
        R, V = elements_of(mechanism, state, b)
        shift = get3(work, mechanism.bodies[b, 0], LINEAR)
        turned = product(R, so3.exp_minus_one(turn_of(mechanism, work, b)))
        change_pose(mechanism, state, b, turned, shift)
        carried = times_skew(turned, axial(transposed_product(R, V)))
        change_velocity(mechanism, state, b, carried, scale(0.0, shift))


@routine
def turn_bodies(mechanism, t, state, work):
    """Make all R' turn rotations, and take Φ' away."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    for b in range(mechanism.bodies.shape[0]):
        make_turning(mechanism, state, b)
    evaluate(mechanism, t, state, work)
    correct(mechanism, work, RATE_OF_VALUE)
    for b in range(mechanism.bodies.shape[0]):
        R = column9(state, MOTION * b + 3, 0)
        turning = times_skew(R, turn_of(mechanism, work, b))
        change_velocity(mechanism, state, b, turning, get3(work, mechanism.bodies[b, 0], LINEAR))


@kernel
def elements_of(mechanism, state, b):
    """R and R' of a body."""
    q = MOTION * b + 3
    return column9(state, q, 0), column9(state, mechanism.sizes[0, VELOCITIES] + q, 0)


@kernel
def turn_of(mechanism, work, b):
    """The turn of a body that the multipliers ask for, in the axes on the right of R."""
    return times(get9(mechanism.loops, body_row(mechanism.plan, b), START), get3(work, mechanism.bodies[b, 0], SWING))


@kernel
def make_rotations(mechanism, state):
    """Every R becomes the nearest rotation R (Rᵀ R)^-½, and T* what leaves the centre of mass where it is.

    Everything here is added to what is there: what is rounded anew at every step of a slow motion, from the same
    numbers in the same way, would add up.
    """
    for b in range(mechanism.bodies.shape[0]):
        for _ in range(POLAR_ITERATIONS):
            R = column9(state, MOTION * b + 3, 0)
            E = full_matrix(symmetric_sub(transposed_product_symmetric(R, R), SYMMETRIC_IDENTITY))
            change = full_add(full_scale(-0.5, E), full_scale(0.375, product(E, E)))
            change_pose(mechanism, state, b, product(R, change), scale(0.0, column3(state, MOTION * b, 0)))


@kernel
def make_turning(mechanism, state, b):
    """R' becomes the nearest velocity of the rotation R, without a symmetric part of Rᵀ R'."""
    R, V = elements_of(mechanism, state, b)
    stretching = full_scale(-0.5, full_matrix(twice_symmetric_part(transposed_product(R, V))))
    change_velocity(mechanism, state, b, product(R, stretching), scale(0.0, column3(state, MOTION * b, 0)))


@kernel
def change_pose(mechanism, state, b, turned, shift):
    """Add to R, and to T* (1) what moves the centre of mass by `shift`."""
    add_to_elements(mechanism, state, b, MOTION * b, turned, shift)


@kernel
def change_velocity(mechanism, state, b, turning, speed):
    """Add to R', and to T*' (5) what makes the centre of mass faster by `speed`."""
    add_to_elements(mechanism, state, b, mechanism.sizes[0, VELOCITIES] + MOTION * b, turning, speed)


@kernel
def add_to_elements(mechanism, state, b, q, turned, shift):
    """The same, from row q of the state on."""
    center = get3(mechanism.loops, body_row(mechanism.plan, b), CENTER)
    put_column3(state, q, 0, add(column3(state, q, 0), sub(shift, times(turned, center))))
    put_column9(state, q + 3, 0, full_add(column9(state, q + 3, 0), turned))


@routine
def correct(mechanism, work, column):
    """The least motion of the bodies that takes Φ or Φ' away to first order."""
    mechanism, work = borrowed(mechanism), borrow(work)
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
    mechanism = borrowed(mechanism)
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
    mechanism = with_plan(layout, mechanism, imposed, counters, moving, len(initial), closure.size)
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
    table_of_blocks, (pointer, work), blocks = blocks, tables.handed(mechanism, work), lend(blocks)
    signature = types.int64(*map(typeof, (pointer, blocks)), float64, *(view,) * 4)
    stabilised = stabilize == "projection" or held
    rotations = [(manifold.ROTATION, MOTION * b + 3, 0, 0) for b in range(bodies)]
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
        dual_tables=tables.handed(*duals),
        project=address(stabilise, signature) if stabilised else 0,
        diagnose=lambda time, state: KERNELS.diagnose(closure, mechanism, time, state),
        suspect=lambda time, state: KERNELS.suspect(closure, mechanism, table_of_blocks, time, state),
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


def _refuse_flat_bodies(layout: Layout, what: str) -> None:
    """Raise an error where (12) would divide by nothing."""
    for name, (_, d, _) in zip(layout.bodies, principal(layout), strict=True):
        if d.min() <= FLAT * d.max():
            raise PoinsotError(
                f'body "{name}": it is flat, so that its Poinsot inertia has no inverse, which {what} needs; give it '
                "some thickness, or leave that option at its default"
            )


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
    """The equations of a state that are imposed, for Python."""
    evaluate(borrowed(mechanism), t, borrow(state), borrow(work))


@routine
def evaluate_all(mechanism, t, state, work):
    """All equations of a state, for Python."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0], mechanism.loops)


KERNELS = Kernels(rotation_dynamics, apply_loads_to_elements, stabilise, evaluate_all, COLUMNS)
