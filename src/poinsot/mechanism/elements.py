"""Equations of joints as functions of the elements of rotation matrices, for formulations that step these as numbers.

They are the Φ of mechanism/constraints.py, at most bilinear in the elements but for distances and angles; their
gradients and second derivatives hold for any matrices, rotations or not. The gradient on a body is a vector X,
conjugate to its centre of mass, and a matrix Y, conjugate to the nine elements: Φ' = Σ X·x' + Y:R' + Φ_t, and
Φ'' = Σ X·x'' + Y:R'' - ξ. For a spherical joint X is a fixed direction, as in equations (13)-(14) of paper 000.
"""

from poinsot._jit import kernel
from poinsot.algebra.matrix import full_scale, full_sub, outer, product, times
from poinsot.algebra.memory import get3, get9, put3, put9
from poinsot.algebra.vector import add, dot, negate, scale, sub
from poinsot.mechanism.constraints import (
    ACROSS,
    ALONG,
    APART,
    RATE_OF_VALUE,
    VALUE,
    XI,
    angle,
    axis_of,
    follow_drive,
)
from poinsot.mechanism.tables import (
    AXIS_A,
    AXIS_B,
    BODY_A,
    BODY_B,
    EQUATION_JOINT,
    EQUATION_TERMS,
    FIRST_TERM,
    FRAME_A,
    FRAME_B,
    LENGTH_OF_JOINT,
    PITCH,
    POINT_A,
    POINT_B,
    POSITION,
    ROTATION,
    TERM_JOINT,
    TERM_KIND,
    VELOCITY,
)

# Columns of the row of an end of a term, two rows per term, a's and b's: X and Y, in the body's own axes on the right.
EFFORT, COUPLE = 0, 3


@kernel
def element_motion(mechanism, work, j, turning):
    """Axes of both bodies' joint frames and b's point from a's, and the rates of all; R' stands in column `turning`."""
    frames, a, b = mechanism.joint_frames, mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    R_a, R_b, V_a, V_b = (
        get9(work, a, ROTATION),
        get9(work, b, ROTATION),
        get9(work, a, turning),
        get9(work, b, turning),
    )
    F_a, F_b, p_a, p_b = (
        get9(frames, j, FRAME_A),
        get9(frames, j, FRAME_B),
        get3(frames, j, POINT_A),
        get3(frames, j, POINT_B),
    )
    r = sub(add(get3(work, b, POSITION), times(R_b, p_b)), add(get3(work, a, POSITION), times(R_a, p_a)))
    u = sub(add(get3(work, b, VELOCITY), times(V_b, p_b)), add(get3(work, a, VELOCITY), times(V_a, p_a)))
    return product(R_a, F_a), product(R_b, F_b), r, product(V_a, F_a), product(V_b, F_b), u


@kernel
def fixed_direction(k, r):
    """Axis k of the world, with the scalar of r."""
    zero = 0.0 * r[0]
    one = zero + 1.0
    if k == 0:
        return one, zero, zero
    if k == 1:
        return zero, one, zero
    return zero, zero, one


