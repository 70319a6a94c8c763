"""The one road from a Model to a Run."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError, SimulationError, nearest, unknown
from poinsot.events import ending, occurred, watch
from poinsot.formulations import formulations
from poinsot.mechanism.build import build
from poinsot.methods import methods
from poinsot.model import Model, Spring, TorsionSpring, checks
from poinsot.model.event import watched_events
from poinsot.problem import (
    AbstractMethod,
    Array,
    Controls,
    Formulation,
    ManifoldODE,
    SecondOrderDAE,
    Solution,
    accepts,
)
from poinsot.recording import recorded
from poinsot.run import Run, Stats

# Where a user gives no tolerance: far below what a plot shows, far above rounding; the absolute follows the relative.
RTOL, RTOL_PER_ATOL = 1e-9, 1000.0
# Below this, steps would follow rounding, and the motion would hardly move.
LEAST_RTOL = 1e-16
# How much of its size a mechanism's redundant equations may miss where others are projected, and where they drift.
BROKEN = {True: 1e-6, False: 1e-2}
STABILIZE = ("projection", "rotation-vector", "baumgarte", "none")
# More instants than this are a mistake, which would fill the memory before it shows.
MOST_OUTPUTS = 100_000_000


def simulate(
    model: Model,
    t_end: float,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    formulation: str = "recursive",
    method: str | None = None,
    stabilize: str | None = None,
    output_step: float | None = None,
    events: Any = (),
    progress: bool | Callable[[float], None] = False,
    **options: Any,
) -> Run:
    """Simulate a model from t = 0 to `t_end` and return what was recorded.

    With `step` the steps are fixed; with `rtol` and `atol` an adaptive method chooses them. Without any of them `rtol`
    is 1e-9; without `atol` it is a thousandth of `rtol`. Results are recorded at multiples of `output_step`, or at
    every step. `events` are expressions, functions or `ps.Event`s whose zeros are located. `progress` shows a bar, or
    is called with the time. Further options are those of formulation and method; `poinsot methods` lists them.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PoinsotError(f"simulate: {model!r} is not a Model; build one, or take one with ps.case()")
    chosen = _formulation(formulation)
    stepper = _method(method, chosen, options, step, rtol, atol)
    controls = _controls(t_end, step, rtol, atol, stabilize, output_step)
    if not (isinstance(progress, bool) or callable(progress)):
        raise PoinsotError(f"simulate: progress {progress!r} is neither True, False nor a function of the time")
    chosen_options = _options(options, chosen, stepper)
    watched = watched_events(model, events)
    model.freeze()
    began = time.perf_counter()
    with _announced():
        layout = build(model)
        problem = chosen.pose(layout, {**chosen_options, "stabilize": stabilize or STABILIZE[0]})
        prepared = stepper.prepare(problem, chosen_options)
        recorded(problem, np.zeros(0), np.zeros((0, problem.n_states)))
        controls.project |= problem.renews
        controls.watch = watch(problem, watched)
        if watched:
            prepared.load_location()
    ready = time.perf_counter()
    with _fitting(model):
        with _progress(progress, controls.t_end) as controls.progress:
            solution = prepared.solve(controls)
        arrays = recorded(problem, solution.times, solution.states)
    solution, arrays = _until_contradicted(problem, solution, arrays, stabilize or STABILIZE[0])
    stats = Stats(
        **solution.counts,
        seconds=time.perf_counter() - ready,
        compile_seconds=ready - began,
    )
    settings: dict[str, Any] = {
        "t_end": controls.t_end,
        "formulation": chosen.name,
        "method": stepper.name,
        "step": controls.step,
        "rtol": None if controls.step else controls.rtol,
        "atol": None if controls.step else controls.atol,
        "output_step": output_step,
        "stabilize": stabilize or STABILIZE[0],
        "gravity": model.gravity.tolist(),
        "degrees_of_freedom": layout.n_velocities if problem.mobility is None else problem.mobility,
        "redundant": [
            {"joint": layout.equations[row].owner, "direction": layout.equations[row].direction}
            for row in problem.redundant
        ],
        "conservative": conservative(model),
        "options": {name: value for name, value in chosen_options.items() if name in options},
        **ending(watched, solution),
    }
    run = Run.assemble(
        time=solution.times,
        arrays=arrays,
        bodies=layout.bodies,
        joints=layout.joints,
        model_name=model.name,
        settings=settings,
        stats=stats,
        events=occurred(problem, watched, solution),
        drives=list(model.drives),
    )
    if solution.failure is not None:
        reached = float(solution.times[-1])
        raise SimulationError(
            f'model "{model.name}": {chosen.name} with {stepper.name} stops after t = {reached:g} s: '
            f"{solution.failure}",
            run=run,
            time=reached,
        )
    return run


def _until_contradicted(
    problem: ManifoldODE, solution: Solution, arrays: dict[str, NDArray[Any]], stabilize: str
) -> tuple[Solution, dict[str, NDArray[Any]]]:
    """The solution up to where an equation that is not imposed, because it says nothing new, is broken after all."""
    projected, rows = stabilize == "projection", problem.redundant
    if not projected:  # joints may drift, but not as far as drives that part
        rows = tuple(row for row in rows if problem.layout.equations[row].is_drive)
    broken = np.flatnonzero(arrays["position_error"] > BROKEN[projected] * problem.layout.size)
    if not (rows and broken.size) or problem.diagnose is None:
        return solution, arrays
    first = int(broken[0])
    failure = problem.diagnose(float(solution.times[first]), solution.states[first][:, None].copy())
    shorter = replace(solution, times=solution.times[:first], states=solution.states[:first], failure=failure)
    return shorter, {name: values[:first] for name, values in arrays.items()}


