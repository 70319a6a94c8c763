"""What acts on the bodies and on the joint coordinates of a mechanism.

Loads on bodies read the motion that a formulation has left in `work` (centre of mass, user's axes) and add to the
force and torque at the centre of mass, in world axes: every formulation shares them. Loads on joint coordinates add to
the forces of the joints' links, or act on the bodies where the coordinate is none of the state's. The ground's row
takes what acts on the ground; nobody reads it.
"""

from numba import float64, int64, types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.algebra import quaternion
from poinsot.algebra.matrix import times, transposed_times
from poinsot.algebra.memory import add3, column3, column4, get3, get6, get9
from poinsot.algebra.vector import add, cross, dot, negate, scale, sub
from poinsot.mechanism.functions import function_value, vector_value
from poinsot.mechanism.kinematics import WORLD_R, move_bodies, move_in_world, move_link
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    AT_A,
    AT_B,
    BACKWARDS,
    BODY_LOADS,
    CENTER,
    COORDINATE_LOADS_ADDRESS,
    DAMPED_AXES,
    DAMPING,
    FLIGHT_DAMPER,
    FORCE,
    FUNCTION,
    IN_BODY_AXES,
    JOINT_DAMPER,
    JOINT_FORCE,
    JOINT_SPRING,
    LAW,
    LENGTH,
    LOAD_A,
    LOAD_B,
    LOAD_FORCE,
    LOAD_KIND,
    LOAD_TORQUE,
    PARAMETER,
    PARAMETERS,
    POSITION,
    RATE,
    READING,
    ROTATION,
    SPIN_DAMPER,
    SPRING,
    STIFFNESS,
    TORQUE,
    VELOCITY,
    borrowed,
)
from poinsot.model.user_load import BodyState
from poinsot.scalars import BorrowedType, borrow, select, sqrt


def law_signature(scalar, bodies, parameters):
    """The signature by which a user's law is called: t, one or two body states, the parameters."""
    vector = types.UniTuple(scalar, 3)
    state = types.NamedTuple((vector, types.UniTuple(scalar, 9), vector, vector), BodyState)
    wrench = types.UniTuple(vector, 2)
    returned = wrench if bodies == 1 else types.UniTuple(wrench, 2)
    return returned(float64, *(state,) * bodies, *(float64,) * parameters)


def _called_law(t, *arguments):
    bodies = sum(isinstance(argument, types.NamedTuple) for argument in arguments)
    return law_signature(arguments[0].types[0].dtype, bodies, len(arguments) - bodies)


def apply_law_signature(scalar):
    """The signature of `apply_law` where the mechanism's scalar is this one."""
    return types.void(BorrowedType(int64), BorrowedType(float64), int64, float64, BorrowedType(scalar))


def coordinate_load_signature(scalar, mechanism):
    """The signature of `act_along_coordinate` for a mechanism of this type, with this scalar."""
    view = BorrowedType(scalar)
    return types.void(mechanism, types.int64, types.float64, view, view)


_call = pointer_call(_called_law)
_act = pointer_call(lambda m, n, t, state, work: coordinate_load_signature(work.scalar, m))
_apply = pointer_call(lambda loads, values, n, t, work: apply_law_signature(work.scalar))


@kernel
def clear_loads(mechanism, work):
    """No load on any body, no force on any joint."""
    for i in range(mechanism.links.shape[0]):
        for k in range(LOAD_FORCE, JOINT_FORCE + 6):
            work[i, k] = 0.0


@kernel
def push(work, row, force, torque):
    """Add a force at the centre of mass and a torque, in world axes."""
    add3(work, row, LOAD_FORCE, force)
    add3(work, row, LOAD_TORQUE, torque)


