"""Block elimination along a plan against dense solves, with fill-in, orders to be kept, lanes and derivatives."""

import numpy as np
import pytest

from poinsot.algebra import sparse
from poinsot.scalars import WIDTH, Duals, Packs

FIRST = 40  # an arbitrary place for the first scalar


class System:
    """Bodies and constraints as in mechanics: definite blocks, and blocks of zeros that are tied to them."""

    def __init__(self, seed, bodies=5, ties=6):
        self.random = np.random.default_rng(seed)
        ends = [(n, n + 1) for n in range(bodies - 1)]
        ends += [tuple(self.random.choice(bodies, 2, replace=False)) for _ in range(ties - len(ends))]
        self.sizes = [int(self.random.integers(3, 6)) for _ in range(bodies)]
        self.sizes += [2 if n < bodies - 1 else 1 for n in range(ties)]
        self.ends = {bodies + n: pair for n, pair in enumerate(ends)}
        neighbours = {n: set() for n in range(len(self.sizes))}
        for tie, pair in self.ends.items():
            neighbours[tie] = set(pair)
            for body in pair:
                neighbours[body].add(tie)
        # a chain: tie n hangs body n + 1 on body n; those that close loops come after all bodies
        after = {tie: {pair[1]} if tie < 2 * bodies - 1 else set(range(bodies)) for tie, pair in self.ends.items()}
        self.plan = sparse.plan_elimination(self.sizes, neighbours, after, FIRST)
        self.starts = np.cumsum([0, *self.sizes])
        self.bodies = bodies

    def matrix(self):
        n = self.starts[-1]
        A = np.zeros((n, n))
        for body in range(self.bodies):
            B = self.random.normal(size=(self.sizes[body],) * 2)
            A[self.rows(body), self.rows(body)] = B @ B.T + np.eye(self.sizes[body])
        for tie, pair in self.ends.items():
            for body in pair:
                B = self.random.normal(size=(self.sizes[tie], self.sizes[body]))
                A[self.rows(tie), self.rows(body)] = B
                A[self.rows(body), self.rows(tie)] = B.T
        return A

    def rows(self, node):
        return slice(self.starts[node], self.starts[node + 1])

    def filled(self, A, b):
        """The scalars of a matrix and a right-hand side."""
        flat = np.zeros(-(-self.plan.scalars // sparse.ROW) * sparse.ROW)
        for node in range(len(self.sizes)):
            start = self.plan.unknowns[node]
            flat[start : start + self.sizes[node]] = b[self.rows(node)]
            for other in range(len(self.sizes)):
                if node == other or (node, other) in self.plan.common or (other, node) in self.plan.common:
                    begin, by_row, by_column = self.plan.entry(node, other, self.sizes)
                    block = A[self.rows(node), self.rows(other)]
                    for (i, j), x in np.ndenumerate(block):
                        flat[begin + i * by_row + j * by_column] = x if node != other or i >= j else np.nan
        return flat.reshape(-1, sparse.ROW)

    def solution(self, flat):
        flat = flat.reshape(-1, *flat.shape[2:])
        parts = [flat[self.plan.unknowns[n] : self.plan.unknowns[n] + size] for n, size in enumerate(self.sizes)]
        return np.concatenate(parts)

    @property
    def table(self):
        """The plan behind three numbers that are not its own."""
        return np.array([7, 7, 7, *self.plan.table], np.int64)[:, None]


@pytest.mark.parametrize("seed", range(12))
def test_solutions_are_those_of_the_dense_system(seed):
    system = System(seed, bodies=2 + seed % 6, ties=3 + seed % 7)
    A = system.matrix()
    b = system.random.normal(size=len(A))
    view = system.filled(A, b)
    sparse.factorise(system.table, 3, view)
    sparse.solve(system.table, 3, view)
    x = system.solution(view)
    wanted = np.linalg.solve(A, b)
    np.testing.assert_allclose(x, wanted, rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(wanted).max())


def test_a_chain_needs_memory_in_proportion():
    short, long = (System(1, bodies=n, ties=n - 1) for n in (20, 40))
    assert long.plan.scalars - FIRST < 2.2 * (short.plan.scalars - FIRST)


def test_nodes_come_after_those_that_they_wait_for():
    system = System(3, bodies=6, ties=9)
    place = {begin: n for n, begin in enumerate(sorted(system.plan.unknowns.values()))}
    turn = {node: place[begin] for node, begin in system.plan.unknowns.items()}
    for tie, (_, body) in system.ends.items():
        assert turn[tie] > turn[body]


def test_a_pivot_below_its_limit_leaves_its_unknown_at_zero():
    plan = sparse.plan_elimination([2], {}, {}, 0)
    view = np.zeros((1, sparse.ROW))
    begin, by_row, _ = plan.entry(0, 0, [2])
    view[0, begin], view[0, begin + by_row], view[0, begin + by_row + 1] = 2.0, 2.0, 2.0 + 1e-13
    view[0, plan.unknowns[0] : plan.unknowns[0] + 4] = 4.0, 4.0, 1e-12, 1e-12
    table = np.array(plan.table, np.int64)[:, None]
    sparse.factorise(table, 0, view)
    sparse.solve(table, 0, view)
    assert view[0, :2].tolist() == [2.0, 0.0]


def test_lanes_and_derivatives():
    system = System(5)
    A, b = system.matrix(), system.random.normal(size=system.starts[-1])
    lanes, duals = Packs(-(-system.plan.scalars // sparse.ROW), sparse.ROW), Duals(-(-system.plan.scalars // 32), 32)
    dA = system.matrix()
    for lane in range(WIDTH):
        lanes.data[:, :, lane] = system.filled(A + lane * 0.1 * dA, b)
    duals.data[:, :, 0], duals.data[:, :, 1] = system.filled(A, b), system.filled(dA, 0.0 * b)
    for view in (lanes, duals):
        sparse.factorise(system.table, 3, view)
        sparse.solve(system.table, 3, view)
    for lane in range(WIDTH):
        wanted = np.linalg.solve(A + lane * 0.1 * dA, b)
        np.testing.assert_allclose(system.solution(lanes.data)[:, lane], wanted, rtol=0, atol=1e-9 * abs(wanted).max())
    x = np.linalg.solve(A, b)
    slope = -np.linalg.solve(A, dA @ x)
    np.testing.assert_allclose(system.solution(duals.data)[:, 1], slope, rtol=0, atol=1e-10 * np.abs(slope).max())
