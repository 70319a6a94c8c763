"""The elimination of `recursive` where joints close loops: the multipliers are eliminated on the way, loop by loop.

Each equation Φ'' = 0 has a multiplier λ. On the way inward its gradient E is handed on like a force, from the bodies
that it ties to the first link that all of them hang on, and what it meets is gathered: with the joint accelerations
eliminated it reads  S λ + E·(α, a) = T, (15). At that link, its meeting point, it is solved for λ, so that it enters
the inertia there and goes no further inward: cost and memory grow with the mechanism where loops are local. Outward the
multipliers follow, each before the links that it acts on. The way of every equation is laid down in `plan`
(formulations/plan.py). Numbers of equations are those of docs/theory/recursive.md.
"""

import math

from poinsot._jit import kernel, routine
from poinsot.algebra import quaternion
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import (
    full_add,
    full_scale,
    outer,
    symmetric_add,
    symmetric_inverse,
    symmetric_outer,
    symmetric_product,
    symmetric_scale,
    symmetric_sub,
    symmetric_times,
    times,
    transposed_product_symmetric,
    transposed_times,
)
from poinsot.algebra.memory import add3, column3, column4, get3, get6, get9, put3, put6, put9, put_column4
from poinsot.algebra.vector import add, cross, dot, negate, scale, sub
from poinsot.formulations.elimination import (
    BIAS_FORCE,
    BIAS_MOMENT,
    GAIN,
    A,
    B,
    M,
    accelerate_link,
    eliminate_link,
    loads_as_bias,
    start_link,
)
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE, XI, put_equations
from poinsot.mechanism.coordinates import push_pair
from poinsot.mechanism.dynamics import call_loads, freedom, unit_motion
from poinsot.mechanism.kinematics import (
    ALPHA,
    OFFSET,
    OMEGA,
    ORIGIN_ACCELERATION,
    WORLD_ORIGIN,
    WORLD_R,
    R,
    move_bodies,
    move_in_world,
    move_link,
)
from poinsot.mechanism.loads import clear_loads
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import (
    BODY_A,
    BODY_B,
    BODY_LOADS,
    CLOSES,
    DRIVE_FORCE,
    EQUATION_TERMS,
    FIRST_TERM,
    FREE,
    JOINT_FORCE,
    JOINT_LOADS,
    KIND,
    LOADS_ADDRESS,
    MOTION,
    ONE_AXIS,
    PARENT,
    RATE,
    READING,
    REVOLUTE,
    SLIDE,
    SPHERICAL,
    TERM_JOINT,
    TURN,
    VELOCITIES,
    borrowed,
)
from poinsot.scalars import borrow, select

# The head of `plan`: how many equations are imposed, and where each part begins (formulations/plan.py).
COUNT, CHOSEN, ENDS, END_COUNT, PASSING, COUPLED, MEETING, STEPS, PAIRS, ENTRIES, USED, KEPT_STATE = range(12)
# And whether a singular position is near, where rates are those of the nearest closed state.
NEAR_SINGULAR, HEAD = 12, 13
# Columns of `loops`, rows of equations. Behind what `put_equations` writes stand the elimination of the equation at
# that place of the plan, and what belongs to the equation of that row of the mechanism's table.
DEMAND, INVERSE, LAMBDA, RETURN, USUAL, ROUNDING, FLOOR = range(21, 28)
# RETURN: Baumgarte's rate (1/s), 0 without. USUAL: the pivot away from singular positions. ROUNDING: the largest |Φ|
# that is rounding and asks for no correction; of |Φ'| per unit of the largest joint rate. FLOOR: less is noise.
# Columns of `loops`, rows of pairs of a link and an equation: E, and what it moves (of a free or spherical link).
E_MOMENT, E_FORCE, MOVED_ALPHA, MOVED_A = 0, 3, 6, 9
# Columns of the last row of `loops`: the largest |Φ| that counts as closed; whether positions are corrected only once.
CLOSED, ONCE = range(2)
# Entries of S stand 32 to a row.
LOOP_COLUMNS, SHIFT, MASK = 32, 5, 31
# A pivot below this part of what the equation would have between free bodies is rounding: the equation is redundant,
# or the position is singular, and its multiplier is zero. It is the square of the tolerance on lengths.
REDUNDANT = 1e-12


