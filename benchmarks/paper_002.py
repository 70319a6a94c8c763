"""What paper 002 (Del Citto, Pennestrì, Vita) shows of coordinate reduction by QTZ, as Poinsot computes it.

python benchmarks/paper_002.py [--assets docs/assets] [--quick]

The five-bar linkage of section 4.1, swinging and driven, beside its closed form, with Table 1 and Figures 3 to 6; the
spherical pendulum with flywheel of section 4.2, with Figures 8 to 11; agreement with `recursive`, orders, what the
decomposition costs beside LAPACK's, and an evaluation with the number of bodies.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import scipy.linalg
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk
from timing import best

import poinsot as ps
from poinsot._jit import routine
from poinsot.algebra import qtz
from poinsot.analysis.convergence import slope
from poinsot.cases import five_bar
from poinsot.formulations.closure import RANK_TOLERANCE
from poinsot.formulations.qtz_plan import VARIANTS, padded
from poinsot.scalars import borrow, widen
from poinsot.view.plots import PALETTE, STYLE

G = 9.81
MINIMAL, ACCELERATIONS, REDUCED = ({"formulation": "qtz", "qtz": variant} for variant in VARIANTS)
# The method that each variant is shown with.
USUAL = {"minimal": "dop853", "independent-accelerations": "dop853", "reduced": "radau5"}
QUANTITIES = ("position", "velocity", "angular_velocity", "reaction_force", "reaction_torque")
# The paper's: 5000 steps over 20 s.
T_END, STEP = 20.0, 4e-3


def qtz_with(variant: str, method: str | None = None, **settings: Any) -> dict[str, Any]:
    """Settings of a simulation with a variant of qtz."""
    return {"formulation": "qtz", "qtz": variant, "method": method or USUAL[variant], **settings}


def attempt(model: ps.Model, t_end: float, settings: dict[str, Any]) -> ps.Run | str:
    """A run, or why it stopped."""
    try:
        return ps.simulate(model, t_end, **settings)
    except ps.SimulationError as failure:
        return reason(failure)


def reason(failure: ps.SimulationError) -> str:
    """Where a simulation stopped and why, in a few words."""
    return f"stops after t = {failure.time:g} s: {str(failure).split(': ', 2)[-1].partition(', where')[0]}"


def named(settings: dict[str, Any]) -> str:
    """Settings in a few words."""
    how = f"h = {settings['step']:g} s" if "step" in settings else f"rtol {settings['rtol']:g}"
    extra = [f"{name} {settings[name]}" for name in ("index", "stabilize") if name in settings]
    return ", ".join([settings.get("qtz", "recursive"), settings["method"], how, *extra])


# ------------------------------------------------------------------------------------------ section 4.1


def swinging(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """θ and θ' of 5 l θ'' = -5.5 g sin θ from rest, in Jacobi elliptic functions."""
    rate, k = np.sqrt(5.5 / 5.0 * G / five_bar.CRANK), np.sin(0.5 * five_bar.ANGLE)
    sn, cn, dn, _ = ellipj(rate * times + ellipk(k * k), k * k)
    return 2.0 * np.arctan2(k * sn, dn), 2.0 * k * rate * cn


def crank(run: ps.Run, name: str) -> np.ndarray:
    """An array of the run, of its left crank."""
    return run.arrays[name][:, run.bodies.index("left")]


def angle(run: ps.Run) -> np.ndarray:
    """θ of the left crank."""
    along = crank(run, "rotation")[..., 0]
    return np.unwrap(np.arctan2(along[:, 0], -along[:, 1]))


def violation(run: ps.Run) -> np.ndarray:
    """How far the revolute joint between left crank and ground is from closed: the largest of its five equations."""
    R = crank(run, "rotation")
    gap = crank(run, "position") - 0.5 * five_bar.CRANK * R[..., 0]
    return np.abs(np.concatenate((gap, R[:, 2, :2]), axis=1)).max(axis=1)


