"""The least reactions of redundant mechanisms against dense linear algebra, and against exact mechanisms."""

import numpy as np
import pytest
from mechanism import textbook
from mechanism.trees import GRAVITY
from scipy.integrate import simpson

import poinsot as ps
from poinsot.mechanism.build import build
from poinsot.mechanism.reactions import Reactions

BAR = ps.Inertia.box(mass=1.0, size=(0.5, 0.1, 0.05))
# An orthogonal frame that is not the world's, so that no direction of a plane mechanism is a world axis ...
SLANTED = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
SLANTED *= np.linalg.det(SLANTED)
# ... and one that keeps x, so that a spherical joint's own axes leave the plane's normal as it moves.
TILTED = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])


def bar(model, name, ends, R):
    """A bar between two points of the plane that R turns."""
    start, end = (np.array([*point, 0.0]) for point in ends)
    along = (end - start) / np.linalg.norm(end - start)
    axes = np.column_stack((along, np.cross((0.0, 0.0, 1.0), along), (0.0, 0.0, 1.0)))
    return model.body(name, BAR, R @ (start + end) / 2.0, orientation=R @ axes)


def four_bar(R=SLANTED, last="revolute", crank=(0.3, 0.4)):
    """A plane four-bar with its last joint of some kind; a crank that starts to turn by itself."""
    model = ps.Model("four-bar", gravity=GRAVITY)
    points = [(0.0, 0.0), crank, (1.0, 0.9), (1.2, 0.0)]
    bodies = [bar(model, name, points[n : n + 2], R) for n, name in enumerate(("crank", "coupler", "rocker"))]
    axis = R[:, 2]
    at = [R @ np.array([*point, 0.0]) for point in points]
    model.revolute("A", model.ground, bodies[0], at=at[0], axis=axis)
    model.revolute("B", bodies[0], bodies[1], at=at[1], axis=axis)
    with_axis = {"axis": axis} if last in ("revolute", "cylindrical") else {}
    getattr(model, last)("C", bodies[1], bodies[2], at=at[2], **with_axis)
    model.revolute("D", model.ground, bodies[2], at=at[3], axis=axis)
    return model


def bricard():
    """Six rods along a cube's edges (IFToMM A04): one redundant equation, in directions that change."""
    model = ps.Model("bricard", gravity=(0.0, -9.81, 0.0))
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = ("y", "z", "x", "y", "z", "x")
    rod = ps.Inertia.box(mass=1.0, size=(1.0, 0.1, 0.1))
    bodies = [model.ground]
    for n in range(5):
        along = P[n + 1] - P[n]
        other = np.roll(along, 1)
        R = np.column_stack((along, other, np.cross(along, other)))
        bodies.append(model.body(f"rod {n + 1}", rod, (P[n] + P[n + 1]) / 2.0, orientation=R))
    for n in range(6):
        axis = np.eye(3)["xyz".index(axes[n])]
        model.revolute(f"P{n}", bodies[n], bodies[(n + 1) % 6], at=P[n], axis=axis)
    return model


def with_gear_and_screw():
    """Two wheels in two bearings each, meshing; a nut that a slide keeps from turning: redundant in many ways."""
    model = ps.Model("wheels", gravity=GRAVITY)
    wheel = ps.Inertia.cylinder(mass=2.0, radius=0.2, length=0.1)
    first, second = (model.body(f"wheel {n}", wheel, (0.5 * n, 0.1, 0.0)) for n in range(2))
    nut = model.body("nut", BAR, (0.0, 0.0, 0.6))
    for n, body in enumerate((first, second)):
        model.revolute(f"bearing {n}", model.ground, body, at=(0.5 * n, 0.1, -0.2), axis=(0, 0, 1))
        model.cylindrical(f"steady {n}", model.ground, body, at=(0.5 * n, 0.1, 0.2), axis=(0, 0, 1))
    model.gear("mesh", "bearing 0", "bearing 1", ratio=-1.0)
    model.screw("thread", first, nut, at=(0.0, 0.1, 0.6), axis=(0, 0, 1), pitch=0.02)
    model.prismatic("slide", model.ground, nut, at=(0.2, 0.1, 0.6), axis=(0, 0, 1))
    model.motor("engine", "bearing 0", torque="3*cos(t)")
    return model


