"""Formulations: how the equations of motion are posed. One file per family, and a line per formulation here."""

from poinsot.formulations import recursive
from poinsot.problem import Formulation, SecondOrderODE


def formulations() -> list[Formulation]:
    """All formulations, in the order of the documentation."""
    return [
        Formulation(
            "recursive",
            "joint coordinates, O(n) elimination from the leaves",
            SecondOrderODE,
            recursive.pose,
            recursive.OPTIONS,
        )
    ]
