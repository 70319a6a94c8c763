"""The errors that users see: each says what was wrong, where, and what would be right.

`PoinsotError` is a ValueError for every mistake of a user; `SimulationError` is one that shows only
while time runs, and carries the results up to that moment.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poinsot.run import Run


class PoinsotError(ValueError):
    """A user's mistake, in one sentence that names the object, the place and the remedy."""


class SimulationError(PoinsotError):
    """A simulation that could not go on: `run` holds the results up to `time`."""

    def __init__(self, message: str, *, run: Run | None = None, time: float | None = None) -> None:
        super().__init__(message)
        self.run = run
        self.time = time


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that no `kind` is called `name`, with the nearest known name, or else all of them.

    >>> unknown("body", "uper", ["upper", "lower"])
    'there is no body "uper"; did you mean "upper"?'
    """
    names = list(known)
    if not names:
        return f'there is no {kind} "{name}"; there are none'
    remedy = nearest(name, names) or f"known: {', '.join(names)}"
    return f'there is no {kind} "{name}"; {remedy}'


def nearest(name: object, known: Iterable[str]) -> str:
    """Ask whether the nearest known name is meant; empty where none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f'did you mean "{near[0]}"?' if near else ""