def free_swing(quick: bool) -> dict[str, ps.Run]:
    """Every variant against the pendulum; the runs of Figures 3 and 4."""
    t_end = 2.0 if quick else T_END
    fixed = {"step": STEP, "stabilize": "projection"}
    ways = [
        *(qtz_with(variant, **fixed) for variant in VARIANTS),
        *(qtz_with(variant, step=STEP, stabilize="none") for variant in VARIANTS),
        qtz_with("minimal", "rk4", step=STEP / 10, output_step=STEP),
        qtz_with("reduced", "generalized-alpha", step=STEP),
        *(qtz_with(variant, rtol=1e-9, output_step=STEP) for variant in VARIANTS),
        {"formulation": "recursive", "method": "dop853", "step": STEP},
    ]  # fmt: skip
    print(f"Section 4.1, five-bar linkage swinging freely, {t_end:g} s: largest errors")
    print(f"  {'':70s}{'θ':>9s}{'x of link':>11s}{'violation':>11s}{'energy':>9s}{'charts':>8s}{'steps':>7s}")
    runs = {}
    for settings in ways:
        run = attempt(ps.case("five-bar"), t_end, settings)
        if isinstance(run, str):
            print(f"  {named(settings):70s}{run}")
            continue
        theta = swinging(run.time)[0]
        x = 0.5 * five_bar.CRANK * np.sin(theta)
        errors = np.abs(angle(run) - theta).max(), np.abs(crank(run, "position")[:, 0] - x).max()
        print(
            f"  {named(settings):70s}{errors[0]:9.1e}{errors[1]:11.1e}{violation(run).max():11.1e}"
            f"{run.energy_drift:9.1e}{run.stats.decompositions:8d}{run.stats.steps:7d}"
        )
        if "stabilize" in settings:
            runs[f"{settings['qtz']}, {settings['stabilize']}"] = run
    largest = violation(runs["minimal, projection"]).max()
    print(f"  Figure 4, minimal: {largest:.1e}, asked: below 1e-12")
    return runs


def driven(quick: bool) -> ps.Run:
    """The linkage with its crank turned steadily, through its flat positions; the run of Figures 5 and 6."""
    t_end = 0.5 if quick else T_END
    ways = [
        *(qtz_with(variant, step=STEP) for variant in VARIANTS),
        qtz_with("minimal", "rk4", step=STEP),
        *(qtz_with("reduced", step=STEP, index=index) for index in (1, 3)),
        qtz_with("reduced", "generalized-alpha", step=STEP),
        *(qtz_with(variant, rtol=1e-9, output_step=STEP) for variant in VARIANTS),
        {"formulation": "recursive", "method": "dop853", "step": STEP},
    ]
    print(f"\nSection 4.1, crank driven at {five_bar.SPEED} rad/s, {t_end:g} s: largest errors of the crank")
    print(f"  {'':52s}{'θ':>9s}{'x':>9s}{'vx':>9s}{'joints':>9s}{'their rates':>13s}{'charts':>8s}")
    runs = []
    for settings in ways:
        run = attempt(ps.case("five-bar-driven"), t_end, settings)
        if isinstance(run, str):
            print(f"  {named(settings):52s} {run}")
            continue
        theta = five_bar.ANGLE + five_bar.SPEED * run.time
        x, vx = crank(run, "position")[:, 0], crank(run, "velocity")[:, 0]
        arm = 0.5 * five_bar.CRANK
        errors = (
            np.abs(angle(run) - theta).max(),
            np.abs(x - arm * np.sin(theta)).max(),
            np.abs(vx - arm * five_bar.SPEED * np.cos(theta)).max(),
            run.position_error,
        )
        print(
            f"  {named(settings):52s}{''.join(f'{error:9.1e}' for error in errors)}{run.velocity_error:13.1e}"
            f"{run.stats.decompositions:8d}"
        )
        runs.append(run)
    return runs[0]


