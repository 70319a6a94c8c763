"""The least reactions of a mechanism with redundant equations, and which of their components are the only ones.

Where equations are redundant, self-equilibrated reactions may be added to any: they cancel on every body. Of all that
give the same motion those are meant whose sum of |force|² + |torque|²/L² over joints and drives is the least, with L
the mechanism's size. With a row of G for each equation (its gradient on every body, torques over L) and W the squares
of what a unit of its multiplier exerts in its joint, the least multipliers that equal given ones λ₀ in effect are

    λ = W⁻¹ G y,    (Gᵀ W⁻¹ G) y = Gᵀ λ₀.  (1)

Bodies that no joint ties have no part in each other's equations: the matrix is eliminated in blocks, body by body, in
an order that leaves few of them (algebra/sparse.py). It is singular where the mechanism moves; a small multiple of the
identity mends that, and refinement removes what it changes. docs/theory/redundancy.md derives all this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poinsot._jit import kernel, routine
from poinsot.algebra import sparse
from poinsot.algebra.memory import get3
from poinsot.algebra.sparse import ROW, get, put
from poinsot.algebra.vector import add, cross, dot, scale, sub
from poinsot.mechanism import tables as t
from poinsot.mechanism.balance import (
    BLOCK,
    COLUMNS_APART,
    END_SECOND,
    END_SLOT,
    END_TERM,
    FIRST_SLOT,
    IS_DRIVE,
    OWNER,
    REPORTED_TERMS,
    ROWS_APART,
    SECOND_SLOT,
    SLOT_EQUATION,
    SLOT_LINK,
    SLOT_UNKNOWNS,
    plan_of,
)
from poinsot.mechanism.build import Layout
from poinsot.mechanism.constraints import GRADIENT, put_equations
from poinsot.mechanism.tables import DRIVE_FORCE, POSITION, REACTION_FORCE, REACTION_TORQUE
from poinsot.scalars import lend

Array = NDArray[np.float64]

# What is added to the diagonal of (1), whose entries are of the size of one, and how often the solution is refined: a
# self-equilibrated part that bodies resist with 1e-4 of a joint's strength is found to rounding.
MENDED, MOST_REFINEMENTS = 1e-10, 8
# Columns of a body's poses, first in what is recorded of it and in `work`.
POSE = 12


@routine
def put_all_equations(mechanism, link_poses, state, out):
    """All equations of a mechanism, with their gradients, where its bodies' links carry them."""
    put_equations(mechanism, 0.0, state, link_poses, mechanism.equations, 0, mechanism.equations.shape[0], out)


@routine
def put_pulls(mechanism, link_poses, state, plan, size):
    """The gradients of all equations on all bodies, what is exerted in the joints, and the factors of (1)."""
    out = plan.equations
    put_all_equations(mechanism, link_poses, state, out)
    for e in range(plan.owners.shape[0]):
        force, torque = exerted(plan, e)
        plan.weights[e, 0] = dot(force, force) + dot(torque, torque) / (size * size)
    for row in range(plan.slots.shape[0]):
        for k in range(6):
            plan.pulls[row, k] = 0.0
    for n in range(plan.ends.shape[0]):
        row, column = plan.ends[n, END_SLOT], GRADIENT * plan.ends[n, END_TERM]
        e, sign = plan.slots[row, SLOT_EQUATION], 1.0 if plan.ends[n, END_SECOND] else -1.0
        force, torque, P = get3(out, e, column), get3(out, e, column + 3), get3(out, e, column + 6)
        arm = sub(P, get3(link_poses, plan.slots[row, SLOT_LINK], POSITION))
        torque = add(torque, cross(arm, force))
        for k in range(3):
            plan.pulls[row, k] += sign * force[k]
            plan.pulls[row, 3 + k] += sign * torque[k] / size
    matrix = plan.scalars
    for row in range(matrix.shape[0]):
        for k in range(ROW):
            matrix[row, k] = 0.0
    for b in range(plan.bodies.shape[0]):
        for k in range(6):
            put(matrix, plan.bodies[b, 1] + 7 * k, MENDED)
    for n in range(plan.couples.shape[0]):
        first, second, begin = plan.couples[n, FIRST_SLOT], plan.couples[n, SECOND_SLOT], plan.couples[n, BLOCK]
        per_weight = 1.0 / plan.weights[plan.slots[first, SLOT_EQUATION], 0]
        for i in range(6):
            for k in range(6):
                at = begin + i * plan.couples[n, ROWS_APART] + k * plan.couples[n, COLUMNS_APART]
                put(matrix, at, get(matrix, at) + per_weight * plan.pulls[first, i] * plan.pulls[second, k])
    sparse.factorise(plan.elimination, 0, matrix)


