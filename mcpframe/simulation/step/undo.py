"""What a step changes, kept where it begins, and how it is undone where it does not go through."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.records import N_DOFS, N_THETA, THETA, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.parting.islands import copy_row


@callee
def copy_motion(I, X, Y):
    """Copy coordinates and rates from X to Y."""
    for i in range(I[N_THETA]):
        put(Y, I[THETA] + i, get(X, I[THETA] + i))
    for i in range(I[N_DOFS]):
        put(Y, I[THETA_DOT] + i, get(X, I[THETA_DOT] + i))


@callee
def keep(run, X, B):
    """Keep what a step changes."""
    IS, XS = run.IS, run.XS
    copy_motion(run.I, X, B)
    copy_row(IS, at.FIRST_CHANGED, IS[at.CHANGED_BEFORE], at.N_CHANGED)
    copy_row(IS, IS[at.CLOSED], IS[at.CLOSED_BEFORE], IS[at.N_CLOSED])
    copy_row(IS, IS[at.KNOWN_KEYS], IS[at.KNOWN_BEFORE], IS[at.N_KNOWN])
    copy_row(IS, IS[at.KNOWN_CODES], IS[at.CODES_BEFORE], IS[at.N_KNOWN] * IS[at.ROWS_EACH])
    copy_row(XS, IS[at.KNOWN_POINT], IS[at.POINT_BEFORE], IS[at.N_KNOWN] * IS[at.POINT_ROWS])
    copy_row(XS, IS[at.TAKEN], IS[at.TAKEN_BEFORE], IS[at.N_TAKEN] * at.TAKEN_ROW)
    copy_row(XS, IS[at.HISTORY], IS[at.HISTORY_BEFORE], 4 * run.I[N_DOFS])
    copy_row(XS, IS[at.INERTIA], IS[at.INERTIA_BEFORE], run.I[N_DOFS])
    copy_row(XS, at.RESIDUAL, IS[at.FIGURES_BEFORE], at.N_FIGURES)
    copy_row(IS, IS[at.MEMORY_KEYS], IS[at.MEMORY_KEYS_BEFORE], IS[at.N_REMEMBERED])
    copy_row(IS, IS[at.MEMORY_LAWS], IS[at.MEMORY_LAWS_BEFORE], IS[at.N_REMEMBERED])
    copy_row(XS, IS[at.MEMORIES], IS[at.MEMORIES_BEFORE], IS[at.N_REMEMBERED] * IS[at.MEMORY_WIDTH])


@callee
def go_back(run, X, B):
    """Undo a step that did not go through; the plan is that of another step now, and made anew."""
    IS, XS = run.IS, run.XS
    copy_motion(run.I, B, X)
    copy_row(IS, IS[at.CHANGED_BEFORE], at.FIRST_CHANGED, at.N_CHANGED)
    copy_row(IS, IS[at.CLOSED_BEFORE], IS[at.CLOSED], IS[at.N_CLOSED])
    copy_row(IS, IS[at.KNOWN_BEFORE], IS[at.KNOWN_KEYS], IS[at.N_KNOWN])
    copy_row(IS, IS[at.CODES_BEFORE], IS[at.KNOWN_CODES], IS[at.N_KNOWN] * IS[at.ROWS_EACH])
    copy_row(XS, IS[at.POINT_BEFORE], IS[at.KNOWN_POINT], IS[at.N_KNOWN] * IS[at.POINT_ROWS])
    copy_row(XS, IS[at.TAKEN_BEFORE], IS[at.TAKEN], IS[at.N_TAKEN] * at.TAKEN_ROW)
    copy_row(XS, IS[at.HISTORY_BEFORE], IS[at.HISTORY], 4 * run.I[N_DOFS])
    copy_row(XS, IS[at.INERTIA_BEFORE], IS[at.INERTIA], run.I[N_DOFS])
    copy_row(XS, IS[at.FIGURES_BEFORE], at.RESIDUAL, at.N_FIGURES)
    copy_row(IS, IS[at.MEMORY_KEYS_BEFORE], IS[at.MEMORY_KEYS], IS[at.N_REMEMBERED])
    copy_row(IS, IS[at.MEMORY_LAWS_BEFORE], IS[at.MEMORY_LAWS], IS[at.N_REMEMBERED])
    copy_row(XS, IS[at.MEMORIES_BEFORE], IS[at.MEMORIES], IS[at.N_REMEMBERED] * IS[at.MEMORY_WIDTH])
    put(IS, at.N_PLANNED, -1)
