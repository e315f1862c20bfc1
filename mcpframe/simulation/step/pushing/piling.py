"""Piles among islands: those too large for a dense problem go to `mcpframe.simulation.piles`, in Python."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, CONTACT_ROW
from mcpframe.jit import callee, cycles
from mcpframe.jit.lanes import get, put
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, material_of
from mcpframe.simulation.rules import ROUGH
from mcpframe.simulation.step import host
from mcpframe.simulation.step.parting.islands import members_of


@callee
def is_pile(run, k):
    """Return whether island k is a pile: many contacts of free bodies alone, whose laws are Coulomb's."""
    IS = run.IS
    first, last = members_of(run, k)
    if IS[at.PILE_FROM] == 0 or last - first < IS[at.PILE_FROM]:
        return False
    for m in range(first, last):
        i = get(IS, IS[at.MEMBERS] + m)
        if key_of(run, i) < 0 or get(IS, IS[at.LAW_EDGES] + material_of(run, i)) < 0:
            return False
        for side in (C_BODY_A, C_BODY_B):
            body = get(IS, IS[at.TOUCHING] + i * CONTACT_ROW + side)
            if body >= 0 and get(IS, IS[at.FLIES] + body) == 0:
                return False
    return True


@callee
def push_pile(run, X, rise, k):
    """Have Python build, solve and recover the problem of island k, a pile, on sparse arrays."""
    IS, XS, clock = run.IS, run.XS, cycles()
    rough = max(XS[at.TOL], ROUGH * XS[at.PENETRATION] / XS[at.DT])
    put(IS, at.PILE, k)
    put(IS, IS[at.LOOSE] + k, IS[at.ROUGH])
    put(XS, at.PILE_TOL, rough if IS[at.ROUGH] != 0 else XS[at.TOL])
    put(IS, at.N_PILES, IS[at.N_PILES] + 1)
    code = host.call_host(run.A[at.HOST], host.PILE, X, rise)
    put(IS, at.SOLVING, IS[at.SOLVING] + cycles() - clock)
    return code
