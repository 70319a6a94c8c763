"""Small dense solves against NumPy; the same for lanes and derivatives; rank by tolerance."""

import numpy as np
import pytest
from algebra.groups import bounded
from hypothesis import given
from hypothesis import strategies as st

from poinsot._jit import WIDTH, kernel
from poinsot.algebra import dense
from poinsot.scalars import Duals, Packs

SIZES = st.integers(1, 9)
SEEDS = st.integers(0, 10**6)


@kernel
def by_cholesky(a, n, b):
    b[n, 0] = dense.cholesky(a, n)
    dense.cholesky_solve(a, n, b, 0)


@kernel
def by_ldl(a, n, b):
    b[n, 0] = dense.ldl(a, n)
    dense.ldl_solve(a, n, b, 0)


@kernel
def by_lu(a, n, pivots, b):
    b[n, 0] = dense.lu(a, n, pivots)
    dense.lu_solve(a, n, pivots, b, 0)


def definite(random, n):
    A = random.normal(size=(n, n))
    return A @ A.T + np.eye(n)


def residual(A, x, b):
    return np.max(np.abs(A @ x - b)) / (np.max(np.abs(A)) * np.max(np.abs(x)) + np.max(np.abs(b)))


@bounded
@given(n=SIZES, seed=SEEDS)
def test_cholesky_and_ldl(n, seed):
    random = np.random.default_rng(seed)
    A, b = definite(random, n), random.normal(size=(n, 2))
    for factor, solve in ((dense.cholesky, dense.cholesky_solve), (dense.ldl, dense.ldl_solve)):
        a, x = np.tril(A) + np.triu(np.full((n, n), np.nan), 1), b.copy()  # the upper triangle is not read
        assert factor(a, n) > 0.0
        solve(a, n, x, 1)
        assert residual(A, x[:, 1], b[:, 1]) < 1e-14
        assert x[:, 0].tolist() == b[:, 0].tolist()


@bounded
@given(n=SIZES, m=SIZES, seed=SEEDS)
def test_ldl_of_a_saddle_point(n, m, seed):
    random = np.random.default_rng(seed)
    J = random.normal(size=(m, n))
    A = np.block([[definite(random, n), J.T], [J, -np.eye(m)]])
    b = random.normal(size=(n + m, 1))
    a, x = A.copy(), b.copy()
    assert dense.ldl(a, n + m) > 0.0
    dense.ldl_solve(a, n + m, x, 0)
    assert residual(A, x, b) < 1e-13


@pytest.mark.parametrize("entry", [0.0, -1.0, np.nan])
def test_cholesky_says_when_a_matrix_is_not_definite(entry):
    A = np.diag([2.0, entry, 3.0])
    assert not dense.cholesky(A.copy(), 3) > 0.0
    assert (not dense.ldl(A.copy(), 3) > 0.0) == (entry != -1.0)


@bounded
@given(n=SIZES, seed=SEEDS)
def test_lu(n, seed):
    random = np.random.default_rng(seed)
    A, b, pivots = random.normal(size=(n, n)), random.normal(size=(n, 1)), np.zeros(n, dtype=np.int64)
    A[0, 0] = 0.0 if n > 1 else 1.0
    a, x = A.copy(), b.copy()
    assert dense.lu(a, n, pivots) > 0.0
    dense.lu_solve(a, n, pivots, x, 0)
    assert residual(A, x, b) < 1e-13


def test_lu_says_when_a_matrix_is_singular():
    pivots = np.zeros(3, dtype=np.int64)
    assert dense.lu(np.zeros((3, 3)), 3, pivots) == 0.0
    assert dense.lu(np.arange(9.0).reshape(3, 3), 3, pivots) < 1e-15
    assert np.isnan(dense.lu(np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 0.0], [np.nan, 0.0, 1.0]]), 3, pivots))


def factorise(A, tolerance=1e-10):
    a, (m, n) = A.copy(), A.shape
    factors, order = np.zeros((min(m, n), 1)), np.zeros(n, dtype=np.int64)
    return a, factors, order, dense.qr(a, m, n, factors, order, tolerance)


