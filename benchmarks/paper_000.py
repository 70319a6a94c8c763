"""What paper 000 shows of rotation matrices as coordinates, and what it leaves open, as Poinsot computes it.

python benchmarks/paper_000.py [--assets docs/assets] [--quick]

The double pendulum of section 6 beside (26), Figures 2 to 6, multipliers from (9), the first integrals of a free body,
elimination in two steps and at once, multipliers held over a step, drift over 100,000 steps, the Stewart platform.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot.cases import double_pendulum as case

ROTATION = {"formulation": "rotation-matrix"}
L, A, M, G = case.LENGTH, case.SIZE[1], case.MASS, 9.81
ALONG = np.array([[np.cos(angle), np.sin(angle), 0.0] for angle in (case.PHI, case.PSI)])
HINGE = L * ALONG[0]
CENTERS = np.array([0.5 * HINGE, HINGE + 0.5 * L * ALONG[1]])
STARTS = np.array([Rotation.from_euler("z", angle).as_matrix() for angle in (case.PHI, case.PSI)])


# ------------------------------------------------------------------------------------------ section 6


def angular_accelerations(phi: float, psi: float, phi_rate: float, psi_rate: float) -> np.ndarray:
    """Solve (26)."""
    C = M * (L * L + A * A) / 12.0
    s, c = np.sin(phi - psi), np.cos(phi - psi)
    matrix = np.array([[C + 1.25 * M * L * L, 0.5 * M * L * L * c], [0.5 * M * L * L * c, C + 0.25 * M * L * L]])
    forces = 0.5 * M * L * L * np.array([-s * psi_rate**2, s * phi_rate**2])
    return np.linalg.solve(matrix, forces - M * G * L * np.array([1.5 * np.sin(phi), 0.5 * np.sin(psi)]))


def reference(times: np.ndarray) -> np.ndarray:
    """φ, ψ and their rates from (26) at the times, one row each."""
    start = np.array([case.PHI, case.PSI, 0.0, 0.0])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate((y[2:], angular_accelerations(*y)))

    return solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-13, atol=1e-14).y


def angles(run: ps.Run) -> np.ndarray:
    """φ and ψ by (27), with R2 H1G2,0 for the second: T2* does not belong there."""
    R = run.arrays["rotation"] @ STARTS.transpose(0, 2, 1)  # the paper's R, which begins at 1
    pointing = np.einsum("tbij,bj->tbi", R, ALONG)
    return np.arctan2(pointing[..., 1], pointing[..., 0]).T


def multipliers_by_definition(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Λ_1 and Λ_2, and the vectors of both joints, from (9) and (21) with the motion of (26)."""
    turns = y[:2] - np.array([case.PHI, case.PSI])
    rates, accelerations = y[2:], angular_accelerations(*y)
    R = Rotation.from_euler("z", turns[:, None]).as_matrix()
    skew = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    R_second = (accelerations[:, None, None] * skew + rates[:, None, None] ** 2 * skew @ skew) @ R
    T_second = np.zeros((2, 3))
    T_second[1] = (R_second[0] - R_second[1]) @ HINGE  # (24)
    J = np.diag(ps.Inertia.box(mass=M, size=case.SIZE).matrix)
    gravity = np.array([G, 0.0, 0.0])
    X = M * (T_second + np.einsum("bij,bj->bi", R_second, CENTERS))
    second = M * gravity - X[1]
    first = M * gravity + second - X[0]
    Y = [
        M * np.outer(gravity, CENTERS[0]) + np.outer(second, HINGE),
        M * np.outer(gravity, CENTERS[1]) - np.outer(second, HINGE),
    ]
    found = []
    for b in range(2):
        K = STARTS[b] @ np.diag(0.5 * J.sum() - J) @ STARTS[b].T + M * np.outer(CENTERS[b], CENTERS[b])
        found.append(R[b].T @ (R_second[b] @ K + M * np.outer(T_second[b], CENTERS[b]) - Y[b]))
    return np.array(found), np.array([first, second])


