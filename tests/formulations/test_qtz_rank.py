"""The rank that `qtz` and `model.check()` find in mechanisms, whatever the units they are described in."""

from math import pi
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as ps
from poinsot.cases import andrews, bricard, five_bar, four_bars, slider_crank, stewart_platform
from poinsot.formulations import qtz
from poinsot.formulations.qtz_plan import EQUATIONS, MOVING, RANK, RANKS, REPORTED
from poinsot.mechanism.absolute import POSE, counters_of, state_of_bodies
from poinsot.mechanism.build import build
from poinsot.mechanism.initial import initial_state
from poinsot.scalars import lend


def flat_five_bar(angle=pi / 2.0):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(five_bar, "ANGLE", angle)
        return five_bar.build()


# Equations, how many of them are independent, and degrees of freedom.
MECHANISMS = {
    "five-bar": (five_bar.build, 30, 23, 1),  # paper 002, 4.1
    "five-bar, driven": (five_bar.driven, 31, 24, 1),
    "Bricard": (bricard.build, 30, 29, 1),  # IFToMM benchmark A04
    "two four-bars": (four_bars.CASES[0].build, 35, 29, 1),  # IFToMM benchmark A02
    "slider-crank": (slider_crank.CASES[0].build, 20, 17, 1),
    "Andrews": (andrews.CASES[0].build, 50, 41, 1),  # IFToMM benchmark A03
    "Stewart platform": (stewart_platform.CASES[0].build, 72, 72, 6),
}
# What metres and kilograms are in other units.
UNITS = {"millimetres": (1e3, 1.0), "millimetres and tonnes": (1e3, 1e-3), "kilometres": (1e-3, 1.0)}


def in_units(model, length, mass):
    """The same mechanism, without its loads, in a description where metres and kilograms are so many units."""
    described = ps.Model(model.name, gravity=length * model.gravity)
    for body in model.bodies.values():
        inertia = ps.Inertia(mass * body.inertia.mass, mass * length**2 * body.inertia.matrix)
        described.body(body.name, inertia, length * body.position, orientation=body.rotation)
    for joint in model.joints.values():
        ends = [described.ground if end.name == "ground" else end.name for end in (joint.a, joint.b)]
        axes = {"axis": joint.axis, "second_axis": joint.second_axis}
        given = {name: axis for name, axis in axes.items() if axis is not None}
        getattr(described, joint.kind)(joint.name, *ends, at=length * joint.at, **given)
    for drive in model.drives.values():
        described.drive(drive.name, drive.joint.name, position="t")
    return described


class Ranks(NamedTuple):
    equations: int
    usual: int
    moving: int
    at_the_start: int


def ranks(model):
    """What `qtz` finds when a model is posed, and at its initial state."""
    problem = qtz.pose(build(model), {})
    qtz.observe(problem.mechanism, 0.0, lend(problem.initial), problem.work, problem.work)
    return found(problem)


def found(problem):
    """What its plan says."""
    plan = problem.mechanism.plan
    plan = (plan if isinstance(plan, np.ndarray) else plan.view)[:, 0]
    first = plan[RANKS]
    return Ranks(*(int(plan[place]) for place in (EQUATIONS, RANK, first + MOVING, first + REPORTED)))


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_rank_of_known_mechanisms(name):
    model, equations, rank, mobility = MECHANISMS[name]
    assert ranks(model()) == (equations, rank, rank, rank)
    report = model().check()
    assert (report.equations, len(report.redundant), report.mobility) == (equations, equations - rank, mobility)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("units", UNITS)
def test_the_rank_is_the_same_in_all_units(name, units):
    model, equations, rank, mobility = MECHANISMS[name]
    described, wanted = in_units(model(), *UNITS[units]), in_units(model(), 1.0, 1.0).check()
    assert ranks(described) == (equations, rank, rank, rank)
    report = described.check()
    assert (report.mobility, len(report.redundant), report.singular) == (mobility, equations - rank, False)
    assert report.unique == wanted.unique
    if name != "Bricard":  # where several equations would do equally well, and rounding chooses
        assert report.redundant == wanted.redundant


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_same_equations_are_redundant_where_units_change_no_digit(name):
    model = MECHANISMS[name][0]
    assert in_units(model(), 1024.0, 2.0**-10).check().redundant == in_units(model(), 1.0, 1.0).check().redundant


def test_bricard_could_do_without_any_of_the_equations_that_are_called_redundant():
    """Rounding chooses in other units; every choice is one of the equations whose reactions are not unique."""
    for length in (1.0, 1e3, 1e-3, 25.4):
        report = in_units(bricard.build(), length, 1.0).check()
        (redundant,) = report.redundant
        axis = "xyz".index(redundant.direction[-1])
        unique = report.unique[redundant.joint]
        assert not (unique.torque if redundant.direction.startswith("rotation") else unique.force)[axis]


@settings(max_examples=8, deadline=None, derandomize=True, database=None)
@given(st.floats(-4.0, 4.0), st.floats(-4.0, 4.0), st.integers(0, 10**6))
def test_the_rank_is_the_same_in_any_units_and_with_any_masses(length, mass, seed):
    """Light and heavy bodies, a thousandfold apart."""
    model, random = five_bar.build(), np.random.default_rng(seed)
    described = ps.Model("linkage")
    for body in model.bodies.values():
        factor = 10.0 ** random.uniform(-1.5, 1.5)
        inertia = ps.Inertia(factor * body.inertia.mass, factor * body.inertia.matrix)
        described.body(body.name, inertia, body.position, orientation=body.rotation)
    for joint in model.joints.values():
        ends = [described.ground if end.name == "ground" else end.name for end in (joint.a, joint.b)]
        described.revolute(joint.name, *ends, at=joint.at, axis=joint.axis)
    assert ranks(in_units(described, 10.0**length, 10.0**mass)) == (30, 23, 23, 23)


@pytest.mark.parametrize("units", [(1.0, 1.0), *UNITS.values()])
def test_on_its_way_through_the_flat_position_one_more_equation_depends_on_the_others(units):
    beside, flat = (build(in_units(flat_five_bar(pi / 2.0 + angle), *units)) for angle in (1e-3, 0.0))
    problem, there = qtz.pose(beside, {}), state_of_bodies(flat, counters_of(flat), initial_state(flat))
    state, poses = problem.initial.copy(), POSE * len(flat.bodies)
    state[:poses] = there[:poses]
    qtz.observe(problem.mechanism, 0.0, lend(state), problem.work, problem.work)
    assert found(problem).at_the_start == 22


@pytest.mark.parametrize("angle", [pi / 2.0, -pi / 2.0])
@pytest.mark.parametrize("units", [(1.0, 1.0), *UNITS.values()])
def test_in_the_flat_position_the_five_bar_has_its_usual_rank(angle, units):
    report = in_units(flat_five_bar(angle), *units).check()
    assert (report.mobility, len(report.redundant), report.singular) == (1, 7, True)


@pytest.mark.parametrize("angle", [1e-4, -1e-3, 0.02])
def test_beside_the_flat_position_the_five_bar_has_its_usual_rank(angle):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(five_bar, "ANGLE", pi / 2.0 + angle)
        model = five_bar.build()
    for units in UNITS.values():
        assert ranks(in_units(model, *units)) == (30, 23, 23, 23)
