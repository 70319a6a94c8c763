"""Charts of `qtz`: motions of a constrained mechanism in as few coordinates as it has freedoms, after paper 002.

At a decomposition, of the Jacobian C of all equations in the bodies' velocities, P puts r independent rows first, and
Q2 spans what they leave free. From then on bodies have coordinates q, zero there, with R = R0 cay(θ) and x = x0 + s,
and the mechanism has p = B q (65) with B = Q2ᵀ. Positions, velocities and accelerations follow from

    [Ψ''; B] (q', q'') = ([b''; p'], [γ''; p'']),   [Ψ''; B]⁻¹ = [Q̂1 Q̂2]   (55)-(61), (31)-(32),

the same matrix, factorised by elimination; unknowns are the velocities v with q' = H v. Everything is in units of the
roots of the masses, so that metres and radians compare. docs/theory/qtz.md derives it all; numbers are the paper's.
"""

import math

from poinsot._jit import kernel, routine
from poinsot.algebra import qtz, wide
from poinsot.algebra.dense import cholesky, cholesky_solve
from poinsot.algebra.manifold import larger, nearest_rotation
from poinsot.algebra.matrix import product, symmetric_times, times, transposed_product, transposed_times
from poinsot.algebra.memory import column3, column9, get3, get6, get9, put3, put9, put_column3, put_column9
from poinsot.algebra.vector import add, cross, dot, scale, sub
from poinsot.formulations.closure import RANK_TOLERANCE
from poinsot.formulations.qtz_plan import (
    BASES,
    CENTER,
    CHOSEN,
    COLUMN,
    DECOMPOSED,
    END,
    EQUATIONS,
    FACTORED_FOR,
    FIRST_END,
    FREE,
    FREED,
    FREEDOMS,
    IN_JOINTS,
    KERNEL,
    LEAST,
    LOST,
    LOWER,
    MOMENTA,
    MOVING,
    NUMBER,
    ORDER,
    ORDERED_FOR,
    ORIENTATION,
    PER_MOTION,
    PER_TURN,
    PIVOTS,
    PLACES,
    RANK,
    RANKS,
    REDUCED,
    REPORTED,
    ROUNDED,
    RETURN,
    RIGHT,
    SCALES,
    SETTINGS,
    SINGULAR_NEAR,
    SIZE,
    SOLUTIONS,
    SPARE,
    STATUS,
    UPPER,
    VELOCITIES,
)
from poinsot.mechanism.absolute import ALPHA, LINEAR, MOTION, POSE
from poinsot.mechanism.constraints import (
    GRADIENT,
    RATE_OF_VALUE,
    VALUE,
    XI,
    put_demands,
    put_equations,
    put_values,
)
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    BODY_INERTIA,
    BODY_MASS,
    LOAD_FORCE,
    LOAD_TORQUE,
    POSITION,
    ROTATION,
    VELOCITY,
)
from poinsot.scalars import part, sqrt, value_of, widen

# Newton's iteration for positions, with the matrix of the evaluation before as long as that helps: it ends where the
# next change, estimated from the last two, is rounding, or where changes are and become no smaller. Near a singular
# position what is left shows in accelerations over the square of its distance.
MOST_ITERATIONS, FINE, FINEST, ROUNDING, SLOW = 20, 1e-14, 1e-16, 1e-14, 0.2


# ------------------------------------------------------------------------------------------ parts of the tables


@kernel
def equations_of(mechanism, c):
    """Where the list of a chart's equations begins in the plan, and how many there are."""
    plan = mechanism.plan
    return plan[CHOSEN, 0] + c * plan[RANK, 0], plan[plan[RANKS, 0] + c, 0]


@kernel
def freedoms_of(mechanism, c):
    """B of a chart, one row for each freedom."""
    plan = mechanism.plan
    free = plan[VELOCITIES, 0] - plan[plan[RANKS, 0] + c, 0]
    most = plan[FREE, 0] + min(LOST, plan[RANK, 0])
    return part(mechanism.chart, plan[FREEDOMS, 0] + c * most, free), free


