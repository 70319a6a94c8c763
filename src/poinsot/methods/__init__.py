"""Methods: how a problem is stepped in time. One file per family, and a line per family here."""

from poinsot.methods import gauss, runge_kutta
from poinsot.problem import AbstractMethod

FAMILIES = (runge_kutta, gauss)


def methods() -> list[AbstractMethod]:
    """All methods, in the order of the documentation."""
    return [method for family in FAMILIES for method in family.METHODS]
