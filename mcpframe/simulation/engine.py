"""The engine: takes the steps of a run, many in one compiled call, and tells of them what is to be recorded.

`simulate` drives it and knows nothing of what a step is. However a run is cut into blocks, its bits are the
same: a block begins where the one before it ended, with a step that was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.detection.materials import Material
from mcpframe.contact.detection.records import N_CONTACTS
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.law_kernel import pack_laws
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.exceptions import ModelError, NotSolvedError
from mcpframe.jit import address, cycles, kernel
from mcpframe.jit.lapack import eigenvalue_address
from mcpframe.jit.memory import VECTOR, aligned_copy
from mcpframe.multibody.adaptive.entries import choose, rigidify, write_pieces
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.independence import IndependentRows
from mcpframe.multibody.kernels.entries import (
    articulate,
    energies,
    free_dynamics,
    inverse_dynamics,
    place,
    place_rates,
)
from mcpframe.multibody.memory.loop_packing import loop_space, pack_loops
from mcpframe.multibody.memory.loop_records import CERTAIN, HALF_BODY, MEMORY
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.multibody.memory.records import MEMORY as TREE_MEMORY
from mcpframe.multibody.memory.records import PARENT, TREE
from mcpframe.multibody.state import State
from mcpframe.problem.cone import certify_cones
from mcpframe.problem.residual import certify_dense
from mcpframe.scene.compiled_function import CompiledFunction
from mcpframe.scene.controllers import PD, Together
from mcpframe.scene.scene import Scene
from mcpframe.simulation.adaptation import Adaptation, WholeBody, check_adaptive
from mcpframe.simulation.hosting import HostStages
from mcpframe.simulation.inertias import check_inertias
from mcpframe.simulation.judged import judged_groups
from mcpframe.simulation.material_laws import material_rows
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.drive_packing import driven_bodies, pack_drives, sorted_parts
from mcpframe.simulation.memory.layer_packing import LayerTables, pressed
from mcpframe.simulation.memory.recorded import RecordedRows
from mcpframe.simulation.memory.sizes import ShapeSizes
from mcpframe.simulation.memory.workspace import KEYS, Workspace, floating_trees
from mcpframe.simulation.overlaps import overlaps_of
from mcpframe.simulation.recording.observation import Observer
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.step.adaptive.adapt import adapt
from mcpframe.simulation.step.advance import advance
from mcpframe.simulation.step.certifying.certificate import force_error, gift_error, push_error
from mcpframe.simulation.step.contact_model.judging import judge
from mcpframe.simulation.stops import NoMotionError, StoppedError, why_contradicted, why_endless, why_unmoved
from mcpframe.solving.registry import formulation as find_formulation
from mcpframe.solving.stages import FormulationStages

Indices = NDArray[np.int64]

FIRST_CAPACITY = 16
"""Contacts and limits that there is room for at first."""
MOST_CONTACTS = 1500
"""Contacts whose dense problem, some gigabyte, can be held."""
PILE_FROM = 14
"""Contacts from which on an island of free bodies is solved on sparse arrays, see `simulation.piles`: fewer
have answers to rounding, by pivots, in as little time."""


AWAKE_WITH = (
    "bodies sleep in event-driven steps of several trees, not with rk4, closures, layers, diagnose, "
    "adaptive, or controllers that are functions"
)


class Engine:
    """Takes the steps of one run; step k ends at ``scene.time + k * scene.stepping.dt``.

    Args:
        scene: what moves, and how it is to be stepped.
        observe: is called with every problem that was solved for good.

    Attributes:
        overlaps: of bodies where the run begins; those within one mechanism are left alone.
    """

    def __init__(self, scene: Scene, observe: Observer | None = None) -> None:
        self.scene, self.detector = scene, scene.detector()
        self.overlaps = overlaps_of(scene, self.detector)
        belongs = tuple((overlap.a, overlap.b) for overlap in self.overlaps if overlap.belongs)
        if belongs:
            self.detector = replace(scene, ignore=(*scene.ignore, *belongs)).detector()
        model, stepping = scene.model, scene.stepping
        self._IE, self._XE = pack_loops(model)
        self._IQ, self._XQ = loop_space(model.tree.skeleton.n_bodies, self._IE)
        known, foreign = sorted_parts(scene.controller)
        self._IF, self._XF, self._constant = pack_drives(model, known)
        self._motors = any(isinstance(part, PD) for part in known)
        self._sleepless = driven_bodies(model, known)
        self._acts = bool(foreign) or any(isinstance(part, CompiledFunction) for part in known)
        laws, half, quarter = (_laws(scene, self.detector.materials, stepping.dt / n) for n in (1, 2, 4))
        self._law_rows, self._limit_law = laws, len(laws) - 2
        self._laws = pack_laws(laws, half, stepping.dt)
        switched = None if stepping.switches == "never" else stepping.layer.springs()
        self._layers = LayerTables.of(laws, half, quarter, stepping.dt, switched, self._limit_law)
        self._formulation, self._solver = None, None
        exact = stepping.formulation.directions == EXACT_CONE
        self._exact = exact or any(law.discs for law in laws)
        if _are_affine(laws, half, quarter):
            self._formulation = stepping.formulation.stages(
                model.tree.skeleton, self._IE, laws, half, stepping.dt
            )
        if self._formulation is not None:
            self._solver = stepping.solver.stage(self._exact)
        self._stages, self._groups = self._formulation, list[Indices]()
        if stepping.diagnoses:
            self._groups = judged_groups(scene, self.detector.materials, laws)
            self._stages = self._formulation or self._judging()
        self._host = HostStages(scene, Together(model, foreign), self.detector, (self._IE, self._XE), observe)
        start = scene.initial_state()
        check_inertias(start)
        self._X, self._Y, self._Z, self._B = (aligned_copy(start.X) for _ in range(4))
        self._host.know(self._X, self._Y, self._Z)
        self._rows = RecordedRows(model, stepping.max_impacts)
        self._shape_link = np.array([shape.link for shape in self.detector.shapes], dtype=np.int64)
        self._sizes = ShapeSizes(self.detector)
        independent = IndependentRows.of(start, closure_rows(start), certain=0)
        self._IQ[CERTAIN] = self._host.independent = independent.kept.size
        if scene.adaptive is not None:
            check_adaptive(scene, [*known, *foreign], self._formulation is not None, observe is not None)
        if stepping.sleep_steps > 0 and not self._has_clocks():
            raise ModelError(f"scene {scene.name!r}: sleep_after = {stepping.sleep_after:g}: {AWAKE_WITH}")
        self._flags = self._settings(observe, independent.repeated.size > 0, bool(foreign))
        self._A = self._addresses()
        self._work = self._workspace(FIRST_CAPACITY, FIRST_CAPACITY)
        self._body = WholeBody(start)
        if scene.adaptive is not None:
            loops, drives = (self._IE, self._XE, self._IQ), (self._IF, self._XF)
            self._body = Adaptation(scene, self.detector, self._sizes, self._work, loops, drives, self._A)
        self._A[at.DETECT] = address(self._body.detection)

    def _judging(self) -> FormulationStages:
        """Return kernels that write rows for the judge, where the problems that are solved are Python's.

        Those of operational space: whether forces are unique does not depend on coordinates.
        """
        skeleton, laws = self.scene.model.tree.skeleton, self._law_rows
        stages = find_formulation("os").stages(skeleton, self._IE, laws, laws, self.scene.stepping.dt)
        assert stages is not None
        return stages

    def _settings(self, observe: Observer | None, repeats: bool, asks_python: bool) -> dict[int, int]:
        """Return which stages are Python's, and what steps ask."""
        stepping, asks = self.scene.stepping, self.scene.stepping.asks
        return {
            at.HOST_FORCES: asks_python,
            at.HOST_DETECTION: not self.detector.has_kernels,
            at.HOST_PUSH: self._formulation is None,
            at.HOST_SOLVE: self._solver is None,
            at.OBSERVED: observe is not None,
            at.ADAPTIVE: self.scene.adaptive is not None,
            at.CLOSURE_BIAS: asks["closure_bias"],
            at.PROJECTS: bool(self.scene.model.closures) and stepping.drift_control == "projection",
            at.REPEATED: repeats and self._formulation is not None,
            at.CLOCKS: self._has_clocks(),
            at.PILE_FROM: PILE_FROM if self._has_piles() else 0,
        }

    def _has_piles(self) -> bool:
        """Return whether islands may be piles.

        Not where the solver is asked for by name, or steps go on with the problems of all that touches.
        """
        scene, stepping = self.scene, self.scene.stepping
        read = stepping.diagnoses or stepping.integrator == "rk4"
        joined = bool(scene.model.closures) or scene.adaptive is not None
        compiled = self._formulation is not None and self._solver is not None
        return stepping.solver.chooses and compiled and not (read or joined or self._layers.soft)

    def _has_clocks(self) -> bool:
        """Return whether parties have clocks of their own, see `mcpframe.simulation.step.parting.apart`.

        Not where controllers are asked that may remember, or something else than contacts joins bodies.
        """
        scene, stepping = self.scene, self.scene.stepping
        joined = bool(scene.model.closures) or scene.adaptive is not None
        plain = stepping.scheme == "event_driven" and stepping.integrator != "rk4"
        skeleton = scene.model.tree.skeleton
        several = (TREE_MEMORY.part(skeleton.I, skeleton.X, TREE)[:, PARENT] < 0).sum() > 1
        return bool(plain and several) and not (
            self._acts or joined or self._layers.soft or stepping.diagnoses
        )

    def _addresses(self) -> Indices:
        """Return where the kernels of all stages are."""
        A = np.zeros(at.N_ADDRESSES, dtype=np.int64)
        A[[at.PLACE, at.PLACE_RATES]] = address(place), address(place_rates)
        A[[at.ACCELERATE, at.ENERGIES]] = address(free_dynamics), address(energies)
        A[[at.CERTIFY, at.ARTICULATE]] = address(certify_dense), address(articulate)
        A[[at.INVERSE, at.HOST]] = address(inverse_dynamics), self._host.door.address
        A[[at.PUSH_ERROR, at.GIFT_ERROR]] = address(push_error), address(gift_error)
        A[[at.FORCE_ERROR, at.ADAPT]] = address(force_error), address(adapt)
        A[at.CERTIFY_CONES], A[at.JUDGE] = address(certify_cones), address(judge)
        A[at.EIGENVALUES] = eigenvalue_address()
        A[[at.CHOOSE_JOINTS, at.RIGIDIFY, at.WRITE_PIECES]] = (
            address(choose),
            address(rigidify),
            address(write_pieces),
        )
        if self._stages is not None:
            stages = self._stages
            A[[at.PLAN, at.ASSEMBLE, at.CONSTANTS]] = stages.plan, stages.assemble, stages.constants
            A[[at.RECOVER, at.RESPOND]] = stages.recover, stages.respond
        if self._solver is not None:
            A[at.SOLVE] = self._solver.solve
        return A

    def _workspace(self, capacity: int, together: int) -> Workspace:
        """Return arrays for so many contacts and limits, and for so many of them in one problem."""
        scene, tree = self.scene, self.scene.model.tree
        link = self._shape_link
        n_rows = int(self._IE[N_LOOP_ROWS])
        stages, laws = (self._stages, self._solver), (self._laws, self._layers)
        judged = scene.stepping.diagnoses
        lasting = judged or scene.stepping.integrator == "rk4"
        together = capacity if lasting else together  # their stages hold all that touches at once
        sizes = capacity, together, link.size, n_rows
        work = Workspace(
            tree, *stages, *sizes, *laws, self._exact, lasting, judged, self._flags[at.PILE_FROM] > 0
        )
        work.take_settings(scene)
        work.take_laws(self._law_rows)
        if judged:
            work.take_groups(self._groups)
        work.take_hinges(tree, self._motors, MEMORY.part(self._IE, self._XE, HALF_BODY))
        work.integers(at.FLOATING)[:] = floating_trees(tree, self._IE, self._XE)
        work.take_limits(tree, scene.limit_restitution, self._limit_law)
        work.take_shapes(self._sizes, np.append(tree.skeleton.link_body, -1)[link])
        work.doubles(at.CONSTANT)[:] = self._constant
        work.integers(at.SLEEPLESS)[:] = self._sleepless
        work.XS[at.BAUMGARTE] = scene.stepping.asks["baumgarte"]
        for flag, value in self._flags.items():
            work.IS[flag] = value
        self._host.work = work
        return work

    def _make_room(self, capacity: int, together: int = 0) -> None:
        """Take larger arrays."""
        memory = self._work.memory()
        self._work = self._workspace(capacity, max(together, self._work.together))
        self._work.remember(memory)

    def advance(self, state: State, first: int, count: int) -> StepBlock:
        """Take steps first + 1 to first + count of the scene.

        Args:
            state: after step `first`; on return, after the last step taken.
            first: steps taken before, in this process or by the run that is resumed.
            count: how many to take.

        Returns:
            the steps to record: every `scene.output.every`-th, those with impacts, and the last of the block.
            Each has the impulses that its contacts took in the steps left out before it. The arrays are the
            caller's: the engine keeps none of them.

        Raises:
            StoppedError: a solve failed and the scene says to stop.
            NoMotionError: a step leads nowhere. In both cases the state and the engine are as after the step
                before; the error brings the block up to there.
        """
        blocks: list[StepBlock] = []
        taken = 0
        while taken < count:
            code, n = self._run(state, first + taken, count - taken, blocks)
            taken += n
            if code == at.NO_ROOM:
                self._make_more_room(first + taken + 1, blocks)
            elif code == at.FULL:
                self._make_room(2 * self._work.capacity)
            elif code == at.NO_MOTION:
                self._break_off(why_unmoved(self.scene, state, first + taken + 1), first + taken + 1, blocks)
            elif code == at.CONTRADICTED:
                told = why_contradicted(self.scene, state, first + taken + 1)
                self._break_off(told, first + taken + 1, blocks)
            elif code == at.TOO_MUCH:
                touching = self.detector.contacts(state, self.scene.stepping.penetration_tolerance)
                told = why_endless(self.scene, state, first + taken + 1, touching)
                self._break_off(told, first + taken + 1, blocks)
            elif code != at.DONE:
                self._stop(first + taken + 1, blocks)
        return blocks[0] if len(blocks) == 1 else StepBlock.concatenate(blocks)

    def _run(self, state: State, first: int, count: int, blocks: list[StepBlock]) -> tuple[int, int]:
        """Take steps as far as it goes."""
        work, rows, scene, detector = self._work, self._rows, self.scene, self.detector
        body = self._body
        body.begin(state, (self._X, self._Y, self._Z, self._B), detector, work)
        rows.clear(work.IS, detector.ID)
        clock, cycle = perf_counter(), now()
        code, taken = advance(
            self._A, body.I, self._X, self._Y, self._Z, self._B, detector.ID, detector.XD, self._IE, self._XE,
            self._IQ, self._XQ, self._IF, self._XF, work.IR, work.XR, work.IP, work.W, work.IW, work.codes,
            work.IS, work.XS, rows.steps, rows.contacts, rows.impacts, body.IT, body.XT, body.IA, body.XA,
            scene.time, first, count,
        )  # fmt: skip
        seconds = (perf_counter() - clock) / max(now() - cycle, 1)
        state.update(*body.end(self._X), scene.time + (first + taken) * scene.stepping.dt)
        if work.IS[at.N_OUT]:
            blocks.append(rows.block(work.IS, self._shape_link, seconds))
        return int(code), int(taken)

    def _make_more_room(self, step: int, blocks: Sequence[StepBlock]) -> None:
        """Make room for what was found."""
        work = self._work
        found, needed = int(self.detector.ID[N_CONTACTS]) + int(work.IS[at.N_LIMITS]), int(work.IS[at.NEEDED])
        if needed > MOST_CONTACTS:
            told = (
                f"{needed} contacts that hang together are more than {MOST_CONTACTS}: if they are not meant "
                "to be, the motion has become unstable, and a smaller dt helps; piles of free bodies may be "
                'larger with solver = "auto"'
            )
            self._break_off(told, step, blocks)
        if needed > work.together:
            self._make_room(work.capacity, min(2 * needed, MOST_CONTACTS))
        if found > work.capacity:
            self._make_room(2 * found)
        self.detector.make_room()

    def _stop(self, step: int, blocks: Sequence[StepBlock]) -> None:
        """Raise what a stage in Python has raised; a problem that was not solved with the steps before it."""
        try:
            self._host.door.reraise()
        except NotSolvedError as error:
            raise StoppedError(error, step, self._gathered(blocks)) from None
        except ModelError as error:
            self._break_off(f"step {step}: {error}", step, blocks)
        raise AssertionError("a stage has failed without a word")

    def _break_off(self, why: str, step: int, blocks: Sequence[StepBlock]) -> NoReturn:
        """Raise that a step leads nowhere, with those before it."""
        raise NoMotionError(why, step, self._gathered(blocks))

    def _gathered(self, blocks: Sequence[StepBlock]) -> StepBlock:
        return StepBlock.concatenate([StepBlock.without_rows(self.scene.model), *blocks])

    def press(self, state: State, forces: Mapping[int, Array]) -> None:
        """Have layers of springs press, where steps begin at a state, as hard as rigid contacts did.

        Args:
            state: where they begin.
            forces: by key of a contact, on A, world axes [3], N; none of what is left out.

        Raises:
            ModelError: there are more contacts than room, or a layer is not of springs.
        """
        contacts = self.detector.contacts(state, float(self._work.XS[at.NEAR]))
        keys, laws = self.detector.key.copy(), self.detector.material.copy()
        speeds = contact_velocities(state, contacts)[:, FORCE_N]
        rows = material_rows(self.scene, self.detector.materials, self.scene.stepping.dt)
        memories = np.zeros((keys.size, 2 * VECTOR))
        for k, (key, law) in enumerate(zip(keys.tolist(), laws.tolist(), strict=True)):
            layer, force = rows[law].layer, np.asarray(forces.get(key, np.zeros(3)))
            if not isinstance(layer, SpringLayer):
                raise ModelError(f"press: the contact with key {key} has no layer of springs")
            one = slice(k, k + 1)
            memories[k] = pressed(layer, contacts.axes[one], contacts.gaps[one], speeds[one], force[None])[0]
        if keys.size > self._work.capacity:
            self._make_room(2 * keys.size)
        self._work.press(keys, laws, memories)

    def checkpoint(self) -> dict[str, Array]:
        """Return arrays that, with the state and the step's number, lead to the same bits after `restore`."""
        last = {f"last_{name}": array for name, array in self._host.answers.last.checkpoint().items()}
        return {**self._work.memory(), **last, **self._body.checkpoint()}

    def restore(self, checkpoint: Mapping[str, Array]) -> None:
        """Go on as the engine that made the checkpoint would."""
        memory = {name: np.asarray(array) for name, array in checkpoint.items()}
        most = max(memory[name].size for name in KEYS)
        if most > self._work.capacity:
            self._make_room(2 * most)
        self._work.remember(memory)
        self._host.answers.recall(memory)
        self._body.restore(memory)


