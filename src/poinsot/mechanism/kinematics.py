"""Motion of a tree of links: relative to the parent first, in the world only where somebody asks.

`R` of a link turns components in the link's frame into components in its parent's; `omega` is the absolute angular
velocity in the link's own axes. A free link's velocities are its angular velocity relative to the parent in its own
axes and the velocity of its origin relative to the parent in the parent's axes, so that free flight is linear in time.
"""

import numpy as np

from poinsot._jit import kernel
from poinsot.algebra import quaternion
from poinsot.algebra.matrix import product, times, transposed_times
from poinsot.algebra.memory import add3, column3, column4, get3, get9, put3, put9
from poinsot.algebra.vector import add, cross
from poinsot.mechanism.tables import (
    ANGULAR_VELOCITY,
    AXES,
    CENTER,
    FREE,
    HINGE,
    KIND,
    ONE_AXIS,
    PARENT,
    PLACEMENT,
    POSITION,
    RATE,
    READING,
    REVOLUTE,
    ROTATION,
    SHARED_COLUMNS,
    SLIDE,
    SPHERICAL,
    TURN,
    VELOCITY,
)
from poinsot.scalars import WIDTH, Packs, sin_cos

# Columns of `work` that trees add to the shared ones.
R = SHARED_COLUMNS  # to the parent's axes
OFFSET = R + 9  # the origin in the parent's frame
OMEGA = OFFSET + 3  # absolute angular velocity, own axes
WORLD_R = OMEGA + 3
WORLD_ORIGIN = WORLD_R + 9
WORLD_VELOCITY = WORLD_ORIGIN + 3
ALPHA = WORLD_VELOCITY + 3  # absolute angular acceleration, own axes
ORIGIN_ACCELERATION = ALPHA + 3  # of the origin less gravity, own axes
WRENCH_MOMENT = ORIGIN_ACCELERATION + 3  # what the joint transmits to the link, at its origin, own axes
WRENCH_FORCE = WRENCH_MOMENT + 3
COMPOSITE = WRENCH_FORCE + 3  # inertia, first moment and mass of the link and all behind it, own axes
TREE_COLUMNS = COMPOSITE + 10


@kernel
def turned_about_z(E, angle):
    """E Rz(angle)."""
    s, c = sin_cos(angle)
    return (
        E[0] * c + E[1] * s, E[1] * c - E[0] * s, E[2],
        E[3] * c + E[4] * s, E[4] * c - E[3] * s, E[5],
        E[6] * c + E[7] * s, E[7] * c - E[6] * s, E[8],
    )  # fmt: skip


@kernel
def move_link(links, frames, state, work, i):
    """Place link i in its parent, and its angular velocity; the parent comes first."""
    kind, parent, q, v = links[i, KIND], links[i, PARENT], links[i, READING], links[i, RATE]
    hinge, w = get3(frames, i, HINGE), get3(work, parent, OMEGA)
    if kind == REVOLUTE:
        turned = turned_about_z(get9(frames, i, PLACEMENT), state[q, 0])
        w = transposed_times(turned, w)
        put3(work, i, OMEGA, (w[0], w[1], w[2] + state[v, 0]))
        put9(work, i, R, turned)
        put3(work, i, OFFSET, hinge)
    elif kind == SPHERICAL or kind == FREE:
        turned = quaternion.to_matrix(column4(state, q, 0))
        put3(work, i, OMEGA, add(transposed_times(turned, w), column3(state, v, 0)))
        put9(work, i, R, turned)
        put3(work, i, OFFSET, hinge)
        if kind == FREE:
            add3(work, i, OFFSET, column3(state, q + 4, 0))
    elif kind == ONE_AXIS:
        turned = turned_about_z(get9(frames, i, PLACEMENT), frames[i, TURN] * state[q, 0])
        slid = frames[i, SLIDE] * state[q, 0]
        w = transposed_times(turned, w)
        put3(work, i, OMEGA, (w[0], w[1], w[2] + frames[i, TURN] * state[v, 0]))
        put9(work, i, R, turned)
        put3(work, i, OFFSET, add(hinge, (turned[2] * slid, turned[5] * slid, turned[8] * slid)))
    else:
        turned = get9(frames, i, PLACEMENT)
        put3(work, i, OMEGA, transposed_times(turned, w))
        put9(work, i, R, turned)
        put3(work, i, OFFSET, hinge)


@kernel
def slide_velocity(mechanism, state, work, i):
    """Velocity of the origin of link i relative to its parent, in the parent's axes."""
    links, frames = mechanism.links, mechanism.frames
    kind, v = links[i, KIND], links[i, RATE]
    if kind == FREE:
        return column3(state, v + 3, 0)
    if kind == ONE_AXIS:
        speed = frames[i, SLIDE] * state[v, 0]
        return work[i, R + 2] * speed, work[i, R + 5] * speed, work[i, R + 8] * speed
    still = 0.0 * work[i, R]
    return still, still, still


@kernel
def move_in_world(mechanism, state, work):
    """World pose and velocity of every link, after `move_link` on all."""
    for i in range(1, mechanism.links.shape[0]):
        j = mechanism.links[i, PARENT]
        W, offset = get9(work, j, WORLD_R), get3(work, i, OFFSET)
        speed = add(cross(get3(work, j, OMEGA), offset), slide_velocity(mechanism, state, work, i))
        put9(work, i, WORLD_R, product(W, get9(work, i, R)))
        put3(work, i, WORLD_ORIGIN, add(get3(work, j, WORLD_ORIGIN), times(W, offset)))
        put3(work, i, WORLD_VELOCITY, add(get3(work, j, WORLD_VELOCITY), times(W, speed)))


@kernel
def move_bodies(mechanism, work):
    """Centre of mass and the user's axes of every body, after `move_in_world`."""
    for b in range(mechanism.bodies.shape[0]):
        i = mechanism.bodies[b, 0]
        W, w = get9(work, i, WORLD_R), get3(work, i, OMEGA)
        center, axes = get3(mechanism.body_frames, b, CENTER), get9(mechanism.body_frames, b, AXES)
        put3(work, i, POSITION, add(get3(work, i, WORLD_ORIGIN), times(W, center)))
        put9(work, i, ROTATION, product(W, axes))
        put3(work, i, VELOCITY, add(get3(work, i, WORLD_VELOCITY), times(W, cross(w, center))))
        put3(work, i, ANGULAR_VELOCITY, transposed_times(axes, w))


def tree_workspace(mechanism, columns, view):
    """A fresh `work` of a tree: one row per link, the ground at rest and accelerated against gravity, a scratch row."""
    work = view(mechanism.links.shape[0] + 1, columns)
    data = work if isinstance(work, np.ndarray) else work.data
    ground = data[0] if data.ndim == 2 else data[0, :, :WIDTH] if view is Packs else data[0, :, 0]
    for first in (R, WORLD_R, ROTATION):
        ground[[first, first + 4, first + 8]] = 1.0
    ground[ORIGIN_ACCELERATION : ORIGIN_ACCELERATION + 3] = -mechanism.gravity[0].reshape(-1, *(1,) * (ground.ndim - 1))
    return work
