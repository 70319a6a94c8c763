"""Joint coordinates from the motion of the bodies, and what springs, dampers and motors do along them.

Formulations in joint coordinates need them for joints that close loops, those whose state is the bodies' poses for all
joints. A coordinate has the direction of force and torque, on b at its point, that does work along it alone: the
wrench of a generalised force.
"""

from poinsot._jit import kernel, routine
from poinsot.algebra.matrix import times, transposed_times
from poinsot.algebra.memory import get3, get9
from poinsot.algebra.vector import add, cross, dot, negate, scale, sub
from poinsot.mechanism.constraints import TURN, axis_of, relative_motion
from poinsot.mechanism.functions import function_value
from poinsot.mechanism.loads import push
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    BODY_A,
    BODY_B,
    CLOSES,
    COORDINATE,
    DAMPING,
    FIRST_LINK,
    FLIGHT_DAMPER,
    FUNCTION,
    JOINT_DAMPER,
    JOINT_KIND,
    JOINT_KINDS,
    JOINT_SPRING,
    LENGTH,
    LOAD_B,
    LOAD_KIND,
    PARAMETER,
    POSITION,
    READING,
    ROTATION,
    SPIN_DAMPER,
    START_READING,
    STIFFNESS,
)
from poinsot.scalars import atan2, floor

PRISMATIC_JOINT, UNIVERSAL_JOINT, SPHERICAL_JOINT, PLANAR_JOINT, FREE_JOINT = (
    JOINT_KINDS.index(kind) for kind in ("prismatic", "universal", "spherical", "planar", "free")
)


@kernel
def coordinate(mechanism, state, j, k, motion):
    """Coordinate k of joint j, its rate, and the force and torque of a unit of its generalised force.

    `motion` is that of the joint. Angles count whole turns where the state does, else half a turn at the most.
    """
    A, B, _, r, u, w, _, _ = motion
    kind, x, y, z, f = mechanism.joints[j, JOINT_KIND], axis_of(A, 0), axis_of(A, 1), axis_of(A, 2), axis_of(B, 0)
    none, start = scale(0.0, u), mechanism.joint_frames[j, START_READING]
    if kind == PRISMATIC_JOINT:
        return start + dot(z, r), dot(z, u), z, none
    if kind == PLANAR_JOINT and k < 2:
        along = x if k == 0 else y
        return dot(along, r), dot(along, u), along, none
    if kind == UNIVERSAL_JOINT:  # about a's z to where b's x points, then about that axis
        if k == 0:
            return counted(mechanism, state, j, k, atan2(dot(y, f), dot(x, f))), dot(z, w), none, z
        return counted(mechanism, state, j, k, atan2(dot(z, axis_of(B, 1)), dot(z, axis_of(B, 2)))), dot(f, w), none, f
    if k == 1:  # a cylindrical joint's second
        return dot(z, r), dot(z, u), z, none
    g = axis_of(B, 1)
    turned = atan2(dot(y, f) - dot(x, g), dot(x, f) + dot(y, g))
    return counted(mechanism, state, j, k, start + turned), dot(z, w), none, z


@kernel
def counted(mechanism, state, j, k, angle):
    """An angle with the whole turns that the state counts for this coordinate, if it does."""
    if mechanism.joints[j, CLOSES] != 0:
        return angle
    count = state[mechanism.links[mechanism.joints[j, FIRST_LINK + k], READING], 0]
    return angle + TURN * floor((count - angle) / TURN + 0.5)


@kernel
def relative_spin(mechanism, work, j):
    """The angular velocity of b against a, in b's axes."""
    a, b = mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    w_a, w_b = get3(work, a, ANGULAR_VELOCITY), get3(work, b, ANGULAR_VELOCITY)
    return sub(w_b, transposed_times(get9(work, b, ROTATION), times(get9(work, a, ROTATION), w_a)))


@routine
def act_along_coordinate(mechanism, n, t, state, work):
    """A spring, damper or motor of a joint, as a wrench on its bodies at b's point.

    It is called by its address, so that only models that need it compile it.
    """
    loads, values = mechanism.loads, mechanism.load_values
    j, k, kind = loads[n, LOAD_B], loads[n, COORDINATE], loads[n, LOAD_KIND]
    motion = relative_motion(mechanism, work, j)
    if kind == SPIN_DAMPER:
        R_b = get9(work, mechanism.joints[j, BODY_B], ROTATION)
        torque = times(R_b, damped(values, n, relative_spin(mechanism, work, j)))
        push_pair(mechanism, work, j, motion[2], scale(0.0, torque), torque)
    elif kind == FLIGHT_DAMPER:
        R_a = get9(work, mechanism.joints[j, BODY_A], ROTATION)
        force = times(R_a, damped(values, n, transposed_times(R_a, motion[4])))
        push_pair(mechanism, work, j, motion[2], force, scale(0.0, force))
    else:
        q, v, along, about = coordinate(mechanism, state, j, k, motion)
        if kind == JOINT_SPRING:
            Q = -(values[n, STIFFNESS] * (q - values[n, LENGTH]) + values[n, DAMPING] * v)
        elif kind == JOINT_DAMPER:
            Q = -values[n, DAMPING] * v
        else:
            Q = function_value(mechanism, loads[n, FUNCTION], t, q, v, work)
        push_pair(mechanism, work, j, motion[2], scale(Q, along), scale(Q, about))


@kernel
def damped(values, n, velocity):
    """What a damper with a coefficient for each of three axes does against a velocity along them."""
    c = get3(values, n, PARAMETER)
    return -c[0] * velocity[0], -c[1] * velocity[1], -c[2] * velocity[2]


@kernel
def push_pair(mechanism, work, j, P, force, torque):
    """A wrench at P on body b of joint j, and its opposite on a, added to the loads at their centres of mass."""
    a, b = mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    push(work, b, force, add(torque, cross(sub(P, get3(work, b, POSITION)), force)))
    torque = add(torque, cross(sub(P, get3(work, a, POSITION)), force))
    push(work, a, negate(force), negate(torque))
