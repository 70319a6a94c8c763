"""What a user-written load costs beside the same load built in: chain-8 with a spring and damper at every link.

python benchmarks/user_load.py
"""

from __future__ import annotations

import itertools

from numba import types
from timing import best

import poinsot as ps
from poinsot._jit import pointer_call, routine
from poinsot.formulations import recursive
from poinsot.mechanism.build import build
from poinsot.problem import ManifoldODE
from poinsot.scalars import borrow, floats

LINKS, STIFFNESS, DAMPING, LENGTH = 8, 400.0, 30.0, 1.0


@ps.load
def spring(t, a, b, stiffness, damping, length):
    """A spring and damper between two centres of mass."""
    x, y, z = b.position[0] - a.position[0], b.position[1] - a.position[1], b.position[2] - a.position[2]
    u, v, w = b.velocity[0] - a.velocity[0], b.velocity[1] - a.velocity[1], b.velocity[2] - a.velocity[2]
    distance = (x * x + y * y + z * z) ** 0.5
    tension = stiffness * (1.0 - length / distance) + damping * (x * u + y * v + z * w) / distance**2
    pull = (tension * x, tension * y, tension * z)
    return (pull, (0.0, 0.0, 0.0)), ((-pull[0], -pull[1], -pull[2]), (0.0, 0.0, 0.0))


def chain(kind: str) -> ManifoldODE:
    """The chain with springs between neighbours, of one kind or none."""
    model = ps.case(f"chain-{LINKS}").copy()
    bodies = list(model.bodies.values())
    for n, (a, b) in enumerate(itertools.pairwise(bodies)):
        if kind == "built in":
            model.spring(f"spring {n}", a, b, stiffness=STIFFNESS, damping=DAMPING, length=LENGTH)
        elif kind == "user's":
            model.load(f"spring {n}", spring, a, b, stiffness=STIFFNESS, damping=DAMPING, length=LENGTH)
    return recursive.pose(build(model), {})


call = pointer_call(lambda *arguments: types.void(*arguments))


@routine
def repeat(count, rates, mechanism, state, work, rate):
    """Evaluate many times."""
    for _ in range(count):
        call(rates, mechanism, 0.0, borrow(state), work, borrow(rate))


def main() -> None:
    """Print microseconds per evaluation and the ratio."""
    count, microseconds = 5000, {}
    problems = {kind: chain(kind) for kind in ("none", "built in", "user's")}
    for _ in range(3):  # interleaved, so that a slow moment of the machine meets all three
        for kind, p in problems.items():
            rate = floats(p.n_rates, 1)
            repeat(1, p.rates, p.mechanism, p.initial, p.work, rate)
            spent = best(lambda p=p, rate=rate: repeat(count, p.rates, p.mechanism, p.initial, p.work, rate), count)
            microseconds[kind] = min(spent, microseconds.get(kind, spent))
    for kind, spent in microseconds.items():
        print(f"{kind + ' springs':18s}{spent:7.2f} us per evaluation")
    ratio = microseconds["user's"] / microseconds["built in"]
    print(f"user's / built in: {ratio:.2f} (asked: at most 1.2)")


if __name__ == "__main__":
    main()
