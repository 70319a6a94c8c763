"""What the progress bar costs: run times with it, to nowhere and to a terminal, over those without it.

python benchmarks/progress.py

Run times vary by about as much as the bar costs, so that its processor time is measured alone, too: the bar beside
nothing, moved as often as a simulation moves it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, redirect_stderr
from importlib import import_module

import poinsot as ps
from poinsot.methods.driver import LOOK_UP

SIMULATION = import_module("poinsot.simulate")  # `import poinsot.simulate` could give the function of that name
T_END, STEP, ROUNDS = 600.0, 2e-4, 5
MODEL = ps.case("double-pendulum")


def main() -> None:
    """Print the best times of several rounds, interleaved, and the ratios."""
    began = time.perf_counter()
    import rich.progress  # noqa: F401

    print(f"importing the bar, once in a process: {1e3 * (time.perf_counter() - began):.0f} ms")
    ways = {"without": (nullcontext, False), "to nowhere": (nowhere, True), "to a terminal": (terminal, True)}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    seconds(False)
    for _ in range(ROUNDS):
        for name, (place, progress) in ways.items():
            with place():
                times[name].append(seconds(progress))
    least = {name: [min(found) for found in zip(*pairs, strict=True)] for name, pairs in times.items()}
    for name, (wall, processor) in least.items():
        ratios = wall / least["without"][0], processor / least["without"][1]
        print(f"{name:14s}{wall:6.3f} s, processor {processor:6.3f} s; ratios {ratios[0]:.4f} {ratios[1]:.4f}")
    for name in ("to nowhere", "to a terminal"):
        with ways[name][0]():
            share = alone()
        print(f"the bar alone {name}: {100.0 * share:.2f} % of one processor")
    print("asked: ratios below 1.01")


def alone() -> float:
    """The part of a processor that the bar takes in two seconds."""
    began = time.perf_counter(), time.process_time()
    with SIMULATION._progress(True, 1.0) as show:
        for tick in range(20):
            time.sleep(LOOK_UP)
            show(tick / 20)
    return (time.process_time() - began[1]) / (time.perf_counter() - began[0])


def seconds(progress: bool) -> tuple[float, float]:
    """The wall-clock and processor time of a run of a few seconds that records its end only."""
    began = time.perf_counter(), time.process_time()
    ps.simulate(MODEL, T_END, step=STEP, method="rk4", output_step=T_END, progress=progress)
    return time.perf_counter() - began[0], time.process_time() - began[1]


@contextmanager
def nowhere() -> Generator[None]:
    """Standard error thrown away: no terminal."""
    with open(os.devnull, "w") as stream, redirect_stderr(stream):
        yield


@contextmanager
def terminal() -> Generator[None]:
    """Standard error on a pseudo-terminal that something reads."""
    ours, theirs = os.openpty()
    with open(theirs, "w") as stream, redirect_stderr(stream):
        threading.Thread(target=read_all, args=(ours,), daemon=True).start()
        yield


def read_all(descriptor: int) -> None:
    """Read until the other side closes."""
    try:
        while os.read(descriptor, 4096):
            pass
    except OSError:  # how Linux says that the other side of a terminal is closed
        os.close(descriptor)


if __name__ == "__main__":
    main()
