"""N four-bar linkages in a row: N + 1 cranks on the ground, each with a coupler to the next (benchmark A02).

All bars are uniform, 1 m long and 1 kg; the cranks start upright and their ends move at 1 m/s along x. Where everything
lies flat the mechanism is singular: each four-bar may go on as a parallelogram or fold. The motion that starts on the
parallelogram's branch stays there, and is that of a pendulum with ((N + 1)/3 + N) θ'' = ((N + 1)/2 + N) g sin θ, where
θ is the cranks' angle from the vertical. The bars are thin; their moment about their own axis, which the benchmark
leaves out and no motion in the plane needs, is that of 0.1 m by 0.1 m.
"""

from poinsot.cases.case import Case, Reference
from poinsot.errors import PoinsotError
from poinsot.model import Inertia, Model

PREFIX = "four-bars-"
LENGTH, MASS, WIDTH, SPEED = 1.0, 1.0, 0.1, 1.0


def build(loops: int) -> Model:
    """Return so many four-bar linkages."""
    model = Model(f"{loops} four-bar {'linkage' if loops == 1 else 'linkages'}", gravity=(0.0, -9.81, 0.0))
    across = MASS * LENGTH**2 / 12.0
    bar = Inertia(MASS, (MASS * WIDTH**2 / 6.0, across, across))
    upright = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    spin, still, axis = (0.0, 0.0, -SPEED / LENGTH), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    for i in range(loops + 1):
        name = f"crank {i}"
        center = (i * LENGTH, 0.5 * LENGTH, 0.0)
        velocity = (0.5 * SPEED, 0.0, 0.0)
        model.body(name, bar, center, orientation=upright, velocity=velocity, angular_velocity=spin)
        model.revolute(f"pivot {i}", model.ground, name, at=(i * LENGTH, 0.0, 0.0), axis=axis)
    for i in range(loops):
        name = f"coupler {i + 1}"
        center = ((i + 0.5) * LENGTH, LENGTH, 0.0)
        model.body(name, bar, center, velocity=(SPEED, 0.0, 0.0), angular_velocity=still)
        model.revolute(f"pin {i + 1} left", f"crank {i}", name, at=(i * LENGTH, LENGTH, 0.0), axis=axis)
        model.revolute(f"pin {i + 1} right", name, f"crank {i + 1}", at=((i + 1) * LENGTH, LENGTH, 0.0), axis=axis)
    return model


def case(name: str) -> Case:
    """Return the case "four-bars-N" for the N in its name."""
    digits = name.removeprefix(PREFIX)
    if not (digits.isascii() and digits.isdecimal() and int(digits) > 0):
        raise PoinsotError(f'case "{name}": "{digits}" is not a number of loops; write it as in four-bars-2')
    loops = int(digits)
    return Case(
        f"{PREFIX}{loops}",
        f"{loops} four-bar {'linkage' if loops == 1 else 'linkages in a row'} through singular positions "
        "(four-bars-N for any N)",
        "IFToMM library of multibody benchmarks, A02: N four-bar mechanism (González, Dopico, Lugrís, Cuadrado: "
        "A benchmarking system for MBS simulation software, 2006)",
        lambda: build(loops),
        reference=REFERENCES.get(loops, {}),
    )


HOW = "the pendulum of the parallelogram's branch in closed form (Jacobi elliptic functions, scipy)"
REFERENCES: dict[int, dict[str, Reference]] = {
    1: {"end of the first crank at 10 s": ((0.47838505776097, 0.87815017879121), HOW)},
    2: {"end of the first crank at 10 s": ((0.32845811154081, 0.9445185381786), HOW)},
    10: {"end of the first crank at 10 s": ((0.20435356098977, 0.9788971458283), HOW)},
    40: {"end of the first crank at 10 s": ((0.18051222668673, 0.98357274058231), HOW)},
}

CASES = (case("four-bars-2"),)
