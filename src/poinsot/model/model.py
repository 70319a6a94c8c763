"""What a user says: bodies, joints, drives and loads, by name, each checked as it comes.

A Model only collects and checks; it computes nothing. What it holds never changes once added, and a model that
has been simulated is frozen, so that results and model stay one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from poinsot.model import checks, loads
from poinsot.model import joint as joints
from poinsot.model.body import Anchor, Body, Ground, new_body
from poinsot.model.checks import Array
from poinsot.model.functions import scalar_function
from poinsot.model.inertia import Inertia, VectorLike
from poinsot.model.joint import Drive, Joint
from poinsot.model.loads import Damper, Force, Load, Motor, Spring, Torque, TorsionSpring, UserLoad
from poinsot.model.register import Register
from poinsot.model.user_load import UserLaw

if TYPE_CHECKING:
    from poinsot.analysis.redundancy import Report

AnyLoad = TypeVar("AnyLoad", bound=Load)

# A body or the ground as arguments name them: the object itself or its name.
End = Anchor | str


class Apart(TypedDict, total=False):
    """A joint's point and axis as each of its bodies has them, where bodies are drawn so that it is open."""

    at_a: VectorLike
    at_b: VectorLike
    axis_a: VectorLike
    axis_b: VectorLike


class Model:
    """A mechanism as a user describes it, in SI units, in world axes at t = 0.

    Bodies and joints are handed over as objects or by name; `model.ground` (or "ground") is the world. A joint's point
    and axis are `at` and `axis`; where bodies are drawn so that it is open, each has its own, `at_a` and `at_b`,
    `axis_a` and `axis_b`, fixed in the bodies as they are drawn, and `assemble()` closes it.
    `settings` holds the defaults of a simulation: t_end, step, rtol, atol, formulation, method, output_step,
    events.
    """

    def __init__(self, name: str, gravity: VectorLike = (0.0, 0.0, -9.81)) -> None:
        self._register = Register(checks.name("model", name))
        self._gravity = checks.vector(f'model "{name}"', "gravity", gravity)
        self.settings: dict[str, Any] = {}

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{len(group)} {kind}"
            for kind, group in (("bodies", self.bodies), ("joints", self.joints), ("loads", self.loads))
        )
        return f'<Model "{self.name}": {counts}>'

    @property
    def name(self) -> str:
        """The model's name."""
        return self._register.model

    @property
    def gravity(self) -> Array:
        """The acceleration of gravity (m/s², world axes)."""
        return self._gravity

    @property
    def ground(self) -> Ground:
        """The world, which does not move."""
        return self._register.ground

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The bodies by name, in the order in which they were added."""
        return MappingProxyType(self._register.bodies)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints and constraint elements by name, in the order in which they were added."""
        return MappingProxyType(self._register.joints)

    @property
    def drives(self) -> Mapping[str, Drive]:
        """The drives by name, in the order in which they were added."""
        return MappingProxyType(self._register.drives)

    @property
    def loads(self) -> Mapping[str, Load]:
        """The loads by name, in the order in which they were added."""
        return MappingProxyType(self._register.loads)

    @property
    def frozen(self) -> bool:
        """Whether the model has been simulated and takes no more additions."""
        return self._register.frozen

    def freeze(self) -> None:
        """Refuse all later additions."""
        self._register.frozen = True

    def exchange(self, others: Mapping[Any, Any]) -> None:
        """Hold others in place of bodies, joints, drives and loads: moved ones, in a copy."""
        mine = self._register
        for group in (mine.bodies, mine.joints, mine.drives, mine.loads):
            group.update({name: others[held] for name, held in group.items()})

    def copy(self, name: str | None = None) -> Model:
        """Return a model that can be added to, with the same contents: they never change, and are shared."""
        copy = Model(self.name if name is None else name, self._gravity)
        mine = self._register
        copy._register = replace(
            mine,
            model=copy.name,
            bodies=dict(mine.bodies),
            joints=dict(mine.joints),
            drives=dict(mine.drives),
            loads=dict(mine.loads),
            frozen=False,
        )
        copy.settings.update(self.settings)
        return copy

    def check(self) -> Report:
        """Count degrees of freedom and redundant equations, and say what is open or not unique.

        Nothing is simulated, and the model may be added to afterwards.
        """
        # A model knows nothing that compiles, and what is found out about it stands in a room above.
        return import_module("poinsot.analysis.redundancy").check(self)

    def assemble(self, keep: Iterable[Body | Joint | str] = ()) -> Model:
        """Return a copy whose bodies are moved, as little as can be, so that all joints and drives are closed at t = 0.

        What `keep` names stays: a body's pose, or what a joint reads.
        """
        return import_module("poinsot.analysis.assembly").assemble(self, keep)

    # Bodies

    def body(
        self,
        name: str,
        inertia: Inertia,
        position: VectorLike = (0.0, 0.0, 0.0),
        *,
        orientation: object = None,
        velocity: VectorLike | None = None,
        angular_velocity: VectorLike | None = None,
    ) -> Body:
        """Add a body: where its centre of mass is, how it is turned, and how it moves at t = 0.

        `orientation` (body axes to world) is a 3x3 matrix, a quaternion (w, x, y, z) or a scipy Rotation;
        `velocity` is the centre of mass's in world axes, `angular_velocity` is in body axes.
        """
        where = self._register.new("body", name)
        body = new_body(where, name, inertia, position, orientation, velocity, angular_velocity)
        self._register.bodies[name] = body
        return body

    # Joints

    def fixed(self, name: str, a: End, b: End, *, at: VectorLike | None = None, **apart: Unpack[Apart]) -> Joint:
        """Weld b to a; `at` (default: b's centre of mass) is where the reaction is reported."""
        return self._joint("fixed", name, a, b, at, **apart)

    def revolute(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        position: float = 0.0,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b turn about `axis` through `at`; `position` is the angle's reading at t = 0."""
        return self._joint("revolute", name, a, b, at, axis=axis, position=position, **apart)

    def prismatic(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        position: float = 0.0,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b slide along `axis`; `position` is the reading at t = 0."""
        return self._joint("prismatic", name, a, b, at, axis=axis, position=position, **apart)

    def cylindrical(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b turn about and slide along `axis` through `at`; the angle is the first coordinate."""
        return self._joint("cylindrical", name, a, b, at, axis=axis, **apart)

    def universal(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: Any = None,
        second_axis: VectorLike | None = None,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b turn about two perpendicular axes through `at`: `axis`, fixed in a, and `second_axis`, fixed in b.

        `axis` may be the pair of both. Without a second axis, it is perpendicular to the first and to the line
        from the joint to b's centre of mass (or, where that has no direction, to a world axis).
        """
        return self._joint("universal", name, a, b, at, axis=axis, second_axis=second_axis, **apart)

    def spherical(self, name: str, a: End, b: End, *, at: VectorLike | None = None, **apart: Unpack[Apart]) -> Joint:
        """Let b turn freely about the point `at`."""
        return self._joint("spherical", name, a, b, at, **apart)

    def planar(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b slide in the plane whose normal is `axis`, and turn about that normal."""
        return self._joint("planar", name, a, b, at, axis=axis, **apart)

    def screw(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        pitch: float | None = None,
        position: float = 0.0,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Let b turn about `axis` through `at` and advance along it by `pitch` metres per radian."""
        return self._joint("screw", name, a, b, at, axis=axis, pitch=pitch, position=position, **apart)

    def free(self, name: str, a: End, b: End, *, at: VectorLike | None = None, **apart: Unpack[Apart]) -> Joint:
        """Let b move freely against a (a body without joints is free without being told)."""
        return self._joint("free", name, a, b, at, **apart)

    # Constraint elements

    def distance(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at_a: VectorLike | None = None,
        at_b: VectorLike | None = None,
        length: float | None = None,
    ) -> Joint:
        """Keep the distance between a point of a and a point of b, both given in world axes at t = 0.

        A point that is left out is the body's centre of mass. `length` may be given as a check: it is the
        distance at t = 0.
        """
        where = self._register.new("joint", name)
        first, second = self._register.ends(where, a, b)
        return self._add_joint(joints.distance_joint(where, name, first, second, at_a, at_b, length))

    def point_on_line(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Keep the point `at` of b on the line through it along `axis`, fixed in a."""
        return self._joint("point_on_line", name, a, b, at, axis=axis, **apart)

    def point_on_plane(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at: VectorLike | None = None,
        axis: VectorLike | None = None,
        **apart: Unpack[Apart],
    ) -> Joint:
        """Keep the point `at` of b in the plane through it with the normal `axis`, fixed in a."""
        return self._joint("point_on_plane", name, a, b, at, axis=axis, **apart)

    def gear(self, name: str, joint_a: Joint | str, joint_b: Joint | str, *, ratio: float | None = None) -> Joint:
        """Make `joint_b` move by `ratio` times what `joint_a` moves: negative for wheels that mesh outside."""
        where = self._register.new("joint", name)
        first = self._register.one_coordinate(where, joint_a, "joint_a")
        second = self._register.one_coordinate(where, joint_b, "joint_b")
        return self._add_joint(joints.gear_joint(where, name, first, second, ratio))

    def _joint(self, kind: str, name: str, a: End, b: End, at: VectorLike | None, **arguments: Any) -> Joint:
        where = self._register.new("joint", name)
        first, second = self._register.ends(where, a, b)
        return self._add_joint(joints.axis_joint(where, kind, name, first, second, at, **arguments))

    def _add_joint(self, joint: Joint) -> Joint:
        self._register.joints[joint.name] = joint
        return joint

    # Drives and loads

    def drive(self, name: str, joint: Joint | str, *, position: object = None) -> Drive:
        """Prescribe the reading of a one-coordinate joint as a function of time."""
        where = self._register.new("drive", name)
        driven = self._register.undriven(where, joint)
        drive = Drive(name, driven, scalar_function(where, "position", position))
        self._register.drives[name] = drive
        return drive

    def force(
        self,
        name: str,
        body: Body | str,
        *,
        force: object = None,
        at: VectorLike | None = None,
        frame: str = "world",
    ) -> Force:
        """Add a force on a body at the point `at` of it (default: its centre of mass)."""
        where = self._register.new("force", name)
        return self._add_load(loads.new_force(where, name, self._register.body(where, body), force, at, frame))

    def torque(self, name: str, body: Body | str, *, torque: object = None, frame: str = "world") -> Torque:
        """Add a torque on a body, its components in world axes or, with `frame="body"`, in body axes."""
        where = self._register.new("torque", name)
        return self._add_load(loads.new_torque(where, name, self._register.body(where, body), torque, frame))

    def spring(
        self,
        name: str,
        a: End,
        b: End,
        *,
        at_a: VectorLike | None = None,
        at_b: VectorLike | None = None,
        stiffness: float | None = None,
        length: float | None = None,
        damping: float = 0.0,
    ) -> Spring:
        """Add a spring and damper between a point of a and a point of b (default: the centres of mass).

        `length` is the natural length; left out, the spring is at ease at t = 0.
        """
        where = self._register.new("spring", name)
        first, second = self._register.ends(where, a, b)
        return self._add_load(loads.new_spring(where, name, first, second, at_a, at_b, stiffness, length, damping))

    def torsion_spring(
        self,
        name: str,
        joint: Joint | str,
        *,
        stiffness: float | None = None,
        damping: float = 0.0,
        rest: float = 0.0,
    ) -> TorsionSpring:
        """Add a spring and damper about the axis of a revolute or screw joint, at ease at the reading `rest`."""
        where = self._register.new("torsion spring", name)
        turning = self._register.joint(where, joint)
        return self._add_load(loads.new_torsion_spring(where, name, turning, stiffness, damping, rest))

    def damper(self, name: str, joint: Joint | str, *, damping: Any = None) -> Damper:
        """Add damping in a joint: one number for all of its coordinates, or one for each."""
        where = self._register.new("damper", name)
        return self._add_load(loads.new_damper(where, name, self._register.joint(where, joint), damping))

    def motor(self, name: str, joint: Joint | str, *, torque: object = None) -> Motor:
        """Add a torque (a force, where the joint slides) between the bodies of a one-coordinate joint.

        As a string it may use the joint's `position` and `velocity` besides t.
        """
        where = self._register.new("motor", name)
        driven = self._register.one_coordinate(where, joint)
        return self._add_load(
            Motor(name, driven, scalar_function(where, "torque", torque, ("t", "position", "velocity")))
        )

    def load(self, name: str, law: UserLaw, /, *bodies: End, **parameters: float) -> UserLoad:
        """Add a user-written load (see `poinsot.load`) on one or two bodies, with its parameters by name."""
        where = self._register.new("load", name)
        found = tuple(self._register.anchor(where, "body", body) for body in bodies)
        return self._add_load(loads.new_user_load(where, name, law, found, parameters))

    def _add_load(self, load: AnyLoad) -> AnyLoad:
        self._register.loads[load.name] = load
        return load
