"""The command line: what it prints where, what it writes, and the status it ends with."""

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from synthetic import synthetic_run

from poinsot.cli import main
from poinsot.errors import SimulationError
from poinsot.run import load_run

# `import poinsot.simulate` could give the function of that name.
SIMULATION = import_module("poinsot.simulate")

KEYS = {
    "model", "formulation", "method", "t_end", "step", "rtol", "atol", "bodies", "joints", "degrees_of_freedom",
    "seconds", "compile_seconds", "stats", "energy_drift", "position_error", "velocity_error", "rotation_error",
    "files", "redundant",
}  # fmt: skip


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder: its status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        captured = capsys.readouterr()
        return exit_.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def simulated(monkeypatch):
    """Stand in for the simulation; holds the arguments it was called with."""
    calls = []

    def simulate(model, **arguments):
        calls.append((model, arguments))
        return synthetic_run()

    monkeypatch.setattr(SIMULATION, "simulate", simulate)
    return calls


def test_run_writes_a_file_and_a_plot_and_says_where(command, tmp_path):
    status, out, _ = command("run", "double-pendulum", "--t-end", "1")
    assert status == 0
    assert "2 bodies, 2 joints" in out
    for label in ("model", "motion", "time", "work", "energy", "joints", "rotations"):
        assert f"\n{label} " in f"\n{out}"
    assert "double-pendulum.nc" in out
    assert "double-pendulum.png" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["double-pendulum.nc", "double-pendulum.png"]
    assert load_run("double-pendulum.nc").time[-1] == 1.0


def test_json_is_one_document_and_nothing_else(command):
    status, out, _ = command("run", "double-pendulum", "--t-end", "1", "--json")
    report = json.loads(out)
    assert status == 0
    assert report.keys() >= KEYS
    assert report["bodies"] == 2
    assert report["joints"] == 2
    assert report["t_end"] == 1.0
    assert report["stats"]["steps"] > 0
    assert report["files"] == {"data": "double-pendulum.nc", "plot": "double-pendulum.png"}


def test_quiet_prints_the_paths_only(command, simulated):
    status, out, err = command("run", "double-pendulum", "--quiet", "--out", "a.nc")
    assert (status, out, err) == (0, "a.nc\na.png\n", "")


