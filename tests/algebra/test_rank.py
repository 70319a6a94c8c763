"""The rank of Jacobians that were made with it, in metres and millimetres, beside radians.

What a decomposition is given is made as in formulations/chart.py: velocities in units of the roots of the masses, and
then every equation of length one.
"""

import numpy as np
import pytest
from algebra.factors import Decomposition
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from poinsot.formulations.closure import RANK_TOLERANCE

# How far from the tolerance the singular values of a matrix are whose rank is beyond doubt.
CLEAR = 5.0
LARGEST = 18
SEEDS = st.integers(0, 10**6)
UNITS = st.floats(1e-3, 1e3) | st.sampled_from([1e-3, 1.0, 1e3])

often = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@st.composite
def jacobians(draw):
    """Ψᵀ where units compare, with some large singular values and some that are rounding, and how many are large."""
    n, m = draw(st.integers(1, LARGEST)), draw(st.integers(1, LARGEST))
    rank, smallest, rounding = draw(st.integers(0, min(n, m))), draw(st.floats(-4.0, 0.0)), draw(st.floats(-17.0, -7.5))
    random = np.random.default_rng(draw(SEEDS))
    values = np.zeros(min(n, m))
    values[:rank] = 10.0 ** random.uniform(smallest, 0.0, rank)
    values[rank:] = 10.0**rounding * random.uniform(0.0, 1.0, len(values) - rank)
    U, V = (np.linalg.qr(random.normal(size=(size, size)))[0][:, : len(values)] for size in (n, m))
    return U * values @ V.T, rank


@st.composite
def units(draw, n, m):
    """What three velocities of a body each, and what equations are measured in."""
    of_bodies = draw(st.lists(UNITS, min_size=LARGEST // 3, max_size=LARGEST // 3))
    of_equations = draw(st.lists(UNITS, min_size=LARGEST, max_size=LARGEST))
    return np.repeat(of_bodies, 3)[:n], np.array(of_equations)[:m]


def of_length_one(A):
    lengths = np.linalg.norm(A, axis=0)
    return A / np.where(lengths > 0.0, lengths, 1.0)


def is_clear(A, rank):
    values = [np.inf, *np.linalg.svd(A, compute_uv=False), *[0.0] * LARGEST]
    return values[rank] > CLEAR * RANK_TOLERANCE and values[rank + 1] < RANK_TOLERANCE / CLEAR


def assert_rank(A, rank):
    """It is found, and the equations that are chosen have it."""
    found = Decomposition(A, RANK_TOLERANCE)
    assert found.rank == rank
    chosen = A[:, found.order[:rank]]
    assert np.linalg.svd(chosen, compute_uv=False).min(initial=1.0) > RANK_TOLERANCE / 2.0
    assert np.abs(A.T @ found.Q2).max(initial=0.0) < RANK_TOLERANCE


@often
@given(jacobians(), st.data())
def test_the_rank_is_found_in_any_units(drawn, data):
    A, rank = drawn
    bodies, equations = data.draw(units(*A.shape))
    as_described = A / bodies[:, None] * equations
    scaled = of_length_one(as_described * bodies[:, None])
    np.testing.assert_allclose(scaled, of_length_one(A), atol=1e-14)
    assume(is_clear(scaled, rank))
    assert_rank(scaled, rank)


@often
@given(jacobians(), st.data(), SEEDS)
def test_the_rank_is_found_where_masses_are_known_by_size_only(drawn, data, seed):
    """A body's three moments of inertia differ, and its metric has their mean."""
    A, rank = drawn
    bodies, equations = data.draw(units(*A.shape))
    guess = bodies * np.random.default_rng(seed).uniform(0.3, 3.0, len(bodies))
    scaled = of_length_one(A / bodies[:, None] * equations * guess[:, None])
    assume(is_clear(scaled, rank))
    assert_rank(scaled, rank)


@often
@given(jacobians(), st.data())
def test_an_equation_that_is_said_twice_counts_once(drawn, data):
    """The second time in other units, and with another sign."""
    A, rank = drawn
    _, again = data.draw(units(*A.shape))
    scaled = of_length_one(np.hstack([A, -A * again]))
    assume(is_clear(scaled, rank))
    assert_rank(scaled, rank)


def test_without_common_units_rank_is_a_matter_of_words():
    """Lengths in metres, and turns that are small beside: the same two equations in kilometres seem to be one."""
    A = np.array([[1.0, 1.0], [0.01, -0.01]])
    in_kilometres = A * [[1.0], [1e-5]]
    assert Decomposition(of_length_one(A), RANK_TOLERANCE).rank == 2
    assert Decomposition(of_length_one(in_kilometres), RANK_TOLERANCE).rank == 1
    assert Decomposition(of_length_one(in_kilometres * [[1.0], [1e5]]), RANK_TOLERANCE).rank == 2


@pytest.mark.parametrize("count", [3, 10, LARGEST])
def test_what_is_left_of_an_equation_is_an_angle(count):
    """Of n equal equations but for angles, as many count as differ by more than the tolerance from those before."""
    for angle, rank in ((CLEAR * RANK_TOLERANCE, count), (RANK_TOLERANCE / CLEAR, 1)):
        A = np.vstack([np.ones(count), angle * np.eye(count)])
        assert Decomposition(of_length_one(A), RANK_TOLERANCE).rank == rank
