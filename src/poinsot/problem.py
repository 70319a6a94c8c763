"""The kinds of problem that formulations pose and methods accept, and what a method is told and gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError, unknown
from poinsot.mechanism.build import Layout
from poinsot.mechanism.watching import Watching
from poinsot.model import checks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ManifoldODE:
    """An ordinary differential equation on a product of R^n, unit quaternions and rotation matrices.

    `rates` is the address of a kernel (mechanism, t, state, work, rate) that writes the velocity in the algebra; it
    borrows state and rate, and may be lent the others (scalars/borrowed.py). `report` is that of (mechanism, state,
    work, bodies, joints), which writes what a Run records of the state for which `rates` was called last. `derived`
    compiles the rates for Duals, for methods that need Jacobians; its tables have the types of `dual_tables`, for which
    nothing has to be compiled (none: those of `mechanism` and of Duals).

    Where the state is constrained, `project` is the address of a kernel (mechanism, blocks, t, state, work, room, room)
    that brings it back and answers 0; 1 where it cannot, for which `diagnose` has the words; 2 where what coordinates
    of the state mean should be chosen anew; 3 and 4 near and in a singular position; and 5 where it has renewed what
    the state holds constant over a step, so that rates jump. A problem that `renews` wants that even where nothing is
    to be stabilised. Where the answer is 2, `renew` changes the accepted state in place, with the same arguments, or
    `reconsider` does from Python where there is no such kernel; both answer 1 where they have chosen anew. `observe` is
    called instead of the rates before a report, where there is one. `suspect` may know why a method fails at a state.
    `mobility` counts the degrees of freedom that the joints leave, and `redundant` holds the rows of the mechanism's
    equations that say nothing new: where there are any, the reactions that `report` writes are some that give the
    motion, and those that a Run holds the least ones.

    `rotations` is a table of the rotation matrices in the state where `blocks` has them as numbers. With `multipliers`
    the report has those of orthogonality and of the joints, too.
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
    derived: Callable[[], Derived]
    dual_tables: tuple[Any, Any] | None = None
    project: int = 0
    reconsider: Callable[[float, Array], int] | None = None
    diagnose: Callable[[float, Array], str] | None = None
    suspect: Callable[[float, Array], str | None] | None = None
    mobility: int | None = None
    redundant: tuple[int, ...] = ()
    renews: bool = False
    renew: int = 0
    observe: int = 0
    rotations: NDArray[np.int64] | None = None
    multipliers: bool = False


@dataclass(frozen=True)
class SecondOrderODE(ManifoldODE):
    """Equations of motion q' = q v, v' = a(t, q, v): the last half of the rates belongs to a block of reals, v.

    The first half of the rates is v itself.
    """


@dataclass(frozen=True)
class SecondOrderDAE:
    """Constrained equations of motion M a = f - Bᵀ λ, Φ(t, q) = 0, with q' = q v and v' = a.

    The state is that of a SecondOrderODE. `residual` is the address of a kernel (mechanism, t, state, a, λ, work, out)
    that writes, one below the other, M a - f + Bᵀ λ, Φ, Φ' = B v + Φ_t and Φ''. `report` is called after `observe`.
    """

    layout: Layout
    mechanism: Any
    blocks: NDArray[np.int64]
    n_states: int
    n_rates: int
    n_constraints: int
    initial: Array
    work: Array
    residual: int
    report: int
    derived: Callable[[], Derived]
    dual_tables: tuple[Any, Any] | None = None
    project: int = 0
    reconsider: Callable[[float, Array], int] | None = None
    diagnose: Callable[[float, Array], str] | None = None
    suspect: Callable[[float, Array], str | None] | None = None
    mobility: int | None = None
    redundant: tuple[int, ...] = ()
    renews: bool = False
    renew: int = 0
    observe: int = 0
    rotations: NDArray[np.int64] | None = None
    multipliers: bool = False


@dataclass(frozen=True)
class Derived:
    """What a problem's kernel needs to be called with Duals: its own address, and tables that carry derivatives."""

    call: int
    mechanism: Any
    work: Any


