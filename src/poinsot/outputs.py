"""The outputs of one instant by their names, as functions of the user's own read them and as events hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import nearest, unknown

Array = NDArray[np.float64]

# What is three numbers for each body or each joint, one or several for each joint, three numbers or one for the whole.
BODY_VECTORS = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
BODY_MATRICES = ("rotation", "orthogonality_multiplier")
JOINT_VECTORS = ("reaction_force", "reaction_torque", "reaction_force_unique", "reaction_torque_unique")
DRIVE_NUMBERS = ("drive_force", "drive_power")
JOINT_COORDINATES = ("joint_position", "joint_velocity")
VECTORS = ("linear_momentum", "angular_momentum")
NUMBERS = ("energy", "kinetic_energy", "potential_energy", "position_error", "velocity_error", "rotation_error")


class ByName(Mapping[str, Any]):
    """One output of all bodies or of all joints: `values["lower"]`, an array of its own or a number."""

    def __init__(self, kind: str, names: Sequence[str], values: Array) -> None:
        self._kind, self._values = kind, values
        self._rows = {name: row for row, name in enumerate(names)}

    def __getitem__(self, name: str) -> Any:
        if name not in self._rows:
            raise KeyError(unknown(self._kind, name, self._rows))
        value = self._values[self._rows[name]]
        return value.copy() if value.ndim else float(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Coordinates(ByName):
    """An output of all joints with a number where a joint has one coordinate, an array where it has more or none."""

    def __getitem__(self, name: str) -> Any:
        value = np.atleast_1d(super().__getitem__(name))
        value = value[~np.isnan(value)]  # places that a joint does not need
        return float(value[0]) if value.size == 1 else value


class Outputs:
    """Everything that a run records, at one instant.

    The names are those of `run.data`: `outputs.position["lower"]` is three numbers, `outputs.joint_position["crank"]`
    one (an array where the joint has several coordinates), `outputs.energy` one.
    """

    def __init__(
        self, bodies: Sequence[str], joints: Sequence[str], arrays: Mapping[str, Array], drives: Sequence[str] = ()
    ) -> None:
        self._arrays = arrays
        self._named: dict[str, ByName] = {}
        for name, values in arrays.items():
            if name in JOINT_COORDINATES or name == "joint_multiplier":
                self._named[name] = Coordinates("joint", joints, values)
            elif name in JOINT_VECTORS:
                self._named[name] = ByName("joint", joints, values)
            elif name in DRIVE_NUMBERS:
                self._named[name] = ByName("drive", drives, values)
            elif name in BODY_VECTORS or name in BODY_MATRICES:
                self._named[name] = ByName("body", bodies, values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._arrays:  # what copies and pickles asks for such names first
            near = "" if name.startswith("__") else nearest(name, self._arrays)
            raise AttributeError(f'there is no output "{name}"' + (f"; {near}" if near else ""))
        if name in self._named:
            return self._named[name]
        value = self._arrays[name]
        return value.copy() if value.ndim else float(value)

    def __dir__(self) -> list[str]:
        return sorted(self._arrays)

    def __repr__(self) -> str:
        return f"<Outputs: {', '.join(self._arrays)}>"

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The outputs as a Run holds them, without the dimension of time."""
        return self._arrays