def test_no_plot(command, simulated, tmp_path):
    status, out, _ = command("run", "double-pendulum", "--no-plot", "--json")
    assert status == 0
    assert json.loads(out)["files"]["plot"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["double-pendulum.nc"]


def test_a_step_displaces_tolerances_and_they_a_step(command, simulated):
    command("run", "double-pendulum", "--step", "0.01", "--method", "rk4")
    command("run", "double-pendulum", "--rtol", "1e-6")
    (_, fixed), (_, adaptive) = simulated
    assert (fixed["step"], fixed["rtol"], fixed["atol"]) == (0.01, None, None)
    assert fixed["method"] == "rk4"
    assert (adaptive["step"], adaptive["rtol"]) == (None, 1e-6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "double-pendulun"], "double-pendulum"),
        (["run"], "MODEL"),
        (["run", "double-pendulum", "--t-end", "long"], "--t-end"),
        (["run", "double-pendulum", "--t-end", "-1"], "t_end"),
        (["run", "double-pendulum", "--method", "rk3"], "rk4"),
        (["run", "double-pendulum", "--formulation", "recursiv"], "recursive"),
        (["run", "double-pendulum", "--out", "nowhere/a.nc"], "does not exist"),
        (["run", "double-pendulum", "--plot", "a.gif"], ".png"),
        (["run", "double-pendulum", "--out", "a.png"], "cannot be one file"),
        (["run", "cases/double-pendulum"], "no case"),
        (["walk"], "walk"),
        (["--walk"], "--walk"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(command, tmp_path, arguments, sentence):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("poinsot: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_simulation_that_stops_keeps_its_results(command, monkeypatch):
    def simulate(model, **arguments):
        raise SimulationError("the step became too small at t = 10 s", run=synthetic_run(), time=10.0)

    monkeypatch.setattr(SIMULATION, "simulate", simulate)
    status, out, err = command("run", "double-pendulum")
    assert (status, out) == (2, "")
    assert "too small at t = 10 s; the results until then are in double-pendulum.nc" in err
    assert load_run("double-pendulum.nc").time[-1] == 10.0


def test_an_interruption_is_told_without_a_traceback(command, monkeypatch):
    def simulate(model, **arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(SIMULATION, "simulate", simulate)
    status, out, err = command("run", "double-pendulum")
    assert (status, out, err) == (130, "", "poinsot: interrupted\n")


def test_an_interruption_during_the_motion_keeps_the_results(command, monkeypatch):
    monkeypatch.setattr(SIMULATION, "simulate", lambda model, **_: synthetic_run(settings={"t_end": 20.0}))
    status, out, err = command("run", "double-pendulum")
    assert (status, err) == (130, "poinsot: interrupted\n")
    assert "stopped at 10 s of 20 s" in out
    assert load_run("double-pendulum.nc").time[-1] == 10.0


def test_cases_lists_every_case(command):
    status, out, _ = command("cases")
    rows = json.loads(command("cases", "--json")[1])
    assert status == 0
    assert {"double-pendulum", "heavy-top", "free-body"} <= {row["name"] for row in rows}
    assert all(row["title"] in out for row in rows)


def test_methods_lists_what_goes_with_what(command):
    status, out, _ = command("methods")
    report = json.loads(command("methods", "--json")[1])
    assert status == 0
    assert {"recursive"} <= {row["name"] for row in report["formulations"]}
    assert {"rk4", "dopri5", "dop853"} <= {row["name"] for row in report["methods"]}
    assert all(row["name"] in out for row in report["formulations"] + report["methods"])
    assert "rk4" in next(row["methods"] for row in report["formulations"] if row["name"] == "recursive")


def test_methods_of_an_unknown_formulation(command):
    status, _, err = command("methods", "--formulation", "recursiv")
    assert status == 2
    assert "recursive" in err


def test_options_reach_the_simulation_as_numbers_truths_and_words(command, simulated):
    given = ("group=true", "dexp_inv=exact", "damping=0.5", "iterations=7")
    command("run", "double-pendulum", "--stabilize", "none", *(word for pair in given for word in ("--option", pair)))
    ((_, arguments),) = simulated
    expected = {"group": True, "dexp_inv": "exact", "damping": 0.5, "iterations": 7, "stabilize": "none"}
    assert {name: arguments[name] for name in expected} == expected
    assert (type(arguments["iterations"]), type(arguments["damping"])) == (int, float)


def test_a_run_names_the_options_that_were_given(command):
    given = ("run", "double-pendulum", "--t-end", "0.1", "--option", "group=true", "--no-plot")
    assert "absolute 1e-12, group true" in command(*given)[1]
    assert json.loads(command(*given, "--json")[1])["options"] == {"group": True}
    assert load_run("double-pendulum.nc").settings["options"] == {"group": True}


def test_a_run_says_how_it_was_stabilized(command):
    given = ("run", "double-pendulum", "--t-end", "0.1", "--stabilize", "none", "--no-plot")
    assert "absolute 1e-12, stabilize none\n" in command(*given)[1]
    assert json.loads(command(*given, "--json")[1])["stabilize"] == "none"
    assert "stabilize" not in command(*given[:4], "--no-plot")[1]
    status, _, err = command("run", "double-pendulum", "--stabilize", "projektion")
    assert (status, err.count("\n")) == (2, 1)
    assert 'did you mean "projection"?' in err


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("group", "write it as NAME=VALUE"),
        ("=true", "write it as NAME=VALUE"),
        ("group=", "write it as NAME=VALUE"),
        ("step=0.1", "step is no option of a method or formulation"),
        ("stabilize=none", "stabilize is no option of a method or formulation"),
        ("gruop=true", 'did you mean "group"?'),
        ("group=maybe", "group 'maybe' is neither True nor False"),
        ("dexp_inv=exakt", 'did you mean "exact"?'),
    ],
)
@pytest.mark.parametrize("asked", [("run", "--no-plot"), ("convergence", "--method", "dopri5", "--t-end", "0.1")])
def test_a_mistaken_option_is_told_in_a_sentence(command, asked, option, sentence):
    status, out, err = command(asked[0], "heavy-top", *asked[1:], "--option", option)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_an_option_is_given_once(command):
    assert "given twice" in command("run", "heavy-top", "--option", "group=true", "--option", "group=false")[2]


def test_methods_lists_options(command):
    _, out, _ = command("methods")
    report = json.loads(command("methods", "--json")[1])
    options = next(row["options"] for row in report["methods"] if row["name"] == "dopri5")
    assert options["group"]["default"] is False
    assert options["dexp_inv"]["words"] == ["truncated", "exact"]
    assert all(option["meaning"] for option in options.values())
    line = next(line for line in out.splitlines() if line.startswith("group "))
    assert line.split()[1:3] == ["false", "true"]
    assert "dopri5" in line
    assert options["group"]["meaning"] in line


def test_a_formulation_is_told_what_to_integrate(command):
    given = ("run", "five-bar", "--formulation", "qtz", "--t-end", "0.1", "--no-plot", "--json")
    status, out, _ = command(*given, "--method", "radau5", "--option", "qtz=reduced")
    report = json.loads(out)
    assert status == 0
    assert (report["formulation"], report["method"], report["options"]) == ("qtz", "radau5", {"qtz": "reduced"})
    assert len(report["redundant"]) == 7
    status, out, err = command(*given, "--option", "qtz=reducd")
    assert (status, out) == (2, "")
    assert 'did you mean "reduced"?' in err


def test_options_are_listed_by_what_they_may_be():
    from poinsot.cli import _described, _option_rows
    from poinsot.problem import Option

    options = {
        "radius": Option(0.9, "spectral radius", least=0.0, most=1.0),
        "most_iterations": Option(10, "before it gives up", least=1),
        "start": Option(None, "where to begin"),
    }
    owners = [{"name": name, "options": _described(options)} for name in ("one", "other")]
    assert _option_rows(owners) == [
        ("radius", "0.9", "a number from 0 to 1", "one other", "spectral radius"),
        ("most_iterations", "10", "a number of at least 1", "one other", "before it gives up"),
        ("start", "-", "a number", "one other", "where to begin"),
    ]


CONVERGENCE = ("convergence", "heavy-top", "--t-end", "0.5", "--step", "0.01", "--step", "0.005")


def test_convergence_prints_a_table_and_writes_a_plot(command, tmp_path):
    status, out, err = command(*CONVERGENCE, "--plot", "order.png")
    assert (status, err) == (0, "")
    assert out.startswith("heavy top over 0.5 s: recursive with rk4, order 4\n")
    assert "\n    slope " in out
    assert out.endswith("plot  order.png\n")
    assert [path.name for path in tmp_path.iterdir()] == ["order.png"]


def test_convergence_as_json_is_one_document(command, tmp_path):
    status, out, _ = command(*CONVERGENCE, "--method", "rkmk4", "--option", "dexp_inv=exact", "--json")
    report = json.loads(out)
    assert status == 0
    assert (report["method"], report["order"], report["steps"]) == ("rkmk4", 4, [0.01, 0.005])
    assert report["errors"].keys() == report["slopes"].keys() == report["reference_uncertainty"].keys()
    assert report["slopes"]["rotation"] == pytest.approx(4.0, abs=0.2)
    assert report["files"] == {"plot": None}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["heavy-tpo"], "heavy-top"),
        (["heavy-top", "--step", "0.1"], "at least 2 different ones"),
        (["heavy-top", "--step", "0.1", "--step", "20"], "longer than the motion"),
        (["heavy-top", "--method", "rk3"], "rk4"),
        (["heavy-top", "--plot", "a.gif"], ".png"),
    ],
)
def test_a_mistake_about_convergence_is_one_sentence(command, arguments, sentence):
    status, out, err = command("convergence", *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_help(command):
    status, out, _ = command()
    assert status == 0
    assert "cases" in out
    assert "--t-end" in command("run", "--help")[1]


def test_version(command):
    try:
        installed = version("poinsot")
    except PackageNotFoundError:
        pytest.skip("Poinsot runs from its source folder here; only an installed one has a version")
    assert command("--version")[:2] == (0, f"{installed}\n")


def test_a_mistake_is_told_without_importing_heavy_libraries():
    program = (
        "import sys\nfrom poinsot.cli import main\n"
        "try: main(['run', 'no-such-case'])\nexcept SystemExit: pass\n"
        "print([name for name in ('numba', 'xarray', 'pandas', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_running_imports_neither_xarray_nor_pyplot(tmp_path):
    program = (
        "import sys\nfrom poinsot.cli import main\n"
        "try: main(['run', 'double-pendulum', '--quiet', '--t-end', '0.1'])\n"
        "except SystemExit as end: assert not end.code\n"
        "print([name for name in ('xarray', 'pandas', 'matplotlib.pyplot') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("arguments", "status"), [(["cases", "--json"], 0), (["run", "no-such-case"], 2)])
def test_the_process_ends_with_its_output_and_status(arguments, status):
    program = "from poinsot.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert result.returncode == status
    if status == 0:
        assert json.loads(result.stdout)
    else:
        assert result.stderr.startswith("poinsot: there is no case")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full, a disk without space, is a file of Linux")
def test_output_that_cannot_be_written_is_told_in_one_sentence():
    program = "from poinsot.cli import main; main()"
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", program, "cases"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert result.stderr == "poinsot: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a stream as a POSIX shell does")
def test_a_closed_output_is_no_failure():
    program = f"{sys.executable} -c 'from poinsot.cli import main; main()' cases >&-"
    result = subprocess.run(["sh", "-c", program], stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_events_are_recorded_and_one_may_end_the_motion(command):
    events = ("--event", 'position["lower"].z + 3', "--event", "t - 0.25", "--stop", "t - 0.5", "--stop", "t - 0.75")
    status, out, err = command("run", "double-pendulum", "--t-end", "3", "--no-plot", "--json", *events)
    assert status == 0, err
    report = json.loads(out)
    assert [(event["name"], event["time"]) for event in report["events"]] == [("t - 0.25", 0.25), ("t - 0.5", 0.5)]
    assert report["ended_by"] == ["t - 0.5"]
    assert load_run("double-pendulum.nc").time[-1] == 0.5
    status, out, _ = command("run", "double-pendulum", "--t-end", "3", "--no-plot", *events)
    assert '1 of "t - 0.5", none of "t - 0.75"; ended by "t - 0.5" at t = 0.5 s' in out


def test_a_case_brings_its_events_and_those_given_come_to_them(command, simulated):
    command("run", "flywheel-pendulum")
    command("run", "flywheel-pendulum", "--event", "t - 2", "--stop", "t - 5")
    (model, own), (_, more) = simulated
    assert own["events"] == model.settings["events"]
    assert [(event.what, event.restart, event.terminal) for event in more["events"]] == [
        ("t - 1.5", True, False), ("t - 4.5", True, False), ("t - 2", False, False), ("t - 5", False, True),
    ]  # fmt: skip


def test_the_events_of_a_case_happen(command):
    status, out, _ = command("run", "flywheel-pendulum", "--no-plot")
    assert status == 0
    assert '\nevents     1 of "torque on", 1 of "torque off"\n' in out
    run = load_run("flywheel-pendulum.nc")
    assert [(event.name, event.time) for event in run.events] == [("torque on", 1.5), ("torque off", 4.5)]
    assert run.stats.rejected < 10  # dozens at each jump otherwise


@pytest.mark.parametrize(
    ("option", "text", "sentence"),
    [
        ("--event", 'position["lowr"].z', 'is not the name of a body; did you mean "lower"?'),
        ("--stop", "energy >", "is not an expression (column 8"),
        ("--stop", "sqrt(0.1 - t)", "its value at t = 0.1"),
    ],
)
def test_a_mistaken_event_is_said_in_a_sentence(command, option, text, sentence):
    status, out, err = command("run", "double-pendulum", "--t-end", "1", "--no-plot", option, text)
    assert (status, out) == (2, "")
    assert err.startswith("poinsot: ")
    assert sentence in err
    assert err.count("\n") == 1
