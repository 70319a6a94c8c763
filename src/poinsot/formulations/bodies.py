"""What formulations share whose state is the motion of all bodies, with all joints as equations.

Their plans of elimination begin alike: with how many equations are imposed, and where their list and their unknowns
begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, kernel
from poinsot.algebra.sparse import get, put
from poinsot.formulations.closure import Closure, blame, depends
from poinsot.formulations.loops import AT, KEPT, NEAR, NEARNESS, TOO_NEAR
from poinsot.mechanism import tables as t
from poinsot.mechanism.absolute import workspace_of_bodies
from poinsot.mechanism.build import Layout, with_calls_for
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.constraints import VALUE
from poinsot.problem import Array, Derived
from poinsot.scalars import BorrowedType, Duals, absolute, dual, floats, lend, point

# The head of `plan`: how many equations are imposed; where their list and their unknowns begin; whether a singular
# position is near; where in the table of scalars a kept state stands.
EQUATIONS, CHOSEN, UNKNOWN, NEAR_SINGULAR, KEPT_STATE, COMMON_HEAD = range(6)
# Of each equation: where its unknown and its pivot stand.
EQUATION_PLACE = 2
# Columns of the table of scalars of an equation's row, behind what `put_equations` writes: its largest pivot so far.
USUAL = 21


@kernel
def judge_pivots(plan, loops):
    """What the pivots say of a closed state, against the largest so far; a singular position that is near is noted."""
    near, at = False, False
    for q in range(plan[EQUATIONS, 0]):
        e, pivot = plan[plan[CHOSEN, 0] + q, 0], plan[plan[UNKNOWN, 0] + EQUATION_PLACE * q + 1, 0]
        inverse = absolute(get(loops, pivot))
        if loops[e, USUAL] * inverse < 1.0 and inverse > 0.0:
            loops[e, USUAL] = 1.0 / inverse
        near = near or inverse == 0.0 or not inverse * loops[e, USUAL] * NEARNESS < 1.0
        at = at or inverse == 0.0 or not inverse * loops[e, USUAL] * TOO_NEAR < 1.0
    plan[NEAR_SINGULAR, 0] = 1 if near else 0
    return AT if at else NEAR if near else KEPT


@kernel
def keep(plan, loops, state):
    """Keep the state."""
    for k in range(state.shape[0]):
        put(loops, plan[KEPT_STATE, 0] + k, state[k, 0])


@kernel
def recall(plan, loops, state):
    """The kept state."""
    for k in range(state.shape[0]):
        state[k, 0] = get(loops, plan[KEPT_STATE, 0] + k)


def weakest(closure: Closure, mechanism: t.Mechanism, answer: int) -> str | None:
    """What depends on the other equations near a singular position, where a stabilisation has answered that one is."""
    if answer not in (NEAR, AT):
        return None
    plan, loops = mechanism.plan[:, 0], mechanism.loops
    imposed = plan[plan[CHOSEN] : plan[CHOSEN] + plan[EQUATIONS]]
    pivots = plan[plan[UNKNOWN] : plan[UNKNOWN] + EQUATION_PLACE * len(imposed)].reshape(-1, EQUATION_PLACE)[:, 1]
    weakness = np.abs(loops.ravel()[pivots]) * loops[imposed, USUAL]
    return depends(closure.layout.equations[imposed[int(np.argmax(weakness))]])


@dataclass(frozen=True)
class Kernels:
    """A formulation's kernels, for rates, loads, stabilisation and all equations, and their columns of `work`."""

    rates: Callable[..., None]
    loads: Callable[..., None]
    stabilise: Callable[..., int]
    evaluate_all: Callable[..., None]
    columns: int

    def address_of_rates(self, mechanism: t.Mechanism, view: types.Type) -> int:
        """The address of the rates for borrowed views of a type and a pointer to the mechanism."""
        self.put_addresses(mechanism, view)
        return address(self.rates, types.void(typeof(point(mechanism)), float64, view, view, view))

    def put_addresses(self, mechanism: t.Mechanism, view: types.Type) -> None:
        """What is called by address, given borrowed tables, goes into the mechanism's own: loads, drives."""
        lent = typeof(lend(mechanism))
        with_calls_for(view.scalar, mechanism)
        if len(mechanism.loads) > 0:
            mechanism.sizes[0, t.LOADS_ADDRESS] = address(self.loads, types.void(lent, float64, view, view))

    def dual_tables(self, mechanism: t.Mechanism) -> tuple[t.Mechanism, Duals]:
        """Mechanism and workspace for Duals; the plan is the same table, so that it changes with that of numbers."""
        loops = Duals(*mechanism.loops.shape)
        loops.data[:, :, 0] = mechanism.loops
        mechanism = mechanism._replace(sizes=mechanism.sizes.copy(), loops=loops)
        return mechanism, workspace_of_bodies(mechanism, Duals, self.columns)

    def derived(self, layout: Layout, mechanism: t.Mechanism) -> Derived:
        """The rates for Duals."""
        mechanism, work = self.dual_tables(with_laws_for(dual, layout.model, mechanism))
        call: Any = self.address_of_rates(mechanism, BorrowedType(dual))
        return Derived(call, *t.handed(mechanism, work))

    def diagnose(self, closure: Closure, mechanism: t.Mechanism, time: float, state: Array) -> str:
        """Why positions cannot be closed."""
        self.evaluate_all(mechanism, time, state, workspace_of_bodies(mechanism, floats, self.columns))
        rows = range(len(mechanism.equations))
        return blame(closure.layout, rows, closure.redundant, mechanism.loops[: len(rows), VALUE], time)

    def suspect(self, closure: Closure, mechanism: t.Mechanism, blocks: Any, time: float, state: Array) -> str | None:
        """What is singular at a state in which a method fails, if anything is."""
        if not np.isfinite(state).all():
            return None
        work, room = workspace_of_bodies(mechanism, floats, self.columns), np.zeros((2, len(state), 1))
        return weakest(closure, mechanism, self.stabilise(mechanism, blocks, time, state, work, *room))
