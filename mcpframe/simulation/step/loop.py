"""An engine that takes many steps in one compiled call, and asks a `Stepper` where a step needs more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact
from mcpframe.contact.detection import Detector
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.contact.detection.records import N_CONTACTS
from mcpframe.contact.law import LawRows, find_law, law_rows
from mcpframe.exceptions import ModelError
from mcpframe.jit import address, cycles, kernel
from mcpframe.multibody.kernels.entries import energies, free_dynamics, place
from mcpframe.multibody.memory.packing import aligned_copy
from mcpframe.multibody.memory.records import THETA, THETA_DOT
from mcpframe.multibody.state import State
from mcpframe.problem.residual import certify_dense
from mcpframe.scene.scene import Scene
from mcpframe.simulation.engine import StepperEngine, StoppedError
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.advance import advance
from mcpframe.simulation.step.recorded import RecordedRows
from mcpframe.simulation.step.workspace import Workspace
from mcpframe.simulation.stepping import Stepper
from mcpframe.solving.stages import CompiledFormulation, CompiledSolver

FIRST_CAPACITY = 16
"""Contacts that there is room for at first."""
MOST_CONTACTS = 1500
"""Contacts whose dense problem, some gigabyte, can be held."""


def compiled_engine(scene: Scene) -> CompiledEngine | None:
    """Return an engine that runs the scene in compiled code; None where something of it has to be Python."""
    way, model, controller = scene.stepping, scene.model, scene.controller
    if model.closures or model.tree.has_limits or way.integrator != "semi_implicit_euler":
        return None
    if way.restitution_model != "poisson" or not controller.constant or controller.wrenches(scene.time):
        return None
    detector = scene.detector()
    if not detector.compiled or _has_curved_springs(scene):
        return None
    laws = _laws(scene, detector)
    formulation = None if laws is None else way.formulation.compiled(model.tree.skeleton, laws)
    solver = None if formulation is None else way.solver.compiled()
    if formulation is None or solver is None:
        return None
    return CompiledEngine(scene, detector, formulation, solver)


class CompiledEngine:
    """Takes steps in compiled code; see `mcpframe.simulation.engine.Engine`.

    A step that does not go through there (a problem that is not solved, numbers beyond all bounds) is taken
    again by a `Stepper`, which does what the scene says about failures.
    """

    def __init__(
        self, scene: Scene, detector: Detector, formulation: CompiledFormulation, solver: CompiledSolver
    ) -> None:
        self.scene, self.detector = scene, detector
        self._formulation, self._solver = formulation, solver
        self._python = StepperEngine(Stepper(scene))
        start = scene.initial_state()
        self._X, self._Y, self._B = (aligned_copy(start.X) for _ in range(3))
        self._rows = RecordedRows(scene.model, scene.stepping.max_impacts)
        self._A = np.zeros(10, dtype=np.int64)
        self._A[at.DETECT], self._A[at.PLACE] = address(detect_contacts), address(place)
        self._A[at.ACCELERATE], self._A[at.ENERGIES] = address(free_dynamics), address(energies)
        self._A[[at.PLAN, at.ASSEMBLE]] = formulation.plan, formulation.assemble
        self._A[[at.CONSTANTS, at.RECOVER]] = formulation.constants, formulation.recover
        self._A[[at.SOLVE, at.CERTIFY]] = solver.solve, address(certify_dense)
        self._work = self._workspace(FIRST_CAPACITY)

    def _workspace(self, capacity: int) -> Workspace:
        """Return arrays for so many contacts."""
        scene, tree = self.scene, self.scene.model.tree
        link = np.array([shape.link for shape in self.detector.shapes], dtype=np.int64)
        work = Workspace(tree, self._formulation, self._solver, capacity, link.size)
        work.take_settings(scene)
        work.take_shapes(self._python.stepper.travel, np.append(tree.skeleton.link_body, -1)[link])
        work.take_forces(tree, scene.controller.force(scene.initial_state(), scene.time))
        return work

    def _make_room(self, capacity: int) -> None:
        """Take larger arrays."""
        memory = self._work.memory()
        self._work = self._workspace(capacity)
        self._work.remember(memory)

    def advance(self, state: State, first: int, count: int) -> StepBlock:
        """Take steps first + 1 to first + count; see `Engine`."""
        blocks: list[StepBlock] = []
        taken = 0
        while taken < count:
            code, n = self._run(state, first + taken, count - taken, blocks)
            taken += n
            if code == at.NO_ROOM:
                self._make_more_room()
            elif code == at.FULL:
                self._make_room(2 * self._work.capacity)
            elif code != at.DONE:
                blocks.append(self._step_in_python(state, first + taken, blocks))
                taken += 1
        return blocks[0] if len(blocks) == 1 else StepBlock.concatenate(blocks)

    def _run(self, state: State, first: int, count: int, blocks: list[StepBlock]) -> tuple[int, int]:
        """Take steps in compiled code, as far as it goes."""
        work, rows, scene, detector = self._work, self._rows, self.scene, self.detector
        I, n_theta, n_dofs = state.I, state.theta.size, state.theta_dot.size
        self._X[I[THETA] : I[THETA] + n_theta] = state.theta
        self._X[I[THETA_DOT] : I[THETA_DOT] + n_dofs] = state.theta_dot
        rows.clear(work.IS, detector.ID)
        clock, cycle = perf_counter(), now()
        code, taken = advance(
            self._A, I, self._X, self._Y, self._B, detector.ID, detector.XD, work.IR, work.XR, work.IP,
            work.W, work.IW, work.codes, work.IS, work.XS, rows.steps, rows.contacts, rows.impacts,
            scene.time, first, count,
        )  # fmt: skip
        seconds = (perf_counter() - clock) / max(now() - cycle, 1)
        state.update(
            self._X[I[THETA] : I[THETA] + n_theta].copy(),
            self._X[I[THETA_DOT] : I[THETA_DOT] + n_dofs].copy(),
            scene.time + (first + taken) * scene.stepping.dt,
        )
        if work.IS[at.N_OUT]:
            blocks.append(rows.block(work.IS, scene.model.tree.skeleton, seconds))
        return int(code), int(taken)

    def _make_more_room(self) -> None:
        """Make room for the contacts that were found."""
        found = int(self.detector.ID[N_CONTACTS])
        if found > MOST_CONTACTS:
            raise ModelError(
                f"{found} contacts at once are more than {MOST_CONTACTS}: if they are not meant to be, the "
                "motion has become unstable, and a smaller dt helps"
            )
        if found > self._work.capacity:
            self._make_room(min(2 * found, MOST_CONTACTS))
        self.detector.make_room()

    def _step_in_python(self, state: State, first: int, blocks: list[StepBlock]) -> StepBlock:
        """Take one step by a `Stepper`."""
        memory, stepper = self._work.memory(), self._python.stepper
        stepper.restore(
            {"closed_keys": memory["closed_keys"]}
        )  # nothing else, so that resumed runs do the same
        try:
            block = self._python.advance(state, first, 1)
        except StoppedError as error:
            before = StepBlock.concatenate([*blocks, error.block])
            raise StoppedError(error, first + 1, before) from None
        nothing = {name: array[:0] for name, array in memory.items() if name.startswith("taken")}
        self._work.remember({**memory, **nothing, "closed_keys": stepper.closed_keys})
        return _with_impulses(block, memory)

    def checkpoint(self) -> dict[str, Array]:
        """Return what the steps remember."""
        return self._work.memory()

    def restore(self, checkpoint: Mapping[str, Array]) -> None:
        """Remember it."""
        memory = {name: np.asarray(array) for name, array in checkpoint.items()}
        most = max(memory[name].size for name in ("closed_keys", "known_keys", "taken_keys"))
        if most > self._work.capacity:
            self._make_room(2 * most)
        self._work.remember(memory)


def _with_impulses(block: StepBlock, memory: Mapping[str, Array]) -> StepBlock:
    """Return a step with the impulses that its contacts took in steps before it that were not recorded."""
    taken = dict(zip(memory["taken_keys"].tolist(), memory["taken"].reshape(-1, at.TAKEN_ROW), strict=True))
    impulse = block.contacts.impulse.copy()
    for row, key in enumerate(block.contacts.key.tolist()):
        if key in taken:
            impulse[row] += taken[key][:3]
    return replace(block, contacts=replace(block.contacts, impulse=impulse))


@kernel()
def now() -> Any:
    """Return the processor's counter of cycles."""
    return cycles()


def _laws(scene: Scene, detector: Detector) -> list[LawRows] | None:
    """Return the rows of every material's contacts; None where they depend on dt."""
    n_f = getattr(scene.stepping.formulation, "friction_directions", 4)
    dt = scene.stepping.dt
    rows = []
    for material in detector.materials:
        contact = Contact(
            "world", "world", np.zeros(3), np.array([0.0, 0.0, 1.0]), material.mu, material.restitution
        )
        law = material.law or find_law("coulomb")
        whole, half = (law_rows(law, contact, h, n_f) for h in (dt, 0.5 * dt))
        if not _same(whole, half):
            return None
        rows.append(whole)
    return rows


def _same(a: LawRows, b: LawRows) -> bool:
    """Return whether two laws have the same rows."""
    parts = "Wd", "N", "P", "R", "r", "beta_lower", "beta_upper", "sigma_lower", "sigma_upper"
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in parts)


def _has_curved_springs(scene: Scene) -> bool:
    """Return whether a ball or free hinge has a spring."""
    tree = scene.model.tree
    if not tree.has_passive_forces:
        return False
    stiffness = np.array(tree.gather("stiffness"))
    stiffness[tree.coordinates.plain_dofs] = 0.0
    return bool(stiffness.any())