@routine
def loop_dynamics(mechanism, t, state, work, rate):
    """Rates of all coordinates under the model's loads at time t, with all loops closed."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    if mechanism.plan[NEAR_SINGULAR, 0] != 0:
        settle(mechanism, t, state, work, rate)
        accelerate_loops(mechanism, t, state, work, rate)
        recall(mechanism.plan, mechanism.loops, state, 0)
    else:
        accelerate_loops(mechanism, t, state, work, rate)


@kernel
def accelerate_loops(mechanism, t, state, work, rate):
    """Rates of all coordinates in a state."""
    call_loads(mechanism, t, state, work)
    links, frames, plan, loops = mechanism.links, mechanism.frames, mechanism.plan, mechanism.loops
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, plan, plan[CHOSEN, 0], plan[COUNT, 0], loops)
    for q in range(plan[COUNT, 0]):
        rate_of_return = loops[plan[plan[CHOSEN, 0] + q, 0], RETURN]
        drift = 2.0 * loops[q, RATE_OF_VALUE] + rate_of_return * loops[q, VALUE]
        loops[q, DEMAND] = loops[q, XI] - rate_of_return * drift
    for i in range(1, links.shape[0]):
        start_link(frames, work, i)
    if mechanism.sizes[0, BODY_LOADS] > 0:
        loads_as_bias(mechanism, work)
    solve_loops(mechanism, state, work, rate, mechanism.sizes[0, JOINT_LOADS] > 0)


@kernel
def place(mechanism, state, work):
    """Links and bodies in the world."""
    for i in range(1, mechanism.links.shape[0]):
        move_link(mechanism.links, mechanism.frames, state, work, i)
    move_in_world(mechanism, state, work)
    move_bodies(mechanism, work)


@kernel
def solve_loops(mechanism, state, work, rate, driven):
    """The whole elimination, after `put_equations`; links have their inertia and bias, equations their demand."""
    links, frames, plan, loops = mechanism.links, mechanism.frames, mechanism.plan, mechanism.loops
    gather_gradients(plan, work, loops)
    for i in range(links.shape[0] - 1, 0, -1):
        meet(plan, work, loops, i)
        eliminate_link(links, frames, state, work, i, driven)
        hand_gradients_on(links, frames, plan, state, work, loops, i)
    meet(plan, work, loops, 0)
    find_multipliers(plan, work, loops, 0)
    for i in range(1, links.shape[0]):
        push_link(links, plan, work, loops, i)
        accelerate_link(links, frames, mechanism.sizes[0, VELOCITIES], state, work, rate, i)
        find_multipliers(plan, work, loops, i)


@kernel
def get_entry(plan, loops, e):
    """Entry e of S."""
    return loops[plan[ENTRIES, 0] + (e >> SHIFT), e & MASK]


@kernel
def put_entry(plan, loops, e, x):
    """Entry e of S becomes x."""
    loops[plan[ENTRIES, 0] + (e >> SHIFT), e & MASK] = x


@kernel
def gather_gradients(plan, work, loops):
    """The gradient of each equation at the links of its bodies, about their origins and in their axes; S is zero.

    Accelerations are those of the links' origins: what turning adds at P goes to the other side.
    """
    for row in range(plan[PAIRS, 0], plan[ENTRIES, 0]):
        for k in range(6):
            loops[row, k] = 0.0
    for row in range(plan[ENTRIES, 0], plan[USED, 0]):
        for k in range(LOOP_COLUMNS):
            loops[row, k] = 0.0
    for n in range(plan[END_COUNT, 0]):
        at = plan[ENDS, 0] + 4 * n
        i, pair, q, end = plan[at, 0], plan[at + 1, 0], plan[at + 2, 0], plan[at + 3, 0]
        column = GRADIENT * (end >> 1)
        W, sign = get9(work, i, WORLD_R), 1.0 if end & 1 else -1.0
        force, torque = scale(sign, get3(loops, q, column)), scale(sign, get3(loops, q, column + 3))
        arm = sub(get3(loops, q, column + 6), get3(work, i, WORLD_ORIGIN))
        force, torque = transposed_times(W, force), transposed_times(W, torque)
        arm, w = transposed_times(W, arm), get3(work, i, OMEGA)
        add3(loops, pair, E_MOMENT, add(torque, cross(arm, force)))
        add3(loops, pair, E_FORCE, force)
        loops[q, DEMAND] -= dot(force, cross(w, cross(w, arm)))


@kernel
def hand_gradients_on(links, frames, plan, state, work, loops, i):
    """What the equations demand beyond link i: of its parent (16)-(18), and of each other (19)."""
    first, last = plan[plan[PASSING, 0] + i, 0], plan[plan[PASSING, 0] + i + 1, 0]
    if first == last:
        return
    kind, parent = links[i, KIND], links[i, PARENT]
    turned, r, w = get9(work, i, R), get3(work, i, OFFSET), get3(work, parent, OMEGA)
    own, swing = get3(work, i, OMEGA), cross(w, cross(w, r))
    for at in range(first, last, 3):
        pair, q, beyond = plan[at, 0], plan[at + 1, 0], plan[at + 2, 0]
        moment, force = get3(loops, pair, E_MOMENT), get3(loops, pair, E_FORCE)
        if kind == REVOLUTE or kind == ONE_AXIS:
            v = links[i, RATE]
            turn, slide = frames[i, TURN], frames[i, SLIDE]
            p, f, d, k = one_axis_gain(kind, work, i)
            y = turn * moment[2] + slide * force[2]
            loops[pair, MOVED_ALPHA] = y
            across = (own[1] * state[v, 0], -own[0] * state[v, 0], 0.0 * y)
            moment, force = sub(moment, scale(d * y, p)), sub(force, scale(d * y, f))
            gained = y * k + turn * dot(moment, across) + 2.0 * slide * dot(force, across)
        elif kind == SPHERICAL:
            moved = symmetric_times(get6(work, i, GAIN), moment)
            put3(loops, pair, MOVED_ALPHA, moved)
            gained = dot(moved, sub(get3(work, i, JOINT_FORCE), get3(work, i, BIAS_MOMENT)))
            force = sub(force, transposed_times(get9(work, i, B), moved))
            moment = scale(0.0, moment)
        elif kind == FREE:
            gained = dot(moment, get3(work, i, ALPHA)) + dot(force, get3(work, i, ORIGIN_ACCELERATION))
            put_moved_by(work, loops, i, pair, moment, force)
            moment, force = scale(0.0, moment), scale(0.0, force)
        else:
            gained = 0.0 * force[0]
        force = times(turned, force)
        loops[q, DEMAND] -= gained + dot(force, swing)
        add3(loops, beyond, E_MOMENT, add(times(turned, moment), cross(r, force)))
        add3(loops, beyond, E_FORCE, force)
    couple(plan, work, loops, kind, i, first, last)


@kernel
def one_axis_gain(kind, work, i):
    """Moment, force, inverse inertia and free acceleration of a one-axis link, as its elimination has left them."""
    if kind == REVOLUTE:
        p, f = (work[i, A + 4], work[i, A + 5], work[i, A + 2]), (work[i, B + 6], work[i, B + 7], work[i, B + 8])
        return p, f, work[i, GAIN], work[i, GAIN + 1]
    return get3(work, i, GAIN), get3(work, i, GAIN + 3), work[i, GAIN + 6], work[i, GAIN + 7]


@kernel
def put_moved_by(work, loops, i, pair, moment, force):
    """The acceleration that a wrench gives a free link."""
    B_i = get9(work, i, B)
    K = symmetric_inverse(get6(work, i, A))
    X = symmetric_product(K, B_i)
    S = symmetric_inverse(symmetric_sub(get6(work, i, M), transposed_product_symmetric(B_i, X)))
    a = symmetric_times(S, sub(force, transposed_times(X, moment)))
    put3(loops, pair, MOVED_ALPHA, symmetric_times(K, sub(moment, times(B_i, a))))
    put3(loops, pair, MOVED_A, a)


@kernel
def couple(plan, work, loops, kind, i, first, last):
    """What the multipliers of equations that pass link i do to each other there."""
    entry = plan[plan[COUPLED, 0] + i, 0]
    if kind != FREE and kind != SPHERICAL and kind != REVOLUTE and kind != ONE_AXIS:
        return
    d = work[i, GAIN] if kind == REVOLUTE else work[i, GAIN + 6]
    for at in range(first, last, 3):
        here = plan[at, 0]
        moment, force = get3(loops, here, E_MOMENT), get3(loops, here, E_FORCE)
        for other_at in range(first, at + 3, 3):
            other = plan[other_at, 0]
            moved = get3(loops, other, MOVED_ALPHA)
            if kind == SPHERICAL:
                gain = dot(moment, moved)
            elif kind == FREE:
                gain = dot(moment, moved) + dot(force, get3(loops, other, MOVED_A))
            else:
                gain = loops[here, MOVED_ALPHA] * d * moved[0]
            e = plan[entry, 0]
            put_entry(plan, loops, e, get_entry(plan, loops, e) + gain)
            entry += 1


@kernel
def meet(plan, work, loops, i):
    """Eliminate the multipliers of the equations that meet at link i (20)-(21)."""
    for q in range(plan[plan[MEETING, 0] + 2 * i, 0], plan[plan[MEETING, 0] + 2 * i + 1, 0]):
        at = plan[plan[STEPS, 0] + q, 0]
        pair, count, diagonal = plan[at, 0], plan[at + 1, 0], plan[at + 2, 0]
        pivot = get_entry(plan, loops, diagonal)
        least = loops[plan[plan[CHOSEN, 0] + q, 0], FLOOR]
        inverse = select(pivot > least, 1.0 / pivot, 0.0 * pivot)
        loops[q, INVERSE] = inverse
        moment, force, demand = get3(loops, pair, E_MOMENT), get3(loops, pair, E_FORCE), inverse * loops[q, DEMAND]
        if i > 0:
            put6(work, i, A, symmetric_add(get6(work, i, A), symmetric_scale(inverse, symmetric_outer(moment))))
            put9(work, i, B, full_add(get9(work, i, B), full_scale(inverse, outer(moment, force))))
            put6(work, i, M, symmetric_add(get6(work, i, M), symmetric_scale(inverse, symmetric_outer(force))))
            add3(work, i, BIAS_MOMENT, scale(-demand, moment))
            add3(work, i, BIAS_FORCE, scale(-demand, force))
        target = at + 3 + 3 * count
        for n in range(count):
            s, entry, other = plan[at + 3 + 3 * n, 0], plan[at + 4 + 3 * n, 0], plan[at + 5 + 3 * n, 0]
            coupling = get_entry(plan, loops, entry)
            loops[s, DEMAND] -= coupling * demand
            add3(loops, other, E_MOMENT, scale(-inverse * coupling, moment))
            add3(loops, other, E_FORCE, scale(-inverse * coupling, force))
            for k in range(n + 1):
                e = plan[target, 0]
                change = inverse * coupling * get_entry(plan, loops, plan[at + 4 + 3 * k, 0])
                put_entry(plan, loops, e, get_entry(plan, loops, e) - change)
                target += 1


@kernel
def find_multipliers(plan, work, loops, i):
    """The multipliers of the equations that meet at link i, whose acceleration is known."""
    begin, end = plan[plan[MEETING, 0] + 2 * i, 0], plan[plan[MEETING, 0] + 2 * i + 1, 0]
    alpha, a = get3(work, i, ALPHA), get3(work, i, ORIGIN_ACCELERATION)
    for q in range(end - 1, begin - 1, -1):
        at = plan[plan[STEPS, 0] + q, 0]
        pair, count = plan[at, 0], plan[at + 1, 0]
        missing = loops[q, DEMAND] - dot(get3(loops, pair, E_MOMENT), alpha) - dot(get3(loops, pair, E_FORCE), a)
        for n in range(count):
            coupling = get_entry(plan, loops, plan[at + 4 + 3 * n, 0])
            missing -= coupling * loops[plan[at + 3 + 3 * n, 0], LAMBDA]
        loops[q, LAMBDA] = loops[q, INVERSE] * missing


@kernel
def push_link(links, plan, work, loops, i):
    """Add what the multipliers do to what link i's joint gains on its own."""
    kind = links[i, KIND]
    first, last = plan[plan[PASSING, 0] + i, 0], plan[plan[PASSING, 0] + i + 1, 0]
    for at in range(first, last, 3):
        pair, x = plan[at, 0], loops[plan[at + 1, 0], LAMBDA]
        if kind == REVOLUTE:
            work[i, GAIN + 1] += work[i, GAIN] * loops[pair, MOVED_ALPHA] * x
        elif kind == ONE_AXIS:
            work[i, GAIN + 7] += work[i, GAIN + 6] * loops[pair, MOVED_ALPHA] * x
        elif kind == SPHERICAL:
            add3(work, i, BIAS_MOMENT, scale(-x, get3(loops, pair, E_MOMENT)))
        elif kind == FREE:
            add3(work, i, ALPHA, scale(x, get3(loops, pair, MOVED_ALPHA)))
            add3(work, i, ORIGIN_ACCELERATION, scale(x, get3(loops, pair, MOVED_A)))


