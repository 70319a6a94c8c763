"""`qtz`: coordinate reduction by the QTZ decomposition of the constraint Jacobian, after paper 002.

Del Citto, Pennestrì, Vita, Coordinates Reduction and Numerical Integration of Models of Constrained Multibody Systems.
Its three ways to solve the equations of motion are the option `qtz`: "minimal" integrates the independent coordinates p
and p' by (67), "independent-accelerations" positions q and independent velocities z' by (53), "reduced" poses (46) with
the independent equations alone. The rates are in qtz_rates.py, what they are made of in chart.py, freedoms.py and
decomposition.py.

The state is that of `lie-dae`, poses and velocities of all bodies, with p, or z, beside the positions and p', or z',
beside the velocities. In "minimal" the rates depend on p and p' only; the poses beside them tell Newton's iteration for
positions where to begin, and what is recorded.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
from numba import float64, typeof, types

from poinsot._jit import address, routine
from poinsot.algebra import manifold
from poinsot.errors import PoinsotError
from poinsot.formulations.bodies import Kernels
from poinsot.formulations.chart import evaluate, factorise, gradients, place_as_given
from poinsot.formulations.closure import RANK_TOLERANCE, Closure, depends
from poinsot.formulations.decomposition import (
    adopt,
    decompose,
    multipliers,
    put_all_gradients,
    put_jacobian,
    renew,
    take_chart,
)
from poinsot.formulations.freedoms import find_accelerations, find_freedoms
from poinsot.formulations.lie_plan import LENT
from poinsot.formulations.qtz_plan import (
    ACCELERATIONS,
    COLUMN,
    DECOMPOSED,
    EQUATIONS,
    IN_JOINTS,
    KERNEL,
    LAST_PIVOT,
    LOST,
    MINIMAL,
    MULTIPLIER,
    ORDER,
    RANK,
    REPORTED,
    SCALES,
    SETTINGS,
    STATES,
    VARIANTS,
    VELOCITIES,
    WHOLE,
    WORN,
    with_plan,
)
from poinsot.formulations.qtz_rates import (
    correct_minimal,
    correct_on_group,
    correct_reduced,
    dynamics_on_group,
    minimal_dynamics,
    reduced_residual,
)
from poinsot.mechanism import tables
from poinsot.mechanism.absolute import (
    COLUMNS,
    MOTION,
    POSE,
    apply_loads_where_placed,
    counters_of,
    of_bodies,
    place,
    report_motion,
    state_of_bodies,
    workspace_of_bodies,
)
from poinsot.mechanism.build import Layout
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.constraints import GRADIENT
from poinsot.mechanism.dynamics import call_loads
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.report import add_reaction, clear_reaction
from poinsot.mechanism.tables import DRIVE_FORCE, borrowed, handed
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Array, Derived, ManifoldODE, Option, SecondOrderDAE, SecondOrderODE
from poinsot.scalars import BorrowedType, borrow, dual, floats, lend, part, point

OPTIONS = {
    "qtz": Option(
        "minimal", "what is integrated: independent coordinates (67), all positions with independent velocities (53), "
        "or the reduced equations (46), a DAE", VARIANTS,
    ),
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    ),
}  # fmt: skip

POSES = (SecondOrderODE, ManifoldODE, SecondOrderDAE)

# Where a method fails and less than this part of that is left, a singular position is near.
SUSPECT = 0.03

# With more velocities than this LAPACK decomposes, between steps; the kernel is faster below (benchmarks/paper_002.py).
LARGE = 240


def kind(given: Mapping[str, Any]) -> type:
    """The kind of problem that a variant poses."""
    return dict(zip(VARIANTS, POSES, strict=True)).get(given.get("qtz", VARIANTS[0]), SecondOrderODE)


# ------------------------------------------------------------------------------------------ the report


@routine
def observe(mechanism, t, state, work, rate):
    """Accelerations and multipliers at a recorded state, by a decomposition of its own; the chart stays as it is."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    plan, chart, loops = mechanism.plan, mechanism.chart, mechanism.loops
    state = part(state, 0, plan[STATES, 0])
    put_all_gradients(mechanism, t, state, work)
    put_jacobian(mechanism, work)
    take_chart(mechanism, decompose(mechanism), REPORTED)
    place_as_given(mechanism, state, work)
    gradients(mechanism, t, state, work, REPORTED)
    factorise(mechanism, work, REPORTED)
    find_freedoms(mechanism, REPORTED)
    place(mechanism, state, work)
    call_loads(mechanism, t, state, work)
    find_accelerations(mechanism, t, state, work, REPORTED)
    multipliers(mechanism, work)
    for j in range(plan[EQUATIONS, 0]):
        e = plan[plan[ORDER, 0] + j, 0]
        loops[e, MULTIPLIER] = chart[plan[COLUMN, 0] + j, 0] * chart[plan[SCALES, 0] + IN_JOINTS, e]
    evaluate(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0])


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `observe`."""
    mechanism, state, work = borrowed(mechanism), borrow(state), borrow(work)
    loops = mechanism.loops
    report_motion(mechanism, part(state, 0, mechanism.plan[STATES, 0]), work, bodies, joints)
    for j in range(mechanism.joints.shape[0]):
        clear_reaction(joints, j)
        joints[j, DRIVE_FORCE] = 0.0
    for e in range(mechanism.equations.shape[0]):
        add_reaction(mechanism, e, loops, e, -loops[e, MULTIPLIER], joints)


# ------------------------------------------------------------------------------------------ posing


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE | ManifoldODE | SecondOrderDAE:
    """Pose (67), (53) or (46)."""
    refuse_undetermined(layout)
    variant = chosen.get("qtz", VARIANTS[0])
    _refuse_stabilization(chosen.get("stabilize", "projection"), variant)
    if variant == VARIANTS[WHOLE]:
        _refuse_thin_bodies(layout)
    closure = Closure.of(layout, chosen)
    start, counters = closure.consistent(initial_state(layout)), counters_of(layout)
    bodies, rank = len(layout.bodies), len(layout.equations) - len(closure.redundant)
    free = 0 if variant == VARIANTS[WHOLE] else MOTION * bodies - rank
    blocks, n_states, n_rates = _blocks(bodies, free, len(counters))
    mechanism = of_bodies(layout, counters, POSE * bodies + free, MOTION * bodies + free)
    mechanism = with_plan(layout, mechanism, rank, counters, n_states, chosen, closure.size)
    kernels, view = KERNELS[variant], BorrowedType(float64)
    kernels.put_addresses(mechanism, view)
    posed = Posed(mechanism, workspace_of_bodies(mechanism, floats), lend(blocks))
    initial = _state(layout, counters, free, start)
    posed.put_joint_scales(layout, initial)
    posed.choose(layout, initial)
    table = float64[:, ::1]
    common: dict[str, Any] = {
        "layout": layout,
        "mechanism": posed.pointer,
        "blocks": posed.blocks,
        "n_states": n_states,
        "n_rates": n_rates,
        "initial": initial,
        "work": posed.lent,
        "report": address(report, types.void(typeof(posed.pointer), view, view, table, table)),
        "dual_tables": handed(*kernels.dual_tables(mechanism)),
        "project": address(kernels.stabilise, posed.change),
        "renews": True,
        "renew": 0 if MOTION * bodies > LARGE else address(renew, posed.change),
        "reconsider": posed.decompose_by_lapack,
        "observe": address(observe, types.void(typeof(posed.pointer), float64, *(view,) * 3)),
        "diagnose": lambda time, state: kernels.diagnose(closure, mechanism, time, state[:n_states].copy()),
        "suspect": lambda time, state: posed.suspect(layout, time, state[:n_states].copy()),
        "mobility": closure.mobility,
        "redundant": closure.redundant,
    }
    if variant == VARIANTS[WHOLE]:
        residual = _address_of_residual(mechanism, view)
        return SecondOrderDAE(
            **common, n_constraints=rank, residual=residual, derived=lambda: _derived_residual(layout, mechanism)
        )
    rates = kernels.address_of_rates(mechanism, view)
    ode = SecondOrderODE if variant == VARIANTS[MINIMAL] else ManifoldODE
    return ode(**common, rates=rates, derived=lambda: kernels.derived(layout, mechanism))


class Posed:
    """Tables as methods hand them to kernels, so that Python calls the same ones and nothing is compiled twice."""

    def __init__(self, mechanism: tables.Mechanism, work: Array, blocks: Any) -> None:
        self.mechanism, self.blocks = mechanism, blocks
        self.pointer, self.lent = handed(mechanism, work)
        self.change = types.int64(*map(typeof, (self.pointer, blocks)), float64, *(BorrowedType(float64),) * 4)
        self.plan, self.chart = mechanism.plan[:, 0], mechanism.chart

    def put_joint_scales(self, layout: Layout, state: Array) -> None:
        """The inverse of what a unit of each equation's multiplier exerts in its joint, torques over the size."""
        put_all_gradients(self.pointer, 0.0, lend(state), self.lent)
        for e, (_, j, _, count, drive) in enumerate(layout.mechanism.equations):
            own = drive < 0 and layout.mechanism.joints[j, tables.COUNT] > 0
            terms = self.mechanism.loops[e, : GRADIENT * (count if own else 1)].reshape(-1, GRADIENT)
            force, torque = terms[:, :3].sum(axis=0), terms[:, 3:6].sum(axis=0) / layout.size
            self.chart[self.plan[SCALES] + IN_JOINTS, e] = (force @ force + torque @ torque) ** -0.5

    def choose(self, layout: Layout, state: Array) -> None:
        """The first chart, that of the state."""
        self.chart[self.plan[SETTINGS], WORN] = 1.0
        if renew(self.pointer, self.blocks, 0.0, lend(state), self.lent, self.lent, self.lent):
            return
        word = layout.equations[int(self.plan[self.plan[ORDER] + self.plan[RANK] - 1])]
        raise PoinsotError(
            f'{"drive" if word.is_drive else "joint"} "{word.owner}": at t = 0 the mechanism is in a singular position '
            f"where its equation ({word.direction}) depends on the others, and qtz cannot tell which way it will go; "
            'begin a little beside it, or take formulation "recursive"'
        )

    def decompose_by_lapack(self, time: float, state: Array) -> int:
        """What `renew` does, for large systems."""
        if self.chart[self.plan[SETTINGS], WORN] == 0.0:
            return renew(self.pointer, self.blocks, time, lend(state), self.lent, self.lent, self.lent)
        prepare(self.pointer, time, lend(state), self.lent)
        n, m, most = (int(self.plan[place]) for place in (VELOCITIES, EQUATIONS, RANK))
        first = self.plan[DECOMPOSED]
        Q, R, order = scipy.linalg.qr(self.chart[first : first + n, :m], pivoting=True)
        pivots = np.zeros(most)
        pivots[: min(n, m)] = np.abs(np.diag(R))[:most]
        rank = max(int(np.count_nonzero(pivots > RANK_TOLERANCE)), most - LOST, 0)
        self.plan[self.plan[ORDER] : self.plan[ORDER] + m] = order
        self.chart[first : first + min(n, m), :m] = R[: min(n, m)]
        kernel_rows = self.plan[KERNEL]
        self.chart[kernel_rows : kernel_rows + n, : n - rank] = Q[:, rank:]
        return adopt(self.pointer, time, lend(state), self.lent, rank)

    def suspect(self, layout: Layout, time: float, state: Array) -> str | None:
        """What is singular at a state in which a method fails, if anything is."""
        if not (np.isfinite(state).all() and self.plan[RANK] > 0):
            return None
        observe(self.pointer, time, lend(state), self.lent, self.lent)
        last = int(self.plan[RANK]) - 1
        pivot = abs(self.chart[self.plan[DECOMPOSED] + last, last])
        if pivot > SUSPECT * self.chart[self.plan[SETTINGS], LAST_PIVOT]:
            return None
        return depends(layout.equations[int(self.plan[self.plan[ORDER] + last])])


