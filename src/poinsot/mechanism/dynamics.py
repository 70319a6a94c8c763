"""What every formulation of a tree shares: accelerations, transmitted forces, inverse dynamics, the mass matrix.

The inverse dynamics goes once outward for accelerations and once inward for what each joint must transmit (recursive
Newton-Euler), so that it checks the elimination of `recursive` by another way.
"""

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.matrix import rotate_symmetric, symmetric_add, symmetric_times, times, transposed_times
from poinsot.algebra.memory import add3, add6, column3, get3, get6, get9, put3, put6
from poinsot.algebra.vector import add, cross, dot, negate, scale
from poinsot.mechanism.kinematics import (
    ALPHA,
    COMPOSITE,
    OFFSET,
    OMEGA,
    ORIGIN_ACCELERATION,
    WRENCH_FORCE,
    WRENCH_MOMENT,
    R,
    move_link,
)
from poinsot.mechanism.loads import load_at_origin
from poinsot.mechanism.tables import (
    BODY_LOADS,
    FREE,
    INERTIA,
    JOINT_FORCE,
    KIND,
    LOADS_ADDRESS,
    MASS,
    MOMENT,
    MOTION,
    ONE_AXIS,
    PARENT,
    RATE,
    REVOLUTE,
    SLIDE,
    SPHERICAL,
    TURN,
    VELOCITIES,
    borrowed,
)
from poinsot.scalars import borrow

_call = pointer_call(lambda *arguments: types.void(*arguments))


@kernel
def call_loads(mechanism, t, state, work):
    """Apply the model's loads, if there are any; what stands at an address borrows its tables and views."""
    if mechanism.sizes[0, LOADS_ADDRESS] != 0:
        _call(mechanism.sizes[0, LOADS_ADDRESS], borrowed(mechanism), t, borrow(state), borrow(work))


@kernel
def accelerate_links(links, frames, n, state, rate, work):
    """Accelerations of the links from those of the n velocities, which stand in `rate` from row n on."""
    for i in range(1, links.shape[0]):
        kind, j, v, x = links[i, KIND], links[i, PARENT], links[i, RATE], n + links[i, MOTION]
        turned, r, w, own = get9(work, i, R), get3(work, i, OFFSET), get3(work, j, OMEGA), get3(work, i, OMEGA)
        carried = add(get3(work, j, ORIGIN_ACCELERATION), add(cross(get3(work, j, ALPHA), r), cross(w, cross(w, r))))
        alpha = transposed_times(turned, get3(work, j, ALPHA))
        if kind == FREE:
            coriolis = scale(2.0, cross(w, column3(state, v + 3, 0)))
            carried = add(carried, add(coriolis, column3(rate, x + 3, 0)))
        if kind == FREE or kind == SPHERICAL:
            alpha = add(alpha, add(cross(own, column3(state, v, 0)), column3(rate, x, 0)))
        a = transposed_times(turned, carried)
        if kind == REVOLUTE or kind == ONE_AXIS:
            turn, slide, speed = frames[i, TURN], frames[i, SLIDE], state[v, 0]
            motion = (own[1] * speed, -own[0] * speed, rate[x, 0])
            alpha = add(alpha, scale(turn, motion))
            a = add(a, scale(slide, (2.0 * motion[0], 2.0 * motion[1], motion[2])))
        put3(work, i, ALPHA, alpha)
        put3(work, i, ORIGIN_ACCELERATION, a)


@kernel
def gather_wrenches(mechanism, work, loaded):
    """What each joint transmits to its link: inertia's demand less the loads, of the link and all behind it."""
    links, frames = mechanism.links, mechanism.frames
    for i in range(1, links.shape[0]):
        I, h, w = get6(frames, i, INERTIA), get3(frames, i, MOMENT), get3(work, i, OMEGA)
        alpha, a = get3(work, i, ALPHA), get3(work, i, ORIGIN_ACCELERATION)
        moment = add(add(symmetric_times(I, alpha), cross(h, a)), cross(w, symmetric_times(I, w)))
        put3(work, i, WRENCH_MOMENT, moment)
        put3(work, i, WRENCH_FORCE, add(scale(frames[i, MASS], a), add(cross(alpha, h), cross(w, cross(w, h)))))
    if loaded:
        for b in range(mechanism.bodies.shape[0]):
            moment, force = load_at_origin(mechanism, work, b)
            add3(work, mechanism.bodies[b, 0], WRENCH_MOMENT, negate(moment))
            add3(work, mechanism.bodies[b, 0], WRENCH_FORCE, negate(force))
    for i in range(links.shape[0] - 1, 0, -1):
        j = links[i, PARENT]
        if j > 0:
            turned = get9(work, i, R)
            force = times(turned, get3(work, i, WRENCH_FORCE))
            moment = add(times(turned, get3(work, i, WRENCH_MOMENT)), cross(get3(work, i, OFFSET), force))
            add3(work, j, WRENCH_MOMENT, moment)
            add3(work, j, WRENCH_FORCE, force)


