"""Between views and tuples: what a kernel reads from memory and writes back.

`get3(view, i, k)` reads along row i from column k on; `column3(view, i, k)` reads down column k from row i on, which
is how states are stored. The elements of a tuple may have different scalar types (a constant zero beside a Pack),
therefore everything is unrolled.
"""

from poinsot._jit import kernel


@kernel
def get3(view, i, k):
    """Three numbers of row i, from column k on."""
    return view[i, k], view[i, k + 1], view[i, k + 2]


@kernel
def get4(view, i, k):
    """Four numbers of row i, from column k on."""
    return view[i, k], view[i, k + 1], view[i, k + 2], view[i, k + 3]


@kernel
def get6(view, i, k):
    """Six numbers of row i, from column k on."""
    return view[i, k], view[i, k + 1], view[i, k + 2], view[i, k + 3], view[i, k + 4], view[i, k + 5]


@kernel
def get9(view, i, k):
    """Nine numbers of row i, from column k on."""
    return (
        view[i, k], view[i, k + 1], view[i, k + 2],
        view[i, k + 3], view[i, k + 4], view[i, k + 5],
        view[i, k + 6], view[i, k + 7], view[i, k + 8],
    )  # fmt: skip


@kernel
def put3(view, i, k, x):
    """Write three numbers into row i, from column k on."""
    view[i, k] = x[0]
    view[i, k + 1] = x[1]
    view[i, k + 2] = x[2]


@kernel
def put4(view, i, k, x):
    """Write four numbers into row i, from column k on."""
    view[i, k] = x[0]
    view[i, k + 1] = x[1]
    view[i, k + 2] = x[2]
    view[i, k + 3] = x[3]


@kernel
def put6(view, i, k, x):
    """Write six numbers into row i, from column k on."""
    view[i, k] = x[0]
    view[i, k + 1] = x[1]
    view[i, k + 2] = x[2]
    view[i, k + 3] = x[3]
    view[i, k + 4] = x[4]
    view[i, k + 5] = x[5]


@kernel
def put9(view, i, k, x):
    """Write nine numbers into row i, from column k on."""
    view[i, k] = x[0]
    view[i, k + 1] = x[1]
    view[i, k + 2] = x[2]
    view[i, k + 3] = x[3]
    view[i, k + 4] = x[4]
    view[i, k + 5] = x[5]
    view[i, k + 6] = x[6]
    view[i, k + 7] = x[7]
    view[i, k + 8] = x[8]


@kernel
def add3(view, i, k, x):
    """Add three numbers to row i, from column k on."""
    view[i, k] += x[0]
    view[i, k + 1] += x[1]
    view[i, k + 2] += x[2]


@kernel
def add6(view, i, k, x):
    """Add six numbers to row i, from column k on."""
    view[i, k] += x[0]
    view[i, k + 1] += x[1]
    view[i, k + 2] += x[2]
    view[i, k + 3] += x[3]
    view[i, k + 4] += x[4]
    view[i, k + 5] += x[5]


@kernel
def add9(view, i, k, x):
    """Add nine numbers to row i, from column k on."""
    view[i, k] += x[0]
    view[i, k + 1] += x[1]
    view[i, k + 2] += x[2]
    view[i, k + 3] += x[3]
    view[i, k + 4] += x[4]
    view[i, k + 5] += x[5]
    view[i, k + 6] += x[6]
    view[i, k + 7] += x[7]
    view[i, k + 8] += x[8]


@kernel
def column3(view, i, k):
    """Three numbers of column k, from row i on."""
    return view[i, k], view[i + 1, k], view[i + 2, k]


@kernel
def column4(view, i, k):
    """Four numbers of column k, from row i on."""
    return view[i, k], view[i + 1, k], view[i + 2, k], view[i + 3, k]


@kernel
def column9(view, i, k):
    """Nine numbers of column k, from row i on."""
    return (
        view[i, k], view[i + 1, k], view[i + 2, k],
        view[i + 3, k], view[i + 4, k], view[i + 5, k],
        view[i + 6, k], view[i + 7, k], view[i + 8, k],
    )  # fmt: skip


@kernel
def put_column3(view, i, k, x):
    """Write three numbers into column k, from row i on."""
    view[i, k] = x[0]
    view[i + 1, k] = x[1]
    view[i + 2, k] = x[2]


@kernel
def put_column4(view, i, k, x):
    """Write four numbers into column k, from row i on."""
    view[i, k] = x[0]
    view[i + 1, k] = x[1]
    view[i + 2, k] = x[2]
    view[i + 3, k] = x[3]


@kernel
def put_column9(view, i, k, x):
    """Write nine numbers into column k, from row i on."""
    view[i, k] = x[0]
    view[i + 1, k] = x[1]
    view[i + 2, k] = x[2]
    view[i + 3, k] = x[3]
    view[i + 4, k] = x[4]
    view[i + 5, k] = x[5]
    view[i + 6, k] = x[6]
    view[i + 7, k] = x[7]
    view[i + 8, k] = x[8]
