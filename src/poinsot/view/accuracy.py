"""Pictures of exactness: errors over steps beside the slope of an order, and the work that a precision takes.

Points that the reference or rounding leaves uncertain are hollow. Figures are made as in view/plots.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import NullFormatter, NullLocator

from poinsot.view.plots import INK, PALETTE, STYLE, Array

MARKERS = "osD^vP*X"
# The slope of the declared order is drawn so far below the least error.
GAP = 4.0
# More steps than these have no room for their names.
MOST_NAMED = 6


def convergence_figure(
    title: str,
    order: int,
    steps: Array,
    errors: Mapping[str, Array],
    counted: Mapping[str, Any],
    slopes: Mapping[str, float],
) -> Figure:
    """Errors over steps, a line for each quantity, and a dashed one with the slope of the order."""
    with matplotlib.rc_context(STYLE):
        figure = _figure(title, (8.0, 5.2))
        axes = figure.subplots()
        for number, (name, values) in enumerate(errors.items()):
            found = f"{slopes[name]:.2f}" if np.isfinite(slopes[name]) else "none"
            _line(axes, number, steps, values, counted[name], f"{name.replace('_', ' ')}, slope {found}")
        _slope(axes, order, steps, errors, counted)
        axes.set(xlabel="step (s)", ylabel="largest error (relative; rotation in rad)")
        _logarithmic(axes)
        _mark_steps(axes, steps)
        axes.legend(loc="upper left", bbox_to_anchor=(1.03, 1.0), labelspacing=0.7)
    return figure


def work_precision_figure(title: str, curves: Sequence[Mapping[str, Any]]) -> Figure:
    """Three panels: the error over the one asked for, evaluations over the error, time over the error."""
    with matplotlib.rc_context(STYLE):
        figure = _figure(title, (12.0, 4.6))
        kept, work, time = figure.subplots(1, 3)
        for number, curve in enumerate(curves):
            error, counted = curve["errors"], curve["counted"]
            if curve["adaptive"]:
                _line(kept, number, curve["asked"], error, counted, curve["method"])
            _line(work, number, error, curve["evaluations"], counted, curve["method"])
            _line(time, number, error, curve["seconds"], counted, curve["method"])
        asked = [curve["asked"] for curve in curves if curve["adaptive"]]
        if asked:
            _diagonal(kept, np.concatenate(asked))
        kept.set(title="Error reached (grey: a factor of 10)", xlabel="tolerance", ylabel="largest error")
        work.set(title="Work", xlabel="largest error", ylabel="evaluations")
        time.set(title="Time", xlabel="largest error", ylabel="time (s)")
        for panel in (kept, work, time):
            _logarithmic(panel)
        figure.legend(*work.get_legend_handles_labels(), loc="outside lower center", ncols=len(curves))
    return figure


def _figure(title: str, size: tuple[float, float]) -> Figure:
    figure = Figure(figsize=size, dpi=150, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, color=INK)
    return figure


def _line(axes: Axes, number: int, x: Array, y: Array, counted: Any, label: str) -> None:
    """A line through points, hollow where they do not count; an exact zero has no logarithm and no point."""
    drawn = (x > 0.0) & (y > 0.0)
    order = np.argsort(x[drawn], kind="stable")
    x, y, counted = x[drawn][order], y[drawn][order], counted[drawn][order]
    color, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
    axes.plot(x, y, color=color, marker=marker, markersize=5.0, label=label)
    axes.plot(x[~counted], y[~counted], marker, color=color, markersize=5.0, markerfacecolor="white")


def _slope(axes: Axes, order: int, steps: Array, errors: Mapping[str, Array], counted: Mapping[str, Any]) -> None:
    """The slope of the order, below the lowest line whose points count."""
    heights = [
        np.min(values[counted[name]] / (steps[counted[name]] / steps.max()) ** order)
        for name, values in errors.items()
        if counted[name].any()
    ]
    if heights:
        within = np.concatenate([steps[counted[name]] for name in errors])
        ends = np.array([within.min(), within.max()])
        line = min(heights) / GAP * (ends / steps.max()) ** order
        axes.plot(ends, line, color="#777777", linestyle="--", linewidth=1.1, label=f"order {order}")


def _diagonal(axes: Axes, tolerances: Array) -> None:
    """Where the error is the tolerance, and a factor of 10 to both sides."""
    ends = np.array([tolerances.min(), tolerances.max()])
    axes.fill_between(ends, 0.1 * ends, 10.0 * ends, color="#999999", alpha=0.15, linewidth=0.0)
    axes.plot(ends, ends, color="#777777", linestyle="--", linewidth=1.1)


def _logarithmic(axes: Axes) -> None:
    axes.set(xscale="log", yscale="log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())


def _mark_steps(axes: Axes, steps: Array) -> None:
    """Name the steps themselves, where they are few; powers of ten would name one or none of them."""
    if len(steps) <= MOST_NAMED:
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(steps, [f"{step:g}" for step in steps])
