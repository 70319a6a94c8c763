"""Degrees of freedom and redundant equations of known mechanisms, as kinematics books and papers give them.

Where a source gives the mobility only, the redundant equations follow from it: with n bodies, each joint of f
freedoms has 6 - f equations, and what 6 n less all of them lacks of the mobility is redundant.
"""

import json
from math import pi

import numpy as np
import pytest

import poinsot as ps
from poinsot.cases import five_bar
from poinsot.cli import main

BOX = ps.Inertia.box(mass=1.0, size=(0.3, 0.2, 0.1))
X, Y, Z = np.eye(3)


def joined(*joints, inertia=BOX, ground="0"):
    """A model of joints (kind, a, b, at, axis, further arguments); bodies are where their joints are, on an average."""
    model = ps.Model("mechanism")
    points = {}
    for _, a, b, at, *_ in joints:
        for name in (a, b):
            points.setdefault(name, []).append(np.append(at, 0.0) if len(at) == 2 else np.array(at, float))
    for name in points:
        if name != ground:
            model.body(name, inertia, np.mean(points[name], axis=0) + np.array((0.01, 0.02, 0.03)))
    for n, (kind, a, b, at, *rest) in enumerate(joints):
        axis = {"axis": rest[0]} if rest and rest[0] is not None else {}
        ends = [model.ground if name == ground else name for name in (a, b)]
        at = np.append(at, 0.0) if len(at) == 2 else at
        getattr(model, kind)(f"{n} {a}-{b}", *ends, at=at, **axis, **(rest[1] if len(rest) > 1 else {}))
    return model


def R(a, b, at, axis=Z):
    return "revolute", a, b, at, axis


def P(a, b, at, axis):
    return "prismatic", a, b, at, axis


def S(a, b, at):
    return "spherical", a, b, at


def C(a, b, at, axis):
    return "cylindrical", a, b, at, axis


def U(a, b, at, axis, second):
    return "universal", a, b, at, axis, {"second_axis": second}


def ring(points, axes):
    """A closed chain of revolutes, the first and the last of them on the ground."""
    names = ["0", *(f"link {n + 1}" for n in range(len(points) - 1)), "0"]
    return joined(*(R(names[n], names[n + 1], points[n], axes[n]) for n in range(len(points))))


def door():
    return joined(R("0", "door", (0, 0, 0)), R("0", "door", (0, 0, 2)))


def four_bar(last=None):
    third = R("coupler", "rocker", (1.0, 0.9)) if last is None else S("coupler", "rocker", (1.0, 0.9))
    fourth = R("0", "rocker", (1.2, 0)) if last is None else C("0", "rocker", (1.2, 0), Z)
    return joined(R("0", "crank", (0, 0)), R("crank", "coupler", (0.3, 0.4)), third, fourth)


def flat_parallelogram():
    return joined(R("0", "a", (0, 0)), R("a", "b", (1, 0)), R("b", "c", (3, 0)), R("0", "c", (2, 0)))


def slider_crank():
    return joined(
        R("0", "crank", (0, 0)), R("crank", "rod", (0.3, 0.4)), R("rod", "slider", (1, 0)), P("0", "slider", (1, 0), X)
    )


def five_bar_of_paper_002():
    top = [(x + 0.3 * np.sin(np.pi / 3), -0.3 * np.cos(np.pi / 3)) for x in (0.0, 0.4, 0.8)]
    cranks = [R("0", f"crank {n}", (0.4 * n, 0)) for n in range(3)]
    return joined(*cranks, *(R(f"crank {n}", "coupler", top[n]) for n in range(3)))


def four_bar_chain(loops=2):
    parts = [R("0", f"crank {n}", (n, 0)) for n in range(loops + 1)]
    for n in range(loops):
        parts += [R(f"crank {n}", f"rod {n}", (n, 1)), R(f"rod {n}", f"crank {n + 1}", (n + 1, 1))]
    return joined(*parts)


def bricard():
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    return ring(points, (Y, Z, X, Y, Z, X))


