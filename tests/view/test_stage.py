"""All pictures of a stage share a camera and a window that shows everything."""

import numpy as np
import pytest
from runs import header, steps

import mcpframe as mf
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.camera import Camera
from mcpframe.view.stage import Stage


@pytest.fixture(scope="module")
def stage():
    about = header()
    return Stage(Trajectory(about, steps(about.model, 30)), np.array([0, 10, 29]), 0.05)


def still(model, theta=None):
    rest = np.zeros((1, model.n_dofs))
    theta = model.neutral() if theta is None else theta
    return Trajectory(Header(model), StepBlock(time=[0.0], theta=[theta], theta_dot=rest))


def test_the_pendulum_is_seen_from_the_side(stage):
    assert stage.camera == Camera(-90.0, 0.0)
    assert [len(bodies) for bodies in stage.bodies] == [3, 3, 3]


def test_the_window_shows_every_body_and_some_ground(stage):
    low, high = stage.window[0], stage.window[2]
    for bodies in stage.bodies:
        for _, faces in bodies:
            for corners, _ in faces:
                assert (corners > low).all()
                assert (corners < high).all()
    assert low[1] < 0.0, "the floor is within reach"
    assert len(stage.grounds) == 2, "floor and wall"


def test_another_camera_sees_grids_instead_of_ground(stage):
    other = Stage(stage.trajectory, stage.frames, 0.05, Camera(-120.0, 30.0))
    assert other.grounds == []
    assert len(other.grids) == 2
    for corners, lines in other.grids:
        assert (corners >= other.window[0]).all()
        assert lines
    behind_the_wall = Stage(stage.trajectory, stage.frames, 0.05, Camera(-60.0, 30.0))
    assert len(behind_the_wall.grids) == 1


def test_what_is_in_front_is_drawn_last():
    model = mf.Model(name="balls")
    for name, y in (("near", -1.0), ("far", 1.0), ("middle", 0.0)):
        model.add_link(
            name, mass=1.0, inertia=np.eye(3), geometry=Geometry(Sphere(0.1)), pose=mf.Pose((0, y, 0))
        )
    seen = Stage(still(model), np.array([0]), 0.0, Camera(-90.0, 0.0)).bodies[0]
    assert [model.links[k].name for k, _ in seen] == ["far", "middle", "near"]


def test_shapes_of_the_world_are_scenery_but_planes_are_not():
    world = (Geometry(Plane()), Geometry(Box((1, 1, 1)), mf.Pose((2, 0, 0.5))))
    model = mf.Model(
        [mf.Link("ball", mass=1.0, inertia=np.eye(3), geometry=Geometry(Sphere(0.5)))], geometry=world
    )
    scenery = Stage(still(model), np.array([0]), 0.0, Camera(-90.0, 0.0)).scenery
    assert sum(len(faces) for _, faces in scenery) == 1


def test_the_whole_scene_has_tables_but_no_landscapes():
    world = (Geometry(Plane()), Geometry(Box((1, 1, 1)), mf.Pose((3, 0, 0))), Geometry(Box((99, 99, 1))))
    ball = mf.Link("ball", mass=1.0, inertia=np.eye(3), geometry=Geometry(Sphere(0.5)))
    stage = Stage(still(mf.Model([ball], geometry=world)), np.array([0]), 0.0)
    assert stage.region.high.tolist() == [0.5, 0.5, 0.5]
    np.testing.assert_allclose(stage.whole.high, [3.0 + np.sqrt(0.75), np.sqrt(0.75), np.sqrt(0.75)])


def test_links_without_shapes_are_lines_to_their_parents():
    bare = mf.Model(
        [
            mf.Link(
                "upper", hinge=mf.Hinge("pin", (0, 1, 0)), pose=mf.Pose((0, 0, 3)), mass=1.0, com=(0, 0, -1)
            ),
            mf.Link(
                "lower", "upper", mf.Hinge("pin", (0, 1, 0)), mf.Pose((0, 0, -1)), mass=1.0, com=(0, 0, -1)
            ),
        ]
    )
    stage = Stage(still(bare), np.array([0]), 0.0, Camera(-90.0, 0.0))
    np.testing.assert_allclose(stage.sticks(0)[1], [(0, 3), (0, 2)], atol=1e-15)
    assert (stage.size > 0.0).all()
    np.testing.assert_allclose(stage.anchors, [(0, 0, 3)], atol=1e-15)
    assert len(stage.frame) == 0, "one anchor needs no frame"


def test_anchors_near_each_other_are_on_one_frame():
    arms = Stage(still(mf.systems.dual_arm()), np.array([0]), 0.0)
    assert (len(arms.anchors), len(arms.frame)) == (3, 3), "head and shoulders"
    far = mf.Model(
        [
            mf.Link(f"bar_{x}", "world", mf.Hinge("pin"), mf.Pose((x, 0, 1)), 1.0, (0, 0, 0), np.eye(3))
            for x in (0.0, 9.0)
        ]
    )
    assert len(Stage(still(far), np.array([0]), 0.0).frame) == 0


def test_free_bodies_have_no_anchor():
    assert len(Stage(still(mf.systems.box()), np.array([0]), 0.0).anchors) == 0


def test_most_forces_are_not_longer_than_the_longest_arrow(stage):
    sizes = np.concatenate([np.linalg.norm(marks.force, axis=1) for marks in stage.marks])
    assert 0.0 < stage.full_force <= sizes.max()
    assert Stage(still(mf.systems.box()), np.array([0]), 0.0).full_force == 0.0
