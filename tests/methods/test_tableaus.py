"""The tableaus fulfil every order condition, and their numbers are those of the literature."""

import numpy as np
import pytest
from methods.trees import density, size, stage_weights, trees
from scipy.integrate import DOP853 as SCIPY_DOP853
from scipy.integrate import RK45 as SCIPY_RK45
from scipy.integrate._ivp import dop853_coefficients

from poinsot.methods.tableaus import DOP853, DOPRI5, RK4

ALL = pytest.mark.parametrize("tableau", [RK4, DOPRI5, DOP853], ids=["rk4", "dopri5", "dop853"])
# Up to which order the interpolants are exact, and what each error estimate leaves out.
DENSE_ORDER = {id(RK4): 3, id(DOPRI5): 4, id(DOP853): 7}
ESTIMATES = [(DOPRI5, 0, 4), (DOP853, 0, 5), (DOP853, 1, 3)]


def weights(tableau):
    """The b of the step: the row of the stage at the new point."""
    return tableau.a[tableau.stages - 1]


def worst(tableau, b, order, exact):
    """The largest miss of the order conditions up to an order, relative to the size of their terms."""
    misses = []
    for tree in (tree for n in range(1, order + 1) for tree in trees(n)):
        phi = stage_weights(tree, tableau.a)
        misses.append(abs(b @ phi - exact / density(tree)) / max(1.0, np.abs(b) @ np.abs(phi)))
    return max(misses)


def test_trees_are_counted_as_by_cayley():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert all(size(tree) == 6 for tree in trees(6))


@ALL
def test_order_conditions(tableau):
    assert worst(tableau, weights(tableau), tableau.order, 1.0) < 1e-14
    assert worst(tableau, weights(tableau), tableau.order + 1, 1.0) > 1e-6


@ALL
def test_stages_are_explicit_and_consistent(tableau):
    assert not np.triu(tableau.a).any()
    np.testing.assert_allclose(tableau.a.sum(axis=1), tableau.c, rtol=0, atol=1e-15)
    assert (tableau.c[0], tableau.c[tableau.stages - 1]) == (0.0, pytest.approx(1.0, abs=1e-15))
    assert ((tableau.c >= 0.0) & (tableau.c <= 1.0 + 1e-15)).all()


@pytest.mark.parametrize(("tableau", "row", "order"), ESTIMATES)
def test_error_estimates_vanish_to_their_order(tableau, row, order):
    estimate = tableau.errors[row]
    assert worst(tableau, estimate, order, 0.0) < 1e-14
    assert worst(tableau, estimate, order + 1, 0.0) > 1e-6


@ALL
def test_dense_output_meets_both_ends_and_their_slopes(tableau):
    powers = np.arange(1, tableau.dense.shape[1] + 1)
    first, last = np.eye(len(tableau.a))[[0, tableau.stages - 1]]
    scale = np.abs(tableau.dense).sum(axis=1).max()
    np.testing.assert_allclose(tableau.dense.sum(axis=1), weights(tableau), rtol=0, atol=1e-15 * scale)
    np.testing.assert_allclose(tableau.dense[:, 0], first, rtol=0, atol=1e-15 * scale)
    np.testing.assert_allclose(tableau.dense @ powers, last, rtol=0, atol=1e-14 * scale)


@ALL
@pytest.mark.parametrize("theta", [0.1, 0.5, 0.77])
def test_dense_output_fulfils_order_conditions_within_the_step(tableau, theta):
    order = DENSE_ORDER[id(tableau)]
    b = tableau.dense @ theta ** np.arange(1, tableau.dense.shape[1] + 1)
    for tree in (tree for n in range(1, order + 1) for tree in trees(n)):
        phi = stage_weights(tree, tableau.a)
        bound = 1e-14 * max(1.0, np.abs(tableau.dense).sum(axis=1) @ np.abs(phi))
        assert abs(b @ phi - theta ** size(tree) / density(tree)) < bound


def test_dopri5_has_scipys_numbers():
    np.testing.assert_allclose(DOPRI5.a[:6, :5], SCIPY_RK45.A, rtol=1e-15)
    np.testing.assert_allclose(DOPRI5.a[6, :6], SCIPY_RK45.B, rtol=1e-15)
    np.testing.assert_allclose(np.abs(DOPRI5.errors[0]), np.abs(SCIPY_RK45.E), rtol=1e-14)


def test_dop853_has_scipys_numbers():
    np.testing.assert_allclose(DOP853.a[:12, :12], SCIPY_DOP853.A, rtol=1e-15)
    np.testing.assert_allclose(DOP853.a[12, :12], SCIPY_DOP853.B, rtol=1e-15)
    np.testing.assert_allclose(DOP853.a[13:], SCIPY_DOP853.A_EXTRA, rtol=1e-15)
    np.testing.assert_allclose(DOP853.errors[0, :13], SCIPY_DOP853.E5, rtol=1e-15)
    np.testing.assert_allclose(DOP853.errors[1, :13], SCIPY_DOP853.E3, rtol=1e-14)
    np.testing.assert_allclose(DOP853.c[12], 1.0, rtol=1e-15)
    np.testing.assert_allclose(DOP853.c[13:], SCIPY_DOP853.C_EXTRA, rtol=1e-15)
    assert dop853_coefficients.D.shape == (4, 16)
