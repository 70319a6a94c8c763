"""Events against closed forms, and what becomes of them: located, recorded, ending or restarting the motion."""

import itertools
import math

import numpy as np
import pytest

import poinsot as ps

G = 9.81
METHODS = ("rk4", "dopri5", "dop853", "rkmk4", "rkmk5", "gauss2", "gauss3")
STEPPING = [{"method": method, "step": 0.1} for method in METHODS] + [
    {"method": method} for method in ("dopri5", "dop853", "rkmk5")
]
HEIGHT = 'position["ball"].z'


def falling():
    """A ball that falls from 10 m, and turns once in a second."""
    model = ps.Model("falling", gravity=(0.0, 0.0, -G))
    inertia = ps.Inertia.sphere(mass=2.0, radius=0.1)
    model.body("ball", inertia, position=(0.0, 0.0, 10.0), angular_velocity=(0.0, 0.0, 2.0 * math.pi))
    return model


def oscillator(frequency=3.0):
    """A wheel on a torsion spring, at rest half a turn away from its rest."""
    model = ps.Model("oscillator", gravity=(0.0, 0.0, 0.0))
    model.body("wheel", ps.Inertia(1.0, (2.0, 2.0, 2.0)))
    model.revolute("axle", model.ground, "wheel", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.torsion_spring("spring", "axle", stiffness=2.0 * frequency**2, rest=1.0)
    return model


def fallen(height):
    return math.sqrt(2.0 * (10.0 - height) / G)


def times(run, name=None):
    return [event.time for event in run.events if name in (None, event.name)]


# ------------------------------------------------------------------------------------------ located


@pytest.mark.parametrize("stepping", STEPPING, ids=lambda stepping: "-".join(map(str, stepping.values())))
def test_events_of_a_fall_are_where_they_should_be(stepping):
    watched = [f"{HEIGHT} - 5", "t - 0.7", lambda t, outputs: outputs.velocity["ball"][2] + 3.0]
    run = ps.simulate(falling(), 1.3, events=watched, **stepping)
    assert times(run, f"{HEIGHT} - 5") == pytest.approx([fallen(5.0)], abs=1e-12)
    assert times(run, "t - 0.7") == pytest.approx([0.7], abs=1e-15)
    assert times(run, "event 3") == pytest.approx([3.0 / G], abs=1e-12)
    assert times(run) == sorted(times(run))
    assert run.time[-1] == 1.3
    first = run.events[0].outputs
    assert first.velocity["ball"][2] == pytest.approx(-3.0, abs=1e-11)
    assert first.rotation_error < 1e-14


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_turning_points_of_an_oscillator(method):
    watched = ps.Event('joint_velocity["axle"]', name="turning")
    run = ps.simulate(oscillator(), 5.0, rtol=1e-13, atol=1e-15, method=method, events=watched)
    expected = [n * math.pi / 3.0 for n in range(1, 5)]
    assert times(run) == pytest.approx(expected, abs=1e-12 if method == "dop853" else 1e-11)
    assert [event.outputs.joint_position["axle"] for event in run.events] == pytest.approx([2.0, 0.0] * 2, abs=1e-11)


def test_an_expression_and_a_function_of_the_same_find_the_same():
    model = ps.case("double-pendulum")
    text = 'joint_position["H1"][1] + 0.1*reaction_force["O"].z/(1 + kinetic_energy) - linear_momentum.y*t'

    def same(t, outputs):
        pull = 0.1 * outputs.reaction_force["O"][2] / (1.0 + outputs.kinetic_energy)
        return outputs.joint_position["H1"][1] + pull - outputs.linear_momentum[1] * t

    run = ps.simulate(model, 3.0, events=[text, same])
    assert len(times(run, text)) > 2
    assert times(run, text) == pytest.approx(times(run, "same"), abs=1e-12)


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("both", 4), (0, 4), ("rising", 2), (1, 2), ("falling", 2), (-1, 2)],
)
def test_only_the_wanted_direction_counts(direction, expected):
    event = ps.Event('joint_position["axle"] - 1', direction=direction)
    run = ps.simulate(oscillator(), 4.0, step=0.05, events=event)
    half = math.pi / 6.0
    crossings = [half * n for n in ((1, 3, 5, 7) if expected == 4 else (1, 5) if event.sign == 1 else (3, 7))]
    assert times(run) == pytest.approx(crossings, abs=1e-4)


