"""The public names: all there, whatever was imported before, and cheap until they are used."""

import subprocess
import sys
import types

import pytest

import poinsot as ps

CONTRACT = {
    "BodyState", "Event", "Inertia", "Model", "PoinsotError", "Run", "SimulationError", "analysis", "case", "cases",
    "formulations", "load", "methods", "select", "simulate",
}  # fmt: skip
FUNCTIONS = ("case", "cases", "formulations", "load", "methods", "simulate")
HEAVY = ("numpy", "numba", "llvmlite", "scipy", "xarray", "pandas", "matplotlib", "pydantic", "rich", "typer")
# What may not be imported before the first simulation: each costs as much as all the rest.
SLOW = tuple(name for name in HEAVY if name != "numpy")


def loaded(program, names):
    """Which of the modules are loaded after a program."""
    program += f"; import sys; print(*[name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_every_public_name_exists():
    assert set(ps.__all__) >= CONTRACT
    assert set(ps.__all__) <= set(dir(ps))
    for name in ps.__all__:
        assert isinstance(getattr(ps, name), types.ModuleType) == (name == "analysis")
    assert issubclass(ps.SimulationError, ps.PoinsotError)
    assert issubclass(ps.PoinsotError, ValueError)
    with pytest.raises(AttributeError, match="module 'poinsot' has no attribute 'simulte'"):
        _ = ps.simulte


@pytest.mark.parametrize(
    "before", ["import sys", "import poinsot.cli", "import poinsot.simulate", "import poinsot.cases, poinsot.methods"]
)
def test_public_functions_are_not_hidden_by_modules(before):
    ask = "assert all(map(callable, (" + ", ".join(f"ps.{name}" for name in FUNCTIONS) + ")))"
    assert loaded(f"{before}; import poinsot as ps; {ask}; {ask}", ("poinsot",)) == ["poinsot"]


def test_importing_poinsot_imports_nothing_heavy():
    assert loaded("import poinsot", HEAVY) == []


@pytest.mark.parametrize(
    "use",
    ["ps.case('double-pendulum')", "ps.cases()", "ps.Model('m').body('b', ps.Inertia.sphere(mass=1.0, radius=1.0))",
     "ps.Event('t')", "ps.load(lambda t, body: ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))",
     "ps.Run, ps.BodyState, ps.PoinsotError"],
)  # fmt: skip
def test_what_compiles_nothing_imports_nothing_that_compiles(use):
    assert loaded(f"import poinsot as ps; {use}", SLOW) == []


def test_simulating_imports_no_library_for_tables_or_pictures():
    program = "import poinsot as ps; ps.simulate(ps.case('free-body'), 0.1).energy_drift"
    assert loaded(program, ("xarray", "pandas", "matplotlib", "pydantic", "typer")) == []
