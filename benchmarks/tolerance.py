"""How far the error that adaptive methods reach is from the tolerance they are given, at 1e-4 to 1e-12, on five cases.

python benchmarks/tolerance.py

Errors are the largest over the run of rotations (rad) and positions (relative to the size of the mechanism). A
tolerance bounds the error of one step: how these add up depends on the motion, and on its length. So each case runs
over the time that is natural to it, and then over 1 s and 10 s.
"""

from __future__ import annotations

import numpy as np

import poinsot as ps

# One swing (the slowest), one turn of the transverse angular velocity, one nutation, one turn of the body; seconds.
NATURAL = {
    "double-pendulum": 1.05,
    "chain-4": 4.7,
    "dual-spin-satellite": 9.6,
    "heavy-top": 0.56,
    "free-body": 1.0,
}


def main() -> None:
    """Print the least and the largest ratio of error and tolerance for each case and method."""
    print(f"{'case':22s}{'end':>7s}  error over tolerance, from least to largest")
    for t_ends in (NATURAL, dict.fromkeys(NATURAL, 1.0), dict.fromkeys(NATURAL, 10.0)):
        everything: list[np.ndarray] = []
        for case, t_end in t_ends.items():
            found = ps.analysis.work_precision(ps.case(case), t_end=t_end, quantities=("rotation", "position"))
            ratios = [(curve.method, curve.errors / curve.asked) for curve in found.curves]
            everything += [ratio for _, ratio in ratios]
            ranges = (f"{method} {ratio.min():.2g} to {ratio.max():.2g}" for method, ratio in ratios)
            print(f"{case:22s}{t_end:5g} s  {'; '.join(ranges)}", flush=True)
        all_ratios = np.concatenate(everything)
        above, below = np.count_nonzero(all_ratios > 10.0), np.count_nonzero(all_ratios < 0.1)
        print(f"of {all_ratios.size}, more than 10 times the tolerance: {above}; less than a tenth: {below}\n")


if __name__ == "__main__":
    main()
