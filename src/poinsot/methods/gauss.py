"""`gauss1`, `gauss2`, `gauss3`: Gauss-Legendre collocation of orders 2, 4 and 6, fixed steps (paper 003, 3.1.2).

Symmetric and symplectic, they keep quadratic invariants: unit quaternions stepped as numbers keep their length. The
tableaus are found from the nodes, which are the zeros of the Legendre polynomials on [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._jit import routine
from poinsot.methods import collocation, hermite
from poinsot.methods.driver import Kernels, Loop
from poinsot.methods.implicit import ITERATION, ITERATION_TOLERANCE, collocate, collocation_matrix
from poinsot.methods.runge_kutta import DEXP_INV, GROUP
from poinsot.methods.stepping import RUNNING
from poinsot.problem import ManifoldODE, Option


@dataclass(frozen=True)
class Gauss:
    """Gauss-Legendre collocation with so many stages."""

    name: str
    title: str
    stages: int
    accepts: tuple[type, ...] = (ManifoldODE,)
    adaptive: bool = False

    @property
    def order(self) -> int:
        """The order of convergence."""
        return 2 * self.stages

    @property
    def options(self) -> Mapping[str, Option]:
        """What may be chosen of it."""
        return {
            "group": GROUP,
            "dexp_inv": DEXP_INV,
            "iteration": ITERATION,
            "iteration_tolerance": ITERATION_TOLERANCE,
        }

    def prepare(self, problem: ManifoldODE, chosen: Mapping[str, Any]) -> Loop:
        """Compile, or load, the loop."""
        nodes = 0.5 + 0.5 * np.polynomial.legendre.leggauss(self.stages)[0]
        kernels = Kernels(collocation.attempt, collocation.accept, quintic if self.stages > 2 else cubic)
        return collocate(problem, collocation_matrix(nodes), self.order, chosen, kernels, reach=2 * self.stages)


@routine
def cubic(system, method, memory, solver, clock, counts, h, theta):
    """The state at a fraction of the step, to order 4."""
    hermite.interpolate(system, memory, hermite.CUBIC, hermite.CUBIC, clock, counts, h, theta)
    return RUNNING


@routine
def quintic(system, method, memory, solver, clock, counts, h, theta):
    """The state at a fraction of the step, to order 6."""
    hermite.interpolate(system, memory, hermite.CUBIC, hermite.QUINTIC, clock, counts, h, theta)
    return RUNNING


METHODS = (
    Gauss("gauss1", "Gauss-Legendre with one stage (the implicit midpoint rule), fixed steps", 1),
    Gauss("gauss2", "Gauss-Legendre with two stages, fixed steps", 2),
    Gauss("gauss3", "Gauss-Legendre with three stages, fixed steps", 3),
)
