"""Built-in cases: the papers' examples and the field's benchmarks, one file each, with reference numbers.

A new case is a new file with a `CASES` tuple and a line in the list below.
"""

from poinsot.cases import (
    andrews,
    bricard,
    chain,
    double_pendulum,
    dual_spin_satellite,
    five_bar,
    flyball_governor,
    flywheel_pendulum,
    four_bars,
    free_body,
    heavy_top,
    slider_crank,
    stewart_platform,
    three_axis_table,
)
from poinsot.cases.case import Case
from poinsot.errors import PoinsotError, unknown
from poinsot.model import Model

__all__ = ["Case", "case", "cases", "find"]

FILES = (
    double_pendulum,
    chain,
    dual_spin_satellite,
    heavy_top,
    free_body,
    three_axis_table,
    flywheel_pendulum,
    five_bar,
    four_bars,
    bricard,
    andrews,
    slider_crank,
    stewart_platform,
    flyball_governor,
)
# Families of cases with a number in the name.
FAMILIES = (chain, four_bars)


def cases() -> list[Case]:
    """Return the built-in cases; of chains and rows of four-bars, which there are for any number, one each."""
    return [case for file in FILES for case in file.CASES]


def find(name: str) -> Case:
    """Return a built-in case by name, such as "double-pendulum", "chain-16" or "four-bars-2"."""
    known = {case.name: case for case in cases()}
    if name in known:
        return known[name]
    for family in FAMILIES:
        if str(name).startswith(family.PREFIX):
            return family.case(str(name))
    raise PoinsotError(unknown("case", name, [*known, *(f"{family.PREFIX}N" for family in FAMILIES)]))


def case(name: str) -> Model:
    """Return the model of a built-in case."""
    return find(name).model()
