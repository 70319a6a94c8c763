"""Elimination along rows against NumPy, with derivatives, where it is singular, and in plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from algebra import factors
from algebra.factors import Elimination, dual_system, with_derivatives
from algebra.groups import bounded
from hypothesis import given
from hypothesis import strategies as st

import poinsot
from poinsot._jit import WIDTH
from poinsot.scalars import lend

SIZES = st.integers(1, WIDTH + 5)
COLUMNS = st.integers(1, 2 * WIDTH + 1)
SEEDS = st.integers(0, 10**6)


@bounded
@given(SIZES, COLUMNS, st.integers(0, WIDTH + 5), SEEDS)
def test_solutions_are_those_of_numpy(n, columns, sparse, seed):
    random = np.random.default_rng(seed)
    A, B = random.normal(size=(n, n)), random.normal(size=(n, columns))
    found = Elimination(A, B, min(sparse, n))
    size = np.linalg.norm(A) * np.linalg.norm(found.X) + np.linalg.norm(B)
    assert np.linalg.norm(A @ found.X - B) <= 1e-13 * size
    np.testing.assert_allclose(found.X, np.linalg.solve(A, B), atol=1e-14 * np.linalg.cond(A) * np.abs(found.X).max())


@bounded
@given(SIZES, st.integers(0, WIDTH + 5), SEEDS)
def test_the_factors_are_those_of_the_matrix(n, sparse, seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    found = Elimination(A, np.ones((n, 1)), min(sparse, n))
    L, U = np.tril(found.l, -1) + np.eye(n), np.triu(found.u[:, :n])
    np.testing.assert_allclose(L @ U, A[found.permuted], atol=1e-12 * np.abs(U).max())
    np.testing.assert_allclose(np.diag(found.l), 1.0 / np.diag(U), rtol=1e-15)
    assert found.least == np.abs(np.diag(U)).min()


@bounded
@given(COLUMNS, SEEDS)
def test_entries_without_right_hand_sides_stay(columns, seed):
    random = np.random.default_rng(seed)
    B = random.normal(size=(3, columns))
    found = Elimination(random.normal(size=(3, 3)), B)
    whole = -(-columns // WIDTH) * WIDTH
    assert np.all(found.x[:, whole:] == 7.0)


def test_sparse_rows_are_preferred_unless_others_are_much_larger():
    A = np.array([[0.2, 1.0, 0.0], [0.5, 0.0, 1.0], [4.0, 1.0, 1.0]])
    order = [Elimination(A * scale, np.ones((3, 1)), 2).permuted[0] for scale in ([[1.0]], [[1.0], [1.0], [3.0]])]
    assert order == [1, 2]  # 0.5 against 4, and against 12
    assert Elimination(A, np.ones((3, 1)), 0).permuted[0] == 2


@bounded
@given(SIZES, st.integers(0, WIDTH), st.integers(1, 3), SEEDS)
def test_an_unknown_without_pivot_is_zero(n, place, columns, seed):
    random = np.random.default_rng(seed)
    A, B, place = random.normal(size=(n, n)), random.normal(size=(n, columns)), min(place, n - 1)
    A[:, place] = A[place, :] = 0.0
    found, others = Elimination(A, B), np.arange(n) != place
    assert found.least == 0.0
    assert np.all(found.X[place] == 0.0)
    rest = A[np.ix_(others, others)]
    if n > 1 and np.linalg.cond(rest) < 1e4:
        np.testing.assert_allclose(found.X[others], np.linalg.solve(rest, B[others]), atol=1e-9)


def test_rows_that_stand_in_order_need_no_search():
    random = np.random.default_rng(4)
    A, B, n = random.normal(size=(13, 13)), random.normal(size=(13, 3)), 13
    searched, places = Elimination(A, B), np.zeros((1, n))
    factors.places_of(lend(searched.pivots), n, lend(places))
    u, l, x = factors.padded(A), np.zeros((n, n)), factors.padded(B)
    u[places[0].astype(int), :n] = A
    least = factors.eliminate_in_order(lend(u), lend(l), n, lend(searched.pivots), lend(x), 3)
    assert least == searched.least
    np.testing.assert_array_equal(x[:, :3], searched.X)


def test_a_singular_matrix_shows_in_the_least_pivot():
    A = np.arange(9.0).reshape(3, 3) / 8.0
    found = Elimination(A, A.sum(axis=1, keepdims=True))
    assert found.least < 1e-15
    np.testing.assert_allclose(A @ found.X, A.sum(axis=1, keepdims=True), atol=1e-15)
    assert np.all(Elimination(np.zeros((2, 2)), np.ones((2, 1))).X == 0.0)


@pytest.mark.parametrize("sparse", [0, 2, 4])
@pytest.mark.parametrize("place", [(0, 0), (1, 2), (3, 0), (3, 3)])
def test_what_is_not_a_number_shows_in_the_least_pivot(sparse, place):
    A = np.random.default_rng(1).normal(size=(4, 4))
    A[place] = np.nan
    assert np.isnan(Elimination(A, np.ones((4, 1)), sparse).least)


def test_derivatives_of_solutions():
    """dX = A⁻¹ (dB - dA X)."""
    A, dA, B, dB = dual_system()
    X, dX, least = with_derivatives(A, dA, B, dB)
    wanted = np.linalg.solve(A, B)
    np.testing.assert_allclose(X, wanted, rtol=1e-12)
    assert least == Elimination(A, B).least
    for lane in range(WIDTH):
        slope = np.linalg.solve(A, dB[:, :, lane] - dA[:, :, lane] @ wanted)
        np.testing.assert_allclose(dX[:, :, lane], slope, rtol=0, atol=1e-12 * np.abs(slope).max())


def test_derivatives_where_a_pivot_is_missing():
    A, dA, B, dB = dual_system()
    A[:, 0] = A[0, :] = 0.0
    dA[:, 0] = dA[0, :] = 0.0
    X, dX, least = with_derivatives(A, dA, B, dB)
    assert least == 0.0
    assert np.all(X[0] == 0.0)
    assert np.all(dX[0] == 0.0)
    assert np.isfinite(dX).all()


def test_plain_python_gives_the_same(tmp_path):
    """The numbers of test_qtz.py, too."""
    path = os.pathsep.join([str(Path(poinsot.__file__).parents[1]), str(Path(__file__).parents[1])])
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    subprocess.run(
        [sys.executable, factors.__file__, str(tmp_path / "plain.npz")], env=environment, check=True, timeout=60
    )
    plain, compiled = np.load(tmp_path / "plain.npz"), factors.results()
    assert set(plain) == set(compiled)
    for name, values in compiled.items():
        np.testing.assert_allclose(plain[name], values, rtol=0, atol=1e-13 * np.abs(values).max(), err_msg=name)
