"""Work and precision beside SciPy: Poinsot's adaptive methods and `scipy.integrate.solve_ivp` on the same equations.

python benchmarks/work_precision.py [plot.png]

Five cases over their 10 s, tolerances 1e-4 to 1e-12 as rtol and atol. SciPy calls the compiled rates of the same
formulation by one pointer to all tables, which is the least that a call from Python can cost; it is printed. Errors
are those of positions and rotations at the end, against a reference at 1e-13; times are the best of several, of
Poinsot those of the simulation with its results, without what is prepared once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import float64, njit, typeof, types
from scipy.integrate import solve_ivp
from timing import best

import poinsot as ps
from poinsot._jit import pointer_call
from poinsot.algebra.manifold import coordinate_rates
from poinsot.analysis.reference import TIGHT, Scales
from poinsot.formulations import recursive
from poinsot.mechanism.build import build
from poinsot.problem import ManifoldODE
from poinsot.recording import recorded
from poinsot.scalars import borrow, point

CASES = ("double-pendulum", "chain-4", "dual-spin-satellite", "heavy-top", "free-body")
TOLERANCES = 10.0 ** -np.arange(4, 13)
T_END = 10.0
# Each method of Poinsot, and SciPy's with the same tableau.
TWINS = {"dopri5": "RK45", "dop853": "DOP853", "rkmk5": "RK45"}
SCIPY = ("RK45", "DOP853", "LSODA")
ENOUGH = 0.2  # seconds that are spent on repetitions of a short run

Array = np.ndarray[Any, np.dtype[np.float64]]
_rates = pointer_call(lambda *arguments: types.void(*arguments))
_alive: list[Any] = []


class Curve(NamedTuple):
    """Errors and seconds of one method at the tolerances."""

    errors: Array
    seconds: Array


class Tables(NamedTuple):
    """What the rates read, and where they write."""

    mechanism: Any
    blocks: Any
    work: Any
    rate: Any


def right_hand_side(problem: ManifoldODE) -> Callable[[float, Array], Array]:
    """The derivatives of the state's numbers, compiled; a call hands over one pointer, the time and the state."""
    rates = problem.rates
    tables = point(Tables(problem.mechanism, problem.blocks, problem.work, np.zeros((problem.n_rates, 1))))
    signature = typeof(tables), float64, float64[::1]

    @njit(signature, error_model="numpy")
    def slope(tables, t, y):
        out = np.empty((y.size, 1))
        state = y.copy().reshape((y.size, 1))
        _rates(rates, tables.mechanism, t, borrow(state), tables.work, tables.rate)
        coordinate_rates(tables.blocks, state, tables.rate, out)
        return out.reshape(y.size)

    _alive.append(slope)  # with which the code would go
    return partial(slope.overloads[signature].entry_point, tables)


def at_the_end(arrays: dict[str, Array], true: dict[str, Array], scales: Scales) -> float:
    """The larger of the errors of positions and rotations at the end."""
    turn = arrays["rotation"][-1] - true["rotation"][-1]
    shift = arrays["position"][-1] - true["position"][-1]
    angle = np.sqrt(0.5 * np.sum(turn**2, axis=(-2, -1)).max())
    return float(max(angle, np.linalg.norm(shift, axis=-1).max() / scales.position))


def repeated(call: Callable[[], float]) -> float:
    """The least of the seconds that a call reports, repeated for a while where they are few."""
    least, began = call(), time.perf_counter()
    for _ in range(100):
        if time.perf_counter() - began > ENOUGH:
            break
        least = min(least, call())
    return least


