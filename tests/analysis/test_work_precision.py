"""Work and precision: errors follow tolerances, costs are counted, and table, data and picture show both."""

import numpy as np
import pytest

import poinsot as ps


@pytest.fixture(scope="module")
def found():
    """Two adaptive methods and a fixed-step one on the double pendulum."""
    return ps.analysis.work_precision(
        ps.case("double-pendulum"), ["dopri5", "dop853", "rk4"], (1e-5, 1e-8, 1e-11), steps=(0.01, 0.005), t_end=1.0
    )


def test_errors_follow_the_tolerance_and_cost_work(found):
    for curve in found.curves[:2]:
        assert (np.diff(curve.errors) < 0.0).all()
        assert (np.diff(curve.evaluations) > 0).all()
        assert (curve.errors < 20.0 * curve.asked).all()
        assert (curve.seconds > 0.0).all()


def test_fixed_steps_have_the_errors_of_convergence(found):
    alike = ps.analysis.convergence(ps.case("double-pendulum"), steps=(0.01, 0.005), t_end=1.0)
    worst = np.max([alike.errors[name] for name in found.quantities], axis=0)
    np.testing.assert_array_equal(found.curves[2].errors, worst)
    np.testing.assert_array_equal(found.curves[2].evaluations, (401, 801))


def test_errors_near_the_references_uncertainty_do_not_count(found):
    for curve in found.curves:
        assert curve.counted[curve.errors > 20.0 * found.reference_uncertainty].all()
        assert not curve.counted[curve.errors < found.reference_uncertainty].any()


def test_the_table_has_a_line_for_each(found):
    lines = found.table().splitlines()
    assert lines[0] == "double pendulum over 1 s: recursive, work and precision"
    assert [line.split()[:2] for line in lines[3:6]] == [["dopri5", "1e-05"], ["dopri5", "1e-08"], ["dopri5", "1e-11"]]
    assert lines[9].split()[:3] == ["rk4", "0.01", "s"]
    assert any(line.startswith("reference: uncertain by") for line in lines)


def test_the_data_hold_a_run_for_each_line(found):
    assert found.data.sizes == {"run": 8}
    assert list(found.data["method"].values) == ["dopri5"] * 3 + ["dop853"] * 3 + ["rk4"] * 2
    np.testing.assert_array_equal(found.data["errors"][:3], found.curves[0].errors)


def test_the_plot_shows_error_work_and_time(found, tmp_path):
    kept, work, time = found.plot(tmp_path / "work.svg").axes
    assert (tmp_path / "work.svg").stat().st_size > 0
    assert all((panel.get_xscale(), panel.get_yscale()) == ("log", "log") for panel in (kept, work, time))
    assert [line.get_label() for line in work.lines[::2]] == ["dopri5", "dop853", "rk4"]
    assert len(kept.lines) == 2 * 2 + 1


def test_methods_are_those_that_go_with_the_formulation():
    model, brief = ps.case("free-body"), {"tolerances": (1e-6,), "t_end": 0.1}
    assert {curve.method for curve in ps.analysis.work_precision(model, **brief).curves} >= {"dopri5", "dop853"}
    every = ps.analysis.work_precision(model, steps=[0.01], **brief).curves
    assert {"rk4", "rkmk4"} <= {curve.method for curve in every if not curve.adaptive}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"methods": ["rk4"]}, 'method "rk4" does not estimate its error; give steps='),
        ({"methods": ["dopri"]}, 'did you mean "dopri5"'),
        ({"methods": "dopri5"}, "give a list of names"),
        ({"methods": []}, "give a list of names"),
        ({"method": "rk4"}, "method is chosen by the analysis itself"),
        ({"formulation": "recursiv"}, 'did you mean "recursive"'),
        ({"tolerances": ()}, "give at least 1"),
        ({"tolerances": (0.0,)}, "tolerance 0 is not positive"),
        ({"steps": ()}, "give at least 1"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(given, sentence):
    with pytest.raises(ps.PoinsotError, match=sentence):
        ps.analysis.work_precision(ps.case("heavy-top"), **{"t_end": 0.1, **given})
