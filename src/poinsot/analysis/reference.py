"""A reference for a motion, and how far runs are from it.

The reference is simulated in two independent ways at tight tolerances. What they differ by is its uncertainty: an error
says something only where it is well above that. Errors are the largest over the run, and relative (see `Scales`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from poinsot.errors import PoinsotError, unknown
from poinsot.model import Event, Model, checks
from poinsot.model.event import watched_events
from poinsot.run import Array, Run, Stats
from poinsot.simulate import conservative, simulate

# Every quantity, and what its errors are relative to.
QUANTITIES = {
    "rotation": "rad",
    "position": "of the size of the mechanism",
    "velocity": "of the largest speed",
    "angular_velocity": "of the largest speed over the size",
    "energy": "of the largest kinetic energy",
}
_TIGHT = {"formulation": "recursive", "rtol": 1e-13, "atol": 1e-15}
TIGHT: tuple[Mapping[str, Any], ...] = ({**_TIGHT, "method": "dop853"}, {**_TIGHT, "method": "rkmk5"})
# Two references that differ by more are not one motion.
AGREEMENT = 1e-6
# Relative errors below this are rounding, whatever the reference; only errors so many times above count.
ROUNDING, CLEARANCE = 1e-14, 10.0
# Runs are compared at no more instants than this, all of them ends of steps.
MOST_INSTANTS = 1000
# The time of a short run is the best of several.
TIMINGS, SHORT = 3, 0.2
# What an analysis sets itself in the simulations that it makes.
OWN = ("method", "step", "rtol", "atol", "output_step", "events", "progress")


@dataclass(frozen=True)
class Scales:
    """What errors are relative to.

    The size of the mechanism is the diagonal of the box that its centres of mass move in, and the largest radius of
    gyration about a centre of mass. Its speed is the largest velocity and, times the size, the largest angular
    velocity.
    """

    rotation: float
    position: float
    velocity: float
    angular_velocity: float
    energy: float

    @classmethod
    def of(cls, model: Model, run: Run) -> Scales:
        """Those of a motion; 1 where there is nothing to compare with."""
        positions = run.arrays["position"].reshape(-1, 3)
        extent = float(np.linalg.norm(np.ptp(positions, axis=0))) if positions.size else 0.0
        gyration = (0.5 * body.inertia.matrix.trace() / body.inertia.mass for body in model.bodies.values())
        size = (extent + math.sqrt(max(gyration, default=0.0))) or 1.0
        speed = (_longest(run.arrays["velocity"]) + size * _longest(run.arrays["angular_velocity"])) or 1.0
        kinetic = float(np.max(run.arrays["kinetic_energy"], initial=0.0)) or 1.0
        return cls(1.0, size, speed, speed / size, kinetic)


@dataclass
class Reference:
    """The reference of one model: motions by the spacing of their instants, and the largest uncertainty so far."""

    model: Model
    t_end: float
    quantities: tuple[str, ...]
    ways: Sequence[Mapping[str, Any]]
    motions: dict[float, Run] = field(default_factory=dict[float, Run])
    uncertainty: dict[str, float] = field(default_factory=dict[str, float])
    scales: Scales = field(init=False)

    def __post_init__(self) -> None:
        if len(self.ways) != 2:
            raise PoinsotError(
                f"reference {checks.show(self.ways)}: give two independent ways to simulate the model, each a "
                'dictionary of arguments of ps.simulate, such as {"method": "dop853", "rtol": 1e-13, "atol": 1e-15}'
            )
        self.scales = Scales.of(self.model, self._simulated(self.ways[0], self.t_end / MOST_INSTANTS))

    def motion(self, spacing: float) -> Run:
        """The reference at multiples of the spacing."""
        if spacing not in self.motions:
            first, second = (self._simulated(way, spacing) for way in self.ways)
            self._compare(first, second)
            self.motions[spacing] = first
        return self.motions[spacing]

    def errors(self, run: Run, spacing: float) -> dict[str, float]:
        """How far a run that was recorded at multiples of the spacing is from the reference, at most."""
        return self._differences(run, self.motion(spacing))

    def floor(self, quantity: str) -> float:
        """The least error that counts."""
        return CLEARANCE * max(self.uncertainty[quantity], ROUNDING)

    def _simulated(self, way: Mapping[str, Any], spacing: float) -> Run:
        try:
            return simulated(self.model, self.t_end, output_step=spacing, **way)
        except PoinsotError as refusal:
            raise PoinsotError(f"reference: {refusal}; or give another reference=") from refusal

    def _compare(self, first: Run, second: Run) -> None:
        for name, difference in self._differences(second, first).items():
            if not difference <= AGREEMENT:
                raise PoinsotError(
                    f'model "{self.model.name}": its two references differ by {difference:.1e} ({name}) within '
                    f"{self.t_end:g} s, so neither is one; give a shorter t_end, or look for a load that jumps"
                )
            self.uncertainty[name] = max(difference, self.uncertainty.get(name, 0.0))

    def _differences(self, run: Run, true: Run) -> dict[str, float]:
        scales = asdict(self.scales)
        return {name: _difference(name, run, true) / scales[name] for name in self.quantities}


def reference_for(
    model: Model,
    t_end: float | None,
    quantities: Sequence[str] | None,
    ways: Sequence[Mapping[str, Any]] | None,
    options: Mapping[str, Any],
) -> Reference:
    """Check what every analysis of exactness is told, and return the reference."""
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PoinsotError(f"{checks.show(model)} is not a Model; build one, or take one with ps.case()")
    if own := sorted(set(options).intersection(OWN)):
        raise PoinsotError(f"{own[0]} is chosen by the analysis itself; leave it out")
    end = model.settings.get("t_end") if t_end is None else t_end
    if end is None:
        raise PoinsotError(f'model "{model.name}": its settings have no t_end; give t_end= in seconds')
    end = checks.positive("analysis", "t_end", end, "seconds")
    return Reference(model, end, _quantities(model, quantities), TIGHT if ways is None else ways)


def positive_numbers(what: str, values: Iterable[float], unit: str, least: int) -> Array:
    """At least so many different positive numbers."""
    if isinstance(values, str) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PoinsotError(f"{what}s {checks.show(values)}: give a list of numbers")
    numbers = np.array([checks.positive("analysis", what, value, unit) for value in values])
    if len(set(numbers.tolist())) < least:
        raise PoinsotError(f"{what}s {checks.show(list(values))}: give at least {least} different ones")
    return numbers


def spacing_of(step: float, t_end: float) -> float:
    """A multiple of the step at which runs are compared, so that nothing is interpolated."""
    return step * max(1, math.ceil(t_end / step / MOST_INSTANTS))


def simulated(model: Model, t_end: float, **settings: Any) -> Run:
    """A whole run, which steps onto its model's jumps; an interruption, which ends a run early, ends the analysis."""
    events = settings.pop("events", _jumps(model))
    run = simulate(model, t_end, events=events, **settings)
    if not run.complete:
        raise KeyboardInterrupt
    return run


