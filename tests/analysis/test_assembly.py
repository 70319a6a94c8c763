"""Mechanisms that are drawn roughly in place, closed: far errors converge, what is kept stays, loads go with bodies."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poinsot as ps

BOX = ps.Inertia.box(mass=1.0, size=(0.5, 0.2, 0.1))
RNG = np.random.default_rng(7)


def torn(model, shift, turn, seed=0, still=()):
    """A model as drawn by somebody who places every body a little wrong; joints keep their places on the bodies.

    Sliders are not turned: a prismatic joint keeps the angle about its axis at which it is drawn.
    """
    rng = np.random.default_rng(seed)
    drawn = ps.Model(model.name)
    move = {"ground": (np.zeros(3), np.eye(3), np.zeros(3))}
    for name, body in model.bodies.items():
        d, T = rng.uniform(-1, 1, 3) * shift, Rotation.from_rotvec(rng.uniform(-1, 1, 3) * turn).as_matrix()
        d, T = d * (name not in still), T if name not in (*still, "slider") else np.eye(3)
        move[name] = body.position, T, body.position + d
        drawn.body(name, body.inertia, body.position + d, orientation=T @ body.rotation)

    def placed(point, end):
        center, T, new = move[end.name]
        return new + T @ (point - center)

    for joint in model.joints.values():
        ends = [drawn.ground if end.name == "ground" else end.name for end in (joint.a, joint.b)]
        apart = {"at_a": placed(joint.at, joint.a), "at_b": placed(joint.at, joint.b)}
        if joint.axis is not None:
            second = joint.axis if joint.second_axis is None else joint.second_axis
            apart |= {"axis_a": move[joint.a.name][1] @ joint.axis, "axis_b": move[joint.b.name][1] @ second}
        if joint.kind == "gear":
            drawn.gear(joint.name, joint.joint_a.name, joint.joint_b.name, ratio=joint.ratio)
        elif joint.kind == "distance":
            at_a, at_b = placed(joint.at_a, joint.a), placed(joint.at_b, joint.b)
            drawn.distance(joint.name, *ends, at_a=at_a, at_b=at_b)
        else:
            pitch = {"pitch": joint.pitch} if joint.kind == "screw" else {}
            getattr(drawn, joint.kind)(joint.name, *ends, **apart, **pitch)
    return drawn


def slider_crank():
    model = ps.Model("slider-crank")
    for name, place in (("crank", (0.15, 0.2, 0)), ("rod", (0.65, 0.2, 0)), ("slider", (1, 0, 0))):
        model.body(name, BOX, place)
    z = {"axis": (0, 0, 1)}
    model.revolute("A", model.ground, "crank", at=(0, 0, 0), **z)
    model.revolute("B", "crank", "rod", at=(0.3, 0.4, 0), **z)
    model.revolute("C", "rod", "slider", at=(1, 0, 0), **z)
    model.prismatic("D", model.ground, "slider", at=(1, 0, 0), axis=(1, 0, 0))
    return model


def rssr():
    model = ps.Model("rssr")
    for name, place in (("in", (0.1, 0.1, 0.1)), ("rod", (0.6, 0.4, 0.3)), ("out", (1, 0.2, 0.5))):
        model.body(name, BOX, place)
    model.revolute("A", model.ground, "in", at=(0, 0, 0), axis=(0, 0, 1))
    model.spherical("B", "in", "rod", at=(0.3, 0.2, 0))
    model.universal("C", "rod", "out", at=(1, 0.5, 0.7), axis=(0, 1, 0), second_axis=(1, 0, 0))
    model.revolute("D", model.ground, "out", at=(1, 0, 0.4), axis=(1, 0, 0))
    return model


def bricard():
    model = ps.Model("bricard")
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    for n in range(5):
        model.body(f"rod {n + 1}", BOX, (P[n] + P[n + 1]) / 2.0)
    names = [model.ground, *model.bodies, model.ground]
    for n, axis in enumerate(((0, 1, 0), (0, 0, 1), (1, 0, 0)) * 2):
        model.revolute(f"P{n}", names[n], names[n + 1], at=P[n], axis=axis)
    return model


def mixed():
    """Every other kind of joint in one chain with loops."""
    model = ps.Model("mixed")
    for n, place in enumerate(((0.5, 0, 0), (1, 0.5, 0), (1.5, 0.5, 0.5), (2, 0, 0.5))):
        model.body(f"body {n}", BOX, place)
    model.cylindrical("A", model.ground, "body 0", at=(0, 0, 0), axis=(1, 0, 0))
    model.screw("B", "body 0", "body 1", at=(1, 0, 0), axis=(0, 1, 0), pitch=0.1)
    model.planar("C", "body 1", "body 2", at=(1.2, 0.5, 0.2), axis=(0, 0, 1))
    model.fixed("D", "body 2", "body 3", at=(1.8, 0.2, 0.5))
    model.point_on_line("E", model.ground, "body 3", at=(2, 0, 1), axis=(0, 0, 1))
    model.point_on_plane("F", model.ground, "body 2", at=(1.5, 1, 0.5), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize("build", [slider_crank, rssr, bricard, mixed])
@pytest.mark.parametrize(("shift", "turn"), [(1e-3, 1e-3), (0.1, 0.1), (0.5, 0.5)])
def test_far_errors_converge(build, shift, turn):
    original = build()
    size = 0.5 if build is mixed else 1.0  # a welded or sliding body that is drawn askew stays so
    drawn = torn(original, size * shift, size * turn)
    before = drawn.check()
    assert not before.closed
    closed = drawn.assemble()
    report = closed.check()
    assert report.closed
    assert max(each.position for each in report.residuals.values()) <= 1e-10
    assert (report.mobility, len(report.redundant)) == (before.mobility, len(before.redundant))
    if build is not mixed:
        assert report.mobility == original.check().mobility
    for name, body in closed.bodies.items():  # what a joint holds of its bodies is where it was on them
        np.testing.assert_allclose(body.rotation.T @ body.rotation, np.eye(3), atol=1e-12)
        for joint in closed.joints.values():
            if joint.b.name == name:
                on_body = body.rotation.T @ (joint.at - body.position)
                first = drawn.bodies[name]
                drawn_at = drawn.joints[joint.name].at
                np.testing.assert_allclose(on_body, first.rotation.T @ (drawn_at - first.position), atol=1e-12)
    assert ps.simulate(closed, 0.02, step=0.005).position_error <= 1e-10


def test_small_errors_are_mended_by_small_movements():
    drawn = torn(slider_crank(), 0.01, 0.01)
    closed = drawn.assemble()
    moved = [np.linalg.norm(closed.bodies[name].position - body.position) for name, body in drawn.bodies.items()]
    assert 1e-4 < max(moved) < 0.03


def test_what_is_closed_stays_where_it_is():
    model = slider_crank()
    copy = model.assemble()
    assert copy is not model
    for name, body in model.bodies.items():
        np.testing.assert_array_equal(copy.bodies[name].position, body.position)
    assert copy.joints["A"].a is copy.ground
    assert copy.joints["B"].b is copy.bodies["rod"]


def test_kept_bodies_and_readings_stay():
    drawn = torn(slider_crank(), 0.1, 0.1, still=("crank",))
    crank = drawn.bodies["crank"]
    closed = drawn.assemble(keep=["crank"])
    np.testing.assert_array_equal(closed.bodies["crank"].position, crank.position)
    np.testing.assert_array_equal(closed.bodies["crank"].rotation, crank.rotation)
    by_reading = drawn.assemble(keep=drawn.joints["A"])
    assert by_reading.joints["A"].position[0] == pytest.approx(0.0, abs=1e-10)
    angle = np.arctan2(*(by_reading.bodies["crank"].rotation @ crank.rotation.T)[[1, 0], 0])
    assert angle == pytest.approx(0.0, abs=1e-9)
    drawn = torn(slider_crank(), 0.1, 0.1, still=("slider",))
    kept = drawn.assemble(keep="slider").bodies["slider"]
    assert kept.position.tolist() == drawn.bodies["slider"].position.tolist()


def test_drives_are_closed_and_readings_follow():
    model = slider_crank()
    model.drive("turn", "A", position="0.3 + t")
    with pytest.raises(ps.PoinsotError, match=r'drive "turn": it is open by 0\.3 rad'):
        ps.simulate(model, 0.1, step=0.01)
    closed = model.assemble()
    assert closed.joints["A"].position[0] == pytest.approx(0.3, abs=1e-10)
    assert closed.drives["turn"].joint is closed.joints["A"]
    slid = closed.bodies["slider"].position[0] - 1.0
    assert closed.joints["D"].position[0] == pytest.approx(slid, abs=1e-10)
    run = ps.simulate(closed, 0.1, step=0.01)
    np.testing.assert_allclose(run.data["joint_position"].sel(joint="A"), 0.3 + run.time, atol=1e-9)


def test_loads_go_with_their_bodies():
    model = slider_crank()
    model.spring("pull", model.ground, "slider", at_a=(2, 0, 0), at_b=(1.1, 0, 0), stiffness=10.0)
    model.force("push", "rod", force=(0, 1, 0), at=(0.65, 0.3, 0))
    model.damper("oil", "B", damping=0.1)
    model.drive("turn", "A", position="0.4")
    closed = model.assemble()
    slider, rod = closed.bodies["slider"], closed.bodies["rod"]
    np.testing.assert_allclose(closed.loads["pull"].at_b - slider.position, (0.1, 0, 0), atol=1e-9)
    np.testing.assert_allclose(rod.rotation.T @ (closed.loads["push"].at - rod.position), (0, 0.1, 0), atol=1e-9)
    assert closed.loads["push"].body is rod
    assert closed.loads["oil"].joint is closed.joints["B"]
    assert closed.loads["pull"].length == pytest.approx(0.9)


def test_what_cannot_be_closed_is_said_by_joint():
    model = slider_crank()
    model.drive("far", "D", position="3")
    with pytest.raises(ps.PoinsotError, match="cannot be closed near where it is drawn; what stays open") as error:
        model.assemble()
    assert 'joint "' in str(error.value) or 'drive "' in str(error.value)
    drawn = torn(slider_crank(), 0.05, 0.0)
    with pytest.raises(ps.PoinsotError, match="or keep less"):
        drawn.assemble(keep=["crank", "rod", "slider"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"at_a": (0, 0, 0), "axis": (0, 0, 1)}, "at_b is missing"),
        ({"at": (0, 0, 0), "at_a": (0, 0, 0), "at_b": (0, 0, 0), "axis": (0, 0, 1)}, "at is given, and at_a"),
        ({"at": (0, 0, 0), "axis_a": (0, 0, 1)}, "axis_b is missing"),
        ({"at": (0, 0, 0), "axis_a": (0, 0, 1), "axis_b": (0, 0, -1)}, "point against each other"),
        ({"at": (0, 0, 0), "axis": (0, 0, 1), "at_c": (0, 0, 0)}, 'no argument "at_c"; did you mean "at_'),
    ],
)
def test_mistaken_points_and_axes_are_said(arguments, sentence):
    model = ps.Model("mistaken")
    model.body("a", BOX)
    with pytest.raises(ps.PoinsotError, match=sentence):
        model.revolute("hinge", model.ground, "a", **arguments)


def test_other_mistakes_are_said():
    model = slider_crank()
    with pytest.raises(ps.PoinsotError, match='keep: there is no body or joint "cranck"; did you mean "crank"'):
        model.assemble(keep=["cranck"])
    with pytest.raises(ps.PoinsotError, match="it has no body"):
        ps.Model("empty").assemble()
    with pytest.raises(ps.PoinsotError, match=r"close the mechanism with model.assemble\(\)"):
        ps.simulate(torn(model, 0.01, 0.0), 0.1, step=0.01)
