"""Rounding errors against 60 digits, from angle zero to half a turn: the bounds that the docstrings state."""

from math import pi, sqrt

import mpmath as mp
import numpy as np
import pytest
from algebra import precise
from algebra.groups import ANGLES, flat, screw, triple

from poinsot.algebra import coefficients, quaternion, se3, so3

SMALL = [0.0, *(10.0**-k for k in range(12, 2, -1))]
NEAR_PI = [pi - 10.0**-k for k in range(1, 9)]
SEAMS = [sqrt(x) * (1.0 + d) for x in (2.0, 5.0) for d in (-1e-12, 1e-12)]  # where a series hands over
TURNS = SMALL + NEAR_PI + SEAMS + list(np.random.default_rng(1).uniform(1e-3, pi, 60))


@pytest.mark.parametrize(
    ("name", "bound"),
    [("half_sinc", 4), ("tangent", 6), ("tangent_slopes", 15), ("inverse_tangent", 4), ("inverse_tangent_slope", 10)],
)
def test_coefficients(name, bound):
    kernel = getattr(coefficients, name)
    for angle in [max(1e-20, angle) for angle in TURNS]:
        got, exact = kernel(angle * angle), precise.coefficients(angle * angle)[name]
        got = got if isinstance(got, tuple) else (got,)
        for place, (x, y) in enumerate(zip(got, exact, strict=True)):
            if (name, place) == ("half_sinc", 0):  # a cosine: no relative accuracy next to its zero
                assert abs(x - y) <= bound * precise.EPSILON
            else:
                assert precise.error([x], [y]) <= bound, (angle, place)


def test_coefficients_beyond_half_a_turn():
    for angle in np.linspace(pi, 6.0, 40):
        for name, exact in precise.coefficients(angle * angle).items():
            for x, y in zip(np.atleast_1d(getattr(coefficients, name)(angle * angle)), exact, strict=True):
                assert abs(float(x) - y) <= 50 * precise.EPSILON * max(abs(y), 0.01), (name, angle)


def test_half_angle_does_not_depend_on_the_length_of_the_quaternion():
    for angle in TURNS[1:]:
        for scale in (1.0, 1e-3, 7.0):
            w, s = scale * float(mp.cos(mp.mpf(angle) / 2)), scale * float(mp.sin(mp.mpf(angle) / 2))
            exact = 2 * mp.atan2(mp.mpf(s), mp.mpf(w)) / mp.mpf(s)
            assert precise.error([coefficients.half_angle(w, s * s)], [exact]) <= 8, angle


def increments():
    random = np.random.default_rng(2)
    for angle in TURNS:
        for direction in (np.eye(3)[random.integers(3)], *random.normal(size=(2, 3))):
            yield angle * direction / np.linalg.norm(direction), *random.normal(size=(4, 3))


@pytest.fixture(scope="module")
def samples():
    return list(increments())


BOUND = 10  # of the docstrings of so3, quaternion and se3


def test_rotations(samples):
    for u, w, *_ in samples:
        R, q = precise.exp(u), precise.quaternion_exp(u)
        assert precise.error(so3.exp(triple(u)), R) <= BOUND
        assert precise.error(quaternion.exp(triple(u)), q) <= BOUND
        assert precise.error(quaternion.exp(triple(u))[1:], q[1:]) <= BOUND
        assert precise.error(so3.log(precise.rounded(R)), precise.vector(u)) <= BOUND
        assert precise.error(quaternion.log(precise.rounded(q)), precise.vector(u)) <= BOUND
        tangent = precise.dexp(u, w)
        assert precise.error(so3.dexp(triple(u), triple(w)), tangent) <= BOUND
        back = mp.lu_solve(sum_of_powers(u), precise.vector(w))
        assert precise.error(so3.dexp_inv(triple(u), triple(w)), back) <= BOUND


def sum_of_powers(u):
    columns = [precise.dexp(u, e) for e in np.eye(len(u))]
    return mp.matrix([[column[i] for column in columns] for i in range(len(u))])


def test_small_rotations_keep_their_digits(samples):
    for u, *_ in samples:
        if 0.0 < np.linalg.norm(u) < 0.1:
            R = precise.exp(u)
            off = [(R[2, 1] - R[1, 2]) / 2, (R[0, 2] - R[2, 0]) / 2, (R[1, 0] - R[0, 1]) / 2]
            assert precise.error(so3.vee(so3.exp(triple(u))), off) <= BOUND


def test_poses(samples):
    for u, v, a, b, _ in samples[::3]:
        twist, other = np.concatenate([u, v]), np.concatenate([a, b])
        carried = precise.dexp(u, v)
        assert precise.error(se3.exp(screw(twist))[1], carried) <= BOUND
        X = precise.rounded(precise.exp(u)), precise.rounded(carried)
        assert precise.error(flat(se3.log(X)), precise.vector(twist)) <= BOUND
        tangent = precise.dexp(twist, other)
        assert precise.error(flat(se3.dexp(screw(twist), screw(other))), tangent) <= BOUND
        back = mp.lu_solve(sum_of_powers(twist), precise.vector(other))
        assert precise.error(flat(se3.dexp_inv(screw(twist), screw(other))), back) <= BOUND


def test_a_matrix_and_its_quaternion(samples):
    for u, *_ in samples:
        q, R = precise.quaternion_exp(u), precise.exp(u)
        assert precise.error(quaternion.to_matrix(precise.rounded(3 * q)), R) <= BOUND
        found = quaternion.from_matrix(precise.rounded(R))
        assert precise.error(found, q) <= BOUND or (precise.error(found, -q) <= BOUND and abs(q[0]) < 1e-15)


def test_cayley(samples):
    for u, w, *_ in samples:
        K = precise.hat(precise.vector(u)) / 2
        R = mp.inverse(mp.eye(3) - K) * (mp.eye(3) + K)
        assert precise.error(so3.cayley(triple(u)), R) <= BOUND
        assert precise.error(so3.cayley_inv(precise.rounded(R)), precise.vector(u)) <= 2 * BOUND
        back = (mp.eye(3) - K) * precise.hat(precise.vector(w)) * (mp.eye(3) + K)
        assert precise.error(so3.dcay_inv(triple(u), triple(w)), [back[2, 1], back[0, 2], back[1, 0]]) <= BOUND


@pytest.mark.parametrize("order", range(1, so3.HIGHEST_ORDER + 1))
def test_truncated_inverse_tangent_is_the_bernoulli_series(order):
    random = np.random.default_rng(order)
    for angle in ANGLES:
        u, w = random.normal(size=(2, 3))
        u *= angle / np.linalg.norm(u)
        term, exact = precise.vector(w), mp.zeros(3, 1)
        for p in range(order):
            exact += mp.bernoulli(p) / mp.factorial(p) * term
            term = precise.ad(u) * term
        assert precise.error(so3.dexp_inv_truncated(triple(u), triple(w), order), exact) <= BOUND
