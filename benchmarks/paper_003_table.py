"""Table 3.2 of the moving frame thesis (paper 003): a chain of four, 10 s, beside what Poinsot makes of it.

python benchmarks/paper_003_table.py

Gauss's method with two stages, h = 0.01, stages to 1e-9; RK45 with both tolerances 1e-13. Energies are relative to that
at the start, which is potential energy almost alone (3.15), and 200 times the largest kinetic energy.
"""

from __future__ import annotations

import numpy as np

import poinsot as ps

# Errors in unit length of links 1 to 4 at 10 s, relative energy error, evaluations.
PRINTED = {
    "RK45": (5.55e-15, 2.47e-14, 2.24e-14, 2.50e-14, 7.22e-14, 15794),
    "GL2": (2.22e-15, 5.55e-16, 3.00e-15, 1.66e-15, 3.00e-13, 11334),
}
SETTINGS = {
    "RK45": {"rtol": 1e-13, "atol": 1e-13, "method": "dopri5"},
    "GL2": {"step": 0.01, "method": "gauss2", "iteration_tolerance": 1e-9},
}


def main() -> None:
    """Print the paper's rows and Poinsot's."""
    print(f"{'':24s}{'unit length':>30s}{'energy, end':>13s}{'largest':>10s}{'of kinetic':>12s}{'evaluations':>13s}")
    for name, (*lengths, energy, evaluations) in PRINTED.items():
        printed = " to ".join(f"{length:.2e}" for length in (min(lengths), max(lengths)))
        print(f"{'thesis, ' + name:24s}{printed:>30s}{energy:13.2e}{'':22s}{evaluations:13d}")
        run = ps.simulate(ps.case("chain-4"), 10.0, stabilize="none", **SETTINGS[name])
        change = run.arrays["energy"] / run.arrays["energy"][0] - 1.0
        label = f"Poinsot, {run.settings['method']}"
        print(
            f"{label:24s}{run.rotation_error:30.2e}{abs(change[-1]):13.2e}{np.abs(change).max():10.2e}"
            f"{run.energy_drift:12.2e}{run.stats.evaluations:13d}"
        )


if __name__ == "__main__":
    main()
