"""The result of a simulation: what was recorded, what follows from it, and its netCDF file.

A Run holds plain arrays. The xarray.Dataset over them is built when it is first asked for, because importing
xarray takes as long as a whole small simulation; the file is therefore written from the arrays directly, and
holds exactly what the Dataset holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError, unknown
from poinsot.outputs import Outputs

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

_BODY_VECTOR = ("time", "body", "component")
_JOINT_VECTOR = ("time", "joint", "component")
_UNIQUE = "whether no other {} there gives the same motion"

# Name: dimensions, units, what it is. One coordinate per joint gives two dimensions, several give a third.
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "position": (_BODY_VECTOR, "m", "position of the centre of mass, world axes"),
    "rotation": (("time", "body", "row", "column"), "1", "rotation matrix, body axes to world axes"),
    "velocity": (_BODY_VECTOR, "m/s", "velocity of the centre of mass, world axes"),
    "angular_velocity": (_BODY_VECTOR, "rad/s", "angular velocity, body axes"),
    "acceleration": (_BODY_VECTOR, "m/s2", "acceleration of the centre of mass, world axes"),
    "angular_acceleration": (_BODY_VECTOR, "rad/s2", "angular acceleration, body axes"),
    "joint_position": (("time", "joint", "coordinate"), "rad or m", "joint coordinate"),
    "joint_velocity": (("time", "joint", "coordinate"), "rad/s or m/s", "rate of the joint coordinate"),
    "reaction_force": (_JOINT_VECTOR, "N", "joint force on the second body, world axes"),
    "reaction_torque": (_JOINT_VECTOR, "N m", "joint torque on the second body about the joint point, world axes"),
    "reaction_force_unique": (_JOINT_VECTOR, "1", _UNIQUE.format("joint force")),
    "reaction_torque_unique": (_JOINT_VECTOR, "1", _UNIQUE.format("joint torque")),
    "orthogonality_multiplier": (
        ("time", "body", "row", "column"),
        "N m",
        "multipliers of the rotation matrix's orthogonality, initial axes",
    ),
    "joint_multiplier": (("time", "joint", "equation"), "N or N m", "multipliers of the joint's equations"),
    "drive_force": (("time", "drive"), "N m or N", "what the drive exerts on the coordinate of its joint"),
    "drive_power": (("time", "drive"), "W", "power of the drive"),
    "kinetic_energy": (("time",), "J", "kinetic energy"),
    "potential_energy": (("time",), "J", "potential energy of gravity and springs"),
    "energy": (("time",), "J", "kinetic and potential energy"),
    "linear_momentum": (("time", "component"), "kg m/s", "linear momentum, world axes"),
    "angular_momentum": (("time", "component"), "kg m2/s", "angular momentum about the world origin, world axes"),
    "position_error": (("time",), "m or rad", "largest joint residual, positions"),
    "velocity_error": (("time",), "m/s or rad/s", "largest joint residual, velocities"),
    "rotation_error": (("time",), "1", "largest departure of a rotation from orthogonality or unit length"),
}
# True or False: a file has no such numbers, and says so as xarray does.
MASKS = ("reaction_force_unique", "reaction_torque_unique")
PLOT_ENDINGS = (".png", ".pdf", ".svg")

_COORDINATE_ATTRIBUTES = {
    "time": {"units": "s", "long_name": "time"},
    "body": {"long_name": "body"},
    "joint": {"long_name": "joint"},
    "drive": {"long_name": "drive"},
    "component": {"long_name": "axis"},
}


@dataclass(frozen=True)
class Stats:
    """What the solution cost: counts of the time loop, and wall-clock seconds without and for compiling.

    Implicit methods count the iterations for their stages; `newton_steps` is in how many steps these were Newton's,
    with so many factorizations, and not fixed-point ones. `decompositions` counts how often `qtz` has chosen its
    independent equations and velocities anew on the way.
    """

    steps: int = 0
    evaluations: int = 0
    rejected: int = 0
    iterations: int = 0
    factorizations: int = 0
    newton_steps: int = 0
    decompositions: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Happening:
    """An event that happened: its name, its time, and all outputs at that moment (see poinsot.outputs.Outputs)."""

    name: str
    time: float
    outputs: Outputs


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One simulated motion: `data` (an xarray.Dataset), `stats`, `settings`, and ways to save and show them.

    `events` are what happened of the events that were watched, in the order of time.
    """

    model_name: str
    time: Array
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    arrays: Mapping[str, Array]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    stats: Stats = Stats()
    events: tuple[Happening, ...] = ()
    drives: tuple[str, ...] = ()

    @classmethod
    def assemble(
        cls,
        *,
        time: Array,
        arrays: Mapping[str, Array],
        bodies: Sequence[str],
        joints: Sequence[str],
        model_name: str,
        settings: Mapping[str, Any],
        stats: Stats,
        events: Sequence[Happening] = (),
        drives: Sequence[str] = (),
    ) -> Self:
        """A Run from the arrays of a finished or interrupted simulation, each checked against its dimensions."""
        time = np.asarray(time, dtype=float)
        sizes = {"time": time.size, "body": len(bodies), "joint": len(joints), "drive": len(drives)}
        sizes |= {"component": 3, "row": 3, "column": 3}
        checked = {name: _checked(name, arrays[name], sizes) for name in VARIABLES if name in arrays}
        if foreign := sorted(set(arrays) - set(VARIABLES)):
            raise PoinsotError(unknown("variable of a run", foreign[0], VARIABLES))
        names = tuple(bodies), tuple(joints)
        return cls(model_name, time, *names, checked, _plain(settings), stats, tuple(events), tuple(drives))

    @cached_property
    def data(self) -> xarray.Dataset:
        """Every recorded variable over time, body and joint, with units and descriptions in the attributes."""
        import xarray

        variables = {name: (_dimensions(name, array), array, _attributes(name)) for name, array in self.arrays.items()}
        coordinates = {
            name: ((name,), values, _COORDINATE_ATTRIBUTES[name]) for name, values in self._coordinates().items()
        }
        return xarray.Dataset(variables, coordinates, self._file_attributes())

    @property
    def complete(self) -> bool:
        """Whether the run reached the end that was asked for or a terminal event, and did not fail on the way."""
        end = None if "ended_by" in self.settings else self.settings.get("t_end")
        # A last step of fixed length meets the end up to rounding.
        return end is None or bool(self.time.size and self.time[-1] >= end * (1.0 - 1e-12))

    @property
    def energy_change(self) -> Array:
        """E(t) - E(0), relative to the largest kinetic energy of the run."""
        energy = self.arrays["energy"]
        return (energy - energy[:1]) / (_largest(self.arrays["kinetic_energy"]) or 1.0)

    @property
    def energy_drift(self) -> float:
        """The largest departure of the energy from its first value, relative to the largest kinetic energy."""
        return _largest(self.energy_change)

    @property
    def position_error(self) -> float:
        """The largest joint residual of the run (metres or radians)."""
        return _largest(self.arrays["position_error"])

    @property
    def velocity_error(self) -> float:
        """The largest rate of a joint residual of the run (metres or radians per second)."""
        return _largest(self.arrays["velocity_error"])

    @property
    def rotation_error(self) -> float:
        """The largest departure of a rotation from orthogonality or unit length."""
        return _largest(self.arrays["rotation_error"])

    def __repr__(self) -> str:
        return f"<Run of {self.model_name!r}: {self.time.size} times, {len(self.bodies)} bodies; see .data, .summary()>"

    def summary(self) -> str:
        """What was simulated, with what, at what cost and how exactly: a few readable lines."""
        from poinsot.view.summary import as_text

        return as_text(self.facts())

    def facts(self, title: str | None = None) -> list[tuple[str, str]]:
        """The lines of the summary, as pairs of a label and a text, under a fuller title than the model's name."""
        from poinsot.view import summary

        errors = {
            name: getattr(self, name) for name in ("energy_drift", "position_error", "velocity_error", "rotation_error")
        }
        end = float(self.time[-1]) if self.time.size else 0.0
        return summary.facts(
            title or self.model_name,
            len(self.bodies),
            len(self.joints),
            end,
            self.complete,
            self.settings,
            asdict(self.stats),
            errors,
            [(event.name, event.time) for event in self.events],
        )

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A page of plots: motion, energies and errors. With a path it is written there too (.png, .pdf, .svg)."""
        from poinsot.view.plots import overview

        return plotted(
            lambda: overview(self.model_name, self.time, self.bodies, self.arrays, self.energy_change, self.settings),
            path,
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to a netCDF-4 file, which `poinsot.load`, xarray and others read; returns its path."""
        import h5netcdf

        target = writable(path)
        # A file that appears under its own name is complete, whatever interrupts the writing.
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with _writing(target):
            try:
                with h5netcdf.File(unfinished, "w") as file:
                    _fill(file, self._coordinates(), self.arrays, self._file_attributes())
                    if self.events:
                        _fill_events(file.create_group("events"), self.events)
                unfinished.replace(target)
            finally:
                unfinished.unlink(missing_ok=True)
        return target

    def _coordinates(self) -> dict[str, NDArray[Any]]:
        return {
            "time": self.time,
            "body": np.array(self.bodies, dtype=object),
            "joint": np.array(self.joints, dtype=object),
            **({"drive": np.array(self.drives, dtype=object)} if self.drives else {}),
            "component": np.array(("x", "y", "z"), dtype=object),
        }

    def _file_attributes(self) -> dict[str, str]:
        return {
            "title": self.model_name,
            "source": "Poinsot",
            "settings": json.dumps(self.settings),
            "stats": json.dumps(asdict(self.stats)),
        }