@kernel
def apply_body_loads(mechanism, t, state, work):
    """Forces, torques, springs and the user's own laws; bodies must have been moved before."""
    loads, values = mechanism.loads, mechanism.load_values
    for n in range(mechanism.sizes[0, BODY_LOADS]):
        kind, a = loads[n, LOAD_KIND], loads[n, LOAD_A]
        if kind == FORCE:
            force, arm = vector_value(mechanism, loads[n, FUNCTION], t, work), get3(values, n, AT_A)
            R = get9(work, a, ROTATION)
            if loads[n, IN_BODY_AXES]:
                push(work, a, times(R, force), times(R, cross(arm, force)))
            else:
                push(work, a, force, cross(times(R, arm), force))
        elif kind == TORQUE:
            torque = vector_value(mechanism, loads[n, FUNCTION], t, work)
            if loads[n, IN_BODY_AXES]:
                add3(work, a, LOAD_TORQUE, times(get9(work, a, ROTATION), torque))
            else:
                add3(work, a, LOAD_TORQUE, torque)
        elif kind == SPRING:
            pull(mechanism, n, work)
        elif kind < FORCE:
            _act(mechanism.sizes[0, COORDINATE_LOADS_ADDRESS], mechanism, n, t, state, work)
        else:
            _apply(loads[n, FUNCTION], loads, values, n, t, work)


@kernel
def attachment(work, row, point):
    """A body's point: its arm from the centre of mass, position and velocity, in world axes."""
    R = get9(work, row, ROTATION)
    arm = times(R, point)
    spin = times(R, cross(get3(work, row, ANGULAR_VELOCITY), point))
    return arm, add(get3(work, row, POSITION), arm), add(get3(work, row, VELOCITY), spin)


@kernel
def pull(mechanism, n, work):
    """Spring and damper along the line between two points; a spring of no length pulls nowhere."""
    a, b, values = mechanism.loads[n, LOAD_A], mechanism.loads[n, LOAD_B], mechanism.load_values
    arm_a, point_a, velocity_a = attachment(work, a, get3(values, n, AT_A))
    arm_b, point_b, velocity_b = attachment(work, b, get3(values, n, AT_B))
    line = sub(point_b, point_a)
    squared = dot(line, line)
    apart = squared > 0.0
    inverse = select(apart, 1.0 / sqrt(select(apart, squared, 1.0)), 0.0 * squared)
    stretching = dot(line, sub(velocity_b, velocity_a)) * inverse * inverse
    tension = values[n, STIFFNESS] * (1.0 - values[n, LENGTH] * inverse) + values[n, DAMPING] * stretching
    force = scale(tension, line)
    push(work, a, force, cross(arm_a, force))
    push(work, b, negate(force), negate(cross(arm_b, force)))


@kernel
def body_state(work, row):
    """What a user's law reads of a body."""
    return BodyState(
        get3(work, row, POSITION),
        get9(work, row, ROTATION),
        get3(work, row, VELOCITY),
        get3(work, row, ANGULAR_VELOCITY),
    )


@routine
def apply_law(loads, values, n, t, work):
    """A user-written load on one body, or between two. Called by address: only models with such loads compile it."""
    a, b = loads[n, LOAD_A], loads[n, LOAD_B]
    if b < 0:
        force, torque = law_value(loads, values, n, t, (body_state(work, a),))
        push(work, a, force, torque)
    else:
        on_a, on_b = law_value(loads, values, n, t, (body_state(work, a), body_state(work, b)))
        push(work, a, on_a[0], on_a[1])
        push(work, b, on_b[0], on_b[1])


@kernel
def law_value(loads, values, n, t, bodies):
    """Call a law by its address with as many parameters as it has."""
    law, count = loads[n, LAW], loads[n, PARAMETERS]
    p = (*get6(values, n, PARAMETER), values[n, PARAMETER + 6], values[n, PARAMETER + 7])
    if count == 0:
        return _call(law, t, *bodies)
    if count == 1:
        return _call(law, t, *(bodies + p[:1]))
    if count == 2:
        return _call(law, t, *(bodies + p[:2]))
    if count == 3:
        return _call(law, t, *(bodies + p[:3]))
    if count == 4:
        return _call(law, t, *(bodies + p[:4]))
    if count == 5:
        return _call(law, t, *(bodies + p[:5]))
    if count == 6:
        return _call(law, t, *(bodies + p[:6]))
    if count == 7:
        return _call(law, t, *(bodies + p[:7]))
    return _call(law, t, *(bodies + p))


