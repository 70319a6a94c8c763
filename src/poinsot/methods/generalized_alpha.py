"""How `generalized-alpha` is chosen and set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import typeof, types

from poinsot._jit import address
from poinsot.errors import PoinsotError
from poinsot.methods import chung_hulbert, collocation, stepping
from poinsot.methods.consistent import consistent_start
from poinsot.methods.driver import Kernels, Loop
from poinsot.methods.implicit import ITERATION, ITERATION_TOLERANCE, ITERATIONS, empty_newton, with_derivatives
from poinsot.problem import Option, SecondOrderDAE, SecondOrderODE

SPECTRAL_RADIUS = Option(
    0.8, "what is left of the fastest vibrations after a step; 1 damps nothing, 0 all at once", (), 0.0, 1.0
)


@dataclass(frozen=True)
class GeneralizedAlpha:
    """The generalized-α method, on the group, with constraints on positions."""

    name: str
    title: str
    order: int = 2
    adaptive: bool = False
    accepts: tuple[type, ...] = (SecondOrderODE, SecondOrderDAE)

    @property
    def options(self) -> Mapping[str, Option]:
        """What may be chosen of it."""
        return {
            "spectral_radius": SPECTRAL_RADIUS,
            "iteration": Option("newton", ITERATION.meaning, ITERATION.words),
            "iteration_tolerance": ITERATION_TOLERANCE,
        }

    def prepare(self, problem: Any, chosen: Mapping[str, Any]) -> Loop:
        """Compile, or load, the loop."""
        constrained = isinstance(problem, SecondOrderDAE)
        n, m = problem.n_rates // 2, problem.n_constraints if constrained else 0
        method = _method(chosen, n, problem.n_states - n, m if constrained else -1)
        memory = _memory(problem, n, m, constrained)
        system = stepping.system_of(problem)
        newton = empty_newton(problem, n, m, method.index)
        solver = chung_hulbert.Solver(newton, np.zeros((n + m, n + m)), np.zeros(n + m, np.int64), 0)

        def bring_newton(loop: Loop) -> None:
            loop.method, loop.solver = method._replace(ready=True), ready_solver(loop.solver)

        def ready_solver(solver: chung_hulbert.Solver) -> chung_hulbert.Solver:
            newton, kernel = with_derivatives(problem, solver.newton)
            arguments = newton, system.blocks, 0.0, memory.state, memory.acceleration, memory.multiplier
            return solver._replace(newton=newton, derivatives=address(kernel, types.int64(*map(typeof, arguments))))

        if method.iteration == collocation.NEWTON:
            method, solver = method._replace(ready=True), ready_solver(solver)
        if constrained:
            memory.state[:, 0] = consistent_start(problem, system, solver.newton)
        kernels = Kernels(chung_hulbert.attempt, chung_hulbert.accept, chung_hulbert.interpolate)
        return Loop(problem, kernels, system, method, memory, solver, bring_newton=bring_newton)


def _method(chosen: Mapping[str, Any], n: int, velocity_row: int, constraints: int) -> chung_hulbert.Method:
    """Chung and Hulbert's numbers: second order, and the least damping of slow motion for the spectral radius."""
    r = chosen["spectral_radius"]
    if constraints > 0 and r == 1.0:
        raise PoinsotError(
            "simulate: spectral_radius 1 damps nothing, and the multipliers of constraints would oscillate; give less "
            f"than 1, such as {SPECTRAL_RADIUS.default:g}"
        )
    alpha_m, alpha_f = (2.0 * r - 1.0) / (r + 1.0), r / (r + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    return chung_hulbert.Method(
        alpha_m=alpha_m,
        alpha_f=alpha_f,
        beta=0.25 * (gamma + 0.5) ** 2,
        gamma=gamma,
        velocities=n,
        velocity_row=velocity_row,
        constraints=constraints,
        index=3 if constraints >= 0 else 0,
        iteration=collocation.NEWTON if constraints >= 0 else ITERATIONS[chosen["iteration"]],
        tolerance=chosen["iteration_tolerance"] or 0.0,
        ready=False,
    )


def _memory(problem: Any, n: int, m: int, constrained: bool) -> chung_hulbert.Memory:
    states, rates = (problem.n_states + (n + m if constrained else 0), 1), (problem.n_rates, 1)
    state = np.zeros(states)
    state[: problem.n_states] = problem.initial
    return chung_hulbert.Memory(
        state=state,
        carry=np.zeros(states),
        new=np.zeros(states),
        new_carry=np.zeros(states),
        between=np.zeros(states),
        rates=np.zeros(rates),
        new_rates=np.zeros(rates),
        algorithmic=np.zeros((n, 1)),
        new_algorithmic=np.zeros((n, 1)),
        multiplier=np.zeros((m, 1)),
        new_multiplier=np.zeros((m, 1)),
        acceleration=np.zeros((n, 1)),
        residual=np.zeros((n + 3 * m, 1)),
        defect=np.zeros((n + m, 1)),
        stage_rates=np.zeros(rates),
        increment=np.zeros(rates),
        slopes=np.zeros((problem.n_rates, 3)),
        notes=np.zeros(collocation.NOTES),
    )


METHODS = (
    GeneralizedAlpha("generalized-alpha", "generalized-α on the group, order 2, fixed steps, for stiff systems, DAEs"),
)
