"""Everything that a Run holds, from the states that a method has stepped through.

Where equations are redundant, the reactions are the least ones, and masks say which of their components are unique.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanism import tables as t
from poinsot.mechanism.reactions import Reactions
from poinsot.mechanism.record import record
from poinsot.mechanism.unique import unique_components
from poinsot.problem import Array, ManifoldODE

# Rows of bodies and joints that are reported at once: some ten megabytes.
PART_ROWS = 1 << 17
# So many instants of a run tell which reactions are not unique: their directions are fixed in space or in bodies.
SAMPLES = 6


def recorded(problem: ManifoldODE, times: Array, states: Array) -> dict[str, NDArray[Any]]:
    """Everything that a Run holds, from the states at some times; in parts, so that little is in memory twice."""
    arrays: dict[str, NDArray[Any]] = {}
    reactions = Reactions(problem.layout) if problem.redundant else None
    instants = 1 + PART_ROWS // (len(problem.layout.bodies) + len(problem.layout.joints))
    for first in range(0, max(len(times), 1), instants):
        here = slice(first, first + instants)
        for name, values in _part(problem, reactions, times[here], states[here]).items():
            if name not in arrays:
                arrays[name] = np.empty((len(times), *values.shape[1:]))
            arrays[name][here] = values
    names = ("reaction_force_unique", "reaction_torque_unique")
    return arrays | dict(zip(names, _unique(problem, reactions, arrays), strict=True))


def _part(problem: ManifoldODE, reactions: Reactions | None, times: Array, states: Array) -> dict[str, Array]:
    """Everything that a Run holds, out of the tables that a kernel fills."""
    mechanism, tables = problem.mechanism, report_tables(problem, len(times))
    state, rate = np.zeros((problem.n_states, 1)), np.zeros((problem.n_rates, 1))
    blocks, work = problem.blocks if problem.rotations is None else problem.rotations, problem.work
    observe = problem.observe or problem.rates
    record(observe, problem.report, mechanism, blocks, times, states, state, work, rate, *tables)
    if reactions is not None:
        reactions.make_least(*tables[:2])
    return named(problem, *tables) | _driven(problem, tables[1]) | _multipliers(problem, *tables[:2])


def _driven(problem: ManifoldODE, joints: Array) -> dict[str, Array]:
    """What the drives exert on the coordinates of their joints, and its power; nothing without drives."""
    row = {name: n for n, name in enumerate(problem.layout.joints)}
    driven = [row[drive.joint.name] for drive in problem.layout.model.drives.values()]
    force, speed = joints[:, driven, t.DRIVE_FORCE], joints[:, driven, t.JOINT_VELOCITY]
    return {"drive_force": force, "drive_power": force * speed} if driven else {}


def _multipliers(problem: ManifoldODE, bodies: Array, joints: Array) -> dict[str, Array]:
    """The symmetric matrices of orthogonality, and a number for each equation of a joint; NaN where there is none."""
    if not problem.multipliers:
        return {}
    full = bodies[:, :, t.ORTHOGONALITY + np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])]
    return {"orthogonality_multiplier": full, "joint_multiplier": joints[:, :, t.MULTIPLIER : t.MULTIPLIER + 6]}


def _unique(problem: ManifoldODE, reactions: Reactions | None, arrays: dict[str, Array]) -> tuple[Any, Any]:
    """Which components of the reactions are unique, in world axes, from some instants that are not singular."""
    position, rotation = arrays["position"], arrays["rotation"]
    everything = np.broadcast_to(True, arrays["reaction_force"].shape)
    if reactions is None:
        return everything, everything
    if not len(position):  # before time runs, to have kernels ready
        reactions.self_equilibrated(np.tile(np.append(np.zeros(3), np.eye(3)), (len(problem.layout.bodies), 1)))
        return everything, everything
    samples = np.unique(np.linspace(0, len(position) - 1, SAMPLES).astype(int))
    poses = np.concatenate((position[samples], rotation[samples].reshape(len(samples), -1, 9)), axis=2)
    found = [reactions.self_equilibrated(pose) for pose in poses]
    usual = np.array([abs(count - len(problem.redundant)) < 0.5 for _, count in found])
    usual |= not usual.any()
    parts = np.array([part for part, _ in found])[usual]
    return unique_components(problem.layout, parts, rotation[samples][usual], rotation)


def report_tables(problem: ManifoldODE, n: int) -> tuple[Array, Array, Array]:
    """Tables for n instants that `record` fills; NaN stays where a joint has no such coordinate."""
    mechanism = problem.layout.mechanism
    bodies = np.zeros((n, len(mechanism.bodies), t.BODY_REPORT_COLUMNS))
    joints = np.zeros((n, len(mechanism.joints), t.JOINT_REPORT_COLUMNS))
    joints[:, :, t.MULTIPLIER :] = np.nan
    spare = np.arange(6) >= mechanism.joints[:, t.COUNT, None]
    for first in (t.JOINT_POSITION, t.JOINT_VELOCITY):
        joints[:, :, first : first + 6][:, spare] = np.nan
    return bodies, joints, np.zeros((n, t.TOTAL_COLUMNS))


def named(problem: ManifoldODE, bodies: Array, joints: Array, totals: Array) -> dict[str, Array]:
    """Views of the tables by the names under which a Run holds them."""
    counts = problem.layout.mechanism.joints[:, t.COUNT]
    return {
        "position": bodies[:, :, t.POSITION : t.POSITION + 3],
        "rotation": bodies[:, :, t.ROTATION : t.ROTATION + 9].reshape(*bodies.shape[:2], 3, 3),
        "velocity": bodies[:, :, t.VELOCITY : t.VELOCITY + 3],
        "angular_velocity": bodies[:, :, t.ANGULAR_VELOCITY : t.ANGULAR_VELOCITY + 3],
        "acceleration": bodies[:, :, t.ACCELERATION : t.ACCELERATION + 3],
        "angular_acceleration": bodies[:, :, t.ANGULAR_ACCELERATION : t.ANGULAR_ACCELERATION + 3],
        "joint_position": _coordinates(joints[:, :, t.JOINT_POSITION : t.JOINT_POSITION + 6], counts),
        "joint_velocity": _coordinates(joints[:, :, t.JOINT_VELOCITY : t.JOINT_VELOCITY + 6], counts),
        "reaction_force": joints[:, :, t.REACTION_FORCE : t.REACTION_FORCE + 3],
        "reaction_torque": joints[:, :, t.REACTION_TORQUE : t.REACTION_TORQUE + 3],
        "kinetic_energy": totals[:, t.KINETIC_ENERGY],
        "potential_energy": totals[:, t.POTENTIAL_ENERGY],
        "energy": totals[:, t.ENERGY],
        "linear_momentum": totals[:, t.LINEAR_MOMENTUM : t.LINEAR_MOMENTUM + 3],
        "angular_momentum": totals[:, t.ANGULAR_MOMENTUM : t.ANGULAR_MOMENTUM + 3],
        "position_error": totals[:, t.POSITION_ERROR],
        "velocity_error": totals[:, t.VELOCITY_ERROR],
        "rotation_error": totals[:, t.ROTATION_ERROR],
    }


def _coordinates(values: Array, counts: Array) -> Array:
    """(time, joint) where every joint has at most one coordinate, else (time, joint, coordinate)."""
    most = int(counts.max(initial=0))
    return values[:, :, 0] if most <= 1 else values[:, :, :most]
