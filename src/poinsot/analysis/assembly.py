"""Assembly: bodies that are drawn roughly in place are moved so that all joints and drives are closed at t = 0.

All bodies move, each by a displacement and a turn; joints are equations between them (mechanism/constraints.py), so
that no joint is better than another. A step is the least in the metric of the masses that the linear equations ask for,
damped by as much as is still open (Levenberg, Marquardt), so that redundant and singular mechanisms converge, too, and
steps that open more than they close are taken back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from poinsot.errors import PoinsotError, unknown
from poinsot.formulations.closure import GYRATION, LONGEST
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import joint_tables, size_of
from poinsot.mechanism.constraints import ACROSS, ALONG, ANGLE, EQUATION_OUTPUTS, GRADIENT, VALUE
from poinsot.mechanism.equations import ALL_AXES, Equation, equations_of, reading
from poinsot.mechanism.reactions import put_all_equations
from poinsot.model import Body, Joint, Model, checks
from poinsot.model.body import Anchor
from poinsot.model.joint import ONE_COORDINATE
from poinsot.scalars import lend

Array = NDArray[np.float64]

# Residuals (radians, or sizes of the mechanism) up to this are rounding; so many steps lead there, or none do.
CLOSED, MOST_STEPS = 1e-11, 200
# By which terms a joint's coordinates are kept, of kinds that have several.
KEPT = {
    "cylindrical": ((ALONG, 2, 0), (ANGLE, 0, 0)),
    "universal": ((ACROSS, 1, 0), (ACROSS, 2, 1)),
    "spherical": tuple((ACROSS, *pair) for pair in ALL_AXES),
    "planar": ((ALONG, 0, 0), (ALONG, 1, 0), (ANGLE, 0, 0)),
    "free": (*((ALONG, k, 0) for k in range(3)), *((ACROSS, *pair) for pair in ALL_AXES)),
}
# Joints that a message names.
MOST_NAMED = 4


@dataclass
class Drawing:
    """A model's bodies where they are drawn, and its joints, drives and what is kept as equations between them."""

    model: Model
    keep: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        model = self.model
        self.bodies, self.size = list(model.bodies.values()), size_of(model)
        self.row = {model.ground.name: 0} | {body.name: n + 1 for n, body in enumerate(self.bodies)}
        joints, frames = joint_tables(model, {}, self.row, {}, np.zeros(0, np.int64))
        self.words, equations, terms = equations_of(model, {name: 0 for name in model.drives})
        equations[:, t.FUNCTION_OF_TIME] = -1
        equations, terms = self._with_kept(equations, terms)
        n = len(self.bodies) + 1
        none = np.zeros((0, 1))
        self.mechanism = t.Mechanism(
            np.zeros((1, t.SIZES), np.int64), np.zeros((n, t.LINK_COLUMNS), np.int64), np.zeros((n, t.FRAME_COLUMNS)),
            model.gravity.reshape(1, 3).copy(), np.arange(1, n)[:, None].copy(), np.zeros((n - 1, t.BODY_COLUMNS)),
            joints, frames, none.astype(np.int64), none, none.astype(np.int64), none, equations, terms,
            none.astype(np.int64), none, none,
        )  # fmt: skip
        self.poses = np.zeros((n, t.SHARED_COLUMNS))
        self.out = np.zeros((len(equations), EQUATION_OUTPUTS))
        self.targets = np.zeros(len(equations))
        self.start = np.array([body.position for body in self.bodies]), np.array([b.rotation for b in self.bodies])
        drawn, _ = self.at(*self.start)
        for e, word in enumerate(self.words):
            if word.is_drive:
                drive = model.drives[word.owner]
                moved = drive.position(0.0) - drive.joint.position[0]
                self.targets[e] = np.remainder(moved + np.pi, 2.0 * np.pi) - np.pi if word.turns else moved
            if word.is_drive or self._counts_from_drawn(e):
                self.targets[e] += drawn[e]

    def _with_kept(
        self, equations: NDArray[np.int64], terms: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tables with equations for joints that are kept: what they read stays."""
        rows, parts = [list(row) for row in equations], [list(row) for row in terms]
        self.kept_from = len(rows)
        row = {name: n for n, name in enumerate(self.model.joints)}
        for name, joint in self.model.joints.items():
            if name not in self.keep:
                continue
            several = [(kind, row[name], *axes) for kind, *axes in KEPT.get(joint.kind, ())]
            for term in [reading(joint, row)] if joint.kind in ONE_COORDINATE else several:
                rows.append([len(rows), row[name], len(parts), 1, -1])
                parts.append(list(term))
                self.words.append(Equation(name, False, "what it reads", term[0] != ALONG))
        return np.array(rows, np.int64).reshape(-1, t.EQUATION_COLUMNS), np.array(parts, np.int64).reshape(
            -1, t.TERM_COLUMNS
        )

    def _counts_from_drawn(self, e: int) -> bool:
        """Whether an equation is about readings, which are those given as the joints are drawn."""
        joint = self.model.joints.get(self.words[e].owner)
        return e >= self.kept_from or (joint is not None and joint.kind == "gear")

    def at(self, positions: Array, rotations: Array) -> tuple[Array, Array]:
        """What each equation misses, and the Jacobian in displacements and turns of the bodies, world axes."""
        self.poses[0, [t.ROTATION, t.ROTATION + 4, t.ROTATION + 8]] = 1.0
        self.poses[1:, t.POSITION : t.POSITION + 3] = positions
        self.poses[1:, t.ROTATION : t.ROTATION + 9] = rotations.reshape(-1, 9)
        put_all_equations(*lend((self.mechanism, self.poses, np.zeros((1, 1)), self.out)))
        jacobian = np.zeros((len(self.out), len(self.bodies) + 1, 6))
        for e, (_, _, first, count, _) in enumerate(self.mechanism.equations):
            for n in range(count):
                joint = self.mechanism.joints[self.mechanism.terms[first + n, t.TERM_JOINT]]
                force, torque, P = self.out[e, GRADIENT * n : GRADIENT * (n + 1)].reshape(3, 3)
                for sign, link in ((-1.0, joint[t.BODY_A]), (1.0, joint[t.BODY_B])):
                    jacobian[e, link, :3] += sign * force
                    jacobian[e, link, 3:] += sign * (torque + np.cross(P - self.poses[link, :3], force))
        missed = self.out[:, VALUE] - self.targets
        return missed, jacobian[:, 1:].reshape(len(self.out), -1)

    def readings(self, positions: Array, rotations: Array) -> dict[str, tuple[float, ...]]:
        """What the joints of one coordinate read with their bodies elsewhere."""
        found: dict[str, tuple[float, ...]] = {}
        measuring = Drawing(self.model, frozenset(self.model.joints))
        missed, _ = measuring.at(positions, rotations)
        for e, word in enumerate(measuring.words[measuring.kept_from :], measuring.kept_from):
            joint = self.model.joints[word.owner]
            if joint.kind in ONE_COORDINATE:
                found[joint.name] = (joint.position[0] + float(missed[e]),)
        return found

    def residuals(self, missed: Array) -> dict[str, tuple[float, str, bool]]:
        """The largest of what is missed by joint or drive: how much, in which direction, whether it is an angle."""
        worst: dict[str, tuple[float, str, bool]] = {}
        for word, value in zip(self.words, np.abs(missed), strict=True):
            if value >= worst.get(word.owner, (-1.0,))[0]:
                worst[word.owner] = float(value), word.direction, word.turns
        return worst

    def closed(self) -> tuple[Array, Array]:
        """Positions and rotations in which nothing is missed; an error where there are none near."""
        free = np.repeat([body.name not in self.keep for body in self.bodies], 6)
        here = self.start
        missed, jacobian = self.at(*here)
        damping = 1.0
        for _ in range(MOST_STEPS):
            gap = self._scaled(missed)
            if np.abs(gap).max(initial=0.0) <= CLOSED:
                return here
            mobilities = self._mobilities(here[1])[:, free]
            rows = jacobian[:, free] / np.where([word.turns for word in self.words], 1.0, self.size)[:, None]
            U, s, Vt = np.linalg.svd(rows @ mobilities.T, full_matrices=False)
            while damping < 1e12:
                squares = s * s + damping * float(gap @ gap)
                step = np.zeros(6 * len(self.bodies))
                step[free] = -mobilities.T @ (Vt.T @ (s / np.maximum(squares, 1e-300) * (U.T @ gap)))
                moved = self._moved(*here, step)
                new, new_jacobian = self.at(*moved)
                if np.linalg.norm(self._scaled(new)) < np.linalg.norm(gap):
                    break
                damping = max(10.0 * damping, 1e-6)
            else:
                break
            here, missed, jacobian, damping = moved, new, new_jacobian, 0.1 * damping
        raise self._contradiction(missed)

    def _scaled(self, missed: Array) -> Array:
        return missed / np.where([word.turns for word in self.words], 1.0, self.size)

    def _mobilities(self, R: Array) -> Array:
        """A matrix N, with Nᵀ N the inverse of masses and inertias in world axes, without units: (6 n, 6 n)."""
        n = len(self.bodies)
        result = np.zeros((6 * n, 6 * n))
        mean = sum(body.inertia.mass for body in self.bodies) / n
        for b, body in enumerate(self.bodies):
            inertia = body.inertia.matrix / mean
            least, _, most = np.linalg.eigvalsh(inertia)
            if least <= 1e-9 * most:
                inertia = inertia + body.inertia.mass / mean * (GYRATION * self.size) ** 2 * np.eye(3)
            half = np.linalg.cholesky(np.linalg.inv(inertia)).T @ R[b].T
            result[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = np.eye(3) / np.sqrt(body.inertia.mass / mean)
            result[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = half
        return result * self.size

    def _moved(self, x: Array, R: Array, step: Array) -> tuple[Array, Array]:
        """Bodies moved by a step, which is limited in length."""
        shifts, turns = step.reshape(-1, 2, 3).transpose(1, 0, 2)
        longest = max(float(np.abs(shifts).max()) / self.size, float(np.abs(turns).max()))
        limit = min(1.0, LONGEST / max(longest, 1e-300))
        return x + limit * shifts, Rotation.from_rotvec(limit * turns).as_matrix() @ R

    def _contradiction(self, missed: Array) -> PoinsotError:
        worst = sorted(self.residuals(missed).items(), key=lambda entry: -entry[1][0])
        left = [
            f'{"drive" if name in self.model.drives else "joint"} "{name}" by {value:.3g} {"rad" if turns else "m"} '
            f"({direction})"
            for name, (value, direction, turns) in worst
            if value > 1e-9 * self.size
        ]
        more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
        kept = ", or keep less" if self.keep else ""
        return PoinsotError(
            f'model "{self.model.name}": it cannot be closed near where it is drawn; what stays open at best: '
            f"{', '.join(left[:MOST_NAMED])}{more}; give other lengths or poses{kept}"
        )


def assemble(model: Model, keep: Iterable[Body | Joint | str] = ()) -> Model:
    """Return a copy of a model whose bodies are moved so that all joints and drives are closed at t = 0."""
    if not model.bodies:
        raise PoinsotError(f'model "{model.name}": it has no body; add one with model.body()')
    drawing = Drawing(model, _names(model, keep))
    return _moved_model(drawing, *drawing.closed())


def _names(model: Model, keep: object) -> frozenset[str]:
    """The bodies and joints that are kept, by name."""
    if isinstance(keep, str | Body | Joint) or not isinstance(keep, Iterable):
        keep = (keep,)
    names: set[str] = set()
    for entry in cast("Iterable[object]", keep):
        name = entry.name if isinstance(entry, Body | Joint) else entry
        if not isinstance(name, str) or (name not in model.bodies and name not in model.joints):
            shown = name if isinstance(name, str) else checks.show(name)
            message = unknown("body or joint", shown, [*model.bodies, *model.joints])
            raise PoinsotError(f'model "{model.name}": keep: {message}')
        if name in model.joints and model.joints[name].coordinates == 0:
            raise PoinsotError(
                f'model "{model.name}": keep: {model.joints[name].kind} "{name}" reads nothing that could be kept; '
                "name a body, or a joint with coordinates"
            )
        names.add(name)
    return frozenset(names)


def _moved_model(drawing: Drawing, x: Array, R: Array) -> Model:
    """The model with its bodies elsewhere, and all that is fixed in them."""
    model, copy = drawing.model, drawing.model.copy()
    held: dict[Any, Any] = {model.ground: copy.ground}
    for n, body in enumerate(drawing.bodies):
        held[body] = replace(
            body, position=checks.read_only(x[n]), rotation=checks.rotation(body.name, "orientation", R[n])
        )

    def placed(point: Array | None, anchor: Anchor) -> Array | None:
        """Where a point of a body is now."""
        if point is None or not isinstance(anchor, Body):
            return point
        return checks.read_only(held[anchor].position + turned(point - anchor.position, anchor))

    def turned(vector: Array | None, anchor: Anchor) -> Any:
        """Where a direction of a body points now."""
        if vector is None or not isinstance(anchor, Body):
            return vector
        return checks.read_only(held[anchor].rotation @ anchor.rotation.T @ vector)

    readings = drawing.readings(x, R)
    for joint in model.joints.values():
        is_distance = joint.kind == "distance"
        held[joint] = replace(
            joint,
            a=held[joint.a],
            b=held[joint.b],
            at=placed(joint.at, joint.b),
            axis=turned(joint.axis, joint.a),
            second_axis=turned(joint.second_axis, joint.b),
            axis_b=None,
            at_a=placed(joint.at_a, joint.a) if is_distance else None,
            at_b=placed(joint.at_b, joint.b) if is_distance else None,
            position=readings.get(joint.name, joint.position),
            joint_a=held.get(joint.joint_a),
            joint_b=held.get(joint.joint_b),
        )
    for drive in model.drives.values():
        held[drive] = replace(drive, joint=held[drive.joint])
    for load in model.loads.values():
        changes: dict[str, Any] = {}
        for each in fields(load):
            value = getattr(load, each.name)
            if each.name == "bodies":
                changes[each.name] = tuple(held[body] for body in value)
            elif isinstance(value, Joint) or each.name in ("a", "b", "body"):
                changes[each.name] = held[value]
            elif each.name in ("at", "at_a", "at_b"):
                anchor = getattr(load, {"at": "body", "at_a": "a", "at_b": "b"}[each.name])
                changes[each.name] = placed(value, anchor)
        held[load] = replace(load, **changes)
    copy.exchange(held)
    return copy
