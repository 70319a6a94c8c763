"""The elimination of `recursive`: forward dynamics of a tree in O(n), exact to rounding on chains of any length.

What a link and all behind it demand at its origin is moment = A alpha + B a + bias, force = Bᵀ alpha + M a + bias (5),
with A and M symmetric and stored as six numbers each: that keeps them exactly symmetric, without which the recursion
loses all digits on long chains. Because origins sit at joints, each kind of link has its own short elimination: a
spherical one passes on a force only, one axis is an update of rank one, a free one passes on nothing. Numbers of
equations are those of docs/theory/recursive.md.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra.matrix import (
    full_sub,
    outer,
    rotate_full,
    rotate_planar,
    rotate_symmetric,
    rotate_two_rows,
    skew,
    skew_times_symmetric,
    symmetric_inverse,
    symmetric_outer,
    symmetric_product,
    symmetric_scale,
    symmetric_sub,
    symmetric_times,
    symmetric_times_skew,
    times,
    times_skew,
    transpose,
    transposed_product_symmetric,
    transposed_times,
    twice_symmetric_part,
)
from poinsot.algebra.memory import add3, add6, add9, column3, get3, get6, get9, put3, put6, put9, put_column3
from poinsot.algebra.vector import add, cross, dot, negate, scale, sub
from poinsot.mechanism.dynamics import call_loads, freedom
from poinsot.mechanism.kinematics import ALPHA, OFFSET, OMEGA, ORIGIN_ACCELERATION, TREE_COLUMNS, R, move_link
from poinsot.mechanism.loads import load_at_origin
from poinsot.mechanism.tables import (
    BODY_LOADS,
    FREE,
    INERTIA,
    JOINT_FORCE,
    JOINT_LOADS,
    KIND,
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

# Columns of `work` that this formulation adds to those of trees.
A = TREE_COLUMNS  # moment per angular acceleration
B = A + 6  # moment per acceleration of the origin
M = B + 9  # force per acceleration of the origin
BIAS_MOMENT = M + 6
BIAS_FORCE = BIAS_MOMENT + 3
GAIN = BIAS_FORCE + 3  # what is left of the elimination for the way back
COLUMNS = GAIN + 9


@routine
def tree_dynamics(mechanism, t, state, work, rate):
    """Rates of all coordinates: velocities, then accelerations, under the loads that stand in `work`.

    It stands apart from the loads, so that what has none compiles and calls none.
    """
    solve_tree(mechanism, state, work, rate, mechanism.sizes[0, JOINT_LOADS] > 0)


@routine
def forward_dynamics(mechanism, t, state, work, rate):
    """Rates of all coordinates under the model's loads at time t."""
    call_loads(mechanism, t, state, work)
    tree_dynamics(mechanism, t, state, work, rate)


@routine
def forward_dynamics_under(mechanism, t, state, forces, work, rate):
    """The same under further joint forces, one per velocity."""
    links = mechanism.links
    call_loads(mechanism, t, state, work)
    for i in range(1, links.shape[0]):
        for k in range(freedom(links, i)):
            work[i, JOINT_FORCE + k] += forces[links[i, MOTION] + k, 0]
    solve_tree(mechanism, state, work, rate, True)
    for i in range(1, links.shape[0]):
        for k in range(freedom(links, i)):
            work[i, JOINT_FORCE + k] -= forces[links[i, MOTION] + k, 0]


@kernel
def solve_tree(mechanism, state, work, rate, driven):
    """The whole elimination; `driven` says whether any joint force is not zero."""
    mechanism, state, work, rate = borrowed(mechanism), borrow(state), borrow(work), borrow(rate)
    links, frames = mechanism.links, mechanism.frames
    for i in range(1, links.shape[0]):
        move_link(links, frames, state, work, i)
        start_link(frames, work, i)
    if mechanism.sizes[0, BODY_LOADS] > 0:
        loads_as_bias(mechanism, work)
    eliminate(links, frames, state, work, driven)
    accelerate(links, frames, mechanism.sizes[0, VELOCITIES], state, work, rate)


@kernel
def start_link(frames, work, i):
    """The link's own inertia, and the forces that its velocity demands (4)-(5)."""
    w = get3(work, i, OMEGA)
    I, h, mass = get6(frames, i, INERTIA), get3(frames, i, MOMENT), frames[i, MASS]
    put6(work, i, A, I)
    put9(work, i, B, skew(h))
    put6(work, i, M, (mass, mass, mass, 0.0, 0.0, 0.0))
    put3(work, i, BIAS_MOMENT, cross(w, symmetric_times(I, w)))
    put3(work, i, BIAS_FORCE, cross(w, cross(w, h)))


