"""A body as a user describes it, and the ground.

World frame at t = 0: `position` is the centre of mass, `rotation` maps body axes to world axes, `velocity` is the
centre of mass's in world axes, `angular_velocity` is in body axes. Velocities that were not given are None.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from poinsot.errors import PoinsotError
from poinsot.model import checks
from poinsot.model.checks import Array, show
from poinsot.model.inertia import Inertia

GROUND = "ground"
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A rigid body with its inertia, pose and velocities at t = 0."""

    name: str
    inertia: Inertia
    position: Array
    rotation: Array
    velocity: Array | None
    angular_velocity: Array | None

    def __repr__(self) -> str:
        return f'<Body "{self.name}": {self.inertia.mass:g} kg at {show(self.position)}>'


@dataclass(frozen=True, eq=False, repr=False)
class Ground:
    """What does not move: the world frame."""

    name: str = GROUND
    position: Array = field(default_factory=lambda: checks.read_only((0.0, 0.0, 0.0)))
    rotation: Array = field(default_factory=lambda: checks.read_only(IDENTITY))

    def __repr__(self) -> str:
        return "<Ground>"


# What joints and springs can hold on to.
Anchor = Body | Ground


def new_body(
    where: str,
    name: str,
    inertia: object,
    position: object,
    orientation: object,
    velocity: object,
    angular_velocity: object,
) -> Body:
    """Check and return a body."""
    if not isinstance(inertia, Inertia):
        raise PoinsotError(
            f"{where}: inertia {show(inertia)} is not an inertia; "
            "give one, such as ps.Inertia.box(mass=1, size=(1, 1, 1))"
        )
    return Body(
        name,
        inertia,
        checks.vector(where, "position", position),
        checks.rotation(where, "orientation", IDENTITY if orientation is None else orientation),
        None if velocity is None else checks.vector(where, "velocity", velocity),
        None if angular_velocity is None else checks.vector(where, "angular_velocity", angular_velocity),
    )
