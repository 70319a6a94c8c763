"""The road from a Model to a Run: what is recorded, what is refused, and what is kept where a simulation stops."""

import math
import re

import numpy as np
import pytest
from convergence.motions import spatial_chain

import poinsot as ps
from poinsot import recording
from poinsot._jit import DISABLED
from poinsot.methods import driver, stepping
from poinsot.methods.driver import Loop

compiled_only = pytest.mark.skipif(DISABLED, reason="takes a minute in plain Python")
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "free")


def pendulum():
    model = ps.Model("pendulum")
    rod = ps.Inertia.rod(mass=1.0, length=1.0)
    model.body("rod", rod, position=(0.3, 0.0, -0.4), angular_velocity=(0.5, -0.2, 3.0))
    model.spherical("hinge", model.ground, "rod", at=(0.0, 0.0, 0.0))
    return model


def ball(**force):
    """A free ball of 1 kg without gravity, and a force on it."""
    model = ps.Model("ball", gravity=(0.0, 0.0, 0.0))
    model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1), velocity=(1.0, 0.0, 0.0))
    if force:
        model.force("push", "ball", **force)
    return model


def final_bits(run):
    return {name: values[-1].tobytes() for name, values in run.arrays.items()}


# ------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"t_end": None}, "t_end is missing; give a positive number"),
        ({"t_end": 0.0}, "t_end 0 is not positive; give a positive number"),
        ({"t_end": -1}, "t_end -1 is not positive"),
        ({"t_end": math.nan}, "t_end nan is not finite; give a positive number"),
        ({"t_end": math.inf}, "t_end inf is not finite"),
        ({"t_end": True}, "t_end True is not a number"),
        ({"t_end": np.True_}, "is not a number"),
        ({"t_end": "10"}, "t_end '10' is not a number; give a positive number"),
        ({"t_end": (1.0, 2.0)}, "t_end (1, 2) is not a number"),
        ({"t_end": 1j}, "is not a number"),
        ({"step": 0.0}, "step 0 is not positive"),
        ({"step": "small"}, "step 'small' is not a number"),
        ({"step": 1e-12}, "step 1e-12 makes 1e+12 outputs until 1 s; give a longer one"),
        ({"rtol": -1e-6}, "rtol -1e-06 is not positive"),
        ({"rtol": 1e-6, "atol": 0}, "atol 0 is not positive"),
        ({"rtol": 1e-30}, "rtol 1e-30 is finer than rounding; give at least 1e-16"),
        ({"rtol": math.nan}, "rtol nan is not finite"),
        ({"step": 0.1, "rtol": 1e-6}, "step asks for fixed steps and rtol or atol for adaptive ones; give one of"),
        ({"step": 0.1, "atol": 1e-6}, "give one of the two"),
        ({"method": "rk4"}, 'method "rk4" does not estimate its error; give it a fixed step='),
        ({"method": "rk4", "rtol": 1e-6}, "give it a fixed step="),
        ({"method": "dop835"}, 'there is no method "dop835"; did you mean "dop853"?'),
        ({"method": "q"}, 'there is no method "q"; known: rk4, dopri5, dop853'),
        ({"method": ["dop853"]}, "there is no method"),
        ({"formulation": "recursiv"}, 'there is no formulation "recursiv"; did you mean "recursive"?'),
        ({"formulation": None}, 'there is no formulation "None"; known: recursive'),
        ({"formulation": {}}, "there is no formulation"),
        ({"stabilize": "projektion"}, 'there is no stabilize "projektion"; did you mean "projection"?'),
        ({"stabilize": False}, 'there is no stabilize "False"; known: projection, rotation-vector, baumgarte, none'),
        ({"output_step": 0.0}, "output_step 0 is not positive"),
        ({"output_step": "1"}, "output_step '1' is not a number"),
        ({"output_step": 1e-9}, "output_step 1e-09 makes 1e+09 outputs until 1 s; give a longer one"),
        ({"t_end": 1e300, "output_step": 1e-300}, "outputs until 1e+300 s"),
        ({"progress": "yes"}, "progress 'yes' is neither True, False nor a function of the time"),
        ({"progress": None}, "progress None is neither"),
        ({"stepsize": 0.1}, 'there is no option "stepsize"; formulation "recursive" and method "dop853" have rate'),
    ],
)  # fmt: skip
def test_mistakes_get_a_sentence(arguments, sentence):
    model = pendulum()
    with pytest.raises(ps.PoinsotError, match=re.escape(sentence)) as caught:
        ps.simulate(model, **{"t_end": 1.0, **arguments})
    assert str(caught.value).startswith("simulate: ")
    assert "\n" not in str(caught.value)
    assert not model.frozen