# ---------------------------------------------------------------------------------------- back onto the constraints

# What a stabilisation answers; RECONSIDER is for formulations that choose their equations anew on the way.
KEPT, OPENED, RECONSIDER, NEAR, AT = range(5)
# A singular position is near where a pivot is below this part of the usual, and a step should not end where it is below
# that; so many steps of Newton's iteration settle the stages there.
NEARNESS, TOO_NEAR, SETTLING = 0.01, 1e-5, 3
# Newton's iteration for positions squares what is missing; more than this it never needs.
MOST_ITERATIONS = 12


@routine
def close_loops(mechanism, blocks, t, state, work, rate, kept):
    """Bring positions, then velocities, back onto the equations by the least amount in the metric of the masses (22).

    `rate` and `kept` are room for velocities. The answer is KEPT, OPENED where positions cannot be closed, or
    NEAR or AT a singular position.
    """
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    n, links = mechanism.sizes[0, VELOCITIES], mechanism.links
    loops, plan = mechanism.loops, mechanism.plan
    first, settings = state.shape[0] - n, loops.shape[0] - 1
    once = loops[settings, ONCE] != 0.0
    for i in range(n):
        kept[i, 0] = state[first + i, 0]
    missed, left = 0.0, 0.0
    for iteration in range(MOST_ITERATIONS + 1):
        place_equations(mechanism, t, state, work)
        left = put_demands(plan, loops, VALUE, 1.0)
        if left == 0.0 or not left < math.inf or (iteration > 0 and (once or left >= 0.5 * missed)):
            break
        if iteration == MOST_ITERATIONS:
            break
        missed = left
        respond(mechanism, state, work, rate, first)
        move_joints(links, state, rate, n)
        for i in range(n):
            state[first + i, 0] = kept[i, 0]
    if put_demands(plan, loops, RATE_OF_VALUE, fastest(state, first)) != 0.0:
        respond(mechanism, state, work, rate, first)
        for i in range(n):
            state[first + i, 0] = kept[i, 0] + rate[n + i, 0]
    if not (once or left <= loops[settings, CLOSED]):
        return OPENED
    return judge_pivots(plan, loops)


