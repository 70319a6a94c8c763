"""What a built-in case is: a model, where it comes from, and numbers to check a simulation against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from poinsot.model import Model

# A reference number, or several, and how it was obtained.
Reference = tuple[float | tuple[float, ...], str]

# Adaptive, and tight enough for every reference number to show.
SETTINGS: Mapping[str, Any] = {
    "t_end": 10.0,
    "rtol": 1e-10,
    "atol": 1e-12,
    "formulation": "recursive",
    "method": "dop853",
    "output_step": 0.01,
}


@dataclass(frozen=True)
class Case:
    """A built-in case; `settings` become those of its model, `reference` holds values by name.

    Where a load jumps, `settings["events"]` is a tuple of events that restart there.
    """

    name: str
    title: str
    source: str
    build: Callable[[], Model]
    settings: Mapping[str, Any] = field(default_factory=lambda: SETTINGS)
    reference: Mapping[str, Reference] = field(default_factory=dict[str, Reference])

    def model(self) -> Model:
        """Build the model and give it the case's settings."""
        model = self.build()
        model.settings.update(self.settings)
        return model