@kernel
def settings_of(mechanism):
    """The settings, one row."""
    return part(mechanism.chart, mechanism.plan[SETTINGS, 0], 1)


@kernel
def rows_of(mechanism, place):
    """As many rows of `loops` as there are velocities, from that place on."""
    return part(mechanism.loops, mechanism.plan[place, 0], mechanism.plan[VELOCITIES, 0])


# ------------------------------------------------------------------------------------------ bodies in the chart


@kernel
def cayley(u):
    """The rotation cay(u) = 1 + (û + û²/2) / (1 + u²/4): by 2 atan(|u|/2) about u."""
    x, y, z = u
    f = 1.0 / (1.0 + 0.25 * dot(u, u))
    h = 0.5 * f
    return (
        1.0 - h * (y * y + z * z), h * x * y - f * z, h * x * z + f * y,
        h * x * y + f * z, 1.0 - h * (x * x + z * z), h * y * z - f * x,
        h * x * z - f * y, h * y * z + f * x, 1.0 - h * (x * x + y * y),
    )  # fmt: skip


@kernel
def inverse_cayley(R):
    """The u with R = cay(u), for turns of less than half a turn."""
    f = 2.0 / (1.0 + R[0] + R[4] + R[8])
    return f * (R[7] - R[5]), f * (R[2] - R[6]), f * (R[3] - R[1])


@kernel
def chart_rate(u, w):
    """u' = H w at the angular velocity w in body axes."""
    return add(add(w, scale(0.5, cross(u, w))), scale(0.25 * dot(u, w), u))


@kernel
def chart_rate_transposed(u, row):
    """Hᵀ of a row."""
    return add(add(row, scale(0.5, cross(row, u))), scale(0.25 * dot(row, u), u))


@kernel
def chart_bend(u, rate, w):
    """H' w, what u'' = H w' + H' w has besides."""
    swing = scale(0.5, cross(rate, w))
    return add(swing, scale(0.25, add(scale(dot(u, w), rate), scale(dot(rate, w), u))))


@kernel
def find_places(mechanism, state):
    """The coordinates q of the bodies as the state has them."""
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    for b in range(mechanism.bodies.shape[0]):
        base, row = plan[BASES, 0] + b, plan[PLACES, 0] + b
        turned = transposed_product(get9(chart, base, ORIENTATION), column9(state, POSE * b, 0))
        put3(loops, row, 0, inverse_cayley(turned))
        put3(loops, row, 3, sub(column3(state, POSE * b + 9, 0), get3(chart, base, CENTER)))


@kernel
def place_in_chart(mechanism, work):
    """Bodies where q has them, at rest."""
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    for b in range(mechanism.bodies.shape[0]):
        i, base, row = mechanism.bodies[b, 0], plan[BASES, 0] + b, plan[PLACES, 0] + b
        u, s = get3(loops, row, 0), get3(loops, row, 3)
        put9(work, i, ROTATION, product(get9(chart, base, ORIENTATION), cayley(u)))
        put3(work, i, POSITION, add(get3(chart, base, CENTER), s))
        put_rest(work, i, s)


@kernel
def put_rest(work, i, pattern):
    """No velocity, of the scalar type of the pattern."""
    still = scale(0.0, pattern)
    put3(work, i, ANGULAR_VELOCITY, still)
    put3(work, i, VELOCITY, still)


@kernel
def place_as_given(mechanism, state, work):
    """Bodies where the state has them, at rest, and the chart centred on them: q = 0."""
    for b in range(mechanism.bodies.shape[0]):
        i, row = mechanism.bodies[b, 0], mechanism.plan[PLACES, 0] + b
        R, x = column9(state, POSE * b, 0), column3(state, POSE * b + 9, 0)
        put9(work, i, ROTATION, R)
        put3(work, i, POSITION, x)
        put_rest(work, i, x)
        put3(mechanism.loops, row, 0, scale(0.0, x))
        put3(mechanism.loops, row, 3, scale(0.0, x))


