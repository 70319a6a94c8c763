"""Built-in cases: the papers' examples and the field's benchmarks, one file each, with reference numbers.

A new case is a new file with a `CASES` tuple and a line in the list below.
"""

from poinsot.cases import chain, double_pendulum, dual_spin_satellite, free_body, heavy_top, three_axis_table
from poinsot.cases.case import Case
from poinsot.errors import PoinsotError, unknown
from poinsot.model import Model

__all__ = ["Case", "case", "cases", "find"]

FILES = (double_pendulum, chain, dual_spin_satellite, heavy_top, free_body, three_axis_table)


def cases() -> list[Case]:
    """Return the built-in cases; of the chains, which there are for any number of links, one of four."""
    return [case for file in FILES for case in file.CASES]


def find(name: str) -> Case:
    """Return a built-in case by name, such as "double-pendulum" or "chain-16"."""
    known = {case.name: case for case in cases()}
    if name in known:
        return known[name]
    if str(name).startswith(chain.PREFIX):
        return chain.case(str(name))
    raise PoinsotError(unknown("case", name, [*known, f"{chain.PREFIX}N"]))


def case(name: str) -> Model:
    """Return the model of a built-in case."""
    return find(name).model()
