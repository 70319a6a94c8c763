"""From a Model to the tables that kernels read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import float64, typeof
from numpy.typing import NDArray

from poinsot._jit import address
from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism.build_loads import load_tables
from poinsot.mechanism.constraints import EQUATION_OUTPUTS, drive_signature, subtract_drive
from poinsot.mechanism.coordinates import act_along_coordinate
from poinsot.mechanism.equations import Equation, equations_of
from poinsot.mechanism.loads import coordinate_load_signature
from poinsot.mechanism.topology import Branch, Topology, span
from poinsot.model.body import Body
from poinsot.model.joint import ONE_COORDINATE, plane_axes
from poinsot.model.model import Model
from poinsot.scalars import lend

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Primitive:
    """One link of a joint's chain: its kind, its axis in the world at t = 0, and what a unit of its reading does."""

    kind: int
    axis: Array | None = None
    turn: float = 0.0
    slide: float = 0.0
    coordinate: int = 0  # which of the joint's coordinates it is


@dataclass(frozen=True)
class Layout:
    """A mechanism's tables, and where everything of the model is in them."""

    model: Model
    topology: Topology
    mechanism: t.Mechanism
    equations: tuple[Equation, ...]  # what each row of mechanism.equations says
    row: dict[str, int]  # of the link that carries a body; 0 is the ground
    links_of: dict[str, tuple[int, ...]]  # the links of a joint, in the order of its coordinates
    link_names: tuple[str, ...]  # what errors call a link: its joint's or its free body's name
    start_axes: Array  # the links' frames in the world at t = 0
    start_origins: Array
    n_positions: int
    n_velocities: int

    @property
    def bodies(self) -> list[str]:
        """The bodies' names, in the user's order."""
        return list(self.model.bodies)

    @property
    def joints(self) -> list[str]:
        """The joints' names, in the user's order."""
        return list(self.model.joints)

    @cached_property
    def size(self) -> float:
        """A length by which others are measured."""
        return size_of(self.model)


def size_of(model: Model) -> float:
    """A length by which others are measured: the extent of the joints' points and centres of mass at t = 0.

    Where these coincide, it is the largest radius of gyration, and one metre for a point.
    """
    bodies, joints = model.bodies.values(), model.joints.values()
    points = np.array([body.position for body in bodies] + [joint.at for joint in joints])
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    gyration = max((np.trace(body.inertia.matrix) / (2.0 * body.inertia.mass) for body in bodies), default=0.0) ** 0.5
    return max(extent, float(gyration)) or 1.0


def build(model: Model) -> Layout:
    """Lay a model out in tables."""
    topology = span(model)
    if apart := next((joint for joint in model.joints.values() if joint.drawn_apart), None):
        raise PoinsotError(
            f'joint "{apart.name}": its bodies have points or axes of their own, so that it may be open; close the '
            "mechanism with model.assemble() and go on with what that returns"
        )
    links, frames, names = [np.zeros(t.LINK_COLUMNS, np.int64)], [np.zeros(t.FRAME_COLUMNS)], ["ground"]
    frames[0][[0, 4, 8]] = 1.0
    turned, origin = {0: np.eye(3)}, {0: np.zeros(3)}  # the links' frames in the world at t = 0
    row: dict[str, int] = {model.ground.name: 0}
    links_of: dict[str, tuple[int, ...]] = {}
    n_positions = n_velocities = 0
    for branch in topology.branches:
        parent, chain = row[branch.parent.name], primitives(branch)
        point = branch.child.position if branch.joint is None else branch.joint.at
        by_coordinate: dict[int, int] = {}
        for primitive in chain:
            i = len(links)
            W = turned[parent] if primitive.axis is None else _aligned(turned[parent], primitive.axis)
            turned[i], origin[i] = W, point
            links.append(np.array([parent, primitive.kind, n_positions, n_velocities, n_velocities]))
            frames.append(_frame(branch, primitive, turned[parent], W, point - origin[parent]))
            names.append(branch.child.name if branch.joint is None else branch.joint.name)
            n_positions += t.COORDINATES[primitive.kind]
            n_velocities += t.DEGREES_OF_FREEDOM[primitive.kind]
            by_coordinate[primitive.coordinate] = i
            parent = i
        row[branch.child.name] = parent
        _put_inertia(frames[parent], branch.child, turned[parent], origin[parent])
        if branch.joint is not None:
            links_of[branch.joint.name] = tuple(by_coordinate[k] for k in sorted(by_coordinate))
    link_table = np.array(links)
    link_table[:, t.RATE] += n_positions
    tree = {branch.joint.name: branch.reversed for branch in topology.branches if branch.joint is not None}
    backwards = {name for name, reversed_ in tree.items() if reversed_}
    joints, joint_frames = joint_tables(model, tree, row, links_of, link_table[:, t.READING])
    *loads, on_bodies, drive_functions = load_tables(model, row, links_of, turned, backwards)
    words, equations, terms = equations_of(model, drive_functions)
    mechanism = t.Mechanism(
        np.array([[on_bodies, len(loads[0]) - on_bodies, 0, n_velocities, 0, 0]]),
        link_table, np.array(frames), model.gravity.reshape(1, 3).copy(),
        np.array([[row[name]] for name in model.bodies]), _body_frames(model, row, turned, origin),
        joints, joint_frames, *loads, equations, terms, np.zeros((0, 1), np.int64),
        np.zeros((len(equations), EQUATION_OUTPUTS)), np.zeros((0, 1)),
    )  # fmt: skip
    with_calls_for(float64, mechanism)
    start = np.array(list(turned.values())), np.array(list(origin.values()))
    return Layout(
        model, topology, mechanism, tuple(words), row, links_of, tuple(names), *start, n_positions, n_velocities
    )


