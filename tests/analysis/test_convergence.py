"""Convergence: the order that a method shows, the reference's own uncertainty, tables, data, pictures, mistakes."""

import sys

import numpy as np
import pytest
from convergence.motions import spatial_chain
from scipy.spatial.transform import Rotation
from synthetic import synthetic_run

import poinsot as ps
from poinsot.analysis.reference import TIGHT
from poinsot.cases import free_body

STEPS = {
    "rk4": (1 / 800, 1 / 1120, 1 / 1600, 1 / 2240),
    "rkmk4": (1 / 800, 1 / 1120, 1 / 1600, 1 / 2240),
    "dop853": (1 / 120, 1 / 150, 1 / 180, 1 / 210, 1 / 250, 1 / 300),
}
TOP = {"t_end": 0.5, "steps": (0.01, 0.005)}


@pytest.fixture(scope="module")
def found():
    """The heavy top by dop853, in steps of which the last ones reach the plateau, not in order."""
    return ps.analysis.convergence(
        ps.case("heavy-top"), method="dop853", steps=(0.02, 0.04, 0.03, 0.004, 0.002), t_end=1.0
    )


@pytest.mark.parametrize("method", STEPS)
def test_slopes_are_the_order(method):
    found = ps.analysis.convergence(spatial_chain(), method=method, steps=STEPS[method], t_end=1.0)
    assert found.order == {"rk4": 4, "rkmk4": 4, "dop853": 8}[method]
    for name in ("rotation", "position"):
        assert found.counted[name].all()
        assert found.slopes[name] == pytest.approx(found.order, abs=0.2), name


def test_the_order_shows_across_the_jumps_of_a_model_whose_settings_name_them():
    steps = (0.02, 0.014, 0.01)
    found = ps.analysis.convergence(ps.case("flywheel-pendulum"), steps=steps)
    assert found.slopes["rotation"] == pytest.approx(4.0, abs=0.2)
    # What does not restart there is none of the analysis's concern, and what ends the motion least of all.
    model = ps.case("flywheel-pendulum")
    model.settings["events"] = [*model.settings["events"], "t - 2", ps.Event("t - 3", terminal=True, restart=True)]
    again = ps.analysis.convergence(model, steps=steps)
    np.testing.assert_array_equal(again.errors["rotation"], found.errors["rotation"])
    unsaid = ps.case("flywheel-pendulum")
    del unsaid.settings["events"]
    assert ps.analysis.convergence(unsaid, steps=steps).slopes["rotation"] < 1.5


def test_errors_are_those_of_the_closed_form():
    steps = (0.02, 0.01)
    found = ps.analysis.convergence(ps.case("free-body"), steps=steps, t_end=1.0)
    for step, error in zip(steps, found.errors["rotation"], strict=True):
        run = ps.simulate(ps.case("free-body"), 1.0, step=step, method="rk4")
        relative = run.arrays["rotation"][:, 0] @ np.swapaxes(free_body.motion(run.time)[0], -1, -2)
        assert error == pytest.approx(Rotation.from_matrix(relative).magnitude().max(), rel=1e-6)


def test_errors_do_not_depend_on_units_of_length():
    def pendulum(length):
        model = ps.Model("pendulum", gravity=(0, 0, -9.81 * length))
        model.body("rod", ps.Inertia.box(mass=1.0, size=(0.1 * length, 0.1 * length, length)), (0, 0.5 * length, 0))
        model.spherical("hinge", model.ground, "rod", at=(0, 0, 0))
        return ps.analysis.convergence(model, **TOP)

    metres, kilometres = pendulum(1.0), pendulum(1000.0)
    for name in metres.errors:
        np.testing.assert_allclose(metres.errors[name], kilometres.errors[name], rtol=1e-3)


def test_the_reference_says_how_uncertain_it_is(found):
    assert found.reference_uncertainty.keys() == found.errors.keys()
    assert all(0.0 < uncertainty < 1e-11 for uncertainty in found.reference_uncertainty.values())


def test_a_worse_reference_is_less_certain_and_counts_less(found):
    loose = [{**way, "rtol": 1e-9, "atol": 1e-11} for way in TIGHT]
    steps = found.steps
    worse = ps.analysis.convergence(
        ps.case("heavy-top"), method="dop853", steps=steps, t_end=1.0, reference=loose, quantities=["rotation"]
    )
    assert worse.reference_uncertainty["rotation"] > 100.0 * found.reference_uncertainty["rotation"]
    assert worse.counted["rotation"].sum() < found.counted["rotation"].sum()


def test_what_is_near_the_plateau_is_left_out_of_the_slope(found):
    np.testing.assert_array_equal(found.steps, (0.02, 0.04, 0.03, 0.004, 0.002))
    np.testing.assert_array_equal(found.counted["rotation"][[0, 1, 2, 4]], [True, True, True, False])
    kept = found.counted["rotation"]
    slope = np.polyfit(np.log(found.steps[kept]), np.log(found.errors["rotation"][kept]), 1)[0]
    assert found.slopes["rotation"] == pytest.approx(slope)


