"""Methods: how a problem is stepped in time. One file per family, and a line per family here."""

from poinsot.methods import gauss, generalized_alpha, radau, runge_kutta
from poinsot.problem import AbstractMethod

FAMILIES = (runge_kutta, gauss, radau, generalized_alpha)


def methods() -> list[AbstractMethod]:
    """All methods, in the order of the documentation."""
    return [method for family in FAMILIES for method in family.METHODS]
