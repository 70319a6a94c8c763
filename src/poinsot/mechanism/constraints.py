"""Joints, constraint elements and drives as equations Φ(t, q) = 0 between bodies, with all that dynamics needs of them.

Bodies stand in the shared columns of `work` (centre of mass, user's axes). Each equation is a sum of terms between two
bodies a and b, and the gradient of a term is a wrench: a force n and a torque m at the point P of b, and their
opposites on a at the same place. With u the velocity of b at P against a, w that of turning, Φ' = n·u + m·w + Φ_t and

    Φ'' = n·(a_b - a_a) + m·(α_b - α_a) - ξ,

where a_a and a_b are the accelerations of the material points of both bodies at P. docs/theory/constraints.md derives
them; equation numbers are those of that page.
"""

import math

from numba import types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra.matrix import product, times
from poinsot.algebra.memory import get3, get9, put3
from poinsot.algebra.vector import add, cross, dot, scale, sub
from poinsot.mechanism.functions import function_value
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    AXIS_A,
    AXIS_B,
    BODY_A,
    BODY_B,
    DRIVES_ADDRESS,
    EQUATION_JOINT,
    EQUATION_TERMS,
    FIRST_TERM,
    FRAME_A,
    FRAME_B,
    FUNCTION_OF_TIME,
    LENGTH_OF_JOINT,
    PITCH,
    POINT_A,
    POINT_B,
    POSITION,
    READING_ROW,
    ROTATION,
    START_READING,
    TERM_JOINT,
    TERM_KIND,
    VELOCITY,
)
from poinsot.scalars import BorrowedType, atan2, floor

# Kinds of terms: b's point along an axis of a; an axis of b against one of a; the distance of two points; the angle by
# which b has turned about a's third axis.
ALONG, ACROSS, APART, ANGLE = range(4)
# Columns of what `put_equations` writes, one row per equation: force, torque and P of each of two terms, Φ, Φ' and ξ.
GRADIENT = 9
VALUE, RATE_OF_VALUE, XI = 18, 19, 20
EQUATION_OUTPUTS = 21

TURN = 2.0 * math.pi


def drive_signature(scalar, mechanism):
    """The signature of `subtract_drive` for a mechanism of this type, with this scalar."""
    view = BorrowedType(scalar)
    return types.void(mechanism, types.float64, view, types.int64, types.int64, view)


_subtract_drive = pointer_call(lambda m, t, work, *rest: drive_signature(work.scalar, m))


@kernel
def axis_of(frame, k):
    """Column k of a matrix, chosen by model data."""
    if k == 0:
        return frame[0], frame[3], frame[6]
    if k == 1:
        return frame[1], frame[4], frame[7]
    return frame[2], frame[5], frame[8]


@kernel
def relative_motion(mechanism, work, j):
    """Axes of both bodies' joint frames, P, P from a's point, u, w, angular velocities, in world axes (1)-(3)."""
    frames, a, b = mechanism.joint_frames, mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    R_a, R_b = get9(work, a, ROTATION), get9(work, b, ROTATION)
    arm_a, arm_b = times(R_a, get3(frames, j, POINT_A)), times(R_b, get3(frames, j, POINT_B))
    w_a, w_b = times(R_a, get3(work, a, ANGULAR_VELOCITY)), times(R_b, get3(work, b, ANGULAR_VELOCITY))
    P = add(get3(work, b, POSITION), arm_b)
    from_a = sub(P, get3(work, a, POSITION))
    u = sub(add(get3(work, b, VELOCITY), cross(w_b, arm_b)), add(get3(work, a, VELOCITY), cross(w_a, from_a)))
    A, B = product(R_a, get9(frames, j, FRAME_A)), product(R_b, get9(frames, j, FRAME_B))
    return A, B, P, sub(from_a, arm_a), u, sub(w_b, w_a), w_a, w_b


@kernel
def term(mechanism, state, k, motion):
    """Value and rate of term k, its n and m, and its ξ, where `motion` is that of its joint."""
    terms, frames = mechanism.terms, mechanism.joint_frames
    kind, j = terms[k, TERM_KIND], terms[k, TERM_JOINT]
    A, B, _, r, u, w, w_a, w_b = motion
    none = scale(0.0, u)
    if kind == ALONG:
        n = axis_of(A, terms[k, AXIS_A])
        return dot(n, r), dot(n, u), n, none, 2.0 * dot(n, cross(w_a, u))  # (4)
    if kind == ACROSS:
        f, g = axis_of(A, terms[k, AXIS_A]), axis_of(B, terms[k, AXIS_B])
        m = cross(g, f)
        turning = add(cross(cross(w_b, g), f), cross(g, cross(w_a, f)))
        return dot(f, g), dot(m, w), none, m, -dot(turning, w)  # (5)
    if kind == APART:
        length = frames[j, LENGTH_OF_JOINT]
        swing = cross(w_a, r)
        speed, n = add(u, swing), scale(1.0 / length, r)
        gap = (dot(r, r) - length * length) / (2.0 * length)
        return gap, dot(n, u), n, none, (dot(swing, swing) - dot(speed, speed)) / length  # (6)
    z = axis_of(A, 2)
    return angle(mechanism, state, A, B, j), dot(z, w), none, z, -dot(cross(w_a, z), w)  # (7)


