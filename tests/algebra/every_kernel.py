"""Kernels that call every group kernel on one column of numbers, so that the scalar types can be compared.

Run as a program, it writes what they give for all three scalars to a file: so the tests see the plain mode.
"""

import sys

import numpy as np

from poinsot._jit import WIDTH, kernel
from poinsot.algebra import matrix, quaternion, se3, so3, vector
from poinsot.algebra.memory import column3, put_column3, put_column4, put_column9
from poinsot.scalars import Duals, Packs, floats

ROTATION_ROWS, POSE_ROWS = 70, 42


@kernel
def rotations(x, y):
    u, w = column3(x, 0, 0), column3(x, 3, 0)
    R, q = so3.exp(u), quaternion.exp(u)
    put_column9(y, 0, 0, R)
    put_column3(y, 9, 0, so3.log(R))
    put_column3(y, 12, 0, so3.dexp(u, w))
    put_column3(y, 15, 0, so3.dexp_inv(u, w))
    put_column3(y, 18, 0, so3.dexp_inv_truncated(u, w, 5))
    put_column9(y, 21, 0, so3.cayley(u))
    put_column3(y, 30, 0, so3.cayley_inv(so3.cayley(u)))
    put_column3(y, 33, 0, so3.dcay(u, w))
    put_column3(y, 36, 0, so3.dcay_inv(u, w))
    put_column4(y, 39, 0, q)
    put_column3(y, 43, 0, quaternion.log(q))
    put_column9(y, 46, 0, quaternion.to_matrix(q))
    put_column4(y, 55, 0, quaternion.from_matrix(R))
    put_column4(y, 59, 0, quaternion.derivative(q, w))
    put_column3(y, 63, 0, quaternion.rotate(q, w))
    put_column4(y, 66, 0, quaternion.normalise((1.0, u[0], u[1], u[2])))


@kernel
def poses(x, y):
    u, v, a, b = column3(x, 0, 0), column3(x, 6, 0), column3(x, 3, 0), column3(x, 9, 0)
    X = se3.exp((u, v))
    put_column9(y, 0, 0, X[0])
    put_column3(y, 9, 0, X[1])
    there = se3.log(X)
    put_column3(y, 12, 0, there[0])
    put_column3(y, 15, 0, there[1])
    W = se3.dexp((u, v), (a, b))
    put_column3(y, 18, 0, W[0])
    put_column3(y, 21, 0, W[1])
    W = se3.dexp_inv((u, v), (a, b))
    put_column3(y, 24, 0, W[0])
    put_column3(y, 27, 0, W[1])
    W = se3.adjoint(X, (a, b))
    put_column3(y, 30, 0, W[0])
    put_column3(y, 33, 0, W[1])
    put_column3(y, 36, 0, se3.act(X, a))
    S = matrix.symmetric_add(matrix.point_inertia(2.0, a), matrix.symmetric_outer(vector.add(b, u)))
    S = matrix.symmetric_add(S, matrix.SYMMETRIC_IDENTITY)
    put_column3(y, 39, 0, matrix.symmetric_times(matrix.symmetric_inverse(matrix.rotate_symmetric(X[0], S)), v))


def inputs(angle):
    """Twelve numbers per lane, the first three a rotation vector of this angle, and as many directions."""
    random = np.random.default_rng(7)
    values, directions = random.normal(size=(2, 12, WIDTH))
    values[:3] *= angle / np.linalg.norm(values[:3], axis=0)
    return values, directions


def views(rows):
    """One column of each kind of view."""
    return floats(rows, 1), Packs(rows, 1), Duals(rows, 1)


def results(values, directions):
    """The columns that the kernels make of the first lane, of all lanes, and of the first lane with its derivatives."""
    x, found = views(len(values)), {}
    x[0][:, 0], x[1].data[:, 0] = values[:, 0], values
    x[2].data[:, 0, 0], x[2].data[:, 0, 1:] = values[:, 0], directions
    for function, rows in ((rotations, ROTATION_ROWS), (poses, POSE_ROWS)):
        y = views(rows)
        for given, wanted in zip(x, y, strict=True):
            function(given, wanted)
        found[function.__name__] = y[0][:, 0], y[1].data[:, 0], y[2].data[:, 0]
    return found


if __name__ == "__main__":
    plain = results(*inputs(float(sys.argv[1])))
    np.savez(sys.argv[2], **{f"{name} {k}": y for name, columns in plain.items() for k, y in enumerate(columns)})
