"""The road from a prepared method to recorded states: chunks of the compiled loop, events, and what they leave."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import float64, int64, typeof, types
from numpy.typing import NDArray

from poinsot._jit import address
from poinsot.mechanism.watching import nothing
from poinsot.methods import stepping as s
from poinsot.methods.locating import Events, load_root_finder
from poinsot.problem import Array, Controls, Solution
from poinsot.scalars import point

# Python looks up this often whether to show progress or to stop (seconds).
LOOK_UP = 0.1
# Recorded states that are made at once where their number is not known: rows, and numbers in them.
ROWS, NUMBERS = 4096, 4_000_000

COUNTED = {
    "steps": s.STEPS,
    "evaluations": s.EVALUATIONS,
    "rejected": s.REJECTED,
    "iterations": s.ITERATIONS,
    "factorizations": s.FACTORIZATIONS,
    "newton_steps": s.NEWTON_STEPS,
    "decompositions": s.DECOMPOSITIONS,
}
FAILURES = {
    s.NOT_FINITE: "the accelerations are not finite; look for a load that is not finite and for a body without "
    "inertia, or take a smaller step",
    s.STEP_TOO_SMALL: "the step that the tolerance asks for is below the resolution of time; look for a load "
    "that grows without bound or jumps, or give a larger rtol and atol",
    s.NOT_CONVERGED: "the iteration for the stages does not converge; take a smaller step, or look for a load that "
    "jumps",
    s.OPENED: "the constraints cannot be closed any more; take a smaller step, or look for a position without a way on",
    s.SINGULAR: "the equations of a step have no unique solution; look for redundant constraints and for a body "
    "without inertia",
}


@dataclass(frozen=True)
class Kernels:
    """A method's three kernels (see methods/stepping.py)."""

    attempt: Callable[..., Any]
    accept: Callable[..., Any]
    interpolate: Callable[..., Any]


@dataclass(frozen=True)
class Control:
    """How a method controls its steps: the order of its error estimate, PI control's damping, when to keep a step.

    Where the estimate is of a lower order than the step, tolerances become `tolerance` rtol ^ `tolerance_power`.
    """

    error_order: int = 0
    damping: float = 0.3
    keep: float = 1.0
    tolerance: float = 1.0
    tolerance_power: float = 1.0


def step_signature(*operands: Any) -> Any:
    """The signature of a method's kernels that work on these operands."""
    return types.int64(*map(typeof, operands), float64[::1], int64[::1], float64, float64)


