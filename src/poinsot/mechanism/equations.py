"""The equations of all joints, constraint elements and drives of a model, as tables and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanism import tables as t
from poinsot.mechanism.constraints import ACROSS, ALONG, ANGLE, APART
from poinsot.model.joint import TURNING, Joint
from poinsot.model.model import Model

Term = tuple[int, int, int, int]  # the columns of `terms`
AXES = "xyz"

# What keeps the axes of both bodies together: b's third axis in a's third, and b's first in the plane of a's first.
THIRD_AXIS = ((0, 2), (1, 2))
ALL_AXES = (*THIRD_AXIS, (1, 0))
# Which coordinates of b's point are kept, and which axes of a and b stay at right angles.
RULES: dict[str, tuple[str, tuple[tuple[int, int], ...]]] = {
    "fixed": ("xyz", ALL_AXES),
    "revolute": ("xyz", THIRD_AXIS),
    "prismatic": ("xy", ALL_AXES),
    "cylindrical": ("xy", THIRD_AXIS),
    "universal": ("xyz", ((2, 0),)),
    "spherical": ("xyz", ()),
    "planar": ("z", THIRD_AXIS),
    "screw": ("xy", THIRD_AXIS),
    "free": ("", ()),
    "point_on_line": ("xy", ()),
    "point_on_plane": ("z", ()),
}


@dataclass(frozen=True)
class Equation:
    """One scalar equation: its joint or drive, and what it hinders, in the joint's frame at t = 0.

    `turns` says whether it is on an angle (radians); else it is on a length (metres).
    """

    owner: str
    is_drive: bool
    direction: str
    turns: bool


def equations_of(
    model: Model, drive_functions: dict[str, int]
) -> tuple[list[Equation], NDArray[np.int64], NDArray[np.int64]]:
    """All equations in words, and the tables `equations` and `terms`; drives stand last."""
    row = {name: n for n, name in enumerate(model.joints)}
    words: list[Equation] = []
    terms: list[Term] = []
    entries: list[tuple[int, int, int, int, int]] = []

    def put(joint: Joint, direction: str, turns: bool, *parts: Term, drive: str | None = None) -> None:
        function = -1 if drive is None else drive_functions[drive]
        entries.append((len(entries), row[joint.name], len(terms), len(parts), function))
        terms.extend(parts)
        words.append(Equation(drive or joint.name, drive is not None, direction, turns))

    for joint in model.joints.values():
        j = row[joint.name]
        if joint.kind == "distance":
            put(joint, "distance", False, (APART, j, 0, 0))
        elif joint.kind == "gear":
            first, second = joint.joint_b, joint.joint_a
            if first is not None and second is not None:
                put(joint, "ratio", first.kind in TURNING, reading(first, row), reading(second, row))
        else:
            along, across = RULES[joint.kind]
            for axis in along:
                k = AXES.index(axis)
                put(joint, f"translation along {_in_world(joint, k)}", False, (ALONG, j, k, 0))
            for k, m in across:
                about = 3 - k - m  # of three axes at right angles, the one about which b may not turn
                put(joint, f"rotation about {_in_world(joint, about)}", True, (ACROSS, j, k, m))
            if joint.kind == "screw":
                put(joint, "advance per turn", False, (ALONG, j, 2, 0), (ANGLE, j, 0, 0))
    for drive in model.drives.values():
        put(
            drive.joint, "prescribed position", drive.joint.kind in TURNING, reading(drive.joint, row), drive=drive.name
        )
    return (
        words,
        np.array(entries or np.zeros((0, t.EQUATION_COLUMNS)), np.int64).reshape(-1, t.EQUATION_COLUMNS),
        np.array(terms or np.zeros((0, t.TERM_COLUMNS)), np.int64).reshape(-1, t.TERM_COLUMNS),
    )


def reading(joint: Joint, row: dict[str, int]) -> Term:
    """What a one-coordinate joint reads, less what it reads at t = 0."""
    return (ANGLE if joint.kind in TURNING else ALONG, row[joint.name], 2, 0)


def _in_world(joint: Joint, k: int) -> str:
    """An axis of the joint's frame at t = 0, by its letter where it is one of the world's."""
    axis = np.round(joint.frame[:, k], 6) + 0.0
    largest = int(np.argmax(np.abs(axis)))
    if np.count_nonzero(axis) == 1:
        return AXES[largest]
    axis = axis * np.sign(axis[largest])
    return f"({', '.join(f'{x:.4g}' for x in axis + 0.0)})"
