"""Joints, constraint elements and drives: what ties bodies together.

One class for every kind: a kind differs in which of the fields mean something. Points and axes are in world
axes at t = 0; the axis of a one-axis joint is fixed in both bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.errors import PoinsotError, unknown
from poinsot.model import checks
from poinsot.model.body import Anchor, Body
from poinsot.model.checks import Array, show
from poinsot.model.functions import Function

# How many coordinates each kind has. Those without one that are not `fixed` are constraint elements.
COORDINATES = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "cylindrical": 2,
    "universal": 2,
    "spherical": 3,
    "planar": 3,
    "screw": 1,
    "free": 6,
    "distance": 0,
    "point_on_line": 0,
    "point_on_plane": 0,
    "gear": 0,
}
ONE_COORDINATE = ("revolute", "prismatic", "screw")
# Kinds with one coordinate that is an angle: a torsion spring can act on it.
TURNING = ("revolute", "screw")
# Kinds that need an axis (universal needs two, and has its own rule).
WITH_AXIS = ("revolute", "prismatic", "cylindrical", "planar", "screw", "point_on_line", "point_on_plane")
# Kinds whose motion does not depend on where the joint's point is: it may be left out.
POINT_OPTIONAL = ("fixed", "prismatic", "planar", "free")
# How far from perpendicular the axes of a universal joint may be: rounding, no more.
PERPENDICULAR = 1e-6
# A larger cosine between axes that are drawn apart leaves no plane, or no least turn, between them.
ALONG_EACH_OTHER = 1.0 - 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Joint:
    """A joint between `a` and `b`; its reactions act on `b` at `at`.

    `position` is the reading of the coordinates at t = 0. The motion of b relative to a counts: positive along
    and about `axis`. A screw advances `pitch` metres per radian. A universal joint turns about `axis`, fixed in a,
    and `second_axis`, fixed in b. A planar joint's and point_on_plane's `axis` is the normal. The point `at` of
    point_on_line and point_on_plane is fixed in b, the line or plane through it in a. A distance keeps `length`
    between `at_a`, fixed in a, and `at_b`, fixed in b. A gear turns `joint_b` by `ratio` times what `joint_a` turns.
    Other joints that are drawn open have `at_a` and `at_b`, too, and `axis_b` beside the `axis` that is fixed in a.
    """

    name: str
    kind: str
    a: Anchor
    b: Anchor
    at: Array
    axis: Array | None = None
    second_axis: Array | None = None
    pitch: float | None = None
    position: tuple[float, ...] = ()
    at_a: Array | None = None
    at_b: Array | None = None
    length: float | None = None
    joint_a: Joint | None = None
    joint_b: Joint | None = None
    ratio: float | None = None
    axis_b: Array | None = None

    def __repr__(self) -> str:
        return f'<Joint "{self.name}": {self.kind}, from "{self.a.name}" to "{self.b.name}" at {show(self.at)}>'

    @property
    def coordinates(self) -> int:
        """How many coordinates the joint has (its degrees of freedom)."""
        return COORDINATES[self.kind]

    @property
    def frame(self) -> Array:
        """The joint's axes in the world at t = 0, as columns: its axis is z; a universal joint's second axis is x."""
        if self.axis is None:
            return np.eye(3)
        x = plane_axes(self.axis)[0] if self.second_axis is None else _across(self.second_axis, self.axis)
        return np.column_stack((x, np.cross(self.axis, x), self.axis))

    @property
    def frame_b(self) -> Array:
        """The same as b has it: another one where the axes are drawn apart, turned by the least angle that there is."""
        if self.axis is None or self.axis_b is None:
            return self.frame
        if self.second_axis is not None:
            z = _across(self.axis, self.second_axis)
            return np.column_stack((self.second_axis, np.cross(z, self.second_axis), z))
        x, y, z = np.cross(self.axis, self.axis_b)
        V = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return self.frame + (V + V @ V / (1.0 + self.axis @ self.axis_b)) @ self.frame

    @property
    def drawn_apart(self) -> bool:
        """Whether each body has a point or an axis of its own, so that the joint may be open."""
        return self.axis_b is not None or (self.kind != "distance" and self.at_a is not None)


@dataclass(frozen=True, eq=False)
class Drive:
    """A one-coordinate joint's reading prescribed as a function of time."""

    name: str
    joint: Joint
    position: Function


def plane_axes(normal: Array) -> tuple[Array, Array]:
    """Two directions that complete a normal: the first is the world axis nearest to the plane, laid into it."""
    e = np.eye(3)[np.argmin(np.abs(normal))]
    first = e - (e @ normal) * normal
    first = checks.direction("joint", "axis", first)
    return first, np.cross(normal, first)


def point(where: str, what: str, value: object, anchor: Anchor) -> Array:
    """Return a point in world axes at t = 0; left out, it is the body's centre of mass."""
    if value is not None:
        return checks.vector(where, what, value)
    if isinstance(anchor, Body):
        return anchor.position
    raise PoinsotError(f"{where}: {what} is missing and the ground has no centre; give the point in world axes")


def _across(vector: Array, axis: Array) -> Array:
    """The direction of what a vector has at right angles to an axis."""
    return checks.direction("joint", "axis", vector - (vector @ axis) * axis)


