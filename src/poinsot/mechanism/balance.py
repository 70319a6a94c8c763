"""Which equations act on which body, and where what they make of two bodies stands in a matrix of blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.algebra import sparse
from poinsot.mechanism import tables as t
from poinsot.mechanism.constraints import EQUATION_OUTPUTS

# Columns of `slots` (an equation on one body): the equation, the body's row of links, where its unknowns stand.
SLOT_EQUATION, SLOT_LINK, SLOT_UNKNOWNS = range(3)
# Columns of `couples` (two slots of one equation): the slots, where the block of their bodies begins, and how far apart
# its rows and its columns are.
FIRST_SLOT, SECOND_SLOT, BLOCK, ROWS_APART, COLUMNS_APART = range(5)
# Columns of `ends` (a term of an equation at one of its bodies): the slot, the term, and whether it is the second body.
END_SLOT, END_TERM, END_SECOND = range(3)
# Columns of `owners`, one row per equation: its joint, whether it is a drive, how many terms act on the joint's bodies.
OWNER, IS_DRIVE, REPORTED_TERMS = range(3)


class Balance(NamedTuple):
    """The equations on their bodies in integers, the plan of elimination, and room for both."""

    owners: Any
    slots: Any
    first_slot: Any  # of each equation, one below the other, and the last one's end
    ends: Any
    couples: Any
    bodies: Any  # where each body's unknowns and its own block stand
    elimination: Any  # see algebra/sparse.py
    equations: Any  # what `put_equations` writes
    pulls: Any  # each slot's part of G
    weights: Any
    multipliers: Any
    scalars: Any  # the matrix, and right-hand sides that become a part of y
    balance: Any  # Gᵀ λ₀, then what is left of it, a number for each unknown


def plan_of(mechanism: t.Mechanism) -> Balance:
    """The equations on their bodies, and the plan of elimination over bodies."""
    owners, slots, ends = _slots(mechanism)
    of_equation: list[list[int]] = [[] for _ in owners]
    for n, (e, _, _) in enumerate(slots):
        of_equation[e].append(n)
    body = {int(link): b for b, (link,) in enumerate(mechanism.bodies)}
    neighbours: dict[int, set[int]] = {b: set() for b in body.values()}
    for group in of_equation:
        tied = {body[slots[n][SLOT_LINK]] for n in group}
        for b in tied:
            neighbours[b] |= tied - {b}
    sizes = [6] * len(body)
    elimination = sparse.plan_elimination(sizes, neighbours, {}, 0)
    couples: list[list[int]] = []
    for group in of_equation:
        for n, first in enumerate(group):
            for second in group[: n + 1]:
                entry = elimination.entry(body[slots[first][SLOT_LINK]], body[slots[second][SLOT_LINK]], sizes)
                couples.append([first, second, *entry])
    for slot in slots:
        slot[SLOT_UNKNOWNS] = elimination.unknowns[body[slot[SLOT_LINK]]]
    return Balance(
        _integers(owners, 3), _integers(slots, 3), _starts(of_equation), _integers(ends, 3), _integers(couples, 5),
        _integers([[elimination.unknowns[b], elimination.diagonal[b]] for b in body.values()], 2),
        np.array(elimination.table, np.int64)[:, None],
        np.zeros((len(owners), EQUATION_OUTPUTS)), np.zeros((len(slots), 6)), np.zeros((len(owners), 1)),
        np.zeros((len(owners), 2)), np.zeros((elimination.scalars // sparse.ROW + 1, sparse.ROW)),
        np.zeros((sum(sizes), 1)),
    )  # fmt: skip


def _slots(mechanism: t.Mechanism) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Owners, slots and ends; the ground, which bears everything, has none."""
    owners: list[list[int]] = []
    slots: list[list[int]] = []
    ends: list[list[int]] = []
    for e, (_, j, first, count, function) in enumerate(mechanism.equations):
        # A screw's second term acts on its own bodies; a gear's on those of another joint.
        own = all(mechanism.terms[k, t.TERM_JOINT] == j for k in range(first, first + count))
        owners.append([int(j), int(function >= 0), int(count) if own else 1])
        here: dict[int, int] = {}
        for n in range(count):
            joint = mechanism.joints[mechanism.terms[first + n, t.TERM_JOINT]]
            for second, link in enumerate((int(joint[t.BODY_A]), int(joint[t.BODY_B]))):
                if link > 0:
                    if link not in here:
                        here[link] = len(slots)
                        slots.append([e, link, 0])
                    ends.append([here[link], n, second])
    return owners, slots, ends


def _integers(rows: list[Any], columns: int) -> NDArray[np.int64]:
    return np.array(rows or np.zeros((0, columns)), np.int64).reshape(-1, columns)


def _starts(groups: list[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, groups)], dtype=np.int64)[:, None].copy()
