"""Outputs in expressions: `energy`, `position["lower"].z`, `joint_position["ball"][1]`.

Every name is checked against the model when the expression is read. What an expression reads is a list of readings; its
program refers to them by their places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from poinsot.errors import PoinsotError, nearest
from poinsot.outputs import BODY_VECTORS, JOINT_COORDINATES, JOINT_VECTORS, NUMBERS, VECTORS

NAMES = (*BODY_VECTORS, *JOINT_COORDINATES, *JOINT_VECTORS, *NUMBERS, *VECTORS)
AXES = ("x", "y", "z")

Complaint = Callable[[ast.expr, str, str], PoinsotError]


@dataclass(frozen=True)
class Reading:
    """One number among the outputs: the output's name, the row of the body or joint (or 0), the component."""

    output: str
    row: int
    component: int


@dataclass
class Quantities:
    """The outputs of a model that an expression may name, and those that one has named."""

    bodies: Sequence[str]
    joints: Mapping[str, int]  # and how many coordinates each has
    readings: list[Reading] = field(default_factory=list[Reading])

    def place(self, node: ast.expr, error: Complaint) -> int | None:
        """The place among the readings of what a node names; None where it is no output."""
        base, trailers = node, list[ast.Attribute | ast.Subscript]()
        while isinstance(base, ast.Attribute | ast.Subscript):
            trailers.insert(0, base)
            base = base.value
        if not isinstance(base, ast.Name) or (base.id not in NAMES and not trailers):
            return None
        name = base.id
        if name not in NAMES:
            raise error(base, "is not an output", nearest(name, NAMES) or f"outputs: {', '.join(NAMES)}")
        row, component = 0, 0
        if name not in VECTORS and name not in NUMBERS:
            row = self._row(name, trailers.pop(0) if trailers else base, error)
        if name in JOINT_COORDINATES:
            component = self._coordinate(name, row, node, trailers, error)
        elif name not in NUMBERS:
            component = self._axis(node, trailers, error)
        if trailers:
            raise error(node, "goes on behind a number", f"write {self._example(name, row)}")
        reading = Reading(name, row, component)
        if reading not in self.readings:
            self.readings.append(reading)
        return self.readings.index(reading)

    def _row(self, name: str, node: ast.expr, error: Complaint) -> int:
        """The row of the body or joint that stands in brackets."""
        kind, known = ("body", list(self.bodies)) if name in BODY_VECTORS else ("joint", list(self.joints))
        if not isinstance(node, ast.Subscript):
            raise error(node, f"needs the name of a {kind}", f"write {self._example(name, 0)}")
        match node.slice:
            case ast.Constant(value=str() as wanted) if wanted in known:
                return known.index(wanted)
            case ast.Constant(value=str() as wanted):
                remedy = nearest(wanted, known) or f"known: {', '.join(known) or 'none'}"
                raise error(node.slice, f"is not the name of a {kind}", remedy)
            case _:
                raise error(node.slice, f"is not a {kind}'s name in quotes", f"write {self._example(name, 0)}")

    def _axis(self, node: ast.expr, trailers: list[ast.Attribute | ast.Subscript], error: Complaint) -> int:
        match trailers:
            case [ast.Attribute(attr=axis), *_] if axis in AXES:
                del trailers[0]
                return AXES.index(axis)
            case _:
                raise error(node, "is a vector, not one number", "end it with .x, .y or .z")

    def _coordinate(
        self, name: str, row: int, node: ast.expr, trailers: list[ast.Attribute | ast.Subscript], error: Complaint
    ) -> int:
        joint, count = list(self.joints.items())[row]
        if count == 0:
            raise error(node, f'is of joint "{joint}", which has no coordinate', "name another joint")
        if not trailers and count == 1:
            return 0
        match trailers:
            case [ast.Subscript(slice=ast.Constant(value=int() as k))] if 0 <= k < count and not isinstance(k, bool):
                del trailers[0]
                return k
            case _:
                places = (
                    f"{self._example(name, row)}, the only one" if count == 1 else f"[0] to [{count - 1}] behind it"
                )
                raise error(node, f'is not one coordinate of joint "{joint}", which has {count}', f"write {places}")

    def _example(self, name: str, row: int) -> str:
        """How to write the output of a row."""
        if name in NUMBERS:
            return name
        if name in VECTORS:
            return f"{name}.x"
        names = list(self.bodies) if name in BODY_VECTORS else list(self.joints)
        named = f'{name}["{names[row] if names else "name"}"]'
        if name not in JOINT_COORDINATES:
            return f"{named}.x"
        return f"{named}[0]" if names and self.joints[names[row]] > 1 else named
