"""The overview of a run on one page: paths, angular speeds, energies, and errors on a logarithmic scale.

Figures are made without pyplot, so nothing is shown, kept or shared between them. Few bodies get a colour and a
name each, from a palette that the common kinds of colour blindness can tell apart; many are shaded in their order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Okabe and Ito (2008), without the yellow, which is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
SHADES = colormaps["viridis"]
INK, PALE = "#333333", "#E4E4E4"

# Errors that happen to be smaller than this say nothing more.
ROUNDING = 1e-18

# More points than a page has pixels only cost time.
MOST_POINTS = 4000

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#999999",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.borderaxespad": 0.0,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.2,
    "lines.linewidth": 1.3,
    "lines.solid_capstyle": "round",
}


def overview(
    title: str,
    time: Array,
    bodies: Sequence[str],
    arrays: Mapping[str, Array],
    energy_change: Array,
    settings: Mapping[str, Any],
) -> Figure:
    """Four panels: paths of the centres of mass, angular speeds, energies, errors."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 7.6), dpi=150, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
        FigureCanvasAgg(figure)
        how = f"{settings.get('formulation', '')}, {settings.get('method', '')}".strip(", ")
        figure.suptitle(f"{title} ({how})" if how else title, x=0.012, ha="left", fontsize=13, color=INK)
        (paths, speeds), (energies, errors) = figure.subplots(2, 2)
        colors = _colors(len(bodies))
        stride = max(1, -(-time.size // MOST_POINTS))
        _paths(paths, arrays["position"][::stride], colors, np.asarray(settings.get("gravity") or np.zeros(3)))
        _speeds(speeds, time[::stride], arrays["angular_velocity"][::stride], colors)
        _energies(energies, time, arrays)
        _errors(errors, time, arrays, energy_change if settings.get("conservative", True) else None)
        for panel in (speeds, energies, errors):
            panel.set_xlabel("time (s)")
            if time.size > 1:
                panel.set_xlim(float(time[0]), float(time[-1]))
        _name_bodies(figure, speeds, bodies, colors)
    return figure


def _colors(count: int) -> list[Any]:
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return [SHADES(0.95 * i / (count - 1)) for i in range(count)]


def _line_width(colors: Sequence[Any]) -> float:
    return 1.3 if len(colors) <= len(PALETTE) else 0.7


def _paths(axes: Axes, position: Array, colors: Sequence[Any], gravity: Array) -> None:
    """The paths as seen from the side: the axis of gravity upright, the other one along which most happens across.

    Without gravity, the two axes along which the system extends most.
    """
    extent = np.ptp(position.reshape(-1, 3), axis=0) if position.size else np.ones(3)
    widest = np.argsort(-extent, kind="stable")
    if gravity.any():
        up = int(np.argmax(np.abs(gravity)))
        across = int(next(axis for axis in widest if axis != up))
    else:
        across, up = sorted(int(axis) for axis in widest[:2])
    size = 4.5 if len(colors) <= len(PALETTE) else 2.0
    for body, color in enumerate(colors):
        x, y = position[:, body, across], position[:, body, up]
        axes.plot(x, y, color=color, linewidth=_line_width(colors))
        axes.plot(x[:1], y[:1], "o", color=color, markersize=size, markerfacecolor="white")
        axes.plot(x[-1:], y[-1:], "o", color=color, markersize=size)
    axes.set_aspect("equal", adjustable="datalim")
    if gravity[up] > 0.0:
        axes.invert_yaxis()
    axes.set(title="Paths of the centres of mass (open: start, full: end)")
    axes.set(xlabel=f"{'xyz'[across]} (m)", ylabel=f"{'xyz'[up]} (m)")


def _speeds(axes: Axes, time: Array, angular_velocity: Array, colors: Sequence[Any]) -> None:
    speed = np.linalg.norm(angular_velocity, axis=-1)
    for body, color in enumerate(colors):
        axes.plot(time, speed[:, body], color=color, linewidth=_line_width(colors))
    axes.set(title="Angular speed", ylabel="angular speed (rad/s)")


def _energies(axes: Axes, time: Array, arrays: Mapping[str, Array]) -> None:
    # The zero of the potential is arbitrary; at the start it keeps the three lines together.
    zero = arrays["potential_energy"][:1]
    for values, label, color, dashes in (
        (arrays["kinetic_energy"], "kinetic", PALETTE[0], "-"),
        (arrays["potential_energy"] - zero, "potential", PALETTE[1], "-"),
        (arrays["energy"] - zero, "total", PALETTE[6], "--"),
    ):
        axes.plot(time, values, color=color, label=label, linestyle=dashes)
    axes.set(title="Energy", ylabel="energy, potential from its start (J)")
    _legend_beside_title(axes)


def _errors(axes: Axes, time: Array, arrays: Mapping[str, Array], energy_change: Array | None) -> None:
    """Errors on a logarithmic scale; a change of energy is one only where loads do no work."""
    lines = [
        (arrays["position_error"], "joints", PALETTE[0]),
        (arrays["velocity_error"], "joint rates", PALETTE[5]),
        (arrays["rotation_error"], "rotations", PALETTE[1]),
    ]
    label = "joints (m, rad; per s)"
    if energy_change is not None:
        lines.insert(0, (np.abs(energy_change), "energy", PALETTE[6]))
        label = f"energy (relative), {label}"
    for values, name, color in lines:
        # A zero has no logarithm: the line is interrupted there.
        axes.plot(time, np.where(values > 0.0, values, np.nan), color=color, label=name, linewidth=1.0)
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    if bottom < ROUNDING < top:
        axes.set_ylim(bottom=ROUNDING)
    axes.set(title="Errors", ylabel=label)
    _legend_beside_title(axes)


def _legend_beside_title(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.02), ncols=len(axes.lines))


def _name_bodies(figure: Figure, speeds: Axes, bodies: Sequence[str], colors: Sequence[Any]) -> None:
    if len(bodies) > len(PALETTE):
        shading = ScalarMappable(Normalize(1, len(bodies)), SHADES)
        # Below all panels, as the names of few bodies are: beside one it would narrow the column and crowd its legends.
        figure.colorbar(
            shading, ax=figure.axes, label="body, in order of addition", location="bottom", shrink=0.4, aspect=50
        )
    else:
        in_one_row = sum(len(name) + 6 for name in bodies) < 150
        figure.legend(speeds.lines, bodies, loc="outside lower center", ncols=len(PALETTE) if in_one_row else 2)
