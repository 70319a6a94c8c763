"""Mechanisms whose state is the pose of every body, a rotation matrix and the centre of mass, and its velocities.

Velocities are the angular one in body axes and that of the centre of mass in world axes, body by body. Angles of joints
that the spanning tree goes through are counted beside the poses, so that they know whole turns; a count obeys the
acceleration of its angle, and only the number of its turns is ever used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot._jit import kernel, routine
from poinsot.algebra import manifold
from poinsot.algebra.matrix import times
from poinsot.algebra.memory import column3, column9, get3, get9, put3, put9
from poinsot.algebra.vector import cross, dot, sub
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout
from poinsot.mechanism.constraints import axis_of, relative_motion
from poinsot.mechanism.coordinates import UNIVERSAL_JOINT, coordinate
from poinsot.mechanism.kinematics import TREE_COLUMNS, move_bodies, move_in_world, move_link, tree_workspace
from poinsot.mechanism.loads import apply_body_loads, clear_loads
from poinsot.mechanism.report import report_readings
from poinsot.mechanism.tables import (
    ACCELERATION,
    ANGULAR_ACCELERATION,
    ANGULAR_VELOCITY,
    BODY_A,
    BODY_B,
    FIRST_LINK,
    JOINT_KIND,
    POSITION,
    READING,
    ROTATION,
    SHARED_COLUMNS,
    VELOCITIES,
    VELOCITY,
    borrowed,
)
from poinsot.scalars import WIDTH, Packs, borrow, floats

Array = NDArray[np.float64]

# Rows of the state and of the velocities per body.
POSE, MOTION = 12, 6
# Columns of `work` behind the shared ones: accelerations in body and in world axes.
ALPHA, LINEAR = SHARED_COLUMNS, SHARED_COLUMNS + 3
# An expression's stack needs more.
COLUMNS = SHARED_COLUMNS + 24


@kernel
def place(mechanism, state, work):
    """The motion of every body, from the state into the shared columns."""
    first = state.shape[0] - mechanism.sizes[0, VELOCITIES]
    for b in range(mechanism.bodies.shape[0]):
        i, q, v = mechanism.bodies[b, 0], POSE * b, first + MOTION * b
        put9(work, i, ROTATION, column9(state, q, 0))
        put3(work, i, POSITION, column3(state, q + 9, 0))
        put3(work, i, ANGULAR_VELOCITY, column3(state, v, 0))
        put3(work, i, VELOCITY, column3(state, v + 3, 0))


@routine
def apply_loads_to_bodies(mechanism, t, state, work):
    """All loads, those on joint coordinates too, as forces and torques on the bodies."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    clear_loads(mechanism, work)
    place(mechanism, state, work)
    apply_body_loads(mechanism, t, state, work)


