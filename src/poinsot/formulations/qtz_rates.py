"""The rates of `qtz` in its three variants, and what brings a state back after a step; after paper 002, section 3.4."""

import math

from poinsot._jit import kernel, routine
from poinsot.algebra.cayley import cayley
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import product, symmetric_times
from poinsot.algebra.memory import column3, column9, get3, get6, get9, put3, put_column3, put_column9
from poinsot.algebra.vector import add, dot, negate, scale, sub
from poinsot.formulations.chart import (
    aim_at,
    aim_at_places,
    beyond_rounding,
    equations_of,
    evaluate,
    factorise,
    find_places,
    gradient_at,
    gradients,
    place_as_given,
    recover_positions,
    rows_of,
    settings_of,
    solve,
    values,
)
from poinsot.formulations.decomposition import first_freedom, first_rate, first_velocity, is_near, judge_chart
from poinsot.formulations.freedoms import (
    find_accelerations,
    find_freedoms,
    find_velocities,
    force_on,
    make_least,
    turning_at,
)
from poinsot.formulations.loops import OPENED
from poinsot.formulations.qtz_plan import (
    BEFORE,
    CLOSED,
    COUNTED,
    COUNTERS,
    END,
    FACTORED_FOR,
    FIRST_END,
    FREE,
    KEPT,
    LARGEST,
    LATEST,
    LEAST,
    MOMENTA,
    MOVING,
    PLACES,
    PROJECTS,
    RANKS,
    RIGHT,
    SCALES,
    SINGULAR_NEAR,
    STATES,
    STATUS,
    VELOCITIES,
)
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import ALPHA, LINEAR, MOTION, POSE, count_acceleration, count_rates, place, set_counts
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE, XI
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.tables import ANGULAR_VELOCITY, BODY_INERTIA, BODY_MASS, POSITION, ROTATION, VELOCITY, borrowed
from poinsot.scalars import borrow, part

# Newton's iteration for positions squares what is missing; more than this it never needs.
MOST_ITERATIONS = 12

# A DAE must not end a step where the least pivot is below this part of the largest that it has been.
HOPELESS = 1e-5
# Where it may come near within a step or two.
COMING = 0.8


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
    near, coming = is_near(mechanism), mechanism.loops[plan[STATUS, 0], LEAST] < COMING * settings[0, LARGEST]
    settings[0, SINGULAR_NEAR] = 1.0 if near else 0.0
    if near or not coming or t <= settings[0, LATEST]:
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
    # Or the next step would begin with factors that depend on what was recorded within this one.
    mechanism.loops[mechanism.plan[STATUS, 0], FACTORED_FOR] = -1.0
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
    plan, right = mechanism.plan, rows_of(mechanism, RIGHT)
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
    # Multipliers are noise there, and the motion could leave its branch without a sign.
    hopeless = mechanism.loops[plan[STATUS, 0], LEAST] < HOPELESS * settings_of(mechanism)[0, LARGEST]
    return OPENED if hopeless else judge_chart(mechanism)


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
