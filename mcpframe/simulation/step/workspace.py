"""The arrays of the stepping kernels: made for a number of contacts, made larger when more are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import RECORD
from mcpframe.contact.detection.records import CONTACT_ROW
from mcpframe.multibody.memory.packing import aligned_zeros
from mcpframe.multibody.model.tree import Tree
from mcpframe.scene.scene import Scene
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.travel import Travel
from mcpframe.solving.stages import CONTACT_ROWS, PROBLEM_HEAD, CompiledFormulation, CompiledSolver

Indices = NDArray[np.int64]


REMEMBERED = {
    "closed_keys": at.CLOSED,
    "known_keys": at.KNOWN_KEYS,
    "known_codes": at.KNOWN_CODES,
    "taken_keys": at.TAKEN_KEYS,
    "taken_modes": at.TAKEN_MODES,
    "taken_bodies": at.TAKEN_BODIES,
}
"""Parts of IS that go from one workspace to the next."""


class Workspace:
    """IS, XS and what the formulation and the solver work on, for up to `capacity` contacts.

    What the steps have to remember (closed contacts, bases, impulses not recorded yet) comes along from a
    smaller one.
    """

    def __init__(
        self,
        tree: Tree,
        formulation: CompiledFormulation,
        solver: CompiledSolver,
        capacity: int,
        n_shapes: int,
    ) -> None:
        self.capacity, self.rows = capacity, formulation.rows_per_contact
        self.IR, self.XR = formulation.room(capacity)
        self.W, self.IW = solver.room(capacity * self.rows)
        self.IP = np.zeros(PROBLEM_HEAD + capacity * CONTACT_ROWS, dtype=np.int64)
        self.codes = np.zeros(2 * capacity * self.rows, dtype=np.int8)
        self._integers, self._doubles = _sizes(tree, capacity, self.rows, n_shapes)
        head = np.zeros(at.STEP_HEAD, dtype=np.int64)
        n_integers = _place(head, self._integers, at.STEP_HEAD)
        n_doubles = _place(head, self._doubles, at.XS_HEAD)
        self.IS = np.concatenate([head, np.zeros(n_integers - at.STEP_HEAD, dtype=np.int64)])
        self.XS = aligned_zeros(n_doubles)
        self.IS[[at.CAPACITY, at.ROWS_PER_CONTACT, at.N_PLANNED]] = capacity, self.rows, -1

    def integers(self, part: int) -> Indices:
        """Return a part of IS."""
        return self.IS[self.IS[part] : self.IS[part] + self._integers[part]]

    def doubles(self, part: int) -> Array:
        """Return a part of XS."""
        return self.XS[self.IS[part] : self.IS[part] + self._doubles[part]]

    def take_settings(self, scene: Scene) -> None:
        """Write how the scene is to be stepped."""
        way = scene.stepping
        event_driven = way.scheme == "event_driven"
        self.IS[[at.EVERY, at.MAX_IMPACTS]] = scene.output.every, way.max_impacts
        self.IS[at.EVENT_DRIVEN] = event_driven
        self.IS[at.GAPS_COUNT] = bool(getattr(way.formulation, "position_level", False))
        tolerances = way.time_tolerance, way.penetration_tolerance, scene.rest_speed, way.tol
        self.XS[[at.TIME_TOLERANCE, at.PENETRATION, at.REST_SPEED, at.TOL]] = tolerances
        self.XS[at.DT] = way.dt
        self.XS[at.NEAR] = way.penetration_tolerance + (scene.rest_speed * way.dt if event_driven else 0.0)

    def take_forces(self, tree: Tree, tau: Array) -> None:
        """Write constant forces at the hinges, dampers and springs."""
        self.doubles(at.TAU_0)[:] = tau
        self.IS[at.PASSIVE] = tree.has_passive_forces
        coordinates = tree.coordinates
        theta_of = self.integers(at.THETA_OF)
        theta_of[:] = -1
        theta_of[coordinates.plain_dofs] = coordinates.plain_theta
        self.doubles(at.DAMPING)[:] = tree.gather("damping")
        self.doubles(at.STIFFNESS)[:] = tree.gather("stiffness")
        self.doubles(at.REST)[coordinates.plain_dofs] = tree.gather("rest")[coordinates.plain_theta]

    def take_shapes(self, travel: Travel, body: Indices) -> None:
        """Write what is needed to know how far shapes move; body: of every shape, -1 for the world."""
        self.XS[at.THINNEST], self.IS[at.N_SHAPES] = travel.thinnest, body.size
        self.integers(at.SHAPE_BODY)[:] = body
        self.doubles(at.SHAPE_REACH)[:] = travel.reach

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what the steps have to remember."""
        closed, known, taken = (int(self.IS[n]) for n in (at.N_CLOSED, at.N_KNOWN, at.N_TAKEN))
        return {
            "moved": self.IS[[at.MOVED]],
            "closed_keys": self.integers(at.CLOSED)[:closed].copy(),
            "known_keys": self.integers(at.KNOWN_KEYS)[:known].copy(),
            "known_codes": self.integers(at.KNOWN_CODES)[: known * self.rows].copy(),
            "taken_keys": self.integers(at.TAKEN_KEYS)[:taken].copy(),
            "taken_modes": self.integers(at.TAKEN_MODES)[:taken].copy(),
            "taken_bodies": self.integers(at.TAKEN_BODIES)[: 2 * taken].copy(),
            "taken": self.doubles(at.TAKEN)[: at.TAKEN_ROW * taken].copy(),
        }

    def remember(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take over what another workspace remembered."""
        for name, part in REMEMBERED.items():
            self.integers(part)[: memory[name].size] = memory[name]
        self.doubles(at.TAKEN)[: memory["taken"].size] = memory["taken"]
        counts = (memory[name].size for name in ("closed_keys", "known_keys", "taken_keys"))
        self.IS[[at.N_CLOSED, at.N_KNOWN, at.N_TAKEN]] = tuple(counts)
        self.IS[at.MOVED] = memory["moved"][0]


def _sizes(tree: Tree, capacity: int, rows: int, n_shapes: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return the sizes of the parts of IS and XS."""
    n, taken = tree.coordinates.n_dofs, at.TAKEN_ROOM * capacity
    integers = {
        at.TOUCHING: capacity * CONTACT_ROW,
        at.CLOSED: capacity,
        at.CLOSED_BEFORE: capacity,
        at.KNOWN_BEFORE: capacity,
        at.CODES_BEFORE: capacity * rows,
        at.TAKEN_KEYS: taken,
        at.TAKEN_MODES: taken,
        at.TAKEN_BODIES: 2 * taken,
        at.KNOWN_KEYS: capacity,
        at.KNOWN_CODES: capacity * rows,
        at.PLANNED_KEYS: capacity,
        at.MODES: capacity,
        at.THETA_OF: n,
        at.SHAPE_BODY: n_shapes,
    }
    doubles = {
        at.RECORDS: capacity * RECORD,
        at.GAPS: capacity,
        at.IMPULSES: 4 * capacity,
        at.TAKEN: at.TAKEN_ROW * taken,
        at.TAKEN_BEFORE: at.TAKEN_ROW * taken,
        at.Z: capacity * rows,
        at.W_ROWS: capacity * rows,
        at.RESPONSE: n,
        at.TAU_0: n,
        at.DAMPING: n,
        at.STIFFNESS: n,
        at.REST: n,
        at.ENERGY: 8,
        at.SHAPE_REACH: n_shapes,
        at.COMPRESSED: n,
        at.STORED: capacity,
        at.GIVEN: 4 * capacity,
    }
    return integers, doubles


def _place(head: Indices, sizes: dict[int, int], start: int) -> int:
    """Write where each part begins; return where the last one ends."""
    for part, size in sizes.items():
        head[part] = start
        start += -(-size // 8) * 8
    return start