def bennett(a=1.0, b=1.5, alpha=0.6):
    """Opposite links are equal, and lengths are as the sines of the twists."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    first = 1.1
    second = 2.0 * np.arctan(np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0) / np.tan(first / 2.0))
    T, points, axes = np.eye(4), [], []
    for angle, length, twist in zip(
        (first, second, -first, -second), (a, b, a, b), (alpha, beta, alpha, beta), strict=True
    ):
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        T = T @ [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(T, np.eye(4), atol=1e-12)  # the loop is closed
    return ring(points, axes)


def sarrus():
    """Two hinged walls at right angles carry a plate straight up."""
    knees = [(0.5, 0.2, 0.8), (0.2, 0.5, 0.8)]
    parts = []
    for n, (foot, axis) in enumerate((((0, 0.2, 0), Y), ((0.2, 0, 0), X))):
        top = (foot[0], foot[1], 1.6)
        parts += [
            R("0", f"low {n}", foot, axis),
            R(f"low {n}", f"high {n}", knees[n], axis),
            R(f"high {n}", "plate", top, axis),
        ]
    return joined(*parts)


def spherical_four_bar():
    axes = [(1, 0, 0), (0.9, 0.4, 0.2), (0.3, 0.9, 0.4), (0, 1, 0.1)]
    return ring([np.array(axis) for axis in axes], axes)  # all axes meet at the origin


def rssr():
    return joined(
        R("0", "in", (0, 0, 0)),
        S("in", "rod", (0.3, 0.2, 0)),
        S("rod", "out", (1, 0.5, 0.7)),
        R("0", "out", (1, 0, 0.4), X),
    )


def rsur():
    u = U("rod", "out", (1, 0.5, 0.7), (0.2, 0.8, 0.1), np.cross((0.2, 0.8, 0.1), (1, 0, 0.3)))
    return joined(R("0", "in", (0, 0, 0)), S("in", "rod", (0.3, 0.2, 0)), u, R("0", "out", (1, 0, 0.4), X))


def rccc():
    axes = [(0, 0, 1), (0.3, 0.1, 1), (0.2, -0.6, 0.9), (-0.5, 0.2, 1)]
    at = [(0, 0, 0), (1, 0, 0.3), (1.2, 1, 0.1), (0, 1.3, 0.2)]
    pairs = [("0", "a"), ("a", "b"), ("b", "c"), ("0", "c")]
    return joined(*((C if n else R)(*pairs[n], at[n], axes[n]) for n in range(4)))


def any_ring(count):
    random = np.random.default_rng(count)
    return ring(random.normal(size=(count, 3)), random.normal(size=(count, 3)))


def hexapod(first="universal"):
    parts = []
    for n in range(6):
        angle, turn = np.pi / 3 * n + 0.2 * (-1) ** n, np.pi / 3 * n - 0.25 * (-1) ** n
        foot, head = np.array((np.cos(angle), np.sin(angle), 0)), np.array((0.5 * np.cos(turn), 0.5 * np.sin(turn), 1))
        leg = head - foot
        across = np.cross(leg, Z)
        universal = U("0", f"low {n}", foot, across, np.cross(leg, across))
        parts.append(universal if first == "universal" else S("0", f"low {n}", foot))
        parts += [P(f"low {n}", f"high {n}", (foot + head) / 2, leg), S(f"high {n}", "platform", head)]
    return joined(*parts)


def three_rrr():
    parts = []
    for n in range(3):
        c, s = np.cos(2 * np.pi / 3 * n + 0.1), np.sin(2 * np.pi / 3 * n + 0.1)
        turn = np.array(((c, -s), (s, c)))
        foot, knee, head = (turn @ point for point in ((1, 0), (0.9, 0.5), (0.3, 0.1)))
        parts += [R("0", f"low {n}", foot), R(f"low {n}", f"high {n}", knee), R(f"high {n}", "platform", head)]
    return joined(*parts)


def three_rps():
    parts = []
    for n in range(3):
        c, s = np.cos(2 * np.pi / 3 * n), np.sin(2 * np.pi / 3 * n)
        foot, head = np.array((c, s, 0)), np.array((0.5 * c, 0.5 * s, 1))
        parts += [
            R("0", f"low {n}", foot, (-s, c, 0)),
            P(f"low {n}", f"high {n}", foot, head - foot),
            S(f"high {n}", "platform", head),
        ]
    return joined(*parts)


def delta():
    """Clavel's robot with ball joints at both ends of each rod."""
    parts = []
    for n in range(3):
        c, s = np.cos(2 * np.pi / 3 * n), np.sin(2 * np.pi / 3 * n)
        out, across = np.array((c, s, 0)), np.array((-s, c, 0))
        knee, wrist = 0.7 * out - 0.2 * Z, 0.15 * out - Z
        parts.append(R("0", f"arm {n}", 0.3 * out, across))
        for side in (-1, 1):
            parts += [
                S(f"arm {n}", f"rod {n} {side}", knee + 0.1 * side * across),
                S(f"rod {n} {side}", "platform", wrist + 0.1 * side * across),
            ]
    return joined(*parts)