@pytest.mark.parametrize("model", ["double-pendulum", None, ps.Model, {"name": "pendulum"}])
def test_only_models_are_simulated(model):
    with pytest.raises(ps.PoinsotError, match=r"is not a Model; build one, or take one with ps\.case\(\)"):
        ps.simulate(model, 1.0)


@pytest.mark.parametrize("number", [1, np.float64(1.0), np.int32(1), np.float32(1.0), np.array(1.0)])
def test_every_kind_of_real_number_is_a_time(number):
    run = ps.simulate(pendulum(), number, output_step=number / 2)
    assert run.time.tolist() == [0.0, 0.5, 1.0]


# ------------------------------------------------------------------------------------------ times


def test_steps_that_do_not_divide_the_end_meet_it():
    run = ps.simulate(pendulum(), 1.0, step=0.3)
    assert run.time.tolist() == [0.0, 0.3, 0.6, 3 * 0.3, 1.0]
    assert run.stats.steps == 4
    assert run.complete


@pytest.mark.parametrize(("t_end", "step", "count"), [(0.3, 0.1, 3), (10.0, 0.1, 100), (1.0, 1 / 3, 3), (7.0, 0.7, 10)])
def test_steps_that_divide_the_end_up_to_rounding_are_no_more_than_that(t_end, step, count):
    run = ps.simulate(ball(), t_end, step=step)
    assert run.time.tolist() == [*(k * step for k in range(count)), t_end]


def test_a_step_beyond_the_end_is_one_step():
    run = ps.simulate(pendulum(), 0.01, step=5.0)
    assert run.time.tolist() == [0.0, 0.01]
    assert run.settings["step"] == 0.01


def test_long_runs_keep_every_step_and_exact_times():
    run = ps.simulate(pendulum(), 10.0, step=0.001, method="rk4")
    assert run.time.size == 10_001
    np.testing.assert_array_equal(run.time, np.append(0.001 * np.arange(10_000), 10.0))
    # Steps kept in several pieces are those of one piece.
    short = ps.simulate(pendulum(), 10.0, step=0.001, method="rk4", output_step=0.1)
    np.testing.assert_array_equal(run.arrays["position"][::100], short.arrays["position"])


@pytest.mark.parametrize(("t_end", "step"), [(7.9, 1e-6), (1e7, 1.0), (0.3 * 9e6, 0.3)])
def test_the_grid_of_fixed_steps_holds_after_millions(monkeypatch, t_end, step):
    """The clock is put to ten steps before the end, as if the others had been taken."""
    restart, before = Loop._restart, round(t_end / step) - 10

    def late(loop, controls):
        restart(loop, controls)
        loop.clock[stepping.TIME], loop.counts[stepping.GRID] = before * step, before

    monkeypatch.setattr(Loop, "_restart", late)
    run = ps.simulate(ball(), t_end, step=step, method="rk4", output_step=t_end)
    assert run.stats.steps == 10
    assert run.time[-1] == t_end
    assert run.arrays["position"][-1, 0, 0] == pytest.approx(10.0 * step, rel=1e-6)


def test_results_that_do_not_fit_into_the_memory_are_a_mistake(monkeypatch):
    def full(loop, controls):
        raise MemoryError

    monkeypatch.setattr(Loop, "_restart", full)
    with pytest.raises(ps.PoinsotError, match='model "ball": the results do not fit into the memory; record fewer'):
        ps.simulate(ball(), 1.0)


def test_many_bodies_are_recorded_in_rows_that_fit(monkeypatch):
    whole = ps.simulate(ball(), 1.0, step=0.01, method="rk4")
    monkeypatch.setattr(driver, "NUMBERS", 100)
    np.testing.assert_array_equal(
        ps.simulate(ball(), 1.0, step=0.01, method="rk4").arrays["position"], whole.arrays["position"]
    )


