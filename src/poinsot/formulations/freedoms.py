"""Velocities and accelerations of `qtz` in a chart, after paper 002, (33), (64) and (67).

The matrix [Ψ''; B] of formulations/chart.py stands in factors. Its inverse is [Q̂1 Q̂2]: Q̂2 is found column by column,
of Q̂1 only what it makes of b'' and γ''.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra import wide
from poinsot.algebra.cayley import chart_bend, chart_rate
from poinsot.algebra.dense import cholesky, cholesky_solve
from poinsot.algebra.matrix import symmetric_times, times, transposed_times
from poinsot.algebra.memory import column3, get3, get6, get9, put3, put_column3
from poinsot.algebra.vector import add, cross, dot, scale, sub
from poinsot.formulations.chart import equations_of, freedoms_of, rows_of, settings_of, solve
from poinsot.formulations.qtz_plan import (
    BASES,
    END,
    FIRST_END,
    FREE,
    FREED,
    MOMENTA,
    PER_TURN,
    PLACES,
    REDUCED,
    RETURN,
    RIGHT,
    SCALES,
    SOLUTIONS,
    VELOCITIES,
)
from poinsot.mechanism.absolute import ALPHA, LINEAR, MOTION
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE, XI, put_demands
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
from poinsot.scalars import part, widen


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
