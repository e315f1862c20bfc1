"""Jams: impacts without collision, at contacts that were closed before [Painlevé 1895; Lecornu 1905].

Where friction presses a sliding contact together more than it relieves it, no bounded force keeps it closed:
the problem of a step then has impulses that do not vanish with its length, and rates jump although nothing
collides. The step itself takes such a jump as it is; here it is told from a step in which sliding comes to an
end, and recorded among the impacts, with the kinetic energy before and after: what impulses change, without
the work of forces in that step.

A contact is *suspected* where it slid faster than the rest speed and lost more than half of that in the step.
The suspicion holds where the same problem, for a step sixteen times shorter, still has a quarter of the
normal impulses of those that are suspected, or no solution: impulses of forces have a sixteenth. Their sum
counts, for how bodies share out a load among many contacts need not be determined. Speeds that are asked of
the rows are left out of it, for their impulses do not vanish either. Where they pressed with a quarter of
that force already as the step of dt began, forces do it, and no other problem is asked: in heaps sliding ends
somewhere in every other step.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.law_kernel import L_NORMAL, LAW_ROW
from mcpframe.jit import callee
from mcpframe.jit.lanes import get, load, put
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import (
    gap_of,
    is_soft,
    key_of,
    material_of,
    normal_impulse_of,
    put_shift,
    put_slip_shift,
    record_of,
    shift_of,
)
from mcpframe.simulation.rules import JAM_PARTS, JAM_SHARE
from mcpframe.simulation.step.certifying.certify import certify_jam, put_rates
from mcpframe.simulation.step.kick import kick
from mcpframe.simulation.step.moving.motion import three
from mcpframe.simulation.step.parting.parties import takes_part
from mcpframe.simulation.step.pushing.push import push
from mcpframe.simulation.step.pushing.solve import STEP
from mcpframe.simulation.step.record import record_impact
from mcpframe.simulation.step.restitution import kinetic_energy
from mcpframe.simulation.step.touching import ROW, find, opening_speed, place_of, relative_velocity
from mcpframe.simulation.step.trial import ask_to_hold, ask_to_rise, hold
from mcpframe.spatial.algebra import dot


@callee
def slip(run, i):
    """Return the velocity at which a contact slid where the step began, of A relative to B."""
    n = load(run.XS, run.IS[at.START_RECORDS] + i * RECORD + NORMAL.start)
    v = three(run.XS, run.IS[at.START_VELOCITIES] + 4 * i)
    return v - dot(n, v) * n


@callee
def is_suspect(run, Y, i):
    """Return whether a closed contact has lost more than half of its slip where the push leads, in Y."""
    pressed = normal_impulse_of(run, i) > 0.0 and gap_of(run, i) <= run.XS[at.PENETRATION]
    if key_of(run, i) < 0 or is_soft(run, i) or not pressed or not takes_part(run, key_of(run, i)):
        return False
    v = slip(run, i)
    if dot(v, v) <= run.XS[at.REST_SPEED] * run.XS[at.REST_SPEED]:
        return False
    after = relative_velocity(run.I, Y, run.IS, run.IS[at.TOUCHING] + i * ROW, run.XS, record_of(run, i))
    return dot(after, v) < 0.5 * dot(v, v)


@callee
def any_suspect(run, Y):
    """Mark the contacts that are suspected; return whether there are any."""
    found = False
    for i in range(run.IS[at.N_TOUCHING]):
        suspected = is_suspect(run, Y, i)
        put(run.IS, run.IS[at.SUSPECT] + i, 1 if suspected else 0)
        found = found or suspected
    return found


@callee
def pressing(run):
    """Return the sum of the normal impulses of the contacts that are suspected."""
    total = 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        if get(run.IS, run.IS[at.SUSPECT] + i) != 0:
            total += normal_impulse_of(run, i)
    return total


@callee
def pressed_before(run):
    """Return the sum of the forces with which they pressed where the step of dt began, as far as known, N."""
    IS, XS, total = run.IS, run.XS, 0.0
    n = get(IS, IS[at.CHANGED_BEFORE] + at.N_KNOWN - at.FIRST_CHANGED)
    for i in range(IS[at.N_TOUCHING] if IS[at.POINT_ROWS] > 0 else 0):
        if get(IS, IS[at.SUSPECT] + i) != 0:
            normal = get(IS, IS[at.LAW_ROWS] + material_of(run, i) * LAW_ROW + L_NORMAL)
            k = place_of(IS, IS[at.KNOWN_BEFORE], 1, n, key_of(run, i))
            total += get(XS, IS[at.POINT_BEFORE] + k * IS[at.POINT_ROWS] + normal) if k >= 0 else 0.0
    return total


@callee
def outlasts(run, X, h):
    """Return whether what the suspected contacts press with does not vanish with the length h of the step."""
    short, pressed = h / JAM_PARTS, pressing(run)
    if kick(run, X, short, True) != at.DONE:
        return False
    for k in range(run.IS[at.N_TOUCHING]):
        put_shift(run, k, max(gap_of(run, k), 0.0) / short + max(-opening_speed(run, X, k), 0.0))
        put_slip_shift(run, k, 0.0, 0.0)
    code = push(run, run.Z, short, STEP, False, run.XS[at.REST_SPEED])
    if code == at.DONE:
        return pressing(run) > JAM_SHARE * pressed
    return code == at.NO_SOLUTION


@callee
def push_again(run, Y, h):
    """Push as the trial of h did that led to Y; where that has no answer from elsewhere, hold everything."""
    IS, rise = run.IS, 0.0
    if IS[at.ALL_HELD] != 0:
        ask_to_hold(run, h)
    else:
        rise = ask_to_rise(run, h)
    for k in range(IS[at.N_TOUCHING]):
        put_shift(run, k, get(run.XS, IS[at.STRIKING_GAPS] + k))
    code = push(run, run.Z, h, STEP, False, rise)
    if code == at.NO_SOLUTION:
        code = hold(run, Y, h)
    return code


@callee
def gained(run):
    """Return the kinetic energy that the impulses of a step have added: where they act, at its middle."""
    without = kinetic_energy(run, run.Z)
    put_rates(run, run.IS[at.AFTER])
    gain = kinetic_energy(run, run.Z) - without
    put_rates(run, run.IS[at.KICKED])
    return gain


@callee
def record_jam(run, X, Y, h):
    """Record the push of h that led from X to Y as an impact where it is a jam.

    To find out takes other pushes: it is made again then, and what is near Y found again.
    """
    IS, XS = run.IS, run.XS
    if not any_suspect(run, Y) or IS[at.N_HITS] >= IS[at.MAX_IMPACTS]:
        return at.DONE
    if JAM_SHARE * pressing(run) <= h * pressed_before(run):
        return at.DONE
    for k in range(IS[at.N_TOUCHING]):
        put(XS, IS[at.STRIKING_GAPS] + k, shift_of(run, k))
    jam = outlasts(run, X, h)
    code = kick(run, X, h, True)
    if code == at.DONE:
        code = push_again(run, Y, h)
    if code == at.DONE and jam:
        before = kinetic_energy(run, X)
        after = before + gained(run)
        put(XS, at.HIT_FIGURE, at.NO_FIGURE)
        code = certify_jam(run, h)
        record_impact(run, before, after, after, 1.0)
        put(IS, at.N_HISTORY, 0)
    put(XS, at.WHEN, XS[at.TIME] + h)
    return find(run, Y, XS[at.NEAR]) if code == at.DONE else code
