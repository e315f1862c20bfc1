"""Smooth parts of a step: the problem of its contacts, limits and loops, solved, and where it leads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.limits import ChosenLimits, limits_in_reach
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import NotSolvedError
from mcpframe.multibody.state import State
from mcpframe.problem.problems import MixedLCP
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.drift import closed_rates, closed_theta
from mcpframe.simulation.recording.observation import Observation
from mcpframe.simulation.response import response
from mcpframe.simulation.runge_kutta import runge_kutta
from mcpframe.simulation.step_record import Figures, Touching, Trial
from mcpframe.simulation.warm_start import COLD, Names, Start, WarmStart
from mcpframe.solving.solution import Solution, Status
from mcpframe.solving.solve import solve

Indices = NDArray[np.int64]

UNSOLVABLE = frozenset({Status.RAY, Status.INFEASIBLE, Status.NUMERICAL})
"""What solvers say of problems without a solution; else they have not come far enough."""
MISSED = 1e-3
"""Share of the speed of rising by which the best point of such a problem is off at least."""


class SmoothMotion:
    """Tries smooth steps of a scene; remembers the last solution, to start the next solve from.

    Args:
        scene: what moves, and how it is to be stepped.

    Attributes:
        formulation: how steps and impacts are written.
        last: the last solution.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, self.way = scene, scene.stepping
        self.formulation: Any = formulation_of(self.way, bool(scene.model.closures))
        self._resting: Any = self.formulation.model_copy(update={"position_level": True})
        self._projects = bool(scene.model.closures) and self.way.drift_control == "projection"
        self.last = WarmStart()

    def resting(
        self, state: State, touching: Touching, h: float, figures: Figures, gaps: Array
    ) -> tuple[Trial, Array]:
        """Try a step in which closed contacts keep their distance, and rise where they have sunk in.

        What has sunk in cannot always rise: a mechanism may be jammed, or at a dead point. Then contacts and
        limits are held as they are, which can always be done.

        Args:
            state: where it begins; left as it was.
            touching: contacts and limits that take part.
            h: length, s.
            figures: takes what solving costs.
            gaps: by which contacts may approach, or, below zero, are to rise [n_u].

        Returns:
            the trial, and the gaps of its problem.
        """
        trial = self.rising(state, touching, h, figures, gaps)
        if trial is not None:
            return trial, gaps
        held, index = np.maximum(gaps, 0.0), touching.limits.index
        limits = ChosenLimits(index, np.zeros(index.size))
        return self._trial(state, touching, h, figures, self._resting, held, limits), held

    def rising(
        self, state: State, touching: Touching, h: float, figures: Figures, gaps: Array
    ) -> Trial | None:
        """Try such a step; None where what has sunk in cannot rise. Arguments as in `resting`."""
        gap = np.minimum(touching.limits.gap, 0.0) * (h / self.way.dt)
        trial = partial(self._trial, state, touching, h, figures, self._resting, gaps)
        limits = ChosenLimits(touching.limits.index, gap)
        deepest = -min(gaps.min(initial=0.0), gap.min(initial=0.0))
        if deepest == 0.0:
            return trial(limits)
        try:
            return trial(limits, on_failure="stop")
        except NotSolvedError as error:
            return None if _is_impossible(error.solution, deepest / h) else trial(limits)

    def fixed(self, state: State, touching: Touching, figures: Figures) -> Trial:
        """Try a step of dt; limits within its reach are not passed, but for those that throw back.

        Those that throw back are passed, as contacts are, and resolved as impacts where the next step begins.
        """
        limits = None
        if self.scene.limit_restitution.any():
            reach = limits_in_reach(self._step(state, touching, self.way.dt, touching.gaps, None))
            soft = self.scene.limit_restitution[reach.index] == 0.0
            chosen = soft | (reach.gap <= self.way.penetration_tolerance)
            limits = ChosenLimits(reach.index[chosen], reach.gap[chosen])
        return self._trial(state, touching, self.way.dt, figures, self.formulation, touching.gaps, limits)

    def settle(self, state: State) -> None:
        """Make the rates of a state that was reached keep its loops."""
        if self._projects:
            state.update(theta_dot=closed_rates(state))

    def solved(
        self, problem: MixedLCP, figures: Figures, start: Start = COLD, on_failure: str = ""
    ) -> Solution:
        """Solve a problem; what a failure means is the scene's choice unless the caller says it."""
        on_failure = on_failure or self.way.on_failure
        solution = solve(problem, self.way.solver, z0=start.z, basis=start.basis, tol=self.way.tol)
        if not solution.ok and start.z is not None:
            solution = solve(problem, self.way.solver, tol=self.way.tol)
        if not solution.ok and on_failure == "auto":
            solution = solve(
                problem, "auto", z0=solution.z if _has_point(solution) else None, tol=self.way.tol
            )
        if not solution.ok and (on_failure != "best" or not _has_point(solution)):
            raise NotSolvedError(solution, problem)
        figures.add(solution)
        return solution

    def _trial(
        self,
        state: State,
        touching: Touching,
        h: float,
        figures: Figures,
        formulation: Any,
        gaps: Array,
        limits: ChosenLimits | None,
        on_failure: str = "",
    ) -> Trial:
        """Return where a step of h leads, by semi-implicit Euler, or RK4 where no contact or limit acts."""
        step = self._step(state, touching, h, gaps, limits)
        rk4 = self.way.integrator == "rk4"
        if not step.n_u and not step.limit_index.size and (rk4 or not state.model.closures):
            return self._unheld(state, step, h)
        outcome, told = self._outcome(step, touching.keys, figures, formulation, on_failure)
        if rk4 and self._is_unheld(state, outcome):
            return replace(self._unheld(state, step, h), outcome=outcome, observation=told)
        theta = state.model.integrate(state.theta, outcome.theta_dot, h)
        return Trial(self._closed(state, theta), outcome.theta_dot, outcome, told)

    def _step(
        self, state: State, touching: Touching, h: float, gaps: Array, limits: ChosenLimits | None
    ) -> ContactStep:
        tau = self.scene.controller.force(state, state.time)
        wrenches = self.scene.controller.wrenches(state.time)
        return ContactStep(state, touching.contacts.with_gaps(gaps), h, tau, wrenches or None, limits=limits)

    def _outcome(
        self, step: ContactStep, keys: Indices, figures: Figures, formulation: Any, on_failure: str
    ) -> tuple[Outcome, Observation]:
        """Solve a step's problem from the last step's solution."""
        clock = perf_counter()
        problem, recovery = formulation.build(step)
        figures.build_seconds += perf_counter() - clock
        names = Names.of(step, keys, formulation)
        start = self.last.start(step.dt, problem.layout, names)
        solution = self.solved(problem, figures, start, on_failure)
        if solution.ok:
            self.last = WarmStart.of(step.dt, problem.layout, solution, names)
        clock = perf_counter()
        outcome = formulation.recover(recovery, solution)
        figures.recover_seconds += perf_counter() - clock
        return outcome, Observation(problem, solution, "step", step.state.time, step.dt, step)

    def _is_unheld(self, state: State, outcome: Outcome) -> bool:
        """Return whether contacts and limits have changed nothing, to what solves are good for."""
        step = outcome.step
        change = response(state, step.contacts, outcome.wrenches, step.limit_index, outcome.p_l)
        largest = float(np.abs(change).max(initial=0.0))
        return largest <= self.way.tol * (1.0 + float(np.abs(outcome.theta_dot).max(initial=0.0)))

    def _unheld(self, state: State, step: ContactStep, h: float) -> Trial:
        """Return a step on which neither contacts nor limits act."""
        if self.way.integrator == "rk4":
            theta, theta_dot = runge_kutta(state, step, h)
            return Trial(self._closed(state, theta), theta_dot)
        theta_dot = state.theta_dot + h * step.free_acceleration
        return Trial(state.model.integrate(state.theta, theta_dot, h), theta_dot)

    def _closed(self, state: State, theta: Array) -> Array:
        return closed_theta(state, theta) if self._projects else theta


def _is_impossible(solution: Solution, rise: float) -> bool:
    """Return whether a solve has failed because nothing can rise at such a speed, not for its accuracy."""
    return solution.status in UNSOLVABLE and solution.residual > MISSED * rise


def formulation_of(way: Stepping, has_closures: bool) -> Any:
    """Return the formulation of a run, with what its drift control asks of the rows of closures.

    Projection needs no help from them: without `closure_bias` every step has a solution, also where loops
    move and rub. Baumgarte's share is the formulation's own, `BAUMGARTE` unless it has one.
    """
    formulation: Any = way.formulation
    if not has_closures or way.drift_control == "none":
        return formulation
    if way.drift_control == "projection":
        return formulation.model_copy(update={"closure_bias": False})
    return formulation.model_copy(update={"baumgarte": formulation.baumgarte or BAUMGARTE})


BAUMGARTE = 0.2
"""Share of a loop's error that a step removes: small enough not to ring, gone after some twenty steps."""


def _has_point(solution: Solution) -> bool:
    """Return whether there is a point to go on with; a solver that does not take a problem has none."""
    return bool(np.isfinite(solution.z).all())
