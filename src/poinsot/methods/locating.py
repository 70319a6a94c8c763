"""Where in a step an event happens, by steps of the method itself, and how a step is made to end there.

An event is a change of sign between the ends of a step. What jumps at an event that restarts must not be seen by the
step before, whose last stage stands at its end, and must be seen by all stages of the step behind: the first ends where
the event's function has its old sign for certain, and one too short to matter leads to where it has the new one. A step
may be rejected because of what jumps in it; it then ends there, too, if it is precise enough as far as that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poinsot.errors import PoinsotError
from poinsot.mechanism.watching import NOW
from poinsot.methods import stepping as s
from poinsot.problem import Array, Occurrence, Watch

if TYPE_CHECKING:
    from poinsot.methods.driver import Loop

# How precisely an event is located (seconds), and how near events are one moment (seconds, and in units of the time).
PRECISION = 1e-13
AT_ONCE = 1e-12


def load_root_finder() -> Any:
    """SciPy's `brentq`, imported where events are watched only: that takes a fifth of a second."""
    from scipy.optimize import brentq

    return brentq


class Tried(NamedTuple):
    """The step that waits: its start, length and end, and the events' functions there."""

    start: float
    h: float
    end: float
    then: Array


class Events:
    """What is watched from step to step; `found` is what has happened so far."""

    def __init__(self, loop: Loop, watch: Watch, output: s.Output) -> None:
        self.loop, self.watch, self.output = loop, watch, output
        self.found: list[Occurrence] = []
        self.now = watch.tables.values[NOW]  # the loop reads and writes it, too
        self.now[:] = watch.first_values(loop.memory.state)

    def look(self) -> str | None:
        """Look for events in the step that waits; what is wrong with one of their functions, if anything is."""
        clock, watch = self.loop.clock, self.watch
        start, h, end, error = (float(clock[i]) for i in (s.TIME, s.TRIED, s.TRIED_END, s.ERROR))
        try:
            step = Tried(start, h, end, watch.values(end, self.loop.memory.new))
            located = self._located(step)
            ending = [(at, event) for at, event in located if watch.terminal[event] or watch.restarts[event]]
            before, behind = self._sides(step, ending)
            if error > 1.0 and before > 0.0:  # by what jumps at an event that restarts, or for another reason
                self.loop.attempt(before)
                error = float(clock[s.ERROR])
                if error > 1.0:
                    return self._reject(before)
            for at, event in located:
                self.loop.attempt(at)
                time = end if at >= h else start + at
                self.found.append(Occurrence(event, time, self._state()))
            if ending:
                self._end_step(step, ending, before, behind)
            else:
                if located:
                    self.loop.attempt(h)
                self.now[:] = step.then
        except PoinsotError as mistake:
            return str(mistake) if error <= 1.0 else self._reject(h)  # a rejected step may end anywhere
        clock[s.ERROR] = error
        return None

    def _state(self) -> Array:
        """The attempted state, as the loop would record it."""
        state = self.loop.memory.new.copy()
        if self.loop.counts[s.NORMALISE]:
            s.put_back(self.loop.system, float(self.loop.clock[s.TRIED_END]), state)
        return state[:, 0]

    def _reject(self, h: float) -> None:
        self.loop.counts[s.PENDING] = 0
        s.reject(self.loop.clock, self.loop.counts, h, s.RUNNING)

    def _located(self, step: Tried) -> list[tuple[float, int]]:
        """How far into the step each event happens, up to the first that ends the step and all at once with it."""
        now, then, directions = self.now, step.then, self.watch.directions
        rising = (now < 0.0) & (then >= 0.0) & (directions >= 0)
        falling = (now > 0.0) & (then <= 0.0) & (directions <= 0)
        located = sorted((self._zero(int(event), step), int(event)) for event in np.flatnonzero(rising | falling))
        ends = self.watch.terminal | self.watch.restarts
        last = next((at for at, event in located if ends[event]), math.inf) + AT_ONCE * max(1.0, step.start)
        return [(at, event) for at, event in located if at <= last]

    def _zero(self, event: int, step: Tried) -> float:
        brentq = load_root_finder()

        def value(tau: float) -> float:
            if tau <= 0.0 or tau >= step.h:  # as the loop saw it, whatever rounding makes of a second attempt
                return float(self.now[event] if tau <= 0.0 else step.then[event])
            return self._value(event, step.start, tau)

        return float(brentq(value, 0.0, step.h, xtol=PRECISION, rtol=8.9e-16, maxiter=500, disp=False))

    def _value(self, event: int, start: float, tau: float) -> float:
        """The event's function after a step of length tau."""
        self.loop.attempt(tau)
        return float(self.watch.values(start + tau, self.loop.memory.new)[event])

    def _sides(self, step: Tried, ending: list[tuple[float, int]]) -> tuple[float, float]:
        """Where a step has to end before events, and how far behind its start the next begins; without any, its end."""
        after = [-float(np.sign(self.now[event])) for _, event in ending]
        places = [
            [self._place(event, step.start, at, side, sign) for (at, event), sign in zip(ending, after, strict=True)]
            for side in (-1.0, 1.0)
        ]
        return max(min(places[0], default=step.h), 0.0), max(places[1], default=step.h)

    def _place(self, event: int, start: float, at: float, side: float, after: float) -> float:
        """The nearest place on one side of an event where its function has the sign of that side for certain."""
        gap = float(np.spacing(start + at))
        while 0.0 < at + side * gap and gap < AT_ONCE * max(1.0, start):
            if side * after * self._value(event, start, at + side * gap) > 0.0:
                break
            gap *= 4.0
        return at + side * gap

    def _end_step(self, step: Tried, ending: list[tuple[float, int]], before: float, behind: float) -> None:
        """Let the step end at events that are terminal or restart; behind the latter, begin a new one."""
        loop, clock, counts, watch = self.loop, self.loop.clock, self.loop.counts, self.watch
        here, after = self.found[-1].time, -np.sign(self.now)
        counts[s.PENDING] = 0
        if before > 0.0:
            loop.attempt(before)
            clock[s.TRIED], clock[s.TRIED_END] = before, here
            counts[[s.PENDING, s.RESTART]] = 1
        if here >= clock[s.END] or any(watch.terminal[event] for _, event in ending):
            clock[s.END] = here if before > 0.0 else step.start
            return
        if before > 0.0:
            s.advance(*loop.operands(), self.output, watch.tables, clock, counts, 1)
        clock[s.TIME], counts[s.FRESH] = step.start + before, 1
        if loop.attempt(behind - before) == s.RUNNING:
            loop.accept(behind - before)
        clock[s.TIME], counts[s.FRESH] = step.start + behind, 1
        clock[[s.NEXT_STEP, s.LAST_ERROR]] = step.h, 1e-4
        self.now[:] = watch.values(step.start + behind, loop.memory.state)
        for _, event in ending:  # what rounding leaves before its zero must not happen twice
            if self.now[event] * after[event] < 0.0:
                self.now[event] = 0.0