def axis_joint(where: str, kind: str, name: str, a: Anchor, b: Anchor, at: object, **arguments: Any) -> Joint:
    """Check and return a joint at one point: every kind but distance and gear."""
    known = ("at_a", "at_b", *(("axis_a", "axis_b") if kind in WITH_AXIS or kind == "universal" else ()))
    for foreign in set(arguments) - {*known, "axis", "second_axis", "pitch", "position"}:
        raise PoinsotError(f"{where}: {unknown('argument', foreign, known)}")
    at_a, at_b = _apart(where, "at", at, arguments.get("at_a"), arguments.get("at_b"), checks.vector)
    if at is None and at_b is None and kind not in POINT_OPTIONAL:
        raise PoinsotError(f"{where}: at is missing; give the joint's point in world axes at t = 0")
    place = point(where, "at", at, b if isinstance(b, Body) else a) if at_b is None else at_b
    given = arguments.get("second_axis") if arguments.get("axis") is None else arguments["axis"]
    axes = _apart(where, "axis", given, arguments.get("axis_a"), arguments.get("axis_b"), checks.direction)
    (axis, axis_b), second_axis = axes, None
    if kind == "universal":
        if axis is None or axis_b is None:
            axis, second_axis = _universal_axes(where, arguments["axis"], arguments["second_axis"], place, b)
        else:
            second_axis = axis_b
        if abs(float(axis @ second_axis)) > ALONG_EACH_OTHER:
            raise PoinsotError(
                f"{where}: axis_a {show(axis)} and axis_b {show(second_axis)} are along each other; give two that cross"
            )
    elif axis is not None and axis_b is not None:
        if axis @ axis_b < -ALONG_EACH_OTHER:
            raise PoinsotError(
                f"{where}: axis_a {show(axis)} and axis_b {show(axis_b)} point against each other; turn one round"
            )
    elif kind in WITH_AXIS:
        if arguments["axis"] is None:
            raise PoinsotError(f"{where}: axis is missing; give its direction in world axes at t = 0")
        axis = checks.direction(where, "axis", arguments["axis"])
    pitch = None
    if kind == "screw":
        pitch = checks.number(where, "pitch", arguments["pitch"], "give the advance in metres per radian")
    reading = (0.0,) * COORDINATES[kind]
    if kind in ONE_COORDINATE:
        reading = (checks.number(where, "position", arguments["position"], "give the reading at t = 0"),)
    return Joint(name, kind, a, b, place, axis, second_axis, pitch, reading, at_a=at_a, at_b=at_b, axis_b=axis_b)


def _apart(
    where: str, what: str, both: object, of_a: object, of_b: object, checked: Callable[[str, str, object], Array]
) -> tuple[Array | None, Array | None]:
    """A point or an axis that each body has of its own; None twice where they share it."""
    if of_a is None and of_b is None:
        return None, None
    if both is not None:
        raise PoinsotError(
            f"{where}: {what} is given, and {what}_a or {what}_b, too; give {what}, or both of the others"
        )
    for value, name in ((of_a, "a"), (of_b, "b")):
        if value is None:
            raise PoinsotError(f"{where}: {what}_{name} is missing; give {what}_a and {what}_b, in world axes as drawn")
    return checked(where, f"{what}_a", of_a), checked(where, f"{what}_b", of_b)


def distance_joint(where: str, name: str, a: Anchor, b: Anchor, at_a: object, at_b: object, length: object) -> Joint:
    """Check and return a constant distance between two points."""
    point_a, point_b = point(where, "at_a", at_a, a), point(where, "at_b", at_b, b)
    gap = span(where, point_a, point_b)
    if length is not None and abs(checks.positive(where, "length", length, "metres") - gap) > 1e-6 * gap:
        raise PoinsotError(
            f"{where}: length {show(length)} contradicts the distance {show(gap)} of its points at t = 0; "
            "move the points, or leave length out"
        )
    return Joint(name, "distance", a, b, at=point_b, at_a=point_a, at_b=point_b, length=gap)


def gear_joint(where: str, name: str, joint_a: Joint, joint_b: Joint, ratio: object) -> Joint:
    """Check and return a gear between two one-coordinate joints."""
    if joint_a is joint_b:
        raise PoinsotError(f'{where}: it couples joint "{joint_a.name}" to itself; give two different joints')
    factor = checks.number(where, "ratio", ratio, "give the motion of joint_b over that of joint_a")
    if factor == 0.0:
        raise PoinsotError(f"{where}: ratio 0 would lock joint_b; give a ratio other than 0, or use a fixed joint")
    return Joint(name, "gear", joint_a.b, joint_b.b, at=joint_b.at, joint_a=joint_a, joint_b=joint_b, ratio=factor)


def span(where: str, point_a: Array, point_b: Array) -> float:
    """Return the distance of two points that must not coincide."""
    gap = float(np.linalg.norm(point_b - point_a))
    if gap == 0.0:
        raise PoinsotError(
            f"{where}: its two points coincide at {show(point_a)}, so that it has no direction; move at_a or at_b"
        )
    return gap


def _universal_axes(where: str, axis: Any, second_axis: Any, at: Array, b: Anchor) -> tuple[Array, Array]:
    if axis is None:
        raise PoinsotError(f"{where}: axis is missing; give its direction in world axes at t = 0, or both axes")
    if checks.shape(axis) == (2, 3):
        if second_axis is not None:
            raise PoinsotError(f"{where}: the second axis is given twice, in axis and in second_axis; give it once")
        axis, second_axis = axis
    first = checks.direction(where, "axis", axis)
    if second_axis is None:
        second = np.cross(first, b.position - at if isinstance(b, Body) else first)
        if np.linalg.norm(second) <= 1e-9 * np.linalg.norm(b.position - at):
            second = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
    else:
        second = checks.direction(where, "second_axis", second_axis)
        cosine = float(np.dot(first, second))
        if abs(cosine) > PERPENDICULAR:
            degrees = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
            raise PoinsotError(
                f"{where}: its axes {show(first)} and {show(second)} are {degrees:.3g} degrees apart; "
                "give two perpendicular ones"
            )
        second = second - cosine * first
    return first, checks.direction(where, "second_axis", second)