@contextmanager
def _announced() -> Generator[None]:
    """Say on standard error what takes so long, where kernels are compiled."""
    message = "poinsot compiles kernels for this machine, and keeps them for later runs"
    timer = threading.Timer(1.5, lambda: print(message, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _fitting(model: Model) -> Generator[None]:
    """Results that are larger than the memory are a mistake, too."""
    try:
        yield
    except MemoryError as failure:
        raise PoinsotError(
            f'model "{model.name}": the results do not fit into the memory; record fewer, by a longer output_step'
        ) from failure


@contextmanager
def _progress(wanted: bool | Callable[[float], None], t_end: float) -> Generator[Callable[[float], None] | None]:
    """A bar on standard error, a user's own function, or nothing."""
    if not isinstance(wanted, bool):
        yield wanted
    elif not wanted:
        yield None
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
            task = bar.add_task("simulated time", total=t_end)
            yield lambda now: bar.update(task, completed=now)


def conservative(model: Model) -> bool:
    """Whether nothing in a model does work from outside or dissipates, so that its energy is a constant."""
    loads = model.loads.values()
    return not model.drives and all(isinstance(load, Spring | TorsionSpring) and load.damping == 0.0 for load in loads)


def _formulation(name: str) -> Formulation:
    known = {formulation.name: formulation for formulation in formulations()}
    if not isinstance(name, str) or name not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PoinsotError(f"simulate: {unknown('formulation', name, known)}")
    return known[name]


def _method(
    name: str | None,
    formulation: Formulation,
    options: Mapping[str, Any],
    step: float | None,
    rtol: float | None,
    atol: float | None,
) -> AbstractMethod:
    """The method asked for; without a word, rk4 for fixed steps and dop853 for adaptive ones, radau5 for a DAE."""
    known, kind = {method.name: method for method in methods()}, formulation.kind_of(options)
    if kind is SecondOrderDAE:
        name = name or "radau5"
    name = name or ("dop853" if step is None else "rk4")
    if not isinstance(name, str) or name not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PoinsotError(f"simulate: {unknown('method', name, known)}")
    method = known[name]
    if not accepts(method, kind):
        fitting = ", ".join(other.name for other in known.values() if accepts(other, kind))
        asked = [f'{each}="{options[each]}"' for each in formulation.options if formulation.kind and each in options]
        way = f" with {', '.join(asked)}" if asked else ""
        raise PoinsotError(
            f'simulate: formulation "{formulation.name}"{way} poses a {kind.__name__}, but method "{name}" '
            f"accepts {', '.join(kind.__name__ for kind in method.accepts)}; methods that fit: {fitting}"
        )
    if step is not None and (rtol is not None or atol is not None):
        raise PoinsotError(
            "simulate: step asks for fixed steps and rtol or atol for adaptive ones; give one of the two"
        )
    if step is None and not method.adaptive:
        raise PoinsotError(f'simulate: method "{name}" does not estimate its error; give it a fixed step=')
    return method


def _controls(
    t_end: float,
    step: float | None,
    rtol: float | None,
    atol: float | None,
    stabilize: str | None,
    output_step: float | None,
) -> Controls:
    """Check the numbers that say how to step and what to record."""
    if stabilize is not None and stabilize not in STABILIZE:
        raise PoinsotError(f"simulate: {unknown('stabilize', stabilize, STABILIZE)}")
    end = _positive("t_end", t_end)
    outputs = None if output_step is None else _output_times(end, _positive("output_step", output_step))
    if step is not None and outputs is None:
        _count("step", end, _positive("step", step))
    relative = RTOL if rtol is None else _positive("rtol", rtol)
    if relative < LEAST_RTOL:
        raise PoinsotError(f"simulate: rtol {relative:g} is finer than rounding; give at least {LEAST_RTOL:g}")
    return Controls(
        t_end=end,
        step=None if step is None else min(_positive("step", step), end),
        rtol=relative,
        atol=relative / RTOL_PER_ATOL if atol is None else _positive("atol", atol),
        outputs=outputs,
        project=stabilize != "none",
    )


def _positive(what: str, value: float) -> float:
    number = checks.number("simulate", what, value, "give a positive number")
    if number <= 0.0:
        raise PoinsotError(f"simulate: {what} {number:g} is not positive; give a positive number")
    return number


def _output_times(end: float, step: float) -> Array:
    """Multiples of the output step, and the end."""
    times: Array = np.arange(_count("output_step", end, step) + 1, dtype=np.float64) * step
    if len(times) > 1 and abs(times[-1] - end) < 1e-9 * step:
        times[-1] = end
    return times if times[-1] == end else np.concatenate((times, [end]))


def _count(what: str, end: float, step: float) -> int:
    """How many whole steps there are until the end."""
    count = end / step + 1e-9
    if count > MOST_OUTPUTS:
        raise PoinsotError(f"simulate: {what} {step:g} makes {count:.3g} outputs until {end:g} s; give a longer one")
    return int(count)


def _options(given: dict[str, Any], formulation: Formulation, method: AbstractMethod) -> dict[str, Any]:
    """The options of formulation and method: those given, checked, and the others at their defaults."""
    known = {**formulation.options, **method.options}
    for name in given:
        if name not in known:
            have = f"have {', '.join(known)}" if known else "have none"
            near = nearest(name, known)
            raise PoinsotError(
                f'simulate: there is no option "{name}"; {near + " " if near else ""}'
                f'formulation "{formulation.name}" and method "{method.name}" {have}'
            )
    return {
        name: option.checked("simulate", name, given[name]) if name in given else option.default
        for name, option in known.items()
    }
