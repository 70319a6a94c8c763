"""The overview: every panel drawn, legends outside the data, for none, few and many bodies."""

import sys

import numpy as np
import pytest
from synthetic import arrays, synthetic_run

from poinsot.errors import PoinsotError
from poinsot.view.plots import MOST_POINTS, PALETTE


@pytest.mark.parametrize("bodies", [0, 1, 2, 8, 9, 64])
def test_a_line_for_every_body(bodies, tmp_path):
    figure = synthetic_run(bodies=bodies, joints=bodies).plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    paths, speeds, energies, errors = figure.axes[:4]
    assert len(speeds.lines) == bodies
    assert len(paths.lines) == 3 * bodies
    assert [line.get_label() for line in energies.lines] == ["kinetic", "potential", "total"]
    assert errors.get_yscale() == "log"
    has_colorbar = len(figure.axes) == 5
    assert has_colorbar == (bodies > len(PALETTE))


@pytest.mark.parametrize("bodies", [2, 8, 64])
def test_no_legend_covers_data_or_a_title(bodies):
    figure = synthetic_run(bodies=bodies).plot()
    figure.canvas.draw()
    legends = [panel.get_legend() for panel in figure.axes if panel.get_legend()] + figure.legends
    assert len(legends) == (3 if bodies <= len(PALETTE) else 2)
    for legend in legends:
        box = legend.get_window_extent()
        assert not box.overlaps(figure._suptitle.get_window_extent())
        for panel in figure.axes:
            assert not box.overlaps(panel.get_window_extent())
            # A title set at the left is Axes._left_title; `title` is the empty one in the middle.
            assert not box.overlaps(panel._left_title.get_window_extent())


def test_the_key_to_many_bodies_takes_no_room_from_the_panels():
    few, many = (synthetic_run(bodies=bodies).plot() for bodies in (2, 64))
    widths = []
    for figure in (few, many):
        figure.canvas.draw()
        widths.append([panel.get_position().width for panel in figure.axes[:4]])
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.02)


def test_labels_carry_units():
    paths, speeds, energies, _ = synthetic_run().plot().axes
    assert paths.get_xlabel() == "y (m)"
    assert paths.get_ylabel() == "z (m)"
    assert speeds.get_ylabel() == "angular speed (rad/s)"
    assert energies.get_ylabel() == "energy, potential from its start (J)"


def test_gravity_points_down_the_page():
    paths = synthetic_run(settings={"gravity": (0.0, 9.81, 0.0)}).plot().axes[0]
    assert (paths.get_xlabel(), paths.get_ylabel()) == ("z (m)", "y (m)")
    assert paths.yaxis_inverted()


def test_a_change_of_energy_is_an_error_only_where_loads_do_no_work():
    def named(conservative):
        errors = synthetic_run(settings={"conservative": conservative}).plot().axes[3]
        return [line.get_label() for line in errors.lines]

    assert named(True) == ["energy", "joints", "joint rates", "rotations"]
    assert named(False) == ["joints", "joint rates", "rotations"]


def test_a_long_run_is_thinned_out():
    figure = synthetic_run(times=3 * MOST_POINTS).plot()
    assert figure.axes[1].lines[0].get_xdata().size <= MOST_POINTS


def test_one_instant_and_exact_zeros_are_drawn(tmp_path):
    values = arrays(times=1)
    for name in ("position_error", "velocity_error", "rotation_error"):
        values[name] = np.zeros(1)
    synthetic_run(times=1, values=values).plot(tmp_path / "run.svg")
    assert (tmp_path / "run.svg").stat().st_size > 0


def test_an_unknown_format_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(PoinsotError, match=r"must end in \.png or \.pdf or \.svg"):
        synthetic_run().plot(tmp_path / "run.gif")


def test_plotting_leaves_pyplot_alone(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    synthetic_run().plot(tmp_path / "run.png")
    assert "matplotlib.pyplot" not in sys.modules