@kernel
def damp_three(mechanism, n, state, work):
    """Damping of relative spin, component by component in b's axes, or of b's point's flight in a's.

    Backwards, the link carries a: what it knows, x and x' of a's point in b and its own spin w, make the flight
    w x Rᵀx - Rᵀx' of b's point in a.
    """
    link, backwards = mechanism.loads[n, LOAD_A], mechanism.loads[n, BACKWARDS] != 0
    q, v = mechanism.links[link, READING], mechanism.links[link, RATE]
    R, w = quaternion.to_matrix(column4(state, q, 0)), column3(state, v, 0)
    if mechanism.loads[n, LOAD_KIND] == SPIN_DAMPER:
        torque = damping_force(mechanism, n, times(R, w) if backwards else w)
        add3(work, link, JOINT_FORCE, transposed_times(R, torque) if backwards else torque)
    elif backwards:
        x = transposed_times(R, column3(state, q + 4, 0))
        force = damping_force(mechanism, n, sub(cross(w, x), transposed_times(R, column3(state, v + 3, 0))))
        add3(work, link, JOINT_FORCE, cross(x, force))
        add3(work, link, JOINT_FORCE + 3, negate(times(R, force)))
    else:
        add3(work, link, JOINT_FORCE + 3, damping_force(mechanism, n, column3(state, v + 3, 0)))


@kernel
def damping_force(mechanism, n, velocity):
    """What a damper with a coefficient for each of its axes does against a velocity."""
    axes, c = get9(mechanism.load_values, n, DAMPED_AXES), get3(mechanism.load_values, n, PARAMETER)
    along = transposed_times(axes, velocity)
    return times(axes, (-c[0] * along[0], -c[1] * along[1], -c[2] * along[2]))


@kernel
def apply_joint_loads(mechanism, t, state, work):
    """Springs, dampers and motors on joint coordinates, for formulations whose state these are."""
    loads, values = mechanism.loads, mechanism.load_values
    for n in range(mechanism.sizes[0, BODY_LOADS], loads.shape[0]):
        kind, link = loads[n, LOAD_KIND], loads[n, LOAD_A]
        if kind == JOINT_DAMPER:
            work[link, JOINT_FORCE] -= values[n, DAMPING] * state[mechanism.links[link, RATE], 0]
        elif kind == SPIN_DAMPER or kind == FLIGHT_DAMPER:
            damp_three(mechanism, n, state, work)
        else:
            q, v = state[mechanism.links[link, READING], 0], state[mechanism.links[link, RATE], 0]
            if kind == JOINT_SPRING:
                work[link, JOINT_FORCE] -= values[n, STIFFNESS] * (q - values[n, LENGTH]) + values[n, DAMPING] * v
            else:
                work[link, JOINT_FORCE] += function_value(mechanism, loads[n, FUNCTION], t, q, v, work)


@routine
def apply_loads(mechanism, t, state, work):
    """All loads of a tree in joint coordinates. Called by address: what has no load does not compile it."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    clear_loads(mechanism, work)
    if mechanism.sizes[0, BODY_LOADS] > 0:
        for i in range(1, mechanism.links.shape[0]):
            move_link(mechanism.links, mechanism.frames, state, work, i)
        move_in_world(mechanism, state, work)
        move_bodies(mechanism, work)
        apply_body_loads(mechanism, t, state, work)
    apply_joint_loads(mechanism, t, state, work)


@kernel
def load_at_origin(mechanism, work, b):
    """The load on a body as moment and force at its link's origin, in the link's axes."""
    i = mechanism.bodies[b, 0]
    W = get9(work, i, WORLD_R)
    force = transposed_times(W, get3(work, i, LOAD_FORCE))
    moment = transposed_times(W, get3(work, i, LOAD_TORQUE))
    return add(moment, cross(get3(mechanism.body_frames, b, CENTER), force)), force