@kernel
def unit_motion(links, frames, work, i, k):
    """Angular velocity and velocity of the origin of link i, in its own axes, per unit of its k-th velocity."""
    zero = 0.0 * work[i, R]
    kind, one = links[i, KIND], 1.0 + zero
    if kind == FREE and k >= 3:
        k -= 3
        return (zero, zero, zero), (work[i, R + 3 * k], work[i, R + 3 * k + 1], work[i, R + 3 * k + 2])
    if kind == FREE or kind == SPHERICAL:
        return (one if k == 0 else zero, one if k == 1 else zero, one if k == 2 else zero), (zero, zero, zero)
    return (zero, zero, frames[i, TURN] + zero), (zero, zero, frames[i, SLIDE] + zero)


@kernel
def freedom(links, i):
    """How many velocities link i has."""
    kind = links[i, KIND]
    return 1 if kind == REVOLUTE or kind == ONE_AXIS else 3 if kind == SPHERICAL else 6 if kind == FREE else 0


@routine
def inverse_dynamics(mechanism, t, state, rate, work, forces):
    """The joint forces that the accelerations in `rate` need besides the model's loads."""
    links, frames = mechanism.links, mechanism.frames
    call_loads(mechanism, t, state, work)
    for i in range(1, links.shape[0]):
        move_link(links, frames, state, work, i)
    accelerate_links(links, frames, mechanism.sizes[0, VELOCITIES], state, rate, work)
    gather_wrenches(mechanism, work, mechanism.sizes[0, BODY_LOADS] > 0)
    for i in range(1, links.shape[0]):
        for k in range(freedom(links, i)):
            angular, linear = unit_motion(links, frames, work, i, k)
            demand = dot(angular, get3(work, i, WRENCH_MOMENT)) + dot(linear, get3(work, i, WRENCH_FORCE))
            forces[links[i, MOTION] + k, 0] = demand - work[i, JOINT_FORCE + k]


@routine
def mass_matrix(mechanism, state, work, matrix):
    """The mass matrix of the velocities, from composite inertias, exactly symmetric."""
    links, frames = mechanism.links, mechanism.frames
    for i in range(1, links.shape[0]):
        move_link(links, frames, state, work, i)
        put6(work, i, COMPOSITE, get6(frames, i, INERTIA))
        put3(work, i, COMPOSITE + 6, get3(frames, i, MOMENT))
        work[i, COMPOSITE + 9] = frames[i, MASS]
    for i in range(links.shape[0] - 1, 0, -1):
        if links[i, PARENT] > 0:
            add_composite(work, i, links[i, PARENT])
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            matrix[row, column] = 0.0
    for i in range(1, links.shape[0]):
        for k in range(freedom(links, i)):
            put_mass_column(links, frames, work, i, k, matrix)


@kernel
def add_composite(work, i, parent):
    """Add the composite inertia of link i to that of its parent."""
    turned, r = get9(work, i, R), get3(work, i, OFFSET)
    h, mass = times(turned, get3(work, i, COMPOSITE + 6)), work[i, COMPOSITE + 9]
    I = rotate_symmetric(turned, get6(work, i, COMPOSITE))
    far = add(scale(2.0, h), scale(mass, r))  # (2 h + m r) and r make the parallel-axis term
    around = dot(r, far)
    x, y, z = r
    shift = (
        around - x * far[0], around - y * far[1], around - z * far[2],
        -0.5 * (x * far[1] + y * far[0]), -0.5 * (x * far[2] + z * far[0]), -0.5 * (y * far[2] + z * far[1]),
    )  # fmt: skip
    add6(work, parent, COMPOSITE, symmetric_add(I, shift))
    add3(work, parent, COMPOSITE + 6, add(h, scale(mass, r)))
    work[parent, COMPOSITE + 9] += mass


@kernel
def put_mass_column(links, frames, work, i, k, matrix):
    """What a unit acceleration demands of its own link's velocities and of those of all links before it."""
    angular, linear = unit_motion(links, frames, work, i, k)
    h, column = get3(work, i, COMPOSITE + 6), links[i, MOTION] + k
    moment = add(symmetric_times(get6(work, i, COMPOSITE), angular), cross(h, linear))
    force = add(scale(work[i, COMPOSITE + 9], linear), cross(angular, h))
    j = i
    while j > 0:
        for other in range(k + 1 if j == i else freedom(links, j)):
            angular, linear = unit_motion(links, frames, work, j, other)
            row = links[j, MOTION] + other
            matrix[row, column] = dot(angular, moment) + dot(linear, force)
            matrix[column, row] = matrix[row, column]
        turned = get9(work, j, R)
        force = times(turned, force)
        moment = add(times(turned, moment), cross(get3(work, j, OFFSET), force))
        j = links[j, PARENT]