# ------------------------------------------------------------------------------------------ the matrix [Ψ''; B]


@kernel
def gradients(mechanism, t, state, work, c):
    """Φ, Φ_t and the gradients of a chart's equations; the bodies are at rest."""
    first, rank = equations_of(mechanism, c)
    evaluate(mechanism, t, state, work, mechanism.plan, first, rank)


@routine
def evaluate(mechanism, t, state, work, chosen, first, count):
    """Equations and their gradients where the bodies stand, one row of `loops` each."""
    put_equations(mechanism, t, state, work, chosen, first, count, mechanism.loops)


@routine
def values(mechanism, t, state, work, c):
    """Only Φ of a chart's equations."""
    first, rank = equations_of(mechanism, c)
    put_values(mechanism, t, state, work, mechanism.plan, first, rank, mechanism.loops)


@kernel
def gradient_at(mechanism, work, at, q):
    """The gradient of the equation in row q of `loops` at an end: moment in body axes, force in world axes."""
    plan, loops = mechanism.plan, mechanism.loops
    i, column, sign = plan[at, 0], GRADIENT * plan[at + 2, 0], plan[at + 3, 0]
    force, torque = scale(sign, get3(loops, q, column)), scale(sign, get3(loops, q, column + 3))
    arm = sub(get3(loops, q, column + 6), get3(work, i, POSITION))
    return transposed_times(get9(work, i, ROTATION), add(torque, cross(arm, force))), force


@kernel
def add_to_row(a, i, k, x):
    """Add three numbers to row i, from column k on."""
    a[i, k] += x[0]
    a[i, k + 1] += x[1]
    a[i, k + 2] += x[2]


@routine
def factorise(mechanism, work, c):
    """The matrix of a chart from the gradients in `loops`, in factors.

    Pivots are looked for once after a decomposition; from then on rows stand where that has put them, but near singular
    positions.
    """
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    n, status, settings = plan[VELOCITIES, 0], part(loops, plan[STATUS, 0], 1), settings_of(mechanism)
    upper, lower, exchanges = rows_of(mechanism, UPPER), rows_of(mechanism, LOWER), part(loops, plan[PIVOTS, 0], 2)
    ordered = value_of(status[0, ORDERED_FOR]) == settings[0, NUMBER] and settings[0, SINGULAR_NEAR] == 0.0
    ordered = ordered and c == MOVING
    places = part(exchanges, 1, 1)
    if not ordered:
        for row in range(n):
            places[0, row] = row
    scales = part(chart, plan[SCALES, 0], 4)
    first, rank = equations_of(mechanism, c)
    for q in range(rank):
        e, row = plan[first + q, 0], int(value_of(places[0, q]))
        for k in range(n):
            upper[row, k] = 0.0
        for at in range(plan[plan[FIRST_END, 0] + e, 0], plan[plan[FIRST_END, 0] + e + 1, 0], END):
            b = plan[at + 1, 0]
            moment, force = gradient_at(mechanism, work, at, q)
            base, per_equation = plan[BASES, 0] + b, scales[c, e]
            add_to_row(upper, row, MOTION * b, scale(per_equation * chart[base, PER_TURN], moment))
            add_to_row(upper, row, MOTION * b + 3, scale(per_equation * chart[base, PER_MOTION], force))
    B, free = freedoms_of(mechanism, c)
    for f in range(free):
        row = int(value_of(places[0, rank + f]))
        for b in range(mechanism.bodies.shape[0]):
            k, u = MOTION * b, get3(loops, plan[PLACES, 0] + b, 0)
            put3(upper, row, k, chart_rate_transposed(u, get3(B, f, k)))
            put3(upper, row, k + 3, add(get3(B, f, k + 3), scale(0.0, u)))
    if ordered:
        status[0, LEAST] = wide.factorise_in_order(upper, widen(upper), lower, n)
    else:
        status[0, LEAST] = wide.factorise(upper, widen(upper), lower, n, rank, exchanges)
        wide.put_places(exchanges, n, places)
        status[0, ORDERED_FOR] = settings[0, NUMBER] if c == MOVING else -1.0
    status[0, FACTORED_FOR] = -1.0


