"""What the decompositions whose loops run along rows make of matrices, for their tests.

Run as a program, it writes what they give for some fixed matrices to a file: so the tests see the plain mode.
"""

import sys

import numpy as np

from poinsot._jit import WIDTH, kernel
from poinsot.algebra import qtz, wide
from poinsot.scalars import Duals, borrow, lend, widen


def padded(A):
    """The matrix in rows of whole Packs, with a rest that must not count."""
    rows, columns = A.shape
    view = np.full((rows, (columns // WIDTH + 1) * WIDTH), 7.0)
    view[:, :columns] = A
    return view


def column(x, rows):
    """The numbers as a column of so many rows, of which the last do not count."""
    view = np.full((rows, 1), np.nan)
    view[: len(x), 0] = x
    return view


@kernel
def triangularise(a, n, m, order, spare, tolerance, most, free):
    a, spare, free = borrow(a), borrow(spare), borrow(free)
    rank = qtz.triangularise(a, widen(a), n, m, borrow(order), spare, widen(spare), tolerance, most)
    if rank >= 0:
        qtz.null_space(a, n, rank, spare, free, widen(free))
    return rank


@kernel
def eliminate(a, l, n, sparse, pivots, x, columns):
    a, l, x, pivots = borrow(a), borrow(l), borrow(x), borrow(pivots)
    least = wide.factorise(a, widen(a), l, n, sparse, pivots)
    wide.solve(a, l, n, pivots, x, widen(x), columns)
    return least


@kernel
def places_of(pivots, n, places):
    wide.put_places(borrow(pivots), n, borrow(places))


@kernel
def eliminate_in_order(a, l, n, pivots, x, columns):
    a, l, x = borrow(a), borrow(l), borrow(x)
    least = wide.factorise_in_order(a, widen(a), l, n)
    wide.solve(a, l, n, borrow(pivots), x, widen(x), columns)
    return least


class Decomposition:
    """The factors of Ψᵀ, given as an n x m matrix A: A P = Q [T 0; 0 0] Z."""

    def __init__(self, A, tolerance=1e-10, most=None):
        self.A, (self.n, self.m) = A, A.shape
        self.a, self.spare, order = padded(A), padded(np.full((2, self.m), np.nan)), np.full((self.m, 1), -1)
        free = padded(np.full((self.n, self.n), np.nan))
        most = min(A.shape) if most is None else most
        self.rank = triangularise(
            lend(self.a), self.n, self.m, lend(order), lend(self.spare), tolerance, most, lend(free)
        )
        self.order = order[:, 0]
        if self.rank >= 0:
            self.R = np.triu(self.a[: self.rank, : self.m])
            self.Q2 = free[:, : self.n - self.rank]
            qtz.compress(lend(self.a), self.rank, self.m, lend(self.spare))

    @property
    def T(self):
        return np.triu(self.a[: self.rank, : self.rank])

    @property
    def Q(self):
        return np.array([self.transposed_times(e) for e in np.eye(self.n)])

    @property
    def Z(self):
        return np.array([self.to_independent(e) for e in np.eye(self.m)]).reshape(self.m, self.m).T

    def transposed_times(self, x):
        y = column(x, self.n + 2)
        qtz.transposed_times(lend(self.a), self.n, self.rank, lend(self.spare), lend(y))
        return y[: self.n, 0]

    def solve_triangle(self, x):
        y = column(x, max(self.n, self.m))
        qtz.solve_triangle(lend(self.a), self.rank, lend(y))
        return y[: self.rank, 0]

    def from_independent(self, x):
        y = column(x, self.m + 2)
        qtz.from_independent(lend(self.a), self.rank, self.m, lend(self.spare), lend(y))
        return y[: self.m, 0]

    def to_independent(self, x):
        y = column(x, self.m + 2)
        qtz.to_independent(lend(self.a), self.rank, self.m, lend(self.spare), lend(y))
        return y[: self.m, 0]

    def multipliers(self, w):
        """The λ of the order of the model with Ψᵀ λ = w and λ'₂ = 0."""
        result = np.zeros(self.m)
        result[self.order] = self.from_independent(self.solve_triangle(self.transposed_times(w)))
        return result


class Elimination:
    """The solutions of A X = B, its factors, and what the rest of the memory has become."""

    def __init__(self, A, B, sparse=0):
        self.n, columns = B.shape
        self.u, self.x, self.pivots = padded(A), padded(B), np.full((1, self.n), -1.0)
        self.l = np.full((self.n, self.n), np.nan)
        self.least = eliminate(lend(self.u), lend(self.l), self.n, sparse, lend(self.pivots), lend(self.x), columns)
        self.X = self.x[:, :columns]

    @property
    def permuted(self):
        """The rows of A in the order of the pivots."""
        rows = list(range(self.n))
        for j, i in enumerate(self.pivots[0].astype(int)):
            rows[j], rows[i] = rows[i], rows[j]
        return rows


def with_derivatives(A, dA, B, dB):
    """The solution of A X = B and its derivatives along as many directions as the last axes have."""
    n, columns = B.shape
    a, l, x, pivots = Duals(n, n), Duals(n, n), Duals(n, columns), np.zeros((1, n))
    a.data[:, :, 0], a.data[:, :, 1:], x.data[:, :, 0], x.data[:, :, 1:] = A, dA, B, dB
    least = eliminate(lend(a), lend(l), n, 0, lend(pivots), lend(x), columns)
    return x.data[:, :, 0], x.data[:, :, 1:], least


def dual_system(n=5, columns=3):
    """A, dA, B and dB."""
    random = np.random.default_rng(3)
    return [random.normal(size=shape) for shape in ((n, n), (n, n, WIDTH), (n, columns), (n, columns, WIDTH))]


def results():
    """What fixed matrices give, by name."""
    random, found = np.random.default_rng(11), {}
    for n, m, rank in ((6, 4, 4), (5, 9, 3), (7, 7, 5)):
        A = random.normal(size=(n, rank)) @ random.normal(size=(rank, m))
        factors = Decomposition(A, 1e-8)
        name = f"{n} x {m}"
        found[f"rank and order of {name}"] = np.array([factors.rank, *factors.order])
        found[f"factors of {name}"] = factors.a
        found[f"free of {name}"] = factors.Q2
        found[f"multipliers of {name}"] = factors.multipliers(random.normal(size=n))
    for n, columns in ((7, 1), (9, 2 * WIDTH - 3)):
        found[f"solution of {n} x {n}"] = Elimination(*(random.normal(size=(n, k)) for k in (n, columns)), 3).X
    found["solution with derivatives"], found["derivatives"], _ = with_derivatives(*dual_system())
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **results())