@kernel
def element_term(mechanism, state, k, motion, direction):
    """Value, rate and bend of term k, where Φ'' = X·x'' + Y:R'' + bend, X on b (a has its opposite), Y on a and on b.

    A point is kept along axis `direction` of the world where that is not -1.
    """
    terms, frames = mechanism.terms, mechanism.joint_frames
    kind, j = terms[k, TERM_KIND], terms[k, TERM_JOINT]
    A, B, r, A_rate, B_rate, u = motion
    F_a, F_b, p_a, p_b = (
        get9(frames, j, FRAME_A),
        get9(frames, j, FRAME_B),
        get3(frames, j, POINT_A),
        get3(frames, j, POINT_B),
    )
    none = scale(0.0, r)
    if kind == ALONG and direction >= 0:  # (13), (14)
        n = fixed_direction(direction, r)
        return dot(n, r), dot(n, u), 0.0 * r[0], n, full_scale(-1.0, outer(n, p_a)), outer(n, p_b)
    if kind == ALONG:
        n, n_rate, f = axis_of(A, terms[k, AXIS_A]), axis_of(A_rate, terms[k, AXIS_A]), axis_of(F_a, terms[k, AXIS_A])
        rate, bend = dot(n_rate, r) + dot(n, u), 2.0 * dot(n_rate, u)
        return dot(n, r), rate, bend, n, full_sub(outer(r, f), outer(n, p_a)), outer(n, p_b)
    if kind == ACROSS:
        f, g = axis_of(A, terms[k, AXIS_A]), axis_of(B, terms[k, AXIS_B])
        f_rate, g_rate = axis_of(A_rate, terms[k, AXIS_A]), axis_of(B_rate, terms[k, AXIS_B])
        rate, bend = dot(f_rate, g) + dot(f, g_rate), 2.0 * dot(f_rate, g_rate)
        return (
            dot(f, g),
            rate,
            bend,
            none,
            outer(g, axis_of(F_a, terms[k, AXIS_A])),
            outer(f, axis_of(F_b, terms[k, AXIS_B])),
        )
    if kind == APART:
        length = frames[j, LENGTH_OF_JOINT]
        n = scale(1.0 / length, r)
        gap = (dot(r, r) - length * length) / (2.0 * length)
        return gap, dot(n, u), dot(u, u) / length, n, full_scale(-1.0, outer(n, p_a)), outer(n, p_b)
    f, g, x, y = axis_of(A, 0), axis_of(A, 1), axis_of(B, 0), axis_of(B, 1)
    f_rate, g_rate, x_rate, y_rate = axis_of(A_rate, 0), axis_of(A_rate, 1), axis_of(B_rate, 0), axis_of(B_rate, 1)
    s, c = dot(g, x) - dot(f, y), dot(f, x) + dot(g, y)  # the angle is atan2(s, c)
    s_rate = dot(g_rate, x) + dot(g, x_rate) - dot(f_rate, y) - dot(f, y_rate)
    c_rate = dot(f_rate, x) + dot(f, x_rate) + dot(g_rate, y) + dot(g, y_rate)
    s_bend = 2.0 * (dot(g_rate, x_rate) - dot(f_rate, y_rate))
    c_bend = 2.0 * (dot(f_rate, x_rate) + dot(g_rate, y_rate))
    size = s * s + c * c
    s, c = s / size, c / size
    rate = c * s_rate - s * c_rate
    bend = c * s_bend - s * c_bend - 2.0 * rate * (s * s_rate + c * c_rate)
    on_a = full_sub(
        outer(sub(scale(c, x), scale(s, y)), axis_of(F_a, 1)), outer(add(scale(c, y), scale(s, x)), axis_of(F_a, 0))
    )
    on_b = full_sub(
        outer(sub(scale(c, g), scale(s, f)), axis_of(F_b, 0)), outer(add(scale(c, f), scale(s, g)), axis_of(F_b, 1))
    )
    return angle(mechanism, state, A, B, j), rate, bend, none, on_a, on_b


@kernel
def put_element_equations(mechanism, t, state, work, turning, plan, chosen, directions, count, out, ends):
    """Φ, Φ' and ξ of the equations plan[chosen : chosen + count, 0], one row each, and from row `ends` on their X, Y.

    `directions` is where in `plan` each has an axis of the world, or -1.
    """
    equations, terms, row = mechanism.equations, mechanism.terms, ends
    if count == 0:
        return
    last = terms[equations[plan[chosen, 0], FIRST_TERM], TERM_JOINT]
    motion = element_motion(mechanism, work, last, turning)
    for q in range(count):
        e = plan[chosen + q, 0]
        out[q, VALUE], out[q, RATE_OF_VALUE], out[q, XI] = 0.0, 0.0, 0.0
        for n in range(equations[e, EQUATION_TERMS]):
            k, f = equations[e, FIRST_TERM] + n, 1.0
            if n == 1:  # a screw's pitch or a gear's ratio
                f = -mechanism.joint_frames[equations[e, EQUATION_JOINT], PITCH]
            j = terms[k, TERM_JOINT]
            if j != last:
                motion, last = element_motion(mechanism, work, j, turning), j
            value, rate, bend, X, on_a, on_b = element_term(mechanism, state, k, motion, plan[directions + q, 0])
            out[q, VALUE] += f * value
            out[q, RATE_OF_VALUE] += f * rate
            out[q, XI] -= f * bend
            put3(out, row, EFFORT, scale(f, negate(X)))
            put9(out, row, COUPLE, full_scale(f, on_a))
            put3(out, row + 1, EFFORT, scale(f, X))
            put9(out, row + 1, COUPLE, full_scale(f, on_b))
            row += 2
        follow_drive(mechanism, t, work, e, q, out)
