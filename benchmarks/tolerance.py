"""How far the error that adaptive methods reach is from the tolerance they are given, at 1e-4 to 1e-12, on five cases.

python benchmarks/tolerance.py

Errors are the largest over the run of rotations (rad) and positions (relative to the size of the mechanism). A
tolerance bounds the error of one step: how these add up depends on the motion, and on its length.
"""

from __future__ import annotations

import poinsot as ps

CASES = ("double-pendulum", "chain-4", "dual-spin-satellite", "heavy-top", "free-body")
DURATIONS = (1.0, 10.0)


def main() -> None:
    """Print the least and the largest ratio of error and tolerance for each case and method."""
    print(f"{'case':22s}{'end':>6s}  error over tolerance, from least to largest")
    for t_end in DURATIONS:
        for case in CASES:
            found = ps.analysis.work_precision(ps.case(case), t_end=t_end, quantities=("rotation", "position"))
            ratios = [(curve.method, curve.errors / curve.asked) for curve in found.curves]
            ranges = (f"{method} {ratio.min():.2g} to {ratio.max():.2g}" for method, ratio in ratios)
            print(f"{case:22s}{t_end:4g} s  {'; '.join(ranges)}")


if __name__ == "__main__":
    main()
