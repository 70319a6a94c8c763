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
from poinsot.mechanism.build import Layout
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.dynamics import gather_wrenches
from poinsot.mechanism.initial import initial_state, state_blocks
from poinsot.mechanism.kinematics import move_bodies, move_in_world, tree_workspace
from poinsot.mechanism.loads import apply_loads
from poinsot.mechanism.report import report_bodies, report_joints
from poinsot.mechanism.tables import BODY_LOADS, LOADS_ADDRESS, Mechanism
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Derived, Option, SecondOrderODE
from poinsot.scalars import Duals, dual, duals, floats

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
    if mechanism.plan.shape[0] > 0:
        push_multipliers(mechanism, work)
    gather_wrenches(mechanism, work, mechanism.sizes[0, BODY_LOADS] > 0 or mechanism.plan.shape[0] > 0)
    report_bodies(mechanism, work, bodies)
    report_joints(mechanism, state, work, joints)
    if mechanism.plan.shape[0] > 0:
        report_closing_joints(mechanism, joints)


def pose(layout: Layout, chosen: Mapping[str, Any]) -> SecondOrderODE:
    """Pose the equations of motion in joint coordinates, with loops closed by multipliers."""
    refuse_undetermined(layout)
    closure = Closure.of(layout, chosen)
    mechanism, table = closure.mechanism, float64[:, ::1]
    blocks, n_states, n_rates = state_blocks(layout)
    work = tree_workspace(mechanism, COLUMNS, floats)
    initial = closure.consistent(initial_state(layout))
    signature = types.int64(typeof(mechanism), typeof(blocks), float64, table, table, table, table)
    return SecondOrderODE(
        layout,
        mechanism,
        blocks,
        n_states,
        n_rates,
        initial,
        work,
        rates_address(mechanism, table),
        address(report, types.void(typeof(mechanism), table, table, table, table)),
        lambda: derived(layout, mechanism),
        project=address(close_loops, signature) if closure.projects else 0,
        reconsider=closure.reconsider,
        diagnose=closure.diagnose,
    )


def rates_address(mechanism: Mechanism, view: types.Type) -> int:
    """The address of the rates for views of a type; that of the loads goes into the mechanism's table."""
    loaded = len(mechanism.loads) > 0
    if loaded:
        signature = types.void(typeof(mechanism), float64, view, view)
        mechanism.sizes[0, LOADS_ADDRESS] = address(apply_loads, signature)
    signature = types.void(typeof(mechanism), float64, view, view, view)
    if len(mechanism.plan) > 0:
        return address(loop_dynamics, signature)
    return address(forward_dynamics if loaded else tree_dynamics, signature)


def derived(layout: Layout, mechanism: Mechanism) -> Derived:
    """The rates for Duals; the plan is the same table, so that it changes with that of the numbers."""
    mechanism = with_laws_for(dual, layout.model, mechanism)
    loops = Duals(*mechanism.loops.shape)
    loops.data[:, :, 0] = mechanism.loops
    mechanism = mechanism._replace(sizes=mechanism.sizes.copy(), loops=loops)
    return Derived(rates_address(mechanism, duals), mechanism, tree_workspace(mechanism, COLUMNS, Duals))
