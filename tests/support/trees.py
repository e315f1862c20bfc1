"""Random trees of links for tests: any hinges, any branching, several roots, physical inertias."""

import numpy as np

from mcpframe.multibody import Hinge, Link, Model, Node
from mcpframe.spatial.transforms import Pose

KINDS = ("pin", "prismatic", "cylindrical", "universal", "planar", "ball", "free", "locked")


def random_inertia(rng, size=0.5):
    """Inertia about the centre of mass of some cloud of points: every such matrix is physical."""
    points = size * rng.standard_normal((4, 3))
    points -= points.mean(axis=0)
    return sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)


def random_hinge(rng, kind, axes=None):
    """Return a hinge about any axis, or about one of some axes; the second axis is any."""
    axis = rng.standard_normal(3) if axes is None else axes[rng.integers(len(axes))]
    return Hinge(kind, axis, rng.standard_normal(3) if kind == "universal" else None)


def random_link(rng, name, parent, kind, armature=0.0, axes=None):
    return Link(
        name,
        parent,
        random_hinge(rng, kind, axes),
        Pose.from_rpy(rng.uniform(-1.0, 1.0, 3), rng.uniform(-3.0, 3.0, 3)),
        mass=rng.uniform(0.2, 3.0),
        com=rng.uniform(-0.5, 0.5, 3),
        inertia=random_inertia(rng),
        armature=armature * rng.uniform(0.5, 1.5),
    )


def random_tree(rng, n, kinds=KINDS, *, chain=False, root=None, extra_roots=0.0, armature=0.0, axes=None):
    """Return a model of n links whose hinges are drawn from kinds.

    Args:
        chain: every link hangs on the one before; otherwise on any before it.
        root: kind of the first hinge, drawn as the others unless given.
        extra_roots: share of links that begin a new tree.
        armature: size of the rotors' inertia.
        axes: where hinge axes are drawn from; any direction unless given.
    """
    model = Model(gravity=5.0 * rng.standard_normal(3))
    for k in range(n):
        on_world = k == 0 or rng.random() < extra_roots
        parent = "world" if on_world else f"link{k - 1 if chain else rng.integers(k)}"
        kind = root if root is not None and k == 0 else str(rng.choice(kinds))
        model.add_link(random_link(rng, f"link{k}", parent, kind, armature, axes))
    return model


def random_motion(rng, model):
    """Return random coordinates and rates."""
    return model.random_theta(rng), rng.standard_normal(model.n_dofs)


def random_nodes(rng, model, n_c):
    """Return nodes at random points of random links."""
    names = [model.links[k].name for k in rng.integers(model.n_links, size=n_c)]
    return [Node(name, rng.uniform(-0.5, 0.5, 3)) for name in names]