def watt():
    return joined(
        R("0", "a", (0, 0)), R("a", "b", (0, 1)), R("b", "c", (1.5, 1.3)), R("0", "c", (1.2, 0)),
        R("b", "d", (1, 2)), R("d", "e", (2.5, 2)), R("c", "e", (2, 1)),
    )  # fmt: skip


def stephenson():
    return joined(
        R("0", "a", (0, 0)), R("a", "b", (0, 1)), R("b", "c", (1.5, 1.3)), R("0", "c", (1.2, 0)),
        R("b", "d", (1, 2)), R("d", "e", (2.5, 2)), R("0", "e", (2.6, 0)),
    )  # fmt: skip


def geared(model, *gears):
    for name, first, second, ratio in gears:
        model.gear(name, first, second, ratio=ratio)
    return model


def gear_train():
    model = joined(R("0", "a", (0, 0)), R("0", "b", (1, 0)), R("0", "c", (2, 0)))
    return geared(model, ("one", "0 0-a", "1 0-b", -2.0), ("two", "1 0-b", "2 0-c", -0.5))


def planetary(ring_held):
    parts = [
        R("0", "carrier", (0, 0)),
        R("carrier", "sun", (0, 0)),
        R("carrier", "planet", (1, 0)),
        R("carrier", "ring", (0, 0)),
    ]
    held = [("fixed", "0", "ring", (0, 0))] if ring_held else []
    model = joined(*parts, *held)
    return geared(
        model,
        ("inner", "1 carrier-sun", "2 carrier-planet", -1.0),
        ("outer", "2 carrier-planet", "3 carrier-ring", 1 / 3),
    )


def differential():
    model = joined(
        R("0", "cage", (0, 0, 0), X), R("cage", "left", (-1, 0, 0), X), R("cage", "right", (1, 0, 0), X),
        R("cage", "spider", (0, 0.5, 0), Y),
    )  # fmt: skip
    return geared(model, ("l", "1 cage-left", "3 cage-spider", 1.0), ("r", "2 cage-right", "3 cage-spider", -1.0))


def cardan():
    out = np.array((np.cos(0.5), np.sin(0.5), 0))
    return joined(R("0", "in", -X, X), U("in", "out", (0, 0, 0), Z, np.cross(Z, out)), R("0", "out", out, out))


def double_cardan(spline):
    middle = np.array((1.0, 0.4, 0.0))
    across = np.cross(Z, middle)
    halves = ("first", "second") if spline else ("first", "first")
    slide = [P("first", "second", middle / 2, middle)] if spline else []
    return joined(
        R("0", "in", -X, X), U("in", halves[0], (0, 0, 0), Z, across),
        *slide,
        U("out", halves[1], middle, Z, across), R("0", "out", middle + X, X),
    )  # fmt: skip