MODELS = {
    "slanted four-bar": four_bar,
    "tilted four-bar with a ball": lambda: four_bar(TILTED, "spherical"),
    "bricard": bricard,
    "wheels": with_gear_and_screw,
}


def gradients(model, run, s):
    """One row per equation of the joints, in reactions and on the bodies: the textbook's, no kernel's.

    Left: what the joint shows (force, torque/L); right: what every body feels about its centre (force, torque/L).
    """
    instant = instant_of(run, s)
    row = {name: n for n, name in enumerate(model.bodies)}
    L = build(model).size
    rows = []
    for joint in model.joints.values():
        if joint.kind == "gear":
            pairs = [(joint.joint_b, 1.0), (joint.joint_a, -joint.ratio)]
            units = [[(part, np.zeros(3), f * textbook.turned(instant, part.a, part.axis)) for part, f in pairs]]
        else:
            # what does no work on any freedom: (force, torque/L) across all (u, L w)
            free = [np.concatenate((u, L * w)) for w, u, _ in textbook.freedoms(joint, instant)]
            held = np.linalg.svd(np.array(free).reshape(-1, 6))[2][len(free) :]
            units = [[(joint, unit[:3], L * unit[3:])] for unit in held]
        for unit in units:
            shown, on_bodies = np.zeros(6), np.zeros((len(row), 6))
            shown[:3], shown[3:] = unit[0][1], unit[0][2] / L
            for part, force, torque in unit:
                point, _ = textbook.rigid_point(instant, part.b, part.at)
                for body, sign in ((part.b, 1.0), (part.a, -1.0)):
                    if body.name in row:
                        arm = point - instant.position[body.name]
                        on_bodies[row[body.name], :3] += sign * force
                        on_bodies[row[body.name], 3:] += sign * (torque + np.cross(arm, force)) / L
            rows.append((joint.name, shown, on_bodies.ravel()))
    return [name for name, *_ in rows], *(np.array(part) for part in list(zip(*rows, strict=True))[1:]), L


def instant_of(run, s):
    """One instant of a run as the textbook reads it."""
    arrays = run.arrays
    return Recorded(
        {name: dict(zip(run.bodies, arrays[name][s], strict=True)) for name in ("position", "rotation", "velocity")},
        run.time[s],
        dict(zip(run.bodies, arrays["angular_velocity"][s], strict=True)),
        dict(zip(run.joints, arrays["joint_position"][s].reshape(len(run.joints), -1), strict=True)),
        dict(zip(run.joints, arrays["joint_velocity"][s].reshape(len(run.joints), -1), strict=True)),
    )


class Recorded:
    """What the textbook reads of an instant; the ground rests."""

    def __init__(self, motion, time, angular_velocity, joint_position, joint_velocity):
        still = np.zeros(3)
        self.time = time
        self.position = motion["position"] | {"ground": still}
        self.rotation = motion["rotation"] | {"ground": np.eye(3)}
        self.velocity = motion["velocity"] | {"ground": still}
        self.angular_velocity = angular_velocity | {"ground": still}
        self.joint_position = {name: value[~np.isnan(value)] for name, value in joint_position.items()}
        self.joint_velocity = {name: value[~np.isnan(value)] for name, value in joint_velocity.items()}


def shown(run, s, L):
    """All reactions at an instant, torques over L."""
    return np.concatenate((run.arrays["reaction_force"][s], run.arrays["reaction_torque"][s] / L), axis=1)


@pytest.mark.parametrize("name", MODELS)
def test_reactions_are_the_least_and_masks_those_of_a_dense_decomposition(name):
    model = MODELS[name]()
    run = ps.simulate(model, 0.4, step=0.005)
    for s in (7, 40, 80):
        owners, units, G, L = gradients(model, run, s)
        weights = np.sum(units**2, axis=1)
        scaled = G.T / np.sqrt(weights)  # least |x| with scaled x = what the bodies feel
        _, values, Vt = np.linalg.svd(scaled)
        cancel = Vt[np.count_nonzero(values > 1e-8) :]
        assert len(cancel) == len(run.settings["redundant"]) > 0
        reactions = dict(zip(run.joints, shown(run, s, L), strict=True))
        x = np.array([reactions[owner] @ unit for owner, unit in zip(owners, units, strict=True)]) / np.sqrt(weights)
        assert np.abs(cancel @ x).max() <= 1e-10 * np.abs(x).max()  # nothing in it cancels: the dense pseudo-inverse's
        least = np.linalg.pinv(scaled, rcond=1e-8) @ (scaled @ x)
        np.testing.assert_allclose(x, least, rtol=0, atol=1e-10 * np.abs(x).max())
        for j, joint in enumerate(run.joints):
            here = [n for n, owner in enumerate(owners) if owner == joint]
            parts = np.abs((units[here] / np.sqrt(weights[here])[:, None]).T @ cancel[:, here].T).max(axis=1)
            found = np.concatenate([run.arrays[f"reaction_{kind}_unique"][s, j] for kind in ("force", "torque")])
            assert found.tolist() == (parts < 1e-7).tolist(), (joint, parts)


