"""`radau5`: Radau IIA collocation with three stages, of order 5, with error control, for stiff equations and for DAEs.

Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8: the error is that of an embedded formula of order 3
that adds the slope at the start, filtered by (1 - h α J)⁻¹ with the real eigenvalue α, so that stiff components do not
pretend to be errors. The multipliers of a DAE take no part in it, and velocities in the index-3 form count with the
factor h that their lower order asks for (VII.3). Since the steps are of order 5, tolerances become 0.5 tol^0.8, so that
errors are proportional to what was asked for. Outputs between steps are steps of their own from the same state: they
have the method's order, fulfil the constraints, and are safe where stiff components make any interpolant worthless.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from poinsot._jit import kernel, routine
from poinsot.algebra.manifold import KIND, REAL, SIZE, STATE, VELOCITY
from poinsot.methods import collocation
from poinsot.methods.collocation import AGE, CONTRACTION, FACTORED, iterate, newton_is_on, put_last_multipliers
from poinsot.methods.driver import Control, Kernels, Loop
from poinsot.methods.implicit import INDEX, ITERATION, ITERATION_TOLERANCE, collocate, collocation_matrix
from poinsot.methods.newton import solve
from poinsot.methods.runge_kutta import DEXP_INV, first_step
from poinsot.methods.stage_newton import put_factors
from poinsot.methods.stages import put_stages, put_step
from poinsot.methods.stepping import ATOL, ERROR, RTOL, RUNNING
from poinsot.problem import Controls, ManifoldODE, Option, SecondOrderDAE

_ROOT = math.sqrt(6.0)
NODES = np.array([(4.0 - _ROOT) / 10.0, (4.0 + _ROOT) / 10.0, 1.0])
# What the error estimate takes of the stages' increments, and from there of their rates (IV.8, (8.18)).
_OF_INCREMENTS = np.array([-13.0 - 7.0 * _ROOT, -13.0 + 7.0 * _ROOT, -1.0]) / 3.0
_OF_RATES = tuple(_OF_INCREMENTS @ collocation_matrix(NODES)[0])


@dataclass(frozen=True)
class Radau:
    """Radau IIA with three stages; rotations are stepped on their group."""

    name: str
    title: str
    order: int = 5
    adaptive: bool = True
    accepts: tuple[type, ...] = (ManifoldODE, SecondOrderDAE)

    @property
    def options(self) -> Mapping[str, Option]:
        """What may be chosen of it."""
        return {
            "index": INDEX,
            "iteration": Option("newton", ITERATION.meaning, ITERATION.words),
            "iteration_tolerance": ITERATION_TOLERANCE,
            "dexp_inv": DEXP_INV,
        }

    def prepare(self, problem: Any, chosen: Mapping[str, Any]) -> Loop:
        """Compile, or load, the loop."""
        constrained = isinstance(problem, SecondOrderDAE)
        return collocate(
            problem,
            collocation_matrix(NODES),
            self.order,
            {**chosen, "group": True},
            Kernels(collocation.attempt, collocation.accept, step_to),
            reach=len(NODES),
            index=chosen["index"] if constrained else 0,
            control=Control(error_order=3, damping=0.0, keep=1.2, tolerance=0.5, tolerance_power=0.8),
            estimate=estimate,
            first_step=first_constrained_step if constrained else partial(first_step, order=self.order),
        )


def first_constrained_step(loop: Loop, controls: Controls) -> float:
    """A cautious first step of a DAE: one in which nothing moves by more than a hundredth of its size."""
    method, state = loop.method, loop.memory.state[:, 0]
    moving = state[method.velocity_row : method.velocity_row + 2 * method.velocities]  # velocities and accelerations
    fastest = max(float(np.abs(moving).max(initial=0.0)), 1e-8)
    return min(controls.t_end, 0.01 * max(float(np.abs(state[: method.velocity_row]).max(initial=0.0)), 1e-3) / fastest)


@routine
def estimate(system, method, memory, solver, clock, counts, h, theta):
    """The error of the step over its tolerance."""
    newton, basis = solver
    rows, positions = memory.rates.shape[0], method.velocities
    n, real = rows - positions, real_eigenvalue(basis)
    p = h * basis.values[real].real
    for i in range(rows):
        raw = memory.rates[i, 0]
        for j in range(3):
            raw += _OF_RATES[j] * memory.w[i, j]
        memory.new_rates[i, 0] = raw
    if abs(memory.notes[FACTORED] - h) <= 1e-6 * abs(h):
        put_right_side(newton, basis, method, memory.new_rates, p)
        solve(basis.E[real], n, basis.pivots[real], basis.right[:, real])
        for i in range(n):
            memory.new_rates[positions + i, 0] = basis.right[i, real].real
        for i in range(positions):
            memory.new_rates[i, 0] += p * basis.right[i, real].real
    clock[ERROR] = p * norm(system.blocks, method, memory, h, clock[RTOL], clock[ATOL])
    if not clock[ERROR] < math.inf:
        clock[ERROR] = math.inf
    return RUNNING


@kernel
def real_eigenvalue(basis):
    """The place of the eigenvalue that is not one of a pair."""
    real = 0
    for e in range(basis.values.shape[0]):
        real = e if basis.values[e].imag == 0.0 else real
    return real


@kernel
def put_right_side(newton, basis, method, raw, p):
    """The right-hand side of (1 - p J) x = raw, in the form that Newton's factors solve."""
    n, m, real, positions = newton.C.shape[0], newton.B.shape[0], real_eigenvalue(basis), method.velocities
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += newton.M[i, j] * raw[positions + j, 0]
        for j in range(positions):
            total -= p * newton.K[i, j] * raw[j, 0]
        basis.right[i, real] = total
    for i in range(m):
        total = 0.0
        for j in range(n):
            total -= newton.G_position[i, j] * raw[j, 0]
        if method.index == 1:
            total *= p
            for j in range(n):
                total += newton.G_acceleration[i, j] * raw[n + j, 0]
        basis.right[n + i, real] = total / p if method.index == 3 else total