def table_1(quick: bool) -> None:
    """Table 1, the paper's times and ours, the least of several rounds that take turns."""
    state = "QTZ in state form"
    rows = [
        ("QTZ with Radau", "4:07 min", qtz_with("reduced", step=STEP)),
        (state, "3:13 min", qtz_with("minimal", "rk4", step=STEP / 10, output_step=STEP)),
        (state, "", qtz_with("minimal", "dop853", step=STEP)),
        (state, "", qtz_with("independent-accelerations", "dop853", step=STEP)),
        ("Working Model", "6:08 min", {"method": "rk4", "step": STEP / 10, "output_step": STEP}),
    ]
    t_end, rounds = (0.2, 1) if quick else (T_END, 7)
    runs: list[list[ps.Run]] = [[] for _ in rows]
    for _, (place, (_, _, settings)) in itertools.product(range(rounds), enumerate(rows)):
        runs[place].append(ps.simulate(ps.case("five-bar"), t_end, **settings))
    print(
        f"\nTable 1, five-bar linkage swinging freely, {t_end:g} s; Working Model: that row is `recursive`, the default"
    )
    print(f"  {'':20s}{'paper':>10s}  {'Poinsot':36s}{'steps':>7s}{'evaluations':>13s}{'time':>9s}{'error of θ':>12s}")
    for (name, printed, settings), tried in zip(rows, runs, strict=True):
        run, seconds = tried[0], min(one.stats.seconds for one in tried)
        error = np.abs(angle(run) - swinging(run.time)[0]).max()
        counts = f"{run.stats.steps:7d}{run.stats.evaluations:13d}"
        print(f"  {name:20s}{printed:>10s}  {named(settings):36s}{counts}{seconds:7.2f} s{error:12.1e}")


# ------------------------------------------------------------------------------------------ section 4.2


def flywheel(quick: bool) -> ps.Run:
    """The pendulum with flywheel, every variant beside `recursive`; the run of Figures 8 to 11."""
    model = ps.case("flywheel-pendulum")
    tight = {"rtol": 1e-12, "atol": 1e-15, "output_step": 0.005}
    ways = [qtz_with(variant, **tight) for variant in VARIANTS]
    steps = {"minimal": 5e-4, "independent-accelerations": 5e-4, "reduced": 2.5e-4}
    ways += [qtz_with(variant, step=step, output_step=0.005) for variant, step in steps.items()]
    return compare("Section 4.2, pendulum with flywheel", model, 2.0 if quick else 6.0, ways)


def compare(title: str, model: ps.Model, t_end: float, ways: list[dict[str, Any]]) -> ps.Run:
    """Print how far runs are from `recursive` at a tight tolerance, and return the first."""
    common: dict[str, Any] = {"events": model.settings.get("events", ())}
    spacing = ways[0]["output_step"]
    reference = attempt(
        model, t_end, {**common, "rtol": 1e-13, "atol": 1e-16, "output_step": spacing, "method": "dop853"}
    )
    assert isinstance(reference, ps.Run), reference
    print(f"\n{title}, {t_end:g} s: largest differences from recursive, dop853 at 1e-13")
    sizes = "".join(f"{np.abs(known(reference, name)).max():18.3g}" for name in QUANTITIES)
    print(f"  {'':52s}{''.join(f'{name:>18s}' for name in QUANTITIES)}{'charts':>8s}{'steps':>7s}")
    print(f"  {'largest value':52s}{sizes}")
    runs = []
    for settings in ways:
        run = attempt(model, t_end, {**common, **settings})
        if isinstance(run, str):
            print(f"  {named(settings):52s} {run}")
            continue
        assert np.array_equal(run.time, reference.time)
        found = [np.abs(known(run, name) - known(reference, name)).max() for name in QUANTITIES]
        differences = "".join(f"{difference:18.1e}" for difference in found)
        print(f"  {named(settings):52s}{differences}{run.stats.decompositions:8d}{run.stats.steps:7d}")
        runs.append(run)
    return runs[0]


def known(run: ps.Run, name: str) -> np.ndarray:
    """An array of the run, nothing where it is not unique."""
    unique = run.arrays.get(f"{name}_unique")
    return run.arrays[name] if unique is None else np.where(unique, run.arrays[name], 0.0)


# ------------------------------------------------------------------------------------------ other mechanisms


