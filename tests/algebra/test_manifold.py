"""Products of manifolds: rates, increments and their pull-back agree with each other, block by block."""

from math import pi

import numpy as np
import pytest
from algebra.groups import ANGLES, bounded, triple, vectors
from hypothesis import given
from hypothesis import strategies as st

from poinsot._jit import WIDTH
from poinsot.algebra import manifold, quaternion, so3
from poinsot.scalars import Duals, Packs, floats

REAL, QUATERNION, ROTATION = manifold.REAL, manifold.QUATERNION, manifold.ROTATION
BLOCKS, STATES, VELOCITIES = manifold.block_table([(REAL, 2), (QUATERNION, 0), (ROTATION, 0), (REAL, 1)])


def state(u, v):
    return np.array([[1.0, 2.0, *quaternion.exp(triple(u)), *so3.exp(triple(v)), 3.0]]).T


def velocity(a, b):
    return np.array([[0.1, -0.2, *a, *b, 0.3]]).T


def test_block_table():
    assert (STATES, VELOCITIES) == (16, 9)
    assert BLOCKS.tolist() == [[0, 0, 0, 2], [1, 2, 2, 0], [2, 6, 5, 0], [0, 15, 8, 1]]


@bounded
@given(st.tuples(*[vectors(3.0)] * 4))
def test_rates_are_the_derivative_of_retractions_in_any_order(drawn):
    u, v, a, b = drawn
    s, w, rate = state(u, v), velocity(a, b), np.zeros((STATES, 1))
    manifold.coordinate_rates(BLOCKS, s, w, rate)
    h, slope = 1e-3, np.zeros((STATES, 1))
    for place, weight in ((1, 8 / 12), (2, -1 / 12)):
        for sign in (1, -1):
            moved = np.zeros((STATES, 1))
            manifold.retract(BLOCKS, s, sign * place * h * w, moved)
            slope += sign * weight / h * moved
    np.testing.assert_allclose(rate, slope, atol=1e-10)


@pytest.mark.parametrize("angle", [angle for angle in ANGLES if angle < 3.2])
def test_increments_at_the_pulled_back_rate_have_the_velocity(angle):
    random = np.random.default_rng(4)
    s, w, increment = state(*random.normal(size=(2, 3))), velocity(*random.normal(size=(2, 3))), random.normal(size=9)
    increment[2:5] *= angle / np.linalg.norm(increment[2:5])
    increment[5:8] *= angle / np.linalg.norm(increment[5:8])
    rate, moving, moved, expected = np.zeros((VELOCITIES, 1)), Duals(VELOCITIES, 1), Duals(STATES, 1), np.zeros((16, 1))
    manifold.dexp_inv(BLOCKS, increment[:, None], w, rate, 0)
    moving.data[:, 0, 0], moving.data[:, 0, 1] = increment, rate[:, 0]
    fixed = Duals(STATES, 1)
    fixed.data[:, 0, 0] = s[:, 0]
    manifold.retract(BLOCKS, fixed, moving, moved)
    manifold.coordinate_rates(BLOCKS, moved.data[:, :, 0].copy(), w, expected)
    np.testing.assert_allclose(moved.data[:, 0, 1], expected[:, 0], atol=1e-14)


def test_truncated_pull_back_converges_to_the_exact_one_and_works_in_place():
    random = np.random.default_rng(8)
    u, w = 0.3 * random.normal(size=(VELOCITIES, 1)), random.normal(size=(VELOCITIES, 1))
    exact, errors = np.zeros((VELOCITIES, 1)), []
    manifold.dexp_inv(BLOCKS, u, w, exact, 0)
    for order in (1, 2, 4, 6, 8, 18):
        found = w.copy()
        manifold.dexp_inv(BLOCKS, u, found, found, order)
        errors.append(np.max(np.abs(found - exact)))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-14


@bounded
@given(drawn=st.tuples(*[vectors(3.0)] * 4), noise=st.floats(0.0, 0.1))
def test_normalise_ends_on_the_manifold_and_departure_measures_how_far_it_was(drawn, noise):
    s = state(*drawn[:2])
    assert manifold.departure(BLOCKS, s) < 2e-15
    off = s + noise * np.random.default_rng(9).uniform(-1, 1, s.shape)
    departure = manifold.departure(BLOCKS, off)
    R, q = off[6:15, 0].reshape(3, 3), off[2:6, 0]
    assert departure == pytest.approx(max(np.abs(R.T @ R - np.eye(3)).max(), abs(np.linalg.norm(q) - 1)), abs=1e-14)
    manifold.normalise(BLOCKS, off)
    assert manifold.departure(BLOCKS, off) < 2e-15
    left, _, right = np.linalg.svd(R)
    np.testing.assert_allclose(off[6:15, 0].reshape(3, 3), left @ right, atol=1e-14)
    np.testing.assert_allclose(off[2:6, 0], q / np.linalg.norm(q), atol=1e-15)


@pytest.mark.parametrize("row", [3, 8])
def test_departure_does_not_hide_a_nan(row):
    s = state((0.1, 0.2, 0.3), (1.0, 0.0, 0.0))
    s[row] = np.nan
    assert np.isnan(manifold.departure(BLOCKS, s))


def test_lanes_agree_with_float64():
    random = np.random.default_rng(10)
    s, u, w = Packs(STATES, 1), Packs(VELOCITIES, 1), Packs(VELOCITIES, 1)
    for lane in range(WIDTH):
        angle = pi * lane / WIDTH
        s.data[:, 0, lane] = state(angle * np.eye(3)[0], random.normal(size=3))[:, 0]
    u.data[:], w.data[:] = random.normal(size=(2, VELOCITIES, 1, WIDTH))
    u.data[2:8, 0, 0] = 0.0
    moved, pulled, rates = Packs(STATES, 1), Packs(VELOCITIES, 1), Packs(STATES, 1)
    manifold.retract(BLOCKS, s, u, moved)
    manifold.dexp_inv(BLOCKS, u, w, pulled, 0)
    manifold.coordinate_rates(BLOCKS, s, w, rates)
    for lane in range(WIDTH):
        s1, u1, w1 = (view.data[:, :, lane].copy() for view in (s, u, w))
        moved1, pulled1, rates1 = floats(STATES, 1), floats(VELOCITIES, 1), floats(STATES, 1)
        manifold.retract(BLOCKS, s1, u1, moved1)
        manifold.dexp_inv(BLOCKS, u1, w1, pulled1, 0)
        manifold.coordinate_rates(BLOCKS, s1, w1, rates1)
        for pack, alone in ((moved, moved1), (pulled, pulled1), (rates, rates1)):
            np.testing.assert_allclose(pack.data[:, :, lane], alone, rtol=1e-13, atol=1e-14)
    manifold.normalise(BLOCKS, moved)
    for lane in range(WIDTH):
        assert manifold.departure(BLOCKS, moved.data[:, :, lane].copy()) < 2e-15