@routine
def prepare(mechanism, t, state, work):
    """The Jacobian of a state, to be decomposed."""
    put_all_gradients(mechanism, t, state, work)
    put_jacobian(borrowed(mechanism), borrow(work))


def _refuse_stabilization(stabilize: str, variant: str) -> None:
    """An error for what makes no sense where positions and velocities are those of a chart."""
    if stabilize == "rotation-vector" or (stabilize == "baumgarte" and variant != VARIANTS[ACCELERATIONS]):
        fitting = (
            '"projection", "baumgarte" or "none"' if variant == VARIANTS[ACCELERATIONS] else '"projection" or "none"'
        )
        raise PoinsotError(
            f'simulate: stabilize "{stabilize}" is not for formulation "qtz" with qtz="{variant}"; give {fitting}'
        )


def _refuse_thin_bodies(layout: Layout) -> None:
    """Raise an error where the equations of a body alone have no solution, which Newton's iteration needs."""
    for name, body in layout.model.bodies.items():
        least, _, most = np.linalg.eigvalsh(body.inertia.matrix)
        if least <= LENT * most:
            raise PoinsotError(
                f'body "{name}": it has no inertia about some axis, which qtz="{VARIANTS[WHOLE]}" needs; give it some, '
                f'or take qtz="{VARIANTS[MINIMAL]}"'
            )


