"""`qtz`: coordinate reduction by the QTZ decomposition of the constraint Jacobian, after paper 002.

Del Citto, Pennestrì, Vita, Coordinates Reduction and Numerical Integration of Models of Constrained Multibody Systems.
Its three ways to solve the equations of motion are the option `qtz`: "minimal" integrates the independent coordinates p
and p' by (67), "independent-accelerations" positions q and independent velocities z' by (53), "reduced" poses (46) with
the independent equations alone. formulations/chart.py holds the decomposition and what follows from it.

The state is that of `lie-dae`, poses and velocities of all bodies, with p, or z, beside the positions and p', or z',
beside the velocities. In "minimal" the rates depend on p and p' only; the poses beside them tell Newton's iteration for
positions where to begin, and what is recorded.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
from numba import float64, typeof, types

from poinsot._jit import address, kernel, routine
from poinsot.algebra import manifold
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import product, symmetric_times
from poinsot.algebra.memory import column3, column9, get3, get6, get9, put3, put_column3, put_column9
from poinsot.algebra.vector import add, dot, negate, scale, sub
from poinsot.errors import PoinsotError
from poinsot.formulations.bodies import Kernels
from poinsot.formulations.chart import (
    beyond_rounding,
    aim_at,
    aim_at_places,
    cayley,
    centre,
    decompose,
    equations_of,
    evaluate,
    factorise,
    find_accelerations,
    find_freedoms,
    find_places,
    find_velocities,
    force_on,
    gradient_at,
    gradients,
    independent_velocities,
    last_pivot,
    make_least,
    multipliers,
    place_as_given,
    put_jacobian,
    recover_positions,
    rows_of,
    settings_of,
    solve,
    take_chart,
    turning_at,
    values,
)
from poinsot.formulations.closure import RANK_TOLERANCE, Closure, depends
from poinsot.formulations.loops import AT, NEAR, OPENED, RECONSIDER
from poinsot.formulations.loops import KEPT as UNCHANGED
from poinsot.formulations.qtz_plan import (
    ACCELERATIONS,
    BASES,
    CLOSED,
    COLUMN,
    COUNTED,
    COUNTERS,
    DECLINED,
    DECOMPOSED,
    END,
    EQUATIONS,
    FIRST_END,
    FREE,
    BEFORE,
    IN_JOINTS,
    KEPT,
    LATEST,
    KERNEL,
    LAST_PIVOT,
    LEAST,
    LOST,
    MINIMAL,
    MOMENTA,
    MOVING,
    MULTIPLIER,
    NUMBER,
    ORDER,
    PER_MOTION,
    PER_TURN,
    PLACES,
    PROJECTS,
    RANK,
    RANKS,
    REPORTED,
    RIGHT,
    SCALES,
    SETTINGS,
    SINGULAR_NEAR,
    SOLUTIONS,
    STATES,
    STATUS,
    USUAL,
    VARIANT,
    VARIANTS,
    VELOCITIES,
    WHOLE,
    WORN,
    with_plan,
)
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import (
    ALPHA,
    COLUMNS,
    LINEAR,
    MOTION,
    POSE,
    apply_loads_where_placed,
    count_acceleration,
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
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE, XI
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    BODY_INERTIA,
    BODY_MASS,
    DRIVE_FORCE,
    POSITION,
    ROTATION,
    VELOCITY,
    borrowed,
    handed,
)
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Array, Derived, ManifoldODE, Option, SecondOrderDAE, SecondOrderODE
from poinsot.scalars import BorrowedType, borrow, dual, floats, lend, part, point

OPTIONS = {
    "qtz": Option(
        "minimal", "what is integrated: independent coordinates (67), all positions with independent velocities (53), "
        "or the reduced equations (46), a DAE", VARIANTS,
    ),
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    ),
}  # fmt: skip
POSES = (SecondOrderODE, ManifoldODE, SecondOrderDAE)

# A new decomposition is wanted where the freedoms have turned away from those of the chart by more than an angle with
# this square of 1 / cos, where a body has turned by more than this from where it was (radians), and where the least
# pivot of the elimination has come down to this part of what it was. It is taken for a new chart where its last pivot
# is at least a part of the largest that has been: in a singular position the choice would be one of rounding.
STRETCHED, TURNED, WEAK, HEALTHY = 2.0, 1.0, 0.3, 0.3
# Where a method fails and less than this part of that is left, a singular position is near.
SUSPECT = 0.03
# A singular position is near where the least pivot is below this part of what it was after the decomposition, and a
# step should not end where it is below that. These are roots of what holds for the other formulations, whose pivots are
# squares of distances.
NEARNESS, TOO_NEAR = 0.1, 3e-3
# Where it may come near within a step or two.
COMING = 0.8
# With more velocities than this LAPACK decomposes, between steps; the kernel is faster below (benchmarks/paper_002.py).
LARGE = 200
# Newton's iteration for positions squares what is missing; more than this it never needs.
MOST_ITERATIONS = 12


def kind(given: Mapping[str, Any]) -> type:
    """The kind of problem that a variant poses."""
    return dict(zip(VARIANTS, POSES, strict=True)).get(given.get("qtz", VARIANTS[0]), SecondOrderODE)


# ------------------------------------------------------------------------------------------ rates


@routine
def minimal_dynamics(mechanism, t, state, work, rate):
    """p'' (67), and the velocities and accelerations of the bodies beside it."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    aim_at(mechanism, state, first_freedom(mechanism))
    recover_positions(mechanism, t, state, work)
    find_freedoms(mechanism, MOVING)
    find_velocities(mechanism, state, work, first_velocity(mechanism) + first_rate(mechanism))
    call_loads(mechanism, t, state, work)
    find_accelerations(mechanism, t, state, work, MOVING)
    first = first_velocity(mechanism)
    for k in range(first_rate(mechanism) + mechanism.plan[FREE, 0]):
        rate[k, 0] = state[first + k, 0]
    put_rates(mechanism, t, state, work, rate)