@pytest.mark.parametrize("count", [4096, 4097, 8192, pytest.param(100_000, marks=compiled_only)])
def test_runs_that_just_fill_their_room_keep_every_step(count):
    run = ps.simulate(ball(), count / 1024, step=1 / 1024, method="rk4")
    np.testing.assert_array_equal(run.time, np.arange(count + 1) / 1024)
    np.testing.assert_allclose(run.arrays["position"][:, 0, 0], run.time, rtol=1e-12)


@pytest.mark.parametrize("output_step", [0.1, 0.07, 0.25, 1 / 3, 1.0, 3.0, 1e12])
@pytest.mark.parametrize("stepping", [{}, {"step": 0.03, "method": "rk4"}, {"step": 0.1, "method": "dopri5"}])
def test_outputs_are_at_zero_at_multiples_and_at_the_end(output_step, stepping):
    run = ps.simulate(pendulum(), 1.0, output_step=output_step, **stepping)
    inside = [k * output_step for k in range(15) if k * output_step < 1.0 - 1e-9]
    assert run.time.tolist() == [*inside, 1.0] if output_step < 1.0 else [0.0, 1.0]


@pytest.mark.parametrize("stepping", [{"method": "dopri5"}, {"method": "dop853"}, {"step": 0.01, "method": "rk4"}])
@pytest.mark.parametrize("output_step", [0.0137, 0.5])
def test_outputs_do_not_disturb_the_steps(output_step, stepping):
    model = spatial_chain()
    every, asked = ps.simulate(model, 1.0, **stepping), ps.simulate(model, 1.0, output_step=output_step, **stepping)
    assert final_bits(every) == final_bits(asked)
    assert (every.stats.steps, every.stats.rejected) == (asked.stats.steps, asked.stats.rejected)


def test_outputs_between_steps_lie_on_the_motion():
    run = ps.simulate(spatial_chain(), 1.0, rtol=1e-10, atol=1e-10, output_step=0.0137)
    tight = ps.simulate(spatial_chain(), 1.0, rtol=1e-13, atol=1e-13, output_step=0.0137)
    np.testing.assert_allclose(run.arrays["rotation"], tight.arrays["rotation"], rtol=0, atol=1e-8)
    assert run.rotation_error < 1e-15
    assert run.position_error < 1e-14


# ------------------------------------------------------------------------------------------ what a run tells


def test_the_same_model_gives_the_same_bits_again():
    model = spatial_chain()
    first, second = ps.simulate(model, 1.0), ps.simulate(model, 1.0)
    for name, values in first.arrays.items():
        assert values.tobytes() == second.arrays[name].tobytes(), name


def test_a_simulated_model_is_frozen_and_its_copy_is_not():
    model = pendulum()
    ps.simulate(model, 0.1)
    with pytest.raises(ps.PoinsotError, match="simulated"):
        model.body("other", ps.Inertia.sphere(mass=1.0, radius=0.1))
    again = model.copy()
    again.force("push", "rod", force=(10.0, 0.0, 0.0))
    assert not np.array_equal(ps.simulate(again, 0.1).arrays["position"], ps.simulate(model, 0.1).arrays["position"])


@pytest.mark.parametrize(
    ("settings", "method", "per_step"),
    [({"step": 0.01}, "rk4", 4), ({"step": 0.01, "method": "dopri5"}, "dopri5", 6), ({"step": 0.01, "method": "dop853"},
     "dop853", 12), ({}, "dop853", 12), ({"method": "dopri5"}, "dopri5", 6)],
)  # fmt: skip
def test_stats_count_what_was_done(settings, method, per_step):
    run = ps.simulate(pendulum(), 1.0, **settings)
    stats = run.stats
    assert run.settings["method"] == method
    assert stats.steps == run.time.size - 1
    adaptive = "step" not in settings
    assert stats.evaluations == per_step * (stats.steps + stats.rejected) + 1 + adaptive
    assert (stats.rejected == 0) or adaptive
    assert (run.settings["rtol"], run.settings["atol"]) == ((1e-9, 1e-12) if adaptive else (None, None))
    assert 0.0 < stats.seconds < 10.0
    assert stats.compile_seconds > 0.0


