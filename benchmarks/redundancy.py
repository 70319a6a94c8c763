"""What redundant equations cost: the least reactions of an instant beside a step, and a report, for chains of loops.

Rods of 1 m and 1 kg with hinges: three redundant equations for each loop. Times are of one process on this machine.
"""

import numpy as np
from timing import best

import poinsot as ps
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.reactions import Reactions

ROD = ps.Inertia.box(mass=1.0, size=(1.0, 0.1, 0.1))
AXIS = (0.0, 0.0, 1.0)


def chain(loops: int) -> ps.Model:
    """Cranks side by side, each tied to the next by a coupler."""
    model = ps.Model(f"{loops} four-bars", gravity=(0.0, -9.81, 0.0))
    turned = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    for n in range(loops + 1):
        model.body(f"crank {n}", ROD, (n + 0.3, 0.4, 0.0), orientation=turned)
        model.revolute(f"ground {n}", model.ground, f"crank {n}", at=(n, 0.0, 0.0), axis=AXIS)
    for n in range(loops):
        model.body(f"rod {n}", ROD, (n + 1.1, 0.8, 0.0))
        model.revolute(f"left {n}", f"crank {n}", f"rod {n}", at=(n + 0.6, 0.8, 0.0), axis=AXIS)
        model.revolute(f"right {n}", f"rod {n}", f"crank {n + 1}", at=(n + 1.6, 0.8, 0.0), axis=AXIS)
    return model


def main() -> None:
    """Print a table."""
    print(f"{'loops':>5} {'redundant':>9} {'step/µs':>9} {'least reactions/µs':>18} {'check/s':>8}")
    for loops in (1, 2, 10, 40):
        model = chain(loops)
        report = model.check()
        seconds = best(model.check, rounds=3) / 1e6
        ps.simulate(model, 0.01, step=0.001)
        run = ps.simulate(model, 1.0, step=0.001, output_step=0.5)  # few instants are recorded
        layout, instants = build(model), 200
        reactions = Reactions(layout)
        bodies = np.zeros((instants, len(model.bodies), t.BODY_REPORT_COLUMNS))
        for b, body in enumerate(model.bodies.values()):
            bodies[:, b, :3], bodies[:, b, 3:12] = body.position, body.rotation.ravel()
        joints = np.ones((instants, len(model.joints), t.JOINT_REPORT_COLUMNS))
        least = best(lambda: reactions.make_least(bodies, joints), instants, rounds=5)  # noqa: B023
        step = 1e6 * run.stats.seconds / run.stats.steps
        print(f"{loops:5d} {len(report.redundant):9d} {step:9.1f} {least:18.1f} {seconds:8.2f}")


if __name__ == "__main__":
    main()
