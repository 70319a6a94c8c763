"""The plan of `lie-dae`, laid down once in a table of integers that its kernels follow.

A node of the elimination is a body, with its six velocities, or the imposed equations of one joint or drive. A joint of
the spanning tree comes after the body that hangs on it, what closes a loop after all bodies between its ends and where
these hang together: then every pivot is regular (docs/theory/lie-dae.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot.algebra import sparse
from poinsot.algebra.sparse import ROW
from poinsot.formulations.bodies import CHOSEN, COMMON_HEAD, EQUATIONS, KEPT_STATE, UNKNOWN
from poinsot.formulations.closure import CLOSED_TO
from poinsot.formulations.plan import way_of
from poinsot.mechanism import tables as t
from poinsot.mechanism.absolute import MOTION
from poinsot.mechanism.build import Layout

# The head of `plan` behind what is common: where the bodies' places, the ends of the equations (and how many), the
# angles that are counted (and how many) and the plan of elimination begin; whether weights are units, whether
# stabilisation goes once and by rotation vectors, how often solutions are refined; where in the table of scalars
# unknowns, blocks, kept solutions and settings stand.
(
    PLACES, ENDS, END_COUNT, COUNTERS, COUNTED, ELIMINATION, UNIT, VECTORS,
    REFINED, FIRST_UNKNOWN, UNKNOWNS, BLOCKS, KEPT_SOLUTION, SETTINGS, HEAD,
) = range(COMMON_HEAD, COMMON_HEAD + 15)  # fmt: skip
# Of each body: where its unknowns and its block stand. Of each end of a term: the body's row, the equation's place,
# which term, whether it is b (1) or a (-1), where its part of the matrix begins and the distance of its columns, where
# the body's unknowns stand.
PLACE, END = 2, 7
# Settings: the largest |Φ| that counts as closed, Baumgarte's rate (0 without).
CLOSED, RETURN = range(2)

# A body that has no inertia about some axis is lent this part of what it has about the others; what that changes in a
# solution is taken back by refinement.
LENT, REFINEMENTS = 1e-9, 2


def with_plan(
    layout: Layout,
    mechanism: t.Mechanism,
    imposed: Sequence[int],
    counters: Sequence[tuple[int, int]],
    n_states: int,
    chosen: Mapping[str, Any],
    size: float,
) -> t.Mechanism:
    """The mechanism with its plan and its table of scalars, laid out for these equations."""
    bodies, rows = len(layout.bodies), len(layout.equations)
    body_of_link = {int(link): b for b, link in enumerate(mechanism.bodies[:, 0])}
    members: dict[str, list[int]] = {}
    for e in imposed:
        members.setdefault(layout.equations[e].owner, []).append(e)
    ways = {e: way_of(layout.mechanism, e) for e in imposed}
    child = {branch.joint.name: branch.child.name for branch in layout.topology.branches if branch.joint is not None}
    names, sizes = list(layout.bodies), [MOTION] * bodies + [len(group) for group in members.values()]
    neighbours: dict[int, set[int]] = {n: set() for n in range(len(sizes))}
    after: dict[int, set[int]] = {}
    for node, (owner, group) in enumerate(members.items(), bodies):
        around = {body_of_link[link] for e in group for link, _, _ in ways[e].ends if link in body_of_link}
        passed = {body_of_link[link] for e in group for link in ways[e].passes if link in body_of_link}
        after[node] = {names.index(child[owner])} if owner in child else passed
        neighbours[node] = around
        for body in around:
            neighbours[body].add(node)
    elimination = sparse.plan_elimination(sizes, neighbours, after, rows * ROW)

    table = [0] * HEAD
    table[EQUATIONS], table[CHOSEN] = len(imposed), len(table)
    table += imposed
    table[UNKNOWN] = len(table)
    place = {e: (node, n) for node, group in enumerate(members.values(), bodies) for n, e in enumerate(group)}
    for e in imposed:
        node, n = place[e]
        table += [elimination.unknowns[node] + n, elimination.diagonal[node] + n * (sizes[node] + 1)]
    table[PLACES] = len(table)
    for b in range(bodies):
        table += [elimination.unknowns[b], elimination.diagonal[b]]
    table[ENDS] = len(table)
    for q, e in enumerate(imposed):
        node, n = place[e]
        for link, term, end in ways[e].ends:
            if link in body_of_link:
                b = body_of_link[link]
                begin, by_row, by_column = elimination.entry(node, b, sizes)
                table += [link, q, term, 2 * end - 1, begin + n * by_row, by_column, elimination.unknowns[b]]
    table[END_COUNT] = (len(table) - table[ENDS]) // END
    table[COUNTERS], table[COUNTED] = len(table), len(counters)
    table += [number for pair in counters for number in pair]
    table[ELIMINATION] = len(table)
    table += elimination.table
    table[UNIT] = int(chosen.get("weights") == "unit")
    table[VECTORS] = int(chosen.get("stabilize") == "rotation-vector")
    moments = [np.linalg.eigvalsh(body.inertia.matrix) for body in layout.model.bodies.values()]
    table[REFINED] = REFINEMENTS if any(least <= LENT * most for least, _, most in moments) else 0
    unknowns = sum(sizes)
    table[FIRST_UNKNOWN], table[UNKNOWNS] = rows * ROW, unknowns
    table[BLOCKS], table[KEPT_SOLUTION] = rows * ROW + 2 * unknowns, elimination.scalars
    table[KEPT_STATE] = elimination.scalars + unknowns
    table[SETTINGS] = (table[KEPT_STATE] + n_states) // ROW + 1
    loops = np.zeros((table[SETTINGS] + 1, ROW))
    loops[table[SETTINGS], CLOSED] = CLOSED_TO * size
    if chosen.get("stabilize") == "baumgarte":
        loops[table[SETTINGS], RETURN] = chosen["rate_of_return"]
    return mechanism._replace(plan=np.array(table, np.int64)[:, None], loops=loops)
