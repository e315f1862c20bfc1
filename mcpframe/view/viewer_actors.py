"""What a viewer shows of a run: bodies and surroundings, contact points, forces; in a scene of viser.

Forces and points have the colour of the contact's mode. As in pictures, a force is the mean over a short
time, so that impacts are not missed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import Geometry, Plane
from mcpframe.simulation.recording.steps import Codes, Indices
from mcpframe.spatial.transforms import Pose, quaternion_from_rotation
from mcpframe.view.contact_marks import ContactMarks, contact_marks
from mcpframe.view.painting import EDGE, FIELD, GRID, LAST_LINK, LINK, LONGEST_ARROW, WORLD_BODY
from mcpframe.view.palette import CLUSTERS
from mcpframe.view.plots import MODE_COLOURS
from mcpframe.view.scenery import patch
from mcpframe.view.stage import Stage
from mcpframe.view.viewer_meshes import disc_of, solids

DISC, THIN, SHAFT, STICK, ANCHOR = 0.024, 0.003, 0.004, 0.008, 0.03
"""Over the scene's size: radius and thickness of contact points, which are discs that bodies do not hide;
radius of arrows; thickness of lines for links without shapes; edge of what holds links to the world.
"""
SEE_THROUGH = 0.45
"""Opacity of bodies where one wants to see through them."""
BEHIND = 2e-4
"""How far the grid on a plane is lifted from it, over the scene's size: else they flicker."""

Colour = tuple[int, int, int]


