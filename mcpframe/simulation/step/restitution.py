"""One impact of what touches: compression, then decompression [J14, section 7], or Newton's law.

*Poisson.* Compression is a push of no duration; what touches stores the share ε of its normal impulse
[J14, Eq. (56)]. Decompression gives all stored impulses back at once and resolves what they do
[J14, Eqs. (57), (58)]: a push again, at the rates that they lead to. Friction leans on the whole normal
impulse of that phase, |p_t| <= mu (p_n + stored), so that a contact that slides through both phases has the
friction impulse mu (1 + ε) p_c. What decompression has to add where giving back makes something approach is a
compression of its own: the share ε of it is stored and given back in its turn, until nothing is added. With
`decompression = "j14"` friction leans on p_n alone, as it stands there, and there is one decompression.

*Newton.* One push in which what touches opens at least ε times as fast as it closed, v_n+ >= -ε v_n-.

*Energy.* Compression never adds any: with v+ . p <= 0 at every contact, T+ - T- = v+ . p - p . Λ p / 2 <= 0.
Without friction and with one ε for all, giving back adds at most what compression took, all of it where
ε = 1: both phases together reflect the rates. Else energy can grow: where contacts that stuck in compression
slip back, where ε differs between contacts, and with Newton's law also where something that was opening is
pushed. Then only that share of everything that is to be thrown back is, the same for all, which leaves the
kinetic energy that there was. Where motion is prescribed to a closure, its drive may add energy, and all is
thrown back.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_MATERIAL, CONTACT_ROW
from mcpframe.jit import by_address, callee, inline, window
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.kernels.entries import PLACED, energies
from mcpframe.multibody.kernels.loops import reference_of
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.kernels.spans import dofs_of
from mcpframe.multibody.memory.loop_records import ANY_MOTION
from mcpframe.multibody.memory.records import N_DOFS, N_SPANS, PAIR, PUSH, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import (
    key_of,
    normal_impulse_of,
    put_shift,
    put_slip_shift,
    record_of,
    restitution_of,
)
from mcpframe.simulation.rules import DECOMPRESSIONS, HALVINGS, ROUNDING, STORED_FROM
from mcpframe.simulation.step.certifying.certify import certify_impact
from mcpframe.simulation.step.kick import accelerate
from mcpframe.simulation.step.pushing.push import observe, push
from mcpframe.simulation.step.pushing.solve import COMPRESSION, DECOMPRESSION
from mcpframe.simulation.step.record import take_impulses
from mcpframe.simulation.step.touching import call_place, opening_speed
from mcpframe.spatial.algebra import cross, load_pair, plus, store_pair

call_energies = by_address(energies)


@callee
def kinetic_energy(run, X):
    """Return the kinetic energy of a state whose bodies are placed."""
    out = window(run.XS, run.IS[at.ENERGY], 8)
    call_energies(run.A[at.ENERGIES], (run.I, X, out))
    return get(out, 0)


@callee
def take_rates(run, X, rates):
    """Give a state other rates, and place its bodies anew."""
    I = run.I
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            put(X, I[THETA_DOT] + d, get(run.XS, rates + d))
    call_place(run.A[at.PLACE], (I, X))


@callee
def keep_rates(run, X, rates):
    """Keep the rates of a state."""
    for s in range(run.I[N_SPANS]):
        begin, end = dofs_of(run.I, s)
        for d in range(begin, end):
            put(run.XS, rates + d, get(X, run.I[THETA_DOT] + d))


@callee
def compress(run, X):
    """Push for no time, after which nothing that touches approaches; nothing is stored yet."""
    for i in range(run.IS[at.N_TOUCHING]):
        put_shift(run, i, 0.0)
        put_slip_shift(run, i, 0.0, 0.0)
        put(run.XS, run.IS[at.STORED] + i, 0.0)
    code = push(run, X, 0.0, COMPRESSION, False, 0.0)
    if code == at.DONE:
        code = observe(run, X, COMPRESSION)
    if code == at.DONE:
        code = certify_impact(run, X, COMPRESSION)
    if code == at.DONE:
        take_rates(run, X, run.IS[at.AFTER])
        take_impulses(run)
    return code


@inline
def add_push(I, X, body, sign, point, moment, force):
    """Add a wrench at a point to those on a body."""
    if body >= 0:
        i, arm = I[PUSH] + body * PAIR, point - reference_of(I, X, body)
        store_pair(X, i, plus(load_pair(X, i), (sign * (moment + cross(arm, force)), sign * force)))


@callee
def give(run, X, share):
    """Write to RESPONSE what a share of the stored impulses does, and the impulses themselves to GIVEN.

    Needs the gains of the sweep.
    """
    I, IS, XS = run.I, run.IS, run.XS
    clear_push(I, X)
    for i in range(IS[at.N_TOUCHING]):
        row, record = IS[at.TOUCHING] + i * CONTACT_ROW, record_of(run, i)
        given = share * get(XS, IS[at.STORED] + i)
        impulse = given * load(XS, record + NORMAL.start)
        turns = key_of(run, i) < 0 and get(IS, row + C_MATERIAL) == IS[at.LIMIT_LAW]
        moment, force = (impulse, zero()) if turns else (zero(), impulse)
        add_push(I, X, get(IS, row + C_BODY_A), 1.0, load(XS, record), moment, force)
        add_push(I, X, get(IS, row + C_BODY_B), -1.0, load(XS, record), moment, force)
        store(XS, IS[at.GIVEN] + 4 * i, force)
        put(XS, IS[at.GIVEN] + 4 * i + 3, given)
        put(XS, IS[at.LEANS] + i, given if IS[at.WHOLE] != 0 else 0.0)
    response = window(XS, IS[at.RESPONSE], I[N_DOFS])
    for d in range(I[N_DOFS]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)


@callee
def store_impulses(run):
    """Store the share ε of the normal impulses that the last problem found; return whether it is any.

    What is no more than rounding beside the largest is none.
    """
    IS, largest = run.IS, 0.0
    for i in range(IS[at.N_TOUCHING]):
        largest = max(largest, normal_impulse_of(run, i))
        largest = max(largest, get(run.XS, IS[at.STORED] + i))
    any_stored = False
    for i in range(IS[at.N_TOUCHING]):
        pressed = normal_impulse_of(run, i)
        stored = restitution_of(run, i) * pressed if pressed > STORED_FROM * largest else 0.0
        put(run.XS, IS[at.STORED] + i, stored)
        any_stored = any_stored or stored > 0.0
    return any_stored


@callee
def give_back(run, X, share):
    """From the rates kept in COMPRESSED give a share of the stored impulses back [J14, Eqs. (57), (58)].

    Afterwards the impulses of the push are in IMPULSES.
    """
    I, IS, XS = run.I, run.IS, run.XS
    take_rates(run, X, IS[at.COMPRESSED])
    code = accelerate(run, X, PLACED)
    if code != at.DONE:
        return code
    give(run, X, share)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            rate = get(XS, IS[at.COMPRESSED] + d) + get(XS, IS[at.RESPONSE] + d)
            put(XS, IS[at.GIVEN_BACK] + d, rate)
    take_rates(run, X, IS[at.GIVEN_BACK])
    return push(run, X, 0.0, DECOMPRESSION, False, 0.0)


@callee
def ask_rebound(run, X, share):
    """Have what touches open at least at that share of its restitution times the speed of its approach."""
    for i in range(run.IS[at.N_TOUCHING]):
        rebound = share * restitution_of(run, i) * max(-opening_speed(run, X, i), 0.0)
        put_shift(run, i, -rebound)
        put_slip_shift(run, i, 0.0, 0.0)


@callee
def throw_back(run, X, share):
    """From the rates kept in COMPRESSED throw a share back by the law of restitution; return code, energy."""
    if run.IS[at.NEWTON] == 0:
        code = give_back(run, X, share)
    else:
        take_rates(run, X, run.IS[at.COMPRESSED])
        ask_rebound(run, X, share)
        code = push(run, X, 0.0, COMPRESSION, False, 0.0)
    if code != at.DONE:
        return code, 0.0
    take_rates(run, X, run.IS[at.AFTER])
    return code, kinetic_energy(run, X)


@callee
def throw_back_within(run, X, most):
    """Throw all back, or that share of it which leaves no more than the most energy there may be."""
    code, after = throw_back(run, X, 1.0)
    if code != at.DONE or run.IE[ANY_MOTION] != 0 or after <= most * (1.0 + ROUNDING):
        return code, after
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        code, after = throw_back(run, X, share)
        if code != at.DONE:
            return code, after
        if after <= most:
            low = share
        else:
            high = share
    return throw_back(run, X, low)


@callee
def tell_of(run, X, rates, kind):
    """Have onlooker and certificate see the last problem as it was, at the rates that it began with."""
    if run.IS[at.OBSERVED] == 0 and run.IS[at.CERTIFY_EVERY] == 0:
        return at.DONE
    take_rates(run, X, rates)
    code = observe(run, X, kind)
    if code == at.DONE:
        code = certify_impact(run, X, kind)
    take_rates(run, X, run.IS[at.AFTER])
    return code


@callee
def take_given(run):
    """Add what was given back to the impulses of the last push; the fourth lane keeps what that has added."""
    for i in range(run.IS[at.N_TOUCHING]):
        impulse, given = run.IS[at.IMPULSES] + 4 * i, run.IS[at.GIVEN] + 4 * i
        for k in range(3):
            put(run.XS, impulse + k, get(run.XS, impulse + k) + get(run.XS, given + k))


@callee
def decompress(run, X, most, compressed):
    """Give stored impulses back, and what that adds in its turn; return code and kinetic energy."""
    IS = run.IS
    code, after = at.DONE, compressed
    for _ in range(DECOMPRESSIONS if IS[at.WHOLE] != 0 else 1):
        if not store_impulses(run):
            break
        keep_rates(run, X, IS[at.COMPRESSED])
        code, after = throw_back_within(run, X, most)
        if code == at.DONE:
            code = tell_of(run, X, IS[at.GIVEN_BACK], DECOMPRESSION)
        if code != at.DONE:
            break
        take_given(run)
        take_impulses(run)
    return code, after


@callee
def strike(run, X):
    """Resolve one impact of what touches; return code and kinetic energies before, compressed, after."""
    before = kinetic_energy(run, X)
    if run.IS[at.NEWTON] != 0:
        keep_rates(run, X, run.IS[at.COMPRESSED])
        code, after = throw_back_within(run, X, before)
        if code == at.DONE:
            code = tell_of(run, X, run.IS[at.COMPRESSED], COMPRESSION)
        take_impulses(run)
        return code, before, after, after
    code = compress(run, X)
    if code != at.DONE:
        return code, before, before, before
    compressed = kinetic_energy(run, X)
    code, after = decompress(run, X, before, compressed)
    return code, before, compressed, after
