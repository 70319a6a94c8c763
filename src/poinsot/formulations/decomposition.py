"""The decomposition of the Jacobian of `qtz`: which equations and velocities are independent, and for how long.

After paper 002, (3)-(20) and (44)-(47); algebra/qtz.py has the factors. A chart is what a decomposition leaves: the
rows that P puts first, and B = Q2ᵀ.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra import qtz
from poinsot.algebra.manifold import nearest_rotation
from poinsot.algebra.matrix import symmetric_times
from poinsot.algebra.memory import column3, column9, get3, get6, put3, put9, put_column3, put_column9
from poinsot.algebra.vector import dot, scale, sub
from poinsot.formulations.chart import (
    equations_of,
    evaluate,
    factorise,
    freedoms_of,
    gradient_at,
    gradients,
    place_as_given,
    rows_of,
    settings_of,
)
from poinsot.formulations.closure import RANK_TOLERANCE
from poinsot.formulations.freedoms import force_on
from poinsot.formulations.loops import AT, NEAR, RECONSIDER
from poinsot.formulations.loops import KEPT as UNCHANGED
from poinsot.formulations.qtz_plan import (
    BASES,
    CENTER,
    COLUMN,
    DECLINED,
    DECOMPOSED,
    END,
    EQUATIONS,
    FIRST_END,
    FREE,
    IN_JOINTS,
    KERNEL,
    LARGEST,
    LAST_PIVOT,
    LEAST,
    LOST,
    MOVING,
    NUMBER,
    ORDER,
    ORIENTATION,
    PER_MOTION,
    PER_TURN,
    PLACES,
    RANK,
    RANKS,
    REPORTED,
    SCALES,
    SINGULAR_NEAR,
    SOLUTIONS,
    SPARE,
    STATES,
    STATUS,
    USUAL,
    VARIANT,
    VELOCITIES,
    WHOLE,
    WORN,
)
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import ALPHA, LINEAR, MOTION, POSE, place
from poinsot.mechanism.tables import ANGULAR_VELOCITY, BODY_INERTIA, BODY_MASS, VELOCITY, borrowed
from poinsot.scalars import borrow, part, sqrt, widen

# A new decomposition is wanted where the freedoms have turned away from those of the chart by more than an angle with
# this square of 1 / cos, where a body has turned by more than this from where it was (radians), and where the least
# pivot of the elimination has come down to this part of what it was. It is taken for a new chart where its last pivot
# is at least a part of the largest that has been: in a singular position the choice would be one of rounding.
STRETCHED, TURNED, WEAK, HEALTHY = 2.0, 0.5, 0.3, 0.1

# A singular position is near where the least pivot is below this part of what it was after the decomposition, and a
# step should not end where it is below that. These are roots of what holds for the other formulations, whose pivots are
# squares of distances.
NEARNESS, TOO_NEAR = 0.1, 3e-3


@routine
def put_all_gradients(mechanism, t, state, work):
    """All equations and their gradients, with the bodies as the state has them."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    place(mechanism, part(state, 0, mechanism.plan[STATES, 0]), work)
    evaluate(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0])


@routine
def put_jacobian(mechanism, work):
    """The transposed Jacobian of all equations, whose gradients stand in `loops`, in units of the masses.

    Every column is of length one; what it was divided by becomes the equation's scale.
    """
    plan, chart = mechanism.plan, mechanism.chart
    n, m = plan[VELOCITIES, 0], plan[EQUATIONS, 0]
    a, scales = part(chart, plan[DECOMPOSED, 0], n), part(chart, plan[SCALES, 0], 4)
    for e in range(m):
        squared = 0.0
        for k in range(n):
            a[k, e] = 0.0
        for at in range(plan[plan[FIRST_END, 0] + e, 0], plan[plan[FIRST_END, 0] + e + 1, 0], END):
            b = plan[at + 1, 0]
            moment, force = gradient_at(mechanism, work, at, e)
            per_turn, per_motion = chart[plan[BASES, 0] + b, PER_TURN], chart[plan[BASES, 0] + b, PER_MOTION]
            for k in range(3):
                a[MOTION * b + k, e] += per_turn * moment[k]
                a[MOTION * b + 3 + k, e] += per_motion * force[k]
        for k in range(n):
            squared += a[k, e] * a[k, e]
        scales[REPORTED, e] = 1.0 / sqrt(squared) if squared > 0.0 else 1.0
        for k in range(n):
            a[k, e] *= scales[REPORTED, e]


@routine
def decompose(mechanism):
    """Ψᵀ P = [Q1 Q2] [R11 R12; 0 0] (3)-(6) and Q2, after `put_jacobian`; the rank."""
    plan, chart = mechanism.plan, mechanism.chart
    n, m = plan[VELOCITIES, 0], plan[EQUATIONS, 0]
    a, spare, order = part(chart, plan[DECOMPOSED, 0], n), part(chart, plan[SPARE, 0], 2), part(plan, plan[ORDER, 0], m)
    found = qtz.triangularise(a, widen(a), n, m, order, spare, widen(spare), RANK_TOLERANCE, plan[RANK, 0])
    rank = max(found, plan[RANK, 0] - LOST, 0)  # there is room for so many freedoms more
    for j in range(max(found, 0), rank):
        spare[0, j] = 0.0
    kernel_rows = part(chart, plan[KERNEL, 0], n)
    qtz.null_space(a, n, rank, spare, kernel_rows, widen(kernel_rows))
    return rank


@kernel
def last_pivot(mechanism):
    """What was left of the last of the independent equations in the last decomposition."""
    plan = mechanism.plan
    last = plan[RANK, 0] - 1
    return abs(mechanism.chart[plan[DECOMPOSED, 0] + last, last]) if last >= 0 else 1.0


