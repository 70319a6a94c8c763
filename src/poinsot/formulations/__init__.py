"""Formulations: how the equations of motion are posed. One file per family, and a line per formulation here."""

from poinsot.formulations import lie_dae, qtz, recursive, rotation_matrix
from poinsot.problem import Formulation, SecondOrderODE


def formulations() -> list[Formulation]:
    """All formulations, in the order of the documentation."""
    return [
        Formulation(
            "recursive",
            "joint coordinates, O(n) elimination from the leaves",
            (SecondOrderODE,),
            recursive.pose,
            recursive.OPTIONS,
        ),
        Formulation(
            "rotation-matrix",
            "nine elements of each rotation and T*, multipliers eliminated in two steps (paper 000)",
            (SecondOrderODE,),
            rotation_matrix.pose,
            rotation_matrix.OPTIONS,
        ),
        Formulation(
            "lie-dae",
            "poses and velocities of all bodies on their Lie group, index-1 equations with multipliers (paper 001)",
            (SecondOrderODE,),
            lie_dae.pose,
            lie_dae.OPTIONS,
        ),
        Formulation(
            "qtz",
            "independent coordinates and equations by the QTZ decomposition of the Jacobian (paper 002)",
            qtz.POSES,
            qtz.pose,
            qtz.OPTIONS,
            qtz.kind,
        ),
    ]
