"""Steps on their way to a recorder: what `Stepper` says of them, put into the columns of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcpframe.multibody.state import State
from mcpframe.simulation.recording.steps import MODES, NONE, STATUSES, ContactTable, ImpactTable, StepBlock
from mcpframe.simulation.step_record import Step

ASKED, AUTO = 0, 1
"""Codes of the column ``solver``: the scene's own, or ``auto``, which takes over where that one fails."""


class StepRows:
    """Gathers the steps of one block that are to be recorded."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._steps: list[Step] = []
        self._left_out: list[Step] = []

    def record(self, state: State, step: Step) -> None:
        """Take a step that led to a state, with the impulses of those left out before it."""
        told = step.after(self._left_out) if self._left_out else step
        self._left_out.clear()
        self._rows.append({**state_columns(state), **_figures(told)})
        self._steps.append(told)

    def leave_out(self, step: Step) -> None:
        """Take a step that is not recorded."""
        self._left_out.append(step)

    def block(self, state: State) -> StepBlock:
        """Return the steps up to a state, the last of which is always recorded."""
        if self._left_out:
            self.record(state, self._left_out.pop())
        if not self._rows:
            return StepBlock.without_rows(state.model)
        contacts, impacts = _contacts(self._steps), _impacts(self._steps)
        return StepBlock(**_stacked(self._rows), contacts=contacts, impacts=impacts)


def start_of(state: State) -> StepBlock:
    """Return the start of a run: the row before its first step."""
    return StepBlock(**_stacked([state_columns(state)]))


def state_columns(state: State) -> dict[str, Any]:
    """Return the columns of a state."""
    return {
        "time": state.time,
        "theta": state.theta,
        "theta_dot": state.theta_dot,
        "kinetic_energy": state.kinetic_energy(),
        "potential_energy": state.potential_energy(),
    }


def _stacked(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of rows that all have the same names."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _figures(step: Step) -> dict[str, Any]:
    """Return the columns of what a step did."""
    figures, solution = step.figures, step.figures.solution
    return {
        "residual": figures.residual,
        "status": NONE if solution is None else STATUSES.index(solution.status.name),
        "solver": NONE if solution is None else AUTO if solution.solver == "auto" else ASKED,
        "iterations": figures.iterations,
        "build_seconds": figures.build_seconds,
        "solve_seconds": figures.solve_seconds,
        "recover_seconds": figures.recover_seconds,
        "n_contacts": len(step.contacts),
        "penetration": step.penetration,
        "drift": step.drift,
        "n_impacts": len(step.impacts),
    }


def _contacts(steps: Sequence[Step]) -> ContactTable:
    told = [contact for step in steps for contact in step.contacts.values()]
    return ContactTable(
        body_a=np.array([contact.body_a for contact in told], dtype=np.int64),
        body_b=np.array([contact.body_b for contact in told], dtype=np.int64),
        key=np.array([key for step in steps for key in step.contacts], dtype=np.int64),
        point=np.array([contact.point for contact in told]).reshape(-1, 3),
        normal=np.array([contact.normal for contact in told]).reshape(-1, 3),
        gap=np.array([contact.gap for contact in told]),
        impulse=np.array([contact.impulse for contact in told]).reshape(-1, 3),
        mode=np.array([MODES.index(contact.mode) for contact in told], dtype=np.int8),
    )


def _impacts(steps: Sequence[Step]) -> ImpactTable:
    hits = [hit for step in steps for hit in step.impacts]
    return ImpactTable(
        time=np.array([time for time, _, _ in hits]),
        n_contacts=np.array([len(impact.impulses) for _, _, impact in hits], dtype=np.int64),
        n_limits=np.array([len(impact.limit_impulses) for _, _, impact in hits], dtype=np.int64),
        energy_before=np.array([impact.audit.before for _, _, impact in hits]),
        energy_compressed=np.array([impact.audit.compressed for _, _, impact in hits]),
        energy_after=np.array([impact.audit.after for _, _, impact in hits]),
        penetration=np.array([depth for _, depth, _ in hits]),
    )