@dataclass
class Loop:
    """A method on a problem: what its kernels work on, and the loop that runs them."""

    problem: Any
    kernels: Kernels
    system: s.System
    method: Any
    memory: Any
    solver: Any = ()
    control: Control = Control()
    first_step: Callable[[Loop, Controls], float] | None = None
    bring_newton: Callable[[Loop], None] | None = None
    lends: bool = False  # whether the kernels borrow the method's tables and the memory (scalars/borrowed.py)
    clock: Array = field(default_factory=lambda: np.zeros(s.CLOCK))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(s.COUNTS, np.int64))

    def __post_init__(self) -> None:
        self.initial = self.memory.state.copy()
        self.lent = (point(self.method), point(self.memory)) if self.lends else None
        self.calls = s.Calls(0, 0, 0)
        signature = step_signature(*self.operands()[1:])
        self.calls = s.Calls(*(address(kernel, signature) for kernel in vars(self.kernels).values()))
        s.advance(*self.operands(), self._output(None), nothing(), self.clock, self.counts, 0)
        if self.first_step is not None:
            self.first_step(self, Controls(1.0, None, 1.0, 1.0, None, False))

    def solve(self, controls: Controls) -> Solution:
        """Step the problem from t = 0 to the end, in chunks between which Python can look up."""
        self._restart(controls)
        output, asked = self._output(controls.outputs), controls.outputs is not None
        kept = [(np.zeros(1), self.initial.T.copy())]
        status, limit, failure, events = s.RUNNING, 100, None, None
        with suppress(KeyboardInterrupt):
            if self.first_step is not None and controls.step is None:
                self.clock[s.NEXT_STEP] = self.first_step(self, controls)
            events = None if controls.watch is None else Events(self, controls.watch, output)
            watching = nothing() if controls.watch is None else controls.watch.tables
            while status in (s.RUNNING, s.FULL, s.WATCH, s.NEWTON_WANTED, s.RECONSIDER):
                if status == s.FULL:
                    kept.append((output.times.copy(), output.states.copy()))
                    self.counts[s.STORED] = 0
                elif status == s.NEWTON_WANTED and self.bring_newton is not None:
                    self.bring_newton(self)
                elif status == s.RECONSIDER and self.problem.reconsider is not None:
                    renewed = self.problem.reconsider(float(self.clock[s.TIME]), self.memory.state)
                    self.counts[s.DECOMPOSITIONS] += renewed
                elif status == s.WATCH and events is not None:
                    failure = events.look()
                    if failure is not None:
                        break
                began, tried = time.perf_counter(), self._tried()
                status = s.advance(*self.operands(), output, watching, self.clock, self.counts, limit)
                elapsed = time.perf_counter() - began
                if status != s.WATCH:
                    limit = max(10, int((self._tried() - tried) * min(10.0, LOOK_UP / max(elapsed, 1e-6))))
                if controls.progress is not None:
                    controls.progress(float(self.clock[s.TIME]))
        stored = int(self.counts[s.STORED])
        kept.append((output.times[:stored], output.states[:stored]))
        times, states = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        if asked and status == s.DONE and times[-1] < self.clock[s.END]:  # a terminal event between two outputs
            times, states = np.append(times, self.clock[s.END]), np.vstack((states, self.memory.state.T))
        if status == s.OPENED and self.problem.diagnose is not None:
            failure = self.problem.diagnose(float(self.clock[s.TIME]), self.memory.state)
        elif status in FAILURES and self.problem.suspect is not None:
            failure = self.problem.suspect(float(times[-1]), states[-1][:, None].copy())
        counts = {name: int(self.counts[place]) for name, place in COUNTED.items()}
        found = () if events is None else tuple(events.found)
        return Solution(times, states, counts, found, failure or FAILURES.get(status))

    def load_location(self) -> None:
        """Compile, or load, what locates an event within a step."""
        load_root_finder()
        operands = map(typeof, self.operands()[1:])
        address(s.call, types.int64(types.int64, *operands, float64[::1], int64[::1], float64))
        address(s.put_back, types.int64(typeof(self.system), float64, typeof(self.memory.state)))

    def attempt(self, h: float) -> int:
        """Attempt a step of another length from the same state."""
        status = s.call(self.calls.attempt, *self.operands()[1:], self.clock, self.counts, h)
        if status == s.NEWTON_WANTED and self.bring_newton is not None:
            self.bring_newton(self)
            return self.attempt(h)
        return status

    def accept(self, h: float) -> int:
        """Accept the step that was attempted, without recording it."""
        return s.call(self.calls.accept, *self.operands()[1:], self.clock, self.counts, h)

    def operands(self) -> tuple[Any, ...]:
        """What every kernel of the loop is given."""
        method, memory = self.lent or (self.method, self.memory)
        return self.calls, self.system, method, memory, self.solver

    def _tried(self) -> int:
        return int(self.counts[s.STEPS] + self.counts[s.REJECTED])

    def _output(self, asked: Array | None) -> s.Output:
        times = np.zeros(0) if asked is None else asked[1:]
        rows = max(1, min(ROWS, NUMBERS // max(len(self.initial), 1))) if asked is None else len(times)
        return s.Output(times, np.zeros((rows, len(self.initial))), np.zeros(rows))

    def _restart(self, controls: Controls) -> None:
        for view in self.memory:
            view[:] = 0.0
        self.memory.state[:] = self.initial
        clock, counts = self.clock, self.counts
        clock[:], counts[:] = 0.0, 0
        rtol = self.control.tolerance * controls.rtol**self.control.tolerance_power
        atol = rtol * controls.atol / controls.rtol if controls.rtol > 0.0 else controls.atol
        clock[[s.END, s.RTOL, s.ATOL, s.LAST_ERROR]] = controls.t_end, rtol, atol, 1e-4
        clock[s.FIXED_STEP] = controls.step or 0.0
        clock[[s.EXPONENT, s.DAMPING, s.KEEP]] = (
            1.0 / (self.control.error_order + 1),
            self.control.damping,
            self.control.keep,
        )
        counts[s.NORMALISE], counts[s.FRESH] = controls.project, 1
        counts[s.REASON] = s.STEP_TOO_SMALL
        if controls.watch is not None:
            counts[s.WATCHED] = 2 if controls.watch.restarts.any() else 1