@routine
def solve(mechanism, place, columns):
    """Right-hand sides in `loops` become velocities, in units of radians and metres."""
    plan = mechanism.plan
    n = plan[VELOCITIES, 0]
    x = rows_of(mechanism, place)
    packed, pivots = widen(x), part(mechanism.loops, plan[PIVOTS, 0], 1)
    wide.solve(rows_of(mechanism, UPPER), rows_of(mechanism, LOWER), n, pivots, x, packed, columns)
    most, _ = wide.entries(x, packed, columns)
    for b in range(mechanism.bodies.shape[0]):
        base, row = plan[BASES, 0] + b, MOTION * b
        for k in range(3):
            for entry in range(most):
                packed[row + k, entry] = packed[row + k, entry] * mechanism.chart[base, PER_TURN]
                packed[row + 3 + k, entry] = packed[row + 3 + k, entry] * mechanism.chart[base, PER_MOTION]


# ------------------------------------------------------------------------------------------ positions


@kernel
def beyond_rounding(mechanism, c, q, column):
    """Φ of the equation in row q, or Φ', scaled; zero where it is rounding, but for derivatives.

    Near a singular position its correction would be rounding over the distance, and accelerations noise.
    """
    plan, chart = mechanism.plan, mechanism.chart
    e = plan[plan[CHOSEN, 0] + c * plan[RANK, 0] + q, 0]
    x = mechanism.loops[q, column]
    if abs(value_of(x)) <= chart[plan[SCALES, 0] + ROUNDED, e]:
        x = x - value_of(x)
    return x * chart[plan[SCALES, 0] + c, e]


@kernel
def put_gap(mechanism):
    """What is missing of Ψ'' = 0 and of B q = p, as a right-hand side; Φ stands in `loops`."""
    right, aim = rows_of(mechanism, RIGHT), rows_of(mechanism, MOMENTA)
    _, rank = equations_of(mechanism, MOVING)
    for q in range(rank):
        right[q, 0] = beyond_rounding(mechanism, MOVING, q, VALUE)
    B, free = freedoms_of(mechanism, MOVING)
    for f in range(free):
        right[rank + f, 0] = coordinate(mechanism, B, f) - aim[f, 0]


@kernel
def coordinate(mechanism, B, f):
    """Coordinate f of B q."""
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    total = 0.0 * loops[plan[PLACES, 0], 0]
    for b in range(mechanism.bodies.shape[0]):
        row, base = plan[PLACES, 0] + b, plan[BASES, 0] + b
        total += dot(get3(B, f, MOTION * b), get3(loops, row, 0)) / chart[base, PER_TURN]
        total += dot(get3(B, f, MOTION * b + 3), get3(loops, row, 3)) / chart[base, PER_MOTION]
    return total


@kernel
def aim_at(mechanism, state, first):
    """Let p of the positions to be recovered be that of the state."""
    aim = rows_of(mechanism, MOMENTA)
    for f in range(mechanism.plan[FREE, 0]):
        aim[f, 0] = state[first + f, 0]


@kernel
def aim_at_places(mechanism, state):
    """Let p of the positions to be recovered be that of the bodies as the state has them."""
    aim = rows_of(mechanism, MOMENTA)
    find_places(mechanism, state)
    B, free = freedoms_of(mechanism, MOVING)
    for f in range(free):
        aim[f, 0] = coordinate(mechanism, B, f)