def _blocks(bodies: int, free: int, counts: int) -> tuple[Any, int, int]:
    """The blocks of the state: poses, independent coordinates, counts, and the velocities of all."""
    poses = [block for _ in range(bodies) for block in ((manifold.ROTATION, 9), (manifold.REAL, 3))]
    beside = [(manifold.REAL, free + counts)] if free + counts else []
    return manifold.block_table([*poses, *beside, (manifold.REAL, MOTION * bodies + free + counts)])


def _state(layout: Layout, counters: list[tuple[int, int]], free: int, tree_state: Array) -> Array:
    """The state that moves like a tree's in joint coordinates; independent ones are not known yet."""
    state, bodies = state_of_bodies(layout, counters, tree_state)[:, 0], len(layout.bodies)
    rates = (POSE + MOTION) * bodies + len(counters)
    return np.insert(state, [POSE * bodies] * free + [rates] * free, 0.0)[:, None].copy()


def _address_of_residual(mechanism: tables.Mechanism, view: types.Type) -> int:
    return address(reduced_residual, types.void(typeof(point(mechanism)), float64, *(view,) * 5))


def _derived_residual(layout: Layout, mechanism: tables.Mechanism) -> Derived:
    """The residual for Duals."""
    kernels, view = KERNELS[VARIANTS[WHOLE]], BorrowedType(dual)
    mechanism, work = kernels.dual_tables(with_laws_for(dual, layout.model, mechanism))
    kernels.put_addresses(mechanism, view)
    return Derived(_address_of_residual(mechanism, view), *handed(mechanism, work))


KERNELS = {
    variant: Kernels(rates, apply_loads_where_placed, correct, put_all_gradients, COLUMNS)
    for variant, rates, correct in (
        (VARIANTS[MINIMAL], minimal_dynamics, correct_minimal),
        (VARIANTS[ACCELERATIONS], dynamics_on_group, correct_on_group),
        (VARIANTS[WHOLE], reduced_residual, correct_reduced),
    )
}