def scissors(stages):
    parts = [R("0", "a0", (0, 0)), P("0", "foot", (1, 0), X), R("foot", "b0", (1, 0))]
    for n in range(stages):
        parts.append(R(f"a{n}", f"b{n}", (0.5, 0.4 * n + 0.2)))
        if n + 1 < stages:  # b leans left at its top, a right
            parts += [R(f"b{n}", f"a{n + 1}", (0, 0.4 * (n + 1))), R(f"a{n}", f"b{n + 1}", (1, 0.4 * (n + 1)))]
    last, top = stages - 1, 0.4 * stages
    parts += [R(f"b{last}", "table", (0, top)), P("table", "head", (1, top), X), R("head", f"a{last}", (1, top))]
    return joined(*parts)


def pantograph():
    return joined(
        R("0", "long 1", (0, 0)), R("long 1", "long 2", (1, 2)), R("long 1", "short 1", (0.5, 1)),
        R("short 1", "short 2", (1, 0)), R("short 2", "long 2", (1.5, 1)),
    )  # fmt: skip


def peaucellier():
    A, B, inner, outer = (2, 0.8), (2, -0.8), (1.2, 0), (2.8, 0)
    return joined(
        R("0", "long 1", (0, 0)), R("0", "long 2", (0, 0)), R("long 1", "ai", A), R("long 1", "ao", A),
        R("long 2", "bi", B), R("long 2", "bo", B), R("crank", "ai", inner), R("ai", "bi", inner),
        R("ao", "bo", outer), R("0", "crank", (0.6, 0)),
    )  # fmt: skip


def klann():
    return joined(
        R("0", "crank", (0, 0)), R("crank", "coupler", (0.3, 0.1)), R("0", "rocker", (0.7, -0.4)),
        R("rocker", "coupler", (1, 0)), R("0", "upper", (0.7, 0.6)), R("upper", "leg", (1.4, 0.7)),
        R("coupler", "leg", (1.6, 0.1)),
    )  # fmt: skip


def jansen():
    top, knee, low = (-0.3, 0.5), (-0.75, 0.1), (-0.3, -0.4)
    return joined(
        R("0", "crank", (0.4, 0)), R("crank", "j", (0.5, 0.1)), R("crank", "k", (0.5, 0.1)), R("j", "triangle", top),
        R("0", "triangle", (0, 0)), R("k", "c", low), R("0", "c", (0, 0)), R("triangle", "f", knee),
        R("f", "foot", (-0.7, -0.5)), R("c", "foot", low),
    )  # fmt: skip


def andrews():
    """The topology of the seven-body mechanism; E carries three bars and the spring's."""
    O, F, E, G, H = (0, 0), (0.01, 0.02), (-0.03, 0.01), (-0.05, 0.03), (-0.05, -0.01)
    A, B = (-0.07, 0.0), (-0.036, 0.033)
    return joined(
        R("0", "K1", O), R("K1", "K2", F), R("K2", "K3", E), R("0", "K3", B), R("K3", "K4", E), R("K4", "K5", G),
        R("0", "K5", A), R("K3", "K6", E), R("K6", "K7", H), R("0", "K7", A),
    )  # fmt: skip


def screw_jack():
    screw = ("screw", "nut", "spindle", (0, 0, 0), Z, {"pitch": 0.01})
    return joined(R("0", "nut", (0, 0, 0)), screw, P("0", "spindle", (0, 0, 0), Z))


def oldham():
    return joined(
        R("0", "in", (0, 0)), P("in", "disc", (0, 0), X), P("disc", "out", (0.1, 0), Y), R("0", "out", (0.1, 0))
    )


def wobble_plate():
    tilted = (0.3, 0, 1)
    across = np.cross(Y, tilted)
    return joined(
        R("0", "shaft", (0, 0, 0)), R("shaft", "plate", (0, 0, 0), tilted), U("0", "plate", (0, 0, 0), across, Y)
    )


def wedges():
    return joined(P("0", "first", (0, 0), X), P("first", "second", (1, 0), (1, 1, 0)), P("0", "second", (1, 1), Y))


def triangle():
    return joined(R("0", "a", (0, 0)), R("a", "b", (1, 1)), R("0", "b", (2, 0)))


def hinged_box():
    walls = "abcd"
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    return joined(*(R(walls[n], walls[(n + 1) % 4], corners[n]) for n in range(4)))


