"""Vectors and matrices against NumPy, and the exact symmetry of symmetric storage."""

import numpy as np
import pytest

from poinsot.algebra import matrix, memory, so3, vector

random = np.random.default_rng(3)
A9, B9 = (tuple(random.normal(size=9)) for _ in range(2))
S6, T6 = (tuple(random.normal(size=6)) for _ in range(2))
a, b, c = (tuple(random.normal(size=3)) for _ in range(3))
A, B = (np.reshape(x, (3, 3)) for x in (A9, B9))
R = np.linalg.qr(A)[0]
R9 = tuple(R.ravel())


def symmetric(S):
    xx, yy, zz, xy, xz, yz = S
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


S, T = symmetric(S6), symmetric(T6)
FLAT = np.diag((1.0, 1.0, 0.0))

FULL = [
    (matrix.product(A9, B9), A @ B),
    (matrix.transpose(A9), A.T),
    (matrix.transposed_product(A9, B9), A.T @ B),
    (matrix.product_transposed(A9, B9), A @ B.T),
    (matrix.full_add(A9, B9), A + B),
    (matrix.full_sub(A9, B9), A - B),
    (matrix.full_scale(2.5, A9), 2.5 * A),
    (matrix.skew(a), hat(a)),
    (matrix.outer(a, b), np.outer(a, b)),
    (matrix.times_skew(A9, a), A @ hat(a)),
    (matrix.skew_times(a, A9), hat(a) @ A),
    (matrix.inverse(A9), np.linalg.inv(A)),
    (matrix.full(S6), S),
    (matrix.symmetric_product(S6, A9), S @ A),
    (matrix.symmetric_times_skew(S6, a), S @ hat(a)),
    (matrix.rotate_full(R9, A9), R @ A @ R.T),
    (matrix.rotate_two_rows(R9, tuple(A[0]), tuple(A[1])), R @ FLAT @ A @ R.T),
]
SYMMETRIC = [
    (matrix.symmetric_part(A9), (A + A.T) / 2),
    (matrix.twice_symmetric_part(A9), A + A.T),
    (matrix.symmetric_add(S6, T6), S + T),
    (matrix.symmetric_sub(S6, T6), S - T),
    (matrix.symmetric_scale(2.5, S6), 2.5 * S),
    (matrix.symmetric_inverse(S6), np.linalg.inv(S)),
    (matrix.symmetric_outer(a), np.outer(a, a)),
    (matrix.transposed_product_symmetric(A9, matrix.symmetric_product(S6, A9)), A.T @ S @ A),
    (matrix.skew_times_symmetric(a, matrix.symmetric_times_skew(S6, a)), hat(a) @ S @ hat(a)),
    (matrix.point_inertia(2.5, a), -2.5 * hat(a) @ hat(a)),
    (matrix.rotate_symmetric(R9, S6), R @ S @ R.T),
    (matrix.rotate_planar(R9, S[0, 0], S[1, 1], S[0, 1]), R @ (FLAT @ S @ FLAT) @ R.T),
]
VECTORS = [
    (matrix.times(A9, a), A @ a),
    (matrix.transposed_times(A9, a), A.T @ a),
    (matrix.symmetric_times(S6, a), S @ a),
    (vector.add(a, b), np.add(a, b)),
    (vector.sub(a, b), np.subtract(a, b)),
    (vector.negate(a), np.negative(a)),
    (vector.scale(2.5, a), 2.5 * np.array(a)),
    (vector.add_scaled(a, 2.5, b), a + 2.5 * np.array(b)),
    (vector.cross(a, b), np.cross(a, b)),
    ((vector.dot(a, b), vector.squared_norm(a), vector.norm(a)), (np.dot(a, b), np.dot(a, a), np.linalg.norm(a))),
    ((matrix.determinant(A9),) * 3, (np.linalg.det(A),) * 3),
]


@pytest.mark.parametrize(("found", "expected"), FULL)
def test_full_matrices(found, expected):
    np.testing.assert_allclose(np.reshape(found, (3, 3)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("found", "expected"), SYMMETRIC)
def test_symmetric_matrices(found, expected):
    np.testing.assert_allclose(symmetric(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("found", "expected"), VECTORS)
def test_vectors(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_turns_about_an_axis_keep_the_zeros_of_a_planar_mechanism(axis):
    across = [(3, 4), (3, 5), (4, 5)][axis]  # the products of inertia with the axis
    turn = so3.exp(tuple(0.7 * np.eye(3)[axis]))
    S = tuple(0.0 if place in across else x for place, x in enumerate(S6))
    turned = matrix.rotate_symmetric(turn, S)
    assert [turned[place] for place in across] == [0.0, 0.0]
    assert turned[axis] == pytest.approx(S[axis], rel=1e-15, abs=4e-16)
    assert matrix.rotate_symmetric(turn, (2.5, 2.5, 2.5, 0.0, 0.0, 0.0)) == (2.5, 2.5, 2.5, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("count", [3, 4, 6, 9])
def test_rows_of_views(count):
    view, numbers = np.zeros((3, 12)), tuple(np.arange(1.0, count + 1))
    getattr(memory, f"put{count}")(view, 1, 2, numbers)
    assert view[1, 2 : 2 + count].tolist() == list(numbers)
    assert view.sum() == sum(numbers)
    assert getattr(memory, f"get{count}")(view, 1, 2) == numbers
    if count != 4:
        getattr(memory, f"add{count}")(view, 1, 2, numbers)
        assert view[1, 2 : 2 + count].tolist() == [2 * x for x in numbers]


@pytest.mark.parametrize("count", [3, 4, 9])
def test_columns_of_views(count):
    view, numbers = np.zeros((12, 3)), tuple(np.arange(1.0, count + 1))
    getattr(memory, f"put_column{count}")(view, 2, 1, numbers)
    assert view[2 : 2 + count, 1].tolist() == list(numbers)
    assert view.sum() == sum(numbers)
    assert getattr(memory, f"column{count}")(view, 2, 1) == numbers
