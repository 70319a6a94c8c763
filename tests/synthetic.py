"""Runs of invented motion, for tests of what happens to a run after the simulation."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot.run import Run, Stats

SETTINGS: dict[str, Any] = {
    "t_end": 10.0,
    "step": None,
    "rtol": 1e-9,
    "atol": 1e-12,
    "formulation": "recursive",
    "method": "dop853",
    "degrees_of_freedom": 6,
    "conservative": True,
}
STATS = Stats(steps=1234, evaluations=14808, rejected=1, seconds=0.012, compile_seconds=0.1)


def arrays(bodies: int = 2, joints: int = 2, times: int = 101, joint_coordinates: int = 1) -> dict[str, np.ndarray]:
    """Every variable of a run in which body number k swings on a circle of radius k."""
    time = np.linspace(0.0, 10.0, times)
    radius = 1.0 + np.arange(bodies)
    angle = 0.5 * np.cos(2.0 * time[:, None] / np.sqrt(radius))
    rate = -np.sin(2.0 * time[:, None] / np.sqrt(radius)) / np.sqrt(radius)
    zero = np.zeros_like(angle)
    coordinates = np.zeros((times, joints, joint_coordinates))
    kinetic = 0.5 * np.sum((radius * rate) ** 2, axis=1)
    drift = np.linspace(0.0, 1e-12, times) * kinetic.max(initial=0.0)
    return {
        "position": np.stack([zero, radius * np.sin(angle), -radius * np.cos(angle)], axis=-1),
        "rotation": np.tile(np.eye(3), (times, bodies, 1, 1)),
        "velocity": np.stack([zero, radius * np.cos(angle) * rate, radius * np.sin(angle) * rate], axis=-1),
        "angular_velocity": np.stack([rate, zero, zero], axis=-1),
        "acceleration": np.zeros((times, bodies, 3)),
        "angular_acceleration": np.zeros((times, bodies, 3)),
        "joint_position": coordinates[..., 0] if joint_coordinates == 1 else coordinates,
        "joint_velocity": coordinates[..., 0] if joint_coordinates == 1 else np.full_like(coordinates, np.nan),
        "reaction_force": np.zeros((times, joints, 3)),
        "reaction_torque": np.zeros((times, joints, 3)),
        "reaction_force_unique": np.ones((times, joints, 3), bool),
        "reaction_torque_unique": np.arange(3) * np.ones((times, joints, 1)) < 2,
        "orthogonality_multiplier": np.tile(-np.eye(3), (times, bodies, 1, 1)),
        "joint_multiplier": np.ones((times, joints, 6)),
        "drive_force": np.ones((times, 1)),
        "drive_power": np.zeros((times, 1)),
        "kinetic_energy": kinetic,
        "potential_energy": drift - kinetic,
        "energy": drift,
        "linear_momentum": np.zeros((times, 3)),
        "angular_momentum": np.zeros((times, 3)),
        "position_error": np.full(times, 2e-16),
        "velocity_error": np.full(times, 3e-16),
        "rotation_error": np.full(times, 4e-16),
    }


def synthetic_run(
    bodies: int = 2,
    joints: int = 2,
    times: int = 101,
    joint_coordinates: int = 1,
    values: Mapping[str, np.ndarray] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """A run of the invented motion; two bodies are named "upper" and "lower"."""
    return Run.assemble(
        time=np.linspace(0.0, 10.0, times),
        arrays=values if values is not None else arrays(bodies, joints, times, joint_coordinates),
        bodies=("upper", "lower") if bodies == 2 else [f"link {i + 1}" for i in range(bodies)],
        joints=[f"joint {i + 1}" for i in range(joints)],
        model_name="pendulum",
        settings=SETTINGS if settings is None else settings,
        stats=STATS,
        drives=["drive"],
    )