def section_6(assets: Path | None) -> None:
    """The double pendulum of the paper, rk4 at h = 1e-4."""
    run = ps.simulate(ps.case("double-pendulum"), 10.0, step=1e-4, output_step=0.01, **ROTATION)
    y = reference(run.time)
    error = np.abs(angles(run) - y[:2])
    lambdas, joints = run.arrays["orthogonality_multiplier"], -run.arrays["reaction_force"]
    print("Section 6, rk4 with h = 1e-4, projection, 10 s")
    print(f"  largest error of φ and ψ against (26)        {error.max():.1e} rad")
    for name, place in (("phi", 0), ("psi", 1)):
        known = {case_.name: case_ for case_ in case.CASES}["double-pendulum"].reference[f"{name} at 10 s"][0]
        print(f"  {name}(10 s) less its value to 18 digits       {angles(run)[place, -1] - known:+.1e} rad")
    print(f"  largest z of a centre of mass                {np.abs(run.arrays['position'][..., 2]).max():.1e} m")
    second = np.argmin(np.abs(run.time - 1.0))
    R2 = run.arrays["rotation"][second, 1] @ STARTS[1].T
    T2 = run.arrays["position"][second, 1] - R2 @ CENTERS[1]
    printed = np.arctan2(*(T2 + 0.5 * L * R2 @ ALONG[1])[1::-1])
    print(f"  psi(1 s) by (27) as printed, and without T2* {printed:.3f} rad, {angles(run)[1, second]:.3f} rad")
    for t in (0.0, 1.0):
        row = int(np.argmin(np.abs(run.time - t)))
        wanted = multipliers_by_definition(y[:, row])
        print(
            f"  multipliers at {t:g} s against (9)             {np.abs(lambdas[row] - wanted[0]).max():.1e} N m, "
            f"{np.abs(joints[row] - wanted[1]).max():.1e} N"
        )
        print(
            f"    Λ1 11, 12, 22: {lambdas[row, 0][[0, 0, 1], [0, 1, 1]]}  Λ2: {lambdas[row, 1][[0, 0, 1], [0, 1, 1]]}"
        )
        print(f"    Λ01: {joints[row, 0, :2]}  Λ12: {joints[row, 1, :2]}")
    others = np.abs(lambdas[:, :, [0, 1, 2], [2, 2, 2]]).max(), np.abs(joints[..., 2]).max()
    print(f"  largest multiplier that is null in the paper {others[0]:.1e} N m, {others[1]:.1e} N")
    if assets:
        plot_section_6(assets, run, y, lambdas, joints)