@kernel
def judge_pivots(plan, loops):
    """What the pivots say of a closed state, which is noted where a singular position is near."""
    near, at = False, False
    for q in range(plan[COUNT, 0]):
        e, inverse = plan[plan[CHOSEN, 0] + q, 0], loops[q, INVERSE]
        near = near or inverse == 0.0 or not inverse * loops[e, USUAL] * NEARNESS < 1.0
        at = at or inverse == 0.0 or not inverse * loops[e, USUAL] * TOO_NEAR < 1.0
    plan[NEAR_SINGULAR, 0] = 1 if near else 0
    return AT if at else NEAR if near else KEPT


@routine
def find_pivots(mechanism, t, state, work, rate):
    """Eliminate in a state, for the pivots that this leaves; its velocities are lost."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    demand(mechanism, t, state, work, VALUE, 1.0)
    respond(mechanism, state, work, rate, state.shape[0] - mechanism.sizes[0, VELOCITIES])
    judge_pivots(mechanism.plan, mechanism.loops)


@kernel
def settle(mechanism, t, state, work, rate):
    """Exchange the state for the nearest closed one; `recall` brings it back.

    In a singular position the gradient of an equation vanishes with what it demands, and accelerations are the limit of
    their quotient: only on the constraints have they one. Stages of a step are a little off them.
    """
    plan, loops, n = mechanism.plan, mechanism.loops, mechanism.sizes[0, VELOCITIES]
    first = state.shape[0] - n
    for k in range(state.shape[0]):
        loops[plan[KEPT_STATE, 0] + (k >> SHIFT), k & MASK] = state[k, 0]
    for _ in range(SETTLING):
        demand(mechanism, t, state, work, VALUE, 1.0)
        respond(mechanism, state, work, rate, first)
        move_joints(mechanism.links, state, rate, n)
    recall(plan, loops, state, first)
    demand(mechanism, t, state, work, RATE_OF_VALUE, fastest(state, first))
    respond(mechanism, state, work, rate, first)
    recall(plan, loops, state, first)
    for i in range(n):
        state[first + i, 0] += rate[n + i, 0]


@kernel
def recall(plan, loops, state, first):
    """The kept state from row `first` on."""
    for k in range(first, state.shape[0]):
        state[k, 0] = loops[plan[KEPT_STATE, 0] + (k >> SHIFT), k & MASK]


@kernel
def move_joints(links, state, rate, n):
    """Move the coordinates by the response in `rate`."""
    for i in range(1, links.shape[0]):
        kind, q, x = links[i, KIND], links[i, READING], n + links[i, MOTION]
        if kind == REVOLUTE or kind == ONE_AXIS:
            state[q, 0] += rate[x, 0]
        elif kind == SPHERICAL or kind == FREE:
            turn = quaternion.exp(column3(rate, x, 0))
            put_column4(state, q, 0, quaternion.product(column4(state, q, 0), turn))
            if kind == FREE:
                for k in range(3):
                    state[q + 4 + k, 0] += rate[x + 3 + k, 0]


@kernel
def demand(mechanism, t, state, work, column, speed):
    """Ask each equation for the negative of its Φ or Φ'."""
    place_equations(mechanism, t, state, work)
    ask(mechanism.plan, mechanism.loops, column, speed)


