"""Poinsot: constrained systems of rigid bodies; describe a mechanism once, choose formulation and method in a word."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poinsot import analysis as analysis
    from poinsot.cases import case as case
    from poinsot.cases import cases as cases
    from poinsot.errors import PoinsotError as PoinsotError
    from poinsot.errors import SimulationError as SimulationError
    from poinsot.formulations import formulations as formulations
    from poinsot.loading import load as load
    from poinsot.methods import methods as methods
    from poinsot.model import BodyState as BodyState
    from poinsot.model import Event as Event
    from poinsot.model import Inertia as Inertia
    from poinsot.model import Model as Model
    from poinsot.run import Run as Run
    from poinsot.scalars import select as select
    from poinsot.simulate import simulate as simulate

# Every public name and the module that it comes from, which is imported when the name is first used.
_HOMES = {
    "BodyState": "poinsot.model",
    "Event": "poinsot.model",
    "Inertia": "poinsot.model",
    "Model": "poinsot.model",
    "PoinsotError": "poinsot.errors",
    "Run": "poinsot.run",
    "SimulationError": "poinsot.errors",
    "case": "poinsot.cases",
    "cases": "poinsot.cases",
    "formulations": "poinsot.formulations",
    "load": "poinsot.loading",
    "methods": "poinsot.methods",
    "select": "poinsot.scalars",
    "simulate": "poinsot.simulate",
}

# Modules that are public as a whole.
_MODULES = ("analysis",)

__all__ = [*_HOMES, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"poinsot.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'poinsot' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Importing a submodule binds its name here; a public function of that name keeps it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
