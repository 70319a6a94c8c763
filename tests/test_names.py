"""The public names are what they should be, whichever of the modules of the same names were imported before."""

import subprocess
import sys

import pytest

CHECK = """
import inspect, poinsot as ps
for name in ("case", "cases", "formulations", "load", "methods", "simulate"):
    assert callable(getattr(ps, name)), f"ps.{name} is {getattr(ps, name)}"
assert set(ps.__all__) <= set(dir(ps))
assert inspect.isclass(ps.Model)
"""


@pytest.mark.parametrize("before", ["", "poinsot.cli", "poinsot.simulate", "poinsot.cases, poinsot.methods"])
def test_public_functions_are_not_hidden_by_modules(before):
    program = (f"import {before}\n" if before else "") + CHECK + CHECK
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_importing_poinsot_imports_nothing_heavy():
    program = (
        "import sys, poinsot; print([n for n in ('numpy', 'numba', 'scipy', 'xarray', 'typer') if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