@kernel
def loads_as_bias(mechanism, work):
    """What acts on the bodies, at the origins of their links."""
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        moment, force = load_at_origin(mechanism, work, b)
        add3(work, i, BIAS_MOMENT, negate(moment))
        add3(work, i, BIAS_FORCE, negate(force))


@kernel
def eliminate(links, frames, state, work, driven):
    """From the leaves to the ground."""
    for i in range(links.shape[0] - 1, 0, -1):
        eliminate_link(links, frames, state, work, i, driven)


@kernel
def eliminate_link(links, frames, state, work, i, driven):
    """Solve for the acceleration of link i against its parent, and hand on what is left."""
    kind, parent = links[i, KIND], links[i, PARENT]
    if kind == SPHERICAL:
        eliminate_spherical(work, i, parent, driven)
    elif kind == REVOLUTE:
        eliminate_revolute(work, i, parent, state[links[i, RATE], 0])
    elif kind == ONE_AXIS:
        eliminate_one_axis(work, i, parent, state[links[i, RATE], 0], frames[i, TURN], frames[i, SLIDE])
    elif kind == FREE:
        eliminate_free(work, i, parent)
    elif parent > 0:
        moment, force = get3(work, i, BIAS_MOMENT), get3(work, i, BIAS_FORCE)
        turn_and_hand_on(work, i, parent, get6(work, i, A), get9(work, i, B), get6(work, i, M), moment, force)


@kernel
def eliminate_spherical(work, i, parent, driven):
    """alpha = K (tau - m - B a) with K = A⁻¹; the parent feels a force, and tau (6)."""
    K = symmetric_inverse(get6(work, i, A))
    put6(work, i, GAIN, K)
    if parent == 0:
        return
    B_i, moment, force = get9(work, i, B), get3(work, i, BIAS_MOMENT), get3(work, i, BIAS_FORCE)
    if driven:
        moment = sub(moment, get3(work, i, JOINT_FORCE))
    X = symmetric_product(K, B_i)
    turned, r, w = get9(work, i, R), get3(work, i, OFFSET), get3(work, parent, OMEGA)
    S = rotate_symmetric(turned, symmetric_sub(get6(work, i, M), transposed_product_symmetric(B_i, X)))
    force = sub(force, transposed_times(X, moment))
    force = add(times(turned, force), symmetric_times(S, cross(w, cross(w, r))))
    Q = symmetric_times_skew(S, r)
    put6(work, parent, A, symmetric_sub(get6(work, parent, A), skew_times_symmetric(r, Q)))
    put9(work, parent, B, full_sub(get9(work, parent, B), transpose(Q)))
    add6(work, parent, M, S)
    add3(work, parent, BIAS_MOMENT, cross(r, force))
    add3(work, parent, BIAS_FORCE, force)
    if driven:
        add3(work, parent, BIAS_MOMENT, times(turned, get3(work, i, JOINT_FORCE)))


@kernel
def eliminate_revolute(work, i, parent, speed):
    """The moment about z is the joint's force: x = k - d (p alpha + v a), an update of rank one (7)-(9)."""
    A_i, B_i, moment = get6(work, i, A), get9(work, i, B), get3(work, i, BIAS_MOMENT)
    p, v = (A_i[4], A_i[5], A_i[2]), (B_i[6], B_i[7], B_i[8])
    d = 1.0 / A_i[2]
    k = (work[i, JOINT_FORCE] - moment[2]) * d
    work[i, GAIN], work[i, GAIN + 1] = d, k
    if parent == 0:
        return
    a, b, M_i = (d * p[0], d * p[1]), scale(d, v), get6(work, i, M)
    xx, yy, xy = A_i[0] - p[0] * a[0], A_i[1] - p[1] * a[1], A_i[3] - p[0] * a[1]  # the rest of A' is zero
    upper = (B_i[0] - a[0] * v[0], B_i[1] - a[0] * v[1], B_i[2] - a[0] * v[2])
    lower = (B_i[3] - a[1] * v[0], B_i[4] - a[1] * v[1], B_i[5] - a[1] * v[2])  # the third row of B' is zero
    M_i = (
        M_i[0] - v[0] * b[0], M_i[1] - v[1] * b[1], M_i[2] - v[2] * b[2],
        M_i[3] - v[0] * b[1], M_i[4] - v[0] * b[2], M_i[5] - v[1] * b[2],
    )  # fmt: skip
    w, force = get3(work, i, OMEGA), get3(work, i, BIAS_FORCE)
    x, y = w[1] * speed, -w[0] * speed  # omega x z speed has no third component
    moment = (moment[0] + p[0] * k + xx * x + xy * y, moment[1] + p[1] * k + xy * x + yy * y, moment[2] + p[2] * k)
    force = (
        force[0] + v[0] * k + upper[0] * x + lower[0] * y,
        force[1] + v[1] * k + upper[1] * x + lower[1] * y,
        force[2] + v[2] * k + upper[2] * x + lower[2] * y,
    )
    turned = get9(work, i, R)
    A_j, B_j = rotate_planar(turned, xx, yy, xy), rotate_two_rows(turned, upper, lower)
    hand_on(work, i, parent, turned, A_j, B_j, rotate_symmetric(turned, M_i), moment, force)