@pytest.mark.parametrize("name", MODELS)
def test_newton_and_euler_hold_with_the_least_reactions(name):
    model = MODELS[name]()
    run = ps.simulate(model, 0.4, step=0.005)
    for s in (0, 33, 80):
        instant = instant_of(run, s)
        wrenches = textbook.loads(model, instant)
        owners, units, G, L = gradients(model, run, s)
        reactions = dict(zip(run.joints, shown(run, s, L), strict=True))
        sizes = [reactions[owner] @ unit / (unit @ unit) for owner, unit in zip(owners, units, strict=True)]
        felt = np.array(sizes) @ G
        for (body_name, body), wrench in zip(model.bodies.items(), felt.reshape(-1, 6), strict=True):
            b = run.bodies.index(body_name)
            mass, J, w = body.inertia.mass, body.inertia.matrix, instant.angular_velocity[body_name]
            force = mass * (run.arrays["acceleration"][s, b] - model.gravity) - wrenches.force[body_name]
            spin = J @ run.arrays["angular_acceleration"][s, b] + np.cross(w, J @ w)
            torque = instant.rotation[body_name] @ spin - wrenches.torque[body_name]
            np.testing.assert_allclose(wrench, [*force, *torque / L], rtol=0, atol=1e-9 * max(1.0, np.abs(felt).max()))


def test_unique_components_stay_where_nothing_is_redundant():
    redundant = ps.simulate(four_bar(SLANTED), 0.5, step=0.002)
    assert len(redundant.settings["redundant"]) == 3
    # with a ball at C, and D free to slide along its axis, nothing is redundant
    model, original = ps.Model("exact", gravity=GRAVITY), four_bar(SLANTED)
    bodies = {
        name: model.body(name, BAR, body.position, orientation=body.rotation) for name, body in original.bodies.items()
    }
    for joint in original.joints.values():
        ends = [bodies.get(end.name, model.ground) for end in (joint.a, joint.b)]
        kind = {"C": "spherical", "D": "cylindrical"}.get(joint.name, "revolute")
        getattr(model, kind)(joint.name, *ends, at=joint.at, **({} if kind == "spherical" else {"axis": joint.axis}))
    exact = ps.simulate(model, 0.5, step=0.002)
    assert exact.settings["redundant"] == []
    assert exact.settings["degrees_of_freedom"] == 1
    assert exact.data["reaction_force_unique"].all()
    np.testing.assert_allclose(exact.arrays["position"], redundant.arrays["position"], rtol=0, atol=1e-11)
    # a slanted plane: forces in it and torques about its normal are unique, world components of both are not
    normal = SLANTED[:, 2]
    force = redundant.arrays["reaction_force"] - exact.arrays["reaction_force"]
    across = force - (force @ normal)[..., None] * normal
    assert np.abs(across).max() <= 1e-8 * np.abs(exact.arrays["reaction_force"]).max()
    assert not redundant.data["reaction_force_unique"].any()
    plane = ps.simulate(four_bar(np.eye(3)), 0.5, step=0.002)
    assert plane.data["reaction_force_unique"].all(("time", "joint")).values.tolist() == [True, True, False]
    assert plane.data["reaction_torque_unique"].all(("time", "joint")).values.tolist() == [False, False, True]


