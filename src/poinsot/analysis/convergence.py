"""Convergence of a method with fixed steps: its errors against a tight reference, and the order that they show."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.analysis.reference import (
    QUANTITIES,
    cost,
    positive_numbers,
    reference_for,
    simulated,
    spacing_of,
)
from poinsot.errors import PoinsotError
from poinsot.methods import methods
from poinsot.model import Model
from poinsot.run import Array, plotted
from poinsot.view.summary import aligned, duration, small

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

STEPS = (0.01, 0.005, 0.0025, 0.00125)
UNCERTAIN = "* within 10 times what reference and rounding leave uncertain, and left out of the slope"


@dataclass(frozen=True, eq=False, repr=False)
class Convergence:
    """Errors at several steps, by quantity, and the slopes that they show in double logarithmic axes.

    Errors are the largest over the run and all bodies. A rotation's is its angle in radians; the others are relative to
    `scales`: positions to the size of the mechanism, velocities to its largest speed, angular velocities to this over
    the size, the energy's change to the largest kinetic energy. `counted` says which errors are clear of
    `reference_uncertainty` and rounding; only these are in a slope, which is NaN where they are fewer than two.
    """

    model_name: str
    formulation: str
    method: str
    t_end: float
    order: int
    steps: Array
    errors: Mapping[str, Array]
    counted: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]]
    slopes: Mapping[str, float]
    evaluations: np.ndarray[Any, np.dtype[np.int64]]
    seconds: Array
    reference_uncertainty: Mapping[str, float]
    scales: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<Convergence of {self.method} on {self.model_name!r}: {self.steps.size} steps; see .table(), .plot()>"

    def table(self) -> str:
        """The steps, their cost and errors, and the slopes, as aligned text."""
        heads = ["step (s)", "evaluations", "time", *(name.replace("_", " ") for name in self.errors)]
        rows = [
            [f"{step:g}", f"{evaluations:,}", duration(seconds), *(self._marked(name, i) for name in self.errors)]
            for i, (step, evaluations, seconds) in enumerate(
                zip(self.steps, self.evaluations, self.seconds, strict=True)
            )
        ]
        slopes = ["slope", "", "", *(f"{x:.2f} " if np.isfinite(x) else "- " for x in self.slopes.values())]
        uncertain = ["reference", "", "", *(f"{small(x)} " for x in self.reference_uncertainty.values())]
        lines = [self.title(), "", aligned(heads, [*rows, slopes, uncertain], right=True)]
        if not all(counted.all() for counted in self.counted.values()):
            lines += ["", UNCERTAIN]
        return "\n".join(lines)

    def title(self) -> str:
        """What converges, in one line."""
        return f"{self.model_name} over {self.t_end:g} s: {self.formulation} with {self.method}, order {self.order}"

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything as an xarray.Dataset over `quantity` and `step`."""
        import xarray

        names = list(self.errors)
        grid, each = ("quantity", "step"), ("quantity",)
        return xarray.Dataset(
            {
                "error": (grid, np.array([self.errors[name] for name in names])),
                "counted": (grid, np.array([self.counted[name] for name in names])),
                "slope": (each, [self.slopes[name] for name in names]),
                "reference_uncertainty": (each, [self.reference_uncertainty[name] for name in names]),
                "scale": (each, [self.scales[name] for name in names]),
                "relative_to": (each, [QUANTITIES[name] for name in names]),
                "evaluations": (("step",), self.evaluations),
                "seconds": (("step",), self.seconds, {"units": "s"}),
            },
            {"quantity": names, "step": ("step", self.steps, {"units": "s"})},
            {
                "title": self.title(),
                "model": self.model_name,
                "formulation": self.formulation,
                "method": self.method,
                "order": self.order,
                "t_end": self.t_end,
            },
        )

    def report(self) -> dict[str, Any]:
        """Everything as plain numbers and lists, as a JSON document holds it."""
        return {
            "model": self.model_name,
            "formulation": self.formulation,
            "method": self.method,
            "t_end": self.t_end,
            "order": self.order,
            "steps": self.steps.tolist(),
            "errors": {name: values.tolist() for name, values in self.errors.items()},
            "counted": {name: values.tolist() for name, values in self.counted.items()},
            "slopes": dict(self.slopes),
            "evaluations": self.evaluations.tolist(),
            "seconds": self.seconds.tolist(),
            "reference_uncertainty": dict(self.reference_uncertainty),
            "scales": dict(self.scales),
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Errors over steps, beside a line of the method's order. With a path it is written there too."""
        from poinsot.view.accuracy import convergence_figure

        return plotted(
            lambda: convergence_figure(self.title(), self.order, self.steps, self.errors, self.counted, self.slopes),
            path,
        )

    def _marked(self, name: str, i: int) -> str:
        return f"{small(self.errors[name][i])}{' ' if self.counted[name][i] else '*'}"


def convergence(
    model: Model,
    formulation: str = "recursive",
    method: str = "rk4",
    steps: Sequence[float] = STEPS,
    *,
    t_end: float | None = None,
    reference: Sequence[Mapping[str, Any]] | None = None,
    quantities: Sequence[str] | None = None,
    **options: Any,
) -> Convergence:
    """Errors and slopes of a method in fixed steps (seconds), against a tight reference.

    `t_end` is that of the model's settings where it is not given. The `reference` is simulated in two ways, each a
    dictionary of arguments of `ps.simulate`: `recursive` with `dop853` and with `rkmk5` at a tolerance of 1e-13 where
    nothing else is given; they have to agree, and what they differ by is reported. `quantities` are some of rotation,
    position, velocity, angular_velocity and, where no load does work, energy. Further options are the method's own.
    """
    lengths = positive_numbers("step", steps, "seconds", least=2)
    settings: dict[str, Any] = {"formulation": formulation, "method": method, **options}
    truth = reference_for(model, t_end, quantities, reference, options)
    if lengths.max() > truth.t_end:
        raise PoinsotError(f"step {lengths.max():g} is longer than the motion of {truth.t_end:g} s; give shorter ones")
    found: list[dict[str, float]] = []
    costs: list[tuple[int, float]] = []
    for step in lengths.tolist():
        spacing = spacing_of(step, truth.t_end)
        found.append(truth.errors(simulated(model, truth.t_end, step=step, output_step=spacing, **settings), spacing))
        costs.append(cost(model, truth.t_end, {"step": step, **settings}))
    errors = {name: np.array([at_step[name] for at_step in found]) for name in truth.quantities}
    counted = {name: values > truth.floor(name) for name, values in errors.items()}
    return Convergence(
        model_name=model.name,
        formulation=formulation,
        method=method,
        t_end=truth.t_end,
        order=next(each.order for each in methods() if each.name == method),
        steps=lengths,
        errors=errors,
        counted=counted,
        slopes={name: slope(lengths[counted[name]], errors[name][counted[name]]) for name in errors},
        evaluations=np.array([evaluations for evaluations, _ in costs]),
        seconds=np.array([seconds for _, seconds in costs]),
        reference_uncertainty=dict(truth.uncertainty),
        scales={name: getattr(truth.scales, name) for name in errors},
    )


def slope(steps: Array, errors: Array) -> float:
    """The exponent of the power law through the errors; NaN of fewer than two different steps."""
    if len(set(steps.tolist())) < 2:
        return np.nan
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
