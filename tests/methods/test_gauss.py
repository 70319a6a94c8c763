"""Gauss methods: what they keep over long times, how they solve for their stages, and what the thesis prints."""

import numpy as np
import pytest
from convergence.motions import chain_error, spatial_chain

import poinsot as ps
from poinsot._jit import DISABLED
from poinsot.methods import methods

GAUSS = [method.name for method in methods() if method.name.startswith("gauss")]
compiled_only = pytest.mark.skipif(DISABLED, reason="takes minutes in plain Python")


@compiled_only
@pytest.mark.parametrize(("method", "swing"), [("gauss1", 2e-7), ("gauss2", 2e-11), ("gauss3", 1e-12)])
def test_unit_length_and_energy_stay_for_many_steps(method, swing):
    """The energy swings by what the order leaves, and its trend over the whole run is a small part of that."""
    run = ps.simulate(ps.case("chain-4"), 1000.0, step=0.01, method=method, stabilize="none", output_step=0.5)
    assert run.stats.steps == 100_000
    assert run.rotation_error < 1e-14
    change = run.energy_change
    assert np.abs(change).max() < swing
    assert abs(np.polyfit(run.time, change, 1)[0]) * 1000.0 < 0.1 * swing


@pytest.mark.parametrize("method", GAUSS)
def test_large_rotations_keep_unit_length(method):
    run = ps.simulate(spatial_chain(), 1.0, step=2e-3, method=method, stabilize="none")
    assert run.rotation_error < 1e-14


def test_explicit_methods_of_the_same_order_drift():
    """What the bounds above are worth: rk4 loses energy steadily, and the length."""
    run = ps.simulate(ps.case("chain-4"), 100.0, step=0.01, method="rk4", stabilize="none", output_step=0.5)
    assert run.rotation_error > 1e-10
    assert np.polyfit(run.time, run.energy_change, 1)[0] * 1000.0 < -1e-7


def test_table_3_2_of_the_moving_frame_thesis():
    """Chain of four, 10 s, h = 0.01, two stages to 1e-9; energies are relative to that at the start (3.15)."""
    run = ps.simulate(ps.case("chain-4"), 10.0, step=0.01, method="gauss2", stabilize="none", iteration_tolerance=1e-9)
    energy = run.arrays["energy"]
    assert run.stats.steps == 1000
    assert run.rotation_error <= 1e-14
    assert np.abs(energy / energy[0] - 1.0).max() <= 1e-12
    assert run.stats.evaluations <= 11_400
    assert run.stats.newton_steps == 0


# ------------------------------------------------------------------------------------------ the iteration


IMPLICIT = pytest.mark.parametrize("method", [*GAUSS, "radau5", "generalized-alpha"])


def sprung(stiffness):
    """A heavy rod that falls onto a spring; it vibrates by sqrt(stiffness) rad/s."""
    model = ps.Model("sprung")
    model.body("rod", ps.Inertia.box(mass=1.0, size=(0.1, 0.1, 1.0)), (0.5, 0.0, 0.0), angular_velocity=(0.0, 0.1, 0.0))
    model.spherical("pivot", model.ground, "rod", at=(0.0, 0.0, 0.0))
    model.spring("rope", model.ground, "rod", at_a=(0.5, 0.0, 1.0), at_b=(0.5, 0.0, 0.0), stiffness=stiffness)
    return model


@IMPLICIT
def test_automatic_iteration_takes_newtons_where_the_motion_is_stiff(method):
    easy, stiff = (
        ps.simulate(sprung(k), 0.5, step=0.01, method=method, iteration="automatic").stats for k in (10.0, 1e5)
    )
    assert easy.steps == stiff.steps == 50
    assert (easy.newton_steps, easy.factorizations) == (0, 0)
    assert stiff.newton_steps >= 49
    assert stiff.factorizations > 0


@IMPLICIT
def test_either_iteration_can_be_forced_and_finds_the_same_motion(method):
    fixed_point, newton = (
        ps.simulate(spatial_chain(), 0.3, step=0.002, method=method, iteration=iteration)
        for iteration in ("fixed-point", "newton")
    )
    assert (fixed_point.stats.newton_steps, fixed_point.stats.factorizations) == (0, 0)
    assert newton.stats.newton_steps == newton.stats.steps == 150
    assert newton.stats.factorizations > 0
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        found = newton.arrays[name]
        np.testing.assert_allclose(fixed_point.arrays[name], found, rtol=0, atol=1e-11 * np.abs(found).max())


def test_the_default_tolerance_of_the_iteration_does_not_limit_accuracy():
    settings = {"step": 1.0 / 480, "method": "gauss3"}
    error = chain_error(1.0, **settings)
    tightest = chain_error(1.0, iteration_tolerance=1e-16, **settings)
    assert error < 1e-8
    assert error == pytest.approx(tightest, rel=1e-2)


def test_the_tolerance_of_the_iteration_is_respected():
    """What it leaves of errors grows with it, and is of its size."""
    exact = ps.simulate(spatial_chain(), 0.3, step=0.001, method="gauss2").arrays["velocity"]
    tolerances = 10.0 ** -np.arange(5, 13, 2)
    iterations, errors = [], []
    for tolerance in tolerances:
        run = ps.simulate(spatial_chain(), 0.3, step=0.001, method="gauss2", iteration_tolerance=float(tolerance))
        iterations.append(run.stats.iterations)
        errors.append(np.abs(run.arrays["velocity"] - exact).max())
    assert iterations == sorted(set(iterations))
    assert (errors < 10.0 * tolerances).all()
    assert errors[0] > 100.0 * errors[-1] > 0.0


@IMPLICIT
def test_fixed_steps_that_do_not_converge_are_an_error_that_keeps_the_run(method):
    """A spring whose stiffness grows by a factor of ten in 0.1 s: fixed-point iteration cannot follow for ever."""
    model = ps.Model("hardening")
    model.body("slider", ps.Inertia.sphere(mass=1.0, radius=0.1))
    model.prismatic("rail", model.ground, "slider", at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    model.motor("spring", "rail", torque="-10**(10*t)*(position - 1)")
    with pytest.raises(ps.SimulationError, match="does not converge; take a smaller step") as caught:
        ps.simulate(model, 5.0, step=0.01, method=method, iteration="fixed-point")
    run = caught.value.run
    assert f"stops after t = {run.time[-1]:g} s" in str(caught.value)
    assert 0.1 < caught.value.time == run.time[-1] < 1.0
    assert run.stats.steps == run.time.size - 1
    assert np.isfinite(run.arrays["position"]).all()
    newton = ps.simulate(model, float(run.time[-1]), step=0.01, method=method, iteration="newton")
    found = newton.arrays["position"]
    np.testing.assert_allclose(run.arrays["position"], found, rtol=0, atol=1e-8 * np.abs(found).max())