def table(legs=((0, 0), (1, 0), (1, 1), (0, 1))):
    return joined(*(("point_on_plane", "0", "table", leg, Z) for leg in legs))


def maxwell_coupling():
    parts = []
    for n in range(3):
        c, s = np.cos(2 * np.pi / 3 * n), np.sin(2 * np.pi / 3 * n)
        parts += [("point_on_plane", "0", "plate", (c, s), (-s * k, c * k, 1)) for k in (-1, 1)]
    return joined(*parts)


def distances(count):
    model = ps.Model("held by bars")
    model.body("plate", BOX)
    feet, heads = (np.random.default_rng(n).normal(size=(count, 3)) for n in (1, 2))
    for n in range(count):
        model.distance(f"bar {n}", model.ground, "plate", at_a=feet[n], at_b=heads[n])
    return model


def thin_rods():
    """A mechanism whose bodies have no inertia about some axis, or about any."""
    model = ps.Model("thin")
    rod, point = ps.Inertia.rod(mass=1.0, length=1.0), ps.Inertia.point(mass=1.0)
    model.body("rod", rod, (0, 0, -0.5))
    model.body("bob", point, (0, 0, -1))
    model.spherical("pivot", model.ground, "rod", at=(0, 0, 0))
    model.spherical("end", "rod", "bob", at=(0, 0, -1))
    return model


def free_body():
    model = ps.Model("free")
    model.body("body", BOX)
    return model