def with_calls_for(scalar: Any, mechanism: t.Mechanism) -> None:
    """Put the addresses of what only some mechanisms need into its table: drives, loads along joint coordinates."""
    lent, loads = typeof(lend(mechanism)), mechanism.loads[: mechanism.sizes[0, t.BODY_LOADS], t.LOAD_KIND]
    if (mechanism.equations[:, t.FUNCTION_OF_TIME] >= 0).any():
        mechanism.sizes[0, t.DRIVES_ADDRESS] = address(subtract_drive, drive_signature(scalar, lent))
    if (loads < t.FORCE).any():
        signature = coordinate_load_signature(scalar, lent)
        mechanism.sizes[0, t.COORDINATE_LOADS_ADDRESS] = address(act_along_coordinate, signature)


def primitives(branch: Branch) -> list[Primitive]:
    """The chain of links that a joint is made of, from the parent to the child."""
    joint = branch.joint
    if joint is None or joint.kind == "free":
        return [Primitive(t.FREE)]
    if joint.kind == "fixed":
        return [Primitive(t.FIXED)]
    if joint.kind == "spherical":
        return [Primitive(t.SPHERICAL)]
    n = np.asarray(joint.axis)
    if joint.kind == "universal":
        chain = [_turn(n), _turn(np.asarray(joint.second_axis), 1)]
    elif joint.kind == "planar":
        first, second = plane_axes(n)
        chain = [_slide(first), _slide(second, 1), _turn(n, 2)]
    elif joint.kind == "cylindrical":
        chain = [_turn(n), _slide(n, 1)]
    elif joint.kind == "revolute":
        chain = [_turn(n)]
    elif joint.kind == "prismatic":
        chain = [_slide(n)]
    else:
        chain = [Primitive(t.ONE_AXIS, n, 1.0, float(joint.pitch or 0.0))]
    if branch.reversed:
        return [Primitive(p.kind, -np.asarray(p.axis), p.turn, p.slide, p.coordinate) for p in reversed(chain)]
    return chain


def _turn(axis: Array, coordinate: int = 0) -> Primitive:
    return Primitive(t.REVOLUTE, axis, 1.0, 0.0, coordinate)


def _slide(axis: Array, coordinate: int = 0) -> Primitive:
    return Primitive(t.ONE_AXIS, axis, 0.0, 1.0, coordinate)


def _aligned(W: Array, axis: Array) -> Array:
    """W turned by the least rotation that brings its z to the axis; exact where both are world axes."""
    z = W[:, 2]
    cosine = float(z @ axis)
    if cosine < -1.0 + 1e-12:  # opposite: half a turn about W's x
        flipped = W * np.array([1.0, -1.0, -1.0])
        return _aligned(flipped, axis) if cosine > -1.0 else flipped
    v = np.cross(z, axis)
    V = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    turned = (np.eye(3) + V + V @ V / (1.0 + cosine)) @ W
    return orthonormal(turned)


def orthonormal(A: Array) -> Array:
    """The rotation nearest to a matrix that is one but for rounding."""
    return A @ (1.5 * np.eye(3) - 0.5 * A.T @ A)


