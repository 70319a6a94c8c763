"""The explicit Runge-Kutta methods as users choose them, and the road from a problem to recorded states."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.methods import explicit
from poinsot.methods.tableaus import DOP853, DOPRI5, RK4, Tableau
from poinsot.problem import Array, Controls, ManifoldODE, Solution

# Python looks up this often whether to show progress or to stop (seconds).
LOOK_UP = 0.1
# Rows of recorded states that are made at once where their number is not known.
ROWS = 4096


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge-Kutta method on the numbers of the state."""

    name: str
    title: str
    tableau: Tableau
    accepts: tuple[type, ...] = (ManifoldODE,)

    @property
    def order(self) -> int:
        """The order of convergence."""
        return self.tableau.order

    @property
    def adaptive(self) -> bool:
        """Whether the method estimates its error and can choose its steps."""
        return len(self.tableau.errors) > 0

    def compile(self, problem: ManifoldODE) -> None:
        """Compile, or load, the loop."""
        state = self._start(problem, Controls(1.0, 0.1, 1.0, 1.0, None, False))
        self._first_step(state, Controls(1.0, None, 1.0, 1.0, None, False))
        explicit.advance(state.system, state.method, state.memory, state.output, state.clock, state.counts, 0)

    def solve(self, problem: ManifoldODE, controls: Controls) -> Solution:
        """Step the problem from t = 0 to the end, in chunks between which Python can look up."""
        s = self._start(problem, controls)
        kept = [(np.zeros(1), problem.initial.T.copy())]
        status, limit = explicit.RUNNING, 100
        with suppress(KeyboardInterrupt):
            status = self._first_step(s, controls)
            while status in (explicit.RUNNING, explicit.FULL):
                if status == explicit.FULL:
                    kept.append((s.output.times.copy(), s.output.states.copy()))
                    s.counts[explicit.STORED] = 0
                began, tried = time.perf_counter(), s.counts[explicit.STEPS] + s.counts[explicit.REJECTED]
                status = explicit.advance(s.system, s.method, s.memory, s.output, s.clock, s.counts, limit)
                pace = LOOK_UP / max(time.perf_counter() - began, 1e-6)
                tried = s.counts[explicit.STEPS] + s.counts[explicit.REJECTED] - tried
                limit = max(10, int(tried * min(10.0, pace)))
                if controls.progress is not None:
                    controls.progress(float(s.clock[explicit.TIME]))
        stored = int(s.counts[explicit.STORED])
        kept.append((s.output.times[:stored], s.output.states[:stored]))
        return Solution(
            np.concatenate([times for times, _ in kept]),
            np.concatenate([states for _, states in kept]),
            steps=int(s.counts[explicit.STEPS]),
            evaluations=int(s.counts[explicit.EVALUATIONS]),
            rejected=int(s.counts[explicit.REJECTED]),
            failure=_FAILURES.get(status),
        )

    @np.errstate(over="ignore", invalid="ignore")  # a slope beyond all tolerances makes a step of no length
    def _first_step(self, s: _Stepping, controls: Controls) -> int:
        """Rates at the start and, for adaptive steps, the first step (Hairer, Nørsett, Wanner, II.4)."""
        memory = s.memory
        explicit.slope_at(s.system, 0.0, memory.state, memory.rates, memory.slope)
        s.counts[explicit.EVALUATIONS] += 1
        if not np.isfinite(memory.slope).all():
            return explicit.NOT_FINITE
        if controls.step is not None:
            return explicit.RUNNING
        scale = controls.atol + controls.rtol * np.abs(memory.state)
        slope = memory.slope.copy()
        size, steepness = _mean_square(memory.state / scale), _mean_square(slope / scale)
        h = 0.01 * size / steepness if size >= 1e-5 and 1e-5 <= steepness < np.inf else 1e-6
        h = min(h, controls.t_end)
        explicit.slope_at(s.system, h, memory.state + h * slope, memory.stage_rates, memory.slope)
        s.counts[explicit.EVALUATIONS] += 1
        steepest = max(steepness, _mean_square((memory.slope - slope) / scale) / h)
        longest = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1.0 / self.order)
        s.clock[explicit.NEXT_STEP] = min(100.0 * h, longest) if np.isfinite(longest) else h
        return explicit.RUNNING

    def _start(self, problem: ManifoldODE, controls: Controls) -> _Stepping:
        t = self.tableau
        asked = np.zeros(0) if controls.outputs is None else controls.outputs[1:]
        rows = len(asked) or ROWS
        counts = np.zeros(5, np.int64)
        counts[explicit.PROJECT] = controls.project
        return _Stepping(
            explicit.System(problem.rates, problem.mechanism, problem.blocks, problem.work),
            explicit.Method(t.a, t.c, t.errors, t.dense, t.stages, t.error_order),
            _memory(problem, len(t.a)),
            explicit.Output(asked, np.zeros((rows, problem.n_states)), np.zeros(rows)),
            np.array([0.0, 0.0, 0.0, controls.t_end, controls.step or 0.0, controls.rtol, controls.atol, 1e-4]),
            counts,
        )


class _Stepping(NamedTuple):
    """What the compiled loop works on."""

    system: explicit.System
    method: explicit.Method
    memory: explicit.Memory
    output: explicit.Output
    clock: Array
    counts: NDArray[np.int64]


_FAILURES = {
    explicit.NOT_FINITE: "the accelerations are not finite; look for a load that is not finite and for a body without "
    "inertia, or take a smaller step",
    explicit.STEP_TOO_SMALL: "the step that the tolerance asks for is below the resolution of time; look for a load "
    "that grows without bound or jumps, or give a larger rtol and atol",
}


def _mean_square(vector: Array) -> float:
    return float(np.hypot.reduce(vector.ravel())) / math.sqrt(max(vector.size, 1))  # squares alone may overflow


def _memory(problem: ManifoldODE, stages: int) -> explicit.Memory:
    def states() -> Array:
        return np.zeros((problem.n_states, 1))

    def rates() -> Array:
        return np.zeros((problem.n_rates, 1))

    k = np.zeros((problem.n_states, stages))
    return explicit.Memory(
        problem.initial.copy(), states(), rates(), states(), states(), states(), rates(), states(), k
    )


METHODS = (
    RungeKutta("rk4", "the classical Runge-Kutta method of order 4, fixed steps", RK4),
    RungeKutta("dopri5", "Dormand and Prince, order 5 with error control", DOPRI5),
    RungeKutta("dop853", "Dormand and Prince, order 8 with error control", DOP853),
)