@kernel
def angle(mechanism, state, A, B, j):
    """What a joint has turned since t = 0: from the axes, whole turns from where the state counts them, if it does."""
    x, y, f, g = axis_of(B, 0), axis_of(B, 1), axis_of(A, 0), axis_of(A, 1)
    turned = atan2(dot(g, x) - dot(f, y), dot(f, x) + dot(g, y))
    row = mechanism.joints[j, READING_ROW]
    if row < 0:
        return turned
    counted = state[row, 0] - mechanism.joint_frames[j, START_READING]
    return turned + TURN * floor((counted - turned) / TURN + 0.5)


@kernel
def put_equations(mechanism, t, state, work, chosen, first, count, out):
    """Φ, Φ', ξ and gradients of the equations chosen[first : first + count, 0], one row of `out` each."""
    equations, terms = mechanism.equations, mechanism.terms
    if count == 0:
        return
    last = terms[equations[chosen[first, 0], FIRST_TERM], TERM_JOINT]
    motion = relative_motion(mechanism, work, last)
    for q in range(count):
        e = chosen[first + q, 0]
        out[q, VALUE], out[q, RATE_OF_VALUE], out[q, XI] = 0.0, 0.0, 0.0
        for n in range(equations[e, EQUATION_TERMS]):
            k = equations[e, FIRST_TERM] + n
            j, f = terms[k, TERM_JOINT], factor_of_term(mechanism, e, n)
            if j != last:
                motion, last = relative_motion(mechanism, work, j), j
            value, rate, force, torque, xi = term(mechanism, state, k, motion)
            out[q, VALUE] += f * value
            out[q, RATE_OF_VALUE] += f * rate
            out[q, XI] += f * xi
            put3(out, q, GRADIENT * n, scale(f, force))
            put3(out, q, GRADIENT * n + 3, scale(f, torque))
            put3(out, q, GRADIENT * n + 6, motion[2])
        follow_drive(mechanism, t, work, e, q, out)


@kernel
def put_values(mechanism, t, state, work, chosen, first, count, out):
    """Φ of these equations, where bodies have been moved a little; Φ' and ξ are left as if they were at rest."""
    equations, terms = mechanism.equations, mechanism.terms
    if count == 0:
        return
    last = terms[equations[chosen[first, 0], FIRST_TERM], TERM_JOINT]
    motion = relative_motion(mechanism, work, last)
    for q in range(count):
        e = chosen[first + q, 0]
        out[q, VALUE], out[q, RATE_OF_VALUE], out[q, XI] = 0.0, 0.0, 0.0
        for n in range(equations[e, EQUATION_TERMS]):
            k = equations[e, FIRST_TERM] + n
            j, f = terms[k, TERM_JOINT], factor_of_term(mechanism, e, n)
            if j != last:
                motion, last = relative_motion(mechanism, work, j), j
            out[q, VALUE] += f * term(mechanism, state, k, motion)[0]
        follow_drive(mechanism, t, work, e, q, out)


@kernel
def put_demands(mechanism, t, state, work, chosen, first, count, out):
    """Φ' and ξ of these equations, where bodies stand as they did and their velocities have become known; not Φ."""
    equations, terms = mechanism.equations, mechanism.terms
    if count == 0:
        return
    last = terms[equations[chosen[first, 0], FIRST_TERM], TERM_JOINT]
    motion = relative_motion(mechanism, work, last)
    for q in range(count):
        e = chosen[first + q, 0]
        out[q, RATE_OF_VALUE], out[q, XI] = 0.0, 0.0
        for n in range(equations[e, EQUATION_TERMS]):
            k = equations[e, FIRST_TERM] + n
            j, f = terms[k, TERM_JOINT], factor_of_term(mechanism, e, n)
            if j != last:
                motion, last = relative_motion(mechanism, work, j), j
            _, rate, _, _, xi = term(mechanism, state, k, motion)
            out[q, RATE_OF_VALUE] += f * rate
            out[q, XI] += f * xi
        follow_drive(mechanism, t, work, e, q, out)


@kernel
def factor_of_term(mechanism, e, n):
    """What term n of equation e is multiplied by: of the second, less a screw's pitch or a gear's ratio."""
    return -mechanism.joint_frames[mechanism.equations[e, EQUATION_JOINT], PITCH] if n == 1 else 1.0


@kernel
def follow_drive(mechanism, t, work, e, q, out):
    """Subtract from row q of `out` what equation e prescribes, if it is a drive's."""
    if mechanism.equations[e, FUNCTION_OF_TIME] >= 0:
        _subtract_drive(mechanism.sizes[0, DRIVES_ADDRESS], mechanism, t, work, e, q, out)


@routine
def subtract_drive(mechanism, t, work, e, q, out):
    """What is prescribed: a reading, and the function that it follows with its two derivatives.

    It is called by its address, so that only models with drives compile it.
    """
    function, zero = mechanism.equations[e, FUNCTION_OF_TIME], 0.0 * out[q, VALUE]
    j = mechanism.terms[mechanism.equations[e, FIRST_TERM], TERM_JOINT]
    start = mechanism.joint_frames[j, START_READING]
    out[q, VALUE] += start - function_value(mechanism, function, t, zero, zero, work)
    out[q, RATE_OF_VALUE] -= function_value(mechanism, function + 1, t, zero, zero, work)
    out[q, XI] += function_value(mechanism, function + 2, t, zero, zero, work)