@kernel
def place_equations(mechanism, t, state, work):
    """Links, bodies and the imposed equations in a state."""
    plan = mechanism.plan
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, plan, plan[CHOSEN, 0], plan[COUNT, 0], mechanism.loops)


@kernel
def ask(plan, loops, column, speed):
    """Ask each equation for the negative of its Φ or Φ', where that is more than rounding.

    What is rounding must not be corrected: near a singular position a small Φ asks for a large change of the state.
    """
    for q in range(plan[COUNT, 0]):
        x, least = loops[q, column], loops[plan[plan[CHOSEN, 0] + q, 0], ROUNDING] * speed
        loops[q, DEMAND] = select(x > least, -x, select(x < -least, -x, 0.0 * x))


@kernel
def put_demands(plan, loops, column, speed):
    """The same; the largest of them is returned, NaN where there is one. For float64 only."""
    largest = 0.0
    ask(plan, loops, column, speed)
    for q in range(plan[COUNT, 0]):
        x = loops[q, column]
        largest = larger(largest, loops[q, DEMAND] if x == x else x)
    return largest


@kernel
def fastest(state, first):
    """The largest size of the joint rates."""
    most = 0.0 * state[first, 0]
    for k in range(first, state.shape[0]):
        x = state[k, 0]
        most = select(x > most, x, select(-x > most, -x, most))
    return most