@routine
def dynamics_on_group(mechanism, t, state, work, rate):
    """The rates (53): q' = Q̂1 b'' + Q̂2 z' of the positions, and z''."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    if settings_of(mechanism)[0, SINGULAR_NEAR] != 0.0:
        settle(mechanism, t, state, work)
    else:
        place_as_given(mechanism, state, work)
    gradients(mechanism, t, state, work, MOVING)
    factorise(mechanism, work, MOVING)
    find_freedoms(mechanism, MOVING)
    row = first_velocity(mechanism) + first_rate(mechanism)
    find_velocities(mechanism, state, work, row)
    call_loads(mechanism, t, state, work)
    find_accelerations(mechanism, t, state, work, MOVING)
    for b in range(mechanism.bodies.shape[0]):
        put_column3(rate, MOTION * b, 0, get3(work, mechanism.bodies[b, 0], ANGULAR_VELOCITY))
        put_column3(rate, MOTION * b + 3, 0, get3(work, mechanism.bodies[b, 0], VELOCITY))
    for f in range(mechanism.plan[FREE, 0]):
        rate[first_rate(mechanism) + f, 0] = state[row + f, 0]
    put_rates(mechanism, t, state, work, rate)


@kernel
def settle(mechanism, t, state, work):
    """Bodies at the nearest closed positions with the same independent coordinates, at rest.

    Near a singular position velocities have the error of positions over its distance: a stage must not be off.
    """
    aim_at_places(mechanism, state)
    recover_positions(mechanism, t, state, work)
    for b in range(mechanism.bodies.shape[0]):
        none = scale(0.0, get3(work, mechanism.bodies[b, 0], POSITION))
        put3(mechanism.loops, mechanism.plan[PLACES, 0] + b, 0, none)
        put3(mechanism.loops, mechanism.plan[PLACES, 0] + b, 3, none)


@kernel
def put_rates(mechanism, t, state, work, rate):
    """The rates of all velocities, and those of the counts.

    Near a singular position the accelerations of the bodies, which are carried along only, are those before it and
    their trend: there is rounding in what the constraints make of them, over the third power of the distance.
    """
    plan, chart, momenta = mechanism.plan, mechanism.chart, rows_of(mechanism, MOMENTA)
    n, free, settings = mechanism.sizes[0, tables.VELOCITIES], plan[FREE, 0], settings_of(mechanism)
    near, since = settings[0, SINGULAR_NEAR] != 0.0, t - settings[0, LATEST]
    ahead = since / (settings[0, LATEST] - settings[0, BEFORE]) if settings[0, BEFORE] >= 0.0 else 0.0
    for b in range(mechanism.bodies.shape[0]):
        i, k, row = mechanism.bodies[b, 0], MOTION * b, plan[KEPT, 0]
        alpha, a = get3(work, i, ALPHA), get3(work, i, LINEAR)
        if near:
            before, latest = get3(chart, row, k), get3(chart, row + 1, k)
            alpha = add(scale(0.0, alpha), add(latest, scale(ahead, sub(latest, before))))
            before, latest = get3(chart, row, k + 3), get3(chart, row + 1, k + 3)
            a = add(scale(0.0, a), add(latest, scale(ahead, sub(latest, before))))
        put_column3(rate, n + k, 0, alpha)
        put_column3(rate, n + k + 3, 0, a)
    for f in range(free):
        rate[n + first_rate(mechanism) + f, 0] = momenta[f, free]
    count_rates(mechanism, plan, plan[COUNTERS, 0], plan[COUNTED, 0], state, work, rate)


@kernel
def keep_accelerations(mechanism, t, state, work):
    """Note whether a singular position is near, and keep the accelerations of a state where one may come."""
    plan, chart, settings, row = mechanism.plan, mechanism.chart, settings_of(mechanism), mechanism.plan[KEPT, 0]
    least = mechanism.loops[plan[STATUS, 0], LEAST] / settings[0, USUAL]
    near = not least >= NEARNESS
    settings[0, SINGULAR_NEAR] = 1.0 if near else 0.0
    if near or least > COMING or t <= settings[0, LATEST]:
        return
    call_loads(mechanism, t, state, work)
    find_accelerations(mechanism, t, state, work, MOVING)
    settings[0, BEFORE], settings[0, LATEST] = settings[0, LATEST], t
    for b in range(mechanism.bodies.shape[0]):
        i, k = mechanism.bodies[b, 0], MOTION * b
        put3(chart, row, k, get3(chart, row + 1, k))
        put3(chart, row, k + 3, get3(chart, row + 1, k + 3))
        put3(chart, row + 1, k, get3(work, i, ALPHA))
        put3(chart, row + 1, k + 3, get3(work, i, LINEAR))


@kernel
def first_freedom(mechanism):
    """The row of p in the state."""
    return POSE * mechanism.bodies.shape[0]


@kernel
def first_rate(mechanism):
    """The row of p' among the velocities."""
    return MOTION * mechanism.bodies.shape[0]


