"""Initial state of a tree: poses as given, velocities completed from those given.

What a user leaves out follows from the joints: body by body from the ground, the velocities of a joint are the least
ones that give its body what was asked of it, so that a body of which nothing is said rests on its parent. Only where
that contradicts what was given further out are all joints solved together, as near to that first guess as they can be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poinsot.algebra import manifold
from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout
from poinsot.model.body import Body

Array = NDArray[np.float64]

# A given velocity that the joints miss by more than this fraction of the mechanism's fastest contradicts them.
TOLERANCE = 1e-6


def initial_state(layout: Layout) -> Array:
    """Positions of the links at t = 0, then their velocities, as a view of one column."""
    links = layout.mechanism.links
    positions = np.zeros(layout.n_positions)
    for branch_joint in layout.model.joints.values():
        for reading, link in zip(branch_joint.position, layout.links_of.get(branch_joint.name, ()), strict=False):
            positions[links[link, t.READING]] = reading
    for link in np.flatnonzero(np.isin(links[:, t.KIND], (t.SPHERICAL, t.FREE))):
        positions[links[link, t.READING]] = 1.0
    return np.concatenate((positions, initial_velocities(layout)))[:, None].copy()


def state_blocks(layout: Layout) -> tuple[NDArray[np.int64], int, int]:
    """The blocks of the state: the links' coordinates one after the other, then all velocities."""
    kinds = layout.mechanism.links[1:, t.KIND]
    of_links = {
        t.SPHERICAL: [(manifold.QUATERNION, 4)],
        t.FREE: [(manifold.QUATERNION, 4), (manifold.REAL, 3)],
        t.FIXED: [],
    }
    blocks = [block for kind in kinds for block in of_links.get(kind, [(manifold.REAL, 1)])]
    return manifold.block_table([*blocks, (manifold.REAL, layout.n_velocities)])


def initial_velocities(layout: Layout) -> Array:
    """The velocities of all links: joint by joint, or all together where that fails."""
    rates = np.zeros(layout.n_velocities)
    motion = {0: np.zeros(6)}  # of the links that carry bodies: angular velocity, velocity of the centre of mass
    fastest, solved = 0.0, True
    centers = {0: np.zeros(3)} | {layout.row[body.name]: body.position for body in layout.model.bodies.values()}
    for branch in layout.topology.branches:
        body, i, j = branch.child, layout.row[branch.child.name], layout.row[branch.parent.name]
        w, arm = motion[j][:3], body.position - centers[j]
        carried = np.concatenate((w, motion[j][3:] + np.cross(w, arm)))
        own, columns = own_motions(layout, body, j)
        target, given = asked_of(body, carried)
        fastest = max(fastest, float(np.abs(target[given]).max(initial=0.0)))
        rows = np.full(6, True) if layout.mechanism.links[i, t.KIND] == t.FREE else given
        if rows.any() and own:
            rates[own] = np.linalg.lstsq(columns[rows], target[rows] - carried[rows], rcond=None)[0]
        motion[i] = carried + columns @ rates[own]
        solved = solved and float(np.abs(motion[i] - target)[given].max(initial=0.0)) <= TOLERANCE * fastest
    return rates if solved else _solved_together(layout, rates, fastest)


def asked_of(body: Body, carried: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The motion that a user gave a body, that of its parent where nothing was given, and which entries were given."""
    target, given = carried.copy(), np.full(6, False)
    if body.angular_velocity is not None:
        target[:3], given[:3] = body.rotation @ body.angular_velocity, True
    if body.velocity is not None:
        target[3:], given[3:] = body.velocity, True
    return target, given


def own_motions(layout: Layout, body: Body, parent: int) -> tuple[list[int], Array]:
    """The velocities of the links between a body and its parent's, and the body's motion per unit of each."""
    links, frames = layout.mechanism.links, layout.mechanism.frames
    own: list[int] = []
    columns: list[Array] = []
    i = layout.row[body.name]
    while i != parent:
        kind, W, arm = links[i, t.KIND], layout.start_axes[i], body.position - layout.start_origins[i]
        if kind in (t.REVOLUTE, t.ONE_AXIS):
            z = W[:, 2]
            swing = frames[i, t.TURN] * np.cross(z, arm) + frames[i, t.SLIDE] * z
            columns.append(np.concatenate((frames[i, t.TURN] * z, swing)))
        elif kind != t.FIXED:
            columns.extend(np.concatenate((axis, np.cross(axis, arm))) for axis in W.T)
        if kind == t.FREE:
            axes = layout.start_axes[links[i, t.PARENT]]
            columns.extend(np.concatenate((np.zeros(3), axis)) for axis in axes.T)
        own.extend(range(links[i, t.MOTION], links[i, t.MOTION] + t.DEGREES_OF_FREEDOM[kind]))
        i = links[i, t.PARENT]
    return own, np.array(columns).reshape(-1, 6).T


def given_motions(layout: Layout) -> list[tuple[Body, Array, Array]]:
    """The bodies whose motion a user gave: the rows of their Jacobians that this fixes, and what they are fixed to."""
    jacobians = {layout.model.ground.name: np.zeros((6, layout.n_velocities))}
    positions = {layout.model.ground.name: np.zeros(3)}
    asked: list[tuple[Body, Array, Array]] = []
    for branch in layout.topology.branches:
        body, J = branch.child, jacobians[branch.parent.name].copy()
        J[3:] += np.cross(J[:3].T, body.position - positions[branch.parent.name]).T
        own, columns = own_motions(layout, body, layout.row[branch.parent.name])
        J[:, own] = columns
        jacobians[body.name], positions[body.name] = J, body.position
        target, given = asked_of(body, np.zeros(6))
        if given.any():
            asked.append((body, J[given], target[given]))
    return asked


def _solved_together(layout: Layout, rates: Array, fastest: float) -> Array:
    """All velocities that fulfil what was given everywhere, nearest to the ones found joint by joint."""
    asked = given_motions(layout)
    J, target = np.vstack([rows for _, rows, _ in asked]), np.concatenate([values for *_, values in asked])
    rates = rates + np.linalg.lstsq(J, target - J @ rates, rcond=None)[0]
    _check(asked, rates, fastest)
    return rates


def _check(asked: list[tuple[Body, Array, Array]], rates: Array, fastest: float) -> None:
    """Raise an error for the body whose given velocities the joints miss most."""
    body, rows, target = max(asked, key=lambda entry: float(np.abs(entry[1] @ rates - entry[2]).max()))
    missed = float(np.abs(rows @ rates - target).max())
    if missed > TOLERANCE * fastest:
        raise PoinsotError(
            f'body "{body.name}": its initial velocity contradicts the joints by {missed:.3g} (m/s or rad/s); '
            "leave out what follows from the joints, or give velocities that fit them"
        )