@kernel
def respond(mechanism, state, work, rate, first):
    """The least velocities that the demands ask for: the same elimination, without motion, gravity and loads."""
    links, frames = mechanism.links, mechanism.frames
    for i in range(first, state.shape[0]):
        state[i, 0] = 0.0
    put3(work, 0, ORIGIN_ACCELERATION, (0.0, 0.0, 0.0))
    for i in range(1, links.shape[0]):
        move_link(links, frames, state, work, i)
        start_link(frames, work, i)
        for k in range(6):
            work[i, JOINT_FORCE + k] = 0.0
    solve_loops(mechanism, state, work, rate, False)
    put3(work, 0, ORIGIN_ACCELERATION, negate(get3(mechanism.gravity, 0, 0)))


@routine
def closing_jacobian(mechanism, t, state, work, chosen, count, jacobian):
    """One row of velocities for each of the first `count` equations in `chosen`; a column per joint velocity."""
    mechanism, state, work, chosen = borrowed(mechanism), borrow(state), borrow(work), borrow(chosen)
    links, frames, loops = mechanism.links, mechanism.frames, mechanism.loops
    place(mechanism, state, work)
    put_equations(mechanism, t, state, work, chosen, 0, count, loops)
    for q in range(count):
        for k in range(jacobian.shape[1]):
            jacobian[q, k] = 0.0
        for n in range(mechanism.equations[chosen[q, 0], EQUATION_TERMS]):
            j = mechanism.terms[mechanism.equations[chosen[q, 0], FIRST_TERM] + n, TERM_JOINT]
            for end in range(2):
                i = mechanism.joints[j, BODY_B if end == 1 else BODY_A]
                W, sign = get9(work, i, WORLD_R), 1.0 if end == 1 else -1.0
                force, torque = get3(loops, q, GRADIENT * n), get3(loops, q, GRADIENT * n + 3)
                arm = sub(get3(loops, q, GRADIENT * n + 6), get3(work, i, WORLD_ORIGIN))
                moment = scale(sign, transposed_times(W, add(torque, cross(arm, force))))
                force = scale(sign, transposed_times(W, force))
                while i > 0:
                    for k in range(freedom(links, i)):
                        angular, linear = unit_motion(links, frames, work, i, k)
                        jacobian[q, links[i, MOTION] + k] += dot(angular, moment) + dot(linear, force)
                    turned = get9(work, i, R)
                    force = times(turned, force)
                    moment = add(times(turned, moment), cross(get3(work, i, OFFSET), force))
                    i = links[i, PARENT]


