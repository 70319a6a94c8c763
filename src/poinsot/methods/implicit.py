"""How collocation methods are set up: tableaus from nodes, room for stages, the eigenbasis of Newton's iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import typeof, types

from poinsot._jit import address
from poinsot.methods import collocation, stepping
from poinsot.methods.consistent import consistent_start
from poinsot.methods.driver import Control, Kernels, Loop, step_signature
from poinsot.methods.newton import Newton, differentiate_rates, differentiate_residual
from poinsot.methods.stage_newton import Eigenbasis, correct
from poinsot.methods.stages import NUMBERS
from poinsot.problem import Array, Option, SecondOrderDAE, SecondOrderODE
from poinsot.scalars import Duals

ITERATIONS = {"automatic": collocation.AUTOMATIC, "fixed-point": collocation.FIXED_POINT, "newton": collocation.NEWTON}
ITERATION = Option(
    "automatic", "how the stages are solved for; automatic: Newton's where fixed-point is slow", tuple(ITERATIONS)
)
ITERATION_TOLERANCE = Option(None, "the change of a stage at which its iteration ends; none: rounding", (), 1e-16, 1e-2)


INDEX = Option(2, "the form of a constrained problem: 3 by positions, 2 by velocities, 1 by accelerations", (), 1, 3)


def collocation_matrix(c: Array) -> tuple[Array, Array, Array]:
    """The tableau (a, b, c) of the collocation method with these nodes: a_ij = ∫ l_j from 0 to c_i, b_j up to 1."""
    powers = np.arange(1, len(c) + 1)
    at_nodes = c[:, None] ** (powers - 1.0)
    a, b = (np.linalg.solve(at_nodes.T, (end[:, None] ** powers / powers).T).T for end in (c, np.ones(1)))
    return np.ascontiguousarray(a), np.ascontiguousarray(b), c


def collocate(
    problem: Any,
    tableau: tuple[Array, Array, Array],
    order: int,
    chosen: Mapping[str, Any],
    kernels: Kernels,
    *,
    reach: int,
    index: int = 0,
    control: Control | None = None,
    estimate: Any = None,
    first_step: Any = None,
) -> Loop:
    """A loop of a collocation method on a problem."""
    a, b, c = tableau
    constrained = isinstance(problem, SecondOrderDAE)
    velocities = problem.n_rates // 2 if constrained or isinstance(problem, SecondOrderODE) else 0
    method = collocation.Method(
        a=a,
        b=b,
        c=c,
        order=(order if chosen["dexp_inv"] == "truncated" else 0) if chosen["group"] else NUMBERS,
        velocities=velocities,
        velocity_row=problem.n_states - velocities,
        iteration=collocation.NEWTON if constrained else ITERATIONS[chosen["iteration"]],
        tolerance=chosen["iteration_tolerance"] or 0.0,
        reach=reach,
        constraints=problem.n_constraints if constrained else -1,
        index=index,
        correct=0,
        estimate=0,
    )
    memory, m = _memory(problem, method, reach), max(method.constraints, 0)
    n = problem.n_rates - velocities
    solver = empty_newton(problem, n, m, index), _eigenbasis(a, n + m)
    system = stepping.system_of(problem)
    if estimate is not None:
        method = method._replace(estimate=address(estimate, step_signature(system, method, memory, solver)))
    if method.iteration == collocation.NEWTON:
        method, solver = _with_newton(problem, system, method, memory, solver)
    if constrained:
        memory.state[:, 0] = consistent_start(problem, system, solver[0])
    loop = Loop(problem, kernels, system, method, memory, solver, control=control or Control(), first_step=first_step)

    def bring_newton(loop: Loop) -> None:
        loop.method, loop.solver = _with_newton(problem, loop.system, loop.method, loop.memory, loop.solver)

    loop.bring_newton = bring_newton
    return loop


def _with_newton(problem: Any, system: Any, method: Any, memory: Any, solver: Any) -> tuple[Any, Any]:
    """Method and solver with the kernels that Newton's iteration needs, compiled."""
    newton, kernel = with_derivatives(problem, solver[0])
    basis = solver[1]
    arguments = newton, system.blocks, 0.0, memory.stage, memory.acceleration, memory.multiplier
    basis = basis._replace(derivatives=address(kernel, types.int64(*map(typeof, arguments))))
    solver = newton, basis
    return method._replace(correct=address(correct, step_signature(system, method, memory, solver))), solver