@kernel
def eliminate_one_axis(work, i, parent, speed, turn, slide):
    """The same for an axis that turns and slides in a fixed proportion (10)."""
    A_i, B_i, M_i = get6(work, i, A), get9(work, i, B), get6(work, i, M)
    moment, force, w = get3(work, i, BIAS_MOMENT), get3(work, i, BIAS_FORCE), get3(work, i, OMEGA)
    p = (turn * A_i[4] + slide * B_i[2], turn * A_i[5] + slide * B_i[5], turn * A_i[2] + slide * B_i[8])
    v = (turn * B_i[6] + slide * M_i[4], turn * B_i[7] + slide * M_i[5], turn * B_i[8] + slide * M_i[2])
    d = 1.0 / (turn * p[2] + slide * v[2])
    k = (work[i, JOINT_FORCE] - turn * moment[2] - slide * force[2]) * d
    put3(work, i, GAIN, p)
    put3(work, i, GAIN + 3, v)
    work[i, GAIN + 6], work[i, GAIN + 7] = d, k
    if parent == 0:
        return
    A_i = symmetric_sub(A_i, symmetric_scale(d, symmetric_outer(p)))
    B_i = full_sub(B_i, outer(scale(d, p), v))
    M_i = symmetric_sub(M_i, symmetric_scale(d, symmetric_outer(v)))
    across = (w[1] * speed, -w[0] * speed, 0.0 * speed)  # omega x z speed
    alpha, a = scale(turn, across), scale(2.0 * slide, across)
    moment = add(add(moment, scale(k, p)), add(symmetric_times(A_i, alpha), times(B_i, a)))
    force = add(add(force, scale(k, v)), add(transposed_times(B_i, alpha), symmetric_times(M_i, a)))
    turn_and_hand_on(work, i, parent, A_i, B_i, M_i, moment, force)


@kernel
def eliminate_free(work, i, parent):
    """Both accelerations follow from the link's own equations; the parent feels the joint's own force only (11)."""
    A_i, B_i, M_i = get6(work, i, A), get9(work, i, B), get6(work, i, M)
    turned, tau, phi = get9(work, i, R), get3(work, i, JOINT_FORCE), get3(work, i, JOINT_FORCE + 3)
    moment = sub(tau, get3(work, i, BIAS_MOMENT))
    force = sub(transposed_times(turned, phi), get3(work, i, BIAS_FORCE))
    K = symmetric_inverse(A_i)
    X = symmetric_product(K, B_i)
    S = symmetric_inverse(symmetric_sub(M_i, transposed_product_symmetric(B_i, X)))
    a = symmetric_times(S, sub(force, transposed_times(X, moment)))
    put3(work, i, ORIGIN_ACCELERATION, a)
    put3(work, i, ALPHA, symmetric_times(K, sub(moment, times(B_i, a))))
    if parent > 0:
        add3(work, parent, BIAS_MOMENT, add(times(turned, tau), cross(get3(work, i, OFFSET), phi)))
        add3(work, parent, BIAS_FORCE, phi)


@kernel
def turn_and_hand_on(work, i, parent, A_i, B_i, M_i, moment, force):
    """Turn to the parent's axes, and hand on."""
    turned = get9(work, i, R)
    A_j, B_j, M_j = rotate_symmetric(turned, A_i), rotate_full(turned, B_i), rotate_symmetric(turned, M_i)
    hand_on(work, i, parent, turned, A_j, B_j, M_j, moment, force)