def agreement(quick: bool) -> None:
    """Mechanisms with redundant and with spatial loops."""
    cases = {"bricard": 1.0, "four-bars-2": 0.5, "four-bars-10": 0.5, "slider-crank": 1.0, "stewart-platform": 0.5}
    for name, t_end in cases.items():
        ways = [qtz_with(variant, rtol=1e-11, atol=1e-14, output_step=0.01) for variant in VARIANTS]
        ways += [qtz_with(variant, step=1e-3, output_step=0.01) for variant in VARIANTS]
        compare(name, ps.case(name), 0.05 if quick else t_end, ways)


def singular_positions(quick: bool) -> None:
    """Parallelograms that swing through flat positions, where rank is lost for a moment."""
    for name, t_end in (("four-bars-2", 5.0), ("four-bars-10", 2.0)):
        some = VARIANTS if name == "four-bars-2" else VARIANTS[:2]
        ways = [qtz_with(variant, rtol=rtol, output_step=0.05) for rtol in (1e-8, 1e-10) for variant in some]
        ways += [qtz_with(variant, "rk4", step=1e-3, output_step=0.05) for variant in VARIANTS[:2]]
        compare(f"{name} through singular positions", ps.case(name), 0.1 if quick else t_end, ways)


def spatial_chain() -> ps.Model:
    """Three unlike links on ball joints, each turned at random and spinning about all of its axes."""
    rng = np.random.default_rng(5)
    model = ps.Model("spatial chain")
    above, hinge = model.ground, np.zeros(3)
    for i in range(3):
        turned = Rotation.random(rng=rng)
        arm = turned.apply([0.1, 0.05, -0.5])
        link = ps.Inertia.box(mass=1.0 + 0.5 * i, size=(0.3, 0.2, 1.0))
        body = model.body(f"link {i}", link, hinge + arm, orientation=turned, angular_velocity=3.0 * rng.normal(size=3))
        model.spherical(f"joint {i}", above, body, at=hinge)
        above, hinge = body, hinge + 2.0 * arm
    return model


def orders(quick: bool) -> None:
    """Slopes of the errors where bodies turn far in space."""
    ways: list[tuple[dict[str, Any], tuple[int, ...]]] = []
    for variant in VARIANTS[:2]:
        ways += [
            (qtz_with(variant, "rk4"), (100, 200, 400, 800)),
            (qtz_with(variant, "dop853"), (12, 16, 24, 32)),
            (qtz_with(variant, "gauss2"), (100, 200, 400, 800)),
            (qtz_with(variant, "gauss3"), (25, 50, 100, 200)),
        ]
    ways += [(qtz_with("reduced", "radau5", index=index), (25, 50, 100, 200)) for index in (1, 2, 3)]
    ways += [(qtz_with("reduced", "generalized-alpha"), (100, 200, 400, 800))]
    quantities = ("rotation", "velocity", "angular_velocity")
    for model, t_end, finer in ((ps.case("bricard"), 2.0, 1), (spatial_chain(), 0.5, 3)):
        print(f"\nOrders, {model.name} over {t_end:g} s: slopes of the largest errors, and those of the shortest step")
        print(f"  {'':44s}{'order':>6s}{'steps':>12s}{''.join(f'{name:>21s}' for name in quantities)}")
        for settings, wanted in ways[:1] if quick else ways:
            counts = [finer * count for count in wanted]
            words = {name: value for name, value in settings.items() if name not in ("formulation", "method")}
            name = f"  {', '.join([settings['qtz'], settings['method']])}"
            name += f", index {settings['index']}" if "index" in settings else ""
            steps = [t_end / count for count in counts]
            try:
                found = ps.analysis.convergence(
                    model, "qtz", settings["method"], steps, t_end=t_end, quantities=quantities, **words
                )
            except ps.SimulationError as failure:
                print(f"{name:46s}{'':6s}{f'{counts[0]} - {counts[-1]}':>12s}  {reason(failure)}")
                continue
            shown = "".join(f"{found.slopes[each]:11.2f} ({found.errors[each][-1]:.1e})" for each in quantities)
            print(f"{name:46s}{found.order:6d}{f'{counts[0]} - {counts[-1]}':>12s}{shown}")


# ------------------------------------------------------------------------------------------ costs


