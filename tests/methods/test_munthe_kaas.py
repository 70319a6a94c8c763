"""Munthe-Kaas methods on a rotation matrix: it stays a rotation without help, and the bracket has the right sign."""

import numpy as np
import pytest
from convergence.motions import slope
from methods.rotating_box import box, departure, error, rotations, solve
from scipy.spatial.transform import Rotation

from poinsot._jit import DISABLED
from poinsot.cases import free_body
from poinsot.methods import methods
from poinsot.methods.tableaus import RK4

METHODS = {method.name: method for method in methods()}
STEPS = 2.0 / np.array((100, 140, 200, 280, 400))
compiled_only = pytest.mark.skipif(DISABLED, reason="takes minutes in plain Python")


@compiled_only
@pytest.mark.parametrize("dexp_inv", ["truncated", "exact"])
def test_matrices_stay_orthogonal_for_many_steps(dexp_inv):
    solution = solve(METHODS["rkmk4"], box(), 1000.0, step=0.01, outputs=np.arange(1001.0), dexp_inv=dexp_inv)
    assert solution.counts["steps"] == 100_000
    assert departure(solution) < 1e-13
    assert error(solution) < 1e-3  # the box has turned 1000 times


@compiled_only
def test_matrices_stepped_as_numbers_leave_the_group():
    solution = solve(METHODS["rk4"], box(), 1000.0, step=0.01, outputs=np.arange(1001.0))
    assert departure(solution) > 1e-6
    projected = solve(METHODS["rk4"], box(), 1000.0, step=0.01, outputs=np.arange(1001.0), project=True)
    assert departure(projected) < 1e-14


@pytest.mark.parametrize(
    ("method", "dexp_inv", "order"),
    [("rkmk4", "truncated", 4), ("rkmk4", "exact", 4), ("rkmk5", "truncated", 5), ("rkmk5", "exact", 5)],
)
def test_order_on_matrices(method, dexp_inv, order):
    solutions = [solve(METHODS[method], box(), 2.0, step=h, dexp_inv=dexp_inv) for h in STEPS]
    assert slope(STEPS, [error(solution) for solution in solutions]) == pytest.approx(order, abs=0.2)
    assert max(departure(solution) for solution in solutions) < 1e-14


def commutator(u, w):
    return np.cross(u, w)


def step_by_hand(R, w, h, sign):
    """One step of rkmk4 as paper 001 (11) has it, with the first bracket of dexp_inv of this sign."""
    J = np.diag(free_body.BOX.matrix)
    k, slopes = np.zeros((4, 3)), np.zeros((4, 3))
    for i in range(4):
        u, spin = h * RK4.a[i, :i] @ k[:i], w + h * RK4.a[i, :i] @ slopes[:i]
        bracket = commutator(u, spin)
        k[i] = spin + sign / 2.0 * bracket + commutator(u, bracket) / 12.0
        slopes[i] = np.cross(J * spin, spin) / J
    weights = np.array((1.0, 2.0, 2.0, 1.0)) / 6.0
    return R @ Rotation.from_rotvec(h * weights @ k).as_matrix(), w + h * weights @ slopes


def motion_by_hand(h, steps, sign):
    R, w = np.eye(3), np.array(free_body.ANGULAR_VELOCITY)
    for _ in range(steps):
        R, w = step_by_hand(R, w, h, sign)
    return R


def test_steps_are_those_made_by_hand():
    solution = solve(METHODS["rkmk4"], box(), 0.5, step=0.05)
    np.testing.assert_allclose(rotations(solution)[-1], motion_by_hand(0.05, 10, 1.0), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("sign", "order"), [(1.0, 4), (-1.0, 2)])
def test_the_wrong_sign_of_the_bracket_would_show(sign, order):
    """Velocities in body axes act from the right, which turns the sign of paper 001; the other one costs two orders."""
    exact = free_body.motion(np.array([2.0]))[0][0]
    errors = [np.abs(motion_by_hand(h, round(2.0 / h), sign) - exact).max() for h in STEPS]
    assert slope(STEPS, errors) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("method", ["rkmk5", "radau5"])
def test_adaptive_steps_follow_the_tolerance_on_matrices(method):
    tolerances = 10.0 ** -np.arange(6, 13)
    solutions = [solve(METHODS[method], box(), 10.0, tolerance=tolerance) for tolerance in tolerances]
    errors = [error(solution) for solution in solutions]
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.15)
    assert (errors < 100.0 * tolerances).all()
    assert max(departure(solution) for solution in solutions) < 1e-14


@pytest.mark.parametrize(("method", "order"), [("gauss2", 4), ("radau5", 5), ("generalized-alpha", 2)])
def test_implicit_methods_have_their_order_on_matrices(method, order):
    solutions = [solve(METHODS[method], box(), 2.0, step=h) for h in STEPS]
    assert slope(STEPS, [error(solution) for solution in solutions]) == pytest.approx(order, abs=0.2)
    assert max(departure(solution) for solution in solutions) < 1e-14
