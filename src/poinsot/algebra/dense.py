"""Small dense systems, in place on views a[i, k]: Cholesky, L D Lᵀ, LU with row pivoting, QR with column pivoting.

A right-hand side is column k of a view b, replaced by the solution. Cholesky and L D Lᵀ have no branches and serve
float64, Pack and Dual; where a pivot has to be chosen (LU, QR) the choice is by value, for float64 and Dual only: the
lanes of a Pack would each want another one. Factorisations return a measure of regularity instead of failing;
a NaN in the matrix reaches it.
"""

import math

from poinsot._jit import kernel
from poinsot.scalars import absolute, select, sqrt, value_of


@kernel
def _solve_unit_lower(a, n, b, k):
    for i in range(1, n):
        x = b[i, k]
        for j in range(i):
            x -= a[i, j] * b[j, k]
        b[i, k] = x


@kernel
def _solve_upper(a, n, b, k):
    for i in range(n - 1, -1, -1):
        x = b[i, k]
        for j in range(i + 1, n):
            x -= a[i, j] * b[j, k]
        b[i, k] = x / a[i, i]


@kernel
def cholesky(a, n):
    """Replace the lower triangle of the symmetric a (n >= 1) by L, a = L Lᵀ; return the smallest pivot L_ii².

    It is positive if and only if a is positive definite; otherwise L holds no meaning. The upper triangle is not read.
    """
    smallest = a[0, 0]
    for j in range(n):
        pivot = a[j, j]
        for m in range(j):
            pivot -= a[j, m] * a[j, m]
        smallest = select(smallest <= pivot, smallest, pivot)
        root = sqrt(select(pivot <= 0.0, 1.0, pivot))
        a[j, j] = root
        r = 1.0 / root
        for i in range(j + 1, n):
            x = a[i, j]
            for m in range(j):
                x -= a[i, m] * a[j, m]
            a[i, j] = x * r
    return smallest


@kernel
def cholesky_solve(a, n, b, k):
    """Solve L Lᵀ x = b with the L of `cholesky`."""
    for i in range(n):
        x = b[i, k]
        for j in range(i):
            x -= a[i, j] * b[j, k]
        b[i, k] = x / a[i, i]
    for i in range(n - 1, -1, -1):
        x = b[i, k]
        for j in range(i + 1, n):
            x -= a[j, i] * b[j, k]
        b[i, k] = x / a[i, i]


@kernel
def ldl(a, n):
    """Replace the lower triangle of the symmetric a (n >= 1) by D and the unit L, a = L D Lᵀ; return the least |D_ii|.

    Without pivoting: for definite matrices, and quasi-definite ones such as [[M, Jᵀ], [J, -εI]] in this order.
    """
    smallest = absolute(a[0, 0])
    for j in range(n):
        pivot = a[j, j]
        for m in range(j):
            pivot -= a[j, m] * a[j, m] * a[m, m]
        size = absolute(pivot)
        smallest = select(smallest <= size, smallest, size)
        a[j, j] = pivot
        r = 1.0 / select(size == 0.0, 1.0, pivot)
        for i in range(j + 1, n):
            x = a[i, j]
            for m in range(j):
                x -= a[i, m] * a[j, m] * a[m, m]
            a[i, j] = x * r
    return smallest


@kernel
def ldl_solve(a, n, b, k):
    """Solve L D Lᵀ x = b with the factors of `ldl`."""
    _solve_unit_lower(a, n, b, k)
    for i in range(n):
        b[i, k] = b[i, k] / a[i, i]
    for i in range(n - 1, -1, -1):
        x = b[i, k]
        for j in range(i + 1, n):
            x -= a[j, i] * b[j, k]
        b[i, k] = x


@kernel
def lu(a, n, pivots):
    """Replace a by L and U, with rows exchanged as pivots[j] says; return the least |pivot| over the largest.

    It is 0 where a is singular, and about 1e-16 where rounding hides that it is. Not for Pack.
    """
    smallest, largest = 0.0, 0.0
    for j in range(n):
        chosen, size = j, absolute(value_of(a[j, j]))
        for i in range(j + 1, n):
            candidate = absolute(value_of(a[i, j]))
            if candidate > size:
                chosen, size = i, candidate
        pivots[j] = chosen
        smallest = smallest if j > 0 and smallest <= size else size
        largest = max(largest, size)
        if chosen != j:
            for m in range(n):
                a[j, m], a[chosen, m] = a[chosen, m], a[j, m]
        if size != 0.0:
            r = 1.0 / a[j, j]
            for i in range(j + 1, n):
                x = a[i, j] * r
                a[i, j] = x
                for m in range(j + 1, n):
                    a[i, m] -= x * a[j, m]
    return smallest if smallest == 0.0 else smallest / largest


