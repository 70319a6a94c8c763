"""What a formulation in joint coordinates tells of each body and each joint at one instant.

Reactions are constraint forces: what the joint transmits less the forces that loads put on its own coordinates.
"""

from poinsot._jit import kernel
from poinsot.algebra import quaternion
from poinsot.algebra.matrix import product, product_transposed, times, transposed_product, transposed_times
from poinsot.algebra.memory import add3, get3, get9, put3, put9
from poinsot.algebra.vector import add, cross, negate, scale, sub
from poinsot.mechanism.constraints import GRADIENT, relative_motion
from poinsot.mechanism.coordinates import FREE_JOINT, SPHERICAL_JOINT, coordinate
from poinsot.mechanism.kinematics import (
    ALPHA,
    OMEGA,
    ORIGIN_ACCELERATION,
    WORLD_ORIGIN,
    WORLD_R,
    WRENCH_FORCE,
    WRENCH_MOMENT,
)
from poinsot.mechanism.tables import (
    ACCELERATION,
    ANGULAR_ACCELERATION,
    ANGULAR_VELOCITY,
    AXES,
    BODY_A,
    BODY_B,
    CENTER,
    CLOSES,
    COUNT,
    DRIVE_FORCE,
    EQUATION_JOINT,
    EQUATION_TERMS,
    FIRST_LINK,
    FRAME_A,
    FRAME_B,
    FREE,
    FUNCTION_OF_TIME,
    JOINT_FORCE,
    JOINT_KIND,
    JOINT_POSITION,
    JOINT_VELOCITY,
    KIND,
    POINT_A,
    POINT_B,
    POSITION,
    RATE,
    REACTION_FORCE,
    REACTION_TORQUE,
    READING,
    ROTATION,
    SIGN,
    SPHERICAL,
    TURN,
    VELOCITY,
)


@kernel
def report_bodies(mechanism, work, bodies):
    """Pose, velocities and accelerations of every body."""
    gravity = get3(mechanism.gravity, 0, 0)
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put3(bodies, b, POSITION, get3(work, i, POSITION))
        put9(bodies, b, ROTATION, get9(work, i, ROTATION))
        put3(bodies, b, VELOCITY, get3(work, i, VELOCITY))
        put3(bodies, b, ANGULAR_VELOCITY, get3(work, i, ANGULAR_VELOCITY))
        center, w, alpha = get3(mechanism.body_frames, b, CENTER), get3(work, i, OMEGA), get3(work, i, ALPHA)
        a = add(get3(work, i, ORIGIN_ACCELERATION), add(cross(alpha, center), cross(w, cross(w, center))))
        put3(bodies, b, ACCELERATION, add(times(get9(work, i, WORLD_R), a), gravity))
        put3(bodies, b, ANGULAR_ACCELERATION, transposed_times(get9(mechanism.body_frames, b, AXES), alpha))


@kernel
def report_joints(mechanism, state, work, joints):
    """Coordinates, their rates, and the reaction on the second body at the joint's point, of every joint."""
    for j in range(mechanism.joints.shape[0]):
        kind = mechanism.joints[j, JOINT_KIND]
        if kind == SPHERICAL_JOINT or kind == FREE_JOINT or mechanism.joints[j, CLOSES]:
            report_readings(mechanism, state, work, joints, j)
        else:
            for k in range(mechanism.joints[j, COUNT]):
                i = mechanism.joints[j, FIRST_LINK + k]
                joints[j, JOINT_POSITION + k] = state[mechanism.links[i, READING], 0]
                joints[j, JOINT_VELOCITY + k] = state[mechanism.links[i, RATE], 0]
        if not mechanism.joints[j, CLOSES]:
            report_reaction(mechanism, work, joints, j)


@kernel
def report_readings(mechanism, state, work, joints, j):
    """Coordinates of a joint and their rates, from the motion of its bodies."""
    kind, motion = mechanism.joints[j, JOINT_KIND], relative_motion(mechanism, work, j)
    if kind == SPHERICAL_JOINT or kind == FREE_JOINT:
        report_relative_motion(mechanism, work, joints, j)
        return
    for k in range(mechanism.joints[j, COUNT]):
        q, v, _, _ = coordinate(mechanism, state, j, k, motion)
        joints[j, JOINT_POSITION + k], joints[j, JOINT_VELOCITY + k] = q, v


