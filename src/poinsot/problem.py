"""The kinds of problem that formulations pose and methods accept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanism.build import Layout

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ManifoldODE:
    """An ordinary differential equation on a product of R^n, unit quaternions and rotation matrices.

    `rates` is the address of a kernel (mechanism, t, state, work, rate) that writes the velocity in the algebra;
    `report` is that of (mechanism, state, work, bodies, joints), which writes what a Run records of the state for which
    `rates` was called last.
    """

    layout: Layout
    mechanism: Any
    blocks: NDArray[np.int64]
    n_states: int
    n_rates: int
    initial: Array
    work: Array
    rates: int
    report: int


@dataclass
class Controls:
    """How a method is to step and what it is to record; without `outputs` it records every step."""

    t_end: float
    step: float | None
    rtol: float
    atol: float
    outputs: Array | None
    project: bool
    progress: Callable[[float], None] | None = None


@dataclass(frozen=True)
class Solution:
    """Recorded states, one per row, and what they cost; `failure` says why a solution ends early."""

    times: Array
    states: Array
    steps: int
    evaluations: int
    rejected: int
    failure: str | None = None


class AbstractMethod(Protocol):
    """A way to step problems in time."""

    @property
    def name(self) -> str:
        """The word by which users choose it."""
        ...

    @property
    def title(self) -> str:
        """One line for the list of methods."""
        ...

    @property
    def order(self) -> int:
        """The order of convergence."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether it can choose its steps itself."""
        ...

    @property
    def accepts(self) -> tuple[type, ...]:
        """The kinds of problem that it solves."""
        ...

    def compile(self, problem: Any) -> None:
        """Compile, or load, all that `solve` runs."""
        ...

    def solve(self, problem: Any, controls: Controls) -> Solution:
        """Step the problem from t = 0 to the end."""
        ...


@dataclass(frozen=True)
class Formulation:
    """A way to pose the equations of motion; `poses` is the kind of problem."""

    name: str
    title: str
    poses: type
    pose: Callable[[Layout], Any]