@kernel
def lu_solve(a, n, pivots, b, k):
    """Solve with the factors of `lu`; nowhere if it returned 0."""
    for j in range(n):
        i = pivots[j]
        if i != j:
            b[i, k], b[j, k] = b[j, k], b[i, k]
    _solve_unit_lower(a, n, b, k)
    _solve_upper(a, n, b, k)


@kernel
def _reflect(a, m, j, factor, b, k):
    """Apply the reflection 1 - factor v vᵀ to column k of b; v is (1, column j of a below row j)."""
    x = b[j, k]
    for i in range(j + 1, m):
        x += a[i, j] * b[i, k]
    x = x * factor
    b[j, k] -= x
    for i in range(j + 1, m):
        b[i, k] -= a[i, j] * x


@kernel
def _largest_column(a, m, n, j):
    """The column from j on whose part from row j on is longest, and that length squared; by value."""
    chosen, largest = j, -1.0
    for k in range(j, n):
        size = 0.0
        for i in range(j, m):
            x = value_of(a[i, k])
            size += x * x
        if size > largest or size != size:
            chosen, largest = k, size
    return chosen, largest


@kernel
def qr(a, m, n, factors, order, tolerance):
    """Factorise a P = Q R for an m x n view by reflections, the longest remaining column first; return the rank.

    R takes the upper triangle; the reflections are below it and in factors[j, 0] (min(m, n) rows); column j of R is
    column order[j] of a. The rank is the number of |R_jj| > tolerance |R_00|, so scale rows and columns to comparable
    units before. Elimination stops there: what is left of the remaining rows is below the tolerance. The rank is -1
    where an entry is not finite. Not for Pack.
    """
    for k in range(n):
        order[k] = k
    limit = 0.0
    for j in range(min(m, n)):
        # lengths are computed anew, not updated: with n of a few dozen the safety of the rank decision is worth it
        chosen, squared = _largest_column(a, m, n, j)
        if j == 0:
            limit = tolerance * tolerance * squared
            if not squared < math.inf:
                return -1
        if not squared > limit:
            return j
        if chosen != j:
            order[j], order[chosen] = order[chosen], order[j]
            for i in range(m):
                a[i, j], a[i, chosen] = a[i, chosen], a[i, j]
        below = 0.0 * a[j, j]
        for i in range(j + 1, m):
            below += a[i, j] * a[i, j]
        top = a[j, j]
        length = sqrt(top * top + below)
        diagonal = select(top > 0.0, -length, length)
        r = 1.0 / (top - diagonal)
        factors[j, 0] = (diagonal - top) / diagonal
        a[j, j] = diagonal
        for i in range(j + 1, m):
            a[i, j] = a[i, j] * r
        for k in range(j + 1, n):
            _reflect(a, m, j, factors[j, 0], a, k)
    return min(m, n)


@kernel
def qr_transposed_times(a, m, rank, factors, b, k):
    """Replace column k of b by Qᵀ b."""
    for j in range(rank):
        _reflect(a, m, j, factors[j, 0], b, k)


@kernel
def qr_times(a, m, rank, factors, b, k):
    """Replace column k of b by Q b."""
    for j in range(rank - 1, -1, -1):
        _reflect(a, m, j, factors[j, 0], b, k)


@kernel
def qr_solve(a, m, rank, factors, order, b, k, x):
    """Least squares: column k of x becomes a solution of min |a x - b| with zeros beyond the rank; b becomes Qᵀ b.

    The length of b from row `rank` on is the length of the residual.
    """
    qr_transposed_times(a, m, rank, factors, b, k)
    for i in range(rank, order.shape[0]):
        x[order[i], k] = 0.0
    for i in range(rank - 1, -1, -1):
        y = b[i, k]
        for j in range(i + 1, rank):
            y -= a[i, j] * x[order[j], k]
        x[order[i], k] = y / a[i, i]