def cost(model: Model, t_end: float, settings: Mapping[str, Any]) -> tuple[int, float]:
    """The evaluations of a run that records only its end, and its time, the best of several where it is short."""
    runs: list[Stats] = []
    while not runs or (len(runs) < TIMINGS and runs[0].seconds < SHORT):
        runs.append(simulated(model, t_end, output_step=t_end, **settings).stats)
    return runs[0].evaluations, min(stats.seconds for stats in runs)


def _jumps(model: Model) -> list[Event]:
    """The events in a model's own settings at which a step ends: across a jump every method is of low order."""
    own = [watched.event for watched in watched_events(model, model.settings.get("events", ()))]
    return [event for event in own if event.restart and not event.terminal]


def _quantities(model: Model, wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is None:
        return tuple(name for name in QUANTITIES if name != "energy" or conservative(model))
    for name in wanted:
        if name not in QUANTITIES:
            raise PoinsotError(unknown("quantity", name, QUANTITIES))
    if "energy" in wanted and not conservative(model):
        raise PoinsotError(
            f'model "{model.name}": its loads or drives do work, so a change of energy is no error; '
            "leave energy out of the quantities"
        )
    if not wanted:
        raise PoinsotError(f"quantities (): give at least one of {', '.join(QUANTITIES)}")
    return tuple(wanted)


def _difference(name: str, run: Run, true: Run) -> float:
    """The largest difference over the run; of the energy, from its own start."""
    if name == "energy":
        energy = run.arrays["energy"]
        return float(np.max(np.abs(energy - energy[0])))
    difference = run.arrays[name] - true.arrays[name]
    if name == "rotation":  # twice the sine of half the angle, and no cancellation
        return float(np.sqrt(0.5 * np.max(np.sum(difference**2, axis=(-2, -1)), initial=0.0)))
    return _longest(difference)


def _longest(vectors: Array) -> float:
    return float(np.max(np.linalg.norm(vectors, axis=-1), initial=0.0))