@pytest.mark.parametrize("name", MODELS)
def test_formulations_agree_on_the_least_reactions(name):
    runs = [
        ps.simulate(MODELS[name](), 0.3, rtol=1e-11, output_step=0.1, formulation=formulation)
        for formulation in ("recursive", "lie-dae")
    ]
    for kind in ("force", "torque"):
        first, second = (run.arrays[f"reaction_{kind}"] for run in runs)
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-7 * np.abs(first).max())
        first, second = (run.arrays[f"reaction_{kind}_unique"] for run in runs)
        np.testing.assert_array_equal(first, second)


def test_masks_and_drives_survive_a_file(tmp_path):
    model = four_bar()
    model.drive("crank drive", "A", position="0.5*t")
    run = ps.simulate(model, 0.1, step=0.01, events=["t - 0.05"])
    again = ps.load(run.save(tmp_path / "run.nc"))
    assert again.data.identical(run.data)
    assert again.data["reaction_torque_unique"].dtype == bool
    assert again.drives == ("crank drive",)
    moment = again.events[0].outputs
    assert moment.drive_force["crank drive"] == run.events[0].outputs.drive_force["crank drive"]
    assert not moment.reaction_force_unique["A"].any()


def test_nothing_is_flagged_and_no_drive_listed_without_loops():
    run = ps.simulate(ps.case("double-pendulum"), 0.1, step=0.01)
    assert run.data["reaction_force_unique"].all()
    assert "drive" not in run.data.dims
    assert run.settings["redundant"] == []


@pytest.mark.parametrize("joint", ["A", "B", "D"])
def test_drives_and_loads_do_the_work_that_energy_shows(joint):
    model = four_bar()
    model.drive("pull", joint, position="0.1*sin(3*t)")
    model.damper("oil", "B", damping=0.3)
    run = ps.simulate(model, 0.8, rtol=1e-11, output_step=0.001)
    loss = -0.3 * run.data["joint_velocity"].sel(joint="B").values ** 2
    power = run.arrays["drive_power"][:, 0] + loss
    energy = run.arrays["energy"]
    work = np.array([simpson(power[: s + 1], x=run.time[: s + 1]) for s in range(100, 801, 100)])
    np.testing.assert_allclose(work, energy[100::100] - energy[0], rtol=0, atol=1e-8)
    reaction = run.data["reaction_torque"].sel(joint=joint).values @ SLANTED[:, 2]
    assert (
        np.abs(reaction).max() <= 1e-9 * np.abs(run.arrays["drive_force"]).max()
    )  # the drive's torque is not the joint's


def test_a_balanced_drive_exerts_the_static_moment():
    model = ps.Model("arm", gravity=(0.0, 0.0, -9.81))
    model.body("arm", BAR, (0.5, 0.0, 0.0))
    model.revolute("hinge", model.ground, "arm", at=(0, 0, 0), axis=(0, -1, 0))
    model.drive("hold", "hinge", position=0.0)
    run = ps.simulate(model, 0.1, step=0.01)
    np.testing.assert_allclose(run.data["drive_force"].sel(drive="hold"), 9.81 * 0.5, rtol=1e-12)
    np.testing.assert_allclose(run.arrays["drive_power"], 0.0, atol=1e-12)


def test_fill_stays_small_along_a_chain():
    model = ps.Model("chain of four-bars", gravity=(0.0, -9.81, 0.0))
    n = 20
    crank = [bar(model, f"crank {k}", ((k, 0.0), (k + 0.6, 0.8)), np.eye(3)) for k in range(n + 1)]
    for k in range(n + 1):
        model.revolute(f"ground {k}", model.ground, crank[k], at=(k, 0, 0), axis=(0, 0, 1))
    for k in range(n):
        rod = bar(model, f"rod {k}", ((k + 0.6, 0.8), (k + 1.6, 0.8)), np.eye(3))
        model.revolute(f"left {k}", crank[k], rod, at=(k + 0.6, 0.8, 0), axis=(0, 0, 1))
        model.revolute(f"right {k}", rod, crank[k + 1], at=(k + 1.6, 0.8, 0), axis=(0, 0, 1))
    layout = build(model)
    plan = Reactions(layout).plan
    # Of each body 6 unknowns, 6 limits and blocks of 36: its own, and two that it shares.
    assert plan.scalars.size <= 120 * len(model.bodies) + 32
    run = ps.simulate(model, 0.05, step=0.005)
    assert len(run.settings["redundant"]) == 3 * n
    assert run.settings["degrees_of_freedom"] == 1