class Actors:
    """Bodies, contacts and forces of one run in a viser scene.

    Args:
        scene: of the server.
        stage: the run, its camera and region.
    """

    def __init__(self, scene: Any, stage: Stage) -> None:
        self.stage = stage
        self.points_visible = self.forces_visible = True
        self.force_scale = 1.0
        self._scene, self._size = scene, stage.region.size
        self._bodies: list[Any] = []
        self._link_bodies: list[list[Any]] = []
        self._marks: dict[str, tuple[int, Any]] = {}
        self._frames = [self._link(k) for k in range(stage.trajectory.model.n_links)]
        for i, geometry in enumerate(stage.trajectory.model.geometry):
            if not isinstance(geometry.shape, Plane):
                self._shape(f"/world/shape_{i}", geometry, WORLD_BODY)
        for i, plane in enumerate(stage.planes):
            self._plane(f"/world/plane_{i}", plane)
        self._hold()

    def show(self, k: int, seconds: float) -> ContactMarks:
        """Put everything where it is after step k; contacts are those of some time before it."""
        trajectory = self.stage.trajectory
        rotations, positions = trajectory.link_poses([k])
        for frame, rotation, position in zip(self._frames, rotations[0], positions[0], strict=True):
            frame.wxyz, frame.position = quaternion_from_rotation(rotation)[[3, 0, 1, 2]], position
        if trajectory.active_joints[k] >= 0:
            self._paint(trajectory.clusters_at(k))
        marks = contact_marks(trajectory, k, seconds)
        self._points(marks)
        self._forces(marks)
        self._sticks(positions[0])
        return marks

    def _paint(self, clusters: Indices) -> None:
        """Give the links of a rigid cluster one colour."""
        for bodies, cluster in zip(self._link_bodies, clusters.tolist(), strict=True):
            for body in bodies:
                body.color = rgb(CLUSTERS[cluster % len(CLUSTERS)])

    def see_through(self, wanted: bool) -> None:
        """Make bodies transparent, or not."""
        for body in self._bodies:
            body.opacity = SEE_THROUGH if wanted else None

    def _link(self, k: int) -> Any:
        link, last = self.stage.trajectory.model.links[k], self.stage.trajectory.model.n_links - 1
        name = f"/links/{_safe(link.name)}"
        frame, first = self._scene.add_frame(name, show_axes=False), len(self._bodies)
        for i, geometry in enumerate(link.geometry):
            self._shape(f"{name}/shape_{i}", geometry, LAST_LINK if k == last else LINK)
        self._link_bodies.append(self._bodies[first:])
        return frame

    def _shape(self, name: str, geometry: Geometry, colour: str) -> None:
        for i, solid in enumerate(solids(geometry.shape)):
            body = self._scene.add_mesh_simple(
                f"{name}_{i}",
                solid.vertices,
                solid.faces,
                color=rgb(colour, solid.brightness),
                flat_shading=solid.flat,
                side="double",  # scales of meshes may mirror them
                **_place(geometry.pose),
            )
            self._bodies.append(body)

    def _plane(self, name: str, pose: Pose) -> None:
        """Add the part of a plane below what moves, with a grid."""
        others = [plane for plane in self.stage.planes if plane is not pose]
        corners, lines = patch(pose, self.stage.region, others)
        fan = np.array([(0, i, i + 1) for i in range(1, len(corners) - 1)])
        self._scene.add_mesh_simple(
            name, corners, fan, color=rgb(FIELD), side="double", flat_shading=True, cast_shadow=False
        )
        if lines:
            lifted = np.array(lines) + BEHIND * self._size * pose.rotation[:, 2]
            self._scene.add_line_segments(
                f"{name}_grid", lifted, rgb(GRID), thickness=1.5, thickness_units="screen"
            )

    def _hold(self) -> None:
        """Mark where hinges hold links to the world, and what holds several."""
        edge = ANCHOR * self._size
        for i, point in enumerate(self.stage.anchors):
            self._scene.add_box(f"/world/anchor_{i}", color=rgb(EDGE), dimensions=(edge,) * 3, position=point)
        if len(self.stage.frame):
            self._scene.add_line_segments(
                "/world/frame", self.stage.frame, rgb(WORLD_BODY), thickness=edge / 2.0
            )

    def _points(self, marks: ContactMarks) -> None:
        disc = disc_of(DISC * self._size, THIN * self._size)
        add = partial(
            self._scene.add_batched_meshes_simple, vertices=disc.vertices, faces=disc.faces, lod="off"
        )
        self._put(
            "/contacts/points",
            partial(add, cast_shadow=False),
            len(marks.point),
            batched_wxyzs=upright(marks.normal),
            batched_positions=marks.point,
            batched_colors=mode_colours(marks.mode),
            visible=self.points_visible and len(marks.point) > 0,
        )

    def _forces(self, marks: ContactMarks) -> None:
        points, forces, modes = marks.arrows()
        full = self.stage.full_force
        size = np.maximum(np.linalg.norm(forces, axis=1, keepdims=True), full or 1.0)
        ends = points + forces / size * LONGEST_ARROW * self._size * self.force_scale
        thick = SHAFT * self._size
        add = partial(self._scene.add_arrows, shaft_radius=thick, head_radius=2.5 * thick)
        self._put(
            "/contacts/forces",
            partial(add, head_length=6.0 * thick),
            len(points),
            points=np.stack([points, ends], axis=1),
            colors=mode_colours(modes),
            visible=self.forces_visible and full > 0.0 and len(points) > 0,
        )

    def _put(self, name: str, add: Callable[..., Any], count: int, **now: Any) -> None:
        """Move marks that are there; make them anew only where their number changes.

        A browser takes longer to make a mark than a picture lasts: made anew in each, it would never be seen.
        """
        before, mark = self._marks.get(name, (-1, None))
        if before == count:
            for field, value in now.items():
                setattr(mark, field, value)
        else:
            self._marks[name] = count, add(name, **now)

    def _sticks(self, positions: Array) -> None:
        lines = self.stage.lines(positions)
        if len(lines):
            thick = STICK * self._size
            self._scene.add_line_segments("/links/lines", lines, rgb(EDGE), thickness=thick)


def mode_colours(modes: Codes) -> NDArray[np.uint8]:
    """Return the colours of contacts by mode [m, 3], 0 to 255."""
    table = np.array([rgb(MODE_COLOURS[mode]) for mode in range(len(MODE_COLOURS))], dtype=np.uint8)
    chosen: NDArray[np.uint8] = table[modes]
    return chosen


def upright(normals: Array) -> Array:
    """Return quaternions (w, x, y, z) [m, 4] that turn z to unit normals [m, 3]: half way there, twice."""
    x, _, z = np.eye(3)
    half = np.where(normals[:, 2:] > -1.0 + 1e-9, normals + z, x)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    a, b, c = half.T
    return np.column_stack([c, -b, a, np.zeros(len(half))])


def rgb(colour: str, brightness: float = 1.0) -> Colour:
    """Return red, green and blue, 0 to 255, of a colour written #rrggbb."""
    red, green, blue = (round(brightness * int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return red, green, blue


def _place(pose: Pose) -> dict[str, Array]:
    return {"wxyz": pose.quaternion()[[3, 0, 1, 2]], "position": pose.position}


def _safe(name: str) -> str:
    """Return a name without the slashes that viser takes for a path."""
    return name.replace("/", "_")
