"""Two motions with large rotations in space, and how far a simulation of them is from the truth."""

import numpy as np
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot.cases import free_body


def spatial_chain():
    """Three unlike links on ball joints, each turned at random and spinning about all of its axes."""
    rng = np.random.default_rng(5)
    model = ps.Model("spatial chain")
    above, hinge = model.ground, np.zeros(3)
    for i in range(3):
        turned = Rotation.random(rng=rng)
        arm = turned.apply([0.1, 0.05, -0.5])
        link = ps.Inertia.box(mass=1.0 + 0.5 * i, size=(0.3, 0.2, 1.0))
        spin = 3.0 * rng.normal(size=3)
        body = model.body(f"link {i}", link, hinge + arm, orientation=turned, angular_velocity=spin)
        model.spherical(f"joint {i}", above, body, at=hinge)
        above, hinge = body, hinge + 2.0 * arm
    return model


def free_body_error(t_end, **settings):
    """The largest error of a rotation matrix of the tumbling box, against the closed form."""
    run = ps.simulate(ps.case("free-body"), t_end, **settings)
    return np.abs(run.arrays["rotation"][:, 0] - free_body.motion(run.time)[0]).max()


def chain_error(t_end, **settings):
    """The largest error of a rotation matrix of the chain, against much tighter tolerances."""
    model = spatial_chain()
    run = ps.simulate(model, t_end, **settings)
    output_step = settings.get("output_step") or settings["step"]
    reference = ps.simulate(model, t_end, rtol=1e-13, atol=1e-14, method="dop853", output_step=output_step)
    np.testing.assert_array_equal(run.time, reference.time)
    return np.abs(run.arrays["rotation"] - reference.arrays["rotation"]).max()


def slope(steps, errors):
    """The exponent of the power law through the errors."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]
