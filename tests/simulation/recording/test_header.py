"""A header brings back the model: the same links, shapes and poses, without the model's file."""

import json

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import FileFormatError, ProblemError, shapes
from mcpframe.simulation.recording.header import Header, geometry_from, geometry_table

POSE_TOLERANCE = 1e-14
"""Axes are normalised once more when a model is read back, which may change their last bit."""


def brought_back(header):
    return Header.from_texts(header.texts(), "here")


@pytest.mark.parametrize("name", ["pendulum", "branched_tree", "dual_arm", "four_bar", "quadruped", "box"])
def test_links_stand_where_they_stood(name, rng):
    model = mf.systems.make(name)
    again = brought_back(Header(model)).model
    assert [link.name for link in again.links] == [link.name for link in model.links]
    theta, rates = model.random_theta(rng), rng.standard_normal(model.n_dofs)
    one, other = model.state(theta, rates), again.state(theta, rates)
    for a, b in zip(one.link_poses(), other.link_poses(), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=POSE_TOLERANCE)
    assert one.kinetic_energy() == pytest.approx(other.kinetic_energy(), rel=1e-12)
    assert one.potential_energy() == pytest.approx(other.potential_energy(), rel=1e-12)


def test_every_kind_of_hinge_comes_back(rng):
    model = mf.Model()
    for kind in ("pin", "prismatic", "cylindrical", "planar", "ball", "free", "locked"):
        model.add_link(kind, "world", mf.Hinge(kind, (1, 2, 2)), mass=1.0, inertia=np.eye(3))
    model.add_link(
        "universal", "pin", mf.Hinge("universal", (1, 0, 0), (0, 1, 0)), mass=1.0, inertia=np.eye(3)
    )
    again = brought_back(Header(model)).model
    theta = model.random_theta(rng)
    np.testing.assert_allclose(
        model.state(theta).link_poses()[1], again.state(theta).link_poses()[1], rtol=0, atol=POSE_TOLERANCE
    )


@pytest.mark.parametrize(
    "shape",
    [
        shapes.Sphere(0.1),
        shapes.Box((1, 2, 3)),
        shapes.Capsule(0.1, 1 / 3),
        shapes.Cylinder(0.1, 0.2),
        shapes.Plane(),
        shapes.Mesh("hand.stl", (1, -1, 1)),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_every_shape_comes_back(shape):
    placed = shapes.Geometry(shape, mf.Pose.from_rpy((1, 2, 3), (0.1, 0.2, 0.3)), "part")
    again = geometry_from(json.loads(json.dumps(geometry_table(placed))))
    assert (again.shape, again.name) == (shape, "part")
    assert again.pose.rotation.tobytes() == placed.pose.rotation.tobytes()
    assert again.pose.position.tobytes() == placed.pose.position.tobytes()


def test_frames_scene_options_and_seed_come_back():
    model = mf.systems.pendulum(links=2)
    model.add_frame("tip", "link_2", mf.Pose((0, 0, -1)))
    header = Header(model, "dt = 1e-3\n# μ", {"solver": "lemke", "dt": 1e-3}, 5, ("lemke",))
    again = brought_back(header)
    assert (again.scene, again.options, again.seed) == (header.scene, header.options, 5)
    assert again.solvers == ("lemke",)
    assert again.versions == header.versions
    assert again.versions.keys() >= {"python", "mcpframe", "numpy"}
    assert again.link_names == ("link_1", "link_2")
    assert again.model.frames["tip"][0] == 1
    assert [geometry.name for geometry in again.model.geometry] == ["floor", "wall"]


def test_options_that_json_cannot_hold_are_refused():
    with pytest.raises(ProblemError, match="options: cannot be written as JSON"):
        Header(mf.systems.pendulum(links=1), options={"solver": object()}).texts()


@pytest.mark.parametrize("change", [{"model": "{}"}, {"seed": "{"}, {"model": '{"links": [{"kind": 1}]}'}])
def test_a_damaged_header_is_refused_by_file(change):
    with pytest.raises(FileFormatError, match=r"run\.h5: its header cannot be read"):
        Header.from_texts({**Header(mf.systems.pendulum(links=1)).texts(), **change}, "run.h5")