@kernel
def report_relative_motion(mechanism, work, joints, j):
    """Rotation vector since t = 0 and relative angular velocity in b's axes; displacement in a's, where b is free."""
    frames, a, b = mechanism.joint_frames, mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    R_a, R_b = get9(work, a, ROTATION), get9(work, b, ROTATION)
    start = product_transposed(product(R_a, get9(frames, j, FRAME_A)), get9(frames, j, FRAME_B))
    w_a, w_b = get3(work, a, ANGULAR_VELOCITY), get3(work, b, ANGULAR_VELOCITY)
    put3(joints, j, JOINT_POSITION, quaternion.log(quaternion.from_matrix(transposed_product(start, R_b))))
    put3(joints, j, JOINT_VELOCITY, sub(w_b, transposed_times(R_b, times(R_a, w_a))))
    if mechanism.joints[j, COUNT] == 6:
        point_a, point_b = get3(frames, j, POINT_A), get3(frames, j, POINT_B)
        arm = sub(add(get3(work, b, POSITION), times(R_b, point_b)), get3(work, a, POSITION))
        speed = sub(add(get3(work, b, VELOCITY), times(R_b, cross(w_b, point_b))), get3(work, a, VELOCITY))
        there = transposed_times(R_a, arm)
        put3(joints, j, JOINT_POSITION + 3, sub(there, point_a))
        put3(joints, j, JOINT_VELOCITY + 3, sub(transposed_times(R_a, speed), cross(w_a, there)))


@kernel
def report_reaction(mechanism, work, joints, j):
    """The transmitted wrench less what loads do on the coordinates, turned to act on b at its point."""
    table = mechanism.joints
    b, child = table[j, BODY_B], table[j, BODY_B] if table[j, SIGN] > 0 else table[j, BODY_A]
    W, kind = get9(work, child, WORLD_R), mechanism.links[child, KIND]
    moment, force = times(W, get3(work, child, WRENCH_MOMENT)), times(W, get3(work, child, WRENCH_FORCE))
    if table[j, SIGN] < 0:  # before loads go, because they act at b's point, too
        arm = times(get9(work, b, ROTATION), get3(mechanism.joint_frames, j, POINT_B))
        point = add(get3(work, b, POSITION), arm)
        moment = add(moment, cross(sub(get3(work, child, WORLD_ORIGIN), point), force))
    if kind == FREE:
        moment, force = scale(0.0, moment), scale(0.0, force)
    elif kind == SPHERICAL:
        moment = sub(moment, times(W, get3(work, child, JOINT_FORCE)))
    else:
        for k in range(table[j, COUNT]):
            i = table[j, FIRST_LINK + k]
            axis = (work[i, WORLD_R + 2], work[i, WORLD_R + 5], work[i, WORLD_R + 8])
            done = scale(work[i, JOINT_FORCE], axis)
            if mechanism.frames[i, TURN] != 0.0:
                moment = sub(moment, done)
            else:
                force = sub(force, done)
    if table[j, SIGN] < 0:
        moment, force = negate(moment), negate(force)
    put3(joints, j, REACTION_FORCE, force)
    put3(joints, j, REACTION_TORQUE, moment)


@kernel
def clear_reaction(joints, j):
    """No reaction yet."""
    put3(joints, j, REACTION_FORCE, (0.0, 0.0, 0.0))
    put3(joints, j, REACTION_TORQUE, (0.0, 0.0, 0.0))


@kernel
def add_reaction(mechanism, e, outputs, q, multiplier, joints):
    """Add what an equation of a joint, with its gradient in row q of `outputs`, does to b; or put a drive's force."""
    j = mechanism.equations[e, EQUATION_JOINT]
    if mechanism.equations[e, FUNCTION_OF_TIME] >= 0:
        joints[j, DRIVE_FORCE] = multiplier
        return
    count = mechanism.equations[e, EQUATION_TERMS] if mechanism.joints[j, COUNT] > 0 else 1  # a screw, a gear
    for n in range(count):
        add3(joints, j, REACTION_FORCE, scale(multiplier, get3(outputs, q, GRADIENT * n)))
        add3(joints, j, REACTION_TORQUE, scale(multiplier, get3(outputs, q, GRADIENT * n + 3)))