@kernel
def change_places(mechanism):
    """q becomes q - H x, with the solution x; the largest change is returned, in radians or sizes of the mechanism."""
    plan, loops, right = mechanism.plan, mechanism.loops, rows_of(mechanism, RIGHT)
    size, largest = settings_of(mechanism)[0, SIZE], 0.0
    for b in range(mechanism.bodies.shape[0]):
        row, k = plan[PLACES, 0] + b, MOTION * b
        turn, shift = column3(right, k, 0), column3(right, k + 3, 0)
        u = get3(loops, row, 0)
        put3(loops, row, 0, sub(u, chart_rate(u, turn)))
        put3(loops, row, 3, sub(get3(loops, row, 3), shift))
        for m in range(3):
            largest = larger(larger(largest, value_of(turn[m])), value_of(shift[m]) / size)
    return largest


@routine
def recover_positions(mechanism, t, state, work):
    """Where the bodies are: Ψ'' = 0 and B q = p (65), from where the state has them; p was told by `aim_at`.

    Behind it stand the gradients there and the factors of the matrix. With Duals the last correction is made twice:
    derivatives of positions are exact after the first, those of the matrix after the second.
    """
    plan, loops = mechanism.plan, mechanism.loops
    status, number = part(loops, plan[STATUS, 0], 1), settings_of(mechanism)[0, NUMBER]
    find_places(mechanism, state)
    near = settings_of(mechanism)[0, SINGULAR_NEAR] != 0.0
    fine = FINEST if near else FINE
    fresh, missed, size = near or not value_of(status[0, FACTORED_FOR]) == number, 0.0, 0.0
    for iteration in range(MOST_ITERATIONS):
        place_in_chart(mechanism, work)
        if fresh:
            gradients(mechanism, t, state, work, MOVING)
            factorise(mechanism, work, MOVING)
        else:
            values(mechanism, t, state, work, MOVING)
        put_gap(mechanism)
        solve(mechanism, RIGHT, 1)
        size = change_places(mechanism)
        if size <= fine or size != size or (iteration > 0 and size * size <= fine * missed):
            break
        if iteration > 0 and size <= ROUNDING and size > 0.5 * missed:
            break
        fresh = near or (iteration > 0 and size > SLOW * missed)
        missed = size
    passes = 2 if loops.shape[1] == widen(loops).shape[1] else 1
    for _ in range(passes):
        place_in_chart(mechanism, work)
        gradients(mechanism, t, state, work, MOVING)
        factorise(mechanism, work, MOVING)
        put_gap(mechanism)
        solve(mechanism, RIGHT, 1)
        size = change_places(mechanism)
    place_in_chart(mechanism, work)
    if size < math.inf:  # what is not a number would be taken for the next evaluation, and for all after it
        status[0, FACTORED_FOR] = number


# ------------------------------------------------------------------------------------------ velocities, accelerations


@routine
def find_freedoms(mechanism, c):
    """Q̂2, in the first columns of the solutions, and Q̂1 b'' (33) in the next.

    The bodies were at rest when their gradients were found, so that Φ' in `loops` is Φ_t.
    """
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    n, x = plan[VELOCITIES, 0], rows_of(mechanism, SOLUTIONS)
    first, rank = equations_of(mechanism, c)
    free = n - rank
    plan[FREED, 0] = free
    for i in range(n):
        for k in range(free + 1):
            x[i, k] = 0.0
    returning = settings_of(mechanism)[0, RETURN]
    for q in range(rank):
        demand = loops[q, RATE_OF_VALUE] + returning * loops[q, VALUE]
        x[q, free] = -demand * chart[plan[SCALES, 0] + c, plan[first + q, 0]]
    for f in range(free):
        x[rank + f, f] = x[rank + f, f] + 1.0
    solve(mechanism, SOLUTIONS, free + 1)


@kernel
def find_velocities(mechanism, state, work, rate_row):
    """q' = Q̂1 b'' + Q̂2 p' (33) of all bodies, after `find_freedoms`."""
    x = rows_of(mechanism, SOLUTIONS)
    free = mechanism.plan[FREE, 0]
    for b in range(mechanism.bodies.shape[0]):
        i, k = mechanism.bodies[b, 0], MOTION * b
        w, v = column3(x, k, free), column3(x, k + 3, free)
        for f in range(free):
            speed = state[rate_row + f, 0]
            w, v = add(w, scale(speed, column3(x, k, f))), add(v, scale(speed, column3(x, k + 3, f)))
        put3(work, i, ANGULAR_VELOCITY, w)
        put3(work, i, VELOCITY, v)


