"""The stages of a step that are Python's: what the compiled loop asks where a plugin has no kernel.

All work on arrays of the run; see `mcpframe.simulation.step.host` for how they are reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.certificate import StepCertificate, certify_step
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.detection import Detector
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_KEY, C_MATERIAL
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.kick_step import KickStep
from mcpframe.contact.law import LawRows, find_law
from mcpframe.contact.law_blocks import LawBlocks
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.contact.step_rows import Unknowns, with_discs
from mcpframe.exceptions import NotSolvedError
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import D_ARMATURE, DOF, DOFS, THETA, THETA_DOT
from mcpframe.multibody.state import State
from mcpframe.problem.cone import StepProblem
from mcpframe.problem.layout import Layout
from mcpframe.problem.problems import MixedLCP
from mcpframe.scene.controllers import Together
from mcpframe.scene.scene import Scene
from mcpframe.simulation.answers import Answers, basis_of
from mcpframe.simulation.hosted_layers import remember, soften
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.workspace import Workspace
from mcpframe.simulation.piles.push import Piles
from mcpframe.simulation.recording.observation import Kind, Observation, Observer
from mcpframe.simulation.recording.steps import MODES, STATUSES
from mcpframe.simulation.step import host
from mcpframe.simulation.warm_start import COLD, Names
from mcpframe.solving.solution import Claim, Solution, Status
from mcpframe.solving.solve import certify
from mcpframe.solving.stages import LOWER_AT, M_AT, N_ROWS, Q_AT, UPPER_AT

Indices = NDArray[np.int64]

KINDS: tuple[Kind, ...] = ("step", "compression", "decompression")
CERTIFIED = (*KINDS, "forces in a step", "impulses given back")
"""What has a certificate, see `simulation.step.certifying.certify`."""


@dataclass(frozen=True, eq=False)
class Touching:
    """What touches, as Python sees it.

    Attributes:
        contacts: packed.
        keys: identities of the contacts [n_u].
        limits: joint limits, and the way left to each.
        shift, limit_shift: speeds that are added to their rows [n_u, 3], [n_l].
        softness: by how much contacts yield [n_u, 6].
    """

    contacts: ContactSet
    keys: Indices
    limits: ChosenLimits
    shift: Array
    limit_shift: Array
    softness: Array


class HostStages:
    """What compiled steps ask of Python.

    Args:
        scene: what moves, and how it is to be stepped.
        controller: those of its controllers that have no kernel.
        detector: finds its contacts.
        loops: IE and XE of its closures.
        observe: is told of every problem that was solved for good; None for nobody.

    Attributes:
        answers: what solves problems in Python.
        independent: how many rows of closures are independent wherever loops are closed; set by the engine.
    """

    independent: int | None = None

    def __init__(
        self,
        scene: Scene,
        controller: Together,
        detector: Detector,
        loops: tuple[Indices, Array],
        observe: Observer | None,
    ) -> None:
        self.scene, self.stepping, self.detector, self.observe = scene, scene.stepping, detector, observe
        self.IE, self.XE = loops
        self.answers = Answers(scene.stepping)
        self._states: dict[int, tuple[Array, Array, Array]] = {}
        self._arrays: dict[int, Array] = {}
        self._controller, self._pushes = controller, controller.pushes
        self._solved: tuple[StepProblem, Solution, ContactStep] | None = None
        self._outcome: Outcome | None = None
        self.door = host.Host(
            {
                host.FORCES: self._forces,
                host.FIND: self._find,
                host.PUSH: self._push,
                host.SOLVE: self._solve,
                host.MOTION: self._motion,
                host.OBSERVE: self._observe,
                host.CERTIFY: self._certify,
                host.DISTRUST: self._distrust,
                host.SOFTEN: self._soften,
                host.REMEMBER: self._remember,
                host.PILE: self._pile,
            },
            at.RAISED,
        )

    @cached_property
    def state(self) -> State:
        """The state that a stage is about."""
        return self.scene.initial_state()

    @cached_property
    def _told(self) -> State:
        """The state that controllers are told of: as the model has it, whatever acts implicitly."""
        return self.scene.initial_state()

    @property
    def work(self) -> Workspace:
        """Arrays of the run; set by the engine whenever it makes new ones."""
        return self._work

    @work.setter
    def work(self, work: Workspace) -> None:
        self._work, self._applied = work, work.doubles(at.APPLIED)

    def know(self, *states: Array) -> None:
        """Know the arrays of states by their addresses."""
        model = self.scene.model
        I, n, n_theta = model.tree.skeleton.I, model.n_dofs, model.n_theta
        for X in states:
            armature = X[I[DOFS] :][D_ARMATURE : n * DOF : DOF]
            self._arrays[X.ctypes.data] = X
            self._states[X.ctypes.data] = X[I[THETA] :][:n_theta], X[I[THETA_DOT] :][:n], armature

    def _state_at(self, where: int, time: float) -> State:
        """Return the state of an array."""
        theta, theta_dot, armature = self._states[where]
        return self.state.update(theta, theta_dot, time).with_armature(armature)

    def _forces(self, where: int, time: float) -> int:
        """Write the forces that controllers apply, J* of their wrenches included."""
        theta, theta_dot, _ = self._states[where]
        state, controller = self._told.update(theta, theta_dot, time), self._controller
        applied = controller.force(state, time)
        wrenches = controller.wrenches(time) if self._pushes else {}
        if wrenches:
            applied = applied + state.apply_wrenches(state.link_wrenches(wrenches))
        self._applied += applied
        return at.DONE

    def _find(self, where: int, margin: float) -> int:
        """Add the contacts of pairs of shapes that have no kernel."""
        return at.DONE if self.detector.meet_foreign() else at.NO_ROOM

    def _motion(self, where: int, time: float) -> int:
        """Write U and its derivative of closures whose motion is prescribed."""
        row = 0
        for closure in self.scene.model.closures:
            if closure.motion is not None:
                parts = zip((loops.RATE, loops.RATE_DOT), closure.prescribed(time), strict=True)
                for part, rates in parts:
                    loops.MEMORY.part(self.IE, self.XE, part)[row : row + closure.n_rows] = rates
            row += closure.n_rows
        return at.DONE

    def _solve(self, where: int, rise: float) -> int:
        """Solve the problem that the formulation's kernels have written."""
        work, touching = self.work, self._touching()
        problem = self._problem(touching)
        if self.scene.adaptive is None:
            solution = self.answers.from_last(work, problem, self._names(touching), rise)
        else:  # contacts of clusters
            solution = self.answers.answer(work, problem, COLD, rise)
        if solution is None:
            return at.NO_SOLUTION
        work.doubles(at.OWN_Z)[: problem.n] = solution.z
        work.codes[: problem.n] = basis_of(problem, solution)
        return at.DONE

    def _names(self, touching: Touching) -> Names:
        """Return what the unknowns of a problem are of."""
        return Names.of(self._laws(touching), touching.keys, touching.limits.index)

    def _laws(self, touching: Touching) -> Sequence[LawRows]:
        """Return the rows of the laws of contacts in the step that is under way."""
        h = float(self.work.XS[at.TRIAL])
        return touching.contacts.law_rows(find_law("coulomb"), h, self._n_f)

    def _problem(self, touching: Touching) -> StepProblem:
        """Return the problem in the formulation's arrays as one of its own."""
        IP, XR, n = self.work.IP, self.work.XR, int(self.work.IP[N_ROWS]) if self._is_held else 0
        M = XR[IP[M_AT] : IP[M_AT] + n * n].reshape(n, n).copy()
        q, lower, upper = (XR[IP[part] : IP[part] + n].copy() for part in (Q_AT, LOWER_AT, UPPER_AT))
        laws = self._laws(touching)
        sizes = {"p_b": int(self.IE[loops.N_ROWS]), "p_l": touching.limits.index.size}
        sizes |= {"beta": sum(law.m for law in laws), "sigma": sum(law.s for law in laws)}
        layout, blocks = Layout(sizes), LawBlocks.of(laws, [law.C for law in laws])
        lcp = MixedLCP(M, q, lower, upper, layout=layout, contacts=blocks.contact_blocks(layout))
        unknowns = Unknowns({"p_b": sizes["p_b"]}, sizes["p_l"], blocks)
        return with_discs(lcp, unknowns.discs(self._wider(laws)), self._n_f == EXACT_CONE)

    def _wider(self, laws: Sequence[LawRows]) -> Array:
        """Return by how much the discs of what touches are wider, see `ImpactStep.disc_shift`."""
        n_l = int(self.work.IS[at.N_OWN]) - len(laws)
        leans = self.work.doubles(at.OWN_LEANS)[n_l:] * (
            self.work.IS[at.KIND] == KINDS.index("decompression")
        )
        return np.concatenate(
            [np.zeros(0), *(law.disc_leaning(p) for law, p in zip(laws, leans, strict=False))]
        )

    @property
    def _is_held(self) -> bool:
        """Whether anything touches or closes a loop, so that there is a problem at all."""
        return bool(self.work.IS[at.N_TOUCHING] or self.IE[loops.N_ROWS])

    @property
    def _n_f(self) -> int:
        """Friction directions of laws that leave them open."""
        return self.stepping.formulation.directions

    def _touching(self, whole: bool = False) -> Touching:
        """Return what touches: all of it, or those that the problem in the arrays is about."""
        work, tree = self.work, self.scene.model.tree
        parts = at.TOUCHING, at.RECORDS, at.GAPS, at.SHIFTS, at.SOFTNESS
        own = at.OWN_TOUCHING, at.OWN_RECORDS, at.OWN_GAPS, at.OWN_SHIFTS, at.OWN_SOFTNESS
        n = int(work.IS[at.N_TOUCHING if whole else at.N_OWN])
        table, *numbers = parts if whole else own
        rows = work.integers(table)[:n]
        n_l = int((rows[:, C_KEY] < 0).sum())
        all_records, gaps, shifts, all_softness = (work.doubles(part)[:n].copy() for part in numbers)
        records, softness = all_records[n_l:], all_softness[n_l:]
        body_link = np.append(tree.skeleton.body_link, -1)
        link_a, link_b = (body_link[rows[n_l:, side]] for side in (C_BODY_A, C_BODY_B))
        contacts = ContactSet.of_records(
            tree, link_a, link_b, records, rows[n_l:, C_MATERIAL].copy(), self.detector.laws
        )
        limits = ChosenLimits(-1 - rows[:n_l, C_KEY], gaps[:n_l])
        return Touching(contacts, rows[n_l:, C_KEY].copy(), limits, shifts[n_l:], shifts[:n_l, 0], softness)

    def _soften(self, where: int, h: float) -> int:
        """Write what layers that are Python's add to a step of h."""
        soften(self.work, h, self._laws_of_all(h))
        return at.DONE

    def _remember(self, where: int, h: float) -> int:
        """Write what these layers remember after a step of h."""
        remember(self.work, h, self._laws_of_all(h))
        return at.DONE

    def _laws_of_all(self, h: float) -> Sequence[LawRows]:
        """Return the rows of the laws of all contacts, limits left out, in a step of h."""
        return self._touching(whole=True).contacts.law_rows(find_law("coulomb"), h, self._n_f)

    def _contact_step(self, where: int) -> ContactStep:
        """Return the step, or impact, that is under way."""
        step = self._asked(where)
        step.independent = self.independent
        return step

    def _asked(self, where: int) -> ContactStep:
        work, touching = self.work, self._touching(whole=True)
        state, h = self._state_at(where, float(work.XS[at.TIME])), float(work.XS[at.TRIAL])
        if h == 0.0:
            rebounds = -touching.shift[:, 0], -touching.limit_shift
            given = work.doubles(at.LEANS)[rebounds[1].size :][: len(rebounds[0])].copy()
            given *= work.IS[at.KIND] == KINDS.index("decompression")
            step = state, touching.contacts, "coulomb", rebounds[0], touching.limits, rebounds[1], given
            return ImpactStep(*step)
        closure_rate = loops.MEMORY.part(self.IE, self.XE, loops.TARGET).copy()
        rows = closure_rate, touching.limits, touching.limit_shift, touching.shift, touching.softness
        return KickStep(state, touching.contacts, h, *rows)

    @cached_property
    def piles(self) -> Piles:
        """What solves piles."""
        return Piles(self.scene.model.tree.skeleton.n_bodies, self.stepping)

    def _pile(self, where: int, rise: float) -> int:
        """Build, solve and recover a pile."""
        return self.piles.push(self.work, self.scene.model.tree.skeleton.I, self._arrays[where], rise)

    def _push(self, where: int, rise: float) -> int:
        """Build, solve and recover by the formulation's methods."""
        formulation = self.stepping.formulation
        step = self._contact_step(where)
        problem, recovery = formulation.build(step)
        names = self._names(self._touching(whole=True))
        solution = self.answers.from_last(self.work, problem, names, rise)
        if solution is None:
            return at.NO_SOLUTION
        outcome: Outcome = formulation.recover(recovery, solution)
        self._write(outcome)
        self._solved, self._outcome = (problem, solution, step), outcome
        return at.DONE

    def _write(self, outcome: Outcome) -> None:
        """Write rates, impulses and modes of an outcome where the loop looks for them."""
        work, step = self.work, outcome.step
        n_l, n = step.limit_index.size, int(work.IS[at.N_TOUCHING])
        work.doubles(at.AFTER)[:] = outcome.theta_dot
        impulses = work.doubles(at.IMPULSES)[:n]
        impulses[:n_l, :3], impulses[:n_l, 3] = 0.0, outcome.p_l
        impulses[n_l:, :3] = outcome.impulses
        impulses[n_l:, 3] = np.einsum("ui,ui->u", step.contacts.normals[:, :3], outcome.impulses)
        work.integers(at.MODES)[:n_l] = 0
        work.integers(at.MODES)[n_l:n] = [MODES.index(mode) for mode in outcome.modes]
        if work.IS[at.DIAGNOSES]:
            unknowns = np.concatenate([outcome.p_l, outcome.beta])
            work.doubles(at.Z)[self.IE[loops.N_ROWS] :][: unknowns.size] = unknowns
        work.XS[at.DRIFT] = outcome.drift

    def _observe(self, where: int, h: float) -> int:
        """Tell the onlooker of the problem that was solved last."""
        work = self.work
        problem, solution, step = self._last_solved(where)
        assert self.observe is not None
        kind = KINDS[int(work.IS[at.KIND])]
        self.observe(Observation(problem, solution, kind, float(work.XS[at.TIME]), step.law_dt, step))
        return at.DONE

    def _last_solved(self, where: int) -> tuple[StepProblem, Solution, ContactStep]:
        """Return the problem that was solved last, its solution and its step."""
        work = self.work
        if not (work.IS[at.HOST_PUSH] and self._is_held):  # a solver's in Python is in the arrays too
            self._solved = *self._in_arrays(), self._contact_step(where)
        assert self._solved is not None
        return self._solved

    def _in_arrays(self) -> tuple[StepProblem, Solution]:
        """Return the problem and the solution that are in the arrays."""
        problem = self._problem(self._touching(whole=True))
        claim = Claim(self.work.doubles(at.Z)[: problem.n].copy(), Status.SOLVED)
        return problem, certify(problem, claim, self.stepping.tol, self.stepping.solver.name, 0.0)

    def _certify(self, where: int, h: float) -> int:
        """Certify what the formulation's methods have found last."""
        self.work.XS[at.FIGURE] = self._certificate(where).worst
        return at.DONE

    def _certificate(self, where: int) -> StepCertificate:
        """Return the certificate of the last push in Python, with words."""
        outcome = self._last_outcome(where)
        self._state_at(where, float(self.work.XS[at.TIME]))  # which the step reads
        return certify_step(outcome.step, outcome)

    def _last_outcome(self, where: int) -> Outcome:
        """Return what the last push is said to have done."""
        problem, solution, step = self._last_solved(where)
        if self.work.IS[at.HOST_PUSH] and self._is_held:
            assert self._outcome is not None
            return self._outcome
        p_b, p_l, beta, sigma = (solution.z[problem.layout[name]] for name in ("p_b", "p_l", "beta", "sigma"))
        own, rates = step.with_friction_directions(self._n_f), self.work.doubles(at.AFTER).copy()
        return Outcome(own, rates, p_b, p_l, beta, sigma, solution.w[problem.layout["beta"]])

    def _distrust(self, where: int, figure: float) -> int:
        """Treat a push whose certificate is not good enough as a solve that has failed."""
        if self.stepping.on_failure == "best":
            self.work.IS[at.STATUS] = self.work.IS[at.STATUS] or 1 + STATUSES.index(Status.UNPHYSICAL.name)
            return at.DONE
        most = self.stepping.largest_certificate
        if self.work.IS[at.N_PILES]:
            said = f"The certificate of a pile is {figure:.1e}, more than certify_tol = {most:g}"
            raise self.piles.error(Status.UNPHYSICAL, said)
        adaptive = self.scene.adaptive is not None  # the state of an array is that of clusters then
        problem, solution = self._in_arrays() if adaptive else self._last_solved(where)[:2]
        kind = int(self.work.IS[at.KIND])
        said = "rates do not change as momentum says"
        if kind < len(KINDS) and not adaptive:
            said = "; ".join(self._certificate(where).words[:3]) or "impulses are not those of the unknowns"
        what = CERTIFIED[kind]
        message = f"The certificate of the {what} is {figure:.1e}, more than certify_tol = {most:g}: {said}"
        raise NotSolvedError(replace(solution, status=Status.UNPHYSICAL, message=message), problem)