@routine
def take_chart(mechanism, rank, c):
    """The equations that P puts first, in the order of the model, and B = Q2ᵀ (60), become a chart."""
    plan, chart = mechanism.plan, mechanism.chart
    n, m, scales = plan[VELOCITIES, 0], plan[EQUATIONS, 0], part(chart, plan[SCALES, 0], 4)
    plan[plan[RANKS, 0] + c, 0] = rank
    for e in range(m):
        scales[c, e] = scales[REPORTED, e]
    first, _ = equations_of(mechanism, c)
    found = 0
    for e in range(m):
        for j in range(rank):
            if plan[plan[ORDER, 0] + j, 0] == e:
                plan[first + found, 0] = e
                found += 1
    B, free = freedoms_of(mechanism, c)
    for f in range(free):
        for k in range(n):
            B[f, k] = chart[plan[KERNEL, 0] + k, f]


@routine
def multipliers(mechanism, work):
    """The least multipliers with Ψᵀ λ = g - M q'' (46), by T λ'₁ = Q1ᵀ (g - M q'') (47) and λ = P Zᵀ (λ'₁, 0) (44).

    `decompose` must have been called in the same position. They replace the first numbers of the column; λ of equation
    e belongs to row e. What is the least is the sum of squares of what the multipliers exert in their joints.
    """
    plan, chart, frames = mechanism.plan, mechanism.chart, mechanism.body_frames
    n, m, rank = plan[VELOCITIES, 0], plan[EQUATIONS, 0], plan[plan[RANKS, 0] + 1, 0]
    a, spare = part(chart, plan[DECOMPOSED, 0], n), part(chart, plan[SPARE, 0], 2)
    scales, column = part(chart, plan[SCALES, 0], 4), part(chart, plan[COLUMN, 0], max(n, m))
    for j in range(m):
        e = plan[plan[ORDER, 0] + j, 0]
        ratio = scales[IN_JOINTS, e] / scales[REPORTED, e]
        for i in range(min(j + 1, rank)):
            a[i, j] *= ratio
    qtz.compress(a, rank, m, spare)
    for b in range(mechanism.bodies.shape[0]):
        i, k = mechanism.bodies[b, 0], MOTION * b
        torque, force = force_on(mechanism, work, b)
        torque = sub(torque, symmetric_times(get6(frames, b, BODY_INERTIA), get3(work, i, ALPHA)))
        force = sub(force, scale(frames[b, BODY_MASS], get3(work, i, LINEAR)))
        put_column3(column, k, 0, scale(chart[plan[BASES, 0] + b, PER_TURN], torque))
        put_column3(column, k + 3, 0, scale(chart[plan[BASES, 0] + b, PER_MOTION], force))
    qtz.transposed_times(a, n, rank, spare, column)
    qtz.solve_triangle(a, rank, column)
    qtz.from_independent(a, rank, m, spare, column)


# ------------------------------------------------------------------------------------------ how long a chart serves


@kernel
def judge_chart(mechanism):
    """Whether the chart still serves, after the factors and the freedoms of a state have been found."""
    plan, loops, settings = mechanism.plan, mechanism.loops, settings_of(mechanism)
    least, usual = loops[plan[STATUS, 0], LEAST], settings[0, USUAL]
    if not least > TOO_NEAR * settings[0, LARGEST]:
        return AT
    if least > WEAK * usual:
        settings[0, DECLINED] = 0.0
    worn = (least < WEAK * usual or stretched(mechanism) > STRETCHED) and settings[0, DECLINED] == 0.0
    settings[0, WORN] = 1.0 if worn else 0.0
    if worn:  # a decomposition will tell whether a singular position is near
        return RECONSIDER
    if is_near(mechanism):
        return NEAR
    return RECONSIDER if turned(mechanism) > TURNED * TURNED else UNCHANGED


@kernel
def is_near(mechanism):
    """Whether a singular position is near: what the elimination says, and the last decomposition did not deny."""
    settings, least = settings_of(mechanism), mechanism.loops[mechanism.plan[STATUS, 0], LEAST]
    return settings[0, DECLINED] != 0.0 and not least >= NEARNESS * settings[0, LARGEST]


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


# ------------------------------------------------------------------------------------------ a new chart


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
        settings[0, LARGEST] = max(settings[0, LARGEST], settings[0, USUAL])
    settings[0, SINGULAR_NEAR] = 1.0 if is_near(mechanism) else 0.0
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


@kernel
def centre(mechanism, state):
    """The bodies' poses in the state become those where q is zero."""
    plan, chart = mechanism.plan, mechanism.chart
    for b in range(mechanism.bodies.shape[0]):
        R = nearest_rotation(column9(state, POSE * b, 0))
        put_column9(state, POSE * b, 0, R)
        put9(chart, plan[BASES, 0] + b, ORIENTATION, R)
        put3(chart, plan[BASES, 0] + b, CENTER, column3(state, POSE * b + 9, 0))


@routine
def independent_velocities(mechanism, work, state, rate_row):
    """p' = B v (54) of the bodies' velocities in `work`, into the state; the chart is centred on the bodies."""
    plan, chart = mechanism.plan, mechanism.chart
    B, free = freedoms_of(mechanism, MOVING)
    for f in range(free):
        total = 0.0
        for b in range(mechanism.bodies.shape[0]):
            i, base = mechanism.bodies[b, 0], plan[BASES, 0] + b
            total += dot(get3(B, f, MOTION * b), get3(work, i, ANGULAR_VELOCITY)) / chart[base, PER_TURN]
            total += dot(get3(B, f, MOTION * b + 3), get3(work, i, VELOCITY)) / chart[base, PER_MOTION]
        state[rate_row + f, 0] = total


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
