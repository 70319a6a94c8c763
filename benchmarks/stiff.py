"""A chain with springs in its hinges a million times stiffer than gravity: which steps methods can take, and how well.

python benchmarks/stiff.py

An explicit method must resolve the vibrations of the springs, which hardly move; radau5 and generalized-alpha step
over them. Errors are the largest of a rotation matrix within a second, against dop853 at 1e-12.
"""

from __future__ import annotations

import numpy as np

import poinsot as ps

LINKS, STIFFNESS, T_END, OUTPUT_STEP = 4, 1e6, 1.0, 0.1
STEPS = {"radau5": (0.1, 0.05, 0.025), "generalized-alpha": (0.1, 0.05, 0.025, 0.0125)}


def stiff_chain() -> ps.Model:
    """Return rods that hang from a ball joint at a slant and swing in space, held in line by springs at their hinges.

    The springs turn as easily as STIFFNESS times the weight of a link at half its length.
    """
    model = ps.Model("stiff chain")
    rod = ps.Inertia.box(mass=1.0, size=(0.1, 0.1, 1.0))
    slant = np.array(((0.8, 0.0, -0.6), (0.0, 1.0, 0.0), (0.6, 0.0, 0.8)))
    along = -slant[:, 2]
    above = model.ground
    for i in range(LINKS):
        push = (0.5, 0.0, 0.3) if i == 0 else None
        link = model.body(f"link {i}", rod, (i + 0.5) * along, orientation=slant, angular_velocity=push)
        if i == 0:
            model.spherical("pivot", above, link, at=(0.0, 0.0, 0.0))
        else:
            model.revolute(f"hinge {i}", above, link, at=i * along, axis=slant[:, i % 2])
            model.torsion_spring(f"spring {i}", f"hinge {i}", stiffness=STIFFNESS * 9.81 * 0.5)
        above = link
    return model


def rotations(**settings: object) -> np.ndarray:
    """Return the rotation matrices at every OUTPUT_STEP; NaN where the simulation fails."""
    try:
        return ps.simulate(stiff_chain(), T_END, output_step=OUTPUT_STEP, **settings).arrays["rotation"]
    except ps.SimulationError:
        return np.full(1, np.nan)


def reference() -> np.ndarray:
    """Return the rotation matrices of the motion."""
    return rotations(rtol=1e-12, method="dop853")


def largest_stable_step(exact: np.ndarray, method: str = "rk4") -> float:
    """Return the largest step, to 1 %, with which a method is within 1e-3 of the motion."""
    stable, unstable = 1e-4, 1e-2
    while unstable > 1.01 * stable:
        step = float(np.sqrt(stable * unstable))
        if np.abs(rotations(step=step, method=method) - exact).max() < 1e-3:
            stable = step
        else:
            unstable = step
    return stable


def main() -> None:
    """Print the largest stable step of rk4, and steps and errors of the implicit methods."""
    exact = reference()
    largest = largest_stable_step(exact)
    error = np.abs(rotations(step=largest, method="rk4") - exact).max()
    print(f"{'rk4':18s} step {largest:.3g} s, the largest stable one    error {error:.1e}")
    for method, steps in STEPS.items():
        for step in steps:
            error = np.abs(rotations(step=step, method=method) - exact).max()
            print(f"{method:18s} step {step:g} s, {step / largest:.0f} times as long    error {error:.1e}")


if __name__ == "__main__":
    main()