# Mobility, redundant equations, and where the mobility stands or follows from; Hunt: Kinematic Geometry of Mechanisms;
# McCarthy & Soh: Geometric Design of Linkages; Merlet: Parallel Robots; Phillips: Freedom in Machinery.
KNOWN = {
    "free body": (free_body, 6, 0),  # six coordinates
    "pendulum": (lambda: joined(R("0", "a", (0, 0))), 1, 0),  # one revolute
    "double pendulum": (lambda: joined(R("0", "a", (0, 0)), R("a", "b", (1, 0))), 2, 0),  # an open chain: its joints'
    "door on two hinges": (door, 1, 5),  # the second hinge repeats the first (Phillips)
    "plane four-bar": (four_bar, 1, 3),  # Grübler in the plane; three more in space (Hunt)
    "four-bar with a ball and a cylinder": (lambda: four_bar("exact"), 1, 0),  # Kutzbach: exactly constrained
    "parallelogram that lies flat": (flat_parallelogram, 1, 3),  # as any four-bar, near the singular position
    "slider-crank": (slider_crank, 1, 3),  # Grübler
    "parallel five-bar": (five_bar_of_paper_002, 1, 7),  # Del Citto, Pennestrì, Vita: 1 and 7 redundant
    "chain of two four-bars": (four_bar_chain, 1, 6),  # IFToMM benchmark A02
    "chain of five four-bars": (lambda: four_bar_chain(5), 1, 15),  # the same
    "Bricard": (bricard, 1, 1),  # IFToMM benchmark A04: 30 equations of rank 29
    "Bennett": (bennett, 1, 3),  # Bennett 1903; 6 - 5 is lacking twice and the freedom besides
    "Sarrus": (sarrus, 1, 1),  # Sarrus 1853
    "spherical four-bar": (spherical_four_bar, 1, 3),  # McCarthy & Soh
    "RSSR": (rssr, 2, 0),  # the second is the coupler's idle rotation (Hunt)
    "RSUR": (rsur, 1, 0),  # Kutzbach
    "RCCC": (rccc, 1, 0),  # Kutzbach; Yang & Freudenstein 1964
    "any 7R": (lambda: any_ring(7), 1, 0),  # Kutzbach; Duffy & Crane 1980
    "any 6R": (lambda: any_ring(6), 0, 0),  # Kutzbach: a structure
    "Stewart platform 6-UPS": (hexapod, 6, 0),  # Merlet
    "Gough platform 6-SPS": (lambda: hexapod("spherical"), 12, 0),  # six more: legs turn idly (Merlet)
    "3-RRR in the plane": (three_rrr, 3, 6),  # Merlet
    "3-RPS": (three_rps, 3, 0),  # Hunt 1983
    "Delta robot": (delta, 9, 0),  # three translations, and the idle rotations of six rods (Clavel 1988)
    "Watt's six-bar": (watt, 1, 6),  # Grübler
    "Stephenson's six-bar": (stephenson, 1, 6),  # Grübler
    "gear train": (gear_train, 1, 0),  # fixed axes
    "planetary gear": (lambda: planetary(False), 2, 0),  # Willis: two of three speeds are free
    "planetary gear, ring held": (lambda: planetary(True), 1, 5),  # one speed; the ring's bearing is said twice
    "differential": (differential, 2, 0),  # the cage and the difference of both shafts
    "universal-joint shaft": (cardan, 1, 3),  # a spherical four-bar
    "double Hooke joint": (lambda: double_cardan(False), 1, 1),  # both centres rest on the fixed axes
    "double Hooke joint with a spline": (lambda: double_cardan(True), 1, 0),  # Kutzbach
    "scissor lift": (lambda: scissors(1), 1, 6),  # Grübler
    "scissor lift of three stages": (lambda: scissors(3), 1, 12),  # Grübler
    "pantograph": (pantograph, 2, 3),  # Grübler: follows a point of the plane
    "Peaucellier": (peaucellier, 1, 9),  # Peaucellier 1864
    "Klann's leg": (klann, 1, 6),  # a Stephenson chain
    "Jansen's leg": (jansen, 1, 9),  # eight bars
    "Andrews' squeezer": (andrews, 1, 9),  # seven bodies in the plane: one degree of freedom (IFToMM A03)
    "screw jack": (screw_jack, 1, 4),  # screws of one axis
    "Oldham coupling": (oldham, 1, 3),  # in the plane
    "wobble plate": (wobble_plate, 1, 3),  # a spherical four-bar
    "wedges": (wedges, 1, 4),  # translations in a plane
    "triangle": (triangle, 0, 3),  # a structure
    "hinged box that floats": (hinged_box, 7, 3),  # a four-bar, and six of the whole
    "table on four legs": (table, 3, 1),  # one leg too many
    "Maxwell's kinematic coupling": (maxwell_coupling, 0, 0),  # six contacts: exact constraint
    "plate on six bars": (lambda: distances(6), 0, 0),  # Gough's, its legs locked
    "plate on five bars": (lambda: distances(5), 1, 0),
    "plate on eight bars": (lambda: distances(8), 0, 2),
    "thin rods on balls": (thin_rods, 6, 0),  # joints count, whether anything resists them or not
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_mobility_and_redundant_equations(name):
    build, mobility, redundant = KNOWN[name]
    report = build().check()
    assert report.closed
    assert (report.mobility, len(report.redundant)) == (mobility, redundant)
    assert all(all(each.force + each.torque) for each in report.unique.values()) == (redundant == 0)
    assert report.singular == (name == "parallelogram that lies flat")


def flat_five_bar(angle):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(five_bar, "ANGLE", angle)
        return five_bar.build()


def flat_four_bar(*x):
    """Crank's pivot, pin, pin and pivot of the rocker, all on one line."""
    pairs = ("0", "a"), ("a", "b"), ("b", "c"), ("0", "c")
    return joined(*(R(*pair, (at, 0)) for pair, at in zip(pairs, x, strict=True)))


def flat_chain(loops):
    """Parallelograms in a row that lie flat."""
    parts = [R("0", f"crank {n}", (0.8 * n, 0)) for n in range(loops + 1)]
    for n in range(loops):
        parts += [R(f"crank {n}", f"rod {n}", (0.8 * n + 0.5, 0))]
        parts += [R(f"rod {n}", f"crank {n + 1}", (0.8 * n + 1.3, 0))]
    return joined(*parts)


def five_bar_with_a_pendulum(parent):
    """What moves whether the five-bar does or not."""
    model = flat_five_bar(pi / 2)
    model.body("bob", BOX, (0.4, 0.5, 0.1))
    model.revolute("bob's", model.ground if parent == "0" else parent, "bob", at=(0.4, 0, 0.1), axis=Z)
    return model


def two_five_bars():
    model, other = flat_five_bar(pi / 2), flat_five_bar(-pi / 2)
    for body in other.bodies.values():
        model.body(f"{body.name} 2", body.inertia, body.position + 2 * Z, orientation=body.rotation)
    for joint in other.joints.values():
        ends = [model.ground if end.name == "ground" else f"{end.name} 2" for end in (joint.a, joint.b)]
        model.revolute(f"{joint.name} 2", *ends, at=joint.at + 2 * Z, axis=Z)
    return model


def slider(pin, end, axis):
    return joined(R("0", "crank", (0, 0)), R("crank", "rod", pin), R("rod", "slider", end), P("0", "slider", end, axis))


def stretched_bars(*more):
    return joined(R("0", "a", (0, 0)), R("a", "b", (1, 0)), R("0", "b", (2, 0)), *more)


# Mobility and redundant equations of mechanisms that are drawn where branches of motion meet, or which stop dead there.
SINGULAR = {
    "five-bar, flat": (lambda: flat_five_bar(pi / 2), 1, 7),
    "five-bar, flat to the left": (lambda: flat_five_bar(-pi / 2), 1, 7),
    "five-bar and a pendulum": (lambda: five_bar_with_a_pendulum("0"), 2, 7),
    "five-bar and a pendulum on it": (lambda: five_bar_with_a_pendulum("coupler"), 2, 7),
    "two five-bars": (two_five_bars, 2, 14),
    "parallelogram": (flat_parallelogram, 1, 3),
    "two parallelograms in a row": (lambda: flat_chain(2), 1, 6),
    "three parallelograms in a row": (lambda: flat_chain(3), 1, 9),
    "rhombus": (lambda: flat_four_bar(0, 1, 2, 1), 1, 3),
    "rhombus, folded": (lambda: flat_four_bar(0, 1, 0, 1), 1, 3),
    "kite": (lambda: flat_four_bar(0, 1, 3, 1), 1, 3),
    "kite, folded": (lambda: flat_four_bar(0, 1, 0, 2), 1, 3),
    "four-bar at its change point": (lambda: flat_four_bar(0, -1, 2, 4), 1, 3),
    "equal crank and rod, across": (lambda: slider((0, 0.5), (0, 0), X), 1, 3),
    "crank and rod that cannot move": (lambda: slider((0.5, 0), (1, 0), Y), 1, 3),  # as any slider-crank
    "stretched bars": (stretched_bars, 0, 3),  # move at first order only
    "stretched bars and a pendulum": (lambda: stretched_bars(R("b", "p", (1.5, 0))), 1, 3),
}  # fmt: skip


def elsewhere(model, seed, length):
    """The same mechanism turned in space, its bodies and joints in another order, in other units of length."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    moved = ps.Model(model.name)
    bodies, joints = list(model.bodies.values()), list(model.joints.values())
    for body in (bodies[n] for n in random.permutation(len(bodies))):
        inertia = ps.Inertia(body.inertia.mass, length**2 * body.inertia.matrix)
        moved.body(body.name, inertia, length * (turn @ body.position), orientation=turn @ body.rotation)
    for joint in (joints[n] for n in random.permutation(len(joints))):
        ends = [moved.ground if end.name == "ground" else end.name for end in (joint.a, joint.b)]
        getattr(moved, joint.kind)(joint.name, *ends, at=length * (turn @ joint.at), axis=turn @ joint.axis)
    return moved


@pytest.mark.parametrize("name", SINGULAR)
def test_mobility_where_branches_meet(name):
    build, mobility, redundant = SINGULAR[name]
    described = [elsewhere(build(), seed, length) for seed, length in ((1, 1.0), (2, 1e3), (3, 1e-3))]
    for model in (build(), *described):
        report = model.check()
        assert (report.mobility, len(report.redundant), report.singular) == (mobility, redundant, True)


def test_a_dead_centre_is_not_singular_and_neither_is_bricard_s_linkage_anywhere_else():
    for build, redundant in ((lambda: slider((0.5, 0), (1.7, 0), X), 3), (bricard, 1)):
        for model in (build(), elsewhere(build(), 1, 1e3)):
            report = model.check()
            assert (report.mobility, len(report.redundant), report.singular) == (1, redundant, False)


@pytest.mark.parametrize("angle", [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
def test_mobility_is_the_same_beside_the_flat_position(angle):
    report = elsewhere(flat_five_bar(pi / 2 + angle), 1, 1.0).check()
    assert (report.mobility, len(report.redundant)) == (1, 7)


def test_redundant_equations_are_named_by_joint_and_direction():
    report = four_bar().check()
    assert {each.direction for each in report.redundant} == {
        "translation along z", "rotation about x", "rotation about y"
    }  # fmt: skip
    assert all(each.joint in report.joints for each in report.redundant)
    for each in report.unique.values():
        assert each.force == (True, True, False)
        assert each.torque == (False, False, True)
    assert "3 of 20 equations" in str(report)
    assert "force z, torque x y" in report.summary()


def test_drives_are_counted_apart_and_blamed_last():
    model = four_bar()
    model.drive("first", "0 0-crank", position="t")
    assert (model.check().mobility, model.check().driven) == (1, 1)
    assert len(model.check().redundant) == 3
    model.drive("second", "3 0-rocker", position="t")
    report = model.check()
    assert (report.mobility, report.driven) == (1, 2)
    assert sum(each.joint in report.drives for each in report.redundant) == 1
    assert report.residuals["second"].position == 0.0


def test_an_open_mechanism_is_reported_with_its_residuals():
    model = ps.Model("open")
    model.body("a", BOX, (1, 0, 0))
    model.body("b", BOX, (1, 1, 0))
    model.revolute("A", model.ground, "a", at=(0, 0, 0), axis=Z)
    model.revolute("B", "a", "b", at=(2, 0, 0), axis=Z)
    model.revolute("C", model.ground, "b", at=(0.5, 2, 0), axis=Z)
    model.drive("turn", "C", position="0.1 + t")
    report = model.check()
    assert not report.closed
    assert report.closable
    assert report.mobility == 0
    assert report.residuals["turn"].position == pytest.approx(0.1, abs=1e-12)
    assert report.residuals["A"].position == pytest.approx(0.0, abs=1e-12)
    assert 'drive "turn" is open by 0.1' in str(report)
    assert not model.frozen


def test_velocities_that_contradict_show_in_the_residuals():
    model = four_bar_chain(1)
    moving = ps.Model("moving")
    for name, body in model.bodies.items():
        moving.body(name, BOX, body.position, angular_velocity=(0, 0, 1.0) if "crank" in name else (0, 0, -3.0))
    for joint in model.joints.values():
        ends = [moving.ground if end.name == "ground" else end.name for end in (joint.a, joint.b)]
        moving.revolute(joint.name, *ends, at=joint.at, axis=Z)
    assert max(each.velocity for each in moving.check().residuals.values()) > 0.1
    with pytest.raises(ps.PoinsotError, match="the initial velocities contradict"):
        ps.simulate(moving, 0.1, step=0.01)


def test_what_is_singular_only_at_the_start_is_said():
    assert "singular at t = 0" in str(flat_parallelogram().check())
    assert "singular" not in str(four_bar().check())


def test_the_command_line_prints_the_same(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["check", "double-pendulum", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert not exit_.value.code
    assert printed == json.loads(json.dumps(ps.case("double-pendulum").check().as_json()))
    assert (printed["mobility"], printed["redundant"]) == (6, [])
    with pytest.raises(SystemExit) as exit_:
        main(["check", "double-pendulun"])
    assert exit_.value.code == 2
    assert "double-pendulum" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["check", "double-pendulum"])
    assert "6 degrees of freedom" in capsys.readouterr().out


def test_a_model_without_bodies_is_a_mistake():
    with pytest.raises(ps.PoinsotError, match="it has no body"):
        ps.Model("empty").check()
