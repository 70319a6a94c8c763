"""What events cost per step of the double pendulum: none, one expression, one Python function.

python benchmarks/events.py
"""

from __future__ import annotations

import poinsot as ps

STEP, STEPS = 0.01, 2000
WATCHED = {
    "no event": (),
    "an expression of t": "t - 100",
    "an expression of an output": 'position["lower"].z - 100',
    "a Python function": lambda t, outputs: outputs.position["lower"][2] - 100.0,
}


def microseconds(events: object, method: str) -> float:
    """The least time of a step, without what is made before and after the steps."""
    model, spent = ps.case("double-pendulum"), []
    for _ in range(7):
        spent.append(ps.simulate(model, STEP * STEPS, step=STEP, method=method, events=events, output_step=20.0).stats)
    return min(stats.seconds / stats.steps for stats in spent) * 1e6


def main() -> None:
    """Print microseconds per step."""
    for method in ("rk4", "dop853"):
        for name, events in WATCHED.items():
            print(f"{method:8s}{name:30s}{microseconds(events, method):8.2f} us per step")


if __name__ == "__main__":
    main()
