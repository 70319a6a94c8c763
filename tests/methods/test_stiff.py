"""Stiff motion: implicit methods step over vibrations that explicit ones must resolve, and damp them as theory says."""

import importlib.util
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from convergence.motions import slope, spatial_chain

import poinsot as ps

_specification = importlib.util.spec_from_file_location("stiff", Path(__file__).parents[2] / "benchmarks" / "stiff.py")
assert _specification is not None
assert _specification.loader is not None
stiff = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(stiff)


@pytest.mark.parametrize(("method", "bound"), [("radau5", 1e-6), ("generalized-alpha", 1e-3)])
def test_steps_over_a_stiff_chain_are_a_hundred_times_those_of_rk4(method, bound):
    """rk4 fails with steps of 0.5 ms; its largest, 0.39 ms, is printed by benchmarks/stiff.py."""
    exact = stiff.reference()
    assert not np.abs(stiff.rotations(step=0.0005, method="rk4") - exact).max() < 1e-3
    assert np.abs(stiff.rotations(step=0.05, method=method) - exact).max() < bound


def test_loose_tolerances_step_over_vibrations():
    run = ps.simulate(stiff.stiff_chain(), 1.0, rtol=1e-4, atol=1e-4, method="radau5")
    assert run.stats.steps < 20
    assert run.stats.iterations < 8 * run.stats.steps
    assert np.abs(run.arrays["rotation"][-1] - stiff.reference()[-1]).max() < 1e-4


def test_errors_of_radau5_follow_the_tolerance():
    tolerances = 10.0 ** -np.arange(5, 12)
    exact = ps.simulate(spatial_chain(), 1.0, rtol=1e-13, atol=1e-15).arrays["rotation"][-1]
    runs = [ps.simulate(spatial_chain(), 1.0, rtol=x, atol=x, method="radau5") for x in tolerances]
    errors = [np.abs(run.arrays["rotation"][-1] - exact).max() for run in runs]
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.25)
    assert (errors < 100.0 * tolerances).all()
    for run in runs:
        assert run.stats.newton_steps == run.stats.steps
        assert run.stats.iterations < 10 * (run.stats.steps + run.stats.rejected)


def slider(stiffness, damping=0.0):
    """A slider of 1 kg on a spring, one metre from its rest."""
    model = ps.Model("slider", gravity=(0.0, 0.0, 0.0))
    model.body("slider", ps.Inertia.sphere(mass=1.0, radius=0.1))
    model.prismatic("rail", model.ground, "slider", at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    model.motor("spring", "rail", torque=f"-{stiffness}*(position - 1) - {damping}*velocity")
    return model


def test_a_relaxation_is_followed_in_steps_that_soon_forget_it():
    """x'' = -1e6 (x - 1) - 1e6 x': all but a slow exp(-t) is gone after a microsecond."""
    run = ps.simulate(slider(1e6, 1e6), 5.0, rtol=1e-8, atol=1e-8, method="radau5")
    fast, slow = (-1e6 + sqrt(1e12 - 4e6) * sign for sign in (-1, 1))
    fast, slow = 0.5 * fast, 2e6 / fast
    exact = 1.0 - (fast * np.exp(slow * run.time) - slow * np.exp(fast * run.time)) / (fast - slow)
    np.testing.assert_allclose(run.arrays["joint_position"][:, 0], exact, rtol=0, atol=1e-7)
    assert run.stats.steps < 400


def amplification(radius, frequency):
    """What a step of 1 s makes of x, v and a where x'' = -frequency² x (Chung and Hulbert 1993)."""
    m, f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 + f - m
    beta, z = 0.25 * (gamma + 0.5) ** 2, frequency**2
    new = np.array([[1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1.0 - f) * z, 0.0, 1.0 - m]])
    old = np.array([[1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1.0 - gamma], [-f * z, 0.0, -m]])
    return np.linalg.solve(new, old)


@pytest.mark.parametrize("radius", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("frequency", [0.5, 3.0, 1e3])
def test_vibrations_are_damped_as_theory_says(radius, frequency):
    """The slider follows the recursion, whose spectral radius is the one asked for where frequencies are high."""
    step = amplification(radius, frequency)
    if frequency == 1e3:
        assert np.abs(np.linalg.eigvals(step)).max() == pytest.approx(radius, abs=0.02)
    run = ps.simulate(slider(frequency**2), 20.0, step=1.0, method="generalized-alpha", spectral_radius=radius)
    expected = [np.array([-1.0, 0.0, frequency**2])]
    for _ in range(20):
        expected.append(step @ expected[-1])
    found = np.stack([run.arrays["joint_position"][:, 0] - 1.0, run.arrays["joint_velocity"][:, 0]], axis=1)
    expected = np.array(expected)[:, :2]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_nothing_is_damped_with_radius_one():
    run = ps.simulate(slider(9.0), 100.0, step=1.0, method="generalized-alpha", spectral_radius=1.0)
    x, v = run.arrays["joint_position"][:, 0] - 1.0, run.arrays["joint_velocity"][:, 0]
    assert np.hypot(x, v / 3.0)[-20:].max() > 0.9


def test_what_does_not_converge_becomes_a_smaller_step():
    """A rod thrown against a spring: large first steps do not converge, and are repeated."""
    run = ps.simulate(ps.case("double-pendulum"), 0.5, rtol=1e-3, atol=1e-3, method="radau5", iteration="fixed-point")
    exact = ps.simulate(ps.case("double-pendulum"), 0.5)
    assert run.complete
    np.testing.assert_allclose(run.arrays["position"][-1], exact.arrays["position"][-1], rtol=0, atol=1e-2)
    stiff_run = ps.simulate(slider(1e5), 0.2, rtol=1e-1, atol=1e-1, method="radau5", iteration="fixed-point")
    assert stiff_run.complete
    assert stiff_run.stats.rejected > 0