def test_projection_keeps_unit_length_and_without_it_quaternions_drift():
    coarse = {"step": 0.02, "method": "rk4"}
    kept = ps.simulate(spatial_chain(), 1.0, **coarse)
    drifting = ps.simulate(spatial_chain(), 1.0, stabilize="none", **coarse)
    explicit = ps.simulate(spatial_chain(), 1.0, stabilize="projection", **coarse)
    assert kept.rotation_error < 1e-15
    assert final_bits(kept) == final_bits(explicit)
    assert drifting.arrays["rotation_error"][0] < 1e-15
    assert 1e-6 < drifting.rotation_error < 0.1
    # Rotations are made from quaternions of any length, so that only the error of the steps is left.
    R = drifting.arrays["rotation"][-1]
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)


@pytest.mark.parametrize("backwards", [False, True], ids=["a-b", "b-a"])
def test_every_kind_of_joint_keeps_its_energy(backwards):
    rng = np.random.default_rng(3)
    model = ps.Model("one joint of each kind")
    above, p = model.ground, np.zeros(3)
    for kind in KINDS:
        q = p + rng.normal(size=3)
        box = ps.Inertia.box(mass=1.0 + rng.random(), size=0.3 + rng.random(3))
        body = model.body(f"{kind} body", box, q, angular_velocity=(3.0, 1.0, 2.0) if kind == "free" else None)
        axis = {} if kind in ("fixed", "spherical", "free") else {"axis": rng.normal(size=3)}
        pitch = {"pitch": 0.3} if kind == "screw" else {}
        ends = (body, above) if backwards else (above, body)
        getattr(model, kind)(kind, *ends, at=(p + q) / 2.0, **axis, **pitch)
        model.spring(f"spring at {kind}", above, body, at_a=p, at_b=q + 0.1 * rng.normal(size=3), stiffness=200.0)
        above, p = body, q
    run = ps.simulate(model, 3.0, rtol=1e-13, atol=1e-14, output_step=0.01)
    assert run.settings["degrees_of_freedom"] == 0 + 1 + 1 + 2 + 2 + 3 + 3 + 1 + 6
    assert run.energy_drift < 1e-12
    assert max(run.position_error, run.velocity_error) < 1e-12
    moved = np.abs(run.arrays["joint_velocity"]).max(axis=0)
    counts = [0, 1, 1, 2, 2, 3, 3, 1, 6]
    assert [np.count_nonzero(joint > 0.01) for joint in moved] == counts
    assert np.isnan(run.arrays["joint_position"]).sum(axis=2)[0].tolist() == [6 - count for count in counts]


# ------------------------------------------------------------------------------------------ stops on the way


def test_progress_is_told_increasing_times_to_the_end():
    told = []
    ps.simulate(pendulum(), 20.0, step=0.001, method="rk4", progress=told.append)
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == 20.0


