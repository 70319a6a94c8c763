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
from poinsot.algebra import wide
from poinsot.algebra.cayley import cayley, chart_rate, chart_rate_transposed, inverse_cayley
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import product, transposed_product, transposed_times
from poinsot.algebra.memory import column3, column9, get3, get9, put3, put9
from poinsot.algebra.vector import add, cross, dot, scale, sub
from poinsot.formulations.qtz_plan import (
    BASES,
    CENTER,
    CHOSEN,
    END,
    FACTORED_FOR,
    FIRST_END,
    FREE,
    FREEDOMS,
    LEAST,
    LOST,
    LOWER,
    MOMENTA,
    MOVING,
    NUMBER,
    ORDERED_FOR,
    ORIENTATION,
    PER_MOTION,
    PER_TURN,
    PIVOTS,
    PLACES,
    RANK,
    RANKS,
    RIGHT,
    ROUNDED,
    SCALES,
    SETTINGS,
    SINGULAR_NEAR,
    SIZE,
    STATUS,
    UPPER,
    VELOCITIES,
)
from poinsot.mechanism.absolute import MOTION, POSE
from poinsot.mechanism.constraints import GRADIENT, VALUE, put_equations, put_values
from poinsot.mechanism.tables import ANGULAR_VELOCITY, POSITION, ROTATION, VELOCITY
from poinsot.scalars import part, value_of, widen

# Newton's iteration for positions, with the matrix of the evaluation before as long as that helps: it ends where the
# next change, estimated from the last two, is rounding, or where changes are and become no smaller. Near a singular
# position what is left shows in accelerations over the square of its distance.
MOST_ITERATIONS, FINE, FINEST, ROUNDING, SLOW = 20, 1e-14, 1e-16, 1e-14, 0.2


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