def curves(case: str) -> tuple[dict[str, Curve], dict[str, Curve], float, float]:
    """Poinsot's curves and SciPy's, and microseconds per evaluation: called by SciPy, and in compiled code."""
    model = ps.case(case)
    problem = recursive.pose(build(model), {})
    function, initial = right_hand_side(problem), problem.initial[:, 0]
    reference = ps.simulate(model, T_END, output_step=T_END / 1000, **TIGHT[0])
    scales = Scales.of(model, reference)

    def ours(method: str, tolerance: float) -> tuple[float, float]:
        def run() -> ps.Run:
            return ps.simulate(model, T_END, rtol=tolerance, atol=tolerance, method=method, output_step=T_END)

        return at_the_end(run().arrays, reference.arrays, scales), repeated(lambda: run().stats.seconds)

    def theirs(method: str, tolerance: float) -> tuple[float, float]:
        def run() -> tuple[Any, float]:
            began = time.process_time()  # long enough for others to interrupt it, which is not SciPy's fault
            found = solve_ivp(function, (0.0, T_END), initial, method, rtol=tolerance, atol=tolerance)
            return found, time.process_time() - began

        found, seconds = run()
        arrays = recorded(problem, found.t[-1:], np.ascontiguousarray(found.y[:, -1:].T))
        seconds = seconds if seconds > ENOUGH else repeated(lambda: run()[1])
        return at_the_end(arrays, reference.arrays, scales), seconds

    def curve(way: Callable[[str, float], tuple[float, float]], method: str) -> Curve:
        pairs = [way(method, tolerance) for tolerance in TOLERANCES.tolist()]
        return Curve(*(np.array(values) for values in zip(*pairs, strict=True)))

    called = best(lambda: [function(0.0, initial) for _ in range(1000)], 1000)
    steps = ps.simulate(model, T_END, step=T_END / 20000, method="rk4", output_step=T_END).stats
    inside = 1e6 * steps.seconds / steps.evaluations
    return {m: curve(ours, m) for m in TWINS}, {m: curve(theirs, m) for m in SCIPY}, called, inside


def at_equal_error(ours: Curve, theirs: Curve) -> Array:
    """The ratios of times at the errors of ours that theirs reaches, too."""
    order = np.argsort(theirs.errors)
    within = (ours.errors >= theirs.errors.min()) & (ours.errors <= theirs.errors.max())
    seconds = np.interp(np.log(ours.errors[within]), np.log(theirs.errors[order]), np.log(theirs.seconds[order]))
    return np.exp(seconds) / ours.seconds[within]


def plot(found: dict[str, tuple[dict[str, Curve], dict[str, Curve]]], path: str) -> None:
    """Time over error of each case."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 6.4), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for panel, (case, (ours, theirs)) in zip(panels, found.items(), strict=False):
        for k, (name, curve) in enumerate(ours.items()):
            panel.loglog(curve.errors, curve.seconds, "o-", color=f"C{k}", ms=3, label=f"Poinsot {name}")
        for k, (name, curve) in enumerate(theirs.items()):
            panel.loglog(curve.errors, curve.seconds, "s--", color=f"C{k + 4}", ms=3, label=f"SciPy {name}")
        panel.set(title=case, xlabel="error at the end", ylabel="time (s)")
        panel.grid(alpha=0.3)
    panels[5].axis("off")
    panels[5].legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print ratios of times, and draw them."""
    found: dict[str, tuple[dict[str, Curve], dict[str, Curve]]] = {}
    print(f"{'case':20s} {'method':7s} {'SciPy':7s} time of SciPy over Poinsot's: at equal tolerance, at equal error")
    for case in CASES:
        ours, theirs, called, inside = curves(case)
        found[case] = ours, theirs
        for name, twin in TWINS.items():
            equal = theirs[twin].seconds / ours[name].seconds
            exact = at_equal_error(ours[name], theirs[twin])
            ranges = (f"{ratio.min():5.0f} to {ratio.max():4.0f}" if ratio.size else "none" for ratio in (equal, exact))
            print(f"{case:20s} {name:7s} {twin:7s} {', '.join(ranges)}")
        fastest = np.min([curve.seconds for curve in theirs.values()], axis=0) / ours["dop853"].seconds
        print(f"{case:20s} dop853  fastest {fastest.min():5.0f} to {fastest.max():4.0f} at equal tolerance")
        print(f"{case:20s} one evaluation: {called:.2f} us from Python, {inside:.2f} us of a compiled step", flush=True)
    if len(sys.argv) > 1:
        plot(found, sys.argv[1])


if __name__ == "__main__":
    main()
