"""Calls by address, and caches that expire when they must and only then."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import float64, int64, typeof, types
from numba.core.errors import TypingError

import poinsot
from poinsot._jit import DISABLED, WIDTH, address, kernel, pointer_call
from poinsot.scalars import Duals, Packs, floats, sqrt

compiled_only = pytest.mark.skipif(DISABLED, reason="plain Python has no types and no cache")


class Tables(NamedTuple):
    counts: object
    limit: object


class Law(NamedTuple):
    tables: object
    state: object
    constants: object


def law_signature(tables, law, x, n):
    return types.UniTuple(x, 2)(tables, law, x, n)


call_law = pointer_call(law_signature)


@kernel
def law(tables, law, x, n):
    tables.counts[0] += 1.0
    if tables.counts[0] > tables.limit:
        raise ValueError("the limit is passed")
    a, (b, c) = law.constants
    return x * n + law.state[0, 0] * a, sqrt(x) + b + c


@kernel
def drive(where, tables, law, view, out, times):
    for _ in range(times):
        out[0, 0], out[0, 1] = call_law(where, tables, law, view[0, 0], 2)


@pytest.mark.parametrize("view", [floats, Packs, Duals])
def test_call_by_address(view):
    given, out = view(1, 1), view(1, 2)
    given[0, 0] = 4.0
    if view is Duals:
        given.data[0, 0, 1:] = 1.0
    tables = Tables(np.zeros(1), 5)
    bundle = Law(tables, given, (2.0, (3.0, 1.0)))
    scalar = float64 if view is floats else given.scalar
    signature = None if DISABLED else law_signature(typeof(tables), typeof(bundle), scalar, int64)
    where = address(law, signature)
    assert address(law, signature) == where > 0
    drive(where, tables, bundle, given, out, 2)
    data = out[..., None] if view is floats else out.data
    assert tables.counts[0] == 2.0
    assert (data[0, :, 0] == [16.0, 6.0]).all()
    if view is Duals:
        assert (data[0, 0, 1:] == 4.0).all()
        assert (data[0, 1, 1:] == 0.25).all()
    with pytest.raises(ValueError, match="the limit is passed"):
        drive(where, tables, bundle, given, out, 10)
    assert tables.counts[0] == 6.0


call_sum = pointer_call(float64(float64, float64))


@kernel
def plus(a, b):
    return a + b


@kernel
def minus(a, b):
    return a - b


@kernel
def fold(where, values):
    total = 0.0
    for i in range(values.size):
        total = call_sum(where, values[i], total)
    return total


@kernel
def too_few(where):
    return call_sum(where, 1.0)


@kernel
def wrong_type(where, values):
    return call_sum(where, 1.0, values)


def test_one_driver_calls_many():
    signature = float64(float64, float64)
    values = np.arange(4)
    assert fold(address(plus, signature), values) == 6.0
    assert fold(address(minus, signature), values) == 2.0


@compiled_only
def test_arguments_by_address_are_checked():
    with pytest.raises(TypingError, match="1 arguments, but the signature is"):
        too_few(1)
    with pytest.raises(TypingError, match=r"argument 1 is .*, but the signature has float64"):
        wrong_type(1, np.zeros(2))


# ------------------------------------------------------------------------------------------ caches

TINY = """
from poinsot._jit import kernel

@kernel
def gain(x):
    return {gain} * x
"""
CALLER = """
from numba import float64
from poinsot._jit import kernel, pointer_call
from poinsot.algebra.tiny import gain
from poinsot.scalars import sin

call = pointer_call(float64(float64))

@kernel
def twice(x):
    return gain(gain(x)) + sin(0.0 * x)

@kernel
def by_address(where, x):
    return call(where, x)
"""
SCRIPT = """
import json
from numba import float64
from poinsot._jit import address, kernel
from poinsot.mechanism.caller import by_address, twice
from poinsot.algebra.tiny import gain

@kernel
def load(x):
    return gain(x) + 1.0

