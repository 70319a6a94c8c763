"""Short runs of everything that kernels do, to be compared between compiled and plain Python."""

import json
import math
import sys

import numpy as np

import poinsot as ps


@ps.load
def drag(t, body, coefficient, growth):
    v = body.velocity
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-12)
    k = -coefficient * (1.0 + growth * t) * speed
    return (k * v[0], k * v[1], k * v[2]), (0.0, 0.0, ps.select(body.angular_velocity[2] > 0.0, -0.1, 0.1))


@ps.load
def magnets(t, a, b, strength):
    r = (b.position[0] - a.position[0], b.position[1] - a.position[1], b.position[2] - a.position[2])
    f = strength * np.exp(-t) / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    pull, back = (f * r[0], f * r[1], f * r[2]), (-f * r[0], -f * r[1], -f * r[2])
    return (pull, (0.0, 0.0, 0.0)), (back, (0.0, 0.0, 0.0))


def waving(t):
    return math.sin(3.0 * t), 0.5 * math.cos(t), -t


def all_loads():
    """An arm of several kinds of joint under every kind of load."""
    model = ps.Model("arm")
    box = ps.Inertia.box(mass=2.0, size=(0.2, 0.3, 1.0))
    model.body("base", box, (0.0, 0.0, 0.5), angular_velocity=(0.0, 0.0, 2.0))
    model.body("arm", box, (0.4, 0.0, 1.2))
    model.body("slider", box, (0.9, 0.1, 1.3), velocity=None)
    model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.2), (1.5, 0.5, 0.0), angular_velocity=(1.0, 2.0, 3.0))
    model.revolute("turn", model.ground, "base", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.universal("wrist", "base", "arm", at=(0.1, 0.0, 1.0), axis=(1.0, 0.0, 0.0))
    model.screw("rail", "arm", "slider", at=(0.6, 0.0, 1.2), axis=(1.0, 0.2, 0.0), pitch=0.1)
    model.motor("drive", "turn", torque="2*sin(5*t) - 0.1*velocity + where(t > 0.02, 1, exp(-t))")
    model.force("pull", "arm", force=("t**2", 1.5, "max(sin(t), abs(t - 1))"), at=(0.5, 0.1, 1.2))
    model.force("wave", "ball", force=waving, frame="body")
    model.torque("twist", "slider", torque=(lambda t: 1.0 + t, lambda t: 2.0 - t, 0.0))
    model.spring("rope", "slider", "ball", stiffness=30.0, damping=0.5)
    model.torsion_spring("coil", "turn", stiffness=3.0, rest=0.1)
    model.damper("grease", "wrist", damping=(0.2, 0.3))
    model.load("air", drag, "ball", coefficient=0.3, growth=2.0)
    model.load("attraction", magnets, "slider", "ball", strength=2.0)
    return model


def crank():
    """A crank and a rod whose point slides along a slope: a loop, with an equation more than it takes."""
    model = ps.Model("crank")
    bar = ps.Inertia.box(mass=1.0, size=(0.1, 0.1, 0.5))
    model.body("crank", bar, (0.0, 0.0, 0.25), angular_velocity=(0.0, 3.0, 0.0))
    model.body("rod", bar, (0.0, 0.0, 0.75))
    model.revolute("pivot", model.ground, "crank", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    model.revolute("pin", "crank", "rod", at=(0.0, 0.0, 0.5), axis=(0.0, 1.0, 0.0))
    model.point_on_line("slide", model.ground, "rod", at=(0.0, 0.0, 1.0), axis=(1.0, 0.0, 1.0))
    return model


def stop_after():
    return ps.Event(lambda t, outputs: t - 0.05, terminal=True)


def results():
    """Everything that is recorded at the end of each run, by name."""
    runs = {
        "double pendulum": ps.simulate(ps.case("double-pendulum"), 0.1, rtol=1e-8),
        "satellite": ps.simulate(ps.case("dual-spin-satellite"), 0.5, step=0.1, method="dopri5", output_step=0.07),
        "arm": ps.simulate(all_loads(), 0.05, step=0.01, method="rk4", output_step=0.013),
        "arm, high order": ps.simulate(
            all_loads(), 0.02, step=0.01, method="dop853", output_step=0.003, stabilize="none"
        ),
    }
    kick = ps.Event("t - 0.02", restart=True)
    watched = ['joint_position["rail"] - 0.001', lambda t, outputs: outputs.joint_velocity["wrist"][0] - t, kick]
    stop = ps.Event('angular_velocity["ball"].x - 1', terminal=True)
    for method, options in (("gauss2", {"iteration": "newton"}), ("radau5", {}), ("generalized-alpha", {})):
        runs[f"satellite, {method}"] = ps.simulate(
            ps.case("dual-spin-satellite"), 0.2, step=0.1, method=method, output_step=0.07, **options
        )
    for variant in ("minimal", "independent-accelerations", "reduced"):
        runs[f"crank, {variant}"] = ps.simulate(crank(), 0.1, step=0.05, formulation="qtz", qtz=variant)
    runs["arm, watched"] = ps.simulate(all_loads(), 0.05, step=0.01, method="rkmk4", events=[*watched, stop])
    runs["pendulum, stopped"] = ps.simulate(ps.case("double-pendulum"), 0.1, rtol=1e-8, events=[kick, stop_after()])
    return {
        name: {what: values.tolist() for what, values in run.arrays.items()}
        | {"steps": run.stats.steps, "events": [event.time for event in run.events]}
        for name, run in runs.items()
    }


if __name__ == "__main__":
    json.dump(results(), sys.stdout)