def test_too_few_points_have_no_slope():
    found = ps.analysis.convergence(ps.case("heavy-top"), method="dop853", steps=(0.002, 0.001), t_end=0.5)
    assert np.isnan(found.slopes["rotation"])
    assert "slope" in found.table()
    assert "nan" not in found.table()
    assert found.plot().axes


def test_the_table_is_aligned_and_marks_the_plateau(found):
    lines = found.table().splitlines()
    assert lines[0] == "heavy top over 1 s: recursive with dop853, order 8"
    assert lines[2].split() == [
        "step", "(s)", "evaluations", "time", "rotation", "position", "velocity", "angular", "velocity", "energy",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[3:8]] == ["0.02", "0.04", "0.03", "0.004", "0.002"]
    assert lines[3].split()[1] == f"{50 * 12 + 1:,}"
    assert lines[7].endswith("*")
    assert f"{found.slopes['rotation']:.2f}" in lines[8]
    assert lines[9].startswith("reference")
    assert lines[-1].startswith("* within 10 times")
    assert max(map(len, lines)) <= 120


def test_the_data_hold_everything(found):
    data = found.data
    assert data["error"].dims == ("quantity", "step")
    assert float(data["error"].sel(quantity="position", step=0.03)) == found.errors["position"][2]
    assert data["step"].attrs["units"] == "s"
    assert data.attrs["order"] == 8


def test_the_plot_shows_each_quantity_and_the_order(found, tmp_path):
    figure = found.plot(tmp_path / "convergence.png")
    assert (tmp_path / "convergence.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    named = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
    assert len(named) == len(found.errors) + 1
    assert named[-1] == "order 8"
    assert named[0] == f"rotation, slope {found.slopes['rotation']:.2f}"
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [len(line.get_xdata()) for line in hollow] == [(~kept).sum() for kept in found.counted.values()]
    assert "matplotlib.pyplot" not in sys.modules


def test_energy_is_a_quantity_only_where_nothing_does_work():
    model = ps.case("heavy-top").copy()
    model.damper("air", "tip", damping=0.1)
    assert "energy" not in ps.analysis.convergence(model, **TOP).errors
    with pytest.raises(ps.PoinsotError, match="do work, so a change of energy is no error"):
        ps.analysis.convergence(model, quantities=["energy"], **TOP)


def test_many_steps_are_compared_at_some_of_them_only():
    found = ps.analysis.convergence(ps.case("heavy-top"), t_end=0.5, steps=(3.3e-5, 7e-5), quantities=["rotation"])
    assert found.evaluations[0] == 4 * np.ceil(0.5 / 3.3e-5) + 1
    assert (found.errors["rotation"] < 1e-11).all()


def test_options_reach_the_method():
    numbers = ps.analysis.convergence(ps.case("free-body"), **TOP)
    group = ps.analysis.convergence(ps.case("free-body"), group=True, **TOP)
    assert (numbers.errors["rotation"] != group.errors["rotation"]).all()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"steps": (0.01,)}, r"steps \(0.01\): give at least 2 different ones"),
        ({"steps": (0.01, 0.01)}, "at least 2 different ones"),
        ({"steps": 0.01}, "steps 0.01: give a list of numbers"),
        ({"steps": (0.01, -0.1)}, "step -0.1 is not positive"),
        ({"steps": (0.01, "fine")}, "step 'fine' is not a number"),
        ({"steps": (0.01, 3.0)}, "step 3 is longer than the motion of 0.5 s"),
        ({"t_end": 0.0}, "t_end 0 is not positive"),
        ({"method": "rk3"}, 'there is no method "rk3"'),
        ({"formulation": "recursiv"}, 'did you mean "recursive"'),
        ({"quantities": ["rotations"]}, 'did you mean "rotation"'),
        ({"quantities": []}, "give at least one of rotation"),
        ({"rtol": 1e-6}, "rtol is chosen by the analysis itself"),
        ({"gruop": True}, 'did you mean "group"'),
        ({"reference": [{"method": "dop853"}]}, "give two independent ways"),
        ({"reference": [{"method": "dop853"}, {"method": "rk3"}]}, "reference: .*rk4.*; or give another reference="),
        ({"reference": [{"method": "rk4", "step": 0.2}, {"method": "dop853"}]}, "two references differ by"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(given, sentence):
    with pytest.raises(ps.PoinsotError, match=sentence):
        ps.analysis.convergence(ps.case("heavy-top"), **{**TOP, **given})


def test_an_interruption_ends_the_analysis(monkeypatch):
    interrupted = synthetic_run(settings={"t_end": 20.0})
    monkeypatch.setattr("poinsot.analysis.reference.simulate", lambda *_, **__: interrupted)
    with pytest.raises(KeyboardInterrupt):
        ps.analysis.convergence(ps.case("heavy-top"), **TOP)


def test_a_model_is_needed_and_a_duration():
    with pytest.raises(ps.PoinsotError, match="'heavy-top' is not a Model"):
        ps.analysis.convergence("heavy-top", **TOP)
    with pytest.raises(ps.PoinsotError, match='model "spatial chain": its settings have no t_end'):
        ps.analysis.convergence(spatial_chain())
