"""`recursive`: a tree in joint coordinates, its accelerations by elimination from the leaves to the ground.

The state is the links' coordinates one after the other, then their velocities; formulations/elimination.py holds the
equations of motion.
"""

from collections.abc import Mapping
from typing import Any

from numba import float64, typeof, types

from poinsot._jit import address, routine
from poinsot.formulations.closure import Closure
from poinsot.formulations.elimination import COLUMNS, forward_dynamics, tree_dynamics
from poinsot.formulations.loops import close_loops, loop_dynamics, push_multipliers, report_closing_joints
from poinsot.mechanism.build import Layout, with_calls_for
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.dynamics import gather_wrenches
from poinsot.mechanism.initial import initial_state, state_blocks
from poinsot.mechanism.kinematics import move_bodies, move_in_world, tree_workspace
from poinsot.mechanism.loads import apply_loads
from poinsot.mechanism.report import report_bodies, report_joints
from poinsot.mechanism.tables import BODY_LOADS, LOADS_ADDRESS, Mechanism, handed
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Derived, Option, SecondOrderODE
from poinsot.scalars import BorrowedType, Duals, dual, floats, lend, point

OPTIONS = {
    "rate_of_return": Option(
        20.0, "with stabilize baumgarte: how fast deviations from the constraints die out (1/s)", (), 0.0, 1e6
    )
}


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `forward_dynamics`."""
    move_in_world(mechanism, state, work)
    move_bodies(mechanism, work)
    gather_wrenches(mechanism, work, mechanism.sizes[0, BODY_LOADS] > 0)
    report_bodies(mechanism, work, bodies)
    report_joints(mechanism, state, work, joints)


@routine
def report_loops(mechanism, state, work, bodies, joints):
    """The same after `loop_dynamics`: what closes the loops acts on the bodies like loads."""
    push_multipliers(mechanism, work)
    gather_wrenches(mechanism, work, True)
    report_bodies(mechanism, work, bodies)
    report_joints(mechanism, state, work, joints)
    report_closing_joints(mechanism, work, joints)


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE:
    """Pose the equations of motion in joint coordinates, with loops closed by multipliers."""
    refuse_undetermined(layout)
    closure = Closure.of(layout, chosen)
    blocks, n_states, n_rates = state_blocks(layout)
    mechanism = point(closure.mechanism)
    blocks, work = lend((blocks, tree_workspace(closure.mechanism, COLUMNS, floats)))
    initial, table, view = closure.consistent(initial_state(layout)), float64[:, ::1], BorrowedType(float64)
    signature = types.int64(*map(typeof, (mechanism, blocks)), float64, *(view,) * 4)
    return SecondOrderODE(
        layout,
        mechanism,
        blocks,
        n_states,
        n_rates,
        initial,
        work,
        rates_address(closure.mechanism, view),
        address(report_loops if closure.rows else report, types.void(typeof(mechanism), view, view, table, table)),
        lambda: derived(layout, closure.mechanism),
        dual_tables=handed(*dual_tables(closure.mechanism)),
        project=address(close_loops, signature) if closure.projects else 0,
        diagnose=closure.diagnose,
        suspect=closure.suspect if closure.rows else None,
        mobility=closure.mobility,
        redundant=closure.redundant,
    )


def rates_address(mechanism: Mechanism, view: types.Type) -> int:
    """The address of the rates for borrowed views of a type and a pointer to the mechanism.

    The address of the loads, which are given borrowed tables, goes into the mechanism's own.
    """
    loaded, lent = len(mechanism.loads) > 0, typeof(lend(mechanism))
    if loaded:
        mechanism.sizes[0, LOADS_ADDRESS] = address(apply_loads, types.void(lent, float64, view, view))
    with_calls_for(view.scalar, mechanism)
    signature = types.void(typeof(point(mechanism)), float64, view, view, view)
    if len(mechanism.plan) > 0:
        return address(loop_dynamics, signature)
    return address(forward_dynamics if loaded else tree_dynamics, signature)


def dual_tables(mechanism: Mechanism) -> tuple[Mechanism, Duals]:
    """Mechanism and workspace for Duals; the plan is the same table, so that it changes with that of the numbers."""
    loops = Duals(*mechanism.loops.shape)
    loops.data[:, :, 0] = mechanism.loops
    mechanism = mechanism._replace(sizes=mechanism.sizes.copy(), loops=loops)
    return mechanism, tree_workspace(mechanism, COLUMNS, Duals)


def derived(layout: Layout, mechanism: Mechanism) -> Derived:
    """The rates for Duals."""
    mechanism, work = dual_tables(with_laws_for(dual, layout.model, mechanism))
    call = rates_address(mechanism, BorrowedType(dual))
    return Derived(call, *handed(mechanism, work))