@kernel
def norm(blocks, method, memory, h, rtol, atol):
    """The root mean square of the estimate over its tolerance, in the algebra; rotations are of size one."""
    total, rows = 0.0, max(memory.new_rates.shape[0], 1)
    for b in range(blocks.shape[0]):
        kind, s, v = blocks[b, KIND], blocks[b, STATE], blocks[b, VELOCITY]
        for i in range(blocks[b, SIZE] if kind == REAL else 3):
            size = 1.0
            if kind == REAL:
                size = max(abs(memory.state[s + i, 0]), abs(memory.new[s + i, 0]))
            error = memory.new_rates[v + i, 0] * (h if method.index == 3 and v + i >= method.velocities else 1.0)
            total += (error / (atol + rtol * size)) ** 2
    return math.sqrt(total / rows)


@routine
def step_to(system, method, memory, solver, clock, counts, h, theta):
    """The state at a fraction of the step, by a step that ends there; the stages of the whole step are kept."""
    exchange_stages(memory)
    status = solve_aside(system, method, memory, solver, clock, counts, theta * h)
    put_stages(system.blocks, method, memory, theta * h)
    put_step(system.blocks, method, memory, theta * h, memory.between)
    for i in range(memory.stage.shape[0]):
        memory.between[i, 0] += memory.state[i, 0]
    if method.constraints >= 0:
        put_last_multipliers(method, memory, memory.between)
    exchange_stages(memory)
    return status


@routine
def solve_aside(system, method, memory, solver, clock, counts, h):
    """Solve for the stages of a step that is not taken; Newton's matrices remain as they are, so that no step changes.

    Only where that does not converge are they made anew.
    """
    notes, (newton, basis) = memory.notes, solver
    if not newton_is_on(method, memory):
        return iterate(system, method, memory, solver, clock, counts, h, False)
    age, factored, contraction = notes[AGE], notes[FACTORED], notes[CONTRACTION]
    notes[AGE], notes[CONTRACTION] = math.inf, 0.0
    status = iterate(system, method, memory, solver, clock, counts, h, True)
    if status != RUNNING:
        notes[AGE] = 0.0
        return iterate(system, method, memory, solver, clock, counts, h, True)
    notes[AGE], notes[CONTRACTION] = age, contraction
    if notes[FACTORED] != factored:
        return put_factors(newton, basis, notes, counts, factored)
    return RUNNING


@kernel
def exchange_stages(memory):
    """Exchange the stages' unknowns and those that are kept aside."""
    rows = memory.w.shape[0]
    for s in range(memory.w.shape[1]):
        for i in range(rows):
            memory.w[i, s], memory.aside[i, s] = memory.aside[i, s], memory.w[i, s]
        for i in range(memory.multipliers.shape[0]):
            memory.multipliers[i, s], memory.aside[rows + i, s] = memory.aside[rows + i, s], memory.multipliers[i, s]


METHODS = (Radau("radau5", "Radau IIA with three stages, order 5 with error control, for stiff systems and DAEs"),)
