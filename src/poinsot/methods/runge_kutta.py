"""`rk4`, `dopri5`, `dop853` and, on the group, `rkmk4` and `rkmk5`: explicit methods as users choose them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from poinsot.methods import explicit, stepping
from poinsot.methods.driver import Control, Kernels, Loop
from poinsot.methods.tableaus import DOP853, DOPRI5, RK4, Tableau
from poinsot.problem import Array, Controls, ManifoldODE, Option

GROUP = Option(False, "step rotations on their group, by exponentials, instead of their numbers")
DEXP_INV = Option(
    "truncated", "dexp_inv on the group: its series up to the order, or its closed form", ("truncated", "exact")
)


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge-Kutta method, on the numbers of the state unless `always_on_group`."""

    name: str
    title: str
    tableau: Tableau = field(repr=False)
    always_on_group: bool = False
    caution: float = 1.0  # of the tolerance, the part that errors of single steps may take
    accepts: tuple[type, ...] = (ManifoldODE,)

    @property
    def order(self) -> int:
        """The order of convergence."""
        return self.tableau.order

    @property
    def adaptive(self) -> bool:
        """Whether the method estimates its error and can choose its steps."""
        return len(self.tableau.errors) > 0

    @property
    def options(self) -> Mapping[str, Option]:
        """What may be chosen of it."""
        return {"dexp_inv": DEXP_INV} if self.always_on_group else {"group": GROUP, "dexp_inv": DEXP_INV}

    def prepare(self, problem: ManifoldODE, chosen: Mapping[str, Any]) -> Loop:
        """Compile, or load, the loop."""
        t = self.tableau
        order = explicit.NUMBERS
        if self.always_on_group or chosen["group"]:
            order = self.order if chosen["dexp_inv"] == "truncated" else 0
        return Loop(
            problem,
            Kernels(explicit.attempt, explicit.accept, explicit.interpolate),
            stepping.system_of(problem),
            explicit.Method(t.a, t.c.reshape(-1, 1), t.errors, t.dense, t.stages, order),
            _memory(problem, len(t.a), order),
            control=Control(t.error_order, tolerance=self.caution),
            lends=True,
            first_step=partial(first_step, order=self.order) if self.adaptive else None,
        )


def _memory(problem: ManifoldODE, stages: int, order: int) -> explicit.Memory:
    states, rates = (problem.n_states, 1), (problem.n_rates, 1)
    moved = states if order == explicit.NUMBERS else rates
    return explicit.Memory(
        state=problem.initial.copy(),
        carry=np.zeros(states),
        new=np.zeros(states),
        new_carry=np.zeros(states),
        between=np.zeros(states),
        rates=np.zeros(rates),
        new_rates=np.zeros(rates),
        stage_rates=np.zeros(rates),
        increment=np.zeros(moved),
        slope=np.zeros(moved),
        k=np.zeros((stages, moved[0])),
    )


@np.errstate(over="ignore", invalid="ignore")  # a slope beyond all tolerances makes a step of no length
def first_step(loop: Loop, controls: Controls, order: int) -> float:
    """The length of the first step (Hairer, Nørsett, Wanner, II.4)."""
    memory = loop.memory
    slope, ahead = np.zeros_like(memory.state), np.zeros_like(memory.state)
    stepping.slope_at(loop.system, 0.0, memory.state, memory.rates, slope)
    scale = controls.atol + controls.rtol * np.abs(memory.state)
    size, steepness = _mean_square(memory.state / scale), _mean_square(slope / scale)
    h = 0.01 * size / steepness if size >= 1e-5 and 1e-5 <= steepness < np.inf else 1e-6
    h = min(h, controls.t_end)
    stepping.slope_at(loop.system, h, memory.state + h * slope, memory.new_rates, ahead)
    loop.counts[stepping.EVALUATIONS] += 2
    loop.counts[stepping.FRESH] = 2
    steepest = max(steepness, _mean_square((ahead - slope) / scale) / h)
    longest = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1.0 / order)
    return min(100.0 * h, longest) if np.isfinite(longest) else h


def _mean_square(vector: Array) -> float:
    return float(np.hypot.reduce(vector.ravel())) / math.sqrt(max(vector.size, 1))  # squares alone may overflow


METHODS = (
    RungeKutta("rk4", "the classical Runge-Kutta method of order 4, fixed steps", RK4),
    RungeKutta("dopri5", "Dormand and Prince, order 5 with error control", DOPRI5),
    RungeKutta("dop853", "Dormand and Prince, order 8 with error control", DOP853, caution=0.8),
    RungeKutta("rkmk4", "Munthe-Kaas with the classical tableau, order 4, fixed steps", RK4, True),
    RungeKutta(
        "rkmk5", "Munthe-Kaas with Dormand and Prince's pair, order 5 on the group, error control", DOPRI5, True
    ),
)
