"""References: the gaps that contacts are counted from for a while after a layer has become rigid again.

Where contacts become rigid at a time t_0, they are pressed in or held apart by g_0 and move at v_0. That gap
is their reference; its speed goes to none within a tenth of T, the gap within T, without a jump of gap, speed
or acceleration: with s = (t - t_0)/T and e = min(10 s, 1),

    r(t) = (g_0 + v_0 T/10 (e - e³ + e⁴/2)) (1 - 10 s³ + 15 s⁴ - 6 s⁵).

Contacts that are found have their reference taken off their gaps, so that steps know of it by its rate alone.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import GAP, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.jit import callee
from mcpframe.jit.lanes import get, put
from mcpframe.simulation.memory import slots as at

FIRST = 0.1
"""Share of the time of a reference in which its speed goes to none."""


@callee
def reference_row(run, key):
    """Return where a contact's reference stands in its table, -1 where it has none."""
    low, high = 0, run.IS[at.N_REFERRED]
    while low < high:
        middle = (low + high) // 2
        if get(run.IS, run.IS[at.REFERRED_KEYS] + middle) < key:
            low = middle + 1
        else:
            high = middle
    there = low < run.IS[at.N_REFERRED] and get(run.IS, run.IS[at.REFERRED_KEYS] + low) == key
    return low if there else -1


@callee
def reference_of(run, key, time):
    """Return the gap that a contact is counted from at a time."""
    XS, k = run.XS, reference_row(run, key) if run.IS[at.N_REFERRED] > 0 else -1
    s = (time - XS[at.REFERRED_AT]) / XS[at.SETTLE]
    if k < 0 or s >= 1.0:
        return 0.0
    gap, speed = get(XS, run.IS[at.REFERENCES] + 2 * k), get(XS, run.IS[at.REFERENCES] + 2 * k + 1)
    early = min(s / FIRST, 1.0)
    moved = speed * FIRST * XS[at.SETTLE] * (early - early**3 + 0.5 * early**4)
    return (gap + moved) * (1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s * s))


@callee
def reference_rate(run, key, time, span):
    """Return the mean rate of the reference of what touches over a span, 0 where it has none."""
    if run.IS[at.N_REFERRED] == 0:
        return 0.0
    return (reference_of(run, key, time + span) - reference_of(run, key, time)) / span


@callee
def farthest_reference(run):
    """Return the largest reference now, at least none: contacts are to be found that much further away."""
    largest = 0.0
    for k in range(run.IS[at.N_REFERRED]):
        largest = max(largest, reference_of(run, get(run.IS, run.IS[at.REFERRED_KEYS] + k), run.XS[at.WHEN]))
    return largest


@callee
def refer(run):
    """Take the references of now off the gaps of the contacts found last."""
    ID, XD = run.ID, run.XD
    for i in range(ID[found.N_CONTACTS]):
        key = get(ID, ID[found.CONTACTS] + i * found.CONTACT_ROW + found.C_KEY)
        gap = ID[found.RECORDS] + i * RECORD + GAP
        put(XD, gap, get(XD, gap) - reference_of(run, key, run.XS[at.WHEN]))