@kernel
def turning_at(mechanism, work, at, q):
    """What turning adds to Φ'' at an end of the equation in row q of `loops`."""
    plan, loops = mechanism.plan, mechanism.loops
    i, column = plan[at, 0], GRADIENT * plan[at + 2, 0]
    w = times(get9(work, i, ROTATION), get3(work, i, ANGULAR_VELOCITY))
    arm = sub(get3(loops, q, column + 6), get3(work, i, POSITION))
    return plan[at + 3, 0] * dot(get3(loops, q, column), cross(w, cross(w, arm)))


@kernel
def put_demand_on_accelerations(mechanism, t, state, work, c):
    """γ'' (63), with the term that (37) lacks, and what B q'' has besides B H v', as a right-hand side."""
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    right, returning = rows_of(mechanism, RIGHT), settings_of(mechanism)[0, RETURN]
    first, rank = equations_of(mechanism, c)
    put_demands(mechanism, t, state, work, plan, first, rank, loops)
    for q in range(rank):
        e = plan[first + q, 0]
        gamma = loops[q, XI] - returning * loops[q, RATE_OF_VALUE]
        for at in range(plan[plan[FIRST_END, 0] + e, 0], plan[plan[FIRST_END, 0] + e + 1, 0], END):
            gamma -= turning_at(mechanism, work, at, q)
        right[q, 0] = gamma * chart[plan[SCALES, 0] + c, e]
    B, free = freedoms_of(mechanism, c)
    for f in range(free):
        total = 0.0 * loops[plan[PLACES, 0], 0]
        for b in range(mechanism.bodies.shape[0]):
            u, w = get3(loops, plan[PLACES, 0] + b, 0), get3(work, mechanism.bodies[b, 0], ANGULAR_VELOCITY)
            bend = chart_bend(u, chart_rate(u, w), w)
            total -= dot(get3(B, f, MOTION * b), bend) / chart[plan[BASES, 0] + b, PER_TURN]
        right[rank + f, 0] = total


@kernel
def force_on(mechanism, work, b):
    """What acts on a body but for joints: torque in body axes, less the gyroscopic one, and force."""
    i, frames = mechanism.bodies[b, 0], mechanism.body_frames
    w = get3(work, i, ANGULAR_VELOCITY)
    torque = transposed_times(get9(work, i, ROTATION), get3(work, i, LOAD_TORQUE))
    gyroscopic = cross(w, symmetric_times(get6(frames, b, BODY_INERTIA), w))
    weight = scale(frames[b, BODY_MASS], get3(mechanism.gravity, 0, 0))
    return sub(torque, gyroscopic), add(get3(work, i, LOAD_FORCE), weight)


@routine
def put_reduced_inertia(mechanism):
    """M̂ = Q̂2ᵀ M Q̂2 (49) as Cholesky's factor, and M Q̂2 in the columns of the momenta, after `find_freedoms`."""
    plan, loops, frames = mechanism.plan, mechanism.loops, mechanism.body_frames
    x, momenta, free = rows_of(mechanism, SOLUTIONS), rows_of(mechanism, MOMENTA), plan[FREED, 0]
    reduced = part(loops, plan[REDUCED, 0], free)
    for f in range(free):
        for g in range(free):
            reduced[f, g] = 0.0
    packed, rows = widen(x), widen(reduced)
    most, _ = wide.entries(x, packed, free)
    for b in range(mechanism.bodies.shape[0]):
        k, mass, J = MOTION * b, frames[b, BODY_MASS], get6(frames, b, BODY_INERTIA)
        for f in range(free):
            put_column3(momenta, k, f, symmetric_times(J, column3(x, k, f)))
            put_column3(momenta, k + 3, f, scale(mass, column3(x, k + 3, f)))
        for m in range(MOTION):
            for f in range(free):
                y = momenta[k + m, f]
                for entry in range(most):
                    rows[f, entry] = rows[f, entry] + packed[k + m, entry] * y
    if free > 0:
        cholesky(reduced, free)