@routine
def decompose(count, given, a, n, m, order, spare, out, tolerance, most):
    """Decompose the same matrix many times as qtz does, and return the last rank."""
    a, spare, out, order, given = borrow(a), borrow(spare), borrow(out), borrow(order), borrow(given)
    rank = 0
    for _ in range(count):
        for i in range(n):
            for j in range(m):
                a[i, j] = given[i, j]
        rank = qtz.triangularise(a, widen(a), n, m, order, spare, widen(spare), tolerance, most)
        qtz.null_space(a, n, rank, spare, out, widen(out))
    return rank


def crossover(quick: bool) -> None:
    """The kernel beside LAPACK, for full matrices with one freedom and a fifth more equations than velocities."""
    print(
        "\nDecomposition with P and Q2, full matrices of rank n - 1, µs: kernel beside scipy.linalg.qr(pivoting=True)"
    )
    print(f"  {'n':>5s}{'equations':>11s}{'kernel':>12s}{'LAPACK':>12s}{'ratio':>8s}{'Ψ Q2':>10s}")
    rng = np.random.default_rng(2)
    for n in (12, 24, 96) if quick else (12, 18, 24, 36, 48, 72, 96, 120, 144, 168, 192, 216, 240, 288, 360, 480):
        m, rank = 6 * n // 5, n - 1
        given = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) / n
        columns = padded(m)
        a, spare, out = (np.zeros((rows, columns)) for rows in (n, 2, n))
        order, count = np.zeros((m, 1), np.int64), max(2, int(3e6 / n**3))
        arguments = (given, a, n, m, order, spare, out, RANK_TOLERANCE, rank)
        assert decompose(1, *arguments) == rank
        empty = np.abs(given.T @ out[:, : n - rank]).max()
        ours = best(lambda c=count, args=arguments: decompose(c, *args), count, 15)
        theirs = best(lambda c=count, x=given: [scipy.linalg.qr(x, pivoting=True) for _ in range(c)], count, 15)
        print(f"  {n:5d}{m:11d}{ours:12.1f}{theirs:12.1f}{theirs / ours:8.2f}{empty:10.1e}")


