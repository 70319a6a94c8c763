"""Loads that users write: a plain Python function of time and one or two body states.

    @ps.load
    def drag(t, body, coefficient):
        v = body.velocity
        return (-coefficient * v[0], -coefficient * v[1], -coefficient * v[2]), (0.0, 0.0, 0.0)

    model.load("air", drag, lower, coefficient=0.3)

It returns the force at the centre of mass and the torque, both in world axes; with two bodies, one such pair
for each. The function runs compiled, for every scalar type: it must not branch on a state value.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, cast

import numpy as np

from poinsot.errors import PoinsotError, unknown
from poinsot.model import checks
from poinsot.model.body import Anchor, Body
from poinsot.model.checks import show
from poinsot.model.functions import plain

MOST_PARAMETERS = 8
FORM = "write it as def law(t, body, parameter, ...) or def law(t, body_a, body_b, parameter, ...)"

PAIR = "((fx, fy, fz), (tx, ty, tz))"


class BodyState(NamedTuple):
    """Where a body is and how it moves.

    Centre of mass and its velocity in world axes, rotation (body to world) as a row-major 9-tuple, angular
    velocity in body axes.
    """

    position: Any
    rotation: Any
    velocity: Any
    angular_velocity: Any


@dataclass(frozen=True, eq=False)
class UserLaw:
    """A user-written law: the function, its arguments after t (bodies first), and defaults of its parameters.

    How many of the arguments are bodies shows when `model.load` is given them.
    """

    function: Callable[..., Any]
    name: str
    arguments: tuple[str, ...]
    defaults: dict[str, object]

    def __call__(self, *arguments: Any, **parameters: Any) -> Any:
        """Call the function as it was written."""
        return self.function(*arguments, **parameters)

    def parameter_names(self, bodies: int) -> tuple[str, ...]:
        """Return the names of the parameters: what is left when so many arguments are bodies."""
        return self.arguments[bodies:]

    def bind(self, where: str, bodies: int, given: Mapping[str, object]) -> tuple[float, ...]:
        """Return the parameters' values in the order of the signature."""
        names = self.parameter_names(bodies)
        signature = f"{self.name}(t, {', '.join(self.arguments)})"
        if len(self.arguments) < bodies:
            raise PoinsotError(f"{where}: {signature} takes one body and is given {bodies}; give one")
        body = next((name for name in self.arguments[:bodies] if name in self.defaults), None)
        if body is not None:
            raise PoinsotError(f'{where}: {signature} gives the body "{body}" a default; give one to parameters only')
        for name in given:
            if name not in names:
                raise PoinsotError(f"{where}: {signature}: {unknown('parameter', name, names)}")
        missing = [name for name in names if name not in given and name not in self.defaults]
        if missing:
            remedy = ", ".join(f"{name}=..." for name in missing)
            raise PoinsotError(f"{where}: {signature} needs {' and '.join(missing)}; give {remedy}")
        if len(names) > MOST_PARAMETERS:
            raise PoinsotError(f"{where}: {signature} has {len(names)} parameters; use at most {MOST_PARAMETERS}")
        values = {**self.defaults, **given}
        return tuple(checks.number(where, f"parameter {name}", values[name]) for name in names)

    def try_out(self, where: str, bodies: tuple[Anchor, ...], parameters: tuple[float, ...]) -> None:
        """Call the law once, at t = 0, to see that it returns forces and torques of the right form.

        Velocities that the joints decide are not known yet: they count as zero, and what cannot be computed then
        is not held against the law.
        """
        try:
            with np.errstate(all="ignore"):
                result = self.function(0.0, *(_state(body) for body in bodies), *parameters)
        except (ArithmeticError, ValueError, NotImplementedError):
            return
        except Exception as error:
            raise PoinsotError(
                f"{where}: {self.name} failed at t = 0 with {type(error).__name__}: {error}; correct the function"
            ) from error
        pairs = (result,) if len(bodies) == 1 else result
        if not _is_tuple(pairs, len(bodies)) or not all(map(_is_pair, pairs)):
            form = PAIR if len(bodies) == 1 else f"({PAIR}, {PAIR}), for the first and the second body"
            raise PoinsotError(f"{where}: {self.name} returns {reprlib.repr(result)}; return {form}")


def _state(body: Anchor) -> BodyState:
    velocity = body.velocity if isinstance(body, Body) else None
    spin = body.angular_velocity if isinstance(body, Body) else None
    rest = np.zeros(3)
    return BodyState(
        tuple(body.position),
        tuple(body.rotation.ravel()),
        tuple(rest if velocity is None else velocity),
        tuple(rest if spin is None else spin),
    )


def _is_tuple(value: object, length: int) -> bool:
    return isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == length


def _is_pair(value: Any) -> bool:
    return _is_tuple(value, 2) and all(map(_is_vector, value))


def _is_vector(value: object) -> bool:
    return _is_tuple(value, 3) and all(isinstance(x, Real) for x in cast("tuple[object, ...]", value))


def load(function: Callable[..., Any]) -> UserLaw:
    """Make a load of a Python function (a decorator)."""
    if isinstance(function, UserLaw):
        return function
    function = plain(function)
    if not inspect.isfunction(function):
        raise PoinsotError(f"load: {show(function)} is not a Python function; {FORM}")
    where = f'load "{function.__name__}"'
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise PoinsotError(f"{where}: it is a coroutine or a generator; write a plain function that returns its loads")
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise PoinsotError(f'{where}: the argument "{parameter}" is open-ended; name every argument: {FORM}')
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise PoinsotError(
                f'{where}: the argument "{parameter.name}" is positional-only or keyword-only; leave out / and *'
            )
    if len(parameters) < 2:
        raise PoinsotError(f"{where}: it has no argument for a body; {FORM}")
    if len(parameters) > 3 + MOST_PARAMETERS:
        raise PoinsotError(
            f"{where}: it has {len(parameters)} arguments; use at most t, two bodies and {MOST_PARAMETERS} parameters"
        )
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return UserLaw(function, function.__name__, tuple(p.name for p in parameters[1:]), defaults)
