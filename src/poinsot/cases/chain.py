"""Chains of N equal prisms on ball joints, hanging from the ground: the n-body pendulum of the moving frame thesis.

Table 3.1: 2 m long, 0.2 m wide and broad, 50 kg. The whole chain starts at rest in a straight line, turned by 0.1 rad
about x from the vertical; it then swings in the plane of y and z.
"""

from math import cos, sin

from poinsot.cases.case import Case, Reference
from poinsot.errors import PoinsotError
from poinsot.model import Inertia, Model

PREFIX = "chain-"
LENGTH, WIDTH, MASS = 2.0, 0.2, 50.0
ANGLE = 0.1


def build(links: int) -> Model:
    """Return a chain of so many links at rest."""
    model = Model(f"chain of {links}")
    link = Inertia.box(mass=MASS, size=(WIDTH, WIDTH, LENGTH))
    c, s = cos(ANGLE), sin(ANGLE)
    orientation = ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    above = model.ground.name
    for i in range(1, links + 1):
        center, top = (i - 0.5) * LENGTH, (i - 1) * LENGTH
        name = f"link {i}"
        model.body(name, link, (0.0, center * s, -center * c), orientation=orientation)
        model.spherical(f"joint {i}", above, name, at=(0.0, top * s, -top * c))
        above = name
    return model


def case(name: str) -> Case:
    """Return the case "chain-N" for the N in its name."""
    digits = name.removeprefix(PREFIX)
    if not (digits.isascii() and digits.isdecimal() and int(digits) > 0):
        raise PoinsotError(f'case "{name}": "{digits}" is not a number of links; write it as in chain-4 or chain-16')
    links = int(digits)
    return Case(
        f"{PREFIX}{links}",
        f"Chain of {links} {'link' if links == 1 else 'links'} on ball joints (chain-N for any N)",
        "The moving frame method for n-body pendulums (thesis), section 3.2, Table 3.1",
        lambda: build(links),
        reference=REFERENCES.get(links, {}),
    )


REFERENCES: dict[int, dict[str, Reference]] = {
    1: {"period": (2.320750370161281, "4K/ω with the complete elliptic integral K(sin²(θ0/2)) (mpmath)")},
    4: {
        "angles from the vertical at 10 s": (
            (0.072465711014725, 0.074608820003412, 0.067418383404308, 0.075404521329632),
            "Lagrange's equations of the planar chain of four, DOP853 at 1e-13 (about 12 digits)",
        ),
    },
}

CASES = (case("chain-4"),)