@kernel
def first_velocity(mechanism):
    """The row of the velocities in the state."""
    return mechanism.plan[STATES, 0] - mechanism.sizes[0, tables.VELOCITIES]


@routine
def reduced_residual(mechanism, t, state, acceleration, multiplier, work, out):
    """(46) with the independent equations Ψ'': M q'' - g + Ψ''ᵀ λ'₁, Ψ'', its rate and that of its rate."""
    mechanism, state, work, out = borrowed(mechanism), borrow(state), borrow(work), borrow(out)
    acceleration, multiplier = borrow(acceleration), borrow(multiplier)
    plan, chart, loops, frames = mechanism.plan, mechanism.chart, mechanism.loops, mechanism.body_frames
    n = mechanism.sizes[0, tables.VELOCITIES]
    state = part(state, 0, plan[STATES, 0])
    place(mechanism, state, work)
    first, rank = equations_of(mechanism, MOVING)
    evaluate(mechanism, t, state, work, plan, first, rank)
    call_loads(mechanism, t, state, work)
    for b in range(mechanism.bodies.shape[0]):
        i, k = mechanism.bodies[b, 0], MOTION * b
        alpha, a = column3(acceleration, k, 0), column3(acceleration, k + 3, 0)
        torque, force = force_on(mechanism, work, b)
        put_column3(out, k, 0, sub(symmetric_times(get6(frames, b, BODY_INERTIA), alpha), torque))
        put_column3(out, k + 3, 0, sub(scale(frames[b, BODY_MASS], a), force))
        put3(work, i, ALPHA, alpha)
        put3(work, i, LINEAR, a)
    for q in range(rank):
        e = plan[first + q, 0]
        per_equation = chart[plan[SCALES, 0] + MOVING, e]
        second, x = -loops[q, XI], per_equation * multiplier[q, 0]
        for at in range(plan[plan[FIRST_END, 0] + e, 0], plan[plan[FIRST_END, 0] + e + 1, 0], END):
            i, k = plan[at, 0], MOTION * plan[at + 1, 0]
            moment, force = gradient_at(mechanism, work, at, q)
            second += dot(moment, get3(work, i, ALPHA)) + dot(force, get3(work, i, LINEAR))
            second += turning_at(mechanism, work, at, q)
            put_column3(out, k, 0, add(column3(out, k, 0), scale(x, moment)))
            put_column3(out, k + 3, 0, add(column3(out, k + 3, 0), scale(x, force)))
        out[n + q, 0] = per_equation * loops[q, VALUE]
        out[n + rank + q, 0] = per_equation * loops[q, RATE_OF_VALUE]
        out[n + 2 * rank + q, 0] = per_equation * second
    for k in range(plan[COUNTED, 0]):
        row = first_rate(mechanism) + k
        second = count_acceleration(mechanism, plan, plan[COUNTERS, 0], k, work)
        out[row, 0] = acceleration[row, 0] - second


