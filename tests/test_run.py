"""A Run: its arrays, derived numbers, Dataset, file and words, on synthetic motion."""

import errno
import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from synthetic import arrays, synthetic_run

from poinsot.errors import PoinsotError
from poinsot.run import VARIABLES, Run, Stats, load_run

RUN = import_module("poinsot.run")


@pytest.mark.parametrize("joint_coordinates", [1, 3])
@pytest.mark.parametrize("joints", [0, 2])
def test_the_file_holds_what_the_dataset_holds(tmp_path, joints, joint_coordinates):
    xarray = pytest.importorskip("xarray")
    run = synthetic_run(joints=joints, joint_coordinates=joint_coordinates)
    path = run.save(tmp_path / "run.nc")
    with xarray.open_dataset(path, engine="h5netcdf") as read:
        xarray.testing.assert_identical(read.load(), run.data)


def test_a_loaded_run_is_the_saved_one(tmp_path):
    run = synthetic_run()
    loaded = load_run(run.save(tmp_path / "run.nc"))
    assert loaded.data.identical(run.data)
    assert (loaded.stats, loaded.settings) == (run.stats, run.settings)
    assert (loaded.model_name, loaded.bodies, loaded.joints) == (run.model_name, run.bodies, run.joints)


def test_a_file_that_xarray_wrote_is_a_run_too(tmp_path):
    run = synthetic_run()
    run.data.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    assert load_run(tmp_path / "run.nc").data.identical(run.data)


def test_saving_replaces_an_older_file_and_leaves_nothing_beside_it(tmp_path):
    synthetic_run(bodies=3).save(tmp_path / "run.nc")
    synthetic_run(bodies=1).save(tmp_path / "run.nc")
    assert len(load_run(tmp_path / "run.nc").bodies) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_every_variable_has_units_and_a_description():
    data = synthetic_run().data
    assert set(data.data_vars) == set(VARIABLES)
    for variable in data.data_vars.values():
        assert variable.attrs["units"]
        assert variable.attrs["long_name"]
    assert data["position"].sel(body="lower", component="z").dims == ("time",)
    assert data["rotation"].dims == ("time", "body", "row", "column")


def test_energy_change_is_relative_to_the_largest_kinetic_energy():
    values = arrays()
    values["kinetic_energy"] = np.array([0.0, 4.0, 2.0])
    values["energy"] = np.array([10.0, 10.0, 9.0])
    run = Run.assemble(
        time=np.arange(3.0),
        arrays={name: values[name] for name in ("kinetic_energy", "energy")},
        bodies=[],
        joints=[],
        model_name="three instants",
        settings={},
        stats=Stats(),
    )
    assert run.energy_change.tolist() == [0.0, 0.0, -0.25]
    assert run.energy_drift == 0.25


def test_settings_become_plain_values_that_a_file_can_hold():
    run = synthetic_run(settings={"gravity": np.array([0.0, -9.81, 0.0]), "step": np.float64(0.1), "event": len})
    assert json.loads(json.dumps(run.settings)) == {"gravity": [0.0, -9.81, 0.0], "step": 0.1, "event": "len"}


@pytest.mark.parametrize("name", ["position", "rotation", "joint_position", "energy"])
def test_a_wrong_shape_is_named(name):
    values = arrays()
    values[name] = values[name][:-1]
    with pytest.raises(PoinsotError, match=f'variable "{name}" has shape'):
        synthetic_run(values=values)


def test_an_unknown_variable_is_named():
    with pytest.raises(PoinsotError, match='no variable of a run "momentum"; did you mean'):
        synthetic_run(values={**arrays(), "momentum": np.zeros(3)})


def test_mistaken_paths_are_named(tmp_path):
    (tmp_path / "text.nc").write_text("not a netCDF file")
    with pytest.raises(PoinsotError, match="no such file"):
        load_run(tmp_path / "missing.nc")
    with pytest.raises(PoinsotError, match="not a file of a Poinsot run"):
        load_run(tmp_path / "text.nc")
    with pytest.raises(PoinsotError, match="does not exist; create it"):
        synthetic_run().save(tmp_path / "nowhere" / "run.nc")
    with pytest.raises(PoinsotError, match="is a folder"):
        synthetic_run().save(tmp_path)
    with pytest.raises(PoinsotError, match="it is a folder; give the path of a file that"):
        load_run(tmp_path)


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    run = synthetic_run()

    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(RUN, "_fill", full)
        with pytest.raises(PoinsotError, match=r"run.nc: it cannot be written \(No space left on device"):
            run.save(tmp_path / "run.nc")
        patch.setattr("matplotlib.figure.Figure.savefig", full)
        with pytest.raises(PoinsotError, match=r"run.png: it cannot be written \(No space left on device"):
            run.plot(tmp_path / "run.png")
        patch.setattr(RUN.os, "access", lambda *_: False)
        with pytest.raises(PoinsotError, match="is not writable; choose another path"):
            run.save(tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_foreign_attributes_is_not_a_run(tmp_path):
    data = synthetic_run().data
    data.attrs["stats"] = "3"
    data.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(PoinsotError, match="not a file of a Poinsot run"):
        load_run(tmp_path / "run.nc")


def test_the_summary_says_what_with_what_at_what_cost_and_how_exactly():
    text = synthetic_run().summary()
    for part in (
        "pendulum: 2 bodies, 2 joints, 6 degrees of freedom",
        "10 s, recursive with dop853, relative tolerance 1e-09, absolute 1e-12",
        "12 ms, after 100 ms of loading kernels",
        "1,234 steps, 14,808 evaluations, 1 rejected",
        "drift 1.0e-12 of the largest kinetic energy",
        "largest residual 2.0e-16",
        "orthogonal to 4.0e-16",
    ):
        assert part in text


def test_the_summary_says_where_a_run_stopped_and_why_energy_changes():
    text = synthetic_run(settings={"t_end": 20.0, "conservative": False}).summary()
    assert "stopped at 10 s of 20 s" in text
    assert "loads or drives do work" in text


def test_the_summary_names_redundant_equations_by_joint():
    assert "reactions" not in synthetic_run().summary()
    redundant = [{"joint": f"J{n // 2}", "direction": f"rotation about {'xy'[n % 2]}"} for n in range(9)]
    text = synthetic_run(settings={"t_end": 10.0, "redundant": redundant}).summary()
    assert '9 redundant equations, in "J0" (rotation about x, rotation about y), "J1" (' in text
    assert "and 2 more: the least reactions, not all are unique" in text
    text = synthetic_run(settings={"t_end": 10.0, "redundant": redundant[:1]}).summary()
    assert '1 redundant equation, in "J0" (rotation about x): the least' in text


def test_importing_a_run_imports_no_slow_library():
    program = (
        "import sys, poinsot.run; print([m for m in ('xarray', 'pandas', 'matplotlib', 'numba') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