def _frame(branch: Branch, primitive: Primitive, W_parent: Array, W: Array, arm: Array) -> Array:
    """Placement and hinge of a link at zero reading; at t = 0 it is in W, turned and slid by its first reading."""
    frame = np.zeros(t.FRAME_COLUMNS)
    readings = branch.joint.position if branch.joint is not None else ()
    reading = readings[primitive.coordinate] if primitive.coordinate < len(readings) else 0.0
    c, s = np.cos(primitive.turn * reading), np.sin(primitive.turn * reading)
    placement = W_parent.T @ W @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    frame[t.PLACEMENT : t.PLACEMENT + 9] = placement.ravel()
    frame[t.HINGE : t.HINGE + 3] = W_parent.T @ arm - primitive.slide * reading * placement[:, 2]
    frame[t.TURN], frame[t.SLIDE] = primitive.turn, primitive.slide
    return frame


def _put_inertia(frame: Array, body: Body, W: Array, origin: Array) -> None:
    """Mass, first moment and inertia about the link's origin, in the link's axes."""
    center, to_link = W.T @ (body.position - origin), W.T @ body.rotation
    mass = body.inertia.mass
    inertia = to_link @ body.inertia.matrix @ to_link.T + mass * (
        center @ center * np.eye(3) - np.outer(center, center)
    )
    frame[t.MASS] = mass
    frame[t.MOMENT : t.MOMENT + 3] = mass * center
    frame[t.INERTIA : t.INERTIA + 6] = symmetric(inertia)


def symmetric(S: Array) -> Array:
    """The six numbers by which kernels know a symmetric matrix."""
    return np.array([S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2]])


def full(six: Array) -> Array:
    """The symmetric matrix of six numbers."""
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _body_frames(model: Model, row: dict[str, int], turned: dict[int, Array], origin: dict[int, Array]) -> Array:
    frames = np.zeros((len(model.bodies), t.BODY_COLUMNS))
    for frame, body in zip(frames, model.bodies.values(), strict=True):
        i = row[body.name]
        frame[t.CENTER : t.CENTER + 3] = turned[i].T @ (body.position - origin[i])
        frame[t.AXES : t.AXES + 9] = (turned[i].T @ body.rotation).ravel()
        frame[t.BODY_MASS] = body.inertia.mass
        frame[t.BODY_INERTIA : t.BODY_INERTIA + 6] = symmetric(body.inertia.matrix)
    return frames


def joint_tables(
    model: Model,
    tree: dict[str, bool],
    row: dict[str, int],
    links_of: dict[str, tuple[int, ...]],
    readings: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Array]:
    """Where each joint has its coordinates in the tree, if any, and its frame in the axes of both bodies."""
    table = np.zeros((len(model.joints), t.JOINT_COLUMNS), np.int64)
    frames = np.zeros((len(model.joints), t.JOINT_FRAME_COLUMNS))
    for entry, frame, joint in zip(table, frames, model.joints.values(), strict=True):
        links = links_of.get(joint.name, ())
        entry[t.JOINT_KIND], entry[t.COUNT] = t.JOINT_KINDS.index(joint.kind), joint.coordinates
        entry[t.BODY_A], entry[t.BODY_B] = row[joint.a.name], row[joint.b.name]
        entry[t.SIGN] = -1 if tree.get(joint.name) else 1
        entry[t.CLOSES] = joint.name not in tree
        entry[t.READING_ROW] = readings[links[0]] if joint.kind in ONE_COORDINATE and links else -1
        entry[t.FIRST_LINK : t.FIRST_LINK + len(links)] = links
        at_a, at_b = (joint.at if point is None else point for point in (joint.at_a, joint.at_b))
        frame[t.POINT_A : t.POINT_A + 3] = joint.a.rotation.T @ (at_a - joint.a.position)
        frame[t.POINT_B : t.POINT_B + 3] = joint.b.rotation.T @ (at_b - joint.b.position)
        frame[t.FRAME_A : t.FRAME_A + 9] = (joint.a.rotation.T @ joint.frame).ravel()
        frame[t.FRAME_B : t.FRAME_B + 9] = (joint.b.rotation.T @ joint.frame_b).ravel()
        frame[t.PITCH] = joint.pitch or joint.ratio or 0.0
        frame[t.START_READING] = joint.position[0] if joint.position else 0.0
        frame[t.LENGTH_OF_JOINT] = joint.length or 0.0
    return table, frames
