"""Who is called what in a model: unique names, and objects found by name or checked to belong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from poinsot.errors import PoinsotError, unknown
from poinsot.model import checks
from poinsot.model.body import GROUND, Anchor, Body, Ground
from poinsot.model.checks import show
from poinsot.model.joint import ONE_COORDINATE, Drive, Joint
from poinsot.model.loads import Load


@dataclass
class Register:
    """A model's objects by name, in the order in which they were added."""

    model: str
    ground: Ground = field(default_factory=Ground)
    bodies: dict[str, Body] = field(default_factory=dict[str, Body])
    joints: dict[str, Joint] = field(default_factory=dict[str, Joint])
    drives: dict[str, Drive] = field(default_factory=dict[str, Drive])
    loads: dict[str, Load] = field(default_factory=dict[str, Load])
    frozen: bool = False

    def new(self, kind: str, name: str) -> str:
        """Check that a new object may have this name, and return how messages call it."""
        where = f'{kind} "{checks.name(kind, name)}"'
        if self.frozen:
            raise PoinsotError(
                f'{where}: model "{self.model}" has been simulated and is frozen; add to a copy of it: model.copy()'
            )
        if name == GROUND:
            raise PoinsotError(f'{where}: the name "{GROUND}" is reserved for the world; choose another')
        holder = self.kind_of(name)
        if holder:
            raise PoinsotError(f'{where}: there is a {holder} "{name}" already; choose another name')
        return where

    def kind_of(self, name: str) -> str | None:
        """Return what is called by this name: "body", "joint", "drive", "load", or None."""
        groups = {"body": self.bodies, "joint": self.joints, "drive": self.drives, "load": self.loads}
        return next((kind for kind, group in groups.items() if name in group), None)

    def anchor(self, where: str, what: str, value: object) -> Anchor:
        """Return the body or ground that an argument means."""
        if value is self.ground or (isinstance(value, str) and value == GROUND):
            return self.ground
        if isinstance(value, Ground):
            raise PoinsotError(f'{where}: {what} is the ground of another model; use that of model "{self.model}"')
        if isinstance(value, Body | str):
            return self._member(where, what, value, "body", self.bodies)
        raise PoinsotError(f"{where}: {what} {_show(value)} is not a body; give a body, its name, or model.ground")

    def ends(self, where: str, a: object, b: object) -> tuple[Anchor, Anchor]:
        """Return the two different ends of a joint or spring."""
        first, second = self.anchor(where, "a", a), self.anchor(where, "b", b)
        if first is second:
            name = "the ground" if isinstance(first, Ground) else f'body "{first.name}"'
            raise PoinsotError(f"{where}: it connects {name} to itself; give two different bodies")
        return first, second

    def body(self, where: str, value: object) -> Body:
        """Return the body that a load acts on."""
        found = self.anchor(where, "body", value)
        if isinstance(found, Ground):
            raise PoinsotError(f"{where}: it acts on the ground, which does not move; give a body")
        return found

    def joint(self, where: str, value: object, what: str = "joint") -> Joint:
        """Return the joint that an argument means."""
        if isinstance(value, Joint | str):
            return self._member(where, what, value, "joint", self.joints)
        raise PoinsotError(f"{where}: {what} {_show(value)} is not a joint; give a joint or its name")

    def one_coordinate(self, where: str, value: object, what: str = "joint") -> Joint:
        """Return a joint that has one coordinate."""
        joint = self.joint(where, value, what)
        if joint.coordinates != 1:
            raise PoinsotError(
                f'{where}: joint "{joint.name}" is {joint.kind} and has {joint.coordinates} coordinates; '
                f"give one with a single coordinate: {' or '.join(ONE_COORDINATE)}"
            )
        return joint

    def undriven(self, where: str, value: object) -> Joint:
        """Return a joint with one coordinate that no drive moves yet."""
        joint = self.one_coordinate(where, value)
        for drive in self.drives.values():
            if drive.joint is joint:
                raise PoinsotError(
                    f'{where}: joint "{joint.name}" is driven by "{drive.name}" already; give a joint one drive'
                )
        return joint

    def _member(self, where: str, what: str, value: Any, kind: str, group: dict[str, Any]) -> Any:
        if not isinstance(value, str):
            if group.get(value.name) is not value:
                raise PoinsotError(
                    f'{where}: {what}: {kind} "{value.name}" belongs to another model; '
                    f'add one to model "{self.model}" and give that'
                )
            return value
        if value in group:
            return group[value]
        other = self.kind_of(value)
        if other:
            raise PoinsotError(f'{where}: {what}: "{value}" is a {other}; give a {kind}')
        raise PoinsotError(f"{where}: {what}: {unknown(kind, value, group)}")


def _show(value: object) -> str:
    name = getattr(value, "name", None)
    return f'{type(value).__name__} "{name}"' if isinstance(name, str) else show(value)
