"""Random heaps of bodies that touch, for impacts: balls, and boxes side by side."""

import numpy as np

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere

FLOOR = (Geometry(Plane()),)
DT = 1e-7


def ball(name, mass, radius):
    inertia = 0.4 * mass * radius**2 * np.eye(3)
    return mf.Link(name, mass=mass, inertia=inertia, geometry=Geometry(Sphere(radius)))


def place_ball(rng, centres, radii, radius):
    """Return a centre that touches one of the balls, and often the floor, and overlaps none; None if not."""
    j, towards = rng.integers(len(centres)), rng.normal(size=3)
    reach = radius + radii[j]
    centre = centres[j] + reach * towards / np.linalg.norm(towards)
    if rng.random() < 0.4:
        up, angle = radius - centres[j][2], rng.uniform(0.0, 2.0 * np.pi)
        aside = np.sqrt(max(reach**2 - up**2, 0.0))
        centre = centres[j] + [aside * np.cos(angle), aside * np.sin(angle), up]
    apart = np.linalg.norm(np.array(centres) - centre, axis=1) - radius - radii[: len(centres)]
    return centre if centre[2] >= radius - 1e-12 and (apart >= -1e-12).all() else None


def heap(seed, restitution, mu, order=None, **stepping):
    """Two to six balls, the first on the floor, each touching another, with random rates; no gravity.

    Args:
        seed: of the heap.
        restitution: a number for all pairs, or None for random ones.
        mu: friction.
        order: in which the model has the balls.
        stepping: settings.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    radii, masses, rates = rng.uniform(0.3, 0.6, n), rng.uniform(0.5, 3.0, n), rng.normal(size=(n, 6))
    centres = [np.array([0.0, 0.0, radii[0]])]
    while len(centres) < n:
        centre = place_ball(rng, centres, radii, radii[len(centres)])
        if centre is not None:
            centres.append(centre)
    order = np.arange(n) if order is None else order(n)
    model = mf.Model([ball(f"b{i}", masses[i], radii[i]) for i in order], gravity=(0, 0, 0), geometry=FLOOR)
    theta = np.concatenate([[*centres[i], 0, 0, 0, 1] for i in order])
    material = mf.Material(mu, rng.uniform() if restitution is None else restitution)
    way = mf.Stepping(**{"dt": DT, **stepping})
    return mf.Scene(model, theta=theta, theta_dot=rates[order].ravel(), materials=material, stepping=way)


def cradle(speeds, order, e=1.0, **stepping):
    """Balls on pins far above that touch in a row along x; `order`: in which the model has them."""
    links, radius, length = [], 0.1, 10.0
    for i in order:
        shape = Geometry(Sphere(radius), mf.Pose((0, 0, -length)))
        pose = mf.Pose((2 * radius * i, 0, length))
        bob = {"mass": 1.0, "com": (0, 0, -length), "inertia": 1e-9 * np.eye(3), "geometry": shape}
        links.append(mf.Link(f"b{i}", hinge=mf.Hinge("pin", (0, -1, 0)), pose=pose, **bob))
    model = mf.Model(links, gravity=(0, 0, 0))
    rates = np.array(speeds, dtype=float)[list(order)] / length
    way = mf.Stepping(**{"dt": 1e-6, **stepping})
    return mf.Scene(model, theta_dot=rates, materials=mf.Material(0.0, e), stepping=way)


def boxes(n, order, **stepping):
    """Boxes dropped side by side, tilted, that never touch each other."""
    links, theta = [], []
    turns = mf.Pose.from_rpy(rpy=(0.3, 0.2, 0.1)), mf.Pose.from_rpy(rpy=(0.1, -0.3, 0.4)), mf.Pose()
    for i in order:
        box = Geometry(Box((0.2, 0.1, 0.1)))
        links.append(mf.Link(f"b{i}", mass=1.0, inertia=np.diag([1, 2, 2]) * 1e-3, geometry=box))
        theta.append([1.0 * i, 0, 0.12 + 0.02 * i, *quaternion(turns[i % 3].rotation)])
    model = mf.Model(links, gravity=(0, 0, -9.81), geometry=FLOOR)
    way = mf.Stepping(**{"dt": 1e-3, **stepping})
    return mf.Scene(model, theta=np.concatenate(theta), materials=mf.Material(0.5, 0.0), stepping=way)


def quaternion(rotation):
    """Return x, y, z, w of a rotation by less than half a turn."""
    w = 0.5 * np.sqrt(1.0 + np.trace(rotation))
    R = rotation
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 4.0 * w * w]) / (4.0 * w)