def with_derivatives(problem: Any, newton: Newton) -> tuple[Newton, Any]:
    """The linearised equations with the problem's kernel for Duals, and the kernel that makes them."""
    derived = problem.derived()
    kernel = differentiate_residual if isinstance(problem, SecondOrderDAE) else differentiate_rates
    return newton._replace(call=derived.call, mechanism=derived.mechanism, work=derived.work), kernel


def _memory(problem: Any, method: collocation.Method, reach: int) -> collocation.Memory:
    stages, m = len(method.c), max(method.constraints, 0)
    n = problem.n_rates - method.velocities
    behind = n + m if method.constraints >= 0 else 0  # accelerations and multipliers
    states, rates, columns = (problem.n_states + behind, 1), (problem.n_rates, 1), (problem.n_rates, stages)
    state = np.zeros(states)
    state[: problem.n_states] = problem.initial
    return collocation.Memory(
        state=state,
        carry=np.zeros(states),
        new=np.zeros(states),
        new_carry=np.zeros(states),
        between=np.zeros(states),
        rates=np.zeros(rates),
        new_rates=np.zeros(rates),
        stage=np.zeros((problem.n_states, 1)),
        stage_rates=np.zeros(rates),
        acceleration=np.zeros((n, 1)),
        multiplier=np.zeros((m, 1)),
        residual=np.zeros((n + 3 * m, 1)),
        y=np.zeros((problem.n_states, stages)),
        w=np.zeros(columns),
        u=np.zeros(columns),
        multipliers=np.zeros((m, stages)),
        defect=np.zeros((n + m, stages)),
        past=np.zeros((problem.n_rates + m, reach)),
        past_times=np.zeros(reach),
        ring=np.zeros((stages * stages, 4)),
        increment=np.zeros(rates),
        slopes=np.zeros((problem.n_rates, 6)),
        aside=np.zeros((problem.n_rates + m, stages)),
        notes=np.zeros(collocation.NOTES),
    )


def empty_newton(problem: Any, n: int, m: int, index: int) -> Newton:
    """Room for the linearised equations of n accelerations and m constraints."""
    mechanism, work = problem.dual_tables or (problem.mechanism, Duals(1, 1))
    return Newton(
        call=0,
        index=index,
        mechanism=mechanism,
        work=work,
        turn=Duals(problem.n_rates, 1),
        state=Duals(problem.n_states, 1),
        rate=Duals(problem.n_rates, 1),
        acceleration=Duals(n, 1),
        multipliers=Duals(m, 1),
        out=Duals(n + 3 * m, 1),
        K=np.zeros((n, n)),
        C=np.zeros((n, n)),
        M=np.zeros((n, n)),
        G_position=np.zeros((m, n)),
        G_velocity=np.zeros((m, n)),
        G_acceleration=np.zeros((m, n)),
        B=np.zeros((m, n)),
    )


def _eigenbasis(a: Array, rows: int) -> Eigenbasis:
    values, T = np.linalg.eig(a)
    values, T = values.astype(complex), T.astype(complex)
    into = np.linalg.inv(T)
    kept = np.flatnonzero(values.imag >= 0.0)
    weight = np.where(values[kept].imag > 0.0, 2.0, 1.0)
    return Eigenbasis(
        values=values[kept],
        into=np.ascontiguousarray(into[kept]),
        back=np.ascontiguousarray(T[:, kept] * weight),
        E=np.zeros((len(kept), rows, rows), complex),
        pivots=np.zeros((len(kept), rows), np.int64),
        right=np.zeros((rows, len(kept)), complex),
        derivatives=0,
    )
