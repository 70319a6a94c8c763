"""The dual-spin satellite of paper 001 (Terze, Müller, Zlatar): its figures, and the drift that it does not show.

python benchmarks/paper_001.py [FOLDER]

Prints how `lie-dae` agrees with `recursive`, its order, its exactness on long chains, and how far constraints drift
over 100 s with each stabilization; with a folder, writes Figures 2 to 4 (paper-001.png) and the drift
(paper-001-drift.png) into it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from mechanisms import revolute_chain

import poinsot as ps
from poinsot.view.plots import PALETTE, STYLE

CASE = "dual-spin-satellite"
LABELS = {"none": "none", "projection": "projection (12)", "rotation-vector": "rotation vectors (13)-(24)"}
STEP, T_END = 0.01, 100.0


def agreement() -> None:
    """Positions, angular velocities and reactions at 20 s, both formulations with dop853 at 1e-13."""
    settings = {"output_step": 1.0, "rtol": 1e-13, "atol": 1e-15}
    ours, other = (
        ps.simulate(ps.case(CASE), 20.0, formulation=formulation, **settings)
        for formulation in ("lie-dae", "recursive")
    )
    print("largest difference between lie-dae and recursive over 20 s, dop853 at 1e-13")
    for name in ("position", "velocity", "angular_velocity", "reaction_force", "reaction_torque"):
        print(f"  {name:18s}{np.abs(ours.arrays[name] - other.arrays[name]).max():10.1e}")


def order() -> None:
    """The paper's algorithm with fixed steps."""
    found = ps.analysis.convergence(
        ps.case(CASE), formulation="lie-dae", method="rkmk4", steps=(0.16, 0.08, 0.04, 0.02), t_end=20.0
    )
    print(f"\n{found.table()}")


def long_chains() -> None:
    """Accelerations of long chains of revolute joints with random axes, against `recursive`."""
    print("\nlargest difference of the first accelerations, relative; time of one evaluation")
    for n in (16, 64, 200):
        settings = {"step": 1e-3, "stabilize": "none", "method": "rkmk4"}
        runs = [ps.simulate(revolute_chain(n), 0.05, formulation=word, **settings) for word in ("lie-dae", "recursive")]
        ours, other = (run.arrays["acceleration"][0] for run in runs)
        cost = [1e6 * run.stats.seconds / run.stats.evaluations for run in runs]
        error = np.abs(ours - other).max() / np.abs(other).max()
        print(f"  {n:4d} links{error:10.1e}{cost[0]:10.1f} µs, recursive{cost[1]:8.1f} µs")


def drift() -> dict[str, ps.Run]:
    """Largest residuals over 100 s, by stabilization."""
    runs = {
        word: ps.simulate(
            ps.case(CASE), T_END, step=STEP, output_step=0.1, formulation="lie-dae", method="rkmk4", stabilize=word
        )
        for word in LABELS
    }
    print(f"\nlargest residuals over {T_END:g} s, rkmk4 with h = {STEP:g} s")
    print(f"  {'stabilization':28s}{'positions':>12s}{'velocities':>12s}{'time':>12s}")
    for word, run in runs.items():
        errors = f"{run.position_error:12.1e}{run.velocity_error:12.1e}"
        print(f"  {LABELS[word]:28s}{errors}{1e3 * run.stats.seconds:9.1f} ms")
    return runs


def figures(run: ps.Run, folder: Path) -> None:
    """Figures 2, 3 and 4 of the paper."""
    position, spin = run.arrays["position"], run.arrays["angular_velocity"]
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    space = figure.add_subplot(2, 2, (1, 2), projection="3d")
    for b, name in enumerate(("rotor A", "platform B")):
        space.plot(*position[:, b].T, label=name, color=PALETTE[b])
    space.set(title="Figure 2: paths of the centres (m)", xlabel="x", ylabel="y", zlabel="z", box_aspect=(1, 1, 1))
    space.legend()
    pages = {3: ("Figure 3: angular velocities, body axes (rad/s)", spin), 4: ("Figure 4: centres (m)", position)}
    for place, (title, values) in pages.items():
        axes = figure.add_subplot(2, 2, place)
        for b, (name, style) in enumerate((("A", "-"), ("B", "--"))):
            for k, axis in enumerate("xyz"):
                axes.plot(run.time, values[:, b, k], style, color=PALETTE[k], label=f"{name}, {axis}")
        axes.set(title=title, xlabel="time (s)")
        axes.legend(ncols=2, fontsize=8)
    figure.savefig(folder / "paper-001.png", dpi=110)


def plot_drift(runs: dict[str, ps.Run], folder: Path) -> None:
    """Residuals over time, by stabilization."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    pair = figure.subplots(1, 2, sharex=True)
    for axes, name, unit in zip(pair, ("position_error", "velocity_error"), ("m or rad", "m/s or rad/s"), strict=True):
        for color, (word, run) in zip(PALETTE, runs.items(), strict=False):
            errors = np.maximum(run.arrays[name], 1e-18)
            axes.semilogy(run.time, errors, color=color, linewidth=0.9, label=LABELS[word])
        axes.set(title=f"{name.replace('_', ' ')} ({unit})", xlabel="time (s)")
    pair[0].legend(fontsize=8)
    figure.savefig(folder / "paper-001-drift.png", dpi=110)


def main() -> None:
    """Print all figures, and draw them where a folder is given."""
    agreement()
    order()
    long_chains()
    runs = drift()
    if len(sys.argv) > 1:
        run = ps.simulate(ps.case(CASE), 20.0, step=STEP, formulation="lie-dae", method="rkmk4")
        with matplotlib.rc_context(STYLE):
            figures(run, Path(sys.argv[1]))
            plot_drift(runs, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
