"""The QTZ decomposition of paper 002: its factors, what they are for, and where they end."""

import numpy as np
import pytest
import scipy.linalg
from algebra.factors import Decomposition
from algebra.groups import bounded
from hypothesis import given
from hypothesis import strategies as st

from poinsot._jit import WIDTH

SIZES = st.integers(1, 2 * WIDTH + 3)
SEEDS = st.integers(0, 10**6)


def orthonormal(random, size, columns):
    return np.linalg.qr(random.normal(size=(size, size)))[0][:, :columns]


def matrix(random, n, m, rank):
    """An n x m matrix with so many singular values between 1 and 10."""
    left, right = orthonormal(random, n, rank), orthonormal(random, m, rank)
    return left * random.uniform(1.0, 10.0, rank) @ right.T


@st.composite
def matrices(draw):
    """Wide and high ones, of full rank and of less, down to none."""
    n, m = draw(SIZES), draw(SIZES)
    rank = draw(st.sampled_from([0, min(n, m)]) | st.integers(0, min(n, m)))
    return matrix(np.random.default_rng(draw(SEEDS)), n, m, rank), rank


def assert_is_qtz(factors, A, tolerance=1e-12):
    """(3)-(14) hold."""
    n, m, r = factors.n, factors.m, factors.rank
    Q, T, Z, middle = factors.Q, factors.T, factors.Z, np.zeros((n, m))
    middle[:r, :r] = T
    assert sorted(factors.order) == list(range(m))
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(Z @ Z.T, np.eye(m), atol=1e-13)
    np.testing.assert_allclose(Q @ middle @ Z, A[:, factors.order], atol=tolerance)  # (9)
    np.testing.assert_allclose(A.T @ factors.Q2, np.zeros((m, n - r)), atol=tolerance)  # (13)
    np.testing.assert_allclose(factors.Q2, Q[:, r:], atol=1e-13)
    np.testing.assert_allclose(Q[:, :r].T @ factors.Q2, np.zeros((r, n - r)), atol=1e-13)  # (14a)
    np.testing.assert_allclose(factors.Q2.T @ factors.Q2, np.eye(n - r), atol=1e-13)  # (14b)


@bounded
@given(matrices())
def test_the_factors_are_those_of_the_matrix(drawn):
    A, rank = drawn
    factors = Decomposition(A)
    assert factors.rank == rank
    assert_is_qtz(factors, A)
    singular_values = np.linalg.svd(factors.T, compute_uv=False)
    np.testing.assert_allclose(singular_values, np.linalg.svd(A, compute_uv=False)[:rank], rtol=1e-12)


@bounded
@given(matrices())
def test_equations_are_taken_in_the_order_of_lapack(drawn):
    A, rank = drawn
    factors = Decomposition(A)
    R, order = scipy.linalg.qr(A, mode="r", pivoting=True)
    np.testing.assert_allclose(np.abs(np.diag(factors.R)), np.abs(np.diag(R)[:rank]), rtol=1e-10)
    assert factors.order[:rank].tolist() == order[:rank].tolist()
    pivots = np.abs(np.diag(factors.R))
    assert np.all(pivots[1:] <= pivots[:-1] * (1.0 + 1e-12))  # as the paper's note on P says


@bounded
@given(matrices(), SEEDS)
def test_z_leads_to_the_independent_equations_and_back(drawn, seed):
    A, rank = drawn
    factors, x = Decomposition(A), np.random.default_rng(seed).normal(size=A.shape[1])
    Z = factors.Z
    np.testing.assert_allclose(factors.to_independent(x), Z @ x, atol=1e-12)
    np.testing.assert_allclose(factors.from_independent(x[:rank]), Z[:rank].T @ x[:rank], atol=1e-12)
    back = factors.to_independent(factors.from_independent(x[:rank]))
    np.testing.assert_allclose(back, [*x[:rank], *np.zeros(len(x) - rank)], atol=1e-13)
    reduced = A[:, factors.order] @ Z.T  # (15), (16)
    np.testing.assert_allclose(reduced[:, :rank], factors.Q[:, :rank] @ factors.T, atol=1e-12)
    np.testing.assert_allclose(reduced[:, rank:], 0.0, atol=1e-12)


@bounded
@given(st.integers(1, 2 * WIDTH), st.integers(0, WIDTH), SEEDS)
def test_without_redundant_equations_z_is_one(m, free, seed):
    A = np.random.default_rng(seed).normal(size=(m + free, m))
    assert Decomposition(A).Z.tolist() == np.eye(m).tolist()


@bounded
@given(matrices(), SEEDS)
def test_multipliers_are_the_least_that_there_are(drawn, seed):
    A, _ = drawn
    w = A @ np.random.default_rng(seed).normal(size=A.shape[1])
    found = Decomposition(A).multipliers(w)
    np.testing.assert_allclose(A @ found, w, atol=1e-11)
    np.testing.assert_allclose(found, np.linalg.lstsq(A, w, rcond=1e-10)[0], atol=1e-12)


@bounded
@given(matrices(), st.integers(0, WIDTH))
def test_the_rank_is_limited(drawn, most):
    A, rank = drawn
    factors = Decomposition(A, most=most)
    assert factors.rank == min(rank, most)
    chosen = A[:, factors.order[: factors.rank]]
    np.testing.assert_allclose(chosen.T @ factors.Q2, 0.0, atol=1e-12)
    np.testing.assert_allclose(factors.Q2.T @ factors.Q2, np.eye(factors.n - factors.rank), atol=1e-13)


@pytest.mark.parametrize("n", [1, WIDTH, WIDTH + 1])
def test_without_equations_everything_is_free(n):
    for A in (np.zeros((n, 0)), np.zeros((n, 3))):
        factors = Decomposition(A)
        assert factors.rank == 0
        assert factors.Q2.tolist() == np.eye(n).tolist()
        assert_is_qtz(factors, A)
        assert factors.multipliers(np.ones(n)).tolist() == [0.0] * A.shape[1]


def test_a_column_counts_where_more_than_the_tolerance_of_it_is_left():
    near = np.array([[1.0, 1.0], [0.0, 1e-5], [0.0, 0.0]])
    assert [Decomposition(near, tolerance).rank for tolerance in (2e-5, 0.5e-5)] == [1, 2]
    assert Decomposition(np.diag([1.0, 1e-5, 1e-9]), 1e-7).rank == 2
    assert Decomposition(np.diag([1.0, 1e-150]), 0.0).rank == 2


def test_of_columns_that_are_alike_the_first_is_taken():
    factors = Decomposition(np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]))
    assert factors.order[:2].tolist() == [0, 1]
    np.testing.assert_allclose(factors.multipliers([1.0, 2.0]), [0.5, 1.0, 0.5, 1.0], rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (4, 0), (2, WIDTH + 1)])
def test_what_is_not_finite_has_no_rank(bad, place):
    A = np.random.default_rng(4).normal(size=(5, WIDTH + 2))
    A[place] = bad
    assert Decomposition(A).rank == -1