@bounded
@given(m=SIZES, n=SIZES, seed=SEEDS)
def test_qr_reproduces_the_matrix(m, n, seed):
    A = np.random.default_rng(seed).normal(size=(m, n))
    a, factors, order, rank = factorise(A)
    assert rank == min(m, n)
    R = np.triu(a)
    back = R.copy()
    for k in range(n):
        dense.qr_times(a, m, rank, factors, back, k)
    np.testing.assert_allclose(back, A[:, order], atol=1e-13)
    for k in range(n):
        dense.qr_transposed_times(a, m, rank, factors, back, k)
    np.testing.assert_allclose(back, R, atol=1e-13)
    diagonal = np.abs(np.diag(R))
    assert np.all(diagonal[1:] <= diagonal[:-1] * (1 + 1e-12))


@bounded
@given(m=SIZES, n=SIZES, rank=st.integers(0, 9), seed=SEEDS)
def test_qr_finds_the_rank_and_solves_least_squares(m, n, rank, seed):
    random = np.random.default_rng(seed)
    rank = min(m, n, rank)
    left, right = (np.linalg.qr(random.normal(size=(size, size)))[0][:, :rank] for size in (m, n))
    A, b = left * random.uniform(1.0, 10.0, rank) @ right.T, random.normal(size=(m, 1))
    a, factors, order, found = factorise(A)
    assert found == rank
    x, rotated = np.zeros((n, 1)), b.copy()
    dense.qr_solve(a, m, rank, factors, order, rotated, 0, x)
    assert np.max(np.abs(A.T @ (A @ x - b)), initial=0.0) < 1e-12
    assert np.count_nonzero(x) <= rank
    assert np.linalg.norm(rotated[rank:]) == pytest.approx(np.linalg.norm(A @ x - b), abs=1e-12)


def test_rank_follows_the_tolerance_and_refuses_what_is_not_finite():
    A = np.diag([1.0, 1e-5, 1e-9])
    assert [factorise(A, tolerance)[3] for tolerance in (1e-3, 1e-7, 1e-11)] == [1, 2, 3]
    assert factorise(np.zeros((2, 3)))[3] == 0
    assert factorise(np.array([[1.0, 2.0], [np.nan, 1.0]]))[3] == -1
    assert factorise(np.array([[1.0, 2.0], [np.inf, 1.0]]))[3] == -1


@pytest.mark.parametrize("solve", [by_cholesky, by_ldl])
def test_lanes_agree_with_float64(solve):
    random, n = np.random.default_rng(5), 5
    a, x = Packs(n, n), Packs(n + 1, 1)
    for lane in range(WIDTH):
        a.data[:, :, lane], x.data[:n, 0, lane] = definite(random, n), random.normal(size=n)
    A, b = a.data.copy(), x.data[:n, 0].copy()
    solve(a, n, x)
    for lane in range(WIDTH):
        np.testing.assert_allclose(A[:, :, lane] @ x.data[:n, 0, lane], b[:, lane], atol=1e-12)
    assert np.all(x.data[n] > 0.0)


def test_derivatives_of_solutions():
    """d(A⁻¹ b) = A⁻¹ (db - dA x)."""
    random, n = np.random.default_rng(6), 4
    A, b = definite(random, n), random.normal(size=n)
    dA, db = random.normal(size=(n, n, WIDTH)), random.normal(size=(n, WIDTH))
    dA += dA.transpose(1, 0, 2)
    x = np.linalg.solve(A, b)
    dx = np.linalg.solve(A, db - np.einsum("ijl,j->il", dA, x))

    def given_views():
        a, y = Duals(n, n), Duals(n + 1, 1)
        a.data[:, :, 0], a.data[:, :, 1:] = A, dA
        y.data[:n, 0, 0], y.data[:n, 0, 1:] = b, db
        return a, y

    def assert_solved(y):
        np.testing.assert_allclose(y.data[:n, 0, 0], x, rtol=1e-12)
        np.testing.assert_allclose(y.data[:n, 0, 1:], dx, rtol=1e-11, atol=1e-11)

    for solve in (by_cholesky, by_ldl):
        a, y = given_views()
        solve(a, n, y)
        assert_solved(y)
    (a, y), order = given_views(), np.zeros(n, dtype=np.int64)
    by_lu(a, n, order, y)
    assert_solved(y)
    (a, y), z, factors = given_views(), Duals(n, 1), Duals(n, 1)
    assert dense.qr(a, n, n, factors, order, 1e-12) == n
    dense.qr_solve(a, n, n, factors, order, y, 0, z)
    assert_solved(z)
