"""Work and precision: the error that each method reaches for what it is asked, and what that costs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.analysis.reference import (
    MOST_INSTANTS,
    Reference,
    cost,
    positive_numbers,
    reference_for,
    simulated,
    spacing_of,
)
from poinsot.errors import PoinsotError, unknown
from poinsot.formulations import formulations
from poinsot.methods import methods as all_methods
from poinsot.model import Model
from poinsot.problem import AbstractMethod, accepts
from poinsot.run import Array, plotted
from poinsot.view.summary import aligned, duration, small

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
UNCERTAIN = "* within 10 times what reference and rounding leave uncertain"


@dataclass(frozen=True, eq=False)
class Curve:
    """One method: what it was asked, tolerances or (not `adaptive`) steps in seconds, and what came of each."""

    method: str
    adaptive: bool
    asked: Array
    errors: Array
    counted: np.ndarray[Any, np.dtype[np.bool_]]
    evaluations: np.ndarray[Any, np.dtype[np.int64]]
    seconds: Array


@dataclass(frozen=True, eq=False, repr=False)
class WorkPrecision:
    """Curves of several methods on one motion.

    The error is the largest of those of the `quantities`, each relative as in a `Convergence`. `reference_uncertainty`
    is that of the same; errors that are not `counted` are too near to it.
    """

    model_name: str
    formulation: str
    t_end: float
    quantities: tuple[str, ...]
    curves: tuple[Curve, ...]
    reference_uncertainty: float

    def __repr__(self) -> str:
        return f"<WorkPrecision of {len(self.curves)} methods on {self.model_name!r}; see .table(), .plot()>"

    def title(self) -> str:
        """What is compared, in one line."""
        return f"{self.model_name} over {self.t_end:g} s: {self.formulation}, work and precision"

    def table(self) -> str:
        """What was asked of each method, the error it reached, and its cost, as aligned text."""
        heads = ("method", "asked", "error", "error/asked", "evaluations", "time")
        rows = [
            (
                curve.method,
                f"{asked:.0e}" if curve.adaptive else f"{asked:g} s",
                f"{small(error)}{' ' if counted else '*'}",
                f"{error / asked:.2g}" if curve.adaptive else "",
                f"{evaluations:,}",
                duration(seconds),
            )
            for curve in self.curves
            for asked, error, counted, evaluations, seconds in zip(
                curve.asked, curve.errors, curve.counted, curve.evaluations, curve.seconds, strict=True
            )
        ]
        lines = [self.title(), "", aligned(heads, rows, right=True), ""]
        lines.append(f"error: the largest of {', '.join(self.quantities).replace('_', ' ')}")
        lines.append(f"reference: uncertain by {small(self.reference_uncertainty)}")
        if not all(curve.counted.all() for curve in self.curves):
            lines.append(UNCERTAIN)
        return "\n".join(lines)

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything as an xarray.Dataset with one `run` per row of the table."""
        import xarray

        def joined(name: str) -> Any:
            return ("run", np.concatenate([getattr(curve, name) for curve in self.curves]))

        counts = [curve.asked.size for curve in self.curves]
        return xarray.Dataset(
            {name: joined(name) for name in ("asked", "errors", "counted", "evaluations", "seconds")},
            {
                "method": ("run", np.repeat([curve.method for curve in self.curves], counts)),
                "adaptive": ("run", np.repeat([curve.adaptive for curve in self.curves], counts)),
            },
            {
                "title": self.title(),
                "model": self.model_name,
                "formulation": self.formulation,
                "t_end": self.t_end,
                "quantities": list(self.quantities),
                "reference_uncertainty": self.reference_uncertainty,
            },
        )

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Error reached over error asked for, and work and time over error. With a path it is written there too."""
        from poinsot.view.accuracy import work_precision_figure

        return plotted(lambda: work_precision_figure(self.title(), [vars(curve) for curve in self.curves]), path)


def work_precision(
    model: Model,
    methods: Sequence[str] | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    *,
    formulation: str = "recursive",
    steps: Sequence[float] | None = None,
    t_end: float | None = None,
    reference: Sequence[Mapping[str, Any]] | None = None,
    quantities: Sequence[str] = ("rotation", "position", "velocity", "angular_velocity"),
    **options: Any,
) -> WorkPrecision:
    """The error that methods reach, and what it costs, at several tolerances.

    Each tolerance is given as `rtol` and as `atol`. Methods without error control take the fixed `steps` (seconds)
    instead. Without `methods` these are the adaptive ones that go with the formulation and, where steps are given, the
    others too. `t_end`, `reference`, `quantities` and further options are those of `convergence`.
    """
    chosen = _methods(methods, formulation, with_fixed=steps is not None)
    asked = positive_numbers("tolerance", tolerances, "1", least=1)
    lengths = positive_numbers("step", steps, "seconds", least=1) if steps is not None else np.zeros(0)
    for method in chosen:
        if not method.adaptive and steps is None:
            raise PoinsotError(
                f'method "{method.name}" does not estimate its error; give steps= for it, or leave it out'
            )
    truth = reference_for(model, t_end, quantities, reference, options)
    curves = tuple(
        _curve(truth, method, asked if method.adaptive else lengths, {"formulation": formulation, **options})
        for method in chosen
    )
    return WorkPrecision(
        model_name=model.name,
        formulation=formulation,
        t_end=truth.t_end,
        quantities=truth.quantities,
        curves=curves,
        reference_uncertainty=max(truth.uncertainty.values()),
    )


def _curve(truth: Reference, method: AbstractMethod, asked: Array, settings: Mapping[str, Any]) -> Curve:
    errors: list[float] = []
    costs: list[tuple[int, float]] = []
    for number in asked.tolist():
        stepping: dict[str, Any] = {"rtol": number, "atol": number} if method.adaptive else {"step": number}
        spacing = truth.t_end / MOST_INSTANTS if method.adaptive else spacing_of(number, truth.t_end)
        how: dict[str, Any] = {"method": method.name, **stepping, **settings}
        run = simulated(truth.model, truth.t_end, output_step=spacing, **how)
        errors.append(max(truth.errors(run, spacing).values()))
        costs.append(cost(truth.model, truth.t_end, how))
    floor = max(truth.floor(name) for name in truth.quantities)
    return Curve(
        method=method.name,
        adaptive=method.adaptive,
        asked=asked,
        errors=np.array(errors),
        counted=np.array(errors) > floor,
        evaluations=np.array([evaluations for evaluations, _ in costs]),
        seconds=np.array([seconds for _, seconds in costs]),
    )


def _methods(names: Sequence[str] | None, formulation: str, with_fixed: bool) -> list[AbstractMethod]:
    """The methods of these names, or those that go with the formulation."""
    posing = {each.name: each for each in formulations()}
    if formulation not in posing:
        raise PoinsotError(unknown("formulation", formulation, posing))
    known = {each.name: each for each in all_methods() if accepts(each, posing[formulation].kind_of({}))}
    if names is None:
        return [each for each in known.values() if each.adaptive or with_fixed]
    if isinstance(names, str) or not names:
        raise PoinsotError(f'methods {names!r}: give a list of names, such as ["dopri5", "dop853"]')
    for name in names:
        if name not in known:
            raise PoinsotError(f"{unknown('method', name, known)} (with formulation {formulation})")
    return [known[name] for name in names]