def load_run(path: str | os.PathLike[str]) -> Run:
    """The Run that `Run.save` wrote to a file."""
    import h5netcdf

    if not Path(path).is_file():
        what = "it is a folder" if Path(path).is_dir() else "there is no such file"
        raise PoinsotError(f"{path}: {what}; give the path of a file that run.save() wrote")
    try:
        with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
            settings, stats = json.loads(str(file.attrs["settings"])), json.loads(str(file.attrs["stats"]))
            bodies, joints, drives = (
                [str(name) for name in file.variables[kind][...]] if kind in file.variables or kind != "drive" else []
                for kind in ("body", "joint", "drive")
            )
            return Run.assemble(
                time=file.variables["time"][...],
                arrays=_read(file),
                bodies=bodies,
                joints=joints,
                model_name=str(file.attrs["title"]),
                settings=settings,
                stats=Stats(**{f.name: stats[f.name] for f in fields(Stats) if f.name in stats}),
                events=_read_events(file.groups["events"], bodies, joints, drives) if "events" in file.groups else (),
                drives=drives,
            )
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise PoinsotError(f"{path}: not a file of a Poinsot run ({error}); give one that run.save() wrote") from error


def _fill(
    file: Any, coordinates: Mapping[str, NDArray[Any]], arrays: Mapping[str, Array], attributes: Mapping[str, str]
) -> None:
    import h5py

    for name, values in coordinates.items():
        file.dimensions[name] = values.size
    for name, values in coordinates.items():
        kind = values.dtype if values.dtype != object else h5py.string_dtype()
        variable = file.create_variable(name, (name,), kind, data=values)
        variable.attrs.update(_COORDINATE_ATTRIBUTES[name])
    for name, array in arrays.items():
        dimensions = _dimensions(name, array)
        for dimension, size in zip(dimensions, array.shape, strict=True):
            if dimension not in file.dimensions:
                file.dimensions[dimension] = size
        _put(file, name, dimensions, array)
    file.attrs.update(attributes)