# ---------------------------------------------------------------------------------------- what they transmit


@kernel
def push_multipliers(mechanism, work):
    """Add what the multipliers do to the bodies to the loads there, after `loop_dynamics`."""
    plan, loops, terms, equations = mechanism.plan, mechanism.loops, mechanism.terms, mechanism.equations
    if mechanism.sizes[0, LOADS_ADDRESS] == 0:
        clear_loads(mechanism, work)
    for q in range(plan[COUNT, 0]):
        e, x = plan[plan[CHOSEN, 0] + q, 0], loops[q, LAMBDA]
        for n in range(equations[e, EQUATION_TERMS]):
            j = terms[equations[e, FIRST_TERM] + n, TERM_JOINT]
            force, torque = scale(x, get3(loops, q, GRADIENT * n)), scale(x, get3(loops, q, GRADIENT * n + 3))
            push_pair(mechanism, work, j, get3(loops, q, GRADIENT * n + 6), force, torque)


@kernel
def report_closing_joints(mechanism, work, joints):
    """Reactions of joints that close loops, their multipliers, on b at its point; forces of drives."""
    plan, loops = mechanism.plan, mechanism.loops
    for j in range(mechanism.joints.shape[0]):
        joints[j, DRIVE_FORCE] = 0.0
        if mechanism.joints[j, CLOSES]:
            clear_reaction(joints, j)
    for q in range(plan[COUNT, 0]):
        add_reaction(mechanism, plan[plan[CHOSEN, 0] + q, 0], loops, q, loops[q, LAMBDA], joints)