def test_a_progress_bar_goes_to_standard_error(capsys):
    ps.simulate(pendulum(), 1.0, progress=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("output_step", [None, 0.0137])
def test_an_interrupted_run_keeps_what_was_computed(output_step):
    def interrupt(now):
        if now > 5.0:
            raise KeyboardInterrupt

    settings = {"step": 0.001, "method": "rk4", "output_step": output_step}
    run = ps.simulate(pendulum(), 100.0, progress=interrupt, **settings)
    assert not run.complete
    assert 5.0 - 0.0137 < run.time[-1] < 100.0
    assert run.stats.steps < 100_000
    whole = ps.simulate(pendulum(), float(run.time[-1]), **settings)
    n = min(run.time.size, whole.time.size) - 1
    for name in ("time", "position", "energy"):
        interrupted, complete = (getattr(r, name) if name == "time" else r.arrays[name] for r in (run, whole))
        np.testing.assert_array_equal(interrupted[:n], complete[:n])
    assert "stopped at" in run.summary()


def test_errors_in_progress_are_the_users():
    def fail(_):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        ps.simulate(pendulum(), 1.0, progress=fail)


@ps.load
def growing(t, body, rate):
    """A force that has no value any more after a while."""
    grown = np.exp(rate * body.position[0] + 0.0 * t)
    return (grown * grown, 0.0, 0.0), (0.0, 0.0, 0.0)


@ps.load
def undefined_late(t, body):
    """A force whose square root has no value after one second."""
    return (np.sqrt(1.0 - t), 0.0 * body.position[0], 0.0), (0.0, 0.0, 0.0)


@ps.load
def undefined(t, body):
    """A force along the direction of motion, which a body at rest has not."""
    v = body.velocity
    speed = np.sqrt(v[1] * v[1]) + 0.0 * t
    return (v[1] / speed, 0.0, 0.0), (0.0, 0.0, 0.0)


STEPPINGS = pytest.mark.parametrize(
    "stepping",
    [{}, {"method": "dopri5"}, {"output_step": 0.01}, {"step": 0.003}, {"step": 0.003, "output_step": 0.01}],
    ids=str,
)


def check_failure(caught, cause):
    error = caught.value
    run = error.run
    assert isinstance(error, ps.SimulationError)
    assert f'model "ball": recursive with {run.settings["method"]} stops after t = ' in str(error)
    assert cause in str(error)
    assert error.time == run.time[-1]
    assert not run.complete
    assert run.time.size == run.arrays["position"].shape[0]
    return run


@STEPPINGS
def test_a_load_that_grows_without_bound_is_an_error_that_keeps_the_run(stepping):
    model = ball()
    model.load("fire", growing, "ball", rate=2.0)
    with pytest.raises(ps.SimulationError) as caught:
        ps.simulate(model, 10.0, **stepping)
    run = check_failure(caught, "; look for a load that ")
    # x'' = exp(4x) from x = 0 with x' = 1: all is over after about 0.6 s.
    assert 0.3 < caught.value.time < 1.0
    for name, values in run.arrays.items():
        assert not np.isnan(values).any(), name
    assert run.stats.steps > 10


@STEPPINGS
def test_a_load_without_a_value_after_a_while_is_an_error_that_keeps_the_run(stepping):
    model = ball()
    model.load("late", undefined_late, "ball")
    with pytest.raises(ps.SimulationError) as caught:
        ps.simulate(model, 10.0, **stepping)
    run = check_failure(caught, "the accelerations are not finite; look for a load that is not finite")
    assert 0.98 < caught.value.time <= 1.0
    for name, values in run.arrays.items():
        assert np.isfinite(values).all(), name


@STEPPINGS
def test_a_load_without_a_value_at_the_start_is_an_error(stepping):
    model = ball()
    model.load("nothing", undefined, "ball")
    with pytest.raises(ps.SimulationError) as caught:
        ps.simulate(model, 10.0, **stepping)
    run = check_failure(caught, "the accelerations are not finite; look for a load that is not finite")
    assert run.time.tolist() == [0.0]
    assert run.stats.steps == 0


def test_what_is_welded_to_the_ground_rests():
    model = ps.Model("post")
    model.body("post", ps.Inertia.box(mass=2.0, size=(0.1, 0.1, 1.0)), (1.0, 0.0, 0.0))
    model.fixed("foot", model.ground, "post", at=(0.0, 0.0, 0.0))
    model.force("wind", "post", force=("t", 0.0, 0.0))
    run = ps.simulate(model, 2.0, output_step=1.0)
    assert (run.arrays["position"] == (1.0, 0.0, 0.0)).all()
    np.testing.assert_allclose(run.arrays["reaction_force"][:, 0], [(-t, 0.0, 19.62) for t in (0, 1, 2)], atol=1e-12)
    np.testing.assert_allclose(run.arrays["reaction_torque"][:, 0], [(0.0, -19.62, 0.0)] * 3, atol=1e-12)


@pytest.mark.parametrize("atol", [1e-300, 5e-324])
def test_a_tolerance_that_overflows_is_an_error(atol):
    with pytest.raises(ps.SimulationError, match="larger rtol and atol"):
        ps.simulate(ps.case("double-pendulum"), 0.1, rtol=1e-6, atol=atol)


def test_a_run_recorded_in_parts_is_the_same(monkeypatch):
    whole = ps.simulate(ps.case("three-axis-table"), 0.1, step=0.01)
    monkeypatch.setattr(recording, "PART_ROWS", 16)
    parts = ps.simulate(ps.case("three-axis-table"), 0.1, step=0.01)
    for name, values in whole.arrays.items():
        np.testing.assert_array_equal(parts.arrays[name], values)


def test_tolerances_below_rounding_end():
    run = ps.simulate(spatial_chain(), 1.0, rtol=1e-16, atol=1e-18)
    tight = ps.simulate(spatial_chain(), 1.0, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(run.arrays["rotation"][-1], tight.arrays["rotation"][-1], rtol=0, atol=1e-10)
