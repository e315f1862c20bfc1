"""A stage: what is where in pictures of a run, all from one camera and at one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.shapes import Geometry, HeightField, Plane
from mcpframe.simulation.recording.steps import NONE, Indices
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.spatial.transforms import Pose
from mcpframe.view.camera import Camera, view_of
from mcpframe.view.contact_marks import ContactMarks, contact_marks
from mcpframe.view.outlines import Face, faces, reach
from mcpframe.view.scenery import Region, ground, is_edge_on, is_near, patch

MARGIN = 0.06
"""Share of the picture's size left free around what moves, and taken by the ground below it."""
FULL = 90.0
"""Percentile of the forces that gets the longest arrow."""
HELD_TOGETHER = 0.5
"""Share of the scene's size up to which two anchors are taken to be on one frame."""
SMALLEST = 1e-3
"""Metres that a picture shows at least."""

Body = tuple[int, list[Face]]
"""Index of a link, -1 for the world, and what is seen of one of its shapes."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Pictures of a run at some steps.

    Attributes:
        trajectory: the run.
        frames: steps that are shown, at least one.
        flash: seconds before a step of which contacts are shown.
        view: the camera; None takes one that suits the motion.
    """

    trajectory: Trajectory
    frames: Indices
    flash: float
    view: Camera | None = None

    @cached_property
    def camera(self) -> Camera:
        """The camera: from the side where all links move in one vertical plane."""
        return view_of(self.poses[1]) if self.view is None else self.view

    @cached_property
    def poses(self) -> tuple[Array, Array]:
        """Rotations [m, n_links, 3, 3] and positions [m, n_links, 3] of the links."""
        return self.trajectory.link_poses(self.frames)

    @cached_property
    def marks(self) -> list[ContactMarks]:
        """Contacts of every picture."""
        return [contact_marks(self.trajectory, int(k), self.flash) for k in self.frames]

    @cached_property
    def full_force(self) -> float:
        """The force that gets the longest arrow, N; those of impacts would leave nothing to see of others."""
        sizes = np.concatenate([np.linalg.norm(marks.force, axis=1) for marks in self.marks])
        return float(np.percentile(sizes[sizes > 0.0], FULL)) if (sizes > 0.0).any() else 0.0

    @cached_property
    def bodies(self) -> list[list[Body]]:
        """What is seen of the links in every picture, those in front last."""
        return [self._seen(list(self._shapes(i))) for i in range(len(self.frames))]

    @cached_property
    def scenery(self) -> list[Body]:
        """What is seen of the world's shapes, but for planes."""
        shapes = [(NONE, geometry, geometry.pose) for geometry in self.trajectory.model.geometry]
        return self._seen(shapes)

    @cached_property
    def grounds(self) -> list[Array]:
        """Parts of the window that planes seen edge-on fill [k, 2]."""
        return [ground(pose, self.camera, self.window) for pose in self._edges]

    @cached_property
    def grids(self) -> list[tuple[Array, list[Array]]]:
        """Patches of the other planes, each with the lines of a grid, in the picture."""
        patches = [
            patch(pose, self.region, [p for p in self.planes if p is not pose]) for pose in self._fields
        ]
        project = self.camera.project
        return [(project(corners), [project(line) for line in lines]) for corners, lines in patches]

    @cached_property
    def region(self) -> Region:
        """The part of the world that the links are in."""
        balls = [
            (pose.position, reach(geometry.shape))
            for i in range(len(self.frames))
            for _, geometry, pose in self._shapes(i)
        ]
        return _region(balls, self.poses[1].reshape(-1, 3))

    @cached_property
    def whole(self) -> Region:
        """The region, with those shapes of the world that are not larger: a table, but not a landscape."""
        balls = [(g.pose.position, reach(g.shape)) for g in self.trajectory.model.geometry]
        small = [(centre, radius) for centre, radius in balls if 0.0 < radius <= self.region.size]
        return _region(small, np.array([self.region.low, self.region.high]))

    @cached_property
    def window(self) -> Array:
        """Corners of the picture, around; metres to the right and up [4, 2]."""
        shown = [corners for bodies in self.bodies for _, seen in bodies for corners, _ in seen]
        spots = np.concatenate(
            [
                *shown,
                *(corners for corners, _ in self.grids),
                self.camera.project(self.poses[1].reshape(-1, 3)),
            ]
        )
        low, high = spots.min(axis=0), spots.max(axis=0)
        margin = max(MARGIN * float((high - low).max()), SMALLEST)
        low, high = low - margin, high + margin
        for pose in self._edges:
            low, high = self._with_ground(low, high, pose, margin)
        return np.array([low, (high[0], low[1]), high, (low[0], high[1])])

    @property
    def size(self) -> Array:
        """Width and height of the picture, m."""
        extent: Array = self.window[2] - self.window[0]
        return extent

    @cached_property
    def anchors(self) -> Array:
        """Where hinges hold links to the world [k, 3]."""
        roots = [link for link in self.trajectory.model.links if link.parent == WORLD]
        held = [link.pose.position for link in roots if link.hinge.kind not in ("free", "locked")]
        return np.array(held).reshape(-1, 3)

    @cached_property
    def frame(self) -> Array:
        """Lines between anchors that are near each other: what holds several links [m, 2, 3]."""
        pairs = np.array(list(combinations(self.anchors, 2))).reshape(-1, 2, 3)
        near = np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1) <= HELD_TOGETHER * self.region.size
        held: Array = pairs[near]
        return held

    def sticks(self, i: int) -> Array:
        """Return lines from parents to links without shapes in the i-th picture [m, 2, 2]."""
        return self.camera.project(self.lines(self.poses[1][i]))

    def lines(self, places: Array) -> Array:
        """Return lines from parents to links without shapes [m, 2, 3], the links being at places [n, 3]."""
        model = self.trajectory.model
        bare = [k for k, link in enumerate(model.links) if not link.geometry]
        starts = [
            model.links[k].pose.position if model.parents[k] < 0 else places[model.parents[k]] for k in bare
        ]
        ends = zip(starts, places[bare], strict=True)
        return np.array([(start, end) for start, end in ends]).reshape(-1, 2, 3)

    def _shapes(self, i: int) -> Iterator[tuple[int, Geometry, Pose]]:
        """Return link, shape and place of all shapes of the links in the i-th picture."""
        rotations, positions = self.poses
        for k, link in enumerate(self.trajectory.model.links):
            pose = Pose(positions[i, k], rotations[i, k])
            yield from ((k, geometry, pose @ geometry.pose) for geometry in link.geometry)

    def _seen(self, shapes: list[tuple[int, Geometry, Pose]]) -> list[Body]:
        order = np.argsort([self._depth(geometry, pose) for _, geometry, pose in shapes], kind="stable")
        return [(shapes[j][0], faces(shapes[j][1].shape, shapes[j][2], self.camera)) for j in order]

    def _depth(self, geometry: Geometry, pose: Pose) -> float:
        """Return how near a shape is to the camera; what stands on a heightfield is in front of it."""
        return -np.inf if isinstance(geometry.shape, HeightField) else float(self.camera.depth(pose.position))

    def _with_ground(self, low: Array, high: Array, pose: Pose, margin: float) -> tuple[Array, Array]:
        """Return the corners of a window moved so that it shows some of the ground."""
        normal, point = self.camera.project(np.array([pose.rotation[:, 2], pose.position]))
        lowest = np.where(normal > 0.0, low, high)
        shift = -normal * max(float(normal @ (lowest - point)) + margin, 0.0)
        return low + np.minimum(shift, 0.0), high + np.maximum(shift, 0.0)

    @cached_property
    def planes(self) -> list[Pose]:
        """Planes of the world that come near the links."""
        world = self.trajectory.model.geometry
        poses = [geometry.pose for geometry in world if isinstance(geometry.shape, Plane)]
        return [pose for pose in poses if is_near(pose, self.region)]

    @property
    def _edges(self) -> list[Pose]:
        return [pose for pose in self.planes if is_edge_on(pose, self.camera)]

    @property
    def _fields(self) -> list[Pose]:
        """Planes that are seen from the side where the bodies are."""
        towards = self.camera.axes[2]
        return [p for p in self.planes if not is_edge_on(p, self.camera) and p.rotation[:, 2] @ towards > 0.0]


def _region(balls: list[tuple[Array, float]], points: Array) -> Region:
    """Return the box about balls, given by centre and radius, and points [m, 3]."""
    spots = [centre + side * radius for centre, radius in balls for side in (-1.0, 1.0)]
    every = np.concatenate([np.array(spots).reshape(-1, 3), points])
    return Region(every.min(axis=0), every.max(axis=0))
