"""The arrays of the stepping kernels: made for a number of contacts, made larger when more are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.limits import all_limits
from mcpframe.multibody.memory.loop_packing import dof_places
from mcpframe.multibody.memory.packing import aligned_zeros
from mcpframe.multibody.model.tree import Tree
from mcpframe.scene.scene import Scene
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.sizes import ShapeSizes
from mcpframe.solving.stages import CONTACT_ROWS, PROBLEM_HEAD, FormulationStages, SolverStage

Indices = NDArray[np.int64]

REMEMBERED = {
    "closed_keys": (at.CLOSED, at.N_CLOSED),
    "known_keys": (at.KNOWN_KEYS, at.N_KNOWN),
    "known_codes": (at.KNOWN_CODES, at.N_KNOWN),
    "taken_keys": (at.TAKEN_KEYS, at.N_TAKEN),
    "taken_modes": (at.TAKEN_MODES, at.N_TAKEN),
    "taken_bodies": (at.TAKEN_BODIES, at.N_TAKEN),
    "taken": (at.TAKEN, at.N_TAKEN),
}
"""Parts that go from one workspace to the next, and into checkpoints; and how many rows of them there are."""
FIGURES = {"residual": at.RESIDUAL, "drift": at.DRIFT}
MEMORY_COUNTS = tuple(range(at.MOVED, at.BY_AUTO + 1))
"""Figures since the last record."""


class Workspace:
    """IS, XS and what the formulation and the solver work on, for up to `capacity` contacts and limits.

    What the steps have to remember (what is closed, bases, impulses not recorded yet) comes along from a
    smaller one.
    """

    def __init__(
        self,
        tree: Tree,
        formulation: FormulationStages | None,
        solver: SolverStage | None,
        capacity: int,
        n_shapes: int,
        n_loop_rows: int,
    ) -> None:
        self.capacity, self.rows = capacity, 1 if formulation is None else formulation.rows_each
        n_z = n_loop_rows + capacity * self.rows
        none = np.zeros(1, dtype=np.int64), np.zeros(1)
        self.IR, self.XR = none if formulation is None else formulation.room(capacity)
        self.W, self.IW = none[::-1] if solver is None else solver.room(n_z)
        self.IP = np.zeros(PROBLEM_HEAD + capacity * CONTACT_ROWS, dtype=np.int64)
        self.codes = np.zeros(2 * n_z, dtype=np.int8)
        self._counts = {
            "touching": capacity,
            "taken": at.TAKEN_ROOM * capacity,
            "changed": at.N_CHANGED,
            "figures": at.N_FIGURES,
            "row": n_z,
            "dof": tree.coordinates.n_dofs,
            "theta": tree.coordinates.n_theta,
            "shape": n_shapes,
            "limit": all_limits(tree).dof.size,
            "eight": 8,
        }
        self._sizes = {part.slot: self._counts[part.per] * self._width(part) for part in at.PARTS}
        self.IS, self.XS = self._arrays()
        self.IS[[at.CAPACITY, at.ROWS_EACH, at.N_PLANNED]] = capacity, self.rows, -1

    def _width(self, part: at.Part) -> int:
        return self.rows if part.width == "rows" else int(part.width)

    def _arrays(self) -> tuple[Indices, Array]:
        """Return IS and XS with every part in its place."""
        head = np.zeros(at.HEAD, dtype=np.int64)
        ends = {False: at.HEAD, True: at.XS_HEAD}
        for part in at.PARTS:
            head[part.slot] = ends[part.doubles]
            ends[part.doubles] += -(-self._sizes[part.slot] // 8) * 8
        integers = np.concatenate([head, np.zeros(ends[False] - at.HEAD, dtype=np.int64)])
        return integers, aligned_zeros(ends[True] + 8)

    def integers(self, part: int) -> Indices:
        """Return a part of IS."""
        return self.IS[self.IS[part] : self.IS[part] + self._sizes[part]]

    def doubles(self, part: int) -> Array:
        """Return a part of XS."""
        return self.XS[self.IS[part] : self.IS[part] + self._sizes[part]]

    def take_settings(self, scene: Scene) -> None:
        """Write how the scene is to be stepped."""
        way = scene.stepping
        event_driven = way.scheme == "event_driven"
        self.IS[[at.EVERY, at.MAX_IMPACTS]] = scene.output.every, way.max_impacts
        self.IS[at.EVENT_DRIVEN], self.IS[at.RK4] = event_driven, way.integrator == "rk4"
        self.IS[at.NEWTON] = way.restitution_model == "newton"
        tolerances = way.time_tolerance, way.penetration_tolerance, scene.rest_speed, way.tol
        self.XS[[at.TIME_TOLERANCE, at.PENETRATION, at.REST_SPEED, at.TOL]] = tolerances
        self.XS[[at.DT, at.RISE]] = way.dt, way.rise_speed
        self.XS[at.NEAR] = way.penetration_tolerance + (scene.rest_speed * way.dt if event_driven else 0.0)

    def take_hinges(self, tree: Tree) -> None:
        """Write dampers and springs."""
        self.IS[at.PASSIVE] = tree.has_passive_forces
        self.doubles(at.DAMPING)[:] = tree.gather("damping")
        self.doubles(at.STIFFNESS)[:] = tree.gather("stiffness")
        self.doubles(at.REST)[:] = tree.gather("rest")

    def take_limits(self, tree: Tree, restitution: Array, law: int) -> None:
        """Write the joint limits; law: the number of the law of those that turn."""
        limits, places = all_limits(tree), np.array(dof_places(tree), dtype=np.int64).reshape(-1, 3)
        self.IS[at.N_LIMITS], self.IS[at.LIMIT_LAW] = limits.dof.size, law
        table = self.integers(at.LIMITS).reshape(-1, at.LIMIT_ROW)
        table[:, at.M_DOF], table[:, at.M_THETA] = limits.dof, limits.theta
        table[:, at.M_BODY :] = places[limits.dof]
        values = self.doubles(at.LIMIT_VALUES).reshape(-1, 4)
        values[:, at.M_SIGN], values[:, at.M_BOUND] = limits.sign, limits.bound
        values[:, at.M_RESTITUTION] = restitution

    def take_shapes(self, sizes: ShapeSizes, body: Indices) -> None:
        """Write what is needed to know how far shapes move; body: of every shape, -1 for the world."""
        self.XS[at.THINNEST], self.IS[at.N_SHAPES] = sizes.thinnest, body.size
        self.integers(at.SHAPE_BODY)[:] = body
        self.doubles(at.SHAPE_REACH)[:] = sizes.reach
        self.doubles(at.SHAPE_WIDTH)[:] = sizes.thickness

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what the steps have to remember."""
        kept: dict[str, NDArray[Any]] = {"counts": self.IS[list(MEMORY_COUNTS)]}
        kept |= {name: self.XS[[slot]] for name, slot in FIGURES.items()}
        for name, (part, count) in REMEMBERED.items():
            kept[name] = self._part(part)[: self._rows(part, count)].copy()
        return kept

    def remember(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take over what another workspace remembered."""
        self.IS[list(MEMORY_COUNTS)] = memory["counts"]
        for name, slot in FIGURES.items():
            self.XS[slot] = memory[name][0]
        for name in ("closed_keys", "known_keys", "taken_keys"):
            self.IS[REMEMBERED[name][1]] = memory[name].size
        for name, (part, _) in REMEMBERED.items():
            self._part(part)[: memory[name].size] = memory[name]

    def _part(self, slot: int) -> NDArray[Any]:
        doubles = next(part.doubles for part in at.PARTS if part.slot == slot)
        return self.doubles(slot) if doubles else self.integers(slot)

    def _rows(self, slot: int, count: int) -> int:
        part = next(part for part in at.PARTS if part.slot == slot)
        return int(self.IS[count]) * self._width(part)