def cost_by_bodies(quick: bool) -> None:
    """One evaluation of chains of links on ball joints, with what belongs to it of each step."""
    bodies = (1, 2, 4) if quick else (1, 2, 4, 8, 16, 32)
    ways = [
        *((variant, qtz_with(variant, "rk4", step=1e-4)) for variant in VARIANTS[:2]),
        ("reduced", qtz_with("reduced", "radau5", step=1e-4)),
        ("recursive", {"method": "rk4", "step": 1e-4}),
    ]
    print("\nCost with the number of bodies, chain-N, h = 1e-4 s: µs per evaluation (rk4), per step (reduced: radau5)")
    print(f"  {'':30s}{''.join(f'{n:>10d}' for n in bodies)}{'exponent, last three':>24s}")
    for name, settings in ways:
        spent = []
        for n in bodies:
            t_end = 1e-4 * (20 if quick else max(3000 // n, 60))
            runs = [ps.simulate(ps.case(f"chain-{n}"), t_end, output_step=t_end, **settings) for _ in range(3)]
            per = "evaluations" if settings["method"] == "rk4" else "steps"
            spent.append(min(1e6 * run.stats.seconds / getattr(run.stats, per) for run in runs))
        exponent = slope(np.array(bodies[-3:], float), np.array(spent[-3:]))
        print(f"  {name:30s}{''.join(f'{x:10.2f}' for x in spent)}{exponent:24.2f}")


# ------------------------------------------------------------------------------------------ figures


def plot_five_bar(free: dict[str, ps.Run], turned: ps.Run, folder: Path) -> None:
    """Figures 3 to 6."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    (top, gaps), (pair, paths) = figure.subplots(2, 2)
    run = free["minimal, projection"]
    exact = 0.5 * five_bar.CRANK * np.sin(swinging(run.time)[0])
    top.plot(run.time, crank(run, "position")[:, 0], color=PALETTE[0], label="qtz, minimal")
    top.plot(run.time[::20], exact[::20], ".", color=PALETTE[1], markersize=4, label="pendulum, closed form")
    top.set(title="Figure 3: X of the leftmost link (m)", xlabel="time (s)", ylim=(-0.15, 0.18))
    for place, (name, one) in enumerate(free.items()):
        style = {
            "color": PALETTE[place % 3],
            "linestyle": "--" if name.endswith("none") else "-",
            "linewidth": 2.0 - 0.5 * (place % 3),
        }
        gap = np.maximum(np.maximum.accumulate(violation(one)), 1e-18)
        gaps.semilogy(one.time, gap, label=name.removesuffix(", projection"), **style)
    gaps.set(title="Figure 4: violation of its joint in the frame, largest so far (m or rad)", xlabel="time (s)")
    gaps.legend(fontsize=8, ncols=2)
    for color, name, unit in zip(PALETTE, ("position", "velocity"), ("m", "m/s"), strict=False):
        pair.plot(turned.time, crank(turned, name)[:, 0], color=color, label=f"{name} ({unit})")
    pair.set(title="Figure 5: X of the driven crank", xlabel="time (s)")
    for color, name, xy in zip(PALETTE, turned.bodies, turned.arrays["position"].transpose(1, 2, 0), strict=False):
        paths.plot(*xy[:2], color=color, label=name)
    paths.set(title="Figure 6: paths of the centres of mass, driven (m)", xlabel="x", ylabel="y", aspect="equal")
    paths.set_ylim(-0.45, 0.6)
    paths.legend(fontsize=8, ncols=4, loc="upper center")
    top.legend(fontsize=8, ncols=2, loc="upper center")
    pair.set_ylim(-1.1, 1.4)
    pair.legend(fontsize=8, ncols=2, loc="upper center")
    figure.savefig(folder / "paper-002-five-bar.png", dpi=110)


def plot_flywheel(run: ps.Run, folder: Path) -> None:
    """Figures 8 to 11."""
    figure = Figure(figsize=(11, 9.5), layout="constrained")
    free = run.time <= 1.5
    titles = ("Figure 8: complete, XY (m)", "Figure 9: free phase, XY (m)")
    spaces = ("Figure 11: complete (m)", "Figure 10: free phase (m)")
    for place, (rows, title, space) in enumerate(zip((free | True, free), titles, spaces, strict=True)):
        flat = figure.add_subplot(2, 2, 1 + place)
        solid = figure.add_subplot(2, 2, 3 + place, projection="3d")
        for color, name in zip(PALETTE, ("wheel", "rod"), strict=False):
            xyz = run.arrays["position"][rows, run.bodies.index(name)].T
            flat.plot(*xyz[:2], color=color, label=f"centre of the {name}")
            solid.plot(*xyz, color=color)
        flat.set(title=title, xlabel="x", ylabel="y", aspect="equal", xlim=(-0.3, 0.3), ylim=(-0.28, 0.28))
        solid.plot([0.0], [0.0], [0.0], "o", color="#333333", markersize=4)
        bounds = {"xlim": (-0.28, 0.28), "ylim": (-0.28, 0.28), "zlim": (-0.52, 0.0)}
        solid.set(title=space, xlabel="x", ylabel="y", zlabel="z", box_aspect=(1, 1, 0.93), **bounds)
    figure.axes[0].legend(fontsize=8, loc="lower right")
    figure.savefig(folder / "paper-002-flywheel.png", dpi=110)


def main() -> None:
    """Print everything; with --assets, write the figures."""
    assets = Path(sys.argv[sys.argv.index("--assets") + 1]) if "--assets" in sys.argv else None
    quick = "--quick" in sys.argv
    free, turned = free_swing(quick), driven(quick)
    table_1(quick)
    pendulum = flywheel(quick)
    if assets:
        with matplotlib.rc_context(STYLE):
            plot_five_bar(free, turned, assets)
            plot_flywheel(pendulum, assets)
    agreement(quick)
    singular_positions(quick)
    orders(quick)
    crossover(quick)
    cost_by_bodies(quick)


if __name__ == "__main__":
    main()