# ------------------------------------------------------------------------------------------ after a step


@routine
def correct_minimal(mechanism, blocks, t, state, work, rate, kept):
    """The bodies' poses and velocities become those that p and p' say; no constraint has been left."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    aim_at(mechanism, state, first_freedom(mechanism))
    recover_positions(mechanism, t, state, work)
    if not largest_gap(mechanism, t, state, work) <= settings_of(mechanism)[0, CLOSED]:
        return OPENED
    find_freedoms(mechanism, MOVING)
    find_velocities(mechanism, state, work, first_velocity(mechanism) + first_rate(mechanism))
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put_column9(state, POSE * b, 0, get9(work, i, ROTATION))
        put_column3(state, POSE * b + 9, 0, get3(work, i, POSITION))
    take_velocities(mechanism, state, work)
    keep_accelerations(mechanism, t, state, work)
    return judge_chart(mechanism)


@routine
def correct_on_group(mechanism, blocks, t, state, work, rate, kept):
    """Positions come back onto the constraints by the least motion; velocities become those that z' says."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    if not close(mechanism, t, state, work):
        return OPENED
    find_velocities(mechanism, state, work, first_velocity(mechanism) + first_rate(mechanism))
    take_velocities(mechanism, state, work)
    keep_accelerations(mechanism, t, state, work)
    find_places(mechanism, state)
    return judge_chart(mechanism)


@routine
def correct_reduced(mechanism, blocks, t, state, work, rate, kept):
    """Positions, then velocities, come back onto the constraints by the least motion in the metric of the masses."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, loops, right = mechanism.plan, mechanism.loops, rows_of(mechanism, RIGHT)
    state = part(state, 0, plan[STATES, 0])
    if not close(mechanism, t, state, work):
        return OPENED
    if plan[PROJECTS, 0] != 0:
        place(mechanism, state, work)
        first, rank = equations_of(mechanism, MOVING)
        evaluate(mechanism, t, state, work, plan, first, rank)
        put_right(mechanism, RATE_OF_VALUE)
        solve(mechanism, RIGHT, 1)
        make_least(mechanism)
        for b in range(mechanism.bodies.shape[0]):
            i, k = mechanism.bodies[b, 0], MOTION * b
            put3(work, i, ANGULAR_VELOCITY, sub(get3(work, i, ANGULAR_VELOCITY), column3(right, k, 0)))
            put3(work, i, VELOCITY, sub(get3(work, i, VELOCITY), column3(right, k + 3, 0)))
        take_velocities(mechanism, state, work)
    return judge_chart(mechanism)


@routine
def close(mechanism, t, state, work):
    """Newton's iteration for closed positions, by the least motion in the metric of the masses.

    Behind it, the gradients there, the factors of the matrix and the freedoms stand in `loops`. False where it does not
    converge.
    """
    plan, right = mechanism.plan, rows_of(mechanism, RIGHT)
    missed, left = 0.0, 0.0
    for iteration in range(MOST_ITERATIONS):
        place_as_given(mechanism, state, work)
        gradients(mechanism, t, state, work, MOVING)
        factorise(mechanism, work, MOVING)
        find_freedoms(mechanism, MOVING)
        left = 0.0
        for q in range(plan[plan[RANKS, 0] + MOVING, 0]):
            left = larger(left, mechanism.loops[q, VALUE])
        if plan[PROJECTS, 0] == 0:
            return left < math.inf
        if left == 0.0 or not left < math.inf or (iteration > 0 and left >= 0.5 * missed):
            break
        missed = left
        put_right(mechanism, VALUE)
        solve(mechanism, RIGHT, 1)
        make_least(mechanism)
        for b in range(mechanism.bodies.shape[0]):
            turn, shift = column3(right, MOTION * b, 0), column3(right, MOTION * b + 3, 0)
            put_column9(state, POSE * b, 0, product(column9(state, POSE * b, 0), cayley(negate(turn))))
            put_column3(state, POSE * b + 9, 0, sub(column3(state, POSE * b + 9, 0), shift))
    return left <= settings_of(mechanism)[0, CLOSED]


@kernel
def put_right(mechanism, column):
    """Φ or Φ' as a right-hand side, nothing for the independent velocities."""
    plan, right = mechanism.plan, rows_of(mechanism, RIGHT)
    for q in range(plan[VELOCITIES, 0]):
        right[q, 0] = 0.0
    for q in range(plan[plan[RANKS, 0] + MOVING, 0]):
        right[q, 0] = beyond_rounding(mechanism, MOVING, q, column)


