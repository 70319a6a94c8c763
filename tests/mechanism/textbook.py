"""Loads and joints as a textbook has them, in NumPy, from the world poses and velocities of the bodies alone.

The independent other side of the tests of the kernels: nothing here knows links, trees or which way a tree runs
through a joint. World axes throughout, unless a name says otherwise.
"""

import numpy as np


def rigid_point(instant, body, point):
    """Where a point given in the world at t = 0 has gone with its body, and its velocity."""
    name, R = body.name, instant.rotation[body.name]
    arm = R @ body.rotation.T @ (point - body.position)
    spin = R @ instant.angular_velocity[name]
    return instant.position[name] + arm, instant.velocity[name] + np.cross(spin, arm)


def turned(instant, body, vector):
    """A direction given in the world at t = 0, fixed in the body."""
    return instant.rotation[body.name] @ body.rotation.T @ vector


class Wrenches:
    """Forces and torques about the centres of mass, per body."""

    def __init__(self, model, instant):
        self.instant = instant
        self.force = {name: np.zeros(3) for name in [*model.bodies, "ground"]}
        self.torque = {name: np.zeros(3) for name in [*model.bodies, "ground"]}

    def add(self, body, force, torque, point):
        """A force at a point, and a torque, on a body."""
        self.force[body.name] += force
        self.torque[body.name] += torque + np.cross(point - self.instant.position[body.name], force)

    def add_pair(self, a, b, force, torque, point):
        """Action on b and reaction on a, both at a point."""
        self.add(b, force, torque, point)
        self.add(a, -force, -torque, point)

    def power(self):
        """What they do to the motion, in total."""
        instant = self.instant
        return sum(
            self.force[name] @ instant.velocity[name]
            + self.torque[name] @ instant.rotation[name] @ instant.angular_velocity[name]
            for name in self.force
        )


def add_body_load(wrenches, load, instant):
    """A force, torque or spring."""
    kind = type(load).__name__
    if kind in ("Force", "Torque"):
        R = instant.rotation[load.body.name] if load.frame == "body" else np.eye(3)
        value = R @ (load.force if kind == "Force" else load.torque)(instant.time)
        if kind == "Force":
            wrenches.add(load.body, value, np.zeros(3), rigid_point(instant, load.body, load.at)[0])
        else:
            wrenches.add(load.body, np.zeros(3), value, instant.position[load.body.name])
        return
    (point_a, velocity_a), (point_b, velocity_b) = (
        rigid_point(instant, body, at) for body, at in ((load.a, load.at_a), (load.b, load.at_b))
    )
    length = np.linalg.norm(point_b - point_a)
    line = (point_b - point_a) / length
    tension = load.stiffness * (length - load.length) + load.damping * line @ (velocity_b - velocity_a)
    wrenches.add(load.a, tension * line, np.zeros(3), point_a)
    wrenches.add(load.b, -tension * line, np.zeros(3), point_b)


def joint_forces(model, joint, instant):
    """What springs, dampers and motors do on the joint's coordinates, as the user counts them."""
    forces = np.zeros(joint.coordinates)
    q, v = instant.joint_position[joint.name], instant.joint_velocity[joint.name]
    for load in model.loads.values():
        if getattr(load, "joint", None) is not joint:
            continue
        kind = type(load).__name__
        if kind == "Damper":
            forces -= np.array(load.damping) * v
        elif kind == "TorsionSpring":
            forces -= load.stiffness * (q - load.rest) + load.damping * v
        else:
            forces += load.torque(instant.time, q[0], v[0])
    return forces


def freedoms(joint, instant):
    """Per coordinate: the angular velocity of b against a, the velocity of b's point against a, and what bears force.

    The last says whether a joint force acts as a force or as a torque.
    """
    kind, a, b, still = joint.kind, joint.a, joint.b, np.zeros(3)
    if joint.coordinates == 0:
        return []
    if kind in ("spherical", "free"):
        R_a, R_b = instant.rotation[a.name], instant.rotation[b.name]
        spins = [(axis, still, "torque") for axis in R_b.T]
        return spins if kind == "spherical" else spins + [(still, axis, "force") for axis in R_a.T]
    n = turned(instant, a, joint.axis)
    turn, slide = (n, still, "torque"), (still, n, "force")
    if kind == "planar":
        first, second = (turned(instant, a, axis) for axis in plane(joint.axis))
        return [(still, first, "force"), (still, second, "force"), turn]
    if kind == "universal":
        return [turn, (turned(instant, b, joint.second_axis), still, "torque")]
    chains = {"revolute": [turn], "prismatic": [slide], "cylindrical": [turn, slide]}
    return chains[kind] if kind in chains else [(n, joint.pitch * n, "torque")]


def plane(normal):
    """The directions of a planar joint's coordinates: the world axis nearest to the plane, and across."""
    e = np.eye(3)[np.argmin(np.abs(normal))]
    first = e - (e @ normal) * normal
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def add_joint_loads(wrenches, model, joint, instant):
    """Joint forces act on b at its point, and back on a at the same place."""
    point, _ = rigid_point(instant, joint.b, joint.at)
    for force, (w, u, bears) in zip(joint_forces(model, joint, instant), freedoms(joint, instant), strict=True):
        torque = force * w if bears == "torque" else np.zeros(3)
        wrenches.add_pair(joint.a, joint.b, force * u if bears == "force" else np.zeros(3), torque, point)


def loads(model, instant):
    """All loads but gravity, on all bodies."""
    wrenches = Wrenches(model, instant)
    for load in model.loads.values():
        if not hasattr(load, "joint"):
            add_body_load(wrenches, load, instant)
    for joint in model.joints.values():
        add_joint_loads(wrenches, model, joint, instant)
    return wrenches


def relative_motion(joint, instant):
    """Angular velocity of b against a, and velocity of b's point against a's frame."""
    point, velocity = rigid_point(instant, joint.b, joint.at)
    w_a, w_b = (instant.rotation[x.name] @ instant.angular_velocity[x.name] for x in (joint.a, joint.b))
    carried = instant.velocity[joint.a.name] + np.cross(w_a, point - instant.position[joint.a.name])
    return w_b - w_a, velocity - carried


def relative_pose(joint, instant):
    """How b has turned, and its point moved, against a since t = 0, in world axes of t = 0."""
    a, b = joint.a, joint.b
    D_a, D_b = (instant.rotation[x.name] @ x.rotation.T for x in (a, b))
    gap = rigid_point(instant, b, joint.at)[0] - rigid_point(instant, a, joint.at)[0]
    return D_a.T @ D_b, D_a.T @ gap


def pose_from_readings(joint, q, exp):
    """The same from the joint's coordinates, by the joint's definition."""
    kind, n, change = joint.kind, joint.axis, q - (joint.position or np.zeros(0))
    still = np.zeros(3)
    if kind == "fixed":
        return np.eye(3), still
    if kind in ("spherical", "free"):  # q is in b's axes, and in a's
        R_a, R_b = joint.a.rotation, joint.b.rotation
        return exp(R_b @ q[:3]), R_a @ q[3:] if kind == "free" else still
    if kind == "universal":
        return exp(q[0] * n) @ exp(q[1] * joint.second_axis), still
    if kind == "planar":
        first, second = plane(n)
        return exp(q[2] * n), q[0] * first + q[1] * second
    turn = {"prismatic": 0.0}.get(kind, change[0])
    slide = {"revolute": 0.0, "prismatic": change[0], "screw": (joint.pitch or 0.0) * change[0]}
    return exp(turn * n), slide[kind] * n if kind in slide else change[1] * n