def plot_section_6(assets: Path, run: ps.Run, y: np.ndarray, lambdas: np.ndarray, joints: np.ndarray) -> None:
    """Figures 2 to 6."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(5, 1, figsize=(8, 12), sharex=True, layout="constrained")
    t = run.time
    for place, (name, color) in enumerate((("φ", "C0"), ("ψ", "C1"))):
        axes[0].plot(t, np.degrees(angles(run)[place]), color, label=f"{name} RT")
        axes[0].plot(t[::20], np.degrees(y[place, ::20]), color + ".", ms=4, label=f"{name} ref, (26)")
    axes[0].set(ylabel="angle (°)", title="Figure 2")
    for body in range(2):
        for (i, j), name in (((0, 0), "11"), ((0, 1), "12"), ((1, 1), "22")):
            axes[1 + body].plot(t, lambdas[:, body, i, j], label=f"Λ{body + 1}, {name}")
        axes[1 + body].set(ylabel="N m", title=f"Figure {3 + body}")
        for k, name in enumerate("xyz"):
            axes[3 + body].plot(t, joints[:, body, k], label=f"Λ{body}{body + 1} sph, {name}")
        axes[3 + body].set(ylabel="N", title=f"Figure {5 + body}")
    for one in axes:
        one.legend(loc="upper right", ncols=4, fontsize=8)
        one.grid(alpha=0.3)
    axes[-1].set(xlabel="t (s)", xlim=(0.0, 10.0))
    figure.savefig(assets / "paper-000-double-pendulum.png", dpi=110)


# ------------------------------------------------------------------------------------------ section 2


def first_integrals() -> None:
    """Eigenvalues of Λ of free bodies over 100 turns, and what else is constant."""
    top = ps.Model("symmetric body", gravity=(0.0, 0.0, 0.0))
    top.body("top", ps.Inertia.box(mass=1.2, size=(0.3, 0.3, 0.1)), angular_velocity=(2.0 * np.pi, 0.3, 1.5))
    print("Section 2, free bodies over 100 turns: relative changes")
    for model in (top, ps.case("free-body")):
        run = ps.simulate(model, 100.0, rtol=1e-13, atol=1e-15, output_step=0.05, **ROTATION)
        lambdas = run.arrays["orthogonality_multiplier"][:, 0]
        values = np.linalg.eigvalsh(lambdas)
        J = np.diag(next(iter(model.bodies.values())).inertia.matrix)
        K = 0.5 * J.sum() - J
        energy = np.trace(lambdas, axis1=1, axis2=2)
        momentum = np.einsum("tii,i->t", lambdas, K.sum() - K.prod() / K**2)
        changes = [np.abs(x / x[0] - 1.0).max() for x in (energy, momentum)]
        of_values = np.abs(values - values[0]).max() / np.abs(values).max()
        print(
            f"  {model.name:15s} eigenvalues {of_values:.1e}, the largest {values.max():.1e} N m; "
            f"-2T {changes[0]:.1e}, -L² {changes[1]:.1e}"
        )


# ------------------------------------------------------------------------------------------ section 5


def chain(bodies: int, seed: int = 1) -> ps.Model:
    """A chain of unlike boxes in space, on ball joints and universal joints by turns."""
    rng = np.random.default_rng(seed)
    model = ps.Model(f"chain of {bodies}")
    above, hinge = model.ground, np.zeros(3)
    for n in range(bodies):
        turned = Rotation.random(rng=rng)
        arm = turned.apply([0.05, 0.02, -0.25])
        box = ps.Inertia.box(mass=1.0 + rng.random(), size=(0.1, 0.15, 0.5))
        spin = None if n % 2 else 0.5 * rng.normal(size=3)
        body = model.body(f"link {n}", box, hinge + arm, orientation=turned, angular_velocity=spin)
        if n % 2:
            axes = Rotation.random(rng=rng).as_matrix()
            model.universal(f"joint {n}", above, body, at=hinge, axis=axes[0], second_axis=axes[1])
        else:
            model.spherical(f"joint {n}", above, body, at=hinge)
        above, hinge = body, hinge + 2.0 * arm
    return model


def microseconds(model: ps.Model, steps: int, **options: Any) -> float:
    """Time per evaluation of the accelerations, the best of three."""
    times = []
    for _ in range(3):
        run = ps.simulate(
            model, 1e-5 * steps, step=1e-5, output_step=1e-5 * steps, stabilize="none", **ROTATION, **options
        )
        times.append(run.stats.seconds / run.stats.evaluations)
    return 1e6 * min(times)


def eliminations(assets: Path | None, quick: bool) -> None:
    """Two steps against one system: what they differ by, and what they cost."""
    print("Section 5, elimination in two steps and at once")
    model = chain(20)
    both = [ps.simulate(model, 1e-4, step=1e-4, **ROTATION, elimination=way).arrays for way in ("two-step", "full")]
    for name in ("acceleration", "angular_acceleration", "orthogonality_multiplier", "joint_multiplier"):
        one, other = (arrays[name][0] for arrays in both)
        print(
            f"  {name} of 20 bodies, relative difference {np.nanmax(np.abs(one - other)) / np.nanmax(np.abs(one)):.1e}"
        )
    counts = (2, 8, 32) if quick else (2, 4, 8, 16, 32, 64, 128)
    rows = []
    print(f"  {'bodies':>8s}{'unknowns':>10s}{'two steps':>14s}{'at once':>14s}{'factor':>9s}")
    for n in counts:
        model = chain(n)
        two = microseconds(model, max(20000 // n, 100), elimination="two-step")
        full = microseconds(model, max(int(4e4 / n**2.5), 1), elimination="full")
        rows.append((n, two, full))
        unknowns = 6 * n + 3 * ((n + 1) // 2) + 4 * (n // 2)
        print(f"  {n:8d}{unknowns:10d}{two:11.2f} µs{full:11.1f} µs{full / two:9.1f}")
    if assets:
        import matplotlib.pyplot as plt

        n, two, full = np.array(rows).T
        figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
        axes.loglog(n, full, "o-", label="at once")
        axes.loglog(n, two, "o-", label="two steps")
        axes.loglog(n, full / two, "s--", color="0.5", label="factor")
        axes.set(xlabel="bodies", ylabel="µs per evaluation, and their ratio")
        axes.grid(alpha=0.3, which="both")
        axes.legend()
        figure.savefig(assets / "paper-000-elimination.png", dpi=110)


def held_multipliers() -> None:
    """The order that is left where multipliers are held over a step."""
    steps = (100, 200, 400, 800, 1600)
    print("Section 5, multipliers held over each step: error of R of the double pendulum after 1 s, rk4")
    model = ps.case("double-pendulum")
    exact = ps.simulate(model, 1.0, rtol=1e-13, atol=1e-15, output_step=1.0).arrays["rotation"][-1]
    print(f"  {'steps':>24s}" + "".join(f"{n:10d}" for n in steps) + f"{'order':>9s}")
    for choice in ("per-stage", "per-step"):
        for stabilize in ("projection", "none"):
            errors: list[float] = []
            for n in steps:
                run = ps.simulate(
                    model, 1.0, step=1.0 / n, output_step=1.0, stabilize=stabilize, multipliers=choice, **ROTATION
                )
                errors.append(np.abs(run.arrays["rotation"][-1] - exact).max())
            order = np.log(errors[-2] / errors[-1]) / np.log(steps[-1] / steps[-2])
            print(f"  {choice + ', ' + stabilize:>24s}" + "".join(f"{e:10.1e}" for e in errors) + f"{order:9.2f}")


# ------------------------------------------------------------------------------------------ section 7


def drift(assets: Path | None, quick: bool) -> None:
    """What 100,000 steps of rk4 leave of orthogonality and joints."""
    steps = 10_000 if quick else 100_000
    print(f"Section 7, drift over {steps} steps of 1 ms, rk4")
    rows: list[tuple[str, str, ps.Run]] = []
    ways: list[tuple[str, dict[str, Any]]] = [
        ("projection", {}), ("none", {"stabilize": "none"}),
        ("none, full", {"stabilize": "none", "elimination": "full"}), ("baumgarte", {"stabilize": "baumgarte"}),
    ]  # fmt: skip
    for name, model in (("double pendulum", ps.case("double-pendulum")), ("free body", ps.case("free-body"))):
        for way, options in ways:
            run = ps.simulate(model, 1e-3 * steps, step=1e-3, output_step=0.05, **ROTATION, **options)
            print(
                f"  {name:16s}{way:12s} orthogonality {run.rotation_error:.1e}, joints {run.position_error:.1e} m, "
                f"{run.velocity_error:.1e} m/s, energy {run.energy_drift:.1e}"
            )
            if name == "free body" and "none" in way:
                marks = [int(np.argmin(np.abs(run.time - t))) for t in (1.0, 10.0, 30.0, run.time[-1])]
                print(f"    at 1, 10, 30, 100 s: {run.arrays['rotation_error'][marks]}")
            rows.append((name, way, run))
    if assets:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
        for name, way, run in rows:
            if name == "double pendulum":
                for one, what in zip(axes, ("rotation_error", "position_error"), strict=True):
                    one.loglog(run.time[1:], np.maximum.accumulate(run.arrays[what][1:]) + 1e-20, label=way)
        axes[0].set(title="largest departure of a rotation so far", xlabel="t (s)")
        axes[1].set(title="largest residual of a joint so far (m)", xlabel="t (s)")
        for one in axes:
            one.grid(alpha=0.3)
            one.legend()
        figure.savefig(assets / "paper-000-drift.png", dpi=110)


def stewart_platform() -> None:
    """The paper's further work: the Stewart platform, against `recursive`."""
    model = ps.case("stewart-platform")
    settings = {"rtol": 1e-12, "atol": 1e-14, "output_step": 0.05}
    mine, other = (ps.simulate(model, 2.0, **settings, formulation=name) for name in ("rotation-matrix", "recursive"))
    print("Section 7, the Stewart platform over 2 s, against recursive (both dop853, 1e-12)")
    for name in ("position", "rotation", "reaction_force", "reaction_torque"):
        difference = np.abs(mine.arrays[name] - other.arrays[name]).max()
        print(f"  {name:16s} differs by {difference:.1e} of {np.abs(other.arrays[name]).max():.3g}")


def main() -> None:
    """Print everything; with --assets, write the figures."""
    assets = Path(sys.argv[sys.argv.index("--assets") + 1]) if "--assets" in sys.argv else None
    quick = "--quick" in sys.argv
    section_6(assets)
    first_integrals()
    eliminations(assets, quick)
    held_multipliers()
    drift(assets, quick)
    stewart_platform()


if __name__ == "__main__":
    main()
