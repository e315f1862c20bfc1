"""Shapes are checked values."""

import numpy as np
import pytest

from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from mcpframe.spatial.transforms import Pose


def test_shapes_are_values():
    assert Sphere(1) == Sphere(1.0)
    assert hash(Box([1, 2, 3])) == hash(Box((1.0, 2.0, 3.0)))
    assert Capsule(0.1, 1) != Cylinder(0.1, 1)
    assert Plane() == Plane()
    assert Mesh("hand.stl").scale == (1.0, 1.0, 1.0)
    with pytest.raises(AttributeError):
        Sphere(1.0).radius = 2.0


@pytest.mark.parametrize(
    "make",
    [
        lambda size: Sphere(size),
        lambda size: Box((1.0, size, 1.0)),
        lambda size: Capsule(1.0, size),
        lambda size: Ellipsoid((1.0, size, 1.0)),
        lambda size: Cylinder(size, 1.0),
        lambda size: Cylinder(1.0, size),
    ],
    ids=["sphere", "box", "capsule length", "ellipsoid radii", "cylinder radius", "cylinder length"],
)
@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf, "wide", None, (1.0, 2.0)])
def test_lengths_are_positive_numbers(make, size):
    with pytest.raises(ModelError, match="radius|radii|length|size"):
        make(size)


@pytest.mark.parametrize("radius", [-1.0, np.nan, np.inf, "wide", None, (1.0, 2.0)])
def test_a_capsule_may_be_a_segment(radius):
    assert Capsule(0.0, 1.0).radius == 0.0
    with pytest.raises(ModelError, match="radius"):
        Capsule(radius, 1.0)


@pytest.mark.parametrize("size", [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0), 1.0, None])
def test_a_box_has_three_edges(size):
    with pytest.raises(ModelError, match="three numbers"):
        Box(size)


def test_a_mesh_may_be_mirrored_but_not_flattened():
    assert Mesh("hand.stl", (1, -1, 1)).scale == (1.0, -1.0, 1.0)
    with pytest.raises(ModelError, match="scale of zero"):
        Mesh("hand.stl", (1, 0, 1))
    with pytest.raises(ModelError, match="path"):
        Mesh("")


def test_geometry_places_a_shape():
    geometry = Geometry(Sphere(0.1), Pose((1, 2, 3)), "ball")
    assert geometry.pose.position.tolist() == [1, 2, 3]
    assert Geometry(Plane()).pose.position.tolist() == [0, 0, 0]
    with pytest.raises(ModelError, match="not a shape"):
        Geometry("sphere")
    with pytest.raises(ModelError, match="not a Pose"):
        Geometry(Plane(), (1, 2, 3))
