"""Pairs of shapes for tests of detection, and oracles that know nothing of how distances are found.

The signed distance of two convex bodies is their largest separation over all directions n,

    D = max over |n| = 1 of  n . (x_A - x_B) - reach_B(n) - reach_A(-n),

also where they overlap; `reach` is how far a body extends from its origin. So a contact whose normal has the
separation that its gap says is no deeper than claimed, and searching many directions for a larger one says
whether it is too deep.
"""

import numpy as np
from scipy.optimize import brentq

from mcpframe.contact.detection import Detector, Material
from mcpframe.multibody import Link, Model
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere
from mcpframe.spatial.transforms import Pose

EXACT = 1e-12
"""Rounding of closed forms on bodies of about a metre."""
REACHED = 1e-8
"""Patches may leave the deepest point out where a corner is within 1e-9 of the size of it."""

GAP, MU, RESTITUTION = 16, 17, 18


def free_link(name, shape, *, pose=None, body_name=""):
    """A free body of a kilogram that wears a shape."""
    geometry = Geometry(shape, Pose() if pose is None else pose, body_name)
    return Link(name, mass=1.0, inertia=np.eye(3), geometry=geometry)


class Found:
    """Contacts of two shapes at given poses: `first` is B and `second` is A."""

    def __init__(self, first, second):
        self.shapes = first, second
        self.model = Model([free_link("first", first), free_link("second", second)])
        self.detector = Detector(self.model, materials={"default": Material(mu=0.5, restitution=0.25)})
        self.poses = ()

    def at(self, pose_first, pose_second, margin=10.0):
        self.poses = pose_first, pose_second
        theta = [np.concatenate([pose.position, pose.quaternion()]) for pose in self.poses]
        state = self.model.state(np.concatenate(theta))
        self.contacts = self.detector.contacts(state, margin)
        self.record, self.key = self.contacts.record, self.detector.key.copy()
        self.gap, self.n, self.point = self.record[:, GAP], self.record[:, 4:7], self.record[:, :3]
        return self

    @property
    def deepest(self):
        return int(self.gap.argmin())

    def separation(self, n):
        """Separation along directions [k, 3]."""
        n = np.atleast_2d(n)
        (first, second), (pose_b, pose_a) = self.shapes, self.poses
        apart = n @ (pose_a.position - pose_b.position)
        return apart - reach(first, n @ pose_b.rotation) - reach(second, -n @ pose_a.rotation)


def random_pose(rng, spread=1.0, upright=0.2):
    """A pose with a random turn, or now and then none."""
    q = rng.standard_normal(4) if rng.random() > upright else np.array([0.0, 0.0, 0.0, 1.0])
    return Pose.from_quaternion(spread * rng.uniform(-1.0, 1.0, 3), q / np.linalg.norm(q))


def random_shape(rng, kind):
    """A shape of about a metre."""
    if kind is Plane:
        return Plane()
    if kind is Sphere:
        return Sphere(rng.uniform(0.1, 1.0))
    if kind is Ellipsoid:
        return Ellipsoid(rng.uniform(0.1, 1.0, 3))
    if kind is Box:
        return Box(rng.uniform(0.1, 2.0, 3))
    return kind(rng.uniform(0.1, 0.8), rng.uniform(0.1, 2.0))


def reach(shape, d):
    """How far a shape extends along directions [k, 3] in its axes."""
    if isinstance(shape, Sphere):
        return np.full(len(d), shape.radius)
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(d * shape.radii, axis=1)
    if isinstance(shape, Box):
        return np.abs(d) @ (np.array(shape.size) / 2.0)
    if isinstance(shape, Plane):
        return np.where(d[:, 2] > 1.0 - 1e-12, 0.0, np.inf)
    sides = shape.radius * (np.hypot(d[:, 0], d[:, 1]) if isinstance(shape, Cylinder) else 1.0)
    return sides + shape.length / 2.0 * np.abs(d[:, 2])


def largest_separation(found, rng, starts=20000, rounds=40, near=200):
    """Search for the direction with the largest separation: many, then around the best ones, ever closer."""
    n = unit(rng.standard_normal((starts, 3)))
    best = n[np.argsort(found.separation(n))[-8:]]
    width = 0.05
    for _ in range(rounds):
        tried = unit(best[:, None] + width * rng.standard_normal((len(best), near, 3)))
        tried = np.concatenate([best[:, None], tried], axis=1)
        values = found.separation(tried.reshape(-1, 3)).reshape(len(best), -1)
        best = tried[np.arange(len(best)), values.argmax(axis=1)]
        width *= 0.6
    return float(found.separation(best).max())


def unit(n):
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def signed_distance(shape, pose, x):
    """Signed distance of a point from a shape, from the textbook formula."""
    q = pose.rotation.T @ (np.asarray(x) - pose.position)
    if isinstance(shape, Plane):
        return q[2]
    if isinstance(shape, Sphere):
        return np.linalg.norm(q) - shape.radius
    if isinstance(shape, Capsule):
        q = q - [0.0, 0.0, np.clip(q[2], -shape.length / 2.0, shape.length / 2.0)]
        return np.linalg.norm(q) - shape.radius
    if isinstance(shape, Ellipsoid):
        return _ellipsoid_distance(np.array(shape.radii), q)
    if isinstance(shape, Cylinder):
        d = np.array([np.hypot(q[0], q[1]) - shape.radius, abs(q[2]) - shape.length / 2.0])
    else:
        d = np.abs(q) - np.array(shape.size) / 2.0
    return np.linalg.norm(np.maximum(d, 0.0)) + min(d.max(), 0.0)


def _ellipsoid_distance(a, y):
    """Signed distance of a point from an ellipsoid: the root of its equation by a bracketing search."""
    low = -(a.min() ** 2) * (1.0 - 1e-12)
    root = brentq(
        lambda s: ((a * y / (a**2 + s)) ** 2).sum() - 1.0, low, 10.0 * (1.0 + y @ y + a @ a), xtol=1e-15
    )
    nearest = a**2 * y / (a**2 + root)
    return np.copysign(np.linalg.norm(y - nearest), root)
