"""Impacts: rates jump where something closes that was open.

*Simultaneous.* All that touches takes part in one impact, see `restitution`.

*Sequential.* What approaches fastest is resolved alone, as if nothing else touched, then what approaches
fastest after that, until no approach is faster than the rest speed; closures always take part. The order
comes from speeds, not from numbers of bodies or contacts: approaches that are equally fast are resolved
together, in one simultaneous impact, so that what is symmetric stays so. Where the sequence has no end within
so many rounds a simultaneous impact ends it.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import RECORD
from mcpframe.contact.detection.records import CONTACT_ROW
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import gap_of, record_of
from mcpframe.simulation.rules import ROUNDS, TIE
from mcpframe.simulation.step.record import record_impact
from mcpframe.simulation.step.restitution import compress, kinetic_energy, strike
from mcpframe.simulation.step.touching import can_strike, opening_speed


@callee
def fastest_approach(run, X):
    """Return the largest speed at which something that is closed approaches, 0 where nothing does."""
    fastest = 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        if can_strike(run, i):
            fastest = max(fastest, -opening_speed(run, X, i))
    return fastest


@callee
def single_out(run, X, speed):
    """Have only what approaches as fast as that touch; return how many wait with it."""
    IS, XS = run.IS, run.XS
    n = 0
    for i in range(IS[at.N_TOUCHING]):
        if not can_strike(run, i) or -opening_speed(run, X, i) < speed * (1.0 - TIE):
            continue
        for k in range(CONTACT_ROW):
            row = get(IS, IS[at.TOUCHING] + i * CONTACT_ROW + k)
            put(IS, IS[at.STRIKING] + n * CONTACT_ROW + k, row)
        for k in range(RECORD):
            put(XS, IS[at.STRIKING_RECORDS] + n * RECORD + k, get(XS, record_of(run, i) + k))
        put(XS, IS[at.STRIKING_GAPS] + n, gap_of(run, i))
        n += 1
    waiting = IS[at.N_TOUCHING]
    change_tables(IS)
    put(IS, at.N_TOUCHING, n)
    return waiting


@inline
def change_tables(IS):
    """Let the tables of what touches and of what strikes change places."""
    swap(IS, at.TOUCHING, at.STRIKING)
    swap(IS, at.RECORDS, at.STRIKING_RECORDS)
    swap(IS, at.GAPS, at.STRIKING_GAPS)


@inline
def swap(IS, a, b):
    """Let two parts change places."""
    place = IS[a]
    put(IS, a, IS[b])
    put(IS, b, place)


@callee
def strike_in_turn(run, X):
    """Resolve one approach after the other; return code and energies before, lowest, after."""
    before = kinetic_energy(run, X)
    code, lowest, after = at.DONE, before, before
    for _ in range(ROUNDS * run.IS[at.N_TOUCHING]):
        speed = fastest_approach(run, X)
        if speed <= run.XS[at.REST_SPEED]:
            return code, before, lowest, after
        waiting = single_out(run, X, speed)
        code, _, compressed, after = strike(run, X)
        change_tables(run.IS)
        put(run.IS, at.N_TOUCHING, waiting)
        lowest = min(lowest, compressed)
        if code != at.DONE:
            return code, before, lowest, after
    code, _, compressed, after = strike(run, X)
    return code, before, min(lowest, compressed), after


@callee
def resolve_impact(run, X):
    """Resolve the impact at what touches: change the rates of X, and record where energy went."""
    put(run.XS, at.HIT_FIGURE, at.NO_FIGURE)
    if run.IS[at.SEQUENTIAL] != 0:
        code, before, compressed, after = strike_in_turn(run, X)
    else:
        code, before, compressed, after = strike(run, X)
    put(run.IS, at.MOVED, 1)
    put(run.IS, at.N_HISTORY, 0)
    record_impact(run, before, compressed, after, 0.0)
    return code


@callee
def stop_for_good(run, X):
    """Stop what approaches without any rebound, where a step has had all its impacts."""
    put(run.IS, at.MOVED, 1)
    put(run.IS, at.N_HISTORY, 0)
    return compress(run, X)