def test_a_zero_at_the_start_is_no_event_but_for_rounding_either():
    model = oscillator()
    watched = ['joint_velocity["axle"]', "t", "sin(pi*t)*cos(pi/2)", "0.1 + 0.2 - 0.3 - t"]
    run = ps.simulate(model, 0.9, step=0.1, events=watched)
    assert times(run) == []
    assert run.settings["events"] == watched


def test_a_zero_at_the_very_end_is_an_event():
    run = ps.simulate(falling(), 1.0, events=["t - 1", "1 - t"])
    assert times(run) == [1.0, 1.0]
    assert run.time[-1] == 1.0


def test_many_events_in_one_step_come_in_the_order_of_time():
    watched = [f"t - {n / 20}" for n in (7, 3, 5, 1)]
    run = ps.simulate(falling(), 1.0, step=1.0, events=watched)
    assert [event.name for event in run.events] == ["t - 0.05", "t - 0.15", "t - 0.25", "t - 0.35"]
    assert run.stats.steps == 1


def test_a_zero_at_the_end_of_a_step_happens_once():
    run = ps.simulate(falling(), 2.0, step=0.25, events=["t - 0.5", ps.Event("t - 1", restart=True)])
    assert times(run) == [0.5, 1.0]


def test_a_jump_through_zero_is_an_event():
    run = ps.simulate(falling(), 1.0, step=0.3, events="where(t > 0.777, 1, -1)")
    assert times(run) == pytest.approx([0.777], abs=1e-12)


def test_events_change_nothing_of_the_motion():
    alone = ps.simulate(ps.case("double-pendulum"), 2.0, output_step=0.1)
    watched = ps.simulate(ps.case("double-pendulum"), 2.0, output_step=0.1, events=['velocity["lower"].y', "t - 1.23"])
    assert len(watched.events) > 2
    for name, values in alone.arrays.items():
        assert np.array_equal(values, watched.arrays[name]), name


# ------------------------------------------------------------------------------------------ terminal


@pytest.mark.parametrize("stepping", STEPPING, ids=lambda stepping: "-".join(map(str, stepping.values())))
@pytest.mark.parametrize("output_step", [None, 0.25])
def test_a_terminal_event_ends_the_motion(stepping, output_step):
    event = ps.Event(HEIGHT, terminal=True, name="impact")
    run = ps.simulate(falling(), 10.0, events=event, output_step=output_step, **stepping)
    assert run.time[-1] == run.events[-1].time == pytest.approx(fallen(0.0), abs=1e-12)
    assert run.arrays["position"][-1, 0, 2] == pytest.approx(0.0, abs=1e-11)
    assert run.complete
    assert run.settings["ended_by"] == ["impact"]
    if output_step is not None:
        assert run.time[:-1] == pytest.approx(np.arange(6) * 0.25)


def test_terminal_events_at_once_all_happen():
    watched = [ps.Event(text, terminal=True) for text in ("t - 0.5", "1 - 2*t", "t**2 - 0.25", "t - 0.6")]
    run = ps.simulate(falling(), 1.0, step=0.2, events=[*watched, "t - 0.55"])
    assert sorted(run.settings["ended_by"]) == ["1 - 2*t", "t - 0.5", "t**2 - 0.25"]
    assert times(run) == pytest.approx([0.5] * 3, abs=1e-12)
    assert run.time == pytest.approx([0.0, 0.2, 0.4, 0.5])


# ------------------------------------------------------------------------------------------ restarting


