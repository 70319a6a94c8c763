"""What every method must do with its steps: outputs, ends, interruptions, failing loads, models without motion."""

import os
import signal

import numpy as np
import pytest
from convergence.motions import spatial_chain

import poinsot as ps
from poinsot.methods import methods

METHODS = {method.name: method for method in methods()}
every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize("output_step", [0.0037, 0.25])
def test_outputs_do_not_disturb_the_steps(method, output_step):
    settings = [{"step": 0.005}] + ([{"rtol": 1e-7}] if METHODS[method].adaptive else [])
    for stepping in settings:
        every, asked = (
            ps.simulate(spatial_chain(), 0.5, method=method, output_step=spacing, **stepping)
            for spacing in (None, output_step)
        )
        assert (every.stats.steps, every.stats.rejected) == (asked.stats.steps, asked.stats.rejected)
        for name, values in every.arrays.items():
            assert values[-1].tobytes() == asked.arrays[name][-1].tobytes(), name


@every_method
def test_the_last_step_ends_at_the_end(method):
    run = ps.simulate(spatial_chain(), 0.1, step=0.0271, method=method)
    np.testing.assert_array_equal(run.time, [*(0.0271 * np.arange(4)), 0.1])
    if METHODS[method].adaptive:
        assert ps.simulate(spatial_chain(), 0.1, rtol=1e-5, method=method).time[-1] == 0.1


@every_method
def test_an_interruption_returns_what_has_been_computed(method):
    def interrupt(now):
        if now > 0.2:
            raise KeyboardInterrupt

    run = ps.simulate(ps.case("double-pendulum"), 1e4, step=0.001, method=method, progress=interrupt)
    assert not run.complete
    assert 0.2 < run.time[-1] < 1e4
    assert run.time.size == run.stats.steps + 1
    whole = ps.simulate(ps.case("double-pendulum"), 0.2, step=0.001, method=method)
    np.testing.assert_array_equal(run.arrays["position"][:200], whole.arrays["position"][:200])


def test_a_signal_is_an_interruption():
    def press(now):
        if now > 0.2:
            os.kill(os.getpid(), signal.SIGINT)

    run = ps.simulate(ps.case("double-pendulum"), 1e4, step=0.001, method="radau5", progress=press)
    assert not run.complete
    assert 0.2 < run.time[-1] < 1e4


@every_method
@pytest.mark.parametrize("moment", ["0.001", "0.0351"])
def test_a_load_without_a_value_is_an_error_that_names_the_time(method, moment):
    model = spatial_chain()
    model.force("late", "link 1", force=(f"sqrt({moment} - t)", 0.0, 0.0))
    with pytest.raises(ps.SimulationError) as caught:
        ps.simulate(model, 1.0, step=0.005, method=method)
    error, run = caught.value, caught.value.run
    assert f"stops after t = {error.time:g} s" in str(error)
    assert error.time == run.time[-1] <= float(moment)
    assert error.time >= float(moment) - 0.0051
    for name, values in run.arrays.items():
        assert np.isfinite(values).all(), name


def still_models():
    """Models in which nothing moves, or that have nothing to solve for."""
    box = ps.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3))
    free = ps.Model("at rest", gravity=(0.0, 0.0, 0.0))
    free.body("box", box)
    fixed = ps.Model("fixed")
    fixed.body("box", box, (1.0, 0.0, 0.0))
    fixed.fixed("foot", fixed.ground, "box", at=(0.0, 0.0, 0.0))
    hanging = ps.Model("hanging")
    hanging.body("box", box, (0.0, 0.0, -1.0))
    hanging.spherical("hook", hanging.ground, "box", at=(0.0, 0.0, 0.0))
    return [free, fixed, hanging]


@every_method
@pytest.mark.parametrize("model", still_models(), ids=lambda model: model.name)
def test_what_does_not_move_stays(method, model):
    for stepping in [{"step": 0.1}] + ([{"rtol": 1e-6}] if METHODS[method].adaptive else []):
        run = ps.simulate(model, 1.0, method=method, output_step=0.07, **stepping)
        assert run.complete
        assert run.time[-1] == 1.0
        assert np.abs(run.arrays["position"] - run.arrays["position"][0]).max() < 1e-15
        assert np.abs(run.arrays["velocity"]).max() < 1e-15


@pytest.mark.parametrize("method", ["gauss3", "radau5", "generalized-alpha"])
def test_loads_without_derivatives_are_served_by_fixed_point_and_by_newton(method):
    """A Python function of time, which has no derivative with respect to the state."""

    def wave(t):
        return 5.0 * np.sin(9.0 * t)

    model = spatial_chain()
    model.force("wave", "link 2", force=(wave, "abs(t - 0.1)", 1.0))
    runs = [
        ps.simulate(model, 0.2, step=0.002, method=method, iteration=iteration)
        for iteration in ("fixed-point", "newton")
    ]
    first, second = (run.arrays["velocity"][-1] for run in runs)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"index": 2.5}, "index 2.5 is not a whole number; give one from 1 to 3"),
        ({"index": 4}, "index 4 is out of range; give a number from 1 to 3"),
        ({"iteration": "newtons"}, 'there is no iteration "newtons"; did you mean "newton"?'),
        ({"iteration_tolerance": 0.0}, "iteration_tolerance 0 is out of range; give a number from 1e-16 to 0.01"),
    ],
)
def test_options_that_mean_nothing_are_refused(option, sentence):
    with pytest.raises(ps.PoinsotError) as caught:
        ps.simulate(spatial_chain(), 0.1, method="radau5", **option)
    assert str(caught.value) == f"simulate: {sentence}"