@kernel
def hand_on(work, i, parent, turned, A_j, B_j, M_j, moment, force):
    """Move what is in the parent's axes (moment and force are not yet) to the parent's origin, and add (12)-(13)."""
    r, w = get3(work, i, OFFSET), get3(work, parent, OMEGA)
    swing = cross(w, cross(w, r))
    force = add(times(turned, force), symmetric_times(M_j, swing))
    moment = add(add(times(turned, moment), times(B_j, swing)), cross(r, force))
    X, Q = times_skew(B_j, r), symmetric_times_skew(M_j, r)
    A_j = symmetric_sub(symmetric_sub(A_j, twice_symmetric_part(X)), skew_times_symmetric(r, Q))
    add6(work, parent, A, A_j)
    add9(work, parent, B, full_sub(B_j, transpose(Q)))
    add6(work, parent, M, M_j)
    add3(work, parent, BIAS_MOMENT, moment)
    add3(work, parent, BIAS_FORCE, force)


@kernel
def accelerate(links, frames, n, state, work, rate):
    """From the ground to the leaves: accelerations of the links (2)-(3) and of the n coordinates."""
    for i in range(1, links.shape[0]):
        accelerate_link(links, frames, n, state, work, rate, i)


@kernel
def accelerate_link(links, frames, n, state, work, rate, i):
    """The acceleration of link i from that of its parent."""
    kind, j, v, row = links[i, KIND], links[i, PARENT], links[i, RATE], links[i, MOTION]
    turned, r, w = get9(work, i, R), get3(work, i, OFFSET), get3(work, j, OMEGA)
    alpha = get3(work, j, ALPHA)
    carried = add(add(get3(work, j, ORIGIN_ACCELERATION), cross(w, cross(w, r))), cross(alpha, r))
    own = get3(work, i, OMEGA)
    if kind == SPHERICAL:
        a, spin, e = transposed_times(turned, carried), column3(state, v, 0), transposed_times(turned, alpha)
        demand = add(times(get9(work, i, B), a), sub(get3(work, i, BIAS_MOMENT), get3(work, i, JOINT_FORCE)))
        alpha = negate(symmetric_times(get6(work, i, GAIN), demand))
        put_column3(rate, row, 0, spin)
        put_column3(rate, n + row, 0, sub(sub(alpha, e), cross(own, spin)))
    elif kind == REVOLUTE:
        d, speed = work[i, GAIN], state[v, 0]
        p = (d * work[i, A + 4], d * work[i, A + 5], d * work[i, A + 2])
        # Here p and v are turned, not the accelerations: these come last, and every link waits for the one before.
        y, z = times(turned, p), times(turned, scale(d, get3(work, i, B + 6)))
        across = (own[1] * speed, -own[0] * speed)
        x = (work[i, GAIN + 1] - (p[0] * across[0] + p[1] * across[1])) - (dot(y, alpha) + dot(z, carried))
        a, e = transposed_times(turned, carried), transposed_times(turned, alpha)
        alpha = (e[0] + across[0], e[1] + across[1], e[2] + x)
        rate[row, 0], rate[n + row, 0] = speed, x
    elif kind == ONE_AXIS:
        a, speed, e = transposed_times(turned, carried), state[v, 0], transposed_times(turned, alpha)
        turn, slide = frames[i, TURN], frames[i, SLIDE]
        across = (own[1] * speed, -own[0] * speed, 0.0 * speed)
        e, a = add(e, scale(turn, across)), add(a, scale(2.0 * slide, across))
        x = work[i, GAIN + 7] - work[i, GAIN + 6] * (dot(get3(work, i, GAIN), e) + dot(get3(work, i, GAIN + 3), a))
        alpha, a = (e[0], e[1], e[2] + turn * x), (a[0], a[1], a[2] + slide * x)
        rate[row, 0], rate[n + row, 0] = speed, x
    elif kind == FREE:
        spin, speed = column3(state, v, 0), column3(state, v + 3, 0)
        own_alpha, a = get3(work, i, ALPHA), get3(work, i, ORIGIN_ACCELERATION)
        carried = add(carried, scale(2.0, cross(w, speed)))
        put_column3(rate, row, 0, spin)
        put_column3(rate, row + 3, 0, speed)
        relative = sub(sub(own_alpha, transposed_times(turned, alpha)), cross(own, spin))
        put_column3(rate, n + row, 0, relative)
        put_column3(rate, n + row + 3, 0, sub(times(turned, a), carried))
        alpha = own_alpha
    else:
        a, alpha = transposed_times(turned, carried), transposed_times(turned, alpha)
    put3(work, i, ALPHA, alpha)
    put3(work, i, ORIGIN_ACCELERATION, a)
