"""The command line: results on standard output, messages on standard error, and a status that scripts can trust.

The status is 0 on success, 2 on a user's mistake, told in one sentence, 130 on an interruption, and 1 otherwise.
Heavy libraries are imported by the command that needs them, so that a mistake or `--help` answers at once.
"""

import gc
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from poinsot.cases import cases as built_in
from poinsot.cases import find
from poinsot.errors import PoinsotError, SimulationError, unknown
from poinsot.run import PLOT_ENDINGS, writable

if TYPE_CHECKING:
    from poinsot.model import Model
    from poinsot.problem import Option
    from poinsot.run import Run

INTERRUPTED = 130

app = typer.Typer(
    name="poinsot",
    help="Simulate constrained systems of rigid bodies.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# Arguments of ps.simulate and ps.analysis.convergence that --option does not stand for.
ARGUMENTS = (
    "model", "t_end", "step", "rtol", "atol", "formulation", "method", "stabilize", "output_step", "events", "progress",
    "steps", "reference", "quantities",
)  # fmt: skip

Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of method or formulation; may be repeated."),
]
Stabilize = Annotated[
    str | None, typer.Option(help="How states return to what they must fulfil: projection (default), none, and more.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    if arguments is not None:
        sys.exit(_status(arguments))
    # The process is this one command. Collecting garbage while libraries are imported takes 0.2 s of it, and
    # unloading the compiled kernels one by one at its end 0.4 s: neither has anything to give back.
    gc.set_threshold(100_000)
    # A closed stream is None in Python.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))
    status = _status(None)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as failure:
        status = _not_printed(failure)
    os._exit(status)


def _status(arguments: Sequence[str] | None) -> int:
    try:
        status = app(arguments, prog_name="poinsot", standalone_mode=False) or 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    except TyperException as mistake:
        _say(mistake.format_message())
        return mistake.exit_code
    except PoinsotError as mistake:
        _say(str(mistake))
        return 2
    except OSError as failure:
        return _not_printed(failure)
    if status == INTERRUPTED:
        _say("interrupted")
    return status


def _not_printed(failure: OSError) -> int:
    """Say that the output cannot be written, unless nobody reads it any more; files have errors of their own."""
    if not isinstance(failure, BrokenPipeError):
        _say(f"the output cannot be written: {failure.strerror or failure}")
    return 1


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Print the version, or the help when nothing else is asked for."""
    if version:
        from importlib.metadata import version as installed

        print(installed("poinsot"))
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A built-in case; `poinsot cases` lists them.")],
    t_end: Annotated[float | None, typer.Option(help="Duration in seconds.")] = None,
    step: Annotated[float | None, typer.Option(help="Fixed step in seconds.")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance of an adaptive step.")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance of an adaptive step.")] = None,
    formulation: Annotated[str | None, typer.Option(help="The equations of motion; see `poinsot methods`.")] = None,
    method: Annotated[str | None, typer.Option(help="The time stepping; see `poinsot methods`.")] = None,
    stabilize: Stabilize = None,
    output_step: Annotated[float | None, typer.Option(help="Record every so many seconds.")] = None,
    option: Options = None,
    event: Annotated[
        list[str] | None, typer.Option(metavar="EXPR", help="Record the zeros of an expression; may be repeated.")
    ] = None,
    stop: Annotated[
        list[str] | None, typer.Option(metavar="EXPR", help="End the motion at a zero of one; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The netCDF file; MODEL.nc by default.")] = None,
    plot: Annotated[Path | None, typer.Option(help="The plot (.png, .pdf, .svg); beside the file by default.")] = None,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Make no plot.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only the paths of the written files.")] = False,
    as_json: Json = False,
) -> None:
    """Simulate a model, write its results and a plot, and say how it went."""
    case, options = find(model), _options(option)
    data_path = writable(out or f"{model}.nc")
    plot_path = None if no_plot else writable(plot or data_path.with_suffix(".png"), PLOT_ENDINGS)
    if plot_path == data_path:
        raise PoinsotError(f"{data_path}: the data and the plot cannot be one file; give --plot, or another --out")
    built = case.model()
    given = {"step": step, "rtol": rtol, "atol": atol, "formulation": formulation, "method": method}
    others = {"t_end": t_end, "output_step": output_step, "stabilize": stabilize}
    settings = _settings(built, {**given, **options, **others})
    if event or stop:
        settings["events"] = [*settings.get("events", ()), *_events(event or (), stop or ())]
    result = _simulated(built, settings, data_path, progress=sys.stderr.isatty() and not (quiet or as_json))
    files = {"data": str(result.save(data_path)), "plot": str(plot_path) if plot_path else None}
    if plot_path is not None:
        result.plot(plot_path)
    if as_json:
        _print_json(_report(result, files))
    elif quiet:
        print(*(path for path in files.values() if path), sep="\n")
    else:
        _print_facts([*result.facts(case.title), *((label, path) for label, path in files.items() if path)])
    if not result.complete:
        raise typer.Exit(INTERRUPTED)


@app.command()
def check(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A built-in case; `poinsot cases` lists them.")],
    as_json: Json = False,
) -> None:
    """Count degrees of freedom and redundant equations, and say what is open or not unique."""
    case = find(model)
    report = case.model().check()
    if as_json:
        _print_json(report.as_json())
    else:
        _print_facts(report.facts(case.title))


@app.command()
def convergence(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A built-in case; `poinsot cases` lists them.")],
    method: Annotated[str, typer.Option(help="The time stepping; see `poinsot methods`.")] = "rk4",
    step: Annotated[list[float] | None, typer.Option(help="A fixed step in seconds; give two or more.")] = None,
    formulation: Annotated[str, typer.Option(help="The equations of motion; see `poinsot methods`.")] = "recursive",
    t_end: Annotated[float | None, typer.Option(help="Duration in seconds.")] = None,
    stabilize: Stabilize = None,
    option: Options = None,
    plot: Annotated[Path | None, typer.Option(help="A plot to write (.png, .pdf, .svg).")] = None,
    as_json: Json = False,
) -> None:
    """Compare fixed steps with a tight reference: errors, and the order that they show."""
    built, options = find(model).model(), _options(option)
    plot_path = None if plot is None else writable(plot, PLOT_ENDINGS)
    from poinsot import analysis

    if step:
        options["steps"] = step
    if stabilize:
        options["stabilize"] = stabilize
    found = analysis.convergence(built, formulation, method, t_end=t_end, **options)
    if plot_path is not None:
        found.plot(plot_path)
    if as_json:
        _print_json(found.report() | {"files": {"plot": str(plot_path) if plot_path else None}})
    else:
        print(found.table())
        if plot_path is not None:
            print(f"\nplot  {plot_path}")


@app.command()
def cases(as_json: Json = False) -> None:
    """List the built-in cases; with --json, their sources too."""
    rows = [{"name": case.name, "title": case.title, "source": case.source} for case in built_in()]
    if as_json:
        _print_json(rows)
    else:
        _print_table(("case", "what it is"), ((row["name"], row["title"]) for row in rows))


@app.command()
def methods(
    formulation: Annotated[str | None, typer.Option(help="Only the methods that go with this formulation.")] = None,
    as_json: Json = False,
) -> None:
    """List formulations and methods, and what goes with what."""
    rows = _pairs(formulation)
    if as_json:
        _print_json(rows)
        return
    heads = ("formulation", "what it is", "goes with")
    _print_table(heads, ((row["name"], row["title"], " ".join(row["methods"])) for row in rows["formulations"]))
    print()
    heads = ("method", "order", "step", "what it is")
    steps = {True: "fixed or adaptive", False: "fixed"}
    _print_table(
        heads, ((row["name"], str(row["order"]), steps[row["adaptive"]], row["title"]) for row in rows["methods"])
    )
    if chosen := _option_rows([*rows["formulations"], *rows["methods"]]):
        print()
        _print_table(("option", "default", "or", "of", "what it chooses"), chosen)


def _pairs(formulation: str | None) -> dict[str, list[dict[str, Any]]]:
    """Formulations with the methods that go with them, and those methods; of one formulation, or of all."""
    from poinsot.formulations import formulations
    from poinsot.methods import methods as all_methods
    from poinsot.problem import fits

    posing = {each.name: each for each in formulations()}
    if formulation is not None and formulation not in posing:
        raise PoinsotError(unknown("formulation", formulation, posing))
    chosen = [each for name, each in posing.items() if formulation in (None, name)]
    stepping = [method for method in all_methods() if any(fits(method, each) for each in chosen)]
    return {
        "formulations": [
            {
                "name": each.name,
                "title": each.title,
                "poses": ", ".join(kind.__name__ for kind in each.poses),
                "methods": [method.name for method in stepping if fits(method, each)],
                "options": _described(each.options),
            }
            for each in chosen
        ],
        "methods": [
            {
                "name": method.name,
                "title": method.title,
                "order": method.order,
                "adaptive": method.adaptive,
                "accepts": [kind.__name__ for kind in method.accepts],
                "formulations": [each.name for each in chosen if fits(method, each)],
                "options": _described(method.options),
            }
            for method in stepping
        ],
    }


def _described(options: Mapping[str, "Option"]) -> dict[str, dict[str, Any]]:
    """Options as a document holds them: the default, the meaning, and what they may be."""
    return {
        name: {
            "default": option.default,
            "meaning": option.meaning,
            "words": list(option.words),
            "least": option.least,
            "most": option.most,
            "range": option.range.strip(),
        }
        for name, option in options.items()
    }


def _option_rows(owners: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """A line for each option, with all that have it; an option of one name may differ between them."""
    having: dict[tuple[str, ...], list[str]] = {}
    for owner in owners:
        for name, option in owner["options"].items():
            others = _alternatives(option)
            having.setdefault((name, _as_given(option["default"]), others, option["meaning"]), []).append(owner["name"])
    return [(*line[:3], " ".join(names), line[3]) for line, names in having.items()]


def _alternatives(option: Mapping[str, Any]) -> str:
    """What an option may be besides its default, as it is given."""
    if isinstance(option["default"], bool):
        return _as_given(not option["default"])
    if option["words"]:
        return " ".join(word for word in option["words"] if word != option["default"])
    return f"a number {option['range']}".strip()


def _as_given(value: Any) -> str:
    """A value as it is given on the command line."""
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _options(given: Sequence[str] | None) -> dict[str, Any]:
    """The options of method and formulation that were given as NAME=VALUE."""
    options: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and name.isidentifier() and value):
            raise PoinsotError(f'--option "{text}": write it as NAME=VALUE, such as --option group=true')
        if name in ARGUMENTS:
            raise PoinsotError(
                f'--option "{text}": {name} is no option of a method or formulation; `poinsot methods` lists these'
            )
        if name in options:
            raise PoinsotError(f'--option "{text}": {name} is given twice; give it once')
        options[name] = _value(value)
    return options


def _value(text: str) -> Any:
    """A number, true or false, or a word."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _simulated(model: "Model", settings: dict[str, Any], data_path: Path, progress: bool) -> "Run":
    from poinsot.simulate import simulate

    try:
        return simulate(model, **settings, progress=progress)
    except SimulationError as failure:
        if failure.run is None:
            raise
        failure.run.save(data_path)
        raise PoinsotError(f"{failure}; the results until then are in {data_path}") from failure


def _events(recorded: Iterable[str], ending: Iterable[str]) -> list[Any]:
    from poinsot.model import Event

    return [*(Event(text) for text in recorded), *(Event(text, terminal=True) for text in ending)]


def _settings(model: "Model", given: dict[str, Any]) -> dict[str, Any]:
    """The model's own settings, under those given on the command line; a step displaces tolerances, and they it.

    What does not fit the problem that is asked for is displaced, too: a case's method by the usual one.
    """
    settings = dict(model.settings)
    if given["method"] is None and not _fits({**settings, **{name: x for name, x in given.items() if x is not None}}):
        settings["method"] = None
    if given["step"] is not None:
        settings["rtol"] = settings["atol"] = None
    elif given["rtol"] is not None or given["atol"] is not None:
        settings["step"] = None
        settings["atol"] = None if given["rtol"] is not None else settings.get("atol")
    settings.update((name, value) for name, value in given.items() if value is not None)
    return settings


def _fits(settings: Mapping[str, Any]) -> bool:
    """Whether method and formulation go together; of names that are unknown the simulation will say so."""
    from poinsot.formulations import formulations
    from poinsot.methods import methods as all_methods
    from poinsot.problem import accepts

    formulation = next((each for each in formulations() if each.name == settings.get("formulation")), None)
    method = next((each for each in all_methods() if each.name == settings.get("method")), None)
    return formulation is None or method is None or accepts(method, formulation.kind_of(settings))


def _report(result: "Run", files: dict[str, str | None]) -> dict[str, Any]:
    settings, stats = result.settings, asdict(result.stats)
    return {
        "model": result.model_name,
        **{name: settings.get(name) for name in ("formulation", "method", "t_end", "step", "rtol", "atol")},
        "bodies": len(result.bodies),
        "joints": len(result.joints),
        "degrees_of_freedom": settings.get("degrees_of_freedom"),
        "redundant": settings.get("redundant", []),
        "seconds": stats["seconds"],
        "compile_seconds": stats["compile_seconds"],
        "stats": stats,
        "stabilize": settings.get("stabilize"),
        "options": settings.get("options", {}),
        "conservative": settings.get("conservative"),
        "energy_drift": result.energy_drift,
        "position_error": result.position_error,
        "velocity_error": result.velocity_error,
        "rotation_error": result.rotation_error,
        "events": [{"name": event.name, "time": event.time} for event in result.events],
        "ended_by": settings.get("ended_by", []),
        "files": files,
    }


def _print_json(document: Any) -> None:
    print(json.dumps(_finite(document), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    """The same document with null for numbers that JSON has no name for."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_facts(pairs: Sequence[tuple[str, str]]) -> None:
    if not sys.stdout.isatty():
        from poinsot.view.summary import as_text

        print(as_text(pairs))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for label, text in pairs:
        table.add_row(Text(label, style="bold cyan"), Text(text))
    Console().print(table)


def _print_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from poinsot.view.summary import aligned

    print(aligned(heads, rows))


def _say(message: str) -> None:
    print(f"poinsot: {message}", file=sys.stderr)
