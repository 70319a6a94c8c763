"""The QTZ decomposition of a constraint Jacobian Ψ, after paper 002, (3)-(20).

    Ψᵀ P = [Q1 Q2] [T 0; 0 0] Z.

A view holds Ψᵀ, one column per equation, and is replaced by the factors: QR with column pivoting by reflections, which
ends where nothing is left but rounding, and then reflections from the right, which make [R11 R12] a triangle T. Column
j of the result is column order[j, 0] of Ψᵀ. Scale rows and columns to comparable units before: a column counts as
dependent on those before where less than a tolerance of it is left. For float64 only; `wide` is the same memory
(algebra/wide.py).
"""

import math

from poinsot._jit import kernel, routine
from poinsot.algebra.wide import entries
from poinsot.scalars import sqrt


@routine
def triangularise(a, wide, n, m, order, spare, spare_wide, tolerance, most):
    """QR with column pivoting (3)-(6) of the n x m view; the rank, or -1 where an entry is not finite.

    R takes the upper triangle, the vectors of the reflections are below it, and their factors in row 0 of `spare`,
    which has two rows. The rank is `most` at the most.
    """
    last, lanes = entries(a, wide, m)
    for e in range(m):
        order[e, 0] = e
    for j in range(min(n, m, most)):
        for c in range(j // lanes, last):
            total = wide[j, c] * wide[j, c]
            for i in range(j + 1, n):
                total += wide[i, c] * wide[i, c]
            spare_wide[1, c] = total
        chosen, squared = j, -1.0
        for e in range(j, m):
            if spare[1, e] > squared or spare[1, e] != spare[1, e]:
                chosen, squared = e, spare[1, e]
        if not squared < math.inf:
            return -1
        if not squared > tolerance * tolerance:
            return j
        if chosen != j:
            order[j, 0], order[chosen, 0] = order[chosen, 0], order[j, 0]
            for i in range(n):
                a[i, j], a[i, chosen] = a[i, chosen], a[i, j]
        top, length = a[j, j], sqrt(squared)
        diagonal = -length if top > 0.0 else length
        scale, factor = 1.0 / (top - diagonal), (diagonal - top) / diagonal
        spare[0, j], a[j, j] = factor, diagonal
        for i in range(j + 1, n):
            a[i, j] *= scale
        for c in range(j // lanes, last):
            total = wide[j, c]
            for i in range(j + 1, n):
                total += wide[i, c] * a[i, j]
            spare_wide[1, c] = total * factor
        for e in range(j // lanes * lanes, j + 1):  # what stands here already stays
            spare[1, e] = 0.0
        for c in range(j // lanes, last):
            x = spare_wide[1, c]
            wide[j, c] = wide[j, c] - x
            for i in range(j + 1, n):
                wide[i, c] = wide[i, c] - x * a[i, j]
    return min(n, m, most)


@routine
def compress(a, rank, m, spare):
    """[R11 R12] = [T 0] Z (7): T takes the place of R11, the reflections of Z that of R12; their factors, row 1."""
    for j in range(rank - 1, -1, -1):
        squared = 0.0
        for e in range(rank, m):
            squared += a[j, e] * a[j, e]
        spare[1, j] = 0.0
        if squared > 0.0:
            top = a[j, j]
            length = sqrt(top * top + squared)
            diagonal = -length if top > 0.0 else length
            scale, factor = 1.0 / (top - diagonal), (diagonal - top) / diagonal
            spare[1, j], a[j, j] = factor, diagonal
            for e in range(rank, m):
                a[j, e] *= scale
            for i in range(j):
                x = a[i, j]
                for e in range(rank, m):
                    x += a[i, e] * a[j, e]
                x *= factor
                a[i, j] -= x
                for e in range(rank, m):
                    a[i, e] -= x * a[j, e]


@routine
def null_space(a, n, rank, spare, out, wide):
    """The n x (n - rank) matrix Q2, whose columns span what Ψ leaves free (13)."""
    last, _ = entries(out, wide, n - rank)
    for i in range(n):
        for k in range(n - rank):
            out[i, k] = 1.0 if i == rank + k else 0.0
    for j in range(rank - 1, -1, -1):
        for c in range(last):
            total = wide[j, c]
            for i in range(j + 1, n):
                total += wide[i, c] * a[i, j]
            total = total * spare[0, j]
            wide[j, c] = wide[j, c] - total
            for i in range(j + 1, n):
                wide[i, c] = wide[i, c] - total * a[i, j]


@kernel
def transposed_times(a, n, rank, spare, x):
    """Replace the first n numbers of the column x by Qᵀ x."""
    for j in range(rank):
        total = x[j, 0]
        for i in range(j + 1, n):
            total += a[i, j] * x[i, 0]
        total *= spare[0, j]
        x[j, 0] -= total
        for i in range(j + 1, n):
            x[i, 0] -= total * a[i, j]


@kernel
def solve_triangle(a, rank, x):
    """Replace the first numbers of the column x by T⁻¹ x."""
    for i in range(rank - 1, -1, -1):
        total = x[i, 0]
        for j in range(i + 1, rank):
            total -= a[i, j] * x[j, 0]
        x[i, 0] = total / a[i, i]


@kernel
def from_independent(a, rank, m, spare, x):
    """Replace the column x of m numbers, of which the first `rank` count, by Zᵀ [x; 0]."""
    for e in range(rank, m):
        x[e, 0] = 0.0
    for j in range(rank):
        total = x[j, 0]
        for e in range(rank, m):
            total += a[j, e] * x[e, 0]
        total *= spare[1, j]
        x[j, 0] -= total
        for e in range(rank, m):
            x[e, 0] -= total * a[j, e]


@kernel
def to_independent(a, rank, m, spare, x):
    """Replace the column x of m numbers by Z x, of which the first `rank` count (17)."""
    for j in range(rank - 1, -1, -1):
        total = x[j, 0]
        for e in range(rank, m):
            total += a[j, e] * x[e, 0]
        total *= spare[1, j]
        x[j, 0] -= total
        for e in range(rank, m):
            x[e, 0] -= total * a[j, e]
