"""How far each joint is from closed, measured on the poses and velocities of its two bodies.

In the frame A of the joint that is fixed in body a: d is where the joint's point of b is, D how the frame of b is
turned, u and w are the velocities of both. Every kind of joint leaves some of the twelve free.
"""

from poinsot._jit import kernel
from poinsot.algebra.manifold import larger
from poinsot.algebra.matrix import product, times, transposed_product, transposed_times
from poinsot.algebra.memory import get3, get9
from poinsot.algebra.vector import add, cross, dot, sub
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    BODY_A,
    BODY_B,
    FRAME_A,
    FRAME_B,
    JOINT_KIND,
    JOINT_POSITION,
    PITCH,
    POINT_A,
    POINT_B,
    POSITION,
    ROTATION,
    START_READING,
    VELOCITY,
)

# Places in tables.JOINT_KINDS.
FIXED, REVOLUTE, PRISMATIC, CYLINDRICAL, UNIVERSAL, SPHERICAL, PLANAR, SCREW, FREE = range(9)


@kernel
def joint_residuals(mechanism, work, joints, j):
    """The largest residual of joint j in position (metres and radians mixed) and in velocity."""
    frames, kind = mechanism.joint_frames, mechanism.joints[j, JOINT_KIND]
    a, b = mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    R_a, R_b, axes = get9(work, a, ROTATION), get9(work, b, ROTATION), get9(frames, j, FRAME_A)
    to_world = product(R_a, axes)
    arm_a, arm_b = times(R_a, get3(frames, j, POINT_A)), times(R_b, get3(frames, j, POINT_B))
    w_a, w_b = times(R_a, get3(work, a, ANGULAR_VELOCITY)), times(R_b, get3(work, b, ANGULAR_VELOCITY))
    gap = sub(add(get3(work, b, POSITION), arm_b), add(get3(work, a, POSITION), arm_a))
    d = transposed_times(to_world, gap)
    D = transposed_product(to_world, product(R_b, get9(frames, j, FRAME_B)))
    speed = sub(add(get3(work, b, VELOCITY), cross(w_b, arm_b)), get3(work, a, VELOCITY))
    u = transposed_times(to_world, sub(speed, cross(w_a, add(arm_a, gap))))
    w = transposed_times(to_world, sub(w_b, w_a))
    position, velocity = 0.0, 0.0
    if kind == FREE:
        return position, velocity
    if kind != PLANAR:  # the point of b stays on the axis
        position, velocity = larger(larger(position, d[0]), d[1]), larger(larger(velocity, u[0]), u[1])
    if kind not in (PRISMATIC, CYLINDRICAL, SCREW):  # it does not move along the axis
        position, velocity = larger(position, d[2]), larger(velocity, u[2])
    elif kind == SCREW:
        pitch = frames[j, PITCH]
        position = larger(position, d[2] - pitch * (joints[j, JOINT_POSITION] - frames[j, START_READING]))
        velocity = larger(velocity, u[2] - pitch * w[2])
    if kind in (REVOLUTE, CYLINDRICAL, PLANAR, SCREW):  # the axis stays where it is
        position, velocity = larger(larger(position, D[2]), D[5]), larger(larger(velocity, w[0]), w[1])
    elif kind == UNIVERSAL:  # b's first axis stays at right angles to a's third
        position = larger(position, D[6])
        velocity = larger(velocity, dot(w, cross((0.0, 0.0, 1.0), (D[0], D[3], D[6]))))
    elif kind != SPHERICAL:
        position = larger(larger(larger(position, 0.5 * (D[7] - D[5])), 0.5 * (D[2] - D[6])), 0.5 * (D[3] - D[1]))
        velocity = larger(larger(larger(velocity, w[0]), w[1]), w[2])
    return position, velocity
