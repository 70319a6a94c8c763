"""The way of an elimination over bodies, laid down once: which equations act on which body, and the blocks they make.

Two bodies have a block where an equation ties them, or where the elimination of a third one does. Of the bodies that
are left, the one with the fewest neighbours is eliminated first, which makes few new ones (minimum degree).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanism import tables as t
from poinsot.mechanism.constraints import EQUATION_OUTPUTS

# Columns of `slots` (an equation on one body): the equation, the body's row of links, its place in the elimination.
SLOT_EQUATION, SLOT_LINK, SLOT_PLACE = range(3)
# Columns of `ends` (a term of an equation at one of its bodies): the slot, the term, and whether it is the second body.
END_SLOT, END_TERM, END_SECOND = range(3)
# Columns of `owners`, one row per equation: its joint, whether it is a drive, how many terms act on the joint's bodies.
OWNER, IS_DRIVE, REPORTED_TERMS = range(3)


class Balance(NamedTuple):
    """The way of the elimination in integers, and room for it."""

    owners: Any
    slots: Any
    first_slot: Any  # of each equation, one below the other, and the last one's end
    ends: Any
    couples: Any  # two slots of one equation, the first eliminated not before the second, and their block
    below: Any  # the place and the block of what a body's elimination touches
    first_below: Any
    updates: Any  # a block, and the two whose product it loses
    first_update: Any
    equations: Any  # what `put_equations` writes
    pulls: Any  # each slot's part of G
    weights: Any
    multipliers: Any
    blocks: Any
    balance: Any  # each body's part of Gᵀ λ₀, then what is left of it
    shift: Any  # a part of y


def plan_of(mechanism: t.Mechanism) -> Balance:
    """The way of the elimination: of the bodies that are left, the one with the fewest neighbours comes first."""
    owners, slots, ends = _slots(mechanism)
    of_equation: list[list[int]] = [[] for _ in owners]
    for n, (e, _, _) in enumerate(slots):
        of_equation[e].append(n)
    links = [int(row) for row in mechanism.bodies[:, 0]]
    known: dict[int, set[int]] = {link: set() for link in links}
    for group in of_equation:
        for n in group:
            known[slots[n][SLOT_LINK]].update(slots[other][SLOT_LINK] for other in group)
    order, later = _order(known)
    place = {link: p for p, link in enumerate(order)}
    for slot in slots:
        slot[SLOT_PLACE] = place[slot[SLOT_LINK]]
    block = {(p, p): p for p in range(len(order))}
    below: list[list[tuple[int, int]]] = []
    for p, group in enumerate(later):
        below.append([(q, block.setdefault((q, p), len(block))) for q in sorted(place[link] for link in group)])
    updates = [
        [(block[max(q, r), min(q, r)], left, right) for q, left in group for r, right in group if q >= r]
        for group in below
    ]
    couples = [
        (first, second, block[slots[first][SLOT_PLACE], slots[second][SLOT_PLACE]])
        for group in of_equation
        for first in group
        for second in group
        if slots[first][SLOT_PLACE] >= slots[second][SLOT_PLACE]
    ]
    n = len(order)
    return Balance(
        _integers(owners, 3), _integers(slots, 3), _starts(of_equation), _integers(ends, 3), _integers(couples, 3),
        _integers([entry for group in below for entry in group], 2), _starts(below),
        _integers([entry for group in updates for entry in group], 3), _starts(updates),
        np.zeros((len(owners), EQUATION_OUTPUTS)), np.zeros((len(slots), 6)), np.zeros((len(owners), 1)),
        np.zeros((len(owners), 2)), np.zeros((len(block), 36)), *np.zeros((2, n, 6)),
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


def _order(known: dict[int, set[int]]) -> tuple[list[int], list[set[int]]]:
    """An order of elimination of least degree, and the neighbours that each still has when its turn comes."""
    order: list[int] = []
    later: list[set[int]] = []
    waiting = {link: group - {link} for link, group in known.items()}
    while waiting:
        link = min(waiting, key=lambda link: (len(waiting[link]), link))
        group = waiting.pop(link)
        for other in group:
            waiting[other] |= group
            waiting[other] -= {link, other}
        order.append(link)
        later.append(group)
    return order, later


def _integers(rows: list[Any], columns: int) -> NDArray[np.int64]:
    return np.array(rows or np.zeros((0, columns)), np.int64).reshape(-1, columns)


def _starts(groups: list[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, groups)], dtype=np.int64)[:, None].copy()