@kernel
def exerted(plan, e):
    """Force and torque, per unit of its multiplier, by which equation e shows in its joint's reaction."""
    out = plan.equations
    force, torque = get3(out, e, 0), get3(out, e, 3)
    if plan.owners[e, REPORTED_TERMS] > 1:
        force, torque = add(force, get3(out, e, GRADIENT)), add(torque, get3(out, e, GRADIENT + 3))
    return force, torque


@routine
def make_least(plan):
    """Exchange the multipliers for the least ones that equal them in effect (1)."""
    for u in range(plan.balance.shape[0]):
        plan.balance[u, 0] = 0.0
    push_bodies(plan, 1.0)
    for e in range(plan.owners.shape[0]):
        plan.multipliers[e, 1] = 0.0
    given, left = largest(plan.balance), 0.0
    for refinement in range(MOST_REFINEMENTS):
        for u in range(plan.balance.shape[0]):
            put(plan.scalars, u, plan.balance[u, 0])
        sparse.solve(plan.elimination, 0, plan.scalars)
        for e in range(plan.owners.shape[0]):
            x = 0.0
            for row in range(plan.first_slot[e, 0], plan.first_slot[e + 1, 0]):
                for k in range(6):
                    x += plan.pulls[row, k] * get(plan.scalars, plan.slots[row, SLOT_UNKNOWNS] + k)
            plan.multipliers[e, 0] = x / plan.weights[e, 0]
            plan.multipliers[e, 1] += plan.multipliers[e, 0]
        push_bodies(plan, -1.0)
        before, left = left, largest(plan.balance)
        if left <= 1e-15 * given or (refinement > 0 and left >= 0.5 * before):
            break
    for e in range(plan.owners.shape[0]):
        plan.multipliers[e, 0] = plan.multipliers[e, 1]


@kernel
def push_bodies(plan, sign):
    """Add what the multipliers exert on each body to its balance."""
    for row in range(plan.slots.shape[0]):
        x, u = sign * plan.multipliers[plan.slots[row, SLOT_EQUATION], 0], plan.slots[row, SLOT_UNKNOWNS]
        for k in range(6):
            plan.balance[u + k, 0] += x * plan.pulls[row, k]


@kernel
def largest(column):
    """The largest magnitude in a column."""
    found = 0.0
    for i in range(column.shape[0]):
        found = max(found, abs(column[i, 0]))
    return found


@kernel
def put_poses(mechanism, bodies, link_poses):
    """Where each body's link carries it, from what is recorded of the bodies."""
    for b in range(mechanism.bodies.shape[0]):
        for k in range(POSE):
            link_poses[mechanism.bodies[b, 0], k] = bodies[b, k]