@kernel()
def now() -> Any:
    """Return the processor's counter of cycles."""
    return cycles()


def _laws(scene: Scene, materials: Sequence[Material], dt: float) -> list[LawRows]:
    """Return the rows of every material's contacts, and of joint limits that turn and that slide."""
    limits = [LawRows(np.eye(6)[:, [component]]) for component in (0, FORCE_N)]
    return [*material_rows(scene, materials, dt), *limits]


def _are_affine(whole: Sequence[LawRows], half: Sequence[LawRows], quarter: Sequence[LawRows]) -> bool:
    """Return whether laws change with dt in a straight line, and their directions not at all."""
    parts = "N", "P", "R", "r", "beta_lower", "beta_upper", "sigma_lower", "sigma_upper", "disc_mu"
    for a, b, c in zip(whole, half, quarter, strict=True):
        alike = (np.array_equal(a.Wd, other.Wd) and a.disc_rows == other.disc_rows for other in (b, c))
        if not all(alike):
            return False
        for part in parts:
            x, y, z = (getattr(law, part) for law in (a, b, c))
            if np.array_equal(x, y) and np.array_equal(x, z):
                continue
            finite = np.isfinite(x)
            if not (np.array_equal(finite, np.isfinite(y)) and np.array_equal(x[~finite], y[~finite])):
                return False
            if not np.allclose(x[finite] - y[finite], 2.0 * (y[finite] - z[finite]), rtol=1e-9, atol=1e-15):
                return False
    return True
