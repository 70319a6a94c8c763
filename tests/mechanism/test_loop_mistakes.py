"""What cannot be solved gives one clear sentence, through Python and the command line, never NaN."""

from importlib import import_module

import numpy as np
import pytest

import poinsot as ps
from poinsot.cases import Case
from poinsot.cli import main

CLI = import_module("poinsot.cli")
BAR = ps.Inertia.box(mass=1.0, size=(0.5, 0.1, 0.05))
Z = (0, 0, 1)


def four_bar(inertia=BAR, crank=(0.3, 0.4), **velocity):
    model = ps.Model("four-bar", gravity=(0, -9.81, 0))
    corner = (1.0, 0.9)
    model.body("crank", inertia, (crank[0] / 2, crank[1] / 2, 0), **velocity)
    model.body("coupler", inertia, ((crank[0] + corner[0]) / 2, (crank[1] + corner[1]) / 2, 0))
    model.body("rocker", inertia, (1.1, 0.45, 0))
    model.revolute("A", model.ground, "crank", at=(0, 0, 0), axis=Z)
    model.revolute("B", "crank", "coupler", at=(*crank, 0), axis=Z)
    model.revolute("C", "coupler", "rocker", at=(*corner, 0), axis=Z)
    model.revolute("D", model.ground, "rocker", at=(1.2, 0, 0), axis=Z)
    return model


def triangle():
    model = ps.Model("triangle")
    model.body("left", BAR, (0.25, 0.5, 0))
    model.body("right", BAR, (0.75, 0.5, 0))
    model.revolute("A", model.ground, "left", at=(0, 0, 0), axis=Z)
    model.revolute("B", "left", "right", at=(0.5, 1, 0), axis=Z)
    model.revolute("C", model.ground, "right", at=(1, 0, 0), axis=Z)
    return model


def driven(model, **functions):
    for joint, position in functions.items():
        model.drive(f"drive {joint}", joint, position=position)
    return model


def askew():
    """A triangle whose sides are too short: no position closes it."""
    model = ps.Model("askew")
    model.body("left", BAR, (0.1, 0, 0))
    model.body("right", BAR, (0.9, 0, 0))
    model.revolute("A", model.ground, "left", at=(0, 0, 0), axis=Z)
    model.revolute("B", "left", "right", at_a=(0.2, 0, 0), at_b=(0.8, 0, 0), axis=Z)
    model.revolute("C", model.ground, "right", at=(1, 0, 0), axis=Z)
    return model


def massless():
    """A rod that its two ball joints leave free to spin about itself, and that resists nothing there."""
    model = ps.Model("massless")
    model.body("rod", ps.Inertia.rod(mass=1.0, length=1.0), (0, 0, -0.5))
    model.body("plate", BAR, (0, 0, -1.2))
    model.spherical("upper", model.ground, "rod", at=(0, 0, 0))
    model.spherical("lower", "rod", "plate", at=(0, 0, -1))
    model.point_on_line("guide", model.ground, "plate", at=(0, 0, -1.4), axis=Z)
    return model


MISTAKES = {
    "two drives": (lambda: driven(four_bar(), A="t", D="2*t"), 'drive "drive D": at t = 0 it asks for a velocity that'),
    "two drives, later": (lambda: driven(four_bar(), A="t**2", D="2*t**2"), 'drive "drive D" contradicts the other'),
    "locked, velocity": (lambda: driven(triangle(), A="t"), "the joints leave no degrees of freedom"),
    "locked, later": (lambda: driven(triangle(), A="t**2"), r'drive "drive A" contradicts .* at t = 0\.01 s'),
    "drive from elsewhere": (lambda: driven(four_bar(), A="0.2 + t"), r'drive "drive A": it is open by 0\.2 rad'),
    "drawn open": (askew, r'joint "B": its bodies have points .* close the mechanism with model\.assemble\(\)'),
    "no inertia": (massless, r'joint "upper": no inertia behind it resists turning about \(0, 0, 1\)'),
    "dead centre": (lambda: driven(four_bar(), D="-0.5*t"), r'joint "C" cannot be kept closed .* a dead centre'),
    "given velocities": (
        lambda: driven(four_bar(angular_velocity=(0, 0, 1)), A="3*t"),
        r'body "crank": its initial velocity contradicts|drive "drive A": the initial velocities contradict it',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_said_in_python(name):
    build, sentence = MISTAKES[name]
    with pytest.raises(ps.PoinsotError, match=sentence) as error:
        ps.simulate(build(), 1.0, step=0.01)
    assert "\n" not in str(error.value)
    if isinstance(error.value, ps.SimulationError):  # what there is until then is sound
        assert all(np.isfinite(values).all() for values in error.value.run.arrays.values())
        assert error.value.run.position_error <= 1e-6


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_said_on_the_command_line(name, monkeypatch, tmp_path, capsys):
    build, _ = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CLI, "find", lambda _: Case("mistaken", "a mistaken mechanism", "none", build))
    with pytest.raises(SystemExit) as exit_:
        main(["run", "mistaken", "--t-end", "1", "--step", "0.01", "--json"])
    printed = capsys.readouterr()
    assert exit_.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("poinsot: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [{"rtol": 1e-8}, {"step": 0.005, "method": "gauss2"}])
def test_other_methods_name_the_dead_centre_too(arguments):
    with pytest.raises(ps.SimulationError, match=r'drive "drive D" .*look for a dead centre') as error:
        ps.simulate(driven(four_bar(), D="-0.5*t"), 1.0, **arguments)
    assert 0.03 < error.value.time < 0.04  # C is as far from A there as crank and coupler reach


@pytest.mark.parametrize("arguments", [{"rtol": 1e-8}, {"step": 0.005}])
@pytest.mark.parametrize(("function", "time"), [("-0.5*t", 0.037), ("1.5*t", 0.756)])
def test_absolute_coordinates_name_the_dead_centre_too(function, time, arguments):
    with pytest.raises(ps.SimulationError, match="look for a dead centre") as error:
        ps.simulate(driven(four_bar(), D=function), 1.0, formulation="lie-dae", **arguments)
    assert error.value.time == pytest.approx(time, abs=0.005)


def test_drives_that_agree_are_no_mistake():
    run = ps.simulate(driven(four_bar(), A="0", D="0"), 0.1, step=0.01)
    assert {"joint": "drive D", "direction": "prescribed position"} in run.settings["redundant"]
    assert run.position_error <= 1e-12


def test_a_loop_that_cannot_close_names_what_stays_open():
    for ask in (askew().assemble, askew().check):
        with pytest.raises(ps.PoinsotError, match=r'model "askew": it cannot be closed .* joint "B" by') as error:
            ask()
        assert "\n" not in str(error.value)


def test_a_report_never_fails_for_want_of_inertia():
    report = massless().check()
    assert (report.mobility, report.redundant) == (4, ())