def _fill_events(group: Any, events: Sequence[Happening]) -> None:
    """The moments of events as a group: `name` and `time` over `event`, and every variable with `event` for time."""
    import h5py

    group.dimensions["event"] = len(events)
    names = np.array([event.name for event in events], dtype=object)
    group.create_variable("name", ("event",), h5py.string_dtype(), data=names)
    times = group.create_variable("time", ("event",), "f8", data=np.array([event.time for event in events]))
    times.attrs.update(_COORDINATE_ATTRIBUTES["time"])
    for name in events[0].outputs.arrays:
        array = np.stack([event.outputs.arrays[name] for event in events])
        _put(group, name, ("event", *_dimensions(name, array)[1:]), array)


def _put(group: Any, name: str, dimensions: tuple[str, ...], array: Array) -> None:
    """One variable with its attributes."""
    stored = array.astype(np.int8) if name in MASKS else array
    variable = group.create_variable(name, dimensions, stored.dtype, data=stored)
    variable.attrs.update(_attributes(name) | ({"dtype": "bool"} if name in MASKS else {}))


def _read(group: Any) -> dict[str, Array]:
    """All variables of a file or of a group in it."""
    return {name: group.variables[name][...] for name in VARIABLES if name in group.variables}


def _read_events(group: Any, bodies: Sequence[str], joints: Sequence[str], drives: Sequence[str]) -> list[Happening]:
    arrays = {name: array.astype(bool) if name in MASKS else array for name, array in _read(group).items()}
    return [
        Happening(
            str(name), float(time), Outputs(bodies, joints, {key: array[n] for key, array in arrays.items()}, drives)
        )
        for n, (name, time) in enumerate(zip(group.variables["name"][...], group.variables["time"][...], strict=True))
    ]