@kernel
def add_freedoms(mechanism):
    """Add Q̂2 M̂⁻¹ y to the right-hand side's solution, where y stands in the column behind the momenta."""
    plan, x, momenta = mechanism.plan, rows_of(mechanism, SOLUTIONS), rows_of(mechanism, MOMENTA)
    right, free = rows_of(mechanism, RIGHT), plan[FREED, 0]
    if free > 0:
        cholesky_solve(part(mechanism.loops, plan[REDUCED, 0], free), free, momenta, free)
    for f in range(free):
        y = momenta[f, free]
        for k in range(plan[VELOCITIES, 0]):
            right[k, 0] += y * x[k, f]


@routine
def find_accelerations(mechanism, t, state, work, c):
    """M̂ p'' = Q̂2ᵀ (g - M Q̂1 γ'') (67), and q'' = Q̂1 γ'' + Q̂2 p'' (64) of all bodies; loads stand in `work`.

    p'' stands in the column behind the momenta.
    """
    plan, frames = mechanism.plan, mechanism.body_frames
    x, right, momenta = rows_of(mechanism, SOLUTIONS), rows_of(mechanism, RIGHT), rows_of(mechanism, MOMENTA)
    put_demand_on_accelerations(mechanism, t, state, work, c)
    solve(mechanism, RIGHT, 1)
    put_reduced_inertia(mechanism)
    free = plan[FREED, 0]
    for f in range(free):
        momenta[f, free] = 0.0
    for b in range(mechanism.bodies.shape[0]):
        k, mass, J = MOTION * b, frames[b, BODY_MASS], get6(frames, b, BODY_INERTIA)
        torque, force = force_on(mechanism, work, b)
        torque = sub(torque, symmetric_times(J, column3(right, k, 0)))
        force = sub(force, scale(mass, column3(right, k + 3, 0)))
        for f in range(free):
            momenta[f, free] += dot(column3(x, k, f), torque) + dot(column3(x, k + 3, f), force)
    add_freedoms(mechanism)
    for b in range(mechanism.bodies.shape[0]):
        i, k = mechanism.bodies[b, 0], MOTION * b
        put3(work, i, ALPHA, column3(right, k, 0))
        put3(work, i, LINEAR, column3(right, k + 3, 0))


@routine
def make_least(mechanism):
    """Of all motions that do as much to the constraints as the right-hand side's solution, the least in the masses."""
    plan, right, momenta = mechanism.plan, rows_of(mechanism, RIGHT), rows_of(mechanism, MOMENTA)
    put_reduced_inertia(mechanism)
    free = plan[FREED, 0]
    for f in range(free):
        total = 0.0 * right[0, 0]
        for k in range(plan[VELOCITIES, 0]):
            total -= momenta[k, f] * right[k, 0]
        momenta[f, free] = total
    add_freedoms(mechanism)


# ------------------------------------------------------------------------------------------ the decomposition


@routine
def put_jacobian(mechanism, work):
    """The transposed Jacobian of all equations, whose gradients stand in `loops`, in units of the masses.

    Every column is of length one; what it was divided by becomes the equation's scale.
    """
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
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
def centre(mechanism, state):
    """The bodies' poses in the state become those where q is zero."""
    plan, chart = mechanism.plan, mechanism.chart
    for b in range(mechanism.bodies.shape[0]):
        R = nearest_rotation(column9(state, POSE * b, 0))
        put_column9(state, POSE * b, 0, R)
        put9(chart, plan[BASES, 0] + b, ORIENTATION, R)
        put3(chart, plan[BASES, 0] + b, CENTER, column3(state, POSE * b + 9, 0))


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
