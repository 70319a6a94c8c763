"""Timing on a noisy machine: the best of several rounds, everything in one process."""

import time
from collections.abc import Callable
from typing import Any


def best(call: Callable[[], Any], count: int = 1, rounds: int = 9) -> float:
    """The least time of `call` in microseconds per one of the `count` things it does."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times) / count * 1e6