@kernel
def largest_gap(mechanism, t, state, work):
    """The largest |Φ| of the independent equations where the bodies stand."""
    values(mechanism, t, state, work, MOVING)
    largest = 0.0
    for q in range(mechanism.plan[mechanism.plan[RANKS, 0] + MOVING, 0]):
        largest = larger(largest, mechanism.loops[q, VALUE])
    return largest


@kernel
def take_velocities(mechanism, state, work):
    """The bodies' velocities, and counted angles, into the state."""
    plan, first = mechanism.plan, first_velocity(mechanism)
    for b in range(mechanism.bodies.shape[0]):
        put_column3(state, first + MOTION * b, 0, get3(work, mechanism.bodies[b, 0], ANGULAR_VELOCITY))
        put_column3(state, first + MOTION * b + 3, 0, get3(work, mechanism.bodies[b, 0], VELOCITY))
    set_counts(mechanism, plan, plan[COUNTERS, 0], plan[COUNTED, 0], state, work)


@kernel
def judge_chart(mechanism):
    """Whether the chart still serves, after the factors and the freedoms of a state have been found."""
    plan, loops, settings = mechanism.plan, mechanism.loops, settings_of(mechanism)
    least, usual = loops[plan[STATUS, 0], LEAST], settings[0, USUAL]
    if not least > TOO_NEAR * usual:
        return AT
    if least > WEAK * usual:
        settings[0, DECLINED] = 0.0
    worn = (least < WEAK * usual or stretched(mechanism) > STRETCHED) and settings[0, DECLINED] == 0.0
    settings[0, WORN] = 1.0 if worn else 0.0
    if worn:  # a decomposition will tell whether a singular position is near
        return RECONSIDER
    if least < NEARNESS * usual:
        return NEAR
    return RECONSIDER if turned(mechanism) > TURNED * TURNED else UNCHANGED


@kernel
def stretched(mechanism):
    """The largest squared length of a column of Q̂2, in the metric of the masses; 1 at the decomposition."""
    plan, chart, x = mechanism.plan, mechanism.chart, rows_of(mechanism, SOLUTIONS)
    largest = 0.0
    for f in range(plan[FREE, 0]):
        squared = 0.0
        for b in range(mechanism.bodies.shape[0]):
            per_turn, per_motion = chart[plan[BASES, 0] + b, PER_TURN], chart[plan[BASES, 0] + b, PER_MOTION]
            turn, shift = column3(x, MOTION * b, f), column3(x, MOTION * b + 3, f)
            squared += dot(turn, turn) / (per_turn * per_turn) + dot(shift, shift) / (per_motion * per_motion)
        largest = max(largest, squared)
    return largest


@kernel
def turned(mechanism):
    """The square of the largest turn of a body in the chart."""
    largest = 0.0
    for b in range(mechanism.bodies.shape[0]):
        u = get3(mechanism.loops, mechanism.plan[PLACES, 0] + b, 0)
        largest = max(largest, dot(u, u))
    return largest