def kicked(jump=0.777):
    """A pendulum that is pushed from a moment on."""
    model = ps.Model("kicked")
    rod = ps.Inertia.box(mass=2.0, size=(0.1, 0.1, 1.0))
    model.body("rod", rod, position=(0.5, 0.0, 0.0))
    model.revolute("hinge", model.ground, "rod", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    model.torque("kick", "rod", torque=(0.0, f"where(t > {jump}, 5, 0)", 0.0))
    return model


def angle(**arguments):
    return float(ps.simulate(kicked(), 1.6, **arguments).arrays["joint_position"][-1, 0])


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("rkmk4", 4), ("dopri5", 5), ("rkmk5", 5), ("gauss2", 4)])
def test_a_restart_where_a_load_jumps_keeps_the_order(method, order):
    restart = ps.Event("t - 0.777", restart=True)
    exact = angle(rtol=1e-13, atol=1e-14, events=restart)
    steps = 1.6 / np.array([64, 96, 128, 192, 256])
    kept = [abs(angle(step=h, method=method, events=restart) - exact) for h in steps]
    lost = [abs(angle(step=h, method=method) - exact) for h in steps]
    assert np.polyfit(np.log(steps), np.log(kept), 1)[0] == pytest.approx(order, abs=0.2)
    assert max(kept) < 0.01 * max(lost)
    assert np.polyfit(np.log(steps), np.log(lost), 1)[0] < 2.5


@pytest.mark.parametrize("compare", [">", ">="])
def test_a_jump_at_the_end_of_a_step_is_seen_from_its_own_side(compare):
    model = ps.Model("pushed", gravity=(0.0, 0.0, 0.0))
    model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1))
    model.force("push", "ball", force=(f"where(t {compare} 0.5, 3, 1)", 0.0, 0.0))
    for step in (0.25, 0.1, 0.3):
        run = ps.simulate(model, 1.0, step=step, method="rk4", events=ps.Event("t - 0.5", restart=True))
        assert run.arrays["velocity"][-1, 0, 0] == pytest.approx(0.5 + 1.5, abs=1e-12)
        assert run.arrays["position"][-1, 0, 0] == pytest.approx(0.125 + 0.25 + 0.375, abs=1e-12)


def test_fixed_steps_keep_their_grid_behind_a_restart():
    run = ps.simulate(kicked(), 1.6, step=0.1, events=ps.Event("t - 0.777", restart=True))
    assert run.time == pytest.approx(sorted([*np.arange(17) * 0.1, 0.777]))


def test_adaptive_steps_step_onto_a_jump_instead_of_creeping_up_to_it():
    blind = ps.simulate(kicked(), 1.6)
    seen = ps.simulate(kicked(), 1.6, events=ps.Event("t - 0.777", restart=True))
    assert blind.stats.rejected > 20
    assert seen.stats.rejected < 10
    assert seen.stats.steps < 0.8 * blind.stats.steps
    assert 0.777 in seen.time


def test_a_force_that_jumps_with_the_state_is_met_exactly():
    @ps.load
    def floor(t, body, stiffness):
        z = body.position[2]
        return (0.0, 0.0, ps.select(z < 0.0, stiffness - 0.0 * z, 0.0 * z)), (0.0, 0.0, 0.0)

    model = falling()
    model.load("floor", floor, "ball", stiffness=2.0 * 5.0 * G)
    impact, speed = fallen(0.0), math.sqrt(20.0 * G)
    run = ps.simulate(model, 3.5, step=0.05, method="rk4", events=ps.Event(HEIGHT, restart=True))
    expected = [impact, impact + 2.0 * speed / (4.0 * G)]  # down and up again under an upward 4 g
    assert times(run) == pytest.approx(expected, abs=1e-12)
    assert run.arrays["velocity"][-1, 0, 2] == pytest.approx(speed - G * (3.5 - expected[1]), abs=1e-10)


def test_restarts_that_are_many_each_happen_once():
    event = ps.Event("sin(20*pi*t + 0.3)", name="tick", restart=True)
    for stepping in ({"step": 0.033}, {}, {"step": 0.033, "output_step": 0.01}):
        run = ps.simulate(falling(), 1.0, events=event, **stepping)
        expected = (np.arange(1, 21) - 0.3 / math.pi) / 20.0
        if stepping:
            assert times(run) == pytest.approx(expected, abs=1e-12)
        assert all(a < b for a, b in itertools.pairwise(times(run)))
        assert run.time[-1] == 1.0


