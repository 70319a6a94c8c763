"""Where in a step an event happens, by steps of the method itself, and how a step is made to end there.

An event is a change of sign between the ends of a step. What jumps at an event that restarts must not be seen by the
step before, whose last stage stands at its end, and must be seen by all stages of the step behind: the first ends where
the event's function has its old sign for certain, and one that is too short to matter leads to where it has the new one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

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
        clock = self.loop.clock
        start, h, end, error = (float(clock[i]) for i in (s.TIME, s.TRIED, s.TRIED_END, s.ERROR))
        try:
            step = Tried(start, h, end, self.watch.values(end, self.loop.memory.new))
            located = self._located(step)
            for at, event in located:
                self.loop.attempt(at)
                time = end if at >= h else start + at
                self.found.append(Occurrence(event, time, self.loop.memory.new[:, 0].copy()))
            ending = [(at, e) for at, e in located if self.watch.terminal[e] or self.watch.restarts[e]]
            if ending:
                self._end_step(step, ending, self.found[-1].time)
            else:
                if located:
                    self.loop.attempt(h)
                self.now[:] = step.then
        except PoinsotError as mistake:
            return str(mistake)
        clock[s.ERROR] = error
        return None

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
        from scipy.optimize import brentq

        def value(tau: float) -> float:
            if tau <= 0.0 or tau >= step.h:  # as the loop saw it, whatever rounding makes of a second attempt
                return float(self.now[event] if tau <= 0.0 else step.then[event])
            return self._value(event, step.start, tau)

        return float(brentq(value, 0.0, step.h, xtol=PRECISION, rtol=8.9e-16, maxiter=500, disp=False))

    def _value(self, event: int, start: float, tau: float) -> float:
        """The event's function after a step of length tau."""
        self.loop.attempt(tau)
        return float(self.watch.values(start + tau, self.loop.memory.new)[event])

    def _end_step(self, step: Tried, ending: list[tuple[float, int]], here: float) -> None:
        """Let the step end `here`, at events that are terminal or restart; behind the latter, begin a new one."""
        loop, clock, counts, watch = self.loop, self.loop.clock, self.loop.counts, self.watch
        after = -np.sign(self.now)
        sides = [self._sides(event, step.start, at, after[event]) for at, event in ending]
        before, behind = max(0.0, min(side[0] for side in sides)), max(side[1] for side in sides)
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
        loop.attempt(behind - before)
        loop.accept(behind - before)
        clock[s.TIME], counts[s.FRESH] = step.start + behind, 1
        clock[[s.NEXT_STEP, s.LAST_ERROR]] = step.h, 1e-4
        self.now[:] = watch.values(step.start + behind, loop.memory.state)
        for _, event in ending:  # what rounding leaves before its zero must not happen twice
            if self.now[event] * after[event] < 0.0:
                self.now[event] = 0.0

    def _sides(self, event: int, start: float, at: float, after: float) -> tuple[float, float]:
        """Places in the step just before and just behind an event, where its function is not zero but for rounding."""
        places: list[float] = []
        for side in (-1.0, 1.0):
            gap = float(np.spacing(start + at))
            while gap < AT_ONCE and at + side * gap > 0.0:
                if side * after * self._value(event, start, at + side * gap) > 0.0:
                    break
                gap *= 4.0
            places.append(at + side * gap)
        return places[0], places[1]