@routine
def renew(mechanism, blocks, t, state, work, rate, kept):
    """Centre the chart on the state, and choose its equations and velocities anew if that is wanted; 1 if they are."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    if settings_of(mechanism)[0, WORN] == 0.0:
        put_centre(mechanism, state, work)
        return 0
    put_all_gradients(mechanism, t, state, work)
    put_jacobian(mechanism, work)
    return adopt(mechanism, t, state, work, decompose(mechanism))


@routine
def put_all_gradients(mechanism, t, state, work):
    """All equations and their gradients, with the bodies as the state has them."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    place(mechanism, part(state, 0, mechanism.plan[STATES, 0]), work)
    evaluate(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0])


@routine
def adopt(mechanism, t, state, work, rank):
    """Make a chart of the decomposition, unless it was made in a singular position; 1 if it has become one."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, settings = mechanism.plan, settings_of(mechanism)
    state = part(state, 0, plan[STATES, 0])
    healthy = rank == plan[RANK, 0] and last_pivot(mechanism) >= HEALTHY * settings[0, LAST_PIVOT]
    if healthy:
        take_chart(mechanism, rank, MOVING)
        settings[0, LAST_PIVOT] = max(settings[0, LAST_PIVOT], last_pivot(mechanism))
    settings[0, DECLINED] = 0.0 if healthy else 1.0
    settings[0, NUMBER] += 1.0
    if healthy:
        place_as_given(mechanism, state, work)
        gradients(mechanism, t, state, work, MOVING)
        factorise(mechanism, work, MOVING)
        settings[0, USUAL] = mechanism.loops[plan[STATUS, 0], LEAST]
        settings[0, SINGULAR_NEAR] = 0.0
    put_centre(mechanism, state, work)
    return 1 if healthy else 0


@kernel
def put_centre(mechanism, state, work):
    """Centre the chart on the state: p = 0, and p' from the velocities."""
    plan = mechanism.plan
    state = part(state, 0, plan[STATES, 0])
    centre(mechanism, state)
    settings_of(mechanism)[0, NUMBER] += 1.0
    if plan[VARIANT, 0] != WHOLE:
        place(mechanism, state, work)
        for f in range(plan[FREE, 0]):
            state[first_freedom(mechanism) + f, 0] = 0.0
        independent_velocities(mechanism, work, state, first_velocity(mechanism) + first_rate(mechanism))


# ------------------------------------------------------------------------------------------ the report


