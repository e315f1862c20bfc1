"""Modes of contacts in compiled code, by the rule of `mcpframe.contact.outcome`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import inline
from mcpframe.solving.stages import SEPARATING, SLIDING, STICKING


@inline
def mode_of(normal, slip_squared, slow, has_friction):
    """Return the mode of a contact that opens at a speed, and slips where it has friction."""
    if normal > slow:
        return SEPARATING
    if has_friction and slip_squared <= slow * slow:
        return STICKING
    return SLIDING
