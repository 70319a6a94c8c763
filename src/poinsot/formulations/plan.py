"""The way of the loops' equations through the tree, laid down once in a table of integers that kernels follow.

An equation begins at the links of its bodies and ends at its meeting point, the first link that all of them hang on. On
its way it meets other equations, with which it shares an entry of S; where one is eliminated, those that it has met get
to know each other (fill-in). Those that meet at the same link are eliminated in an order that makes few of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.formulations.loops import (
    CHOSEN,
    COUNT,
    COUPLED,
    END_COUNT,
    ENDS,
    ENTRIES,
    HEAD,
    KEPT_STATE,
    MEETING,
    PAIRS,
    PASSING,
    SHIFT,
    STEPS,
    USED,
)
from poinsot.mechanism import tables as t

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Way:
    """One equation: the links of its ends (link, term, end), the links that it passes, and where it meets."""

    row: int
    ends: tuple[tuple[int, int, int], ...]
    passes: tuple[int, ...]
    meets: int


def way_of(mechanism: t.Mechanism, e: int) -> Way:
    """The way of equation e."""
    parents = mechanism.links[:, t.PARENT]
    first, count = mechanism.equations[e, [t.FIRST_TERM, t.EQUATION_TERMS]]
    ends: list[tuple[int, int, int]] = []
    for n in range(count):
        joint = mechanism.joints[mechanism.terms[first + n, t.TERM_JOINT]]
        ends += [(int(joint[column]), n, end) for end, column in enumerate((t.BODY_A, t.BODY_B))]
    paths = [_path(parents, link) for link, _, _ in ends]
    shared = set(paths[0]).intersection(*paths[1:])
    meets = max(shared)  # parents come before children
    passes = {link for path in paths for link in path if link not in shared}
    return Way(e, tuple(ends), tuple(sorted(passes)), meets)


def _path(parents: Integers, link: int) -> list[int]:
    """The links from one to the ground."""
    path = [link]
    while path[-1] > 0:
        path.append(int(parents[path[-1]]))
    return path


def lay_out(mechanism: t.Mechanism, rows: Sequence[int], equations: int) -> tuple[list[int], int]:
    """The table for these equations, and how many rows `loops` needs; `equations` rows stand before the pairs."""
    links, parents = len(mechanism.links), mechanism.links[:, t.PARENT]
    ways, later = _ordered([way_of(mechanism, e) for e in rows], links)
    pair: dict[tuple[int, int], int] = {}
    for q, way in enumerate(ways):
        for link in (*way.passes, way.meets):
            pair[link, q] = equations + len(pair)
    entry: dict[tuple[int, int], int] = {}
    for q, group in enumerate(later):
        for s in (q, *group):
            entry[q, s] = len(entry)
    present: list[list[int]] = [[] for _ in range(links)]
    for q, way in enumerate(ways):
        for link in way.passes:
            present[link].append(q)
    table = [0] * HEAD
    table[COUNT], table[PAIRS], table[ENTRIES] = len(ways), equations, equations + len(pair)

    table[CHOSEN] = len(table)
    table += [way.row for way in ways]
    table[ENDS] = len(table)
    for q, way in enumerate(ways):
        for link, term, end in way.ends:
            table += [link, pair[link, q], q, 2 * term + end]
    table[END_COUNT] = (len(table) - table[ENDS]) // 4

    table[PASSING] = _with_starts(
        table, [[(pair[i, q], q, pair[int(parents[i]), q]) for q in group] for i, group in enumerate(present)]
    )
    table[COUPLED] = _with_starts(
        table, [[(entry[s, q],) for n, q in enumerate(group) for s in group[: n + 1]] for group in present]
    )
    table[MEETING] = len(table)
    for i in range(links):
        table += [sum(way.meets > i for way in ways), sum(way.meets >= i for way in ways)]
    steps: list[list[tuple[int, ...]]] = []
    for q, group in enumerate(later):
        i = ways[q].meets
        others = [(s, entry[q, s], pair[i, s]) for s in group]
        targets = [(entry[group[k], group[n]],) for n in range(len(group)) for k in range(n + 1)]
        steps.append([(pair[i, q], len(group), entry[q, q]), *others, *targets])
    table[STEPS] = _with_starts(table, steps)
    table[USED] = table[KEPT_STATE] = table[ENTRIES] + (len(entry) >> SHIFT) + 1
    coordinates = int(mechanism.links[:, t.RATE].max()) + 6  # at most so many rows of the state
    return table, table[USED] + (coordinates >> SHIFT) + 2  # the last row holds settings


def _with_starts(table: list[int], groups: Sequence[Sequence[tuple[int, ...]]]) -> int:
    """Append where each group begins and the last one ends, then the groups; return where the former stand."""
    place = len(table)
    table += [0] * (len(groups) + 1)
    for n, group in enumerate(groups):
        table[place + n] = len(table)
        for numbers in group:
            table += numbers
    table[place + len(groups)] = len(table)
    return place


def _ordered(ways: list[Way], links: int) -> tuple[list[Way], list[list[int]]]:
    """The ways in the order of elimination, and for each the later ones that share an entry with it.

    Meeting points come from the leaves to the ground; among those that meet at one link the one that has met the fewest
    others comes first (minimum degree).
    """
    known: list[set[int]] = [set() for _ in ways]
    passing: defaultdict[int, list[int]] = defaultdict(list)
    meeting: defaultdict[int, set[int]] = defaultdict(set)
    for n, way in enumerate(ways):
        meeting[way.meets].add(n)
        for link in way.passes:
            passing[link].append(n)
    for group in passing.values():
        for n in group:
            known[n].update(group)
    order: list[int] = []
    later: list[set[int]] = []
    for link in sorted(meeting, reverse=True):
        waiting = meeting[link]
        while waiting:
            n = min(waiting, key=lambda n: (len(known[n]), n))
            waiting.remove(n)
            group = known[n] - {n}
            for other in group:
                known[other].discard(n)
                known[other] |= group
            order.append(n)
            later.append(group)
    place = {n: q for q, n in enumerate(order)}
    return [ways[n] for n in order], [sorted(place[other] for other in group) for group in later]