functions = (twice, load, by_address)
results = [twice(2.0), load(2.0), by_address(address(load, float64(float64)), 2.0)]
misses = sum(sum(f.stats.cache_misses.values()) for f in functions)
print(json.dumps([results, misses]))
"""


@pytest.fixture
def copy(tmp_path):
    """A package with the real _jit and scalars, two small kernels and a user's script; `run()` tells what it prints."""
    package, source = tmp_path / "poinsot", Path(poinsot.__file__).parent
    for room in ("scalars", "algebra", "mechanism"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").touch()
    (package / "__init__.py").touch()
    for module in ("_jit.py", "errors.py"):
        shutil.copy(source / module, package)
    for module in (source / "scalars").glob("*.py"):
        shutil.copy(module, package / "scalars")
    (package / "algebra" / "tiny.py").write_text(TINY.format(gain=3.0))
    (package / "mechanism" / "caller.py").write_text(CALLER)
    (package / "cli.py").write_text("text = 'one'\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def start(copy, **environment):
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache"), **environment}
    command = [sys.executable, "-W", "error", str(copy / "script.py")]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def run(copy, **environment):
    return json.loads(start(copy, **environment).communicate()[0])


def cached_files(copy):
    return sorted(path.name for path in (copy / "cache").rglob("*.nb*"))


@compiled_only
def test_three_processes_compile_once(copy):
    assert run(copy) == [[18.0, 7.0, 7.0], 3]
    files = cached_files(copy)
    for _ in range(2):
        assert run(copy) == [[18.0, 7.0, 7.0], 0]
        assert cached_files(copy) == files


@compiled_only
def test_callers_and_user_code_see_an_edited_kernel(copy):
    run(copy)
    (copy / "poinsot" / "algebra" / "tiny.py").write_text(TINY.format(gain=5.0))
    assert run(copy) == [[50.0, 11.0, 11.0], 3]


@compiled_only
def test_code_of_an_older_source_is_not_run(copy):
    """Its file may lie under a name that a fresh index has given away already, but has not written to."""
    run(copy)
    old = {path: path.read_bytes() for path in (copy / "cache").rglob("*.nbc")}
    (copy / "poinsot" / "algebra" / "tiny.py").write_text(TINY.format(gain=5.0))
    run(copy)
    for path, code in old.items():
        path.write_bytes(code)
    assert run(copy) == [[50.0, 11.0, 11.0], 3]
    assert run(copy) == [[50.0, 11.0, 11.0], 0]


@compiled_only
def test_processes_that_compile_at_once_do_not_disturb_each_other(copy):
    widths = ("2", "4", "2", "4")
    started = [start(copy, POINSOT_WIDTH=width) for width in widths]
    assert [json.loads(process.communicate()[0])[0] for process in started] == [[18.0, 7.0, 7.0]] * len(widths)
    run(copy)
    assert run(copy) == [[18.0, 7.0, 7.0], 0]


@compiled_only
def test_what_is_no_kernel_recompiles_nothing(copy):
    run(copy)
    (copy / "poinsot" / "cli.py").write_text("text = 'two'\n")
    (copy / "poinsot" / "simulate.py").write_text("text = 'new'\n")
    assert run(copy) == [[18.0, 7.0, 7.0], 0]


@compiled_only
def test_another_width_compiles_anew(copy):
    run(copy)
    other = 2 if WIDTH != 2 else 4
    assert run(copy, POINSOT_WIDTH=str(other)) == [[18.0, 7.0, 7.0], 3]


def test_width_must_be_one_that_exists(tmp_path):
    command = [sys.executable, "-c", "from poinsot.cli import main; main()", "run", "double-pendulum"]
    environment = os.environ | {"POINSOT_WIDTH": "3", "PYTHONPATH": str(Path(poinsot.__file__).parents[1])}
    failed = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert failed.stderr == 'poinsot: POINSOT_WIDTH is "3", which is no width of a Pack; set it to 2, 4, 8 or 16\n'
    assert failed.returncode == 2


def test_every_width_computes(copy):
    script = "from poinsot.scalars import *; v = Packs(1, 1); v[0, 0] = 2.0; print(WIDTH, v.data.shape[2])"
    for width in (2, 4, 8, 16):
        environment = os.environ | {"POINSOT_WIDTH": str(width), "PYTHONPATH": str(copy)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [str(width)] * 2