@routine
def apply_loads_where_placed(mechanism, t, state, work):
    """The same where the bodies have been placed already, not as the state has them."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    clear_loads(mechanism, work)
    apply_body_loads(mechanism, t, state, work)


@kernel
def count_rates(mechanism, counters, begin, count, state, work, rate):
    """The rates of the counts and of their velocities, from the bodies' accelerations.

    `counters` holds a joint and a coordinate for each, from row `begin` on.
    """
    n = mechanism.sizes[0, VELOCITIES]
    row = n - count
    for k in range(count):
        rate[row + k, 0] = state[state.shape[0] - count + k, 0]
        rate[n + row + k, 0] = count_acceleration(mechanism, counters, begin, k, work)


@kernel
def count_acceleration(mechanism, counters, begin, k, work):
    """The acceleration of count k."""
    j = counters[begin + 2 * k, 0]
    a, b = mechanism.joints[j, BODY_A], mechanism.joints[j, BODY_B]
    axis, carrier, w = turning_axis(mechanism, work, j, counters[begin + 2 * k + 1, 0])
    alpha_a = times(get9(work, a, ROTATION), get3(work, a, ALPHA))
    alpha_b = times(get9(work, b, ROTATION), get3(work, b, ALPHA))
    return dot(axis, sub(alpha_b, alpha_a)) + dot(cross(carrier, axis), w)


@kernel
def turning_axis(mechanism, work, j, k):
    """The axis about which coordinate k of joint j turns, the angular velocity that carries it, and that of b to a."""
    A, B, _, _, _, w, w_a, w_b = relative_motion(mechanism, work, j)
    if mechanism.joints[j, JOINT_KIND] == UNIVERSAL_JOINT and k == 1:
        return axis_of(B, 0), w_b, w
    return axis_of(A, 2), w_a, w


@kernel
def set_counts(mechanism, counters, begin, count, state, work):
    """Counts become the angles that the poses tell, and their rates those of the velocities."""
    for k in range(count):
        j, which = counters[begin + 2 * k, 0], counters[begin + 2 * k + 1, 0]
        motion = relative_motion(mechanism, work, j)
        angle, speed, _, _ = coordinate(mechanism, state, j, which, motion)
        state[mechanism.links[mechanism.joints[j, FIRST_LINK + which], READING], 0] = angle
        state[state.shape[0] - count + k, 0] = speed


@kernel
def report_motion(mechanism, state, work, bodies, joints):
    """Pose, velocities and accelerations of every body, coordinates of every joint."""
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        put3(bodies, b, POSITION, get3(work, i, POSITION))
        put9(bodies, b, ROTATION, get9(work, i, ROTATION))
        put3(bodies, b, VELOCITY, get3(work, i, VELOCITY))
        put3(bodies, b, ANGULAR_VELOCITY, get3(work, i, ANGULAR_VELOCITY))
        put3(bodies, b, ACCELERATION, get3(work, i, LINEAR))
        put3(bodies, b, ANGULAR_ACCELERATION, get3(work, i, ALPHA))
    for j in range(mechanism.joints.shape[0]):
        report_readings(mechanism, state, work, joints, j)


@routine
def place_tree(mechanism, state, work):
    """The motion of every body of a tree in joint coordinates, for Python."""
    for i in range(1, mechanism.links.shape[0]):
        move_link(mechanism.links, mechanism.frames, state, work, i)
    move_in_world(mechanism, state, work)
    move_bodies(mechanism, work)


def counters_of(layout: Layout) -> list[tuple[int, int]]:
    """The joint and the coordinate of every angle that is counted."""
    joints = layout.mechanism.joints
    found: list[tuple[int, int]] = []
    for j, joint in enumerate(layout.model.joints.values()):
        if joint.kind in ("spherical", "free") or joints[j, t.CLOSES]:
            continue
        found += [
            (j, k) for k in range(joint.coordinates) if layout.mechanism.frames[joints[j, t.FIRST_LINK + k], t.TURN]
        ]
    return found


def of_bodies(
    layout: Layout, counters: list[tuple[int, int]], positions: int | None = None, velocities: int | None = None
) -> t.Mechanism:
    """The mechanism with tables that fit a state of bodies: where counts stand, and all loads on bodies.

    Counts stand behind so many rows of positions, their rates behind so many of velocities: by default those of above.
    """
    tree, bodies = layout.mechanism, len(layout.bodies)
    positions = POSE * bodies if positions is None else positions
    velocities = MOTION * bodies if velocities is None else velocities
    links, joints, sizes = tree.links.copy(), tree.joints.copy(), tree.sizes.copy()
    for k, (j, which) in enumerate(counters):
        row = positions + k
        links[joints[j, t.FIRST_LINK + which], t.READING] = row
        if joints[j, t.READING_ROW] >= 0:
            joints[j, t.READING_ROW] = row
    sizes[0, [t.BODY_LOADS, t.JOINT_LOADS]] = len(tree.loads), 0
    sizes[0, t.VELOCITIES] = velocities + len(counters)
    return tree._replace(links=links, joints=joints, sizes=sizes)


def blocks_of_bodies(bodies: int, counts: int) -> tuple[NDArray[np.int64], int, int]:
    """The blocks of the state: poses, counts, and the velocities of all."""
    poses = [block for _ in range(bodies) for block in ((manifold.ROTATION, 9), (manifold.REAL, 3))]
    counted = [(manifold.REAL, counts)] if counts else []
    return manifold.block_table([*poses, *counted, (manifold.REAL, MOTION * bodies + counts)])


def state_of_bodies(layout: Layout, counters: list[tuple[int, int]], tree_state: Array) -> Array:
    """The state of bodies that moves like a tree's in joint coordinates."""
    mechanism = layout.mechanism
    work = tree_workspace(mechanism, TREE_COLUMNS, floats)
    place_tree(mechanism, tree_state, work)
    moved = work[mechanism.bodies[:, 0]]
    poses = np.hstack((moved[:, ROTATION : ROTATION + 9], moved[:, POSITION : POSITION + 3]))
    velocities = np.hstack((moved[:, ANGULAR_VELOCITY : ANGULAR_VELOCITY + 3], moved[:, VELOCITY : VELOCITY + 3]))
    links = [mechanism.links[mechanism.joints[j, t.FIRST_LINK + k]] for j, k in counters]
    counts, rates = (np.array([tree_state[link[column], 0] for link in links]) for column in (t.READING, t.RATE))
    return np.concatenate((poses.ravel(), counts, velocities.ravel(), rates))[:, None].copy()


def workspace_of_bodies(mechanism: t.Mechanism, view: Any, columns: int = COLUMNS) -> Any:
    """A fresh `work`: one row per link, the ground at rest, a scratch row."""
    work = view(mechanism.links.shape[0] + 1, columns)
    data = work if isinstance(work, np.ndarray) else work.data
    ground = data[0] if data.ndim == 2 else data[0, :, :WIDTH] if view is Packs else data[0, :, 0]
    ground[[ROTATION, ROTATION + 4, ROTATION + 8]] = 1.0
    return work
