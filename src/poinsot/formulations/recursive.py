"""`recursive`: a tree in joint coordinates, its accelerations by elimination from the leaves to the ground.

The state is the links' coordinates one after the other, then their velocities; formulations/elimination.py holds the
equations of motion.
"""

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, routine
from poinsot.algebra import manifold
from poinsot.errors import PoinsotError
from poinsot.formulations.elimination import COLUMNS, forward_dynamics, tree_dynamics
from poinsot.mechanism.build import Layout
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.dynamics import gather_wrenches
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.kinematics import move_bodies, move_in_world, tree_workspace
from poinsot.mechanism.loads import apply_loads
from poinsot.mechanism.report import report_bodies, report_joints
from poinsot.mechanism.tables import FIXED, FREE, KIND, LOADS_ADDRESS, SPHERICAL, Mechanism
from poinsot.mechanism.topology import TREE_KINDS
from poinsot.mechanism.undetermined import refuse_undetermined
from poinsot.problem import Derived, SecondOrderODE
from poinsot.scalars import Duals, dual, duals, floats


@routine
def report(mechanism, state, work, bodies, joints):
    """All that a Run records of bodies and joints at one instant, after `forward_dynamics`."""
    move_in_world(mechanism, state, work)
    move_bodies(mechanism, work)
    gather_wrenches(mechanism, work)
    report_bodies(mechanism, work, bodies)
    report_joints(mechanism, state, work, joints)


def pose(layout: Layout) -> SecondOrderODE:
    """Pose the equations of motion of a tree in joint coordinates."""
    refuse_constraints(layout)
    refuse_undetermined(layout)
    mechanism = layout.mechanism
    table = float64[:, ::1]
    blocks, n_states, n_rates = state_blocks(layout)
    initial, work = initial_state(layout), tree_workspace(mechanism, COLUMNS, floats)
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
        lambda: derived(layout),
    )


def rates_address(mechanism: Mechanism, view: types.Type) -> int:
    """The address of the rates for views of a type; that of the loads goes into the mechanism's table."""
    loaded = len(mechanism.loads) > 0
    if loaded:
        signature = types.void(typeof(mechanism), float64, view, view)
        mechanism.sizes[0, LOADS_ADDRESS] = address(apply_loads, signature)
    signature = types.void(typeof(mechanism), float64, view, view, view)
    return address(forward_dynamics if loaded else tree_dynamics, signature)


def derived(layout: Layout) -> Derived:
    """The rates for Duals."""
    mechanism = with_laws_for(dual, layout.model, layout.mechanism)
    mechanism = mechanism._replace(sizes=mechanism.sizes.copy())
    return Derived(rates_address(mechanism, duals), mechanism, tree_workspace(mechanism, COLUMNS, Duals))


def refuse_constraints(layout: Layout) -> None:
    """Raise an error for what joint coordinates alone cannot fulfil."""
    for joint in layout.topology.closing:
        if joint.kind in TREE_KINDS:
            raise PoinsotError(
                f'joint "{joint.name}": it closes a loop, because "{joint.a.name}" and "{joint.b.name}" are connected '
                'already; formulation "recursive" takes trees, so open the loop by leaving out a joint'
            )
        raise PoinsotError(
            f'joint "{joint.name}": {joint.kind} is a constraint between coordinates; '
            'formulation "recursive" takes trees of joints without constraints, so leave it out'
        )
    for drive in layout.model.drives.values():
        raise PoinsotError(
            f'drive "{drive.name}": formulation "recursive" cannot prescribe the motion of joint "{drive.joint.name}"; '
            "leave it out, or move the joint by a motor"
        )


def state_blocks(layout: Layout) -> tuple[np.ndarray, int, int]:
    """The blocks of the state: the links' coordinates one after the other, then all velocities."""
    kinds = layout.mechanism.links[1:, KIND]
    of_links = {SPHERICAL: [(manifold.QUATERNION, 4)], FREE: [(manifold.QUATERNION, 4), (manifold.REAL, 3)], FIXED: []}
    blocks = [block for kind in kinds for block in of_links.get(kind, [(manifold.REAL, 1)])]
    return manifold.block_table([*blocks, (manifold.REAL, layout.n_velocities)])
