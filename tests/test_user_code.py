"""What users write in Python means what it says: compiled once, and anew whenever anything that it reads changes."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import poinsot as ps
from poinsot._jit import DISABLED

SCRIPT = """
import json, sys
import poinsot as ps
from poinsot.mechanism import build_loads
from poinsot.model.functions import scalar_function
from poinsot.scalars import sqrt
import constants
from constants import LEVELS

AMPLITUDE = float(sys.argv[1])

@ps.load
def push(t, body, gain):
    return (gain * AMPLITUDE, sqrt(constants.SQUARE + 0.0 * t), LEVELS[1]), (0.0, 0.0, 0.0)

def wave(t):
    return {wave}, 0.0, 0.0

def turn(t):
    return AMPLITUDE * t**3 + 0.0 * t * {unique}

model = ps.Model("ball", gravity=(0.0, 0.0, 0.0))
model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1))
model.load("push", push, "ball", gain=2.0)
model.torque("wave", "ball", torque=wave)
run = ps.simulate(model, 1.0, step=0.5)
turned = build_loads.derivatives_at("drive", scalar_function("drive", "position", turn), 1.0)
misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in build_loads._compiled.values())
spin = run.arrays["angular_velocity"][-1, 0, 0] * model.bodies["ball"].inertia.matrix[0, 0]
print(json.dumps([[round(x, 12) for x in (*run.arrays["velocity"][-1, 0], spin)], turned, misses]))
"""
CONSTANTS = "SQUARE = {square}\nLEVELS = (1.0, {level})\n"


def final_velocity(**push):
    """Where a force takes a ball of 1 kg within a second from rest."""
    model = ps.Model("ball", gravity=(0.0, 0.0, 0.0))
    model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1))
    if "law" in push:
        model.load("push", push["law"], "ball")
    else:
        model.force("push", "ball", **push)
    return ps.simulate(model, 1.0, step=0.5).arrays["velocity"][-1, 0].round(12).tolist()


@pytest.mark.skipif(DISABLED, reason="plain Python has no cache")
def test_a_script_is_compiled_once_and_anew_when_something_that_it_reads_changes(tmp_path):
    def run(amplitude):
        path = os.pathsep.join([str(Path(ps.__file__).parents[1]), str(tmp_path)])
        command = [sys.executable, str(tmp_path / "script.py"), str(amplitude)]
        environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    # Derivatives are compiled beside the library's own kernels, where a former run of this test has left its own.
    unique = time.time_ns()
    (tmp_path / "script.py").write_text(SCRIPT.format(wave="3.0", unique=unique))
    (tmp_path / "constants.py").write_text(CONSTANTS.format(square=9.0, level=5.0))
    assert run(1.0) == [[2.0, 3.0, 5.0, 3.0], [1.0, 3.0, 6.0], 4]
    assert run(1.0) == [[2.0, 3.0, 5.0, 3.0], [1.0, 3.0, 6.0], 0]
    assert run(4.0) == [[8.0, 3.0, 5.0, 3.0], [4.0, 12.0, 24.0], 3]
    assert run(1.0) == [[2.0, 3.0, 5.0, 3.0], [1.0, 3.0, 6.0], 0]
    (tmp_path / "constants.py").write_text(CONSTANTS.format(square=16.0, level=6.0))
    assert run(1.0) == [[2.0, 4.0, 6.0, 3.0], [1.0, 3.0, 6.0], 1]
    (tmp_path / "script.py").write_text(SCRIPT.format(wave="7.0", unique=unique))
    assert run(1.0) == [[2.0, 4.0, 6.0, 7.0], [1.0, 3.0, 6.0], 2]


def test_lambdas_on_one_line_are_different_functions():
    force = (lambda t: 1.0 + 0.0 * t, lambda t: 2.0 + 0.0 * t, lambda t: 3.0 + 0.0 * t)
    assert final_velocity(force=force) == [1.0, 2.0, 3.0]


def test_functions_made_in_a_loop_are_different_functions():
    found = []
    for k in (1.0, 2.0, 3.0):

        def push(t, k=k):
            return k + 0.0 * t

        def enclosed(t):
            return 10.0 * k + 0.0 * t  # noqa: B023

        found.append(final_velocity(force=(push, enclosed, 0.0)))
    assert found == [[1.0, 10.0, 0.0], [2.0, 20.0, 0.0], [3.0, 30.0, 0.0]]


STRENGTHS = (1.0,)


def test_what_an_inner_function_reads_counts(monkeypatch):
    def push(t):
        total = 0.0 * t
        for strength in [2.0 * STRENGTHS[0] for _ in range(2)]:
            total += strength
        return total

    assert final_velocity(force=(push, 0.0, 0.0))[0] == 4.0
    monkeypatch.setitem(globals(), "STRENGTHS", (3.0,))
    assert final_velocity(force=(push, 0.0, 0.0))[0] == 12.0


STRENGTH = 1.0
TABLE = np.array([1.0, 2.0])


@ps.load
def with_globals(t, body):
    return (STRENGTH, TABLE[0], 0.0 * t), (0.0, 0.0, 0.0 * body.position[0])


def test_a_changed_global_counts_in_the_next_simulation(monkeypatch):
    assert final_velocity(law=with_globals) == [1.0, 1.0, 0.0]
    monkeypatch.setitem(globals(), "STRENGTH", 2.0)
    assert final_velocity(law=with_globals) == [2.0, 1.0, 0.0]
    monkeypatch.setitem(globals(), "TABLE", np.array([3.0, 2.0]))
    assert final_velocity(law=with_globals) == [2.0, 3.0, 0.0]


if not DISABLED:
    import numba

    @numba.njit
    def half(x):
        return 0.5 * x * STRENGTH

    @ps.load
    def with_a_function(t, body):
        return (half(4.0), 0.0 * t, 0.0), (0.0, 0.0, 0.0 * body.position[0])

    def test_a_load_calls_compiled_functions_of_its_user():
        assert final_velocity(law=with_a_function) == [2.0, 0.0, 0.0]


LABELS = {"x": 1.0, "y": "two"}


@pytest.mark.skipif(DISABLED, reason="plain Python compiles nothing")
def test_what_cannot_be_compiled_is_said_in_one_sentence():
    @ps.load
    def with_a_table(t, body):
        return (LABELS["x"], 0.0 * t, 0.0), (0.0, 0.0, 0.0 * body.position[0])

    with pytest.raises(ps.PoinsotError) as caught:
        final_velocity(law=with_a_table)
    sentence = str(caught.value)
    assert sentence.startswith('load "push": the Python function with_a_table cannot be compiled: ')
    assert "'dict'>; write it with arithmetic, tuples" in sentence
    assert not {"\n", "\x1b"} & set(sentence)
