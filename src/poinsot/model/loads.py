"""Loads: what acts on bodies and joints besides gravity.

Points are in world axes at t = 0 and travel with their bodies. A force or torque keeps its components in world
axes, or in body axes with `frame="body"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poinsot.errors import PoinsotError
from poinsot.model import checks
from poinsot.model.body import Anchor, Body
from poinsot.model.checks import Array, show
from poinsot.model.functions import Function, Function3, vector_function
from poinsot.model.joint import TURNING, Joint, point, span
from poinsot.model.user_load import UserLaw

FRAMES = ("world", "body")


@dataclass(frozen=True, eq=False)
class Force:
    """A force (N) on a body at a point of it."""

    name: str
    body: Body
    force: Function3
    at: Array
    frame: str


@dataclass(frozen=True, eq=False)
class Torque:
    """A torque (N m) on a body."""

    name: str
    body: Body
    torque: Function3
    frame: str


@dataclass(frozen=True, eq=False)
class Spring:
    """A spring and damper along the line between a point of a and a point of b (N/m, m, N s/m)."""

    name: str
    a: Anchor
    b: Anchor
    at_a: Array
    at_b: Array
    stiffness: float
    length: float
    damping: float


@dataclass(frozen=True, eq=False)
class TorsionSpring:
    """A spring and damper about the axis of a turning joint, at ease at the angle `rest` (N m/rad, N m s/rad)."""

    name: str
    joint: Joint
    stiffness: float
    damping: float
    rest: float


@dataclass(frozen=True, eq=False)
class Damper:
    """Damping in a joint, one number per coordinate (N m s/rad, or N s/m where a coordinate slides)."""

    name: str
    joint: Joint
    damping: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Motor:
    """A torque (N m; a force in N where the joint slides) between the two bodies of a one-coordinate joint."""

    name: str
    joint: Joint
    torque: Function


@dataclass(frozen=True, eq=False)
class UserLoad:
    """A user-written law between the given bodies, with its parameters in the order of the law's signature."""

    name: str
    law: UserLaw
    bodies: tuple[Anchor, ...]
    parameters: tuple[float, ...]


Load = Force | Torque | Spring | TorsionSpring | Damper | Motor | UserLoad


def new_force(where: str, name: str, body: Body, force: object, at: object, frame: object) -> Force:
    """Check and return a force."""
    return Force(name, body, vector_function(where, "force", force), point(where, "at", at, body), _frame(where, frame))


def new_torque(where: str, name: str, body: Body, torque: object, frame: object) -> Torque:
    """Check and return a torque."""
    return Torque(name, body, vector_function(where, "torque", torque), _frame(where, frame))


def new_spring(
    where: str,
    name: str,
    a: Anchor,
    b: Anchor,
    at_a: object,
    at_b: object,
    stiffness: object,
    length: object,
    damping: object,
) -> Spring:
    """Check and return a spring; without a natural length it is at ease at t = 0."""
    point_a, point_b = point(where, "at_a", at_a, a), point(where, "at_b", at_b, b)
    gap = span(where, point_a, point_b)
    return Spring(
        name,
        a,
        b,
        point_a,
        point_b,
        checks.not_negative(where, "stiffness", stiffness, "newtons per metre"),
        gap if length is None else checks.not_negative(where, "length", length, "metres"),
        checks.not_negative(where, "damping", damping, "newton seconds per metre"),
    )


def new_torsion_spring(
    where: str, name: str, joint: Joint, stiffness: object, damping: object, rest: object
) -> TorsionSpring:
    """Check and return a torsion spring."""
    if joint.kind not in TURNING:
        raise PoinsotError(
            f'{where}: joint "{joint.name}" is {joint.kind} and has no single axis to turn about; '
            f"give one that has: {' or '.join(TURNING)}"
        )
    return TorsionSpring(
        name,
        joint,
        checks.not_negative(where, "stiffness", stiffness, "newton metres per radian"),
        checks.not_negative(where, "damping", damping, "newton metre seconds per radian"),
        checks.number(where, "rest", rest, "give the angle at ease in radians"),
    )


def new_damper(where: str, name: str, joint: Joint, damping: Any) -> Damper:
    """Check and return a damper; a single number counts for every coordinate."""
    count = joint.coordinates
    if count == 0:
        raise PoinsotError(
            f'{where}: joint "{joint.name}" is {joint.kind} and has no coordinate to damp; give a joint that moves'
        )
    values = [damping] * count if checks.shape(damping) == () else checks.numbers(where, "damping", damping, count)
    unit = "newton metre seconds per radian (newton seconds per metre where the joint slides)"
    return Damper(name, joint, tuple(checks.not_negative(where, "damping", value, unit) for value in values))


def new_user_load(
    where: str, name: str, law: object, bodies: tuple[Anchor, ...], parameters: Mapping[str, object]
) -> UserLoad:
    """Check and return a user-written load on its bodies."""
    if not isinstance(law, UserLaw):
        raise PoinsotError(f"{where}: {show(law)} is not a load law; decorate the Python function with @ps.load")
    if not 1 <= len(bodies) <= 2:
        raise PoinsotError(f"{where}: it is given {len(bodies)} bodies; a load acts on one body or between two")
    if all(not isinstance(body, Body) for body in bodies):
        raise PoinsotError(f"{where}: it acts on the ground, which does not move; give a body")
    if len(bodies) == 2 and bodies[0] is bodies[1]:
        raise PoinsotError(f'{where}: it acts between body "{bodies[0].name}" and itself; give two different bodies')
    values = law.bind(where, len(bodies), parameters)
    law.try_out(where, bodies, values)
    return UserLoad(name, law, bodies, values)


def _frame(where: str, value: object) -> str:
    if value not in FRAMES:
        raise PoinsotError(f'{where}: frame {show(value)} is not known; give "world" or "body"')
    return str(value)