def test_restarts_of_a_smooth_motion_do_not_disturb_it():
    model, tolerances = ps.case("double-pendulum"), {"rtol": 1e-10, "atol": 1e-12, "output_step": 0.1}
    texts = ('velocity["lower"].y', 'position["upper"].y', "sin(9*t)")
    alone = ps.simulate(model, 3.0, **tolerances)
    run = ps.simulate(model, 3.0, events=[ps.Event(text, restart=True) for text in texts], **tolerances)
    assert times(run, "sin(9*t)") == pytest.approx(np.arange(1, 9) * math.pi / 9.0, abs=1e-12)
    assert np.array_equal(run.time, alone.time)
    np.testing.assert_allclose(run.arrays["position"], alone.arrays["position"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("stepping", [{"step": 0.25}, {}])
@pytest.mark.parametrize("moment", [1e-15, 1e-13, 1e-9, 0.5, 1.0 - 1e-13, 1.0])
def test_restarts_at_the_ends_of_the_motion_and_between_happen_once(moment, stepping):
    run = ps.simulate(falling(), 1.0, events=ps.Event(f"t - {moment!r}", restart=True), **stepping)
    assert times(run) == pytest.approx([moment], abs=1e-12)
    assert run.complete
    assert run.time[-1] == pytest.approx(1.0, abs=1e-12)
    assert run.arrays["position"][-1, 0, 2] == pytest.approx(10.0 - 0.5 * G, abs=1e-11)


# ------------------------------------------------------------------------------------------ recorded


def test_what_happened_is_saved_and_read_back(tmp_path):
    watched = ["t - 0.5", ps.Event(HEIGHT, terminal=True, name="impact")]
    run = ps.simulate(falling(), 10.0, events=watched)
    loaded = ps.load(run.save(tmp_path / "run.nc"))
    assert [(event.name, event.time) for event in loaded.events] == [(event.name, event.time) for event in run.events]
    for event, again in zip(run.events, loaded.events, strict=True):
        for name, values in event.outputs.arrays.items():
            np.testing.assert_array_equal(values, again.outputs.arrays[name])
    assert loaded.complete
    line = '1 of "t - 0.5", 1 of "impact"; ended by "impact" at t = 1.42784312 s'
    assert line in loaded.summary()
    assert line in run.summary()
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(tmp_path / "run.nc", group="events", engine="h5netcdf") as read:
        assert read["time"].values.tolist() == times(run)
        assert read["position"].dims == ("event", "body", "component")


def test_the_summary_says_what_did_not_happen():
    run = ps.simulate(falling(), 0.1, events="t - 5")
    assert 'events     none of "t - 5"' in run.summary()
    assert "events" not in ps.simulate(falling(), 0.1).summary()


def test_outputs_have_numbers_and_arrays_by_name():
    run = ps.simulate(ps.case("double-pendulum"), 0.5, events="t - 0.25")
    outputs = run.events[0].outputs
    assert outputs.position["lower"].shape == (3,)
    assert outputs.rotation["lower"].shape == (3, 3)
    assert outputs.joint_position["H1"].shape == (3,)
    assert isinstance(outputs.energy, float)
    assert list(outputs.reaction_force) == ["O", "H1"]
    assert {"energy", "position"} <= set(dir(outputs))
    assert len(outputs.position) == 2
    assert "position" in repr(outputs)
    with pytest.raises(KeyError, match="did you mean"):
        outputs.position["lowr"]
    with pytest.raises(AttributeError, match='no output "postion"; did you mean "position"'):
        _ = outputs.postion
    outputs.position["lower"][:] = 0.0
    assert outputs.position["lower"].any()
    hinge = ps.simulate(oscillator(), 0.5, events="t - 0.25").events[0].outputs
    assert isinstance(hinge.joint_position["axle"], float)


def test_names_are_unique():
    run = ps.simulate(falling(), 0.1, events=["t", "t", lambda t, outputs: t, ps.Event("t", name="t (2)")])
    assert run.settings["events"] == ["t", "t (3)", "event 3", "t (2)"]
    with pytest.raises(ps.PoinsotError, match='event "a": the name is taken already'):
        ps.simulate(falling(), 0.1, events=[ps.Event("t", name="a"), ps.Event("2*t", name="a")])


# ------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ps.Event(3), "event: 3 is neither an expression nor a function; give an expression such as"),
        (lambda: ps.Event("t", name=""), "event: the name '' is not one"),
        (lambda: ps.Event("t", name=3), "event: the name 3 is not one"),
        (lambda: ps.Event("t", direction="up"), 'event "t": there is no direction "up"'),
        (lambda: ps.Event("t", direction=2), 'event "t": direction 2 is none of "both", "rising", "falling"'),
        (lambda: ps.Event("t", direction=True), 'event "t": direction True is none of'),
        (lambda: ps.Event("t", terminal=1), 'event "t": terminal 1 is neither True nor False'),
    ],
)
def test_a_mistaken_event_is_refused(make, sentence):
    with pytest.raises(ps.PoinsotError) as caught:
        make()
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        (5, "simulate: events 5 are none; give an expression"),
        ([5], "event: 5 is neither an expression nor a function"),
        ('position["bal"].z', 'is not the name of a body; did you mean "ball"?'),
        ("", 'event "event 1": the expression is empty'),
        ("sqrt(-1 - t)", 'event "sqrt(-1 - t)": its value at t = 0 s is not a number'),
        (lambda t: t, 'event "event 1": the function does not take two arguments; write a function of (t, outputs)'),
        (lambda t, outputs: None, "the function returned None at t = 0 s; return one real number"),
        (lambda t, outputs: 1j, "the function returned 1j at t = 0 s"),
        (lambda t, outputs: True, "the function returned True at t = 0 s"),
        (lambda t, outputs: outputs.position["ball"], "the function returned (0, 0, 10) at t = 0 s"),
        (lambda t, outputs: math.nan, "its value at t = 0 s is not a number"),
        (lambda t, outputs: outputs.position["bal"][2], 'failed at t = 0 s with KeyError: there is no body "bal"'),
        (lambda t, outputs: outputs.heat, 'with AttributeError: there is no output "heat"'),
    ],
)
def test_a_mistake_at_the_start_is_refused(events, sentence):
    with pytest.raises(ps.PoinsotError) as caught:
        ps.simulate(falling(), 1.0, events=events)
    assert sentence in str(caught.value)
    assert not isinstance(caught.value, ps.SimulationError)


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("sqrt(0.35 - t)", 'event "e": its value at t = 0.4 s is not a number'),
        (lambda t, outputs: math.nan if t > 0.35 else 1.0, 'event "e": its value at t = 0.4 s is not a number'),
        (
            lambda t, outputs: 1 // 0 if t > 0.35 else np.float64(1.0),
            'event "e": the function failed at t = 0.4 s with',
        ),
        (lambda t, outputs: None if t > 0.35 else np.array(1.0), 'event "e": the function returned None at t = 0.4 s'),
    ],
)
def test_what_goes_wrong_later_keeps_the_results_until_then(what, sentence):
    with pytest.raises(ps.SimulationError) as caught:
        ps.simulate(falling(), 1.0, step=0.1, events=["t - 0.05", ps.Event(what, name="e")])
    assert sentence in str(caught.value)
    assert caught.value.time == pytest.approx(0.3)
    assert times(caught.value.run) == pytest.approx([0.05])
    assert not caught.value.run.complete


def test_a_function_that_only_a_rejected_step_upsets_is_asked_again():
    def restless(t, outputs):
        return math.sqrt(4.0 - outputs.joint_velocity["hinge"] ** 2 / 1e3) - 1.0

    run = ps.simulate(kicked(), 1.6, events=[restless, ps.Event("t - 0.777", restart=True)])
    assert run.complete