@routine
def observe(mechanism, t, state, work, rate):
    """Accelerations and multipliers at a recorded state, by a decomposition of its own; the chart stays as it is."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    state = part(state, 0, plan[STATES, 0])
    put_all_gradients(mechanism, t, state, work)
    put_jacobian(mechanism, work)
    take_chart(mechanism, decompose(mechanism), REPORTED)
    place_as_given(mechanism, state, work)
    gradients(mechanism, t, state, work, REPORTED)
    factorise(mechanism, work, REPORTED)
    find_freedoms(mechanism, REPORTED)
    place(mechanism, state, work)
    call_loads(mechanism, t, state, work)
    find_accelerations(mechanism, t, state, work, REPORTED)
    multipliers(mechanism, work)
    for j in range(plan[EQUATIONS, 0]):
        e = plan[plan[ORDER, 0] + j, 0]
        loops[e, MULTIPLIER] = chart[plan[COLUMN, 0] + j, 0] * chart[plan[SCALES, 0] + IN_JOINTS, e]
    evaluate(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0])


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `observe`."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    loops = mechanism.loops
    report_motion(mechanism, part(state, 0, mechanism.plan[STATES, 0]), work, bodies, joints)
    for j in range(mechanism.joints.shape[0]):
        clear_reaction(joints, j)
        joints[j, DRIVE_FORCE] = 0.0
    for e in range(mechanism.equations.shape[0]):
        add_reaction(mechanism, e, loops, e, -loops[e, MULTIPLIER], joints)


# ------------------------------------------------------------------------------------------ posing


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE | ManifoldODE | SecondOrderDAE:
    """Pose (67), (53) or (46)."""
    refuse_undetermined(layout)
    variant = chosen.get("qtz", VARIANTS[0])
    _refuse_stabilization(chosen.get("stabilize", "projection"), variant)
    closure = Closure.of(layout, chosen)
    start, counters = closure.consistent(initial_state(layout)), counters_of(layout)
    bodies, rank = len(layout.bodies), len(layout.equations) - len(closure.redundant)
    free = 0 if variant == VARIANTS[WHOLE] else MOTION * bodies - rank
    blocks, n_states, n_rates = _blocks(bodies, free, len(counters))
    mechanism = of_bodies(layout, counters, POSE * bodies + free, MOTION * bodies + free)
    mechanism = with_plan(layout, mechanism, rank, counters, n_states, chosen, closure.size)
    kernels, view = KERNELS[variant], BorrowedType(float64)
    kernels.put_addresses(mechanism, view)
    posed = Posed(mechanism, workspace_of_bodies(mechanism, floats), lend(blocks))
    initial = _state(layout, counters, free, start)
    posed.put_joint_scales(layout, initial)
    posed.choose(initial, _state(layout, counters, free, closure.generic(0.0, start)[2]))
    table = float64[:, ::1]
    common: dict[str, Any] = {
        "layout": layout,
        "mechanism": posed.pointer,
        "blocks": posed.blocks,
        "n_states": n_states,
        "n_rates": n_rates,
        "initial": initial,
        "work": posed.lent,
        "report": address(report, types.void(typeof(posed.pointer), view, view, table, table)),
        "dual_tables": handed(*kernels.dual_tables(mechanism)),
        "project": address(kernels.stabilise, posed.change),
        "renews": True,
        "renew": 0 if MOTION * bodies > LARGE else address(renew, posed.change),
        "reconsider": posed.decompose_by_lapack,
        "observe": address(observe, types.void(typeof(posed.pointer), float64, *(view,) * 3)),
        "diagnose": lambda time, state: kernels.diagnose(closure, mechanism, time, state[:n_states].copy()),
        "suspect": lambda time, state: posed.suspect(layout, time, state[:n_states].copy()),
        "mobility": closure.mobility,
        "redundant": closure.redundant,
    }
    if variant == VARIANTS[WHOLE]:
        residual = _address_of_residual(mechanism, view)
        return SecondOrderDAE(
            **common, n_constraints=rank, residual=residual, derived=lambda: _derived_residual(layout, mechanism)
        )
    rates = kernels.address_of_rates(mechanism, view)
    ode = SecondOrderODE if variant == VARIANTS[MINIMAL] else ManifoldODE
    return ode(**common, rates=rates, derived=lambda: kernels.derived(layout, mechanism))


class Posed:
    """Tables as methods hand them to kernels, so that Python calls the same ones and nothing is compiled twice."""

    def __init__(self, mechanism: tables.Mechanism, work: Array, blocks: Any) -> None:
        self.mechanism, self.blocks = mechanism, blocks
        self.pointer, self.lent = handed(mechanism, work)
        self.change = types.int64(*map(typeof, (self.pointer, blocks)), float64, *(BorrowedType(float64),) * 4)
        self.plan, self.chart = mechanism.plan[:, 0], mechanism.chart

    def put_joint_scales(self, layout: Layout, state: Array) -> None:
        """What a unit of each equation's multiplier exerts in its joint, torques over the mechanism's size, inverted."""
        put_all_gradients(self.pointer, 0.0, lend(state), self.lent)
        for e, (_, j, first, count, drive) in enumerate(layout.mechanism.equations):
            own = drive < 0 and layout.mechanism.joints[j, tables.COUNT] > 0
            terms = self.mechanism.loops[e, : GRADIENT * (count if own else 1)].reshape(-1, GRADIENT)
            force, torque = terms[:, :3].sum(axis=0), terms[:, 3:6].sum(axis=0) / layout.size
            self.chart[self.plan[SCALES] + IN_JOINTS, e] = (force @ force + torque @ torque) ** -0.5

    def choose(self, state: Array, usual: Array) -> None:
        """The first chart: that of the state, or of one near it where it is singular."""
        for place in (usual, state):
            self.chart[self.plan[SETTINGS], WORN] = 1.0
            renew(self.pointer, self.blocks, 0.0, lend(place), self.lent, self.lent, self.lent)

    def decompose_by_lapack(self, time: float, state: Array) -> int:
        """What `renew` does, for large systems."""
        if self.chart[self.plan[SETTINGS], WORN] == 0.0:
            return renew(self.pointer, self.blocks, time, lend(state), self.lent, self.lent, self.lent)
        prepare(self.pointer, time, lend(state), self.lent)
        n, m, most = (int(self.plan[place]) for place in (VELOCITIES, EQUATIONS, RANK))
        first = self.plan[DECOMPOSED]
        Q, R, order = scipy.linalg.qr(self.chart[first : first + n, :m], pivoting=True)
        pivots = np.zeros(most)
        pivots[: min(n, m)] = np.abs(np.diag(R))[:most]
        rank = max(int(np.count_nonzero(pivots > RANK_TOLERANCE)), most - LOST, 0)
        self.plan[self.plan[ORDER] : self.plan[ORDER] + m] = order
        self.chart[first : first + min(n, m), :m] = R[: min(n, m)]
        kernel_rows = self.plan[KERNEL]
        self.chart[kernel_rows : kernel_rows + n, : n - rank] = Q[:, rank:]
        return adopt(self.pointer, time, lend(state), self.lent, rank)

    def suspect(self, layout: Layout, time: float, state: Array) -> str | None:
        """What is singular at a state in which a method fails, if anything is."""
        if not (np.isfinite(state).all() and self.plan[RANK] > 0):
            return None
        observe(self.pointer, time, lend(state), self.lent, self.lent)
        last = int(self.plan[RANK]) - 1
        pivot = abs(self.chart[self.plan[DECOMPOSED] + last, last])
        if pivot > SUSPECT * self.chart[self.plan[SETTINGS], LAST_PIVOT]:
            return None
        return depends(layout.equations[int(self.plan[self.plan[ORDER] + last])])


@routine
def prepare(mechanism, t, state, work):
    """The Jacobian of a state, to be decomposed."""
    put_all_gradients(mechanism, t, state, work)
    put_jacobian(borrowed(mechanism), borrow(work))


def _refuse_stabilization(stabilize: str, variant: str) -> None:
    """An error for what makes no sense where positions and velocities are those of a chart."""
    if stabilize == "rotation-vector" or (stabilize == "baumgarte" and variant != VARIANTS[ACCELERATIONS]):
        fitting = (
            '"projection", "baumgarte" or "none"' if variant == VARIANTS[ACCELERATIONS] else '"projection" or "none"'
        )
        raise PoinsotError(
            f'simulate: stabilize "{stabilize}" is not for formulation "qtz" with qtz="{variant}"; give {fitting}'
        )


def _blocks(bodies: int, free: int, counts: int) -> tuple[Any, int, int]:
    """The blocks of the state: poses, independent coordinates, counts, and the velocities of all."""
    poses = [block for _ in range(bodies) for block in ((manifold.ROTATION, 9), (manifold.REAL, 3))]
    beside = [(manifold.REAL, free + counts)] if free + counts else []
    return manifold.block_table([*poses, *beside, (manifold.REAL, MOTION * bodies + free + counts)])


def _state(layout: Layout, counters: list[tuple[int, int]], free: int, tree_state: Array) -> Array:
    """The state that moves like a tree's in joint coordinates; independent ones are not known yet."""
    state, bodies = state_of_bodies(layout, counters, tree_state)[:, 0], len(layout.bodies)
    rates = (POSE + MOTION) * bodies + len(counters)
    return np.insert(state, [POSE * bodies] * free + [rates] * free, 0.0)[:, None].copy()


def _address_of_residual(mechanism: tables.Mechanism, view: types.Type) -> int:
    return address(reduced_residual, types.void(typeof(point(mechanism)), float64, *(view,) * 5))


def _derived_residual(layout: Layout, mechanism: tables.Mechanism) -> Derived:
    """The residual for Duals."""
    kernels, view = KERNELS[VARIANTS[WHOLE]], BorrowedType(dual)
    mechanism, work = kernels.dual_tables(with_laws_for(dual, layout.model, mechanism))
    kernels.put_addresses(mechanism, view)
    return Derived(_address_of_residual(mechanism, view), *handed(mechanism, work))


@routine
def evaluate_all(mechanism, t, state, work):
    """All equations of a state, for Python."""
    put_all_gradients(mechanism, t, state, work)


KERNELS = {
    variant: Kernels(rates, apply_loads_where_placed, correct, evaluate_all, COLUMNS)
    for variant, rates, correct in (
        (VARIANTS[MINIMAL], minimal_dynamics, correct_minimal),
        (VARIANTS[ACCELERATIONS], dynamics_on_group, correct_on_group),
        (VARIANTS[WHOLE], reduced_residual, correct_reduced),
    )
}
