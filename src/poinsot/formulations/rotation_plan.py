"""The plan and the constants of `rotation-matrix`, laid down once in tables that its kernels follow.

Of two equations at one body each end pulls on what the other one asks for: such pairs are listed with the entries of
the matrices that they add to. The matrix of the second step has a node for each joint and drive, and neighbours are
those at one body, so that a chain is eliminated from its ends in a time that grows with its length. The matrix of all
multipliers is one dense node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poinsot.algebra import sparse
from poinsot.algebra.sparse import ROW
from poinsot.formulations.bodies import (
    CHOSEN,
    COMMON_HEAD,
    EQUATIONS,
    KEPT_STATE,
    UNKNOWN,
)
from poinsot.formulations.closure import CLOSED_TO
from poinsot.formulations.plan import way_of
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import LINEAR, POSE
from poinsot.mechanism.build import Layout
from poinsot.mechanism.constraints import ALONG
from poinsot.problem import Array

# The head of `plan` behind what is common. Lists: of each equation, an axis of the world or -1, and its place among
# its joint's or -1; of each end of a term at a body; of each pair of ends at one body; counted angles. Then the plans
# of elimination in two steps and at once, whether it goes at once, whether multipliers are held over steps, whether
# states are projected, how often solutions are refined. In the table of scalars: rows of bodies, rows of ends, blocks
# (and their end), unknowns of the elimination at once (and how many), a kept solution, settings.
(
    DIRECTIONS, PLACES_IN_JOINT, ENDS, END_COUNT, PAIRS, PAIR_COUNT, COUNTERS, COUNTED, ELIMINATION, TOGETHER, AT_ONCE,
    HELD, PROJECTS, REFINED, BODY_ROWS, END_ROWS, BLOCKS, BLOCKS_END, FIRST_OF_ALL, ALL, KEPT_SOLUTION, SETTINGS, HEAD,
) = range(COMMON_HEAD, COMMON_HEAD + 23)  # fmt: skip
# Of each end at a body: its row in the table of scalars, the link of the body, its number, its equation. Of each pair:
# both rows, the body, and the entries of the matrices of both eliminations that it adds to.
END, PAIR = 4, 5
# Rows of the state and of the velocities of a body: T*, then R. Multipliers of orthogonality.
MOTION, LAMBDAS = 12, 6
# Columns of `work` behind those of absolute.py: P, R' of the user's axes, C of (a), P'', the angular acceleration in
# principal axes, Λ in principal axes.
PRINCIPAL, TURNING, BENDING, SECOND, SWING, LAMBDA = (LINEAR + n for n in (3, 12, 21, 27, 36, 39))
COLUMNS = LAMBDA + LAMBDAS
# Columns of a body's row in the table of scalars: OG at t = 0, principal axes in the user's ones and A, D, the moments
# of inertia, what is lent to them, and the mass.
CENTER, TO_PRINCIPAL, START, D, MOMENT, LENT_MOMENT, MASS = 0, 3, 12, 21, 24, 27, 30
# Columns of an end's row, behind X and Y: H = Pᵀ Y, its moment, and the angular acceleration that this gives.
H, TORQUE, MOVED = 12, 21, 24
# Settings: the largest |Φ| that counts as closed, Baumgarte's rate (0 without).
CLOSED, RETURN = range(2)
# A body that has no inertia about some axis is lent this part of what it has about the others; what that changes in a
# solution is taken back by refinement.
LENT, REFINEMENTS = 1e-9, 2


def principal(layout: Layout) -> list[tuple[Array, Array, Array]]:
    """Of each body the principal axes in its own ones, D, which is K (11) there, and the moments of inertia."""
    found: list[tuple[Array, Array, Array]] = []
    for body in layout.model.bodies.values():
        J = body.inertia.matrix
        if np.abs(J - np.diag(np.diag(J))).max() == 0.0:
            moments, axes = np.diag(J).copy(), np.eye(3)
        else:
            moments, axes = np.linalg.eigh(J)
            axes[:, 2] *= np.sign(np.linalg.det(axes))
        found.append((axes, 0.5 * moments.sum() - moments, moments))
    return found


def with_plan(
    layout: Layout,
    mechanism: tables.Mechanism,
    imposed: Sequence[int],
    counters: Sequence[tuple[int, int]],
    moving: Array,
    n_states: int,
    size: float,
) -> tables.Mechanism:
    """The mechanism with its plan and its table of scalars, laid out for these equations."""
    bodies, rows = len(layout.bodies), len(layout.equations)
    body_of_link = {int(link): b for b, link in enumerate(mechanism.bodies[:, 0])}
    members: dict[str, list[int]] = {}
    for e in imposed:
        members.setdefault(layout.equations[e].owner, []).append(e)
    sizes = [len(group) for group in members.values()]
    place = {e: (node, n) for node, group in enumerate(members.values()) for n, e in enumerate(group)}

    table = [0] * HEAD
    table[EQUATIONS], table[CHOSEN] = len(imposed), len(table)
    table += imposed
    table[DIRECTIONS] = len(table)
    table += [_direction(layout, mechanism, e, members[layout.equations[e].owner]) for e in imposed]
    table[PLACES_IN_JOINT] = len(table)
    owners = [word.owner for word in layout.equations]
    table += [-1 if layout.equations[e].is_drive else e - owners.index(owners[e]) for e in imposed]

    table[BODY_ROWS], table[END_ROWS] = rows, rows + bodies
    ends: list[tuple[int, int, int]] = []  # row, link, equation
    row = table[END_ROWS]
    for q, e in enumerate(imposed):
        for link, _, _ in way_of(layout.mechanism, e).ends:
            ends.append((row, link, q))
            row += 1
    ends = [end for end in ends if end[1] in body_of_link]
    table[ENDS], table[END_COUNT] = len(table), len(ends)
    for end_row, link, q in ends:
        table += [end_row, link, body_of_link[link], q]

    at_body: dict[int, list[tuple[int, int]]] = {}
    for end_row, link, q in ends:
        at_body.setdefault(link, []).append((end_row, q))
    around: dict[int, set[int]] = {node: set() for node in range(len(sizes))}
    for group in at_body.values():
        nodes = {place[imposed[q]][0] for _, q in group}
        for node in nodes:
            around[node] |= nodes - {node}
    elimination = sparse.plan_elimination(sizes, around, {}, row * ROW)
    whole = LAMBDAS * bodies + len(imposed)
    together = sparse.plan_elimination([whole], {}, {}, elimination.scalars)
    table[PAIRS] = len(table)
    for link, group in at_body.items():
        for one, q in group:
            for other, p in group:
                (node, n), (beside, m) = place[imposed[q]], place[imposed[p]]
                if (node, n) >= (beside, m):
                    begin, by_row, by_column = elimination.entry(node, beside, sizes)
                    line, column = LAMBDAS * bodies + max(p, q), LAMBDAS * bodies + min(p, q)
                    entry = together.diagonal[0] + line * whole + column
                    table += [one, other, body_of_link[link], begin + n * by_row + m * by_column, entry]
    table[PAIR_COUNT] = (len(table) - table[PAIRS]) // PAIR

    table[UNKNOWN] = len(table)
    for e in imposed:
        node, n = place[e]
        table += [elimination.unknowns[node] + n, elimination.diagonal[node] + n * (sizes[node] + 1)]
    table[COUNTERS], table[COUNTED] = len(table), len(counters)
    table += [number for pair in counters for number in pair]
    table[ELIMINATION] = len(table)
    table += elimination.table
    table[TOGETHER] = len(table)
    table += together.table
    table[BLOCKS], table[BLOCKS_END] = row * ROW + 2 * len(imposed), elimination.scalars
    table[FIRST_OF_ALL], table[ALL] = elimination.scalars, whole
    table[KEPT_SOLUTION] = together.scalars
    table[KEPT_STATE] = together.scalars + len(imposed)
    table[SETTINGS] = (table[KEPT_STATE] + n_states) // ROW + 1
    loops = np.zeros((table[SETTINGS] + 1, ROW))
    loops[table[SETTINGS], CLOSED] = CLOSED_TO * size
    thin = False
    for b, (axes, d, moments) in enumerate(principal(layout)):
        constants, pose_of_body = loops[rows + b], moving[POSE * b : POSE * (b + 1), 0]
        constants[CENTER : CENTER + 3] = pose_of_body[9:]
        constants[TO_PRINCIPAL : TO_PRINCIPAL + 9] = axes.ravel()
        constants[START : START + 9] = (pose_of_body[:9].reshape(3, 3) @ axes).ravel()
        constants[D : D + 3], constants[MOMENT : MOMENT + 3] = d, moments
        constants[MASS] = mechanism.body_frames[b, tables.BODY_MASS]
        if moments.min() <= LENT * moments.max():
            constants[LENT_MOMENT : LENT_MOMENT + 3] = LENT * moments.sum()
            thin = True
    table[REFINED] = REFINEMENTS if thin else 0
    return mechanism._replace(plan=np.array(table, np.int64)[:, None], loops=loops)


def _direction(layout: Layout, mechanism: tables.Mechanism, e: int, group: Sequence[int]) -> int:
    """The axis of the world along which an equation of a spherical joint keeps its point, (13); -1 for others.

    Where equations of the joint are redundant, its own axes tell which.
    """
    _, j, first, _, function = mechanism.equations[e]
    spherical = tables.JOINT_KINDS[mechanism.joints[j, tables.JOINT_KIND]] == "spherical"
    kind, *_, axis, _ = mechanism.terms[first]
    return int(axis) if spherical and function < 0 and kind == ALONG and len(group) == 3 else -1
