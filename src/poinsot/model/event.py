"""Events as a user describes them, and as a simulation of one model watches them: checked, named, parsed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, cast

from poinsot.errors import PoinsotError, unknown
from poinsot.model import expression
from poinsot.model.checks import show
from poinsot.model.expression import Program
from poinsot.model.model import Model
from poinsot.model.quantities import Quantities, Reading

DIRECTIONS = {"both": 0, "rising": 1, "falling": -1}
FORMS = 'give an expression such as "energy - 2", a Python function of (t, outputs), or a ps.Event of either'


@dataclass(frozen=True, eq=False)
class Event:
    """A function of time and outputs whose changes of sign are located and recorded.

    `what` is an expression such as `'position["lower"].z + 2'`, or a Python function of (t, outputs) that returns a
    number. Only rising values count where `direction` is 1 or "rising", only falling ones where it is -1 or "falling".
    A `terminal` event ends the motion. With `restart` a step ends at the event and the next begins just behind it, as
    is right for what jumps there.
    """

    what: str | Callable[[float, Any], float]
    _: KW_ONLY
    name: str | None = None
    direction: int | str = 0
    terminal: bool = False
    restart: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.what, str) or callable(self.what)):
            raise PoinsotError(f"event: {show(self.what)} is neither an expression nor a function; {FORMS}")
        if self.name is not None and not (isinstance(self.name, str) and self.name.strip()):  # pyright: ignore
            raise PoinsotError(f'event: the name {show(self.name)} is not one; give one, such as name="impact"')
        where = f'event "{self.given_name or show(self.what)}"'
        words, numbers = tuple(DIRECTIONS), tuple(DIRECTIONS.values())
        if isinstance(self.direction, str) and self.direction not in words:
            raise PoinsotError(f"{where}: {unknown('direction', self.direction, words)}")
        if not isinstance(self.direction, str) and (isinstance(self.direction, bool) or self.direction not in numbers):
            raise PoinsotError(f'{where}: direction {show(self.direction)} is none of "both", "rising", "falling"')
        for what in ("terminal", "restart"):
            if not isinstance(getattr(self, what), bool):
                raise PoinsotError(f"{where}: {what} {show(getattr(self, what))} is neither True nor False")

    @property
    def given_name(self) -> str:
        """The name, the text of the expression or the name of the function; empty for a lambda."""
        if self.name is not None:
            return self.name
        name = self.what.strip() if isinstance(self.what, str) else getattr(self.what, "__name__", "")
        return "" if name == "<lambda>" else name

    @property
    def sign(self) -> int:
        """The direction as a number."""
        return DIRECTIONS[self.direction] if isinstance(self.direction, str) else int(self.direction)


@dataclass(frozen=True, eq=False)
class WatchedEvent:
    """An event with its name in one simulation, and its program and what that reads, or its Python function."""

    name: str
    event: Event
    program: Program = ()
    readings: Sequence[Reading] = ()

    @property
    def function(self) -> Callable[[float, Any], Any] | None:
        """The user's Python function, if it is one."""
        return None if isinstance(self.event.what, str) else self.event.what


def watched_events(model: Model, events: Any) -> tuple[WatchedEvent, ...]:
    """What a user gave as `events`, one or several, checked against the model."""
    given = [events] if isinstance(events, str | Event) or callable(events) else events
    if not isinstance(given, Sequence):
        raise PoinsotError(f"simulate: events {show(given)} are none; {FORMS}, or several of these in a list")
    found = [each if isinstance(each, Event) else Event(each) for each in cast("Sequence[Any]", given)]
    taken = [event.name for event in found if event.name is not None]
    for name in taken:
        if taken.count(name) > 1:
            raise PoinsotError(f'event "{name}": the name is taken already; give each event a name of its own')
    watched: list[WatchedEvent] = []
    for place, event in enumerate(found):
        name = event.name or _free_name(event.given_name or f"event {place + 1}", taken)
        taken.append(name)
        watched.append(_checked(model, name, event))
    return tuple(watched)


def _free_name(name: str, taken: list[str]) -> str:
    """The name, with a number behind it where another event has it."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name} ({number})"
    return free


def _checked(model: Model, name: str, event: Event) -> WatchedEvent:
    where = f'event "{name}"'
    if isinstance(event.what, str):
        outputs = Quantities(list(model.bodies), {joint.name: joint.coordinates for joint in model.joints.values()})
        return WatchedEvent(name, event, expression.parse(where, event.what, ("t",), outputs), outputs.readings)
    try:
        inspect.signature(event.what).bind(0.0, None)
    except TypeError:
        raise PoinsotError(
            f"{where}: the function does not take two arguments; write a function of (t, outputs)"
        ) from None
    except ValueError:  # what is written in C need not say what it takes
        pass
    return WatchedEvent(name, event)