@routine
def make_reactions_least(mechanism, link_poses, state, plan, size, bodies, joints):
    """Exchange reactions and forces of drives, at each instant of the tables, for the least ones of equal effect."""
    for s in range(bodies.shape[0]):
        put_poses(mechanism, bodies[s], link_poses)
        put_pulls(mechanism, link_poses, state, plan, size)
        for e in range(plan.owners.shape[0]):
            j, (force, torque) = plan.owners[e, OWNER], exerted(plan, e)
            if plan.owners[e, IS_DRIVE]:
                plan.multipliers[e, 0] = joints[s, j, DRIVE_FORCE]
            else:
                along = dot(force, get3(joints[s], j, REACTION_FORCE))
                about = dot(torque, get3(joints[s], j, REACTION_TORQUE)) / (size * size)
                plan.multipliers[e, 0] = (along + about) / plan.weights[e, 0]
        make_least(plan)
        for j in range(joints.shape[1]):
            for k in range(6):
                joints[s, j, REACTION_FORCE + k] = 0.0
        for e in range(plan.owners.shape[0]):
            j, x, (force, torque) = plan.owners[e, OWNER], plan.multipliers[e, 0], exerted(plan, e)
            if plan.owners[e, IS_DRIVE]:
                joints[s, j, DRIVE_FORCE] = x
            else:
                force, torque = scale(x, force), scale(x, torque)
                for k in range(3):
                    joints[s, j, REACTION_FORCE + k] += force[k]
                    joints[s, j, REACTION_TORQUE + k] += torque[k]


@routine
def put_self_equilibrated(mechanism, link_poses, state, plan, size, bodies, projectors, of_drives):
    """Of the projector on self-equilibrated reactions, the part of each joint: (force, torque/L) in world axes.

    `of_drives` holds that of each equation that is a drive's, a number. What the least reactions of a unit one lack is
    its self-equilibrated part.
    """
    put_poses(mechanism, bodies, link_poses)
    put_pulls(mechanism, link_poses, state, plan, size)
    for e in range(plan.owners.shape[0]):
        j, unit = plan.owners[e, OWNER], 1.0 / plan.weights[e, 0] ** 0.5
        for other in range(plan.owners.shape[0]):
            plan.multipliers[other, 0] = 0.0
        plan.multipliers[e, 0] = unit
        make_least(plan)
        plan.multipliers[e, 0] -= unit
        if plan.owners[e, IS_DRIVE]:
            of_drives[e, 0] = -plan.multipliers[e, 0] / unit
            continue
        force, torque = exerted(plan, e)
        for other in range(plan.owners.shape[0]):
            if plan.owners[other, OWNER] == j and not plan.owners[other, IS_DRIVE]:
                x, (other_force, other_torque) = -unit * plan.multipliers[other, 0], exerted(plan, other)
                for i in range(6):
                    here = other_force[i] if i < 3 else other_torque[i - 3] / size
                    for k in range(6):
                        there = force[k] if k < 3 else torque[k - 3] / size
                        projectors[j, 6 * i + k] += x * here * there


class Reactions:
    """The least reactions of a mechanism, from what is recorded of its bodies and joints."""

    def __init__(self, layout: Layout) -> None:
        mechanism = layout.mechanism
        # Only gradients are asked for: drives need not be evaluated, nor whole turns be counted.
        equations = mechanism.equations.copy()
        equations[:, t.FUNCTION_OF_TIME] = -1
        link_poses = np.zeros((len(mechanism.links) + 1, t.SHARED_COLUMNS))
        link_poses[0, [t.ROTATION, t.ROTATION + 4, t.ROTATION + 8]] = 1.0
        state = np.zeros((layout.n_positions + layout.n_velocities + 1, 1))
        self.plan, self._mechanism = plan_of(mechanism), mechanism
        self._tables = mechanism._replace(equations=equations), link_poses, state, self.plan
        self._lent = lend(self._tables)  # whose memory `_tables` holds
        self._size = layout.size

    def make_least(self, bodies: Array, joints: Array) -> None:
        """Exchange the reactions in tables of some instants for the least ones."""
        make_reactions_least(*self._lent, self._size, bodies, joints)

    def self_equilibrated(self, poses: Array) -> tuple[Array, float]:
        """Each joint's part (6 x 6) of the projector on self-equilibrated reactions at an instant; how many there are.

        `poses` has a row for each body: the centre of mass and the rotation matrix.
        """
        parts, of_drives = np.zeros((len(self._mechanism.joints), 36)), np.zeros((len(self._mechanism.equations), 1))
        put_self_equilibrated(*self._lent, self._size, poses, parts, of_drives)
        parts = parts.reshape(-1, 6, 6)
        return parts, float(np.trace(parts, axis1=1, axis2=2).sum() + of_drives.sum())
