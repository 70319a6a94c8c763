"""Dense elimination whose innermost loop runs along rows, WIDTH numbers at a time: LU with row exchanges.

A matrix is given twice, as a view and as the same memory widened (scalars/borrowed.py): `a[i, k]` for what is looked
at, `wide[i, c]` for what is added. With Duals, which carry WIDTH derivatives each, both are the same. Pivots are chosen
by value: for float64 and Dual only.
"""

import math

from poinsot._jit import kernel, routine
from poinsot.scalars import absolute, value_of

# Among rows that may be a pivot the first ones are preferred up to this factor, because they have many zeros.
PREFERRED = 0.1
# Rows are of size one: a pivot below this is rounding, and its unknown is zero.
NONE = 1e-14


@kernel
def entries(view, wide, columns):
    """How many entries of the wide view hold so many columns, and how many columns each of them has."""
    lanes = view.shape[1] // wide.shape[1]
    return (columns + lanes - 1) // lanes, lanes


@routine
def factorise(a, wide, l, n, sparse, pivots):
    """Replace a by U and l by the multipliers of L, with the inverse pivots on its diagonal; the least |pivot|.

    Rows are exchanged as pivots[0, j] says. Of the first `sparse` rows one is taken for a pivot unless the others have
    one that is much larger. Below the diagonal of U stands what is left of the elimination.
    """
    most, _ = entries(a, wide, n)
    least = math.inf
    for j in range(n):
        chosen, size = find_pivot(a, n, j, sparse)
        pivots[0, j] = chosen
        least = size if size < least or size != size else least
        if chosen != j:
            for c in range(most):
                x = wide[j, c]
                wide[j, c] = wide[chosen, c]
                wide[chosen, c] = x
            for m in range(j):
                l[j, m], l[chosen, m] = l[chosen, m], l[j, m]
        eliminate_column(a, wide, l, n, j)
    return least


@routine
def factorise_in_order(a, wide, l, n):
    """The same for rows that stand where the pivots of a similar matrix have put them (`put_places`).

    For two dozen rows, to look for pivots takes as long as all the rest.
    """
    least = math.inf
    for j in range(n):
        size = absolute(value_of(a[j, j]))
        least = size if size < least or size != size else least
        eliminate_column(a, wide, l, n, j)
    return least


@kernel
def eliminate_column(a, wide, l, n, j):
    """Subtract multiples of row j from those below it."""
    most, lanes = entries(a, wide, n)
    inverse = 1.0 / a[j, j] if absolute(value_of(a[j, j])) > NONE else 0.0 * a[j, j]
    l[j, j] = inverse
    for i in range(j + 1, n):
        factor = a[i, j] * inverse
        l[i, j] = factor
        if lanes == 1 or factor != 0.0:
            for c in range(j // lanes, most):
                wide[i, c] = wide[i, c] - wide[j, c] * factor


@kernel
def put_places(pivots, n, places):
    """Where the exchanges of rows put row i: places[0, i]."""
    for i in range(n):
        places[0, i] = i
    for j in range(n - 1, -1, -1):
        i = int(value_of(pivots[0, j]))
        if i != j:
            places[0, j], places[0, i] = places[0, i], places[0, j]


@kernel
def find_pivot(a, n, j, sparse):
    """The row of the pivot of column j, and its size."""
    chosen, size, other, largest = j, -1.0, j, -1.0
    for i in range(j, n):
        here = absolute(value_of(a[i, j]))
        if i < sparse:
            if here > size or here != here:
                chosen, size = i, here
        elif here > largest or here != here:
            other, largest = i, here
    if size < PREFERRED * largest or largest != largest:
        chosen, size = other, largest
    return chosen, size


@routine
def solve(a, l, n, pivots, x, wide, columns):
    """Replace the first columns of x, a right-hand side each, by the solutions with the factors of `factorise`."""
    most, _ = entries(x, wide, columns)
    for c in range(most):
        for j in range(n):
            i = int(value_of(pivots[0, j]))
            if i != j:
                y = wide[j, c]
                wide[j, c] = wide[i, c]
                wide[i, c] = y
        for j in range(n):
            y = wide[j, c]
            for i in range(j + 1, n):
                wide[i, c] = wide[i, c] - y * l[i, j]
        for j in range(n - 1, -1, -1):
            y = wide[j, c] * l[j, j]
            wide[j, c] = y
            for i in range(j):
                wide[i, c] = wide[i, c] - y * a[i, j]
