"""Events: functions of time and outputs whose zeros are located, recorded, and may end the motion."""

from __future__ import annotations

from typing import Any

from poinsot.model import Model
from poinsot.problem import ManifoldODE, Solution, Watch


def watched_events(model: Model, events: Any) -> tuple[Any, ...]:
    """What a user gave as `events`, checked."""
    return ()


def watch(problem: ManifoldODE, events: tuple[Any, ...]) -> Watch | None:
    """The events as a method watches them."""
    return None


def occurred(problem: ManifoldODE, events: tuple[Any, ...], solution: Solution) -> tuple[Any, ...]:
    """What happened, as a Run holds it."""
    return ()


def ending(events: tuple[Any, ...], solution: Solution) -> dict[str, Any]:
    """The setting that says which event ended the motion, if one did."""
    return {}
