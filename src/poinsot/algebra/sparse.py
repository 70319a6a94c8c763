"""Symmetric block matrices with few blocks: factorised as L D Lᵀ along a plan that is laid down once.

A node is a diagonal block with its unknowns; nodes with a block between them are neighbours. The plan fixes the order
of elimination, and with it the blocks that fill in and where every number stands in a table of scalars, 32 to a row.
There is no pivoting: whoever sets the order sees to it that every pivot is regular. What is smaller than a pivot may be
counts as none, and its unknown is zero. Only the lower triangle of a diagonal block is read; updates are exactly
symmetric.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from poinsot._jit import kernel, routine
from poinsot.scalars import absolute, select

# Scalars stand 32 to a row.
SHIFT, MASK, ROW = 5, 31, 32
# The head of a plan: how many nodes, how many unknowns, and then where each node begins.
NODES, COUNT, HEAD = range(3)
# Of a node: its size, where its block and its unknowns stand, and how many later neighbours it has; then of each its
# size and where their common block and its unknowns stand; then, pair by pair, which block their pair changes.
SIZE, BLOCK, UNKNOWNS, NEIGHBOURS, RECORD = range(5)
NEIGHBOUR_SIZE, COMMON, NEIGHBOUR_UNKNOWNS, NEIGHBOUR_RECORD = range(4)


@dataclass(frozen=True)
class BlockPlan:
    """Where everything of a block matrix stands: the integers for kernels, and how many scalars they need.

    The unknowns come first, then as many limits below which pivots count as none, then the blocks. `common[later,
    earlier]` is the block between two nodes, its rows those of the node that is eliminated later.
    """

    table: list[int]
    diagonal: dict[int, int]
    unknowns: dict[int, int]
    common: dict[tuple[int, int], int]
    scalars: int

    def entry(self, row: int, column: int, sizes: Sequence[int]) -> tuple[int, int, int]:
        """Where the block of nodes `row` and `column` begins, and how far apart its rows and its columns are."""
        if row == column:
            return self.diagonal[row], sizes[row], 1
        if (row, column) in self.common:
            return self.common[row, column], sizes[column], 1
        return self.common[column, row], 1, sizes[row]


def plan_elimination(
    sizes: Sequence[int], neighbours: Mapping[int, Collection[int]], after: Mapping[int, Collection[int]], first: int
) -> BlockPlan:
    """The plan for nodes of these sizes, from scalar `first` on; a node comes later than those in `after`.

    Among those that may come next the one with the fewest unknowns around it is eliminated (minimum degree).
    """
    order, later = _ordered(sizes, neighbours, after)
    place = {node: n for n, node in enumerate(order)}
    diagonal: dict[int, int] = {}
    unknowns: dict[int, int] = {}
    common: dict[tuple[int, int], int] = {}
    used = first
    for node in order:
        unknowns[node], used = used, used + sizes[node]
    used += used - first  # the limits
    for node in order:
        diagonal[node], used = used, used + sizes[node] ** 2
        for other in later[node]:
            common[other, node], used = used, used + sizes[node] * sizes[other]
    table = [len(order), sum(sizes), *(0 for _ in order)]
    for n, node in enumerate(order):
        table[HEAD + n] = len(table)
        table += [sizes[node], diagonal[node], unknowns[node], len(later[node])]
        around = sorted(later[node], key=place.__getitem__)
        for other in around:
            table += [sizes[other], common[other, node], unknowns[other]]
        for k, other in enumerate(around):
            table += [common[other, earlier] for earlier in around[:k]] + [diagonal[other]]
    return BlockPlan(table, diagonal, unknowns, common, used)


def _ordered(
    sizes: Sequence[int], neighbours: Mapping[int, Collection[int]], after: Mapping[int, Collection[int]]
) -> tuple[list[int], dict[int, set[int]]]:
    """The order of elimination, and the neighbours that each node has left when its turn comes, fill-in among them."""
    around = {node: set(neighbours.get(node, ())) for node in range(len(sizes))}
    awaited = {node: set(after.get(node, ())) for node in range(len(sizes))}
    waiting = set(range(len(sizes)))
    order: list[int] = []
    later: dict[int, set[int]] = {}
    while waiting:
        ready = (node for node in waiting if not awaited[node])
        node = min(ready, key=lambda node: (sum(sizes[other] for other in around[node]), node))
        waiting.remove(node)
        order.append(node)
        later[node] = around[node]
        for other in around[node]:
            around[other] |= around[node]
            around[other] -= {other, node}
        for others in awaited.values():
            others.discard(node)
    return order, later


@kernel
def get(view, e):
    """Scalar e of the table."""
    return view[e >> SHIFT, e & MASK]


@kernel
def put(view, e, x):
    """Scalar e of the table becomes x."""
    view[e >> SHIFT, e & MASK] = x


@routine
def factorise(plan, at, view):
    """Replace the matrix by its factors: L below the diagonals, inverse pivots on them; the plan begins at `at`."""
    limits = plan[at + COUNT, 0]
    for q in range(plan[at + NODES, 0]):
        p = at + plan[at + HEAD + q, 0]
        size, block, count = plan[p, 0], plan[p + BLOCK, 0], plan[p + NEIGHBOURS, 0]
        factorise_node(view, size, block, plan[p + UNKNOWNS, 0] + limits)
        for n in range(count):
            beside = p + RECORD + NEIGHBOUR_RECORD * n
            eliminate_rows(view, size, block, plan[beside, 0], plan[beside + COMMON, 0])
        target = p + RECORD + NEIGHBOUR_RECORD * count
        for n in range(count):
            rows = p + RECORD + NEIGHBOUR_RECORD * n
            for k in range(n + 1):
                columns = p + RECORD + NEIGHBOUR_RECORD * k
                update(view, size, block, plan, rows, columns, plan[target, 0])
                target += 1


@kernel
def factorise_node(view, size, block, limits):
    """A diagonal block becomes L and, on the diagonal, D⁻¹."""
    for j in range(size):
        row = block + j * size
        pivot = get(view, row + j)
        for m in range(j):
            x = get(view, row + m)
            pivot -= x * x * get(view, block + m * size + m)
        regular = absolute(pivot) > get(view, limits + j)
        inverse = select(regular, 1.0 / pivot, 0.0 * pivot)
        for i in range(j + 1, size):
            below = block + i * size
            x = get(view, below + j)
            for m in range(j):
                x -= get(view, below + m) * get(view, row + m) * get(view, block + m * size + m)
            put(view, below + j, x * inverse)
        put(view, row + j, pivot)
    for j in range(size):
        pivot = get(view, block + j * size + j)
        regular = absolute(pivot) > get(view, limits + j)
        put(view, block + j * size + j, select(regular, 1.0 / pivot, 0.0 * pivot))


@kernel
def eliminate_rows(view, size, block, rows, common):
    """The block A of a later neighbour becomes Y with A = Y Lᵀ."""
    for i in range(rows):
        row = common + i * size
        for j in range(1, size):
            x = get(view, row + j)
            for m in range(j):
                x -= get(view, row + m) * get(view, block + j * size + m)
            put(view, row + j, x)


@kernel
def update(view, size, block, plan, rows, columns, target):
    """Subtract Y_l D⁻¹ Y_kᵀ from the block of two neighbours; of a diagonal block, from its lower triangle."""
    n_rows, n_columns = plan[rows, 0], plan[columns, 0]
    first, second = plan[rows + COMMON, 0], plan[columns + COMMON, 0]
    for i in range(n_rows):
        for j in range(i + 1 if rows == columns else n_columns):
            x = get(view, target + i * n_columns + j)
            for m in range(size):
                x -= (
                    get(view, first + i * size + m) * get(view, second + j * size + m) * get(view, block + m * size + m)
                )
            put(view, target + i * n_columns + j, x)


@routine
def solve(plan, at, view):
    """The unknowns, where right-hand sides stand, become the solution; after `factorise`."""
    nodes = plan[at + NODES, 0]
    for q in range(nodes):
        p = at + plan[at + HEAD + q, 0]
        size, block, b = plan[p, 0], plan[p + BLOCK, 0], plan[p + UNKNOWNS, 0]
        for i in range(1, size):
            x = get(view, b + i)
            for m in range(i):
                x -= get(view, block + i * size + m) * get(view, b + m)
            put(view, b + i, x)
        for n in range(plan[p + NEIGHBOURS, 0]):
            beside = p + RECORD + NEIGHBOUR_RECORD * n
            common, there = plan[beside + COMMON, 0], plan[beside + NEIGHBOUR_UNKNOWNS, 0]
            for i in range(plan[beside, 0]):
                x = get(view, there + i)
                for m in range(size):
                    x -= get(view, common + i * size + m) * get(view, block + m * size + m) * get(view, b + m)
                put(view, there + i, x)
    for q in range(nodes - 1, -1, -1):
        p = at + plan[at + HEAD + q, 0]
        size, block, b = plan[p, 0], plan[p + BLOCK, 0], plan[p + UNKNOWNS, 0]
        for n in range(plan[p + NEIGHBOURS, 0]):
            beside = p + RECORD + NEIGHBOUR_RECORD * n
            common, there = plan[beside + COMMON, 0], plan[beside + NEIGHBOUR_UNKNOWNS, 0]
            for m in range(size):
                x = get(view, b + m)
                for i in range(plan[beside, 0]):
                    x -= get(view, common + i * size + m) * get(view, there + i)
                put(view, b + m, x)
        for i in range(size - 1, -1, -1):
            x = get(view, b + i) * get(view, block + i * size + i)
            for m in range(i + 1, size):
                x -= get(view, block + m * size + i) * get(view, b + m)
            put(view, b + i, x)