@dataclass(frozen=True)
class Watch:
    """Functions of time and state whose changes of sign are events.

    The loop asks the kernel in `tables` whether a step must be looked at; `values` gives the functions at a time and
    state, and `first_values` those of the state at t = 0, with 0 for what is a zero but for rounding. A direction of 1
    means rising values only, -1 falling ones, 0 both. A terminal event ends the motion; at one that restarts it, a
    step ends and the next begins just behind.
    """

    tables: Watching
    values: Callable[[float, Array], Array]
    first_values: Callable[[Array], Array]
    directions: NDArray[np.int64]
    terminal: NDArray[np.bool_]
    restarts: NDArray[np.bool_]


@dataclass
class Controls:
    """How a method is to step and what it is to record; without `outputs` it records every step."""

    t_end: float
    step: float | None
    rtol: float
    atol: float
    outputs: Array | None
    project: bool
    watch: Watch | None = None
    progress: Callable[[float], None] | None = None


@dataclass(frozen=True)
class Occurrence:
    """An event that happened: its place among those watched, when, and in which state."""

    event: int
    time: float
    state: Array


@dataclass(frozen=True)
class Solution:
    """Recorded states, one per row, and what they cost; `failure` says why a solution ends early."""

    times: Array
    states: Array
    counts: Mapping[str, int]
    occurrences: tuple[Occurrence, ...] = ()
    failure: str | None = None


@dataclass(frozen=True)
class Option:
    """Something that a user may choose of a method or formulation: its default, what it means, what it may be."""

    default: Any
    meaning: str
    words: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def checked(self, where: str, name: str, value: Any) -> Any:
        """The value as the method reads it; an error where it is none of those allowed."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool | np.bool_):
                raise PoinsotError(f"{where}: {name} {checks.show(value)} is neither True nor False")
            return bool(value)
        if self.words:
            if value not in self.words:
                raise PoinsotError(f"{where}: {unknown(name, value, self.words)}")
            return value
        if value is None and self.default is None:
            return None
        number = checks.number(where, name, value, f"give a number{self.range}")
        if (self.least is not None and number < self.least) or (self.most is not None and number > self.most):
            raise PoinsotError(f"{where}: {name} {number:g} is out of range; give a number{self.range}")
        if isinstance(self.default, int) and number != int(number):
            raise PoinsotError(f"{where}: {name} {number:g} is not a whole number; give one{self.range}")
        return int(number) if isinstance(self.default, int) else number

    @property
    def range(self) -> str:
        """The allowed numbers in words, with a blank before."""
        if self.least is None:
            return ""
        return f" of at least {self.least:g}" if self.most is None else f" from {self.least:g} to {self.most:g}"


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

    @property
    def options(self) -> Mapping[str, Option]:
        """What may be chosen of it."""
        ...

    def prepare(self, problem: Any, chosen: Mapping[str, Any]) -> Stepper:
        """Compile, or load, all that solving the problem runs; `chosen` holds a value for each option."""
        ...


class Stepper(Protocol):
    """A method that has been prepared for a problem."""

    def load_location(self) -> None:
        """Compile, or load, what locates an event within a step."""
        ...

    def solve(self, controls: Controls) -> Solution:
        """Step the problem from t = 0 to the end."""
        ...


def accepts(method: AbstractMethod, kind: type) -> bool:
    """Whether a method solves problems of a kind."""
    return issubclass(kind, method.accepts)


@dataclass(frozen=True)
class Formulation:
    """A way to pose the equations of motion.

    `poses` are the kinds of problem that it poses: the first one, or where there are several that of `kind`, which is
    asked with the options that a user has given.
    """

    name: str
    title: str
    poses: tuple[type, ...]
    pose: Callable[[Layout, Mapping[str, Any]], Any]
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    kind: Callable[[Mapping[str, Any]], type] | None = None

    def kind_of(self, given: Mapping[str, Any]) -> type:
        """The kind of problem that it poses with these options."""
        return self.poses[0] if self.kind is None else self.kind(given)


def fits(method: AbstractMethod, formulation: Formulation) -> bool:
    """Whether a method solves any kind of problem that a formulation poses."""
    return any(accepts(method, kind) for kind in formulation.poses)