def _dimensions(name: str, array: Array) -> tuple[str, ...]:
    return VARIABLES[name][0][: array.ndim]


def _attributes(name: str) -> dict[str, str]:
    _, units, long_name = VARIABLES[name]
    return {"units": units, "long_name": long_name}


def _checked(name: str, array: Array, sizes: Mapping[str, int]) -> Array:
    array = np.asarray(array, dtype=bool) if name in MASKS else np.ascontiguousarray(array, dtype=float)
    dimensions = _dimensions(name, array)
    full = VARIABLES[name][0]
    complete = dimensions in (full, full[: full.index("coordinate")] if "coordinate" in full else full)
    expected = tuple(sizes.get(d, n) for d, n in zip(dimensions, array.shape, strict=False))
    if not complete or array.shape != expected:
        raise PoinsotError(f'variable "{name}" has shape {array.shape}; its dimensions are {full}, sizes {dict(sizes)}')
    return array


def _largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a file can hold them: NumPy numbers as numbers, anything else that JSON lacks by its name."""

    def named(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        return getattr(value, "__name__", None) or str(value)

    return json.loads(json.dumps(dict(settings), default=named))


def writable(path: str | os.PathLike[str], endings: Sequence[str] = ()) -> Path:
    """The path as a Path, if a file with such an ending can be there; to ask before a long simulation."""
    target = Path(path)
    if not target.parent.is_dir():
        raise PoinsotError(f"{target}: the folder {target.parent} does not exist; create it or choose another path")
    if target.is_dir():
        raise PoinsotError(f"{target} is a folder; give the path of a file")
    if not os.access(target.parent, os.W_OK):
        raise PoinsotError(f"{target}: the folder {target.parent} is not writable; choose another path")
    if endings and target.suffix.lower() not in endings:
        raise PoinsotError(f"{target}: the name must end in {' or '.join(endings)}, which says how to write it")
    return target


def plotted(draw: Callable[[], Figure], path: str | os.PathLike[str] | None) -> Figure:
    """The figure that is drawn, and written where there is a path, which is checked before."""
    target = None if path is None else writable(path, PLOT_ENDINGS)
    figure = draw()
    if target is not None:
        with _writing(target):
            figure.savefig(target)
    return figure


@contextmanager
def _writing(target: Path) -> Generator[None]:
    """Say in one sentence why a file could not be written: permissions, a full disk."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise PoinsotError(f"{target}: it cannot be written ({reason}); choose another path") from error
